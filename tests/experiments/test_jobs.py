"""Jobs: names from their content, results kept as they come, and runs that go on whatever dies on the way."""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import chores
from chores import Here, begun, chore
from clusters import Cluster, wait_until
from neuralns import InputError, __version__
from neuralns.experiments import jobs as module
from neuralns.experiments.executors import ProcessPool, cluster
from neuralns.experiments.jobs import ATTEMPTS, Done, Failure, Job, JobStore, run_jobs, timed

PLAIN = st.recursive(
    st.integers() | st.text(max_size=5) | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
SETTINGS = st.dictionaries(st.text(max_size=3), PLAIN, max_size=4)
CONDITIONS = {"quick": True, "seeds": 2}


def backwards(value: Any) -> Any:
    """The same content with the keys of all mappings in the other order."""
    if isinstance(value, dict):
        return {key: backwards(value[key]) for key in reversed(value)}
    return [backwards(entry) for entry in value] if isinstance(value, list) else value


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "jobs.jsonl"


@pytest.fixture
def store(path: Path) -> Iterator[JobStore]:
    with JobStore(path, CONDITIONS) as opened:
        yield opened


# --- Names. ----------------------------------------------------------------------------------------------------------


@given(SETTINGS)
def test_a_name_does_not_depend_on_the_order_of_keys(settings: dict[str, Any]) -> None:
    assert Job("dqn", settings).name == Job("dqn", backwards(settings)).name


@given(SETTINGS, SETTINGS)
def test_jobs_have_the_same_name_if_and_only_if_they_are_the_same(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert (Job("dqn", one).name == Job("dqn", other).name) == (one == other)
    assert Job("gat", one).name != Job("dqn", one).name


def test_tuples_are_lists_as_in_the_file() -> None:
    assert Job("dqn", {"seeds": (0, 1)}).name == Job("dqn", {"seeds": [0, 1]}).name


def test_names_are_the_same_in_every_process_and_for_ever() -> None:
    # A run goes on where an earlier one was, so that a name must never change.
    name = "dqn-49443fd431113e3f"
    job = {"instance": "C", "seeds": [0, 1], "config": {"share": 0.01, "network": "mlp"}}
    assert Job("dqn", job).name == name
    code = f"from neuralns.experiments.jobs import Job; print(Job('dqn', {job!r}).name)"
    for seed in "12":
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout == f"{name}\n"


# --- Results in a file. ----------------------------------------------------------------------------------------------


def filled(path: Path, count: int = 4) -> list[Job]:
    """Write results of so many jobs and a call."""
    jobs = [Job("dqn", {"number": number, "name": "é" * number}) for number in range(count)]
    with JobStore(path, CONDITIONS) as store:
        for job in jobs:
            store.add(job, Done({"mdp": {"DQN": [1.25, float(job.settings["number"])]}}, 1.23456, 0.5))
        store.add_call({"workers": 2})
    return jobs


def test_a_result_is_on_disk_as_soon_as_it_is_added(path: Path, store: JobStore) -> None:
    for number in range(3):
        job = Job("dqn", {"number": number})
        store.add(job, Done([number], 1.0, 0.5))
        lines = path.read_text().splitlines()
        assert len(lines) == number + 2
        assert json.loads(lines[-1])["job"] == job.name
        assert JobStore(path, CONDITIONS).done == store.done


def test_results_read_again_are_the_same(path: Path) -> None:
    jobs = filled(path)
    content = path.read_bytes()
    again = JobStore(path, CONDITIONS)
    assert list(again.done) == [job.name for job in jobs]
    assert again.done[jobs[2].name] == Done({"mdp": {"DQN": [1.25, 2.0]}}, 1.235, 0.5)
    assert again.calls == [{"workers": 2}]
    assert path.read_bytes() == content


def test_lines_say_what_was_done_where_and_how_long_it_took(path: Path, store: JobStore) -> None:
    job = Job("dqn", {"instance": "C"})
    store.add(job, Done([0.5], 1.23456, 0.98765))
    store.add_call({"workers": 2})
    head, line, call = map(json.loads, path.read_text().splitlines())
    assert head == {"neuralns": __version__, "format": 1, **CONDITIONS}
    assert line == {
        "job": job.name, "settings": {"instance": "C"}, "seconds": 1.235, "processor": 0.988, "result": [0.5]
    }  # fmt: skip
    assert call == {"call": {"workers": 2}}


def test_what_a_killed_run_left_half_written_is_cut_off_wherever_it_was_cut(path: Path) -> None:
    jobs = filled(path, 3)
    content = path.read_bytes()
    ends = [place + 1 for place, byte in enumerate(content) if byte == ord("\n")]
    for cut in range(len(content)):
        path.write_bytes(content[:cut])
        store = JobStore(path, CONDITIONS)
        whole = sum(end <= cut for end in ends)
        assert list(store.done) == [job.name for job in jobs][: max(0, whole - 1)]
        # Reading leaves the file alone.
        assert path.read_bytes() == content[:cut]
        if cut % 7 == 0 or any(abs(cut - end) <= 1 for end in ends):
            with store:
                for job in jobs:
                    if job.name not in store.done:
                        store.add(job, Done({"mdp": {"DQN": [1.25, float(job.settings["number"])]}}, 1.23456, 0.5))
                store.add_call({"workers": 2})
            assert path.read_bytes() == content


def test_an_empty_file_has_no_results(path: Path) -> None:
    path.touch()
    assert JobStore(path, CONDITIONS).done == {}
    filled(path)
    assert len(JobStore(path, CONDITIONS).done) == 4


@pytest.mark.parametrize(
    ("conditions", "sentence"),
    [
        ({"quick": False, "seeds": 2}, "holds results with quick True, but now it is False; choose another folder"),
        ({"quick": True, "seeds": 3}, "holds results with seeds 2, but now it is 3; choose another folder with --out."),
    ],
)
def test_results_under_other_conditions_are_refused(path: Path, conditions: dict[str, Any], sentence: str) -> None:
    filled(path)
    content = path.read_bytes()
    with pytest.raises(InputError, match=f"^{re.escape(f'{path}: {sentence}')}"):
        JobStore(path, conditions)
    assert path.read_bytes() == content


def test_results_of_another_version_are_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(path)
    content = path.read_bytes()
    version = __version__
    monkeypatch.setattr(module, "__version__", "99.1")
    sentence = f"{path}: holds results with neuralns {version}, but now it is 99.1; choose another folder with --out."
    with pytest.raises(InputError, match=f"^{re.escape(sentence)}$"):
        JobStore(path, CONDITIONS)
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    ("line", "number"),
    [
        (b"hello", 1),
        (b"hello\n", 1),
        (b"\n", 1),
        (b"[]\n", 1),
        (b"{}\n", 1),
        (b"\xff\xfe\n", 1),
        (b'{"neuralns": \n', 1),
        (b"[" * 100_000 + b"\n", 1),
        (b"HEADhello\n", 2),
        (b"HEAD\n", 2),
        (b"HEAD7\n", 2),
        (b'HEAD"call"\n', 2),
        (b'HEAD{"job": "a", "seconds": 1}\n', 2),
        (b'HEAD{"job": ["a"], "seconds": 1, "processor": 1, "result": 1}\n', 2),
        (b'HEAD{"call": {}}\n\x00\x00\n', 3),
    ],
)
def test_a_file_that_is_no_store_is_refused(path: Path, line: bytes, number: int) -> None:
    with JobStore(path, CONDITIONS) as store:
        store.add_call({})
    head = path.read_bytes().splitlines(keepends=True)[0]
    content = line.replace(b"HEAD", head)
    path.write_bytes(content)
    with pytest.raises(InputError, match=rf"^{re.escape(str(path))}, line {number}: is not a result of neuralns\.$"):
        JobStore(path, CONDITIONS)
    assert path.read_bytes() == content


def test_a_store_that_cannot_be_read_or_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=rf"^{re.escape(str(tmp_path))}: cannot be read \(Is a directory\)\.$"):
        JobStore(tmp_path, CONDITIONS)
    path = tmp_path / "absent" / "jobs.jsonl"
    store = JobStore(path, CONDITIONS)
    with (
        pytest.raises(InputError, match=rf"^{re.escape(str(path))}: cannot be written \(No such file or directory\)"),
        store,
    ):
        store.add(Job("dqn", {}), Done(1, 1.0, 1.0))
    assert store.done == {}


def test_a_line_that_a_full_disk_cut_is_written_over(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = filled(path)
    content = path.read_bytes()

    def full(descriptor: int) -> None:
        os.truncate(path, len(content) + 9)
        raise OSError(28, "No space left on device")

    more = Job("gat", {})
    with JobStore(path, CONDITIONS) as store:
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", full)
            with pytest.raises(InputError, match=r"jobs\.jsonl: cannot be written \(No space left on device\)\.$"):
                store.add(more, Done(1, 1.0, 1.0))
        assert len(path.read_bytes()) == len(content) + 9
        assert list(store.done) == list(JobStore(path, CONDITIONS).done) == [job.name for job in jobs]
        store.add(more, Done(1, 1.0, 1.0))
    assert path.read_bytes().startswith(content)
    assert JobStore(path, CONDITIONS).done == store.done
    assert len(store.done) == 5


def test_a_result_that_was_written_when_ctrl_c_came_is_kept_whole(
    path: Path, store: JobStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(descriptor: int) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", interrupted)
        with pytest.raises(KeyboardInterrupt):
            store.add(Job("dqn", {}), Done(1, 1.0, 1.0))
    assert len(store.done) == 1
    store.add_call({"workers": 2})
    again = JobStore(path, CONDITIONS)
    assert (list(again.done), again.calls) == ([Job("dqn", {}).name], [{"workers": 2}])


def test_two_runs_do_not_write_to_one_file(path: Path, store: JobStore) -> None:
    store.add(Job("dqn", {}), Done(1, 1.0, 1.0))
    content = path.read_bytes()
    sentence = r"jobs\.jsonl: is being written to by another run; let that one end first\.$"
    with pytest.raises(InputError, match=sentence), JobStore(path, CONDITIONS):
        pass
    assert path.read_bytes() == content
    store.add(Job("gat", {}), Done(1, 1.0, 1.0))
    assert len(JobStore(path, CONDITIONS).done) == 2


def test_what_another_run_did_meanwhile_is_not_done_again(path: Path) -> None:
    early = JobStore(path, CONDITIONS)
    jobs = filled(path)
    assert early.done == {}
    with early:
        assert list(early.done) == [job.name for job in jobs]
        assert early.results == {name: done.result for name, done in early.done.items()}


# --- Runs, in this process. ------------------------------------------------------------------------------------------


def test_all_jobs_are_done_once_in_their_order_and_told_of_when_kept(
    tmp_path: Path, path: Path, store: JobStore
) -> None:
    jobs = [chore(tmp_path, number) for number in (3, 1, 2)]
    told: list[tuple[Job, Any]] = []

    def notify(job: Job, outcome: Done | Failure) -> None:
        assert isinstance(outcome, Done)
        assert JobStore(path, CONDITIONS).done[job.name].result == outcome.result
        told.append((job, outcome.result))

    # A job that is asked for twice is done once.
    assert run_jobs(chores.work, [*jobs, chore(tmp_path, 1)], store, Here, 1, notify) == []
    assert told == [(jobs[0], {"square": 9}), (jobs[1], {"square": 1}), (jobs[2], {"square": 4})]
    assert [begun(tmp_path, number) for number in (1, 2, 3)] == [1, 1, 1]


def test_only_what_is_missing_is_done(tmp_path: Path, path: Path) -> None:
    jobs = [chore(tmp_path, number) for number in range(4)]
    with JobStore(path, CONDITIONS) as store:
        run_jobs(chores.work, jobs[:2], store, Here)
    with JobStore(path, CONDITIONS) as store:
        run_jobs(chores.work, jobs, store, Here)
    assert [begun(tmp_path, number) for number in range(4)] == [1, 1, 1, 1]
    content = path.read_bytes()

    def refuse() -> Executor:
        raise AssertionError("nothing is to be done")

    assert run_jobs(chores.work, jobs, JobStore(path, CONDITIONS), refuse) == []
    assert path.read_bytes() == content


def test_a_job_that_fails_every_time_is_reported_and_stops_no_other(tmp_path: Path, store: JobStore) -> None:
    bad = chore(tmp_path, 7, "fail")
    good = [chore(tmp_path, number) for number in range(3)]
    told: list[tuple[Job, Any]] = []
    found = run_jobs(chores.work, [bad, *good], store, Here, 2, lambda *news: told.append(news))
    assert found == [Failure(bad, "ValueError: no luck with 7")]
    assert set(store.done) == {job.name for job in good}
    assert begun(tmp_path, 7) == ATTEMPTS == 3
    assert [outcome for job, outcome in told if job == bad] == found
    assert len(told) == 4
    # Another run tries again.
    assert run_jobs(chores.work, [bad, *good], store, Here) == found
    assert begun(tmp_path, 7) == 2 * ATTEMPTS


def test_a_job_that_goes_well_the_second_time_is_done(tmp_path: Path, store: JobStore) -> None:
    job = chore(tmp_path, 5, "moody")
    assert run_jobs(chores.work, [job], store, Here) == []
    assert store.done[job.name].result == {"square": 25}
    assert begun(tmp_path, 5) == 2


def test_no_more_jobs_are_handed_out_than_the_window_is_wide(tmp_path: Path, store: JobStore) -> None:
    class Slow(Executor):
        """Does a job only when no other is handed out."""

        def __init__(self) -> None:
            self.under_way: list[Future[Any]] = []
            self.widest = 0

        def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
            future: Future[Any] = Future()
            self.under_way.append(future)
            self.widest = max(self.widest, sum(not future.done() for future in self.under_way))
            if len(self.under_way) % 3 == 0 or len(self.under_way) > 9:
                for waiting in self.under_way:
                    if not waiting.done():
                        waiting.set_result((1, 0.1, 0.1))
            return future

    executor = Slow()
    jobs = [chore(tmp_path, number) for number in range(9)]
    assert run_jobs(chores.work, jobs, store, lambda: executor, 3) == []
    assert executor.widest <= 3
    assert len(store.done) == 9


def test_what_the_work_is_given_is_packed_when_its_turn_comes(tmp_path: Path, store: JobStore) -> None:
    jobs = [chore(tmp_path, number) for number in range(4)]
    told: list[tuple[Job, Done | Failure]] = []

    def pack(job: Job) -> dict[str, Any]:
        number = job.settings["number"]
        if number == 2:
            raise InputError("2 cannot be read.")
        assert len(told) == number  # one at a time
        return {**job.settings, "number": number + 10}

    found = run_jobs(chores.work, jobs, store, Here, 1, lambda *news: told.append(news), pack)
    assert found == [Failure(jobs[2], "2 cannot be read.")]
    assert [(job, end.result["square"]) for job, end in told if isinstance(end, Done)] == [
        (jobs[0], 100), (jobs[1], 121), (jobs[3], 169)
    ]  # fmt: skip
    assert told[2] == (jobs[2], found[0])


def test_jobs_are_timed() -> None:
    result, seconds, processor = timed(chores.nap, "nap", {"seconds": 0.2})
    assert result == "nap"
    assert 0.2 <= seconds < 2
    assert processor < 0.1


# --- Runs, with processes. -------------------------------------------------------------------------------------------


@pytest.fixture
def pools() -> Iterator[Callable[[], Executor]]:
    """Opens pools of two processes; in the end none of these is left."""
    opened: list[ProcessPool] = []

    def pool() -> Executor:
        opened.append(ProcessPool(2))
        return opened[-1]

    yield pool
    processes = {number: process for pool in opened for number, process in pool._processes.items()}
    assert processes
    wait_until(lambda: not any(process.is_alive() for process in processes.values()), 10)
    assert not set(processes) & {child.pid for child in multiprocessing.active_children()}


def test_processes_do_jobs_side_by_side_and_the_same_as_here(
    tmp_path: Path, store: JobStore, pools: Callable[[], Executor]
) -> None:
    jobs = [*(chore(tmp_path, number) for number in range(6)), chore(tmp_path, 6, "moody"), chore(tmp_path, 7, "fail")]
    assert run_jobs(chores.work, jobs, store, pools, 2) == [Failure(jobs[7], "ValueError: no luck with 7")]
    assert {job.name: job.settings["number"] ** 2 for job in jobs[:7]} == {
        name: done.result["square"] for name, done in store.done.items()
    }
    assert [begun(tmp_path, number) for number in range(8)] == [1, 1, 1, 1, 1, 1, 2, 3]


@pytest.mark.parametrize("kind", ["exit", "kill"])
def test_a_job_that_kills_its_process_is_reported_and_all_others_are_done(
    tmp_path: Path, store: JobStore, pools: Callable[[], Executor], kind: str
) -> None:
    killer = chore(tmp_path, 2, kind, beside=1)
    beside = chore(tmp_path, 1, "slow", seconds=3)
    jobs = [chore(tmp_path, 0), beside, killer, *(chore(tmp_path, number) for number in range(3, 7))]
    told: list[Job] = []
    (failure,) = run_jobs(chores.work, jobs, store, pools, 2, lambda job, outcome: told.append(job))
    assert failure.job == killer
    how = {"exit": "ended with exit code 3", "kill": "was killed by signal 9 (perhaps for want of memory)"}[kind]
    assert failure.reason == f"the process that did it {how}."
    assert set(store.done) == {job.name for job in jobs if job is not killer}
    assert sorted(job.settings["number"] for job in told) == list(range(7))
    assert begun(tmp_path, 2) == ATTEMPTS
    # The one that was beside it went on.
    assert begun(tmp_path, 1) == 1


def test_an_interrupted_run_keeps_what_is_done_and_leaves_no_process_behind(
    tmp_path: Path, path: Path, store: JobStore, pools: Callable[[], Executor]
) -> None:
    jobs = [chore(tmp_path, 0), chore(tmp_path, 1), *(chore(tmp_path, n, "slow", seconds=60) for n in range(2, 6))]
    told: list[Job] = []

    def notify(job: Job, outcome: Done | Failure) -> None:
        told.append(job)
        if len(told) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_jobs(chores.work, jobs, store, pools, 2, notify)
    assert set(JobStore(path, CONDITIONS).done) == {job.name for job in told} == {job.name for job in jobs[:2]}


# --- Runs, on a cluster. ---------------------------------------------------------------------------------------------


def test_a_cluster_does_what_processes_do_though_a_worker_dies(tmp_path: Path, path: Path, store: JobStore) -> None:
    jobs = [chore(tmp_path, number, "slow", seconds=0.1) for number in range(10)]
    jobs += [chore(tmp_path, 10, "moody"), chore(tmp_path, 11, "fail")]
    with Cluster(tmp_path, workers=2) as mine:

        def notify(job: Job, outcome: Done | Failure) -> None:
            if len(store.done) == 3:
                mine.kill(mine.workers[0])

        with cluster(mine.address) as executors:
            found = run_jobs(chores.work, jobs, store, executors, None, notify)
    assert found == [Failure(jobs[11], "ValueError: no luck with 11")]
    assert begun(tmp_path, 11) == ATTEMPTS
    results = {name: done.result["square"] for name, done in JobStore(path, CONDITIONS).done.items()}
    assert results == {job.name: job.settings["number"] ** 2 for job in jobs[:11]}


def test_an_interrupted_run_on_a_cluster_is_given_up_there_too(tmp_path: Path, path: Path, store: JobStore) -> None:
    jobs = [chore(tmp_path, 0), *(chore(tmp_path, number, "slow", seconds=0.5) for number in range(1, 30))]

    def notify(job: Job, outcome: Done | Failure) -> None:
        raise KeyboardInterrupt

    with Cluster(tmp_path, workers=1) as mine:
        with cluster(mine.address) as executors, pytest.raises(KeyboardInterrupt):
            run_jobs(chores.work, jobs, store, executors, None, notify)
        assert len(JobStore(path, CONDITIONS).done) == 1
        before = len(list(tmp_path.glob("begun-*")))
        # The same cluster takes other work at once.
        with cluster(mine.address) as executors:
            assert run_jobs(chores.work, [chore(tmp_path, 99)], store, executors) == []
        assert len(list(tmp_path.glob("begun-*"))) <= before + 2


def test_losing_the_cluster_loses_no_result(tmp_path: Path, path: Path, store: JobStore) -> None:
    jobs = [chore(tmp_path, number, "slow", seconds=0.1) for number in range(10)]
    with Cluster(tmp_path, workers=1) as mine:

        def notify(job: Job, outcome: Done | Failure) -> None:
            if len(store.done) == 2:
                mine.kill(mine.scheduler)

        sentence = r"^the cluster has been lost; results so far are kept, and the same command goes on from there\.$"
        with pytest.raises(InputError, match=sentence), cluster(mine.address) as executors:
            run_jobs(chores.work, jobs, store, executors, None, notify)
    assert 2 <= len(JobStore(path, CONDITIONS).done) < 10
    assert run_jobs(chores.work, jobs, store, Here) == []
    assert len(JobStore(path, CONDITIONS).done) == 10
