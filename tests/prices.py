"""States in which violations of rules have prices, so that routes may break them."""

from __future__ import annotations

import math

from neuralns import Solution
from neuralns.routes.transfer import State, load_solution, new_state

PRICES = {"load_price": 7.0, "late_price": 3.0, "duration_price": 2.0, "distance_price": 5.0, "stops_price": 11.0}


def at_prices(solution: Solution, seed: int = 0) -> State:
    """A state of any routes, feasible or not, with prices for all violations."""
    state = new_state(solution.instance, seed)
    for name, price in PRICES.items():
        setattr(state, name, price)
    state.soft = 1
    state.soft_capacity[...] = state.largest_load = math.inf
    load_solution(state, solution)
    return state
