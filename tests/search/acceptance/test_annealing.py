"""Simulated annealing."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from helpers import decides
from neuralns import InputError, Instance, MaxIterations, SimulatedAnnealing, Solution, Stop, solve

RULE = SimulatedAnnealing()


def test_annealing_accepts_worse_candidates_with_the_metropolis_probability() -> None:
    share = np.mean([decides(RULE, 10.0, 105.0, 100.0, 90.0) for _ in range(20000)])
    assert share == pytest.approx(math.exp(-0.5), abs=0.02)
    assert all(decides(RULE, 1e-300, 100.0, 100.0, 90.0) for _ in range(100))
    assert not any(decides(RULE, 1e-300, 100.1, 100.0, 90.0) for _ in range(100))


@pytest.mark.parametrize(("temperature", "worse"), [(1.0, 1.0), (100.0, 50.0), (0.5, 2.0)])
def test_the_hotter_the_more_is_accepted(temperature: float, worse: float) -> None:
    share = np.mean([decides(RULE, temperature, 100.0 + worse, 100.0, 90.0) for _ in range(4000)])
    assert share == pytest.approx(math.exp(-worse / temperature), abs=0.03)


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


@pytest.mark.parametrize("wrong", [{"start": 0.0}, {"end": -1.0}, {"start": math.nan}, {"start": 1.0, "end": 2.0}])
def test_temperatures_that_make_no_sense_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError, match="temperature"):
        SimulatedAnnealing(**wrong)


def test_temperatures_are_in_the_units_of_the_objective() -> None:
    line = Instance("line", [0, 1, 1, 1], 3, [[0, 0], [10, 0], [13, 0], [18, 0]])
    hot, _ = SimulatedAnnealing().temperatures(Solution(line, [[1, 2, 3]]))
    priced = line.with_objective("distance=1000")
    assert SimulatedAnnealing().temperatures(Solution(priced, [[1, 2, 3]]))[0] == pytest.approx(1000 * hot)
