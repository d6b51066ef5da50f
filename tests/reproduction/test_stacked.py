"""Networks of many cells trained in one run: the same as those of each cell, and none trained twice."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from neuralns.experiments.jobs import Job, JobStore
from neuralns.reproduction.folder import JOBS
from neuralns.reproduction.reproduce import Reproduced
from neuralns.reproduction.rounds import choose, main_jobs
from neuralns.reproduction.stacked import policy_file, train_stacked, work_with_policies
from neuralns.reproduction.work import work as real_work
from neuralns.selection.policy_file import Policy, read_policy
from plans import REAL, SMALLEST


def dqn_jobs(found: Reproduced) -> list[Job]:
    choices, _ = choose(REAL, SMALLEST, found.store.results)
    return [job for job in main_jobs(REAL, SMALLEST, choices) if job.kind == "dqn"]


def test_networks_trained_in_one_run_are_those_of_each_cell(tmp_path: Path, by_processes: Reproduced) -> None:
    said: list[str] = []
    jobs = dqn_jobs(by_processes)
    told = train_stacked(jobs, JobStore(tmp_path / JOBS, {}), tmp_path, "cpu", said.append)
    assert told["trainings"] == 3 * 2
    assert told["training_seconds"] > 0
    groups = len({repr(job.settings["config"]) for job in jobs})
    assert len(said) == groups
    assert all(re.fullmatch(r"trained \d+ networks in \d+ s", line) for line in said)
    for job in jobs:
        assert all(read_policy(policy_file(tmp_path, job, seed)).card["seed"] == seed for seed in (0, 1))
        alone = by_processes.store.done[job.name].result
        found = work_with_policies(str(tmp_path), job.kind, dict(job.settings))
        assert found["mdp"]["DQN"] == pytest.approx(alone["mdp"]["DQN"], rel=1e-3)


def test_jobs_that_are_done_are_not_trained_again(tmp_path: Path, by_processes: Reproduced) -> None:
    jobs = dqn_jobs(by_processes)
    assert train_stacked(jobs, by_processes.store, tmp_path, "cpu", print)["trainings"] == 0
    assert list(tmp_path.iterdir()) == []
    with JobStore(tmp_path / JOBS, {}) as store:
        for job in jobs[1:]:
            store.add(job, by_processes.store.done[job.name])
    assert train_stacked(jobs, store, tmp_path, "cpu", print)["trainings"] == 2
    assert sorted(path.name for path in tmp_path.glob("*.policy")) == [
        f"{jobs[0].name}.seed-{seed}.policy" for seed in (0, 1)
    ]


def test_with_policies_at_hand_no_network_is_trained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by_processes: Reproduced
) -> None:
    job = dqn_jobs(by_processes)[0]
    train_stacked([job], JobStore(tmp_path / JOBS, {}), tmp_path, "cpu", print)

    def refuse(*arguments: Any, **options: Any) -> list[dict[int, Policy]]:
        raise AssertionError("nothing is to be trained")

    monkeypatch.setattr("neuralns.reproduction.work.train_policies", refuse)
    assert len(work_with_policies(str(tmp_path), "dqn", dict(job.settings))["mdp"]["DQN"]) == 2
    with pytest.raises(AssertionError):
        real_work("dqn", job.settings)
    oracle = {**job.settings, "rollouts": 1}
    assert work_with_policies(str(tmp_path), "oracle", oracle) == real_work("oracle", oracle)
