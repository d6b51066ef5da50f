"""Generated instances with several depots."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neuralns import InputError, generate_depots


@given(
    st.integers(1, 60),
    st.integers(2, 6),
    st.sampled_from(["random", "clustered", "mixed"]),
    st.sampled_from(["narrow", "wide"]),
    st.integers(0, 2**32),
)
@settings(max_examples=20)
def test_everybody_can_be_served_from_some_depot(
    customers: int, depots: int, positions: Any, width: Any, seed: int
) -> None:
    instance = generate_depots(customers, depots, positions, width, seed)
    assert (instance.customers, len(instance.depot_nodes)) == (customers, depots)
    assert [each.start for each in instance.types] == list(instance.depot_nodes)
    assert instance.unservable == {}


def test_depots_have_as_many_vehicles_and_lie_in_the_inner_quarter() -> None:
    instance = generate_depots(200, 5, seed=1)
    assert np.abs(instance.points[list(instance.depot_nodes)]).max() <= 50
    assert 90 < np.abs(instance.points).max() <= 100
    ((capacity, vehicles, longest),) = {
        (each.capacity[0], each.available, each.max_duration) for each in instance.types
    }
    assert 170 <= capacity <= 200
    assert longest is not None
    assert 400 <= longest <= 500
    assert vehicles is not None
    assert 200 / 15 < 5 * vehicles < 200 / 4


@pytest.mark.parametrize(("width", "least"), [("narrow", 90), ("wide", 180)])
def test_windows_are_as_wide_as_asked_for(width: Any, least: int) -> None:
    instance = generate_depots(300, width=width, seed=2)
    widths = (instance.latest - instance.earliest)[1:301]
    assert widths.max() <= 2 * least + 1
    assert np.median(widths) > least


@pytest.mark.parametrize("depots", [1, 0, 51])
def test_a_number_without_meaning_is_refused(depots: int) -> None:
    with pytest.raises(InputError, match=f"{depots} depots cannot be generated; choose 2 to 50"):
        generate_depots(10, depots)
