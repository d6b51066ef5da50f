"""The learned roulette wheel: what it draws, and how it is kept in a file."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from neuralns import InputError, Instance, MaxIterations, portfolio_named, solve
from neuralns.routes.transfer import new_state
from neuralns.selection.learned_roulette import LearnedRoulette, learned_roulette
from neuralns.selection.names import selector_named
from neuralns.selection.policy_file import Policy, read_policy, write_policy
from neuralns.selection.selector import DESTROY, REPAIR

WHEEL = LearnedRoulette(("zone", "pair", "worst-node", "greedy", "regret-2"), (1.0, 0.0, 3.0, 4.0, 1.0))
OPERATORS = {"destroy": ["zone", "pair"], "repair": ["greedy"]}


def draws(wheel: LearnedRoulette, portfolio: str, phase: int, count: int = 8000) -> npt.NDArray[np.int64]:
    choose, _ = wheel.functions()
    chosen = portfolio_named(portfolio)
    memory = wheel.start(chosen)
    state = new_state(Instance("one", [0, 1], 1, [[0, 0], [1, 0]]), 3)
    size = len(chosen.destroys if phase == DESTROY else chosen.repairs)
    return np.bincount([choose(memory, state, phase) for _ in range(count)], minlength=size)


def test_operators_are_drawn_in_proportion_to_their_weights() -> None:
    portfolio = "zone,pair,worst-node,greedy,regret-2"
    assert draws(WHEEL, portfolio, DESTROY) / 8000 == pytest.approx([1 / 4, 0, 3 / 4], abs=0.02)
    assert draws(WHEEL, portfolio, REPAIR) / 8000 == pytest.approx([4 / 5, 1 / 5], abs=0.02)


def test_a_portfolio_may_have_fewer_operators_in_any_order() -> None:
    assert draws(WHEEL, "worst-node,zone,regret-2", DESTROY) / 8000 == pytest.approx([3 / 4, 1 / 4], abs=0.02)
    assert draws(WHEEL, "worst-node,zone,regret-2", REPAIR, 100).tolist() == [100]


def test_an_operator_without_a_weight_is_refused() -> None:
    sentence = "selector 'lrw' was trained without operator 'cluster' of portfolio 'zone,cluster,greedy'."
    with pytest.raises(InputError, match=f"^{re.escape(sentence)}$"):
        WHEEL.start(portfolio_named("zone,cluster,greedy"))


def test_a_wheel_is_kept_in_a_file_and_searches_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "wheel.policy"
    portfolio = portfolio_named("worst-node,pair,zone,greedy,regret-2")
    write_policy(WHEEL.policy(portfolio, setting="paper"), path)
    policy = read_policy(path)
    assert (policy.network, policy.card["setting"]) == ("lrw", "paper")
    assert (policy.destroys, policy.repairs) == (("worst-node", "pair", "zone"), ("greedy", "regret-2"))
    assert policy.tensors["weights"].tolist() == [3.0, 0.0, 1.0, 4.0, 1.0]
    found = selector_named(str(path))
    assert found == LearnedRoulette(portfolio.names, (3.0, 0.0, 1.0, 4.0, 1.0), str(path))
    assert (
        found.start(portfolio).weights.tolist() == WHEEL.start(portfolio).weights.tolist() == [3.0, 0.0, 1.0, 4.0, 1.0]
    )

    result = solve("E-n22-k4", MaxIterations(4000), selector=str(path), portfolio=portfolio, seed=1)
    used = {use.name: use.used / 4000 for use in result.operators}
    assert used == pytest.approx(
        {"worst-node": 3 / 4, "pair": 0, "zone": 1 / 4, "greedy": 4 / 5, "regret-2": 1 / 5}, abs=0.03
    )
    assert result.selector == str(path)


def test_a_file_without_an_operator_of_the_portfolio_is_refused_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "wheel.policy"
    write_policy(WHEEL.policy(portfolio_named("zone,greedy")), path)
    with pytest.raises(InputError, match=r"wheel\.policy' was trained without operator 'pair' of portfolio"):
        solve("E-n22-k4", MaxIterations(1), selector=str(path), portfolio="zone,pair,greedy")


def test_a_policy_of_operators_without_weights_is_refused() -> None:
    with pytest.raises(InputError, match="trained without operator 'cluster'"):
        WHEEL.policy(portfolio_named("zone,cluster,greedy"))


@pytest.mark.parametrize(
    "weights",
    [
        None,
        [1.0, 1.0],
        [1.0, 1.0, 1.0, 1.0],
        [[1.0, 1.0, 1.0]],
        1.0,
        [1.0, -1.0, 1.0],
        [1.0, np.nan, 1.0],
        [1.0, np.inf, 1.0],
        [0.0, 0.0, 1.0],
        [1.0, 1.0, 0.0],
        [True, True, True],
    ],
)
def test_weights_that_no_wheel_can_have_are_refused(weights: object) -> None:
    tensors = {} if weights is None else {"weights": np.array(weights)}
    with pytest.raises(InputError, match=r"^mine\.policy: its weights do not fit its 3 operators\.$"):
        learned_roulette(Policy({"network": "lrw", "operators": OPERATORS}, tensors), "mine.policy")


def test_weights_in_single_precision_are_taken() -> None:
    policy = Policy({"network": "lrw", "operators": OPERATORS}, {"weights": np.array([0, 2, 5], np.float32)})
    assert learned_roulette(policy) == LearnedRoulette(("zone", "pair", "greedy"), (0.0, 2.0, 5.0))
