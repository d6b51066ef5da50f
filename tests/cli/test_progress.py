"""What a person sees while a search runs."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from neuralns import MaxTime
from neuralns.cli.progress import _line


def line(**changes: Any) -> str:
    stop = SimpleNamespace(time=MaxTime(10).time)
    usual = {"time": 2.0, "stop": stop, "gap": None, "best": 120.0, "current": 125.5, "rate": 1000.0}
    return _line(SimpleNamespace(**{**usual, **changes}))  # type: ignore[arg-type]


def test_customers_are_counted_while_some_are_left_out() -> None:
    assert line() == "2.0/10 s  best 120  current 125.50  1,000 iterations/s"
    assert line(unserved=0) == line()
    assert line(unserved=3) == "2.0/10 s  best 120, 3 unserved  current 125.50  1,000 iterations/s"
