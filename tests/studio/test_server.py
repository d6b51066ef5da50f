"""The server, called as clients call it."""

from __future__ import annotations

import re
import time
from itertools import pairwise
from typing import Any

import httpx
import pytest

from neuralns import MaxIterations, Solution, read, solve
from neuralns.studio import jobs as jobs_module
from servers import NAMED, Served

SHOP = """name,lat,lon,demand,earliest,latest,service,capacity
depot,52.52,13.40,0,08:00,18:00,0,10
Ann,52.50,13.42,4,09:00,12:00,10,
Bob,52.54,13.38,4,10:00,14:00,10,
Cid,52.49,13.35,4,08:00,16:00,10,
"""


def test_the_server_is_there(server: Served) -> None:
    assert server.get("/health") == {}


def test_it_says_what_it_offers(server: Served) -> None:
    about = server.get("/api/about")
    assert {"seconds", "customers", "bytes", "jobs", "waiting", "workers"} <= about["limits"].keys()
    assert {"auto", "gain"} <= {*about["selectors"]}
    assert "C101-20-paper" in about["policies"]
    assert {"name": "E-n22-k4", "customers": 21, "variant": "21 customers"} in about["instances"]


def test_the_page_and_its_policy(server: Served) -> None:
    page = server.client.get("/", headers={"Accept": "text/html"})
    assert page.headers["content-type"].startswith("text/html")
    assert page.headers["content-security-policy"].startswith("default-src 'self'; img-src 'self' data: blob:;")
    assert page.headers["x-content-type-options"] == "nosniff"


def test_the_description_loads_nothing_from_elsewhere(server: Served) -> None:
    page = server.client.get("/docs").text
    assert "POST /jobs/{name}/pause" in page
    assert not re.search(r"(src|href)=.?(https?:)?//", page)
    assert server.get("/openapi.json")["paths"].keys() >= {"/", "/jobs", "/jobs/{name}/events"}


def test_a_job_finds_what_solve_finds(server: Served) -> None:
    job = server.solved(time=30, iterations=3000, seed=5, selector="random")
    result = solve("E-n22-k4", MaxIterations(3000), seed=5, selector="random")
    assert job["state"] == "done"
    assert job["result"]["cost"] == result.cost
    assert job["result"]["iterations"] == 3000
    assert job["result"]["stopped_by"] == "iterations"
    assert job["best"]["cost"] == Solution(read("E-n22-k4"), job["best"]["routes"]).cost


def test_events_tell_of_a_search(server: Served) -> None:
    told = list(server.events(server.begin(time=0.6, selector="gain")))
    kinds = [kind for _, kind, _ in told]
    assert [number for number, _, _ in told] == sorted({number for number, _, _ in told})
    assert kinds[0] == "state"
    assert kinds[-2:] == ["done", "state"]
    assert told[-1][2] == {"state": "done"}
    reports = [content for _, kind, content in told if kind == "progress"]
    assert len(reports) >= 3
    last = reports[-1]
    assert last["iteration"] > 0
    assert last["uses"].keys() > last["gains"].keys()
    assert 0 <= last["acceptance"] <= 1
    assert last["controller"]["inputs"]["time left"] < 0.5
    shares = [value for name, value in last["controller"]["outputs"].items() if name.startswith("share of")]
    assert sum(shares) == pytest.approx(2)


def test_whoever_comes_back_goes_on_where_they_were(server: Served) -> None:
    job = server.begin(time=0.6)
    first = []
    for event in server.events(job):
        first.append(event)
        if len(first) == 4:
            break
    rest = list(server.events(job, after=first[-1][0]))
    assert rest[0][0] > first[-1][0]
    assert rest[-1][1:] == ("state", {"state": "done"})


def test_whoever_comes_late_is_told_the_last_routes(server: Served) -> None:
    job = server.begin(time=0.3)
    server.wait(job)
    told = [content for _, kind, content in server.events(job) if kind == "best"]
    assert "routes" in told[-1]
    assert all(content.keys() == {"index", "time", "iteration", "cost"} for content in told[:-1])


@pytest.mark.parametrize("workers", [1, 2])
def test_time_does_not_count_in_a_pause(server: Served, workers: int) -> None:
    with server.limited(workers=2):
        begin, job = time.monotonic(), server.begin(time=60, workers=workers)
    server.until(lambda: (server.get(f"/jobs/{job}")["progress"] or {}).get("iteration"))
    server.post(f"/jobs/{job}/pause")
    before = server.wait(job, "paused")["progress"]
    time.sleep(1.2)
    assert server.get(f"/jobs/{job}")["progress"] == before
    server.post(f"/jobs/{job}/resume")
    server.wait(job, "running")
    server.until(lambda: server.get(f"/jobs/{job}")["progress"]["iteration"] > before["iteration"])
    server.post(f"/jobs/{job}/stop")
    found = server.wait(job)
    assert before["time"] < found["result"]["runtime"] < time.monotonic() - begin - 1.1


def test_going_on_is_not_lost_while_a_pause_is_on_its_way(server: Served) -> None:
    job = server.begin(time=60)
    server.until(lambda: (server.get(f"/jobs/{job}")["progress"] or {}).get("iteration"))
    for _ in range(5):
        server.post(f"/jobs/{job}/pause")
        server.post(f"/jobs/{job}/resume")
    before = server.get(f"/jobs/{job}")["progress"]["iteration"]
    server.until(lambda: server.get(f"/jobs/{job}")["progress"]["iteration"] > before, 10)
    assert server.wait(job, "running")["state"] == "running"
    server.client.delete(f"/jobs/{job}")


def test_a_job_that_is_paused_can_be_stopped(server: Served) -> None:
    job = server.begin(time=20)
    server.until(lambda: (server.get(f"/jobs/{job}")["progress"] or {}).get("iteration"))
    server.post(f"/jobs/{job}/pause")
    server.wait(job, "paused")
    server.post(f"/jobs/{job}/stop")
    found = server.wait(job)
    assert found["state"] == "stopped"
    assert found["result"]["stopped_by"] == "callback"


def test_deleting_a_job_returns_its_best(server: Served) -> None:
    job = server.begin(time=20)
    server.until(lambda: server.get(f"/jobs/{job}")["best"])
    found = server.client.delete(f"/jobs/{job}").json()
    assert found["state"] == "stopped"
    assert found["best"]["cost"] >= 375
    assert server.client.get(f"/jobs/{job}").status_code == 404


def test_a_job_goes_on_from_the_best_of_another(server: Served) -> None:
    first = server.solved(time=0.3)
    answer = server.client.post(f"/jobs/{first['id']}/continue", json={"time": 0.2})
    assert answer.status_code == 201
    second = server.wait(answer.json()["id"])
    assert second["result"]["initial_cost"] == first["best"]["cost"]
    assert second["options"]["time"] == 0.2
    for changes, words in (({"time": 1e9}, "options: time"), ({"portfolio": "nice"}, "'nice' is not known")):
        refused = server.client.post(f"/jobs/{first['id']}/continue", json=changes)
        assert refused.status_code == 422
        assert words in refused.json()["error"]


def test_time_ends_a_search_of_too_many_iterations(server: Served) -> None:
    job = server.solved(time=0.3, iterations=10**9)
    assert (job["state"], job["result"]["stopped_by"]) == ("done", "time")
    assert 0.3 <= job["result"]["runtime"] < 5
    with server.limited(seconds=20):
        assert server.solved(iterations=100)["options"]["time"] == 20


def test_a_policy_at_random_is_told_in_json(server: Served) -> None:
    reports = [
        content
        for _, kind, content in server.events(server.begin(time=0.3, selector="C101-20-paper@inf"))
        if kind == "progress"
    ]
    assert reports[-1]["controller"]["inputs"] == {"temperature of the policy": None}


def test_a_slow_search_tells_of_each_iteration(server: Served) -> None:
    job = server.begin(time=20, slow=True, seed=3)
    server.post(f"/jobs/{job}/slow", {"pace": 0.01})
    steps = []
    for _, kind, content in server.events(job):
        if kind == "step":
            steps.append(content)
        if len(steps) == 8:
            break
    assert [step["iteration"] for step in steps] == list(range(steps[0]["iteration"], steps[0]["iteration"] + 8))
    instance = read("E-n22-k4")
    for step in steps:
        assert 1 <= len(step["removed"]) == len(set(step["removed"])) <= 20
        assert {*step["removed"]} <= {*range(1, 22)}
        assert step["cost"] == Solution(instance, step["routes"]).cost
    before, after = next((one, other) for one, other in pairwise(steps) if not other["accepted"])
    assert before["routes"] == after["routes"]
    server.post(f"/jobs/{job}/fast")
    server.until(lambda: server.get(f"/jobs/{job}")["progress"]["iteration"] > 1000)
    server.post(f"/jobs/{job}/stop")


def test_improvements_can_be_gone_through(server: Served) -> None:
    job = server.solved(time=0.4)
    found = server.get(f"/jobs/{job['id']}/improvements")
    costs = [each["cost"] for each in found]
    assert costs == sorted(costs, reverse=True)
    first = server.get(f"/jobs/{job['id']}/improvements/{found[0]['index']}")
    assert first["cost"] == Solution(read("E-n22-k4"), first["routes"]).cost
    missing = server.client.get(f"/jobs/{job['id']}/improvements/999")
    assert missing.json() == {"error": "improvement 999 is not kept."}


def test_a_spreadsheet_on_the_globe(server: Served) -> None:
    job = server.solved({"file": "shop.csv", "text": SHOP}, time=0.2)
    instance = server.get(f"/jobs/{job['id']}/instance")
    assert (instance["kind"], instance["nodes"][1]) == ("geo", [13.42, 52.5])
    assert instance["labels"] == ["depot", "Ann", "Bob", "Cid"]
    table = server.get(f"/jobs/{job['id']}/timetable")
    stops = [stop for route in table["routes"] for stop in route["stops"] if stop["kind"] == "customer"]
    assert sorted(stop["label"] for stop in stops) == ["Ann", "Bob", "Cid"]
    for stop in stops:
        assert stop["window"][0] <= stop["start"] <= stop["window"][1]
    shapes = server.get(f"/jobs/{job['id']}/download/geojson")["features"]
    assert {shape["geometry"]["type"] for shape in shapes} == {"LineString", "Point"}


@pytest.mark.parametrize(
    ("form", "kind", "begins"),
    [
        ("sol", "text/plain", b"Route #1"),
        ("json", "application/json", b'{"format": "neuralns-solution"'),
        ("csv", "text/csv", b"route,stop,name"),
        ("svg", "image/svg+xml", b"<?xml"),
        ("png", "image/png", b"\x89PNG"),
        ("trace", "text/csv", b"time,iteration"),
    ],
)
def test_downloads(server: Served, form: str, kind: str, begins: bytes) -> None:
    job = server.solved(time=0.1)
    answer = server.client.get(f"/jobs/{job['id']}/download/{form}")
    assert answer.headers["content-type"].startswith(kind)
    assert answer.headers["content-disposition"].startswith('attachment; filename="E-n22-k4.')
    assert answer.content.startswith(begins)


def test_downloads_that_cannot_be(server: Served) -> None:
    job = server.solved(time=0.1)
    for form, words in (("geojson", "no latitude"), ("vroom", "VROOM"), ("exe", "not known")):
        answer = server.client.get(f"/jobs/{job['id']}/download/{form}")
        assert answer.status_code == 422
        assert words in answer.json()["error"]


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        (b"{", 400, "not JSON"),
        (b"[" * 100_000, 400, "nested too deeply"),
        (b"[]", 400, "must be a JSON object"),
        (b'{"instance": {"name": "E-n22-k4"}, "colour": 1}', 422, "'colour' is not known"),
        (b'{"instance": {"name": "E-n22-k4", "path": "x"}}', 422, "'path' is not known"),
        (b'{"instance": {"name": "E-n22-k4"}, "options": {"depth": 1}}', 422, "'depth' is not known"),
        (b'{"instance": {"name": "E-n22-k4"}, "options": {"time": "1"}}', 422, "time '1' must be a number"),
        (b'{"instance": {"name": "E-n22-k4"}, "options": {"time": 1e9}}', 422, "of this server"),
        (b'{"instance": {"name": "E-n22-k4"}, "options": {"time": 1%s}}' % (b"0" * 400), 422, "of this server"),
        (b'{"instance": {"name": "E-n22-k4"}, "options": {"selector": "\\ud800"}}', 422, "is not known"),
        (b'{"instance": {"name": "E-n22-k4"}, "options": {"workers": 1000}}', 422, "of this server"),
        (b'{"instance": {"name": "E-n22-k4"}, "options": {"selector": "/etc/passwd"}}', 422, "is not known"),
        (b'{"instance": {"name": "E-n22-k4"}, "options": {"portfolio": "nice"}}', 422, "is not known"),
        (b'{"instance": {"name": "E-n22-k4"}, "options": {"objective": "nice"}}', 422, "is not known"),
        (b'{"instance": {"name": "E-n22-k4"}, "options": {"portfolio": "%s"}}' % (b"zone," * 8000), 422, "500 at most"),
        (b'{"instance": {"name": "/etc/passwd"}}', 422, "not the name of a bundled instance"),
        (b'{"instance": {"name": "../data/E-n22-k4"}}', 422, "not the name of a bundled instance"),
        (b'{"instance": {"file": "/etc/passwd"}}', 422, "give the name"),
        (b'{"instance": {"file": "a.vrp", "text": "nonsense"}}', 422, "a.vrp"),
        (b'{"instance": {"file": "a.xlsx", "base64": "UEsDBAAA"}}', 422, "save the sheet as CSV"),
        (b'{"instance": {"file": "a.vrp", "base64": "?"}}', 422, "not base64"),
        (b'{"instance": {"vroom": {"vehicles": []}}}', 422, "vroom"),
    ],
)  # fmt: skip
def test_what_is_odd_is_refused_by_a_sentence(server: Served, body: bytes, status: int, words: str) -> None:
    answer = server.client.post("/jobs", content=body)
    sentence = answer.json()["error"]
    assert (answer.status_code, answer.json().keys()) == (status, {"error"})
    assert words in sentence
    assert sentence.endswith(".")
    assert "\n" not in sentence


def test_what_is_not_there_is_a_sentence(server: Served) -> None:
    assert server.client.get("/nowhere").json() == {"error": "GET /nowhere: not found."}
    assert server.client.get("/jobs/1").status_code == 404
    assert server.client.get("/jobs/..%2f..%2fetc%2fpasswd").status_code == 404
    assert server.client.get("/static/..%2fserver.py").status_code == 404
    assert server.client.put("/jobs").status_code == 405
    assert server.client.get("/episodes?policy=x").json()["error"].startswith("instance: ")


def test_orders_to_jobs_that_have_ended(server: Served) -> None:
    job = server.solved(time=0.1)
    answer = server.client.post(f"/jobs/{job['id']}/pause")
    assert (answer.status_code, answer.json()) == (409, {"error": "this search has ended (done)."})


def test_a_file_name_is_no_path(server: Served, tmp_path: Any) -> None:
    (tmp_path / "shop.csv").write_text(SHOP)
    text = "name,x,y,demand,capacity\ndepot,0,0,0,5\n\ufffd,1,1,1,\n"
    job = server.solved({"file": str(tmp_path / "shop.csv"), "text": text}, time=0.1)
    assert server.get(f"/jobs/{job['id']}/instance")["labels"] == ["depot", "?"]


def test_too_many_customers_and_too_long_bodies(server: Served) -> None:
    with server.limited(customers=20, bytes=20_000, body_seconds=0.5):
        answer = server.client.post("/jobs", json={"instance": NAMED})
        assert (answer.status_code, answer.json()["error"]) == (
            413,
            "E-n22-k4: has 21 customers; this server takes 20 at most.",
        )
        too_long = "the request is longer than the 20000 bytes that this server takes."
        stated = httpx.post(f"{server.address}/jobs", content=b"x" * 30_000)
        assert (stated.status_code, stated.json()) == (413, {"error": too_long})
        in_parts = httpx.post(f"{server.address}/", content=(b"x" * 9000 for _ in range(5)))
        assert (in_parts.status_code, in_parts.json()) == (413, {"code": 4, "error": too_long})

        def slowly() -> Any:
            yield b"{"
            time.sleep(1.5)
            yield b"}"

        slow = httpx.post(f"{server.address}/jobs", content=slowly())
        assert (slow.status_code, slow.json()) == (408, {"error": "the request did not arrive in 0.5 s."})
        assert server.get("/health") == {}


def test_a_client_that_leaves_ends_its_job_if_it_wants_that(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs_module, "CLIENT_SECONDS", 0.5)
    left, other = server.begin(time=30, stop_with_client=True), server.begin(time=30)
    for job in (left, other):
        for _, kind, _ in server.events(job):
            if kind == "progress":
                break
    # Whoever asks where a job stands is there.
    end = time.monotonic() + 3
    while time.monotonic() < end:
        assert server.get(f"/jobs/{left}")["state"] == "running"
    server.until(lambda: server.get("/jobs")[1]["state"] == "stopped", 20)
    assert server.get(f"/jobs/{other}")["state"] == "running"
    server.client.delete(f"/jobs/{other}")


def test_an_episode_with_all_its_values(server: Served) -> None:
    episode = server.get("/episodes?policy=C101-20-paper&instance=C101&seed=1&budget=3")
    assert len(episode["steps"]) == 3
    cost = episode["steps"][0]["cost_before"]
    for step in episode["steps"]:
        assert step["cost_before"] == cost
        cost = step["cost_after"]
        assert len(step["removed"]) == episode["scale"]
        for phase in ("destroy", "repair"):
            values = step["q"][phase]
            assert list(values) == episode["portfolio"][phase]
            assert step[phase] == max(values, key=values.__getitem__)
    assert episode["steps"][-1]["reward"] == pytest.approx(episode["reward"])
    refused = server.client.get("/episodes?policy=C101-20-paper&instance=/etc/passwd")
    assert refused.status_code == 422
