"""Our reading of JSON Schema agrees with that of the reference validator, on our schema and on what breaks it."""

from __future__ import annotations

import copy
import json
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import texts
from neuralns.problem.formats.own_json import instance_schema
from neuralns.problem.formats.schema import violation

FORMS = [json.loads(text) for kind, text in texts.INSTANCES.items() if kind.startswith("json")]
ODD = [0, -1, 1, 2.0, 2.5, 1e99, None, True, "", "a", "1", [], [1], [[1]], [None], {}, {"a": 1}, [0, 1], [1, 2, 3]]
EXTRA = ["fleet", "depots", "openings", "skills", "shipments", "prizes", "groups", "colour", "capacity", "3", "03"]


def places(form: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all values in a form."""
    keys = form.keys() if isinstance(form, dict) else range(len(form)) if isinstance(form, list) else ()
    return [path] * bool(path) + [found for key in keys for found in places(form[key], (*path, key))]


@st.composite
def changed_forms(draw: st.DrawFn) -> Any:
    """A form with odd values, and with fields lost and added."""
    form = copy.deepcopy(draw(st.sampled_from(FORMS)))
    for _ in range(draw(st.integers(0, 2))):
        *path, last = draw(st.sampled_from(places(form)))
        inner = form
        for key in path:
            inner = inner[key]
        odd = copy.deepcopy(draw(st.sampled_from(ODD)))
        match draw(st.sampled_from(["change", "lose", "add"])):
            case "change":
                inner[last] = odd
            case "lose":
                del inner[last]
            case _ if isinstance(inner, dict):
                inner[draw(st.sampled_from(EXTRA))] = odd
            case _:
                inner.append(odd)
    return form


@settings(max_examples=500, deadline=None)
@given(changed_forms())
def test_the_same_forms_keep_to_the_schema(form: Any) -> None:
    valid = jsonschema.Draft202012Validator(instance_schema()).is_valid(form)
    assert (violation(form, instance_schema()) is None) == valid


@pytest.mark.parametrize(
    ("value", "schema", "sentence"),
    [
        (5, {"type": ["string", "null"]}, "5 is not text"),
        (True, {"type": "integer"}, "True is not a whole number"),
        (2.5, {"type": "integer"}, "2.5 is not a whole number"),
        (float("nan"), {"type": "number"}, "nan is not a finite number"),
        (0, {"exclusiveMinimum": 0}, "0 is not above 0"),
        ([1, 2, 3], {"maxItems": 2}, "3 entries, at most 2 expected"),
        (2, {"const": 1}, "2 is not 1"),
        ({"a": {"b": ["x"]}}, {"properties": {"a": {"properties": {"b": {"items": {"enum": ["y"]}}}}}}, "a.b[0]: 'x'"),
        ([5, None], {"prefixItems": [{"type": "number"}, {"type": "number"}]}, "[1]: None is not a number"),
        ({}, {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, "field 'a' is missing or field 'b' is missing"),
        ([1, -2], {"items": {"type": "number", "minimum": 0}}, "[1]: -2 is below 0"),
    ],
)
def test_what_a_schema_rules_out_is_named(value: Any, schema: dict[str, Any], sentence: str) -> None:
    found = violation(value, schema)
    assert found is not None
    assert found.startswith(sentence)
