"""Jobs: their processes, the line, and what becomes of them."""

from __future__ import annotations

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from helpers import is_running
from neuralns.search.parallel import START
from neuralns.studio import asking, children
from neuralns.studio import jobs as jobs_module
from neuralns.studio.limits import Limits
from neuralns.studio.record import Job
from servers import NAMED, Served, serving


def test_others_wait_in_line_and_are_told_their_place(server: Served) -> None:
    with server.limited(jobs=1, waiting=2):
        first, second, third = (server.begin(time=20) for _ in range(3))
        assert [server.get(f"/jobs/{job}")["place"] for job in (first, second, third)] == [0, 1, 2]
        answer = server.client.post("/jobs", json={"instance": NAMED})
        assert (answer.status_code, answer.headers["retry-after"]) == (429, "5")
        assert answer.json()["error"].startswith("1 searches run and 2 wait")
        vroom = server.client.post("/", content=b"{}")
        assert (vroom.status_code, vroom.json()["code"]) == (429, 1)
        # Who waits may be refused pausing, and may leave.
        assert server.client.post(f"/jobs/{third}/pause").status_code == 409
        server.client.delete(f"/jobs/{second}")
        assert server.get(f"/jobs/{third}")["place"] == 1
        server.until(lambda: server.get(f"/jobs/{first}")["progress"])
        server.post(f"/jobs/{first}/stop")
        server.wait(third, "running")
        assert [job["id"] for job in server.get("/jobs")] == [third, first]
        server.client.delete(f"/jobs/{third}")


def test_a_killed_process_harms_nobody_else(server: Served) -> None:
    victim, other = server.begin(time=30), server.begin(time=30)
    for job in (victim, other):
        server.until(lambda job=job: server.get(f"/jobs/{job}")["best"])  # type: ignore[misc]
    os.kill(server.process(victim), signal.SIGKILL)
    found = server.wait(victim)
    assert (found["state"], found["error"]) == (
        "failed",
        "the process of this search ended unexpectedly (signal 9).",
    )
    assert found["best"]["routes"]
    assert server.get(f"/jobs/{other}")["state"] == "running"
    server.client.delete(f"/jobs/{other}")
    assert server.solved(time=0.1)["state"] == "done"


def test_another_nursery_comes_when_one_is_lost_and_no_process_outlives_the_server() -> None:
    with serving(Limits(jobs=2)) as server:
        job = server.begin(time=30)
        lost = server.process(job)
        nursery = server.jobs.nurse._process  # type: ignore[attr-defined]
        assert nursery is not None
        nursery.kill()
        assert server.wait(job)["state"] == "failed"
        server.until(lambda: not is_running(lost))
        processes = [server.process(server.begin(time=30)) for _ in range(2)]
        nursery = server.jobs.nurse._process  # type: ignore[attr-defined]
        assert nursery is not None
    end = time.monotonic() + 10
    while any(map(is_running, (*processes, nursery.pid))):
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_process_that_wants_too_much_memory_is_refused(server: Served) -> None:
    with server.limited(jobs=1, memory=64 << 20):
        nodes = 3000
        rows = "\n".join(f"{node} {node % 97} {node % 89}" for node in range(1, nodes + 1))
        demands = "\n".join(f"{node} {int(node > 1)}" for node in range(1, nodes + 1))
        text = (
            f"NAME : big\nTYPE : CVRP\nDIMENSION : {nodes}\nEDGE_WEIGHT_TYPE : EUC_2D\nCAPACITY : 100\n"
            f"NODE_COORD_SECTION\n{rows}\nDEMAND_SECTION\n{demands}\nDEPOT_SECTION\n1\n-1\nEOF\n"
        )
        answer = server.client.post("/jobs", json={"instance": {"file": "big.vrp", "text": text}})
        if answer.status_code == 201:
            found = server.wait(answer.json()["id"])
            assert found["state"] == "failed"
        else:
            assert answer.status_code in (413, 422)
        assert server.get("/health") == {}


def test_finished_jobs_are_forgotten_after_a_while(server: Served) -> None:
    with server.limited(jobs=1, keep_seconds=0.5):
        job = server.solved(time=0.1)
        server.until(lambda: server.client.get(f"/jobs/{job['id']}").status_code == 404, 10)


def test_the_oldest_are_forgotten_first_where_memory_is_short(server: Served) -> None:
    with server.limited(jobs=1, kept_bytes=70_000):
        names = [server.solved(time=0.1)["id"] for _ in range(5)]
        server.until(lambda: len(server.get("/jobs")) < 5, 10)
        left = [job["id"] for job in server.get("/jobs")]
        assert left == list(reversed(names))[: len(left)]


def test_finished_jobs_can_be_kept(server: Served, tmp_path: Path) -> None:
    with server.limited(tmp_path):
        job = server.solved(time=0.2)
        told = list(server.events(job["id"]))
        server.until(lambda: (tmp_path / f"{job['id']}.json").exists())
    with server.limited(tmp_path):
        assert server.get("/jobs") == []
        again = server.get(f"/jobs/{job['id']}")
        assert again == job
        assert list(server.events(job["id"])) == told
        assert server.client.get(f"/jobs/{job['id']}/download/sol").text.startswith("Route #1")
        assert server.get(f"/jobs/{job['id']}/improvements")
        assert server.get(f"/jobs/{job['id']}/instance")["name"] == "E-n22-k4"
        assert [each["id"] for each in server.get("/jobs")] == [job["id"]]
        server.jobs._jobs.clear()
        server.jobs.recall()
        assert [each["id"] for each in server.get("/jobs")] == [job["id"]]
        assert server.client.get("/jobs/0123456789abcdef").status_code == 404
        (tmp_path / "0123456789abcdef.json").write_text("{")
        assert server.client.get("/jobs/0123456789abcdef").status_code == 404
        server.client.delete(f"/jobs/{job['id']}")
        assert not (tmp_path / f"{job['id']}.json").exists()


def test_what_was_changed_to_go_on_is_kept(server: Served, tmp_path: Path) -> None:
    with server.limited(tmp_path):
        first = server.solved(time=0.2)
        answer = server.post(f"/jobs/{first['id']}/continue", {"time": 0.2, "objective": "distance=2"})
        second = server.wait(answer["id"])
        assert second["best"]["cost"] == 2 * first["best"]["cost"]
        server.until(lambda: (tmp_path / f"{second['id']}.json").exists())
        for _ in range(2):
            table = server.get(f"/jobs/{second['id']}/timetable")
            assert table["cost"] == second["best"]["cost"]
            server.jobs._jobs.clear()
        server.get(f"/jobs/{second['id']}")
        kept = server.jobs._jobs[second["id"]]
        assert kept.changes == {"time": 0.2, "objective": "distance=2"}
        assert kept.start is not None
        third = server.wait(server.post(f"/jobs/{second['id']}/continue")["id"])
        assert third["options"]["objective"] == "distance=2"


def test_downloads_are_not_waited_for_without_end(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    job = server.solved(time=0.1)["id"]
    monkeypatch.setattr(asking, "MOST_MADE", 3)

    def ask(_: int) -> int:
        return httpx.get(f"{server.address}/jobs/{job}/download/svg", timeout=60).status_code

    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(ask, range(12)))
    assert {*answers} == {200, 429}
    assert answers.count(200) >= 3
    assert ask(0) == 200


def test_a_process_that_gives_no_sign_is_ended(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    job = server.begin(time=30)
    server.until(lambda: server.get(f"/jobs/{job}")["best"])
    monkeypatch.setattr(jobs_module, "SILENT_SECONDS", 1.5)
    os.kill(server.process(job), signal.SIGSTOP)
    assert server.wait(job)["error"] == "the process of this search gave no sign for 1.5 s."


def test_trying_out_pairs_of_operators_may_take_its_time() -> None:
    job = Job("solve", b"")
    job.options = {"selector": "best-fixed", "time": 600.0}
    assert jobs_module._loading_seconds(job) == jobs_module.LOADING_SECONDS + 120
    job.options["selector"] = "auto"
    assert jobs_module._loading_seconds(job) == jobs_module.LOADING_SECONDS


def test_fifty_at_once_are_answered_or_told_to_wait(server: Served) -> None:
    with server.limited(jobs=4, waiting=20):

        def ask(number: int) -> int:
            body = {"instance": NAMED, "options": {"time": 5, "iterations": 50, "seed": number}}
            return httpx.post(f"{server.address}/jobs", json=body, timeout=60).status_code

        with ThreadPoolExecutor(50) as pool:
            answers = list(pool.map(ask, range(50)))
        assert set(answers) <= {201, 429}
        assert answers.count(201) >= 24
        server.until(lambda: all(job["state"] == "done" for job in server.get("/jobs")), 120)
        assert len(server.get("/jobs")) == answers.count(201)


@pytest.mark.parametrize("name", ["bytes", "seconds", "jobs", "memory"])
def test_limits_must_be_above_nothing(name: str) -> None:
    with pytest.raises(ValueError, match=rf"limit {name} 0 must be above 0\."):
        Limits(**{name: 0})  # type: ignore[arg-type]


def test_limits_must_be_numbers_that_go_together() -> None:
    with pytest.raises(ValueError, match=r"limit seconds inf is too large\."):
        Limits(seconds=float("inf"))
    with pytest.raises(ValueError, match=r"limit memory nan must be above 0\."):
        Limits(memory=float("nan"))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"limit default_seconds 10 must not be above limit seconds 5\."):
        Limits(seconds=5.0)


def test_without_fork_processes_are_started_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(START, "spawn")
    with serving(Limits(jobs=2)) as server:
        found = server.solved(iterations=500, seed=1, workers=2)
        assert (found["state"], found["result"]["cost"]) == ("done", 375)
        refused = server.client.post("/jobs", json={"instance": {"name": "nothing"}})
        assert refused.status_code == 422
        victim, other = server.begin(time=30), server.begin(time=30)
        server.until(lambda: server.get(f"/jobs/{victim}")["best"])
        os.kill(server.process(victim), signal.SIGKILL)
        assert server.wait(victim)["error"] == "the process of this search ended unexpectedly (signal 9)."
        assert server.post(f"/jobs/{other}/stop") is not None
        assert server.wait(other)["state"] == "stopped"
        process = server.process(server.begin(time=30))
    end = time.monotonic() + 10
    while is_running(process):
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_process_that_cannot_load_refuses_the_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(START, "spawn")
    monkeypatch.setattr(children, "WORKER", "neuralns.studio.nothing")
    with serving() as server:
        answer = server.client.post("/jobs", json={"instance": NAMED})
        assert (answer.status_code, answer.json()["error"]) == (
            422,
            "the process that read the request ended unexpectedly.",
        )
