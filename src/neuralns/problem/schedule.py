"""When a route is where, and what is on board: arrival, waiting, service and departure at each stop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from neuralns.problem.instance import Instance
from neuralns.problem.limits import lateness_allowed


@dataclass(frozen=True)
class Stop:
    """A stop of a route: the customer, when it is reached, served and left, and what is on board then."""

    node: int
    arrival: float
    start: float
    departure: float
    loads: tuple[float, ...]

    @property
    def waiting(self) -> float:
        """How long the vehicle waits before service."""
        return self.start - self.arrival

    @property
    def load(self) -> float:
        """What is on board after the stop, in the first dimension of goods."""
        return self.loads[0]


@dataclass(frozen=True)
class Schedule:
    """The timetable of one route: it leaves as late as it can without coming back later.

    Where rides of shipments are limited, it waits before pickups until no ride is too long, if that makes nobody late.

    ``start`` and ``end`` are the depots, None for a route that begins at its first or ends at its last customer;
    ``loads`` is what is on board at the beginning.
    """

    departure: float
    stops: tuple[Stop, ...]
    arrival: float
    start: int | None = 0
    end: int | None = 0
    loads: tuple[float, ...] = (0.0,)

    @property
    def duration(self) -> float:
        """From leaving the depot to coming back, waiting and service included."""
        return self.arrival - self.departure

    @property
    def most_loaded(self) -> tuple[float, ...]:
        """The most on board at any time, for each dimension of goods."""
        return tuple(max(each) for each in zip(self.loads, *(stop.loads for stop in self.stops), strict=True))


def legs_of(instance: Instance, route: Sequence[int], vehicle: int = 0, time: bool = False) -> list[float]:
    """Return the lengths, or the travel times, of the legs of a route: from its depot, between customers, and back.

    A leg from or to no depot is 0.
    """
    vehicle_type = instance.types[vehicle]
    nodes = [
        *(() if vehicle_type.start is None else (vehicle_type.start,)),
        *route,
        *(() if vehicle_type.end is None else (vehicle_type.end,)),
    ]
    legs = (instance.times if time else instance.legs)(nodes[:-1], nodes[1:], vehicle_type.profile).tolist()
    return [*([0.0] if vehicle_type.start is None else []), *legs, *([0.0] if vehicle_type.end is None else [])]


def schedule(instance: Instance, route: Sequence[int], vehicle: int = 0) -> Schedule:
    """Return the timetable of a route, also where it is late: windows may begin service later, never earlier.

    First every stop is served as early as can be, which gives the earliest return. Then, from that return backwards,
    everything is put off as far as the windows allow, which gives the latest departure from the depot; of a stop that
    is reached after its window's end nothing is put off. Last, pickups begin later where rides would be too long.

    >>> one = Instance("one", [0, 1], 1, [[0, 0], [3, 4]], windows=[[0, 20], [8, 9]], service=[0, 2])
    >>> found = schedule(one, [1])
    >>> found.departure, found.stops[0].start, found.arrival, found.duration
    (3.0, 8.0, 15.0, 12.0)
    """
    vehicle_type = instance.types[vehicle]
    ends = []
    for depot in (vehicle_type.start, vehicle_type.end):
        opens, closes = (-np.inf, np.inf) if depot is None else (instance.earliest[depot], instance.latest[depot])
        ends.append(((max(opens, vehicle_type.shift[0]), min(closes, vehicle_type.shift[1])),))
    begin = ends[0][0][0]
    if instance.release is not None:
        begin = max([begin, *instance.release[list(route)].tolist()])
    if begin == -np.inf:
        # With neither shift nor depot the day begins with the earliest window.
        begin = float(min((instance.earliest[node] for node in route), default=0.0))
    ends[0] = ((float(begin), max(float(begin), float(ends[0][0][1]))),)
    if not route:
        return Schedule(
            float(begin), (), float(begin), vehicle_type.start, vehicle_type.end, (0.0,) * instance.dimensions
        )
    legs = legs_of(instance, route, vehicle, time=True)
    windows = [ends[0], *(instance.windows_of(node) for node in route), ends[1]]
    service = [0.0, *instance.services[list(route)].tolist(), 0.0]
    tolerance = lateness_allowed(instance) if instance.openings else 0.0
    early = _starts(float(begin), windows, legs, service, tolerance)
    put_off = early[-1]
    for position in range(len(windows) - 2, -1, -1):
        put_off = max(early[position], _last_opening(windows[position], put_off - legs[position] - service[position]))
    departure = put_off
    starts = _starts(departure, windows, legs, service, tolerance)
    rides = _rides(instance, route)
    if rides and (later := _with_short_rides(starts, windows, legs, service, rides, lateness_allowed(instance))):
        starts = later
        departure = max(departure, _last_opening(windows[0], starts[1] - legs[0]))
    now = departure
    deliveries, pickups = instance.amounts
    change = pickups[list(route)] - deliveries[list(route)]
    stops, load = [], deliveries[list(route)].sum(axis=0)
    first = tuple(load.tolist())
    for position, node in enumerate(route, 1):
        arrival = now + legs[position - 1]
        start = starts[position]
        now = start + service[position]
        load = load + change[position - 1] + instance.shipped(node)
        stops.append(Stop(int(node), arrival, start, now, tuple(load.tolist())))
    return Schedule(departure, tuple(stops), now + legs[-1], vehicle_type.start, vehicle_type.end, first)


def _starts(
    departure: float,
    windows: Sequence[Sequence[tuple[float, float]]],
    legs: Sequence[float],
    service: Sequence[float],
    tolerance: float,
) -> list[float]:
    """Return the earliest starts of service after a departure: of the departure itself, the stops, and the return."""
    found = [departure]
    for position in range(1, len(windows)):
        found.append(
            _next_opening(windows[position], found[-1] + service[position - 1] + legs[position - 1], tolerance)
        )
    return found


def _rides(instance: Instance, route: Sequence[int]) -> list[tuple[int, int, float]]:
    """Return where on a route the pickups and deliveries of limited rides are, counted from 1, and their limits."""
    positions = {node: position for position, node in enumerate(route, 1)} if instance.longest_rides else {}
    found = []
    for delivery, (pickup, longest) in instance.longest_rides.items():
        if pickup in positions and positions[pickup] < positions.get(delivery, 0):
            found.append((positions[pickup], positions[delivery], longest))
    return found


def _with_short_rides(
    starts: Sequence[float],
    windows: Sequence[Sequence[tuple[float, float]]],
    legs: Sequence[float],
    service: Sequence[float],
    rides: Sequence[tuple[int, int, float]],
    allowed: float,
) -> list[float] | None:
    """Return the least start times from given ones on with which no ride is too long; None if somebody is late then.

    A pickup begins no earlier than its delivery less the longest ride, and everything behind it moves with it. Each
    round settles a ride more: what moves after as many rounds as there are rides would move forever.
    """
    found = list(starts)
    for _ in range(len(rides) + 1):
        raised = False
        for pickup, delivery, longest in rides:
            least = found[delivery] - longest - service[pickup]
            if found[pickup] < least - allowed:
                found[pickup], raised = least, True
        if not raised:
            ends = [*found[:-1], found[-2] + service[-2] + legs[-1]]
            in_time = all(time <= each[-1][1] + allowed for time, each in zip(ends, windows, strict=True))
            return found if in_time else None
        for position in range(1, len(found)):
            found[position] = max(found[position], found[position - 1] + service[position - 1] + legs[position - 1])
    return None


def _next_opening(windows: Sequence[tuple[float, float]], time: float, tolerance: float) -> float:
    """Return when service can begin that may begin at a time or later; that time itself after the last window.

    A window that ends so little before that it is blamed on the rounding of sums is not missed.
    """
    for opens, closes in windows:
        if time <= closes + tolerance:
            return max(opens, time)
    return time


def _last_opening(windows: Sequence[tuple[float, float]], time: float) -> float:
    """Return the last time up to a given one at which service can begin; minus infinity if there is none."""
    for opens, closes in reversed(windows):
        if time >= opens:
            return min(closes, time)
    return -np.inf
