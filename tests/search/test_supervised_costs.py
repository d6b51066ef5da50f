"""Costs of routes of the user's own: one that never returns is given up, in Python and compiled."""

from __future__ import annotations

import functools
import math
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from neuralns import RouteTotals, route_cost
from neuralns.errors import GivenUpError, InputError
from neuralns.problem import patience

SAID = "route cost 'forever' gave no answer (an endless loop?) and was given up"


def test_one_that_is_endless_is_refused_when_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "PATIENCE", 0.5)

    def forever(route: RouteTotals) -> float:
        while route.stops > 0:
            pass
        return 0.0

    begin = time.perf_counter()
    with pytest.raises(GivenUpError) as caught:
        route_cost(forever)
    assert str(caught.value) == f"{SAID}."
    assert time.perf_counter() - begin < 5


def test_one_that_catches_exceptions_is_refused_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "PATIENCE", 0.5)

    def stubborn(route: RouteTotals) -> float:
        while True:
            try:
                while route.stops > 0:
                    pass
            except Exception:
                pass

    with pytest.raises(GivenUpError):
        route_cost(stubborn)


@pytest.mark.parametrize("cost", [max, math.hypot, functools.partial(max, 1.0), RouteTotals(1, 1, 1, 1, 0).count])
def test_what_is_no_function_of_python_is_refused(cost: Any) -> None:
    with pytest.raises(InputError, match="must be a function of a route's totals"):
        route_cost(cost)


PROGRAM = """
import os, sys, signal, threading, time, warnings
import neuralns
from neuralns.problem import patience
from neuralns.search import supervision
patience.PATIENCE, supervision.STUCK = 1.0, 3.0

model = neuralns.Model()
model.add_depot(0, 0)
model.add_vehicle_type(4, capacity=60)
for number in range(20):
    model.add_client(10 * (number % 5), 8 * (number // 5), delivery=3 + number % 5)

@model.add_route_cost
def forever(route):
    while {when}:
        pass
    return 0.0

begin = time.perf_counter()
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    try:
        result = model.solve(neuralns.{stop}, seed=1)
        print(result.stopped_by)
    except neuralns.NeuralnsError as error:
        print(error)
print(*(warning.message for warning in said))
assert time.perf_counter() - begin < 60
"""


@pytest.mark.parametrize(
    ("when", "stop", "printed"),
    [
        # Found when the costs of routes are estimated in Python; when the start is made; during the search.
        ("route.stops == 7 and route.load > 0", "MaxTime(1)", f"{SAID}.\n"),
        ("route.stops == 6 and 130 < route.distance < 140", "MaxTime(1)", f"{SAID}.\n"),
        (
            "route.stops == 11 and 150 < route.distance < 160",
            "MaxIterations(100_000_000)",
            f"route cost 'forever' (no answer)\n{SAID}; this is the best found before.",
        ),
    ],
)
def test_one_that_becomes_endless_later_is_given_up_and_named(
    tmp_path: Path, when: str, stop: str, printed: str
) -> None:
    program = PROGRAM.format(when=when, stop=stop)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.strip() == printed.strip()
