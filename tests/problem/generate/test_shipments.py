"""Generated instances with shipments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neuralns import InputError, Solution, generate_shipments, generate_windows


@given(
    st.integers(1, 30).map(lambda pairs: 2 * pairs),
    st.sampled_from(["random", "clustered", "mixed"]),
    st.sampled_from(["narrow", "wide"]),
    st.sampled_from(["short", "long"]),
    st.sampled_from(["none", "round", "trunc", "dimacs"]),
    st.sampled_from([0.0, 0.5, 1.0]),
    st.integers(0, 2**32),
)
@settings(max_examples=25)
def test_everybody_is_in_one_shipment_that_a_vehicle_alone_can_carry(
    customers: int, positions: Any, width: Any, horizon: Any, rounding: str, share: float, seed: int
) -> None:
    instance = generate_shipments(customers, positions, width, horizon, share, seed).with_rounding(rounding)
    assert instance.customers == customers
    assert instance.shipments is not None
    pairs = [[each.pickup, each.delivery] for each in instance.shipments]
    assert sorted(stop for pair in pairs for stop in pair) == list(range(1, customers + 1))
    assert instance.unservable == {}
    assert Solution(instance, pairs).faults() == []


def test_stops_are_those_with_windows_and_nearly_all_keep_theirs() -> None:
    instance, base = generate_shipments(200, "mixed", seed=3), generate_windows(200, "mixed", seed=3)
    np.testing.assert_array_equal(instance.points, base.points)
    assert (instance.earliest == base.earliest).mean() > 0.9
    assert (instance.latest == base.latest).mean() > 0.9
    assert (instance.capacity, instance.rounding) == (base.capacity, "none")


def test_amounts_are_the_demands_of_pickups() -> None:
    instance, base = generate_shipments(40, seed=4), generate_windows(40, seed=4)
    assert instance.shipments is not None
    assert all(each.amount == (base.demands[each.pickup],) for each in instance.shipments)


def test_shipments_share_routes() -> None:
    instance = generate_shipments(100, "clustered", "wide", seed=5)
    assert instance.shipments is not None
    near = [np.hypot(*(instance.points[each.pickup] - instance.points[each.delivery])) for each in instance.shipments]
    assert np.median(near) < 25


def test_an_odd_number_is_refused() -> None:
    with pytest.raises(InputError, match="11 customers cannot be paired; shipments need an even number"):
        generate_shipments(11)
