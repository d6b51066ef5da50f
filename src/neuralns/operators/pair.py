"""One application of a pair of operators to complete routes, in its parts: destroy, repair, and what comes of it.

Steps of searches and episodes put acceptance and improvement around them, simulations keep all that comes, and start
solutions are finished as repaired ones are.
"""

from neuralns.compiled.caching import compiled, inlined
from neuralns.operators.contract import FINE, apply_destroy, apply_repair
from neuralns.routes.edits import bank_removed, charge_for_removed, close_empty_routes, take_from_bank
from neuralns.routes.evaluate import prepare, reassign_vehicles
from neuralns.routes.history import remember
from neuralns.routes.journal import checkpoint


@inlined
def begin_pair(state, tables, destroy, quota):
    """Remove customers from complete routes by a destroy operator; return a code of `contract`."""
    # Nobody is left to remove where all are in the bank.
    quota = min(quota, state.present)
    state.status.quota = quota
    checkpoint(state)
    return apply_destroy(state, tables, destroy, quota)


@inlined
def end_pair(state, tables, repair):
    """Insert the removed customers, and some who wait, by a repair operator; return a code of `contract`."""
    if state.n_bank > 0:
        take_from_bank(state)
    return apply_repair(state, tables, repair)


@inlined
def finish_repair(state):
    """Work out what repaired routes cost in all, and remember their arcs; return whether they break a rule."""
    broken = reassign_vehicles(state)
    if state.n_removed > 0 or len(state.group_count) > 0:
        charge_for_removed(state)
    remember(state)
    return broken


@inlined
def keep(state):
    """Make repaired routes complete ones: those left over wait, and routes without customers are closed."""
    if state.n_bank > 0 or state.n_removed > 0:
        bank_removed(state)
    close_empty_routes(state)


@compiled
def keep_pair(state, tables, destroy, repair, quota):
    """Apply a pair of operators to complete routes and keep what it gives; return a code of `contract`."""
    code = begin_pair(state, tables, destroy, quota)
    if code != FINE:
        return code
    prepare(state)
    code = end_pair(state, tables, repair)
    if code != FINE:
        return code
    finish_repair(state)
    keep(state)
    return FINE
