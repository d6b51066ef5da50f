"""Rules without a temperature."""

from __future__ import annotations

from helpers import decides
from neuralns import Always, HillClimbing, Instance, Solution


def test_hill_climbing_compares_with_the_current_solution() -> None:
    assert decides(HillClimbing(), 10.0, 95.0, 95.0, 90.0)
    assert decides(HillClimbing(), 10.0, 94.9, 95.0, 90.0)
    assert not decides(HillClimbing(), 10.0, 95.1, 95.0, 90.0)


def test_always_compares_with_nothing() -> None:
    assert decides(Always(), 10.0, 1e9, 95.0, 90.0)


def test_they_have_no_temperature_to_fall() -> None:
    start = Solution(Instance("one", [0, 1], 1, [[0, 0], [9, 0]]), [[1]])
    assert HillClimbing().temperatures(start) == Always().temperatures(start) == (1.0, 1.0)
