"""Selectors written as plain Python classes: what they are told, and what they may answer."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

import neuralns
from helpers import Clock
from neuralns import (
    Fixed,
    InputError,
    MaxIterations,
    MaxTime,
    NoImprovement,
    Outcome,
    PythonSelector,
    Result,
    Situation,
)

DESTROYS, REPAIRS = ("zone", "random-node"), ("greedy", "regret-2")
PORTFOLIO = ",".join((*DESTROYS, *REPAIRS))


class Turns:
    """Takes all pairs in turn and keeps what it is told."""

    def __init__(self) -> None:
        self.situations: list[Situation] = []
        self.outcomes: list[Outcome] = []

    def choose(self, situation: Situation) -> tuple[str, str]:
        self.situations.append(situation)
        number = len(self.outcomes)
        return situation.destroys[number % 2], situation.repairs[number // 2 % 2]

    def update(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome)


class Says:
    """Gives one answer again and again."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def choose(self, situation: Situation) -> Any:
        return self.answer

    def update(self, outcome: Outcome) -> None:
        pass


def searched(selector: Any, every: int = 100, iterations: int = 450, **options: Any) -> Result:
    chosen = selector if isinstance(selector, PythonSelector | Fixed) else PythonSelector(selector, every)
    defaults: dict[str, Any] = {"portfolio": PORTFOLIO, "seed": 2, "initial": "random"}
    return neuralns.solve("E-n22-k4", MaxIterations(iterations), selector=chosen, **{**defaults, **options})


@pytest.mark.parametrize("every", [1, 40, 100, 449, 450, 1000])
def test_it_is_asked_and_told_every_so_many_iterations(every: int) -> None:
    turns = Turns()
    result = searched(turns, every)
    assert result.iterations == 450
    assert [situation.iteration for situation in turns.situations] == list(range(0, 450, every))
    assert [outcome.iterations for outcome in turns.outcomes] == [
        min(every, 450 - situation.iteration) for situation in turns.situations
    ]


def test_a_situation_tells_where_the_search_stands() -> None:
    turns = Turns()
    result = searched(turns)
    first = turns.situations[0]
    assert (first.current, first.best, first.start) == (result.initial.cost,) * 3
    assert [situation.left for situation in turns.situations] == pytest.approx([1, 7 / 9, 5 / 9, 3 / 9, 1 / 9])
    for situation in turns.situations:
        assert (situation.destroys, situation.repairs) == (DESTROYS, REPAIRS)
        assert situation.start == result.initial.cost
        assert result.cost <= situation.best <= situation.current
    for before, after in pairwise(turns.situations):
        assert after.best <= before.best
    assert turns.situations[-1].best < first.best


def test_outcomes_tell_what_came_of_each_pair() -> None:
    turns = Turns()
    result = searched(turns)
    assert [(outcome.destroy, outcome.repair) for outcome in turns.outcomes] == [
        ("zone", "greedy"),
        ("random-node", "greedy"),
        ("zone", "regret-2"),
        ("random-node", "regret-2"),
        ("zone", "greedy"),
    ]
    costs = [situation.current for situation in turns.situations]
    for outcome, before, after in zip(turns.outcomes, costs, costs[1:], strict=False):
        assert outcome.change == pytest.approx(after - before)
    assert result.trace.current[-1] == pytest.approx(costs[-1] + turns.outcomes[-1].change)
    for use in result.operators:
        own = [outcome for outcome in turns.outcomes if use.name in (outcome.destroy, outcome.repair)]
        told = [sum(getattr(outcome, what) for outcome in own) for what in ("accepted", "improved", "new_best")]
        assert told == [use.accepted, use.improved, use.new_best]
        assert sum(outcome.iterations for outcome in own) == use.used
    assert turns.outcomes[0].new_best > 0


def test_a_search_that_ends_between_two_questions_tells_how_far_it_came() -> None:
    turns = Turns()
    result = neuralns.solve("E-n22-k4", NoImprovement(130), selector=PythonSelector(turns, 100), portfolio=PORTFOLIO)
    assert result.stopped_by == "no improvement"
    assert sum(outcome.iterations for outcome in turns.outcomes) == result.iterations
    assert turns.outcomes[-1].iterations < 100


def test_what_is_left_follows_the_clock_where_time_is_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    turns = Turns()

    def wait(progress: neuralns.Progress) -> None:
        clock.now += 0.25

    # The callback is called before the first question as well, and after the clock is looked at.
    result = neuralns.solve(
        "E-n22-k4", MaxTime(1), selector=PythonSelector(turns, 10), portfolio=PORTFOLIO, callbacks=[wait]
    )
    assert result.stopped_by == "time"
    assert [situation.left for situation in turns.situations] == pytest.approx([0.75, 0.5, 0.25, 0.0])


def test_a_pair_that_never_changes_is_a_fixed_pair() -> None:
    own = searched(Says(("random-node", "regret-2")), 7)
    fixed = searched(Fixed("random-node", "regret-2"))
    assert own.routes == fixed.routes
    assert own.operators == fixed.operators


def test_the_same_seed_gives_the_same_result() -> None:
    one, same, other = (searched(Turns(), 20, seed=seed) for seed in (1, 1, 2))
    assert (one.routes, one.operators) == (same.routes, same.operators)
    assert one.operators != other.operators


def test_it_has_a_name_of_its_own() -> None:
    assert searched(Turns()).selector == "own"
    assert searched(PythonSelector(Turns(), name="mine")).selector == "mine"
    with pytest.raises(InputError, match=r"^selector 'mine' chose None"):
        searched(PythonSelector(Says(None), name="mine"))


def test_several_workers_ask_each_for_itself() -> None:
    turns = Turns()
    result = searched(turns, 30, workers=2)
    assert result.iterations == 900
    assert result.feasible
    assert result.decision_time_share is not None
    assert 0 < result.decision_time_share <= 1
    # The workers are processes, which leave this one's object as it is.
    assert turns.situations == []
    with pytest.raises(InputError, match=r"^selector 'own' chose 3, not the names of two operators"):
        searched(Says(3), workers=2)


class Slow(Turns):
    """Takes time to choose and to learn."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self.clock = clock

    def choose(self, situation: Situation) -> tuple[str, str]:
        self.clock.now += 0.003
        return super().choose(situation)

    def update(self, outcome: Outcome) -> None:
        self.clock.now += 0.001
        super().update(outcome)


def test_the_share_of_deciding_is_that_of_choosing_and_learning(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)

    def wait(progress: neuralns.Progress) -> None:
        clock.now += 0.002

    # Five questions of 0.004 s; the callback is called once before and after each of them, for 0.002 s.
    result = searched(Slow(clock), callbacks=[wait])
    assert result.decision_time_share == pytest.approx(5 * 0.004 / (5 * 0.004 + 6 * 0.002))
    assert searched(Slow(clock)).decision_time_share == pytest.approx(1.0)


@pytest.mark.parametrize("every", [1, 100])
def test_the_share_of_deciding_lies_between_none_and_all(every: int) -> None:
    share = searched(Turns(), every).decision_time_share
    assert share is not None
    assert 0 < share < 1


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (None, "selector 'own' chose None, not the names of two operators."),
        ("zone", "selector 'own' chose 'zone', not the names of two operators."),
        (("zone",), "selector 'own' chose ('zone',), not the names of two operators."),
        (["zone", "greedy"], "selector 'own' chose ['zone', 'greedy'], not the names of two operators."),
        (("zone", "greedy", 1), "selector 'own' chose ('zone', 'greedy', 1), not the names of two operators."),
        (("nowhere", "greedy"), "selector 'own' chose 'nowhere', which is not among zone, random-node."),
        (("zone", "nothing"), "selector 'own' chose 'nothing', which is not among greedy, regret-2."),
        (("greedy", "zone"), "selector 'own' chose 'greedy', which is not among zone, random-node."),
        ((0, 1), "selector 'own' chose 0, which is not among zone, random-node."),
    ],
)
def test_an_answer_that_is_no_pair_is_refused(answer: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(sentence)}$"):
        searched(Says(answer))


class Mute:
    """Can choose, but cannot be told anything."""

    update: Callable[..., Any] | None = None

    def choose(self, situation: Situation) -> tuple[str, str]:
        return "zone", "greedy"

    def __repr__(self) -> str:
        return "Mute()"


def test_an_object_without_the_two_methods_is_refused() -> None:
    nothing: Any = "nothing"
    mute: Any = Mute()
    with pytest.raises(InputError, match=r"^selector 'nothing' has no method 'choose'\.$"):
        PythonSelector(nothing)
    with pytest.raises(InputError, match=r"^selector Mute\(\) has no method 'update'\.$"):
        PythonSelector(mute)


@pytest.mark.parametrize("every", [0, -5])
def test_a_number_of_iterations_between_questions_below_one_is_refused(every: int) -> None:
    sentence = f"a selector asked every {every} iterations cannot work; at least 1 is needed."
    with pytest.raises(InputError, match=f"^{re.escape(sentence)}$"):
        PythonSelector(Turns(), every)
