"""One iteration: the pair is applied, the result accepted or undone, and the status brought up to date."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from brute_force import costly_instances, some_routes
from helpers import WASTEFUL, journalled, on_a_line, random_instances, solution_in, started
from neuralns import (
    Acceptance,
    Always,
    HillClimbing,
    Instance,
    MaxIterations,
    SimulatedAnnealing,
    Uniform,
    make_portfolio,
    portfolio_named,
    random_tours,
    read,
)
from neuralns.compiled.calls import address_of
from neuralns.compiled.structs import anything, at_address
from neuralns.operators.contract import BAD_DESTROY_CHOICE, BAD_REPAIR_CHOICE, FINE
from neuralns.operators.registry import operators
from neuralns.routes.bounds import unserved_cost
from neuralns.routes.transfer import State, new_state
from neuralns.search.search import Search
from neuralns.search.setup import make_setup
from neuralns.search.step import RECENT, begin_step, end_step, step
from neuralns.selection.selector import ACCEPTED, BEST, BETTER, REJECTED

PORTFOLIO = make_portfolio("own", ["greedy-route", "random-node", "greedy", WASTEFUL])
GREEDY_ROUTE, RANDOM_NODE = 0, 1
GREEDY, SINGLES = 0, 1
memory_at = at_address(anything)


class Never(Acceptance):
    """Accept nothing."""

    @staticmethod
    def accepts(state, candidate):
        return False


RULES = {
    "always": Always().address(),
    "hill": HillClimbing().address(),
    "never": Never().address(),
    "annealing": SimulatedAnnealing().address(),
}


def done(state: State, destroy: int, repair: int, quota: int, rule: str = "always") -> int:
    """Do a step with a pair; return its outcome."""
    assert begin_step(state, PORTFOLIO.tables, destroy, quota) == FINE
    assert state.status.quota == quota == state.n_removed
    code, outcome = end_step(state, PORTFOLIO.tables, repair, RULES[rule])
    assert code == FINE
    return int(outcome)


def line() -> tuple[State, Any]:
    # Routes [1, 2] of length 10 and [3] of length 4, 7 for each vehicle: F = 28.
    return on_a_line([1, 2], [3], places=[1.0, 5.0, -2.0], vehicle_cost=7.0)


def test_a_better_solution_is_the_best_one() -> None:
    state, start = line()
    # 3 is taken off its route and joins the others, 10 + 4 long, for one vehicle.
    assert done(state, GREEDY_ROUTE, GREEDY, 1) == BEST
    assert len(solution_in(state, start.instance).routes) == 1
    status = state.status
    assert (status.start, status.current, status.best, status.candidate) == (28.0, 21.0, 21.0, 21.0)
    assert (status.gain, status.iteration, status.since_best, status.since_gain) == (7.0, 1, 0, 0)
    assert state.n_active == 1


def test_outcomes_tell_best_better_accepted_and_rejected_apart() -> None:
    state, _ = line()
    status = state.status
    assert done(state, GREEDY_ROUTE, GREEDY, 1) == BEST  # 21
    assert done(state, GREEDY_ROUTE, SINGLES, 3) == ACCEPTED  # three routes: 2 + 10 + 4 + 21
    assert (status.current, status.best, status.gain) == (37.0, 21.0, -16.0)
    assert (status.since_best, status.since_gain, status.iteration) == (1, 1, 2)
    assert done(state, GREEDY_ROUTE, GREEDY, 1) == BETTER  # 1 on the way to 2 again
    assert (status.current, status.best, status.gain) == (28.0, 21.0, 9.0)
    assert (status.since_best, status.since_gain, status.iteration) == (2, 0, 3)
    assert done(state, GREEDY_ROUTE, SINGLES, 3, "hill") == REJECTED
    assert (status.current, status.candidate, status.gain) == (28.0, 37.0, 0.0)
    assert (status.since_best, status.since_gain, status.iteration) == (3, 1, 4)


def test_what_is_rejected_is_undone_to_the_bit() -> None:
    state, start = line()
    before = journalled(state)
    assert done(state, GREEDY_ROUTE, GREEDY, 1, "never") == REJECTED
    assert journalled(state) == before
    assert set(solution_in(state, start.instance).routes) == set(start.routes)
    assert (state.status.current, state.status.best, state.status.candidate) == (28.0, 28.0, 21.0)
    # It has been seen all the same.
    assert state.history.min() == 21.0


def test_the_share_accepted_follows_the_last_hundred_or_so() -> None:
    state, _ = line()
    expected = 1.0
    for rule in ("never", "always", "never", "never"):
        done(state, GREEDY_ROUTE, GREEDY, 1, rule)
        expected += RECENT * ((rule == "always") - expected)
        assert state.status.acceptance == pytest.approx(expected)
    for _ in range(500):
        done(state, GREEDY_ROUTE, GREEDY, 1, "never")
    assert state.status.acceptance < 0.01


def test_a_result_that_differs_by_rounding_alone_is_no_gain() -> None:
    rng = np.random.default_rng(1)
    instance = Instance("plane", [0.0] + [1.0] * 9, 3, rng.uniform(0, 1000, (10, 2)))
    start = random_tours(instance, 1)
    state = new_state(instance, 1, solution=start)
    for _ in range(200):
        before, best = state.status.current, state.status.best
        outcome = done(state, RANDOM_NODE, GREEDY, 1)
        difference = before - state.cost
        if abs(difference) < 1e-9 * before:
            assert state.status.gain == 0.0
            assert outcome == ACCEPTED
        else:
            assert state.status.gain == difference
        assert (outcome == BEST) == (state.cost < best - 1e-9 * best)


@settings(deadline=None, max_examples=40)
@given(random_instances(most=12), st.integers(0, 1000), st.data())
def test_the_status_is_what_happened(instance: Instance, seed: int, data: st.DataObject) -> None:
    state, start = started(instance, seed)
    status = state.status
    best, since_best, since_gain = start.cost, 0, 0
    for number in range(1, 9):
        current = status.current
        choice = data.draw(st.tuples(st.integers(0, 1), st.integers(0, 1), st.integers(1, instance.customers)))
        outcome = done(state, *choice, data.draw(st.sampled_from(["always", "hill", "never"])))
        cost = solution_in(state, instance).cost
        assert status.current == state.cost == pytest.approx(cost, rel=1e-9, abs=1e-9)
        assert status.iteration == number
        noise = 1e-9 * max(abs(current), 1e-9)
        if cost < best - noise:
            assert outcome == BEST
            best, since_best = cost, 0
        else:
            since_best += 1
        since_gain = 0 if cost < current - noise else since_gain + 1
        assert (status.since_best, status.since_gain) == (since_best, since_gain)
        assert status.best == pytest.approx(best, rel=1e-9, abs=1e-9)
        if outcome == REJECTED:
            assert status.current == current
        else:
            assert status.candidate == status.current
        assert status.gain == pytest.approx(current - cost, rel=1e-6, abs=1e-7)
    assert status.start == pytest.approx(start.cost)


BUILT_IN = [entry for entry in operators() if entry.function.__module__.startswith("neuralns.")]
EVERY = make_portfolio("every", BUILT_IN)
WITHOUT_HISTORY = make_portfolio("most", [entry for entry in BUILT_IN if not entry.uses_history])


@pytest.mark.parametrize("history", [False, True])
@settings(deadline=None, max_examples=60)
@given(costly_instances(most=25), st.integers(0, 1000), st.sampled_from(["always", "hill", "annealing"]))
def test_every_operator_keeps_every_rule_and_the_books_of_the_bank(
    history: bool, instance: Instance, seed: int, rule: str
) -> None:
    portfolio = EVERY if history else WITHOUT_HISTORY
    rng = np.random.default_rng(seed)
    state = new_state(instance, seed, history=history, solution=some_routes(instance, seed))
    state.status.temperature = 10.0
    everybody = set(range(1, instance.customers + 1)) - set(instance.unservable)
    for _ in range(60):
        quota, present, current = int(rng.integers(1, instance.customers + 1)), state.present, state.status.current
        assert begin_step(state, portfolio.tables, rng.integers(len(portfolio.destroys)), quota) == FINE
        assert state.n_removed == min(quota, present)
        code, outcome = end_step(state, portfolio.tables, rng.integers(len(portfolio.repairs)), RULES[rule])
        assert (code, state.fault, state.n_removed, state.n_taken) == (FINE, 0, 0, 0)
        found = solution_in(state, instance)
        assert found.broken_rules() == []
        served = {customer for route in found.routes for customer in route}
        assert set(state.bank[: state.n_bank].tolist()) == everybody - served
        assert state.present == len(served)
        charge = unserved_cost(instance) * state.n_bank if state.n_bank else 0.0
        assert state.status.current == state.cost == pytest.approx(found.cost + charge, rel=1e-9, abs=1e-6)
        assert outcome == REJECTED or state.cost <= state.status.threshold
        if rule == "hill":
            assert state.cost <= current


def test_a_choice_that_does_not_exist_is_told_and_changes_nothing() -> None:
    state, start = line()
    assert begin_step(state, PORTFOLIO.tables, 5, 1) == BAD_DESTROY_CHOICE
    assert solution_in(state, start.instance) == start
    assert begin_step(state, PORTFOLIO.tables, 0, 1) == FINE
    assert end_step(state, PORTFOLIO.tables, -1, RULES["always"]) == (BAD_REPAIR_CHOICE, REJECTED)
    assert state.status.iteration == 0


@njit
def whole_step(state, tables, choose, update, memory, accepts, quota, timed, times):
    return step(state, tables, choose, update, memory_at(memory), accepts, quota, timed, times)


def test_a_whole_step_is_made_of_choices_and_halves() -> None:
    instance = read("E-n22-k4")
    portfolio = portfolio_named("zone,random-node,greedy,regret-2")
    start = random_tours(instance, 1)
    one, other = (new_state(instance, 3, solution=start) for _ in range(2))
    selector = Uniform()
    memory = selector.start(portfolio)
    choose, update = selector.functions()
    times = np.zeros(2)
    for number in range(50):
        code, destroy, repair, outcome = whole_step(
            one, portfolio.tables, address_of(choose), address_of(update), memory.address, RULES["hill"], 3,
            number % 2 == 0, times,
        )  # fmt: skip
        assert code == FINE
        assert choose(memory, other, 0) == destroy
        assert begin_step(other, portfolio.tables, destroy, 3) == FINE
        assert choose(memory, other, 1) == repair
        assert end_step(other, portfolio.tables, repair, RULES["hill"]) == (FINE, outcome)
        assert solution_in(one, instance) == solution_in(other, instance)
    assert 0 <= times[0] <= times[1]


def test_the_status_of_a_search_tells_where_it_stands() -> None:
    instance = read("E-n22-k4")
    setup = make_setup(instance, MaxIterations(200), initial=random_tours(instance, 1))
    search, status, share = Search(setup, np.random.SeedSequence(1), 0.0), None, 1.0
    status = search._status
    best, since_best, since_gain = search.setup.initial.cost, 0, 0
    assert (status.start, status.current, status.best) == (best,) * 3
    for number in range(1, 201):
        before = status.current
        accepted = int(search.destroy_counts[:, 1].sum())
        search.advance(1)
        accepted = int(search.destroy_counts[:, 1].sum()) - accepted
        share += RECENT * (accepted - share)
        cost = search.current().cost
        since_best = 0 if cost < best - 1e-9 else since_best + 1
        best = min(best, cost)
        since_gain = 0 if cost < before - 1e-9 else since_gain + 1
        assert status.iteration == number
        assert (status.since_best, status.since_gain) == (since_best, since_gain)
        assert status.acceptance == pytest.approx(share)
        assert status.current == pytest.approx(cost)
        assert status.gain == pytest.approx(before - cost, abs=1e-9)
        assert 1 <= status.quota <= 20
        if accepted:
            assert status.candidate == status.current
        else:
            assert status.candidate > status.current
    assert math.isclose(status.best, search.best().cost)
