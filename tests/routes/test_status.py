"""Where a run stands: what a status begins with, and that it is copied whole."""

from __future__ import annotations

from numba import njit

from helpers import on_a_line
from neuralns.routes.status import copy_status, new_status, status_type
from neuralns.routes.transfer import load_solution


@njit
def copied(source, target):
    copy_status(source, target)


@njit
def left_of(state):
    return state.status.left


@njit
def hurry(state):
    state.status.left = 0.125
    state.status.quota = 9


def test_a_run_that_has_not_begun_has_everything_left() -> None:
    status = new_status()
    assert (status.left, status.acceptance, status.quota) == (1.0, 1.0, 1)
    assert (status.threshold, status.finish_below) == (float("inf"), -float("inf"))
    rest = set(status_type.fields) - {"left", "acceptance", "quota", "threshold", "finish_below"}
    assert {getattr(status, name) for name in rest} == {0}


def test_a_status_is_copied_whole() -> None:
    source, target = new_status(), new_status()
    for number, name in enumerate(status_type.fields, 1):
        setattr(source, name, number)
    copied(source, target)
    assert [getattr(target, name) for name in status_type.fields] == list(range(1, len(status_type.fields) + 1))


def test_compiled_code_and_python_see_one_status() -> None:
    state, _ = on_a_line([1, 2], [3], places=[1.0, 5.0, -2.0])
    state.status.left = 0.5
    assert left_of(state) == 0.5
    hurry(state)
    assert (state.status.left, state.status.quota) == (0.125, 9)


def test_each_state_has_a_status_of_its_own() -> None:
    one, other = (on_a_line([1, 2], [3], places=[1.0, 5.0, -2.0])[0] for _ in range(2))
    one.status.iteration = 5
    assert other.status.iteration == 0


def test_loading_a_solution_begins_anew() -> None:
    state, start = on_a_line([1, 2], [3], places=[1.0, 5.0, -2.0])
    for name in status_type.fields:
        setattr(state.status, name, 7)
    load_solution(state, start)
    status = state.status
    assert (status.start, status.current, status.best, status.candidate) == (14.0,) * 4
    assert (status.left, status.gain, status.acceptance) == (1.0, 0.0, 1.0)
    assert (status.iteration, status.since_best, status.since_gain) == (0, 0, 0)
    # The temperature and the quota are a run's, not a solution's.
    assert (status.temperature, status.quota) == (7.0, 7)
