"""Loads above the limit, at a cost: where a search has time enough, routes may carry too much for a while.

From one good solution to the next the way often leads through routes that carry a little too much. What that costs
rises while the current routes do and falls while they do not (see `loop`); the best solution keeps the limit always.
"""

from __future__ import annotations

import math

from neuralns.problem.limits import load_limit
from neuralns.routes.tables import profile_of_instance
from neuralns.search.setup import Setup

OVERLOAD_SHARE = 0.1
"""How much more than the limit a vehicle may carry, as a share of it."""
MOST_CUSTOMERS = 350
"""Larger instances keep the limit: iterations take half as long again where more routes have room."""
LEAST_SECONDS, LEAST_ITERATIONS = 0.06, 9000
"""For each customer a search has so much time, or so many iterations, at least; shorter ones keep the limit."""


def first_price(setup: Setup) -> float:
    """Return what a unit of load above the limit costs at first; 0 where no vehicle may carry more."""
    instance, stop = setup.instance, setup.stop
    mean = float(instance.demands[1 : instance.customers + 1].mean())
    keeps_limit = (
        setup.keeps_limit
        or profile_of_instance(instance) != "plain"
        or instance.customers > MOST_CUSTOMERS
        or instance.vehicles is not None
        or instance.may_leave_out
        or setup.fewest_vehicles
        or len(setup.initial.unserved) > 0
        or not (setup.portfolio.may_overload and setup.selector.may_overload and setup.acceptance.may_overload)
        or not 0 < load_limit(instance) < math.inf
        or mean <= 0
    )
    if keeps_limit or (math.isinf(stop.time) and math.isinf(stop.iterations)):
        return 0.0
    enough = min(stop.time / LEAST_SECONDS, stop.iterations / LEAST_ITERATIONS) >= instance.customers
    return setup.temperatures[0] / mean if enough else 0.0
