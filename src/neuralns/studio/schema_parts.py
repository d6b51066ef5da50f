"""Words of JSON Schema, as short as the descriptions of the service need them."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]


def typed(name: str, text: str = "", **more: Any) -> Schema:
    """Return a schema of a plain type."""
    return {"type": name, **({"description": text} if text else {}), **more}


def many(items: Schema, text: str = "", **more: Any) -> Schema:
    """Return a schema of a list."""
    return typed("array", text, items=items, **more)


def ref(name: str) -> Schema:
    """Return a schema that is described by its name."""
    return {"$ref": f"#/components/schemas/{name}"}


def maybe(schema: Schema) -> Schema:
    """Return a schema of something that may be null.

    >>> maybe({"type": "number"})
    {'anyOf': [{'type': 'number'}, {'type': 'null'}]}
    """
    return {"anyOf": [schema, {"type": "null"}]}


def request(properties: dict[str, Schema], *needed: str) -> Schema:
    """Return a schema of an object that is sent: all but some may be left out."""
    return {"type": "object", "properties": properties} | ({"required": list(needed)} if needed else {})


def answer(properties: dict[str, Schema], **optional: Schema) -> Schema:
    """Return a schema of an object that is answered: all but the optional ones are always there."""
    return {"type": "object", "properties": properties | optional, "required": list(properties)}


NUMBER, WHOLE, TEXT, FLAG = typed("number"), typed("integer"), typed("string"), typed("boolean")
