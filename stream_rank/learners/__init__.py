"""River estimators that learn to rank, one a file.

A learner itself says what it can do; nothing depends on its class:

================================  =====================================================================
`predicts`                        "ranks" (ordered labels), or "scores"
`limits`                          what an event must keep to: the largest number, the longest event, the
                                  number of features
`learns_groups`                   whether `learn_one`, `learn_many` and `test_then_train` take a `group`
`learns_preferences`              whether there is `learn_pair`
`has_votes`                       whether members vote, and there are `vote_one` and `vote_many`
`parameters`                      the constructor's arguments, as JSON has them
`features`                        the names of the features known, by slot
`n_events`, `n_updates`           the number of events learned, and of members' mistakes
`rule()`                          weights, thresholds, bias and support vectors, to score with elsewhere
`insight(X)`                      what monitoring shows, with a table also of its events
`dump()`                          its state; `base.restore.learner_from` makes the learner again
================================  =====================================================================

>>> from stream_rank import RecursiveMPRank
>>> model = RecursiveMPRank()
>>> model.learn_one({"speed": 3.0}, 2.0, group="ann")
>>> model.predicts, model.learns_groups, model.has_votes
('scores', True, False)
>>> model.features, model.n_events, model.limits.max_features
(['speed'], 1, 10000)
>>> model.dump().metadata["groups"]
[['ann', 1]]

A new learner brings:

1. A model (`models.model.Model`) that keeps all it learns in `engine.memory.Memory` blocks: they are what `dump` writes. Its `merge` says
   what several that learned apart are together, or why they have no average.
2. A class of one of three bases. `RankLearner` asks for `_new_model`; `ScoreLearner` for `weights`, `bias`, `learn_one`,
   `learn_many` and `test_then_train`; `GroupedLearner`, which has the last three, for `weights` and `bias`.
   Constructor arguments are attributes of the same name, and can be said in JSON.
3. Where it differs from its base: `learns_groups`, `has_votes`, `_plain_rule` (what `rule` and `insight` are made of), and
   `described` and `prepare`, if it has names of its own beyond features, labels and groups.
4. A line in `names.LEARNER_CLASSES`, which gives it its name on the command line and in snapshots, and one in the lists of
   learners in `tests/learners`, by which it goes through all of their tests.
"""
