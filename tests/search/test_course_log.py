"""Searches tell a logger of their course, in a few lines."""

from __future__ import annotations

import logging
import re

import pytest

from neuralns import MaxIterations, MaxTime, StopWhen, solve


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == "neuralns"]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_search_tells_of_its_course_in_a_few_lines(caplog: pytest.LogCaptureFixture, workers: int) -> None:
    with caplog.at_level(logging.INFO, "neuralns"):
        result = solve("E-n22-k4", MaxTime(0.6), selector="random", workers=workers)
    first, *between, last = lines(caplog)
    assert first.startswith(f"E-n22-k4: 21 customers, selector random, portfolio plain, {workers} worker(s), start of ")
    assert 1 <= len(between) <= 10
    assert all(re.match(r"E-n22-k4: \d+\.\d s, \d+ iterations, best \d+, current \d+$", line) for line in between)
    assert last.startswith("E-n22-k4: ended by time after ")
    assert last.endswith(f"best {result.cost:.10g}, {len(result.routes)} routes")


def test_a_search_without_limits_tells_little(caplog: pytest.LogCaptureFixture) -> None:
    def over(state):
        return state.status.iteration >= 100

    with caplog.at_level(logging.INFO, "neuralns"):
        solve("E-n22-k4", StopWhen(over))
    assert len(lines(caplog)) == 2


def test_nothing_is_said_by_default(capfd: pytest.CaptureFixture[str]) -> None:
    solve("E-n22-k4", MaxIterations(50))
    assert capfd.readouterr() == ("", "")
