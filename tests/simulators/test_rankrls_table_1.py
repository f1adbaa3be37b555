"""The RankRLS paper's run times: what they are beside learns what it should, and the table is printed."""

import numpy as np
import pytest

from simulators.pairwise_svm import train
from simulators.rankrls_table_1 import Row, documents, report
from stream_rank import Gaussian
from stream_rank.batch import RankSVM
from stream_rank.batch.graph import edges_of
from stream_rank.batch.kernel_values import kernel_values


def test_the_machine_of_pairs_finds_what_rank_svm_finds() -> None:
    X, y = documents(60, seed=1)
    kernel = Gaussian(0.5**0.5)
    preferred, other = edges_of(y, np.zeros(60, np.int64))
    found = train(kernel_values(kernel, X, X), preferred, other, C=0.5)
    peer = RankSVM(C=0.5 * len(preferred), kernel=kernel, tol=1e-8).fit(X, y)
    assert found.scores - found.scores.mean() == pytest.approx(
        peer.predict(X) - peer.predict(X).mean(), abs=5e-3
    )
    assert ((found.coefficients >= 0) & (found.coefficients <= 0.5)).all()
    assert y.sum() == 12


def test_the_table() -> None:
    lines: list[str] = []
    assert report([50], lines.append) == 0
    assert len(lines) == 4
    assert lines[2].split()[0] == "50"
    assert Row(2000, 0.0, 2.1, 1.0, None, 5.0, 1.0).failed
    assert not Row(2000, 0.0, 1.9, 1.0, 9.0, 5.0, 1.0).failed
    assert not Row(50, 0.0, 2.1, 1.0, 9.0, 5.0, 1.0).failed
