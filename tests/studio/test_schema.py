"""What the server says of itself is what it takes and answers: a client of the description alone gets along with it."""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Iterator
from typing import Any

import httpx
import jsonschema  # type: ignore[import-untyped]
import pytest

from neuralns.studio.access import Access
from neuralns.studio.limits import Limits
from neuralns.studio.server import make_app
from servers import Served, serving

TOKEN = "0123456789abcdef"
DURATIONS = [[0, 9, 7], [9, 0, 5], [7, 5, 0]]
VROOM: dict[str, Any] = {
    "vehicles": [
        {
            "id": 1,
            "description": "van",
            "start_index": 0,
            "start": [2.3, 48.8],
            "capacity": [3],
            "time_window": [0, 900],
            "costs": {"fixed": 5},
            "steps": [{"type": "start"}, {"type": "job", "id": 1}],
        }
    ],
    "jobs": [
        {
            "id": 1,
            "location_index": 1,
            "location": [2.4, 48.8],
            "delivery": [1],
            "setup": 3,
            "time_windows": [[0, 600]],
        },
        {"id": 2, "location_index": 1, "delivery": [9], "priority": 3},
    ],
    "shipments": [
        {"amount": [1], "pickup": {"id": 3, "location_index": 1}, "delivery": {"id": 3, "location_index": 2}}
    ],
    "matrices": {"car": {"durations": DURATIONS, "distances": DURATIONS}},
    "options": {"l": 0.1, "g": True},
}
PLACES = {
    "vehicles": [{"id": 1, "start": [2.3, 48.8], "end": [2.3, 48.8]}],
    "jobs": [{"id": 1, "location": [2.4, 48.8]}],
    "options": {"l": 0.1, "g": True},
}


class Client:
    """Calls by the names that the description has for them; what it does not describe fails."""

    def __init__(self, server: Served) -> None:
        self.http, self.described = server.client, server.get("/openapi.json")
        self.calls = {
            call["operationId"]: (method, path, call)
            for path, methods in self.described["paths"].items()
            for method, call in methods.items()
        }

    def __call__(self, called: str, status: int = 200, body: Any = None, /, **values: Any) -> httpx.Response:
        method, path, call = self.calls[called]
        headers = {}
        if body is not None and not isinstance(body, bytes):
            self.check(body, call["requestBody"]["content"]["application/json"]["schema"])
            body, headers = json.dumps(body).encode(), {"Content-Type": "application/json"}
        given = {each["name"]: each["in"] for each in call.get("parameters", ())}
        assert values.keys() <= given.keys()
        query = {key: value for key, value in values.items() if given[key] == "query"}
        answer = self.http.request(method, path.format(**values), content=body, headers=headers, params=query)
        assert answer.status_code == status, answer.text
        media = answer.headers["content-type"].partition(";")[0]
        schema = call["responses"][str(status)]["content"][media]["schema"]
        if media == "application/json" and schema.get("type") != "string":
            self.check(answer.json(), schema)
        return answer

    def check(self, content: Any, schema: Any) -> None:
        """Check that something is as described, and has no key that is not."""
        parts = {"components": copy.deepcopy(self.described["components"])}
        for each in objects(parts):
            each.setdefault("additionalProperties", False)
        jsonschema.Draft202012Validator({**schema, **parts}).validate(content)


def objects(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield the objects in a schema whose keys are described."""
    if isinstance(schema, dict) and isinstance(schema.get("properties"), dict) and schema.get("type") == "object":
        yield schema
    for each in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        yield from objects(each)


@pytest.fixture(scope="module")
def client(server: Served) -> Client:
    return Client(server)


@pytest.mark.parametrize("problem", [VROOM, PLACES])
def test_vrooms_convention_is_as_described(client: Client, problem: dict[str, Any]) -> None:
    answer = client("solve", 200, problem)
    assert answer.json()["routes"]
    headers = client.calls["solve"][2]["responses"]["200"]["headers"]
    assert [name for name in answer.headers if name.startswith("x-neuralns")] == [name.lower() for name in headers]


def test_jobs_are_as_described(client: Client, server: Served) -> None:
    problem = {key: value for key, value in VROOM.items() if key != "options"}
    body = {"instance": {"vroom": problem}, "options": {"iterations": 50, "seed": 1}}
    job = client("submit", 201, body).json()["id"]
    server.wait(job)
    assert client("state", name=job).json()["result"]["stopped_by"] == "iterations"
    client("instance", name=job)
    client("timetable", name=job)
    assert job in [each["id"] for each in client("listed").json()]
    for each in client("improvements", name=job).json():
        client("improvement", name=job, index=each["index"])
    client("stop", name=job)
    again = client("follow", 201, {"time": 0.1}, name=job).json()["id"]
    server.wait(again)
    client("delete", name=again)
    for form in client.described["paths"]["/jobs/{name}/download/{form}"]["get"]["parameters"][1]["schema"]["enum"]:
        client("download", 422 if form == "geojson" else 200, name=job, form=form)


def test_steering_is_as_described(client: Client, server: Served) -> None:
    job = server.begin(time=60)
    server.until(lambda: (server.get(f"/jobs/{job}")["progress"] or {}).get("iteration"))
    client("slow", 200, {"pace": 0.1}, name=job)
    for order in ("fast", "pause", "resume"):
        client(order, name=job)
    client("delete", name=job)


@pytest.mark.parametrize("options", [{"time": 0.4, "selector": "gain"}, {"time": 1.1, "slow": True}])
def test_events_are_as_described(client: Client, server: Served, options: dict[str, Any]) -> None:
    job = server.begin(**options)
    content = client.calls["events"][2]["responses"]["200"]["content"]["text/event-stream"]
    kinds = set()
    for _, kind, told in server.events(job):
        client.check(told, content["x-events"][kind])
        kinds.add(kind)
    # Whoever comes late is told less.
    for _, kind, told in server.events(job):
        client.check(told, content["x-events"][kind])
    assert kinds == {"state", "best", "progress", "done"} | ({"step"} if "slow" in options else set())
    assert client("events", name=job).headers["content-type"].startswith("text/event-stream")


def test_what_is_offered_is_as_described(client: Client) -> None:
    client("health")
    client("about")
    client("episode", policy="C101-20-paper", instance="C101", budget=1)


def test_refusals_are_as_described(client: Client, server: Served) -> None:
    client("solve", 400, b"{")
    client("solve", 400, {"vehicles": [{"id": 1}], "jobs": []})
    client("submit", 400, b"{")
    client("submit", 422, {"instance": {"name": "none"}})
    client("state", 404, name="none")
    client("improvement", 422, name="none", index="first")
    client("episode", 422, policy="none", instance="C101")
    job = server.solved(time=0.1)["id"]
    client("pause", 409, name=job)
    client("slow", 409, {"pace": 1}, name=job)
    client("slow", 422, b'{"pace": -1}', name=job)
    client("download", 422, name=job, form="vroom")
    with server.limited(customers=1):
        client("solve", 413, VROOM)
        client("submit", 413, {"instance": {"name": "E-n22-k4"}})
    with server.limited(jobs=1, waiting=0):
        busy = server.begin(time=60)
        client("solve", 429, VROOM)
        answer = client("submit", 429, {"instance": {"name": "E-n22-k4"}})
        assert {*client.calls["submit"][2]["responses"]["429"]["headers"]} == {"Retry-After"}
        assert answer.headers["retry-after"] == "5"
        server.client.delete(f"/jobs/{busy}")


def test_a_slow_request_and_a_missing_token_are_refused_as_described() -> None:
    def slowly() -> Iterator[bytes]:
        yield b"{"
        time.sleep(1)

    with serving(Limits(body_seconds=0.2), Access(TOKEN)) as server:
        client = Client(server)
        assert client.described["security"] == [{"bearer": []}, {"query": []}]
        client("solve", 401, PLACES)
        client("state", 401, name="none")
        client("health")
        client.http.headers["Authorization"] = f"Bearer {TOKEN}"
        client("state", 404, name="none")
        answer = client.http.post("/jobs", content=slowly())
        assert answer.status_code == 408
        client.check(
            answer.json(), client.calls["submit"][2]["responses"]["408"]["content"]["application/json"]["schema"]
        )


def test_the_description_is_whole() -> None:
    described = make_app().app.openapi()
    parts = described["components"]["schemas"]
    text = json.dumps(described)
    named = {part.partition('"')[0] for part in text.split('"#/components/schemas/')[1:]}
    assert named == {*parts}
    for schema in parts.values():
        jsonschema.Draft202012Validator.check_schema(schema)
    assert described["components"]["securitySchemes"]["bearer"]["scheme"] == "bearer"
    assert described["security"][0] == {}
    calls = [call for methods in described["paths"].values() for call in methods.values()]
    assert len({call["operationId"] for call in calls}) == len(calls)
    for call in calls:
        for response in call["responses"].values():
            assert response["content"]


def test_the_page_shows_what_requests_hold(server: Served) -> None:
    page = server.client.get("/docs").text
    assert "max_travel_time" in page
    assert "$ref" not in page
