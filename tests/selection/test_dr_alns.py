"""DR-ALNS: what its agent sees, what its actions set, and its network in a policy file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import neuralns
from neuralns import InputError, MaxIterations
from neuralns.operators.portfolio import portfolio_named
from neuralns.selection.controller import View
from neuralns.selection.dr_alns import FEATURES, LEVELS, DrAlns, Watched
from neuralns.selection.names import selector_named
from neuralns.selection.policy_file import Policy, write_policy

PORTFOLIO = portfolio_named("string,random-node,greedy,regret-2")
ACTIONS = 2 + 2 + 2 * LEVELS


def view(**values: Any) -> View:
    known: dict[str, Any] = dict.fromkeys(("uses", "accepted", "improved", "new_best"), np.zeros((2, 2), np.int64))
    known |= {"gains": np.zeros((2, 2)), "seconds": np.zeros((2, 2)), "left": 1.0, "current": 100.0, "best": 100.0}
    known |= {"instance": None, "portfolio": PORTFOLIO, "iteration": 0, "scale": (1, 20), "horizon": 1.0}
    known |= {"start": 200.0, "change": 0.0, "temperature": 1.0, "acceptance": 1.0, "since_best": 0, "solution": None}
    return View(**(known | values))


def policy(bias: Any = None, **card: Any) -> Policy:
    """A network of one layer whose logits are the same whatever it sees."""
    content: dict[str, Any] = {
        "network": "dr-alns",
        "operators": {"destroy": ["string", "random-node"], "repair": ["greedy", "regret-2"], "improve": []},
        "features": list(FEATURES),
    }
    numbers = {
        "weights_0": np.zeros((len(FEATURES), ACTIONS)),
        "bias_0": np.zeros(ACTIONS) if bias is None else bias,
    }
    return Policy(content | card, {name: np.asarray(value, np.float32) for name, value in numbers.items()})


def sure_of(destroy: int, repair: int, scale: int, cooling: int) -> Any:
    """Logits that leave no choice."""
    bias = np.zeros(ACTIONS)
    for place in (destroy, 2 + repair, 4 + scale, 4 + LEVELS + cooling):
        bias[place] = 1000.0
    return bias


def seen(watched: Watched, **values: Any) -> dict[str, float]:
    return dict(zip(FEATURES, watched.features(view(**values)).tolist(), strict=True))


def test_it_sees_where_a_search_stands() -> None:
    watched = Watched()
    first = seen(watched)
    assert first == dict.fromkeys(FEATURES, 0.0) | {"is best": 1.0, "heat": 1.0}
    counts = {"uses": np.full((2, 2), 25), "accepted": np.full((2, 2), 9), "improved": np.full((2, 2), 1)}
    later = seen(watched, left=0.75, current=110.0, change=10.0, **counts)
    assert later == pytest.approx(
        {
            "improved": 0.0, "above best": 10.0, "is best": 0.0, "heat": 1.0, "stagnation": 0.25, "progress": 0.25,
            "share accepted": 0.6, "share improving": 0.2,
        }
    )  # fmt: skip
    better = seen(watched, left=0.5, current=90.0, best=90.0, change=-20.0)
    assert (better["improved"], better["is best"], better["stagnation"]) == (1.0, 1.0, 0.0)
    assert seen(watched, left=0.4, current=900.0, best=90.0)["above best"] == 100.0


def test_an_action_sets_a_pair_the_scale_and_the_temperature() -> None:
    watched = Watched()
    turned = portfolio_named("random-node,string,regret-2,greedy")
    found = watched.setting([0, 1, 4, 5], PORTFOLIO, turned)
    assert np.asarray(found.weights).tolist() == [[0, 0], [1, 0]]
    assert (found.scale, found.heat) == ((1, 30), (0.5, 0.5))
    assert seen(watched)["heat"] == 0.5
    assert watched.setting([0, 0, 9, 2], PORTFOLIO, PORTFOLIO).scale == (1, 60)
    assert watched.heat == 1.0


def test_a_policy_file_steers_a_search(tmp_path: Path) -> None:
    file = tmp_path / "mine.policy"
    write_policy(policy(sure_of(1, 0, 2, 2)), file)
    found = neuralns.solve("E-n22-k4", MaxIterations(300), selector=str(file))
    assert {use.name: use.used for use in found.operators} == {
        "string": 0, "random-node": 300, "greedy": 300, "regret-2": 0,
    }  # fmt: skip
    assert found.selector == str(file)
    assert found.decision_time_share is not None


def test_actions_are_drawn_and_the_same_search_has_the_same_ones(tmp_path: Path) -> None:
    file = tmp_path / "mine.policy"
    write_policy(policy(), file)
    one, same, other = (
        neuralns.solve("E-n22-k4", MaxIterations(2000), selector=str(file), seed=seed) for seed in (1, 1, 2)
    )
    assert (one.routes, one.operators) == (same.routes, same.operators)
    assert one.operators != other.operators
    assert all(use.used > 500 for use in one.operators)
    greedy = neuralns.solve("E-n22-k4", MaxIterations(200), selector=f"{file}@0")
    assert sorted(use.used for use in greedy.operators) == [0, 0, 200, 200]


def test_draws_follow_the_logits() -> None:
    bias = np.zeros(ACTIONS)
    bias[0] = np.log(3.0)
    agent, rng = DrAlns(policy(bias)), np.random.default_rng(1)
    drawn = np.array([agent.action(np.zeros(len(FEATURES)), rng) for _ in range(4000)])
    assert (drawn[:, 0] == 0).mean() == pytest.approx(0.75, abs=0.03)
    assert np.bincount(drawn[:, 2], minlength=LEVELS) == pytest.approx([400] * LEVELS, abs=80)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (policy(features=["price"]), "dr-alns: was trained with other features than this version has."),
        (policy(np.zeros(3)), "dr-alns: the numbers of its layers do not fit together."),
        (policy(np.full(ACTIONS, np.nan)), "dr-alns: the numbers of its layers are not finite."),
        (Policy(policy().card, {}), "dr-alns: its last layer has 8 values, not the 24 of an action."),
    ],
)
def test_files_that_do_not_fit_are_refused(wrong: Policy, sentence: str) -> None:
    with pytest.raises(InputError) as refused:
        DrAlns(wrong)
    assert str(refused.value) == sentence


def test_other_operators_than_its_own_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "mine.policy"
    write_policy(policy(), file)
    with pytest.raises(InputError, match="was trained for operators string, random-node, greedy, regret-2"):
        neuralns.solve("E-n22-k4", MaxIterations(10), selector=str(file), portfolio="string,greedy")
    with pytest.raises(InputError, match="temperature -1 must be at least 0"):
        neuralns.solve("E-n22-k4", MaxIterations(10), selector=f"{file}@-1")


def test_operators_are_refused_before_a_search_begins() -> None:
    with pytest.raises(InputError, match=r"^selector 'dr-alns' was trained for operators string, random-node, greedy"):
        DrAlns(policy()).start(portfolio_named("string,greedy"))


def test_it_names_the_instances_that_it_was_trained_on() -> None:
    assert DrAlns(policy(instances=["E-n22-k4"])).trained_on() == ("E-n22-k4",)
    assert DrAlns(policy()).trained_on() == ()


def test_it_takes_a_temperature_but_no_number_of_iterations_to_keep_to_a_choice(tmp_path: Path) -> None:
    file = str(tmp_path / "mine.policy")
    write_policy(policy(), file)
    found = selector_named(file, temperature=0.5)
    assert isinstance(found, DrAlns)
    assert found.temperature == 0.5
    with pytest.raises(
        InputError, match=r"mine\.policy: is a controller, which decides between segments, not every 10"
    ):
        selector_named(file, every=10)
