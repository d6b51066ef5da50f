"""An instance in whole numbers, as other solvers take it.

Distances, times and loads are multiplied by a factor each: the smallest of 1, 10, 100 and 1000 that makes all of them
whole, which is 10 under the rounding ``dimacs`` and 1 under ``round`` and ``trunc``, so that what the others compute is
exactly ours. Where none does, the factor is 1000, or less where sums would exceed 2³², and what remains is rounded to
the safe side, so that what is in time there is in time here. (Larger factors do harm: PyVRP's penalties have a limit.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from neuralns.errors import InputError
from neuralns.problem.distances import Floats
from neuralns.problem.instance import Instance

Whole = npt.NDArray[np.int64]

FACTORS = (1, 10, 100, 1000)
LARGEST_SUM = 2.0**32
"""Above it, sums of costs are refused by VROOM."""
SLACK = 1e-6
"""What is blamed on floating point where a number is nearly whole."""


@dataclass(frozen=True, eq=False)
class WholeNumbers:
    """What other solvers are told; times count from the depot's opening, and none is infinite.

    Attributes
    ----------
    timed
        Whether time plays a part; the numbers of time mean nothing where it does not.
    distance_factor, time_factor, load_factor
        What the instance's numbers were multiplied by.
    horizon
        When the depot closes, or by when everybody is back whatever they do.
    vehicles
        How many to offer.
    vehicle_cost
        Of each route, in units of distance.
    """

    timed: bool
    distance_factor: int
    time_factor: int
    load_factor: int
    distances: Whole
    durations: Whole
    earliest: Whole
    latest: Whole
    service: Whole
    horizon: int
    demands: Whole
    capacity: int
    vehicles: int
    vehicle_cost: int
    max_duration: int | None
    max_distance: int | None


def whole_numbers(instance: Instance) -> WholeNumbers:
    """Return an instance in whole numbers.

    >>> one = Instance("one", [0, 1], 1, [[0, 0], [3, 4]], windows=[[5, 25], [12.5, 14]], service=[0, 5])
    >>> found = whole_numbers(one)
    >>> found.distance_factor, found.distances.tolist()
    (1, [[0, 5], [5, 0]])
    >>> found.time_factor, found.earliest.tolist(), found.latest.tolist()
    (10, [0, 75], [200, 90])
    """
    if instance.distances is None:
        raise InputError(f"{instance.name}: too large for a matrix of distances, which other solvers are given.")
    distances = _without_loops(instance.distances)
    times = distances if instance.travel_times is None else _without_loops(instance.travel_times)
    opening = float(instance.earliest[0])
    earliest = np.maximum(instance.earliest - opening, 0.0)
    ever = float(earliest.max() + times.max(axis=1).sum() + instance.services.sum())
    latest = np.minimum(instance.latest - opening, ever)
    bounds = [bound for bound in (instance.max_distance,) if bound is not None]
    far = _factor(distances, np.array([*bounds, instance.vehicle_cost]), ceiling=_ceiling(distances))
    bounds = [bound for bound in (instance.max_duration,) if bound is not None]
    slow = _factor(times, earliest, latest, instance.services, np.array(bounds), ceiling=_ceiling(times, latest))
    heavy = _factor(instance.demands, np.array([instance.capacity]), ceiling=_ceiling(instance.demands))
    return WholeNumbers(
        instance.timed,
        far,
        slow,
        heavy,
        _up(far * distances),
        _up(slow * times),
        _up(slow * earliest),
        _down(slow * latest),
        _up(slow * instance.services),
        int(_down(slow * latest[:1])[0]),
        _up(heavy * instance.demands),
        _whole_limit(instance.capacity, heavy),
        fleet(instance),
        round(far * instance.vehicle_cost),
        None if instance.max_duration is None else _whole_limit(instance.max_duration, slow),
        None if instance.max_distance is None else _whole_limit(instance.max_distance, far),
    )


def fleet(instance: Instance) -> int:
    """Return the vehicles to offer: as many as there are.

    Where there is no limit, a fifth more than the total demand needs, and five; with time or distance to keep, one for
    each customer.
    """
    if instance.vehicles is not None:
        return min(instance.customers, instance.vehicles)
    if instance.timed or instance.max_distance is not None:
        return instance.customers
    return min(instance.customers, math.ceil(1.2 * float(instance.demands.sum()) / instance.capacity) + 5)


def _without_loops(matrix: Floats) -> Floats:
    plain = matrix.copy()
    np.fill_diagonal(plain, 0.0)
    return plain


def _ceiling(*arrays: Floats) -> float:
    """Return the largest factor at which the way to each node and back, through any others, stays below 2³²."""
    largest = max(float(array.max(initial=0.0)) for array in arrays)
    return LARGEST_SUM / (4.0 * len(arrays[0]) * max(largest, 1e-9))


def _factor(*arrays: Floats, ceiling: float) -> int:
    """Return the smallest factor that makes all numbers whole; where there is none, the largest below the ceiling."""
    possible = [factor for factor in FACTORS if factor <= max(ceiling, 1.0)]
    whole = (factor for factor in possible if all(_is_whole(factor * array) for array in arrays))
    return next(whole, possible[-1])


def _is_whole(numbers: Floats) -> bool:
    return bool((np.abs(numbers - np.rint(numbers)) <= SLACK).all())


def _up(numbers: Floats) -> Whole:
    return np.ceil(numbers - SLACK).astype(np.int64)


def _down(numbers: Floats) -> Whole:
    return np.floor(numbers + SLACK).astype(np.int64)


def _whole_limit(limit: float, factor: int) -> int:
    return math.floor(factor * limit + SLACK)
