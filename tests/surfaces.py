"""Response surfaces for tests."""

from __future__ import annotations

import numpy as np

from neuralns.operators.portfolio import portfolio_named
from neuralns.selection.dials import Dials
from neuralns.selection.response import Response, centre_of, spread_of

DIALS = Dials(portfolio_named("string,shaw,blinks,2-opt-star:share=0.1"))
WIDTH = len(DIALS.names)
TRAITS, SIGNS = 2, 3
CENTRE = centre_of(DIALS, None)


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
