"""The two tables of the paper, as printed there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from typing import Any

from neuralns.experiments.rows import read_rows


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


def _read(name: str, kind: type[Any]) -> tuple[Any, ...]:
    with as_file(files("neuralns.experiments").joinpath("published", name)) as path:
        return tuple(read_rows(path, kind))
