"""The paper's experiments from one call: nothing is done twice or lost, and who does the jobs makes no difference."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import chores
from chores import Here
from clusters import Cluster
from neuralns import InputError
from neuralns.experiments.jobs import Done, Failure, Job, JobStore, Stopped
from neuralns.experiments.machine import cores, machine
from neuralns.reproduction import reproduce as module
from neuralns.reproduction.folder import JOBS, REPORTS, TABLES, open_folder, write_tables
from neuralns.reproduction.plan import EXPERIMENTS, FULL, QUICK
from neuralns.reproduction.reproduce import Reproduced, reproduce, run_experiments
from neuralns.reproduction.rounds import choose, main_jobs, tuning_jobs
from neuralns.reproduction.tables import make_tables
from neuralns.reproduction.work import work as real_work
from plans import REAL, SMALLEST
from results import contents

# --- The course of a run; jobs are done at once and give made-up results. --------------------------------------------


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "work", chores.made_up)
    monkeypatch.setattr(module, "ProcessPool", lambda workers: Here())


def run(folder: Path, experiments: tuple[str, ...] = EXPERIMENTS, **options: Any) -> Reproduced:
    with open_folder(folder, QUICK, True) as store:
        return run_experiments(experiments, QUICK, store, **options)


@pytest.mark.usefixtures("played")
def test_all_jobs_are_done_told_of_and_made_into_tables(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    found = run(tmp_path, notify=lambda job, end, done, total: told.append((job.name, done, total)))
    total = len(tuning_jobs(EXPERIMENTS, QUICK)) + len(main_jobs(EXPERIMENTS, QUICK, None))
    assert [line[1:] for line in told] == [(number, total) for number in range(1, total + 1)]
    assert [name for name, _, _ in told] == list(found.store.done)
    assert (found.total, found.failures) == (total, ())
    assert found.seconds > 0
    assert found.tables == make_tables(EXPERIMENTS, QUICK, JobStore(tmp_path / JOBS, found_conditions()).results)
    # The second round has the choices of the first.
    choices, _ = choose(EXPERIMENTS, QUICK, found.store.results)
    jobs = [*tuning_jobs(EXPERIMENTS, QUICK), *main_jobs(EXPERIMENTS, QUICK, choices)]
    assert set(found.store.done) == {job.name for job in jobs}


def found_conditions() -> dict[str, Any]:
    return {"quick": True, "seeds": QUICK.seeds}


@pytest.mark.usefixtures("played")
def test_a_second_call_does_nothing_and_finds_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = run(tmp_path)
    before = contents(tmp_path)

    def refuse(workers: int) -> None:
        raise AssertionError("nothing is to be done")

    monkeypatch.setattr(module, "ProcessPool", refuse)
    second = run(tmp_path)
    assert second.tables == first.tables
    assert contents(tmp_path) == before


@pytest.mark.usefixtures("played")
@pytest.mark.parametrize("after", [1, 13, 14, 15, 40, 88])
def test_a_run_that_is_stopped_goes_on_to_the_same_end(tmp_path: Path, after: int) -> None:
    whole = run(tmp_path / "whole")

    def stop(job: Job, end: Done | Failure, done: int, total: int) -> None:
        if done == after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "stopped", notify=stop)
    told: list[int] = []
    rest = run(tmp_path / "stopped", notify=lambda job, end, done, total: told.append(done))
    assert told == list(range(after + 1, whole.total + 1))
    assert rest.tables == whole.tables
    assert rest.store.results == whole.store.results
    assert [call["jobs"] for call in rest.store.calls] == [after, whole.total - after]


@pytest.mark.usefixtures("played")
def test_experiments_share_their_jobs(tmp_path: Path) -> None:
    done = [run(tmp_path, (name,)).store.calls for name in ("table1", "table2", "temperature", "scale")]
    # Table 2 and the temperatures are made from the jobs of table 1, and scale 4 is too.
    assert [len(calls) for calls in done] == [1, 1, 1, 2]
    assert done[-1][-1]["jobs"] == 2 * 2 * 3
    both = run(tmp_path)
    assert both.tables == run(tmp_path / "whole").tables


@pytest.mark.usefixtures("played")
def test_what_other_experiments_have_complete_stays_in_the_tables(tmp_path: Path) -> None:
    assert run(tmp_path, ("scale",)).tables.table1 == ()
    one = run(tmp_path, ("table1",)).tables
    assert [name.removesuffix(".csv") for name in TABLES if getattr(one, name.removesuffix(".csv"))] == [
        "table1", "table2", "scale", "temperature", "tuning",
    ]  # fmt: skip
    whole = run(tmp_path).tables
    assert run(tmp_path, ("scaling",)).tables == whole


@pytest.mark.usefixtures("played")
def test_a_call_says_who_did_how_much_and_where(tmp_path: Path) -> None:
    found = run(tmp_path, ("scale",), workers=3, command="neuralns reproduce scale")
    call = dict(found.store.calls[0])
    assert len(found.store.calls) == 1
    assert call.pop("seconds") >= 0
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", call.pop("date"))
    assert call == {
        "command": "neuralns reproduce scale", "workers": 3, "cluster": False, "device": "cpu", "jobs": found.total,
        "machine": machine(),
    }  # fmt: skip
    assert machine()["cores"] == cores() >= 1
    assert {"system", "processor", "python", "numpy", "numba", "torch", "neuralns"} <= set(machine())


@pytest.mark.parametrize(("kind", "left"), [("tune-wheels", 0), ("oracle", 3)])
@pytest.mark.usefixtures("played")
def test_failures_are_reported_and_tried_again_by_another_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, left: int
) -> None:
    def broken(name: str, settings: Any) -> Any:
        if name == kind and settings["instance"] == "R":
            raise ValueError("no luck")
        return chores.made_up(name, settings)

    with monkeypatch.context() as patch:
        patch.setattr(module, "work", broken)
        found = run(tmp_path)
    assert {(failure.job.kind, failure.job.settings["instance"]) for failure in found.failures} == {(kind, "R")}
    assert {failure.reason for failure in found.failures} == {"ValueError: no luck"}
    # Without all choices the second round cannot begin; in the second round the others go on.
    assert len(found.store.done) == (12 if left == 0 else found.total - len(found.failures))
    assert len({row.instance for row in found.tables.table1 if row.agent == "ORACLE"}) == (2 if left else 0)
    again = run(tmp_path)
    assert again.failures == ()
    assert again.tables == run(tmp_path / "whole").tables


# --- The one call. ---------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("played")
def test_one_call_leaves_tables_and_report_in_a_folder(tmp_path: Path) -> None:
    said: list[str] = []
    found = reproduce("scale", quick=True, workers=1, out=tmp_path / "mine", say=said.append)
    names = [str(path.relative_to(tmp_path / "mine")) for path in found.written]
    assert names == ["scale.csv", "tuning.csv", *REPORTS, "figures/scale-paper.png"]
    assert {*names, JOBS} == set(contents(tmp_path / "mine"))
    assert found.store.calls[0]["command"] == "neuralns reproduce scale --quick"
    assert (found.failures, said) == ((), [])
    again = reproduce("scale", quick=True, workers=1, out=str(tmp_path / "mine"))
    assert again.tables == found.tables
    assert again.written == found.written
    assert len(again.store.calls) == 1


@pytest.mark.usefixtures("played")
def test_seeds_may_be_named(tmp_path: Path) -> None:
    found = reproduce("scale", quick=True, seeds=[4, 1], workers=1, out=tmp_path)
    assert {row.seeds for row in found.tables.scale} == {2}
    assert found.store.calls[0]["command"] == "neuralns reproduce scale --quick with seeds 4, 1"
    with pytest.raises(InputError, match=r"holds results with seeds \[4, 1\], but now it is 2; choose another folder"):
        reproduce("scale", quick=True, workers=1, out=tmp_path)
    with pytest.raises(InputError, match=r"^0 seeds asked for; at least 1 is needed\.$"):
        reproduce("scale", quick=True, seeds=[], workers=1, out=tmp_path)


@pytest.mark.usefixtures("played")
def test_a_call_that_is_stopped_says_what_is_kept_and_another_goes_on(tmp_path: Path) -> None:
    def stop(job: Job, end: Done | Failure, done: int, total: int) -> None:
        if done == 5:
            raise KeyboardInterrupt

    sentence = f"stopped; 5 jobs are kept in {tmp_path / JOBS}. The same command goes on from there."
    with pytest.raises(Stopped, match=f"^{re.escape(sentence)}$"):
        reproduce("scale", quick=True, workers=1, out=tmp_path, notify=stop)
    assert sorted(contents(tmp_path)) == [JOBS]
    told: list[int] = []
    found = reproduce(
        "scale", quick=True, workers=1, out=tmp_path, notify=lambda job, end, done, total: told.append(done)
    )
    assert told == list(range(6, found.total + 1))


@pytest.mark.usefixtures("played")
def test_two_calls_do_not_write_to_one_folder(tmp_path: Path) -> None:
    def second(job: Job, end: Done | Failure, done: int, total: int) -> None:
        with pytest.raises(
            InputError, match=r"jobs\.jsonl: is being written to by another run; let that one end first"
        ):
            reproduce("scale", quick=True, workers=1, out=tmp_path)

    assert reproduce("scale", quick=True, workers=1, out=tmp_path, notify=second).failures == ()


RESULTS = Path(__file__).parents[2] / "results"


def test_the_results_in_the_repository_are_complete_and_make_its_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(workers: int) -> None:
        raise AssertionError("nothing is to be done")

    monkeypatch.setattr(module, "ProcessPool", refuse)
    shutil.copyfile(RESULTS / JOBS, tmp_path / JOBS)
    with open_folder(tmp_path, FULL, False) as store:
        found = run_experiments(EXPERIMENTS, FULL, store)
    assert found.total == len(store.done)
    assert (tmp_path / JOBS).read_bytes() == (RESULTS / JOBS).read_bytes()
    write_tables(found.tables, tmp_path)
    for name in TABLES:
        assert (tmp_path / name).read_bytes() == (RESULTS / name).read_bytes()


# --- Real jobs: by processes, by a cluster, with networks trained in one run. ----------------------------------------


def test_processes_do_what_is_done_here(by_processes: Reproduced) -> None:
    assert by_processes.failures == ()
    assert len(by_processes.store.done) == by_processes.total
    assert len(by_processes.tables.scale) == 3 * 4
    choices, _ = choose(REAL, SMALLEST, by_processes.store.results)
    jobs = {job.kind: job for job in main_jobs(REAL, SMALLEST, choices)}
    for job in (jobs["oracle"], jobs["dqn"]):
        assert by_processes.store.done[job.name].result == real_work(job.kind, job.settings)


def but_times(found: Reproduced) -> dict[str, Any]:
    """All results, without what was measured by a clock."""
    results = found.store.results
    return {
        name: {key: value for key, value in result.items() if key != "microseconds"}
        if isinstance(result, dict)
        else result
        for name, result in results.items()
    }


def test_a_cluster_gives_the_same_though_a_worker_dies(tmp_path: Path, by_processes: Reproduced) -> None:
    with Cluster(tmp_path, workers=2) as mine:

        def notify(job: Job, end: Done | Failure, done: int, total: int) -> None:
            if done == 3:
                mine.kill(mine.workers[0])

        with open_folder(tmp_path / "results", SMALLEST, True) as store:
            found = run_experiments(REAL, SMALLEST, store, address=mine.address, notify=notify)
        assert [process.poll() is None for process in mine.workers] == [False, True]
    assert found.failures == ()
    assert but_times(found) == but_times(by_processes)
    assert found.tables == by_processes.tables
    assert [(call["workers"], call["cluster"]) for call in found.store.calls] == [(None, True)]
    # Processes go on where a cluster was, and have nothing left to do.
    before = contents(tmp_path / "results")
    with open_folder(tmp_path / "results", SMALLEST, True) as store:
        assert run_experiments(REAL, SMALLEST, store).tables == found.tables
    assert contents(tmp_path / "results") == before


def test_a_run_with_networks_trained_by_this_process_gives_nearly_the_same(
    tmp_path: Path, by_processes: Reproduced
) -> None:
    # Another name for the CPU stands for a GPU; processes judge the policies that this one trained.
    choices, _ = choose(REAL, SMALLEST, by_processes.store.results)
    said: list[str] = []
    with open_folder(tmp_path, SMALLEST, True) as store:
        for job in [*tuning_jobs(REAL, SMALLEST), *main_jobs(REAL, SMALLEST, choices)]:
            if job.kind != "dqn":
                store.add(job, by_processes.store.done[job.name])
        found = run_experiments(REAL, SMALLEST, store, workers=2, device="cpu:0", say=said.append)
    assert found.failures == ()
    assert len(said) == 1
    (call,) = store.calls
    assert (call["device"], call["jobs"], call["trainings"]) == ("cpu:0", 3, 6)
    assert set(store.done) == set(by_processes.store.done)
    for one, other in zip(found.tables.scale, by_processes.tables.scale, strict=True):
        assert replace(one, mean_reward=0.0, ci=0.0) == replace(other, mean_reward=0.0, ci=0.0)
        assert one.mean_reward == pytest.approx(other.mean_reward, rel=1e-3)
