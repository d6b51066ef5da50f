"""Routes from nothing, for a search to start from: the same insertions as in a repair."""

from __future__ import annotations

import numpy as np

from neuralns.compiled.caching import compiled
from neuralns.operators.repair.greedy import FARTHEST, insert_in_order
from neuralns.problem.instance import Instance
from neuralns.problem.solution import Solution
from neuralns.routes.edits import bank_removed, charge_for_removed
from neuralns.routes.evaluate import penalty
from neuralns.routes.transfer import load_solution, new_state, solution_of


def build(instance: Instance) -> Solution:
    """Return routes that keep all rules: customers go one by one where they cost least, the farthest first."""
    state = new_state(instance, 0, quota=1)
    load_solution(state, Solution(instance, []))
    _insert_everybody(state)
    return solution_of(state, instance)


@compiled
def _insert_everybody(state):
    """Insert all customers of the bank one by one where they cost least, the farthest first; the rest stays there."""
    for index in range(state.n_bank):
        customer = state.bank[index]
        state.cost -= penalty(state, customer)
        state.place[customer] = state.n_removed
        state.removed[state.n_removed] = customer
        state.n_removed += 1
    state.present += state.n_bank
    state.n_taken = state.n_bank
    state.status.threshold = np.inf
    insert_in_order(state, FARTHEST, 0.0, 0)
    charge_for_removed(state)
    bank_removed(state)
