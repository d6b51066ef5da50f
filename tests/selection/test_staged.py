"""Controllers that decide a few times in a run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import neuralns
from neuralns import InputError, MaxIterations
from neuralns.operators.portfolio import portfolio_named
from neuralns.selection.controller import View
from neuralns.selection.dials import Dials
from neuralns.selection.search_features import SEARCH_FEATURES
from neuralns.selection.staged import LENGTHS, STAGES, Staged

DIALS = Dials(portfolio_named("string,random-node,greedy,regret-2"))


def test_the_stages_are_the_whole_run() -> None:
    assert sum(LENGTHS) == pytest.approx(1.0)
    assert len(LENGTHS) == len(STAGES)


def test_it_decides_at_each_stage_by_what_it_has_seen() -> None:
    asked: list[tuple[int, float, Any]] = []

    def decide(stage: int, search_features: Any, view: View) -> Any:
        asked.append((stage, view.left, search_features))
        return DIALS.row({"random-node" if stage < 2 else "string": -9.0})

    result = neuralns.solve("E-n22-k4", MaxIterations(2000), selector=Staged(DIALS, decide))
    assert [stage for stage, *_ in asked] == [0, 1, 2]
    assert [1 - left for _, left, _ in asked] == pytest.approx(STAGES, abs=0.01)
    assert not asked[0][2].any()
    assert all(
        len(search_features) == len(SEARCH_FEATURES) and np.isfinite(search_features).all() and search_features.any()
        for *_, search_features in asked[1:]
    )
    uses = {use.name: use.used for use in result.operators}
    assert uses["string"] == pytest.approx(1000, abs=20)
    assert result.selector == "staged"


def test_stages_that_a_long_stretch_passed_over_are_left_out() -> None:
    asked = []

    class Rarely(Staged):
        def begin(self) -> Any:
            found = super().begin()
            found.every = 1200
            return found

    def decide(stage: int, search_features: Any, view: View) -> Any:
        asked.append(stage)
        return DIALS.row({})

    neuralns.solve("E-n22-k4", MaxIterations(2000), selector=Rarely(DIALS, decide))
    assert asked == [0, 2]


def test_operators_it_is_not_for_are_refused() -> None:
    staged = Staged(DIALS, lambda stage, search_features, view: DIALS.row({}))
    with pytest.raises(InputError, match=r"^selector 'staged' was trained for operators string, random-node, greedy"):
        neuralns.solve("E-n22-k4", MaxIterations(5), selector=staged, portfolio="string,greedy")
