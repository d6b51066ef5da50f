"""Instances with fleets, depots and every other part of the general kind, and routes of them by slow means."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from neuralns import Depot, Group, Instance, Profile, RouteCost, Shipment, Solution, VehicleType
from neuralns.problem.route_cost import balance_durations, balance_stops, overtime, tolls
from neuralns.problem.solution import out_of_limits

SHIPS, BACKHAULS, TIMED, OPENINGS, RELEASE, PROFILES, SKILLS, DEPOTS, PRIZES, GROUPS, COSTS, MATRIX, DURATIONS = (
    "shipments", "backhauls", "windows", "openings", "release", "profiles", "skills", "depots", "prizes", "groups",
    "costs", "matrix", "durations",
)  # fmt: skip
RIDES = "rides"
PARTS = (
    SHIPS, RIDES, BACKHAULS, TIMED, OPENINGS, RELEASE, PROFILES, SKILLS, DEPOTS, PRIZES, GROUPS, COSTS, MATRIX,
    DURATIONS,
)  # fmt: skip

# Made once: each is compiled by itself.
BY_LOAD = RouteCost("by load", lambda route: 0.25 * route.load * route.load)
OWN_COSTS = overtime(30, 2.0), balance_stops(0.5), balance_durations(0.01), BY_LOAD
TOLLS = [tolls([0.1 * (vehicle + 1) for vehicle in range(types)]) for types in range(1, 5)]


@st.composite
def general_instances(draw: Any, most: int = 9, least: int = 2) -> Instance:
    """Instances of the general kind with any of its parts, in every combination that is allowed."""
    parts = draw(st.sets(st.sampled_from(PARTS), max_size=6))
    if RIDES in parts:
        parts.add(SHIPS)
    return general_instance(parts, draw(st.integers(0, 2**32 - 1)), most, least)


def general_instance(parts: set[str], seed: int, most: int = 9, least: int = 2) -> Instance:
    """An instance with some of `PARTS`, the rest of it at random; what contradicts another part is left out."""
    rng = np.random.default_rng(seed)
    customers, more, goods = int(rng.integers(least, most + 1)), int(rng.integers(0, 3)), int(rng.integers(1, 3))
    nodes, everyone = customers + 1 + more, range(1, customers + 1)
    rounding = str(rng.choice(["none", "none", "round", "trunc", "dimacs"]))
    unit = 0.1 if rounding in ("none", "dimacs") and rng.random() < 0.3 else 1.0
    fraction = 0.1 if rng.random() < 0.2 else 1.0

    def likely(chance: float) -> bool:
        return bool(rng.random() < chance)

    def amount(low: int = 0, high: int = 8) -> Any:
        return fraction * rng.integers(low, high, goods)

    def ways() -> Any:
        """Distances or durations that need not keep the triangle inequality, nor be alike both ways."""
        found = unit * rng.integers(0, 60, (nodes, nodes))
        return np.minimum(found, found.T) if likely(0.4) else found

    points = unit * rng.integers(0, 40, (nodes, 2))
    given: dict[str, Any] = {}
    shipments: list[Shipment] = []
    if SHIPS in parts:
        order = 1 + rng.permutation(customers)
        shipments = [
            Shipment(int(order[2 * pair]), int(order[2 * pair + 1]), amount(0, 6).tolist())
            for pair in range(int(rng.integers(1, customers // 2 + 1)))
        ]
    rides = RIDES in parts and bool(shipments)
    if rides:
        # Short ones more often than such as never matter.
        shipments = [
            replace(each, max_ride=unit * int(rng.integers(0, 120))) if number == 0 or likely(0.7) else each
            for number, each in enumerate(shipments)
        ]
    shipped = {node for each in shipments for node in (each.pickup, each.delivery)}
    backhauls = BACKHAULS in parts and not shipments
    deliveries, pickups = np.zeros((nodes, goods)), np.zeros((nodes, goods))
    for node in everyone:
        if backhauls:
            # Some have neither.
            (deliveries if likely(0.6) else pickups)[node] = amount(0 if likely(0.2) else 1)
        elif node not in shipped:
            deliveries[node] = amount()
            if SHIPS in parts or likely(0.3):
                pickups[node] = amount()
    if rng.random() < 0.3 and not backhauls:
        pickups[:] = 0.0
    timed, several = TIMED in parts, False
    if timed:
        opens = unit * rng.integers(0, 100, nodes)
        windows = np.column_stack([opens, opens + unit * rng.integers(10, rng.choice([60, 200]), nodes)])
        for depot in (0, *range(customers + 1, nodes)):
            windows[depot] = (0, 300 * unit) if likely(0.7) else (10 * unit, 150 * unit)
        service = np.zeros(nodes)
        service[1 : customers + 1] = unit * rng.integers(0, 15, customers)
        given |= {"windows": windows, "service": service}
        if OPENINGS in parts and not rides:
            gaps = {
                node: [(begin, begin + (end - begin) / 4), (end - (end - begin) / 4, end)]
                for node, (begin, end) in enumerate(windows.tolist())
                if node in everyone and likely(0.6)
            }
            several = bool(gaps)
            given["openings"] = gaps
    if RELEASE in parts:
        release = np.zeros(nodes)
        release[1 : customers + 1] = unit * rng.integers(0, rng.choice([60, 200]), customers)
        release[sorted(shipped)] = 0.0
        given["release"] = release
    if DURATIONS in parts:
        given["durations"] = ways()
    profiles = []
    if PROFILES in parts:
        profiles = [Profile(ways(), ways()), Profile(ways())]
        given["profiles"] = profiles
    depots = [0, *range(customers + 1, nodes)]
    skills = ["a", "b"] if SKILLS in parts else []
    measured = not several and not rides and likely(0.4)
    fleet, types = [], int(rng.integers(1, 5))
    for number in range(types):
        fleet.append(
            VehicleType(
                (fraction * rng.integers(8, 30, goods)).tolist(),
                None if likely(0.5) else int(rng.integers(0 if number else 1, 4)),
                float(rng.integers(0, 40)),
                float(rng.choice([1.0, 1.0, 0.5, 2.0, 0.0])),
                float(rng.choice([0.0, 0.5, 2.0])) if measured else 0.0,
                start=None if likely(0.15) else int(rng.choice(depots)),
                end=None if likely(0.15) else int(rng.choice(depots)),
                shift=(unit * int(rng.integers(0, 60)), unit * int(rng.integers(100, 300)))
                if types > 1 and likely(0.3)
                else (-math.inf, math.inf),
                max_distance=unit * int(rng.integers(60, 300)) if likely(0.2) else None,
                max_duration=unit * int(rng.integers(60, 300)) if measured and likely(0.3) else None,
                # One ordinary type and nothing else would not be of the general kind.
                max_stops=int(rng.integers(1, 6)) if likely(0.2) else customers if types == 1 else None,
                skills=[skill for skill in skills if number == 0 or likely(0.5)],
                profile=int(rng.integers(0, len(profiles) + 1)),
            )
        )
    if likely(0.5):
        # Types that differ in size and cost alone.
        fleet = [
            replace(fleet[0], **{name: getattr(each, name) for name in ("capacity", "available", *_COSTS)})
            if likely(0.8)
            else each
            for each in fleet
        ]
    if more or DEPOTS in parts:
        given["depots"] = [
            Depot(
                None if likely(0.6) else (fraction * rng.integers(10, 60, goods)).tolist(),
                0.0 if likely(0.4) else float(rng.integers(1, 50)),
            )
            if DEPOTS in parts
            else Depot()
            for _ in depots
        ]
    if skills:
        given["skills"] = {node: [str(rng.choice(skills))] for node in everyone if likely(0.3)}
    if PRIZES in parts:
        prizes = np.where(rng.random(nodes) < 0.5, np.inf, rng.integers(0, 80, nodes))
        for each in shipments:
            prizes[each.delivery] = prizes[each.pickup]
        prizes[[0, *range(everyone[-1] + 1, nodes)]] = np.inf
        given["prizes"] = prizes
    if GROUPS in parts:
        lone = [int(node) for node in rng.permutation(everyone) if node not in shipped]
        given["groups"] = [
            Group(lone[begin : begin + 2], required=likely(0.6)) for begin in range(0, min(6, len(lone) - 1), 2)
        ] or None
    if COSTS in parts and not several and not rides:
        given["route_costs"] = [[*OWN_COSTS, TOLLS[len(fleet) - 1]][int(rng.integers(5))]]
    return Instance(
        "drawn", None, None, points, ways() if MATRIX in parts else None, rounding,  # type: ignore[arg-type]
        deliveries=deliveries, pickups=pickups, shipments=shipments or None, backhauls=backhauls, fleet=fleet, **given,
    )  # fmt: skip


_COSTS = "fixed_cost", "distance_cost", "duration_cost"


def two_parts(instance: Instance, rng: np.random.Generator) -> tuple[list[int], list[int]]:
    """All customers whom a vehicle can serve, in any order, cut in two; no example if there is one alone."""
    customers = [each for each in range(1, instance.customers + 1) if each not in instance.unservable]
    assume(len(customers) > 1)
    order = rng.permutation(customers).tolist()
    cut = int(rng.integers(1, len(order)))
    return order[:cut], order[cut:]


def usable_types(instance: Instance) -> list[int]:
    """The vehicle types of which there are any."""
    return [number for number, each in enumerate(instance.types) if each.available != 0]


def requests(instance: Instance) -> list[int]:
    """The customers that operators know: all but the deliveries of shipments."""
    ends = {each.delivery for each in instance.shipments or ()}
    return [customer for customer in range(1, instance.customers + 1) if customer not in ends]


def other_ends(instance: Instance) -> dict[int, int]:
    """The delivery of each pickup."""
    return {each.pickup: each.delivery for each in instance.shipments or ()}


def insertions(instance: Instance, route: Sequence[int], request: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Every place of a request on a route, as `insertion` numbers them, and the route with it."""
    other = other_ends(instance).get(request)
    for first in range(len(route) + 1):
        place = route[first - 1] if first else 0
        longer = (*route[:first], request, *route[first:])
        if other is None:
            yield place, longer
            continue
        for second in range(first + 1, len(longer) + 1):
            whole = (*longer[:second], other, *longer[second:])
            yield place + (instance.customers + 1) * longer[second - 1], whole


def cost_of_route(instance: Instance, route: Sequence[int], vehicle: int) -> float:
    """What a route costs in a type of vehicle, without depots; infinite if it breaks a rule."""
    if not route:
        return 0.0
    if out_of_limits(instance, 1, route, vehicle):
        return math.inf
    return Solution(instance, [route], [vehicle]).route_cost(0)


def some_general_routes(instance: Instance, seed: int) -> Solution:
    """Routes that keep all rules and leave some requests out: each at a random place, most of the time."""
    rng = np.random.default_rng(seed)
    found = Solution(instance, [])
    types = range(len(instance.types))
    for request in rng.permutation(requests(instance)).tolist():
        pair = [request, *([other_ends(instance)[request]] if request in other_ends(instance) else [])]
        if rng.random() < 0.1:
            continue
        routes, vehicles = list(found.routes), list(found.vehicles)
        options = [([*routes, tuple(pair)], [*vehicles, vehicle]) for vehicle in types]
        for number, route in enumerate(routes):
            for _, longer in insertions(instance, route, request):
                options.append(([*routes[:number], longer, *routes[number + 1 :]], vehicles))
        rng.shuffle(options)
        # A place on a route rather than a route of its own, where there is one.
        options.sort(key=lambda option: len(option[0]))
        for option in options:
            solution = Solution(instance, *option)
            if not solution.broken_rules():
                found = solution
                break
    return found
