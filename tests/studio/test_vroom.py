"""VROOM's convention."""

from __future__ import annotations

import time
from typing import Any

import httpx
import pytest

from servers import Served

DEPOT = [2.35, 48.86]
PROBLEM: dict[str, Any] = {
    "vehicles": [{"id": 1, "start": DEPOT, "end": DEPOT}],
    "jobs": [{"id": 7, "location": [2.37, 48.85]}, {"id": 9, "location": [2.29, 48.86]}],
}


def test_a_client_of_vroom_express_gets_its_answer(server: Served) -> None:
    answer = server.client.post("/", json={**PROBLEM, "options": {"g": True, "t": 4, "x": 0, "l": 0.2}})
    found = answer.json()
    assert (answer.status_code, found["code"], found["summary"]["routes"]) == (200, 0, 1)
    (route,) = found["routes"]
    assert {step["id"] for step in route["steps"] if step["type"] == "job"} == {7, 9}
    assert route["geometry"].startswith("_~eiHo~iM")
    assert server.get("/jobs") == [] or all(job["name"] != "the request" for job in server.get("/jobs"))


@pytest.mark.parametrize(
    ("content", "status", "code", "words"),
    [
        (b"{", 400, 2, "not JSON"),
        (b"{}", 400, 2, "must have vehicles"),
        ({**PROBLEM, "options": {"c": True}}, 400, 2, "not supported"),
        ({**PROBLEM, "options": {"t": "many"}}, 400, 2, "must be a number"),
        ({**PROBLEM, "options": {"depth": 1}}, 400, 2, "'depth' is not known"),
        ({**PROBLEM, "colour": "red"}, 400, 2, "colour"),
        ({**PROBLEM, "vehicles": []}, 400, 2, "vehicle"),
    ],
)
def test_what_cannot_be_solved_has_vrooms_code(
    server: Served, content: Any, status: int, code: int, words: str
) -> None:
    body = {"content": content} if isinstance(content, bytes) else {"json": content}
    answer = server.client.post("/", **body)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert words in answer.json()["error"]


def test_problems_that_are_too_large_have_a_code_of_their_own(server: Served) -> None:
    with server.limited(customers=1):
        answer = server.client.post("/", json=PROBLEM)
        assert (answer.status_code, answer.json()["code"]) == (413, 4)


def test_a_client_that_leaves_ends_its_search(server: Served) -> None:
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(f"{server.address}/", json={**PROBLEM, "options": {"l": 60}}, timeout=3)
    end = time.monotonic() + 10
    while server.jobs._running:
        assert time.monotonic() < end
        time.sleep(0.05)
