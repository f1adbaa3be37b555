"""The port implemented with kafka-python.

Undocumented behaviour, and what is done about it (seen with 3.0.12 on a 4.3.1 broker):

- Rebalance listeners run on the client's own thread, where `commit` and requests to brokers raise; `seek` and `pause`
  work. So an assigned partition is paused there, and the polling thread seeks to its offset.
- A deserializer that raises makes later polls spin: none is used.
- `poll` does not raise when brokers are down: it returns nothing, and the client logs.
- `poll` does not wait while a heartbeat is due, and while a broker does not respond one always is: `consumer` makes it wait.
- A response that arrives together with the end of the connection is dropped: `final_response` keeps it.
- A group leader whose metadata has no partitions yet assigns none: then `consumer` rejoins the group.
"""
