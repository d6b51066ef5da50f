"""Applying an operator and checking what it promises: the quota is met, everybody is served, no route is overloaded."""

from __future__ import annotations

from neuralns.compiling import compiled
from neuralns.errors import OperatorError
from neuralns.operators.registry import Portfolio
from neuralns.operators.state import overloaded

FINE, BAD_DESTROY_CHOICE, BAD_REPAIR_CHOICE, WRONG_QUOTA, WRONG_DESTROY, WRONG_REPAIR, LEFT_OUT, OVERLOADED = range(8)
"""What applying an operator returns: fine, or which contract an operator or selector broke."""


@compiled
def apply_destroy(state, tables, choice, quota):
    """Apply the chosen destroy operator of a portfolio to complete routes; return a status."""
    if choice < 0 or choice >= tables.n_destroys:
        return BAD_DESTROY_CHOICE
    tables.destroys[choice](state, quota)
    if state.fault != 0:
        return WRONG_DESTROY
    return FINE if state.n_removed == quota else WRONG_QUOTA


@compiled
def apply_repair(state, tables, choice):
    """Apply the chosen repair operator of a portfolio to destroyed routes; return a status."""
    if choice < 0 or choice >= tables.n_repairs:
        return BAD_REPAIR_CHOICE
    tables.repairs[choice](state)
    if state.fault != 0:
        return WRONG_REPAIR
    if state.n_removed != 0:
        return LEFT_OUT
    for index in range(state.n_saved_slots):
        if overloaded(state, state.saved_slot[index]):
            return OVERLOADED
    return FINE


@compiled
def circumstances(state):
    """Return what the message about a broken contract names: the customer, and how many are removed."""
    return state.fault_node, state.n_removed


def broken_contract(
    status: int, portfolio: Portfolio, selector: str, choice: int, quota: int, node: int, removed: int
) -> OperatorError:
    """Return the error that says which operator or selector broke its contract, and how."""
    if status in (BAD_DESTROY_CHOICE, BAD_REPAIR_CHOICE):
        phase = "destroy" if status == BAD_DESTROY_CHOICE else "repair"
        return OperatorError(f"selector {selector!r} chose {phase} operator {choice}, which does not exist.")
    if status in (WRONG_QUOTA, WRONG_DESTROY):
        name = portfolio.destroys[choice].name
        if status == WRONG_QUOTA:
            return OperatorError(f"operator {name!r} removed {removed} customers, but its quota was {quota}.")
        return OperatorError(f"operator {name!r} removed customer {node}, which is not on a route (removed twice?).")
    name = portfolio.repairs[choice].name
    if status == WRONG_REPAIR:
        return OperatorError(f"operator {name!r} inserted customer {node} twice, or at a place off the route.")
    if status == LEFT_OUT:
        return OperatorError(f"operator {name!r} left {removed} customers on the removal list.")
    return OperatorError(f"operator {name!r} overloaded a route.")
