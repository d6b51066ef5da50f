"""The compiled ALNS loop of the paper's section 3.1: select, destroy, repair, accept or undo."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numba import types

from neuralns.compiling import compile_for
from neuralns.operators.contract import FINE, apply_destroy, apply_repair
from neuralns.operators.registry import tables_type
from neuralns.operators.state import (
    checkpoint,
    close_empty_routes,
    export_routes,
    note_gain,
    randint,
    refresh,
    remember,
    state_type,
    undo,
)
from neuralns.search.acceptance import accepts
from neuralns.search.clock import ticks
from neuralns.selection.selector import choose_type, memory_type, update_type

# The run's numbers, kept in one array of floats and one of integers between segments.
(
    CURRENT, BEST, START_TEMPERATURE, LOG_RATE, TARGET, TEMPERATURE, REFERENCE, LEFT, LEFT_RATE, DECIDING, ITERATING,
    CURRENT_SUM,
) = range(12)  # fmt: skip
ITERATION, ORIGIN, RULE, LOW, HIGH, LAST_BEST, PATIENCE, BEST_ROUTES, OPERATOR, QUOTA, COOLING = range(11)

USED, ACCEPTED, IMPROVED, NEW_BEST = range(4)
"""Columns of the operators' counters."""

COOLING_STEP = 64
"""The temperature is renewed when the iteration is a multiple of this, whatever the segments; always in short runs."""
SHORT_RUN = 100 * COOLING_STEP
TIMING_STEP = 37
"""One iteration in so many is timed for the share of deciding; a prime, so as to meet all of a policy's cycle."""
REFRESH_STEP = 1 << 14
"""The cost is recomputed from the routes at multiples of this."""

_floats = types.Array(types.float64, 1, "C")
_longs = types.Array(types.int64, 1, "C")
_ints = types.Array(types.int32, 1, "C")
_counts = types.Array(types.int64, 2, "C")

_signature = types.int64(
    state_type,
    tables_type,
    choose_type,
    update_type,
    memory_type,
    _floats,
    _longs,
    _counts,
    _counts,
    _ints,
    _ints,
    types.int64,
)


def _run(
    state,
    tables,
    choose,
    update,
    memory,
    run,
    counts,
    destroy_counts,
    repair_counts,
    best,
    starts,
    iterations,
):
    """Do so many iterations, fewer if the target or the limit of patience is reached; return a status."""
    state.reference = run[REFERENCE]
    cooling = counts[COOLING]
    rule, low, span = counts[RULE], counts[LOW], counts[HIGH] - counts[LOW] + 1
    for _ in range(iterations):
        if run[BEST] <= run[TARGET] or counts[ITERATION] - counts[LAST_BEST] >= counts[PATIENCE]:
            break
        iteration = counts[ITERATION]
        if iteration % cooling == 0 or run[TEMPERATURE] < 0.0:
            since = iteration - iteration % cooling - counts[ORIGIN]
            run[TEMPERATURE] = run[START_TEMPERATURE] * np.exp(run[LOG_RATE] * since)
            state.left = max(0.0, run[LEFT] - run[LEFT_RATE] * since)
        timed = iteration % TIMING_STEP == 0
        begin = ticks() if timed else 0
        quota = low + randint(state, span) if span > 1 else low
        state.quota = quota
        checkpoint(state)

        before = ticks() if timed else 0
        destroy = choose(memory, state, 0)
        deciding = ticks() - before if timed else 0
        status = apply_destroy(state, tables, destroy, quota)
        if status != FINE:
            counts[OPERATOR], counts[QUOTA] = destroy, quota
            return status
        before = ticks() if timed else 0
        repair = choose(memory, state, 1)
        deciding += ticks() - before if timed else 0
        status = apply_repair(state, tables, repair)
        if status != FINE:
            counts[OPERATOR], counts[QUOTA] = repair, quota
            return status

        remember(state)
        candidate, current = state.cost, run[CURRENT]
        # A difference below this is the rounding of sums, not a change of the routes.
        noise = 1e-11 * abs(current)
        outcome = 0
        if accepts(state, rule, run[TEMPERATURE], candidate, current, run[BEST]):
            outcome = 1
            close_empty_routes(state)
            if candidate < run[BEST] - noise:
                outcome = 3
                run[BEST] = candidate
                counts[LAST_BEST] = iteration + 1
                counts[BEST_ROUTES] = export_routes(state, best, starts)
            elif candidate < current - noise:
                outcome = 2
            run[CURRENT] = candidate
            note_gain(state, current - candidate)
        else:
            undo(state)
            note_gain(state, 0.0)

        before = ticks() if timed else 0
        update(memory, destroy, repair, outcome, candidate - current)
        if timed:
            now = ticks()
            run[DECIDING] += deciding + now - before
            run[ITERATING] += now - begin
        destroy_counts[destroy, 0] += 1
        repair_counts[repair, 0] += 1
        for level in range(outcome):
            destroy_counts[destroy, level + 1] += 1
            repair_counts[repair, level + 1] += 1
        run[CURRENT_SUM] += run[CURRENT]
        counts[ITERATION] = iteration + 1
        if counts[ITERATION] % REFRESH_STEP == 0:
            refresh(state)
            run[CURRENT] = state.cost
    return FINE


@cache
def compiled_loop() -> Any:
    """Return the loop, compiled once for all instances, portfolios and selectors."""
    return compile_for(_signature, _run)
