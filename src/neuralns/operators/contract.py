"""Applying an operator and checking what it promises: the quota is met, everybody is served, no route is overloaded."""

from __future__ import annotations

import numpy as np

from neuralns.compiled.caching import compiled
from neuralns.compiled.calls import caller_with_parameters
from neuralns.errors import OperatorError
from neuralns.operators.portfolio import Portfolio
from neuralns.operators.registry import SIGNATURES
from neuralns.routes.edits import NOTHING_WRONG, TABLE_FULL
from neuralns.routes.evaluate import carries_too_much, hopeless, penalty
from neuralns.routes.rules import fleet
from neuralns.routes.transfer import State

(
    FINE, BAD_DESTROY_CHOICE, BAD_REPAIR_CHOICE, WRONG_QUOTA, WRONG_DESTROY, WRONG_REPAIR, LEFT_OUT, OVERLOADED,
    TOO_MANY_ROUTES, WRONG_IMPROVE, IMPROVE_LEFT_OUT, IMPROVE_OVERLOADED, IMPROVE_OPENED, NO_THRESHOLD,
) = range(14)  # fmt: skip
"""What applying an operator returns: fine, or which contract an operator or selector broke."""

_call_destroy = caller_with_parameters(SIGNATURES["destroy"])
_call_repair = caller_with_parameters(SIGNATURES["repair"])
_call_improve = caller_with_parameters(SIGNATURES["improve"])


@compiled
def apply_destroy(state, tables, choice, quota):
    """Apply the chosen destroy operator of a portfolio to complete routes; return a status."""
    if choice < 0 or choice >= tables.n_destroys:
        return BAD_DESTROY_CHOICE
    if quota == 0:
        return FINE
    _call_destroy(
        tables.destroys[choice], (state, quota), tables.destroy_parameters, choice, tables.destroy_counts[choice]
    )
    if state.fault != NOTHING_WRONG:
        return WRONG_DESTROY
    return FINE if state.n_removed == quota else WRONG_QUOTA


@compiled
def apply_repair(state, tables, choice):
    """Apply the chosen repair operator of a portfolio to destroyed routes; return a status."""
    if choice < 0 or choice >= tables.n_repairs:
        return BAD_REPAIR_CHOICE
    _call_repair(tables.repairs[choice], (state,), tables.repair_parameters, choice, tables.repair_counts[choice])
    if state.fault != NOTHING_WRONG:
        return WRONG_REPAIR
    for index in range(state.n_saved_slots):
        if carries_too_much(state, state.saved_slot[index]):
            return OVERLOADED
    if not fleet.is_kept(state):
        return TOO_MANY_ROUTES
    if state.n_removed > 0 and not hopeless(state):
        for index in range(state.n_removed):
            if penalty(state, state.removed[index]) == np.inf:
                return LEFT_OUT
    return FINE


@compiled
def apply_improve(state, tables, choice):
    """Apply an improve operator of a portfolio to repaired routes; return a status."""
    waiting = state.n_removed
    _call_improve(tables.improves[choice], (state,), tables.improve_parameters, choice, tables.improve_counts[choice])
    if state.fault != NOTHING_WRONG:
        return WRONG_IMPROVE
    if state.n_removed != waiting:
        return IMPROVE_LEFT_OUT
    for index in range(state.n_saved_slots):
        if carries_too_much(state, state.saved_slot[index]):
            return IMPROVE_OVERLOADED
    return FINE if fleet.is_kept(state) else IMPROVE_OPENED


def broken_contract(
    status: int, portfolio: Portfolio, selector: str, choice: int, quota: int, state: State
) -> OperatorError:
    """Return the error that says which operator or selector broke its contract, and how."""
    node, removed = state.fault_node, state.n_removed
    if status == NO_THRESHOLD:
        return OperatorError("the acceptance rule gives nan as the most that a candidate may cost, which is no number.")
    if status in (BAD_DESTROY_CHOICE, BAD_REPAIR_CHOICE):
        phase = "destroy" if status == BAD_DESTROY_CHOICE else "repair"
        return OperatorError(f"selector {selector!r} chose {phase} operator {choice}, which does not exist.")
    if status in (WRONG_QUOTA, WRONG_DESTROY):
        name = portfolio.destroys[choice].name
        if status == WRONG_QUOTA:
            return OperatorError(f"operator {name!r} removed {removed} customers, but its quota was {quota}.")
        return OperatorError(f"operator {name!r} removed customer {node}, which is not on a route (removed twice?).")
    improves = status in (WRONG_IMPROVE, IMPROVE_LEFT_OUT, IMPROVE_OVERLOADED, IMPROVE_OPENED)
    name = (portfolio.improves if improves else portfolio.repairs)[choice].name
    if status == WRONG_IMPROVE:
        return OperatorError(f"operator {name!r} moved customer {node} in a way that cannot be.")
    if status == WRONG_REPAIR and state.fault == TABLE_FULL:
        return OperatorError(f"operator {name!r} was given {removed} customers, more than the search was made for.")
    if status == WRONG_REPAIR:
        return OperatorError(f"operator {name!r} inserted customer {node} twice, or at a position off the route.")
    if status in (LEFT_OUT, IMPROVE_LEFT_OUT):
        return OperatorError(f"operator {name!r} left {removed} customers on the removal list.")
    if status in (TOO_MANY_ROUTES, IMPROVE_OPENED):
        return OperatorError(f"operator {name!r} opened {state.n_routes} routes, but vehicles are {state.vehicles}.")
    return OperatorError(f"operator {name!r} overloaded a route.")
