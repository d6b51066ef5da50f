"""Learned controllers: a response surface in a policy file steers a search."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import neuralns
from neuralns import InputError, MaxIterations
from neuralns.operators.portfolio import portfolio_named
from neuralns.selection.dials import Dials
from neuralns.selection.learned_controller import LearnedController
from neuralns.selection.policy_file import Policy, write_policy
from neuralns.selection.traits import NAMES

PORTFOLIO = portfolio_named("string,random-node,greedy,regret-2,2-opt-star:share=0.5")
TERMS = 2 * len(Dials(PORTFOLIO).names) - 4


def policy(factors: Any = None, **card: Any) -> Policy:
    """A policy that takes to string on small instances, to random-node on large ones."""
    if factors is None:
        factors = np.zeros((TERMS, 1 + len(NAMES)))
        factors[0, 1 + NAMES.index("customers")] = 9.0
    content: dict[str, Any] = {
        "network": "controller",
        "operators": {
            "destroy": ["string", "random-node"],
            "repair": ["greedy", "regret-2"],
            "improve": ["2-opt-star:share=0.5"],
        },
        "traits": list(NAMES),
    }
    numbers = {"factors": factors, "mean": np.zeros(len(NAMES)), "spread": np.ones(len(NAMES))}
    return Policy(content | card, {name: np.asarray(value, np.float32) for name, value in numbers.items()})


def uses(result: neuralns.Result) -> dict[str, int]:
    return {use.name: use.used for use in result.operators}


def test_it_weighs_operators_by_the_instance(tmp_path: Path) -> None:
    file = tmp_path / "mine.policy"
    write_policy(policy(), file)
    small = neuralns.solve("E-n22-k4", MaxIterations(300), selector=str(file))
    assert uses(small)["string"] == 300
    assert small.selector == str(file)
    assert small.decision_time_share is not None
    large = neuralns.solve(neuralns.generate_x(400), MaxIterations(300), selector=str(file))
    assert uses(large)["random-node"] == 300
    assert uses(large)["greedy"] == pytest.approx(150, abs=40)


def test_it_sets_the_same_for_the_same_instance() -> None:
    one, same = (neuralns.solve("E-n22-k4", MaxIterations(500), selector=LearnedController(policy())) for _ in range(2))
    assert (one.routes, uses(one)) == (same.routes, uses(same))


def test_operators_it_was_not_trained_for_are_refused() -> None:
    with pytest.raises(
        InputError, match=r"^selector 'controller' was trained for operators string, random-node, greedy"
    ):
        neuralns.solve("E-n22-k4", MaxIterations(5), selector=LearnedController(policy()), portfolio="string,greedy")


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (policy(np.zeros((3, 3))), "the numbers 'factors' are not 14 × 19 finite ones"),
        (policy(np.full((TERMS, 1 + len(NAMES)), np.nan)), "the numbers 'factors' are not 14 × 19 finite ones"),
        (policy(traits=["other"]), "was trained with other traits of instances than this version has"),
        (Policy(policy().card, {}), "the numbers 'factors' are not"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(wrong: Policy, sentence: str) -> None:
    with pytest.raises(InputError, match=f"^mine.policy: {sentence}"):
        LearnedController(wrong, "mine.policy")
