"""``neuralns info``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import texts
from commands import invoke
from neuralns import Instance, write_instance
from neuralns.problem.fleet import Depot, Group, Profile, Shipment, VehicleType
from neuralns.problem.route_cost import overtime
from neuralns.problem.variant import in_words


def test_the_facts_of_a_bundled_instance() -> None:
    assert invoke("info", "A-n32-k5", "--json").json == {
        "instance": "A-n32-k5",
        "variant": "31 customers",
        "customers": 31,
        "capacity": 100,
        "total_demand": 410,
        "least_vehicles": 5,
        "distances": "Euclidean",
        "rounding": "round",
        "vehicle_cost": 0,
        "best_known": 784,
        "x_range": [1, 98],
        "y_range": [2, 97],
    }


def test_the_facts_of_an_instance_given_by_a_matrix(tmp_path: Path) -> None:
    (tmp_path / "tiny.vrp").write_text(texts.EXPLICIT)
    facts = invoke("info", tmp_path / "tiny.vrp", "--json").json
    assert (facts["distances"], facts["total_demand"], facts["least_vehicles"]) == ("matrix", 15, 2)
    assert "x_range" not in facts


def test_options_show_in_the_facts() -> None:
    options = ("--customers", 20, "--rounding", "trunc", "--vehicle-cost", 7)
    facts = invoke("info", "A-n32-k5", *options, "--json").json
    assert [facts[key] for key in ("instance", "customers", "rounding", "vehicle_cost", "best_known")] == [
        "A-n32-k5:20",
        20,
        "trunc",
        7,
        None,
    ]


@pytest.mark.parametrize(("demand", "vehicles"), [(0, 1), (0.1, 1), (0.15, 2), (0.3, 3)])
def test_the_least_number_of_vehicles_holds_the_total_demand(tmp_path: Path, demand: float, vehicles: int) -> None:
    write_instance(Instance("trio", [0, *[demand] * 3], 0.3, [[0, 0]] * 4), tmp_path / "trio.json")
    assert invoke("info", tmp_path / "trio.json", "--json").json["least_vehicles"] == vehicles


def test_a_person_sees_a_table() -> None:
    lines = [line.split() for line in invoke("info", "RC101", "--ignore", "windows").stdout.splitlines()]
    assert ["instance", "RC101"] in lines
    assert ["best", "known", "not", "known"] in lines
    assert ["x", "range", "0", "to", "95"] in lines


def test_a_name_is_printed_as_it_is(tmp_path: Path) -> None:
    write_instance(Instance("[red]:car:[/x]", [0, 1], 1, [[0, 0], [1, 1]]), tmp_path / "odd.json")
    assert "[red]:car:[/x]" in invoke("info", tmp_path / "odd.json").stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["C199"], "C199: no such file, and no bundled instance of that name (see 'neuralns instances')."),
        (["missing/a.vrp"], "missing/a.vrp: cannot be read (No such file or directory)."),
        (["C101", "--customers", "101"], "C101: 101 customers asked for, but it has 100."),
        (["C101", "--rounding", "up"], "rounding 'up' is not known; choose one of none, round, trunc, dimacs."),
        (["C101", "--vehicle-cost", "nan"], "C101: vehicle cost nan is not a finite number."),
    ],
)
def test_what_cannot_be_used_is_refused(arguments: list[str], sentence: str) -> None:
    assert invoke("info", *arguments).refusal() == sentence


# --- The variant in words, fleets and depots. -------------------------------------------------------------------------

POINTS = [[0, 0], [1, 0], [2, 0], [3, 0], [4, 0]]
LAST = VehicleType(5)


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({}, "4 customers"),
        ({"windows": [[0, 9], *[[0, 9]] * 3, [1, 9]]}, "4 customers with windows"),
        ({"windows": [[0, 9]] * 5}, "4 customers"),
        ({"openings": {2: [(1, 2), (4, 5)]}}, "4 customers with windows, 1 with several windows"),
        ({"fleet": [LAST, VehicleType(6), VehicleType(7)]}, "4 customers, 3 vehicle types"),
        ({"depots": [Depot(), Depot()]}, "3 customers, 2 depots"),
        (
            {"depots": [Depot(9), Depot(cost=7)]},
            "3 customers, 2 depots, capacities of depots, costs of opening depots",
        ),
        ({"prizes": [np.inf, 3, 4, np.inf, np.inf]}, "4 customers, 2 optional"),
        ({"groups": [Group([1, 2])]}, "4 customers, 1 group"),
        ({"shipments": [Shipment(1, 2), Shipment(3, 4)]}, "4 customers, 2 shipments"),
        ({"pickups": [0, 1, 1, 0, 0]}, "4 customers, 2 pickups"),
        ({"deliveries": [0, 0, 0, 1, 1], "pickups": [0, 1, 0, 0, 0], "backhauls": True}, "4 customers, 1 backhaul"),
        (
            {"deliveries": [0, 1, 0, 1, 1], "pickups": [0, 1, 1, 0, 0]},
            "4 customers, 1 pickup, 1 with delivery and pickup",
        ),
        (
            {"deliveries": [[0, 0], *[[1, 1]] * 4], "fleet": [VehicleType([5, 5])]},
            "4 customers, goods in 2 dimensions",
        ),
        ({"release": [0, 0, 0, 0, 5]}, "4 customers, release times"),
        ({"skills": {1: ["crane"]}, "fleet": [VehicleType(5, skills=["crane"])]}, "4 customers, 1 in need of skills"),
        ({"fleet": [VehicleType(5, end=None)]}, "4 customers, open routes"),
        (
            {"profiles": [Profile(np.ones((5, 5)))], "fleet": [LAST, VehicleType(5, profile=1)]},
            "4 customers, 2 vehicle types, 1 profile",
        ),
        ({"route_costs": [overtime(8)]}, "4 customers, own costs (overtime)"),
    ],
)
def test_the_variant_is_named_in_words(parts: dict[str, Any], words: str) -> None:
    base: dict[str, Any] = {} if parts.keys() & {"deliveries", "pickups", "shipments"} else {"demands": [0] * 5}
    base |= {} if "fleet" in parts else {"capacity": 5}
    assert in_words(Instance("it", coordinates=POINTS, **base, **parts)) == words


STOPS = """name,type,x,y,delivery,pickup,earliest,latest
North,depot,0,0,,,08:00,17:00
South,depot,9,9,,,,
A,,1,1,2,,09:00,
B,,2,2,1.5,1,,
"""
FLEET = """name,number,capacity,cost,cost per km,depot,shift end,skills
truck,2,20,100,1.5,,14:00,crane; cold
van,any,8,40,,South,,
"""


@pytest.fixture
def tables(tmp_path: Path) -> tuple[str, ...]:
    """The arguments that name a mixed fleet."""
    (tmp_path / "stops.csv").write_text(STOPS)
    (tmp_path / "fleet.csv").write_text(FLEET)
    return str(tmp_path / "stops.csv"), "--vehicles", str(tmp_path / "fleet.csv")


def test_fleets_and_depots_are_shown_as_tables(tables: tuple[str, ...]) -> None:
    head, fleet, depots = invoke("info", *tables).stdout.split("\n\n")
    rows = [" ".join(line.split()) for line in head.splitlines()]
    words = "variant 2 customers with windows, 2 vehicle types, 2 depots, 1 with delivery and pickup"
    assert words in " ".join(rows)
    assert {"total delivery 3.50", "total pickup 1", "horizon 00:00 to any", "objective by vehicle type"} <= {*rows}
    assert not any(row.startswith(("capacity", "vehicle cost", "least vehicles", "total demand")) for row in rows)
    assert [" ".join(line.split()) for line in fleet.splitlines()] == [
        "vehicle number capacity fixed cost distance cost start end shift skills",
        "truck 2 20 100 1.5 North North any to 14:00 cold, crane",
        "van any 8 40 1 South South any",
    ]
    assert [" ".join(line.split()) for line in depots.splitlines()] == [
        "depot window",
        "North 08:00 to 17:00",
        "South 00:00 to any",
    ]


def test_fleets_and_depots_are_in_the_json(tables: tuple[str, ...]) -> None:
    facts = invoke("info", *tables, "--json").json
    assert (facts["total_delivery"], facts["total_pickup"]) == ([3.5], [1])
    assert [(each["name"], each["number"], each["start"]) for each in facts["fleet"]] == [
        ("truck", 2, "North"),
        ("van", None, "South"),
    ]
    assert facts["fleet"][0]["shift"] == [None, 840]
    assert facts["depots"][0] == {"name": "North", "window": [480, 1020], "capacity": None, "opening_cost": 0}


def test_long_tables_are_cut_short(tmp_path: Path) -> None:
    (tmp_path / "stops.csv").write_text("name,x,y,demand\ndepot,0,0,\nA,1,1,1\n")
    rows = "".join(f"v{number},{number}\n" for number in range(1, 31))
    (tmp_path / "fleet.csv").write_text(f"name,capacity\n{rows}")
    lines = invoke("info", tmp_path / "stops.csv", "--vehicles", tmp_path / "fleet.csv").stdout.splitlines()
    assert (lines[-2].split(), lines[-1]) == (["v20", "1", "20"], "and 10 more")
