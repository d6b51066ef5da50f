"""Response surfaces for tests."""

from __future__ import annotations

import numpy as np

from neuralns.operators.portfolio import portfolio_named
from neuralns.selection.dials import Dials
from neuralns.selection.response import Response, centre_of, spread_of

DIALS = Dials(portfolio_named("string,shaw,blinks,2-opt-star:share=0.1"))
WIDTH = len(DIALS.names)
INSTANCE_FEATURES, SEARCH_FEATURES = 2, 3
CENTRE = centre_of(DIALS, None)


def surface(
    straight: dict[str, float], instance_features: dict[str, float], search_features: dict[str, float]
) -> Response:
    """A surface whose squares count 1: straight effects of dials, how they grow with the first instance feature and the
    last search feature.
    """
    factors, later = np.zeros((2 * WIDTH, 1 + INSTANCE_FEATURES)), np.zeros((2, 2 * WIDTH, SEARCH_FEATURES))
    factors[WIDTH:, 0] = 1.0
    for name, value in straight.items():
        factors[DIALS.names.index(name), 0] = value
    for name, value in instance_features.items():
        factors[DIALS.names.index(name), 1] = value
    for name, value in search_features.items():
        later[1, DIALS.names.index(name), -1] = value
    means = (
        np.zeros(INSTANCE_FEATURES),
        np.ones(INSTANCE_FEATURES),
        np.zeros((2, SEARCH_FEATURES)),
        np.ones((2, SEARCH_FEATURES)),
    )
    return Response(DIALS, factors, later, *means)


def best(response: Response, dial: str, *given: object) -> float:
    """How far from the centre a dial is turned, in spreads."""
    place = DIALS.names.index(dial)
    return float(((response.best_row(CENTRE, *given) - CENTRE) / spread_of(DIALS))[place])  # type: ignore[arg-type]
