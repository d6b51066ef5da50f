"""Response surfaces: what settings are worth, by the features of an instance and of a search."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from neuralns.operators.portfolio import portfolio_named
from neuralns.selection.dials import FURTHEST
from neuralns.selection.response import (
    CLIP,
    LEAST_CURVATURE,
    MOST_SPREADS,
    RARE,
    SELDOM,
    centre_of,
)
from surfaces import DIALS, INSTANCE_FEATURES, WIDTH, best, surface


def test_the_centre_is_the_default_with_all_that_it_leaves_out_seldom() -> None:
    default = DIALS.like(portfolio_named("string,blinks"))
    assert default is not None
    row = dict(zip(DIALS.names, centre_of(DIALS, default), strict=True))
    assert row["string"] == row["blinks"] == row["scale"] == 0.0
    assert row["shaw"] == RARE > -FURTHEST
    assert 0.1 * np.exp(row["2-opt-star:share=0.1"]) == pytest.approx(SELDOM)
    assert not centre_of(DIALS, None).any()


def test_each_dial_is_turned_to_where_its_parabola_is_lowest() -> None:
    response = surface({"scale": 0.8, "shaw": -1.0, "end heat": -99.0}, {}, {})
    assert best(response, "scale", np.zeros(INSTANCE_FEATURES)) == pytest.approx(-0.4)
    assert best(response, "shaw", np.zeros(INSTANCE_FEATURES)) == pytest.approx(0.5)
    assert best(response, "end heat", np.zeros(INSTANCE_FEATURES)) == pytest.approx(MOST_SPREADS)
    assert best(replace(response, most_spreads=2.0), "end heat", np.zeros(INSTANCE_FEATURES)) == pytest.approx(2.0)
    assert best(response, "string", np.zeros(INSTANCE_FEATURES)) == 0.0


def test_what_looks_straight_bends() -> None:
    response = surface({"scale": -LEAST_CURVATURE}, {}, {})
    response.factors[WIDTH:, 0] = -5.0
    assert best(response, "scale", np.zeros(INSTANCE_FEATURES)) == pytest.approx(0.5)


def test_what_is_best_follows_features_within_limits() -> None:
    response = surface({}, {"scale": 0.5}, {"shaw": 0.5})
    assert best(response, "scale", [1.0, 9.0]) == pytest.approx(-0.25)
    assert best(response, "scale", [100.0, 0.0]) == pytest.approx(-0.25 * CLIP)
    search_features = [0.0, 0.0, -1.0]
    assert best(response, "shaw", np.zeros(INSTANCE_FEATURES), 0, search_features) == 0.0
    assert best(response, "shaw", np.zeros(INSTANCE_FEATURES), 1, search_features) == 0.0
    assert best(response, "shaw", np.zeros(INSTANCE_FEATURES), 2, search_features) == pytest.approx(0.25)
