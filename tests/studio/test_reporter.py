"""Reports of a search."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from neuralns.problem.bundled import bundled
from neuralns.search.pausing import Clock
from neuralns.search.result import Result
from neuralns.studio.channel import Channel
from neuralns.studio.reporter import Reporter
from neuralns.studio.request import Options


class _Heard:
    def __init__(self) -> None:
        self.told: list[dict[str, Any]] = []

    def send(self, event: str, /, **content: Any) -> None:
        self.told.append({"kind": event, **content})


def _result(*vehicles: int) -> Result:
    best = SimpleNamespace(cost=10.0, routes=[[1], [2]], vehicles=list(vehicles), unserved=(), skipped=())
    return cast(Result, SimpleNamespace(best=best, runtime=1.0, iterations=5))


def test_other_vehicles_for_the_same_routes_are_told() -> None:
    heard = _Heard()
    reporter = Reporter(cast(Channel, heard), bundled("E-n22-k4"), Options(1.0), Clock())
    for vehicles in ((0, 0), (0, 0), (0, 1)):
        reporter.finish(_result(*vehicles))
    assert [each["vehicles"] for each in heard.told] == [[0, 0], [0, 1]]
