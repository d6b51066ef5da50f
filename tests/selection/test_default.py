"""The selector of searches that none was chosen for."""

from __future__ import annotations

import math
import pickle
from typing import Any

import pytest

import neuralns
from neuralns import generate_x, read
from neuralns.operators.portfolio import portfolio_named
from neuralns.problem.generate.variants import generate_of
from neuralns.selection import default
from neuralns.selection.constant import Constant
from neuralns.selection.default import TRIED, Tried, bundled_mark, covers, default_selector
from neuralns.selection.policy_file import read_policy

SMALL, LARGE = "controller", "controller-large"
CARD: dict[str, Any] = {
    "for": {"kinds": ["windows"], "customers": [80, 400], "seconds_per_customer": [0.01, 0.07]},
}


@pytest.mark.parametrize(
    ("variant", "customers", "seconds", "covered"),
    [
        ("vrptw", 100, 5.0, True),
        ("vrptw", 100, 0.9, False),
        ("vrptw", 100, 10.0, True),
        ("vrptw", 100, 11.0, False),
        ("vrptw", 600, 10.0, True),
        ("vrptw", 601, 10.0, False),
        ("vrptw", 600, 59.0, True),
        ("vrptw", 600, 61.0, False),
        ("vrptw", 100, math.inf, False),
        ("vrptw", 60, 3.0, False),
        ("cvrp", 100, 5.0, False),
        ("pdptw", 100, 5.0, False),
    ],
)
def test_a_card_says_what_a_controller_is_for(variant: Any, customers: int, seconds: float, covered: bool) -> None:
    assert covers(CARD, generate_of(variant, customers, 1), seconds, Tried(600, 0.1, (1.0, 60.0))) is covered


def test_a_card_that_says_nothing_covers_nothing() -> None:
    assert not covers({}, generate_of("vrptw", 100, 1), 5.0, Tried(1000, 1.0))


@pytest.mark.parametrize("objective", ["duration", "distance=1,vehicles=1000"])
@pytest.mark.parametrize("variant", ["vrptw", "mdvrptw"])
def test_other_objectives_are_other_kinds(objective: str, variant: Any) -> None:
    instance = generate_of(variant, 100, 1)
    assert default_selector(instance, 5.0).name == SMALL
    assert default_selector(instance.with_objective(objective), 5.0).name == "random"


def test_bundled_controllers_steer_what_they_were_trained_for_and_nothing_else() -> None:
    for name in (SMALL, LARGE):
        meant = read_policy(name).card["for"]
        assert "windows" in meant["kinds"]
        assert meant["customers"][1] <= TRIED[name].customers
        assert meant["seconds_per_customer"][1] <= TRIED[name].each
    assert default_selector(generate_of("vrptw", 200, 1), 10.0).name == SMALL
    # The study's least and most time for a customer, and more than was ever tried.
    assert default_selector(generate_of("vrptw", 1000, 1), 10.0).name == LARGE
    assert default_selector(generate_of("vrptw", 1000, 1), 60.0).name == SMALL
    assert default_selector(generate_of("vrptw", 500, 1), 6.0).name == SMALL
    assert default_selector(generate_of("vrptw", 1200, 1), 20.0).name == "random"
    assert default_selector(generate_of("vrptw", 100, 1), 10.0).name == SMALL
    assert default_selector(generate_of("vrptw", 400, 1), 60.0).name == "random"
    assert default_selector(generate_x(200), 10.0).name == "random"
    assert default_selector(read("E-n22-k4"), 10.0).name == "random"
    assert default_selector(generate_of("vrptw", 200, 1), math.inf).name == "random"


def test_a_bundled_controller_of_another_version_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = generate_of("vrptw", 100, 1)
    monkeypatch.setattr("neuralns.selection.learned_controller.STAGES", (0.0, 0.3, 0.6))
    default.bundled_controllers.cache_clear()
    try:
        assert default_selector(instance, 5.0).name == "random"
        assert bundled_mark() is None
    finally:
        monkeypatch.undo()
        default.bundled_controllers.cache_clear()
    assert default_selector(instance, 5.0).name == SMALL
    assert bundled_mark() is not None


@pytest.mark.parametrize(
    "given",
    [
        {"portfolio": "windows"},
        {"scale": 5},
        {"acceptance": neuralns.HillClimbing()},
        {"initial": "insertion"},
        {"objective": "duration"},
        {"selector": "random"},
    ],
)
def test_whoever_chooses_anything_else_is_not_steered(given: dict[str, Any]) -> None:
    instance = generate_of("vrptw", 100, 1)
    assert neuralns.solve(instance, time=1.0, callbacks=[lambda progress: True], **given).selector == "random"


def test_a_search_of_some_seconds_is_steered() -> None:
    result = neuralns.solve(generate_of("vrptw", 100, 1), time=1.0, callbacks=[lambda progress: True])
    assert (result.selector, result.portfolio) == (SMALL, "wide")


def test_controllers_travel_to_other_processes() -> None:
    controller = default_selector(generate_of("vrptw", 100, 1), 5.0)
    again = pickle.loads(pickle.dumps(controller))
    assert again.made_for() == controller.made_for()
    constant = Constant(portfolio_named("string,blinks"), (0.0,) * 7)
    assert pickle.loads(pickle.dumps(constant)) == constant
