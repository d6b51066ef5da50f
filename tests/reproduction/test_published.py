"""The published tables: complete, and as printed."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from neuralns.reproduction.published import (
    PublishedObjective,
    PublishedReward,
    published_objectives,
    published_rewards,
)

# The rows and columns of means that the paper prints.
REWARD_MEANS = {
    "C": {"DQN": 305.7, "RAN": 235.2, "LRW": 275.5},
    "R": {"DQN": 305.6, "RAN": 221.4, "LRW": 255.4},
    "RC": {"DQN": 308.0, "RAN": 239.1, "LRW": 255.9},
}
OBJECTIVE_MEANS = {
    "C": {
        "DQN": (239.49, 176.27), "LRW": (268.25, 187.36), "RAN": (300.76, 207.03), "CRW": (301.86, 208.14)
    },
    "R": {
        "DQN": (242.96, 176.39), "LRW": (287.85, 205.13), "RAN": (319.13, 233.42), "CRW": (318.97, 232.76)
    },
    "RC": {
        "DQN": (242.2, 176.69), "LRW": (290.85, 196.42), "RAN": (302.78, 203.24), "CRW": (303.8, 204.01)
    },
}  # fmt: skip


def test_every_cell_of_the_tables_is_there_once() -> None:
    rewards = [(row.instance, row.destroy_operators, row.agent) for row in published_rewards()]
    assert sorted(rewards) == sorted(product(("C", "R", "RC"), range(2, 13), ("DQN", "RAN", "LRW")))
    cells = [(row.instance, row.destroy_operators, row.agent, row.statistic) for row in published_objectives()]
    agents = ("DQN", "LRW", "RAN", "CRW")
    assert sorted(cells) == sorted(product(("C", "R", "RC"), range(2, 13), agents, ("avg", "min")))


@pytest.mark.parametrize(("instance", "agent"), list(product(REWARD_MEANS, ("DQN", "RAN", "LRW"))))
def test_rewards_have_the_printed_means(instance: str, agent: str) -> None:
    column = [row.mean_reward for row in published_rewards() if (row.instance, row.agent) == (instance, agent)]
    assert np.mean(column) == pytest.approx(REWARD_MEANS[instance][agent], abs=0.0501)


@pytest.mark.parametrize(("instance", "agent"), list(product(OBJECTIVE_MEANS, ("DQN", "LRW", "RAN", "CRW"))))
def test_objectives_have_the_printed_means(instance: str, agent: str) -> None:
    for statistic, mean in zip(("avg", "min"), OBJECTIVE_MEANS[instance][agent], strict=True):
        key = (instance, agent, statistic)
        row = [each.objective for each in published_objectives() if (each.instance, each.agent, each.statistic) == key]
        assert np.mean(row) == pytest.approx(mean, abs=0.00501)


def test_entries_are_as_printed() -> None:
    assert PublishedReward("R", 12, "LRW", 313.1, 17.7) in published_rewards()
    assert PublishedReward("RC", 11, "DQN", 326.1, 15.2) in published_rewards()
    assert PublishedObjective("RC", 7, "CRW", "min", 196.03) in published_objectives()
