"""Instances, solutions, an operator and a clock for tests."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from numba import njit

from neuralns import Acceptance, Instance, Operator, Solution, random_tours
from neuralns.mdp import in_search as in_search_module
from neuralns.operators.registry import operator
from neuralns.operators.toolkit import distance, insert, open_route, random, random_routed, remove
from neuralns.routes.evaluate import carries_too_much, is_on_time
from neuralns.routes.layout import JOURNALLED
from neuralns.routes.transfer import State, new_state, routes_of
from neuralns.search import pausing as pausing_module
from neuralns.search import search as search_module
from neuralns.search import talk as talk_module
from neuralns.search import trials as trials_module


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
    return Solution(instance, routes_of(state))


def keeps_limits(state: State, slot: int) -> bool:
    """Whether a route is allowed."""
    return not carries_too_much(state, slot) and bool(is_on_time(state, slot))


def journalled(state: State) -> dict[str, Any]:
    """The fields that an undo brings back, by name, as they are now."""
    found = {field.name: getattr(state, field.name) for field in JOURNALLED}
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in found.items()}


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
        operator(name).apply(state, quota)
        left = [customer for route in routes_of(state) for customer in route]
        seen[tuple(sorted(set(range(1, solution.instance.customers + 1)) - set(left)))] += 1
    return seen


def repairs_seen(solution: Solution, taken: list[int], repair: str, seeds: int) -> Counter[frozenset[tuple[int, ...]]]:
    """How often each set of routes comes out of a repair."""
    seen: Counter[frozenset[tuple[int, ...]]] = Counter()
    for seed in range(seeds):
        state = new_state(solution.instance, seed, solution=solution)
        for customer in taken:
            remove(state, customer)
        operator(repair).apply(state)
        seen[frozenset(solution_in(state, solution.instance).routes)] += 1
    return seen


def plane(points: list[tuple[float, float]], routes: list[list[int]], capacity: float = 100.0) -> Solution:
    """Routes over customers at points of the plane with unit demands; the depot is at the first point."""
    instance = Instance("plane", [0.0] + [1.0] * (len(points) - 1), capacity, points)
    return Solution(instance, routes)


def timed_line(windows: list[tuple[float, float]], routes: list[list[int]], **rules: Any) -> Solution:
    """Customers at 1, 2, 3 ... on a line with the depot at 0, with windows, unit demands and room for all."""
    places = [[float(place), 0.0] for place in range(len(windows) + 1)]
    demands = [0.0] + [1.0] * len(windows)
    instance = Instance("line", demands, 100, places, windows=[(0.0, 1000.0), *windows], **rules)
    return Solution(instance, routes)


@njit
def books(state):
    """Loads, lengths and sizes by route, recomputed from the links: (largest error, customers met, link errors)."""
    error, met, links = 0.0, 0, 0
    for index in range(state.n_active):
        slot = state.active[index]
        node, before = state.first[slot], np.uint32(0)
        load, length, size = 0.0, 0.0, 0
        while node != 0:
            if state.predecessor[node] != before or state.route[node] != slot:
                links += 1
            length += distance(state, before, node)
            load += state.demand[node]
            size += 1
            before, node = node, state.successor[node]
        length += distance(state, before, np.uint32(0))
        if size != state.size[slot]:
            links += 1
        met += size
        error = max(error, abs(load - state.load[slot]), abs(length - state.length[slot]))
    return error, met, links


@njit
def shuffle_about(state, moves):
    """Remove and insert customers at random places, whether they fit or not."""
    for _ in range(moves):
        customer = random_routed(state)
        remove(state, customer)
        if random(state) < 0.3 or state.n_routes == 0:
            insert(state, customer, open_route(state), 0)
        else:
            other = random_routed(state)
            insert(state, customer, state.route[other], other)


_JUDGED = new_state(Instance("one", [0, 1], 1, [[0, 0], [1, 0]]), 5)


def decides(rule: Acceptance, temperature: float, candidate: float, current: float, best: float) -> bool:
    """Whether a rule accepts a candidate, of a cost, in place of a current and beside a best solution."""
    status = _JUDGED.status
    status.temperature, status.current, status.best = temperature, current, best
    function = rule.compiled()
    if rule.function is type(rule).accepts:
        return bool(function(_JUDGED, candidate))
    return bool(candidate <= function(_JUDGED))


def _singles(state):
    while state.n_removed > 0:
        insert(state, state.removed[0], open_route(state), 0)


WASTEFUL = Operator("wasteful", "repair", "own", _singles)
"""A repair operator that gives each customer a route of its own."""


class Clock:
    """A clock that moves only when told, in place of the search's."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        for module in (pausing_module, search_module, talk_module, trials_module, in_search_module):
            monkeypatch.setattr(module, "time", self)

    def perf_counter(self) -> float:
        return self.now


def is_running(process: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
