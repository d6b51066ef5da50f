"""How many iterations segments have."""

from __future__ import annotations

import pytest

from neuralns import MaxIterations, MaxTime
from neuralns.search.cooling import OPEN_HORIZON
from neuralns.search.segments import FIRST_SEGMENT, SEGMENT_SECONDS, Segments, next_size
from neuralns.search.stopping import Stop


def test_segments_grow_until_they_take_as_long_as_they_should() -> None:
    segments = Segments()
    assert segments.length(MaxTime(60), 0, 0.0) == FIRST_SEGMENT
    for _ in range(10):
        length = segments.length(MaxTime(60), 0, 0.0)
        segments.measure(length, length * 1e-5, 60.0)
    assert segments.size == pytest.approx(SEGMENT_SECONDS / 1e-5, rel=0.01)


@pytest.mark.parametrize(
    ("size", "took", "left", "found"),
    [
        (100, SEGMENT_SECONDS / 2, 10.0, 200),
        (100, SEGMENT_SECONDS * 2, 10.0, 50),
        (100, 1e-9, 10.0, 400),
        (100, 10.0, 10.0, 1),
        (100, SEGMENT_SECONDS, SEGMENT_SECONDS / 4, 25),
        (100, SEGMENT_SECONDS, -1.0, 1),
        (1 << 24, 1e-9, 10.0, 1 << 24),
    ],
)
def test_the_next_segment_fits_what_the_last_one_took(size: int, took: float, left: float, found: int) -> None:
    assert next_size(size, took, left) == pytest.approx(found, abs=1)


def test_a_segment_ends_with_whatever_comes_first() -> None:
    segments = Segments(1000)
    assert segments.length(MaxIterations(100), 40, 0.0) == 60
    assert segments.length(MaxTime(1), 40, 0.0, most=17) == 17
    assert segments.length(MaxTime(1), 40, 0.0, until=SEGMENT_SECONDS / 2) == 500
    assert segments.length(MaxTime(1), 40, 5.0, until=4.0) == 1
    assert segments.length(Stop(no_improvement=5), OPEN_HORIZON - 3, 0.0) == 3
    assert segments.length(Stop(no_improvement=5), OPEN_HORIZON, 0.0) == 1000
