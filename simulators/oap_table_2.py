"""Table 2 and figure 3 of the OAP paper: collaborative filtering, on cystic fibrosis documents and on films.

Every trial draws its rounds anew. What the paper says is done as it says: a round is another document each time, so that there is one pass without repetition; its target is one of the four judgements
by chance, and the other three are the instance; ranks are 1 to 3; thresholds and weights begin at 0; losses are of rounds that were not learned, by the last weights. What it leaves open is read so:

- the dimensions are the judges, in their order;
- Widrow-Hoff learns the ranks as they are, and is scored by the nearest rank, within 1 to k. No step goes beyond the label (`WidrowHoff`); without that it loses 0.98 at a rate of 0.2;
- the others learn ranks with the middle of the scale at 0, which the paper says of films alone, by instances of unit length: the scale decides, since thresholds move by 1;
- OAP-Bagg and OAP-VP are measured by their mean vote, as in table 1;
- the kernel of degree 2, which the paper does not try, also has the lowest rank at 0, as the file has it.

Of the documents not all rows come out so. PRank is 0.03 above the paper's, which is within both intervals; OAP-BPM is 0.04 above, and outside; VotedPRank is below. Nothing else that the text can mean
comes nearer: PRank loses 0.58 on ranks as they are, 0.59 on ranks from 0, 0.54 on centred ones of any length, 0.56 on those with mean 0, and 0.60 where the judges are in no order. Of judgements in
ascending order, of which the text has no word, PRank loses 0.47 and Widrow-Hoff 0.48, 0.42 and 0.42, but OAP-BPM 0.30 to 0.34, further from the paper's 0.39 than here: so it was not done like that either.

Intervals are Student's t, 95 percent. The films are MovieLens 100K's
and not EachMovie's, with five ranks instead of six and a tenth of the people: there the paper's order is what is looked for, and not its figures.
"""

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from simulators import accuracy, cystic_fibrosis, movies
from simulators.accuracy import loss_of
from simulators.arguments import picture, whole
from simulators.movies import of_unit_length
from simulators.oap_table_1 import Figure, figure
from simulators.people import Split
from simulators.pictures import STYLES, begin, save
from stream_rank import (
    OAPBPM,
    OAPVP,
    AveragedPRank,
    OAPBagg,
    OrdinalLogit,
    PolynomialFeatures,
    PRank,
    VotedPRank,
    WidrowHoff,
)
from stream_rank.errors import InputError

__all__ = ["Row", "Set", "add", "losses", "report", "rows", "run", "sets"]

Array = npt.NDArray[np.float64]

_SAMPLINGS = (0.1, 0.2, 0.3)
_BEST_RATE = {"documents": 0.001, "films": 0.2}
"""Of Widrow-Hoff, for the picture."""
_PAPER = {
    "documents": {
        "Widrow-Hoff": ((0.75, 0.02), (0.48, 0.02), (0.43, 0.02), (0.41, 0.02)),
        "PRank": ((0.50, 0.02),),
        "VotedPRank": ((0.52, 0.01),),
        "OAP-VP": ((0.47, 0.01), (0.45, 0.01), (0.45, 0.01)),
        "OAP-BPM": ((0.40, 0.01), (0.39, 0.01), (0.40, 0.02)),
        "OAP-Bagg": ((0.50, 0.01), (0.48, 0.01), (0.47, 0.01)),
    },
    "films": {
        "Widrow-Hoff": ((2.19, 0.06), (1.92, 0.07), (2.25, 0.08), (2.74, 0.10)),
        "PRank": ((1.06, 0.03),),
        "VotedPRank": ((1.13, 0.03),),
        "OAP-VP": ((0.95, 0.03), (0.95, 0.03), (0.95, 0.03)),
        "OAP-BPM": ((0.89, 0.03), (0.89, 0.03), (0.90, 0.03)),
        "OAP-Bagg": ((0.96, 0.03), (0.95, 0.03), (0.96, 0.03)),
    },
}
COMMITTEE = "the default committee"
_RATES = (0.2, 0.05, 0.01, 0.001)
_FROM_0 = "degree 2, ranks from 0"
_MOST = {"OAP-BPM": 0.44, _FROM_0: 0.30}
"""What is asked of the documents at the best τ."""
_WITHIN = 0.01
"""How near Widrow-Hoff is asked to be to the paper's figures of documents; PRank may be twice as far."""
_BELOW_BPM = 0.96
"""What is asked of the films: so much of OAP-BPM's loss."""


class Row(NamedTuple):
    """A line: a learner, how to make it (None for the committee that the command line has), what it learns from, the paper's figure, and the most that is asked."""

    name: str
    make: Callable[[int], Any] | None
    form: str = "centred"
    paper: tuple[float, float] | None = None
    most: float | None = None
    within: float | None = None
    """How near to the paper's figure ours is asked to be."""


class Set(NamedTuple):
    """What is ranked: how a trial is drawn, the middle of the scale, ranks, and the name of its column."""

    name: str
    draw: Callable[[int], Split]
    middle: float
    n_ranks: int
    bayes: float | None


def sets(documents: Path | None, films: Path | None) -> Iterator[Set]:
    """Those whose files are given."""
    if documents is not None:
        judged = cystic_fibrosis.load(documents)
        bayes = cystic_fibrosis.bayes_loss(judged)
        yield Set(
            "documents",
            lambda seed: cystic_fibrosis.draw_trial(judged, seed),
            2.0,
            cystic_fibrosis.RANKS,
            bayes,
        )
    if films is not None:
        given = movies.load(films)
        yield Set("films", lambda seed: movies.draw_trial(given, seed), 0.0, movies.RANKS, None)


def _seeded(make: Callable[..., Any], k: int, **given: Any) -> Callable[[int], Any]:
    return lambda seed: make(k, seed=seed, **given)


def _unseeded(make: Callable[..., Any], k: int, *given: Any) -> Callable[[int], Any]:
    return lambda _: make(k, *given)


def rows(kind: Set) -> Iterator[Row]:
    """The paper's rows, and ours below them."""
    paper, k = _PAPER[kind.name], kind.n_ranks
    known = kind.name == "documents"
    for rate, printed in zip(_RATES, paper["Widrow-Hoff"], strict=True):
        # the paper's step is too long at 0.2, where ours is cut to what does not diverge
        name = f"Widrow-Hoff {rate}"
        make = _unseeded(WidrowHoff, k, rate)
        yield Row(name, make, "raw", printed, within=_WITHIN if known and rate < 0.1 else None)
    yield Row(
        "PRank", _unseeded(PRank, k), paper=paper["PRank"][0], within=2 * _WITHIN if known else None
    )
    yield Row("VotedPRank", _unseeded(VotedPRank, k), paper=paper["VotedPRank"][0])
    for name, learner in (("OAP-VP", OAPVP), ("OAP-BPM", OAPBPM), ("OAP-Bagg", OAPBagg)):
        most = _MOST.get(name) if known else None
        for sampling, printed in zip(_SAMPLINGS, paper[name], strict=True):
            make = _seeded(learner, k, sampling=sampling)
            yield Row(f"{name} τ={sampling}", make, paper=printed, most=most)
    for sampling in _SAMPLINGS:
        make = _seeded(OAPBPM, k, sampling=sampling)
        yield Row(f"OAP-BPM τ={sampling}, degree 2", make, "products")
        if known:
            yield Row(f"{_FROM_0} τ={sampling}", make, "products from 0", most=_MOST[_FROM_0])
    for update in ("passive-aggressive", "romma", "arow"):
        yield Row(f"OAP-BPM, {update}", _seeded(OAPBPM, k, update=update))
    yield Row("AveragedPRank", _unseeded(AveragedPRank, k))
    yield Row("OrdinalLogit", _unseeded(OrdinalLogit, k))
    yield Row(COMMITTEE, None, "as it comes")


def _formed(kind: Set, form: str, X: Array) -> Array:
    if form == "raw":
        return X
    moved = X - (1.0 if form == "products from 0" else kind.middle)
    if form.startswith("products"):  # the map of the kernel, which gives the same rule
        return PolynomialFeatures(2).matrix(moved)
    return of_unit_length(moved)


def losses(kind: Set, row: Row, trials: int) -> Array:
    """The loss of every trial."""
    result = np.empty(trials)
    for seed in range(trials):
        trial = kind.draw(seed)
        if row.make is None:
            learned, asked = (
                [(dict(enumerate(x)), rank) for x, rank in zip(X.tolist(), y.tolist(), strict=True)]
                for X, y in ((trial.X, trial.y), (trial.others, trial.other_y))
            )
            result[seed] = loss_of("hedge", accuracy.Trial(kind.n_ranks, learned, asked), seed)
            continue
        model = row.make(seed)
        model.learn_many(_formed(kind, row.form, trial.X), trial.y)
        voting = isinstance(model, OAPBagg | OAPVP | VotedPRank)
        ask = model.vote_many if voting else model.predict_many
        result[seed] = np.abs(ask(_formed(kind, row.form, trial.others)) - trial.other_y).mean()
    return result


def _verdict(row: Row, ours: Figure) -> tuple[str, bool]:
    """What is to be said of a figure, and whether it is short of what is asked."""
    said, short = [], False
    if row.paper is not None:
        mean, interval = row.paper
        off = abs(ours.mean - mean)
        same = off <= interval + ours.interval
        said.append("agrees" if same else f"differs by {ours.mean - mean:+.2f}")
        if row.within is not None:
            short = off > row.within + ours.interval
            how = (
                "no" if short else "yes" if off <= row.within else f"within our interval: {off:.3f}"
            )
            said.append(f"asked ± {row.within:.2f}: {how}")
    if row.most is not None:  # `_say_best` judges
        said.append(f"asked ≤ {row.most:.2f}: {'yes' if ours.mean <= row.most else 'no'}")
    return "; ".join(said), short


def report(documents: Path | None, films: Path | None, trials: int, out: Path | None) -> int:
    """Print the columns and draw the curves; 1 if something that is asked is not reached."""
    failed, chosen = False, list(sets(documents, films))
    for kind in chosen:
        print(f"{kind.name}: rank loss, mean of {trials} trials ± 95 % interval")
        print(f"{'':34}{'paper':>13}{'ours':>16}  verdict")
        found = {}
        for row in rows(kind):
            ours = found[row.name] = figure(losses(kind, row, trials))
            printed = "" if row.paper is None else f"{row.paper[0]:.2f} ± {row.paper[1]:.2f}"
            verdict, bad = _verdict(row, ours) if kind.name == "documents" else ("", False)
            failed |= bad
            shown = f"{ours.mean:.3f} ± {ours.interval:.3f}"
            print(
                f"{row.name:34}{printed:>13}{shown:>16}  {verdict}{'!' if bad else ''}", flush=True
            )
        if kind.bayes is not None:
            print(f"{'no rule is below':47}{kind.bayes:7.3f}")
        failed |= _say_order(found) if kind.name == "films" else _say_best(found)
        print()
    if out is not None:
        draw(chosen, trials, out)
    return int(failed)


def _say_best(found: dict[str, Figure]) -> bool:
    """Say whether what is asked of documents is reached at the best τ; whether it is not."""
    short = False
    for name, most in _MOST.items():
        best = min(found[f"{name} τ={sampling}"].mean for sampling in _SAMPLINGS)
        short |= best > most
        print(
            f"{name} at its best: {best:.3f}, asked for: at most {most:.2f}{'!' if best > most else ''}"
        )
    return short


def _say_order(found: dict[str, Figure]) -> bool:
    """Say whether films are in the paper's order; whether that, or what is asked beside it, is not so."""
    bpm = min(found[f"OAP-BPM τ={sampling}"].mean for sampling in _SAMPLINGS)
    plain = found["PRank"].mean
    name = min(("OrdinalLogit", COMMITTEE), key=lambda each: found[each].mean)
    second = found[name].mean
    print(
        f"OAP-BPM is {'below' if bpm < plain else 'NOT below'} PRank, as the paper has it: {bpm / plain - 1:+.1%}"
    )
    good = second <= _BELOW_BPM * bpm
    print(
        f"{name} beside OAP-BPM: {second / bpm - 1:+.1%}, asked for: {_BELOW_BPM - 1:+.0%}{'' if good else '!'}"
    )
    return bpm >= plain or not good


def curves(kind: Set, trials: int) -> dict[str, Array]:
    """The mean loss so far after every round, each predicted before it is learned."""
    rate = _BEST_RATE[kind.name]
    wanted = ("PRank", f"Widrow-Hoff {rate}", "OAP-BPM τ=0.3", "OAP-Bagg τ=0.3", "OAP-VP τ=0.3")
    shown = [row for row in rows(kind) if row.name in (*wanted, "AveragedPRank", "OrdinalLogit")]
    result: dict[str, Array] = {}
    for row in shown:
        assert row.make is not None
        for seed in range(trials):
            trial = kind.draw(seed)
            off = np.abs(
                row.make(seed).test_then_train(_formed(kind, row.form, trial.X), trial.y) - trial.y
            )
            so_far = np.cumsum(off) / np.arange(1, len(off) + 1) / trials
            result[row.name] = result.get(row.name, 0.0) + so_far
    return result


def draw(kinds: list[Set], trials: int, out: Path) -> None:
    """Save the paper's figure 3, of the sets at hand."""
    pyplot = begin()

    plot, all_axes = pyplot.subplots(
        1, len(kinds), figsize=(6.5 * len(kinds), 5.2), layout="constrained", squeeze=False
    )
    for axes, kind in zip(all_axes[0], kinds, strict=True):
        found = curves(kind, trials)
        by_end = sorted(found.items(), key=lambda item: -item[1][-1])
        for (name, curve), style in zip(by_end, STYLES, strict=False):
            axes.plot(
                *(np.arange(1, len(curve) + 1), curve),
                linestyle=style,
                label=f"{name} ({curve[-1]:.2f})",
            )
        axes.set(
            xscale="log",
            ylim=(0, 1.6),
            xlabel="rounds",
            ylabel="rank loss so far (steps a round)",
            title=f"{kind.name}, mean of {trials} trials",
        )
        axes.legend(
            frameon=False,
            fontsize=9,
            title="after the last round",
            loc="upper center",
            bbox_to_anchor=(0.5, -0.15),
            ncols=2,
        )
    save(plot, out)
    print(out)


def add(parser: argparse.ArgumentParser) -> None:
    """What the command takes."""
    parser.add_argument(
        "--documents", type=Path, help="the cystic fibrosis queries, cfquery or cfquery.txt.gz"
    )
    parser.add_argument("--films", type=Path, help="MovieLens 100K's u.data, or u.data.gz")
    parser.add_argument("--trials", type=whole, default=500, help="(%(default)s, as the paper)")
    parser.add_argument("--out", type=picture, help="a picture: .svg, .png or .pdf")


def run(given: argparse.Namespace) -> int:
    """Run it; the exit code."""
    if given.documents is None and given.films is None:
        raise InputError("--documents or --films is needed: the files are not ours to give")
    return report(given.documents, given.films, given.trials, given.out)
