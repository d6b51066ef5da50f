"""Evaluations: figures by hand, agents by name, and the numbers of the paper."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from neuralns import Fixed, InputError, Lanes, Uniform, evaluate, make_mdp, read
from neuralns.mdp.baselines import ROLLOUTS, best_fixed_pair, train_roulette
from neuralns.mdp.evaluate import Evaluation, OracleAgent, SelectorAgent, agent_named, confidence, episode
from neuralns.mdp.mdp import SET_SIZE
from neuralns.selection.learned_roulette import LearnedRoulette
from neuralns.selection.policy_file import write_policy

FOUR = "random-route,random-node,greedy,regret-2"
MDP_OF_FOUR = make_mdp("C101", customers=20, portfolio=FOUR, budget=4)
STARTS = np.array([[500.0, 510.0], [500.0, 510.0]])
FINALS = np.array([[300.0, 290.0], [280.0, 310.0]])


@pytest.fixture
def by_hand() -> Evaluation:
    """Two seeds of two episodes."""
    return Evaluation("mine", MDP_OF_FOUR, STARTS - FINALS, FINALS, np.array([6, 2, 5, 3]), 0.5)


def test_figures_by_hand(by_hand: Evaluation) -> None:
    # Rewards 200, 220 (mean 210) and 220, 200 (mean 210).
    assert by_hand.reward_mean == (200 + 220 + 220 + 200) / 4
    assert by_hand.final_mean == (300 + 290 + 280 + 310) / 4
    assert by_hand.final_min == 280
    assert by_hand.start_mean == 505
    assert by_hand.decisions_a_second == 16 / 0.5
    assert by_hand.shares == {"random-route": 6 / 8, "random-node": 2 / 8, "greedy": 5 / 8, "regret-2": 3 / 8}


def test_the_interval_is_students_over_the_means_of_the_seeds() -> None:
    rewards = np.array([[1.0, 3.0], [4.0, 4.0], [5.0, 7.0], [2.0, 6.0]])
    found = Evaluation("mine", MDP_OF_FOUR, rewards, rewards, np.ones(4, np.int64), 1.0)
    # Means 2, 4, 6, 4: mean 4, squares of differences 4 + 0 + 4 + 0 over 3; t for 3 degrees of freedom is 3.18245.
    assert found.reward_ci == pytest.approx(3.18245 * math.sqrt(8 / 3) / math.sqrt(4), rel=1e-5)
    assert confidence(np.array([2.0, 4.0])) == pytest.approx(12.7062 * math.sqrt(2) / math.sqrt(2), rel=1e-5)
    assert confidence(np.array([3.0, 3.0, 3.0])) == 0.0


def test_one_seed_has_no_interval() -> None:
    found = Evaluation("mine", MDP_OF_FOUR, np.ones((1, 3)), np.ones((1, 3)), np.ones(4, np.int64), 1.0)
    assert math.isnan(found.reward_ci)
    assert found.as_dict()["reward_ci"] is None


def test_an_operator_nobody_used_has_share_0() -> None:
    found = Evaluation("mine", MDP_OF_FOUR, np.ones((1, 1)), np.ones((1, 1)), np.array([0, 0, 0, 4]), 1.0)
    assert found.shares == {"random-route": 0.0, "random-node": 0.0, "greedy": 0.0, "regret-2": 1.0}


def test_figures_as_plain_values(by_hand: Evaluation) -> None:
    assert by_hand.as_dict() == {
        "agent": "mine",
        "setting": "paper",
        "instance": "C101",
        "customers": 20,
        "portfolio": FOUR,
        "scale": 4,
        "budget": 4,
        "episodes": 2,
        "seeds": 2,
        "reward_mean": 210.0,
        "reward_ci": 0.0,
        "start_mean": 505.0,
        "final_mean": 295.0,
        "final_min": 280.0,
        "operators": by_hand.shares,
        "decisions_a_second": 32.0,
    }


def test_an_evaluation_plays_every_tour_once_for_each_seed() -> None:
    done: list[tuple[int, int]] = []
    found = evaluate(
        MDP_OF_FOUR, "random", episodes=5, seeds=3, progress=lambda seed, seeds: done.append((seed, seeds))
    )
    assert found.rewards.shape == found.finals.shape == (3, 5)
    starts = [start.cost for start in MDP_OF_FOUR.start_tours("test", 5)]
    assert (found.rewards + found.finals).tolist() == [pytest.approx(starts)] * 3
    assert found.uses.sum() == 3 * 5 * MDP_OF_FOUR.steps
    shares = list(found.shares.values())
    assert (sum(shares[:2]), sum(shares[2:])) == pytest.approx((1, 1))
    assert done == [(1, 3), (2, 3), (3, 3)]
    assert len({tuple(row) for row in found.finals.tolist()}) == 3
    assert found.final_min == found.finals.min()


def test_the_set_of_tours_is_the_one_named() -> None:
    for tours in ("train", "validate", "test"):
        found = evaluate(MDP_OF_FOUR, "random", tours=tours, episodes=4, seeds=1)
        starts = [start.cost for start in MDP_OF_FOUR.start_tours(tours, 4)]
        assert found.rewards[0] + found.finals[0] == pytest.approx(starts)


@pytest.mark.parametrize("agent", ["random", "fixed:random-route,greedy", "best-fixed", "oracle"])
def test_the_same_evaluation_gives_the_same_results(agent: str) -> None:
    one, same = (evaluate(MDP_OF_FOUR, agent, episodes=4, seeds=2) for _ in range(2))
    assert one.finals.tolist() == same.finals.tolist()
    assert one.uses.tolist() == same.uses.tolist()


def test_more_seeds_and_episodes_begin_with_the_fewer() -> None:
    few = evaluate(MDP_OF_FOUR, "random", episodes=4, seeds=2)
    many = evaluate(MDP_OF_FOUR, "random", episodes=8, seeds=3)
    assert many.finals[:2, :4].tolist() == few.finals.tolist()


def test_seeds_can_be_named() -> None:
    done: list[tuple[int, int]] = []
    some = evaluate(
        MDP_OF_FOUR, "random", episodes=4, seeds=[3, 1], progress=lambda seed, seeds: done.append((seed, seeds))
    )
    all_four = evaluate(MDP_OF_FOUR, "random", episodes=4, seeds=4)
    assert some.finals.tolist() == all_four.finals[[3, 1]].tolist()
    assert done == [(1, 2), (2, 2)]
    assert evaluate(MDP_OF_FOUR, "random", episodes=4, seeds=range(4)).finals.tolist() == all_four.finals.tolist()


def test_an_agent_may_have_another_selector_for_each_seed() -> None:
    route, node = Fixed("random-route", "greedy"), Fixed("random-node", "regret-2")
    found = evaluate(MDP_OF_FOUR, SelectorAgent({0: route, 5: node}, "mine"), episodes=4, seeds=(0, 5))
    assert found.agent == "mine"
    for place, (seed, selector) in enumerate(((0, route), (5, node))):
        alone = evaluate(MDP_OF_FOUR, selector, episodes=4, seeds=[seed])
        assert found.finals[place].tolist() == alone.finals[0].tolist()
    assert found.shares == {"random-route": 0.5, "random-node": 0.5, "greedy": 0.5, "regret-2": 0.5}


def test_the_selector_of_a_seed_may_be_given_by_a_function() -> None:
    route, node = Fixed("random-route", "greedy"), Fixed("random-node", "regret-2")
    by_seed = {0: route, 5: node}
    for agent in (SelectorAgent(by_seed, "mine"), SelectorAgent(by_seed.__getitem__, "mine")):
        assert [agent.selector_for(seed) for seed in (0, 5)] == [route, node]
    assert [SelectorAgent(node, "mine").selector_for(seed) for seed in (0, 5)] == [node, node]
    found = [
        evaluate(MDP_OF_FOUR, SelectorAgent(source, "mine"), episodes=4, seeds=(0, 5)).finals.tolist()
        for source in (by_seed, by_seed.__getitem__)
    ]
    assert found[0] == found[1]


def test_a_policy_file_may_be_another_one_for_each_seed(tmp_path: Path) -> None:
    names = MDP_OF_FOUR.portfolio.names
    for seed, weights in ((0, (1.0, 0.0, 1.0, 0.0)), (1, (0.0, 1.0, 0.0, 1.0))):
        write_policy(LearnedRoulette(names, weights).policy(MDP_OF_FOUR.portfolio), tmp_path / f"{seed}.policy")
    found = evaluate(MDP_OF_FOUR, str(tmp_path / "{seed}.policy"), episodes=4, seeds=2)
    for seed, agent in enumerate(("fixed:random-route,greedy", "fixed:random-node,regret-2")):
        wheel = evaluate(MDP_OF_FOUR, str(tmp_path / f"{seed}.policy"), episodes=4, seeds=[seed])
        assert found.finals[seed].tolist() == wheel.finals[0].tolist()
        assert wheel.uses.tolist() == evaluate(MDP_OF_FOUR, agent, episodes=4, seeds=[seed]).uses.tolist()
    assert found.agent == str(tmp_path / "{seed}.policy")


def test_the_oracle_can_simulate_more_or_less() -> None:
    pair = best_fixed_pair(MDP_OF_FOUR)
    usual, same, hasty = (
        evaluate(MDP_OF_FOUR, agent, episodes=6, seeds=1).finals.tolist()
        for agent in (OracleAgent(pair), OracleAgent(pair, rollouts=ROLLOUTS), OracleAgent(pair, rollouts=1))
    )
    assert usual == same != hasty


def test_agents_have_names() -> None:
    assert agent_named("random", MDP_OF_FOUR).name == "random"
    assert agent_named("fixed:random-node,greedy", MDP_OF_FOUR).name == "fixed:random-node,greedy"
    assert agent_named("lrw", MDP_OF_FOUR).name == "lrw"
    assert agent_named("oracle", MDP_OF_FOUR).name == "oracle"
    best = best_fixed_pair(MDP_OF_FOUR)
    assert agent_named("best-fixed", MDP_OF_FOUR).name == f"best-fixed ({best.destroy}, {best.repair})"


def test_a_fixed_pair_uses_its_operators_only() -> None:
    found = evaluate(MDP_OF_FOUR, "fixed:random-node,regret-2", episodes=3, seeds=1)
    assert found.shares == {"random-route": 0, "random-node": 1, "greedy": 0, "regret-2": 1}
    assert (
        found.finals.tolist()
        == evaluate(MDP_OF_FOUR, Fixed("random-node", "regret-2"), episodes=3, seeds=1).finals.tolist()
    )


def test_the_best_fixed_pair_does_better_than_random_selection() -> None:
    mdp = make_mdp("R101", customers=20, portfolio="random-node,greedy-route,greedy")
    best, random = (evaluate(mdp, agent, episodes=32, seeds=2) for agent in ("best-fixed", "random"))
    assert best.agent == "best-fixed (greedy-route, greedy)"
    assert best.reward_mean > random.reward_mean


def test_the_learned_wheel_is_trained_anew_for_each_seed() -> None:
    found = evaluate(MDP_OF_FOUR, "lrw", episodes=3, seeds=2)
    assert found.agent == "lrw"
    for seed in range(2):
        wheel = train_roulette(MDP_OF_FOUR, seed)
        alone = evaluate(MDP_OF_FOUR, wheel, episodes=3, seeds=2)
        assert alone.finals[seed].tolist() == found.finals[seed].tolist()


def test_a_selector_or_an_agent_of_ones_own_can_play() -> None:
    assert evaluate(MDP_OF_FOUR, Uniform(), episodes=3, seeds=1).agent == "random"

    class First:
        name = "first"

        def play(self, lanes: Lanes, seed: int) -> npt.NDArray[np.int64]:
            uses = np.zeros(lanes.action_mask.shape, np.int64)
            lanes.observe()
            while not lanes.done:
                actions = lanes.action_mask.argmax(axis=1)
                uses[np.arange(len(lanes)), actions] += 1
                lanes.step(actions)
            return uses

    found = evaluate(MDP_OF_FOUR, First(), episodes=3, seeds=2)
    assert found.agent == "first"
    same = evaluate(MDP_OF_FOUR, "fixed:random-route,greedy", episodes=3, seeds=2)
    assert found.finals.tolist() == same.finals.tolist()
    assert found.shares == same.shares


def test_a_policy_file_plays(tmp_path: Path) -> None:
    path = tmp_path / "wheel.policy"
    wheel = LearnedRoulette(MDP_OF_FOUR.portfolio.names, (1.0, 0.0, 0.0, 1.0))
    write_policy(wheel.policy(MDP_OF_FOUR.portfolio), path)
    found = evaluate(MDP_OF_FOUR, str(path), episodes=3, seeds=1)
    assert found.agent == str(path)
    assert found.shares == {"random-route": 1, "random-node": 0, "greedy": 0, "regret-2": 1}
    with pytest.raises(InputError, match="trained without operator 'zone'"):
        agent_named(str(path), make_mdp("C101", customers=20, portfolio="zone,greedy"))


@pytest.mark.parametrize(
    ("agent", "sentence"),
    [
        (
            "clever",
            "selector 'clever' is not known; choose random, roulette, ucb, thompson, gain, timed-roulette, intensity, "
            "auto, best-fixed, fixed:DESTROY,REPAIR, a policy, lrw:FILE, adaptive:FILE, FILE.setting or FILE.py.",
        ),
        ("fixed:zone,greedy", f"operator 'zone' is not among random-route, random-node of portfolio '{FOUR}'."),
        ("fixed:random-node,blinks", f"operator 'blinks' is not among greedy, regret-2 of portfolio '{FOUR}'."),
        ("fixed:random-node", "selector 'fixed:random-node' is not a pair; write 'fixed:DESTROY,REPAIR'."),
        ("", "selector '' is not known"),
    ],
)
def test_an_agent_that_cannot_play_is_refused(agent: str, sentence: str) -> None:
    with pytest.raises(InputError, match=re.escape(sentence)):
        agent_named(agent, MDP_OF_FOUR)
    with pytest.raises(InputError, match=re.escape(sentence)):
        evaluate(MDP_OF_FOUR, agent, episodes=1, seeds=1)


@pytest.mark.parametrize("agent", ["roulette", "ucb", "thompson"])
def test_an_agent_that_learns_from_a_search_plays_no_episodes(agent: str) -> None:
    sentence = f"selector {agent!r} learns from a search and plays no episodes."
    with pytest.raises(InputError, match=f"^{re.escape(sentence)}$"):
        evaluate(MDP_OF_FOUR, agent, episodes=1, seeds=1)
    with pytest.raises(InputError, match=f"^{re.escape(sentence)}$"):
        episode(MDP_OF_FOUR, agent)


def test_an_adaptive_wheel_plays_no_episodes(tmp_path: Path) -> None:
    path = tmp_path / "wheel.policy"
    write_policy(LearnedRoulette(MDP_OF_FOUR.portfolio.names, (1.0, 1.0, 1.0, 1.0)).policy(MDP_OF_FOUR.portfolio), path)
    with pytest.raises(InputError, match=r"wheel\.policy' learns from a search and plays no episodes\.$"):
        evaluate(MDP_OF_FOUR, f"adaptive:{path}", episodes=1, seeds=1)


def test_an_evaluation_that_cannot_be_is_refused() -> None:
    with pytest.raises(InputError, match=r"^0 seeds asked for; at least 1 is needed\.$"):
        evaluate(MDP_OF_FOUR, "random", seeds=0)
    with pytest.raises(InputError, match=r"^\[\] seeds asked for; at least 1 is needed\.$"):
        evaluate(MDP_OF_FOUR, "random", seeds=[])
    with pytest.raises(InputError, match=r"^0 start tours asked for; at least 1 is needed\.$"):
        evaluate(MDP_OF_FOUR, "random", episodes=0)
    with pytest.raises(InputError, match="set of start tours 'exam' is not known"):
        evaluate(MDP_OF_FOUR, "random", tours="exam")


# --- The paper. ------------------------------------------------------------------------------------------------------


def test_random_selection_of_all_twelve_operators_gains_what_the_paper_says() -> None:
    found = [
        evaluate(make_mdp(name, customers=20), "random", seeds=3).reward_mean for name in ("C101", "R101", "RC101")
    ]
    assert np.mean(found) == pytest.approx((246.9 + 246.8 + 258.5) / 3, abs=10)


def test_the_oracle_shows_that_there_is_far_more_to_gain() -> None:
    assert evaluate(make_mdp("R101", customers=20), "oracle", episodes=16, seeds=1).reward_mean >= 400


# --- One episode, step by step. --------------------------------------------------------------------------------------


def test_an_episode_is_that_of_the_evaluation() -> None:
    found = evaluate(MDP_OF_FOUR, "random", episodes=1, seeds=2)
    for seed in range(2):
        frames = episode(MDP_OF_FOUR, "random", seed=seed)
        assert frames[-1][0].cost == pytest.approx(found.finals[seed, 0])


@pytest.mark.parametrize("agent", ["random", "fixed:random-route,greedy", "lrw", "best-fixed"])
def test_an_episode_shows_every_state_and_what_led_to_it(agent: str) -> None:
    frames = episode(MDP_OF_FOUR, agent, start=3)
    assert len(frames) == MDP_OF_FOUR.steps + 1
    assert frames[0] == (MDP_OF_FOUR.start_tours("test")[3], "start")
    destroys = [entry.name for entry in MDP_OF_FOUR.portfolio.destroys]
    for number, (solution, action) in enumerate(frames[1:], 1):
        served = sum(map(len, solution.routes))
        assert served == (20 if number % 2 == 0 else 16)
        assert action in MDP_OF_FOUR.portfolio.names
        assert (action in destroys) == (number % 2 == 1)
    assert frames == episode(MDP_OF_FOUR, agent, start=3)


def test_an_episode_that_cannot_be_shown_is_refused() -> None:
    with pytest.raises(InputError, match=r"^agent 'oracle' decides on pairs and cannot be shown step by step"):
        episode(MDP_OF_FOUR, "oracle")
    for start in (-1, SET_SIZE):
        with pytest.raises(InputError, match=rf"^start {start} is not in the set; it has tours 0 to 127\.$"):
            episode(MDP_OF_FOUR, "random", start=start)


def test_an_episode_with_windows_leaves_nobody_out_for_long() -> None:
    mdp = make_mdp(replace(read("R101").first(20, scaled=False), vehicles=8), setting="windows", portfolio="paper")
    frames = episode(mdp, "best-fixed")
    assert frames[0][0].unserved
    assert not frames[-1][0].unserved
    assert [solution.broken_rules() for solution, _ in frames[::2]] == [[]] * 11
