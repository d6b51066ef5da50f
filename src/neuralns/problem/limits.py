"""What a route may carry and how long it may take, to the last digit, and who can be on no route at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from neuralns.problem.instance import Instance

LOAD_TOLERANCE = 1e-9
"""Relative overload that is blamed on the rounding of sums of fractional demands."""
TIME_TOLERANCE = 1e-11
"""Lateness that is blamed on the rounding of sums, as a share of the latest time of the instance."""


def load_limit(instance: Instance, tolerance: float = LOAD_TOLERANCE) -> float:
    """Return the largest sum of demands that a vehicle takes.

    Sums of whole numbers are exact, so that there nothing is above the capacity; sums of others may be off by rounding.

    >>> from neuralns import Instance
    >>> load_limit(Instance("heavy", [0, 1], 4e9, [[0, 0], [1, 1]])) == 4e9
    True
    """
    demands, capacity = instance.demands, instance.capacity
    whole = capacity.is_integer() and bool((demands == np.floor(demands)).all())
    exact = whole and max(capacity, float(demands.sum())) < 2**53
    return capacity if exact else capacity * (1.0 + tolerance)


def lateness_allowed(instance: Instance) -> float:
    """Return how late, or how much too long or too far, is still blamed on the rounding of sums."""
    largest = [1.0, instance.max_duration or 0.0, instance.max_distance or 0.0]
    if instance.windows is not None:
        finite = np.abs(instance.windows[np.isfinite(instance.windows)])
        largest.append(float(finite.max(initial=0.0)))
    return TIME_TOLERANCE * max(largest)


def find_unservable(instance: Instance) -> dict[int, str]:
    """Return the customers that no route whatever can serve, each with a clause that says why.

    Where distances or travel times are given or rounded, a detour may be quicker than the way itself: the quickest way
    counts.
    """
    reasons: dict[int, str] = {}
    limit, late = load_limit(instance), lateness_allowed(instance)
    for customer in np.flatnonzero(instance.demands > limit).tolist():
        demand = instance.demands[customer]
        reasons[customer] = f"its demand {demand:.10g} is above the capacity {instance.capacity:.10g}"
    nodes = np.arange(instance.customers + 1)
    depot = np.zeros_like(nodes)
    detours = instance.matrix is not None or instance.rounding != "none"
    if instance.timed:
        out, back = instance.times(depot, nodes), instance.times(nodes, depot)
        matrix = instance.distances if instance.durations is None else instance.travel_times
        if matrix is not None and (detours or instance.durations is not None):
            out, back = _least_from_depot(matrix), _least_from_depot(matrix.T)
        begin = np.maximum(instance.earliest[0] + out, instance.earliest)
        done = begin + instance.services + back
        for customer in np.flatnonzero(begin > instance.latest + late).tolist():
            reasons.setdefault(
                customer,
                f"its window ends at {instance.at(instance.latest[customer])}, and nobody can be there before "
                f"{instance.at(begin[customer])}",
            )
        for customer in np.flatnonzero(done[1:] > instance.latest[0] + late).tolist():
            reasons.setdefault(
                customer + 1,
                f"nobody who serves it is back before {instance.at(done[customer + 1])}, and the depot closes at "
                f"{instance.at(instance.latest[0])}",
            )
        if instance.max_duration is not None:
            least = out + instance.services + back
            for customer in np.flatnonzero(least > instance.max_duration + late).tolist():
                reasons.setdefault(
                    customer,
                    f"a route to it takes at least {least[customer]:.10g}, and may take {instance.max_duration:.10g}",
                )
    if instance.max_distance is not None:
        far = instance.legs(depot, nodes) + instance.legs(nodes, depot)
        if detours and instance.distances is not None:
            far = _least_from_depot(instance.distances) + _least_from_depot(instance.distances.T)
        for customer in np.flatnonzero(far > instance.max_distance + late).tolist():
            reasons.setdefault(
                customer,
                f"a route to it is at least {far[customer]:.10g} long, and may be {instance.max_distance:.10g}",
            )
    return dict(sorted(reasons.items()))


def _least_from_depot(matrix: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the shortest ways from node 0 to all nodes (Dijkstra 1959)."""
    least: npt.NDArray[np.float64] = matrix[0].copy()
    least[0] = 0.0
    waiting = np.ones(len(matrix), dtype=bool)
    waiting[0] = False
    while waiting.any():
        nearest = int(np.argmin(np.where(waiting, least, np.inf)))
        waiting[nearest] = False
        np.minimum(least, least[nearest] + matrix[nearest], out=least)
    return least
