"""Generated instances of the X set's kinds: each option with its effect."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from neuralns import InputError, generate_x


@pytest.mark.parametrize(("depot", "place"), [("center", [500, 500]), ("corner", [0, 0])])
def test_the_depot_is_where_asked_for(depot: Any, place: list[float]) -> None:
    assert generate_x(10, depot=depot).points[0].tolist() == place


def test_a_random_depot_moves_with_the_seed() -> None:
    assert len({tuple(generate_x(5, seed=seed).points[0]) for seed in range(5)}) == 5


@pytest.mark.parametrize(
    ("demand", "low", "high"),
    [("unit", 1, 1), ("1-10", 1, 10), ("5-10", 5, 10), ("1-100", 1, 100), ("50-100", 50, 100), ("many-small", 1, 100)],
)
def test_demands_span_their_range(demand: Any, low: int, high: int) -> None:
    demands = generate_x(3000, demand=demand, seed=3).demands[1:]
    assert (demands.min(), demands.max()) == (low, high)
    assert (demands == demands.round()).all()


def test_quadrants_alternate_between_large_and_small_demands() -> None:
    instance = generate_x(500, demand="quadrant", seed=4)
    points, demands = instance.points[1:], instance.demands[1:]
    large = (points[:, 0] < 500) == (points[:, 1] < 500)
    assert demands[large].min() >= 51
    assert demands[~large].max() <= 50


@pytest.mark.parametrize("seed", range(5))
def test_many_small_demands_leave_few_large_ones(seed: int) -> None:
    demands = generate_x(1000, demand="many-small", seed=seed).demands[1:]
    assert 0.69 <= np.mean(demands <= 10) <= 0.96
    assert ((demands <= 10) | (demands >= 50)).all()


def test_the_capacity_holds_as_many_mean_demands_as_the_routes_are_long() -> None:
    instance = generate_x(80, route_length=7.5, seed=5)
    assert instance.capacity == np.ceil(7.5 * instance.demands.sum() / 80)


def test_the_capacity_holds_the_largest_demand() -> None:
    instance = generate_x(80, demand="many-small", route_length=1, seed=5)
    assert instance.capacity == instance.demands.max()


def test_routes_are_3_to_25_long_if_nothing_is_said() -> None:
    lengths = [generate_x(100, demand="unit", seed=seed).capacity for seed in range(60)]
    assert min(lengths) >= 3
    assert max(lengths) <= 25
    assert len(set(lengths)) > 8


def test_points_lie_on_the_grid_and_distances_are_rounded() -> None:
    instance = generate_x(400, positions="mixed", seed=6)
    assert (instance.points == instance.points.round()).all()
    assert (instance.points.min() >= 0, instance.points.max() <= 1000) == (True, True)
    assert instance.rounding == "round"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"customers": 0}, "0 customers cannot be generated; at least 1 is needed"),
        ({"depot": "north"}, "depot 'north' is not known; choose one of random, center, corner"),
        ({"positions": "odd"}, "positions 'odd' is not known; choose one of random, clustered, mixed"),
        ({"demand": "1-7"}, "demand '1-7' is not known; choose one of unit, 1-10"),
        ({"route_length": 0}, "route length 0 must lie between 1 and the number of customers"),
        ({"route_length": 11}, "route length 11 must lie between 1 and the number of customers"),
        ({"route_length": float("nan")}, "route length nan must lie"),
        ({"seed": -1}, "seed -1 must be a whole number of at least 0"),
        ({"seed": 1.5}, "seed 1.5 must be a whole number of at least 0"),
    ],
)
def test_options_without_meaning_are_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        generate_x(**({"customers": 10} | options))
