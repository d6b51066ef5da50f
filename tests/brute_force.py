"""Instances with every rule, and a slow judge of routes that shares nothing with the package's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from neuralns import Instance


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
