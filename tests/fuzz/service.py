"""Requests to a server of its own, good and damaged ones: it answers each, and never by saying that it is broken."""

from __future__ import annotations

import base64
import json
import os
import signal
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import numpy as np

import texts
from fuzz import forms
from fuzz.checker import Problem, near, plan_of
from fuzz.damage import ODD, damaged_text
from fuzz.instances import rich, vroom
from fuzz.solving import REFUSED
from fuzz.vroom_checker import complaints
from neuralns.studio.limits import Limits
from servers import Served, serving

PATIENCE = 60.0
"""Seconds in which every answer is there, and every job at its end."""
ENDED = ("done", "stopped", "failed")
ORDERS = ("pause", "resume", "slow", "fast", "stop", "continue")
FILES = ("sol", "json", "csv", "vroom", "svg", "geojson", "trace", "odd")
_open = ExitStack()
_servers: list[Served] = []


def server() -> Served:
    """The server, started when it is needed first."""
    if not _servers:
        limits = Limits(jobs=2, waiting=4, seconds=5.0, default_seconds=0.2, workers=2)
        _servers.append(_open.enter_context(serving(limits)))
    return _servers[0]


def close() -> None:
    """End the server."""
    _open.close()
    _servers.clear()


# --- Requests. --------------------------------------------------------------------------------------------------------


def make_request(rng: np.random.Generator) -> bytes:
    """A request: a good one, one that is damaged, one for something that is not there, or several about one job."""
    seed, kind = int(rng.integers(2**31)), ("solve", "vroom", "damaged", "odd", "steered")[rng.integers(5)]
    asked: dict[str, Any] = {"kind": kind, "path": "/jobs", "seed": seed}
    match kind:
        case "solve":
            asked["data"] = rich(rng, 1, 8)
        case "vroom":
            asked["problem"] = vroom(rng)
        case "damaged":
            path, body = (("/", _vroom_body(rng)), ("/jobs", _job_body(rng)))[rng.integers(2)]
            asked |= {"path": path, "coded": base64.b64encode(damaged_text(rng, body)).decode()}
        case "odd":
            asked |= {"path": _odd_path(rng), "method": str(rng.choice(["GET", "POST", "DELETE", "PUT", "HEAD"]))}
            asked["body"] = damaged_text(rng, _job_body(rng)).decode(errors="replace") if rng.random() < 0.5 else ""
        case _:
            asked["orders"] = [str(each) for each in rng.choice([*ORDERS, *FILES, "timetable", "improvements"], 5)]
    return json.dumps(asked).encode()


def _vroom_body(rng: np.random.Generator) -> str:
    stated = forms.VROOM if rng.random() < 0.5 else forms.PLACED_VROOM
    options = {"l": 0.05, "g": bool(rng.random() < 0.5), "seed": int(rng.integers(100))}
    return json.dumps({**stated, "options": options}, indent=1)


def _job_body(rng: np.random.Generator) -> str:
    sent = (
        {"file": "a.vrp", "text": texts.FLEET},
        {"file": "a.json", "text": texts.INSTANCES["json-fleet"]},
        {"file": "stops.csv", "text": forms.PLAIN_STOPS},
        {"file": "a.txt", "base64": base64.b64encode(texts.SOLOMON.encode()).decode()},
        {"name": "E-n22-k4"},
        {"vroom": forms.VROOM},
    )
    options = {"iterations": 20, "time": 0.5, "seed": 1, "selector": "roulette", "workers": 1, "slow": False}
    return json.dumps({"instance": sent[rng.integers(len(sent))], "options": options}, indent=1)


def _odd_path(rng: np.random.Generator) -> str:
    words = ["", "jobs", "0", "api", "about", "health", "episodes", "events", "..", "%2e%2e", "%00", "é", *ODD[:14]]
    path = "/" + "/".join(words[rng.integers(len(words))][:50] for _ in range(rng.integers(1, 4)))
    if rng.random() < 0.3:
        pairs = (f"{key}={ODD[rng.integers(14)][:50]}" for key in ("policy", "instance", "seed", "after"))
        path += "?" + "&".join(pairs)
    return path


def check_request(content: bytes, file: Path) -> str | None:
    """Have a request be answered as it should be, by a server that is well then."""
    asked = json.loads(content)
    served = server()
    try:
        return _CHECKS[asked["kind"]](served, asked)
    finally:
        assert served.client.get("/health", timeout=PATIENCE).status_code == 200
        _forget_all(served)


def _ask(served: Served, method: str, path: str, body: bytes | str | None = None) -> httpx.Response:
    """Ask, and have the answer not be that the server is broken; refusals are sentences."""
    answer = served.client.request(method, path, content=body or None, timeout=PATIENCE)
    assert answer.status_code < 500, f"{method} {path}: {answer.status_code} {answer.text[:300]}"
    if answer.status_code >= 400 and method != "HEAD":
        said = answer.json().get("error", "")
        assert said.endswith((".", "?", ")")), f"{method} {path}: {answer.text[:300]}"
    return answer


def _forget_all(served: Served) -> None:
    for job in served.client.get("/jobs", timeout=PATIENCE).json():
        _ask(served, "DELETE", f"/jobs/{job['id']}")


def _wait(served: Served, job: str) -> dict[str, Any]:
    end = time.monotonic() + PATIENCE
    while (told := _ask(served, "GET", f"/jobs/{job}").json())["state"] not in ENDED:
        assert time.monotonic() < end, f"job {job} does not end: {told['state']}"
        time.sleep(0.02)
    assert isinstance(told, dict)
    return told


def _check_solved(served: Served, asked: dict[str, Any]) -> str | None:
    """Have an instance be solved, and judge the plan that is downloaded."""
    source = {"file": "drawn.json", "text": json.dumps(asked["data"])}
    order = {"instance": source, "options": {"iterations": 50, "seed": asked["seed"]}}
    answer = _ask(served, "POST", "/jobs", json.dumps(order))
    if answer.status_code != 201:
        assert answer.status_code == 422, answer.text
        return REFUSED
    told = _wait(served, answer.json()["id"])
    assert told["state"] == "done", told
    plan = _ask(served, "GET", f"/jobs/{told['id']}/download/json").json()
    verdict = Problem(asked["data"]).judge(*plan_of(asked["data"], plan))
    assert verdict.broken == [], f"{plan['routes']}: {verdict.broken}"
    for cost in (plan["cost"], told["result"]["cost"], told["best"]["cost"]):
        assert near(cost, verdict.cost), f"cost {cost} is said, but found is {verdict.cost}"
    return None


def _check_vroom(served: Served, asked: dict[str, Any]) -> str | None:
    body = json.dumps({**asked["problem"], "options": {"l": 0.05, "seed": asked["seed"]}})
    answer = _ask(served, "POST", "/", body)
    if answer.status_code == 400:
        return REFUSED
    assert (answer.status_code, answer.json()["code"]) == (200, 0), answer.text
    broken = complaints(asked["problem"], answer.json())
    assert broken == [], broken
    return None


def _check_damaged(served: Served, asked: dict[str, Any]) -> None:
    answer = _ask(served, "POST", asked["path"], base64.b64decode(asked["coded"]))
    assert answer.status_code in (200, 201, 400, 413, 422), answer.text


def _check_odd(served: Served, asked: dict[str, Any]) -> None:
    try:
        httpx.URL(served.address + asked["path"])
    except httpx.InvalidURL:
        return
    _ask(served, asked["method"], asked["path"], asked["body"].encode(errors="replace"))


def _check_steered(served: Served, asked: dict[str, Any]) -> None:
    """Have a job take any orders in any order, and end."""
    order = {"instance": {"name": "E-n22-k4"}, "options": {"time": 0.3, "seed": asked["seed"]}}
    answer = _ask(served, "POST", "/jobs", json.dumps(order))
    assert answer.status_code == 201, answer.text
    job = answer.json()["id"]
    for word in asked["orders"]:
        if word in ORDERS:
            body = {"slow": '{"pace": 0.05}', "continue": '{"time": 0.1}'}.get(word)
            _ask(served, "POST", f"/jobs/{job}/{word}", body)
        else:
            _ask(served, "GET", f"/jobs/{job}/{f'download/{word}' if word in FILES else word}")
    _ask(served, "POST", f"/jobs/{job}/stop")
    assert _wait(served, job)["state"] in ("done", "stopped")


_CHECKS = {
    "solve": _check_solved,
    "vroom": _check_vroom,
    "damaged": _check_damaged,
    "odd": _check_odd,
    "steered": _check_steered,
}

# --- Processes that are killed. ---------------------------------------------------------------------------------------


def make_kill(rng: np.random.Generator) -> bytes:
    """Which process is killed, and when."""
    victim = ("job", "fork server", "reader")[rng.integers(3)]
    return json.dumps({"victim": victim, "after": round(float(rng.random()) ** 2, 3)}).encode()


def check_kill(content: bytes, file: Path) -> None:
    """Kill a process of the server: its job ends with a sentence, or well, and the next one is done."""
    asked = json.loads(content)
    served = server()
    try:
        job = served.begin(time=3)
        if asked["victim"] == "job":
            process = served.process(job)
        else:
            starter: Any = served.jobs.starter
            fork_server = starter._fork_server
            assert fork_server is not None
            process = fork_server.pid
        time.sleep(asked["after"])
        os.kill(process, signal.SIGKILL)
        if asked["victim"] == "reader":
            # Asked for at once, when the loss need not have been noticed yet.
            order = {"instance": {"name": "E-n22-k4"}, "options": {"iterations": 20}}
            answer = served.client.post("/jobs", json=order, timeout=PATIENCE)
            said = answer.json().get("error", ".")
            assert (answer.status_code in (201, 422, 503), said[-1:]) == (True, "."), answer.text
        told = _wait(served, job)
        assert told["state"] == "done" or told["error"].endswith("."), told
        again = _wait(served, served.begin(iterations=20))
        assert again["state"] == "done", again
    finally:
        assert served.client.get("/health", timeout=PATIENCE).status_code == 200
        _forget_all(served)
