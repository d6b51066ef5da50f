"""Statistics: by hand, or as scipy has them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import t, ttest_ind

from neuralns.experiments.statistics import holm, mean_by_instance, signed_rank, signed_rank_by_instance, welch


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


# --- Runs with several seeds on an instance count as one. -------------------------------------------------------------


def test_two_to_five_instances_have_students_interval_over_their_means() -> None:
    mean, half = mean_by_instance([[1.0, 3.0, 2.0], [6.0]])
    assert (mean, half) == pytest.approx((4.0, t.ppf(0.975, 1) * 2.0))
    assert mean_by_instance([[2.0] * 9, [6.0] * 9]) == pytest.approx((mean, half))


def test_one_instance_has_an_interval_over_its_seeds() -> None:
    assert mean_by_instance([[1.0, 2.0, 3.0]]) == pytest.approx((2.0, t.ppf(0.975, 2) / math.sqrt(3)))
    mean, half = mean_by_instance([[1.0]])
    assert mean == 1.0
    assert math.isnan(half)


def test_a_bootstrap_is_the_same_each_time_and_does_not_shrink_with_seeds() -> None:
    values = [0.3, -0.2, 1.0, 0.4, 2.0, -1.1, 0.6]
    found = mean_by_instance([[value] for value in values])
    assert found == mean_by_instance([[value] for value in values])
    assert found == pytest.approx(mean_by_instance([[value - 0.1, value + 0.1] * 8 for value in values]))


def test_instances_that_do_not_differ_have_no_width() -> None:
    assert mean_by_instance([[0.0]] * 8) == (0.0, 0.0)
    assert mean_by_instance([[0.1]] * 8) == pytest.approx((0.1, 0.0))


def test_an_interval_holds_the_true_mean_as_often_as_it_says() -> None:
    rng = np.random.default_rng(1)
    trials = [rng.normal(0.0, 1.0, (8, 1)) + rng.normal(0.0, 0.3, (8, 3)) for _ in range(300)]
    found = [mean_by_instance(groups.tolist()) for groups in trials]
    assert 0.91 < np.mean([abs(mean) <= half for mean, half in found]) < 0.99


def test_tests_are_over_the_means_of_instances() -> None:
    means = [0.5, -0.25, 1.0, 2.0, 3.0, 4.0]
    groups = [[mean - 0.25, mean + 0.25] * 5 for mean in means]
    assert signed_rank_by_instance(groups) == signed_rank(means)
    assert signed_rank_by_instance(groups[:1]) == signed_rank(groups[0])
    for few in range(2, 6):
        assert math.isnan(signed_rank_by_instance(groups[:few]))
