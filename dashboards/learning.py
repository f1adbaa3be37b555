"""Does it learn, and how well: losses, champion against challengers, and the rules themselves."""

from grafana_foundation_sdk.models.dashboard import Dashboard

from dashboards import states
from dashboards.frame import framed
from dashboards.panels import Scale, lines, matrix, numbers
from dashboards.queries import (
    AT,
    CHALLENGER,
    champion,
    increase,
    metric,
    per_second,
    scored,
    series,
)

__all__ = ["learning"]

_THOSE = 'learner=~"$learner"'
_GUESSED, _COIN = 0.5, 0.693
"""What guessing loses: the error and the Brier score of preferences, and their log-loss."""
_COVERED = 0.9
"""The part of labels that prediction sets cover."""
_NO_RANKS = "No rating was predicted by a learner of ranks"
_NO_SCORES = "No rating was predicted by a learner of scores"
_NO_PREFERENCES = "No preference was predicted"
"""What panels say where there is nothing of their kind: a stream may be of ratings alone, or of preferences."""
_NO_MEAN = "Nothing was predicted within five minutes, or the first of them is not over"
_WHO = f"{{{{learner}}}} {AT}"


def _chosen(expression: str) -> str:
    """An expression, of the learners that were chosen above."""
    return expression.replace("{", f"{{{_THOSE}, ", 1)


def _least(expression: str) -> str:
    return f"min by (job, instance, loss) ({expression})"


def _with_week(kind: str) -> dict[str, str]:
    """The recent losses of a kind, the mean of the champion's over the last week, or over what there is of it, and what the best of
    the answers that could always be given would have lost."""
    week = champion(series("learner:stream_rank_loss:mean1w", loss=kind))
    return {
        _WHO: _chosen(metric("recent_loss", loss=kind)),
        f"week's mean: {_WHO}": _chosen(week),
        f"constant {AT}": _least(metric("recent_baseline_loss", loss=kind)),
    }


def learning() -> Dashboard:
    """The dashboard."""
    recent = metric("recent_loss")
    best_challenger = (
        f"min by (job, instance, loss) ({recent} and on (job, instance, learner) {CHALLENGER})"
    )
    champions = f"max by (job, instance, loss) ({champion(recent)})"
    came = f"sum by (rank, predicted) ({champion(increase('confusion_total', '$__range'))})"
    of_rank = f"sum by (rank) ({champion(increase('confusion_total', '$__range'))})"
    return framed(
        "stream-rank-learning",
        "stream-rank: Learning",
        "How good the rules are, and why: the first row says whether it is well, the next two how well, of ratings and of "
        "preferences, the last why.",
        {
            "Is it well?": [
                *map(states.tile, (states.UP, states.KAFKA, states.LEARNING, states.REJECTS)),
                *map(states.tile, (states.LOSS, states.DRIFT, states.LEAD, states.NUMBERS)),
                states.alerts(),
                states.over_time(
                    "Since when",
                    "The same against time, for each daemon: green is well, blue worth knowing, grey not known, red is what to look at. "
                    "Where there is nothing, nobody asked it.",
                    (states.LOSS, states.DRIFT, states.LEAD, states.NUMBERS),
                    height=6,
                ),
            ],
            "How well?": [
                lines(
                    "Recent rank loss",
                    "How many ranks the last predictions were off, on average (as many as the setting window says); the champion's mean of the last week, "
                    "or as much of it as there was; and what the best constant would have lost.",
                    "short",
                    _with_week("rank"),
                    width=12,
                    height=10,
                    many=True,
                    nothing=_NO_RANKS,
                ),
                lines(
                    "Recent magnitude loss",
                    "Of learners of scores: the mean squared error of the differences between the last predictions; the champion's mean of the last "
                    "week, or as much of it as there was; and what the best constant would have lost.",
                    "short",
                    _with_week("magnitude"),
                    width=12,
                    height=10,
                    many=True,
                    nothing=_NO_SCORES,
                ),
                numbers(
                    "Losses of the run",
                    "Mean losses of all predictions since the run was begun, restarts included: of ranks, how many they were off; of "
                    "magnitudes, the squared error of differences; of preferences, the share in the wrong order.",
                    "short",
                    _chosen(metric("loss")),
                    f"{{{{loss}}}}: {_WHO}",
                    "Nothing was predicted",
                ),
                lines(
                    "Against its week",
                    "Mean loss of the champion's predictions of the last five minutes, divided by the mean of that over the last "
                    "week, or over as much of it as there was, for each kind of loss. From the line on, for a quarter of an hour, there is an alert.",
                    "short",
                    {
                        f"{{{{loss}}}} loss {AT}": champion(
                            series("learner:stream_rank_loss:ratio_to_week")
                        )
                    },
                    scale=Scale.TIGHT,
                    level=1.25,
                    nothing=_NO_MEAN,
                ),
                lines(
                    "Against challengers",
                    "The champion's recent loss divided by the best challenger's, for each kind of loss; above 1 a challenger is better. From the line on, "
                    "for an hour, there is an alert.",
                    "short",
                    {f"{{{{loss}}}} loss {AT}": f"{champions} / {best_challenger}"},
                    scale=Scale.TIGHT,
                    level=1.1,
                    nothing="No challenger has a loss of the champion's kind",
                ),
                lines(
                    "Skill",
                    "What is saved, over five minutes, of the loss of always answering the same: the median rank of all events or of the "
                    "event's group, the mean score, or what a coin says of preferences. 1 is perfect; at 0, the line, nothing of use was "
                    "learned. Below it, for a quarter of an hour, there is an alert.",
                    "percentunit",
                    {f"{{{{loss}}}}: {_WHO}": _chosen(series("learner:stream_rank_skill:mean5m"))},
                    width=24,
                    height=9,
                    scale=Scale.TIGHT,
                    level=0,
                    many=True,
                    nothing=_NO_MEAN,
                ),
            ],
            "How well, where one thing is preferred to another?": [
                lines(
                    "Recent preference error",
                    "Share of the last preferences that were predicted the other way round; a tie counts half. Guessing has a half: the line.",
                    "percentunit",
                    _with_week("preference"),
                    width=12,
                    height=10,
                    level=_GUESSED,
                    many=True,
                    nothing=_NO_PREFERENCES,
                ),
                lines(
                    "Preferences compared",
                    "Preferences a second that were predicted and then learned. Rankings and choices are several each.",
                    "recps",
                    {_WHO: _chosen(per_second("scored_preferences_total"))},
                    width=12,
                    height=10,
                    about=1,
                    many=True,
                    nothing=_NO_PREFERENCES,
                ),
                lines(
                    "Log-loss of preferences",
                    "Of the last preferences: how little likely what came was held to be. It is more than the error can tell: one that is "
                    "sure and wrong loses much. A coin has 0.69, the line, where there are no ties.",
                    "short",
                    {_WHO: _chosen(metric("preference_log_loss"))},
                    width=12,
                    height=9,
                    many=True,
                    level=_COIN,
                    nothing=_NO_PREFERENCES,
                ),
                lines(
                    "Brier score of preferences",
                    "Of the last preferences: squared errors of the probabilities that the one, the other or neither is preferred. "
                    "A coin has a half, the line, where there are no ties.",
                    "short",
                    {_WHO: _chosen(metric("preference_brier_score"))},
                    width=12,
                    height=9,
                    many=True,
                    level=_GUESSED,
                    nothing=_NO_PREFERENCES,
                ),
            ],
            "Why?": [
                matrix(
                    "What the champion takes for what",
                    "Of the events with each rank (a row), the share that was predicted as each (a column), within the time shown. "
                    "All on the diagonal would be perfect.",
                    f"{came} / on (rank) group_left () ({of_rank} > 0)",
                    "rank",
                    "predicted",
                    "No rating was predicted by a champion of ranks within the time shown",
                    width=12,
                    height=9,
                ),
                lines(
                    "Thresholds of the champion",
                    "Where its scores are cut into ranks. Thresholds that move together follow the weights; one that walks away "
                    "says that a rank has become rare.",
                    "short",
                    {f"{{{{threshold}}}} {AT}": champion(metric("threshold"))},
                    width=12,
                    height=9,
                    many=True,
                    scale=Scale.TIGHT,
                    nothing="The champion predicted no rating, predicts scores, or has more than 20 ranks",
                ),
                lines(
                    "Ranks in a prediction set",
                    "How many neighbouring ranks are needed so that nine labels in ten are among them, on average of the last predictions: "
                    "1 is sure. It rises when the stream becomes harder to foretell.",
                    "short",
                    {_WHO: _chosen(metric("set_size"))},
                    width=12,
                    height=9,
                    many=True,
                    scale=Scale.TIGHT,
                    nothing="No rating was predicted by a learner that gives probabilities",
                ),
                lines(
                    "Labels within their prediction sets",
                    "Share of the last labels that were within the sets: nine in ten, the line, are asked for, and come whatever the learner is.",
                    "percentunit",
                    {_WHO: _chosen(metric("coverage"))},
                    width=12,
                    height=9,
                    many=True,
                    level=_COVERED,
                    scale=Scale.TIGHT,
                    nothing="No rating was predicted by a learner that gives probabilities",
                ),
                lines(
                    "Rank loss of users",
                    "The mean over groups of events, such as users, of each one's mean loss: someone who rates a thousand items counts as one "
                    "who rates ten. Far above the rank loss, it says that those who rate little are served worst.",
                    "short",
                    {_WHO: _chosen(metric("rank_loss_by_group"))},
                    width=12,
                    height=9,
                    many=True,
                    scale=Scale.TIGHT,
                    nothing="No rating with a group was predicted by a learner of users",
                ),
                lines(
                    "What users liked next",
                    "Of likes that were asked about, over the run, how often the item was among the first ten of a hundred and one that the user "
                    "had not rated: by the learner's order, and by popularity, which knows what is rated at all. By chance one in ten is.",
                    "percentunit",
                    {
                        _WHO: _chosen(metric("recall_at_10", by="learner")),
                        f"popularity: {_WHO}": _chosen(metric("recall_at_10", by="popularity")),
                    },
                    width=12,
                    height=9,
                    many=True,
                    scale=Scale.TIGHT,
                    nothing="No like of a user who is known was asked about",
                ),
                lines(
                    "Members that disagree",
                    "Share of an ensemble's members that vote unlike most of them, for the last ratings. It rises when the stream "
                    "changes, before the loss does.",
                    "percentunit",
                    {_WHO: _chosen(metric("disagreement"))},
                    width=12,
                    height=9,
                    many=True,
                    nothing="No rating was predicted by an ensemble",
                ),
                lines(
                    "Mistakes of members an event",
                    "Members' updates for each rating or preference predicted: how much the rule is still being changed.",
                    "short",
                    {_WHO: f"{_chosen(per_second('updates_total'))} / ({scored()} > 0)"},
                    width=12,
                    height=9,
                    many=True,
                    nothing="Nothing was predicted by a learner that counts its mistakes",
                ),
                lines(
                    "Margin",
                    "How far the scores of the last ratings lie within their ranks, on average, in units of the score; below 0 most are wrong.",
                    "short",
                    {_WHO: _chosen(metric("margin"))},
                    width=12,
                    height=9,
                    many=True,
                    scale=Scale.TIGHT,
                    nothing=_NO_RANKS,
                ),
                lines(
                    "Length of the weights",
                    "The Euclidean norm of the averaged weights. It grows with the mistakes made; a sudden jump is an event out of scale.",
                    "short",
                    {_WHO: _chosen(metric("weight_norm"))},
                    width=12,
                    height=9,
                    many=True,
                    nothing="No learner has weights: nothing was learned, or by kernels",
                ),
            ],
        },
        by_learner=True,
    )
