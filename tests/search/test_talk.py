"""The talk of a search with its controller; what controllers see and set is tested with them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from neuralns import Controller, InputError, MaxIterations, MaxTime, Setting, View, read
from neuralns.search.search import Search
from neuralns.search.setup import make_setup
from neuralns.search.stopping import Stop
from neuralns.search.talk import QUESTIONS, iterations_between_questions


class Listener(Controller):
    """Takes down what it is asked and told."""

    name = "listener"

    def __init__(self, every: int = 0, setting: Setting | None = None) -> None:
        self.every, self.setting = every, setting
        self.asked: list[View] = []
        self.told: list[View] = []

    def control(self, view: View) -> Setting | None:
        self.asked.append(view)
        return self.setting

    def observe(self, view: View) -> None:
        self.told.append(view)


def search_with(listener: Listener, iterations: int = 400) -> Search:
    setup = make_setup(read("E-n22-k4"), MaxIterations(iterations), listener)
    return Search(setup, np.random.SeedSequence(1), 0.0)


@pytest.mark.parametrize(
    ("every", "stop", "found"),
    [
        (7, MaxTime(1), 7),
        (7, MaxIterations(1000), 7),
        (0, MaxTime(1), 0),
        (0, MaxTime(1) | MaxIterations(1000), 0),
        (0, MaxIterations(10 * QUESTIONS), 10),
        (0, MaxIterations(5), 1),
        (0, Stop(no_improvement=5), math.ceil(1_000_000 / QUESTIONS)),
    ],
)
def test_when_a_controller_is_asked(every: int, stop: Stop, found: int) -> None:
    assert iterations_between_questions(Listener(every), stop) == found


def test_segments_end_at_questions_and_each_stretch_is_told_of() -> None:
    listener = Listener(every=150)
    search = search_with(listener)
    while search.reason_to_stop() is None:
        search.advance(100)
    assert [view.iteration for view in listener.asked] == [0, 150, 300]
    assert [view.iteration for view in listener.told] == [150, 300, 400]
    assert [int(view.uses.sum()) for view in listener.told] == [150, 150, 100]
    assert [int(view.uses.sum()) for view in listener.asked] == [0, 150, 150]


def test_changes_are_counted_anew_when_other_routes_are_searched() -> None:
    listener = Listener(every=50)
    search = search_with(listener)
    search.advance()
    part = search.current()
    part = type(part)(part.instance, part.routes[:2])
    search.continue_with_part(part)
    assert search.view().change == 0.0
    assert search.view().current == pytest.approx(part.cost)
    search.advance()
    assert abs(listener.told[-1].change) < 0.5 * part.cost


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        (Setting(parameters={("string", "longest"): math.nan}), "set 'longest' of operator 'string' to nan"),
        (Setting(parameters={("2-opt-star", "share"): 1.5}), "set 'share' of operator '2-opt-star' to 1.5"),
        (Setting(parameters={"string": 3.0}), "set 'string', which is not an operator and a parameter"),  # type: ignore[dict-item]
        ("more", "answered 'more', which is no Setting"),
    ],
)
def test_what_cannot_be_set_is_refused(setting: Setting, said: str) -> None:
    with pytest.raises(InputError, match=said):
        search_with(Listener(setting=setting)).advance()


def test_what_is_set_is_set_in_one_search_alone() -> None:
    one = search_with(Listener(setting=Setting(scale=(2, 3), parameters={("string", "longest"): 4}, heat=(2.0, 1.0))))
    other = search_with(Listener())
    for search in (one, other):
        search.advance()
    assert (one._run.low, one._run.high) == (2, 3)
    assert one._tables.destroy_parameters[0, 0] == 4.0
    assert other._tables.destroy_parameters[0, 0] == 10.0
    assert one._run.hot == pytest.approx(2 * other._run.hot)
