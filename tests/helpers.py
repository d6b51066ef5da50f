"""Instances, solutions, an operator and a clock for tests."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from neuralns import Instance, Operator, Solution, random_tours
from neuralns.operators.registry import operator
from neuralns.operators.state import State, insert, new_state, open_route, routes_of
from neuralns.search import search as search_module
from neuralns.search import solve as solve_module


@st.composite
def random_instances(draw: Any, most: int = 30) -> Instance:
    """Instances of any kind: points or asymmetric matrix, whole or fractional demands, tight or loose capacity."""
    customers = draw(st.integers(1, most))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    points = rng.integers(0, draw(st.sampled_from([3, 100])) + 1, size=(customers + 1, 2)).astype(float)
    demands = rng.integers(0, 11, size=customers + 1).astype(float)
    if draw(st.booleans()):
        demands = demands * 0.1
    demands[0] = 0.0
    capacity = max(demands.max(), 1e-3) * draw(st.floats(1.0, 8.0))
    matrix = None
    if draw(st.integers(0, 3)) == 0:
        matrix = rng.integers(1, 50, size=(customers + 1, customers + 1)).astype(float)
    rounding = draw(st.sampled_from(["none", "round", "trunc", "dimacs"]))
    return Instance("drawn", demands, capacity, points, matrix, rounding, draw(st.sampled_from([0.0, 100.0])))


def solution_in(state: State, instance: Instance) -> Solution:
    """The routes that a state holds."""
    return Solution(instance, routes_of(state, instance.customers))


def started(instance: Instance, seed: int, history: bool = True) -> tuple[State, Solution]:
    """A state that holds random tours."""
    start = random_tours(instance, seed)
    return new_state(instance, seed, history=history, solution=start), start


def on_a_line(*routes: list[int], places: list[float], vehicle_cost: float = 0.0) -> tuple[State, Solution]:
    """A state of customers on a line with the depot at 0, unit demands and room for all."""
    points = [[0.0, 0.0], *([place, 0.0] for place in places)]
    instance = Instance("line", [0.0] + [1.0] * len(places), 100, points, vehicle_cost=vehicle_cost)
    solution = Solution(instance, routes)
    return new_state(instance, 1, history=True, solution=solution), solution


def outcomes(name: str, solution: Solution, quota: int, seeds: int = 200) -> Counter[tuple[int, ...]]:
    """How often each set of customers, sorted, is what a destroy operator removes from a solution."""
    seen: Counter[tuple[int, ...]] = Counter()
    for seed in range(seeds):
        state = new_state(solution.instance, seed, history=True, solution=solution)
        operator(name).compiled(state, quota)
        left = [customer for route in routes_of(state, solution.instance.customers) for customer in route]
        seen[tuple(sorted(set(range(1, solution.instance.customers + 1)) - set(left)))] += 1
    return seen


def plane(points: list[tuple[float, float]], routes: list[list[int]], capacity: float = 100.0) -> Solution:
    """Routes over customers at points of the plane with unit demands; the depot is at the first point."""
    instance = Instance("plane", [0.0] + [1.0] * (len(points) - 1), capacity, points)
    return Solution(instance, routes)


def _singles(state):
    while state.n_removed > 0:
        insert(state, state.removed[0], open_route(state), 0)


WASTEFUL = Operator("wasteful", "repair", "own", _singles)
"""A repair operator that gives each customer a route of its own."""


class Clock:
    """A clock that moves only when told, in place of the search's."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        for module in (search_module, solve_module):
            monkeypatch.setattr(module, "time", self)

    def perf_counter(self) -> float:
        return self.now
