"""The compiled loop: its limits, its counters, its best routes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from neuralns import (
    Acceptance,
    Always,
    Fixed,
    HillClimbing,
    MaxIterations,
    NoImprovement,
    OperatorError,
    SimulatedAnnealing,
    Solution,
    Stop,
    TargetCost,
    Uniform,
    generate_x,
    make_portfolio,
    portfolio_named,
    random_tours,
    read,
)
from neuralns.compiled.caching import CompilationNotice
from neuralns.operators.registry import Operator
from neuralns.search import loop
from neuralns.search.loop import ACCEPTED, IMPROVED, NEW_BEST, TIMING_STEP, USED, compiled_loop
from neuralns.search.search import Search
from neuralns.search.setup import make_setup

INSTANCE = read("E-n22-k4")


def search_of(stop: Stop, on_best: Callable[[Search], object] | None = None, **options: Any) -> Search:
    setup = make_setup(INSTANCE, stop, initial=random_tours(INSTANCE, 1), **options)
    return Search(setup, np.random.SeedSequence(1), time.perf_counter(), on_best)


def finished(search: Search) -> Search:
    while search.reason_to_stop() is None:
        search.advance()
    return search


def test_the_iterations_that_are_timed_meet_all_of_a_policys_cycle() -> None:
    for every in range(2, 21):
        assert {iteration % every for iteration in range(0, 1000 * TIMING_STEP, TIMING_STEP)} == set(range(every))


def test_the_loop_is_compiled_once_for_all() -> None:
    loops = {id(compiled_loop()) for _ in range(3)}
    assert len(loops) == 1
    finished(search_of(MaxIterations(10)))
    told: list[str] = []
    with CompilationNotice(lambda: told.append("compiling")):
        for portfolio, selector, rule in (
            ("zone,greedy", Uniform(), HillClimbing()),
            ("zone,pair,greedy,regret-2", Fixed("zone", "greedy"), SimulatedAnnealing()),
        ):
            finished(
                search_of(MaxIterations(10), portfolio=portfolio_named(portfolio), selector=selector, acceptance=rule)
            )
    assert len(compiled_loop().overloads) == 1


@pytest.mark.parametrize("acceptance", [Always(), HillClimbing(), SimulatedAnnealing()])
def test_counters_add_up(acceptance: Acceptance) -> None:
    search = finished(search_of(MaxIterations(500), acceptance=acceptance))
    for counts in (search.destroy_counts, search.repair_counts):
        assert counts[:, USED].sum() == 500
        assert (np.diff(counts, axis=1) <= 0).all()
    for column in (ACCEPTED, IMPROVED, NEW_BEST):
        assert search.destroy_counts[:, column].sum() == search.repair_counts[:, column].sum()
    if isinstance(acceptance, Always):
        assert search.destroy_counts[:, ACCEPTED].sum() == 500


def test_the_best_routes_are_kept() -> None:
    search = search_of(MaxIterations(300), acceptance=Always())
    best = search.setup.initial.cost
    while search.reason_to_stop() is None:
        search.advance(1)
        best = min(best, search.current().cost)
        assert search.best().cost == pytest.approx(best, rel=1e-9)
    assert search.current().cost > best


def test_a_loop_ends_at_the_target_and_without_improvement() -> None:
    target = finished(search_of(TargetCost(450)))
    assert target.best().cost <= 450
    assert target.destroy_counts[:, NEW_BEST].sum() > 0
    stuck = finished(search_of(NoImprovement(40)))
    assert stuck._status.since_best == 40
    none = search_of(TargetCost(1e9))
    none.advance()
    assert none.iteration == 0


def test_the_number_of_customers_to_remove_is_drawn_from_its_range() -> None:
    search, seen = search_of(MaxIterations(600), scale=(3, 5)), []
    for _ in range(600):
        search.advance(1)
        seen.append(int(search._status.quota))
    assert {seen.count(quota) for quota in (3, 4, 5)} <= set(range(150, 251))
    assert set(seen) == {3, 4, 5}


def idle(state, quota):
    """Remove nobody."""


def leave(state):
    """Insert nobody."""


@pytest.mark.parametrize(
    ("entries", "sentence"),
    [
        (["zone", Operator("mine", "destroy", "own", idle), "greedy"], "operator 'mine' removed 0 customers"),
        (["zone", "greedy", Operator("mine", "repair", "own", leave)], "operator 'mine' left 4 customers"),
    ],
)
def test_the_operator_that_breaks_its_contract_is_named(entries: list[str | Operator], sentence: str) -> None:
    with pytest.raises(OperatorError, match=f"^{sentence}"):
        finished(search_of(MaxIterations(100), portfolio=make_portfolio("own", entries), scale=4))


def test_rounding_errors_are_wiped_out_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = generate_x(20, seed=1)
    setup = make_setup(instance, MaxIterations(loop.RECOMPUTE_STEP), acceptance=Always())
    search = Search(setup, np.random.SeedSequence(1), time.perf_counter())
    while search.iteration < loop.RECOMPUTE_STEP - 1:
        search.advance(loop.RECOMPUTE_STEP - 1 - search.iteration)
    search._state.cost += 5.0
    search._status.current += 5.0
    search.advance(1)
    assert search._state.cost == search._status.current
    assert search._state.cost == pytest.approx(Solution(instance, search.current().routes).cost, rel=1e-12)


def test_improve_operators_are_applied_in_their_share_of_the_steps_and_counted() -> None:
    portfolio = portfolio_named("random-node,greedy,or-opt,2-opt:share=0.25,swap:share=0")
    search = finished(search_of(MaxIterations(2000), portfolio=portfolio, acceptance=Always()))
    always, seldom, never = search.improve_counts.tolist()
    assert always[USED] == 2000
    assert always[USED] > always[ACCEPTED] >= always[IMPROVED] >= always[NEW_BEST] > 0
    assert 400 < seldom[USED] < 600
    assert never == [0, 0, 0, 0]
    assert search.counts.tolist() == [
        *search.destroy_counts.tolist(), *search.repair_counts.tolist(), *search.improve_counts.tolist()
    ]  # fmt: skip
    assert search.progress().uses["or-opt"] == 2000
    assert search.best().feasible


def test_candidates_that_cost_too_much_are_not_improved() -> None:
    portfolio = portfolio_named("random-node,greedy,or-opt")
    search = finished(search_of(MaxIterations(500), portfolio=portfolio, acceptance=HillClimbing()))
    accepted = int(search.destroy_counts[:, ACCEPTED].sum())
    assert int(search.improve_counts[0, USED]) == accepted < 500
