"""Our own JSON form: defaults, and each refusal with its field."""

from __future__ import annotations

import json
import math
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

import texts
from neuralns import InputError, read_solution, write_instance
from neuralns.problem.bundled import bundled, bundled_names
from neuralns.problem.formats.detect import read_instance
from neuralns.problem.formats.own_json import INSTANCE_FIELDS, LISTS, instance_to_json
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
            {"windows": [[0, 9], [0, 9], [10, 12], [0, 9]]},
            "tiny: the window of customer 2, 10 to 12, is outside the depot's, 0 to 9",
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
