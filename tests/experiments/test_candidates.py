"""Settings to try."""

from __future__ import annotations

import numpy as np
import pytest

from neuralns import portfolio_named, read
from neuralns.experiments.candidates import Floats, candidates_for
from neuralns.selection.dials import Dials

WIDE = portfolio_named("wide")
DIALS = Dials(WIDE)


def used(row: Floats) -> set[str]:
    """Operators that a row leaves in."""
    setting = DIALS.setting(row, (1, 30))
    weights = np.asarray(setting.weights)
    shares = {name: value for (name, parameter), value in setting.parameters.items() if parameter == "share"}
    return {
        *(entry.name for entry, weight in zip(WIDE.destroys, weights.max(axis=1), strict=True) if weight > 0),
        *(entry.name for entry, weight in zip(WIDE.repairs, weights.max(axis=0), strict=True) if weight > 0),
        *(name for name, share in shares.items() if share > 0),
    }


def test_the_first_are_the_portfolio_as_it_is_and_the_defaults_of_the_instances() -> None:
    first, plain, windows, *others = candidates_for([read("E-n22-k4"), read("C101"), read("A-n32-k5")], WIDE, 8, 0)
    assert not first.any()
    assert used(plain) == {"string", "blinks", "regret-2", "2-opt-star:share=0.1"}
    assert DIALS.setting(plain, (1, 20)).parameters["2-opt-star:share=0.1", "share"] == pytest.approx(1.0, abs=1e-4)
    assert used(windows) == set(portfolio_named("windows").names)
    assert len({tuple(row) for row in (first, plain, windows, *others)}) == 8


def test_the_same_seed_draws_the_same_and_more_of_them_begin_with_the_same() -> None:
    instances = [read("E-n22-k4")]
    rows = candidates_for(instances, WIDE, 6, 3)
    assert np.array_equal(rows, candidates_for(instances, WIDE, 9, 3)[:6])
    assert not np.array_equal(rows, candidates_for(instances, WIDE, 6, 4))


def test_a_default_that_is_the_portfolio_itself_is_tried_once() -> None:
    first, second = candidates_for([read("E-n22-k4")], portfolio_named("plain"), 2, 0)
    assert not first.any()
    assert second.any()


def test_a_default_whose_operators_the_portfolio_lacks_is_no_candidate() -> None:
    portfolio = portfolio_named("string,random-node,blinks")
    first, second = candidates_for([read("E-n22-k4")], portfolio, 2, 0)
    assert not first.any()
    assert (np.abs(second[-2:]) > 0).all()  # temperatures are drawn
