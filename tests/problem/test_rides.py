"""The longest ride of shipments: worked by hand, and judged by trying all start times in whole numbers."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neuralns import Instance, Model, Shipment, Solution, VehicleType, write_instance
from neuralns.errors import InputError
from neuralns.experiments.peers import cannot_be_told
from neuralns.problem.formats.source import read_instance
from neuralns.problem.route_cost import overtime
from neuralns.problem.variant import in_words

LINE = [[0, 0], [10, 0], [20, 0]]


def line(longest: float | None, **rules: Any) -> Instance:
    """A shipment on a line, from 10 to 20 away from the depot, 5 of service each."""
    return Instance("line", None, 9, LINE, service=[0, 5, 5], shipments=[Shipment(1, 2, 1, longest)], **rules)


# --- The timetable and the sentences. --------------------------------------------------------------------------------


def test_a_vehicle_waits_before_a_pickup_to_make_the_ride_short() -> None:
    # Ada is served at 30 at the latest and is on the way; whoever leaves later misses her.
    instance = Instance(
        "waits", None, 9, [[0, 0], [5, 0], [10, 0], [20, 0]], windows=[[0, 500], [0, 30], [0, 500], [100, 500]],
        service=[0, 0, 5, 5], deliveries=[0, 1, 0, 0], shipments=[Shipment(2, 3, 1, 12)],
    )  # fmt: skip
    solution = Solution(instance, [[1, 2, 3]])
    assert solution.faults() == []
    (plan,) = solution.schedules
    assert (plan.departure, plan.arrival) == (25, 125)
    assert [(stop.arrival, stop.start, stop.departure) for stop in plan.stops] == [
        (30, 30, 30), (35, 83, 88), (98, 100, 105),
    ]  # fmt: skip


def test_a_route_that_waits_for_a_pickup_leaves_later() -> None:
    # Shipment 3 to 4 makes that from 1 to 2 wait, and all begin late enough.
    instance = Instance(
        "later", None, 9, [[0, 0], [10, 0], [20, 0], [12, 0], [14, 0]],
        windows=[[0, 500], [0, 500], [0, 500], [60, 80], [0, 500]],
        shipments=[Shipment(1, 2, 1, 10), Shipment(3, 4, 1, 2)],
    )  # fmt: skip
    (plan,) = Solution(instance, [[1, 3, 4, 2]]).schedules
    assert (plan.departure, [stop.start for stop in plan.stops], plan.arrival) == (48, [58, 60, 62, 68], 88)


@pytest.mark.parametrize(
    ("longest", "windows", "faults"),
    [
        (10, None, []),
        (9.5, None, ["route 1 rides 10 with the goods of the shipment from 1 to 2, longer than 9.5."]),
        (10, [[0, 200], [0, 85], [100, 200]], []),
        (10, [[0, 200], [0, 84], [100, 200]],
         ["route 1 rides 11 with the goods of the shipment from 1 to 2, longer than 10."]),
        (0, [[0, 200], [0, 200], [0, 200]],
         ["route 1 rides 10 with the goods of the shipment from 1 to 2, longer than 0."]),
        (None, [[0, 200], [0, 20], [100, 200]], []),
    ],
)  # fmt: skip
def test_a_ride_that_is_too_long_gets_a_sentence(longest: float | None, windows: Any, faults: list[str]) -> None:
    instance = line(longest, windows=windows)
    assert Solution(instance, [[1, 2]]).broken_rules() == faults
    assert bool(instance.unservable) == bool(faults)


def test_waiting_for_one_ride_may_make_another_too_long() -> None:
    # 4 opens at 100, so that 3 begins at 90, and 2 after it; but 1 closes at 20.
    instance = Instance(
        "two", None, 9, [[0, 0], [1, 0], [3, 0], [2, 0], [4, 0]],
        windows=[[0, 500], [0, 20], [0, 500], [0, 500], [100, 500]],
        shipments=[Shipment(1, 2, 1, 30), Shipment(3, 4, 1, 10)],
    )  # fmt: skip
    sentence = "route 1 rides {} with the goods of the shipment from 3 to 4, longer than 10."
    assert Solution(instance, [[1, 3, 2, 4]]).broken_rules() == [sentence.format(79)]
    assert Solution(instance, [[3, 1, 2, 4]]).broken_rules() == [sentence.format(81)]
    assert Solution(instance, [[1, 2, 3, 4]]).broken_rules() == []


@st.composite
def small_routes(draw: Any) -> tuple[Instance, tuple[int, ...]]:
    """Two shipments and a customer in small whole numbers, and a route with some of them."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    opens = rng.integers(0, 12, 6)
    windows = np.column_stack([opens, opens + rng.integers(0, 14, 6)])
    windows[0] = 0, rng.integers(15, 40)
    durations = rng.integers(0, 6, (6, 6))
    service = np.r_[0, rng.integers(0, 3, 5)]
    longest = [int(rng.integers(0, 12)) if rng.random() < 0.8 else None for _ in range(2)]
    instance = Instance(
        "small", None, 9, rng.integers(0, 9, (6, 2)), durations=durations, service=service,
        windows=windows if rng.random() < 0.8 else None,
        shipments=[Shipment(1, 2, 1, longest[0]), Shipment(3, 4, 1, longest[1])],
    )  # fmt: skip
    members = draw(st.sampled_from([(1, 2), (1, 2, 5), (1, 2, 3, 4), (1, 2, 3, 4, 5)]))
    routes = [route for route in permutations(members) if all(
        each.pickup not in route or route.index(each.pickup) < route.index(each.delivery)
        for each in instance.shipments or ()
    )]  # fmt: skip
    return instance, draw(st.sampled_from(routes))


def some_times_do(instance: Instance, route: tuple[int, ...], horizon: int = 60) -> bool:
    """Whether any start times in whole numbers keep all rules: numbers of a system in whole numbers can be whole."""
    service, limits = instance.services, instance.longest_rides

    def follow(place: int, before: int, ready: float, left: dict[int, float]) -> bool:
        if place == len(route):
            return bool(ready + instance.times([before], [0])[0] <= min(instance.latest[0], 10 * horizon))
        node = route[place]
        first = max(ready + instance.times([before], [node])[0], instance.earliest[node])
        last = min(instance.latest[node], horizon)
        if node in limits:
            pickup, longest = limits[node]
            last = min(last, left[pickup] + longest)
        if node not in {each.pickup for each in instance.shipments or ()}:
            last = min(last, first)  # nobody gains by waiting but before pickups
        return any(
            follow(place + 1, node, start + service[node], {**left, node: start + service[node]})
            for start in range(math.ceil(first), int(last) + 1)
        )

    return follow(0, 0, float(instance.earliest[0]), {})


@settings(deadline=None, max_examples=150)
@given(small_routes())
def test_a_slow_judge_agrees_and_the_timetable_keeps_all_rides(drawn: tuple[Instance, tuple[int, ...]]) -> None:
    instance, route = drawn
    solution = Solution(instance, [route])
    assert (solution.broken_rules() == []) == some_times_do(instance, route)
    (plan,) = solution.schedules
    now, before = plan.departure, 0
    for stop in plan.stops:
        assert stop.arrival == now + instance.times([before], [stop.node])[0]
        assert stop.start >= max(stop.arrival, instance.earliest[stop.node])
        now, before = stop.departure, stop.node
    if not solution.broken_rules():
        starts = {stop.node: stop for stop in plan.stops}
        for each in instance.shipments or ():
            if each.pickup in route and each.max_ride is not None:
                assert starts[each.delivery].start - starts[each.pickup].departure <= each.max_ride
        assert not set(route) & set(instance.unservable)


# --- What can be said, and where. ------------------------------------------------------------------------------------


def test_a_longest_ride_makes_time_matter() -> None:
    assert line(30).timed
    assert not line(None).timed
    assert not line(30).without("windows").timed
    assert line(30).without("windows").shipments == (Shipment(1, 2, 1),)
    assert "1 with a longest ride" in in_words(line(30))
    assert cannot_be_told("PyVRP", line(30)) == "longest rides of shipments"


@pytest.mark.parametrize(
    ("longest", "sentence"),
    [
        (-1, "longest ride of a shipment -1 must not be negative"),
        ("long", "longest ride of a shipment 'long' is not a number"),
        (math.nan, "longest ride of a shipment nan"),
        (math.inf, "longest ride of a shipment inf"),
    ],
)
def test_a_longest_ride_is_a_time(longest: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        Shipment(1, 2, 1, longest)


@pytest.mark.parametrize(
    ("rules", "with_what"),
    [
        ({"windows": [[0, 99]] * 3, "openings": {1: [(0, 9), (20, 30)]}}, "several windows"),
        ({"duration_cost": 1.0}, "costs or limits of durations"),
        ({"max_duration": 90.0}, "costs or limits of durations"),
        ({"route_costs": [overtime(30, 2.0)]}, "route costs"),
    ],
)
def test_what_longest_rides_do_not_go_with_is_refused(rules: dict[str, Any], with_what: str) -> None:
    sentence = f"line: longest rides of shipments do not go with {with_what}: "
    with pytest.raises(InputError, match=sentence):
        line(12, **rules)
    assert line(None, **rules).shipments == (Shipment(1, 2, 1),)


def test_an_objective_of_durations_is_refused() -> None:
    with pytest.raises(InputError, match="longest rides of shipments do not go with costs"):
        line(12).with_objective("duration")


@pytest.mark.parametrize(
    ("rules", "least"),
    [({}, 10), ({"windows": [[0, 200], [0, 70], [100, 200]]}, 25)],
)
def test_a_shipment_whose_ride_is_always_too_long_is_unservable(rules: dict[str, Any], least: int) -> None:
    reason = f"the goods of its shipment ride at least {least} in vehicles, and may ride 8"
    assert line(8, **rules).unservable == {1: reason, 2: reason}
    assert line(25, **rules).unservable == {}


def test_a_quicker_vehicle_or_a_quicker_detour_may_serve_it() -> None:
    durations = np.array([[0, 1, 1, 1], [1, 0, 50, 2], [1, 50, 0, 2], [1, 2, 2, 0]])
    instance = Instance(
        "detour", None, 9, [[0, 0], [1, 0], [2, 0], [3, 0]], durations=durations, deliveries=[0, 0, 0, 1],
        shipments=[Shipment(1, 2, 1, 4)],
    )  # fmt: skip
    assert instance.unservable == {}
    assert Solution(instance, [[1, 3, 2]]).feasible
    assert Solution(instance, [[1, 2], [3]]).broken_rules() == [
        "route 1 rides 50 with the goods of the shipment from 1 to 2, longer than 4."
    ]


def test_the_json_form_holds_it(tmp_path: Path) -> None:
    instance = replace(line(12.5), shipments=(Shipment(1, 2, 1, 12.5),))
    path = tmp_path / "line.json"
    write_instance(instance, path)
    assert json.loads(path.read_text())["shipments"] == [{"pickup": 1, "delivery": 2, "amount": 1, "max_ride": 12.5}]
    assert read_instance(path) == instance
    write_instance(line(None), path)
    assert "max_ride" not in path.read_text()
    data = json.loads(path.read_text()) | {"shipments": [{"pickup": 1, "delivery": 2, "max_ride": -1}]}
    path.write_text(json.dumps(data))
    with pytest.raises(InputError, match=r"shipments\[0\]\.max_ride: -1 is below 0"):
        read_instance(path)


def test_other_forms_refuse_to_write_it(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="shipments"):
        write_instance(line(12), tmp_path / "line.vrp")


def test_a_model_says_it() -> None:
    model = Model()
    model.add_depot(0, 0)
    model.add_vehicle_type(1)
    model.add_shipment((1, 1), (2, 2), amount=1, max_ride=7)
    assert model.shipments[0].max_ride == 7
    assert model.instance().shipments == (Shipment(1, 2, 1, 7),)
    with pytest.raises(InputError, match="shipment ride: longest ride -1 must not be negative"):
        model.add_shipment((1, 1), (2, 2), max_ride=-1, name="ride")
    assert len(model.shipments) == 1


def test_open_routes_and_shifts_count() -> None:
    fleet = [VehicleType(9, start=None, end=None, shift=(0, 110))]
    windows = [[0, 500], [0, 500], [100, 500]]
    instance = Instance("open", None, None, LINE, windows=windows, shipments=[Shipment(1, 2, 1, 10)], fleet=fleet)
    (plan,) = Solution(instance, [[1, 2]]).schedules
    assert (plan.departure, [stop.start for stop in plan.stops]) == (90, [90, 100])
    assert Solution(instance, [[1, 2]]).feasible
