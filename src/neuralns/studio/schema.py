"""What the bodies of requests hold, for the description of the server."""

from __future__ import annotations

from typing import Any


def _body(properties: dict[str, Any], example: dict[str, Any], required: list[str] | None = None) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    return {"requestBody": {"content": {"application/json": {"schema": schema, "example": example}}}}


def _kind(name: str, text: str) -> dict[str, str]:
    return {"type": name, "description": text}


OPTIONS = {
    "time": _kind("number", "seconds to search"),
    "iterations": _kind("integer", "iterations to search, if that is less"),
    "seed": _kind("integer", "same seed and same number of iterations, same routes"),
    "selector": _kind("string", "how operators are chosen; names are in /api/about"),
    "objective": _kind("string", "distance, duration, vehicles, or weights"),
    "portfolio": _kind("string", "which operators"),
    "workers": _kind("integer", "processes that search at once"),
    "slow": _kind("boolean", "tell of every iteration, two a second"),
    "stop_with_client": _kind("boolean", "end when nobody has listened to the events for ten seconds"),
}
INSTANCE = {
    "name": _kind("string", "a bundled instance"),
    "file": _kind("string", "what a file is called, sent as text or base64"),
    "text": _kind("string", "its text, in any format that is read"),
    "base64": _kind("string", "its bytes"),
    "vroom": _kind("object", "VROOM's input"),
    "capacity": _kind("number", "what a vehicle carries"),
    "vehicles": _kind("integer", "how many vehicles there are"),
    "ignore": {"type": "array", "items": {"type": "string"}, "description": "what to go on without"},
    "lenient": _kind("boolean", "go on without keys of VROOM's input that are not understood"),
}
JOB = _body(
    {
        "instance": {"type": "object", "properties": INSTANCE},
        "options": {"type": "object", "properties": OPTIONS},
    },
    {"instance": {"name": "X-n110-k13"}, "options": {"time": 10, "seed": 1}},
    ["instance"],
)
VROOM = _body(
    {
        "vehicles": {"type": "array", "items": {"type": "object"}},
        "jobs": {"type": "array", "items": {"type": "object"}},
        "shipments": {"type": "array", "items": {"type": "object"}},
        "matrices": {"type": "object"},
        "options": {
            "type": "object",
            "properties": {
                "t": _kind("integer", "processes that search at once"),
                "l": _kind("number", "seconds to search"),
                "x": _kind("integer", "level of exploration, 0 to 5: a share of the default time"),
                "g": _kind("boolean", "add the lines of routes"),
            },
        },
    },
    {
        "vehicles": [{"id": 1, "start": [2.35, 48.86], "end": [2.35, 48.86]}],
        "jobs": [{"id": 1, "location": [2.37, 48.85]}, {"id": 2, "location": [2.29, 48.86]}],
        "options": {"l": 1},
    },
    ["vehicles"],
)
SLOW = _body({"pace": _kind("number", "seconds between two iterations")}, {"pace": 0.5})
CONTINUE = _body(OPTIONS, {"time": 10})
