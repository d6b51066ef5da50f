"""The two tables of the paper, as printed there."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from typing import Any

from neuralns.experiments.store import read_rows
from neuralns.reproduction.tables import Cell, Estimate


@dataclass(frozen=True)
class PublishedReward:
    """An entry of Table 1: mean reward in the MDP, and half of its 95 % interval over ten seeds."""

    instance: str
    destroy_operators: int
    agent: str
    mean_reward: float
    ci: float


@dataclass(frozen=True)
class PublishedObjective:
    """An entry of Table 2: F in ALNS, average over a run (``avg``) or its best (``min``); without interval."""

    instance: str
    destroy_operators: int
    agent: str
    statistic: str
    objective: float


@cache
def published_rewards() -> tuple[PublishedReward, ...]:
    """Return Table 1.

    >>> published_rewards()[0]
    PublishedReward(instance='C', destroy_operators=2, agent='DQN', mean_reward=232.2, ci=2.9)
    """
    return _read("table1.csv", PublishedReward)


@cache
def published_objectives() -> tuple[PublishedObjective, ...]:
    """Return Table 2, without its column of means.

    >>> published_objectives()[0]
    PublishedObjective(instance='C', destroy_operators=2, agent='DQN', statistic='avg', objective=316.28)
    """
    return _read("table2.csv", PublishedObjective)


def published_estimates() -> dict[Cell, Estimate]:
    """Return the published numbers by their cells; they are those of setting paper.

    >>> published_estimates()[Cell("table2", "paper", "C", 2, "DQN", "avg")].mean
    316.28
    """
    found = {
        Cell("table1", "paper", row.instance, row.destroy_operators, row.agent): Estimate(row.mean_reward, row.ci, ())
        for row in published_rewards()
    }
    for row in published_objectives():
        cell = Cell("table2", "paper", row.instance, row.destroy_operators, row.agent, row.statistic)
        found[cell] = Estimate(row.objective, math.nan, ())
    return found


def _read(name: str, row_type: type[Any]) -> tuple[Any, ...]:
    with as_file(files("neuralns.reproduction").joinpath("published", name)) as path:
        return tuple(read_rows(path, row_type))
