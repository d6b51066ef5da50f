"""Statistics: by hand, or as scipy has them."""

from __future__ import annotations

import math

import pytest
from scipy.stats import ttest_ind

from neuralns.experiments.statistics import holm, welch


@pytest.mark.parametrize(
    ("values", "corrected"),
    [
        ([], []),
        ([0.2], [0.2]),
        # 4 × 0.001, 3 × 0.02, then 2 × 0.02, which may not be less than the one before, and 1 × 0.5.
        ([0.02, 0.5, 0.001, 0.02], [0.06, 0.5, 0.004, 0.06]),
        ([0.6, 0.7, 0.4], [1.0, 1.0, 1.0]),
        ([0.01, 0.04, 0.03], [0.03, 0.06, 0.06]),
    ],
)
def test_holm_by_hand(values: list[float], corrected: list[float]) -> None:
    assert holm(values) == pytest.approx(corrected)


def test_welch_is_that_of_scipy() -> None:
    first, second = (1.0, 2.0, 4.0, 3.5), (2.5, 4.0, 6.0)
    assert welch(first, second) == pytest.approx(ttest_ind(first, second, equal_var=False).pvalue, rel=1e-12)


def test_values_without_chance_are_known_exactly() -> None:
    # The mean of ten times 0.1 is not quite 0.1.
    assert welch([0.1] * 10, [0.1] * 10) == 1.0
    assert welch([0.1] * 10, [0.1] * 3) == 1.0
    assert welch([0.1] * 10, [0.2] * 10) == 0.0
    assert 0 < welch([0.1] * 10, [0.1, 0.2, 0.3]) < 1
    assert welch([1.0, 2.0], [1.0, 2.0]) == pytest.approx(1.0)


@pytest.mark.parametrize(("first", "second"), [((), ()), ((1.0,), (1.0, 2.0)), ((1.0, 2.0), (3.0,)), ((1.0,), (1.0,))])
def test_too_few_seeds_give_no_p(first: tuple[float, ...], second: tuple[float, ...]) -> None:
    assert math.isnan(welch(first, second))
