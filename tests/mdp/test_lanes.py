"""Batches of episodes: what the MDP promises at every step, for any instance, portfolio and batch."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import neuralns
from brute_force import keeps_every_rule, timed_instances
from helpers import WASTEFUL, random_instances
from neuralns import (
    MDP,
    Acceptance,
    Always,
    Fixed,
    HillClimbing,
    InputError,
    Instance,
    Lanes,
    MaxIterations,
    OperatorError,
    RecordToRecord,
    SimulatedAnnealing,
    Solution,
    Uniform,
    destroy,
    make_mdp,
    make_portfolio,
    random_tours,
)
from neuralns.compiled.structs import Struct, whole
from neuralns.mdp.lanes import Tours, common_portfolio
from neuralns.mdp.mdp import episode_seeds
from neuralns.operators import registry
from neuralns.operators.portfolio import Portfolio, portfolio_named
from neuralns.operators.toolkit import insert as put
from neuralns.operators.toolkit import open_route, random, random_routed, remove
from neuralns.routes.bounds import charged_cost
from neuralns.search.search import Search
from neuralns.search.setup import make_setup
from neuralns.selection.features import RICH
from neuralns.selection.selector import Selector

TEN = Instance("ten", [0] + [1] * 10, 10, np.random.default_rng(1).integers(1, 100, (11, 2)))
PORTFOLIOS = ["paper", "paper-2", "modern-all", "random-route,greedy-route,regret-3"]


@st.composite
def random_mdps(draw: Any, most: int = 14) -> MDP:
    """MDPs of any kind of instance, portfolio, scale, budget and reward."""
    instance = draw(random_instances(most))
    return MDP(
        instance,
        portfolio_named(draw(st.sampled_from(PORTFOLIOS))),
        "distance",
        draw(st.integers(1, instance.customers)),
        draw(st.integers(1, 4)),
        draw(st.sampled_from(["final", "improvement"])),
    )


def seeds_from(seed: int, count: int) -> npt.NDArray[np.uint64]:
    return np.arange(seed, seed + count, dtype=np.uint64)


def allowed_at(lanes: Lanes, draws: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """An allowed action for each lane, from a number in [0, 1) for each."""
    rows = [np.flatnonzero(row) for row in lanes.action_mask]
    return np.array([row[int(draw * len(row))] for row, draw in zip(rows, draws, strict=True)], dtype=np.int64)


def looks(lanes: Lanes, lane: int) -> tuple[Any, ...]:
    """Everything that can be seen of a lane."""
    return (
        lanes.solution(lane).routes,
        float(lanes.costs[lane]),
        float(lanes.rewards[lane]),
        lanes.node_features[lane].tolist(),
        lanes.global_features[lane].tolist(),
        lanes.action_mask[lane].tolist(),
    )


def courses(
    lanes: Lanes, starts: list[Solution], seeds: npt.NDArray[np.uint64], draws: npt.NDArray[np.float64]
) -> list[list[tuple[Any, ...]]]:
    """Play whole episodes by actions from a table of draws; return what was seen of each lane in every state."""
    lanes.reset(starts, seeds)
    seen = [[looks(lanes, lane)] for lane in range(len(lanes))]
    for row in draws:
        lanes.step(allowed_at(lanes, row))
        for lane in range(len(lanes)):
            seen[lane].append(looks(lanes, lane))
    assert lanes.done
    return seen


@settings(deadline=None, max_examples=60)
@given(random_mdps(), st.integers(0, 1000))
def test_every_step_keeps_what_the_mdp_promises(mdp: MDP, seed: int) -> None:
    instance, everybody = mdp.instance, list(range(1, mdp.instance.customers + 1))
    starts = [random_tours(instance, seed + lane) for lane in range(2)]
    draws = np.random.default_rng(seed).random((mdp.steps, 2))
    lanes = Lanes([mdp] * 2)
    lanes.reset(starts, seeds_from(seed, 2))
    destroys = [True] * len(mdp.portfolio.destroys) + [False] * len(mdp.portfolio.repairs)
    assert lanes.start_costs == pytest.approx([start.cost for start in starts], rel=1e-12)
    totals, before = np.zeros(2), [start.cost for start in starts]
    for step in range(mdp.steps):
        repairing = step % 2 == 1
        assert not lanes.done
        assert lanes.phases.tolist() == [int(repairing)] * 2
        assert lanes.budgets.tolist() == [mdp.budget - step // 2] * 2
        assert lanes.action_mask.tolist() == [[int(kind != repairing) for kind in destroys]] * 2
        lanes.step(allowed_at(lanes, draws[step]))
        totals += lanes.rewards
        for lane in range(2):
            found = lanes.solution(lane)
            visited = [customer for route in found.routes for customer in route]
            if not repairing:
                assert len(visited) == len(set(visited)) == instance.customers - mdp.scale
                assert lanes.rewards[lane] == 0.0
                assert lanes.costs[lane] == pytest.approx(before[lane], rel=1e-9, abs=1e-9)
                continue
            assert sorted(visited) == everybody
            assert found.faults() == []
            assert lanes.costs[lane] == pytest.approx(found.cost, rel=1e-9, abs=1e-9)
            paid = 0.0
            if mdp.reward == "improvement":
                paid = before[lane] - found.cost
            elif step == mdp.steps - 1:
                paid = starts[lane].cost - found.cost
            assert lanes.rewards[lane] == pytest.approx(paid, rel=1e-9, abs=1e-7)
            before[lane] = found.cost
    assert lanes.done
    assert lanes.budgets.tolist() == [0, 0]
    assert totals == pytest.approx(lanes.start_costs - lanes.costs, rel=1e-9, abs=1e-7)


@settings(deadline=None, max_examples=15)
@given(random_mdps(), st.integers(0, 1000))
def test_an_episode_depends_on_its_start_seed_and_actions_alone(mdp: MDP, seed: int) -> None:
    starts = [random_tours(mdp.instance, seed + lane) for lane in range(5)]
    seeds = seeds_from(seed, 5)
    draws = np.random.default_rng(seed).random((mdp.steps, 5))
    lanes = Lanes([mdp] * 5)
    together = courses(lanes, starts, seeds, draws)
    assert courses(lanes, starts, seeds, draws) == together
    assert courses(Lanes([mdp] * 5, threads=3), starts, seeds, draws) == together
    for lane in range(5):
        one = slice(lane, lane + 1)
        assert courses(Lanes([mdp]), starts[one], seeds[one], draws[:, one]) == together[one]


@pytest.mark.parametrize("selector", [Uniform(), Fixed("zone", "regret-2")], ids=lambda selector: selector.name)
def test_a_played_episode_depends_on_its_start_and_seed_alone(selector: Uniform | Fixed) -> None:
    mdp = make_mdp("C101", customers=20)
    starts, seeds = mdp.start_tours("train", 7), episode_seeds(1, 7)
    found = []
    for lanes in (Lanes([mdp] * 7), Lanes([mdp] * 7, threads=2), Lanes([mdp] * 7, observes_nodes=False)):
        lanes.reset(starts, seeds, observe=False)
        uses = lanes.play(selector)
        found.append((uses.tolist(), lanes.costs.tolist(), [lanes.solution(lane).routes for lane in range(7)]))
    assert found[0] == found[1] == found[2]
    alone = Lanes([mdp])
    alone.reset(starts[3:4], seeds[3:4])
    assert alone.play(selector).tolist() == found[0][0][3:4]
    assert alone.solution(0).routes == found[0][2][3]


def test_the_seed_changes_the_course_and_the_lanes_do_not_follow_each_other() -> None:
    mdp = make_mdp("C101", customers=20)
    lanes = Lanes([mdp] * 8)
    lanes.reset(mdp.start_tours("train", 1) * 8, episode_seeds(1, 8))
    lanes.step(np.full(8, mdp.portfolio.names.index("random-node")))
    assert len({lanes.solution(lane).routes for lane in range(8)}) == 8


def test_play_counts_each_use_and_pays_at_the_end() -> None:
    mdp = make_mdp("C101", customers=20, budget=6)
    lanes = Lanes([mdp] * 4)
    lanes.reset(mdp.start_tours("train", 4), episode_seeds(1, 4))
    uses = lanes.play(Fixed("zone", "regret-2"))
    expected = [6 if name in ("zone", "regret-2") else 0 for name in mdp.portfolio.names]
    assert uses.tolist() == [expected] * 4
    assert lanes.done
    assert lanes.rewards == pytest.approx(lanes.start_costs - lanes.costs)
    assert lanes.costs == pytest.approx([lanes.solution(lane).cost for lane in range(4)])


def test_play_goes_on_from_where_the_steps_ended() -> None:
    mdp = make_mdp("C101", customers=20, budget=3)
    starts, seeds = mdp.start_tours("train", 2), episode_seeds(1, 2)
    fixed, lanes = Fixed("zone", "greedy"), Lanes([mdp] * 2)
    lanes.reset(starts, seeds)
    lanes.play(fixed)
    whole = lanes.costs.tolist()
    lanes.reset(starts, seeds)
    lanes.step(np.full(2, mdp.portfolio.names.index("zone")))
    uses = lanes.play(fixed)
    assert lanes.costs.tolist() == whole
    assert uses.sum(axis=1).tolist() == [5, 5]


def test_a_lane_that_is_done_waits_for_the_others() -> None:
    short, long = (make_mdp("C101", customers=20, budget=budget) for budget in (1, 2))
    lanes = Lanes([short, long])
    lanes.reset([short.start_tours("train", 1)[0], long.start_tours("train", 1)[0]], episode_seeds(1, 2))
    for _ in range(2):
        lanes.step(lanes.action_mask.argmax(axis=1))
    assert lanes.budgets.tolist() == [0, 1]
    assert not lanes.done
    routes, cost, reward = lanes.solution(0).routes, lanes.costs[0], lanes.rewards[0]
    assert reward == pytest.approx(lanes.start_costs[0] - cost)
    for _ in range(2):
        # Whatever is asked of the lane that is done, nothing happens in it, and nothing is paid twice.
        lanes.step(np.array([99, lanes.action_mask[1].argmax()]))
        assert (lanes.solution(0).routes, lanes.costs[0], lanes.rewards[0]) == (routes, cost, 0.0)
    assert lanes.done


# --- A whole episode by hand. ----------------------------------------------------------------------------------------

# On a line with the depot at 0: customer 1 at 1, 2 at −2, 3 at 4, 4 at −8, each on a route of its own.
LINE = Instance("line", [0, 1, 1, 1, 1], 4, [[0, 0], [1, 0], [-2, 0], [4, 0], [-8, 0]], vehicle_cost=100)
SINGLES = Solution(LINE, [[1], [2], [3], [4]])


@pytest.mark.parametrize(
    ("reward", "paid"), [("final", [0, 0, 0, 430 - 224]), ("improvement", [0, 430 - 328, 0, 328 - 224])]
)
def test_an_episode_on_a_line_by_hand(reward: Any, paid: list[float]) -> None:
    mdp = MDP(LINE, portfolio_named("greedy-route,greedy"), "distance", 1, 2, reward)
    lanes = Lanes([mdp] * 3)
    lanes.reset([SINGLES] * 3, seeds_from(5, 3))
    # Lengths 2, 4, 8, 16 and four vehicles: F = 30 + 400.
    assert lanes.costs.tolist() == [430] * 3
    rewards = []

    def step(action: int) -> tuple[set[tuple[int, ...]], float]:
        lanes.step(np.full(3, action))
        rewards.append(lanes.rewards.tolist())
        assert len({lanes.solution(lane).routes for lane in range(3)}) == 1
        return set(lanes.solution(0).routes), float(lanes.costs[0])

    # The shortest route, that of customer 1, is removed; F is still that of the last complete solution.
    assert step(0) == ({(2,), (3,), (4,)}, 430)
    # To insert 1 costs 1 + 3 − 2 = 2 beside 2, 1 + 3 − 4 = 0 on the way to 3, 1 + 9 − 8 = 2 beside 4, and 2 + 100 on a
    # route of its own: F = 4 + 8 + 16 + 300.
    assert step(1) == ({(2,), (1, 3), (4,)}, 328)
    # Now 2 is alone on the shortest route, of length 4.
    assert step(0) == ({(1, 3), (4,)}, 328)
    # To insert 2 costs 2 + 6 − 8 = 0 on the way to 4, and at least 2 + 3 − 1 = 4 elsewhere: F = 8 + 16 + 200.
    assert step(1) == ({(1, 3), (2, 4)}, 224)
    assert lanes.done
    assert rewards == [[value] * 3 for value in paid]


# --- Pairs that make the tours dearer are undone. --------------------------------------------------------------------


@settings(deadline=None, max_examples=40)
@given(random_mdps(), st.integers(0, 1000))
def test_improving_tours_never_get_dearer(mdp: MDP, seed: int) -> None:
    mdp = replace(mdp, acceptance=HillClimbing())
    starts = [random_tours(mdp.instance, seed + lane) for lane in range(2)]
    draws = np.random.default_rng(seed).random((mdp.steps, 2))
    lanes = Lanes([mdp] * 2)
    lanes.reset(starts, seeds_from(seed, 2))
    totals = np.zeros(2)
    for step in range(mdp.steps):
        before, complete = lanes.costs.copy(), [lanes.solution(lane) for lane in range(2)]
        lanes.step(allowed_at(lanes, draws[step]))
        totals += lanes.rewards
        assert (lanes.rewards >= 0).all()
        if step % 2 == 0:
            tours = complete
            assert lanes.costs.tolist() == before.tolist()
            continue
        assert (lanes.costs <= before).all()
        for lane in range(2):
            found = lanes.solution(lane)
            assert found.faults() == []
            assert lanes.costs[lane] == pytest.approx(found.cost, rel=1e-9, abs=1e-9)
            if found.cost > tours[lane].cost * (1 - 1e-12):
                # Not better: the tours are as they were, or others of the same cost.
                assert found.cost == pytest.approx(tours[lane].cost, rel=1e-12)
            if mdp.reward == "improvement":
                assert lanes.rewards[lane] == before[lane] - lanes.costs[lane]
    assert totals == pytest.approx(lanes.start_costs - lanes.costs, rel=1e-9, abs=1e-7)


@settings(deadline=None, max_examples=30)
@given(random_mdps(), st.integers(0, 1000))
def test_a_pair_is_kept_or_undone_as_a_whole(mdp: MDP, seed: int) -> None:
    # The same seed and actions with and without undoing, for one pair.
    both = [replace(mdp, budget=1, reward="final", acceptance=rule) for rule in (Always(), HillClimbing())]
    start = random_tours(mdp.instance, seed)
    lanes = Lanes(both)
    lanes.reset([start] * 2, np.full(2, seed, np.uint64))
    for draw in np.random.default_rng(seed).random(2):
        lanes.step(allowed_at(lanes, np.full(2, draw)))
    kept, found = lanes.solution(0), lanes.solution(1)
    if lanes.costs[0] > lanes.start_costs[0]:
        assert set(found.routes) == set(start.routes)
        assert lanes.costs[1] == lanes.start_costs[1]
        assert lanes.rewards[1] == 0
    else:
        assert found.routes == kept.routes
        assert lanes.costs[1] == lanes.costs[0]
        assert lanes.rewards[1] == lanes.rewards[0]


@pytest.mark.parametrize("reward", ["final", "improvement"])
def test_a_pair_undone_by_hand(reward: Any) -> None:
    portfolio = make_portfolio("own", ["greedy-route", WASTEFUL, "greedy"])
    mdp = MDP(LINE, portfolio, "distance", 2, 2, reward, HillClimbing())
    lanes = Lanes([mdp] * 2)
    lanes.reset([Solution(LINE, [[1, 2], [3], [4]])] * 2, seeds_from(5, 2))
    # Lengths 1 + 3 + 2, 8 and 16, and three vehicles: F = 30 + 300.
    assert lanes.costs.tolist() == [330] * 2
    rewards = []
    for action, complete in ((0, False), (1, True), (0, False), (2, True)):
        lanes.step(np.full(2, action))
        rewards.append(lanes.rewards.tolist())
        assert (sum(map(len, lanes.solution(0).routes)) == 4) == complete
        if action == 1:
            # Customers 1 and 2, on routes of their own, need one vehicle more: everything is as it was.
            assert set(lanes.solution(0).routes) == {(1, 2), (3,), (4,)}
            assert lanes.costs.tolist() == [330] * 2
            assert lanes.budgets.tolist() == [1, 1]
    # The next pair works on the old tours: 1 joins 3 and 2 joins 4, each on its way.
    assert set(lanes.solution(0).routes) == {(1, 3), (2, 4)}
    assert lanes.costs.tolist() == [224] * 2
    assert rewards == [[0, 0], [0, 0], [0, 0], [330 - 224] * 2]


def test_an_undone_pair_is_seen_as_one_without_gain() -> None:
    portfolio = make_portfolio("own", ["random-node", WASTEFUL])
    mdps = [make_mdp("C101", customers=20, portfolio=portfolio, acceptance=rule) for rule in ("improving", "always")]
    lanes = Lanes(mdps)
    lanes.reset(mdps[0].start_tours("train", 1) * 2, episode_seeds(0, 2))
    for action in (0, 1, 0, 1):
        lanes.step(np.full(2, action))
    gained = lanes.global_features[:, RICH.globals.index("gained")]
    assert gained[0] == 0 > gained[1]
    # Two pairs since F last fell: 2 / (2 + 2).
    assert lanes.global_features[:, RICH.globals.index("stalled")].tolist() == [0.5, 0.5]


def test_play_undoes_as_steps_do() -> None:
    portfolio = make_portfolio("own", ["random-node", WASTEFUL])
    mdp = make_mdp("C101", customers=20, portfolio=portfolio, acceptance="improving")
    lanes, starts = Lanes([mdp] * 3), mdp.start_tours("train", 3)
    lanes.reset(starts, episode_seeds(0, 3))
    lanes.play(Uniform())
    assert lanes.done
    assert lanes.rewards.tolist() == [0, 0, 0]
    assert [set(lanes.solution(lane).routes) for lane in range(3)] == [set(start.routes) for start in starts]


def test_lanes_that_undo_and_lanes_that_do_not_mix() -> None:
    portfolio = make_portfolio("own", ["random-node", WASTEFUL])
    mdps = [make_mdp("C101", customers=20, portfolio=portfolio, acceptance=rule) for rule in ("always", "improving")]
    lanes = Lanes(mdps)
    lanes.reset(mdps[0].start_tours("train", 1) * 2, episode_seeds(0, 2))
    lanes.play(Uniform())
    assert lanes.rewards[0] < 0
    assert lanes.rewards[1] == 0


# --- Acceptance as in a search. --------------------------------------------------------------------------------------

RULES = [
    SimulatedAnnealing(100.0, 1.0),
    SimulatedAnnealing(0.5, 0.1),
    RecordToRecord(5.0, 1.0),
    HillClimbing(),
    Always(),
]


def generator_of(lanes: Lanes, lane: int) -> list[int]:
    return [int(word) for word in lanes.state(lane).random]


@pytest.mark.parametrize("rule", RULES, ids=repr)
@pytest.mark.parametrize("pair", [("random-node", "greedy"), ("zone", "regret-2"), ("random-node", "random-insertion")])
def test_an_episode_is_a_search_with_the_same_pairs_and_random_numbers(rule: Acceptance, pair: tuple[str, str]) -> None:
    # Distances are whole, so that costs are the same to the bit however they are added up.
    mdp = make_mdp("E-n22-k4", setting="distance", portfolio=list(pair), budget=20, acceptance=rule)
    starts = mdp.start_tours("train", 4)
    lanes = Lanes([mdp] * 4)
    lanes.reset(starts, episode_seeds(3, 4))
    words = [generator_of(lanes, lane) for lane in range(4)]
    temperatures: list[list[float]] = []
    costs: list[list[float]] = []
    while not lanes.done:
        if not lanes.phases.any():
            temperatures.append([lanes.state(lane).status.temperature for lane in range(4)])
        lanes.step(lanes.action_mask.argmax(axis=1))
        if not lanes.phases.any():
            costs.append(lanes.costs.tolist())
    for lane, start in enumerate(starts):
        setup = make_setup(
            mdp.instance, MaxIterations(20), Fixed(*pair), mdp.portfolio, scale=mdp.scale, acceptance=rule,
            initial=start,
        )  # fmt: skip
        search = Search(setup, np.random.SeedSequence(0), time.perf_counter())
        search._state.random[:] = words[lane]
        for number in range(20):
            search.advance(1)
            assert search._status.current == costs[number][lane]
            assert search._status.temperature == pytest.approx(temperatures[number][lane])
        assert search.current().routes == lanes.solution(lane).routes
        own = lanes.state(lane).status
        for name in ("start", "current", "best", "candidate", "gain", "iteration", "since_best", "since_gain", "quota"):
            assert getattr(search._status, name) == getattr(own, name), name
        assert search._status.acceptance == own.acceptance


def test_the_temperature_of_an_episode_falls_over_its_pairs() -> None:
    mdp = make_mdp(
        "R101", customers=20, portfolio="random-node,greedy", budget=20, acceptance=SimulatedAnnealing(100, 1)
    )
    lanes = Lanes([mdp])
    for _ in range(2):
        lanes.reset(mdp.start_tours("train", 1), episode_seeds(0, 1))
        found = []
        while not lanes.done:
            found.append(lanes.state(0).status.temperature)
            lanes.step(lanes.action_mask.argmax(axis=1))
        assert found[::2] == pytest.approx([100 ** (1 - pair / 20) for pair in range(20)])
        assert found[1::2] == found[::2]


def test_annealing_accepts_some_and_undoes_other_pairs_that_make_tours_dearer() -> None:
    portfolio = make_portfolio("own", ["random-node", WASTEFUL])
    mdp = make_mdp("R101", customers=20, portfolio=portfolio, scale=1, budget=8, acceptance=SimulatedAnnealing(100, 90))
    lanes = Lanes([mdp] * 200)
    lanes.reset(mdp.start_tours("train", 100) * 2, episode_seeds(0, 200))
    accepted = rejected = 0
    while not lanes.done:
        before = lanes.costs.copy()
        lanes.step(lanes.action_mask.argmax(axis=1))
        lanes.step(lanes.action_mask.argmax(axis=1))
        for lane in range(200):
            status = lanes.state(lane).status
            if status.candidate > before[lane] + 50:
                accepted += lanes.costs[lane] == status.candidate
                rejected += lanes.costs[lane] == before[lane]
    # A customer on a route of its own costs about 100, at a temperature of about 95: exp(−100 / 95).
    assert accepted / (accepted + rejected) == pytest.approx(0.35, abs=0.06)


def test_each_lane_follows_a_rule_of_its_own() -> None:
    portfolio = make_portfolio("own", ["random-node", WASTEFUL])
    mdps = [make_mdp("C101", customers=20, portfolio=portfolio, budget=4, acceptance=rule) for rule in RULES]
    lanes = Lanes(mdps)
    starts, seeds = [mdp.start_tours("train", 1)[0] for mdp in mdps], episode_seeds(0, len(mdps))
    lanes.reset(starts, seeds)
    lanes.play(Uniform())
    for lane, mdp in enumerate(mdps):
        alone = Lanes([mdp])
        alone.reset(starts[lane : lane + 1], seeds[lane : lane + 1])
        alone.play(Uniform())
        assert alone.costs[0] == lanes.costs[lane]


class Generous(Acceptance):
    """Accept what is worse by less than 150."""

    @staticmethod
    def accepts(state, candidate):
        return candidate < state.status.current + 150.0


def test_a_rule_of_ones_own_holds_in_episodes() -> None:
    portfolio = make_portfolio("own", ["random-node", WASTEFUL])
    found = []
    for scale in (1, 4):
        mdp = make_mdp("C101", customers=20, portfolio=portfolio, scale=scale, budget=1, acceptance=Generous())
        lanes = Lanes([mdp] * 4)
        lanes.reset(mdp.start_tours("train", 4), episode_seeds(0, 4))
        lanes.play(Uniform())
        found.append(lanes.rewards.tolist())
    # One route more costs about 100, four of them about 400.
    assert all(-150 < reward < 0 for reward in found[0])
    assert found[1] == [0.0] * 4


# --- Lanes of different kinds. ---------------------------------------------------------------------------------------


def test_portfolios_and_sizes_mix_in_one_batch() -> None:
    small = make_mdp(TEN, portfolio="zone,regret-2", budget=2)
    large = make_mdp("R101", customers=20, portfolio="paper-5", budget=3)
    mixed = [small, large, small]
    starts = [mdp.start_tours("train", 1)[0] for mdp in mixed]
    seeds, draws = episode_seeds(2, 3), np.random.default_rng(1).random((6, 3))
    lanes = Lanes(mixed)
    assert lanes.portfolio == large.portfolio
    names = lanes.portfolio.names
    lanes.reset(starts, seeds)
    zone = [int(name == "zone") for name in names]
    assert lanes.action_mask.tolist() == [zone, [1, 1, 1, 1, 1, 0, 0], zone]
    assert lanes.node_mask.sum(axis=1).tolist() == [11, 21, 11]
    assert lanes.node_features.shape[1] == 21
    assert not lanes.node_features[0, 11:].any()
    lanes.step(allowed_at(lanes, draws[0]))
    regret = [int(name == "regret-2") for name in names]
    assert lanes.action_mask.tolist() == [regret, [0, 0, 0, 0, 0, 1, 1], regret]
    together = courses(lanes, starts, seeds, draws)
    alone = courses(Lanes([large]), starts[1:2], seeds[1:2], draws[:, 1:2])
    assert together[1] == alone[0]
    own = courses(Lanes([small]), starts[:1], seeds[:1], draws[:4, :1])
    assert [state[0] for state in together[0][:5]] == [state[0] for state in own[0]]
    assert [state[3][:11] for state in together[0][:5]] == [state[3] for state in own[0]]


def test_rows_beyond_the_nodes_are_padding() -> None:
    mdp = make_mdp(TEN)
    starts, seeds, draws = mdp.start_tours("train", 2), episode_seeds(0, 2), np.full((mdp.steps, 2), 0.5)
    plain, padded = Lanes([mdp] * 2), Lanes([mdp] * 2, nodes=16)
    one, other = courses(plain, starts, seeds, draws), courses(padded, starts, seeds, draws)
    for lane in range(2):
        for state, wide in zip(one[lane], other[lane], strict=True):
            assert wide[3][:11] == state[3]
            assert not np.any(wide[3][11:])
            assert (wide[:3], wide[4:]) == (state[:3], state[4:])
    assert padded.node_mask.tolist() == [[1] * 11 + [0] * 5] * 2


def test_without_nodes_the_rest_is_observed_all_the_same() -> None:
    mdp = make_mdp("C101", customers=20)
    starts, seeds, draws = mdp.start_tours("train", 2), episode_seeds(0, 2), np.full((mdp.steps, 2), 0.3)
    lanes = Lanes([mdp] * 2, observes_nodes=False)
    assert lanes.node_features.shape == (2, 0, len(RICH.nodes))
    found = courses(lanes, starts, seeds, draws)
    whole = courses(Lanes([mdp] * 2), starts, seeds, draws)
    for lane in range(2):
        assert [(*state[:3], *state[4:]) for state in found[lane]] == [
            (*state[:3], *state[4:]) for state in whole[lane]
        ]


def test_lanes_share_the_starts_they_are_numbered_for() -> None:
    mdp = make_mdp("C101", customers=20)
    starts = mdp.start_tours("train", 5)
    lanes = Lanes([mdp] * 3)
    lanes.reset(Tours(starts), episode_seeds(0, 3), np.array([4, 0, 4]))
    assert [lanes.solution(lane).routes for lane in range(3)] == [starts[number].routes for number in (4, 0, 4)]
    assert lanes.costs == pytest.approx([starts[number].cost for number in (4, 0, 4)])


def test_tour_edges_are_the_neighbours_on_the_route() -> None:
    mdp = MDP(LINE, portfolio_named("greedy-route,greedy"), "distance", 1, 1)
    lanes = Lanes([mdp] * 2, nodes=6)
    lanes.reset([Solution(LINE, [[3, 1, 2], [4]]), SINGLES], seeds_from(0, 2))
    edges = np.full((2, 6, 3), 7, np.int32)
    lanes.tour_edges(edges)
    assert edges[0].tolist() == [[0, 0, 7], [3, 2, 7], [1, 0, 7], [0, 1, 7], [0, 0, 7], [7, 7, 7]]
    assert edges[1, 1:5, :2].tolist() == [[0, 0]] * 4
    # The shortest routes are those of customers 3, 1, 2 (length 4 + 3 + 3 + 2 = 12) and of customer 1; who is removed
    # stands for itself.
    lanes.step(np.array([0, 0]))
    lanes.tour_edges(edges)
    assert edges[0, 1:5, :2].tolist() == [[0, 2], [1, 0], [3, 3], [0, 0]]
    assert edges[1, 1:5, :2].tolist() == [[1, 1], [0, 0], [0, 0], [0, 0]]


def test_the_arrays_of_the_observation_stay_the_same_objects() -> None:
    mdp = make_mdp("C101", customers=20)
    lanes = Lanes([mdp] * 2)
    before = (lanes.node_features, lanes.global_features, lanes.action_mask, lanes.costs, lanes.rewards)
    lanes.reset(mdp.start_tours("train", 2), episode_seeds(0, 2))
    start = lanes.global_features.copy()
    lanes.step(np.zeros(2, np.int64))
    after = (lanes.node_features, lanes.global_features, lanes.action_mask, lanes.costs, lanes.rewards)
    assert all(one is other for one, other in zip(before, after, strict=True))
    assert (lanes.global_features != start).any()


def test_the_memory_of_arcs_starts_empty_with_each_episode() -> None:
    mdp = make_mdp("C101", customers=20, portfolio="historical,random-node,greedy")
    starts, seeds, draws = mdp.start_tours("train", 2), episode_seeds(0, 2), np.full((mdp.steps, 2), 0.2)
    lanes = Lanes([mdp] * 2)
    fresh = courses(lanes, starts, seeds, draws)
    courses(lanes, starts[::-1], episode_seeds(9, 2), draws)
    assert courses(lanes, starts, seeds, draws) == fresh


# --- What is refused. ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("repairing", "actions", "sentence"),
    [
        (False, [0, 3], "action 3 of lane 1 is no destroy operator of its portfolio."),
        (False, [2, 0], "action 2 of lane 0 is no destroy operator of its portfolio."),
        (False, [0, -1], "action -1 of lane 1 is no destroy operator of its portfolio."),
        (False, [0, 99], "action 99 of lane 1 is no destroy operator of its portfolio."),
        (True, [3, 0], "action 0 of lane 1 is no repair operator of its portfolio."),
        (True, [4, 3], "action 4 of lane 0 is no repair operator of its portfolio."),
        (False, [0], "2 lanes need as many actions; (1,) given."),
        (False, [[0, 0]], "2 lanes need as many actions; (1, 2) given."),
    ],
)
def test_an_action_that_is_not_allowed_is_refused_and_changes_nothing(
    repairing: bool, actions: Any, sentence: str
) -> None:
    # Actions 0 to 2 destroy, 3 and 4 repair; lane 0 has neither 2 nor 4.
    mdps = [make_mdp("C101", customers=20, portfolio=name) for name in ("worst-node,proximity,greedy", "paper-3")]
    lanes = Lanes(mdps)
    lanes.reset([mdp.start_tours("train", 1)[0] for mdp in mdps], episode_seeds(0, 2))
    if repairing:
        lanes.step(np.array([0, 2]))
    before = [looks(lanes, lane) for lane in range(2)]
    with pytest.raises(InputError, match=f"^{re.escape(sentence)}$"):
        lanes.step(np.array(actions))
    assert [looks(lanes, lane) for lane in range(2)] == before


def test_lanes_that_cannot_be_are_refused() -> None:
    mdp, other = make_mdp("C101", customers=20), make_mdp(TEN)
    with pytest.raises(InputError, match=r"^lanes need at least one MDP\.$"):
        Lanes([])
    with pytest.raises(InputError, match=r"^number of threads 0 must be at least 1\.$"):
        Lanes([mdp], threads=0)
    with pytest.raises(InputError, match=r"^20 rows do not hold 21 nodes\.$"):
        Lanes([mdp, other], nodes=20)
    with pytest.raises(InputError, match="feature set 'poor' is not known"):
        Lanes([mdp], "poor")
    lanes = Lanes([mdp, other])
    start, short = mdp.start_tours("train", 1)[0], other.start_tours("train", 1)[0]
    with pytest.raises(InputError, match=r"^2 lanes need as many starts and seeds; 1 and 2 given\.$"):
        lanes.reset([start], episode_seeds(0, 2))
    with pytest.raises(InputError, match=r"^2 lanes need as many starts and seeds; 2 and 3 given\.$"):
        lanes.reset([start, short], episode_seeds(0, 3))
    with pytest.raises(InputError, match=r"^lane 1 has 10 customers, its start 20\.$"):
        lanes.reset([start, start], episode_seeds(0, 2))


def test_portfolios_mix_only_if_the_longest_has_all_operators() -> None:
    paper, modern = portfolio_named("paper"), portfolio_named("modern")
    assert common_portfolio([portfolio_named("paper-2"), paper, portfolio_named("zone,greedy")]) is paper
    with pytest.raises(
        InputError, match=r"^lanes cannot mix portfolio 'modern' with 'paper', which has no 'string'\.$"
    ):
        common_portfolio([modern, paper])
    with pytest.raises(InputError, match=r"^lanes cannot mix portfolios .*: they improve otherwise\.$"):
        common_portfolio([modern, portfolio_named("modern,or-opt")])


def test_a_selector_plays_lanes_of_one_portfolio_only() -> None:
    mdps = [make_mdp("C101", customers=20, portfolio=name) for name in ("paper-2", "paper-3")]
    lanes = Lanes(mdps)
    lanes.reset([mdp.start_tours("train", 1)[0] for mdp in mdps], episode_seeds(0, 2))
    with pytest.raises(InputError, match=r"^a selector plays lanes of one portfolio\.$"):
        lanes.play(Uniform())


def idle(state, quota):
    """Remove nobody."""


def twice(state, quota):
    """Remove one customer again and again."""
    for _ in range(quota):
        remove(state, 3)


def careless(state):
    """Take a customer off its route and leave it so."""
    remove(state, 3)


def forgetful(state):
    """Put one customer back and leave the others."""
    put(state, state.removed[0], open_route(state), 0)


@pytest.fixture
def broken_operators(monkeypatch: pytest.MonkeyPatch) -> None:
    """Operators that break their contract, registered while a test runs."""
    known = {entry.name: entry for entry in registry.operators()}
    monkeypatch.setattr(registry, "_registry", known)
    neuralns.destroy("lanes-idle")(idle)
    neuralns.destroy("lanes-twice")(twice)
    neuralns.repair("lanes-forgetful")(forgetful)
    neuralns.improve("lanes-careless")(careless)


BROKEN = [
    ("lanes-idle,greedy", "operator 'lanes-idle' removed 0 customers, but its quota was 4."),
    ("lanes-twice,greedy", "operator 'lanes-twice' removed customer 3, which is not on a route (removed twice?)."),
    ("zone,greedy,or-opt,lanes-careless", "operator 'lanes-careless' left 1 customers on the removal list."),
    ("zone,lanes-forgetful", "operator 'lanes-forgetful' left 3 customers on the removal list."),
]


@pytest.mark.parametrize(("portfolio", "sentence"), BROKEN)
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.usefixtures("broken_operators")
def test_an_operator_that_breaks_its_contract_is_named(portfolio: str, sentence: str, threads: int) -> None:
    mdp = make_mdp("C101", customers=20, portfolio=portfolio)
    lanes = Lanes([mdp] * 3, threads=threads)
    lanes.reset(mdp.start_tours("train", 3), episode_seeds(0, 3))
    with pytest.raises(OperatorError, match=f"^{re.escape(sentence)}$"):
        lanes.play(Uniform())
    lanes.reset(mdp.start_tours("train", 3), episode_seeds(0, 3))
    if "zone" in portfolio:
        lanes.step(np.zeros(3, np.int64))
    with pytest.raises(OperatorError, match=f"^{re.escape(sentence)}$"):
        lanes.step(lanes.action_mask.argmax(axis=1))


class Stubborn(Selector):
    """A selector that makes one choice in one phase and takes the first operator in the other."""

    name = "stubborn"
    fields: ClassVar = {"phase": whole, "choice": whole}

    def __init__(self, phase: int, choice: int) -> None:
        self.phase, self.choice = phase, choice

    def start(self, portfolio: Portfolio, customers: int = 1) -> Struct:
        return self.new_memory(phase=self.phase, choice=self.choice)

    @staticmethod
    def choose(memory, state, phase):
        return memory.choice if phase == memory.phase else 0


@pytest.mark.parametrize(
    ("phase", "choice", "sentence"),
    [
        (0, -1, "selector 'stubborn' chose destroy operator -1, which does not exist."),
        (0, 3, "selector 'stubborn' chose destroy operator 3, which does not exist."),
        (1, -1, "selector 'stubborn' chose repair operator -1, which does not exist."),
        (1, 2, "selector 'stubborn' chose repair operator 2, which does not exist."),
    ],
)
def test_a_selector_that_chooses_what_does_not_exist_is_named(phase: int, choice: int, sentence: str) -> None:
    mdp = make_mdp("C101", customers=20, portfolio="paper-3")
    lanes = Lanes([mdp])
    lanes.reset(mdp.start_tours("train", 1), episode_seeds(0, 1))
    with pytest.raises(OperatorError, match=f"^{re.escape(sentence)}$"):
        lanes.play(Stubborn(phase, choice))


class Historian(Selector):
    """Takes the first operator where the history of arcs is kept, as it asks for, else the second."""

    name = "historian"

    @property
    def uses_history(self) -> bool:
        return True

    def start(self, portfolio: Portfolio, customers: int = 1) -> Struct:
        return self.new_memory()

    @staticmethod
    def choose(memory, state, phase):
        return 0 if state.history.shape[0] > 0 else 1


@pytest.mark.parametrize("features", ["rich", "paper"])
def test_a_selector_that_reads_the_history_of_arcs_never_plays_without_it(features: str) -> None:
    mdp = make_mdp("C101", customers=20, portfolio="zone,pair,greedy,regret-2", budget=2)
    lanes = Lanes([mdp], features)
    lanes.reset(mdp.start_tours("train", 1), episode_seeds(0, 1))
    try:
        uses = lanes.play(Historian())
    except InputError:
        return
    assert uses.tolist() == [[2, 0, 2, 0]]


@pytest.mark.parametrize(
    ("routes", "sentence"),
    [
        ([[1, 2], [2]], "customer 2 is visited 2 times"),
        ([[1, 2], [4]], "route 2 visits 4"),
        ([[1, 2], [-7]], "route 2 visits -7"),
        ([[1, 2, 3]], "route 1 carries 3, above the capacity 2."),
    ],
)
def test_a_start_that_is_no_solution_is_refused(routes: list[list[int]], sentence: str) -> None:
    square = Instance("square", [0, 1, 1, 1], 2, [[0, 0], [0, 3], [4, 3], [4, 0]])
    lanes = Lanes([make_mdp(square, portfolio="random-node,greedy", scale=1)] * 2)
    good = Solution(square, [[1, 2], [3]])
    with pytest.raises(InputError, match=rf"^the start of lane 1 does not fit square .*: .*{sentence}"):
        lanes.reset([good, Solution(square, routes)], seeds_from(1, 2))
    with pytest.raises(InputError, match=r"^numbers of starts must be from 0 to 0\.$"):
        lanes.reset([good], seeds_from(1, 2), np.array([0, 1]))


# --- Windows, limits, and customers left out. -------------------------------------------------------------------------


@settings(deadline=None, max_examples=60)
@given(timed_instances(7), st.sampled_from(PORTFOLIOS), st.integers(0, 1000), st.data())
def test_every_step_keeps_all_rules_and_charges_for_those_left_out(
    instance: Instance, portfolio: str, seed: int, data: st.DataObject
) -> None:
    scale, rule = data.draw(st.integers(1, instance.customers)), data.draw(st.sampled_from([Always(), HillClimbing()]))
    mdp = MDP(instance, portfolio_named(portfolio), "windows", scale, 3, acceptance=rule)
    starts = [random_tours(instance, seed + lane) for lane in range(2)]
    lanes = Lanes([mdp] * 2, "windows")
    lanes.reset(starts, seeds_from(seed, 2))
    assert lanes.start_costs == pytest.approx([charged_cost(start) for start in starts])
    draws = np.random.default_rng(seed).random((mdp.steps, 2))
    for step in range(mdp.steps):
        served = [instance.customers - len(lanes.solution(lane).unserved) for lane in range(2)]
        before = lanes.costs.copy()
        lanes.step(allowed_at(lanes, draws[step]))
        for lane in range(2):
            found = lanes.solution(lane)
            if step % 2 == 0:
                assert len(found.unserved) == instance.customers - served[lane] + min(scale, served[lane])
                continue
            assert all(keeps_every_rule(instance, route) for route in found.routes)
            assert found.broken_rules() == []
            assert instance.vehicles is None or len(found.routes) <= instance.vehicles
            assert not set(instance.unservable) - set(found.unserved)
            assert lanes.costs[lane] == pytest.approx(charged_cost(found))
            assert instance.may_leave_out or not found.unserved
            assert rule == Always() or lanes.costs[lane] <= before[lane] + 1e-9
    assert lanes.rewards == pytest.approx(lanes.start_costs - lanes.costs)


def test_whoever_was_left_out_is_served_as_soon_as_there_is_room() -> None:
    # Customers at 10 and 20 on a line, one vehicle; the start leaves the far one out.
    line = Instance("line", [0, 1, 1], 2, [[0, 0], [10, 0], [20, 0]], windows=[[0, 90]] * 3, vehicles=1)
    lanes = Lanes([MDP(line, portfolio_named("random-node,greedy"), "windows", 1, 1)])
    lanes.reset([Solution(line, [[1]])], seeds_from(1, 1))
    # Serving all by routes of their own would cost 60: the penalty is more.
    assert lanes.start_costs.tolist() == [20 + 60 + 1]
    lanes.play(Uniform())
    assert (lanes.costs.tolist(), lanes.solution(0).unserved) == ([40], ())


@pytest.mark.parametrize(
    ("routes", "sentence"),
    [
        ([[2, 1]], "route 1 reaches customer 1 at 30, after its window, 0 to 15."),
        ([[1], [2], [3]], "there are 3 routes, but 2 vehicles."),
        ([[1, 2, 3]], "route 1 is back at 80, after the depot's window, 0 to 70."),
        ([[1], [1]], "customer 1 is visited 2 times."),
    ],
)
def test_a_start_that_breaks_a_rule_is_refused(routes: list[list[int]], sentence: str) -> None:
    windows = [[0, 70], [0, 15], [0, 70], [0, 70]]
    line = Instance("line", [0, 1, 1, 1], 3, [[0, 0], [10, 0], [20, 0], [-20, 0]], windows=windows, vehicles=2)
    lanes = Lanes([MDP(line, portfolio_named("random-node,greedy"), "windows", 1, 1)] * 2)
    good = Solution(line, [[1, 2]])
    with pytest.raises(InputError, match=rf"^the start of lane 1 does not fit line: {re.escape(sentence)}"):
        lanes.reset([good, Solution(line, routes)], seeds_from(1, 2))
    lanes.reset([good, Solution(line, [])], seeds_from(1, 2))


# --- Functions of one's own that get stuck or fail. ------------------------------------------------------------------

STUCK = """
import os, signal, sys, threading, time
import neuralns
from neuralns import *
from neuralns.mdp.evaluate import OracleAgent
from neuralns.operators.toolkit import *
from neuralns.search import supervision

@destroy("stuck")
def stuck(state, quota):
    while state.n_removed < quota or random(state) < 0.05:
        if state.n_removed < quota:
            remove(state, random_routed(state))
        else:
            while state.n_removed > 0:
                state.status.gain += 1.0

class Stuck(Uniform):
    @staticmethod
    def choose(memory, state, phase):
        while random(state) < 0.05:
            while state.customers > 0:
                state.status.gain += 1.0
        return 0

what, name = sys.argv[1:]
plain = make_mdp("R101", customers=20, portfolio="random-node,greedy")
mdp = make_mdp("R101", customers=20, portfolio=["stuck", "random-node", "greedy"])
if name == "patience":
    supervision.STUCK = 1.0
else:
    def disturb():
        time.sleep(2.0)
        os.kill(os.getpid(), getattr(signal, name))
    # When all is compiled.
    evaluate(plain, "random", episodes=2, seeds=1)
    mdp.portfolio.tables
    threading.Thread(target=disturb, daemon=True).start()
try:
    if what == "selector":
        evaluate(plain, Stuck("mine"), episodes=16, seeds=2)
    elif what == "threads":
        lanes = Lanes([mdp] * 16, threads=2)
        lanes.reset(mdp.start_tours("train", 16), neuralns.mdp.mdp.episode_seeds(0, 16))
        while not lanes.done:
            lanes.step(lanes.action_mask.argmax(axis=1))
    elif what == "oracle":
        lanes = Lanes([mdp])
        lanes.reset(mdp.start_tours("train", 1), neuralns.mdp.mdp.episode_seeds(0, 1))
        OracleAgent(Fixed("random-node", "greedy")).play(lanes, 0)
    else:
        evaluate(mdp, "random", episodes=16, seeds=2)
except OperatorError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("what", "how", "who"),
    [
        ("operator", "patience", "operator 'stuck'"),
        ("threads", "patience", "operator 'stuck'"),
        ("selector", "patience", "selector 'mine'"),
        ("oracle", "patience", "operator 'stuck'"),
        ("operator", "SIGINT", "operator 'stuck'"),
    ],
)
def test_what_gets_stuck_in_an_episode_is_given_up_and_named(tmp_path: Path, what: str, how: str, who: str) -> None:
    (tmp_path / "stuck.py").write_text(STUCK)
    command = [sys.executable, str(tmp_path / "stuck.py"), what, how]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    assert done.stdout == f"{who} gave no answer (an endless loop?) and was given up.\n"


@destroy("fails-in-an-episode")
def fails_in_an_episode(state, quota):
    while state.n_removed < quota:
        remove(state, random_routed(state))
    if random(state) < 0.05:
        state.keys[0] = [1.0, 2.0][quota + 5]


class Failing(Uniform):
    """Fails now and then."""

    @staticmethod
    def choose(memory, state, phase):
        return 0 if random(state) < 0.95 else [0, 1][phase + 2]


@pytest.mark.parametrize("threads", [1, 2])
def test_an_exception_in_an_episode_is_reported_with_its_line(threads: int) -> None:
    failing = make_mdp("R101", customers=20, portfolio=["fails-in-an-episode", "greedy"])
    lanes = Lanes([failing] * 16, threads=threads)
    lanes.reset(failing.start_tours("train", 16), episode_seeds(0, 16))
    sentence = (
        r"^operator 'fails-in-an-episode' failed \(.*test_lanes\.py, line \d+: IndexError.*\) and was given up\.$"
    )
    with pytest.raises(OperatorError, match=sentence):
        lanes.play(Uniform())
    plain = make_mdp("R101", customers=20, portfolio="random-node,greedy")
    lanes = Lanes([plain] * 16, threads=threads)
    lanes.reset(plain.start_tours("train", 16), episode_seeds(0, 16))
    with pytest.raises(OperatorError, match=r"^selector 'mine' failed \(.*test_lanes\.py, line \d+: IndexError"):
        lanes.play(Failing("mine"))
