"""How large the paper's experiments are, and between which hyperparameters is chosen."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

from neuralns.errors import InputError
from neuralns.experiments.seeds import seeds_from

EXPERIMENTS = ("table1", "table2", "scaling", "large", "scale", "temperature")
INSTANCES = ("C", "R", "RC")
SETTINGS = ("paper", "distance")
ALL_DESTROYS = 12
"""Destroy operators of the whole portfolio."""
TUNED = ("LRW", "CRW", "DQN")


@dataclass(frozen=True)
class Plan:
    """How large the experiments are.

    Attributes
    ----------
    seeds, tours
        Trainings of each agent (which seeds, or how many from 0 on), and test (and validation) tours.
    plays
        How often DQN, AHEAD and FIXED play each test tour of the tables and of ``scale``, with other chance.
    destroys, sizes, large, scales, temperatures
        |D| of the two tables, n of ``scaling``, n of ``large``, d of ``scale``, τ of ``temperature``.
    rollouts, episodes
        Of the oracle for each pair on average, and of the training of the learned roulette wheel: by default those of
        15 000 actions, the number of the DQN's steps, each of which is an action in every one of its lanes.
    share
        Of the steps of a DQN training that are done.
    large_tours, large_rollouts
        Test tours of ``large``, and of its oracle for each pair on average.
    validation_sizes
        Sizes in no test at which our graph network is validated beside that of its training.
    states
        Labelled states of each cell, for the agent that looks ahead.
    tuning_seeds, tuning_destroys
        Trainings of each choice of a grid, and the portfolios that it is tried on.
    """

    seeds: int | tuple[int, ...] = 10
    tours: int = 128
    plays: int = 6
    destroys: tuple[int, ...] = tuple(range(2, ALL_DESTROYS + 1))
    sizes: tuple[int, ...] = (20, 40, 60, 80, 100)
    large: tuple[int, ...] = (200, 400)
    scales: tuple[int, ...] = (2, 4, 6, 8, 10)
    temperatures: tuple[float, ...] = (0.01, 0.1, 1.0, 10.0, 100.0)
    rollouts: int = 30
    episodes: int = 750
    share: float = 1.0
    large_tours: int = 16
    large_rollouts: int = 4
    validation_sizes: tuple[int, ...] = (30, 50, 70, 90)
    states: int = 150_000
    tuning_seeds: int = 2
    tuning_destroys: tuple[int, ...] = (5, ALL_DESTROYS)

    def __post_init__(self) -> None:
        seeds_from(self.seeds, first=0)

    @property
    def seed_numbers(self) -> list[int]:
        """The seeds, one by one."""
        return list(seeds_from(self.seeds, first=0))

    @property
    def conditions(self) -> dict[str, Any]:
        """What all results of a folder share; so many seeds are the same as these one by one."""
        numbers = self.seed_numbers
        return {"seeds": len(numbers) if numbers == list(range(len(numbers))) else numbers}


FULL = Plan()
QUICK = Plan(
    seeds=2, tours=8, plays=2, destroys=(2, 5, ALL_DESTROYS), sizes=(20, 40), large=(120,), scales=(2, 4, 10),
    temperatures=(0.01, 100.0), rollouts=2, episodes=200, share=0.01, large_tours=2, large_rollouts=1,
    validation_sizes=(30,), states=200, tuning_seeds=1, tuning_destroys=(ALL_DESTROYS,),
)  # fmt: skip

# The grids. Segments and reactions of the learned wheel are those of the authors. The classic wheel first turns after a
# segment: in a search of 20 pairs it needs short ones to be anything but random selection.
ROULETTE_GRID = tuple({"segment": s, "reaction": r} for s, r in product((20, 50, 100, 200), (0.9, 0.95, 0.99)))
CLASSIC_GRID = tuple({"segment": s, "reaction": r} for s, r in product((1, 2, 5, 10), (0.1, 0.5, 0.9)))
DQN_GRID: dict[str, dict[str, Any]] = {
    "paper": {"preset": "paper", "network": "mlp"},
    "pooled features": {
        "preset": "paper", "network": "small", "hidden": [128, 64], "reward": "improvement", "double": True,
        "tours": 2000,
    },
    "pooled features, larger batches": {
        "preset": "strong", "network": "small", "hidden": [128, 64], "steps": 10_000, "lanes": 32, "batch": 64,
        "tours": 2000,
    },
    "features of routes, larger batches": {
        "preset": "strong", "network": "small", "features": "routes", "hidden": [128, 64], "steps": 10_000, "lanes": 32,
        "batch": 64, "tours": 2000,
    },
}  # fmt: skip
GAT = {"preset": "paper", "network": "gat"}
"""The paper's graph network."""
GRAPH = {"preset": "graph", "network": "gat"}
"""Ours."""


def experiments_named(name: str) -> tuple[str, ...]:
    """Return the experiments that a word stands for.

    >>> experiments_named("all")
    ('table1', 'table2', 'scaling', 'large', 'scale', 'temperature')
    """
    if name == "all":
        return EXPERIMENTS
    if name not in EXPERIMENTS:
        raise InputError(f"experiment {name!r} is not known; choose {', '.join(EXPERIMENTS)} or all.")
    return (name,)


def settings_of(experiment: str) -> tuple[str, ...]:
    """Return the settings that an experiment is done in: the tables in both, the figures as the paper drew them."""
    return ("paper",) if experiment in ("scaling", "large", "scale") else SETTINGS
