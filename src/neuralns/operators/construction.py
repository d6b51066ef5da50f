"""Routes from nothing, for a search to start from: the same insertions as in a repair."""

from __future__ import annotations

import numpy as np

from neuralns.compiled.caching import compiled
from neuralns.compiled.failures import catching
from neuralns.errors import OperatorError
from neuralns.operators.pair import finish_repair, keep
from neuralns.operators.repair.greedy import FARTHEST, insert_in_order
from neuralns.problem.instance import Instance
from neuralns.problem.solution import Solution
from neuralns.routes.bounds import charged_cost
from neuralns.routes.edits import take_all_from_bank
from neuralns.routes.layout import state_type
from neuralns.routes.transfer import load_solution, new_state, solution_of
from neuralns.routes.vehicles import AS_THEY_ARE, CHEAPEST, LARGEST_TYPE


def build(instance: Instance) -> Solution:
    """Return routes that keep all rules: customers go one by one where they cost least, the farthest first.

    Where vehicles of several sizes could drive a route, it is the cheapest of what each way of choosing sizes gives.
    """
    state = new_state(instance, 0, quota=1)
    sizings = (CHEAPEST, AS_THEY_ARE, LARGEST_TYPE) if state.n_classes < len(instance.types) else (0,)
    found = []
    failures: list[str] = []
    with catching(failures.append):
        for sizing in sizings:
            load_solution(state, Solution(instance, []))
            state.sizing = sizing
            _insert_everybody(state)
            found.append(solution_of(state, instance))
    if failures:
        names = " or ".join(str(cost) for cost in instance.route_costs or ())
        raise OperatorError(f"{names or instance.name} fails: {failures[0]}")
    return min(found, key=charged_cost) if len(found) > 1 else found[0]


@compiled
def _insert_everybody(state):
    """Insert all customers of the bank one by one where they cost least, the farthest first; the rest stays there."""
    take_all_from_bank(state)
    state.status.threshold = np.inf
    # Served with others, customers pay who would not pay for a route of their own.
    state.serve_all = 1
    insert_in_order(state, FARTHEST, 0.0, 0)
    finish_repair(state)
    state.serve_all = 0
    keep(state)


def compile_building() -> None:
    """Compile what `build` calls."""
    _insert_everybody.compile((state_type,))  # type: ignore[attr-defined]
