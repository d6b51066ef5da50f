"""Weights of operators that are moved to where the final cost falls."""

from __future__ import annotations

import numpy as np
import pytest

from neuralns.bridges.alns.online import Settings
from neuralns.bridges.alns.policy import Lesson
from neuralns.bridges.alns.selector import LearnedSelector
from neuralns.bridges.alns.weighing import downhill, shifted


def test_the_direction_is_found_in_noise_of_its_size() -> None:
    rng = np.random.default_rng(1)
    slope = np.array([3.0, -4.0, 0.0, 0.0, 0.0])
    shifts = [rng.standard_normal(5) for _ in range(60)]
    costs = np.array([[1000 + slope @ shift + rng.normal(0, 4), 1000 - slope @ shift] for shift in shifts])
    assert downhill(shifts, costs) @ (-slope / 5) > 0.95


@pytest.mark.parametrize("cost", [0.0, 7.0])
def test_costs_that_do_not_differ_give_no_direction(cost: float) -> None:
    assert not downhill([np.ones(3)], np.full((1, 2), cost)).any()


def test_a_shift_of_one_draws_an_operator_e_times_as_often() -> None:
    settings = Settings(greed=3.0)
    plain = Lesson(np.zeros((4, 7)), np.empty(0), np.empty(0), settings, 1e6)
    lesson = shifted(plain, (2, 2), np.array([1.0, 0.0, 0.0, 0.0]))
    selector = lesson.teach(LearnedSelector(2, 2, clock="iterations", settings=settings))
    selector.learner.renew(np.zeros(7))
    rng = np.random.default_rng(1)
    drawn = np.bincount([selector.learner.draw(rng) // 2 for _ in range(8000)])
    assert drawn[0] / drawn[1] == pytest.approx(np.e, rel=0.1)
    assert not plain.slopes.any()
