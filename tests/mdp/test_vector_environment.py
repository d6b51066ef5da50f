"""The vector environment: what it promises to libraries, and that a lane is a single environment."""

from __future__ import annotations

import re
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.wrappers.vector import RecordEpisodeStatistics

from neuralns import ENVIRONMENT_ID, InputError
from neuralns.mdp.vector_environment import OperatorSelectionLanes

SMALL: dict[str, Any] = {"instance": "C101", "customers": 20, "portfolio": "paper-3", "budget": 3}
COUNT = 4


def make(mode: str = "vector_entry_point", **arguments: Any) -> VectorEnv[Any, Any, Any]:
    return gymnasium.make_vec(ENVIRONMENT_ID, num_envs=COUNT, vectorization_mode=mode, **{**SMALL, **arguments})


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return one.keys() == other.keys() and all(np.array_equal(one[key], other[key]) for key in one)


def test_gymnasium_makes_it_without_a_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        environment = make()
    assert isinstance(environment.unwrapped, OperatorSelectionLanes)
    assert environment.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    assert environment.num_envs == COUNT


def test_it_is_what_make_vec_gives_by_default() -> None:
    assert isinstance(gymnasium.make_vec(ENVIRONMENT_ID, num_envs=2, **SMALL), OperatorSelectionLanes)


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"setting": "distance", "portfolio": "modern"},
        {"setting": "windows"},
        {"reward": "improvement", "features": "paper"},
        {"tours": "random", "neighbours": 3, "nodes": 30},
        {"threads": 2},
    ],
    ids=lambda arguments: ",".join(arguments) or "defaults",
)
def test_a_lane_is_a_single_environment_over_several_episodes(arguments: dict[str, Any]) -> None:
    lanes, several = make(**arguments), make("sync", **{k: v for k, v in arguments.items() if k != "threads"})
    assert lanes.observation_space == several.observation_space
    assert lanes.action_space == several.action_space
    for one, other in zip(lanes.reset(seed=5), several.reset(seed=5), strict=True):
        assert same(one, other)
    rng = np.random.default_rng(1)
    # Any action: some are not allowed, and the step after an episode's end begins the next one.
    for _ in range(20):
        actions = rng.integers(0, lanes.single_action_space.n, COUNT)  # type: ignore[attr-defined]
        found, expected = lanes.step(actions), several.step(actions)
        assert lanes.observation_space.contains(found[0])
        assert same(found[0], expected[0])
        for one, other in zip(found[1:4], expected[1:4], strict=True):
            assert np.array_equal(one, other)
            assert one.dtype == other.dtype
        assert same(found[4], expected[4])


def test_seeds_may_be_given_for_each_lane_and_decide_everything() -> None:
    environment: Any = make()
    first, _ = environment.reset(seed=[3, 3, 4, 5])
    assert np.array_equal(first["nodes"][0], first["nodes"][1])
    assert not np.array_equal(first["nodes"][0], first["nodes"][2])
    again, _ = environment.reset(seed=[3, 3, 4, 5])
    assert same(first, again)
    other, _ = environment.reset()
    assert not same(first, other)


def test_what_was_returned_is_not_changed_by_the_next_step() -> None:
    environment = make()
    first, info = environment.reset(seed=1)
    kept = {key: value.copy() for key, value in {**first, **info}.items()}
    environment.step(np.zeros(COUNT, np.int64))
    assert same(kept, {**first, **info})


def test_wrappers_of_gymnasium_work() -> None:
    environment = RecordEpisodeStatistics(make())
    _, info = environment.reset(seed=1)
    for _ in range(6):
        _, _, ended, _, info = environment.step(info["action_mask"].argmax(axis=1))
    assert ended.all()
    assert info["episode"]["r"] == pytest.approx(info["start_cost"] - info["cost"])
    assert info["episode"]["l"].tolist() == [6] * COUNT


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(InputError, match=r"^number of environments 0 must be at least 1\.$"):
        OperatorSelectionLanes(0, **SMALL)
    with pytest.raises(InputError, match=r"^a vector environment renders nothing; render a single one\.$"):
        make(render_mode="rgb_array")
    environment: Any = make()
    with pytest.raises(InputError, match=r"^no episode has begun; call reset\.$"):
        environment.step(np.zeros(COUNT, np.int64))
    with pytest.raises(InputError, match=r"^4 lanes need as many seeds; 2 given\.$"):
        environment.reset(seed=[1, 2])
    with pytest.raises(InputError, match=r"^option 'start' of reset is not known; lanes have none\.$"):
        environment.reset(options={"start": 3})
    environment.reset(seed=1)
    with pytest.raises(InputError, match=re.escape("are not in MultiDiscrete")):
        environment.step(np.full(COUNT, 99))
