"""The paper's experiments from one call: nothing is done twice or lost, and who does the jobs makes no difference."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import chores
from chores import Here
from clusters import Cluster
from neuralns import InputError
from neuralns.experiments import reproduce as module
from neuralns.experiments.jobs import Done, Failure, Job, Journal
from neuralns.experiments.paper import EXPERIMENTS, QUICK, Plan, choose, main_jobs, make_tables, tuning_jobs
from neuralns.experiments.paper import work as real_work
from neuralns.experiments.reproduce import (
    FILES,
    JOURNAL,
    REPORTS,
    Reproduced,
    cores,
    experiments_named,
    machine,
    open_folder,
    policy_file,
    reproduce,
    train_stacked,
    work_with_policies,
    write_tables,
)
from neuralns.selection.policy_file import Policy, read_policy
from results import HEADERS, contents

TINY = Plan(
    seeds=2, tours=4, destroys=(2, 12), sizes=(20, 25), scales=(4,), temperatures=(0.01, 100.0), rollouts=1,
    episodes=20, share=0.001, tuning_seeds=1, tuning_destroys=(12,),
)  # fmt: skip


def results_of(journal: Journal) -> dict[str, Any]:
    """What jobs gave, without their times."""
    return {name: done.result for name, done in journal.done.items()}


# --- The course of a run; jobs are done at once and give made-up results. --------------------------------------------


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "work", chores.made_up)
    monkeypatch.setattr(module, "process_pool", lambda workers: Here())


def run(folder: Path, experiments: tuple[str, ...] = EXPERIMENTS, **options: Any) -> Reproduced:
    return reproduce(experiments, QUICK, open_folder(folder, QUICK, True), **options)


@pytest.mark.usefixtures("played")
def test_all_jobs_are_done_told_of_and_made_into_tables(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    found = run(tmp_path, notify=lambda job, outcome, done, total: told.append((job.name, done, total)))
    total = len(tuning_jobs(EXPERIMENTS, QUICK)) + len(main_jobs(EXPERIMENTS, QUICK, None))
    assert [line[1:] for line in told] == [(number, total) for number in range(1, total + 1)]
    assert [name for name, _, _ in told] == list(found.journal.done)
    assert (found.total, found.failures) == (total, ())
    assert found.seconds > 0
    assert found.tables == make_tables(EXPERIMENTS, QUICK, results_of(Journal(tmp_path / JOURNAL, found_conditions())))
    # The second round has the choices of the first.
    choices, _ = choose(EXPERIMENTS, QUICK, results_of(found.journal))
    jobs = [*tuning_jobs(EXPERIMENTS, QUICK), *main_jobs(EXPERIMENTS, QUICK, choices)]
    assert set(found.journal.done) == {job.name for job in jobs}


def found_conditions() -> dict[str, Any]:
    return {"quick": True, "seeds": QUICK.seeds}


@pytest.mark.usefixtures("played")
def test_a_second_call_does_nothing_and_finds_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = run(tmp_path)
    before = contents(tmp_path)

    def refuse(workers: int) -> None:
        raise AssertionError("nothing is to be done")

    monkeypatch.setattr(module, "process_pool", refuse)
    second = run(tmp_path)
    assert second.tables == first.tables
    assert contents(tmp_path) == before


@pytest.mark.usefixtures("played")
@pytest.mark.parametrize("after", [1, 13, 14, 15, 40, 88])
def test_a_run_that_is_stopped_goes_on_to_the_same_end(tmp_path: Path, after: int) -> None:
    whole = run(tmp_path / "whole")

    def stop(job: Job, outcome: Done | Failure, done: int, total: int) -> None:
        if done == after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "stopped", notify=stop)
    told: list[int] = []
    rest = run(tmp_path / "stopped", notify=lambda job, outcome, done, total: told.append(done))
    assert told == list(range(after + 1, whole.total + 1))
    assert rest.tables == whole.tables
    assert results_of(rest.journal) == results_of(whole.journal)
    assert [call["jobs"] for call in rest.journal.calls] == [after, whole.total - after]


@pytest.mark.usefixtures("played")
def test_experiments_share_their_jobs(tmp_path: Path) -> None:
    done = [run(tmp_path, (name,)).journal.calls for name in ("table1", "table2", "temperature", "scale")]
    # Table 2 and the temperatures are made from the jobs of table 1, and scale 4 is too.
    assert [len(calls) for calls in done] == [1, 1, 1, 2]
    assert done[-1][-1]["jobs"] == 2 * 2 * 3
    both = run(tmp_path)
    assert both.tables == run(tmp_path / "whole").tables


@pytest.mark.usefixtures("played")
def test_what_other_experiments_have_complete_stays_in_the_tables(tmp_path: Path) -> None:
    assert run(tmp_path, ("scale",)).tables.table1 == ()
    one = run(tmp_path, ("table1",)).tables
    assert [name.removesuffix(".csv") for name in FILES if getattr(one, name.removesuffix(".csv"))] == [
        "table1", "table2", "scale", "temperature", "tuning",
    ]  # fmt: skip
    whole = run(tmp_path).tables
    assert run(tmp_path, ("scaling",)).tables == whole


@pytest.mark.usefixtures("played")
def test_a_call_says_who_did_how_much_and_where(tmp_path: Path) -> None:
    found = run(tmp_path, ("scale",), workers=3, command="neuralns reproduce scale")
    (call,) = found.journal.calls
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
    assert len(found.journal.done) == (12 if left == 0 else found.total - len(found.failures))
    assert len({row.instance for row in found.tables.table1 if row.agent == "ORACLE"}) == (2 if left else 0)
    again = run(tmp_path)
    assert again.failures == ()
    assert again.tables == run(tmp_path / "whole").tables


# --- The folder. -----------------------------------------------------------------------------------------------------


def test_experiments_are_known_by_name() -> None:
    assert experiments_named("scale") == ("scale",)
    assert experiments_named("all") == EXPERIMENTS
    with pytest.raises(
        InputError, match=r"^experiment 'table3' is not known; choose table1, table2, scaling, scale, t"
    ):
        experiments_named("table3")


def test_a_folder_is_made_but_nothing_written_before_there_is_a_result(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    assert open_folder(folder, QUICK, True).done == {}
    assert list(folder.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    for folder in (file, file / "inside"):
        with pytest.raises(InputError, match=rf"^{re.escape(str(folder))}: cannot be made a folder \(.+\)\.$"):
            open_folder(folder, QUICK, True)
    assert file.read_text() == "mine"


@pytest.mark.usefixtures("played")
def test_results_under_other_conditions_are_refused_and_left_alone(tmp_path: Path) -> None:
    run(tmp_path, ("scale",))
    before = contents(tmp_path)
    with pytest.raises(InputError, match="holds results with quick True, but now it is False"):
        open_folder(tmp_path, QUICK, False)
    with pytest.raises(InputError, match="holds results with seeds 2, but now it is 3"):
        open_folder(tmp_path, replace(QUICK, seeds=3), True)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("journal", [None, b""])
@pytest.mark.parametrize("name", [*FILES, *REPORTS])
def test_tables_of_another_origin_are_refused_and_left_alone(tmp_path: Path, name: str, journal: bytes | None) -> None:
    (tmp_path / name).write_text("mine")
    if journal is not None:
        (tmp_path / JOURNAL).write_bytes(journal)
    before = contents(tmp_path)
    sentence = f"{tmp_path / name}: is there, but not the results in jobs.jsonl that it would be made from"
    with pytest.raises(InputError, match=f"^{re.escape(sentence)}"):
        open_folder(tmp_path, QUICK, True)
    assert contents(tmp_path) == before


@pytest.mark.usefixtures("played")
def test_tables_are_files_with_a_line_for_each_row(tmp_path: Path) -> None:
    found = run(tmp_path)
    assert write_tables(found.tables, tmp_path) == [tmp_path / name for name in FILES]
    assert set(FILES) == set(HEADERS)
    for name, header in HEADERS.items():
        lines = (tmp_path / name).read_text().splitlines()
        assert lines[0] == header
        rows = getattr(found.tables, name.removesuffix(".csv"))
        parsed = list(csv.DictReader(lines))
        assert [list(row.values()) for row in parsed] == [[str(value) for value in vars(row).values()] for row in rows]


@pytest.mark.usefixtures("played")
def test_only_the_tables_that_were_asked_for_are_written(tmp_path: Path) -> None:
    assert write_tables(run(tmp_path, ("scale",)).tables, tmp_path) == [tmp_path / "scale.csv", tmp_path / "tuning.csv"]
    before = contents(tmp_path)["scale.csv"]
    assert tmp_path / "table1.csv" in write_tables(run(tmp_path, ("table1",)).tables, tmp_path)
    assert contents(tmp_path)["scale.csv"] == before


# --- Real jobs: by processes, by a cluster, with networks trained in one run. ----------------------------------------


REAL = ("scale",)


@pytest.fixture(scope="module")
def by_processes(tmp_path_factory: pytest.TempPathFactory) -> Reproduced:
    folder = tmp_path_factory.mktemp("processes")
    return reproduce(REAL, TINY, open_folder(folder, TINY, True), workers=2)


def test_processes_do_what_is_done_here(by_processes: Reproduced) -> None:
    assert by_processes.failures == ()
    assert len(by_processes.journal.done) == by_processes.total
    assert len(by_processes.tables.scale) == 3 * 4
    choices, _ = choose(REAL, TINY, results_of(by_processes.journal))
    jobs = {job.kind: job for job in main_jobs(REAL, TINY, choices)}
    for job in (jobs["oracle"], jobs["dqn"]):
        assert by_processes.journal.done[job.name].result == real_work(job.kind, job.settings)


def test_a_cluster_gives_the_same_though_a_worker_dies(tmp_path: Path, by_processes: Reproduced) -> None:
    with Cluster(tmp_path, workers=2) as mine:

        def notify(job: Job, outcome: Done | Failure, done: int, total: int) -> None:
            if done == 3:
                mine.kill(mine.workers[0])

        journal = open_folder(tmp_path / "results", TINY, True)
        found = reproduce(REAL, TINY, journal, address=mine.address, notify=notify)
        assert [process.poll() is None for process in mine.workers] == [False, True]
    assert found.failures == ()
    assert results_of(found.journal) == results_of(by_processes.journal)
    assert found.tables == by_processes.tables
    assert [(call["workers"], call["cluster"]) for call in found.journal.calls] == [(None, True)]
    # Processes go on where a cluster was, and have nothing left to do.
    before = contents(tmp_path / "results")
    assert reproduce(REAL, TINY, open_folder(tmp_path / "results", TINY, True)).tables == found.tables
    assert contents(tmp_path / "results") == before


def dqn_jobs(found: Reproduced) -> list[Job]:
    choices, _ = choose(REAL, TINY, results_of(found.journal))
    return [job for job in main_jobs(REAL, TINY, choices) if job.kind == "dqn"]


def test_networks_trained_in_one_run_are_those_of_each_cell(tmp_path: Path, by_processes: Reproduced) -> None:
    said: list[str] = []
    jobs = dqn_jobs(by_processes)
    told = train_stacked(jobs, Journal(tmp_path / JOURNAL, {}), tmp_path, "cpu", said.append)
    assert told["trainings"] == 3 * 2
    assert told["training_seconds"] > 0
    groups = len({repr(job.settings["config"]) for job in jobs})
    assert len(said) == groups
    assert all(re.fullmatch(r"trained \d+ networks in \d+ s", line) for line in said)
    for job in jobs:
        assert all(read_policy(policy_file(tmp_path, job, seed)).card["seed"] == seed for seed in (0, 1))
        alone = by_processes.journal.done[job.name].result
        found = work_with_policies(str(tmp_path), job.kind, dict(job.settings))
        assert found["mdp"]["DQN"] == pytest.approx(alone["mdp"]["DQN"], rel=1e-3)


def test_jobs_that_are_done_are_not_trained_again(tmp_path: Path, by_processes: Reproduced) -> None:
    jobs = dqn_jobs(by_processes)
    assert train_stacked(jobs, by_processes.journal, tmp_path, "cpu", print)["trainings"] == 0
    assert list(tmp_path.iterdir()) == []
    journal = Journal(tmp_path / JOURNAL, {})
    for job in jobs[1:]:
        journal.add(job, by_processes.journal.done[job.name])
    assert train_stacked(jobs, journal, tmp_path, "cpu", print)["trainings"] == 2
    assert sorted(path.name for path in tmp_path.glob("*.policy")) == [
        f"{jobs[0].name}.seed-{seed}.policy" for seed in (0, 1)
    ]


def test_with_policies_at_hand_no_network_is_trained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by_processes: Reproduced
) -> None:
    job = dqn_jobs(by_processes)[0]
    train_stacked([job], Journal(tmp_path / JOURNAL, {}), tmp_path, "cpu", print)

    def refuse(*arguments: Any, **options: Any) -> list[dict[int, Policy]]:
        raise AssertionError("nothing is to be trained")

    monkeypatch.setattr("neuralns.experiments.paper.train_policies", refuse)
    assert len(work_with_policies(str(tmp_path), "dqn", dict(job.settings))["mdp"]["DQN"]) == 2
    with pytest.raises(AssertionError):
        real_work("dqn", job.settings)
    oracle = {**job.settings, "rollouts": 1}
    assert work_with_policies(str(tmp_path), "oracle", oracle) == real_work("oracle", oracle)


def test_a_run_with_networks_trained_by_this_process_gives_nearly_the_same(
    tmp_path: Path, by_processes: Reproduced
) -> None:
    # Another name for the CPU stands for a GPU; processes judge the policies that this one trained.
    journal = open_folder(tmp_path, TINY, True)
    jobs = [*tuning_jobs(REAL, TINY), *main_jobs(REAL, TINY, choose(REAL, TINY, results_of(by_processes.journal))[0])]
    for job in jobs:
        if job.kind != "dqn":
            journal.add(job, by_processes.journal.done[job.name])
    said: list[str] = []
    found = reproduce(REAL, TINY, journal, workers=2, device="cpu:0", say=said.append)
    assert found.failures == ()
    assert len(said) == 1
    (call,) = journal.calls
    assert (call["device"], call["jobs"], call["trainings"]) == ("cpu:0", 3, 6)
    assert set(journal.done) == set(by_processes.journal.done)
    for one, other in zip(found.tables.scale, by_processes.tables.scale, strict=True):
        assert replace(one, mean_reward=0.0, ci=0.0) == replace(other, mean_reward=0.0, ci=0.0)
        assert one.mean_reward == pytest.approx(other.mean_reward, rel=1e-3)
