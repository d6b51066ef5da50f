"""Labelled states: what every pair of operators would lead to, by simulation to the end of the budget.

One round of policy improvement: the policy that is improved on, the *base*, uses the best fixed pair to the end. If
that and the second best pair are both exact (their outcome depends on the routes alone), it uses the better of the two,
which is known at no risk. A label of a state and a pair is what the pair and then the base gain. Simulated once, labels
are right on average, but nearly all of their variance is the luck of the base on the way to the end. Where the base
leaves something to chance, a *value network* that has learned from some simulations what the base gains from routes on
can take the place of the others: then the luck of one pair is left.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types

from neuralns.compiled.caching import compile_for, compiled
from neuralns.compiled.random import random_word, seed_generator
from neuralns.mdp.baselines import apply_pair, costs_of_fixed_pairs
from neuralns.mdp.lanes import ACCEPTS, CHOICE, LEFT, PHASE, SCALE, Lanes, Tours, set_clock
from neuralns.mdp.mdp import MDP, SET_SIZE, episode_seeds, named_seed
from neuralns.operators.contract import FINE, WRONG_DESTROY, WRONG_QUOTA
from neuralns.operators.portfolio import tables_type
from neuralns.routes.layout import state_at, state_type
from neuralns.routes.transfer import copy_routes, new_state
from neuralns.selection.dense import Layers, pack_layers, run_layers
from neuralns.selection.features import RICH, FeatureSet, write_globals
from neuralns.selection.look_ahead import CHAIN, FIRST, Probes, write_ahead
from neuralns.selection.selector import DESTROY

EXPLORED = 0.15
"""Share of the pairs on the way to a labelled state that are drawn uniformly; the others are the base's."""
_LANES = 500
_STATES = 4
"""States that are labelled of each tour: they have much in common, but tours cost more than labels."""
_FIRSTS = 8
"""Most pairs that are tried before the chains."""


@dataclass(frozen=True)
class Base:
    """The policy that labels improve on: one pair, or the better of two exact ones."""

    pairs: tuple[int, ...]
    exact: bool


@dataclass(frozen=True)
class Labelled:
    """States and labels: features of the whole and simulations, and what each pair leads to.

    Where it was asked for, also the features of the whole ``after`` each pair and what the base gains from there
    ``onward``.
    """

    rows: npt.NDArray[np.float32]
    labels: npt.NDArray[np.float32]
    after: npt.NDArray[np.float32] | None = None
    onward: npt.NDArray[np.float32] | None = None


def exact_pairs(mdp: MDP) -> npt.NDArray[np.bool_]:
    """Return which pairs give the same from the same routes whatever the random numbers, on all training tours."""
    lanes, tours = Lanes([mdp] * SET_SIZE, observes_nodes=False), Tours(mdp.start_tours("train"))
    destroys, repairs = len(mdp.portfolio.destroys), len(mdp.portfolio.repairs)
    found = np.zeros(destroys * repairs, np.bool_)
    for pair in range(len(found)):
        outcomes = []
        for seed in range(2):
            lanes.reset(tours, episode_seeds(seed, SET_SIZE, "exact pairs"), observe=False)
            lanes.step(np.full(SET_SIZE, pair // repairs), observe=False)
            lanes.step(np.full(SET_SIZE, destroys + pair % repairs), observe=False)
            outcomes.append(lanes.costs.copy())
        found[pair] = np.array_equal(outcomes[0], outcomes[1])
    return found


def plan_probes(mdp: MDP, samples: int = 2) -> tuple[Base, Probes]:
    """Return the policy to improve on and what to simulate: its pairs as chains, all exact pairs as firsts.

    Exact pairs are the eight best of them. Where none is, nothing is simulated: chains that are not exact tell too
    little by themselves.
    """
    exact = exact_pairs(mdp)
    ranked = [int(pair) for pair in np.argsort(costs_of_fixed_pairs(mdp, 2), kind="stable")]
    best = ranked[:2]
    sure = bool(exact[best].all())
    base = Base(tuple(best) if sure else (best[0],), sure or bool(exact[best[0]]))
    names = [(one.name, other.name) for one in mdp.portfolio.destroys for other in mdp.portfolio.repairs]
    if not exact.any():
        return base, Probes(budget=mdp.budget)
    order = [pair for pair in ranked if exact[pair]][:_FIRSTS]
    return base, Probes(
        tuple(names[pair] for pair in base.pairs),
        tuple(bool(exact[pair]) for pair in base.pairs),
        tuple(names[pair] for pair in sorted(order)),
        samples,
        mdp.budget,
    )


@compiled
def _to_the_end(state, tables, pair, settles, left, quota, accepts, longs, floats, lane):
    """Use a pair for all that is left of the budget; return a code of `contract`.

    If it ``settles``, the first time that it changes nothing is the end.
    """
    for later in range(left):
        before = state.cost
        set_clock(state.status, left - later, longs, floats, lane)
        code = apply_pair(state, tables, pair // tables.n_repairs, pair % tables.n_repairs, quota, accepts)
        if code != FINE or (settles and state.cost == before):
            return code
    return FINE


@compiled
def blame(longs, lane, code, pair, tables):
    """Note which operator of a pair broke a contract, and how; return the lane."""
    longs[lane, PHASE] = -code
    destroyed = code in (WRONG_QUOTA, WRONG_DESTROY)
    longs[lane, CHOICE] = pair // tables.n_repairs if destroyed else pair % tables.n_repairs
    return lane


@compiled
def write_row(state, copy, tables, chains, exact, firsts, samples, budget, features, left, quota, row, offset, width):
    """Write the features of the whole and simulations; return a code of `contract`, and the pair that broke one."""
    write_globals(state, features, DESTROY, row, offset)
    if len(chains) == 0:
        return FINE, np.int64(0)
    further = offset + width - (1 + len(firsts)) * (FIRST + CHAIN * len(chains))
    return write_ahead(state, copy, tables, chains, exact, firsts, samples, budget, left, quota, row, further)


_wholes, _floats = types.Array(types.int64, 1, "C"), types.Array(types.float32, 1, "C")
_signature = types.int64(
    _wholes, state_type, state_type, tables_type, _wholes, types.boolean, _wholes, _wholes, _wholes, types.int64,
    types.int64, types.int64, types.Array(types.int64, 2, "C"), types.Array(types.float64, 2, "C"), _wholes,
    _floats, types.Array(types.float32, 2, "C"), _floats, types.Array(types.float32, 2, "C"), _floats, _wholes,
    types.int64, types.int64,
)  # fmt: skip


def _label(
    addresses, copy, other, tables, base, settles, chains, exact, firsts, samples, budget, features, longs, floats,
    which, rows, labels, after, onward, value, sizes, row, scratch,
):  # fmt: skip
    """Write the rows and labels of some lanes; return −1, or the lane where a contract was broken.

    With ``after`` also the features after each pair and what follows; with a ``value`` network nothing is simulated to
    the end.
    """
    pairs, width = tables.n_destroys * tables.n_repairs, len(rows) // max(1, len(which))
    globals_ = len(after) // max(1, len(which) * pairs)
    for number in range(len(which)):
        lane = which[number]
        state = state_at(addresses[lane])
        quota, accepts, left = longs[lane, SCALE], longs[lane, ACCEPTS], longs[lane, LEFT]
        code, broken = write_row(
            state, copy, tables, chains, exact, firsts, samples, budget, features, left, quota, rows, number * width,
            width,
        )  # fmt: skip
        if code != FINE:
            return blame(longs, lane, code, broken, tables)
        word = random_word(state)
        for pair in range(pairs):
            seed_generator(copy, word)
            copy_routes(state, copy)
            set_clock(copy.status, left, longs, floats, lane)
            code = apply_pair(copy, tables, pair // tables.n_repairs, pair % tables.n_repairs, quota, accepts)
            if code != FINE:
                return blame(longs, lane, code, pair, tables)
            set_clock(copy.status, left - 1, longs, floats, lane)
            first, least = copy.cost, np.inf
            if len(after) > 0:
                write_globals(copy, features, DESTROY, after, (number * pairs + pair) * globals_)
            if len(value) > 0:
                labels[number, pair] = state.cost - first
                if left > 1:
                    write_globals(copy, features, DESTROY, value, row)
                    labels[number, pair] += value[run_layers(value, sizes, len(sizes) - 1, row, scratch)]
                continue
            for index in range(len(base)):
                end = copy
                if len(base) > 1:
                    end = other
                    copy_routes(copy, other)
                if code == FINE:
                    code = _to_the_end(end, tables, base[index], settles, left - 1, quota, accepts, longs, floats, lane)
                least = min(least, end.cost)
            if code != FINE:
                return blame(longs, lane, code, pair, tables)
            labels[number, pair] = state.cost - least
            onward[number, pair] = first - least
    return -1


@cache
def _compiled_label() -> Any:
    return compile_for(_signature, _label)


def label_states(
    mdp: MDP,
    base: Base,
    probes: Probes,
    count: int,
    seed: int,
    features: FeatureSet = RICH,
    see: Callable[[Lanes], npt.NDArray[np.float32]] | None = None,
    *,
    value: Layers | None = None,
    keep_after: bool = False,
) -> Labelled:
    """Return labelled states from fresh start tours, four of each.

    An episode goes by the base, with some pairs drawn uniformly; after how many pairs states are labelled is drawn for
    each tour. The pairs of a state are simulated with the same random numbers, so that labels differ by more than luck.
    What ``see`` returns of all lanes, a row for each, takes the place of the features of the whole and simulations.
    The layers of a ``value`` network take that of simulations to the end; ``keep_after`` keeps what one learns from.
    """
    rng = np.random.default_rng(named_seed("labelled states", seed))
    lanes = Lanes([mdp] * min(count, _LANES), features, observes_nodes=see is not None)
    copy, other = (new_state(mdp.instance, 0, history=lanes.history, quota=mdp.scale) for _ in range(2))
    destroys, repairs = len(mdp.portfolio.destroys), len(mdp.portfolio.repairs)
    label, tables = _compiled_label(), mdp.portfolio.tables
    fields = probes.fields_for(mdp.portfolio, "labels")
    chosen = [fields[key] for key in ("chains", "exact", "firsts")]
    settles = base.exact and mdp.acceptance_name == "always"
    pairs, width = np.array(base.pairs, np.int64), len(features.globals) + probes.width
    network = (np.zeros(0, np.float32), np.zeros(0, np.int64), 0, 0) if value is None else pack_layers(value)
    rows, labels, after, onward = [], [], [], []
    of_each = min(_STATES, mdp.budget)
    for _ in range(-(-count // (of_each * len(lanes)))):
        starts = [mdp.random_start(int(each)) for each in rng.integers(0, 2**62, len(lanes))]
        lanes.reset(starts, rng.integers(0, 2**63, len(lanes)).astype(np.uint64), observe=see is not None)
        order = np.tile(np.arange(mdp.budget), (len(lanes), 1))
        labelled = rng.permuted(order, axis=1) < of_each
        for depth in range(mdp.budget):
            which = np.flatnonzero(labelled[:, depth])
            row = np.zeros(len(which) * width, np.float32)
            found, rest = (np.zeros((len(which), destroys * repairs), np.float32) for _ in range(2))
            seen = np.zeros(found.size * len(features.globals) if keep_after else 0, np.float32)
            lanes.run(
                lambda addresses, longs, floats, which=which, row=row, found=found, seen=seen, rest=rest: label(
                    addresses, copy, other, tables, pairs, settles, *chosen, probes.samples, probes.budget,
                    features.index, longs, floats, which, row, found, seen, rest, *network,
                ),
                "labels",
                copy,
            )  # fmt: skip
            rows.append(row.reshape(len(which), width) if see is None else see(lanes)[which])
            labels.append(found)
            if keep_after:
                after.append(seen.reshape(len(which), destroys * repairs, -1))
                onward.append(rest)
            drawn = rng.random(len(lanes)) < EXPLORED
            pair = np.where(drawn, rng.integers(0, destroys * repairs, len(lanes)), pairs[0])
            lanes.step(pair // repairs, observe=False)
            lanes.step(destroys + pair % repairs, observe=see is not None)
    # Rows are in the order of their depth within a batch: those beyond the count are dropped from anywhere.
    kept = np.sort(rng.permutation(sum(map(len, rows)))[:count])
    more = [np.concatenate(parts)[kept] for parts in (after, onward)] if keep_after else []
    return Labelled(np.concatenate(rows)[kept], np.concatenate(labels)[kept], *more)
