"""Made-up results of the paper's experiments, in which all five claims hold unless a test changes their means."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from neuralns.reproduction.layout import LAYOUTS, wanted_cells
from neuralns.reproduction.plan import FULL, INSTANCES, Plan
from neuralns.reproduction.rounds import Tuning
from neuralns.reproduction.tables import Cell, Estimate, Tables, make_estimate

Mean = Callable[[Cell], float | None]
"""Gives the mean of a cell; None leaves a gap."""

HEADERS = {
    "table1.csv": "setting,instance,destroy_operators,agent,mean_reward,ci,seeds",
    "table2.csv": "setting,instance,destroy_operators,agent,statistic,objective,ci,seeds",
    "scaling.csv": "setting,instance,customers,agent,mean_reward,ci,seeds",
    "large.csv": "setting,instance,customers,agent,mean_reward,ci,seeds",
    "scale.csv": "setting,instance,scale,agent,mean_reward,ci,seeds",
    "temperature.csv": "setting,instance,temperature,statistic,objective,ci,seeds",
    "tuning.csv": "agent,setting,choice,validation,chosen",
}
"""First lines of the result files."""


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a folder, to see that none has changed."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def usual(cell: Cell) -> float | None:
    """Return a mean such as the paper's claims would have it."""
    experiment, number, agent = cell.experiment, cell.number, cell.agent
    shift = {"C": 0.0, "R": 4.0, "RC": -3.0}[cell.instance]
    half = 0.5 if cell.setting == "distance" else 1.0
    if experiment == "temperature":
        return half * (101 + (20 + 9 * np.log10(100 * number) if cell.statistic == "avg" else 0) + shift)
    if experiment in ("scaling", "large"):
        steep = {"DQN": 374 + number / 2, "GNN+": 376 + number / 2, "LRW": 318 + number / 5, "RAN": 250 - number / 2}
        rewards = {**steep, "FIXED": 370 + number / 2, "ORACLE": 390 + number / 2}
        return half * (rewards[agent] + shift)
    reward = {
        "DQN": 236 + 92 * (number >= 5) + 40 * (number >= 12),
        "LRW": 238 + 40 * (number >= 5) + 30 * (number >= 12),
        "RAN": 240 - number,
        "CRW": 240 - number,
        "FIXED": 234 + 92 * (number >= 5) + 34 * (number >= 12),
        "AHEAD": 244 + 100 * (number >= 5) + 38 * (number >= 12),
        "ORACLE": 252 + 108 * (number >= 5) + 40 * (number >= 12),
    }[agent]
    if experiment == "scale":
        reward = 400 - {"DQN": 60, "LRW": 160, "RAN": 240, "FIXED": 70, "ORACLE": 30}[agent] * (2 / number) ** 1.2
    if experiment == "table2":
        reward = 500 - reward if cell.statistic == "avg" else 490 - reward
    return half * (reward + shift)


def make_tables(mean: Mean = usual, plan: Plan = FULL, spread: float = 2.0) -> Tables:
    """Return tables whose seeds lie around the means, evenly from −``spread`` to ``spread``."""
    estimates: dict[Cell, Estimate] = {}
    seeds = len(plan.seed_numbers)
    offsets = np.linspace(-spread, spread, seeds) if seeds > 1 else np.zeros(1)
    for cell in (cell for experiment in LAYOUTS for cell in wanted_cells(experiment, plan)):
        middle = mean(cell)
        if middle is not None:
            estimates[cell] = make_estimate(np.round(middle + offsets, 4).tolist())
    tuning = (
        Tuning("DQN", "paper", "pooled features", 371.25, True),
        Tuning("DQN", "paper", "paper", 365.5, False),
        Tuning("CRW", "paper", "segment 5, reaction 0.1", 198.0, True),
    )
    fixed = [
        Cell("table1", setting, instance, number, "FIXED")
        for setting, instance, number in product(("paper", "distance"), INSTANCES, plan.destroys)
    ]
    pairs = {
        cell: ("greedy route" if cell.number == 12 else "random route", "regret-2")
        for cell in fixed
        if mean(cell) is not None
    }
    return Tables(estimates, tuning, pairs)


def without(*gaps: Callable[[Cell], bool], mean: Mean = usual) -> Mean:
    """Return the means with gaps where one of the conditions is true of the cell."""
    return lambda cell: None if any(gap(cell) for gap in gaps) else mean(cell)


CALLS: list[dict[str, Any]] = [
    {
        "command": "neuralns reproduce all --workers 2",
        "workers": 2,
        "cluster": False,
        "device": "cpu",
        "seconds": 12345.0,
        "jobs": 273,
        "date": "2026-01-02",
        "machine": {
            "system": "Linux",
            "processor": "AMD EPYC",
            "cores": 2,
            "python": "3.12.3",
            "numpy": "2.2.0",
            "numba": "0.61.0",
            "torch": "2.5.0",
            "neuralns": "0.3.0",
        },
    }
]
