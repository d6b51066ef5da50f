"""Instances in whole numbers, as other solvers take them."""

from __future__ import annotations

import numpy as np
import pytest

from neuralns import InputError, Instance, read
from neuralns.experiments.whole_numbers import fleet, whole_numbers
from neuralns.problem.distances import Rounding

DEMANDS = [0, 3, 4, 5]
POINTS = [[0, 0], [1, 2], [7, 3], [4, 9]]
WINDOWS = [[10, 50], [12, 30], [10, 45], [0, np.inf]]
SERVICE = [0, 5, 5, 10]


def timed(rounding: Rounding = "dimacs", **more: object) -> Instance:
    options = {"windows": WINDOWS, "service": SERVICE, **more}
    return Instance("four", DEMANDS, 10, POINTS, rounding=rounding, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(("rounding", "factor"), [("dimacs", 10), ("round", 1), ("trunc", 1)])
def test_rounded_distances_are_told_exactly(rounding: Rounding, factor: int) -> None:
    instance = timed(rounding)
    told = whole_numbers(instance)
    assert (told.distance_factor, told.time_factor, told.load_factor) == (factor, factor, 1)
    assert told.distances / factor == pytest.approx(instance.distances)
    assert (told.durations == told.distances).all()
    assert (told.demands.tolist(), told.capacity) == (DEMANDS, 10)


def test_times_count_from_the_opening_and_end() -> None:
    told = whole_numbers(timed("round", max_duration=50.0, max_distance=40.0, vehicles=2))
    assert told.timed
    assert told.earliest.tolist() == [0, 2, 0, 0]
    assert told.latest.tolist()[:3] == [40, 20, 35]
    assert told.latest[3] >= told.durations.max(axis=1).sum() + sum(SERVICE)
    assert told.horizon == 40
    assert (told.service.tolist(), told.max_duration, told.max_distance, told.vehicles) == (SERVICE, 50, 40, 2)


def test_what_is_not_whole_is_rounded_to_the_safe_side() -> None:
    instance = timed("none", windows=[[0, 80], [1 / 3, 30], [10, 60], [0, 200 / 3]])
    told = whole_numbers(instance)
    assert told.time_factor == 1000
    assert (told.durations >= told.time_factor * np.asarray(instance.distances) - 1e-5).all()
    assert told.earliest[1] >= told.time_factor / 3
    assert told.latest[3] <= told.time_factor * 200 / 3
    assert told.latest[2] == 60 * told.time_factor
    assert told.distances.sum() < 2**32


def test_distances_and_times_have_a_factor_each() -> None:
    told = whole_numbers(timed("none", durations=np.full((4, 4), 2.25), service=SERVICE))
    assert told.time_factor == 100
    assert told.durations[0, 1] == 225
    assert told.durations[1, 1] == 0
    assert told.distance_factor == 1000


def test_a_vehicle_costs_what_the_instance_says_in_units_of_distance() -> None:
    assert whole_numbers(timed("dimacs", vehicle_cost=7.5)).vehicle_cost == 75


def test_as_many_vehicles_are_offered_as_there_are_or_may_be_needed() -> None:
    assert fleet(timed(vehicles=2)) == 2
    assert fleet(timed(vehicles=9)) == 3
    assert fleet(timed()) == 3
    plain = read("X-n200-k36")
    assert 36 < fleet(plain) < 60


def test_large_instances_are_refused() -> None:
    nodes = 5001
    huge = Instance("huge", [0] + [1] * (nodes - 1), 10, np.zeros((nodes, 2)))
    with pytest.raises(InputError, match="huge: too large for a matrix of distances, which other solvers are given"):
        whole_numbers(huge)
