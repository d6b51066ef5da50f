"""Which vehicles routes get: what one type would do dearly another one does cheaply, whichever was named first."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from neuralns import Instance, MaxIterations, VehicleType, solve

ITERATIONS = 3000


def _stops(fleet: Sequence[VehicleType], stops: int = 12, **values: Any) -> Instance:
    """Stops of one unit in a square of 40 around the depot, ten minutes each."""
    rng = np.random.default_rng(1)
    points = np.concatenate([[[0, 0]], rng.integers(-20, 20, (stops, 2))])
    amounts = {
        "deliveries": np.r_[0, np.ones(stops)],
        "windows": [[0, 1000]] * (stops + 1),
        "service": [0, *[10] * stops],
    }
    return Instance("stops", None, coordinates=points, fleet=fleet, **(amounts | values))


def _cost(instance: Instance, seed: int = 0) -> float:
    result = solve(instance, MaxIterations(ITERATIONS), seed=seed)
    assert not result.best.unserved
    return result.cost


LONG = VehicleType(100, 20, 10, shift=(0, 1000))


@pytest.mark.parametrize(
    ("short", "long"),
    [
        (VehicleType(100, 20, shift=(0, 60)), LONG),
        (VehicleType(100, 20, max_duration=60), LONG),
        (VehicleType(100, 20, max_distance=60), LONG),
        (VehicleType(100, 20, max_stops=1), LONG),
        (VehicleType(2, 20), VehicleType(100, 20, 10, skills=["crane"])),
        (VehicleType(100, 20, end=None, max_stops=1), LONG),
    ],
    ids=["shift", "duration", "distance", "stops", "skills", "open"],
)
def test_few_long_routes_are_found_where_each_stop_alone_is_cheaper_in_another_vehicle(
    short: VehicleType, long: VehicleType
) -> None:
    alone = _cost(_stops([long]))
    for fleet in ([short, long], [long, short]):
        assert _cost(_stops(fleet)) <= alone + 1e-6


def test_types_that_cost_the_same_are_told_apart_by_what_becomes_of_a_route() -> None:
    small, large = VehicleType(2, 40, 10), VehicleType(100, 40, 10, skills=["crane"])
    costs = {_cost(_stops(fleet, 30)) for fleet in ([small, large], [large, small])}
    assert max(costs) == pytest.approx(_cost(_stops([large], 30)), rel=0.01)


def test_the_order_of_vehicle_types_has_no_influence() -> None:
    types = [
        VehicleType(4, 9, 8, shift=(0, 150)),
        VehicleType(7, 9, 12, 1.2, shift=(0, 300), skills=["crane"]),
        VehicleType(9, 9, 12, 1.1, shift=(0, 200), max_stops=8),
    ]
    costs = [_cost(_stops(fleet), seed=2) for fleet in permutations(types)]
    assert costs == pytest.approx([costs[0]] * len(costs), rel=1e-9)
