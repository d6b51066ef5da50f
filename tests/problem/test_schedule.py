"""Timetables worked by hand, and the least duration by brute force."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brute_force import departures, drive, timed_instances
from neuralns import Instance
from neuralns.problem.schedule import schedule

LINE = [[0, 0], [3, 0], [6, 0]]


def line(**rules: Any) -> Instance:
    """Two customers on a line, 3 and 6 from the depot."""
    return Instance("line", [0, 4, 5], 9, LINE, **rules)


def test_without_windows_a_route_leaves_at_0_and_waits_for_nobody() -> None:
    found = schedule(line(service=[0, 10, 20]), [1, 2])
    assert (found.departure, found.arrival, found.duration) == (0, 42, 42)
    assert [(stop.node, stop.arrival, stop.start, stop.departure) for stop in found.stops] == [
        (1, 3, 3, 13),
        (2, 16, 16, 36),
    ]
    assert [stop.waiting for stop in found.stops] == [0, 0]


def test_the_load_is_what_is_still_to_be_delivered() -> None:
    assert [stop.load for stop in schedule(line(), [1, 2]).stops] == [5, 0]
    assert [stop.load for stop in schedule(line(), [2, 1]).stops] == [4, 0]


def test_a_route_leaves_as_late_as_it_can_without_coming_back_later() -> None:
    found = schedule(line(windows=[[0, 100], [0, 60], [50, 60]]), [1, 2])
    assert (found.departure, found.arrival, found.duration) == (44, 56, 12)
    assert [(stop.arrival, stop.waiting) for stop in found.stops] == [(47, 0), (50, 0)]


def test_a_window_that_ends_early_holds_the_departure_back() -> None:
    found = schedule(line(windows=[[0, 100], [0, 20], [50, 60]]), [1, 2])
    assert (found.departure, found.arrival) == (17, 56)
    assert [(stop.start, stop.waiting) for stop in found.stops] == [(20, 0), (50, 27)]


def test_the_shift_begins_when_the_depot_opens() -> None:
    found = schedule(line(windows=[[7, 100], [0, 90], [0, 90]]), [1, 2])
    assert (found.departure, found.arrival) == (7, 19)


def test_late_stops_are_late_and_no_later_than_they_must_be() -> None:
    found = schedule(line(windows=[[0, 100], [40, 60], [0, 5]]), [1, 2])
    assert (found.departure, found.stops[0].start, found.stops[1].start) == (37, 40, 43)


def test_travel_times_of_their_own_count() -> None:
    times = [[0, 1, 2], [30, 0, 4], [50, 60, 0]]
    found = schedule(line(durations=times), [1, 2])
    assert [stop.arrival for stop in found.stops] == [1, 5]
    assert found.arrival == 55


def test_times_are_rounded_as_distances_are() -> None:
    instance = Instance("diagonal", [0, 1], 1, [[0, 0], [1, 1]], rounding="dimacs", service=[0, 0.5])
    assert schedule(instance, [1]).arrival == pytest.approx(1.4 + 0.5 + 1.4)


def test_an_empty_route_takes_no_time() -> None:
    found = schedule(line(windows=[[5, 9], [5, 9], [5, 9]]), [])
    assert (found.departure, found.arrival, found.duration, found.stops) == (5, 5, 0, ())


def routes_of(instance: Instance, data: st.DataObject) -> list[int]:
    customers = st.integers(1, instance.customers)
    return data.draw(st.lists(customers, min_size=1, max_size=instance.customers, unique=True))


@settings(max_examples=200, deadline=None)
@given(timed_instances(), st.data())
def test_the_return_is_the_earliest_and_the_duration_the_least(instance: Instance, data: st.DataObject) -> None:
    route = routes_of(instance, data)
    found = schedule(instance, route)
    driven = [(departure, *drive(instance, route, departure)) for departure in departures(instance)]
    on_time = [(departure, back) for departure, back, late in driven if not late]
    late_at_best = instance.windows is not None and drive(instance, route, float(instance.earliest[0]))[1]
    assert late_at_best == (not on_time)
    if on_time:
        assert found.duration == min(back - departure for departure, back in on_time)
        assert found.arrival == min(back for _, back in on_time)
        assert drive(instance, route, found.departure) == (found.arrival, False)


@settings(max_examples=100, deadline=None)
@given(timed_instances(), st.data())
def test_the_stops_follow_from_the_departure(instance: Instance, data: st.DataObject) -> None:
    route = routes_of(instance, data)
    found = schedule(instance, route)
    assert [stop.node for stop in found.stops] == route
    assert found.departure >= instance.earliest[0]
    for stop in found.stops:
        assert stop.start == max(stop.arrival, instance.earliest[stop.node])
        assert stop.departure == stop.start + instance.services[stop.node]
        assert stop.waiting >= 0
    places = [0, *route, 0]
    times = np.r_[found.departure, [stop.departure for stop in found.stops]]
    arrivals = np.r_[[stop.arrival for stop in found.stops], found.arrival]
    np.testing.assert_array_equal(arrivals - times, instance.times(places[:-1], places[1:]))
