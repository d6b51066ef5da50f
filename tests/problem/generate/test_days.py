"""Generated days of planners."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neuralns import InputError, Instance, MaxIterations, generate_days, solve
from neuralns.problem.generate.days import LONGEST_SERVICE, planned_day
from texts import assert_same

POSITIONS = st.sampled_from(["random", "clustered", "mixed"])
SPARE = st.floats(0, 0.5)


def left_over(instance: Instance) -> float:
    """The share of all vehicles' capacity that deliveries leave over, of the goods of which it is least."""
    capacity = sum(np.array(each.capacity) * (each.available or 0) for each in instance.types)
    return float((1 - instance.amounts[0].sum(axis=0) / capacity).min())


def shifts(instance: Instance) -> float:
    """The shifts of all vehicles together."""
    return sum((each.shift[1] - each.shift[0]) * (each.available or 0) for each in instance.types)


@given(st.integers(1, 80), POSITIONS, st.integers(1, 2), st.floats(0, 1), SPARE, SPARE, st.integers(0, 2**32))
@settings(max_examples=40)
def test_the_routes_that_a_day_is_fitted_to_serve_all_stops_and_keep_all_rules(
    customers: int, positions: Any, depots: int, share: float, capacity: float, time: float, seed: int
) -> None:
    planned = planned_day(customers, positions, depots, share, capacity, time, seed)
    assert planned.faults() == []
    assert sorted(stop for route in planned.routes for stop in route) == [*range(1, customers + 1)]
    assert len(planned.routes) == sum(each.available or 0 for each in planned.instance.types)
    assert (planned.instance.customers, len(planned.instance.depot_nodes)) == (customers, depots)
    assert planned.instance.unservable == {}


@pytest.mark.parametrize("spare", [0.0, 0.02, 0.1, 0.3, 0.5])
def test_as_much_capacity_is_left_over_as_is_asked_for(spare: float) -> None:
    for seed in range(12):
        instance = generate_days(60, depots=1 + seed % 2, spare_capacity=spare, seed=seed)
        assert left_over(instance) == pytest.approx(spare, abs=0.005)


@pytest.mark.parametrize("spare", [0.0, 0.05, 0.2, 0.4])
def test_as_much_time_is_left_over_as_is_asked_for(spare: float) -> None:
    for seed in range(12):
        planned = planned_day(100, depots=1 + seed % 2, spare_time=spare, seed=seed)
        instance = planned.instance
        taken = planned.duration / shifts(instance)
        assert 1 - taken == pytest.approx(spare, abs=0.01) or instance.services.max() == LONGEST_SERVICE
        assert 1 - taken > spare - 0.001


def test_an_option_leaves_the_other_parts_as_they_are() -> None:
    for seed in range(5):
        one, other = (generate_days(40, share=share, seed=seed) for share in (0.2, 0.8))
        assert one.types == other.types
        np.testing.assert_array_equal(one.points, other.points)
        np.testing.assert_array_equal(one.services, other.services)
        tight, loose = (generate_days(40, spare_capacity=spare, seed=seed) for spare in (0.0, 0.4))
        np.testing.assert_array_equal(tight.windows, loose.windows)
        assert [each.shift for each in tight.types] == [each.shift for each in loose.types]


def test_so_many_stops_have_a_window_of_half_a_day_or_a_slot() -> None:
    for seed in range(8):
        instance = generate_days(100, share=0.4, seed=seed)
        opens, closes = instance.earliest[1:], instance.latest[1:]
        whole = (opens == opens.min()) & (closes == closes.max())
        assert 60 <= whole.sum() <= 63
        assert (opens % 30 == 0).all()
        assert (closes % 30 == 0).all()
        assert len({*(closes - opens)[~whole]}) <= 6


def test_days_are_of_many_kinds() -> None:
    days = [generate_days(60, depots=1 + seed % 2, seed=seed) for seed in range(40)]
    assert {len(day.depot_nodes) for day in days} == {1, 2}
    assert {day.dimensions for day in days} == {1, 2}
    assert {len({each.capacity for each in day.types}) for day in days} == {1, 2, 3}
    for there in (
        [day.pickups is not None for day in days],
        [day.prizes is not None for day in days],
        [day.durations is not None for day in days],
        [day.types[0].duration_cost > 0 for day in days],
    ):
        assert 8 <= sum(there) <= 32
    np.testing.assert_allclose(days[0].points, np.round(days[0].points, 1))


def test_ways_are_slower_in_streets_and_no_detour_is_quicker() -> None:
    days = (generate_days(40, seed=seed) for seed in range(20))
    durations = next(day.durations for day in days if day.durations is not None)
    through = (durations[:, :, None] + durations[None]).min(axis=1)
    assert (durations <= through + 1e-9).all()


def test_a_short_search_serves_all_of_a_day_with_much_to_spare() -> None:
    for seed in range(3):
        instance = generate_days(12, share=0.3, spare_capacity=0.4, spare_time=0.4, seed=seed)
        assert solve(instance, MaxIterations(500), seed=1).feasible


def test_the_seed_decides() -> None:
    assert_same(generate_days(30, seed=3), generate_days(30, seed=3))
    assert not np.array_equal(generate_days(30, seed=3).points, generate_days(30, seed=4).points)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"positions": "north"}, "positions 'north' is not known; choose one of random, clustered, mixed."),
        ({"customers": 0}, "0 customers cannot be generated; at least 1 is needed."),
        ({"customers": 5000}, "5000 customers are too many for a day; choose at most 4998."),
        ({"depots": 3}, "3 depots cannot be generated for a day; choose 1 or 2."),
        ({"share": 1.5}, "share 1.5 of customers with a window must lie between 0 and 1."),
        ({"spare_capacity": -0.1}, "spare capacity -0.1 must lie between 0 and 0.5."),
        ({"spare_capacity": float("nan")}, "spare capacity nan must lie between 0 and 0.5."),
        ({"spare_time": 0.6}, "spare time 0.6 must lie between 0 and 0.5."),
    ],
)
def test_what_has_no_meaning_is_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError) as refusal:
        generate_days(**({"customers": 10} | options))
    assert str(refusal.value) == sentence
