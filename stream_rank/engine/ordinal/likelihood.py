"""The likelihood of a rank between two thresholds, and where a Gaussian belief about them settles once it is known.

A rank's event says that the score, with logistic noise, fell below the threshold `above` it and not below the one `below`
it. With `a` and `b` for how far these are above the score, its log-likelihood is

    log(L(a) - L(b)) = log L(a) + log L(-b) + log(1 - exp(b - a)),    L(z) = 1 / (1 + exp(-z)),

a sum of three concave terms, of `a`, of `b` and of the gap `a - b` alone. So its curvature is
`v(a)` along `a`, `v(b)` along `b` and `exp(gap) / (exp(gap) - 1)**2` along the gap, with `v = L (1 - L)`.
The lowest rank has no `b`, the highest no `a`.

Everything is said of the place and of the gap: the place is `b`, or `a` where there is no `b`. The score is part of the place
alone, so a place may be uncertain by orders of magnitude more than the gap, and nothing is lost by taking one from the other.

Before the event, place and gap are Gaussian. `settle` finds where the product of both is largest, by Newton's method with steps that
keep the gap positive and are halved where they overshoot: a step to where the gradient of the product vanishes
never goes beyond what the event can ask for, whatever the scale of the features.

Cost: about four steps of some 60 ns.
"""

from typing import Any

from stream_rank.engine.functions import exponential
from stream_rank.engine.jit import called, inlined

__all__ = ["likelihood_with", "logistic", "settle", "slopes"]

_SMALL_GAP, _LEAST_GAP = 1e-2, 1e-6
_MOST_STEPS, _MOST_HALVES = 300, 200
"""Where a place is very uncertain, the steps along the tail of the likelihood have the length of 1; usually four do."""
_SETTLED = 1e-20
"""What is left to gain where nothing is said: steps are then right to ten digits."""
_INTO_GAP = 0.9
"""No step takes more than this part of the gap away."""


def likelihood_with(exponential_: Any, takes_last: bool = False) -> Any:
    """`logistic`, `slopes` and `settle`, by a function that is the exponential.

    With `takes_last` the step that is too small to look at slopes again is taken all the same, for nothing. With `g` for the move and `h` for what is left to go,
    `settle` stops where `h S h <= settled * g S g`; Newton's steps square what is left, so then that is of the order of
    `settled` of the move, and not its root. Curvatures are those of before that step.
    """

    @inlined
    def logistic(x):
        """`1 / (1 + exp(-x))`."""
        tail = exponential_(-abs(x))
        return 1.0 / (1.0 + tail) if x >= 0.0 else tail / (1.0 + tail)

    @inlined
    def _growth(x):
        """`exp(x) - 1` for x above 0."""
        x = max(x, _LEAST_GAP)
        if x < _SMALL_GAP:
            return x * (1.0 + x / 2.0 * (1.0 + x / 3.0 * (1.0 + x / 4.0 * (1.0 + x / 5.0))))
        return exponential_(x) - 1.0

    @inlined
    def slopes(has_above, has_below, place, gap):
        """The derivatives of the log-likelihood by place and gap, and its curvatures along `a`, `b` and the gap."""
        along = wider = curve_above = curve_below = curve_gap = 0.0
        if has_above:
            up = logistic(-(place + gap))
            curve_above = up * (1.0 - up)
            along += up
            wider += up
        if has_below:
            down = logistic(place)
            curve_below = down * (1.0 - down)
            along -= down
        if has_above and has_below:
            growth = _growth(gap)
            wider += 1.0 / growth
            curve_gap = (1.0 + growth) / growth / growth
        return along, wider, curve_above, curve_below, curve_gap

    @called
    def settle(has_above, has_below, place, gap, var, cov, var_gap, settled=_SETTLED):
        """The `slopes` where the Gaussian of this mean times the likelihood is largest.

        With `S` for the covariance of place and gap and `g` for the slopes there, that is at the mean plus `S g`. The steps are of
        `g`, and what is returned is their sum. Without one of the thresholds the gap is 0, and certain. What is left to gain, as a part of what the whole
        move gained, is at most `settled` in the end.
        """
        both = has_above and has_below
        mean, mean_gap = place, gap
        found = slopes(has_above, has_below, place, gap)
        g, g_gap = 0.0, 0.0
        spread = max(var * var_gap - cov * cov, 0.0)
        for _ in range(_MOST_STEPS):
            along, wider, above, below, between = found
            rest, rest_gap = along - g, (wider - g_gap if both else 0.0)
            # H = [[above + below, above], [above, above + between]], and (I + H S) step = rest
            m = (above + below) * var + above * cov
            m_to_gap = (above + below) * cov + above * var_gap
            m_from_gap = above * var + (above + between) * cov
            m_gap = above * cov + (above + between) * var_gap
            size = 1.0 + m + m_gap + spread * (above * below + (above + below) * between)
            by = ((1.0 + m_gap) * rest - m_to_gap * rest_gap) / size
            by_gap = ((1.0 + m) * rest_gap - m_from_gap * rest) / size
            move = var * by + cov * by_gap
            move_gap = cov * by + var_gap * by_gap
            gain = move * rest + move_gap * rest_gap
            so_far = var * g * g + 2.0 * cov * g * g_gap + var_gap * g_gap * g_gap
            if not gain > settled * so_far:
                if takes_last:
                    g += by
                    g_gap += by_gap
                break
            part = 1.0
            if both and move_gap < 0.0:
                part = min(1.0, _INTO_GAP * gap / -move_gap)
            for _ in range(_MOST_HALVES):
                found = slopes(has_above, has_below, place + part * move, gap + part * move_gap)
                left = found[0] - g - part * by
                left_gap = found[1] - g_gap - part * by_gap if both else 0.0
                if move * left + move_gap * left_gap >= -0.5 * gain:
                    break
                part *= 0.5
            g += part * by
            g_gap += part * by_gap
            place = mean + (
                var * g + cov * g_gap
            )  # not summed up: on its way it may have been far off
            if both:
                gap = max(mean_gap + (cov * g + var_gap * g_gap), _LEAST_GAP)
        return g, g_gap, found[2], found[3], found[4]

    return logistic, slopes, settle


logistic, slopes, settle = likelihood_with(exponential)
