"""PyVRP's dialect of VRPLIB: vehicles that differ, several depots, prizes, groups, pickups and shipments."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest

import texts
from neuralns import InputError, Instance, Solution, write_instance
from neuralns.problem.fleet import Depot, Group, Profile, Shipment, VehicleType
from neuralns.problem.formats.source import read_instance
from neuralns.problem.route_cost import balance_stops
from texts import written


def with_lines(*lines: str, kind: str = "CVRP") -> str:
    """The small file of one depot with other lines and sections."""
    text = texts.EUCLIDEAN.replace("TYPE : CVRP", f"TYPE : {kind}")
    return text.replace("DEPOT_SECTION", "\n".join([*lines, "DEPOT_SECTION"]))


def test_alike_vehicles_are_one_type_whose_name_lists_them_where_they_stand_apart(tmp_path: Path) -> None:
    instance = read_instance(written(tmp_path, texts.FLEET))
    rest = {"max_distance": 80}
    first = VehicleType(10, 2, 100, 2, max_duration=90, skills=["site 1"], name="1,3", **rest)  # type: ignore[arg-type]
    second = VehicleType(6, 1, 50, 1.5, start=4, end=4, max_duration=70, name="2", **rest)  # type: ignore[arg-type]
    assert instance.types == (first, second)
    assert instance.skills == {1: frozenset({"site 1"})}


def test_alike_vehicles_that_stand_together_need_no_name(tmp_path: Path) -> None:
    text = with_lines("CAPACITY_SECTION", "1 6", "2 6", "3 15.5").replace("CAPACITY : 10\n", "")
    assert read_instance(written(tmp_path, text)).types == (VehicleType(6, 2), VehicleType(15.5, 1))


def test_depots_come_first_and_last_and_customers_keep_their_order(tmp_path: Path) -> None:
    instance = read_instance(written(tmp_path, texts.FLEET))
    assert (instance.customers, instance.depot_nodes, instance.depots) == (3, (0, 4), (Depot(), Depot()))
    assert instance.points.tolist() == [[0, 0], [3, 4], [6, 8], [0, 5.5], [9, 9]]
    assert instance.earliest.tolist() == [0, 10, 0, 30, 10]
    assert instance.services.tolist() == [0, 5, 5, 5, 0]


def test_amounts_prizes_releases_and_groups_are_read(tmp_path: Path) -> None:
    instance = read_instance(written(tmp_path, texts.FLEET))
    deliveries, pickups = instance.amounts
    assert deliveries.ravel().tolist() == [0, 4, 0, 2, 0]
    assert pickups.ravel().tolist() == [0, 0, 5, 1.5, 0]
    assert [instance.prize(customer) for customer in (1, 2, 3)] == [math.inf, 12, 7.5]
    assert instance.release is not None
    assert instance.release.tolist() == [0, 4, 0, 0, 0]
    assert instance.groups == (Group([2, 3]),)


def test_backhauls_come_last_on_routes_of_their_type_alone(tmp_path: Path) -> None:
    section = ("BACKHAUL_SECTION", "1 0", "2 0", "3 0", "4 6")
    text = with_lines(*section, kind="VRPB").replace("3 5\n4 6\n", "3 5\n4 0\n", 1)
    instance = read_instance(written(tmp_path, text))
    assert instance.backhauls
    assert Solution(instance, [[1, 2, 3]]).feasible
    assert not Solution(instance, [[3, 1, 2]]).feasible
    mixed = read_instance(written(tmp_path, text.replace("VRPB", "VRPMPD")))
    assert not mixed.backhauls
    assert Solution(mixed, [[2, 3, 1]]).feasible
    assert read_instance(written(tmp_path, text), ignore="BACKHAUL").pickups is None


def test_linehauls_are_demands(tmp_path: Path) -> None:
    text = texts.EUCLIDEAN.replace("DEMAND_SECTION", "LINEHAUL_SECTION")
    assert read_instance(written(tmp_path, text)).demands.tolist() == [0, 4, 5, 6]


def test_amounts_may_have_several_dimensions(tmp_path: Path) -> None:
    text = with_lines("CAPACITY_SECTION", "1 10 3", "2 10 3").replace("CAPACITY : 10\n", "")
    text = text.replace("1 0\n2 4\n3 5\n4 6\n", "1 0 0\n2 4 1\n3 5 2\n4 6 3\n")
    instance = read_instance(written(tmp_path, text))
    assert instance.dimensions == 2
    assert Solution(instance, [[1, 2], [3]]).feasible
    assert not Solution(instance, [[1, 3], [2]]).feasible


def test_lines_for_all_vehicles_are_read(tmp_path: Path) -> None:
    lines = "VEHICLES_FIXED_COST : 7\nVEHICLES_UNIT_DISTANCE_COST : 2\nRELEASE_TIME : 3\n"
    instance = read_instance(written(tmp_path, texts.EUCLIDEAN.replace("CAPACITY", f"{lines}CAPACITY")))
    assert (instance.vehicle_cost, instance.distance_cost) == (7, 2)
    assert instance.release is not None
    assert instance.release.tolist() == [0, 3, 3, 3]


def test_shipments_are_read(tmp_path: Path) -> None:
    rows = ["1 0 0 100 0 0 0", "2 -6 10 50 5 4 0", "3 2 0 60 5 0 5", "4 6 0 90 0 0 2", "5 -2 0 90 1 3 0"]
    text = texts.EUCLIDEAN.replace("CVRP", "PDPTW").replace("DIMENSION : 4", "DIMENSION : 5")
    text = text.replace("4 0 5.5\n", "4 0 5.5\n5 1 1\n")
    before, _, after = text.partition("DEMAND_SECTION")
    text = "\n".join([f"{before}PICKUP_AND_DELIVERY_SECTION", *rows, after[after.index("DEPOT") :]])
    instance = read_instance(written(tmp_path, text))
    assert instance.shipments == (Shipment(2, 4, 2), Shipment(3, 1, 6))
    assert instance.latest.tolist() == [100, 50, 60, 90, 90]
    assert instance.services.tolist() == [0, 5, 5, 0, 1]
    assert not read_instance(written(tmp_path, text), ignore="windows").timed
    with pytest.raises(InputError, match="line 15: customer 2 names 4 as its partner, which does not name it"):
        read_instance(written(tmp_path, text.replace("4 6 0 90 0 0 2", "4 6 0 90 0 0 3")))


def test_what_is_ignored_is_left_out_of_every_type(tmp_path: Path) -> None:
    path = written(tmp_path, texts.FLEET)
    without = read_instance(path, ignore="windows")
    assert not without.timed
    assert [each.available for each in without.types] == [None, None]
    assert [each.available for each in read_instance(path, ignore="vehicles").types] == [None, None]
    plain = read_instance(path, ignore=("PRIZE", "VEHICLES_FIXED_COST", "VEHICLES_ALLOWED_CLIENTS_SECTION"))
    assert (plain.prizes, plain.skills, {each.fixed_cost for each in plain.types}) == (None, None, {0})


@pytest.mark.parametrize(("name", "rounding"), [("X-n524-50-k125", "round"), ("X115-HVRP", "none"), ("PR11A", "none")])
def test_the_rounding_is_that_of_the_familys_published_costs(tmp_path: Path, name: str, rounding: str) -> None:
    assert read_instance(written(tmp_path, texts.EUCLIDEAN.replace("tiny", name))).rounding == rounding


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("2 2\n3 1\nVEH", "2 3\n3 1\nVEH", "line 53: vehicle 2 belongs to node 3, which is no depot"),
        ("2 2\n3 1\nVEH", "2 9\n3 1\nVEH", "line 53: node 9 does not exist; nodes are 1 to 5"),
        ("2 2\n3 1\nVEH", "2 2\nVEH", "line 53: VEHICLES_DEPOT_SECTION ends early: 2 rows, 3 expected"),
        ("2 2\n3 1\nVEH", "3 2\n2 1\nVEH", "line 53: vehicle 3 in VEHICLES_DEPOT_SECTION, 2 expected"),
        ("VEHICLES : 3", "VEHICLES : 2", "CAPACITY_SECTION is too long: 3 rows, 2 expected"),
        ("2 50\n", "2 -50\n", "line 57: -50 of vehicle 2 in VEHICLES_FIXED_COST_SECTION must not be negative"),
        ("2 50\n", "2 nan\n", "line 57: 'nan' is not a finite number"),
        ("2 50\n", "2 50 1\n", "line 57: 3 numbers in VEHICLES_FIXED_COST_SECTION, 2 expected"),
        ("2 6\n3 10\n", "2 6 1\n3 10\n", "vehicle type 2 has capacities in 2 dimensions, but amounts have 1"),
        ("2 6\n3 10\n", "2\n3 10\n", "line 49: 1 numbers in CAPACITY_SECTION, 2 expected"),
        ("2 4 5\n3 3 4 5", "2 4 6\n3 3 4 5", "line 69: node 6 does not exist; nodes are 1 to 5"),
        ("1 3 4 5\n2 4 5\n3 3 4 5", "1 4 5\n2 4 5\n3 4 5", "line 67: node 3 is allowed on no vehicle"),
        ("2 4 5\nCAP", "2 4 2\nCAP", "line 46: node 2 of group 2 is a depot"),
        ("2 4 5\nCAP", "2 4 4\nCAP", "customer 2 is in two groups, or in one twice"),
        ("4 12\n", "4 -12\n", "line 42: prize -12 of node 4 is negative"),
        ("4 12\n", "4 nan\n", "line 42: 'nan' is not a finite number"),
        ("3 4\n4 0\n5 0\nPRIZE", "3 -4\n4 0\n5 0\nPRIZE", "line 35: release time -4 of node 3 is negative"),
        ("4 5\n5 1.5", "4 -5\n5 1.5", "line 24: demand -5 of customer 2 is negative"),
        ("2 10 90", "2 90 10", "line 28: the window of the depot, 90 to 10, ends before it begins"),
        ("2 0\n3 4\n4 0\n5 2", "2 1\n3 4\n4 0\n5 2", "the depot has demand 1, but must have 0"),
        ("\n2\n-1", "\n6\n-1", "line 72: depot '6' must be a node from 1 to 5"),
        ("\n2\n-1", "\n1\n-1", "line 72: depot '1' is named twice"),
        ("VEHICLES_MAX_DISTANCE : 80", "CAPACITY : 80", "line 47: CAPACITY is given twice"),
        ("BACKHAUL_SECTION", "LINEHAUL_SECTION", "line 20: LINEHAUL_SECTION beside DEMAND_SECTION"),
        ("VEHICLES_DEPOT_SECTION\n1 1\n2 2\n3 1\n", "", "section VEHICLES_DEPOT_SECTION is missing"),
        (
            "VEHICLES_ALLOWED_CLIENTS_SECTION\n",
            "VEHICLES_RELOAD_DEPOT_SECTION\n",
            "line 67: VEHICLES_RELOAD_DEPOT_SECTION is not supported yet; --ignore VEHICLES_RELOAD_DEPOT goes on",
        ),
    ],
)
def test_a_broken_file_is_refused_with_its_line_and_value(tmp_path: Path, old: str, new: str, sentence: str) -> None:
    assert old in texts.FLEET
    path = written(tmp_path, texts.FLEET.replace(old, new, 1))
    with pytest.raises(InputError) as refusal:
        read_instance(path)
    assert str(refusal.value).startswith(str(path))
    assert sentence in str(refusal.value)


@pytest.mark.parametrize(
    ("kind", "section"),
    [
        ("VRPB", "BACKHAUL"),
        ("MDVRP", "VEHICLES_DEPOT"),
        ("GVRP", "MUTUALLY_EXCLUSIVE_GROUP"),
        ("SDVRPTW", "TIME_WINDOW"),
        ("HFVRPTW", "TIME_WINDOW"),
        ("PDPTW", "PICKUP_AND_DELIVERY"),
    ],
)
def test_a_file_without_what_its_type_is_about_is_refused(tmp_path: Path, kind: str, section: str) -> None:
    with pytest.raises(InputError, match=rf"tiny\.vrp: section {section}_SECTION is missing\.$"):
        read_instance(written(tmp_path, with_lines(kind=kind)))


def test_a_fleet_is_written_and_comes_back(tmp_path: Path) -> None:
    instance = read_instance(written(tmp_path, texts.FLEET), ignore="VEHICLES_ALLOWED_CLIENTS")
    write_instance(instance, tmp_path / "out.vrp")
    texts.assert_same(read_instance(tmp_path / "out.vrp"), instance)


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"openings": {1: [(0, 1), (2, 3)]}, "windows": [[0, 9]] * 4}, "several windows of a customer"),
        ({"shipments": [Shipment(1, 2)]}, "shipments"),
        ({"fleet": [VehicleType(10, skills=["crane"])], "skills": {1: ["crane"]}}, "skills"),
        ({"profiles": [Profile([[0] * 4] * 4)]}, "profiles"),
        ({"route_costs": [balance_stops(1)]}, "route costs"),
        ({"depots": [Depot(cost=5)]}, "capacities and costs of depots"),
        ({"prizes": [math.inf, 0, 1, 1]}, "a prize of 0"),
        ({"groups": [Group([1, 2], required=False)]}, "groups that are optional, have a name, or one member"),
        ({"fleet": [VehicleType(10), VehicleType(5, 1)]}, "as many vehicles of a type as needed, or none"),
        ({"fleet": [VehicleType(10, 2, end=None)]}, "routes that begin and end elsewhere"),
        ({"fleet": [VehicleType(10, 2, shift=(0, 9)), VehicleType(5, 1)]}, "shifts of vehicles"),
        ({"fleet": [VehicleType(10, 2, max_stops=4)]}, "the most stops of a route"),
        ({"fleet": [VehicleType(10, 2, name="van"), VehicleType(5, 1)]}, "names of vehicle types"),
        ({"fleet": [VehicleType(10, 2, max_distance=4), VehicleType(5, 1)]}, "limits of some vehicles only"),
    ],
)
def test_what_the_format_has_no_place_for_is_refused_by_name(
    tmp_path: Path, changes: dict[str, Any], what: str
) -> None:
    demands = None if "shipments" in changes else [0, 4, 5, 6]
    capacity = None if "fleet" in changes else 10
    instance = Instance("tiny", demands, capacity, texts.POINTS, **changes)
    sentence = f"tiny: VRPLIB's format has no place for {what}; write a .json file instead."
    with pytest.raises(InputError, match=f"{re.escape(sentence)}$"):
        write_instance(instance, tmp_path / "mine.vrp")
    assert list(tmp_path.iterdir()) == []
