"""Where a run stands: written by the step, read by operators, selectors, features and acceptance rules."""

from __future__ import annotations

import math

from neuralns.compiled.structs import Struct, StructType, field_copier, number, whole

status_type = StructType(
    "neuralns.Status",
    {
        "start": number,  # F of the start
        "current": number,  # F of the current solution
        "best": number,  # F of the best solution so far
        "candidate": number,  # F of the last candidate, accepted or not
        "threshold": number,  # the most that a candidate may cost to be accepted, drawn before the repair
        "finish_below": number,  # candidates are not given up below this cost: a selector may want to know theirs
        "temperature": number,  # of the acceptance rule
        "left": number,  # share of the budget left, from 1 to 0
        "gain": number,  # by how much the last pair of operators lowered F, 0 if its result was rejected
        "acceptance": number,  # share of candidates accepted, of the last hundred or so
        "iteration": whole,  # pairs of operators applied
        "since_best": whole,  # of these, since the best solution was found
        "since_gain": whole,  # of these, since F last fell
        "quota": whole,  # customers to remove at a time
        "seed": whole,  # the customer on a route with whom a destroy operator begins; 0 if it draws one
        "ran": whole,  # which improve operators the last step applied: bits 1, 2, 4, ..., in their order
        "lowered": whole,  # which of them lowered F
        "running": whole,  # which function of the portfolio, the selector and so on was called last (see `search.step`)
    },
)

copy_status = field_copier(status_type, status_type.fields)
"""Copy a status to another one."""


def new_status() -> Struct:
    """Return the status of a run that has not begun."""
    return Struct(
        status_type, start=0.0, current=0.0, best=0.0, candidate=0.0, threshold=math.inf, finish_below=-math.inf,
        temperature=0.0, left=1.0, gain=0.0, acceptance=1.0, iteration=0, since_best=0, since_gain=0, quota=1, seed=0,
        ran=0, lowered=0, running=0,
    )  # fmt: skip
