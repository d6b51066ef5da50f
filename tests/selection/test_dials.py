"""Dials: all that a controller may set, as a row of numbers."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuralns.errors import OperatorError
from neuralns.operators.dial import Dial
from neuralns.operators.portfolio import make_portfolio, portfolio_named
from neuralns.operators.registry import Operator, operator
from neuralns.selection.controller import heat_of, scale_of, weights_of
from neuralns.selection.dials import Dials
from neuralns.selection.selector import MOST_REMOVED

DIALS = Dials(portfolio_named("string:longest=20,shaw,blinks,regret-2,2-opt-star:share=0.1"))


def test_there_is_a_dial_for_each_operator_and_for_all_else() -> None:
    assert DIALS.names == (
        "string:longest=20", "shaw", "blinks", "regret-2", "2-opt-star:share=0.1", "scale", "length of strings",
        "rate of blinks", "start heat", "end heat",
    )  # fmt: skip
    assert Dials(portfolio_named("random-node,greedy")).names == (
        "random-node", "greedy", "scale", "start heat", "end heat",
    )  # fmt: skip


def test_all_at_0_is_what_the_portfolio_says() -> None:
    setting = DIALS.setting(DIALS.row({}), (1, 30))
    assert np.array_equal(setting.weights, np.ones((2, 2)))  # type: ignore[arg-type]
    assert setting.scale == (1, 30)
    assert setting.heat == (1.0, 1.0)
    assert setting.parameters == pytest.approx(
        {("string:longest=20", "longest"): 20.0, ("blinks", "rate"): 0.01, ("2-opt-star:share=0.1", "share"): 0.1}
    )


def test_each_dial_multiplies_what_it_is_named_for() -> None:
    two = math.log(2)
    row = DIALS.row(
        {"shaw": two, "regret-2": -two, "2-opt-star:share=0.1": two, "scale": -two, "length of strings": two,
         "rate of blinks": two, "start heat": two, "end heat": -two}
    )  # fmt: skip
    setting = DIALS.setting(row, (1, 30))
    weights = np.asarray(setting.weights)
    assert weights / weights[0, 0] == pytest.approx(np.array([[1, 0.5], [2, 1]]))
    assert setting.scale == (1, 15)
    assert setting.heat == pytest.approx((2.0, 0.5))
    assert setting.parameters == pytest.approx(
        {("string:longest=20", "longest"): 40.0, ("blinks", "rate"): 0.02, ("2-opt-star:share=0.1", "share"): 0.2}
    )


def test_a_row_can_be_like_another_portfolio_if_its_operators_are_there() -> None:
    wide = Dials(portfolio_named("wide"))
    windows, plain = (wide.like(portfolio_named(name)) for name in ("windows", "plain"))
    assert windows is not None
    assert plain is not None
    weights = np.asarray(wide.setting(windows, (1, 30)).weights)
    assert (weights > 0).sum() == 5 * 2
    setting = wide.setting(plain, (1, 20))
    assert (np.asarray(setting.weights) > 0).sum() == 2
    assert setting.parameters["2-opt-star:share=0.1", "share"] == pytest.approx(1.0)
    assert setting.parameters["or-opt:share=0.1", "share"] == 0.0
    assert wide.like(portfolio_named("long")) is None


def test_a_scale_beyond_the_most_is_cut() -> None:
    assert DIALS.setting(DIALS.row({}), (90, 100)).scale == (MOST_REMOVED, MOST_REMOVED)


def test_an_operator_far_behind_is_left_out_and_a_small_share_is_none() -> None:
    setting = DIALS.setting(DIALS.row({"shaw": -4.0, "2-opt-star:share=0.1": -4.0}), (1, 30))
    assert np.array_equal(setting.weights, [[1, 1], [0, 0]])  # type: ignore[arg-type]
    assert setting.parameters["2-opt-star:share=0.1", "share"] == 0.0


@given(st.lists(st.floats(-1e6, 1e6), min_size=10, max_size=10))
def test_whatever_the_dials_say_can_be_set(row: list[float]) -> None:
    setting = DIALS.setting(row, (1, 30))
    assert setting.weights is not None
    assert setting.scale is not None
    assert setting.heat is not None
    weights_of("dials", DIALS.portfolio, setting.weights)
    assert scale_of("dials", 100, setting.scale)[1] <= MOST_REMOVED
    heat_of("dials", setting.heat)
    assert all(math.isfinite(value) for value in setting.parameters.values())
    assert 0 <= setting.parameters["2-opt-star:share=0.1", "share"] <= 1


LENGTH = Dial("length of strings", 0.45)


def _dialled(parameters: dict[str, float], dials: dict[str, Dial]) -> Operator:
    """An operator of one's own, as it is registered."""
    given = tuple(parameters.items())
    return replace(operator("worst-node"), name="dialled", parameters=given, dials=tuple(dials.items()))


def test_operators_of_ones_own_declare_dials() -> None:
    parameters = {"radius": 3.0, "longest": 5.0, "rate": 1.0}
    own = _dialled(parameters, {"radius": Dial("radius of removals", 0.3), "longest": LENGTH})
    dials = Dials(make_portfolio("own", [own, "string", "greedy"]))
    assert dials.names[3:] == ("scale", "length of strings", "radius of removals", "start heat", "end heat")
    assert dials.spreads.tolist() == [0.4, 0.45, 0.3, 0.7, 0.6]
    setting = dials.setting(dials.row({"radius of removals": math.log(2), "length of strings": math.log(3)}), (1, 30))
    assert setting.parameters == pytest.approx(
        {("dialled", "radius"): 6.0, ("dialled", "longest"): 15.0, ("string", "longest"): 30.0}
    )


def test_operators_that_do_not_agree_on_a_dial_are_refused() -> None:
    own = _dialled({"longest": 5.0}, {"longest": Dial(LENGTH.name, 0.1)})
    with pytest.raises(OperatorError, match="dial 'length of strings' is declared with several spreads"):
        _ = Dials(make_portfolio("own", [own, "string", "greedy"])).names
