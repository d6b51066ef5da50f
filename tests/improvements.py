"""Improve operators applied to routes all of whose customers count as touched."""

from __future__ import annotations

from neuralns import Solution
from neuralns.operators.registry import operator
from neuralns.routes.journal import checkpoint
from neuralns.routes.transfer import State, new_state, routes_of


def touch_all(state: State) -> None:
    """Let improve operators begin with everybody on a route."""
    served = [customer for route in routes_of(state) for customer in route]
    state.touched[: len(served)] = sorted(served)
    state.n_touched = len(served)


def improved(solution: Solution, name: str) -> set[tuple[int, ...]]:
    """The routes that an improve operator makes."""
    state = new_state(solution.instance, 0, solution=solution)
    checkpoint(state)  # type: ignore[no-untyped-call]
    touch_all(state)
    operator(name).apply(state)
    return {tuple(route) for route in routes_of(state)}
