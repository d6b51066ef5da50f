"""An instance in whole numbers, as other solvers take it.

Distances, times, loads and costs are multiplied by a factor each: the smallest of 1, 10, 100 and 1000 that makes all of
them whole, which is 10 under the rounding ``dimacs`` and 1 under ``round`` and ``trunc``, so that what the others
compute is exactly ours. Where none does, the factor is 1000, or less where sums would exceed 2³², and what remains is
rounded to the safe side, so that what is in time there is in time here. (Larger factors do harm: PyVRP's penalties have
a limit, which is why it gets all numbers in units as small as those of costs, as from its own reader.)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from neuralns.errors import InputError
from neuralns.problem.distances import Floats
from neuralns.problem.fleet import VehicleType
from neuralns.problem.instance import Instance

Whole = npt.NDArray[np.int64]
Windows = tuple[tuple[int, int], ...]

FACTORS = (1, 10, 100, 1000)
LARGEST_SUM = 2.0**32
"""Above it, sums of costs are refused by VROOM."""
SLACK = 1e-6
"""What is blamed on floating point where a number is nearly whole."""


@dataclass(frozen=True)
class WholeType:
    """A type of vehicles.

    Attributes
    ----------
    vehicles
        How many there are; where there is no limit, as many as are ``enough``.
    enough
        More than could be used, for solvers that are told of each vehicle.
    fixed_cost, distance_cost, duration_cost
        Of a vehicle, of a unit of distance and of a unit of time, all in the same unit of cost.
    earliest, leave_by, latest
        When the vehicles leave at the earliest and at the latest, and when they are back at the latest.
    """

    vehicles: int
    enough: int
    capacity: tuple[int, ...]
    fixed_cost: int
    distance_cost: int
    duration_cost: int
    start: int | None
    end: int | None
    earliest: int
    leave_by: int
    latest: int
    max_duration: int | None
    max_distance: int | None
    max_stops: int | None
    skills: frozenset[str]
    profile: int


@dataclass(frozen=True, eq=False)
class WholeNumbers:
    """What other solvers are told; times count from the first departure, and none is infinite.

    Attributes
    ----------
    timed
        Whether time plays a part; the numbers of time mean nothing where it does not.
    distance_factor, time_factor, load_factor, cost_factor
        What the instance's numbers were multiplied by.
    distances, durations
        By profile, the instance's own first.
    windows
        Of every node: one or several.
    horizon
        When the last vehicle is back, whatever it does.
    customers
        Those that are not part of a shipment; customers that no route can serve are left out, here and below.
    prizes
        Of every node; None where it has to be served.
    shipments
        Pickup, delivery and amounts of each.
    groups
        Members of each, and whether one of them has to be served.
    """

    timed: bool
    distance_factor: int
    time_factor: int
    load_factor: int
    cost_factor: int
    distances: tuple[Whole, ...]
    durations: tuple[Whole, ...]
    windows: tuple[Windows, ...]
    service: Whole
    release: Whole
    horizon: int
    deliveries: Whole
    pickups: Whole
    customers: tuple[int, ...]
    prizes: tuple[int | None, ...]
    shipments: tuple[tuple[int, int, tuple[int, ...]], ...]
    groups: tuple[tuple[tuple[int, ...], bool], ...]
    types: tuple[WholeType, ...]


def whole_numbers(instance: Instance, largest_sum: float = LARGEST_SUM, *, alike: bool = False) -> WholeNumbers:
    """Return an instance in whole numbers, sums of distances and of times not above the largest.

    The factors of loads and times are not below that of costs if they are to be ``alike``.

    >>> one = Instance("one", [0, 1], 1, [[0, 0], [3, 4]], windows=[[5, 25], [12.5, 14]], service=[0, 5])
    >>> found = whole_numbers(one)
    >>> found.distance_factor, found.distances[0].tolist()
    (1, [[0, 5], [5, 0]])
    >>> found.time_factor, found.windows
    (10, (((0, 200),), ((75, 90),)))
    """
    if instance.distances is None:
        raise InputError(f"{instance.name}: too large for a matrix of distances, which other solvers are given.")
    types = instance.types
    own = instance.distances if instance.travel_times is None else instance.travel_times
    others = range(1, 1 + len(instance.profiles or ()))
    lengths = _without_loops([instance.distances, *(_matrix(instance, each, instance.legs) for each in others)])
    times = _without_loops([own, *(_matrix(instance, each, instance.times) for each in others)])
    begin, spans, shifts = _times(instance, times)
    release = np.zeros(len(instance.demands)) if instance.release is None else np.maximum(instance.release - begin, 0.0)

    far = _factor(
        *lengths, _given(vehicle_type.max_distance for vehicle_type in types), ceiling=_ceiling(lengths, largest_sum)
    )
    moments = np.array([moment for each in spans for span in each for moment in span])
    slow = _factor(
        *times,
        moments,
        np.array(shifts),
        instance.services,
        release,
        _given(vehicle_type.max_duration for vehicle_type in types),
        ceiling=_ceiling([*times, moments, np.array(shifts)], largest_sum, len(instance.demands)),
    )
    deliveries, pickups = instance.amounts
    shipments = [
        each
        for each in instance.shipments or ()
        if each.pickup not in instance.unservable and each.delivery not in instance.unservable
    ]
    shipped = np.array([each.amount for each in shipments]).reshape(-1, instance.dimensions)
    nobody = {
        *instance.unservable,
        *(node for each in instance.shipments or () for node in (each.pickup, each.delivery)),
    }
    capacities = np.array([vehicle_type.capacity for vehicle_type in types])
    heavy = _factor(
        deliveries, pickups, shipped, capacities, ceiling=_ceiling([deliveries, pickups, shipped], largest_sum)
    )
    dear = _cost_factor(instance, far, slow)
    if alike:
        heavy = max(heavy, dear)
        # A unit of time that costs something is as small as it has to be.
        slow = slow if any(vehicle_type.duration_cost > 0 for vehicle_type in types) else max(slow, dear)
    carried = np.ceil(np.concatenate([np.maximum(deliveries, pickups), shipped]).sum(axis=0))
    limited = any(vehicle_type.max_distance is not None for vehicle_type in types)
    return WholeNumbers(
        instance.timed,
        far,
        slow,
        heavy,
        dear,
        tuple(_up(far * each) if limited else np.rint(far * each).astype(np.int64) for each in lengths),
        tuple(_up(slow * each) for each in times),
        tuple(tuple((int(_up(slow * opens)), int(_down(slow * closes))) for opens, closes in each) for each in spans),
        _up(slow * instance.services),
        _up(slow * release),
        max(int(_down(slow * latest)) for *_, latest in shifts),
        _up(heavy * deliveries),
        _up(heavy * pickups),
        tuple(node for node in range(1, instance.customers + 1) if node not in nobody),
        tuple(None if math.isinf(prize) else round(dear * prize) for prize in map(instance.prize, _nodes(instance))),
        tuple(
            (each.pickup, each.delivery, tuple(int(amount) for amount in _up(heavy * np.array(each.amount))))
            for each in shipments
        ),
        tuple(
            (tuple(node for node in group.members if node not in nobody), group.required)
            for group in instance.groups or ()
        ),
        tuple(
            WholeType(
                _number_of(instance, vehicle_type, carried),
                _enough(instance, vehicle_type, carried),
                tuple(
                    _whole_limit(min(limit, 2.0 * total), heavy)
                    for limit, total in zip(vehicle_type.capacity, carried, strict=True)
                ),
                round(dear * vehicle_type.fixed_cost),
                round(dear / far * vehicle_type.distance_cost),
                round(dear / slow * vehicle_type.duration_cost),
                vehicle_type.start,
                vehicle_type.end,
                int(_up(slow * earliest)),
                int(_down(slow * leave_by)),
                int(_down(slow * latest)),
                None
                if vehicle_type.max_duration is None
                else _whole_limit(min(vehicle_type.max_duration, LARGEST_SUM), slow),
                None
                if vehicle_type.max_distance is None
                else _whole_limit(min(vehicle_type.max_distance, LARGEST_SUM), far),
                vehicle_type.max_stops,
                vehicle_type.skills,
                vehicle_type.profile,
            )
            for vehicle_type, (earliest, leave_by, latest) in zip(types, shifts, strict=True)
        ),
    )


def fleet(instance: Instance) -> int:
    """Return the vehicles to offer of the only type of a plain instance; see `WholeType`."""
    (only,) = instance.types
    return _number_of(instance, only, np.array([instance.demands.sum()]))


def _number_of(instance: Instance, vehicle_type: VehicleType, carried: Floats) -> int:
    """Return the vehicles of a type to offer: as many as there are, or as are enough."""
    return (
        _enough(instance, vehicle_type, carried)
        if vehicle_type.available is None
        else min(instance.customers, vehicle_type.available)
    )


def _enough(instance: Instance, vehicle_type: VehicleType, carried: Floats) -> int:
    """Return more vehicles of a type than are of use: a fifth more than all goods need, and five.

    With time, distance or stops to keep, one for each customer.
    """
    most = instance.customers if vehicle_type.available is None else min(instance.customers, vehicle_type.available)
    if instance.timed or vehicle_type.max_distance is not None or vehicle_type.max_stops is not None:
        return most
    needed = [
        amount / limit for amount, limit in zip(carried, vehicle_type.capacity, strict=True) if amount > 0 and limit > 0
    ]
    return min(most, math.ceil(1.2 * max(needed, default=0.0)) + 5)


def _nodes(instance: Instance) -> range:
    return range(len(instance.demands))


def _matrix(instance: Instance, profile: int, legs: Callable[[Whole, Whole, int], Floats]) -> Floats:
    nodes = len(instance.demands)
    tails, heads = np.divmod(np.arange(nodes * nodes), nodes)
    return legs(tails, heads, profile).reshape(nodes, nodes)


def _without_loops(matrices: Sequence[Floats]) -> list[Floats]:
    plain = [matrix.copy() for matrix in matrices]
    for matrix in plain:
        np.fill_diagonal(matrix, 0.0)
    return plain


Span = tuple[float, float]


def _times(
    instance: Instance, times: Sequence[Floats]
) -> tuple[float, list[list[Span]], list[tuple[float, float, float]]]:
    """Return when time begins; counted from then, the windows of every node; the shift of each type, as `WholeType`.

    What is open without end closes when everybody is back whatever they do.
    """
    shifts = []
    for vehicle_type in instance.types:
        begins, ends = vehicle_type.shift
        opens, closes = (
            (-math.inf, math.inf) if vehicle_type.start is None else instance.windows_of(vehicle_type.start)[0]
        )
        back = math.inf if vehicle_type.end is None else float(instance.latest[vehicle_type.end])
        shifts.append((max(begins, opens), min(ends, closes, back), min(ends, back)))
    # Who begins at a customer at any time need not begin before the first window.
    starts = [opens if math.isfinite(opens) else float(instance.earliest.min()) for opens, _, _ in shifts]
    begin = min(starts)
    last = [float(instance.earliest.max()), *starts]
    last += [] if instance.release is None else [float(instance.release.max())]
    last += [opens for each in (instance.openings or {}).values() for opens, _ in each]
    whole = max(float(each.max(axis=1).sum()) for each in times) + float(instance.services.sum())
    ever = max(last) - begin + whole

    def counted(time: float) -> float:
        return min(max(time - begin, 0.0), ever)

    spans = [
        [(counted(opens), counted(closes)) for opens, closes in instance.windows_of(node)] for node in _nodes(instance)
    ]
    return begin, spans, [(counted(opens), counted(leave), counted(back)) for opens, leave, back in shifts]


def _cost_factor(instance: Instance, far: int, slow: int) -> int:
    """Return the factor of costs: one that makes all costs whole, those of units of distance and time too."""
    types = instance.types
    units = [vehicle_type.distance_cost / far for vehicle_type in types] + [
        vehicle_type.duration_cost / slow for vehicle_type in types
    ]
    sums = [vehicle_type.fixed_cost for vehicle_type in types] + [instance.prize(node) for node in _nodes(instance)]
    paid = np.array([cost for cost in sums if math.isfinite(cost)])
    base = max(far, slow) if any(vehicle_type.duration_cost > 0 for vehicle_type in types) else far
    exact = [factor * base for factor in FACTORS if _is_whole(factor * base * np.array(units))]
    whole = [factor for factor in exact if _is_whole(factor * paid)]
    fine = [factor for factor in exact if factor >= FACTORS[-1]]
    return next(iter([*whole, *fine, *exact[-1:]]), FACTORS[-1] * base)


def _given(bounds: Iterable[float | None]) -> Floats:
    return np.array([bound for bound in bounds if bound is not None], dtype=np.float64)


def _ceiling(arrays: Sequence[Floats], largest_sum: float, nodes: int | None = None) -> float:
    """Return the largest factor at which the way to each node and back, through any others, stays below a sum."""
    largest = max(float(array.max(initial=0.0)) for array in arrays)
    return largest_sum / (4.0 * (nodes or len(arrays[0])) * max(largest, 1e-9))


def _factor(*arrays: Floats, ceiling: float) -> int:
    """Return the smallest factor that makes all numbers whole; where there is none, the largest below the ceiling."""
    possible = [factor for factor in FACTORS if factor <= max(ceiling, 1.0)]
    whole = (factor for factor in possible if all(_is_whole(factor * array) for array in arrays))
    return next(whole, possible[-1])


def _is_whole(numbers: Floats) -> bool:
    return bool((np.abs(numbers - np.rint(numbers)) <= SLACK).all())


def _up(numbers: Floats | float) -> Whole:
    return np.ceil(np.asarray(numbers) - SLACK).astype(np.int64)


def _down(numbers: Floats | float) -> Whole:
    return np.floor(np.asarray(numbers) + SLACK).astype(np.int64)


def _whole_limit(limit: float, factor: int) -> int:
    return math.floor(factor * limit + SLACK)
