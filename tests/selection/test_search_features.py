"""Search features: what a controller reads from what it is told."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import neuralns
from neuralns import MaxIterations, read
from neuralns.operators.portfolio import portfolio_named
from neuralns.selection.controller import Controller, Setting, View
from neuralns.selection.search_features import FURTHEST, SEARCH_FEATURES, SearchFeatures

PORTFOLIO = portfolio_named("string,string:longest=40,blinks,blinks:near=40")


def view(**given: Any) -> View:
    table = np.zeros((2, 2))
    values: dict[str, Any] = {
        "instance": read("E-n22-k4"), "portfolio": PORTFOLIO, "iteration": 1000, "scale": (1, 20), "left": 0.5,
        "horizon": 2.0, "start": 110.0, "current": 102.0, "best": 100.0, "change": 0.0, "temperature": 0.5,
        "acceptance": 0.1, "since_best": 99, "uses": table + 250, "accepted": table + 50, "improved": table,
        "new_best": table, "gains": table + 5.0, "seconds": table + 0.25, "solution": None,
    }  # fmt: skip
    return View(**values | given)


def read_features(*views: View) -> dict[str, float]:
    search_features = SearchFeatures()
    for each in views:
        search_features.observe(each)
    return dict(zip(SEARCH_FEATURES, search_features.read(views[-1]).tolist(), strict=True))


def test_nothing_is_seen_before_the_first_iteration() -> None:
    assert not SearchFeatures().read(view()).any()


def test_search_features_are_ratios() -> None:
    found = read_features(view())
    assert found["fall"] == pytest.approx(100 * np.log(100 / 110))
    assert found["height"] == pytest.approx(100 * np.log(1.02))
    assert found["acceptance"] == 0.2
    assert found["speed"] == pytest.approx(np.log(1000 / 1.0 / 21))
    assert found["stagnation"] == pytest.approx(np.log(100 / 1001))
    # 20 of 100 in 1000 iterations: 20 hundred-thousandths of the cost in each.
    assert found["gain"] == pytest.approx(np.log(20), abs=1e-3)
    assert found["long strings"] == found["near repairs"] == 0.0
    assert found["temperature"] == pytest.approx(np.log(0.5 * 21), abs=1e-3)


def test_operators_are_told_apart_by_their_gain_per_second() -> None:
    gains = np.array([[1.0, 1.0], [3.0, 3.0]])
    assert read_features(view(gains=gains))["long strings"] == pytest.approx(np.log(1.5))
    assert read_features(view(gains=gains.T))["near repairs"] == pytest.approx(np.log(1.5))
    assert read_features(view(seconds=np.array([[1.0, 1.0], [1e-6, 1e-6]])))["long strings"] <= FURTHEST


def test_what_was_told_before_counts() -> None:
    first, second = view(accepted=np.zeros((2, 2))), view()
    assert read_features(first, second)["acceptance"] == 0.1


def test_search_features_do_not_depend_on_the_unit_of_cost() -> None:
    one = view()
    scaled: dict[str, Any] = {
        name: 7.0 * np.asarray(getattr(one, name)) for name in ("start", "current", "best", "temperature", "gains")
    }
    assert list(read_features(replace(one, **scaled)).values()) == pytest.approx(
        list(read_features(one).values()), abs=1e-4
    )


class Reading(Controller):
    """Reads the features of a search."""

    def __init__(self) -> None:
        self.name, self.search_features = "reading", SearchFeatures()
        self.seen: list[Any] = []

    def observe(self, view: View) -> None:
        self.search_features.observe(view)

    def control(self, view: View) -> Setting | None:
        self.seen.append(self.search_features.read(view))
        return None


def test_a_search_shows_features() -> None:
    controller = Reading()
    neuralns.solve("E-n22-k4", MaxIterations(2000), selector=controller, portfolio=PORTFOLIO.names)
    assert not controller.seen[0].any()
    assert np.isfinite(controller.seen).all()
    last = dict(zip(SEARCH_FEATURES, controller.seen[-1], strict=True))
    assert last["fall"] < 0.0 <= last["height"]
    assert 0.0 < last["acceptance"] < 1.0
