"""The phase in which vehicles, or those who wait, come first."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from neuralns import Instance, MaxIterations, MaxTime, Solution
from neuralns.routes.transfer import new_state, routes_of
from neuralns.search import loop
from neuralns.search.fewest import FEWEST_SHARE, SERVING_SHARE, fewest_by_load, left_of_phase, seek_fewer
from neuralns.search.setup import Setup, make_setup
from neuralns.search.stopping import Stop

LINE = Instance("line", [0, 1, 1, 1, 1, 1], 3, [[float(place), 0.0] for place in range(6)], vehicles=5)


def begun(routes: list[list[int]], fewest: bool = True) -> tuple[Setup, Any, SimpleNamespace]:
    start = Solution(LINE, routes)
    setup = make_setup(LINE, MaxIterations(100), initial=start, fewest_vehicles=fewest)
    state = new_state(LINE, 1, solution=start)
    left_out = LINE.customers - sum(map(len, routes))
    return setup, state, SimpleNamespace(routes=len(routes), left_out=left_out, fewest=0, n_changed=0)


def test_a_route_is_given_up() -> None:
    setup, state, run = begun([[1, 2], [3, 4], [5]])
    assert fewest_by_load(LINE, state) == 2
    assert seek_fewer(setup, state, run)
    assert (run.fewest, run.n_changed, state.vehicles) == (1, loop.ALL_CHANGED, 2)
    assert len(routes_of(state)) == 2
    assert state.n_bank > 0
    assert state.status.current == state.status.best == state.cost


def test_no_route_is_given_up_that_loads_need() -> None:
    setup, state, run = begun([[1, 2, 3], [4, 5]])
    assert not seek_fewer(setup, state, run)
    assert (run.fewest, len(routes_of(state))) == (0, 2)


def test_where_vehicles_do_not_come_first_none_is_given_up() -> None:
    setup, state, run = begun([[1], [2], [3], [4], [5]], fewest=False)
    assert not seek_fewer(setup, state, run)


def test_those_who_wait_are_served_first() -> None:
    setup, state, run = begun([[1, 2], [3, 4]], fewest=False)
    assert seek_fewer(setup, state, run)
    assert (run.fewest, run.n_changed, len(routes_of(state))) == (1, 0, 2)


@pytest.mark.parametrize(
    ("stop", "elapsed", "iteration", "since_best", "found"),
    [
        (MaxIterations(100), 0.0, 10, 0, 100 * FEWEST_SHARE - 10),
        (MaxIterations(100), 0.0, 50, 0, 0),
        (MaxTime(10), 1.0, 10**7, 0, math.inf),
        (MaxTime(10), 10 * FEWEST_SHARE, 10, 0, 0),
        (MaxTime(10) | MaxIterations(100), 1.0, 49, 0, 1),
        (Stop(no_improvement=30), 1.0, 10, 29, 1_000_000 * FEWEST_SHARE - 10),
        (Stop(no_improvement=30), 1.0, 10, 30, 0),
    ],
)
def test_the_phase_has_a_share_of_the_run(
    stop: Stop, elapsed: float, iteration: int, since_best: int, found: float
) -> None:
    setup = replace(begun([[1, 2], [3, 4], [5]])[0], stop=stop)
    assert left_of_phase(setup, elapsed, iteration, since_best, FEWEST_SHARE) == found


def test_serving_everybody_has_a_smaller_share() -> None:
    setup = begun([[1, 2], [3, 4]], fewest=False)[0]
    assert left_of_phase(setup, 0.0, 0, 0, SERVING_SHARE) == 100 * SERVING_SHARE
