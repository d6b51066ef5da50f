"""A search step by step: its current solution, its temperature, what is left, and the time that deciding takes."""

from __future__ import annotations

import math
import time
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from numba import njit

from helpers import Clock
from neuralns import (
    AlphaUCB,
    Always,
    HillClimbing,
    MaxIterations,
    MaxTime,
    Progress,
    Roulette,
    SimulatedAnnealing,
    Stop,
    Uniform,
    portfolio_named,
    random_tours,
    read,
    solve,
)
from neuralns.operators.registry import Portfolio
from neuralns.search import clock
from neuralns.search.acceptance import Acceptance
from neuralns.search.loop import COOLING_STEP, SHORT_RUN, TIMING_STEP
from neuralns.search.search import Plan, Search
from neuralns.selection.selector import Selector, compile_selector, learn_nothing

PORTFOLIO = portfolio_named("random-node,zone,greedy")
PAIR = portfolio_named("random-node,greedy")


def search_of(
    stop: Stop, acceptance: Acceptance, selector: Selector | None = None, portfolio: Portfolio = PORTFOLIO
) -> Search:
    instance = read("E-n22-k4")
    start = random_tours(instance, 1)
    temperatures = acceptance.temperatures(start)
    plan = Plan(instance, stop, selector or Uniform(), portfolio, (1, 4), acceptance, temperatures, start)
    return Search(plan, np.random.SeedSequence(1), time.perf_counter())


# --- The current solution. -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("acceptance", [Always(), HillClimbing(), SimulatedAnnealing()])
def test_the_current_solution_is_the_one_that_the_search_goes_on_from(acceptance: Acceptance) -> None:
    search = search_of(MaxIterations(60), acceptance)
    start = search.plan.initial
    assert set(search.current().routes) == set(start.routes)
    costs = []
    while search.reason_to_stop() is None:
        search.advance(1)
        current = search.current()
        assert current.faults() == []
        assert search.progress().current == pytest.approx(current.cost)
        assert search.best().cost <= current.cost + 1e-9
        costs.append(current.cost)
    assert search.iteration == 60
    assert min(costs) == pytest.approx(search.best().cost)
    assert search.mean_cost == pytest.approx(np.mean(costs))
    if isinstance(acceptance, HillClimbing):
        assert costs == sorted(costs, reverse=True)
    if isinstance(acceptance, Always):
        assert costs != sorted(costs, reverse=True)


def test_the_current_solution_is_a_copy() -> None:
    search = search_of(MaxIterations(20), Always())
    before = search.current()
    routes = before.routes
    search.advance(20)
    assert before.routes == routes
    assert set(search.current().routes) != set(routes)


# --- The temperature. ------------------------------------------------------------------------------------------------


def test_a_short_run_cools_down_from_start_to_end() -> None:
    search = search_of(MaxIterations(20), SimulatedAnnealing(100.0, 1.0))
    found = []
    while search.reason_to_stop() is None:
        search.advance(1)
        found.append(search.progress().temperature)
    # Iteration k has the temperature 100 × (1 / 100)^(k / 20).
    assert found == pytest.approx([100 ** (1 - k / 20) for k in range(20)])


def test_the_trace_of_a_short_run_ends_cold() -> None:
    trace = solve("E-n22-k4", MaxIterations(20), acceptance=SimulatedAnnealing(100.0, 1.0)).trace
    assert trace.iteration[-1] == 20
    assert trace.temperature[-1] == pytest.approx(100 ** (1 / 20))


def test_a_long_run_cools_down_in_steps() -> None:
    length = SHORT_RUN + COOLING_STEP
    search = search_of(MaxIterations(length), SimulatedAnnealing(100.0, 1.0))
    found = []
    for _ in range(2 * COOLING_STEP + 1):
        search.advance(1)
        found.append(search.progress().temperature)
    assert len(set(found[:COOLING_STEP])) == len(set(found[COOLING_STEP:-1])) == 1
    assert found[COOLING_STEP] == pytest.approx(100 ** (1 - COOLING_STEP / length))
    assert found[-1] == pytest.approx(100 ** (1 - 2 * COOLING_STEP / length))


# --- What is left. ---------------------------------------------------------------------------------------------------


class Notes:
    """A selector of one pair that writes down, iteration by iteration, what share of the run is left."""

    name = "notes"

    def __init__(self, room: int) -> None:
        self.memory = np.zeros(room + 1)

    def start(self, portfolio: Portfolio, customers: int = 1) -> npt.NDArray[np.float64]:
        return self.memory

    def functions(self) -> tuple[Any, Any]:
        return _note_functions()

    @property
    def left(self) -> list[float]:
        return [float(value) for value in self.memory[1 : 1 + int(self.memory[0])]]


def note(memory, state, phase):
    if phase == 0 and memory[0] < len(memory) - 1:
        memory[0] += 1.0
        memory[np.int64(memory[0])] = state.left
    return np.int64(0)


@cache
def _note_functions() -> tuple[Any, Any]:
    return compile_selector(note, learn_nothing)


@pytest.mark.parametrize("iterations", [1, 20, 500])
def test_what_is_left_falls_from_one_to_none_over_the_iterations(iterations: int) -> None:
    notes = Notes(iterations)
    solve("E-n22-k4", MaxIterations(iterations), selector=notes, portfolio=PAIR)
    assert notes.left == pytest.approx([1 - k / iterations for k in range(iterations)])


def test_what_is_left_of_a_long_run_falls_in_steps() -> None:
    length = SHORT_RUN + 100
    notes = Notes(length)
    solve("E-n22-k4", MaxIterations(length), selector=notes, portfolio=PAIR)
    assert notes.left == pytest.approx([1 - (k - k % COOLING_STEP) / length for k in range(length)])


def test_what_is_left_follows_the_clock_where_time_is_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    watch, notes = Clock(monkeypatch), Notes(5000)

    def wait(progress: Progress) -> None:
        watch.now += 0.25

    # Segments of 64, 256, 1024 and 4096 iterations begin when 0.25, 0.5, 0.75 and 1 s are gone. Each is meant to last
    # 0.05 s, by which what is left falls until the next one.
    solve("E-n22-k4", MaxTime(1), selector=notes, portfolio=PAIR, callbacks=[wait])
    assert notes.left[:64] == pytest.approx([0.75] * 64)
    assert notes.left[64:320] == pytest.approx([0.5 - 0.05 * step / 4 for step in range(4) for _ in range(64)])
    assert notes.left[320:1344] == pytest.approx([0.25 - 0.05 * step / 16 for step in range(16) for _ in range(64)])
    assert set(notes.left[1344:]) == {0.0}


# --- The time that deciding takes. -----------------------------------------------------------------------------------


@pytest.mark.parametrize("selector", [Uniform(), Roulette(), AlphaUCB()], ids=lambda selector: selector.name)
@pytest.mark.parametrize("workers", [1, 2])
def test_the_share_of_deciding_lies_between_none_and_all(selector: Selector, workers: int) -> None:
    share = solve("E-n22-k4", MaxIterations(300), selector=selector, workers=workers).decision_time_share
    assert 0 <= share < 1
    assert (share > 0) == clock.HAS_COUNTER


def test_a_search_without_iterations_decides_nothing() -> None:
    assert solve("E-n22-k4", MaxIterations(0)).decision_time_share == 0


class Ponderer(Notes):
    """A selector that thinks for long, when it chooses or when it learns."""

    name = "ponderer"

    def __init__(self, choosing: float, learning: float) -> None:
        self.memory = np.array([choosing, learning, 0.0])

    def functions(self) -> tuple[Any, Any]:
        return _ponder_functions()


def ponder(memory, state, phase):
    for step in range(np.int64(memory[0])):
        memory[2] = math.sin(memory[2] + step)
    return np.int64(0)


def ponder_afterwards(memory, destroy, repair, outcome, change):
    for step in range(np.int64(memory[1])):
        memory[2] = math.sin(memory[2] + step)


@cache
def _ponder_functions() -> tuple[Any, Any]:
    return compile_selector(ponder, ponder_afterwards)


@pytest.mark.skipif(not clock.HAS_COUNTER, reason="the processor's counter cannot be read")
@pytest.mark.parametrize(("choosing", "learning"), [(20_000.0, 0.0), (0.0, 40_000.0)])
def test_long_thought_takes_most_of_the_time(choosing: float, learning: float) -> None:
    # An iteration takes some microseconds, thought a hundred times as long: whatever else the machine does, it falls
    # into the time of thought.
    selector = Ponderer(choosing, learning)
    assert solve("E-n22-k4", MaxIterations(640), selector=selector, portfolio=PAIR).decision_time_share > 0.5


def test_ticks_grow_with_time(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = clock.ticks

    def elapsed(steps):
        begin = ticks()
        total = 0.0
        for step in range(steps):
            total += math.sin(step)
        return ticks() - begin, total

    measured = njit(elapsed)
    if clock.HAS_COUNTER:
        assert measured(1000)[0] > 0
    monkeypatch.setattr(clock, "HAS_COUNTER", False)
    assert njit(elapsed)(1000)[0] == 0


def test_the_iterations_that_are_timed_meet_all_of_a_policys_cycle() -> None:
    for every in range(2, 21):
        assert {iteration % every for iteration in range(0, 1000 * TIMING_STEP, TIMING_STEP)} == set(range(every))
