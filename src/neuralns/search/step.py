"""One iteration of ALNS, the only one there is: select, destroy, repair, improve, accept or undo, note the outcome.

It comes in two halves, because agents outside the compiled world choose the repair operator when they have seen what
the destroy operator left. Search, lanes, baselines and training are made of them, and they of the parts of a pair (see
`operators.pair`), which simulations without acceptance and start solutions share.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from neuralns.compiled.caching import compiled, inlined
from neuralns.compiled.clock import ticks
from neuralns.compiled.random import random
from neuralns.operators.contract import FINE, NO_THRESHOLD, WRONG_IMPROVE, apply_improve
from neuralns.operators.pair import begin_pair, end_pair, finish_repair, keep
from neuralns.operators.portfolio import Portfolio
from neuralns.routes.edits import undo
from neuralns.routes.evaluate import PLAIN, all_feasible, hopeless, is_on_time, keeps_hard_rules, prepare
from neuralns.routes.moves import touch
from neuralns.search.acceptance.rule import draw_threshold, is_accepted
from neuralns.selection.selector import ACCEPTED, BEST, BETTER, DESTROY, REJECTED, REPAIR, call_choose, call_update

NOISE = 1e-11
"""A difference of costs below this share of them is the rounding of sums, not a change of the routes."""
CHOOSING, DESTROYING, REPAIRING, ACCEPTING, UPDATING, STOPPING, IMPROVING = range(7)
"""What ``status.running`` holds: which activity was the last to call a function, and ``ACTIVITIES`` times its index."""
ACTIVITIES = 8
RECENT = 0.01
"""Weight of an iteration in the share of candidates accepted of late."""


@inlined
def begin_step(state, tables, destroy, quota):
    """Remove customers by a destroy operator; return a code of `contract`."""
    state.status.running = DESTROYING + ACTIVITIES * destroy
    return begin_pair(state, tables, destroy, quota)


@inlined
def end_step(state, tables, repair, accepts):
    """Insert the removed customers by a repair operator, improve the routes, and accept or undo them.

    Returns a code of `contract` and the outcome.
    """
    prepare(state)
    state.status.running = ACCEPTING
    state.status.threshold = draw_threshold(state, accepts)
    if np.isnan(state.status.threshold):
        return NO_THRESHOLD, REJECTED
    state.status.running = REPAIRING + ACTIVITIES * repair
    code = end_pair(state, tables, repair)
    if code != FINE:
        return code, REJECTED
    if tables.n_improves > 0:
        code = _improve(state, tables)
        if code != FINE:
            return code, REJECTED
    return FINE, _decide(state, accepts)


@compiled
def _improve(state, tables):
    """Apply the improve operators, each in its share of the steps, to routes that may be accepted.

    Returns a code of `contract`.
    """
    status = state.status
    status.ran = status.lowered = 0
    if state.cost > status.threshold or (state.n_removed > 0 and hopeless(state)):
        return FINE
    for choice in range(tables.n_improves):
        share = tables.improve_shares[choice]
        if share < 1.0 and random(state) >= share:
            continue
        if status.ran == 0:
            touch(state)
        before = state.cost
        status.running = IMPROVING + ACTIVITIES * choice
        code = apply_improve(state, tables, choice)
        if code != FINE:
            return code
        status.ran |= 1 << choice
        if state.cost < before:
            status.lowered |= 1 << choice
    return FINE


@inlined
def _decide(state, accepts):
    """Accept the routes or undo them, and bring the status up to date; return the outcome."""
    status = state.status
    given_up = state.n_removed > 0 and hopeless(state)
    if not given_up:
        given_up = finish_repair(state)
    candidate, current, best = state.cost, status.current, status.best
    noise = NOISE * abs(current)
    status.candidate = candidate
    outcome, gain = REJECTED, 0.0
    status.running = ACCEPTING
    if state.soft != 0:
        is_best = not given_up and candidate < best - noise and all_feasible(state)
        accepted = is_best or (not given_up and is_accepted(state, accepts, candidate) and _on_time(state))
    else:
        accepted = not given_up and is_accepted(state, accepts, candidate) and _on_time(state)
        is_best = accepted and candidate < best - noise
    if accepted:
        keep(state)
        outcome = BEST if is_best else BETTER if candidate < current - noise else ACCEPTED
        status.current = candidate
        gain = current - candidate
        if abs(gain) <= NOISE * abs(candidate):
            gain = 0.0
    else:
        undo(state)
    if outcome == BEST:
        status.best = candidate
        status.since_best = 0
    else:
        status.since_best += 1
    status.gain = gain
    status.since_gain = 0 if gain > 0.0 else status.since_gain + 1
    status.acceptance += RECENT * ((1.0 if outcome != REJECTED else 0.0) - status.acceptance)
    status.iteration += 1
    return outcome


def chosen(code: int, choice: int, status: Any) -> int:
    """Return which operator broke its contract: the one chosen, or the improve operator that was called last."""
    return int(status.running) // ACTIVITIES if code >= WRONG_IMPROVE else choice


def called(running: int, portfolio: Portfolio, selector: str, acceptance: Any, rules: Sequence[Any] = ()) -> str:
    """Return which function ``status.running`` means, as sentences name it: ``operator 'mine'``."""
    index, activity = divmod(running, ACTIVITIES)
    if activity == DESTROYING:
        return f"operator {portfolio.destroys[index].name!r}"
    if activity == REPAIRING:
        return f"operator {portfolio.repairs[index].name!r}"
    if activity == IMPROVING:
        return f"operator {portfolio.improves[index].name!r}"
    if activity == ACCEPTING:
        return f"acceptance rule {type(acceptance).__name__!r}"
    if activity == STOPPING:
        return f"stopping rule {rules[index].name!r}"
    return f"selector {selector!r}"


@compiled
def _on_time(state):
    """Return whether the routes that changed are feasible, or break only rules that have a price: a removal can make a
    route late if detours save time.
    """
    if state.profile == PLAIN:
        return True
    for index in range(state.n_saved_slots):
        slot = state.saved_slot[index]
        if not (keeps_hard_rules(state, slot) if state.soft != 0 else is_on_time(state, slot)):
            return False
    return True


@compiled
def step(state, tables, choose, update, memory, accepts, quota, timed, times):
    """Do one iteration by a selector; return a code of `contract`, the pair, and the outcome.

    If it is ``timed``, the ticks spent on deciding and those of the whole are added to the two entries of ``times``.
    """
    begin = ticks() if timed else 0
    status = state.status
    # Selectors see the quota, and may change it.
    status.quota = quota
    before = ticks() if timed else 0
    status.running = CHOOSING
    destroy = call_choose(choose, (memory, state, DESTROY))
    deciding = ticks() - before if timed else 0
    code = begin_step(state, tables, destroy, status.quota)
    if code != FINE:
        return code, destroy, 0, REJECTED
    before = ticks() if timed else 0
    status.running = CHOOSING
    repair = call_choose(choose, (memory, state, REPAIR))
    deciding += ticks() - before if timed else 0
    current = status.current
    code, outcome = end_step(state, tables, repair, accepts)
    if code != FINE:
        return code, destroy, repair, REJECTED
    before = ticks() if timed else 0
    status.running = UPDATING
    call_update(update, (memory, destroy, repair, outcome, status.candidate - current))
    if timed:
        now = ticks()
        times[0] += deciding + now - before
        times[1] += now - begin
    return FINE, destroy, repair, outcome
