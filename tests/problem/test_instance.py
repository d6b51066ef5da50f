"""What an instance holds, what it refuses, and the instances derived from it."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest

from neuralns import InputError, Instance
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
        ({"capacity": None}, "capacity None is not a number"),
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
