"""Generated instances: repeatable by seed, and each option with its effect."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

from neuralns import InputError, Instance, Solution, generate_solomon, generate_windows, generate_x
from neuralns.problem.distances import Floats


def spread(points: Floats) -> float:
    """Mean distance from a point to the nearest other one."""
    distances = np.hypot(*(points[:, None, :] - points[None, :, :]).transpose(2, 0, 1))
    np.fill_diagonal(distances, np.inf)
    return float(distances.min(axis=1).mean())


@pytest.mark.parametrize("generate", [generate_solomon, generate_windows, generate_x])
def test_the_seed_decides_the_instance(generate: Callable[..., Instance]) -> None:
    one, same, other = generate(40, seed=5), generate(40, seed=5), generate(40, seed=6)
    np.testing.assert_array_equal(one.points, same.points)
    np.testing.assert_array_equal(one.demands, same.demands)
    assert (one.capacity, one.name) == (same.capacity, same.name)
    assert not np.array_equal(one.points, other.points)
    assert not np.array_equal(one.demands, other.demands)
    assert one.name != other.name


@pytest.mark.parametrize("generate", [generate_solomon, generate_windows, generate_x])
@pytest.mark.parametrize("customers", [1, 2, 7, 250])
@pytest.mark.parametrize("kind", ["random", "clustered", "mixed"])
def test_there_are_as_many_customers_as_asked_for(generate: Callable[..., Instance], customers: int, kind: str) -> None:
    name = "positions" if generate is generate_x else "kind"
    assert generate(customers, seed=1, **{name: kind}).customers == customers


@pytest.mark.parametrize("generate", [generate_solomon, generate_windows, generate_x])
def test_clusters_are_denser_than_a_mixture_and_that_than_chance(generate: Callable[..., Instance]) -> None:
    name = "positions" if generate is generate_x else "kind"
    clustered, mixed, random = (
        np.mean([spread(generate(200, seed=seed, **{name: kind}).points[1:]) for seed in range(5)])
        for kind in ("clustered", "mixed", "random")
    )
    assert clustered < mixed < random


def test_solomons_square_has_side_100_and_the_depot_near_its_middle() -> None:
    instance = generate_solomon(300, "random", seed=2, capacity=500)
    assert instance.points[0].tolist() == [40, 50]
    assert (instance.points.min(), instance.points.max()) == (0, 100)
    assert (instance.capacity, instance.rounding) == (500, "none")


@pytest.mark.parametrize(("kind", "demands"), [("random", set(range(1, 42))), ("clustered", {10, 20, 30, 40, 50})])
def test_solomons_demands_depend_on_the_kind(kind: Any, demands: set[int]) -> None:
    assert set(generate_solomon(1000, kind, seed=2).demands[1:]) == demands


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


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"customers": 0}, "0 customers cannot be generated"),
        ({"kind": "odd"}, "kind 'odd' is not known; choose one of random, clustered, mixed"),
        ({"seed": -1}, "seed -1 must be a whole number of at least 0"),
        ({"capacity": 49}, "capacity 49 is too small for demands of up to 50"),
    ],
)
def test_options_without_meaning_are_refused_for_solomons_kinds(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        generate_solomon(**({"customers": 10} | options))


KINDS = list(product(["random", "clustered", "mixed"], ["narrow", "wide"], ["short", "long"]))


@pytest.mark.parametrize(("kind", "width", "horizon"), KINDS)
@pytest.mark.parametrize("rounding", ["none", "round", "trunc", "dimacs"])
def test_everybody_with_a_window_can_be_served(kind: Any, width: Any, horizon: Any, rounding: str) -> None:
    for customers, seed in ((1, 1), (2, 2), (40, 3), (120, 4)):
        instance = generate_windows(customers, kind, width, horizon, seed=seed).with_rounding(rounding)
        assert instance.unservable == {}
        alone = Solution(instance, [[customer] for customer in range(1, customers + 1)])
        assert alone.faults() == []


@pytest.mark.parametrize(("kind", "horizon"), [("random", "short"), ("clustered", "long"), ("mixed", "short")])
def test_wide_windows_are_four_times_as_wide_as_narrow_ones_and_more(kind: Any, horizon: Any) -> None:
    narrow, wide = (generate_windows(300, kind, width, horizon, seed=5) for width in ("narrow", "wide"))
    np.testing.assert_array_equal(narrow.points, wide.points)
    assert (wide.latest - wide.earliest)[1:].mean() > 3 * (narrow.latest - narrow.earliest)[1:].mean()


@pytest.mark.parametrize("kind", ["random", "clustered", "mixed"])
def test_a_long_shift_has_larger_vehicles(kind: Any) -> None:
    short, long = (generate_windows(50, kind, horizon=horizon) for horizon in ("short", "long"))
    assert long.latest[0] > 2 * short.latest[0]
    assert long.capacity > 3 * short.capacity


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_a_share_of_the_customers_has_a_window(share: float) -> None:
    instance = generate_windows(200, share=share, seed=6)
    narrow = (instance.latest - instance.earliest)[1:] < 100
    assert narrow.mean() == share
    assert (instance.earliest[1:][~narrow] == 0).all()


@pytest.mark.parametrize(("customers", "side"), [(10, 100), (100, 100), (400, 200), (1000, 500)])
def test_the_square_grows_with_the_customers(customers: int, side: int) -> None:
    instance = generate_windows(customers, seed=7)
    assert instance.points[0].tolist() == [side // 2, side // 2]
    assert instance.points.max() <= side
    assert customers < 100 or instance.points.max() > 0.95 * side


def test_windows_of_clusters_follow_one_another_as_routes_do() -> None:
    instance = generate_windows(100, "clustered", "narrow", seed=8)
    middles = (instance.latest + instance.earliest)[1:] / 2
    apart = np.hypot(*(instance.points[1:, None] - instance.points[None, 1:]).transpose(2, 0, 1))
    following = (middles[None, :] - middles[:, None] > 45) & (middles[None, :] - middles[:, None] < 150) & (apart < 15)
    assert following.any(axis=1).mean() > 0.6


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"customers": 0}, "0 customers cannot be generated"),
        ({"kind": "odd"}, "kind 'odd' is not known; choose one of random, clustered, mixed"),
        ({"width": "odd"}, "width 'odd' is not known; choose one of narrow, wide"),
        ({"horizon": "odd"}, "horizon 'odd' is not known; choose one of short, long"),
        ({"share": 1.5}, "share 1.5 of customers with a window must lie between 0 and 1"),
        ({"share": float("nan")}, "share nan of customers with a window must lie between 0 and 1"),
        ({"seed": -1}, "seed -1 must be a whole number of at least 0"),
    ],
)
def test_options_without_meaning_are_refused_for_windows(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        generate_windows(**({"customers": 10} | options))
