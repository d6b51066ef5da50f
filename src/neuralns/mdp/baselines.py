"""What needs no network: the best fixed pair, the training of the learned roulette wheel, the rollout oracle."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types

from neuralns.compiled.caching import compile_for, compiled
from neuralns.compiled.random import random_word, seed_generator
from neuralns.errors import InputError
from neuralns.mdp.lanes import ACCEPTS, LEFT, PHASE, SCALE, Lanes, Tours, set_clock, step_lane
from neuralns.mdp.mdp import MDP, SET_SIZE, episode_seeds, named_seed
from neuralns.operators.contract import FINE
from neuralns.operators.portfolio import tables_type
from neuralns.routes.layout import state_at, state_type
from neuralns.routes.transfer import copy_routes, new_state
from neuralns.search.step import begin_step, end_step
from neuralns.selection.fixed import Fixed, fixed_pairs
from neuralns.selection.learned_roulette import LearnedRoulette

ROLLOUTS = 60
"""Simulations that the oracle makes at each step, for each pair on average."""


def best_fixed_pair(mdp: MDP, repeats: int = 4) -> Fixed:
    """Return the pair that gains most on the training tours when it is used in every step."""
    return fixed_pairs(mdp.portfolio)[int(np.argmin(costs_of_fixed_pairs(mdp, repeats)))]


def costs_of_fixed_pairs(mdp: MDP, repeats: int) -> list[float]:
    """Return the mean final F on the training tours, each so many times, with each pair used in every step."""
    starts = mdp.start_tours("train") * repeats
    seeds = episode_seeds(0, len(starts), "best fixed pair")
    tours = Tours(starts)
    lanes = Lanes([mdp] * len(starts), observes_nodes=False)
    costs = []
    for pair in fixed_pairs(mdp.portfolio):
        lanes.reset(tours, seeds, observe=False)
        lanes.play(pair)
        costs.append(float(lanes.costs.mean()))
    return costs


def train_roulette(
    mdp: MDP, seed: int = 0, *, episodes: int = 3000, segment: int = 100, reaction: float = 0.9, per: str = "episode"
) -> LearnedRoulette:
    """Train the paper's learned roulette wheel on the training tours.

    Weights start at 1. The improvement max(0, F(S_0) − F(S_T)) of an episode is the score of every operator, once for
    each time that it was used. After each segment of episodes (Equation 1 of the paper)

        w ← (1 − α) w + α ψ / N   if ψ > 0,      w ← w   if ψ = 0.

    The paper replaces feedback after every pair by feedback after every episode. With ``per="episode"`` N is the number
    of episodes in the segment: scores add up, an operator that is used more gains more, and the wheel comes to prefer
    what is good; this comes close to the published numbers. With ``per="use"`` N is the number of times that the
    operator was used: its weight is the mean improvement of the episodes that it took part in, which differs
    little between operators, and the wheel stays close to random selection.

    Parameters
    ----------
    episodes, segment
        Episodes in all, and between two updates of the weights.
    reaction
        α.
    """
    if segment < 1 or episodes < segment:
        raise InputError(f"{episodes} episodes do not hold a segment of {segment}.")
    if not 0 < reaction <= 1:
        raise InputError(f"reaction {reaction} must lie above 0 and at most at 1.")
    if per not in ("episode", "use"):
        raise InputError(f"scores per {per!r} are not known; choose episode or use.")
    tours = Tours(mdp.start_tours("train"))
    rng = np.random.default_rng(named_seed("learned roulette", seed))
    lanes = Lanes([mdp] * segment, observes_nodes=False)
    names = mdp.portfolio.actions
    weights = np.ones(len(names))
    for _ in range(episodes // segment):
        numbers = rng.integers(0, SET_SIZE, segment)
        lanes.reset(tours, rng.integers(0, 2**63, segment).astype(np.uint64), numbers, observe=False)
        uses = lanes.play(LearnedRoulette(names, tuple(weights)))
        scores = uses.T @ np.maximum(lanes.start_costs - lanes.costs, 0.0)
        counts = np.full(len(names), segment) if per == "episode" else np.maximum(uses.sum(axis=0), 1)
        weights = np.where(scores > 0, (1 - reaction) * weights + reaction * scores / counts, weights)
    return LearnedRoulette(names, tuple(map(float, weights)))


@compiled
def apply_pair(state, tables, destroy, repair, quota, accepts):
    code = begin_step(state, tables, destroy, quota)
    if code == FINE:
        code, _ = end_step(state, tables, repair, accepts)
    return code


_oracle_signature = types.int64(
    types.Array(types.int64, 1, "C"), state_type, tables_type, types.int64, types.int64, types.int64,
    types.Array(types.int64, 2, "C"), types.Array(types.float64, 2, "C"), types.Array(types.int64, 2, "C"),
)  # fmt: skip


def _oracle(addresses, copy, tables, then_destroy, then_repair, rollouts, longs, floats, uses):
    """Play all lanes to their end; return −1, or the lane where a contract was broken."""
    pairs = tables.n_destroys * tables.n_repairs
    sums, squares, counts, order = np.zeros(pairs), np.zeros(pairs), np.zeros(pairs), np.zeros(pairs, np.int64)
    default = then_destroy * tables.n_repairs + then_repair
    rounds = max(1, np.int64(np.ceil(np.log2(pairs))))
    for lane in range(len(addresses)):
        state = state_at(addresses[lane])
        quota, accepts = longs[lane, SCALE], longs[lane, ACCEPTS]
        while longs[lane, LEFT] > 0:
            seed_generator(copy, random_word(state))
            sums[:] = 0.0
            squares[:] = 0.0
            counts[:] = 0.0
            for index in range(pairs):
                order[index] = index
            alive = pairs
            while alive > 1:
                for index in range(alive):
                    pair = order[index]
                    for _ in range(max(1, rollouts * pairs // (rounds * alive))):
                        copy_routes(state, copy)
                        code = apply_pair(
                            copy, tables, pair // tables.n_repairs, pair % tables.n_repairs, quota, accepts
                        )
                        for later in range(longs[lane, LEFT] - 1):
                            if code == FINE:
                                set_clock(copy.status, longs[lane, LEFT] - 1 - later, longs, floats, lane)
                                code = apply_pair(copy, tables, then_destroy, then_repair, quota, accepts)
                        if code != FINE:
                            longs[lane, PHASE] = -code
                            return lane
                        gain = state.cost - copy.cost
                        sums[pair] += gain
                        squares[pair] += gain * gain
                        counts[pair] += 1.0
                # The better half stays, the best first.
                for start in range(1, alive):
                    pair, index = order[start], start
                    while index > 0 and sums[pair] / counts[pair] > sums[order[index - 1]] / counts[order[index - 1]]:
                        order[index] = order[index - 1]
                        index -= 1
                    order[index] = pair
                alive = (alive + 1) // 2
            best = order[0]
            # The best of many noisy means looks better than it is: to leave the default it has to stand out.
            noise = 0.0
            for pair in (best, default):
                mean = sums[pair] / counts[pair]
                noise += max(0.0, squares[pair] / counts[pair] - mean * mean) / counts[pair]
            if sums[best] / counts[best] - sums[default] / counts[default] < np.sqrt(noise):
                best = default
            for action in (best // tables.n_repairs, tables.n_destroys + best % tables.n_repairs):
                code = step_lane(state, tables, action, longs, floats, lane)
                if code != FINE:
                    longs[lane, PHASE] = -code
                    return lane
                uses[lane, action] += 1
    return -1


@cache
def _compiled_oracle() -> Any:
    return compile_for(_oracle_signature, _oracle)


def play_oracle(lanes: Lanes, pair: Fixed, rollouts: int = ROLLOUTS) -> npt.NDArray[np.int64]:
    """Play all episodes by simulation, as a baseline for what choosing by the state can win.

    At each step pairs of operators are tried in simulations that go on with a fixed pair to the end of the episode, and
    the one with the best mean is applied. ``rollouts`` for each pair on average are shared out by sequential halving
    (Karnin, Koren & Somekh 2013): in each round all pairs left get equally many, and the worse half is dropped, so that
    those hard to tell apart are tried most. It is no upper bound: simulations are noisy and look one pair ahead, and
    where pairs hardly differ it can gain less than the fixed pair. Returns how often each lane used each operator.
    """
    mdp = lanes.mdps[0]
    if any(other.instance is not mdp.instance or other.portfolio != mdp.portfolio for other in lanes.mdps):
        raise InputError("the oracle plays lanes of one instance and one portfolio.")
    if rollouts < 1:
        raise InputError(f"{rollouts} rollouts asked for; at least 1 is needed.")
    copy = new_state(mdp.instance, 0, history=lanes.history, quota=max(other.scale for other in lanes.mdps))
    destroy, repair = pair.start(mdp.portfolio).pair.tolist()
    uses = np.zeros(lanes.action_mask.shape, np.int64)
    oracle, tables = _compiled_oracle(), mdp.portfolio.tables
    lanes.run(
        lambda addresses, longs, floats: oracle(
            addresses, copy, tables, destroy, repair, rollouts, longs, floats, uses
        ),
        "oracle",
        copy,
    )
    return uses
