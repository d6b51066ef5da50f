"""Moves of local search against routes cut and joined as lists, and judged by `Solution`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brute_force import costly_instances, some_routes
from fleets import general_instances, some_general_routes
from helpers import on_a_line, random_instances
from neuralns import Instance, Solution, random_tours
from neuralns.routes.edits import insert, remove
from neuralns.routes.journal import checkpoint
from neuralns.routes.moves import (
    arriving,
    leaving,
    leg,
    may_cross,
    touch,
    try_cross,
    try_move,
    try_swap,
    try_tails,
    try_turn,
)
from neuralns.routes.transfer import State, new_state, solution_of

Routes = list[list[int]]


def slot_of(state: State, route: list[int]) -> int:
    return int(state.route[route[0]])


def behind(route: list[int], stop: int) -> int:
    return 0 if stop == 0 else route.index(stop) + 1


def any_move(state: State, routes: Routes, rng: np.random.Generator) -> tuple[Any, Routes]:
    """A move by chance, as a function to call, and the routes that it makes."""
    one, two = (int(number) for number in rng.integers(len(routes), size=2))
    first, second = routes[one], routes[two]
    a, b = (int(rng.choice([0, *route])) for route in (first, second))
    i, j = behind(first, a), behind(second, b)
    slots = slot_of(state, first), slot_of(state, second)
    rest = [route for number, route in enumerate(routes) if number not in (one, two)]
    kind = str(rng.choice(["tails", "turn", "move", "swap", "cross"]))
    if kind == "tails" and one != two:
        made = [first[:i] + second[j:], second[:j] + first[i:]]
        return lambda: try_tails(state, slots[0], a, slots[1], b), [*rest, *made]
    if kind == "turn" and one != two:
        made = [first[:i] + second[:j][::-1], first[i:][::-1] + second[j:]]
        return lambda: try_turn(state, slots[0], a, slots[1], b), [*rest, *made]
    if kind == "turn" and i != j:
        low, high = sorted((i, j))
        made = [first[:low] + first[low:high][::-1] + first[high:]]
        return lambda: try_turn(state, slots[0], a, slots[1], b), [*rest, *made]
    if kind == "move":
        low = int(rng.integers(len(first)))
        high = min(len(first), low + int(rng.integers(1, 4)))
        part, backward = first[low:high], bool(rng.integers(2))
        left = first[:low] + first[high:]
        where = left if one == two else second
        b = int(rng.choice([0, *where]))
        j = behind(where, b)
        longer = where[:j] + (part[::-1] if backward else part) + where[j:]
        made = [longer] if one == two else [left, longer]
        return lambda: try_move(state, part[0], part[-1], slots[1], b, backward), [*rest, *made]
    x, y = int(rng.choice(first)), int(rng.choice(second))
    if kind == "cross" and one != two:
        left, other = [c for c in first if c != x], [c for c in second if c != y]
        p, q = int(rng.choice([0, *other])), int(rng.choice([0, *left]))
        i, j = behind(left, q), behind(other, p)
        made = [[*left[:i], y, *left[i:]], [*other[:j], x, *other[j:]]]
        return lambda: try_cross(state, x, p, y, q), [*rest, *made]
    exchanged = {x: y, y: x}
    return lambda: try_swap(state, x, y), [[exchanged.get(c, c) for c in route] for route in routes]


def expect_moves(solution: Solution, seed: int, exact: bool) -> None:
    """Try moves by chance; each is made if, and if it is ``exact`` only if, it is allowed and cheaper."""
    instance, rng = solution.instance, np.random.default_rng(seed)
    state = new_state(instance, seed, solution=solution)
    checkpoint(state)
    for _ in range(20):
        before = solution_of(state, instance)
        if not before.routes:
            return
        routes = [list(route) for route in before.routes]
        move, made = any_move(state, routes, rng)
        after = sorted(tuple(route) for route in made if route)
        cost = state.cost
        if move():
            found = solution_of(state, instance)
            assert sorted(found.routes) == after
            assert found.broken_rules() == []
            assert found.cost < before.cost
            assert state.cost - cost == pytest.approx(found.cost - before.cost, rel=1e-9, abs=1e-6)
        else:
            assert solution_of(state, instance) == before
            assert state.cost == cost
            if exact:
                planned = Solution(instance, after)
                assert planned.broken_rules() or planned.cost >= before.cost - 1e-6


@settings(deadline=None, max_examples=100)
@given(random_instances(most=15), st.integers(0, 1000))
def test_moves_of_customers_alone_are_made_if_they_gain(instance: Instance, seed: int) -> None:
    expect_moves(random_tours(instance, seed), seed, exact=True)


@settings(deadline=None, max_examples=150)
@given(costly_instances(most=10), st.integers(0, 1000))
def test_moves_are_made_if_they_gain_and_keep_windows_and_limits(instance: Instance, seed: int) -> None:
    expect_moves(some_routes(instance, seed), seed, exact=True)


@settings(deadline=None, max_examples=150)
@given(general_instances(most=10), st.integers(0, 1000))
def test_moves_between_routes_of_a_fleet_keep_every_rule(instance: Instance, seed: int) -> None:
    expect_moves(some_general_routes(instance, seed), seed, exact=False)


def test_legs_of_routes_on_a_line() -> None:
    state, _ = on_a_line([1, 2], [3], places=[1.0, 5.0, -2.0])
    slot = int(state.route[1])
    assert [leg(state, slot, *ends) for ends in ((0, 1), (1, 3), (3, 0))] == [1.0, 3.0, 2.0]
    assert [(arriving(state, customer), leaving(state, customer)) for customer in (1, 2, 3)] == [(1, 4), (4, 5), (2, 2)]


def test_two_customers_may_change_routes_while_there_is_room() -> None:
    instance = Instance("tight", [0, 3, 1, 2, 2], 4, [[0, 0], [1, 0], [2, 0], [3, 0], [4, 0]])
    state = new_state(instance, 0, solution=Solution(instance, [[1, 2], [3, 4]]))
    assert [may_cross(state, one, other) for one, other in ((1, 3), (2, 3))] == [False, False]
    assert not try_cross(state, 1, 0, 3, 0)
    loose = Instance("loose", [0, 3, 1, 2, 2], 5, instance.coordinates)
    state = new_state(loose, 0, solution=Solution(loose, [[1, 2], [3, 4]]))
    assert [may_cross(state, one, other) for one, other in ((1, 3), (2, 3))] == [True, True]


def touched(state: State) -> set[int]:
    return set(state.touched[: state.n_touched].tolist())


def test_touched_are_those_with_other_stops_beside_them() -> None:
    state, _ = on_a_line([1, 2, 3, 4], [5, 6], places=[1.0, 2.0, 3.0, 4.0, -1.0, -2.0])
    checkpoint(state)
    touch(state)
    assert touched(state) == set()
    slot = int(state.route[1])
    remove(state, 2)
    insert(state, 2, slot, 1)
    touch(state)
    assert touched(state) == set()
    remove(state, 2)
    insert(state, 2, slot, 4)
    touch(state)
    assert touched(state) == {1, 2, 3, 4}


def test_a_move_touches_those_beside_the_legs_that_it_changes() -> None:
    state, _ = on_a_line([4, 3, 2, 1, 5], [6], places=[1.0, 2.0, 3.0, 4.0, 5.0, -2.0])
    checkpoint(state)
    touch(state)
    slot = int(state.route[1])
    assert try_turn(state, slot, 0, slot, 1)
    assert touched(state) == {1, 4, 5}
