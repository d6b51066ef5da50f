"""Made-up results of the paper's experiments, in which all five claims hold unless a test changes their means."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from neuralns.experiments.paper import (
    FULL,
    INSTANCES,
    Objective,
    Plan,
    Reward,
    ScaleReward,
    SizeReward,
    Tables,
    TemperatureObjective,
    Tuning,
    settings_of,
)
from neuralns.mdp.evaluate import confidence

Mean = Callable[..., float | None]
"""Takes a key (experiment, setting, instance, number, agent or statistic, …); None leaves a gap."""
KINDS = {
    "table1": Reward,
    "table2": Objective,
    "scaling": SizeReward,
    "scale": ScaleReward,
    "temperature": TemperatureObjective,
}

HEADERS = {
    "table1.csv": "setting,instance,destroy_operators,agent,mean_reward,ci,seeds",
    "table2.csv": "setting,instance,destroy_operators,agent,statistic,objective,ci,seeds",
    "scaling.csv": "setting,instance,customers,agent,mean_reward,ci,seeds",
    "scale.csv": "setting,instance,scale,agent,mean_reward,ci,seeds",
    "temperature.csv": "setting,instance,temperature,statistic,objective,ci,seeds",
    "tuning.csv": "agent,setting,choice,validation,chosen",
}
"""First lines of the result files."""


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a folder, to see that none has changed."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def usual(experiment: str, setting: str, instance: str, number: float, *names: str) -> float | None:
    """Return a mean such as the paper's claims would have it."""
    shift = {"C": 0.0, "R": 4.0, "RC": -3.0}[instance]
    half = 0.5 if setting == "distance" else 1.0
    if experiment == "temperature":
        return half * (101 + (20 + 9 * np.log10(100 * number) if names[0] == "avg" else 0) + shift)
    agent = names[0]
    large = 1 if experiment == "scaling" else number
    reward = {
        "DQN": 236 + 92 * (number >= 5) + 40 * (number >= 12),
        "LRW": 238 + 40 * (number >= 5) + 30 * (number >= 12),
        "RAN": 240 - number,
        "CRW": 240 - number,
        "FIXED": 234 + 92 * (number >= 5) + 34 * (number >= 12),
        "ORACLE": 252 + 108 * (number >= 5) + 40 * (number >= 12),
    }[agent]
    if experiment == "scaling":
        reward = {"DQN": 374 + number / 2, "LRW": 318 + number / 5, "RAN": 250 - number / 2, "FIXED": 370 + number / 2}[
            agent
        ]
    if experiment == "scale":
        reward = 400 - {"DQN": 60, "LRW": 160, "RAN": 240, "FIXED": 70, "ORACLE": 30}[agent] * (2 / large) ** 1.2
    if experiment == "table2":
        reward = 500 - reward if names[1] == "avg" else 490 - reward
    return half * (reward + shift)


def make_tables(mean: Mean = usual, plan: Plan = FULL, spread: float = 2.0) -> Tables:
    """Return tables whose seeds lie around the means, evenly from −``spread`` to ``spread``."""
    axes = {
        "table1": (plan.destroys, ("DQN", "LRW", "RAN", "FIXED", "ORACLE"), ((),)),
        "table2": (plan.destroys, ("DQN", "LRW", "RAN", "CRW", "FIXED"), (("avg",), ("min",))),
        "scaling": (plan.sizes, ("DQN", "LRW", "RAN", "FIXED"), ((),)),
        "scale": (plan.scales, ("DQN", "LRW", "RAN", "FIXED"), ((),)),
        "temperature": (plan.temperatures, ("avg", "min"), ((),)),
    }
    values: dict[tuple[Any, ...], tuple[float, ...]] = {}
    rows: dict[str, list[Any]] = {name: [] for name in axes}
    offsets = np.linspace(-spread, spread, plan.seeds) if plan.seeds > 1 else np.zeros(1)
    ci = round(confidence(offsets), 3)
    for experiment, (numbers, names, statistics) in axes.items():
        for *place, statistic in product(settings_of(experiment), INSTANCES, numbers, names, statistics):
            key = (experiment, *place, *statistic)
            middle = mean(*key)
            if middle is not None:
                each = np.round(middle + offsets, 4)
                values[key] = tuple(each.tolist())
                figures = (round(float(each.mean()), 3), ci, plan.seeds)
                rows[experiment].append(KINDS[experiment](*key[1:], *figures))
    tuning = (
        Tuning("DQN", "paper", "rich features", 371.25, True),
        Tuning("DQN", "paper", "paper", 365.5, False),
        Tuning("CRW", "paper", "segment 5, reaction 0.1", 198.0, True),
    )
    pairs = {
        (setting, instance, number): ("greedy route" if number == 12 else "random route", "regret-2")
        for setting, instance, number in product(("paper", "distance"), INSTANCES, plan.destroys)
        if mean("table1", setting, instance, number, "FIXED") is not None
    }
    return Tables(**{name: tuple(each) for name, each in rows.items()}, tuning=tuning, values=values, pairs=pairs)


def without(*gaps: Callable[..., bool], mean: Mean = usual) -> Mean:
    """Return the means with gaps where one of the conditions is true of the key."""
    return lambda *key: None if any(gap(*key) for gap in gaps) else mean(*key)


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
