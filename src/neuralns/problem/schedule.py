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
    kind = instance.types[vehicle]
    nodes = [*(() if kind.start is None else (kind.start,)), *route, *(() if kind.end is None else (kind.end,))]
    legs = (instance.times if time else instance.legs)(nodes[:-1], nodes[1:], kind.profile).tolist()
    return [*([0.0] if kind.start is None else []), *legs, *([0.0] if kind.end is None else [])]


def schedule(instance: Instance, route: Sequence[int], vehicle: int = 0) -> Schedule:
    """Return the timetable of a route, also where it is late: windows may begin service later, never earlier.

    First every stop is served as early as can be, which gives the earliest return. Then, from that return backwards,
    everything is put off as far as the windows allow, which gives the latest departure from the depot; of a stop that
    is reached after its window's end nothing is put off.

    >>> one = Instance("one", [0, 1], 1, [[0, 0], [3, 4]], windows=[[0, 20], [8, 9]], service=[0, 2])
    >>> found = schedule(one, [1])
    >>> found.departure, found.stops[0].start, found.arrival, found.duration
    (3.0, 8.0, 15.0, 12.0)
    """
    kind = instance.types[vehicle]
    ends = []
    for depot in (kind.start, kind.end):
        opens, closes = (-np.inf, np.inf) if depot is None else (instance.earliest[depot], instance.latest[depot])
        ends.append(((max(opens, kind.shift[0]), min(closes, kind.shift[1])),))
    begin = ends[0][0][0]
    if instance.release is not None:
        begin = max([begin, *instance.release[list(route)].tolist()])
    if begin == -np.inf:
        # With neither shift nor depot the day begins with the earliest window.
        begin = float(min((instance.earliest[node] for node in route), default=0.0))
    ends[0] = ((float(begin), max(float(begin), float(ends[0][0][1]))),)
    if not route:
        return Schedule(float(begin), (), float(begin), kind.start, kind.end, (0.0,) * instance.dimensions)
    legs = legs_of(instance, route, vehicle, time=True)
    windows = [ends[0], *(instance.windows_of(node) for node in route), ends[1]]
    service = [0.0, *instance.services[list(route)].tolist(), 0.0]
    late = lateness_allowed(instance) if instance.openings else 0.0
    early = [float(begin)]
    for place in range(1, len(windows)):
        early.append(_next_opening(windows[place], early[-1] + service[place - 1] + legs[place - 1], late))
    put_off = early[-1]
    for place in range(len(windows) - 2, -1, -1):
        put_off = max(early[place], _last_opening(windows[place], put_off - legs[place] - service[place]))
    departure = now = put_off
    deliveries, pickups = instance.amounts
    change = pickups[list(route)] - deliveries[list(route)]
    stops, load = [], deliveries[list(route)].sum(axis=0)
    first = tuple(load.tolist())
    for place, node in enumerate(route, 1):
        arrival = now + legs[place - 1]
        start = _next_opening(windows[place], arrival, late)
        now = start + service[place]
        load = load + change[place - 1] + instance.shipped(node)
        stops.append(Stop(int(node), arrival, start, now, tuple(load.tolist())))
    return Schedule(departure, tuple(stops), now + legs[-1], kind.start, kind.end, first)


def _next_opening(windows: Sequence[tuple[float, float]], time: float, late: float) -> float:
    """Return when service can begin that may begin at a time or later; that time itself after the last window.

    A window that ends so little before that it is blamed on the rounding of sums is not missed.
    """
    for opens, closes in windows:
        if time <= closes + late:
            return max(opens, time)
    return time


def _last_opening(windows: Sequence[tuple[float, float]], time: float) -> float:
    """Return the last time up to a given one at which service can begin; minus infinity if there is none."""
    for opens, closes in reversed(windows):
        if time >= opens:
            return min(closes, time)
    return -np.inf
