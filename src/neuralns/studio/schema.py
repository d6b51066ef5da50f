"""What the server takes and answers, described so that clients can be made of it (``/openapi.json``)."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from neuralns.studio.downloads import MEDIA_TYPES
from neuralns.studio.schema_parts import FLAG, NUMBER, TEXT, WHOLE, Schema, answer, many, maybe, ref, request, typed
from neuralns.studio.schema_vroom import VROOM_PARTS
from neuralns.studio.vroom import NOTES

OPTIONS: dict[str, Schema] = {
    "time": typed("number", "seconds to search"),
    "iterations": typed("integer", "iterations to search, and no more seconds than time or the server allows"),
    "seed": typed("integer", "same seed and same number of iterations, same routes"),
    "selector": typed("string", "how operators are chosen; names are in /api/about"),
    "objective": typed("string", "distance, duration, vehicles, or weights"),
    "portfolio": typed("string", "which operators"),
    "workers": typed("integer", "processes that search at once"),
    "slow": typed("boolean", "tell of every iteration, two a second"),
    "stop_with_client": typed("boolean", "end when nobody has listened or asked for ten seconds"),
}
INSTANCE: dict[str, Schema] = {
    "name": typed("string", "a bundled instance"),
    "file": typed("string", "what a file is called, sent as text or base64"),
    "text": typed("string", "its text, in any format that is read"),
    "base64": typed("string", "its bytes"),
    "vroom": ref("VroomProblem"),
    "capacity": typed("number", "what a vehicle carries"),
    "vehicles": typed("integer", "how many vehicles there are"),
    "ignore": many(TEXT, "what to go on without"),
    "lenient": typed("boolean", "go on without keys of VROOM's input that are not understood"),
}
_ROUTES: dict[str, Schema] = {
    "routes": many(many(WHOLE), "the customers of each route, by number"),
    "vehicles": many(WHOLE, "the type of each route's vehicle"),
    "unserved": many(WHOLE, "customers for whom there was no place"),
    "skipped": many(WHOLE, "optional customers who are left out"),
}
_MOMENT: dict[str, Schema] = {
    "index": WHOLE,
    "time": maybe(typed("number", "seconds of the search")),
    "iteration": WHOLE,
    "cost": maybe(NUMBER),
}
_STATE = typed("string", enum=["waiting", "running", "paused", "done", "stopped", "failed"])
_PLACE = typed("integer", "place in line, 0 if it does not wait")
_NOTES = many(TEXT, "what should be known of the request, such as keys that were left out")
_VALUES = typed("object", additionalProperties=maybe(NUMBER))
_POINTS = many(many(maybe(NUMBER)), "x and y, or longitude and latitude, of each node")

PARTS: dict[str, Schema] = VROOM_PARTS | {
    "Error": answer({"error": typed("string", "one sentence")}),
    "JobRequest": request({"instance": ref("InstanceSource"), "options": ref("SearchOptions")}, "instance"),
    "InstanceSource": request(INSTANCE),
    "SearchOptions": request(OPTIONS),
    "Pace": request({"pace": typed("number", "seconds between two iterations", minimum=0, maximum=10)}),
    "JobBegun": answer({"id": TEXT, "state": _STATE, "place": _PLACE, "name": TEXT, "notes": _NOTES}),
    "JobBrief": answer(
        {
            "id": TEXT,
            "name": TEXT,
            "state": _STATE,
            "place": _PLACE,
            "created": typed("number", "seconds since 1970"),
            "selector": maybe(TEXT),
            "cost": maybe(NUMBER),
        }
    ),
    "JobState": answer(
        {
            "id": TEXT,
            "state": _STATE,
            "place": _PLACE,
            "name": TEXT,
            "created": typed("number", "seconds since 1970"),
            "options": typed("object", "options of the search, those left out as well"),
            "notes": _NOTES,
            "progress": maybe(ref("Progress")),
            "best": maybe(ref("Best")),
            "kept": maybe(typed("boolean", "whether it is on the server's disk; null if that is not known")),
        },
        error=typed("string", "why it failed"),
        result=ref("Result"),
    ),
    "Progress": answer(
        {
            "time": maybe(NUMBER),
            "iteration": WHOLE,
            "current": maybe(NUMBER),
            "best": maybe(NUMBER),
            "temperature": maybe(NUMBER),
            "acceptance": maybe(NUMBER),
            "uses": maybe(typed("object", "how often each operator was used", additionalProperties=WHOLE)),
            "gains": maybe(_VALUES),
            "unserved": WHOLE,
            "share": maybe(typed("number", "share of the search that is over")),
            "controller": maybe(typed("object", "what steers the choice of operators")),
        }
    ),
    "Best": answer({**_MOMENT, "count": typed("integer", "routes"), **_ROUTES}),
    "Improvement": answer(_MOMENT),
    "ImprovementRoutes": answer(_MOMENT | _ROUTES),
    "Result": answer(
        {
            "cost": maybe(NUMBER),
            **_ROUTES,
            "initial_cost": maybe(NUMBER),
            "runtime": maybe(typed("number", "seconds")),
            "iterations": WHOLE,
            "selector": TEXT,
            "portfolio": TEXT,
            "decision_time_share": maybe(NUMBER),
            "gap": maybe(typed("number", "per cent above the best known cost")),
            "operators": many(ref("OperatorUse")),
            "stopped_by": TEXT,
        }
    ),
    "OperatorUse": answer(
        {"name": TEXT, "phase": TEXT, "used": WHOLE, "accepted": WHOLE, "improved": WHOLE, "new_best": WHOLE}
    ),
    "StateEvent": answer({"state": _STATE}, place=_PLACE),
    "BestEvent": answer(
        _MOMENT,
        count=typed("integer", "routes"),
        changed=typed("object", "routes that have changed, by index", additionalProperties=many(WHOLE)),
        **_ROUTES,
    ),
    "StepEvent": answer(
        {
            "iteration": WHOLE,
            "removed": many(WHOLE),
            "destroy": TEXT,
            "repair": TEXT,
            "cost": maybe(NUMBER),
            "accepted": FLAG,
            "new_best": FLAG,
            "routes": many(many(WHOLE)),
            "vehicles": many(WHOLE),
        }
    ),
    "DoneEvent": answer({"result": ref("Result")}),
    "Instance": answer(
        {
            "name": TEXT,
            "variant": TEXT,
            "customers": WHOLE,
            "capacity": maybe(NUMBER),
            "kind": typed("string", enum=["plane", "geo"]),
            "nodes": maybe(_POINTS),
            "depots": many(WHOLE),
            "labels": maybe(many(TEXT)),
            "demands": many(maybe(NUMBER)),
            "windows": maybe(many(maybe(typed("array", "a window, or several", items={})))),
            "services": many(maybe(NUMBER)),
            "shipments": many(many(WHOLE), "pickup and delivery"),
            "vehicles": many(TEXT),
            "types": many(ref("VehicleType")),
            "clock": maybe({}),
            "best_known": maybe(NUMBER),
            "vroom": FLAG,
        }
    ),
    "VehicleType": answer({"name": TEXT, "start": maybe(WHOLE), "end": maybe(WHOLE), "capacity": many(maybe(NUMBER))}),
    "Timetable": answer(
        {"clock": maybe({}), "timed": FLAG, "cost": maybe(NUMBER), "routes": many(ref("TimetableRoute"))}
    ),
    "TimetableRoute": answer(
        {
            "vehicle": TEXT,
            **{name: maybe(NUMBER) for name in ("cost", "distance", "duration", "load")},
            "stops": many(ref("TimetableStop")),
        }
    ),
    "TimetableStop": answer(
        {
            "node": WHOLE,
            "label": TEXT,
            "kind": typed("string", enum=["depot", "customer", "pickup", "delivery"]),
            **{name: maybe(NUMBER) for name in ("arrival", "waiting", "start", "service", "departure", "load")},
            "window": maybe(many(maybe(NUMBER))),
        }
    ),
    "About": answer(
        {
            "version": TEXT,
            "limits": typed("object", "what the server allows"),
            **{name: many(TEXT) for name in ("selectors", "objectives", "portfolios", "policies", "formats")},
            "instances": many(answer({"name": TEXT, "customers": WHOLE, "variant": TEXT})),
            "tiles": maybe(TEXT),
        }
    ),
    "Episode": answer(
        {
            "policy": TEXT,
            "instance": TEXT,
            "setting": TEXT,
            "customers": WHOLE,
            "nodes": _POINTS,
            "portfolio": typed("object", additionalProperties=many(TEXT)),
            "budget": WHOLE,
            "scale": {},
            "reward": maybe(NUMBER),
            "steps": many(ref("EpisodeStep")),
        }
    ),
    "EpisodeStep": answer(
        {
            "before": many(many(WHOLE)),
            "removed": many(WHOLE),
            "destroy": TEXT,
            "repair": TEXT,
            "q": typed("object", "the value of each operator, by phase", additionalProperties=_VALUES),
            "after": many(many(WHOLE)),
            **{name: maybe(NUMBER) for name in ("cost_before", "cost_after", "reward")},
        }
    ),
}
EVENTS = {"state": "StateEvent", "progress": "Progress", "best": "BestEvent", "step": "StepEvent", "done": "DoneEvent"}
EVENTS |= {"error": "Error"}
REASONS = {
    400: "What was sent is not what it should be",
    401: "The token is missing or wrong",
    403: "This page or host may not call the server",
    404: "There is no such thing",
    408: "The request took too long to arrive",
    409: "The search is not in a state for that",
    413: "The request, or its problem, is too large",
    422: "What was asked for cannot be done",
    429: "The server has as much to do as it takes; try again later",
    500: "The search failed",
    503: "The server is being ended",
}
_ALL = (401, 403)
"""What any call but the open ones may be refused with."""
_RETRY = {"Retry-After": {"schema": WHOLE, "description": "seconds to wait"}}


Responses = dict[int | str, dict[str, Any]]


def _refusals(statuses: tuple[int, ...], body: str = "Error") -> Responses:
    return {
        status: {
            "description": REASONS[status],
            "content": {"application/json": {"schema": ref(body)}},
            **({"headers": _RETRY} if status == 429 else {}),
        }
        for status in statuses
    }


def _answered(text: str, content: dict[str, Any], status: int = 200) -> Responses:
    return {status: {"description": text, "content": content}}


def gives(name: str, *refusals: int, status: int = 200, listed: bool = False) -> Responses:
    """Return the responses of a call: JSON of a part, or a list of them, and what it may be refused with."""
    content = {"application/json": {"schema": many(ref(name)) if listed else ref(name)}}
    return _answered("The answer", content, status) | _refusals(refusals)


def takes(name: str, example: dict[str, Any], required: bool = True) -> dict[str, Any]:
    """Return what is said of the body of a request."""
    content = {"application/json": {"schema": ref(name), "example": example}}
    return {"requestBody": {"required": required, "content": content}}


SOLVED = gives("VroomAnswer") | _refusals((400, 408, 413, 429, 500, 503), "VroomError")
SOLVED[200]["headers"] = {NOTES: {"schema": TEXT, "description": "the notes once more, as a list in JSON"}}
STREAMED = _answered(
    "Server-sent events: each has a number (id), a kind (event) and JSON (data)",
    {"text/event-stream": {"schema": TEXT, "x-events": {name: ref(part) for name, part in EVENTS.items()}}},
) | _refusals((404,))
FILES = _answered(
    "A file; its type goes with its format",
    {
        media: {"schema": typed("string", format="binary") if media == "image/png" else TEXT}
        for media in dict.fromkeys(MEDIA_TYPES.values())
    },
) | _refusals((404, 409, 422, 429))
LAST_EVENT = {
    "parameters": [
        {"name": "Last-Event-ID", "in": "header", "schema": TEXT, "description": "the last event that was heard"},
        {"name": "after", "in": "query", "schema": TEXT, "description": "the same, where no header can be sent"},
    ]
}

VROOM = takes(
    "VroomProblem",
    {
        "vehicles": [{"id": 1, "start": [2.35, 48.86], "end": [2.35, 48.86]}],
        "jobs": [{"id": 1, "location": [2.37, 48.85]}, {"id": 2, "location": [2.29, 48.86]}],
        "options": {"l": 1},
    },
)
JOB = takes("JobRequest", {"instance": {"name": "X-n110-k13"}, "options": {"time": 10, "seed": 1}})
SLOW = takes("Pace", {"pace": 0.5}, required=False)
CONTINUE = takes("SearchOptions", {"time": 10}, required=False)


def _is_added(response: dict[str, Any]) -> bool:
    schema = response.get("content", {}).get("application/json", {}).get("schema", {})
    return bool(schema.get("$ref") == ref("HTTPValidationError")["$ref"])


def describe(app: FastAPI, needs_token: bool) -> None:
    """Have an application describe itself: its calls, what they take and answer, and who may call."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            found = get_openapi(title=app.title, version=app.version, routes=app.routes)
            found["components"] = {
                "schemas": PARTS,
                "securitySchemes": {
                    "bearer": {"type": "http", "scheme": "bearer", "description": "the token in the server's file"},
                    "query": {"type": "apiKey", "in": "query", "name": "token", "description": "without headers"},
                },
            }
            found["security"] = [*([] if needs_token else [{}]), {"bearer": []}, {"query": []}]
            refused = {str(status): each for status, each in _refusals(_ALL).items()}
            for path, methods in found["paths"].items():
                for call in methods.values():
                    # What FastAPI adds by itself is never the answer.
                    own = {status: each for status, each in call["responses"].items() if not _is_added(each)}
                    call["responses"] = own if path == "/health" else dict(sorted((own | refused).items()))
                    if path == "/health":
                        call["security"] = []
            app.openapi_schema = found
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]
