"""Acceptance criteria."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from neuralns import (
    Always,
    HillClimbing,
    InputError,
    Instance,
    MaxIterations,
    RecordToRecord,
    SimulatedAnnealing,
    Solution,
    Stop,
    solve,
)
from neuralns.operators.state import new_state
from neuralns.search.acceptance import ALWAYS, ANNEALING, HILL, RECORD, accepts

STATE = new_state(Instance("one", [0, 1], 1, [[0, 0], [1, 0]]), 5)


def test_annealing_accepts_worse_candidates_with_the_metropolis_probability() -> None:
    share = np.mean([accepts(STATE, ANNEALING, 10.0, 105.0, 100.0, 90.0) for _ in range(20000)])
    assert share == pytest.approx(math.exp(-0.5), abs=0.02)
    assert all(accepts(STATE, ANNEALING, 1e-300, 100.0, 100.0, 90.0) for _ in range(100))
    assert not any(accepts(STATE, ANNEALING, 1e-300, 100.1, 100.0, 90.0) for _ in range(100))


def test_the_other_rules_compare_with_record_current_or_nothing() -> None:
    assert accepts(STATE, RECORD, 10.0, 99.0, 95.0, 90.0)
    assert not accepts(STATE, RECORD, 10.0, 101.0, 95.0, 90.0)
    assert not accepts(STATE, RECORD, 10.0, 101.0, 110.0, 90.0)
    assert accepts(STATE, HILL, 10.0, 95.0, 95.0, 90.0)
    assert not accepts(STATE, HILL, 10.0, 95.1, 95.0, 90.0)
    assert accepts(STATE, ALWAYS, 10.0, 1e9, 95.0, 90.0)


def test_the_start_temperature_follows_the_distances_on_the_initial_routes() -> None:
    line = Instance("line", [0, 1, 1, 1], 3, [[0, 0], [10, 0], [13, 0], [18, 0]])
    hot, cold = SimulatedAnnealing().temperatures(Solution(line, [[1, 2, 3]]))
    assert hot == pytest.approx(2 * (3 + 5) / 2)
    assert cold == pytest.approx(0.03 * hot)
    alone = Solution(line, [[1], [2], [3]])
    assert SimulatedAnnealing().temperatures(alone)[0] == pytest.approx(2 * (10 + 13 + 18) / 3)
    assert SimulatedAnnealing(start=7.0, end=0.5).temperatures(alone) == (7.0, 0.5)
    assert SimulatedAnnealing(end=99.0).temperatures(alone) == (99.0, 99.0)


def test_the_temperature_falls_from_start_to_end_over_the_run() -> None:
    for stop in (MaxIterations(6400), Stop(time=0.4)):
        trace = solve("E-n22-k4", stop, acceptance=SimulatedAnnealing(50.0, 0.5)).trace
        cooling = trace.temperature[1:]
        # By the clock each segment starts from what was measured, which may differ a little from what was foreseen.
        assert all(after <= 1.05 * before for before, after in pairwise(cooling))
        assert cooling[0] == pytest.approx(50.0, rel=0.3)
        assert cooling[-1] == pytest.approx(0.5, rel=0.3)


@pytest.mark.parametrize("rule", [HillClimbing(), Always(), RecordToRecord(), SimulatedAnnealing()])
def test_every_rule_drives_a_search(rule: HillClimbing | Always | RecordToRecord | SimulatedAnnealing) -> None:
    result = solve("E-n22-k4", MaxIterations(500), acceptance=rule, initial="random")
    assert result.feasible
    assert result.cost < result.initial.cost
    if isinstance(rule, HillClimbing):
        assert result.trace.current == result.trace.best
    if isinstance(rule, Always):
        assert all(use.accepted == use.used for use in result.operators)


@pytest.mark.parametrize("wrong", [{"start": 0.0}, {"end": -1.0}, {"start": math.nan}, {"start": 1.0, "end": 2.0}])
def test_temperatures_that_make_no_sense_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError, match="temperature"):
        SimulatedAnnealing(**wrong)  # type: ignore[arg-type]
