"""Jobs: their processes, the queue, and what becomes of them."""

from __future__ import annotations

import asyncio
import json
import math
import os
import signal
import stat
import threading
import time
import tracemalloc
import warnings
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from helpers import is_running
from neuralns import InputWarning
from neuralns.search.parallel import START
from neuralns.studio import jobs as jobs_module
from neuralns.studio import processes, tasks
from neuralns.studio.job import Job, read_job
from neuralns.studio.jobs import Jobs
from neuralns.studio.limits import Limits
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


def test_those_in_line_have_no_process(server: Served) -> None:
    with server.limited(jobs=1, waiting=5):
        jobs = [server.begin(time=20) for _ in range(4)]
        starter: Any = server.jobs.starter
        server.until(lambda: len(starter._processes) <= 1, 20)
        assert [server.jobs._jobs[job].process is None for job in jobs] == [False, True, True, True]
        # What is wrong with a request is told at once all the same, and what it is called.
        assert server.client.post("/jobs", json={"instance": {"name": "none"}}).status_code == 422
        assert server.get(f"/jobs/{jobs[3]}")["name"] == "E-n22-k4"
        for job in jobs[:3]:
            server.client.delete(f"/jobs/{job}")
        server.wait(jobs[3], "running")
        server.client.delete(f"/jobs/{jobs[3]}")


def test_nobody_takes_all_places(server: Served) -> None:
    with server.limited(jobs=1, waiting=5, client_jobs=2):
        jobs = [server.begin(time=20) for _ in range(2)]
        refused = server.client.post("/jobs", json={"instance": NAMED})
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "5")
        assert refused.json()["error"].startswith("2 searches of this client run or wait")
        assert server.client.post("/", content=b"{}").status_code == 429
        server.until(lambda: server.get(f"/jobs/{jobs[0]}")["best"])
        assert server.client.post(f"/jobs/{jobs[0]}/continue", json={}).status_code == 429
        other = {"X-Forwarded-For": "192.0.2.7"}
        taken = server.client.post("/jobs", json={"instance": NAMED, "options": {"time": 20}}, headers=other)
        assert taken.status_code == 201
        for job in (*jobs, taken.json()["id"]):
            server.client.delete(f"/jobs/{job}")


def test_a_pause_is_no_place_for_ever(server: Served) -> None:
    with server.limited(jobs=1, waiting=2, pause_seconds=0.5):
        first = server.begin(time=30)
        server.until(lambda: server.get(f"/jobs/{first}")["best"])
        server.post(f"/jobs/{first}/pause")
        server.wait(first, "paused")
        # As long as nobody waits, it stands still.
        time.sleep(2.5)
        assert server.get(f"/jobs/{first}")["state"] == "paused"
        second = server.begin(time=30)
        ended = server.wait(first)
        assert (ended["state"], ended["notes"]) == (
            "stopped",
            ["it was ended after 0.5 s of pause in which others waited."],
        )
        assert ended["best"]["routes"]
        server.wait(second, "running")
        server.client.delete(f"/jobs/{second}")


def test_what_takes_long_is_done_beside_all_else(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    long = 1_000_000
    seen: list[int] = []

    def noting(work: Callable[..., bytes]) -> Callable[..., bytes]:
        def noted(content: bytes, *more: Any) -> bytes:
            found = work(content, *more)
            if max(len(content), len(found)) >= long:
                seen.append(threading.get_ident())
            return found

        return noted

    async def own() -> int:
        return threading.get_ident()

    with monkeypatch.context() as patched:
        for name in ("compress", "decompress"):
            patched.setattr(zlib, name, noting(getattr(zlib, name)))
        body = {"instance": NAMED, "options": {"iterations": 20}}
        with server.limited(jobs=1):
            answer = server.client.post("/jobs", content=json.dumps(body) + " " * long)
            server.wait(answer.json()["id"])
            assert server.client.get(f"/jobs/{answer.json()['id']}/download/sol").status_code == 200
            server.wait(server.post(f"/jobs/{answer.json()['id']}/continue", {})["id"])
    assert len(seen) >= 4
    assert asyncio.run_coroutine_threadsafe(own(), server.loop).result() not in seen


def test_memory_is_counted_as_it_is() -> None:
    def best(index: int) -> Any:
        routes = [list(range(300 + index, 400 + index)) for _ in range(100)]
        content = {"index": index, "time": 1.0, "iteration": index, "cost": 1.0, "routes": routes}
        return json.loads(json.dumps(content | {"vehicles": [0] * 100, "unserved": [], "skipped": [], "count": 100}))

    async def made() -> Job:
        job = Job("solve")
        for index in range(20):
            job.take_best(best(index))
        for index in range(500):
            job.progress = {"time": index / 7, "uses": {f"operator {each}": index for each in range(10)}}
            job.events.add("progress", job.progress)
        job.result = best(99)
        return job

    asyncio.run(made())
    tracemalloc.start()
    try:
        job = asyncio.run(made())
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert 0.8 * taken < job.bytes < 1.3 * taken


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


def test_another_fork_server_comes_when_one_is_lost_and_no_process_outlives_the_server() -> None:
    with serving(Limits(jobs=2)) as server:
        job = server.begin(time=30)
        lost = server.process(job)
        fork_server = server.jobs.starter._fork_server  # type: ignore[attr-defined]
        assert fork_server is not None
        fork_server.kill()
        assert server.wait(job)["state"] == "failed"
        server.until(lambda: not is_running(lost))
        processes = [server.process(server.begin(time=30)) for _ in range(2)]
        fork_server = server.jobs.starter._fork_server  # type: ignore[attr-defined]
        assert fork_server is not None
    end = time.monotonic() + 10
    while any(map(is_running, (*processes, fork_server.pid))):
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
        assert again == job | {"kept": True}
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


def kept_job(server: Served, folder: Path) -> dict[str, Any]:
    """Run a job that is kept; return what its file says."""
    job = server.solved(iterations=20)
    server.until(lambda: server.get(f"/jobs/{job['id']}")["kept"])
    found: dict[str, Any] = json.loads((folder / f"{job['id']}.json").read_text())
    return found


def test_nobody_else_may_read_what_is_kept(server: Served, tmp_path: Path) -> None:
    with server.limited(tmp_path):
        path = tmp_path / f"{kept_job(server, tmp_path)['id']}.json"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_what_cannot_be_kept_is_told(server: Served, tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    with server.limited(folder), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        job = server.solved(iterations=20)
        assert job["state"] == "done"
        server.until(lambda: server.get(f"/jobs/{job['id']}")["kept"] is not None)
        found = server.get(f"/jobs/{job['id']}")
        assert found["kept"] is False
        assert found["notes"][-1].startswith(f"this search is not kept: {folder}/{job['id']}.json: cannot be written (")
        assert f"{folder}/{job['id']}.json: cannot be written (" in str(told[-1].message)
        # It is written when the server ends, if that can be done by then.
        folder.mkdir()
        server.jobs._jobs[job["id"]].write(folder)
        again = read_job(folder, job["id"])
        assert again is not None
        assert again.description()["notes"] == []


def test_an_id_is_no_path(server: Served, tmp_path: Path) -> None:
    folder, victim = tmp_path / "kept", tmp_path / "victim.json"
    folder.mkdir()
    victim.write_text("{}")
    with server.limited(folder):
        content = kept_job(server, folder)
        (folder / "0123456789abcdef.json").write_text(json.dumps(content | {"id": "../victim"}))
        server.jobs._jobs.clear()
        assert server.client.delete("/jobs/0123456789abcdef").status_code == 404
        assert victim.exists()
        with pytest.warns(InputWarning, match=r"0123456789abcdef\.json: .* \(its id is not its name\)"):
            server.jobs.recall()
        assert {*server.jobs._jobs} == {content["id"]}


def damaged(content: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield texts that are not those of a kept job, and why not."""
    yield "[" * 100_000, "nested too deeply"
    yield "[]", "not an object"
    yield "{}", "is missing"
    yield "\ud800", "can't decode"
    for key, value, words in (
        ("notes", 1, "notes is of another type"),
        ("created", "now", "created is of another type"),
        ("created", math.nan, "NaN is no number"),
        ("created", 10**400, "created is no time"),
        ("state", "running", "it has not ended"),
        ("kind", "vroom", "it has not ended"),
        ("options", None, "options is of another type"),
        ("best", {}, "is missing"),
        ("best", content["best"] | {"routes": [["x"]]}, "not a whole number"),
        ("best", content["best"] | {"cost": "x"}, "its cost is no number"),
        ("body", "AAAA", "while decompressing"),
        ("trace", 5, ""),
        ("instance", content["instance"][:40], "cut off"),
        ("improvements", [{}], "is missing"),
        ("events", [[1, "state", "a\n\nevent: done"]], "several lines"),
        ("events", 5, ""),
        ("surprise", [1], ""),
    ):
        yield json.dumps(content | {key: value}), words


def test_nothing_that_is_damaged_keeps_a_server_from_starting(server: Served, tmp_path: Path) -> None:
    with server.limited(tmp_path):
        content = kept_job(server, tmp_path)
        damages = list(damaged(content | {"id": "0123456789abcdef"}))
        path = tmp_path / "0123456789abcdef.json"
        for text, words in damages:
            path.write_bytes(text.encode("utf-8", "surrogatepass"))
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                server.jobs._jobs.clear()
                server.jobs.recall()
            if "surprise" in text:
                assert not hasattr(server.jobs._jobs.pop(path.stem), "surprise")
            else:
                assert [str(each.message) for each in told if f"{path}: is not a job" in str(each.message)], text[:200]
                assert words in str(told[-1].message)
            assert {*server.jobs._jobs} == {content["id"]}
            assert path.exists()


@pytest.mark.parametrize("make", [lambda path: path.symlink_to("nowhere"), os.mkfifo, os.mkdir])
def test_what_is_no_file_keeps_no_server_from_starting(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "0123456789abcdef.json")
    with pytest.warns(InputWarning, match=r"0123456789abcdef\.json: .* \(it is not a plain file\)"):
        Jobs(Limits(), tmp_path).recall()


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
    monkeypatch.setattr(tasks, "MOST_PENDING", 3)

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
    job = Job("solve")
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
    monkeypatch.setattr(processes, "TASK_RUNNER", "neuralns.studio.nothing")
    with serving() as server:
        answer = server.client.post("/jobs", json={"instance": NAMED})
        assert (answer.status_code, answer.json()["error"]) == (
            422,
            "the process that read the request ended unexpectedly.",
        )
