"""Acceptance rules, a user's own among them: they run compiled and drive a search."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from helpers import decides
from neuralns import (
    Acceptance,
    Always,
    HillClimbing,
    InputError,
    MaxIterations,
    OperatorError,
    RecordToRecord,
    SimulatedAnnealing,
    Solution,
    solve,
)
from neuralns.compiled.random import random


@pytest.mark.parametrize("rule", [HillClimbing(), Always(), RecordToRecord(), SimulatedAnnealing()])
def test_every_rule_drives_a_search(rule: Acceptance) -> None:
    result = solve("E-n22-k4", MaxIterations(500), acceptance=rule, initial="random")
    assert result.feasible
    assert result.cost < result.initial.cost
    if isinstance(rule, HillClimbing):
        assert result.trace.current == result.trace.best
    if isinstance(rule, Always):
        assert all(use.accepted == use.used for use in result.operators if use.phase != "improve")


class Confused(Acceptance):
    """Does not know what a candidate may cost."""

    @staticmethod
    def threshold(state):
        return np.nan


class Cold(Acceptance):
    """A rule of one's own whose temperatures are none."""

    def __init__(self, found: Any) -> None:
        self.found = found

    def temperatures(self, initial: Solution) -> Any:
        return self.found

    @staticmethod
    def threshold(state):
        return state.status.best + state.status.temperature


def test_a_threshold_that_is_no_number_is_refused_in_a_sentence() -> None:
    with pytest.raises(OperatorError, match=r"^the acceptance rule gives nan as the most that a candidate may cost"):
        solve("E-n22-k4", MaxIterations(10), acceptance=Confused())
    for given in ("x", [1.0]):
        with pytest.raises(InputError, match=r"start threshold .* is not a number"):
            RecordToRecord(given)  # type: ignore[arg-type]


@pytest.mark.parametrize("found", [(math.nan, 1.0), (1.0, 0.0), (1.0, -1.0), (1.0,), 5.0, None, ("x", "y")])
def test_temperatures_that_are_none_are_refused_by_the_name_of_the_rule(found: Any) -> None:
    with pytest.raises(InputError, match=r"acceptance rule 'Cold' gives temperatures .*, but they must be two numbers"):
        solve("E-n22-k4", MaxIterations(10), acceptance=Cold(found))


class Never(Acceptance):
    """Accept nothing."""

    @staticmethod
    def accepts(state, candidate):
        return False


class SomeTimes(Acceptance):
    """Accept with the chance that is left of the run."""

    @staticmethod
    def accepts(state, candidate):
        return random(state) < state.status.left


@dataclass(frozen=True)
class Threshold(Acceptance):
    """Accept what is worse by less than the temperature (Dueck & Scheuer 1990)."""

    start: float = 10.0

    def temperatures(self, initial: Solution) -> tuple[float, float]:
        return self.start, self.start / 100

    @staticmethod
    def accepts(state, candidate):
        return candidate < state.status.current + state.status.temperature


def test_a_rule_of_ones_own_decides() -> None:
    result = solve("E-n22-k4", MaxIterations(200), acceptance=Never(), initial="random")
    assert result.routes == [list(route) for route in result.initial.routes]
    assert all(use.accepted == 0 for use in result.operators)
    half = solve("E-n22-k4", MaxIterations(4000), acceptance=SomeTimes(), seed=1)
    accepted = sum(use.accepted for use in half.operators if use.phase == "destroy")
    assert accepted / 4000 == pytest.approx(0.5, abs=0.03)


def test_a_rule_of_ones_own_has_its_temperatures() -> None:
    result = solve("E-n22-k4", MaxIterations(100), acceptance=Threshold(50.0))
    assert result.trace.temperature[-1] == pytest.approx(50.0 * 0.01 ** (99 / 100))
    assert result.feasible
    assert decides(Threshold(), 10.0, 104.0, 95.0, 90.0)
    assert not decides(Threshold(), 10.0, 105.0, 95.0, 90.0)


def test_a_rule_of_ones_own_runs_as_the_built_in_one_that_it_equals() -> None:
    class Climbing(Acceptance):
        @staticmethod
        def threshold(state):
            return state.status.current

    own, built_in = (solve("E-n22-k4", MaxIterations(500), acceptance=rule) for rule in (Climbing(), HillClimbing()))
    assert own.routes == built_in.routes
    assert own.operators == built_in.operators


def test_candidates_that_are_given_up_half_way_change_nothing_but_the_time() -> None:
    class Climbing(Acceptance):
        @staticmethod
        def accepts(state, candidate):
            return candidate <= state.status.current

    # Greedy insertion draws no random numbers, so that both searches see the same candidates.
    rules, portfolio = (Climbing(), HillClimbing()), "string,random-node,greedy"
    own, built_in = (solve("E-n51-k5", MaxIterations(2000), acceptance=rule, portfolio=portfolio) for rule in rules)
    assert own.routes == built_in.routes
    assert own.operators == built_in.operators


def test_a_rule_has_one_way_to_decide() -> None:
    class Both(HillClimbing):
        @staticmethod
        def accepts(state, candidate):
            return True

    for rule, said in ((Both(), "has both 'threshold' and 'accepts'"), (Acceptance(), "has no method 'threshold' or")):
        with pytest.raises(OperatorError, match=said):
            solve("E-n22-k4", MaxIterations(10), acceptance=rule)


class Nonsense(Acceptance):
    """Asks for what is not there."""

    @staticmethod
    def accepts(state, candidate):
        return state.status.nonsense > candidate


class Text(Acceptance):
    """Gives no answer."""

    @staticmethod
    def accepts(state, candidate):
        return "perhaps"


@pytest.mark.parametrize("rule", [Nonsense(), Text()], ids=lambda rule: type(rule).__name__)
def test_a_rule_that_does_not_compile_is_named_in_one_sentence(rule: Any) -> None:
    said = f"^acceptance rule '{type(rule).__name__}' does not compile: "
    with pytest.raises(OperatorError, match=said) as caught:
        solve("E-n22-k4", MaxIterations(10), acceptance=rule)
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")


def test_rules_of_one_class_share_their_compiled_function() -> None:
    assert SimulatedAnnealing(5.0).compiled() is SimulatedAnnealing(7.0).compiled()
    assert SimulatedAnnealing().compiled() is not RecordToRecord().compiled()


@pytest.mark.parametrize("limits", [{"start": 1e308}, {"start": 1e90, "end": 1e-320}])
def test_temperatures_beyond_all_measure_are_refused(limits: dict[str, float]) -> None:
    with pytest.raises(InputError, match=r"temperature .* is out of range, 1e-100 to 1e\+100\.$"):
        SimulatedAnnealing(**limits)
