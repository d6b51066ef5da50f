"""Limits of a run."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import pytest

from neuralns import (
    InputError,
    MaxIterations,
    MaxTime,
    NoImprovement,
    OperatorError,
    Progress,
    Stop,
    StopWhen,
    TargetCost,
    random_tours,
    read,
    solve,
)


def test_limits_combine_to_the_first_that_is_reached() -> None:
    stop = MaxTime(5) | MaxTime(3) | MaxIterations(100) | NoImprovement(10) | TargetCost(7) | TargetCost(9)
    assert stop == Stop(time=3, iterations=100, no_improvement=10, target=9)


def test_a_run_ends_after_its_iterations() -> None:
    result = solve("E-n22-k4", MaxIterations(777))
    assert (result.iterations, result.stopped_by) == (777, "iterations")
    assert solve("E-n22-k4", MaxIterations(0)).iterations == 0


def test_a_run_ends_after_its_time() -> None:
    solve("E-n22-k4", MaxIterations(1))
    begin = time.perf_counter()
    result = solve("E-n22-k4", MaxTime(0.5))
    assert result.stopped_by == "time"
    assert 0.5 <= result.runtime < 0.75
    assert time.perf_counter() - begin < 1.0


def test_a_run_ends_exactly_when_nothing_improved_for_long_enough() -> None:
    result = solve("E-n22-k4", NoImprovement(500) | MaxIterations(10**6), seed=3)
    assert result.stopped_by == "no improvement"
    again = solve("E-n22-k4", MaxIterations(result.iterations - 500) | TargetCost(result.cost), seed=3)
    assert again.iterations <= result.iterations - 500


def test_a_run_ends_at_its_target() -> None:
    result = solve("E-n22-k4", TargetCost(380) | MaxIterations(10**6), initial="random")
    assert result.stopped_by == "target"
    assert result.cost <= 380


def test_a_callback_can_end_a_run() -> None:
    def enough(progress: Progress) -> bool:
        return progress.iteration >= 64

    result = solve("E-n22-k4", MaxIterations(10**6), callbacks=[enough])
    assert result.stopped_by == "callback"
    assert 64 <= result.iterations < 10**6


@pytest.mark.parametrize("value", [-1, math.nan, math.inf])
def test_limits_that_make_no_sense_are_refused(value: float) -> None:
    with pytest.raises(InputError, match="time limit"):
        MaxTime(value)


@pytest.mark.parametrize("limit", [MaxIterations, NoImprovement])
def test_a_fraction_of_an_iteration_is_refused(limit: Callable[[float], Stop]) -> None:
    with pytest.raises(InputError, match="must be whole"):
        limit(2.5)


def test_a_run_without_limits_is_refused() -> None:
    with pytest.raises(InputError, match="never ends"):
        solve("E-n22-k4", Stop())


def test_a_share_of_a_limit_has_a_share_of_its_time_and_iterations() -> None:
    stop = Stop(time=10, iterations=101, no_improvement=30, target=5.0)
    assert stop.scaled(0.25) == Stop(time=2.5, iterations=25, no_improvement=30, target=5.0)
    assert MaxIterations(3).scaled(0.1) == MaxIterations(1)
    assert MaxTime(4).scaled(0.5) == MaxTime(2)
    assert (TargetCost(3) | StopWhen(tired)).scaled(0.5) == TargetCost(3) | StopWhen(tired)


def test_progress_is_the_larger_share_used() -> None:
    stop = Stop(time=10, iterations=100)
    assert stop.progress(5, 20) == 0.5
    assert stop.progress(1, 90) == 0.9
    assert stop.progress(99, 0) == 1.0
    assert TargetCost(3).progress(99, 99) == 0.0
    assert MaxIterations(0).progress(0, 0) == 1.0


# --- Rules of a user's own. ------------------------------------------------------------------------------------------


def tired(state):
    return state.status.since_best >= 70


def early(state):
    return state.status.iteration >= 33


def never(state):
    return False


def few_routes(state):
    return state.n_routes <= 4 and state.status.current < 500.0


def test_a_run_ends_exactly_when_a_rule_of_ones_own_says_so() -> None:
    result = solve("E-n22-k4", MaxIterations(10**6) | StopWhen(early))
    assert (result.iterations, result.stopped_by) == (33, "early")
    same, built_in = (
        solve("E-n22-k4", MaxIterations(10**6) | stop, initial="random")
        for stop in (StopWhen(tired), NoImprovement(70))
    )
    assert same.stopped_by == "tired"
    assert (same.iterations, same.routes) == (built_in.iterations, built_in.routes)


def test_a_rule_sees_the_state_and_its_status() -> None:
    instance = read("E-n22-k4")
    start = random_tours(instance, 3)
    result = solve(instance, MaxIterations(10**6) | StopWhen(few_routes), initial=start)
    assert result.stopped_by == "few_routes"
    assert result.trace.current[-1] < 500


def test_a_rule_that_holds_at_once_ends_a_run_before_its_first_iteration() -> None:
    def at_once(state):
        return True

    result = solve("E-n22-k4", MaxIterations(100) | StopWhen(at_once))
    assert (result.iterations, result.stopped_by) == (0, "at_once")


def test_rules_combine_and_the_first_that_holds_is_named() -> None:
    stop = StopWhen(never) | MaxIterations(1000) | StopWhen(early) | StopWhen(never)
    assert [rule.name for rule in stop.rules] == ["never", "early"]
    result = solve("E-n22-k4", stop)
    assert (result.iterations, result.stopped_by) == (33, "early")
    assert solve("E-n22-k4", StopWhen(never) | MaxIterations(20)).stopped_by == "iterations"


def test_a_rule_alone_is_a_limit() -> None:
    assert solve("E-n22-k4", StopWhen(early)).iterations == 33


def test_a_rule_does_not_change_the_course_of_a_run() -> None:
    plain, watched = (
        solve("E-n22-k4", stop, seed=2) for stop in (MaxIterations(500), MaxIterations(500) | StopWhen(never))
    )
    assert plain.routes == watched.routes
    assert plain.operators == watched.operators


def no_field(state):
    return state.status.nonsense > 3


def no_name(state):
    return nobody(state)  # type: ignore[name-defined] # noqa: F821


@pytest.mark.parametrize(("rule", "what"), [(no_field, "nonsense"), (no_name, "nobody")])
def test_a_rule_that_does_not_compile_is_named_in_one_sentence(rule: Callable[..., bool], what: str) -> None:
    name = rule.__name__
    with pytest.raises(OperatorError, match=rf"^stopping rule '{name}' does not compile: .*{what}.*\.$") as caught:
        solve("E-n22-k4", MaxIterations(10) | StopWhen(rule))
    assert "\n" not in str(caught.value)


def test_a_rule_may_be_a_lambda() -> None:
    stop = StopWhen(lambda state: state.status.iteration >= 5)
    assert solve("E-n22-k4", stop).stopped_by == "<lambda>"


@pytest.mark.parametrize("limit", [MaxTime, MaxIterations, NoImprovement, TargetCost])
def test_limits_that_are_no_numbers_are_refused(limit: Any) -> None:
    for given in ("x", None, [1]):
        with pytest.raises(InputError, match="is not a number"):
            limit(given)
