"""The state's books, its undo and its generator."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from helpers import on_a_line, random_instances, solution_in, started
from neuralns import Instance, Solution
from neuralns.operators import state as st_module
from neuralns.operators.registry import portfolio_named
from neuralns.operators.state import (
    best_insertion,
    checkpoint,
    close_empty_routes,
    copy_routes,
    distance,
    fits,
    insert,
    new_state,
    open_route,
    opening_cost,
    randint,
    random,
    random_rank,
    random_routed,
    refresh,
    remember,
    removal_gain,
    remove,
    seed_generator,
    undo,
)
from neuralns.problem import instance as instance_module


@njit
def cost_of(state):
    return state.cost


@njit
def books(state):
    """Loads, lengths and sizes by route, recomputed from the links: (largest error, customers met, link errors)."""
    error, met, links = 0.0, 0, 0
    for index in range(state.n_active):
        slot = state.active[index]
        node, before = state.first[slot], 0
        load, length, size = 0.0, 0.0, 0
        while node != 0:
            if state.predecessor[node] != before or state.route[node] != slot:
                links += 1
            length += distance(state, before, node)
            load += state.demand[node]
            size += 1
            before, node = node, state.successor[node]
        length += distance(state, before, 0)
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


@settings(deadline=None, max_examples=60)
@given(random_instances(), st.integers(0, 1000), st.integers(1, 40))
def test_books_stay_right_under_any_edits_and_undo_returns_to_the_bit(
    instance: Instance, seed: int, moves: int
) -> None:
    state, start = started(instance, seed)
    cost = cost_of(state)
    assert cost == pytest.approx(start.cost, rel=1e-9)
    checkpoint(state)
    shuffle_about(state, moves)
    error, met, links = books(state)
    assert (met, links) == (instance.customers, 0)
    assert error == pytest.approx(0.0, abs=1e-7)
    assert cost_of(state) == pytest.approx(solution_in(state, instance).cost, rel=1e-9, abs=1e-9)
    undo(state)
    assert sorted(solution_in(state, instance).routes) == sorted(start.routes)
    assert cost_of(state) == cost
    close_empty_routes(state)
    refresh(state)
    assert cost_of(state) == pytest.approx(cost, rel=1e-12, abs=1e-12)


def test_gain_insertion_and_opening_cost_on_a_line() -> None:
    state, _ = on_a_line([1, 2], [3], places=[1.0, 5.0, -2.0], vehicle_cost=7.0)
    assert cost_of(state) == 10.0 + 4.0 + 2 * 7.0
    assert removal_gain(state, 1) == 0.0
    assert removal_gain(state, 2) == 8.0
    assert opening_cost(state, 2) == 17.0
    remove(state, 2)
    assert cost_of(state) == 2.0 + 4.0 + 14.0
    cost, after = best_insertion(state, 2, 0)
    assert (cost, after) == (8.0, 0)
    remove(state, 3)
    assert cost_of(state) == 2.0 + 7.0


def test_best_insertion_respects_the_direction_of_asymmetric_distances() -> None:
    matrix = np.array([[0.0, 1, 9, 9], [1, 0, 1, 9], [9, 50, 0, 1], [1, 9, 9, 0]])
    instance = Instance("one way", [0, 1, 1, 1], 3, matrix=matrix)
    state = new_state(instance, 0, solution=Solution(instance, [[1, 3], [2]]))
    remove(state, 2)
    assert best_insertion(state, 2, 0) == (1.0 + 1.0 - 9.0, 1)


def test_a_customer_fits_up_to_the_capacity() -> None:
    instance = Instance("tight", [0, 4, 6, 7], 10, [[0, 0], [1, 0], [2, 0], [3, 0]])
    state = new_state(instance, 0, solution=Solution(instance, [[1], [2], [3]]))
    assert fits(state, 2, 0)
    assert not fits(state, 3, 0)


def test_distances_computed_on_demand_equal_the_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    points = rng.uniform(0, 50, size=(12, 2))
    for rounding in ("none", "round", "trunc", "dimacs"):
        instance = Instance("plane", [0.0] + [1.0] * 11, 5, points, rounding=rounding)
        held, start = started(instance, 3, history=False)
        monkeypatch.setattr(instance_module, "MATRIX_LIMIT", 1)
        wide = Instance("plane", [0.0] + [1.0] * 11, 5, points, rounding=rounding)
        assert wide.distances is None
        computed = new_state(wide, 3, solution=Solution(wide, start.routes))
        monkeypatch.undo()
        for tail in range(12):
            for head in range(12):
                assert distance(computed, tail, head) == distance(held, tail, head)
        remove(held, 4)
        remove(computed, 4)
        assert best_insertion(computed, 4, 0) == best_insertion(held, 4, 0)


def test_edits_that_break_the_contract_are_noted_and_not_carried_out() -> None:
    @njit
    def fault_of(state):
        fault, node = state.fault, state.fault_node
        state.fault = 0
        return fault, node

    state, start = on_a_line([1, 2], [3], places=[1.0, 5.0, -2.0])
    remove(state, 0)
    assert fault_of(state) == (st_module.NOT_REMOVABLE, 0)
    remove(state, 4)
    assert fault_of(state) == (st_module.NOT_REMOVABLE, 4)
    remove(state, 2)
    remove(state, 2)
    assert fault_of(state) == (st_module.NOT_REMOVABLE, 2)
    insert(state, 1, 0, 0)
    assert fault_of(state) == (st_module.NOT_INSERTABLE, 1)
    insert(state, 2, 0, 3)
    assert fault_of(state) == (st_module.WRONG_PLACE, 2)
    insert(state, 2, 0, 1)
    assert fault_of(state)[0] == st_module.NOTHING_WRONG
    assert solution_in(state, start.instance) == start


def test_the_generator_is_xoshiro256_plus_plus() -> None:
    instance = Instance("one", [0, 1], 1, [[0, 0], [1, 0]])
    state = new_state(instance, 0)

    @njit
    def set_words(state):
        state.random[:] = np.array([1, 2, 3, 4], np.uint64)

    set_words(state)
    mask = 2**64 - 1
    s = [1, 2, 3, 4]

    def rotate(word: int, bits: int) -> int:
        return ((word << bits) | (word >> (64 - bits))) & mask

    for _ in range(50):
        expected = (rotate((s[0] + s[3]) & mask, 23) + s[0]) & mask
        shifted = (s[1] << 17) & mask
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= shifted
        s[3] = rotate(s[3], 45)
        assert int(st_module.random_word(state)) & mask == expected


def test_draws_are_uniform_and_ranks_lean_to_the_front() -> None:
    state = new_state(Instance("one", [0, 1], 1, [[0, 0], [1, 0]]), 7)
    draws = np.array([randint(state, 5) for _ in range(20000)])
    assert np.bincount(draws, minlength=5) == pytest.approx([4000] * 5, abs=250)
    ranks = np.array([random_rank(state, 10, 3.0) for _ in range(20000)])
    # P(⌊10 y³⌋ = 0) = 0.1^(1/3)
    assert (ranks == 0).mean() == pytest.approx(0.1 ** (1 / 3), abs=0.02)
    assert ranks.min() == 0
    assert ranks.max() == 9


def test_a_random_routed_customer_is_uniform_even_when_few_are_left() -> None:
    instance = Instance("many", [0.0] + [1.0] * 20, 20, np.arange(42).reshape(21, 2))
    state, _ = started(instance, 1)
    for customer in range(1, 18):
        remove(state, customer)
    draws = [random_routed(state) for _ in range(3000)]
    assert np.bincount(draws, minlength=21)[18:] == pytest.approx([1000] * 3, abs=120)
    assert set(draws) == {18, 19, 20}


@njit
def histories(state):
    return state.history.copy()


@njit
def words(state):
    return state.random.copy()


@njit
def small_numbers(state):
    return state.reference, state.left, state.quota, state.n_routes, state.cost, state.n_removed, state.fault


@njit
def set_small_numbers(state):
    state.left, state.quota, state.fault = 0.25, 3, 1


@settings(deadline=None, max_examples=40)
@given(random_instances(most=15), st.integers(0, 1000), st.data())
def test_a_copy_of_the_routes_goes_the_same_way_with_the_same_random_numbers(
    instance: Instance, seed: int, data: st.DataObject
) -> None:
    portfolios = portfolio_named("paper"), portfolio_named("modern-all")
    destroys = [entry for portfolio in portfolios for entry in portfolio.destroys]
    repairs = [entry for portfolio in portfolios for entry in portfolio.repairs]
    source, _ = started(instance, seed)
    target, _ = started(instance, seed + 1)
    quota = data.draw(st.integers(1, instance.customers))

    def pair(state: st_module.State, destroy: int, repair: int) -> None:
        checkpoint(state)
        destroys[destroy].compiled(state, quota)
        repairs[repair].compiled(state)
        remember(state)
        close_empty_routes(state)

    choices = st.tuples(st.integers(0, len(destroys) - 1), st.integers(0, len(repairs) - 1))
    pair(source, *data.draw(choices))
    pair(target, *data.draw(choices))
    copy_routes(source, target)
    assert small_numbers(target) == small_numbers(source)
    for state in (source, target):
        seed_generator(state, np.uint64(seed))
    for _ in range(3):
        choice = data.draw(choices)
        pair(source, *choice)
        pair(target, *choice)
        assert solution_in(target, instance).routes == solution_in(source, instance).routes
        assert cost_of(target) == cost_of(source)
        assert np.array_equal(histories(target), histories(source))
    error, met, links = books(target)
    assert (met, links) == (instance.customers, 0)
    assert error == pytest.approx(0.0, abs=1e-7)


def test_a_copy_has_the_circumstances_but_neither_the_generator_nor_the_faults() -> None:
    source, start = on_a_line([1, 2], [3], places=[1.0, 5.0, -2.0])
    target = new_state(start.instance, 9, history=True)
    set_small_numbers(source)
    before = words(target).tolist()
    copy_routes(source, target)
    assert words(target).tolist() == before
    # F of the start, share of the budget left, quota, routes, F, removed customers, fault.
    assert small_numbers(source) == (14.0, 0.25, 3, 2, 14.0, 0, 1)
    assert small_numbers(target) == (14.0, 0.25, 3, 2, 14.0, 0, 0)
    assert solution_in(target, start.instance) == start


def test_edits_of_a_copy_leave_the_source_alone_and_can_be_undone() -> None:
    source, start = on_a_line([1, 2], [3], places=[1.0, 5.0, -2.0])
    target = new_state(start.instance, 9, history=True)
    copy_routes(source, target)
    remove(target, 2)
    remove(target, 3)
    insert(target, 3, 0, 1)
    assert solution_in(source, start.instance) == start
    undo(target)
    assert solution_in(target, start.instance) == start
    assert cost_of(target) == cost_of(source)


def test_a_generator_is_seeded_by_splitmix64() -> None:
    state = new_state(Instance("one", [0, 1], 1, [[0, 0], [1, 0]]), 0)
    mask = 2**64 - 1

    def splitmix(seed: int) -> list[int]:
        found = []
        for _ in range(4):
            seed = (seed + 0x9E3779B97F4A7C15) & mask
            mixed = ((seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9) & mask
            mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & mask
            found.append(mixed ^ (mixed >> 31))
        return found

    # The first number that splitmix64 gives for seed 0 is known from its authors' implementation.
    assert splitmix(0)[0] == 0xE220A8397B1DCDAF
    for seed in (0, 1, 12345, 2**63, 2**64 - 1):
        seed_generator(state, np.uint64(seed))
        assert words(state).tolist() == splitmix(seed)


def test_the_same_seed_gives_the_same_numbers_whatever_came_before() -> None:
    state = new_state(Instance("one", [0, 1], 1, [[0, 0], [1, 0]]), 0)
    rows = []
    for seed in (5, 6, 5):
        seed_generator(state, np.uint64(seed))
        rows.append([random(state) for _ in range(20)])
    assert rows[0] == rows[2]
    assert not set(rows[0]) & set(rows[1])


def test_a_state_beside_another_shares_what_never_changes_and_nothing_else() -> None:
    first, start = on_a_line([1, 2], [3], places=[1.0, 5.0, -2.0], vehicle_cost=7.0)
    beside = new_state(start.instance, 1, history=True, solution=start, beside=first)
    assert beside.shared is first.shared
    apart = new_state(start.instance, 1, history=True, solution=start)
    for one, other in zip(beside.shared, apart.shared, strict=True):
        assert np.array_equal(one, other)
    shuffle_about(beside, 20)
    shuffle_about(apart, 20)
    assert solution_in(beside, start.instance) == solution_in(apart, start.instance)
    assert cost_of(beside) == cost_of(apart)
    assert solution_in(first, start.instance) == start
    assert words(first).tolist() != words(beside).tolist()
    without = new_state(start.instance, 1, beside=first)
    assert histories(without).shape == (0, 0)
    assert histories(first).shape == (4, 4)


def test_a_state_outlives_the_one_it_was_made_beside() -> None:
    first, start = on_a_line([1, 2], [3], places=[1.0, 5.0, -2.0])
    beside = new_state(start.instance, 1, solution=start, beside=first)
    del first
    gc.collect()
    assert [distance(beside, 0, customer) for customer in (1, 2, 3)] == [1.0, 5.0, 2.0]
    remove(beside, 2)
    assert best_insertion(beside, 2, 0) == (8.0, 0)
