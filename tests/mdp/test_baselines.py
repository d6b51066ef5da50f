"""The best fixed pair, the training of the learned roulette wheel, the rollout oracle."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from helpers import WASTEFUL
from neuralns import Fixed, InputError, Lanes, make_mdp, read
from neuralns.mdp import baselines
from neuralns.mdp.baselines import best_fixed_pair, play_oracle, train_roulette
from neuralns.mdp.mdp import episode_seeds
from neuralns.operators.registry import Operator, operator
from neuralns.operators.toolkit import insert, open_route
from neuralns.routes.bounds import charged_cost
from neuralns.selection.selector import Selector

FOUR = "random-route,random-node,greedy,regret-2"


def singles(state):
    """Give each customer a route of its own."""
    while state.n_removed > 0:
        insert(state, state.removed[0], open_route(state), 0)


def test_the_best_fixed_pair_is_the_one_that_gains_most() -> None:
    # In the paper's setting a route costs 100 and a detour about 1: what empties whole routes wins by far, and what
    # opens a route for each customer loses.
    wasteful = Operator("baselines-singles", "repair", "own", singles)
    entries = [operator("random-node"), operator("greedy-route"), wasteful, operator("greedy")]
    mdp = make_mdp("R101", customers=20, portfolio=entries)
    assert best_fixed_pair(mdp, repeats=1) == Fixed("greedy-route", "greedy")
    assert best_fixed_pair(make_mdp("R101", customers=20, portfolio=entries[::-1]), 1) == Fixed(
        "greedy-route", "greedy"
    )


def test_the_best_fixed_pair_is_the_same_on_every_call() -> None:
    mdp = make_mdp("C101", customers=20, portfolio="paper-5")
    assert best_fixed_pair(mdp) == best_fixed_pair(mdp)


def test_the_only_pair_is_the_best() -> None:
    mdp = make_mdp("C101", customers=20, portfolio="zone,regret-2")
    assert best_fixed_pair(mdp, repeats=1) == Fixed("zone", "regret-2")


# --- The learned roulette wheel. -------------------------------------------------------------------------------------


class Staged(Lanes):
    """Lanes whose episodes have a known end: who was used how often, and what was gained."""

    uses = np.array([[2, 1, 3, 0], [3, 0, 0, 3]])
    gains = np.array([10.0, -4.0])

    def play(self, selector: Selector) -> npt.NDArray[np.int64]:
        self.costs[:] = self.start_costs - self.gains
        return self.uses


@pytest.mark.parametrize(
    ("per", "expected"),
    [
        # The second episode made things worse and scores 0. ψ = 10 × 2, 10 × 1, 10 × 3 and 0; α = 0.8.
        # By episodes, N = 2: 0.2 + 0.8 × 10, 0.2 + 0.8 × 5, 0.2 + 0.8 × 15; with ψ = 0 the weight stays.
        ("episode", [0.2 + 0.8 * 20 / 2, 0.2 + 0.8 * 10 / 2, 0.2 + 0.8 * 30 / 2, 1.0]),
        # By uses, N = 5, 1, 3 and 3: 0.2 + 0.8 × 4, 0.2 + 0.8 × 10, 0.2 + 0.8 × 10.
        ("use", [0.2 + 0.8 * 20 / 5, 0.2 + 0.8 * 10 / 1, 0.2 + 0.8 * 30 / 3, 1.0]),
    ],
)
def test_weights_follow_equation_1_over_one_segment(
    monkeypatch: pytest.MonkeyPatch, per: str, expected: list[float]
) -> None:
    monkeypatch.setattr(baselines, "Lanes", Staged)
    mdp = make_mdp("C101", customers=20, portfolio=FOUR, budget=3)
    wheel = train_roulette(mdp, episodes=2, segment=2, reaction=0.8, per=per)
    assert wheel.operators == mdp.portfolio.names
    assert wheel.weights == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("per", ["episode", "use"])
def test_each_segment_is_played_by_the_weights_of_the_one_before(monkeypatch: pytest.MonkeyPatch, per: str) -> None:
    segments: list[tuple[Any, ...]] = []

    class Recording(Lanes):
        def play(self, selector: Selector) -> npt.NDArray[np.int64]:
            uses = super().play(selector)
            gains = [float(gain) for gain in self.start_costs - self.costs]
            segments.append((selector.start(self.portfolio).weights.tolist(), uses.tolist(), gains))
            return uses

    monkeypatch.setattr(baselines, "Lanes", Recording)
    mdp = make_mdp("C101", customers=20, portfolio=FOUR, budget=3)
    wheel = train_roulette(mdp, seed=1, episodes=35, segment=10, reaction=0.3, per=per)
    assert len(segments) == 3
    weights = [1.0] * 4
    for used_weights, uses, gains in segments:
        assert used_weights == pytest.approx(weights, rel=1e-12)
        for index in range(4):
            score = sum(row[index] * max(0.0, gain) for row, gain in zip(uses, gains, strict=True))
            count = 10 if per == "episode" else sum(row[index] for row in uses)
            if score > 0:
                weights[index] = 0.7 * weights[index] + 0.3 * score / count
    assert wheel.weights == pytest.approx(weights, rel=1e-12)


def test_training_starts_from_the_training_tours(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[frozenset[tuple[int, ...]]] = []

    class Watching(Staged):
        def play(self, selector: Selector) -> npt.NDArray[np.int64]:
            seen.extend(frozenset(self.solution(lane).routes) for lane in range(len(self)))
            return super().play(selector)

    monkeypatch.setattr(baselines, "Lanes", Watching)
    mdp = make_mdp("C101", customers=20, portfolio=FOUR)
    train_roulette(mdp, episodes=40, segment=2)
    tours = {frozenset(start.routes) for start in mdp.start_tours("train")}
    assert set(seen) <= tours
    assert len(set(seen)) > 20


def test_the_wheel_comes_to_prefer_what_is_good() -> None:
    mdp = make_mdp("R101", customers=20, portfolio="random-node,greedy-route,greedy")
    weights = dict(zip(mdp.portfolio.names, train_roulette(mdp, episodes=1000, segment=100).weights, strict=True))
    assert weights["greedy-route"] > 1.2 * weights["random-node"]


def test_training_depends_on_its_seed_alone() -> None:
    mdp = make_mdp("C101", customers=20, portfolio=FOUR)
    one, same, other = (train_roulette(mdp, seed, episodes=200) for seed in (1, 1, 2))
    assert one == same
    assert one.weights != other.weights


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"episodes": 99}, "99 episodes do not hold a segment of 100."),
        ({"segment": 0}, "3000 episodes do not hold a segment of 0."),
        ({"reaction": 0.0}, "reaction 0.0 must lie above 0 and at most at 1."),
        ({"reaction": 1.5}, "reaction 1.5 must lie above 0 and at most at 1."),
        ({"reaction": float("nan")}, "reaction nan must lie above 0 and at most at 1."),
        ({"per": "pair"}, "scores per 'pair' are not known; choose episode or use."),
    ],
)
def test_training_that_cannot_be_is_refused(wrong: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(sentence)}$"):
        train_roulette(make_mdp("C101", customers=20, portfolio=FOUR), **wrong)


# --- The oracle. -----------------------------------------------------------------------------------------------------


def small_lanes(portfolio: str, count: int = 16, budget: int = 3, instance: str = "R101") -> Lanes:
    mdp = make_mdp(instance, customers=20, portfolio=portfolio, budget=budget)
    lanes = Lanes([mdp] * count, observes_nodes=False)
    lanes.reset(mdp.start_tours("test", count), episode_seeds(0, count), observe=False)
    return lanes


def test_the_oracle_does_at_least_as_well_as_the_best_fixed_pair() -> None:
    lanes = small_lanes("random-route,greedy-route,worst-node,greedy,regret-2")
    mdp = lanes.mdps[0]
    best = best_fixed_pair(mdp)
    uses = play_oracle(lanes, best)
    found = lanes.costs.copy()
    assert lanes.done
    assert uses.sum(axis=1).tolist() == [mdp.steps] * 16
    assert found == pytest.approx([lanes.solution(lane).cost for lane in range(16)])
    assert all(lanes.solution(lane).feasible for lane in range(16))
    lanes.reset(mdp.start_tours("test", 16), episode_seeds(0, 16), observe=False)
    lanes.play(best)
    assert found.mean() <= lanes.costs.mean()


def test_the_oracle_leaves_a_default_that_is_poor() -> None:
    lanes = small_lanes("random-node,greedy-route,greedy", count=8)
    uses = play_oracle(lanes, Fixed("random-node", "greedy"), rollouts=20)
    share = uses.sum(axis=0)
    assert share[1] > share[0]


def improving_lanes(entries: list[str | Operator], count: int = 6) -> Lanes:
    mdp = make_mdp("R101", customers=20, portfolio=entries, budget=3, acceptance="improving")
    lanes = Lanes([mdp] * count, observes_nodes=False)
    lanes.reset(mdp.start_tours("test", count), episode_seeds(0, count), observe=False)
    return lanes


def test_the_oracle_undoes_what_makes_tours_dearer() -> None:
    lanes = improving_lanes(["greedy-route", "worst-node", "greedy"])
    uses = play_oracle(lanes, Fixed("greedy-route", "greedy"), rollouts=10)
    assert lanes.done
    assert uses.sum(axis=1).tolist() == [6] * 6
    assert (lanes.rewards >= 0).all()
    assert lanes.costs == pytest.approx([lanes.solution(lane).cost for lane in range(6)])
    assert all(lanes.solution(lane).feasible for lane in range(6))


def test_the_simulations_of_the_oracle_undo_as_well() -> None:
    # To go on with a pair that is always undone leaves what the first one gained. Were its results kept, they would
    # cost far more than the first pair can gain, in whatever pair.
    lanes = improving_lanes(["random-node", WASTEFUL, "greedy"])
    uses = play_oracle(lanes, Fixed("random-node", "wasteful"), rollouts=20)
    repairs = dict(zip(lanes.portfolio.names, uses.sum(axis=0), strict=True))
    assert repairs["greedy"] > repairs["wasteful"]
    # Where nothing can be gained the tours stay as they are.
    stuck = improving_lanes(["random-node", WASTEFUL])
    play_oracle(stuck, Fixed("random-node", "wasteful"), rollouts=2)
    assert stuck.costs.tolist() == stuck.start_costs.tolist()


def test_the_best_fixed_pair_and_the_wheel_learn_where_pairs_are_undone() -> None:
    mdp = make_mdp("R101", customers=20, portfolio=["random-node", WASTEFUL, "greedy"], acceptance="improving")
    assert best_fixed_pair(mdp, repeats=1) == Fixed("random-node", "greedy")
    assert min(train_roulette(mdp, episodes=200).weights) > 0


def test_the_oracle_plays_the_same_on_every_call_and_in_any_batch() -> None:
    portfolio, pair = "random-route,zone,greedy", Fixed("zone", "greedy")
    found = []
    for _ in range(2):
        lanes = small_lanes(portfolio, count=4)
        uses = play_oracle(lanes, pair, rollouts=5)
        found.append((uses.tolist(), [lanes.solution(lane).routes for lane in range(4)]))
    assert found[0] == found[1]
    fewer = small_lanes(portfolio, count=2)
    assert play_oracle(fewer, pair, rollouts=5).tolist() == found[0][0][:2]


def test_the_oracle_has_no_choice_with_one_pair() -> None:
    lanes = small_lanes("zone,greedy", count=3)
    assert play_oracle(lanes, Fixed("zone", "greedy"), rollouts=1).tolist() == [[3, 3]] * 3
    assert lanes.done
    assert lanes.rewards == pytest.approx(lanes.start_costs - lanes.costs)


def test_the_oracle_refuses_what_it_cannot_play() -> None:
    pair = Fixed("zone", "greedy")
    one, other = (make_mdp(name, customers=20, portfolio="zone,pair,greedy") for name in ("C101", "R101"))
    fewer = make_mdp(one.instance, setting="distance", portfolio="zone,greedy")
    mixed = r"^the oracle plays lanes of one instance and one portfolio\.$"
    with pytest.raises(InputError, match=mixed):
        play_oracle(Lanes([one, other]), pair)
    with pytest.raises(InputError, match=mixed):
        play_oracle(Lanes([make_mdp(one.instance, setting="distance", portfolio="zone,pair,greedy"), fewer]), pair)
    with pytest.raises(InputError, match=r"^0 rollouts asked for; at least 1 is needed\.$"):
        play_oracle(Lanes([one]), pair, rollouts=0)
    with pytest.raises(InputError, match="operator 'cluster' is not among zone, pair"):
        play_oracle(Lanes([one]), Fixed("cluster", "greedy"))


def test_baselines_play_with_windows_and_customers_left_out() -> None:
    mdp = make_mdp(replace(read("R101").first(20, scaled=False), vehicles=5), setting="windows", budget=3)
    starts = mdp.start_tours("train", 8)
    assert any(start.unserved for start in starts)
    lanes = Lanes([mdp] * 8, observes_nodes=False)
    gains = {}
    pair = best_fixed_pair(mdp, 1)
    for name, play in (
        ("oracle", lambda: play_oracle(lanes, pair, 10)),
        ("fixed", lambda: lanes.play(pair)),
        ("wheel", lambda: lanes.play(train_roulette(mdp, 1, episodes=100))),
    ):
        lanes.reset(starts, episode_seeds(1, 8))
        assert play().sum() == 8 * mdp.steps
        for lane in range(8):
            found = lanes.solution(lane)
            assert found.broken_rules() == []
            assert lanes.costs[lane] == pytest.approx(charged_cost(found))
        gains[name] = float((lanes.start_costs - lanes.costs).mean())
    assert min(gains.values()) > 0
    assert gains["oracle"] >= gains["fixed"]
