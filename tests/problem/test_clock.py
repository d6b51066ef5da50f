"""How times are shown: as numbers, as times of day, or as dates with times."""

from __future__ import annotations

import math

import pytest

from neuralns import InputError, Instance, Solution
from neuralns.problem.clock import format_time

ONE = {"demands": [0, 1], "capacity": 1, "coordinates": [[0, 0], [30, 40]], "windows": [[480, 1020], [485, 490]]}


@pytest.mark.parametrize(
    ("time", "clock", "shown"),
    [
        (510, "00:00", "08:30"),
        (1590, "00:00", "26:30"),
        (510.25, "00:00", "08:30:15"),
        (-90, "00:00", "-01:30"),
        (510, "2026-03-02T00:00", "2026-03-02T08:30"),
        (1470.5, "2026-03-02 00:00", "2026-03-03 00:30:30"),
        (510, "2026-03-02T00:00+01:00", "2026-03-02T08:30+01:00"),
        (510.123456, None, "510.123456"),
        (math.inf, "00:00", "inf"),
        (9e7, "9999-12-31T00:00", "90000000"),
    ],
)
def test_a_time_is_shown_as_the_clock_shows_it(time: float, clock: str | None, shown: str) -> None:
    assert format_time(time, clock) == shown


@pytest.mark.parametrize(
    ("clock", "shown"), [("00:00", "08:30"), ("2026-03-02T00:00", "2026-03-02T08:30"), (None, "510.12")]
)
def test_a_time_that_need_not_be_exact_has_no_seconds(clock: str | None, shown: str) -> None:
    assert format_time(510.123456, clock, exact=False) == shown


@pytest.mark.parametrize("clock", ["", "25:00", "noon", 0])
def test_what_is_no_clock_is_refused(clock: object) -> None:
    with pytest.raises(InputError, match=r"is neither 00:00 nor a date and time such as 2026-03-02T00:00\.$"):
        Instance("one", **ONE, clock=clock)  # type: ignore[arg-type]


def test_reasons_and_faults_name_times_of_day() -> None:
    instance = Instance("one", **ONE, clock="00:00", names=["depot", "Bakery"])  # type: ignore[arg-type]
    assert instance.unservable == {1: "its window ends at 08:10, and nobody can be there before 08:50"}
    assert Solution(instance, [[1]]).broken_rules() == [
        "route 1 reaches customer Bakery at 08:50, after its window, 08:05 to 08:10."
    ]
    assert instance.first(1).clock == "00:00"
