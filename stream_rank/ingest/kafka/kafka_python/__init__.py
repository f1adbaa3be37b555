"""The port, fitted to kafka-python.

What its documentation does not say, and what follows (seen with 3.0.12 on a 4.3.1 broker):

- Rebalance listeners run on the client's own thread, where `commit` and questions to brokers raise; `seek` and `pause`
  work. So a partition that is assigned is paused there, and placed by the thread that polls.
- A deserializer that raises makes later polls spin: there is none.
- `poll` says nothing of brokers that are down: it gives nothing, and the client logs.
- `poll` does not wait while a heartbeat is due, which it is all the time where a broker answers nothing: it is made to.
- What a broker says in the moment it hangs up is not read: it is, by what `final_response` mends.
- A group's leader that does not know the partitions yet gives out none: then the group is joined anew.
"""
