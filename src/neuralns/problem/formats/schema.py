"""JSON checked against a schema: as much of JSON Schema (draft 2020-12) as the schema of our instances uses."""

from __future__ import annotations

import math
import re
from typing import Any

_TYPES: dict[str, tuple[str, tuple[type, ...]]] = {
    "object": ("an object", (dict,)),
    "array": ("a list", (list,)),
    "string": ("text", (str,)),
    "number": ("a number", (int, float)),
    "integer": ("a whole number", (int, float)),
    "boolean": ("true or false", (bool,)),
    "null": ("null", (type(None),)),
}
"""Types of JSON by the names that schemas have for them: what sentences call them, and what Python does."""


def violation(value: Any, schema: dict[str, Any], whole: dict[str, Any] | None = None, path: str = "") -> str | None:
    """Return the first thing in a value that a schema rules out, with the path of the field; None if it keeps to it.

    ``whole`` is the schema in which others are defined that this one refers to.

    >>> violation({"a": [1, "b"]}, {"properties": {"a": {"items": {"type": "number"}}}})
    "a[1]: 'b' is not a number"
    """
    whole = schema if whole is None else whole
    if "$ref" in schema:
        schema = whole["$defs"][schema["$ref"].removeprefix("#/$defs/")]
    if (unfit := _unfit(value, schema)) is not None:
        return f"{path}: {unfit}" if path else unfit
    for part in schema.get("allOf", ()):
        if (found := violation(value, part, whole, path)) is not None:
            return found
    several = [violation(value, part, whole, path) for part in schema.get("anyOf", ())]
    if several and None not in several:
        return " or ".join(str(each) for each in several)
    if isinstance(value, list):
        firsts = schema.get("prefixItems", [])
        parts = [(f"{path}[{index}]", each, firsts[index]) for index, each in enumerate(value[: len(firsts)])]
        rest = schema.get("items", {})
        # Long lists of numbers are all right as a rule, which is quick to see.
        if rest.get("type") != "number" or not _plain_numbers(value[len(firsts) :], rest.get("minimum", -math.inf)):
            parts += [(f"{path}[{index}]", each, rest) for index, each in enumerate(value[len(firsts) :], len(firsts))]
    elif isinstance(value, dict):
        parts = [(f"{path}.{key}" if path else key, each, _of_key(key, schema)) for key, each in value.items()]
    else:
        parts = []
    for where, each, inner in parts:
        if (found := violation(each, inner, whole, where)) is not None:
            return found
    return None


def _unfit(value: Any, schema: dict[str, Any]) -> str | None:
    """Return what is wrong with a value itself, whatever its parts."""
    shown = f"{value!r:.60}"
    types = schema.get("type", [])
    names = [types] if isinstance(types, str) else types
    if names and not any(_is(value, name) for name in names):
        return f"{shown} is not {' or '.join(_TYPES[name][0] for name in names if name != 'null')}"
    if "const" in schema and not _same(value, schema["const"]):
        return f"{shown} is not {schema['const']!r}"
    if "enum" in schema and not any(_same(value, each) for each in schema["enum"]):
        return f"{shown} is not one of {', '.join(map(str, schema['enum']))}"
    if isinstance(value, int | float) and not isinstance(value, bool):
        if isinstance(value, float) and not math.isfinite(value):
            return f"{shown} is not a finite number"
        if value < schema.get("minimum", value):
            return f"{shown} is below {schema['minimum']}"
        if "exclusiveMinimum" in schema and value <= schema["exclusiveMinimum"]:
            return f"{shown} is not above {schema['exclusiveMinimum']}"
    if isinstance(value, list):
        if len(value) < schema.get("minItems", 0):
            return f"{len(value)} entries, at least {schema['minItems']} expected"
        if len(value) > schema.get("maxItems", len(value)):
            return f"{len(value)} entries, at most {schema['maxItems']} expected"
    if isinstance(value, dict):
        for key in schema.get("required", ()):
            if key not in value:
                return f"field {key!r} is missing"
        if schema.get("additionalProperties") is False:
            for key in value:
                if not _of_key(key, schema, {"unknown": True}).get("unknown"):
                    continue
                known = f", only {', '.join(schema['properties'])}" if "properties" in schema else ""
                return f"field {key!r:.60} is not known{known}"
    return None


def _is(value: Any, name: str) -> bool:
    if isinstance(value, bool) and name != "boolean":
        return False
    whole = name != "integer" or not isinstance(value, float) or value.is_integer()
    return isinstance(value, _TYPES[name][1]) and whole


def _same(value: Any, other: Any) -> bool:
    # To Python, but not to JSON, true is 1.
    return bool(value == other) and isinstance(value, bool) == isinstance(other, bool)


def _of_key(key: str, schema: dict[str, Any], unknown: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the schema of a field."""
    if key in schema.get("properties", {}):
        return dict(schema["properties"][key])
    for pattern, inner in schema.get("patternProperties", {}).items():
        if re.search(pattern, key):
            return dict(inner)
    return unknown or {}


def _plain_numbers(values: list[Any], least: float) -> bool:
    return all(type(value) in (int, float) and least <= value < math.inf for value in values)
