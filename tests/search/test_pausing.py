"""A clock that can be stopped, and searches that it counts the time of."""

from __future__ import annotations

import time

import pytest

from neuralns import MaxTime, Progress, solve
from neuralns.search.pausing import Clock


def test_a_clock_stands_still_while_it_is_paused() -> None:
    clock = Clock()
    clock.pause()
    clock.pause()
    at = clock()
    time.sleep(0.05)
    assert clock() == at
    clock.resume()
    clock.resume()
    assert not clock.paused
    assert at <= clock() < at + 0.04


@pytest.mark.parametrize("workers", [1, 2])
def test_the_time_of_a_pause_does_not_count(workers: int) -> None:
    clock, pauses, seen = Clock(), [0.6], []

    def pause(progress: Progress) -> None:
        seen.append(time.perf_counter() - progress.time)
        if progress.time > 0.1 and pauses:
            clock.pause()
            time.sleep(pauses.pop())
            clock.resume()

    result = solve("E-n22-k4", MaxTime(0.5), workers=workers, callbacks=[pause], clock=clock)
    assert result.runtime >= 0.5
    # Messages of workers take their time.
    assert seen[-1] - seen[0] == pytest.approx(0.6, abs=0.25)
    assert result.trace.time == sorted(result.trace.time)
