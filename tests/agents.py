"""Short training runs for tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from neuralns import MDP, Lanes, Solution
from neuralns.learning.dqn import Config, preset
from neuralns.learning.training import Task, Training
from neuralns.mdp.mdp import episode_seeds
from neuralns.selection.policy import PolicySelector
from neuralns.selection.policy_file import Policy


def short(network: str = "small", **changes: Any) -> Config:
    """The preset ``strong``, made small enough for a test."""
    few = {"steps": 60, "lanes": 4, "batch": 8, "replay": 400, "target_every": 7, "validate_every": 20, "tours": 16}
    return replace(preset("strong", network), **{**few, **changes})


def task_of(mdps: Sequence[MDP], seed: int = 0, tours: int = 16) -> Task:
    """Learn the MDPs from random tours, with as many to validate on."""
    train, validate = (tuple(tuple(mdp.start_tours(name, tours)) for mdp in mdps) for name in ("train", "validate"))
    return Task(tuple(mdps), train, validate, seed)


def trained(mdps: Sequence[MDP], config: Config, seeds: Sequence[int] = (0,), tours: int = 16) -> Training:
    """A run of one agent for each seed, gone through."""
    training = Training([task_of(mdps, seed, tours) for seed in seeds], config)
    training.run()
    return training


def greedy_gain(mdp: MDP, policy: Policy, starts: Sequence[Solution]) -> float:
    """The mean gain of a policy, run compiled and greedily, over starts with the random numbers of validation."""
    lanes = Lanes([mdp] * len(starts), observes_nodes=False)
    lanes.reset(starts, episode_seeds(0, len(starts), "validation"), observe=False)
    lanes.play(PolicySelector(policy, 0.0))
    return float(np.mean(lanes.start_costs - lanes.costs))
