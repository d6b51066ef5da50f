"""When a route is where: arrival, waiting, service and departure at each stop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from neuralns.problem.instance import Instance


@dataclass(frozen=True)
class Stop:
    """A stop of a route: the customer, when it is reached, served and left, and what is still to be delivered then."""

    node: int
    arrival: float
    start: float
    departure: float
    load: float

    @property
    def waiting(self) -> float:
        """How long the vehicle waits before service."""
        return self.start - self.arrival


@dataclass(frozen=True)
class Schedule:
    """The timetable of one route: it leaves the depot as late as it can without coming back later."""

    departure: float
    stops: tuple[Stop, ...]
    arrival: float

    @property
    def duration(self) -> float:
        """From leaving the depot to coming back, waiting and service included."""
        return self.arrival - self.departure


def schedule(instance: Instance, route: Sequence[int]) -> Schedule:
    """Return the timetable of a route, also where it is late: windows may begin service later, never earlier.

    First every stop is served as early as can be, which gives the earliest return. Then, from that return backwards,
    everything is put off as far as the windows allow, which gives the latest departure from the depot; of a stop that
    is reached after its window's end nothing is put off.

    >>> one = Instance("one", [0, 1], 1, [[0, 0], [3, 4]], windows=[[0, 20], [8, 9]], service=[0, 2])
    >>> found = schedule(one, [1])
    >>> found.departure, found.stops[0].start, found.arrival, found.duration
    (3.0, 8.0, 15.0, 12.0)
    """
    if not route:
        return Schedule(float(instance.earliest[0]), (), float(instance.earliest[0]))
    nodes = [0, *route, 0]
    legs = instance.times(nodes[:-1], nodes[1:]).tolist()
    opens, closes = instance.earliest[nodes].tolist(), instance.latest[nodes].tolist()
    service, demands = instance.services[nodes].tolist(), instance.demands[nodes].tolist()
    early = [opens[0]]
    for place in range(1, len(nodes)):
        early.append(max(opens[place], early[-1] + service[place - 1] + legs[place - 1]))
    put_off = early[-1]
    for place in range(len(nodes) - 2, -1, -1):
        put_off = max(early[place], min(closes[place], put_off - legs[place] - service[place]))
    departure = now = put_off
    stops, load = [], sum(demands)
    for place in range(1, len(nodes) - 1):
        arrival = now + legs[place - 1]
        start = max(opens[place], arrival)
        now = start + service[place]
        load -= demands[place]
        stops.append(Stop(int(nodes[place]), arrival, start, now, load))
    return Schedule(departure, tuple(stops), now + legs[-1])
