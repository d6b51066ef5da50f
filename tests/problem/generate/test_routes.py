"""Simple routes of generated customers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neuralns import Instance, Solution, generate_windows
from neuralns.problem.generate.routes import Stops, inserted_routes, next_route


def solution_of(instance: Instance, routes: list[list[int]]) -> Solution:
    return Solution(instance, [[stop + 1 for stop in route] for route in routes])


@given(
    st.integers(1, 40),
    st.sampled_from(["random", "clustered", "mixed"]),
    st.sampled_from(["narrow", "wide"]),
    st.sampled_from(["short", "long"]),
    st.sampled_from(["none", "round", "trunc", "dimacs"]),
    st.integers(0, 2**32),
)
@settings(max_examples=15)
def test_inserted_routes_serve_everybody_under_every_rounding(
    customers: int, kind: Any, width: Any, horizon: Any, rounding: str, seed: int
) -> None:
    instance = generate_windows(customers, kind, width, horizon, seed=seed)
    waiting = np.ones(customers, dtype=bool)
    routes = inserted_routes(Stops.of(instance), instance.points[0], waiting)
    assert waiting.all()
    assert solution_of(instance.with_rounding(rounding), routes).faults() == []


def test_inserted_routes_are_those_of_who_waits() -> None:
    instance = generate_windows(10, seed=1)
    routes = inserted_routes(Stops.of(instance), instance.points[0], np.arange(10) < 4)
    assert sorted(stop for route in routes for stop in route) == [0, 1, 2, 3]


@pytest.mark.parametrize("longest", [np.inf, 200.0])
def test_routes_one_after_another_keep_windows_loads_and_the_longest_duration(longest: float) -> None:
    instance = generate_windows(60, "mixed", seed=2)
    stops = replace(Stops.of(instance), longest=longest)
    waiting, routes = np.ones(60, dtype=bool), []
    while waiting.any():
        routes.append(next_route(stops, instance.points[0], waiting))
        waiting[routes[-1]] = False
    limited = replace(instance, max_duration=None if longest == np.inf else longest)
    assert solution_of(limited, routes).faults() == []
    assert len(routes) < 30


def test_there_is_no_route_to_nobody() -> None:
    instance = generate_windows(3)
    assert next_route(Stops.of(instance), instance.points[0], np.zeros(3, dtype=bool)) == []
