"""The paper's experiments as independent jobs, in two rounds.

First hyperparameters are chosen on the validation tours, then agents are trained with them and evaluated on the test
tours. A job trains all seeds of one agent on one MDP and returns a value for each seed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from neuralns.experiments.jobs import Job
from neuralns.mdp.in_search import PAIRS
from neuralns.reproduction.plan import (
    ALL_DESTROYS,
    CLASSIC_GRID,
    DQN_GRID,
    GAT,
    GRAPH,
    INSTANCES,
    ROULETTE_GRID,
    SETTINGS,
    TUNED,
    Plan,
    settings_of,
)

SCALE = 4
"""Destroy scale d of all experiments but ``scale``, and of the training for ``scaling``."""
ORACLE_SEEDS = 2
"""Seeds of the oracle of ``large``, whose simulations take long."""
RANKS = {
    "gat": 0, "graph": 1, "large-oracle": 2, "dqn": 3, "ahead": 3, "large": 4, "oracle": 5, "baselines": 6, "sizes": 6,
}  # fmt: skip
"""Kinds of jobs of the second round, the longest first."""

Choices = Mapping[tuple[str, str], Any]
"""The chosen hyperparameters of an agent (LRW, CRW, DQN) in a setting."""
Results = Mapping[str, Any]
"""What jobs gave, by their names."""


@dataclass(frozen=True)
class Tuning:
    """A line of ``tuning.csv``: a choice, and what it gave on the validation tours, mean of all trials."""

    agent: str
    setting: str
    choice: str
    validation: float
    chosen: bool


@dataclass(frozen=True)
class _Option:
    """A choice of a grid, what output calls it, and its mean score."""

    name: str
    choice: Any
    score: float


def tuning_jobs(experiments: Sequence[str], plan: Plan) -> list[Job]:
    """Return the jobs of the first round, the longest first."""
    jobs = []
    for setting in _settings(experiments):
        common = {"setting": setting, "seeds": plan.tuning_seeds, "tours": plan.tours}
        for choice in DQN_GRID.values():
            config = {**choice, "share": plan.share}
            jobs.append(Job("tune-dqn", {**common, "destroys": list(plan.tuning_destroys), "config": config}))
        for instance, destroys in product(INSTANCES, plan.tuning_destroys):
            cell = {**common, "instance": instance, "destroys": destroys, "episodes": plan.episodes, "pairs": PAIRS}
            jobs.append(Job("tune-wheels", {**cell, "learned": ROULETTE_GRID, "classic": CLASSIC_GRID}))
    return jobs


def choose(experiments: Sequence[str], plan: Plan, results: Results) -> tuple[Choices, list[Tuning]]:
    """Return the choices with the best mean validation score, and the scores of all, for settings that have them."""
    jobs = tuning_jobs(experiments, plan)
    choices: dict[tuple[str, str], Any] = {}
    rows = []
    for setting in _settings(experiments):
        own = [job for job in jobs if job.settings["setting"] == setting]
        if any(job.name not in results for job in own):
            continue
        options = _options(own, results)
        for agent in TUNED:
            # F is to be small, rewards large.
            sign = -1.0 if agent == "CRW" else 1.0
            best = int(np.argmax([sign * option.score for option in options[agent]]))
            choices[agent, setting] = options[agent][best].choice
            rows += [
                Tuning(agent, setting, option.name, round(option.score, 3), number == best)
                for number, option in enumerate(options[agent])
            ]
    return choices, rows


def _options(jobs: Sequence[Job], results: Results) -> dict[str, list[_Option]]:
    """Return the scores of all choices of each agent in the setting of some jobs."""
    nets = [job for job in jobs if job.kind == "tune-dqn"]
    wheels = [results[job.name] for job in jobs if job.kind == "tune-wheels"]
    found = {
        "DQN": [
            _Option(name, job.settings["config"], float(np.mean(results[job.name])))
            for name, job in zip(DQN_GRID, nets, strict=True)
        ]
    }
    for agent, grid in (("LRW", ROULETTE_GRID), ("CRW", CLASSIC_GRID)):
        means = np.mean([wheel[agent] for wheel in wheels], axis=0)
        found[agent] = [
            _Option(f"segment {choice['segment']}, reaction {choice['reaction']}", choice, float(mean))
            for choice, mean in zip(grid, means, strict=True)
        ]
    return found


def main_jobs(experiments: Sequence[str], plan: Plan, choices: Choices | None) -> list[Job]:
    """Return the jobs of the second round, the longest first, for settings with choices.

    Without any choices these are the jobs of all settings, which then have no true names yet.
    """
    found: dict[str, Job] = {}
    for experiment in experiments:
        for setting, instance in product(settings_of(experiment), INSTANCES):
            if choices is None or ("DQN", setting) in choices:
                # Experiments share jobs, and each is done once.
                found.update({job.name: job for job in _jobs(experiment, setting, instance, plan, choices)})
    return sorted(found.values(), key=lambda job: RANKS[job.kind])


def _jobs(experiment: str, setting: str, instance: str, plan: Plan, choices: Choices | None) -> Iterator[Job]:
    """Give the jobs of an experiment on an instance."""
    if experiment == "scaling":
        yield from _size_jobs(setting, instance, plan, choices)
        yield from _graph_jobs(setting, instance, plan)
    elif experiment == "large":
        yield from _graph_jobs(setting, instance, plan)
        about = {"setting": setting, "instance": instance, "seeds": plan.seed_numbers, **_wheel(plan, choices, setting)}
        yield Job("large", {**about, **_large(plan)})
        few = {"seeds": plan.seed_numbers[:ORACLE_SEEDS], "rollouts": plan.large_rollouts}
        yield Job("large-oracle", {"setting": setting, "instance": instance, **_large(plan), **few})
    elif experiment == "scale":
        for scale in plan.scales:
            yield from _cell_jobs(setting, instance, ALL_DESTROYS, scale, plan, choices)
    else:
        for destroys in (ALL_DESTROYS,) if experiment == "temperature" else plan.destroys:
            yield from _cell_jobs(setting, instance, destroys, SCALE, plan, choices)


def _cell_jobs(
    setting: str, instance: str, destroys: int, scale: int, plan: Plan, choices: Choices | None
) -> Iterator[Job]:
    """Give the jobs of all agents on one MDP."""
    about = {
        "setting": setting, "instance": instance, "destroys": destroys, "scale": scale, "tours": plan.tours,
        "seeds": plan.seed_numbers,
    }  # fmt: skip
    played = {**about, "plays": plan.plays, "pairs": PAIRS}
    temperatures = list(plan.temperatures) if destroys == ALL_DESTROYS and scale == SCALE else []
    config = _choice(choices, "DQN", setting)
    yield Job("dqn", {**played, "config": config, "temperatures": temperatures})
    if scale == SCALE:
        yield Job("ahead", {**played, "states": plan.states})
        yield Job("oracle", {**about, "rollouts": plan.rollouts})
    wheels = {"learned": _choice(choices, "LRW", setting), "classic": _choice(choices, "CRW", setting)}
    yield Job("baselines", {**played, **wheels, "episodes": plan.episodes})


def _size_jobs(setting: str, instance: str, plan: Plan, choices: Choices | None) -> Iterator[Job]:
    """Give the jobs of agents that are trained at 20 customers and meet larger instances."""
    about = {"setting": setting, "instance": instance, "sizes": list(plan.sizes), "tours": plan.tours}
    for part in _halves(plan.seed_numbers):
        yield Job("gat", {**about, "seeds": part, "config": {**GAT, "share": plan.share}})
    yield Job("sizes", {**about, **_wheel(plan, choices, setting), "seeds": plan.seed_numbers})


def _graph_jobs(setting: str, instance: str, plan: Plan) -> Iterator[Job]:
    """Give the jobs of our graph network, which meets all sizes."""
    about = {"setting": setting, "instance": instance, "sizes": list(plan.sizes), "tours": plan.tours, **_large(plan)}
    config = {**GRAPH, "share": plan.share, "validation_sizes": list(plan.validation_sizes)}
    for part in _halves(plan.seed_numbers):
        yield Job("graph", {**about, "seeds": part, "config": config})


def _halves(seeds: Sequence[int]) -> list[Sequence[int]]:
    """Return seeds for two jobs, or for one if there is a single one."""
    half = (len(seeds) + 1) // 2
    return [part for part in (seeds[:half], seeds[half:]) if part]


def _large(plan: Plan) -> dict[str, Any]:
    return {"large": list(plan.large), "large_tours": plan.large_tours}


def _wheel(plan: Plan, choices: Choices | None, setting: str) -> dict[str, Any]:
    return {"learned": _choice(choices, "LRW", setting), "episodes": plan.episodes}


def _choice(choices: Choices | None, agent: str, setting: str) -> Any:
    return None if choices is None else choices[agent, setting]


def _settings(experiments: Sequence[str]) -> list[str]:
    wanted = {setting for experiment in experiments for setting in settings_of(experiment)}
    return [setting for setting in SETTINGS if setting in wanted]


def describe(job: Job) -> str:
    """Return a job in a few words.

    >>> describe(Job("dqn", {"setting": "paper", "instance": "RC", "destroys": 12, "scale": 10}))
    'dqn paper RC |D|=12 d=10'
    """
    about = job.settings
    parts = [job.kind, about["setting"], about.get("instance", "")]
    if "instance" in about and "destroys" in about:
        parts.append(f"|D|={about['destroys']}")
    if about.get("scale", SCALE) != SCALE:
        parts.append(f"d={about['scale']}")
    return " ".join(part for part in parts if part)
