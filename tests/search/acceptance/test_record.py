"""Record-to-record travel."""

from __future__ import annotations

import math

import pytest

from helpers import decides
from neuralns import InputError, Instance, RecordToRecord, SimulatedAnnealing, Solution

RULE = RecordToRecord()


def test_candidates_are_compared_with_the_record() -> None:
    assert decides(RULE, 10.0, 99.0, 95.0, 90.0)
    assert not decides(RULE, 10.0, 101.0, 95.0, 90.0)
    assert not decides(RULE, 10.0, 101.0, 110.0, 90.0)
    assert decides(RULE, 10.0, 100.0, 95.0, 90.0)


def test_the_threshold_is_that_of_annealing() -> None:
    line = Instance("line", [0, 1, 1, 1], 3, [[0, 0], [10, 0], [13, 0], [18, 0]])
    start = Solution(line, [[1, 2, 3]])
    assert RULE.temperatures(start) == SimulatedAnnealing().temperatures(start)
    assert RecordToRecord(5.0, 1.0).temperatures(start) == (5.0, 1.0)


@pytest.mark.parametrize("wrong", [{"start": 0.0}, {"end": -1.0}, {"start": math.nan}, {"start": 1.0, "end": 2.0}])
def test_thresholds_that_make_no_sense_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError, match="threshold"):
        RecordToRecord(**wrong)
