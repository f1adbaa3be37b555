"""Does it learn, and how well: losses, champion against challengers, and the rules themselves."""

from grafana_foundation_sdk.models.dashboard import Dashboard

from dashboards import states
from dashboards.frame import framed
from dashboards.panels import BAD, GOOD, NEUTRAL, Scale, Word, bars, lines, matrix, words
from dashboards.queries import CHAMPION, champion, increase, metric, per_second, series

__all__ = ["learning"]

_THOSE = 'learner=~"$learner"'
_FAR = 1000
"""Times that one loss is another, of which one may be 0."""
_WHO = "{{learner}} {{instance}}"


def _chosen(expression: str) -> str:
    """An expression, of the learners that were chosen above."""
    return expression.replace("{", f"{{{_THOSE}, ", 1)


def learning() -> Dashboard:
    """The dashboard."""
    recent = metric("recent_loss")
    challengers = CHAMPION.replace("champion", "challenger")
    best_challenger = (
        f"min by (job, instance, loss) ({recent} and on (job, instance, learner) {challengers})"
    )
    champions = f"max by (job, instance, loss) ({champion(recent)})"
    learned = f"{_chosen(per_second('scored_predictions_total'))} > 0"
    came = f"sum by (rank, predicted) ({champion(increase('confusion_total', '$__range'))})"
    of_rank = f"sum by (rank) ({champion(increase('confusion_total', '$__range'))})"
    return framed(
        "stream-rank-learning",
        "stream-rank: Learning",
        "How good the rules are, and why: the first row says whether it is well, the second how well, the third why.",
        {
            "Is it well?": [
                states.learning(4),
                states.loss(4),
                states.drifts(4),
                words(
                    "Champion",
                    "The champion's recent loss against that of the best challenger with a loss of the same kind; level within 5 %.",
                    f"clamp_max(max({champions} / {best_challenger}), {_FAR})",
                    [
                        Word(0.95, "It leads", GOOD),
                        Word(1.05, "Level", GOOD),
                        Word(None, "Challenger leads", NEUTRAL),
                    ],
                    "No comparison",
                ),
                words(
                    "Numbers",
                    "Whether all weights, thresholds and losses are finite. A rule that diverged must be begun again.",
                    f"min({metric('finite')})",
                    [Word(0.5, "Diverged", BAD), Word(None, "Finite", GOOD)],
                    states.NOT_REACHED,
                ),
                states.alerts(4),
            ],
            "How well?": [
                lines(
                    "Recent rank loss",
                    "How many ranks the last predictions were off, on average (as many as the setting window says).",
                    "short",
                    {_WHO: _chosen(metric("recent_loss", loss="rank"))},
                ),
                lines(
                    "Recent magnitude loss",
                    "Of learners of scores: the mean squared error of the differences between the last predictions.",
                    "short",
                    {_WHO: _chosen(metric("recent_loss", loss="magnitude"))},
                ),
                bars(
                    "Loss of the run",
                    "Mean loss of all predictions since the run was begun, restarts included.",
                    "short",
                    _chosen(metric("loss")),
                    "{{learner}} ({{loss}}) {{instance}}",
                ),
                lines(
                    "Champion's loss, and its week",
                    "Mean loss of the champion's predictions of the last five minutes, and the mean of that over the last week.",
                    "short",
                    {
                        "last 5 minutes {{instance}}": champion(
                            series("learner:stream_rank_loss:mean5m")
                        ),
                        "its week {{instance}}": champion(
                            series("learner:stream_rank_loss:mean1w")
                        ),
                    },
                    width=12,
                ),
                lines(
                    "Champion against the best challenger",
                    "The champion's recent loss divided by the best challenger's; above 1 a challenger is better.",
                    "short",
                    {"{{loss}} loss {{instance}}": f"{champions} / {best_challenger}"},
                    width=12,
                    scale=Scale.TIGHT,
                    level=1,
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
                ),
                lines(
                    "Thresholds of the champion",
                    "Where its scores are cut into ranks. Thresholds that move together follow the weights; one that walks away "
                    "says that a rank has become rare.",
                    "short",
                    {"{{threshold}} {{instance}}": champion(metric("threshold"))},
                    scale=Scale.TIGHT,
                ),
                lines(
                    "Members that disagree",
                    "Share of an ensemble's members that vote unlike most of them, for the last ratings. It rises when the stream "
                    "changes, before the loss does.",
                    "percentunit",
                    {_WHO: _chosen(metric("disagreement"))},
                ),
                lines(
                    "Mistakes of members an event",
                    "Members' updates for each prediction scored: how much the rule is still being changed.",
                    "short",
                    {_WHO: f"{_chosen(per_second('updates_total'))} / ({learned})"},
                ),
                lines(
                    "Margin",
                    "How far the scores of the last ratings lie within their ranks, on average, in units of the score; below 0 most are wrong.",
                    "short",
                    {_WHO: _chosen(metric("margin"))},
                    scale=Scale.TIGHT,
                ),
                lines(
                    "Length of the weights",
                    "The Euclidean norm of the averaged weights. It grows with the mistakes made; a sudden jump is an event out of scale.",
                    "short",
                    {_WHO: _chosen(metric("weight_norm"))},
                ),
            ],
        },
        by_learner=True,
    )
