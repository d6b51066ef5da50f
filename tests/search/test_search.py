"""A search segment by segment: its solutions, its temperature, what is left, and the time that deciding takes."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import ClassVar

import numpy as np
import pytest

from helpers import Clock
from neuralns import (
    Acceptance,
    AlphaUCB,
    Always,
    HillClimbing,
    MaxIterations,
    MaxTime,
    Portfolio,
    Progress,
    Roulette,
    Selector,
    SimulatedAnnealing,
    Solution,
    Stop,
    Uniform,
    portfolio_named,
    random_tours,
    read,
    savings,
    solve,
)
from neuralns.compiled import clock
from neuralns.compiled.structs import Struct, number, numbers, whole
from neuralns.search import search as search_module
from neuralns.search.loop import COOLING_STEP, SHORT_RUN
from neuralns.search.search import Search
from neuralns.search.segments import SEGMENT_SECONDS
from neuralns.search.setup import make_setup

PORTFOLIO = portfolio_named("random-node,zone,greedy")
PAIR = portfolio_named("random-node,greedy")


def search_of(
    stop: Stop,
    acceptance: Acceptance,
    selector: Selector | None = None,
    portfolio: Portfolio = PORTFOLIO,
    on_best: Callable[[Search], object] | None = None,
) -> Search:
    instance = read("E-n22-k4")
    start = random_tours(instance, 1)
    setup = make_setup(instance, stop, selector, portfolio, scale=(1, 4), acceptance=acceptance, initial=start)
    return Search(setup, np.random.SeedSequence(1), time.perf_counter(), on_best)


# --- The current solution. -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("acceptance", [Always(), HillClimbing(), SimulatedAnnealing()])
def test_the_current_solution_is_the_one_that_the_search_goes_on_from(acceptance: Acceptance) -> None:
    search = search_of(MaxIterations(60), acceptance)
    start = search.setup.initial
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


class Notes(Selector):
    """A selector of one pair that writes down, iteration by iteration, what share of the run is left."""

    name = "notes"
    fields: ClassVar = {"done": whole, "shares": numbers}

    def __init__(self, room: int) -> None:
        self.memory = self.new_memory(done=0, shares=np.zeros(room))

    def start(self, portfolio: Portfolio, customers: int = 1) -> Struct:
        return self.memory

    @staticmethod
    def choose(memory, state, phase):
        if phase == 0 and memory.done < len(memory.shares):
            memory.shares[memory.done] = state.status.left
            memory.done += 1
        return 0

    @property
    def left(self) -> list[float]:
        return [float(value) for value in self.memory.shares[: self.memory.done]]


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
    if clock.HAS_COUNTER:
        assert share is not None
        assert 0 < share < 1
    else:
        assert share is None


def test_where_nothing_was_timed_there_is_no_share_of_deciding() -> None:
    assert solve("E-n22-k4", MaxIterations(0)).decision_time_share is None


@pytest.mark.parametrize("workers", [1, 2])
def test_where_it_cannot_be_measured_there_is_no_share_of_deciding(
    monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    monkeypatch.setattr(search_module, "HAS_COUNTER", False)
    result = solve("E-n22-k4", MaxIterations(300), workers=workers)
    assert result.decision_time_share is None
    assert result.feasible


class Ponderer(Selector):
    """A selector that thinks for long, when it chooses or when it learns."""

    name = "ponderer"
    fields: ClassVar = {"choosing": whole, "learning": whole, "thought": number}

    def __init__(self, choosing: int, learning: int) -> None:
        self.steps = choosing, learning

    def start(self, portfolio: Portfolio, customers: int = 1) -> Struct:
        return self.new_memory(choosing=self.steps[0], learning=self.steps[1], thought=0.0)

    @staticmethod
    def choose(memory, state, phase):
        for step in range(memory.choosing):
            memory.thought = math.sin(memory.thought + step)
        return 0

    @staticmethod
    def update(memory, destroy, repair, outcome, change):
        for step in range(memory.learning):
            memory.thought = math.sin(memory.thought + step)


@pytest.mark.skipif(not clock.HAS_COUNTER, reason="the processor's counter cannot be read")
@pytest.mark.parametrize(("choosing", "learning"), [(20_000, 0), (0, 40_000)])
def test_long_thought_takes_most_of_the_time(choosing: int, learning: int) -> None:
    # An iteration takes some microseconds, thought a hundred times as long: whatever else the machine does, it falls
    # into the time of thought.
    selector = Ponderer(choosing, learning)
    share = solve("E-n22-k4", MaxIterations(640), selector=selector, portfolio=PAIR).decision_time_share
    assert share is not None
    assert share > 0.5


# --- New best solutions. ---------------------------------------------------------------------------------------------


def test_every_new_best_solution_is_told() -> None:
    told: list[tuple[int, Solution]] = []
    search = search_of(
        MaxIterations(300), SimulatedAnnealing(), on_best=lambda search: told.append((search.iteration, search.best()))
    )
    while search.reason_to_stop() is None:
        search.advance()
    costs = [search.setup.initial.cost, *(best.cost for _, best in told)]
    assert all(after < before for before, after in pairwise(costs))
    assert all(best.faults() == [] for _, best in told)
    assert told[-1][1] == search.best()
    iterations = [iteration for iteration, _ in told]
    assert iterations == sorted(set(iterations))
    assert len(told) == int(search.destroy_counts[:, 3].sum()) > 3


def test_who_is_told_changes_nothing() -> None:
    told: list[float] = []
    plain = search_of(MaxIterations(500), SimulatedAnnealing())
    heard = search_of(MaxIterations(500), SimulatedAnnealing(), on_best=lambda search: told.append(search.elapsed))
    for search in (plain, heard):
        while search.reason_to_stop() is None:
            search.advance()
    assert told
    assert heard.iteration == plain.iteration == 500
    assert heard.current().routes == plain.current().routes
    assert heard.best().routes == plain.best().routes
    assert heard.mean_cost == plain.mean_cost
    assert heard.destroy_counts.tolist() == plain.destroy_counts.tolist()


def test_a_segment_ends_after_its_iterations_whoever_is_told() -> None:
    search = search_of(MaxIterations(500), SimulatedAnnealing(), on_best=lambda search: None)
    for end in range(20, 101, 20):
        search.advance(20)
        assert search.iteration == end


# --- Going on from another solution. ---------------------------------------------------------------------------------


def test_a_search_can_continue_from_a_given_solution() -> None:
    instance = read("E-n22-k4")
    poor = Solution(instance, [[customer] for customer in range(1, 22)])
    setup = make_setup(instance, MaxIterations(10), scale=(1, 3), acceptance=HillClimbing(), initial=poor)
    search = Search(setup, np.random.SeedSequence(1), time.perf_counter())
    good = savings(instance)
    search.continue_from(good)
    assert search.best() == good
    assert search.progress().current == search.progress().best == good.cost
    search.continue_from(poor)
    assert search.best() == good
    assert search.progress().current == poor.cost


def test_what_a_search_has_done_stays_when_it_continues() -> None:
    search = search_of(MaxIterations(100), SimulatedAnnealing())
    search.advance(40)
    before = search.progress()
    search.continue_from(search.setup.initial)
    after = search.progress()
    assert (after.iteration, after.best, after.temperature) == (40, before.best, before.temperature)
    assert after.current == search.setup.initial.cost
    while search.reason_to_stop() is None:
        search.advance()
    assert search.iteration == 100
    assert search.progress().best <= before.best


def test_a_search_goes_on_with_some_routes_as_if_there_were_no_others() -> None:
    instance = replace(read("X-n101-k25"), vehicles=40)
    setup = make_setup(instance, MaxIterations(2000))
    search = Search(setup, np.random.SeedSequence(1), time.perf_counter())
    search.advance()
    temperature, done = search.progress().temperature, search.iteration
    routes = search.current().routes
    part = Solution(instance, routes[:8])
    search.continue_with_part(part, 8)
    assert (search.best(), search.current()) == (part, part)
    assert search.progress().temperature == temperature
    assert search.iteration == done > 0
    while search.reason_to_stop() is None:
        search.advance()
    served = {customer for route in part.routes for customer in route}
    for found in (search.best(), search.current()):
        assert {customer for route in found.routes for customer in route} == served
        assert len(found.routes) <= 8
        assert found.broken_rules() == []
    assert search.progress().best == pytest.approx(search.best().cost)
    assert search.best().cost < part.cost
    whole = Solution(instance, [*search.best().routes, *routes[8:]])
    search.continue_from(whole)
    assert (search.best(), search.current()) == (whole, whole)
    assert search.progress().best == pytest.approx(whole.cost)


def test_a_search_with_all_routes_as_its_part_takes_the_same_course() -> None:
    plain, parted = (search_of(MaxIterations(600), SimulatedAnnealing()) for _ in range(2))
    while plain.reason_to_stop() is None:
        plain.advance()
    while parted.reason_to_stop() is None:
        parted.advance(100)
        parted.continue_with_part(parted.current())
    assert parted.current().routes == plain.current().routes


def test_segments_end_about_when_they_are_to_end() -> None:
    search = search_of(MaxTime(60), SimulatedAnnealing())
    for _ in range(20):
        search.advance()
    begin = search.elapsed
    search.until = begin + 0.01
    search.advance()
    assert search.elapsed - begin < 0.8 * SEGMENT_SECONDS


# --- A closer look. ---------------------------------------------------------------------------------------------------


def test_the_customers_of_the_last_iteration_are_known() -> None:
    search = search_of(MaxIterations(200), Always(), portfolio=PAIR)

    def others(routes: tuple[tuple[int, ...], ...]) -> list[list[int]]:
        left = [[node for node in route if node not in search.removed] for route in routes]
        return sorted(route for route in left if route)

    for _ in range(200):
        before = search.current().routes
        search.advance(1)
        assert 1 <= len(search.removed) == len(set(search.removed)) <= 4
        # All others are where they were.
        assert others(search.current().routes) == others(before)


def test_gains_and_seconds_add_up() -> None:
    search = search_of(MaxTime(60), HillClimbing())
    for _ in range(5):
        search.advance()
    assert search.pair_gains.sum() > 0
    assert ((search.pair_gains > 0) <= (search.pair_counts[:, :, 0] > 0)).all()
    assert search.pair_seconds.sum() == pytest.approx(search.elapsed, rel=0.01)
    assert 0 <= search.acceptance <= 1
    assert search.progress().search is search


def test_what_a_controller_set_last_is_known() -> None:
    seen: list[Search | None] = []
    solve("E-n22-k4", MaxTime(0.3), selector="gain", callbacks=[lambda progress: seen.append(progress.search)])
    assert seen[-1] is not None
    assert seen[-1].control is not None
    view, setting = seen[-1].control
    assert view.iteration <= seen[-1].iteration
    assert np.asarray(setting.weights).shape == view.uses.shape
