"""Which types of vehicles drive given routes at the least cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np


def assign_types(
    routes: Sequence[Sequence[int]], available: Sequence[int | None], cost: Callable[[Sequence[int], int], float]
) -> tuple[int, ...]:
    """Return a type for each route, at the least sum of costs; a type that is infinite in cost only if nothing else is.

    An assignment problem, solved by scipy (Crouse 2016). Routes beyond the number of vehicles get the type of the
    least cost.

    >>> assign_types([[1], [2]], [1, None], lambda route, vehicle_type: [[1, 5], [2, 9]][route[0] - 1][vehicle_type])
    (1, 0)
    """
    if len(available) == 1 or not routes:
        return (0,) * len(routes)
    from scipy.optimize import linear_sum_assignment

    costs = np.array([[cost(route, vehicle_type) for vehicle_type in range(len(available))] for route in routes])
    finite = costs[np.isfinite(costs)]
    # More than all others together, so that as few as possible are taken.
    forbidden = 1.0 + 2.0 * len(routes) * float(np.abs(finite).max(initial=0.0))
    costs[~np.isfinite(costs)] = forbidden
    counts = [len(routes) if count is None else min(count, len(routes)) for count in available]
    columns = np.repeat(np.arange(len(available)), counts)
    chosen = costs.argmin(axis=1)
    if len(columns):
        rows, indices = linear_sum_assignment(costs[:, columns])
        chosen[rows] = columns[indices]
    return tuple(int(vehicle_type) for vehicle_type in chosen)
