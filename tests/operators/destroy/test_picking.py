"""How destroy operators pick: by chance, by rank, by nearness."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import on_a_line, plane, random_instances, solution_in, started
from neuralns import Instance
from neuralns.operators.destroy.picking import (
    nearest_routed,
    random_route,
    random_routed,
    remove_by_rank,
    remove_route,
    select_largest,
)
from neuralns.routes import tables
from neuralns.routes.edits import new_visit, remove
from neuralns.routes.evaluate import distance
from neuralns.routes.transfer import new_state


@settings(deadline=None)
@given(st.lists(st.integers(-5, 5).map(float), min_size=1, max_size=40), st.data())
def test_selection_puts_the_rank_where_a_sort_would(keys: list[float], data: st.DataObject) -> None:
    rank = data.draw(st.integers(0, len(keys) - 1))
    values, items = np.array(keys), np.arange(len(keys), dtype=np.int32)
    select_largest(values, items, len(keys), rank)
    ordered = sorted(keys, reverse=True)
    assert values[rank] == ordered[rank]
    assert sorted(values[:rank], reverse=True) == ordered[:rank]
    assert [keys[item] for item in items] == values.tolist()


def test_a_random_routed_customer_is_uniform_even_when_few_are_left() -> None:
    instance = Instance("many", [0.0] + [1.0] * 20, 20, np.arange(42).reshape(21, 2))
    state, _ = started(instance, 1)
    for customer in range(1, 18):
        remove(state, customer)
    draws = [random_routed(state) for _ in range(3000)]
    assert np.bincount(draws, minlength=21)[18:] == pytest.approx([1000] * 3, abs=120)
    assert set(draws) == {18, 19, 20}


def test_where_nobody_is_left_there_is_no_random_customer() -> None:
    state, _ = on_a_line([1, 2], places=[1.0, 2.0])
    for customer in (1, 2):
        remove(state, customer)
    assert random_routed(state) == 0


def test_a_selector_may_say_with_whom_a_step_begins() -> None:
    state, _ = on_a_line([1, 2, 3], [4], [5, 6], places=[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    state.status.seed = 5
    assert {random_routed(state) for _ in range(20)} == {5}
    assert {int(random_route(state)) for _ in range(20)} == {int(state.route[5])}
    remove(state, 5)
    assert {random_routed(state) for _ in range(200)} == {1, 2, 3, 4, 6}
    assert len({int(random_route(state)) for _ in range(200)}) == 3


def test_a_random_route_has_customers_and_is_uniform() -> None:
    state, _ = on_a_line([1, 2, 3], [4], [5], [6], places=[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    emptied = int(state.route[5])
    remove(state, 5)
    draws = [int(random_route(state)) for _ in range(3000)]
    assert emptied not in draws
    assert sorted(np.bincount(draws, minlength=4).tolist()) == pytest.approx([0, 1000, 1000, 1000], abs=120)


def test_a_route_is_removed_from_its_start_up_to_the_quota() -> None:
    state, start = on_a_line([3, 1, 2], [4], places=[1.0, 2.0, 3.0, 4.0])
    slot = int(state.route[3])
    remove_route(state, slot, 2)
    assert solution_in(state, start.instance).routes == ((2,), (4,))
    remove_route(state, slot, 4)
    assert solution_in(state, start.instance).routes == ((4,),)
    assert state.n_removed == 3


def test_customers_are_removed_by_the_rank_of_their_keys() -> None:
    first = {}
    for determinism in (1.0, 1000.0):
        counts = np.zeros(6)
        for seed in range(1200):
            state, _ = on_a_line([1, 2, 3, 4, 5], places=[1.0, 2.0, 3.0, 4.0, 5.0])
            state.random[:] = np.random.SeedSequence(seed).generate_state(4, np.uint64)
            state.keys[:5], state.items[:5] = [3, 9, 1, 7, 5], [1, 2, 3, 4, 5]
            remove_by_rank(state, 5, 2, determinism)
            assert state.n_removed == 2
            counts[state.removed[:2]] += 1
        first[determinism] = counts / 1200
    # Without determinism two of five, alike; with much of it the two largest keys, 9 and 7.
    assert first[1.0][1:] == pytest.approx([0.4] * 5, abs=0.06)
    assert first[1000.0][[2, 4]] == pytest.approx([1.0, 1.0], abs=0.02)


@settings(deadline=None, max_examples=40)
@given(random_instances(most=12), st.integers(0, 1000), st.data())
def test_the_nearest_customer_on_an_unmarked_route_is_found(instance: Instance, seed: int, data: st.DataObject) -> None:
    state, _ = started(instance, seed)
    gone = data.draw(st.sets(st.integers(1, instance.customers), max_size=instance.customers - 1))
    for customer in gone:
        remove(state, customer)
    marked = data.draw(st.sets(st.sampled_from(state.active[: state.n_active].tolist())))
    mark = new_visit(state)
    for slot in marked:
        state.visited_slots[slot] = mark
    centre = data.draw(st.integers(1, instance.customers))
    others = [
        other
        for other in range(1, instance.customers + 1)
        if other != centre and state.route[other] >= 0 and int(state.route[other]) not in marked
    ]
    found = int(nearest_routed(state, centre, mark))
    if not others:
        assert found == 0
    else:
        assert found in others
        assert distance(state, centre, found) == min(distance(state, centre, other) for other in others)


def test_the_nearest_customer_is_found_where_neighbour_lists_are_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "FULL_NEIGHBOURS", 1)
    monkeypatch.setattr(tables, "SOME_NEIGHBOURS", 1)
    solution = plane([(0, 0), (1, 0), (2, 0), (4, 0), (8, 0)], [[1, 2], [3], [4]])
    state = new_state(solution.instance, 0, solution=solution)
    assert state.neighbours.shape == (5, 1)
    mark = new_visit(state)
    assert nearest_routed(state, 1, mark) == 2
    remove(state, 2)
    assert nearest_routed(state, 1, mark) == 3
    state.visited_slots[state.route[3]] = mark
    assert nearest_routed(state, 1, mark) == 4


def test_drawing_ends_where_the_books_are_wrong_and_nobody_is_on_a_route() -> None:
    # As a repair leaves them that inserts a customer twice: taken off the list, but not put on a route.
    state, _ = on_a_line([1, 2], [3, 4], places=[1.0, 2.0, 3.0, 4.0])
    for customer in (1, 2, 3, 4):
        remove(state, customer)
    state.n_removed = 0
    assert random_routed(state) == 0
    assert random_route(state) in state.active[:2]
