"""The first phase of a search where vehicles come first, or those who must be served and are not.

Route after route is given up, its customers waiting until the others have room for them, whatever that costs. Then the
search goes on for lower cost, with as many vehicles as it has found to be enough.
"""

from __future__ import annotations

import math
from typing import Any

from neuralns.problem.instance import Instance
from neuralns.problem.limits import load_limit
from neuralns.routes.transfer import do_without_route
from neuralns.search import loop
from neuralns.search.cooling import horizon_of
from neuralns.search.setup import Setup

FEWEST_SHARE = 0.5
"""Share of a run that goes into finding fewer vehicles where they come first."""
SERVING_SHARE, LAST_SERVING_SHARE = 0.2, 0.98
"""Share of a run after which it no longer looks only for room for those who are left out: where the start leaves
somebody out, and where routes that broke rules for a while do so late in the run."""


def seek_fewer(setup: Setup, state: Any, run: Any) -> bool:
    """Go on with one vehicle less, the customers of a route being left out; return whether the loads allow it.

    While customers are left out anyhow, they are to be served first, by all vehicles.
    """
    if run.left_out == 0:
        if not setup.fewest_vehicles or run.routes <= fewest_by_load(setup.instance, state):
            return False
        do_without_route(state, int(run.routes) - 1)
        run.n_changed = loop.ALL_CHANGED
    run.fewest = 1
    state.status.current = state.status.best = state.cost
    return True


def fewest_by_load(instance: Instance, state: Any) -> int:
    """Return how many vehicles are needed at least for those who are on routes, as far as loads tell."""
    if instance.shipments is not None or instance.pickups is not None or not load_limit(instance) > 0:
        return 1
    served = instance.demands[: instance.customers + 1][state.route >= 0]
    return max(1, math.ceil(float(served.sum()) / load_limit(instance)))


def left_of_phase(setup: Setup, elapsed: float, iteration: int, since_best: int, share: float) -> float:
    """Return how many iterations the phase may have from here on; 0 if it is over after a share of the run."""
    stop = setup.stop
    horizon = math.inf if math.isfinite(stop.time) and math.isinf(stop.iterations) else horizon_of(stop)
    end = math.ceil(share * horizon) if math.isfinite(horizon) else math.inf
    tired = since_best >= stop.no_improvement
    return 0 if tired or elapsed >= share * stop.time or iteration >= end else end - iteration
