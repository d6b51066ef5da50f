"""Our own JSON form: defaults, and each refusal with its field."""

from __future__ import annotations

import inspect
import json
import math
import re
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

import texts
from neuralns import InputError, Solution, read_solution, write_instance
from neuralns.problem.bundled import bundled, bundled_names
from neuralns.problem.fleet import Depot, Group, Profile, Shipment, VehicleType
from neuralns.problem.formats.own_json import INSTANCE_FIELDS, LISTS, instance_to_json, solution_to_json
from neuralns.problem.formats.source import read_instance
from neuralns.problem.route_cost import READY_MADE, RouteCost
from texts import assert_same, written


def test_the_best_known_cost_comes_back(tmp_path: Path) -> None:
    write_instance(texts.TINY, tmp_path / "tiny.json")
    assert read_instance(tmp_path / "tiny.json").best_known == 40


def test_fields_that_may_be_left_out_have_defaults(tmp_path: Path) -> None:
    form = {
        "format": "neuralns-instance",
        "version": 1,
        "demands": [0, 1],
        "capacity": 1,
        "matrix": [[0, 1], [1, 0]],
    }
    instance = read_instance(written(tmp_path, json.dumps(form), "mine.json"))
    assert (instance.name, instance.rounding) == ("mine", "none")
    assert (instance.vehicle_cost, instance.best_known) == (0, None)


def test_a_window_without_an_end_is_null(tmp_path: Path) -> None:
    form = json.loads(texts.INSTANCES["json"]) | {"windows": [[0, None], [1, 2], [3, None], [0, 9]]}
    path = written(tmp_path, json.dumps(form), "a.json")
    instance = read_instance(path)
    assert instance.latest.tolist() == [math.inf, 2, math.inf, 9]
    assert instance_to_json(instance)["windows"] == form["windows"]
    jsonschema.validate(form, SCHEMA)


def test_windows_and_vehicles_can_be_ignored(tmp_path: Path) -> None:
    path = written(tmp_path, texts.INSTANCES["json-windows"], "a.json")
    assert_same(read_instance(path, ignore="windows"), texts.NAMED.without("windows"))
    assert_same(read_instance(path, ignore="vehicles"), texts.NAMED.without("vehicles"))


def test_an_unknown_field_is_refused_by_name_and_gone_on_without_if_told_to(tmp_path: Path) -> None:
    form = json.loads(texts.INSTANCES["json"])
    path = written(tmp_path, json.dumps(form | {"time_windows": [[0, 9]] * 4}, indent=0), "a.json")
    line = path.read_text().splitlines().index('"time_windows": [') + 1
    sentence = (
        f"a.json, line {line}: field 'time_windows' is not supported yet; --ignore time_windows goes on without it."
    )
    with pytest.raises(InputError, match=f"{re.escape(sentence)}$"):
        read_instance(path)
    assert_same(read_instance(path, ignore=["time_windows"]), texts.TINY)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"format": "other"}, "'format' is 'other', expected 'neuralns-instance'"),
        ({"version": 2}, "version 2 of the form is not known, only 1"),
        ({"demands": ...}, "field 'demands' is missing"),
        ({"capacity": ...}, "field 'capacity' is missing"),
        ({"capacity": "much"}, "tiny: capacity 'much' is not a number"),
        ({"capacity": float("nan")}, "tiny: capacity nan is not a finite number"),
        ({"demands": [0, 4, 5, float("inf")]}, "tiny: demands: value inf of node 3 is not a finite number"),
        ({"demands": [0, 4, 5, -6]}, "tiny: demand -6 of customer 3 is negative"),
        ({"demands": [0, 4, 5]}, r"coordinates of shape \(4, 2\) do not fit 3 demands"),
        ({"demands": {"a": 1}}, "tiny: demands must be a list of numbers"),
        ({"matrix": [[0, 1], [1]]}, "tiny: distance matrix must be a table of numbers"),
        (
            {"windows": [[0, 9], [5, 4], [0, 9], [0, 9]]},
            "tiny: the window of customer 1, 5 to 4, ends before it begins",
        ),
        (
            {"windows": [[0, 9], [0, float("nan")], [0, 9], [0, 9]]},
            "windows: value nan of node 1 is not a finite number",
        ),
        ({"windows": [[0, 9], [None, 9], [0, 9], [0, 9]]}, "windows: value nan of node 1 is not a finite number"),
        ({"windows": [[0, 9], [0, 9]]}, r"windows of shape \(2, 2\) do not fit 4 demands"),
        ({"windows": "always"}, "windows must be a table of numbers"),
        ({"windows": [[0, 9], [0], [0, 9], [0, 9]]}, "windows must be a table of numbers"),
        ({"service": [0, 1, -2, 3]}, "tiny: service time -2 of customer 2 is negative"),
        ({"service": [1, 1, 2, 3]}, "tiny: the depot has service time 1, but must have 0"),
        ({"service": [0, 1]}, "tiny: 2 service times do not fit 4 demands"),
        ({"durations": [[0, 1], [1, 0]]}, r"tiny: duration matrix of shape \(2, 2\) does not fit 4 demands"),
        ({"durations": [[-1] * 4] * 4}, "tiny: duration -1 from node 0 to node 0 is negative"),
        ({"vehicles": 0}, "tiny: number of vehicles 0 must be a whole number above 0"),
        ({"vehicles": 2**63}, r"tiny: number of vehicles 9\.22337e\+18 is too large to compute with"),
        ({"vehicles": 2.5}, "tiny: number of vehicles 2.5 must be a whole number above 0"),
        ({"max_duration": -1}, "tiny: max_duration -1 must not be negative"),
        ({"max_distance": "far"}, "tiny: max_distance 'far' is not a number"),
        ({"duration_cost": -1}, "tiny: duration_cost -1 must not be negative"),
        ({"names": 5}, "tiny: names must be a list of texts"),
        ({"names": ["depot", "a"]}, "tiny: 2 names do not fit 4 demands"),
        ({"names": ["depot", "a", "b", "two\nlines"]}, "of a node must be text on one line"),
        ({"rounding": "up"}, "rounding 'up' is not known; choose one of none, round, trunc, dimacs"),
        ({"rounding": None}, "fields 'name' and 'rounding' must be text"),
        ({"name": 5}, "fields 'name' and 'rounding' must be text"),
        ({"name": "two\nlines"}, "must be text on one line"),
    ],
)
def test_a_broken_instance_is_refused_with_the_field(tmp_path: Path, changes: dict[str, Any], sentence: str) -> None:
    form = json.loads(texts.INSTANCES["json"]) | changes
    path = written(tmp_path, json.dumps({key: value for key, value in form.items() if value is not ...}), "a.json")
    with pytest.raises(InputError, match=rf"a\.json: .*{sentence}"):
        read_instance(path)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{\n"format": }', r"line 2: not valid JSON \(Expecting value\)"),
        ("{", r"line 1: not valid JSON"),
        ('{"a": ' + "[" * 100_000, "not valid JSON"),
        ('{"a": ' + "9" * 10_000 + "}", "not valid JSON"),
    ],
)
def test_malformed_json_is_refused(tmp_path: Path, text: str, sentence: str) -> None:
    path = written(tmp_path, text, "a.json")
    for reading in (read_instance, lambda path: read_solution(texts.TINY, path)):
        with pytest.raises(InputError, match=rf"a\.json.*{sentence}"):
            reading(path)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"format": "neuralns-instance", "version": 1}', "'format' is 'neuralns-instance', expected"),
        ('{"format": "neuralns-solution", "version": 7}', "version 7 of the form is not known, only 1"),
        ('{"format": "neuralns-solution", "version": 1}', "'routes' must be a list of lists of customer numbers"),
        ('{"format": "neuralns-solution", "version": 1, "routes": [[1.5]]}', "'routes' must be a list of lists"),
        ('{"format": "neuralns-solution", "version": 1, "routes": [1, 2]}', "'routes' must be a list of lists"),
        (
            '{"format": "neuralns-solution", "version": 1, "routes": [[1]],\n"starts": [8]}',
            ", line 2: field 'starts' is not known, only format, version, instance, cost",
        ),
    ],
)
def test_a_broken_solution_is_refused_with_the_field(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(InputError, match=rf"a\.json.*{sentence}"):
        read_solution(texts.TINY, written(tmp_path, text, "a.json"))


SCHEMA: Any = json.loads(files("neuralns.problem.formats").joinpath("instance.schema.json").read_text("utf-8"))
"""What the documentation says of the form."""


def blocks(page: str) -> list[Any]:
    """The blocks of JSON on a page of the documentation."""
    text = (Path(__file__).parents[3] / "docs" / page).read_text(encoding="utf-8")
    return [json.loads(block) for block in re.findall(r"^```json\n(.*?)^```", text, re.DOTALL | re.MULTILINE)]


def test_the_examples_of_the_documentation_keep_to_the_schema_and_its_table_names_all_fields(tmp_path: Path) -> None:
    plain, general = blocks("solve.md")
    for example, customers in ((plain, 3), (general, 4)):
        jsonschema.validate(example, SCHEMA)
        assert read_instance(written(tmp_path, json.dumps(example), "a.json")).customers == customers
    page = (Path(__file__).parents[3] / "docs" / "solve.md").read_text(encoding="utf-8")
    section = page.partition("## The JSON form")[2].partition("\n## ")[0]
    for field in (*LISTS, *(name for part in SCHEMA["$defs"].values() for name in part.get("properties", ()))):
        assert f"`{field}`" in section, field


def test_the_schema_names_the_fields_that_are_read() -> None:
    assert set(SCHEMA["properties"]) == set(INSTANCE_FIELDS)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"fleet": 5}, "fleet: 5 is not a list"),
        ({"fleet": []}, "general: neither a capacity nor a fleet is given"),
        ({"fleet": [{"capacity": "much"}]}, "fleet[0].capacity: 'much' is not a number or a list"),
        ({"fleet": [{"capacity": [9, -1]}]}, "fleet[0].capacity[1]: -1 is below 0"),
        ({"fleet": [{"capacity": 9}, {}]}, "fleet[1]: field 'capacity' is missing"),
        ({"fleet": [{"capacity": 9, "colour": "red"}]}, "fleet[0]: field 'colour' is not known, only name, capacity"),
        ({"fleet": [{"capacity": [9, 9], "fixed_cost": -1}]}, "fleet[0].fixed_cost: -1 is below 0"),
        ({"fleet": [{"capacity": [9, 9], "available": 1.5}]}, "fleet[0].available: 1.5 is not a whole number"),
        ({"fleet": [{"capacity": [9, 9], "shift": [5, 3]}]}, "fleet[0]: vehicle type: shift, 5 to 3, ends before it"),
        ({"fleet": [{"capacity": [9, 9], "shift": [5]}]}, "fleet[0].shift: 1 entries, at least 2 expected"),
        ({"fleet": [{"capacity": [9, 9], "start": 9}]}, "starts at node 9, which is no depot"),
        ({"fleet": [{"capacity": [9, 9], "skills": "crane"}]}, "fleet[0].skills: 'crane' is not a list"),
        ({"fleet": [{"capacity": [9, 9], "profile": 3}]}, "profile 3"),
        ({"fleet": [{"capacity": [9, 9]}]}, "needs skill"),
        ({"capacity": 77}, "general: capacity is given beside a fleet"),
        ({"depots": [{}, {"cost": -5}]}, "depots[1].cost: -5 is below 0"),
        ({"prizes": [None, None, float("nan"), 1, None]}, "prizes[2]: nan is not a finite number"),
        ({"prizes": [None, None, 1]}, "general: 3 prizes do not fit 5 demands"),
        ({"openings": {"Ada": []}}, "openings: field 'Ada' is not known"),
        ({"openings": {"9": [[0, 1], [2, 3]]}}, "openings are given for node 9, but nodes are 0 to 4"),
        ({"openings": {"2": [[0, 15], [10, 20]]}}, "the windows of customer 2 overlap"),
        ({"openings": {"2": [[0], [10, 20]]}}, "openings.2[0]: 1 entries, at least 2 expected"),
        ({"groups": [{"members": [2, 2]}]}, "customer Ben is in two groups, or in one twice"),
        ({"groups": [{"members": []}]}, "groups[0].members: 0 entries, at least 1 expected"),
        ({"skills": {"1": ["dance"]}}, "customer Ada needs skill 'dance', which no vehicle type has"),
        ({"skills": ["crane"]}, "skills: ['crane'] is not an object"),
        ({"profiles": [{"matrix": [[0, 1], [1, 0]]}]}, "does not fit 5 nodes"),
        ({"profiles": [{"matrix": [[0, "far"], [1, 0]]}]}, "profiles[0].matrix[0][1]: 'far' is not a number"),
        ({"shipments": [{"pickup": 1}]}, "shipments[0]: field 'delivery' is missing"),
        ({"shipments": [{"pickup": 0, "delivery": 1}]}, "shipments[0].pickup: 0 is below 1"),
        ({"backhauls": "yes"}, "backhauls: 'yes' is not true or false"),
        ({"deliveries": [0, -1, 0, 0, 0]}, "deliveries[1]: -1 is below 0"),
        ({"release": [0, "late", 0, 0, 0]}, "release[1]: 'late' is not a number"),
        ({"route_costs": [{"name": "mine", "parameters": {}}]}, "route_costs[0].name: 'mine' is not one of overtime"),
        ({"route_costs": [{"name": "overtime", "parameters": {}}]}, "route_costs[0]: route cost 'overtime' needs"),
        (
            {"route_costs": [{"name": "overtime", "parameters": {"after": 1, "weight": 2}}]},
            "route_costs[0]: route cost 'overtime' has no parameter 'weight'",
        ),
    ],
)
def test_a_broken_part_is_refused_with_its_path_and_value(
    tmp_path: Path, changes: dict[str, Any], sentence: str
) -> None:
    path = written(tmp_path, json.dumps(json.loads(texts.INSTANCES["json-fleet"]) | changes), "a.json")
    with pytest.raises(InputError) as refusal:
        read_instance(path)
    assert str(refusal.value).startswith(f"{path}: ")
    assert sentence in str(refusal.value)


def test_a_function_of_ones_own_cannot_be_written(tmp_path: Path) -> None:
    own = RouteCost("mine", lambda route: route.distance)
    with pytest.raises(InputError, match="tiny: route cost 'mine' is a function of your own, which no file can hold"):
        write_instance(replace(texts.TINY, route_costs=(own,)), tmp_path / "mine.json")
    assert list(tmp_path.iterdir()) == []


def test_demands_are_not_written_beside_what_says_them(tmp_path: Path) -> None:
    for instance in (texts.GENERAL, texts.SHIPPED):
        assert "demands" not in instance_to_json(instance)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (["van"], "'vehicles' must be a list of 2 vehicle types, one for each route"),
        ("van", "'vehicles' must be a list of 2 vehicle types, one for each route"),
        (["van", "bus"], "vehicles[1]: 'bus' is neither the name of a vehicle type nor a number from 0 to 2"),
        ([0, 3], "vehicles[1]: 3 is neither the name of a vehicle type nor a number from 0 to 2"),
        ([0, True], "vehicles[1]: True is neither the name"),
        ([0, ""], "vehicles[1]: '' is neither the name"),
    ],
)
def test_vehicles_that_are_not_known_are_refused(tmp_path: Path, given: Any, sentence: str) -> None:
    form = json.loads(texts.FLEET_SOLUTIONS["json"]) | {"vehicles": given}
    with pytest.raises(InputError, match=rf"a\.json: {re.escape(sentence)}"):
        read_solution(texts.GENERAL, written(tmp_path, json.dumps(form), "a.json"))


def test_vehicles_are_by_name_where_each_type_has_one() -> None:
    assert solution_to_json(texts.DRIVEN)["vehicles"] == [0, 2]
    named = replace(
        texts.GENERAL, fleet=tuple(replace(kind, name=f"kind {n}") for n, kind in enumerate(texts.GENERAL.types))
    )
    assert solution_to_json(Solution(named, [[1], [3]], [0, 2]))["vehicles"] == ["kind 0", "kind 2"]
    assert "vehicles" not in solution_to_json(texts.SERVED)


@pytest.mark.parametrize("kind", ["json", "json-windows", "json-fleet", "json-shipments"])
def test_what_is_written_keeps_to_the_schema(kind: str) -> None:
    jsonschema.validate(json.loads(texts.INSTANCES[kind]), SCHEMA)


def test_the_schema_names_the_fields_of_every_part() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    for name, part in SCHEMA["$defs"].items():
        make = {"vehicle_type": VehicleType, "depot": Depot, "group": Group, "shipment": Shipment, "profile": Profile}
        if name in make:
            assert set(part["properties"]) == set(inspect.signature(make[name]).parameters)
    assert set(SCHEMA["$defs"]["route_cost"]["properties"]["name"]["enum"]) == set(READY_MADE)
    known = {key for make in READY_MADE.values() for key in inspect.signature(make).parameters}
    assert set(SCHEMA["$defs"]["route_cost"]["properties"]["parameters"]["properties"]) == known


@pytest.mark.parametrize("name", bundled_names())
def test_bundled_instances_keep_to_the_schema(name: str) -> None:
    jsonschema.validate(instance_to_json(bundled(name)), SCHEMA)


@pytest.mark.parametrize(
    "changes",
    [{"time_windows": []}, {"capacity": 0}, {"demands": [0]}, {"rounding": "up"}, {"coordinates": ...}, {"version": 2}],
)
def test_what_the_schema_refuses_is_refused(tmp_path: Path, changes: dict[str, Any]) -> None:
    form = json.loads(texts.INSTANCES["json"]) | changes
    form = {key: value for key, value in form.items() if value is not ...}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(form, SCHEMA)
    with pytest.raises(InputError):
        read_instance(written(tmp_path, json.dumps(form), "a.json"))


def test_a_large_number_of_vehicles_is_kept(tmp_path: Path) -> None:
    many = replace(texts.NAMED, vehicles=2**62)
    write_instance(many, tmp_path / "many.json")
    assert read_instance(tmp_path / "many.json").vehicles == 2**62
