"""What a person sees while a search runs."""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from neuralns import MaxTime
from neuralns.cli import progress
from neuralns.cli.progress import BatchDisplay, TuningDisplay, _line
from neuralns.experiments.batch import BatchRow
from neuralns.experiments.tune import Standing


def line(**changes: Any) -> str:
    stop = SimpleNamespace(time=MaxTime(10).time)
    usual = {"time": 2.0, "stop": stop, "gap": None, "best": 120.0, "current": 125.5, "rate": 1000.0}
    return _line(SimpleNamespace(**{**usual, **changes}))  # type: ignore[arg-type]


def test_customers_are_counted_while_some_are_left_out() -> None:
    assert line() == "2.0/10 s  best 120  current 125.50  1,000 iterations/s"
    assert line(unserved=0) == line()
    assert line(unserved=3) == "2.0/10 s  best 120, 3 unserved  current 125.50  1,000 iterations/s"


def test_instances_of_a_batch_are_told_of_with_the_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 60.0, 90.0, 100.0])
    monkeypatch.setattr(progress, "perf_counter", lambda: next(clock))
    out = io.StringIO()
    with BatchDisplay(Console(file=out, width=200)) as display:
        for file in ("a", "b", "b", "c"):
            display.begin(file)
        display.end(row("a"), 3, 5)  # two were done before
        display.end(row("b", fault="b: is empty."), 4, 5)
        display.end(row("c", gap=1.5, unserved=2), 5, 5)
    assert out.getvalue().splitlines() == [
        "b  lost on the way; it is tried again",
        "3/5  a  cost 120, 4 routes, 1.0 s  (2 min left)",
        "4/5  b  failed (is empty)  (45 s left)",
        "5/5  c  cost 120 (gap 1.50 %), 4 routes, 2 unserved, 1.0 s",
    ]


def test_on_a_terminal_those_under_way_are_named() -> None:
    out = io.StringIO()
    with BatchDisplay(Console(file=out, width=200, force_terminal=True)) as display:
        for number in range(10):
            display.begin(f"d{number}.vrp")
        display.end(row("d3.vrp"), 1, 20)
    assert "under way: d0.vrp, d1.vrp, d2.vrp, d4.vrp, d5.vrp, d6.vrp, d7.vrp, d8.vrp and 1 more" in out.getvalue()


def test_a_quiet_batch_shows_nothing() -> None:
    out = io.StringIO()
    with BatchDisplay(Console(file=out, force_terminal=True), shown=False) as display:
        for _ in range(2):
            display.begin("a")
        display.end(row("a"), 1, 2)
    assert out.getvalue() == ""


def row(file: str, fault: str = "", gap: float | None = None, unserved: int = 0) -> BatchRow:
    figures = (None, 120.0, None, gap, 4, unserved, 0, 100, 1.0)
    return BatchRow(file, file, *figures, "time", "none", "", fault, "solve-1")


def test_a_tuning_has_a_line_for_each_stage_and_on_a_terminal_one_for_each_run() -> None:
    out, terminal, nothing = io.StringIO(), io.StringIO(), io.StringIO()
    for console, shown in (
        (Console(file=out, width=200), True),
        (Console(file=terminal, width=200, force_terminal=True), True),
        (Console(file=nothing, width=200), False),
    ):
        with TuningDisplay(console, shown) as display:
            for done in range(3):
                display.update(Standing("round 2 of 6", 32, done, 64, 1500.0 - done))
            display.update(Standing("last comparison", 3, 0, 30, 50.0))
    assert out.getvalue().splitlines() == [
        "round 2 of 6: 32 settings, 64 runs, 25 min left",
        "last comparison: 3 settings, 30 runs, 50 s left",
    ]
    assert "last comparison: 3 settings, 0/30 runs, 50 s left" in terminal.getvalue()
    assert nothing.getvalue() == ""
