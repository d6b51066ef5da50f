"""VROOM's convention."""

from __future__ import annotations

import json
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


def test_the_answer_says_that_straight_lines_stand_in_for_roads(server: Served) -> None:
    answer = server.client.post("/", json={**PROBLEM, "options": {"l": 0.1}})
    (note,) = answer.json()["summary"]["notes"]
    assert note == (
        "the request: no matrices are given for profile 'car', so distances are great circles, travelled at 40 km/h; "
        "VROOM asks a routing server for them."
    )
    assert json.loads(answer.headers["x-neuralns-notes"]) == [note]


def test_keys_that_are_left_out_are_named_in_the_answer(server: Served) -> None:
    odd = {"id": 1, "location": [2.37, 48.85], "colour é": "red"}
    answer = server.client.post("/", json={**PROBLEM, "jobs": [odd], "options": {"l": 0.1, "lenient": True}})
    notes = answer.json()["summary"]["notes"]
    assert notes[0] == "the request: what is not understood is left out: 'colour é' of job 1."
    assert json.loads(answer.headers["x-neuralns-notes"]) == notes


def test_long_notes_are_cut_in_the_header_alone(server: Served) -> None:
    odd = {"id": 1, "location": [2.37, 48.85]} | {f"key {number}": 1 for number in range(300)}
    answer = server.client.post("/", json={**PROBLEM, "jobs": [odd], "options": {"l": 0.1, "lenient": True}})
    note, short = answer.json()["summary"]["notes"][0], json.loads(answer.headers["x-neuralns-notes"])[0]
    assert "key 299" in note
    assert short == f"{note[:500]}…"


MATRICES: dict[str, Any] = {
    "vehicles": [{"id": 1, "start_index": 0}],
    "jobs": [{"id": 7, "location_index": 1}],
    "matrices": {"car": {"durations": [[0, 9], [9, 0]]}},
    "options": {"l": 0.1},
}


def test_an_answer_by_matrices_has_nothing_to_note(server: Served) -> None:
    answer = server.client.post("/", json=MATRICES)
    assert answer.json()["summary"]["notes"] == []
    assert "x-neuralns-notes" not in answer.headers


def test_a_server_may_require_matrices(server: Served) -> None:
    with server.limited(require_matrices=True):
        assert server.get("/api/about")["limits"]["require_matrices"] is True
        assert server.client.post("/", json=MATRICES).status_code == 200
        answer = server.client.post("/", json=PROBLEM)
        sentence = "the request: no matrices are given for profile 'car', and this server requires them."
        assert (answer.status_code, answer.json()) == (400, {"code": 2, "error": sentence})
        vehicle = {"id": 1, "start": DEPOT, "start_index": 0, "max_distance": 1000}
        job = {"id": 7, "location": [2.37, 48.85], "location_index": 1}
        answer = server.client.post("/", json={**MATRICES, "vehicles": [vehicle], "jobs": [job]})
        sentence = "the request: matrices have no distances of profile 'car', and this server requires them."
        assert (answer.status_code, answer.json()) == (400, {"code": 2, "error": sentence})
        answer = server.client.post("/jobs", json={"instance": {"vroom": PROBLEM}})
        assert answer.status_code == 422
        assert "requires them" in answer.json()["error"]


def test_jobs_have_the_same_notes(server: Served) -> None:
    job = {"instance": {"vroom": PROBLEM}, "options": {"time": 0.1}}
    begun = server.post("/jobs", job)
    assert begun["notes"] == [
        "vroom: no matrices are given for profile 'car', so distances are great circles, travelled at 40 km/h; VROOM "
        "asks a routing server for them."
    ]
    assert server.wait(begun["id"])["notes"] == begun["notes"]
    assert server.get(f"/jobs/{begun['id']}/download/vroom")["summary"]["notes"] == begun["notes"]


def test_a_search_starts_from_steps(server: Served) -> None:
    vehicles: list[dict[str, Any]] = [{"id": number, "start": DEPOT, "end": DEPOT} for number in (1, 2)]
    vehicles[1]["steps"] = [{"type": "start"}, {"type": "job", "id": 9}, {"type": "job", "id": 7}, {"type": "end"}]
    stated = {**PROBLEM, "vehicles": vehicles}
    answer = server.client.post("/", json={**stated, "options": {"l": 0}}).json()
    assert [(route["vehicle"], [step.get("id") for step in route["steps"][1:-1]]) for route in answer["routes"]] == [
        (2, [9, 7])
    ]
    job = server.solved({"vroom": stated}, iterations=0)
    assert (job["best"]["routes"], job["result"]["initial_cost"]) == ([[2, 1]], job["result"]["cost"])
    vehicles[0]["steps"] = [{"type": "job", "id": 7}]
    answer = server.client.post("/", json=stated)
    assert (answer.status_code, answer.json()["error"]) == (
        400,
        "the request: steps of vehicle 2: job 7 is in steps twice.",
    )


def test_answers_say_how_long_they_took(server: Served) -> None:
    plain, drawn = (
        server.client.post("/", json={**PROBLEM, "options": {"l": 0.3, "g": lines}}).json()["summary"]
        for lines in (False, True)
    )
    assert plain["computing_times"].keys() == {"loading", "solving"}
    assert drawn["computing_times"].keys() == {"loading", "solving", "routing"}
    assert 300 <= plain["computing_times"]["solving"] < 5000
    job = server.solved({"vroom": PROBLEM}, time=0.3)
    times = server.get(f"/jobs/{job['id']}/download/vroom")["summary"]["computing_times"]
    assert times["solving"] == round(1000 * job["result"]["runtime"])


SHEET = "name,x,y,demand\ndepot,0,0,\nA,1,1,1\n"


@pytest.mark.parametrize(
    ("path", "content", "sentence"),
    [
        (
            "/",
            {**PROBLEM, "colour": "red"},
            "the request: 'colour' of the problem is not supported yet; 'lenient' of the options goes on without.",
        ),
        (
            "/jobs",
            {"instance": {"vroom": {**PROBLEM, "colour": "red"}}},
            "vroom: 'colour' of the problem is not supported yet; 'ignore' of the instance (colour) goes on without.",
        ),
        (
            "/jobs",
            {"instance": {"file": "a--b.csv", "text": SHEET.replace("demand", "colour")}},
            "a--b.csv: column 'colour' is not supported yet; 'ignore' of the instance (colour) goes on without.",
        ),
        (
            "/jobs",
            {"instance": {"file": "shop.csv", "text": SHEET}},
            "shop.csv: demands are given, but no capacity.",
        ),
        (
            "/jobs",
            {"instance": {"file": "shop.csv", "text": SHEET.replace("x,y", "note,id"), "capacity": 9}},
            "shop.csv: columns 'x' and 'y' or 'lat' and 'lon' are missing.",
        ),
        (
            "/jobs",
            {"instance": {"file": "my.vrp", "text": "NAME: my\nTYPE: TOUR\nDIMENSION: 2\nNODE_COORD_SECTION\n1 0 0\n"}},
            "my.vrp, line 2: problem type 'TOUR' is not supported, only ",
        ),
    ],
)
def test_refusals_name_options_of_the_call(server: Served, path: str, content: Any, sentence: str) -> None:
    found = server.client.post(path, json=content).json()["error"]
    assert found == sentence or (not sentence.endswith(".") and found.startswith(sentence))
    assert "--ignore" not in found


def test_problems_that_are_too_large_have_a_code_of_their_own(server: Served) -> None:
    with server.limited(customers=1):
        answer = server.client.post("/", json=PROBLEM)
        assert (answer.status_code, answer.json()["code"]) == (413, 4)


@pytest.mark.parametrize("path", ["/", "/jobs", "text"])
def test_tables_that_do_not_fit_are_refused_before_they_are_made(server: Served, path: str) -> None:
    jobs = [{"id": number, "location": [2 + number / 5000, 48.86]} for number in range(2500)]
    vehicles = [{**PROBLEM["vehicles"][0], "id": number, "speed_factor": 1 + number / 100} for number in range(100)]
    content: Any = {"jobs": jobs, "vehicles": vehicles}
    if path == "/jobs":
        content = {"instance": {"vroom": content}}
    elif path == "text":
        content = {"instance": {"file": "vroom", "text": json.dumps(content)}}
    began = time.monotonic()
    answer = server.client.post("/" if path == "/" else "/jobs", json=content)
    assert answer.status_code == 413
    many = "2501 places and 100 different profiles or speeds of vehicles"
    assert answer.json()["error"].endswith(f": {many} take about 9.5 GB of memory; this server allows 4.")
    assert time.monotonic() - began < 20


def test_a_client_that_leaves_ends_its_search(server: Served) -> None:
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(f"{server.address}/", json={**PROBLEM, "options": {"l": 60}}, timeout=3)
    end = time.monotonic() + 10
    while server.jobs._running:
        assert time.monotonic() < end
        time.sleep(0.05)
