"""The selector of searches that none was chosen for."""

from __future__ import annotations

import math
from typing import Any

import pytest

from neuralns import generate_x, read
from neuralns.problem.generate.variants import generate_of
from neuralns.selection.default import BUNDLED, covers, default_selector
from neuralns.selection.policy_file import read_policy

CARD: dict[str, Any] = {
    "for": {"kinds": ["windows"], "customers": [80, 1000], "seconds_per_customer": [0.01, 0.1]},
}


@pytest.mark.parametrize(
    ("variant", "customers", "seconds", "covered"),
    [
        ("vrptw", 100, 5.0, True),
        ("vrptw", 100, 0.9, False),
        ("vrptw", 100, 11.0, False),
        ("vrptw", 100, math.inf, False),
        ("vrptw", 60, 3.0, False),
        ("cvrp", 100, 5.0, False),
        ("pdptw", 100, 5.0, False),
    ],
)
def test_a_card_says_what_a_controller_is_for(variant: Any, customers: int, seconds: float, covered: bool) -> None:
    assert covers(CARD, generate_of(variant, customers, 1), seconds) is covered


def test_a_card_that_says_nothing_covers_nothing() -> None:
    assert not covers({}, generate_of("vrptw", 100, 1), 5.0)


def test_costs_of_working_time_are_another_kind() -> None:
    instance = generate_of("vrptw", 100, 1)
    assert not covers(CARD, instance.with_objective("duration"), 5.0)


def test_the_bundled_controller_steers_what_it_was_trained_for_and_nothing_else() -> None:
    meant = read_policy(BUNDLED).card["for"]
    assert "windows" in meant["kinds"]
    assert default_selector(generate_of("vrptw", 200, 1), 10.0).name == BUNDLED
    assert default_selector(generate_x(200), 10.0).name == "random"
    assert default_selector(read("E-n22-k4"), 10.0).name == "random"
    assert default_selector(generate_of("vrptw", 200, 1), math.inf).name == "random"
