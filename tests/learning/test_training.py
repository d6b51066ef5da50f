"""Training runs: they learn, keep the best, and stacking changes nothing."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch

from agents import greedy_gain, short, task_of, trained
from neuralns import InputError, Lanes, evaluate, make_mdp
from neuralns.learning.starts import make_tasks
from neuralns.learning.training import Standing, Training
from neuralns.selection.features import RICH
from neuralns.selection.policy import PolicySelector
from neuralns.selection.policy_file import Policy

PAIRS = "random-node,greedy-route,greedy"
TINY = make_mdp("R101", customers=20, portfolio=PAIRS, budget=3)


def test_the_better_operator_is_learned() -> None:
    mdp = make_mdp("R101", customers=20, portfolio=PAIRS)
    training = trained([mdp], short(steps=400, lanes=16, batch=32, validate_every=100), tours=64)
    learned = evaluate(mdp, PolicySelector(training.policy(0), 0.0), episodes=32, seeds=2)
    worse, better = (evaluate(mdp, f"fixed:{name},greedy", episodes=32, seeds=2) for name in PAIRS.split(",")[:2])
    assert better.reward_mean > worse.reward_mean + 50
    assert learned.reward_mean > better.reward_mean - 10
    assert learned.shares["greedy-route"] > 0.4


def test_training_changes_what_an_untrained_agent_does() -> None:
    first = Training([task_of([TINY])], short())
    before = {name: values.clone() for name, values in first.learner.online.state_dict().items()}
    first.run()
    assert not any(torch.equal(values, before[name]) for name, values in first.learner.online.state_dict().items())


# --- Validation. -----------------------------------------------------------------------------------------------------


def test_validation_tours_are_not_those_of_training() -> None:
    (task,) = make_tasks([TINY], [0], "random", 200)
    train, validation = ({frozenset(start.routes) for start in sets[0]} for sets in (task.starts, task.validation))
    test = {frozenset(start.routes) for start in TINY.start_tours("test")}
    assert (len(train), len(validation)) == (200, 128)
    assert not train & validation
    assert not (train | validation) & test


@pytest.mark.parametrize(
    ("network", "graph"), [("small", "complete"), ("mlp", "complete"), ("gat", "complete"), ("gat", "nearest")]
)
def test_the_validation_reward_is_what_the_policy_that_is_kept_earns(network: str, graph: str) -> None:
    # Training plays with torch, the policy runs compiled.
    mdp = make_mdp("P-n16-k8", setting="distance")
    training = trained([mdp], short(network, graph=graph, steps=40), seeds=(1, 2))
    for agent, task in enumerate(training.tasks):
        found = greedy_gain(mdp, training.policy(agent), task.validation[0])
        assert found == pytest.approx(training.best_scores[agent], rel=1e-9)


def test_the_best_parameters_are_kept_not_the_last() -> None:
    # A learning rate that throws the network about: it gets worse as often as better.
    mdp = make_mdp("R101", customers=20, budget=3)
    config = short(learning_rate=0.1, anneal=False, steps=120, validate_every=6)
    training = Training([task_of([mdp], seed) for seed in (0, 1)], config)
    reports: list[Standing] = []
    kept: list[float] = []

    def note(standing: Standing) -> None:
        reports.append(standing)
        kept.append(greedy_gain(mdp, training.policy(0), training.tasks[0].validation[0]))

    training.run(note)
    seen = np.array([standing.validation for standing in reports if not np.isnan(standing.validation).any()])
    best = np.maximum.accumulate(seen)
    assert np.array_equal([standing.best for standing in reports[-len(seen) :]], best)
    assert training.best_scores == pytest.approx(best[-1])
    assert (seen[-1] < best[-1]).all()
    assert (np.diff(best[:, 0]) > 0).any()
    assert kept[-len(seen) :] == pytest.approx(best[:, 0])


def test_parameters_are_kept_that_save_most_over_all_sizes_where_others_are_validated_too() -> None:
    mdp, others = TINY, [make_mdp("R101", customers=size, portfolio=PAIRS, budget=3) for size in (12, 16)]
    config = short(learning_rate=0.1, anneal=False, steps=120, validate_every=6)
    beyond = tuple((other, tuple(other.start_tours("validate", 8))) for other in others)
    tasks = [replace(task_of([mdp], seed), beyond=beyond) for seed in (0, 1)]
    training = Training(tasks, config)
    own = tasks[0].validation[0]
    tried: list[tuple[float, dict[str, Any], list[float]]] = []

    def note(standing: Standing) -> None:
        # Validations lie at the ends of episodes.
        if not np.isnan(standing.validation).any():
            present = {name: values[1].numpy().copy() for name, values in training.learner.online.state_dict().items()}
            policy = Policy(training.policy(1).card, present)
            rewards = [greedy_gain(each, policy, tours) for each, tours in ((mdp, own), *beyond)]
            costs = [np.mean([tour.cost for tour in tours]) for tours in (own, *(tours for _, tours in beyond))]
            tried.append((float(np.mean(np.array(rewards) / costs)), present, rewards))

    training.run(note)
    score, parameters, rewards = max(tried, key=lambda entry: entry[0])
    policy = training.policy(1)
    assert training.best_scores[1] == pytest.approx(score)
    assert all(np.array_equal(policy.tensors[name], values) for name, values in parameters.items())
    assert policy.card["validation_reward"] == pytest.approx(rewards[0])
    assert policy.card["validation_sizes"] == [12, 16]
    assert policy.card["validation_rewards_by_size"] == pytest.approx(rewards[1:])
    # What is learned does not depend on it.
    plain = Training([task_of([mdp], seed) for seed in (0, 1)], config)
    plain.run()
    last, same = training.learner.online.state_dict(), plain.learner.online.state_dict()
    assert all(torch.equal(last[name], values) for name, values in same.items())
    assert "validation_sizes" not in plain.policy(1).card


def test_without_a_validation_yet_the_agent_is_the_present_one() -> None:
    training = Training([task_of([TINY])], short(validate_every=1000))
    training.run(stop=lambda: training.step >= 20)
    policy = training.policy(0)
    present = training.learner.online.state_dict()
    assert all(np.array_equal(policy.tensors[name], values[0]) for name, values in present.items())
    assert policy.card["validation_reward"] is None


# --- The course of a run. --------------------------------------------------------------------------------------------


def test_a_run_does_all_its_steps_and_reports_every_episode() -> None:
    training = Training([task_of([TINY], seed) for seed in (3, 4)], short(steps=50, validate_every=25))
    reports: list[Standing] = []
    training.run(reports.append)
    assert training.done
    # Six actions an episode, the first of which only fills the memory.
    assert [standing.step for standing in reports] == [0, 6, 12, 18, 24, 30, 36, 42, 48, 50]
    assert all(standing.done == standing.step and standing.steps == 50 for standing in reports)
    assert [bool(np.isnan(standing.validation).any()) for standing in reports] == [True] * 5 + [False] * 5
    assert reports[-1].epsilon == pytest.approx(0.05)
    assert {standing.loss.shape for standing in reports} == {standing.returns.shape for standing in reports} == {(2,)}
    assert np.isfinite([standing.loss for standing in reports]).all()
    assert all(a.seconds < b.seconds for a, b in pairwise(reports))


def test_a_run_that_is_told_to_stop_ends_after_the_episode_and_goes_on_when_run_again() -> None:
    stopped, whole = (Training([task_of([TINY])], short()) for _ in range(2))
    stopped.run(stop=lambda: stopped.step >= 20)
    assert (stopped.step, stopped.done) == (24, False)
    stopped.run()
    whole.run()
    assert all(np.array_equal(whole.policy(0).tensors[name], v) for name, v in stopped.policy(0).tensors.items())


@pytest.mark.parametrize("reward", ["final", "improvement"])
def test_rewards_are_gains_in_the_scale_of_random_actions(reward: str) -> None:
    training = Training([task_of([TINY])], short(reward=reward, reward_scale=7.0, lanes=64, replay=6400))
    training.run(stop=lambda: True)
    paid = training.learner.replay.rewards[:6, 0].double()
    total = float(paid.sum(0).mean())
    assert total == pytest.approx(float(training.last_returns[0] * training.reward_scales[0]), rel=1e-5)
    # The first episode is of random actions.
    assert total == pytest.approx(7, rel=0.3)
    in_between = paid[[1, 3]].abs().sum()
    assert (in_between > 0) == (reward == "improvement")
    assert not paid[[0, 2, 4]].any()


@pytest.mark.parametrize(("network", "graph"), [("small", "complete"), ("mlp", "complete"), ("gat", "nearest")])
def test_the_memory_holds_what_was_seen_when_the_action_was_taken(network: str, graph: str) -> None:
    training = Training([task_of([TINY])], short(network, graph=graph, steps=1))
    training.run(stop=lambda: True)
    replay = training.learner.replay
    wide, nodes = len(RICH.globals), 0 if network == "small" else 21
    phase, budget = (replay.rows[:6, 0, :, replay.rows.shape[-1] - wide + place] for place in (0, 1))
    assert phase.tolist() == [[step % 2] * 4 for step in range(6)]
    assert budget.numpy() == pytest.approx(np.array([[1 - step // 2 / 3] * 4 for step in range(6)]))
    allowed = [[True, True, False], [False, False, True]]
    assert replay.masks[:6, 0].tolist() == [[allowed[step % 2]] * 4 for step in range(6)]
    taken = replay.masks[:6, 0].gather(-1, replay.actions[:6, 0, :, None])
    assert taken.all()
    assert replay.done[:6].tolist() == [False] * 5 + [True]
    if replay.edges is not None:
        # A customer has neighbours on its tour in the very states in which it is on a route.
        features = replay.rows[:6, 0, :, : nodes * len(RICH.nodes)].view(6, 4, nodes, -1)
        on_tour = features[..., RICH.nodes.index("routed")] == 1
        own = torch.arange(nodes)
        assert torch.equal((replay.edges[:6, 0, ..., :2] != own[:, None]).all(-1)[..., 1:], on_tour[..., 1:])
        assert (~on_tour).sum() == 3 * 4 * TINY.scale


@pytest.mark.parametrize("name", ["P-n16-k8", "E-n51-k5"])
def test_the_nearest_nodes_are_those_of_compiled_policies_where_distances_are_equal(name: str) -> None:
    # Compiled policies take the node of the lower number (see the tests of their values).
    mdp = make_mdp(name, setting="distance", portfolio=PAIRS, budget=3)
    training = Training([task_of([mdp])], short("gat", graph="nearest"))
    training.run(stop=lambda: True)
    edges, distances = training.learner.replay.edges, mdp.instance.distances
    assert edges is not None
    assert distances is not None
    for node, found in enumerate(edges[0, 0, 0, :, 2:].tolist()):
        others = [other for other in range(1, len(distances)) if other != node]
        assert found == sorted(others, key=lambda other: (distances[node, other], other))[:10]


# --- Seeds side by side. ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("network", ["small", "mlp", "gat"])
def test_seeds_stacked_learn_what_each_learns_alone(network: str) -> None:
    config = short(network, steps=30, validate_every=10)
    together = trained([TINY], config, seeds=(5, 6))
    for agent, seed in enumerate((5, 6)):
        alone = trained([TINY], config, seeds=(seed,))
        assert alone.best_scores[0] == pytest.approx(together.best_scores[agent], rel=1e-9)
        for name, values in alone.policy(0).tensors.items():
            np.testing.assert_allclose(together.policy(agent).tensors[name], values, rtol=1e-3, atol=1e-4)


def test_runs_are_the_same_every_time_whatever_the_threads() -> None:
    one, other = (Training([task_of([TINY])], short(), threads=threads) for threads in (1, 2))
    one.run()
    other.run()
    assert all(np.array_equal(other.policy(0).tensors[name], v) for name, v in one.policy(0).tensors.items())


def test_agents_with_other_portfolios_are_trained_side_by_side() -> None:
    few, many = (make_mdp("R101", customers=20, portfolio=name, budget=3) for name in ("paper-3", "paper-5"))
    training = Training([task_of([few], 1), task_of([many], 2)], short(lanes=16, epsilon=1.0, replay=2000))
    training.run()
    assert training.portfolio == many.portfolio
    replay = training.learner.replay
    used = [
        {training.portfolio.names[action] for action in replay.actions[: replay.filled, agent].flatten().tolist()}
        for agent in range(2)
    ]
    assert used == [set(few.portfolio.names), set(many.portfolio.names)]
    for agent, mdp in enumerate((few, many)):
        starts = training.tasks[agent].validation[0]
        assert greedy_gain(mdp, training.policy(agent), starts) == pytest.approx(training.best_scores[agent])
    # The smaller task alone numbers its actions anew, but learns within its own operators all the same.
    alone = trained([few], short(lanes=16), seeds=(1,))
    assert alone.policy(0).destroys == tuple(entry.name for entry in few.portfolio.destroys)


# --- Several MDPs. ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("network", "graph"), [("gat", "complete"), ("gat", "nearest"), ("small", "complete")])
def test_instances_of_several_sizes_train_one_agent(network: str, graph: str) -> None:
    mdps = [make_mdp(name, customers=size, portfolio=PAIRS, budget=3) for name, size in (("R101", 20), ("C101", 30))]
    training = trained(mdps, short(network, graph=graph, steps=30))
    policy = training.policy(0)
    assert policy.card["sizes"] == [20, 30]
    assert policy.card["scale"] == [4, 6]
    assert policy.card["instances"] == [mdp.instance.name for mdp in mdps]
    assert np.isfinite(training.best_scores).all()
    for size in (20, 25, 50):
        mdp = make_mdp("RC101", customers=size, portfolio=PAIRS, budget=3)
        assert np.isfinite(evaluate(mdp, PolicySelector(policy, 0.0), episodes=4, seeds=1).rewards).all()


def test_every_mdp_has_lanes_that_start_from_its_own_tours() -> None:
    mdps = [make_mdp(name, customers=20, portfolio=PAIRS, budget=3) for name in ("R101", "C101", "RC101")]
    training = Training([task_of(mdps, 0)], short(lanes=2))
    assert training.config.lanes == 3
    for _ in range(4):
        training.run(stop=lambda: True)
        lanes: Lanes = training._players.lanes
        for lane, (mdp, starts) in enumerate(zip(mdps, training.tasks[0].starts, strict=True)):
            assert lanes.mdps[lane].instance is mdp.instance
            assert any(lanes.start_costs[lane] == pytest.approx(start.cost, rel=1e-9) for start in starts)


def test_validation_is_over_all_mdps() -> None:
    mdps = [make_mdp(name, customers=20, portfolio=PAIRS, budget=3) for name in ("R101", "C101")]
    training = Training([task_of(mdps, tours=3)], short(steps=20))
    training.run()
    assert training._validators.count == 6
    assert [mdp.instance.name for mdp in training._validators.lanes.mdps[::3]] == [m.instance.name for m in mdps]


# --- What is refused. ------------------------------------------------------------------------------------------------


def test_tasks_that_do_not_fit_are_refused() -> None:
    larger = make_mdp("R101", customers=25, portfolio=PAIRS, budget=3)
    with pytest.raises(InputError, match=r"^training needs at least one task\.$"):
        Training([], short())
    with pytest.raises(InputError, match=r"^an mlp needs instances of one size; take gat or small for different"):
        Training([task_of([TINY, larger])], short("mlp"))
    with pytest.raises(InputError, match=r"^an mlp needs instances of one size"):
        Training([task_of([TINY]), task_of([larger], 1)], short("mlp"))
    with pytest.raises(InputError, match=r"^all MDPs of a training run need the same budget\.$"):
        Training([task_of([TINY, replace(TINY, budget=4)])], short())
    other = make_mdp("R101", customers=20, portfolio="zone,regret-2", budget=3)
    with pytest.raises(InputError, match=r"^lanes cannot mix portfolio"):
        Training([task_of([TINY]), task_of([other], 1)], short())


@pytest.mark.parametrize("device", ["tpu", "meta", "cuda:99", "cpu:x", ""])
def test_a_device_that_is_not_there_is_refused(device: str) -> None:
    with pytest.raises(InputError, match=rf"^device '{device}' is not there; choose cpu, or cuda where torch sees a"):
        Training([task_of([TINY])], short(), device=device)


def test_the_card_says_what_was_learned_where_and_how() -> None:
    training = trained([TINY], short(), seeds=(7, 8))
    card = training.policy(1, note="mine").card
    assert card["network"] == "small"
    assert card["features"] == {"name": "rich", "version": RICH.version}
    assert card["operators"] == {"destroy": ["random-node", "greedy-route"], "repair": ["greedy"]}
    assert (card["setting"], card["scale"], card["budget"], card["sizes"]) == ("paper", 4, 3, [20])
    assert (card["seed"], card["note"], card["nodes"]) == (8, "mine", 21)
    assert card["validation_reward"] == training.best_scores[1]
    assert card["training"] == training.config.as_dict()
