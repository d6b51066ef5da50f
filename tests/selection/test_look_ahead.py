"""Policies that look ahead: what simulations give is what comes, and they leave the search as it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from neuralns.errors import InputError
from neuralns.mdp.evaluate import evaluate
from neuralns.mdp.lanes import Lanes
from neuralns.mdp.mdp import MDP, episode_seeds, make_mdp
from neuralns.search.solve import solve
from neuralns.search.stopping import MaxIterations
from neuralns.selection.features import RICH
from neuralns.selection.fixed import Fixed
from neuralns.selection.look_ahead import LookAhead, Probes, policy_selector, probes_of
from neuralns.selection.policy import PolicySelector
from neuralns.selection.policy_file import Policy, policy_bytes, read_policy
from neuralns.selection.selector import DESTROY, REPAIR, new_memory_of

OPERATORS = "random-node,greedy-route,greedy,regret-2"
PAIRS = (
    ("random-node", "greedy"),
    ("random-node", "regret-2"),
    ("greedy-route", "greedy"),
    ("greedy-route", "regret-2"),
)
PROBES = Probes((PAIRS[3], PAIRS[0]), (True, False), (PAIRS[2],), 3, 10)


def mdp_of(**changes: Any) -> MDP:
    return make_mdp("R101", **{"customers": 20, "portfolio": OPERATORS, "setting": "paper", **changes})


def policy_for(best: int, probes: Probes = PROBES, **card: Any) -> Policy:
    """A policy that prefers one pair whatever it sees."""
    inputs = len(RICH.globals) + probes.width
    bias = np.zeros((1, 4), np.float32)
    bias[0, best] = 1.0
    entries = {
        "network": "ahead",
        "operators": {"destroy": ["random-node", "greedy-route"], "repair": ["greedy", "regret-2"]},
        "features": {"name": "rich", "version": RICH.version},
        "look_ahead": probes.as_dict(),
        "nodes": 21,
    }
    tensors = {"layers.0.weight": np.zeros((inputs, 4), np.float32), "layers.0.bias": bias}
    return Policy({**entries, **card}, tensors)


def seen(mdp: MDP, lanes: Lanes, lane: int, probes: Probes = PROBES) -> np.ndarray[Any, Any]:
    """What a policy sees of a lane beyond the features, first after first, chain after chain."""
    selector = LookAhead(policy_for(0, probes), 0.0)
    memory = new_memory_of(selector, mdp.portfolio, 20, mdp.instance)
    choose, _ = selector.functions()
    assert choose(memory, lanes.state(lane), DESTROY) == 0
    begin = memory.row + memory.globals
    return np.array(memory.numbers[begin : begin + probes.width]).reshape(1 + len(probes.firsts), -1)


@pytest.mark.parametrize("pair", range(4))
def test_simulating_leaves_the_episode_as_it_is(pair: int) -> None:
    mdp = mdp_of()
    ahead = evaluate(mdp, LookAhead(policy_for(pair), 0.0), episodes=16, seeds=2)
    plain = evaluate(mdp, Fixed(*PAIRS[pair]), episodes=16, seeds=2)
    assert np.array_equal(ahead.finals, plain.finals)
    assert np.array_equal(ahead.uses, plain.uses)


def test_what_an_exact_chain_gives_is_what_comes() -> None:
    mdp = mdp_of()
    lanes = Lanes([mdp] * 12)
    lanes.reset(mdp.start_tours("test", 12), episode_seeds(1, 12))
    lanes.step(np.zeros(12, np.int64))
    lanes.step(np.full(12, 2))
    told = [seen(mdp, lanes, lane) for lane in range(12)]
    starts = lanes.start_costs.copy()
    lanes.play(Fixed(*PAIRS[3]))
    routes = [sum(1 for route in lanes.solution(lane).routes if route) for lane in range(12)]
    for lane in range(12):
        assert told[lane][0, :2].tolist() == [0.0, 0.0]
        assert told[lane][0, 2] == pytest.approx(lanes.costs[lane] / starts[lane])
        assert told[lane][0, 3] == (routes[lane] == 1)
        assert told[lane][0, 4] == pytest.approx(routes[lane] / np.sqrt(20))
        assert 0 <= told[lane][0, 5] <= 0.9
    assert {each == 1 for each in routes} == {True, False}, "both cases are in the sample"


def test_what_a_first_gives_is_what_comes() -> None:
    mdp = mdp_of()
    lanes = Lanes([mdp] * 12)
    starts = mdp.start_tours("validate", 12)
    lanes.reset(starts, episode_seeds(1, 12))
    told = [seen(mdp, lanes, lane) for lane in range(12)]
    before, begin = lanes.costs.copy(), [len(start.routes) for start in starts]
    lanes.step(np.ones(12, np.int64))
    lanes.step(np.full(12, 2))
    looked = 0
    for lane in range(12):
        if told[lane][0, 3] == 1.0:
            assert not told[lane][1].any(), "one tour for sure: nothing else is tried"
            continue
        looked += 1
        fewer = begin[lane] - sum(1 for route in lanes.solution(lane).routes if route)
        assert told[lane][1, 0] == pytest.approx((before[lane] - lanes.costs[lane]) / before[lane], abs=1e-6)
        assert told[lane][1, 1] == pytest.approx(fewer / np.sqrt(20))
    assert looked > 0


def test_other_chains_use_the_same_numbers_every_time() -> None:
    mdp = mdp_of()
    lanes = Lanes([mdp] * 4)
    lanes.reset(mdp.start_tours("test", 4), episode_seeds(1, 4))
    once = [seen(mdp, lanes, lane) for lane in range(4)]
    lanes.reset(mdp.start_tours("test", 4), episode_seeds(2, 4))
    again = [seen(mdp, lanes, lane) for lane in range(4)]
    assert np.array_equal(once, again)
    assert all(0.0 < told[0, 6] <= 1.5 for told in once)


def test_lanes_of_several_instances_have_memories_of_their_own() -> None:
    mdps = [mdp_of(), make_mdp("C101", customers=20, portfolio=OPERATORS, setting="paper")]
    lanes = Lanes(mdps)
    lanes.reset([mdp.start_tours("test", 1)[0] for mdp in mdps], episode_seeds(1, 2))
    lanes.play(LookAhead(policy_for(3), 0.0))
    assert (lanes.costs < lanes.start_costs).all()


def test_a_memory_of_another_instance_is_refused() -> None:
    mdp, other = mdp_of(), make_mdp("C101", customers=20, portfolio=OPERATORS, setting="paper")
    selector = LookAhead(policy_for(3), 0.0)
    lanes = Lanes([mdp])
    lanes.reset(mdp.start_tours("test", 1), episode_seeds(1, 1))
    choose, _ = selector.functions()
    for instance in (other.instance, None):
        memory = new_memory_of(selector, mdp.portfolio, 20, instance)
        assert choose(memory, lanes.state(0), DESTROY) == -1


def test_values_are_those_of_the_best_pairs() -> None:
    mdp = mdp_of()
    selector = LookAhead(policy_for(2), 0.0)
    lanes = Lanes([mdp])
    lanes.reset(mdp.start_tours("test", 1), episode_seeds(1, 1))
    memory = new_memory_of(selector, mdp.portfolio, 20, mdp.instance)
    choose, _ = selector.functions()
    assert choose(memory, lanes.state(0), DESTROY) == 1
    assert choose(memory, lanes.state(0), REPAIR) == 0
    assert selector.values(memory, 20).tolist() == [0.0, 1.0, 1.0, 0.0]


def test_searches_look_ahead_too() -> None:
    selector = LookAhead(policy_for(3, budget=10), 0.0)
    found = solve("E-n22-k4", MaxIterations(30), selector=selector, portfolio=OPERATORS, scale=4, seed=1)
    fixed = solve("E-n22-k4", MaxIterations(30), selector=Fixed(*PAIRS[3]), portfolio=OPERATORS, scale=4, seed=1)
    assert found.cost == fixed.cost
    assert found.feasible


def test_policies_are_read_as_what_they_are(tmp_path: Any) -> None:
    (tmp_path / "mine.policy").write_bytes(policy_bytes(policy_for(1)))
    policy = read_policy(tmp_path / "mine.policy")
    assert isinstance(policy_selector(policy), LookAhead)
    assert probes_of(policy, "mine") == PROBES
    for each in (policy, policy_for(1, Probes())):
        with pytest.raises(InputError, match="looks ahead, which takes a LookAhead"):
            PolicySelector(each)


@pytest.mark.parametrize(
    "wrong",
    [
        None, {}, {"chains": 3}, {"chains": [["a"]]}, {"chains": [["a", 3]]}, {"exact": []}, {"exact": [1, 0]},
        {"samples": 0}, {"samples": 10**6}, {"samples": True}, {"budget": 0}, {"firsts": [["a", "b"]] * 65},
        {"samples": 64, "budget": 10**5},
    ],
)  # fmt: skip
def test_a_card_that_does_not_say_what_to_simulate_is_refused(wrong: Any) -> None:
    entry = wrong if not wrong else {**PROBES.as_dict(), **wrong}
    with pytest.raises(InputError, match="does not say what to simulate"):
        LookAhead(policy_for(0, look_ahead=entry), name="mine.policy")


def test_portfolios_without_what_it_simulates_are_refused() -> None:
    with pytest.raises(InputError, match=r"mine: simulates the pair 'greedy-route', 'regret-2'"):
        LookAhead(policy_for(0), name="mine").start(mdp_of(portfolio="random-node,greedy").portfolio)
    with pytest.raises(InputError, match="was trained without the destroy operator 'zone'"):
        LookAhead(policy_for(0), name="mine").start(mdp_of(portfolio=f"zone,{OPERATORS}").portfolio)


def test_general_rules_are_refused() -> None:
    from neuralns.problem.generate.variants import generate_of

    with pytest.raises(InputError, match="one depot and one type of vehicle"):
        LookAhead(policy_for(0)).start(mdp_of().portfolio, 20, generate_of("hfvrp", 20, 1))
