"""Steering a search between its segments, as a Gymnasium environment."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env

from neuralns import read
from neuralns.mdp.steering import Steering
from neuralns.operators.portfolio import portfolio_named

PORTFOLIO = portfolio_named("string,random-node,greedy")


def environment(seconds: float = 0.1) -> Steering:
    return Steering(lambda number: read(("E-n22-k4", "E-n51-k5")[number % 2]), PORTFOLIO, (seconds, seconds))


@pytest.mark.filterwarnings("ignore:.*")
def test_it_is_a_gymnasium_environment() -> None:
    def made(**options: Any) -> Steering:
        return environment(0.02)

    env = made()
    # Segments end by the clock.
    env.spec = EnvSpec("neuralns/Steering-v0", entry_point=made, nondeterministic=True)
    check_env(env, skip_render_check=True)


def test_an_episode_is_a_search() -> None:
    env = environment()
    first, _ = env.reset()
    assert first.tolist() == [0, 0, 1, 1, 0, 0, 0, 0]
    progress, rewards, over = [0.0], [], False
    while not over:
        seen, reward, over, cut, info = env.step(np.array([0, 0, 2, 2]))
        assert not cut
        assert env.observation_space.contains(seen)
        progress.append(float(seen[5]))
        rewards.append(reward)
    assert progress == sorted(progress)
    assert progress[-1] == 1.0
    assert set(rewards) == {0.0, 5.0}
    assert info["cost"] <= info["start"]
    assert info["unserved"] == 0
    assert env.number == 1


def test_a_segment_without_a_new_best_solution_brings_nothing() -> None:
    env = environment()
    env.reset()
    over = False
    while not over:
        seen, reward, over, _, _ = env.step(np.array([1, 0, 9, 0]))
        # Stagnation grows until there is one.
        assert (reward == 0.0) == (seen[4] > 0)


def test_time_between_steps_does_not_count() -> None:
    env = environment()
    env.reset()
    env.step(np.array([0, 0, 0, 0]))
    before = env.spent
    assert before > 0
    time.sleep(0.01)
    assert sum(range(200_000)) > 0
    assert env.spent == before
    env.reset()
    assert env.spent == before
    env.step(np.array([0, 0, 0, 0]))
    assert env.spent > before
