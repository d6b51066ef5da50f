"""Results of the paper's experiments as rows of tables, and where in them a figure stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from neuralns.experiments.jobs import Job
from neuralns.experiments.statistics import confidence
from neuralns.reproduction.plan import ALL_DESTROYS, EXPERIMENTS, INSTANCES, SETTINGS, Plan, settings_of
from neuralns.reproduction.rounds import SCALE, Results, Tuning, choose, main_jobs

AGENTS = ("DQN", "AHEAD", "GNN+", "LRW", "RAN", "CRW", "FIXED", "ORACLE")


@dataclass(frozen=True)
class Cell:
    """A cell of a table: where a figure stands.

    Attributes
    ----------
    number
        What varies: |D| in the tables, n in ``scaling`` and ``large``, d in ``scale``, τ in ``temperature``.
    statistic
        ``avg`` or ``min`` of F; nothing for rewards.
    """

    experiment: str
    setting: str
    instance: str
    number: float
    agent: str
    statistic: str = ""

    def of(self, agent: str) -> Cell:
        """Return the cell of another agent beside this one."""
        return replace(self, agent=agent)


# --- Rows of the result files. ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reward:
    """A line of ``table1.csv``."""

    setting: str
    instance: str
    destroy_operators: int
    agent: str
    mean_reward: float
    ci: float
    seeds: int


@dataclass(frozen=True)
class Objective:
    """A line of ``table2.csv``; F on average over the iterations of a run (``avg``), or its best F (``min``)."""

    setting: str
    instance: str
    destroy_operators: int
    agent: str
    statistic: str
    objective: float
    ci: float
    seeds: int


@dataclass(frozen=True)
class SizeReward:
    """A line of ``scaling.csv`` or ``large.csv``: agents trained at 20 customers; FIXED is the best of each size."""

    setting: str
    instance: str
    customers: int
    agent: str
    mean_reward: float
    ci: float
    seeds: int


@dataclass(frozen=True)
class ScaleReward:
    """A line of ``scale.csv``."""

    setting: str
    instance: str
    scale: int
    agent: str
    mean_reward: float
    ci: float
    seeds: int


@dataclass(frozen=True)
class TemperatureObjective:
    """A line of ``temperature.csv``, all of the DQN."""

    setting: str
    instance: str
    temperature: float
    statistic: str
    objective: float
    ci: float
    seeds: int


@dataclass(frozen=True)
class Estimate:
    """What a cell holds: mean over seeds, half of its 95 % interval (NaN for one seed), the value of each seed."""

    mean: float
    ci: float
    values: tuple[float, ...]


Estimates = Mapping[Cell, Estimate]


@dataclass(frozen=True)
class Tables:
    """All results: the figures, and the same as rows of each table in the order in which people read them.

    Attributes
    ----------
    pairs
        Operators of the best fixed pairs, under the cells of FIXED in table 1.
    microseconds
        What a decision of AHEAD takes, under its cells in table 1, and whether it simulates there.
    """

    estimates: Estimates = field(default_factory=dict)
    tuning: tuple[Tuning, ...] = ()
    pairs: Mapping[Cell, tuple[str, str]] = field(default_factory=dict)
    microseconds: Mapping[Cell, tuple[float, bool]] = field(default_factory=dict, compare=False)

    @property
    def table1(self) -> tuple[Reward, ...]:
        return tuple(
            Reward(cell.setting, cell.instance, int(cell.number), cell.agent, *_figures(estimate))
            for cell, estimate in self._of("table1")
        )

    @property
    def table2(self) -> tuple[Objective, ...]:
        return tuple(
            Objective(
                cell.setting, cell.instance, int(cell.number), cell.agent, cell.statistic, *_figures(estimate)
            )
            for cell, estimate in self._of("table2")
        )  # fmt: skip

    @property
    def scaling(self) -> tuple[SizeReward, ...]:
        return tuple(
            SizeReward(cell.setting, cell.instance, int(cell.number), cell.agent, *_figures(estimate))
            for cell, estimate in self._of("scaling")
        )

    @property
    def large(self) -> tuple[SizeReward, ...]:
        return tuple(
            SizeReward(cell.setting, cell.instance, int(cell.number), cell.agent, *_figures(estimate))
            for cell, estimate in self._of("large")
        )

    @property
    def scale(self) -> tuple[ScaleReward, ...]:
        return tuple(
            ScaleReward(cell.setting, cell.instance, int(cell.number), cell.agent, *_figures(estimate))
            for cell, estimate in self._of("scale")
        )

    @property
    def temperature(self) -> tuple[TemperatureObjective, ...]:
        return tuple(
            TemperatureObjective(cell.setting, cell.instance, cell.number, cell.statistic, *_figures(estimate))
            for cell, estimate in self._of("temperature")
        )

    def _of(self, experiment: str) -> list[tuple[Cell, Estimate]]:
        cells = [cell for cell in self.estimates if cell.experiment == experiment]
        return [(cell, self.estimates[cell]) for cell in sorted(cells, key=_order)]


def _figures(estimate: Estimate) -> tuple[float, float, int]:
    return estimate.mean, estimate.ci, len(estimate.values)


def _order(cell: Cell) -> tuple[int, int, int, float, int, str]:
    """Return what orders cells: experiments, settings, instances and agents as they are listed, numbers by size."""
    return (
        EXPERIMENTS.index(cell.experiment), SETTINGS.index(cell.setting), INSTANCES.index(cell.instance),
        cell.number, AGENTS.index(cell.agent), cell.statistic,
    )  # fmt: skip


# --- Rows from what jobs gave. ----------------------------------------------------------------------------------------


def make_tables(experiments: Sequence[str], plan: Plan, results: Results) -> Tables:
    """Return the tables of all experiments for which there are results; jobs that are missing leave gaps."""
    choices, tuning = choose(experiments, plan, results)
    # By seed: the networks of scaling are trained by several jobs.
    values: dict[Cell, dict[int, float]] = {}
    pairs: dict[Cell, tuple[str, str]] = {}
    microseconds: dict[Cell, tuple[float, bool]] = {}
    for job in main_jobs(experiments, plan, choices):
        if job.name not in results:
            continue
        for cell, each in _values(job, results[job.name], plan):
            if cell.experiment in experiments:
                values.setdefault(cell, {}).update(zip(job.settings["seeds"], each, strict=True))
        if "pair" in results[job.name] and job.settings["scale"] == SCALE:
            destroy, repair = results[job.name]["pair"]
            pairs[_cell("table1", job, job.settings["destroys"], "FIXED")] = (destroy, repair)
        if job.kind == "ahead":
            found, cell = results[job.name], _cell("table1", job, job.settings["destroys"], "AHEAD")
            microseconds[cell] = found["microseconds"], found["simulates"]
    estimates = {
        cell: make_estimate([values[cell][seed] for seed in sorted(values[cell])])
        for cell in sorted(values, key=_order)
    }
    return Tables(estimates, tuple(tuning), pairs, microseconds)


def make_estimate(values: Sequence[float]) -> Estimate:
    """Return the estimate that the values of some seeds amount to."""
    return Estimate(round(float(np.mean(values)), 3), round(confidence(np.array(values)), 3), tuple(values))


def _values(job: Job, result: Mapping[str, Any], plan: Plan) -> Iterator[tuple[Cell, Sequence[float]]]:
    """Give what a job found, for each seed, under its cells; the same values may belong to several experiments."""
    scale, destroys, setting = job.settings.get("scale"), job.settings.get("destroys"), job.settings["setting"]
    of_tables = scale == SCALE and destroys in plan.destroys
    of_scales = destroys == ALL_DESTROYS and scale in plan.scales and setting in settings_of("scale")
    for agent, each in result.get("mdp", {}).items():
        if of_tables:
            yield _cell("table1", job, destroys, agent), each
        if of_scales and agent not in ("ORACLE", "AHEAD"):
            yield _cell("scale", job, scale, agent), each
    for agent, statistics in result.get("search", {}).items():
        for statistic, each in statistics.items():
            if of_tables:
                yield _cell("table2", job, destroys, agent, statistic), each
    for temperature, statistics in result.get("temperature", {}).items():
        for statistic, each in statistics.items():
            yield _cell("temperature", job, float(temperature), "DQN", statistic), each
    for experiment, part in (("scaling", "sizes"), ("large", "large")):
        for size, agents in result.get(part, {}).items():
            for agent, each in agents.items():
                yield _cell(experiment, job, int(size), agent), each


def _cell(experiment: str, job: Job, number: Any, agent: str, statistic: str = "") -> Cell:
    return Cell(experiment, job.settings["setting"], job.settings["instance"], number, agent, statistic)
