"""Simple routes: proof that generated customers can be served, and for about how much."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from neuralns.problem.distances import Floats
from neuralns.problem.instance import Instance


@dataclass(frozen=True)
class Stops:
    """Customers with all that routes have to heed, the first of them number 0."""

    points: Floats
    demands: Floats
    opens: Floats
    closes: Floats
    service: Floats
    capacity: float
    shift: float
    longest: float = np.inf

    @classmethod
    def of(cls, instance: Instance) -> Stops:
        """Return the customers of an instance with windows and one depot."""
        opens, closes = instance.earliest[1:].copy(), instance.latest[1:].copy()
        shift = float(instance.latest[0])
        return cls(
            instance.points[1:], instance.demands[1:], opens, closes, instance.services[1:], instance.capacity, shift
        )

    def away(self, place: Floats) -> Floats:
        """Return how far all are from a place, in whole numbers that hold under every rounding convention."""
        away: Floats = np.ceil(np.sqrt(((self.points - place) ** 2).sum(axis=1)))
        return away


def next_route(stops: Stops, home: Floats, waiting: npt.NDArray[np.bool_]) -> list[int]:
    """Return a route through some of those who wait, none if nobody can be served from this depot.

    It goes on to the one of least distance, time until service and urgency, weighed as in Solomon's (1987)
    nearest-neighbour heuristic.
    """
    route: list[int] = []
    free, back = waiting.copy(), stops.away(home)
    place, now, room, left = home, 0.0, stops.capacity, 0.0
    while True:
        reach = stops.away(place)
        begin = np.maximum(now + reach, stops.opens)
        done = begin + stops.service + back
        departure = left if route else begin - reach
        in_time = (begin <= stops.closes) & (done <= stops.shift) & (done - departure <= stops.longest)
        fits = free & (stops.demands <= room) & in_time
        if not fits.any():
            return route
        urgency = stops.closes - now - reach
        weight = 0.4 * reach + 0.4 * (begin - now) + 0.2 * urgency
        chosen = int(np.argmin(np.where(fits, weight, np.inf)))
        if not route:
            left = float(begin[chosen] - reach[chosen])
        route.append(chosen)
        free[chosen] = False
        place, now, room = stops.points[chosen], begin[chosen] + stops.service[chosen], room - stops.demands[chosen]


def inserted_routes(stops: Stops, home: Floats, waiting: npt.NDArray[np.bool_]) -> list[list[int]]:
    """Return routes for all who wait, each inserted in turn where the way becomes least longer, around the depot.

    Everybody can be served alone; how long routes take is not limited.
    """
    away = stops.away(home)
    routes: list[_Timetable] = []
    x, y = (stops.points - home).T
    around = np.argsort(np.arctan2(y, x), kind="stable")
    for stop in around[waiting[around]].tolist():
        alone = _Timetable(stops, away, [stop])
        least, best, place = 2.0 * away[stop], alone, 0
        reach = stops.away(stops.points[stop])
        for route in routes:
            longer, where = route.cheapest(stop, reach)
            if longer < least:
                least, best, place = longer, route, where
        if best is alone:
            routes.append(alone)
        else:
            best.insert(stop, place)
    return [route.route for route in routes]


class _Timetable:
    """A route with the earliest departure and the latest arrival that it allows at each stop and at both ends."""

    def __init__(self, stops: Stops, away: Floats, route: list[int]) -> None:
        self.stops, self.away, self.route = stops, away, route
        self._update()

    def _update(self) -> None:
        stops, route = self.stops, self.route
        nodes = np.array(route)
        between = np.ceil(np.sqrt(((stops.points[nodes[1:]] - stops.points[nodes[:-1]]) ** 2).sum(axis=1)))
        self.legs = np.concatenate([self.away[nodes[:1]], between, self.away[nodes[-1:]]])
        self.departures, self.latest = np.zeros(len(route) + 1), np.full(len(route) + 1, stops.shift)
        for place, stop in enumerate(route):
            begin = max(self.departures[place] + self.legs[place], stops.opens[stop])
            self.departures[place + 1] = begin + stops.service[stop]
        for place in range(len(route) - 1, -1, -1):
            stop = route[place]
            self.latest[place] = min(
                self.latest[place + 1] - self.legs[place + 1] - stops.service[stop], stops.closes[stop]
            )
        self.room = stops.capacity - stops.demands[nodes].sum()

    def cheapest(self, stop: int, reach: Floats) -> tuple[float, int]:
        """Return how much longer the route becomes with a stop at its best place, and which; infinite if none fits."""
        stops = self.stops
        if stops.demands[stop] > self.room:
            return np.inf, 0
        near = reach[self.route]
        to, on = np.concatenate([self.away[[stop]], near]), np.concatenate([near, self.away[[stop]]])
        begin = np.maximum(self.departures + to, stops.opens[stop])
        fits = (begin <= stops.closes[stop]) & (begin + stops.service[stop] + on <= self.latest)
        longer = np.where(fits, to + on - self.legs, np.inf)
        place = int(np.argmin(longer))
        return float(longer[place]), place

    def insert(self, stop: int, place: int) -> None:
        """Put a stop at a place."""
        self.route.insert(place, stop)
        self._update()
