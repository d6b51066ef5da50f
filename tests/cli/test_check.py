"""``neuralns check``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import texts
from commands import invoke, spawn
from neuralns import Instance, write_instance
from neuralns.problem.formats.own_json import instance_schema

FEASIBLE = "Route #1: 1 2\nRoute #2: 3\n"


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """An instance file, and where to put a solution."""
    write_instance(texts.TINY, tmp_path / "tiny.json")
    return tmp_path / "tiny.json", tmp_path / "mine.sol"


@pytest.mark.parametrize(
    ("text", "code"), [(FEASIBLE, 0), ("Route #1: 1 2", 1), ("nothing", 2)], ids=["feasible", "infeasible", "bad"]
)
def test_the_exit_code_tells_feasible_infeasible_and_bad_input_apart(
    files: tuple[Path, Path], text: str, code: int
) -> None:
    files[1].write_text(text)
    assert spawn("check", *files).code == code


def test_a_feasible_solution_is_costed(files: tuple[Path, Path]) -> None:
    files[1].write_text(FEASIBLE)
    assert invoke("check", *files, "--json").json == {
        "instance": "tiny",
        "feasible": True,
        "cost": 5 + 5 + 10 + 11 + 5,
        "rounding": "none",
        "vehicle_cost": 2.5,
        "best_known": 40,
        "gap": pytest.approx(-10),
        "routes": 2,
        "vehicles": [],
        "unserved": [],
        "skipped": [],
        "faults": [],
    }


@pytest.mark.parametrize(
    ("text", "cost", "faults"),
    [
        ("Route #1: 1 2", 22.5, ["customer 3 is not visited."]),
        ("Route #1: 1 2\nRoute #2: 3 9", None, ["route 2 visits 9, but the customers are numbered 1 to 3."]),
    ],
)
def test_an_infeasible_solution_is_told_its_faults(
    files: tuple[Path, Path], text: str, cost: float | None, faults: list[str]
) -> None:
    files[1].write_text(text)
    outcome = invoke("check", *files, "--json")
    facts = json.loads(outcome.stdout)
    assert outcome.code == 1
    assert (facts["feasible"], facts["cost"], facts["gap"], facts["faults"]) == (False, cost, None, faults)


def test_a_person_sees_a_sentence_and_the_faults(files: tuple[Path, Path]) -> None:
    files[1].write_text(FEASIBLE)
    assert invoke("check", *files).stdout == (
        "tiny: feasible, cost 36 (rounding none), 2 routes, -10.00 % above the best known\n"
    )
    files[1].write_text("Route #1: 1 2 3")
    assert invoke("check", *files).stdout == (
        "tiny: not feasible, cost 24.50 (rounding none), 1 route\n  route 1 carries 15, above the capacity 10.\n"
    )


def test_options_change_the_cost(files: tuple[Path, Path]) -> None:
    files[1].write_text(FEASIBLE)
    assert invoke("check", *files, "--rounding", "trunc", "--vehicle-cost", 100, "--json").json["cost"] == 30 + 200


@pytest.mark.parametrize("name", ["X-n200:100", "[red]:car:[/x]"])
def test_a_name_is_printed_as_it_is(tmp_path: Path, name: str) -> None:
    write_instance(Instance(name, [0, 1], 1, [[0, 0], [0, 1]]), tmp_path / "odd.json")
    (tmp_path / "odd.sol").write_text("Route #1: 1")
    outcome = invoke("check", tmp_path / "odd.json", tmp_path / "odd.sol")
    assert outcome.stdout.startswith(f"{name}: feasible")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (None, "cannot be read (No such file or directory)."),
        ("Route #1: one", "line 1: 'Route #1: one' is not a route ('Route #1: 4 2 7')."),
        ("{", "line 1: not valid JSON (Expecting property name enclosed in double quotes)."),
    ],
)
def test_a_file_that_holds_no_routes_is_refused(files: tuple[Path, Path], text: str | None, sentence: str) -> None:
    if text is not None:
        files[1].write_text(text)
    assert invoke("check", *files).refusal().endswith(f"mine.sol{':' if text is None else ','} {sentence}")


def test_an_instance_alone_is_checked(tmp_path: Path) -> None:
    write_instance(texts.GENERAL, tmp_path / "mine.json")
    assert invoke("check", tmp_path / "mine.json").stdout == f"{tmp_path}/mine.json: in order, 3 customers\n"
    facts = {"instance": "general", "valid": True, "customers": 3, "unservable": {}}
    assert invoke("check", tmp_path / "mine.json", "--json").json == facts


def test_customers_that_nobody_can_serve_are_named(tmp_path: Path) -> None:
    write_instance(texts.FULL, tmp_path / "full.vrp")
    outcome = invoke("check", tmp_path / "full.vrp")
    assert outcome.code == 0
    assert "nobody can serve customer 3: its demand 60 is above the capacity 10." in outcome.stdout


def test_an_instance_that_does_not_keep_to_the_schema_is_refused(tmp_path: Path) -> None:
    form = json.loads(texts.INSTANCES["json-fleet"])
    form["fleet"][1]["capacity"] = "much"
    (tmp_path / "mine.json").write_text(json.dumps(form))
    refusal = invoke("check", tmp_path / "mine.json").refusal()
    assert refusal.endswith("mine.json: fleet[1].capacity: 'much' is not a number or a list.")
    form = json.loads(texts.INSTANCES["json"]) | {"colour": "red", "capacity": "10"}
    (tmp_path / "mine.json").write_text(json.dumps(form))
    assert invoke("check", tmp_path / "mine.json", "--ignore", "colour").refusal().endswith("'10' is not a number.")


def test_the_schema_is_printed() -> None:
    assert json.loads(invoke("check", "--schema").stdout) == instance_schema()
