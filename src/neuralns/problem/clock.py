"""Times of day: where an instance has a clock, its times are minutes after what the clock names."""

from __future__ import annotations

import math
from datetime import datetime, timedelta

from neuralns.errors import InputError

MIDNIGHT = "00:00"
"""The clock of times of day."""


def check_clock(clock: object) -> str:
    """Return a clock that is one: ``00:00``, or the date and time of minute 0.

    >>> check_clock("2026-03-02T00:00")
    '2026-03-02T00:00'
    """
    try:
        if isinstance(clock, str) and (clock == MIDNIGHT or datetime.fromisoformat(clock)):
            return clock
    except ValueError:
        pass
    raise InputError(f"clock {clock!r:.60} is neither {MIDNIGHT} nor a date and time such as 2026-03-02T00:00.")


def format_time(time: float, clock: str | None, exact: bool = True) -> str:
    """Return a time as people read it; if it is to be ``exact``, with its seconds where it has some.

    >>> format_time(510, "00:00"), format_time(510.25, "00:00"), format_time(1.5, None)
    ('08:30', '08:30:15', '1.5')
    >>> format_time(1470, "2026-03-02 00:00")
    '2026-03-03 00:30'
    """
    if clock is None or not math.isfinite(time) or abs(time) > 1e8:
        return f"{time:.10g}" if exact else f"{round(time, 2):.10g}"
    seconds = round(60 * time) if exact else 60 * round(time)
    if clock == MIDNIGHT:
        sign, (minutes, rest) = "-" if seconds < 0 else "", divmod(abs(seconds), 60)
        return f"{sign}{minutes // 60:02}:{minutes % 60:02}" + (f":{rest:02}" if rest else "")
    try:
        moment = datetime.fromisoformat(clock) + timedelta(seconds=seconds)
    except OverflowError:
        return f"{time:.10g}"
    return moment.isoformat("T" if "T" in clock else " ", "seconds" if seconds % 60 else "minutes")
