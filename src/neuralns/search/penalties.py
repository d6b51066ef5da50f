"""Rules that may be broken for a while, at a price: where vehicles are scarce and a search has time enough.

From one good solution to the next the way often leads through routes that carry a little too much or are a little late.
What a violation costs rises while the current routes have it and falls while they do not (see `loop`); the best
solution keeps all rules always. Gendreau, Hertz & Laporte 1994 search so, and Vidal et al. 2012 for many rules. Where
vehicles are scarce prices rise and fall in cycles besides, so that routes are let loose and drawn tight in turn: the
strategic oscillation of Glover & Hao 2011.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from neuralns.problem.initial import nearest_neighbours
from neuralns.problem.instance import Instance
from neuralns.problem.limits import load_limit
from neuralns.problem.solution import Solution
from neuralns.routes.tables import facts_of, profile_of_instance
from neuralns.search.setup import Setup

OVERLOAD_SHARE = 0.1
"""How much more than the limit a vehicle may carry in plain instances, as a share of it."""
MOST_CUSTOMERS = 350
"""Larger plain instances keep the limit: iterations take half as long again where more routes have room."""
LEAST_SECONDS, LEAST_ITERATIONS = 0.06, 9000
"""A search of a plain instance has so much time, or so many iterations, for each customer at least; shorter ones keep
the limit."""
SCARCE_SECONDS, SCARCE_ITERATIONS = 0.04, 1200
"""The same where vehicles are scarce."""
SCARCE_SHARE = 0.8
"""Vehicles are scarce where the start needs this share of them."""
NEAR = 5
"""So many nearest of each customer say what a step costs and how long it takes."""


@dataclass(frozen=True)
class Prices:
    """What violations cost.

    Attributes
    ----------
    first
        Price of a unit of each violation at first (see `transfer.PRICES`); 0 where a rule is hard.
    step
        Prices are renewed after so many iterations.
    cycle, swing, wide_swing
        In so many renewals a price rises from its level divided by the swing to its level multiplied by it: the wide
        one once the best routes leave nobody out who must be served.
    change, last_change
        After each cycle the level rises or falls by a factor, at the beginning and at the end of a run.
    hard_from
        Once this share of a run is left, all rules get hard if the best routes leave out somebody who must be served.
    most_broken
        After so many renewals in a row that find rules broken a search goes back to the best routes.
    overload
        An insertion loads a vehicle with so much more than it may carry, as a share of that, at most.
    """

    first: tuple[float, ...] = (0.0,) * 5
    step: int = 300
    cycle: int = 1
    swing: float = 1.0
    wide_swing: float = 1.0
    change: float = 1.02
    last_change: float = 1.02
    hard_from: float = 0.0
    most_broken: int = np.iinfo(np.int64).max
    overload: float = OVERLOAD_SHARE


HARD = Prices()
SCARCE = Prices(
    step=100,
    cycle=40,
    swing=3.0,
    wide_swing=3.0,
    change=1.5,
    last_change=1.08,
    hard_from=0.05,
    most_broken=150,
    overload=0.3,
)
"""Where vehicles are scarce prices have to find their way sooner than in plain instances."""
LONG_ROUTE, WIDE_SWING = 40, 10.0
"""Where vehicles have more than so many customers each, prices swing wider: few routes have few ways to change."""


def first_prices(setup: Setup) -> Prices:
    """Return what violations cost in a search."""
    stop = setup.stop
    if setup.keeps_limit or setup.fewest_vehicles or (math.isinf(stop.time) and math.isinf(stop.iterations)):
        return HARD
    if not (setup.selector.may_overload and setup.acceptance.may_overload):
        return HARD
    if profile_of_instance(setup.instance) == "plain":
        return Prices((_price_of_load(setup), 0.0, 0.0, 0.0, 0.0))
    return _prices_of_all(setup) if lacks_vehicles(setup.initial) else HARD


def lacks_vehicles(start: Solution) -> bool:
    """Return whether a start needs nearly all vehicles that there are, or leaves out customers who must be served."""
    instance = start.instance
    if any(map(instance.required, set(start.unserved) - set(instance.unservable))):
        return True
    return len(start.routes) >= SCARCE_SHARE * _available(instance)


def _available(instance: Instance) -> int:
    """Return how many vehicles there are; one for each customer where they may be as many as needed."""
    return sum(instance.customers if each.available is None else each.available for each in instance.types)


def _has_time(setup: Setup, seconds: float, iterations: float) -> bool:
    """Return whether a search has so many seconds, or iterations, for each customer."""
    return min(setup.stop.time / seconds, setup.stop.iterations / iterations) >= setup.instance.customers


def _price_of_load(setup: Setup) -> float:
    """Return what a unit of load above the limit costs at first, where nothing but load and length counts."""
    instance = setup.instance
    mean = _mean_load(instance)
    if (
        instance.customers > MOST_CUSTOMERS
        or instance.vehicles is not None
        or instance.may_leave_out
        or len(setup.initial.unserved) > 0
        or not setup.portfolio.may_overload
        or not 0 < load_limit(instance) < math.inf
        or mean <= 0
    ):
        return 0.0
    return setup.temperatures[0] / mean if _has_time(setup, LEAST_SECONDS, LEAST_ITERATIONS) else 0.0


def _prices_of_all(setup: Setup) -> Prices:
    """Return the prices at which a violation as large as one step of a route costs a temperature."""
    instance, customers, unit = setup.instance, setup.instance.customers, setup.temperatures[0]
    if instance.shipments or not _has_time(setup, SCARCE_SECONDS, SCARCE_ITERATIONS):
        # Both ends of a shipment are looked for together, by rules that are hard.
        return HARD
    facts, near = facts_of(instance), nearest_neighbours(instance, NEAR)[1:]
    if near.size == 0:
        return HARD
    tails, heads = np.repeat(np.arange(1, customers + 1), near.shape[1]), near.ravel()
    leg, carried, step = float(instance.legs(tails, heads).mean()), _mean_load(instance), 0.0
    if facts["timed"]:
        step = float(instance.times(tails, heads).mean() + instance.services[1 : customers + 1].mean())
    first = (
        unit / carried if carried > 0 else 0.0,
        # Beyond the last of several windows lateness does not grow with the arrival: that stays hard.
        unit / step if step > 0 and not facts["openings"] else 0.0,
        unit / step if step > 0 and facts["measured"] else 0.0,
        unit / leg if leg > 0 and facts["limited"] else 0.0,
        unit if facts["limited"] else 0.0,
    )
    if customers > LONG_ROUTE * _available(instance):
        return replace(SCARCE, first=first, wide_swing=WIDE_SWING)
    return replace(SCARCE, first=first)


def _mean_load(instance: Instance) -> float:
    """Return what a customer needs on average, of the first goods."""
    deliveries, pickups = (each[1 : instance.customers + 1, 0] for each in instance.amounts)
    return float((deliveries + np.abs(pickups)).mean())
