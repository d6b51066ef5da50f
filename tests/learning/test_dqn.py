"""Deep Q-learning: its numbers, its randomness, its memory, and every part of the target by hand."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from neuralns import InputError
from neuralns.learning.dqn import EXPLORE, PICK, SAMPLE, Config, Draws, Learner, Replay, preset
from neuralns.learning.networks import Shape

# --- What can be set. ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("network", "steps"), [("mlp", 15_000), ("gat", 25_000)])
def test_the_preset_paper_has_the_numbers_of_the_paper(network: str, steps: int) -> None:
    config = preset("paper", network)
    assert (config.network, config.features, config.steps) == (network, "paper", steps)
    assert (config.learning_rate, config.batch, config.target_every) == (0.0005, 16, 50)
    assert (config.epsilon, config.epsilon_share) == (0.1, 0.1)
    assert (config.loss, config.double, config.n_step, config.anneal) == ("squared", False, 1, False)
    assert config.reward == "final"
    remembered = learner_of(config).replay
    assert remembered.ticks * config.lanes == pytest.approx(0.2 * steps, abs=config.lanes)


def test_the_networks_have_their_hidden_layers() -> None:
    assert preset("paper", "mlp").hidden == (256, 128, 64, 32)
    assert preset("strong", "small").hidden == (32, 16)
    assert preset("strong", "mlp").options == {"hidden": (256, 128, 64, 32)}
    shape = {"width": 32, "layers": 3, "heads": 1, "graph": "complete", "hidden": ()}
    assert preset("paper", "gat").options == shape


@pytest.mark.parametrize("network", ["mlp", "gat", "small"])
def test_the_preset_strong_is_for_every_network(network: str) -> None:
    config = preset("strong", network)
    assert (config.network, config.features, config.double, config.n_step) == (network, "rich", True, 2)
    assert (config.reward, config.loss, config.anneal) == ("improvement", "huber", True)


def test_a_configuration_is_written_as_plain_values() -> None:
    entries = preset("strong", "small").as_dict()
    assert Config(**{**entries, "hidden": tuple(entries["hidden"])}) == preset("strong", "small")
    assert entries["hidden"] == [32, 16]
    assert "options" not in entries


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"network": "oracle"}, "network 'oracle' is not known; choose mlp, gat, small."),
        ({"graph": "star"}, "graph 'star' is not known; choose complete, nearest."),
        ({"loss": "cubed"}, "loss 'cubed' is not known; choose squared, huber."),
        ({"steps": 0}, "steps 0 must be at least 1."),
        ({"lanes": 0}, "lanes 0 must be at least 1."),
        ({"batch": 0}, "batch 0 must be at least 1."),
        ({"target_every": 0}, "target every 0 must be at least 1."),
        ({"n_step": 0}, "n step 0 must be at least 1."),
        ({"validate_every": 0}, "validate every 0 must be at least 1."),
        ({"tours": 0}, "tours 0 must be at least 1."),
        ({"heads": 0}, "heads 0 must be at least 1."),
        ({"width": 0}, "width 0 must be at least 1."),
        ({"layers": 0}, "layers 0 must be at least 1."),
    ],
)
def test_a_configuration_that_cannot_work_is_refused(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        Config(**changes)
    assert str(caught.value) == sentence


def test_an_unknown_preset_is_refused() -> None:
    with pytest.raises(InputError, match=r"^preset 'fast' is not known; choose paper, strong or graph\.$"):
        preset("fast")


# --- Random numbers. -------------------------------------------------------------------------------------------------


def test_draws_are_the_same_every_time_and_however_seeds_are_stacked() -> None:
    stacked = Draws([5, 0, 9])
    for stream, step in ((0, 0), (3, 17), (4, 10**6)):
        words = stacked.words(stream, step, 50)
        assert np.array_equal(words, Draws([5, 0, 9]).words(stream, step, 50))
        for place, seed in enumerate((5, 0, 9)):
            assert np.array_equal(words[place], Draws([seed]).words(stream, step, 50)[0])
        assert np.array_equal(stacked.words(stream, step, 20), words[:, :20])


def test_seeds_streams_steps_and_indices_draw_different_numbers() -> None:
    seen = [
        word
        for stream in range(5)
        for step in range(40)
        for words in Draws(range(10)).words(stream, step, 20)
        for word in words.tolist()
    ]
    assert len(set(seen)) == len(seen) == 5 * 40 * 10 * 20


def test_draws_are_uniform() -> None:
    draws = Draws(range(20))
    numbers = np.stack([draws.uniform(1, step, 50) for step in range(100)])
    assert numbers.dtype == np.float32
    assert 0 <= numbers.min() < 1e-4
    assert 1 - 1e-4 < numbers.max() < 1
    counts = np.histogram(numbers, bins=20, range=(0, 1))[0]
    assert counts == pytest.approx(np.full(20, 5000), abs=350)
    # No lane, step or seed follows its neighbour.
    for axis in range(3):
        flat = np.moveaxis(numbers, axis, 0)
        assert abs(np.corrcoef(flat[:-1].ravel(), flat[1:].ravel())[0, 1]) < 0.015


def test_whole_draws_take_every_value_below_the_bound() -> None:
    found = Draws([1, 2]).integers(2, 3, 7000, 7)
    assert found.shape == (2, 7000)
    for row in found:
        assert np.bincount(row, minlength=7) == pytest.approx(np.full(7, 1000), abs=130)


# --- Exploration. ----------------------------------------------------------------------------------------------------


def learner_of(config: Config, actions: int = 5, seeds: tuple[int, ...] = (1,), globals_: int = 2) -> Learner:
    shape = Shape(3, 2, globals_, actions)
    return Learner(config, shape, seeds, np.ones((len(seeds), config.lanes, 3), np.int8), 0)


def test_exploration_falls_linearly_and_stays() -> None:
    learner = learner_of(preset("paper"))
    assert learner.epsilon(0) == 1
    assert learner.epsilon(750) == pytest.approx(0.55)
    assert learner.epsilon(1500) == pytest.approx(0.1)
    assert learner.epsilon(15_000) == pytest.approx(0.1)
    falls = np.diff([learner.epsilon(step) for step in range(1501)])
    assert falls == pytest.approx(np.full(1500, -0.9 / 1500), rel=1e-6)


def test_exploration_picks_all_allowed_actions_alike_and_no_other() -> None:
    learner = learner_of(Config("small", steps=1000, epsilon=1.0, lanes=4), seeds=(1, 2))
    masks = torch.tensor([[1, 0, 1, 1, 0], [0, 1, 0, 0, 0], [0, 0, 0, 1, 1], [1, 1, 1, 1, 1]], dtype=torch.bool)
    stacked, greedy = masks.expand(2, 4, 5), torch.tensor([[0, 1, 3, 0]] * 2)
    counts = torch.zeros(2, 4, 5)
    for step in range(1500):
        counts.scatter_add_(2, learner.explore(greedy, stacked, step, 1.0)[..., None], torch.ones(2, 4, 1))
    expected = 1500 * masks / masks.sum(1, keepdim=True)
    assert counts[:, ~masks].sum() == 0
    assert (counts - expected).abs().max() < 120


def test_with_epsilon_zero_nothing_is_explored() -> None:
    learner = learner_of(Config("small", steps=100, epsilon=0.0, lanes=4))
    greedy, masks = torch.tensor([[0, 1, 2, 3]]), torch.ones(1, 4, 5, dtype=torch.bool)
    for step in range(10, 60):
        assert torch.equal(learner.explore(greedy, masks, step, 0.0), greedy)


def test_epsilon_is_the_share_of_random_actions() -> None:
    learner = learner_of(Config("small", steps=100, epsilon=0.3, lanes=8))
    greedy, masks = torch.zeros(1, 8, dtype=torch.int64), torch.ones(1, 8, 5, dtype=torch.bool)
    others = sum(int((learner.explore(greedy, masks, step, 0.3) != 0).sum()) for step in range(100, 1100))
    assert others / 8000 == pytest.approx(0.3 * 4 / 5, abs=0.015)


def test_what_is_explored_does_not_depend_on_the_seeds_beside() -> None:
    config = Config("small", steps=100, lanes=6)
    greedy, masks = torch.zeros(3, 6, dtype=torch.int64), torch.ones(3, 6, 5, dtype=torch.bool)
    together = learner_of(config, seeds=(4, 5, 6)).explore(greedy, masks, 3, 1.0)
    alone = learner_of(config, seeds=(6,)).explore(greedy[:1], masks[:1], 3, 1.0)
    assert torch.equal(together[2], alone[0])
    assert len({tuple(row.tolist()) for row in together}) == 3


def test_streams_of_one_step_do_not_repeat_each_other() -> None:
    draws = Draws([1])
    seen = [draws.words(stream, 8, 4).tolist() for stream in (EXPLORE, PICK, SAMPLE)]
    assert len({str(words) for words in seen}) == 3


# --- The replay memory. ----------------------------------------------------------------------------------------------


def test_the_memory_is_a_ring_of_the_latest() -> None:
    replay = Replay(3, 1, 2, Shape(0, 0, 1, 2), 0, torch.device("cpu"))
    for time in range(5):
        number = torch.full((1, 2, 1), float(time))
        masks = torch.tensor([[[True, False]] * 2])
        replay.add(number, masks, None, torch.full((1, 2), time % 2), number[..., 0] * 10, time == 3)
        assert replay.filled == min(time + 1, 3)
        assert replay.now == (time + 1) % 3
    assert replay.rows[:, 0, 0, 0].tolist() == [3, 4, 2]
    assert replay.rewards[:, 0, 1].tolist() == [30, 40, 20]
    assert replay.actions[:, 0, 0].tolist() == [1, 0, 0]
    assert replay.done.tolist() == [True, False, False]
    assert set(replay.tensors()) == {"rows", "masks", "actions", "rewards", "done"}


def test_the_memory_keeps_edges_where_there_are_any() -> None:
    replay = Replay(2, 1, 1, Shape(3, 1, 1, 2), 4, torch.device("cpu"))
    edges = torch.arange(12).view(1, 1, 3, 4)
    zero = torch.zeros(1, 1, dtype=torch.int64)
    replay.add(torch.zeros(1, 1, 4), torch.ones(1, 1, 2, dtype=torch.bool), edges, zero, zero.float(), False)
    assert replay.tensors()["edges"][0].tolist() == edges.tolist()


def test_the_memory_never_holds_fewer_than_a_target_needs() -> None:
    assert learner_of(Config("small", steps=10, n_step=4, lanes=16)).replay.ticks == 6
    assert learner_of(Config("small", steps=10, replay=320, lanes=16)).replay.ticks == 20


# --- Targets by hand. ------------------------------------------------------------------------------------------------

HUGE = 1e6
TABLE = Config("small", hidden=(4,), steps=1000, lanes=1, batch=8, learning_rate=0.01, target_every=1000, replay=100)


def set_table(network: Any, table: list[list[float]], seed: int = 0) -> None:
    """Let a network of one hidden layer give Q(state) = table[state] for states written as rows of an identity."""
    first, second = network.layers
    with torch.no_grad():
        first.weight[seed].copy_(torch.eye(4))
        first.bias[seed].zero_()
        second.weight[seed].copy_(torch.tensor(table))
        second.bias[seed].zero_()


def remember(
    learner: Learner, state: int, action: int, reward: float, done: bool = False, allowed: str = "111", lane: int = 0
) -> None:
    """Remember a state in one lane; the others get the same, with a reward of 0."""
    seeds, lanes = len(learner.seeds), learner.config.lanes
    rows = torch.eye(4)[state].expand(seeds, lanes, 4)
    masks = torch.tensor([mark == "1" for mark in allowed]).expand(seeds, lanes, 3)
    rewards = torch.zeros(seeds, lanes)
    rewards[:, lane] = reward
    learner.replay.add(rows, masks, None, torch.full((seeds, lanes), action), rewards, done)


def table_learner(config: Config, online: list[list[float]], target: list[list[float]]) -> Learner:
    learner = learner_of(config, actions=3, globals_=4)
    set_table(learner.online, online)
    set_table(learner.target, target)
    return learner


ONLINE = [[1.0, 2.0, 3.0], [5.0, 6.0, 7.0], [4.0, 0.0, 0.0], [9.0, 8.0, 7.0]]
TARGET = [[0.0, 0.0, 0.0], [10.0, 30.0, 20.0], [1.0, 2.0, 3.0], [100.0, 200.0, 300.0]]


def test_the_target_is_the_reward_and_the_best_value_that_follows() -> None:
    learner = table_learner(TABLE, ONLINE, TARGET)
    remember(learner, 0, 1, 0.5)
    remember(learner, 1, 0, 99.0)
    # Q(0, 1) = 2, and the target is 0.5 + max(10, 30, 20).
    assert learner.learn(0).tolist() == pytest.approx([(2 - 30.5) ** 2])


def test_an_action_that_is_not_allowed_never_enters_the_target() -> None:
    learner = table_learner(TABLE, ONLINE, [[0.0] * 3, [10.0, HUGE, 20.0], [0.0] * 3, [0.0] * 3])
    remember(learner, 0, 1, 0.5)
    remember(learner, 1, 0, 99.0, allowed="101")
    assert learner.learn(0).tolist() == pytest.approx([(2 - 20.5) ** 2])


def test_double_dqn_asks_the_online_network_which_and_the_target_network_how_much() -> None:
    double = replace(TABLE, double=True)
    learner = table_learner(double, ONLINE, TARGET)
    remember(learner, 0, 1, 0.5)
    remember(learner, 1, 0, 99.0)
    # Online takes action 2 in state 1 (7 > 6 > 5), and the target network says that it is worth 20.
    assert learner.learn(0).tolist() == pytest.approx([(2 - 20.5) ** 2])


def test_double_dqn_chooses_among_allowed_actions_only() -> None:
    double = replace(TABLE, double=True)
    online = [[1.0, 2.0, 3.0], [5.0, 6.0, HUGE], [0.0] * 3, [0.0] * 3]
    learner = table_learner(double, online, [[0.0] * 3, [10.0, 30.0, HUGE], [0.0] * 3, [0.0] * 3])
    remember(learner, 0, 1, 0.5)
    remember(learner, 1, 0, 99.0, allowed="110")
    assert learner.learn(0).tolist() == pytest.approx([(2 - 30.5) ** 2])


@pytest.mark.parametrize("double", [False, True])
def test_nothing_follows_the_end_of_an_episode(double: bool) -> None:
    learner = table_learner(replace(TABLE, double=double), ONLINE, [[HUGE] * 3] * 4)
    remember(learner, 0, 2, 0.5, done=True)
    remember(learner, 1, 0, 99.0)
    assert learner.learn(0).tolist() == pytest.approx([(3 - 0.5) ** 2])


def test_several_rewards_come_before_the_value_that_follows() -> None:
    learner = table_learner(replace(TABLE, n_step=3), ONLINE, TARGET)
    for state, reward in ((0, 1.0), (1, 2.0), (2, 4.0), (3, 99.0)):
        remember(learner, state, 1, reward)
    assert learner.learn(0).tolist() == pytest.approx([(2 - (1 + 2 + 4 + 300)) ** 2])


@pytest.mark.parametrize(("last", "goal"), [(0, 1), (1, 1 + 2), (2, 1 + 2 + 4)])
def test_rewards_of_the_next_episode_do_not_count(last: int, goal: float) -> None:
    learner = table_learner(replace(TABLE, n_step=3), ONLINE, [[HUGE] * 3] * 4)
    for state, reward in ((0, 1.0), (1, 2.0), (2, 4.0), (3, 99.0)):
        remember(learner, state, 1, reward, done=state == last)
    assert learner.learn(0).tolist() == pytest.approx([(2 - goal) ** 2])


@pytest.mark.parametrize(("loss", "expected"), [("squared", 9.0), ("huber", 2.5)])
def test_the_loss_is_squared_or_that_of_huber(loss: str, expected: float) -> None:
    learner = table_learner(replace(TABLE, loss=loss), ONLINE, TARGET)
    remember(learner, 0, 1, 5.0, done=True)
    remember(learner, 1, 0, 0.0)
    assert learner.learn(0).tolist() == pytest.approx([expected])


def test_all_that_is_remembered_is_learned_from_but_the_newest_and_the_forgotten() -> None:
    ring = replace(TABLE, replay=4, batch=1)
    learner = table_learner(ring, [[0.0] * 3] * 4, [[0.0] * 3] * 4)
    assert learner.replay.ticks == 4
    # Rewards say which time was drawn: 2, 3 and 4 are left to learn from; 0 and 1 are gone, and nothing follows 5 yet.
    for time in range(6):
        remember(learner, time % 4, 0, 2.0**time)
    learner.optimiser.param_groups[0]["lr"] = 0.0
    seen = Counter(round(float(learner.learn(step))) for step in range(300))
    assert set(seen) == {4**2, 4**3, 4**4}
    assert min(seen.values()) > 70


def test_the_value_that_follows_is_that_of_the_next_time_also_around_the_end_of_the_ring() -> None:
    ring = replace(TABLE, replay=4, batch=1)
    learner = table_learner(ring, [[0.0] * 3] * 4, [[1.0] * 3, [2.0] * 3, [4.0] * 3, [8.0] * 3])
    for time in range(6):
        remember(learner, time % 4, 0, 0.0)
    learner.optimiser.param_groups[0]["lr"] = 0.0
    # After times 2, 3 and 4 come the states 3, 0 and 1.
    assert {round(float(learner.learn(step))) for step in range(100)} == {64, 1, 4}


def test_every_lane_is_learned_from() -> None:
    learner = table_learner(replace(TABLE, lanes=4, batch=1), [[0.0] * 3] * 4, TARGET)
    remember(learner, 0, 0, 5.0, done=True, lane=2)
    remember(learner, 1, 0, 0.0)
    learner.optimiser.param_groups[0]["lr"] = 0.0
    seen = Counter(round(float(learner.learn(step))) for step in range(400))
    assert set(seen) == {0, 25}
    assert seen[25] == pytest.approx(100, abs=35)


def values_of(learner: Learner, state: int) -> Tensor:
    with torch.no_grad():
        found: Tensor = learner.online(torch.eye(4)[state].expand(1, 1, 4))[0, 0]
    return found


def test_a_gradient_step_moves_the_value_of_the_action_taken_towards_its_target() -> None:
    learner = table_learner(TABLE, ONLINE, TARGET)
    remember(learner, 0, 1, 5.0, done=True)
    remember(learner, 1, 0, 0.0)
    before = values_of(learner, 0)
    second: Any = learner.online.layers[1]
    others = second.weight.detach()[..., [0, 2]].clone()
    for step in range(300):
        learner.learn(step)
    assert before.tolist() == [1, 2, 3]
    assert float(values_of(learner, 0)[1]) == pytest.approx(5, abs=0.05)
    assert torch.equal(second.weight.detach()[..., [0, 2]], others)


def test_the_target_network_is_a_copy_from_time_to_time() -> None:
    learner = table_learner(replace(TABLE, target_every=3), ONLINE, ONLINE)
    remember(learner, 0, 1, 5.0)
    remember(learner, 1, 0, 0.0)

    def weights(network: Any) -> Tensor:
        found: Tensor = network.layers[1].weight.detach().clone()
        return found

    copy = weights(learner.target)
    for step in range(9):
        learner.learn(step)
        if step in (2, 5, 8):
            copy = weights(learner.online)
        assert torch.equal(weights(learner.target), copy)
        assert torch.equal(weights(learner.online), copy) == (step in (2, 5, 8))


def test_online_and_target_network_begin_alike() -> None:
    learner = learner_of(preset("strong", "small"))
    for name, values in learner.online.state_dict().items():
        assert torch.equal(learner.target.state_dict()[name], values)


@pytest.mark.parametrize(("anneal", "expected"), [(True, [0.01, 0.0075, 0.005, 0.00001]), (False, [0.01] * 4)])
def test_the_learning_rate_falls_to_zero_where_asked_for(anneal: bool, expected: list[float]) -> None:
    learner = table_learner(replace(TABLE, anneal=anneal), ONLINE, TARGET)
    remember(learner, 0, 1, 5.0)
    remember(learner, 1, 0, 0.0)
    rates = []
    for step in (0, 250, 500, 999):
        learner.learn(step)
        rates.append(learner.optimiser.param_groups[0]["lr"])
    assert rates == pytest.approx(expected)


def test_greedy_actions_are_the_best_of_those_allowed() -> None:
    learner = table_learner(TABLE, ONLINE, TARGET)
    rows, nodes = torch.eye(4)[[0, 0, 3]][None], torch.ones(1, 3, 3)
    masks = torch.tensor([[[1, 1, 1], [1, 1, 0], [0, 1, 1]]], dtype=torch.bool)
    assert learner.act(rows, masks, nodes, None).tolist() == [[2, 1, 1]]


def test_each_seed_learns_from_its_own_lanes() -> None:
    learner = learner_of(replace(TABLE, lanes=2), actions=3, seeds=(1, 2), globals_=4)
    for seed in range(2):
        set_table(learner.online, [[0.0] * 3] * 4, seed)
    rows, masks = torch.eye(4)[0].expand(2, 2, 4), torch.ones(2, 2, 3, dtype=torch.bool)
    rewards = torch.tensor([[3.0, 3.0], [7.0, 7.0]])
    for _ in range(2):
        learner.replay.add(rows, masks, None, torch.zeros(2, 2, dtype=torch.int64), rewards, True)
    assert learner.learn(0).tolist() == pytest.approx([9, 49])
