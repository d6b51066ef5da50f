"""What a search tells of."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from neuralns.problem.bundled import bundled
from neuralns.search.pausing import Clock
from neuralns.search.result import Result
from neuralns.studio.line import Line
from neuralns.studio.request import Options
from neuralns.studio.teller import Teller


class _Heard:
    def __init__(self) -> None:
        self.told: list[dict[str, Any]] = []

    def send(self, kind: str, **content: Any) -> None:
        self.told.append({"kind": kind, **content})


def _result(*vehicles: int) -> Result:
    best = SimpleNamespace(cost=10.0, routes=[[1], [2]], vehicles=list(vehicles), unserved=(), skipped=())
    return cast(Result, SimpleNamespace(best=best, runtime=1.0, iterations=5))


def test_other_vehicles_for_the_same_routes_are_told() -> None:
    heard = _Heard()
    teller = Teller(cast(Line, heard), bundled("E-n22-k4"), Options(1.0), Clock())
    for vehicles in ((0, 0), (0, 0), (0, 1)):
        teller.finish(_result(*vehicles))
    assert [each["vehicles"] for each in heard.told] == [[0, 0], [0, 1]]
