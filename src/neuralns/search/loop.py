"""The compiled ALNS loop of the paper's section 3.1: one `step` after another, under a temperature that falls."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numba import types

from neuralns.compiled.caching import compile_for, compiled, inlined
from neuralns.compiled.random import randint
from neuralns.compiled.structs import StructType, number, number_table, numbers, whole, wholes
from neuralns.operators.contract import BAD_DESTROY_CHOICE, FINE, WRONG_DESTROY, WRONG_QUOTA
from neuralns.operators.portfolio import tables_type
from neuralns.routes.edits import count_absence
from neuralns.routes.evaluate import count_missing, recompute, total_violations
from neuralns.routes.layout import state_type
from neuralns.search.step import ACTIVITIES, STOPPING, step
from neuralns.search.stopping import call_stops
from neuralns.selection.selector import BEST, REJECTED, memory_at

USED, ACCEPTED, IMPROVED, NEW_BEST = range(4)
"""Columns of the operators' counters."""

COOLING_STEP = 64
"""The temperature is renewed when the iteration is a multiple of this, whatever the segments; always in short runs."""
SHORT_RUN = 100 * COOLING_STEP
TIMING_STEP = 37
"""One iteration in so many is timed for the share of deciding; a prime, so as to meet all of a policy's cycle."""
RECOMPUTE_STEP = 1 << 14
"""The cost is recomputed from the routes at multiples of this."""
PRICE_RANGE = 10_000.0
"""Levels of prices rise and fall up to so many times the first prices."""
NOTHING, A_BEST, NO_WAY_BACK, LEFT_OUT = range(4)
"""Values of ``found`` of a run: why it returned before its iterations were done."""

_counts = types.Array(types.int64, 2, "C")
_row = types.Array(types.int32, 1, "C")

KEPT = ("slots", "firsts", "vehicle_types", "followers", "changed")
"""Fields of a run, as long as there are nodes, that keep the best routes."""

run_type = StructType(
    "neuralns.Run",
    {
        # The selector's memory and compiled functions, by address.
        "memory": whole,
        "choose": whole,
        "update": whole,
        "accepts": whole,
        "stops": wholes,
        # Limits.
        "target": number,
        "patience": whole,  # iterations without a new best solution
        "low": whole,  # fewest and most customers to remove
        "high": whole,
        "pauses": whole,  # whether to return at every new best solution
        "fewest": whole,  # whether to look for routes that serve all with fewer vehicles, whatever the cost
        # The course of the temperature and of the share left, from an iteration on.
        "origin": whole,
        "hot": number,
        "log_rate": number,
        "left": number,
        "left_rate": number,
        "cooling": whole,  # iterations between two renewals
        "renew": whole,  # whether to renew at once
        "prices": numbers,  # first prices of violations (see `total_violations`), 0 of hard rules
        "price_step": whole,  # iterations after which they rise or fall
        "price_change": number,  # by which factor, at the beginning
        "price_last_change": number,  # and at the end
        "most_broken": whole,  # renewals in a row that may find rules broken
        "swing": number,  # within a cycle they rise from a level divided by this to one multiplied by it
        "wide_swing": number,  # once the best routes leave nobody out who must be served
        "cycle": whole,  # renewals of a cycle
        "levels": numbers,
        "step": whole,  # of the cycle
        "kept": wholes,  # renewals of the cycle that found each rule kept
        # What came of it.
        "total": number,  # sum of the current costs of all iterations
        "times": numbers,  # ticks spent on deciding, and in all, of the iterations timed
        # Of each pair, the repair operators of a destroy operator one after another.
        "pair_counts": _counts,
        "pair_gains": numbers,  # by how much it has lowered the current cost
        "pair_times": number_table,  # iterations timed, and ticks spent on them
        "improve_counts": _counts,
        # The best routes: their slots, the first customer and the vehicle of each slot, who follows each customer.
        "routes": whole,
        "slots": _row,
        "firsts": _row,
        "vehicle_types": _row,
        "followers": _row,
        # Slots whose routes have changed since they were kept; all of them if there are -1.
        "n_changed": whole,
        "changed": _row,
        "is_changed": types.Array(types.uint8, 1, "C"),
        "left_out": whole,  # how many they leave out
        "hard_from": number,  # share of the run that is left when rules get hard if somebody is left out
        "broken": whole,  # renewals of prices in a row that found rules broken
        "found": whole,  # why it returned early
        "stopped": whole,  # which of `stops` ended the run, from 1
        "operator": whole,  # whose contract was broken
    },
    constants=(
        "memory",
        "choose",
        "update",
        "accepts",
        "target",
        "patience",
        "low",
        "high",
        "cooling",
        "prices",
        "price_step",
        "price_change",
        "price_last_change",
        "most_broken",
        "swing",
        "wide_swing",
        "cycle",
        "hard_from",
        "levels",
        "kept",
        "pauses",
        "fewest",
    ),
)

ALL_CHANGED = -1
"""Value of ``n_changed`` of a run when other routes were loaded."""


@compiled
def _note_changes(state, run):
    """Note which routes an accepted step has changed."""
    if run.n_changed == ALL_CHANGED:
        return
    for index in range(state.n_saved_slots):
        slot = state.saved_slot[index]
        if run.is_changed[slot] == 0:
            run.is_changed[slot] = 1
            run.changed[run.n_changed] = slot
            run.n_changed += 1


@compiled
def keep_best(state, run):
    """Keep the routes of a state as the best; those that have not changed since the last time are kept already."""
    count = 0
    for index in range(state.n_active):
        if state.size[state.active[index]] > 0:
            run.slots[count] = state.active[index]
            count += 1
    run.routes = count
    whole = run.n_changed == ALL_CHANGED
    for index in range(count if whole else run.n_changed):
        slot = run.slots[index] if whole else run.changed[index]
        run.is_changed[slot] = 0
        run.vehicle_types[slot] = state.vehicle[slot]
        node = state.first[slot]
        run.firsts[slot] = node
        while node != 0:
            run.followers[node] = state.successor[node]
            node = state.successor[node]
    if whole:
        run.is_changed[:] = 0
    run.n_changed = 0
    run.left_out = count_missing(state)


@compiled
def export_best(run, customers, starts, vehicle_types):
    """Copy the best routes into a row of customers, their starts and types, as `flatten` lays them."""
    position = 0
    for index in range(run.routes):
        starts[index], vehicle_types[index] = position, run.vehicle_types[run.slots[index]]
        node = run.firsts[run.slots[index]]
        # Read while it is being written, it may go in a circle.
        while node != 0 and position < len(customers):
            customers[position] = node
            position += 1
            node = run.followers[node]
    starts[run.routes] = position


@inlined
def _next_price(run, rule, violation, price, change, swing):
    """Return the price of a rule until the next renewal; infinite if it is hard.

    Over a cycle it rises from its level divided by the swing to its level multiplied by it. The level rises if the rule
    was kept by less than half of the cycle's renewals, else it falls.
    """
    first, step = run.prices[rule], run.step
    if first == 0.0:
        return price
    if violation == 0.0:
        run.kept[rule] += 1
    if step == 0:
        level = run.levels[rule] * change if 2 * run.kept[rule] < run.cycle else run.levels[rule] / change
        run.levels[rule], run.kept[rule] = min(max(level, first / PRICE_RANGE), first * PRICE_RANGE), 0
    return run.levels[rule] * swing ** (2.0 * (step + 0.5) / run.cycle - 1.0)


@compiled
def _renew_prices(state, run):
    """Make violations dearer that the routes have, others cheaper: good solutions lie on the border.

    Returns whether rules have been broken for too long: what makes routes feasible again seems to be far away.
    """
    left = state.status.left
    change = run.price_change
    if run.price_last_change != change:
        change = change**left * run.price_last_change ** (1.0 - left)
    swing = run.swing if run.left_out > 0 else run.wide_swing
    load, lateness, longer, farther, more = total_violations(state)
    run.step = (run.step + 1) % run.cycle
    state.load_price = _next_price(run, 0, load, state.load_price, change, swing)
    state.late_price = _next_price(run, 1, lateness, state.late_price, change, swing)
    state.duration_price = _next_price(run, 2, longer, state.duration_price, change, swing)
    state.distance_price = _next_price(run, 3, farther, state.distance_price, change, swing)
    state.stops_price = _next_price(run, 4, more, state.stops_price, change, swing)
    is_broken = load + lateness + longer + farther + more > 0.0
    if is_broken or state.retypes != 0:
        # What other vehicles would save depends on prices, too.
        recompute(state)
        state.status.current = state.cost
    run.broken = run.broken + 1 if is_broken else 0
    return run.broken >= run.most_broken


_signature = types.int64(state_type, tables_type, run_type, types.int64)


def _run(state, tables, run, iterations):
    """Do so many iterations, fewer if a limit is reached; return a code of `contract`."""
    status = state.status
    memory = memory_at(run.memory)
    span = run.high - run.low + 1
    run.found = NOTHING
    for _ in range(iterations):
        if status.best <= run.target or status.since_best >= run.patience:
            break
        for index in range(len(run.stops)):
            status.running = STOPPING + ACTIVITIES * index
            if run.stopped == 0 and call_stops(run.stops[index], (state,)):
                run.stopped = index + 1
        if run.stopped != 0:
            break
        iteration = status.iteration
        if iteration % run.cooling == 0 or run.renew != 0:
            since = iteration - iteration % run.cooling - run.origin
            status.temperature = run.hot * np.exp(run.log_rate * since)
            status.left = max(0.0, run.left - run.left_rate * since)
            run.renew = 0
        quota = run.low + randint(state, span) if span > 1 else run.low
        timed, before = iteration % TIMING_STEP == 0, run.times[1]
        code, destroy, repair, outcome = step(
            state, tables, run.choose, run.update, memory, run.accepts, quota, timed, run.times
        )
        if code != FINE:
            by_destroy = code in (BAD_DESTROY_CHOICE, WRONG_QUOTA, WRONG_DESTROY)
            run.operator = destroy if by_destroy else repair
            return code
        pair = destroy * tables.n_repairs + repair
        for level in range(outcome + 1):
            run.pair_counts[pair, level] += 1
        if timed:
            run.pair_times[pair, 0] += 1.0
            run.pair_times[pair, 1] += run.times[1] - before
        if run.fewest == 0 and 0.0 < status.gain < 0.5 * state.unserved_cost:
            run.pair_gains[pair] += status.gain
        for choice in range(tables.n_improves):
            if (status.ran >> choice) & 1:
                run.improve_counts[choice, USED] += 1
                for level in range(outcome if (status.lowered >> choice) & 1 else 0):
                    run.improve_counts[choice, level + 1] += 1
        run.total += status.current
        if outcome != REJECTED:
            _note_changes(state, run)
        if status.iteration % RECOMPUTE_STEP == 0:
            recompute(state)
            status.current = state.cost
        is_stuck = state.soft != 0 and status.iteration % run.price_step == 0 and _renew_prices(state, run)
        if is_stuck and run.left_out == 0:
            run.broken, run.found = 0, NO_WAY_BACK
            break
        if state.soft != 0 and run.left_out > 0 and status.left < run.hard_from:
            run.found = LEFT_OUT
            break
        if run.fewest != 0:
            missing = count_missing(state)
            if missing == 0 or missing < run.left_out:
                keep_best(state, run)
                run.found = A_BEST
                break
            count_absence(state)
            status.current = status.best = state.cost
        elif outcome == BEST:
            run.broken = 0
            keep_best(state, run)
            if run.pauses != 0:
                run.found = A_BEST
                break
    return FINE


@cache
def compiled_loop() -> Any:
    """Return the loop, compiled once for all instances, portfolios and selectors, as are those who keep its best."""
    keep_best.compile((state_type, run_type))  # type: ignore[attr-defined]
    export_best.compile((run_type, _row, _row, _row))  # type: ignore[attr-defined]
    return compile_for(_signature, _run)
