"""The log of events."""

from __future__ import annotations

import json
from typing import Any

from neuralns.studio.events import MOST_PROGRESS, MOST_STEPS, EventLog


def kept(log: EventLog, name: str) -> list[Any]:
    return [json.loads(event.text) for event in log.after(0) if event.name == name]


def test_of_many_reports_the_older_ones_are_thinned_out() -> None:
    log = EventLog()
    for number in range(3 * MOST_PROGRESS):
        log.add("progress", {"iteration": number})
        log.add("step", {"iteration": number})
    reports = [each["iteration"] for each in kept(log, "progress")]
    assert len(reports) <= MOST_PROGRESS
    assert (reports[0], reports[-1]) == (0, 3 * MOST_PROGRESS - 1)
    assert reports == sorted(reports)
    assert len(kept(log, "step")) <= MOST_STEPS


def test_a_best_solution_is_whole_for_those_who_did_not_hear_the_one_before() -> None:
    log = EventLog()
    log.add("best", {"cost": 9, "routes": [[1], [2]]}, {"cost": 9, "routes": [[1], [2]]}, {"cost": 9})
    log.add("best", {"cost": 8, "changed": {"0": [3]}}, {"cost": 8, "routes": [[3], [2]]}, {"cost": 8})
    first, second = log.after(0)
    assert json.loads(first.text) == {"cost": 9}
    assert '"changed"' in second.to_sse(heard=first.number)
    assert '"routes"' in second.to_sse(heard=0)
    again = EventLog.from_json(log.to_json())
    assert [event.number for event in again.after(1)] == [2]
    assert again.closed
