"""What an instance holds, what it refuses, and the instances derived from it."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pytest

from fleets import SHIPS, TIMED, general_instance
from neuralns import InputError, Instance, Profile, Solution, VehicleType, overtime, read
from neuralns.problem import instance as instance_module

SQUARE: dict[str, Any] = {"demands": [0, 1, 2, 3], "capacity": 6, "coordinates": [[0, 0], [0, 3], [4, 3], [4, 0]]}
ONE_WAY = [[0, 1, 2], [3, 0, 4], [5, 6, 0]]


def square(**changes: Any) -> Instance:
    return Instance("square", **(SQUARE | changes))


def test_distances_are_euclidean_between_coordinates() -> None:
    distances = square().distances
    assert distances is not None
    assert distances.tolist() == [[0, 3, 5, 4], [3, 0, 4, 5], [5, 4, 0, 3], [4, 5, 3, 0]]


def test_a_matrix_comes_before_coordinates() -> None:
    instance = Instance("one-way", [0, 1, 1], 2, [[0, 0], [9, 9], [5, 5]], ONE_WAY)
    assert (instance.distance(0, 2), instance.distance(2, 0)) == (2, 5)
    assert instance.points.tolist() == [[0, 0], [9, 9], [5, 5]]


def test_what_nobody_can_change_is_not_copied() -> None:
    given = np.array(ONE_WAY, dtype=np.float64)
    copied = Instance("one-way", [0, 1, 1], 2, matrix=given)
    given[0, 1] = 7
    assert copied.distance(0, 1) == 1
    given.setflags(write=False)
    taken = Instance("one-way", [0, 1, 1], 2, matrix=given)
    assert taken.matrix is given
    assert taken.with_objective("distance=2").matrix is given


@pytest.mark.parametrize(("rounding", "expected"), [("none", 2**0.5), ("round", 1), ("trunc", 1), ("dimacs", 1.4)])
def test_one_distance_and_the_matrix_are_rounded_alike(rounding: str, expected: float) -> None:
    instance = Instance("pair", [0, 1], 1, [[3, 3], [4, 4]]).with_rounding(rounding)
    assert instance.distances is not None
    assert instance.distance(0, 1) == instance.distances[0, 1] == expected


def test_a_given_matrix_is_rounded_too() -> None:
    instance = Instance("pair", [0, 1], 1, matrix=[[0, 1.5], [2.4, 0]], rounding="round")
    assert (instance.distance(0, 1), instance.distance(1, 0)) == (2, 2)


def test_no_matrix_is_held_above_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(instance_module, "MATRIX_LIMIT", 4)
    assert square().distances is not None
    monkeypatch.setattr(instance_module, "MATRIX_LIMIT", 3)
    assert square().distances is None
    assert square().distance(1, 3) == 5


def test_an_instance_cannot_be_changed() -> None:
    instance = square()
    with pytest.raises(FrozenInstanceError):
        instance.capacity = 7  # type: ignore[misc]
    for array in (instance.demands, instance.coordinates, instance.distances):
        assert array is not None
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"demands": [0]}, "at least one customer is needed, 0 given"),
        ({"demands": []}, "at least one customer is needed, 0 given"),
        ({"demands": [[0, 1]]}, "demands must be a list of numbers"),
        ({"demands": ["a", "b"]}, "demands must be a list of numbers"),
        ({"demands": [0, 1, -2, 3]}, "demand -2 of customer 2 is negative"),
        ({"demands": [5, 1, 2, 3]}, "the depot has demand 5, but must have 0"),
        ({"demands": [0, 1, np.nan, 3]}, "demands: value nan of node 2 is not a finite number"),
        ({"demands": [0, 1, np.inf, 3]}, "demands: value inf of node 2 is not a finite number"),
        ({"demands": [0, 1, 10**400, 3]}, "demands must be a list of numbers"),
        ({"capacity": 0}, "capacity 0 must be above 0"),
        ({"capacity": np.nan}, "capacity nan is not a finite number"),
        ({"capacity": None}, "neither a capacity nor a fleet is given"),
        ({"capacity": 1e200}, r"capacity 1e\+200 is too large to compute with"),
        ({"vehicle_cost": -1}, "vehicle cost -1 must not be negative"),
        ({"best_known": "much"}, "best known cost 'much' is not a number"),
        ({"coordinates": None}, "neither coordinates nor a distance matrix is given"),
        ({"coordinates": [[0, 0], [1, 1]]}, r"coordinates of shape \(2, 2\) do not fit 4 demands"),
        ({"coordinates": [[0], [1, 1]]}, "coordinates must be a table of numbers"),
        ({"coordinates": [[0, 0], [1, 1], [2, np.inf], [3, 3]]}, "coordinates: value inf of node 2"),
        (
            {"coordinates": [[0, 0], [1, 1], [2, 1e200], [3, 3]]},
            r"value 1e\+200 of node 2 is too large to compute with",
        ),
        ({"matrix": ONE_WAY}, r"matrix of shape \(3, 3\) does not fit 4 demands"),
        ({"matrix": -np.eye(4)}, "distance -1 from node 0 to node 0 is negative"),
        ({"matrix": np.full((4, 4), 1e200)}, "is too large to compute with"),
        ({"windows": 5}, "windows must be a table of numbers"),
        ({"windows": [[0, 9], [0, 9]]}, r"windows of shape \(2, 2\) do not fit 4 demands \(\(4, 2\)\)"),
        ({"windows": "always"}, "windows must be a table of numbers"),
        ({"windows": [0, 9, 0, 9]}, "windows must be a table of numbers"),
        ({"windows": [[0, 9], [5, 4], [0, 9], [0, 9]]}, "the window of customer 1, 5 to 4, ends before it begins"),
        ({"windows": [[9, 0], [5, 6], [0, 9], [0, 9]]}, "the window of the depot, 9 to 0, ends before it begins"),
        ({"windows": [[0, 9], [0, np.nan], [0, 9], [0, 9]]}, "windows: value nan of node 1 is not a finite number"),
        ({"windows": [[0, 9], [-np.inf, 5], [0, 9], [0, 9]]}, "windows: value -inf of node 1 is not a finite number"),
        (
            {"windows": [[0, 9], [np.inf, np.inf], [0, 9], [0, 9]]},
            "windows: value inf of node 1 is not a finite number",
        ),
        ({"service": [0, 1, -2, 3]}, "service time -2 of customer 2 is negative"),
        ({"service": [1, 1, 2, 3]}, "the depot has service time 1, but must have 0"),
        ({"service": [0, 1, np.nan, 3]}, "service: value nan of node 2 is not a finite number"),
        ({"service": [0, 1]}, "2 service times do not fit 4 demands"),
        ({"durations": ONE_WAY}, r"duration matrix of shape \(3, 3\) does not fit 4 demands"),
        ({"durations": -np.eye(4)}, "duration -1 from node 0 to node 0 is negative"),
        ({"durations": np.full((4, 4), np.nan)}, "duration matrix: value nan of node 0 is not a finite number"),
        ({"vehicles": 0}, "number of vehicles 0 must be a whole number above 0"),
        ({"vehicles": 1.5}, "number of vehicles 1.5 must be a whole number above 0"),
        ({"vehicles": "few"}, "number of vehicles 'few' is not a number"),
        ({"max_duration": -1}, "max_duration -1 must not be negative"),
        ({"max_distance": np.inf}, "max_distance inf is not a finite number"),
        ({"distance_cost": -1}, "distance_cost -1 must not be negative"),
        ({"duration_cost": None}, "duration_cost None is not a number"),
        ({"names": 5}, "names must be a list of texts"),
        ({"names": "abcd"}, "names must be a list of texts"),
        ({"names": ["a", "b"]}, "2 names do not fit 4 demands"),
        ({"pickups": [0, 0, 0, 0, 0]}, "5 pickups do not fit 4 demands"),
        ({"names": ["a", "b", "c", 4]}, "name 4 of a node must be text on one line"),
    ],
)
def test_values_that_cannot_be_used_are_refused_with_a_sentence(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=rf"^square: .*{sentence}.*\.$"):
        square(**changes)


@pytest.mark.parametrize("name", ["two\nlines", "half a \ud800", 5])
def test_a_name_that_cannot_be_printed_is_refused(name: Any) -> None:
    with pytest.raises(InputError, match=r"must be text on one line\.$"):
        Instance(name, [0, 1], 1, [[0, 0], [1, 1]])


def test_another_rounding_forgets_the_best_known_cost() -> None:
    instance = square(best_known=14)
    assert instance.with_rounding("none").best_known == 14
    assert (instance.with_rounding("round").rounding, instance.with_rounding("round").best_known) == ("round", None)


def test_another_vehicle_cost_forgets_the_best_known_cost() -> None:
    instance = square(best_known=14)
    assert instance.with_vehicle_cost(0).best_known == 14
    assert (instance.with_vehicle_cost(9).vehicle_cost, instance.with_vehicle_cost(9).best_known) == (9, None)


def test_the_first_customers_come_with_a_capacity_in_proportion() -> None:
    first = square(vehicle_cost=7, rounding="round", best_known=14).first(2)
    assert first.name == "square:2"
    assert (first.customers, first.capacity) == (2, 4)
    assert first.demands.tolist() == [0, 1, 2]
    assert first.points.tolist() == SQUARE["coordinates"][:3]
    assert (first.vehicle_cost, first.rounding, first.best_known) == (7, "round", None)


def test_the_first_customers_keep_their_part_of_the_matrix() -> None:
    first = Instance("one-way", [0, 1, 1], 2, matrix=ONE_WAY).first(1)
    assert first.matrix is not None
    assert first.matrix.tolist() == [[0, 1], [3, 0]]


def test_all_customers_are_the_instance_itself() -> None:
    instance = square()
    assert instance.first(3) is instance


@pytest.mark.parametrize("customers", [0, 4, -1])
def test_customers_that_are_not_there_cannot_be_taken(customers: int) -> None:
    with pytest.raises(InputError, match=f"square: {customers} customers asked for, but it has 3"):
        square().first(customers)


def test_a_demand_above_the_capacity_in_proportion_cannot_be_served() -> None:
    first = square(demands=[0, 3, 2, 1]).first(1)
    assert first.unservable == {1: "its demand 3 is above the capacity 2"}


TIMES: dict[str, Any] = {
    "windows": [[0, 50], [5, 20], [0, np.inf], [1, 9]],
    "service": [0, 1, 2, 3],
    "durations": np.arange(16).reshape(4, 4),
    "vehicles": 2,
    "max_duration": 40,
    "max_distance": 30,
    "distance_cost": 2,
    "duration_cost": 0.5,
    "names": ["depot", "Ada", "Ben", "Cleo"],
}


def test_rules_that_are_left_out_allow_anything() -> None:
    instance = square()
    assert (instance.windows, instance.service, instance.durations, instance.vehicles) == (None, None, None, None)
    assert (instance.timed, instance.may_leave_out, instance.travel_times) == (False, False, None)
    assert instance.earliest.tolist() == instance.services.tolist() == [0, 0, 0, 0]
    assert instance.latest.tolist() == [np.inf] * 4
    assert instance.times([0, 1], [2, 3]).tolist() == [5, 5]
    assert (instance.distance_cost, instance.duration_cost) == (1, 0)
    assert [instance.label(node) for node in (0, 3)] == ["0", "3"]


def test_rules_are_held_as_they_are_given() -> None:
    instance = square(**TIMES)
    assert instance.earliest.tolist() == [0, 5, 0, 1]
    assert instance.latest.tolist() == [50, 20, np.inf, 9]
    assert instance.services.tolist() == [0, 1, 2, 3]
    assert instance.times([0, 1, 3], [2, 3, 0]).tolist() == [2, 7, 12]
    assert (instance.vehicles, instance.max_duration, instance.max_distance) == (2, 40, 30)
    assert instance.label(3) == "Cleo"


@pytest.mark.parametrize(
    ("rules", "timed"),
    [
        ({"windows": [[0, 9]] * 4}, True),
        ({"max_duration": 9}, True),
        ({"duration_cost": 1}, True),
        ({"service": [0, 1, 1, 1]}, False),
        ({"durations": np.ones((4, 4))}, False),
        ({"max_distance": 9, "vehicles": 2}, False),
    ],
)
def test_time_plays_a_part_where_it_is_limited_or_costs(rules: dict[str, Any], timed: bool) -> None:
    assert square(**rules).timed == timed


def test_travel_times_are_rounded_as_distances_are() -> None:
    instance = square(durations=np.full((4, 4), 1.57), rounding="dimacs")
    assert instance.travel_times is not None
    assert instance.travel_times[1, 2] == instance.times([1], [2])[0] == 1.5


def test_rules_cannot_be_changed() -> None:
    instance = square(**TIMES)
    for array in (instance.windows, instance.service, instance.durations, instance.travel_times):
        assert array is not None
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 7


def test_without_windows_nothing_has_to_do_with_time() -> None:
    plain = square(**TIMES | {"duration_cost": 0}, rounding="dimacs", best_known=14).without("windows")
    assert (plain.windows, plain.service, plain.durations, plain.max_duration, plain.vehicles) == (None,) * 5
    assert (plain.timed, plain.rounding, plain.best_known) == (False, "none", None)
    assert (plain.max_distance, plain.distance_cost, plain.label(1)) == (30, 2, "Ada")


def test_without_vehicles_there_are_as_many_as_needed() -> None:
    instance = square(**TIMES).without("vehicles")
    assert (instance.vehicles, instance.max_duration, instance.timed) == (None, 40, True)


@pytest.mark.parametrize("parts", [(), ("windows",), ("vehicles",), ("windows", "vehicles")])
def test_an_instance_without_what_it_does_not_have_is_itself(parts: tuple[str, ...]) -> None:
    instance = square(rounding="dimacs", best_known=14)
    assert instance.without(*parts) is instance


def test_only_parts_can_be_left_out() -> None:
    with pytest.raises(InputError, match=r"^'depot' cannot be left out of an instance, only windows and vehicles\.$"):
        square().without("depot")


@pytest.mark.parametrize(
    ("objective", "costs"),
    [
        ("distance", (1, 0, 7)),
        ("vehicles", (1, 0, 7)),
        ("duration", (0, 1, 7)),
        ("distance=2", (2, 0, 0)),
        ("duration=0.5, distance=1,vehicles=100", (1, 0.5, 100)),
    ],
)
def test_an_objective_sets_the_costs(objective: str, costs: tuple[float, float, float]) -> None:
    instance = square(distance_cost=3, vehicle_cost=7, best_known=14).with_objective(objective)
    assert (instance.distance_cost, instance.duration_cost, instance.vehicle_cost) == costs
    assert instance.best_known is None


@pytest.mark.parametrize("number", [1, 2])
def test_an_objective_sets_the_costs_of_all_types(number: int) -> None:
    types = [VehicleType(9, fixed_cost=7, distance_cost=3, name="van"), VehicleType(5, fixed_cost=8, name="bike")]
    instance = Instance("square", [0, 1, 1], coordinates=[[0, 0], [0, 3], [4, 0]], fleet=types[:number], best_known=14)
    for objective, costs in (("distance", (1, 0, 7)), ("duration", (0, 1, 7)), ("duration=2,vehicles=5", (0, 2, 5))):
        found = instance.with_objective(objective)
        first = found.types[0]
        assert (first.distance_cost, first.duration_cost, first.fixed_cost) == costs
        assert [each.name for each in found.types] == ["van", "bike"][:number]
        assert found.best_known is None
        assert found.with_objective(objective) is found
    assert [each.fixed_cost for each in instance.with_vehicle_cost(4).types] == [4, 4][:number]


def test_the_objective_that_it_has_already_changes_nothing() -> None:
    instance = square(best_known=14)
    assert instance.with_objective("distance") is instance
    assert instance.with_objective("distance=1") is instance


@pytest.mark.parametrize(
    ("objective", "sentence"),
    [
        ("speed", "objective 'speed' is not known; choose one of distance, vehicles, duration, or give weights"),
        ("distance=1,speed=2", "objective 'distance=1,speed=2' is not known"),
        ("distance,duration=1", "objective 'distance,duration=1' is not known"),
        ("distance=far", "objective 'distance=far': weight 'far' is not a number"),
        ("distance=nan", "objective 'distance=nan': weight nan is not a finite number"),
        ("distance=-1", "objective 'distance=-1': weight -1 of distance must not be negative"),
        ("distance=0,duration=0", "objective 'distance=0,duration=0': at least one weight must be above 0"),
    ],
)
def test_an_objective_without_meaning_is_refused(objective: str, sentence: str) -> None:
    with pytest.raises(InputError, match=f"^{sentence}"):
        square().with_objective(objective)


def test_the_first_customers_keep_their_rules() -> None:
    assert square(demands=[0, 3, 2, 1]).first(1, scaled=False).capacity == square(demands=[0, 3, 2, 1]).capacity
    first = square(**TIMES).first(2)
    assert first.latest.tolist() == [50, 20, np.inf]
    assert first.services.tolist() == [0, 1, 2]
    assert first.durations is not None
    assert first.durations.tolist() == [[0, 1, 2], [4, 5, 6], [8, 9, 10]]
    assert (first.vehicles, first.max_duration, first.max_distance) == (2, 40, 30)
    assert (first.distance_cost, first.duration_cost, first.names) == (2, 0.5, ("depot", "Ada", "Ben"))


def test_the_papers_setting_scales_coordinates_and_demands_but_not_the_capacity() -> None:
    paper = square(coordinates=[[0, 0], [0, 30], [4, 30], [4, 0]]).in_paper_setting()
    assert paper.points.tolist() == [[0, 0], [0, 1], [1, 1], [1, 0]]
    assert paper.demands == pytest.approx([0, 1 / 3, 2 / 3, 1])
    assert (paper.capacity, paper.vehicle_cost, paper.rounding) == (6, 100, "none")


def test_the_papers_setting_takes_a_line_of_customers() -> None:
    paper = Instance("line", [0, 0, 0], 6, [[0, 0], [2, 0], [4, 0]]).in_paper_setting()
    assert paper.points.tolist() == [[0, 0], [0.5, 0], [1, 0]]


def test_it_prints_as_one_short_line() -> None:
    assert repr(Instance("pair", [0, 1], 2.5, [[0, 0], [1, 1]])) == "<Instance pair: 1 customers, capacity 2.5>"


@pytest.mark.parametrize("types", [1, 2])
@pytest.mark.parametrize("window", [(60, 70), (-9, -1), (1e100, 1e100), (1e100, np.inf)])
def test_a_window_outside_every_shift_makes_that_customer_unservable(types: int, window: tuple[float, float]) -> None:
    fleet = [VehicleType(2, shift=(0, 50)), VehicleType(3, shift=(0, 40))][:types]
    points, windows = [[0, 0], [3, 4], [6, 8], [0, 5]], [[0, np.inf], window, [0, 50], [0, 50]]
    instance = Instance("outside", [0, 1, 1, 1], None, points, windows=windows, fleet=fleet)
    assert list(instance.unservable) == [1]
    assert instance.unservable[1]


@pytest.mark.parametrize("number", [2**63, 2**63 - 1, 10**30])
def test_numbers_of_vehicles_and_stops_that_nobody_can_count_to_are_refused(number: int) -> None:
    points = [[0, 0], [3, 4]]
    with pytest.raises(InputError, match=r"far: number of vehicles .* is too large to compute with"):
        Instance("far", [0, 1], 2, points, vehicles=number)
    for field, said in (("available", "number of vehicles"), ("max_stops", "most stops")):
        with pytest.raises(InputError, match=f"vehicle type: {said} .* is too large to compute with"):
            VehicleType(2, **{field: number})  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"far: number of vehicles 9\.22337e\+18 is too large"):
        Instance("far", [0, 1], None, points, fleet=[VehicleType(2, 2**62), VehicleType(3, 2**62)])


EQUAL: list[Callable[[], Instance]] = [
    lambda: read("E-n22-k4"),
    lambda: read("C101"),
    lambda: general_instance({SHIPS, TIMED, "profiles", "prizes", "skills", "depots"}, 5, 20, 20),
    lambda: Instance("own", [0, 1], 1, [[0, 0], [1, 1]], route_costs=[overtime(3)]),
]


@pytest.mark.parametrize("make", EQUAL)
def test_instances_and_solutions_are_equal_after_pickling(make: Callable[[], Instance]) -> None:
    instance = make()
    again = pickle.loads(pickle.dumps(instance))
    assert again is not instance
    assert (again, hash(again)) == (instance, hash(instance))
    assert make() == instance
    solution = Solution(instance, [[1]])
    copy = pickle.loads(pickle.dumps(solution))
    assert (copy, hash(copy)) == (solution, hash(solution))
    assert Solution(again, [[1]]) == solution


def test_instances_that_differ_anywhere_are_not_equal() -> None:
    instance = read("C101", customers=5)
    assert instance != replace(instance, vehicles=3)
    assert instance != replace(instance, demands=np.arange(6.0))
    assert instance != replace(instance, windows=None)
    assert replace(instance, windows=None) != instance
    assert instance != "C101"
    distances = np.ones((6, 6))
    one, other = (replace(instance, profiles=(Profile(factor * distances),)) for factor in (1, 2))
    assert one != other


def test_one_opening_alone_is_the_window_of_its_node() -> None:
    instance = square(openings={2: [(3, 8)]}, windows=[[0, 50], [0, 40], [0, 30], [0, 20]])
    assert instance.openings is None
    assert instance.windows is not None
    assert instance.windows.tolist() == [[0, 50], [0, 40], [3, 8], [0, 20]]
