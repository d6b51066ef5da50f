"""The history of arcs: with each arc the cost of the best solution that had it."""

from __future__ import annotations

from itertools import pairwise
from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import plane, random_instances, shuffle_about, solution_in, started
from neuralns import Instance, MaxIterations, Solution, generate_x, portfolio_named, random_tours, solve
from neuralns.routes import history
from neuralns.routes.edits import close_empty_routes, insert, remove, undo
from neuralns.routes.history import MATRIX_LIMIT, new_history, remember, seen_cost
from neuralns.routes.journal import checkpoint
from neuralns.routes.transfer import load_solution, new_state

DESTROYS, REPAIRS = portfolio_named("paper").destroys, portfolio_named("paper").repairs


def arcs_of(solution: Solution) -> set[tuple[int, int]]:
    return {arc for route in solution.routes for arc in pairwise((0, *route, 0))}


def test_history_notes_the_cheapest_solution_of_each_arc() -> None:
    solution = plane([(0, 0), (1, 0), (2, 0)], [[1, 2]])
    state = new_state(solution.instance, 0, history=True, solution=solution)
    seen = state.history
    assert seen[0, 1] == seen[1, 2] == seen[2, 0] == 4.0
    assert seen[0, 2] == inf
    checkpoint(state)
    remove(state, 1)
    insert(state, 1, 0, 2)
    remember(state)  # 0 → 2 → 1 → 0 costs 4 as well
    assert seen[0, 2] == seen[2, 1] == seen[1, 0] == 4.0
    assert seen[0, 1] == 4.0


@settings(deadline=None, max_examples=40)
@given(random_instances(most=10), st.integers(0, 1000), st.data())
def test_history_is_the_least_cost_of_the_solutions_seen_with_an_arc(
    instance: Instance, seed: int, data: st.DataObject
) -> None:
    state, start = started(instance, seed)
    seen = dict.fromkeys(arcs_of(start), state.cost)
    for _ in range(data.draw(st.integers(1, 6))):
        checkpoint(state)
        data.draw(st.sampled_from(DESTROYS)).apply(state, data.draw(st.integers(1, instance.customers)))
        data.draw(st.sampled_from(REPAIRS)).apply(state)
        remember(state)
        for arc in arcs_of(solution_in(state, instance)):
            seen[arc] = min(seen.get(arc, inf), state.cost)
        # What is undone has been seen as well.
        if data.draw(st.booleans()):
            undo(state)
        else:
            close_empty_routes(state)
    for tail in range(instance.customers + 1):
        for head in range(instance.customers + 1):
            # Costs that differ by rounding alone are one.
            expected = seen.get((tail, head), inf)
            assert state.history[tail, head] == expected or abs(state.history[tail, head] - expected) < 1e-9 * expected


def test_without_a_history_nothing_is_noted() -> None:
    solution = plane([(0, 0), (1, 0), (2, 0)], [[1, 2]])
    state = new_state(solution.instance, 0, solution=solution)
    assert state.history.shape == (0, 0)
    checkpoint(state)
    shuffle_about(state, 3)
    remember(state)
    assert state.fault == 0


def test_a_solution_that_is_loaded_begins_a_new_history() -> None:
    solution = plane([(0, 0), (1, 0), (2, 0)], [[1, 2]])
    state = new_state(solution.instance, 0, history=True, solution=solution)
    load_solution(state, Solution(solution.instance, [[1], [2]]))
    assert state.history[0, 1] == state.history[2, 0] == 6.0
    assert state.history[1, 2] == inf


# --- Large instances: a table of fixed size. --------------------------------------------------------------------------


def test_large_instances_have_a_table_that_grows_with_their_customers_only() -> None:
    assert new_history(MATRIX_LIMIT).shape == (MATRIX_LIMIT + 1,) * 2
    assert new_history(MATRIX_LIMIT + 1).size == 1 << 19
    assert new_history(50_000).nbytes <= 70e6


def test_in_a_table_an_arc_has_the_least_cost_seen_with_it_unless_another_shares_its_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(history, "MATRIX_LIMIT", 1)
    solution = random_tours(generate_x(60, seed=1), 1)
    state = new_state(solution.instance, 0, history=True, solution=solution)
    assert state.history.shape[1] == 1024
    seen = dict.fromkeys(arcs_of(solution), state.cost)
    for number in range(50):
        checkpoint(state)
        DESTROYS[number % len(DESTROYS)].apply(state, 10)
        REPAIRS[number % len(REPAIRS)].apply(state)
        remember(state)
        for arc in arcs_of(solution_in(state, solution.instance)):
            seen[arc] = min(seen.get(arc, inf), state.cost)
        close_empty_routes(state)
    found = {arc: seen_cost(state, *arc) for arc in seen}
    assert all(found[arc] <= cost * (1 + 1e-9) for arc, cost in seen.items())
    shared = [arc for arc, cost in seen.items() if found[arc] < cost * (1 - 1e-9)]
    assert len(shared) <= 0.2 * len(seen)
    assert sum(seen_cost(state, tail, head) == inf for tail in range(61) for head in range(61)) > 2500


def test_a_search_with_a_table_finds_routes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "MATRIX_LIMIT", 1)
    found = solve(generate_x(60, seed=1), MaxIterations(500), portfolio="historical,greedy")
    assert found.feasible
    assert found.cost < found.initial.cost
