"""Response surfaces: what settings are worth, by the traits of an instance and the signs of a search."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from neuralns.operators.portfolio import portfolio_named
from neuralns.selection.dials import FURTHEST, Dials
from neuralns.selection.response import (
    CLIP,
    LEAST_CURVATURE,
    RARE,
    REACH,
    SELDOM,
    Response,
    Runs,
    centre_of,
    fit_response,
    spread_of,
)
from neuralns.selection.staged import LENGTHS

DIALS = Dials(portfolio_named("string,shaw,blinks,2-opt-star:share=0.1"))
WIDTH = len(DIALS.names)
TRAITS, SIGNS = 2, 3
CENTRE = centre_of(DIALS, None)
MEANS = ("traits_mean", "traits_spread", "signs_mean", "signs_spread")


def surface(straight: dict[str, float], traits: dict[str, float], signs: dict[str, float]) -> Response:
    """A surface whose squares count 1: straight effects of dials, how they grow with the first trait and last sign."""
    factors, later = np.zeros((2 * WIDTH, 1 + TRAITS)), np.zeros((2, 2 * WIDTH, SIGNS))
    factors[WIDTH:, 0] = 1.0
    for name, value in straight.items():
        factors[DIALS.names.index(name), 0] = value
    for name, value in traits.items():
        factors[DIALS.names.index(name), 1] = value
    for name, value in signs.items():
        later[1, DIALS.names.index(name), -1] = value
    means = np.zeros(TRAITS), np.ones(TRAITS), np.zeros((2, SIGNS)), np.ones((2, SIGNS))
    return Response(DIALS, factors, later, *means)


def best(response: Response, dial: str, *given: object) -> float:
    """How far from the centre a dial is turned, in spreads."""
    place = DIALS.names.index(dial)
    return float(((response.best_row(CENTRE, *given) - CENTRE) / spread_of(DIALS))[place])  # type: ignore[arg-type]


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
    assert best(response, "scale", np.zeros(TRAITS)) == pytest.approx(-0.4)
    assert best(response, "shaw", np.zeros(TRAITS)) == pytest.approx(0.5)
    assert best(response, "end heat", np.zeros(TRAITS)) == pytest.approx(REACH)
    assert best(replace(response, reach=2.0), "end heat", np.zeros(TRAITS)) == pytest.approx(2.0)
    assert best(response, "string", np.zeros(TRAITS)) == 0.0


def test_what_looks_straight_bends() -> None:
    response = surface({"scale": -LEAST_CURVATURE}, {}, {})
    response.factors[WIDTH:, 0] = -5.0
    assert best(response, "scale", np.zeros(TRAITS)) == pytest.approx(0.5)


def test_what_is_best_follows_traits_and_signs_within_limits() -> None:
    response = surface({}, {"scale": 0.5}, {"shaw": 0.5})
    assert best(response, "scale", [1.0, 9.0]) == pytest.approx(-0.25)
    assert best(response, "scale", [100.0, 0.0]) == pytest.approx(-0.25 * CLIP)
    signs = [0.0, 0.0, -1.0]
    assert best(response, "shaw", np.zeros(TRAITS), 0, signs) == 0.0
    assert best(response, "shaw", np.zeros(TRAITS), 1, signs) == 0.0
    assert best(response, "shaw", np.zeros(TRAITS), 2, signs) == pytest.approx(0.25)


def runs_of(true: Response, groups: int, noise: float, seed: int = 5) -> Runs:
    """Runs of settings drawn by chance whose costs are by a surface, six to an instance."""
    rng = np.random.default_rng(seed)
    each = np.repeat(np.arange(groups), 6)
    values = rng.normal(0, 1, (len(each), len(LENGTHS), WIDTH))
    traits = rng.normal(0, 1, (groups, TRAITS))[each]
    signs = rng.normal(0, 1, (len(each), len(LENGTHS) - 1, SIGNS))
    percent = rng.normal(0, noise, len(each))
    for run in range(len(each)):
        for stage, length in enumerate(LENGTHS):
            effects = true.effects(traits[run], stage, signs[run, stage - 1] if stage else None)
            value = values[run, stage]
            percent[run] += length * effects @ np.concatenate([value, value**2])
    level = rng.uniform(100, 1000, groups)[each]
    return Runs(values, traits, signs, level * np.exp(percent / 100), each)


def test_a_fit_finds_the_surface_that_runs_came_from() -> None:
    true = surface({"shaw": 0.2, "start heat": -0.15}, {"scale": 0.2}, {"blinks": 0.3})
    true.factors[WIDTH:, 0] = 0.05
    fitted, share = fit_response(DIALS, runs_of(true, 500, 0.1))
    assert share > 0.6
    for given in (([0.0, 0.0], 0, None), ([1.0, 0.0], 0, None), ([-1.0, 1.0], 2, [0.0, 0.0, 1.0])):
        assert fitted.effects(*given) == pytest.approx(true.effects(*given), abs=0.2)


def test_runs_that_tell_nothing_foretell_nothing() -> None:
    nothing = surface({}, {}, {})
    nothing.factors[:] = 0.0
    _, share = fit_response(DIALS, runs_of(nothing, 40, 1.0))
    assert share < 0.05


def test_a_fit_from_a_prior_keeps_what_few_runs_cannot_tell_and_learns_what_they_do() -> None:
    true = surface({"shaw": 0.2, "start heat": -0.15}, {"scale": 0.2}, {"blinks": 0.3})
    true.factors[WIDTH:, 0] = 0.05
    given = [0.5, 0.0], 2, [0.0, 0.0, 1.0]
    few = runs_of(true, 12, 1.0)

    def error(found: Response) -> float:
        return float(np.abs(found.effects(*given) - true.effects(*given)).mean())

    kept, _ = fit_response(DIALS, few, prior=true)
    assert error(kept) < 0.5 * error(fit_response(DIALS, few)[0])
    wrong = replace(true, factors=true.factors.copy(), reach=2.5)
    wrong.factors[DIALS.names.index("shaw"), 0] = -0.6
    learned, _ = fit_response(DIALS, runs_of(true, 300, 0.1), prior=wrong)
    assert error(learned) < 0.2 * error(wrong)
    assert all(np.array_equal(getattr(learned, name), getattr(true, name)) for name in MEANS)
    assert learned.reach == 2.5


def test_groups_of_one_instance_are_left_out_together() -> None:
    runs = runs_of(surface({}, {}, {}), 6, 1.0)
    assert runs.apart is runs.groups
    instances = runs.groups // 3
    assert replace(runs, instances=instances).apart is instances
    assert replace(runs, instances=0 * instances).apart is runs.groups
