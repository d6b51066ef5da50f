"""The clock of compiled code."""

from __future__ import annotations

import math

import pytest
from numba import njit

from neuralns.compiled import clock
from neuralns.compiled.clock import ticks


def elapsed(steps):
    begin = ticks()
    total = 0.0
    for step in range(steps):
        total += math.sin(step)
    return ticks() - begin, total


def test_ticks_grow_with_time(monkeypatch: pytest.MonkeyPatch) -> None:
    measured = njit(elapsed)
    if clock.HAS_COUNTER:
        assert measured(1000)[0] > 0
    monkeypatch.setattr(clock, "HAS_COUNTER", False)
    assert njit(elapsed)(1000)[0] == 0


@pytest.mark.skipif(not clock.HAS_COUNTER, reason="the processor's counter cannot be read")
def test_more_work_takes_more_ticks() -> None:
    measured = njit(elapsed)
    short = min(measured(1000)[0] for _ in range(20))
    long = min(measured(100_000)[0] for _ in range(5))
    assert 20 * short < long
