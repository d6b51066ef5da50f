"""The bandit on gain per second, and the wheel with time in its scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import neuralns
from neuralns import InputError, MaxIterations, Setting
from neuralns.operators.portfolio import portfolio_named
from neuralns.selection.by_time import GainBandit, TimedRoulette
from neuralns.selection.controller import Controller, View

PORTFOLIO = portfolio_named("string,random-node,greedy,regret-2")


def view(**values: Any) -> View:
    nothing = np.zeros((2, 2))
    known: dict[str, Any] = dict.fromkeys(("uses", "accepted", "improved", "new_best", "gains", "seconds"), nothing)
    known |= {name: np.array(value, np.float64) for name, value in values.items()}
    nobody: Any = None
    plain = (nobody, PORTFOLIO, 0, (1, 1), 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0)
    return View(*plain, **known, solution=nobody)


def weights(setting: Setting | None) -> Any:
    assert setting is not None
    found = np.asarray(setting.weights)
    return found / found.sum()


def test_the_bandit_leaves_all_as_it_is_until_there_is_a_gain() -> None:
    assert GainBandit().begin().control(view()) is None


def test_the_bandit_draws_by_gain_per_second() -> None:
    bandit = GainBandit(explore=0.2, fade=0.5, power=1.0).begin()
    first = bandit.control(view(gains=[[4, 1], [0, 0]], seconds=[[2, 1], [1, 1]]))
    # Rates 2, 1, 0, 0.
    assert weights(first) == pytest.approx(0.05 + 0.8 * np.array([[2 / 3, 1 / 3], [0, 0]]))
    second = bandit.control(view(gains=[[0, 0], [2, 0]], seconds=[[1, 0], [0.5, 0.5]]))
    # Gains 2, 0.5, 2, 0 in seconds 2, 0.5, 1, 1.
    assert weights(second) == pytest.approx(0.05 + 0.8 * np.array([[0.25, 0.25], [0.5, 0]]))


def test_the_bandit_takes_a_pair_that_was_never_used_for_a_mean_one() -> None:
    bandit = GainBandit(explore=0.0, power=1.0).begin()
    found = weights(bandit.control(view(gains=[[3, 1], [0, 0]], seconds=[[1, 1], [2, 0]])))
    assert found == pytest.approx(np.array([[3, 1], [0, 1]]) / 5)


def test_the_wheel_scores_by_the_second() -> None:
    wheel = TimedRoulette(scores=(10.0, 5.0, 1.0), reaction=0.5).begin()
    found = wheel.control(
        view(
            uses=[[9, 9], [9, 9]],
            accepted=[[3, 0], [1, 0]],
            improved=[[2, 0], [0, 0]],
            new_best=[[1, 0], [0, 0]],
            seconds=[[1, 1], [0.5, 1.5]],
        )
    )
    # Scores 16 and 1 in 2 seconds each, 17 in 4 in all; 17 in 1.5 seconds and none in 2.5.
    destroys = 0.5 + 0.5 * np.array([8 / 4.25, 0.5 / 4.25])
    repairs = np.array([0.5 + 0.5 * (17 / 1.5) / 4.25, 0.5])
    expected = np.outer(destroys, repairs)
    assert weights(found) == pytest.approx(expected / expected.sum())


@pytest.mark.parametrize("name", ["gain", "timed-roulette"])
def test_they_go_by_name_and_start_anew_in_each_search(name: str) -> None:
    one, same = (
        neuralns.solve("E-n51-k5", MaxIterations(3000), selector=name, portfolio="random-node,greedy,random-insertion")
        for _ in range(2)
    )
    assert one.selector == name
    assert (one.routes, one.operators) == (same.routes, same.operators)
    greedy, random = (use.used for use in one.operators if use.phase == "repair")
    assert greedy > 1.2 * random > 0


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: GainBandit(explore=2.0), "explore 2.0 of the bandit must lie between 0 and 1."),
        (lambda: GainBandit(fade=-1.0), "fade -1.0 of the bandit must lie between 0 and 1."),
        (lambda: GainBandit(power=0.0), "power 0.0 of the bandit must lie above 0, up to 100."),
        (lambda: TimedRoulette(scores=(1.0, 1.0, 0.0)), "roulette scores"),
        (lambda: TimedRoulette(reaction=1.5), "roulette reaction 1.5 must lie between 0 and 1."),
    ],
)
def test_parameters_out_of_range_are_refused(make: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=f"^{sentence}"):
        make()


def test_both_are_controllers() -> None:
    assert isinstance(GainBandit(), Controller)
    assert isinstance(TimedRoulette(), Controller)
