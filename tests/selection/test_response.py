"""Response surfaces: what settings are worth, by the traits of an instance."""

from __future__ import annotations

import numpy as np
import pytest

from neuralns.operators.portfolio import portfolio_named
from neuralns.selection.dials import FURTHEST, Dials
from neuralns.selection.response import CLIP, RANGE, Response, fit_response, terms

DIALS = Dials(portfolio_named("string,shaw,random-node,blinks,regret-2,2-opt-star:share=0.1"))
TRAITS = 2
TERMS = 5 + 2 * 1 + 2 * 5


def surface(**effects: tuple[float, float]) -> Response:
    """A surface with some effects: one at the mean of the first trait, and how it grows with it."""
    names = (
        "string",
        "shaw",
        "random_node",
        "blinks",
        "regret",
        "root",
        "share",
        "scale",
        "length",
        "rate",
        "start",
        "end",
    )
    factors = np.zeros((TERMS, 1 + TRAITS))
    factors[12:] = 0.0
    # Squares of the last five dials keep the best within reach.
    factors[12:17, 0] = 1.0
    for name, (plain, slope) in effects.items():
        factors[names.index(name), :2] = plain, slope
    return Response(DIALS, factors, np.zeros(TRAITS), np.ones(TRAITS))


def test_terms_are_shares_of_operators_and_dials_with_their_squares() -> None:
    row = DIALS.row({"shaw": np.log(2.0), "regret-2": -9.0, "scale": 0.5, "end heat": -1.0})
    found = terms(DIALS, row[None])[0]
    assert found.shape == (TERMS,)
    assert found[:5] == pytest.approx([0.25, 0.5, 0.25, 1.0, 0.0])
    assert found[5:7] == pytest.approx([0.1**0.5, 0.1])
    assert found[7:] == pytest.approx([0.5, 0, 0, 0, -1.0, 0.25, 0, 0, 0, 1.0])


def test_the_best_row_favours_what_is_cheap() -> None:
    response = surface(string=(0.0, 0.0), shaw=(0.25, 0.0), random_node=(9.0, 0.0), scale=(-1.0, 0.0), root=(-1.0, 0.0))
    row = dict(zip(DIALS.names, response.best_row(np.zeros(TRAITS)), strict=True))
    assert row["string"] == 0.0
    assert row["shaw"] == pytest.approx(-1.0)
    assert row["random-node"] < -FURTHEST
    assert row["scale"] == pytest.approx(0.5, abs=0.03)
    assert row["start heat"] == 0.0
    # The whole share, ten times that of the portfolio.
    assert row["2-opt-star:share=0.1"] == pytest.approx(np.log(10.0))


def test_what_is_best_follows_the_traits_within_limits() -> None:
    response = surface(scale=(0.0, 1.0), shaw=(0.0, 0.5))
    rows = [response.best_row(np.array([trait, 0.0])) for trait in (-1.0, 1.0, 100.0)]
    scale, shaw, string = (DIALS.names.index(name) for name in ("scale", "shaw", "string"))
    assert [row[scale] for row in rows] == pytest.approx([0.5, -0.5, max(-RANGE, -CLIP / 2)], abs=0.03)
    assert rows[0][shaw] == 0.0 > rows[0][string]
    assert rows[1][string] == 0.0 > rows[1][shaw]


def test_the_best_row_is_no_worse_than_others_but_for_diversity() -> None:
    rng = np.random.default_rng(4)
    factors = rng.normal(0, 0.5, (TERMS, 1 + TRAITS))
    factors[12:17, 0] = 3.0
    response = Response(DIALS, factors, np.zeros(TRAITS), np.ones(TRAITS))
    for _ in range(20):
        traits = rng.normal(0, 1, TRAITS)
        best = response.value(traits, response.best_row(traits, sharpness=0.01))
        others = rng.normal(0, 0.5, (50, len(DIALS.names)))
        assert best <= min(response.value(traits, row) for row in others) + 1e-9


def test_a_fit_finds_the_surface_that_runs_came_from() -> None:
    rng = np.random.default_rng(5)
    true = surface(shaw=(1.0, 0.5), blinks=(-0.5, 0.0), scale=(-0.4, 0.3), start=(0.2, -0.6))
    groups, size = 200, 7
    traits = np.repeat(rng.normal(0, 1, (groups, TRAITS)), size, axis=0)
    rows = rng.normal(0, 0.7, (groups * size, len(DIALS.names)))
    level = np.repeat(rng.uniform(100, 1000, groups), size)
    costs = level * np.exp([(true.value(*pair) + rng.normal(0, 0.2)) / 100 for pair in zip(traits, rows, strict=True)])
    fitted, share = fit_response(DIALS, traits, rows, costs, np.repeat(np.arange(groups), size))
    assert share > 0.8
    for trait in (-1.0, 0.0, 1.0):
        here = np.array([trait, 0.0])
        best = fitted.best_row(here)
        assert true.value(here, best) < true.value(here, np.zeros(len(best))) - 0.2
        assert true.value(here, best) == pytest.approx(true.value(here, true.best_row(here)), abs=0.25)


def test_runs_that_tell_nothing_foretell_nothing() -> None:
    rng = np.random.default_rng(6)
    rows = rng.normal(0, 0.7, (140, len(DIALS.names)))
    costs = np.exp(rng.normal(0, 0.01, 140))
    traits = np.repeat(rng.normal(0, 1, (20, TRAITS)), 7, axis=0)
    _, share = fit_response(DIALS, traits, rows, costs, np.repeat(np.arange(20), 7))
    assert share < 0.1
