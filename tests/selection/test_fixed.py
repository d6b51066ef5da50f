"""A fixed pair."""

import pytest

from neuralns import Fixed, InputError, MaxIterations, solve


def test_only_the_pair_is_used() -> None:
    result = solve("E-n22-k4", MaxIterations(300), selector=Fixed("zone", "regret-2"))
    assert {use.name: use.used for use in result.operators if use.used} == {"zone": 300, "regret-2": 300}


def test_a_pair_outside_the_portfolio_is_refused() -> None:
    with pytest.raises(InputError, match="operator 'greedy-route' is not among worst-node, proximity"):
        solve("E-n22-k4", MaxIterations(1), selector=Fixed("greedy-route", "greedy"), portfolio="paper-2")
    with pytest.raises(InputError, match="operator 'zone' is not among greedy, regret-2"):
        solve("E-n22-k4", MaxIterations(1), selector=Fixed("zone", "zone"), portfolio="paper")
