"""Settings to try."""

from __future__ import annotations

import numpy as np
import pytest

from neuralns import portfolio_named, read
from neuralns.experiments.candidates import NO_IMPROVE, OFF, candidates_for, random_row, row_of
from neuralns.selection.dials import Dials

WIDE = portfolio_named("wide")
DIALS = Dials(WIDE)


def used(row: np.ndarray) -> set[str]:
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
    assert used(windows) == set(portfolio_named("windows").names)
    assert len(others) == 5


def test_the_same_seed_draws_the_same_and_more_of_them_begin_with_the_same() -> None:
    instances = [read("E-n22-k4")]
    rows = candidates_for(instances, WIDE, 6, 3)
    assert np.array_equal(rows, candidates_for(instances, WIDE, 9, 3)[:6])
    assert not np.array_equal(rows, candidates_for(instances, WIDE, 6, 4))


def test_a_default_that_is_the_portfolio_itself_is_tried_once() -> None:
    first, second = candidates_for([read("E-n22-k4")], portfolio_named("plain"), 2, 0)
    assert not first.any()
    assert second.any()


def test_a_share_is_set_by_its_dial_and_other_parameters_have_to_be_the_same() -> None:
    row = row_of(WIDE, portfolio_named("plain"))
    assert row is not None
    setting = DIALS.setting(row, (1, 20))
    assert setting.parameters["2-opt-star:share=0.1", "share"] == pytest.approx(1.0, abs=1e-4)
    assert setting.parameters["swap-star:share=0.1", "share"] == 0.0
    assert row_of(WIDE, portfolio_named("large")) is None  # no blinks:near=50


def test_random_settings_leave_some_operators_out_and_never_all_of_a_phase() -> None:
    generator = np.random.default_rng(0)
    rows = [random_row(WIDE, generator) for _ in range(400)]
    for row in rows:
        assert used(row) & {entry.name for entry in WIDE.destroys}
        assert used(row) & {entry.name for entry in WIDE.repairs}
    values = np.array(rows)
    out = values[:, : len(WIDE.names)] == OFF
    assert out[:, -len(WIDE.improves) :].mean() == pytest.approx(NO_IMPROVE, abs=0.05)
    assert 0.1 < out[:, : len(WIDE.actions)].mean() < 0.3
    assert np.abs(np.median(values[:, len(WIDE.names) :], axis=0)).max() < 0.2
    shares = {DIALS.setting(row, (1, 30)).parameters["or-opt:share=0.1", "share"] for row in rows}
    assert min(shares) == 0.0
    assert max(shares) > 0.8
