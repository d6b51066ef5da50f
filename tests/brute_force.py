"""Instances with every rule, and a slow judge of routes that shares nothing with the package's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from neuralns import Instance, Solution


@st.composite
def timed_instances(draw: Any, most: int = 6) -> Instance:
    """Small instances in whole numbers, with any of the rules, kept by some routes and broken by others."""
    customers = draw(st.integers(1, most))
    nodes = customers + 1
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    opens, closes = int(rng.integers(0, 10)), int(rng.integers(40, 120))
    begins = np.r_[opens, rng.integers(opens, closes, customers)]
    ends = np.minimum(np.r_[closes, begins[1:] + rng.integers(0, 40, customers)], closes)

    def maybe(value: Any) -> Any:
        return value if draw(st.booleans()) else None

    return Instance(
        "drawn",
        np.r_[0, rng.integers(0, 5, customers)],
        int(rng.integers(3, 12)),
        rng.integers(0, 25, (nodes, 2)),
        maybe(rng.integers(0, 30, (nodes, nodes))),
        draw(st.sampled_from(["round", "trunc"])),
        windows=maybe(np.column_stack([begins, ends])),
        service=maybe(np.r_[0, rng.integers(0, 15, customers)]),
        durations=maybe(rng.integers(0, 30, (nodes, nodes))),
        vehicles=maybe(int(rng.integers(1, nodes + 1))),
        max_duration=maybe(int(rng.integers(5, 100))),
        max_distance=maybe(int(rng.integers(5, 100))),
    )


@st.composite
def costly_instances(draw: Any, most: int = 7) -> Instance:
    """Instances with any of the rules, loose enough for long routes, in which durations and vehicles may cost."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    customers = int(rng.integers(1, most + 1))
    nodes = customers + 1
    rounding = str(rng.choice(["none", "round", "trunc", "dimacs"]))
    unit = float(rng.choice([1.0, 0.37])) if rounding in ("none", "dimacs") else 1.0
    begins = rng.integers(0, 150, customers)
    ends = begins + rng.integers(0, rng.choice([40, 250]), customers)
    windows = np.vstack([[[0, 250]], np.column_stack([begins, np.minimum(ends, 250)])])

    def seldom(value: Any, chance: float) -> Any:
        return value if rng.random() < chance else None

    def times(high: int) -> Any:
        found = unit * rng.integers(0, high, (nodes, nodes))
        return np.minimum(found, found.T) if rng.random() < 0.4 else found

    costs = [(1.0, 0.0)] * 4 + [(1.0, 0.5), (0.0, 1.0), (2.0, 0.0), (0.25, 3.0)]
    distance_cost, duration_cost = costs[rng.integers(len(costs))]
    return Instance(
        "drawn",
        np.r_[0, rng.integers(0, 5, customers)],
        int(rng.integers(4, 20)),
        unit * rng.integers(0, 25, (nodes, 2)),
        seldom(times(30), 0.3),
        rounding,  # type: ignore[arg-type]
        float(rng.choice([0.0, 40.0])),
        windows=seldom(unit * windows, 0.85),
        service=seldom(unit * np.r_[0, rng.integers(0, 15, customers)], 0.5),
        durations=seldom(times(60), 0.4),
        vehicles=seldom(int(rng.integers(1, 4)), 0.3),
        max_duration=seldom(unit * int(rng.integers(20, 200)), 0.2),
        max_distance=seldom(unit * int(rng.integers(20, 200)), 0.2),
        distance_cost=distance_cost,
        duration_cost=duration_cost,
    )


def some_routes(instance: Instance, seed: int) -> Solution:
    """Routes that keep all rules and leave some customers out: each at a random place, most of the time."""
    rng = np.random.default_rng(seed)
    routes: list[tuple[int, ...]] = []
    for customer in (1 + rng.permutation(instance.customers)).tolist():
        options = [[*routes, (customer,)]]
        for number, route in enumerate(routes):
            for place in range(len(route) + 1):
                longer = (*route[:place], customer, *route[place:])
                options.append([*routes[:number], longer, *routes[number + 1 :]])
        allowed = [option for option in options if not Solution(instance, option).broken_rules()]
        # A place on a route rather than a route of its own, where there is one.
        chosen = allowed[int(rng.integers(len(allowed) > 1, len(allowed)))] if allowed else routes
        if rng.random() < 0.9 or not instance.may_leave_out:
            routes = list(chosen)
    return Solution(instance, routes)


def completions(instance: Instance, routes: list[list[int]], out: list[int]) -> list[Solution]:
    """Every way that keeps all rules to insert customers into routes, or to leave them out if that is allowed."""
    if not out:
        solution = Solution(instance, routes)
        return [] if solution.broken_rules() else [solution]
    customer, rest = out[0], out[1:]
    found = completions(instance, [*routes, [customer]], rest)
    for number, route in enumerate(routes):
        for place in range(len(route) + 1):
            longer = [*route[:place], customer, *route[place:]]
            found += completions(instance, [*routes[:number], longer, *routes[number + 1 :]], rest)
    return found + (completions(instance, routes, rest) if instance.may_leave_out else [])


def way(instance: Instance, tail: int, head: int) -> tuple[float, float]:
    """How far and how long it is from a node to another."""
    if instance.matrix is not None:
        far = float(instance.matrix[tail, head])
    else:
        assert instance.coordinates is not None
        far = float(np.linalg.norm(instance.coordinates[tail] - instance.coordinates[head]))
    far = {"none": far, "round": float(np.floor(far + 0.5)), "trunc": float(np.floor(far))}[instance.rounding]
    return far, far if instance.durations is None else float(instance.durations[tail, head])


def drive(instance: Instance, route: Sequence[int], departure: float) -> tuple[float, bool]:
    """When a route that leaves at a time is back, and whether it was ever late."""
    now, place, late = departure, 0, False
    for node in (*route, 0):
        now += way(instance, place, node)[1]
        if instance.windows is not None:
            opens, closes = instance.windows[node]
            late |= now > closes
            if node != 0:
                now = max(now, opens)
        if instance.service is not None:
            now += instance.service[node]
        place = node
    return float(now), late


def departures(instance: Instance) -> Iterable[int]:
    """Every time in whole numbers at which a route may leave."""
    if instance.windows is None:
        return range(200)
    opens, closes = instance.windows[0].astype(int)
    return range(opens, closes + 1)


def keeps_every_rule(instance: Instance, route: Sequence[int]) -> bool:
    """Whether a route can be driven at all, leaving at any time in whole numbers."""
    if sum(instance.demands[list(route)]) > instance.capacity:
        return False
    legs = [way(instance, tail, head)[0] for tail, head in zip((0, *route), (*route, 0), strict=True)]
    if instance.max_distance is not None and sum(legs) > instance.max_distance:
        return False
    if instance.windows is None:
        return instance.max_duration is None or drive(instance, route, 0)[0] <= instance.max_duration
    for departure in departures(instance):
        back, late = drive(instance, route, departure)
        if not late and (instance.max_duration is None or back - departure <= instance.max_duration):
            return True
    return False
