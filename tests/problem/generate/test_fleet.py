"""Generated instances with types of vehicles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neuralns import InputError, generate_fleet, generate_x
from neuralns.problem.generate.fleet import _packed

FLEETS = ["hvrp", "hd", "fsmf", "fsmd", "fsmfd"]


@given(
    st.integers(1, 60),
    st.sampled_from(FLEETS),
    st.sampled_from(["unit", "1-100", "50-100", "many-small"]),
    st.sampled_from([None, 1]),
    st.integers(0, 2**32),
)
@settings(max_examples=25)
def test_vehicles_carry_all_demands(customers: int, fleet: Any, demand: Any, route_length: Any, seed: int) -> None:
    instance = generate_fleet(customers, fleet, demand=demand, route_length=route_length, seed=seed)
    assert instance.unservable == {}
    assert instance.fleet_matters
    room = np.repeat([each.capacity[0] for each in instance.types], [each.available or 0 for each in instance.types])
    assert _packed(room, instance.demands[1:])


@pytest.mark.parametrize("fleet", FLEETS)
def test_larger_vehicles_cost_more_as_the_fleet_says(fleet: Any) -> None:
    for seed in range(5):
        instance = generate_fleet(80, fleet, seed=seed)
        types = instance.types
        capacities = [each.capacity[0] for each in types]
        assert capacities == sorted(set(capacities))
        assert capacities[0] < generate_x(80, seed=seed).capacity < capacities[-1]
        fixed, distance = [each.fixed_cost for each in types], [each.distance_cost for each in types]
        if fleet in ("hvrp", "fsmf", "fsmfd"):
            by_load = np.divide(fixed, capacities)
            assert by_load[0] < by_load[-1]
        else:
            assert not any(fixed)
        assert set(distance) == {1.0} if fleet == "fsmf" else distance[0] < 1 < distance[-1]


@pytest.mark.parametrize("fleet", FLEETS)
def test_only_some_fleets_are_limited(fleet: Any) -> None:
    instance = generate_fleet(300, fleet, demand="1-10", route_length=10, seed=1)
    room = sum(each.capacity[0] * (each.available or 0) for each in instance.types) / instance.demands.sum()
    if fleet in ("hvrp", "hd"):
        assert 1.05 <= room < 1.5
    else:
        assert all(each.available == 300 for each in instance.types)


def test_another_fleet_leaves_the_customers_as_they_are() -> None:
    one, other = generate_fleet(30, "hd", "corner", seed=2), generate_fleet(30, "fsmf", "corner", seed=2)
    np.testing.assert_array_equal(one.points, other.points)
    np.testing.assert_array_equal(one.demands, other.demands)


def test_an_unknown_fleet_is_refused() -> None:
    with pytest.raises(InputError, match="fleet 'odd' is not known; choose one of hvrp, hd, fsmf, fsmd, fsmfd"):
        generate_fleet(10, "odd")  # type: ignore[arg-type]
