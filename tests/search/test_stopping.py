"""Limits of a run."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import pytest

from neuralns import InputError, MaxIterations, MaxTime, NoImprovement, Progress, Stop, TargetCost, solve


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
