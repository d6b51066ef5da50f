"""The Gymnasium environment: what it promises to libraries, and that it is the MDP of the lanes."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv

from neuralns import ENVIRONMENT_ID, InputError, Instance, Lanes, Solution, make_mdp, portfolio_named, read
from neuralns.mdp.environment import OperatorSelection
from neuralns.selection.features import RICH, WINDOWS

SMALL: dict[str, Any] = {"instance": "C101", "customers": 20, "portfolio": "paper-3", "budget": 3}


def make(**arguments: Any) -> OperatorSelection:
    """The environment without wrappers."""
    environment = gymnasium.make(ENVIRONMENT_ID, **{**SMALL, **arguments}).unwrapped
    assert isinstance(environment, OperatorSelection)
    return environment


def first_allowed(info: dict[str, Any]) -> np.int64:
    return np.int64(np.flatnonzero(info["action_mask"])[0])


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return one.keys() == other.keys() and all(np.array_equal(one[key], other[key]) for key in one)


ARGUMENTS: list[dict[str, Any]] = [
    {},
    {"instance": read("R101").first(20)},
    {"instance": "RC101", "customers": 20},
    {"instance": "E-n22-k4", "setting": "distance"},
    {"instance": "R101", "customers": 20, "setting": "windows"},
    {"instance": replace(read("R101").first(15, scaled=False), vehicles=4), "setting": "windows"},
    {"customers": 20, "portfolio": "modern"},
    {"customers": 20, "portfolio": ["zone", "greedy"]},
    {"customers": 20, "portfolio": portfolio_named("paper-2")},
    {"customers": 20, "scale": 7},
    {"customers": 20, "budget": 2},
    {"customers": 20, "reward": "improvement"},
    {"customers": 20, "features": "paper"},
    {"customers": 20, "neighbours": 0},
    {"customers": 20, "neighbours": 50},
    {"customers": 20, "nodes": 33},
    {"customers": 20, "tours": "validate"},
    {"customers": 20, "tours": "test"},
    {"customers": 20, "tours": "random"},
    {"customers": 20, "render_mode": "rgb_array"},
]


@pytest.mark.parametrize("arguments", ARGUMENTS, ids=lambda arguments: ",".join(arguments) or "defaults")
def test_an_episode_can_be_played_with_any_argument(arguments: dict[str, Any]) -> None:
    environment = gymnasium.make(ENVIRONMENT_ID, **arguments)
    observation, info = environment.reset(seed=1)
    steps, total, terminated = 0, 0.0, False
    while not terminated:
        assert observation in environment.observation_space
        observation, reward, terminated, truncated, info = environment.step(
            environment.action_space.sample(mask=info["action_mask"])
        )
        assert not truncated
        assert not info["replaced_action"]
        total += float(reward)
        steps += 1
    assert observation in environment.observation_space
    assert steps == 2 * arguments.get("budget", 10)
    assert total == pytest.approx(info["start_cost"] - info["cost"])
    assert info["budget"] == 0
    environment.close()


@pytest.mark.parametrize(
    "arguments",
    [{}, {"features": "paper", "nodes": 30, "neighbours": 3}, {"tours": "random"}, {"setting": "windows"}],
    ids=str,
)
def test_gymnasiums_checker_finds_nothing_to_say(arguments: dict[str, Any]) -> None:
    check_env(make(render_mode="rgb_array", **arguments))


def test_the_module_can_be_named_in_the_id() -> None:
    environment = gymnasium.make(f"neuralns:{ENVIRONMENT_ID}", **SMALL)
    assert isinstance(environment.unwrapped, OperatorSelection)


def test_shapes_are_those_of_the_documentation() -> None:
    environment = make(nodes=25, neighbours=4)
    observation, _ = environment.reset(seed=1)
    assert {key: (value.shape, value.dtype.name) for key, value in observation.items()} == {
        "nodes": ((25, len(RICH.nodes)), "float32"),
        "node_mask": ((25,), "int8"),
        "neighbours": ((25, 6), "int32"),
        "globals": ((len(RICH.globals),), "float32"),
        "action_mask": ((5,), "int8"),
    }
    assert environment.action_space == gymnasium.spaces.Discrete(5)
    assert observation["node_mask"].tolist() == [1] * 21 + [0] * 4
    assert not observation["nodes"][21:].any()


def test_where_time_plays_a_part_the_features_say_so() -> None:
    observation, _ = make(setting="windows").reset(seed=1)
    assert observation["nodes"].shape == (21, len(WINDOWS.nodes))
    assert observation["globals"].shape == (len(WINDOWS.globals),)
    observation, _ = make(setting="windows", features="paper").reset(seed=1)
    assert observation["globals"].shape == (2,)


@pytest.mark.parametrize("reward", ["final", "improvement"])
@pytest.mark.parametrize("features", ["paper", "rich"])
def test_the_course_is_that_of_the_lanes(reward: str, features: str) -> None:
    environment = make(reward=reward, features=features, nodes=24)
    mdp = make_mdp("C101", customers=20, portfolio="paper-3", budget=3, reward=reward)
    lanes, choice = Lanes([mdp], features, nodes=24), np.random.default_rng(4)
    observation, info = environment.reset(options={"start": 5, "episode_seed": 7})
    lanes.reset(mdp.start_tours("train")[5:6], np.array([7], np.uint64))
    assert (info["start"], info["episode_seed"]) == (5, 7)
    paid, terminated = 0.0, False
    while True:
        assert observation["nodes"].tolist() == lanes.node_features[0].tolist()
        assert observation["globals"].tolist() == lanes.global_features[0].tolist()
        assert observation["node_mask"].tolist() == lanes.node_mask[0].tolist()
        assert observation["action_mask"].tolist() == info["action_mask"].tolist() == lanes.action_mask[0].tolist()
        assert environment.action_masks().tolist() == (lanes.action_mask[0] == 1).tolist()
        assert environment.solution.routes == lanes.solution(0).routes
        assert (info["cost"], info["start_cost"]) == (lanes.costs[0], lanes.start_costs[0])
        assert info["phase"] == ("destroy", "repair")[lanes.phases[0]]
        assert info["budget"] == lanes.budgets[0]
        assert (paid, terminated) == (lanes.rewards[0], lanes.done)
        if lanes.done:
            break
        action = choice.choice(np.flatnonzero(lanes.action_mask[0]))
        observation, paid, terminated, _, info = environment.step(action)
        lanes.step(np.array([action]))


def test_observations_are_not_overwritten_by_later_steps() -> None:
    environment = make()
    observation, info = environment.reset(seed=1)
    kept = {key: value.copy() for key, value in observation.items()}
    later = environment.step(first_allowed(info))[0]
    assert same(observation, kept)
    assert not same(observation, later)


def test_neighbours_are_those_on_the_tour_then_the_nearest_customers() -> None:
    points = [[0, 0], [1, 0], [3, 0], [6, 0], [10, 0]]
    instance = Instance("line", [0, 1, 1, 1, 1], 4, points, vehicle_cost=100)
    environment = make(
        instance=instance, customers=None, setting="distance", portfolio="greedy-route,greedy", scale=1,
        neighbours=4, nodes=6, tours="random",
    )  # fmt: skip
    start = Solution(instance, [[2, 3], [1, 4]])
    observation, info = environment.reset(options={"start": start})
    assert info["start"] == -1
    # Predecessor and successor, the nearest other customers, and the node itself where there is none.
    assert observation["neighbours"].tolist() == [
        [0, 0, 1, 2, 3, 0],
        [0, 4, 2, 3, 4, 1],
        [0, 3, 1, 3, 4, 2],
        [2, 0, 2, 4, 1, 3],
        [1, 0, 3, 2, 1, 4],
        [5, 5, 5, 5, 5, 5],
    ]
    # The route of 2 and 3 is the shorter one; its first customer is removed and stands for itself.
    observation = environment.step(np.int64(0))[0]
    assert observation["neighbours"][:, :2].tolist() == [[0, 0], [0, 4], [2, 2], [0, 0], [1, 0], [5, 5]]


# --- Beginning an episode. -------------------------------------------------------------------------------------------


def test_the_seed_decides_the_start_and_the_course() -> None:
    environment, twin = make(), make()
    one, other = environment.reset(seed=3), twin.reset(seed=3)
    assert same(one[0], other[0])
    assert (one[1]["start"], one[1]["episode_seed"]) == (other[1]["start"], other[1]["episode_seed"])
    for _ in range(6):
        one_step, other_step = environment.step(first_allowed(one[1])), twin.step(first_allowed(one[1]))
        one = one_step[0], one_step[4]
        assert same(one[0], other_step[0])
        assert one_step[1] == other_step[1]
    following = [environment.reset()[1] for _ in range(8)]
    assert [info["episode_seed"] for info in following] == [twin.reset()[1]["episode_seed"] for _ in range(8)]
    assert len({info["episode_seed"] for info in following}) == 8
    assert len({info["start"] for info in following}) > 4


def test_options_name_the_start_and_the_episodes_seed_and_change_nothing_else() -> None:
    environment = make(tours="test")
    _, plain = environment.reset(seed=3)
    _, started = environment.reset(seed=3, options={"start": 17})
    _, seeded = environment.reset(seed=3, options={"episode_seed": 2**64 - 1})
    assert (started["start"], started["episode_seed"]) == (17, plain["episode_seed"])
    assert (seeded["start"], seeded["episode_seed"]) == (plain["start"], 2**64 - 1)
    environment.reset(options={"start": 17})
    assert environment.solution == Solution(environment.mdp.instance, environment.mdp.start_tours("test")[17].routes)


def test_a_set_is_the_one_named() -> None:
    for tours in ("train", "validate", "test"):
        environment = make(tours=tours)
        environment.reset(options={"start": 0})
        assert environment.solution.routes == environment.mdp.start_tours(tours, 1)[0].routes


def test_random_starts_are_named_by_a_number_as_well() -> None:
    environment = make(tours="random")
    _, info = environment.reset(seed=1)
    routes = environment.solution.routes
    assert environment.reset()[1]["start"] != info["start"]
    assert environment.solution.routes != routes
    environment.reset(options={"start": info["start"]})
    assert environment.solution.routes == routes == environment.mdp.random_start(info["start"]).routes


def test_a_solution_of_ones_own_can_be_the_start() -> None:
    environment = make()
    routes = [[customer] for customer in range(1, 21)]
    _, info = environment.reset(options={"start": Solution(read("C101").first(20), routes)})
    assert environment.solution == Solution(environment.mdp.instance, routes)
    assert info["start_cost"] == pytest.approx(Solution(environment.mdp.instance, routes).cost)
    assert info["start"] == -1


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"begin": 1}, "option 'begin' of reset is not known; there are start and episode_seed."),
        ({"start": 128}, "option 'start' of reset is 128, but must be a whole number from 0 to 127."),
        ({"start": -1}, "option 'start' of reset is -1, but must be a whole number from 0 to 127."),
        ({"start": "5"}, "option 'start' of reset is '5', but must be a whole number from 0 to 127."),
        ({"start": 1.5}, "option 'start' of reset is 1.5, but must be a whole number from 0 to 127."),
        ({"episode_seed": -1}, "option 'episode_seed' of reset is -1, but must be a whole number from 0 to 1844"),
        ({"episode_seed": 2**64}, "option 'episode_seed' of reset is 18446744073709551616, but must be"),
        ({"start": Solution(read("C101"), [[1, 2]])}, "the start does not fit C101:20 (paper): customer 3 is not"),
    ],
)
def test_options_that_cannot_be_used_are_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(sentence)}"):
        make().reset(options=options)


# --- Actions. --------------------------------------------------------------------------------------------------------


def test_an_action_of_the_other_phase_is_replaced_by_an_allowed_one() -> None:
    environment = make()
    seen = set()
    for seed in range(30):
        environment.reset(seed=seed)
        _, _, _, _, info = environment.step(np.int64(4))
        assert info["replaced_action"] is True
        assert info["phase"] == "repair"
        seen.add(environment._last_action)
        _, _, _, _, info = environment.step(np.int64(1))
        assert info["replaced_action"] is True
        assert (info["phase"], info["budget"]) == ("destroy", 2)
        seen.add(environment._last_action)
        _, _, _, _, info = environment.step(np.int64(1))
        assert info["replaced_action"] is False
    assert seen == {0, 1, 2, 3, 4}


def test_the_replacement_depends_on_the_seed_alone() -> None:
    courses = []
    for _ in range(2):
        environment = make()
        environment.reset(seed=11)
        costs = []
        terminated = False
        while not terminated:
            _, _, terminated, _, info = environment.step(np.int64(4))
            costs.append((environment._last_action, info["cost"]))
        courses.append(costs)
    assert courses[0] == courses[1]


def test_what_is_no_action_is_refused() -> None:
    environment = make()
    environment.reset(seed=1)
    for action in (5, -1, 1.5, "zone"):
        with pytest.raises(InputError, match=rf"^action {action!r} is not in Discrete\(5\)\.$"):
            environment.step(action)  # type: ignore[arg-type]


def test_a_step_before_the_start_or_after_the_end_is_refused() -> None:
    environment = make()
    over = r"^the episode is over; call reset\.$"
    with pytest.raises(InputError, match=over):
        environment.step(np.int64(0))
    _, info = environment.reset(seed=1)
    for _ in range(6):
        info = environment.step(first_allowed(info))[4]
    with pytest.raises(InputError, match=over):
        environment.step(first_allowed(info))
    environment.reset()
    environment.step(np.int64(0))


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"render_mode": "human"}, "render mode 'human' is not known; there is rgb_array."),
        ({"tours": "exam"}, "set of start tours 'exam' is not known; choose train, validate, test or random."),
        ({"neighbours": -1}, "number of neighbours -1 must not be negative."),
        ({"nodes": 20}, "20 rows do not hold 21 nodes."),
        ({"features": "poor"}, "feature set 'poor' is not known; choose paper, rich, windows, relative, routes."),
        ({"setting": "text"}, "setting 'text' is not known; choose paper, distance, windows."),
        ({"reward": "late"}, "reward 'late' is not known; choose final or improvement."),
        ({"scale": 0}, "scale 0 must lie between 1 and the 20 customers of the instance."),
        ({"budget": 0}, "budget 0 must be at least 1 pair."),
    ],
)
def test_arguments_that_cannot_be_are_refused(wrong: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(sentence)}$"):
        OperatorSelection(**{**SMALL, **wrong})


# --- Pictures. -------------------------------------------------------------------------------------------------------


def test_pictures_follow_the_tours() -> None:
    environment = make(render_mode="rgb_array")
    _, info = environment.reset(seed=1)
    pictures = [environment.render()]
    for _ in range(3):
        info = environment.step(first_allowed(info))[4]
        pictures.append(environment.render())
    again = environment.render()
    for picture in pictures:
        assert picture is not None
        assert (picture.dtype.name, picture.ndim, picture.shape[2]) == ("uint8", 3, 3)
        assert picture.shape == again.shape  # type: ignore[union-attr]
        assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 10
    assert len({picture.tobytes() for picture in pictures if picture is not None}) == 4
    assert np.array_equal(again, pictures[-1])  # type: ignore[arg-type]


def test_without_a_render_mode_there_is_no_picture() -> None:
    environment = make()
    environment.reset(seed=1)
    assert environment.render() is None


# --- Several at once, and libraries. ---------------------------------------------------------------------------------


def play_together(together: Any) -> list[tuple[list[float], list[float]]]:
    """Play one episode in each environment by first allowed actions; return rewards and costs of each step."""
    observations, _ = together.reset(seed=[1, 2])
    seen = []
    for _ in range(6):
        actions = observations["action_mask"].argmax(axis=1)
        observations, rewards, terminated, truncated, infos = together.step(actions)
        assert not truncated.any()
        seen.append((rewards.tolist(), infos["cost"].tolist()))
    assert terminated.tolist() == [True, True]
    together.close()
    return seen


def test_environments_run_together_in_one_process_or_in_several() -> None:
    makers = [partial(gymnasium.make, f"neuralns:{ENVIRONMENT_ID}", **SMALL) for _ in range(2)]
    together = play_together(SyncVectorEnv(makers))
    # Processes are started afresh: a copy of this one may hold threads.
    assert play_together(AsyncVectorEnv(makers, context="spawn")) == together
    assert play_together(gymnasium.make_vec(ENVIRONMENT_ID, 2, "sync", **SMALL)) == together
    for number, seed in enumerate((1, 2)):
        environment = make()
        _, info = environment.reset(seed=seed)
        for rewards, costs in together:
            _, reward, _, _, info = environment.step(first_allowed(info))
            assert (reward, info["cost"]) == (rewards[number], costs[number])


@pytest.mark.filterwarnings("default")
def test_maskable_ppo_of_sb3_contrib_trains() -> None:
    sb3_contrib = pytest.importorskip("sb3_contrib")
    environment = gymnasium.make(ENVIRONMENT_ID, **SMALL)
    model = sb3_contrib.MaskablePPO("MultiInputPolicy", environment, n_steps=64, batch_size=32, seed=1, device="cpu")
    model.learn(256)
    assert model.num_timesteps >= 256
    observation, info = environment.reset(seed=1)
    terminated = False
    while not terminated:
        masks = environment.get_wrapper_attr("action_masks")()
        action, _ = model.predict(observation, action_masks=masks)
        observation, _, terminated, _, info = environment.step(action)
        assert not info["replaced_action"]
