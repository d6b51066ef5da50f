"""The networks of many cells trained in one run on a GPU, before the jobs that judge them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from neuralns.experiments.jobs import Job, JobStore
from neuralns.experiments.machine import cores
from neuralns.reproduction.work import judge_policies, train_policies, work
from neuralns.selection.policy_file import read_policy, write_policy


def train_stacked(
    jobs: Sequence[Job], store: JobStore, folder: Path, device: str, say: Callable[[str], object]
) -> dict[str, Any]:
    """Train the networks of all missing DQN jobs of one configuration in one run; write the policies to a folder."""
    groups: dict[str, list[Job]] = {}
    for job in jobs:
        if job.kind == "dqn" and job.name not in store.done:
            groups.setdefault(repr(job.settings["config"]), []).append(job)
    trainings, seconds = 0, 0.0
    for group in groups.values():
        begin, last = time.perf_counter(), [0.0]
        count = sum(len(job.settings["seeds"]) for job in group)

        def progress(state: Any, count: int = count, last: list[float] = last) -> None:
            if state.seconds - last[0] > 10:
                last[0] = state.seconds
                say(f"training {count} networks: step {state.step} of {state.steps}, {state.seconds:.0f} s")

        trained = train_policies(
            [job.settings for job in group], group[0].settings["config"], device=device, threads=cores(),
            progress=progress,
        )  # fmt: skip
        for job, policies in zip(group, trained, strict=True):
            for seed, policy in policies.items():
                write_policy(policy, policy_file(folder, job, seed))
        trainings, seconds = trainings + count, seconds + time.perf_counter() - begin
        say(f"trained {count} networks in {time.perf_counter() - begin:.0f} s")
    return {"trainings": trainings, "training_seconds": round(seconds, 1)}


def work_with_policies(folder: str, kind: str, settings: dict[str, Any]) -> Any:
    """Do a job; networks that a folder holds are not trained again."""
    if kind != "dqn":
        return work(kind, settings)
    job = Job(kind, settings)
    policies = {seed: read_policy(policy_file(Path(folder), job, seed)) for seed in settings["seeds"]}
    return judge_policies(settings, policies)


def policy_file(folder: Path, job: Job, seed: int) -> Path:
    """Return where the network of a job and a seed lies."""
    return folder / f"{job.name}.seed-{seed}.policy"
