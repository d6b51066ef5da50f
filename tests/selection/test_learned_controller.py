"""Learned controllers: a response surface in a policy file steers a search."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import neuralns
from neuralns import InputError, InputWarning, MaxIterations, read
from neuralns.operators.portfolio import portfolio_named
from neuralns.problem.generate.variants import generate_of
from neuralns.selection.dials import Dials
from neuralns.selection.instance_features import INSTANCE_FEATURES
from neuralns.selection.learned_controller import LearnedController
from neuralns.selection.policy_file import Policy, write_policy
from neuralns.selection.response import MOST_SPREADS
from neuralns.selection.search_features import SEARCH_FEATURES
from neuralns.selection.staged import STAGES

PORTFOLIO = portfolio_named("string,random-node,greedy,regret-2,2-opt-star:share=0.5")
TERMS = 2 * len(Dials(PORTFOLIO).names)


def policy(factors: Any = None, **card: Any) -> Policy:
    """A policy that takes to string on small instances, to random-node on large ones; in the end to regret."""
    if factors is None:
        factors = np.zeros((TERMS, 1 + len(INSTANCE_FEATURES)))
        factors[0, 1 + INSTANCE_FEATURES.index("customers")] = 9.0
    search_features = np.zeros((2, TERMS, len(SEARCH_FEATURES)))
    search_features[1, 2, SEARCH_FEATURES.index("fall")] = -9.0
    content: dict[str, Any] = {
        "network": "controller",
        "operators": {
            "destroy": ["string", "random-node"],
            "repair": ["greedy", "regret-2"],
            "improve": ["2-opt-star:share=0.5"],
        },
        "traits": list(INSTANCE_FEATURES),
        "signs": list(SEARCH_FEATURES),
        "stages": list(STAGES),
    }
    numbers = {
        "factors": factors, "signs": search_features,
        "traits_mean": np.zeros(len(INSTANCE_FEATURES)), "traits_spread": np.ones(len(INSTANCE_FEATURES)),
        "signs_mean": np.zeros((2, len(SEARCH_FEATURES))), "signs_spread": np.ones((2, len(SEARCH_FEATURES))),
    }  # fmt: skip
    return Policy(content | card, {name: np.asarray(value, np.float32) for name, value in numbers.items()})


def uses(result: neuralns.Result) -> dict[str, int]:
    return {use.name: use.used for use in result.operators}


def test_it_weighs_operators_by_the_instance(tmp_path: Path) -> None:
    file = tmp_path / "mine.policy"
    write_policy(policy(), file)
    small = uses(neuralns.solve("E-n22-k4", MaxIterations(1000), selector=str(file)))
    large = uses(neuralns.solve(neuralns.generate_x(400), MaxIterations(1000), selector=str(file)))
    assert small["string"] > 700 > 300 > large["string"]


def test_it_decides_anew_by_what_the_search_shows() -> None:
    early: list[int] = []
    late: list[int] = []

    def note(progress: neuralns.Progress) -> None:
        (early if progress.iteration <= 500 else late).append(progress.uses["regret-2"])

    result = neuralns.solve("E-n22-k4", MaxIterations(1000), selector=LearnedController(policy()), callbacks=[note])
    assert early[-1] == pytest.approx(250, abs=60)
    assert uses(result)["regret-2"] - early[-1] > 320
    assert result.selector == "controller"
    assert result.decision_time_share is not None


def test_it_sets_the_same_for_the_same_instance() -> None:
    one, same = (neuralns.solve("E-n22-k4", MaxIterations(500), selector=LearnedController(policy())) for _ in range(2))
    assert (one.routes, uses(one)) == (same.routes, uses(same))


def test_operators_it_was_not_trained_for_are_refused() -> None:
    with pytest.raises(
        InputError, match=r"^selector 'controller' was trained for operators string, random-node, greedy"
    ):
        neuralns.solve("E-n22-k4", MaxIterations(5), selector=LearnedController(policy()), portfolio="string,greedy")


def test_operators_are_refused_before_a_search_begins() -> None:
    with pytest.raises(InputError, match=r"^selector 'mine' was trained for operators string, random-node, greedy"):
        LearnedController(policy(), "mine").start(portfolio_named("string,greedy"))
    turned = portfolio_named("random-node,string,regret-2,greedy,2-opt-star:share=0.5")
    assert LearnedController(policy()).start(turned).count == 4


def test_it_names_the_instances_that_it_was_trained_on() -> None:
    assert LearnedController(policy(instances=["E-n22-k4"])).trained_on() == ("E-n22-k4",)
    assert LearnedController(policy()).trained_on() == ()


def test_it_reaches_as_far_as_its_card_says() -> None:
    assert LearnedController(policy()).response.most_spreads == MOST_SPREADS
    assert LearnedController(policy(reach=2)).response.most_spreads == 2


MEANT: dict[str, Any] = {"kinds": ["windows", "plain"], "customers": [50, 100], "seconds_per_customer": [0.01, 0.1]}


@pytest.mark.parametrize(
    ("variant", "customers", "doubts"),
    [
        ("vrptw", 60, []),
        ("cvrp", 20, []),
        ("cvrp", 250, []),
        (
            "pdptw",
            60,
            ["it was trained on other kinds of instances (windows, plain) than this one (shipments + windows)."],
        ),
        ("cvrp", 19, ["it was trained on 50 to 100 customers, this instance has 19."]),
        ("cvrp", 251, ["it was trained on 50 to 100 customers, this instance has 251."]),
    ],
)
def test_it_doubts_what_its_card_is_not_for(variant: Any, customers: int, doubts: list[str]) -> None:
    mine = LearnedController(policy(**{"for": MEANT}), "mine.policy")
    assert mine.doubts(generate_of(variant, customers, 1), (1, 20)) == [f"mine.policy: {text}" for text in doubts]
    assert LearnedController(policy()).doubts(generate_of(variant, customers, 1), (1, 20)) == []


def test_a_search_says_what_is_in_doubt() -> None:
    one = policy(**{"for": MEANT | {"customers": [60, 60]}})
    with pytest.warns(InputWarning, match=r"^controller: it was trained on 60 customers, this instance has 21\.$"):
        neuralns.solve(read("E-n22-k4"), MaxIterations(5), selector=LearnedController(one))


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (policy(np.zeros((3, 3))), "the numbers 'factors' are not 18 × 19 finite ones"),
        (
            policy(np.full((TERMS, 1 + len(INSTANCE_FEATURES)), np.nan)),
            "the numbers 'factors' are not 18 × 19 finite ones",
        ),
        (policy(traits=["other"]), "was trained with other instance features than this version has"),
        (Policy(policy().card, {}), "the numbers 'factors' are not"),
        (policy(reach=5), "reach 5 must be a number above 0, up to 3."),
        (policy(reach=True), "reach True must be a number above 0, up to 3."),
        (policy(reach=0), "reach 0 must be a number above 0, up to 3."),
        (policy(reach="far"), "reach 'far' must be a number above 0, up to 3."),
    ],
)
def test_a_file_that_does_not_fit_is_refused(wrong: Policy, sentence: str) -> None:
    with pytest.raises(InputError, match=f"^mine.policy: {sentence}"):
        LearnedController(wrong, "mine.policy")
