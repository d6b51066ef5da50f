"""``neuralns info``."""

from __future__ import annotations

from pathlib import Path

import pytest

import texts
from commands import invoke
from neuralns import Instance, write_instance


def test_the_facts_of_a_bundled_instance() -> None:
    assert invoke("info", "A-n32-k5", "--json").json == {
        "instance": "A-n32-k5",
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
