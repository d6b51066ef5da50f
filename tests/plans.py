"""A small plan of the paper's experiments, choices of hyperparameters, and made-up scores of the tuning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from neuralns.reproduction.plan import EXPERIMENTS, SETTINGS, Plan
from neuralns.reproduction.rounds import tuning_jobs

TINY = Plan(
    seeds=2, tours=4, plays=2, destroys=(2, 12), sizes=(20, 25), large=(30,), scales=(2, 4), temperatures=(0.01, 100.0),
    rollouts=1, episodes=20, share=0.001, large_tours=2, validation_sizes=(15,), states=200, tuning_seeds=2,
    tuning_destroys=(2,),
)  # fmt: skip
SMALLEST = Plan(
    seeds=2, tours=4, plays=2, destroys=(2, 12), sizes=(20, 25), large=(30,), scales=(4,), temperatures=(0.01, 100.0),
    rollouts=1, episodes=20, share=0.001, large_tours=2, validation_sizes=(15,), states=200, tuning_seeds=1,
    tuning_destroys=(12,),
)  # fmt: skip
REAL = ("scale",)
"""The experiment whose jobs are really done with it."""
CHOICES: dict[tuple[str, str], Any] = {
    (agent, setting): choice
    for setting in SETTINGS
    for agent, choice in (
        ("LRW", {"segment": 20, "reaction": 0.9}),
        ("CRW", {"segment": 5, "reaction": 0.1}),
        ("DQN", {"preset": "paper", "network": "small", "hidden": [8], "share": 0.001}),
    )
}


def tuning_results(plan: Plan, best: Mapping[tuple[str, str], int]) -> dict[str, Any]:
    """Made-up scores in which the given choice of each agent and setting is best on average, though not everywhere."""
    rng = np.random.default_rng(1)
    results: dict[str, Any] = {}
    tried: Counter[str] = Counter()
    for job in tuning_jobs(EXPERIMENTS, plan):
        setting = job.settings["setting"]
        if job.kind == "tune-dqn":
            scores = rng.uniform(300, 310, 3 * len(plan.tuning_destroys))
            if tried[setting] == best["DQN", setting]:
                scores += 20
                scores[0] -= 21
            tried[setting] += 1
            results[job.name] = scores.tolist()
        else:
            learned, classic = rng.uniform(200, 210, 12), rng.uniform(100, 110, 12)
            bonus = -5 if job.settings["instance"] == "C" else 30
            learned[best["LRW", setting]] += bonus
            classic[best["CRW", setting]] -= bonus
            results[job.name] = {"LRW": learned.tolist(), "CRW": classic.tolist()}
    return results


BEST = {
    ("DQN", "paper"): 2, ("DQN", "distance"): 1, ("LRW", "paper"): 0, ("LRW", "distance"): 7, ("CRW", "paper"): 11,
    ("CRW", "distance"): 4,
}  # fmt: skip
