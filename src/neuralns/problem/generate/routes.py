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
        distances = stops.away(place)
        begin = np.maximum(now + distances, stops.opens)
        done = begin + stops.service + back
        departure = left if route else begin - distances
        in_time = (begin <= stops.closes) & (done <= stops.shift) & (done - departure <= stops.longest)
        fits = free & (stops.demands <= room) & in_time
        if not fits.any():
            return route
        urgency = stops.closes - now - distances
        weight = 0.4 * distances + 0.4 * (begin - now) + 0.2 * urgency
        chosen = int(np.argmin(np.where(fits, weight, np.inf)))
        if not route:
            left = float(begin[chosen] - distances[chosen])
        route.append(chosen)
        free[chosen] = False
        place, now, room = stops.points[chosen], begin[chosen] + stops.service[chosen], room - stops.demands[chosen]


_NO_POSITIONS: Floats = np.zeros((6, 0))


def inserted_routes(stops: Stops, home: Floats, waiting: npt.NDArray[np.bool_]) -> list[list[int]]:
    """Return routes for all who wait, each inserted in turn where the way becomes least longer, around the depot.

    Everybody can be served alone; how long routes take is not limited.
    """
    away = stops.away(home)
    routes: list[list[int]] = []
    positions: list[Floats] = []
    x, y = (stops.points - home).T
    around = np.argsort(np.arctan2(y, x), kind="stable")
    for stop in around[waiting[around]].tolist():
        # The last one, number -1, is the depot.
        distances = np.append(stops.away(stops.points[stop]), away[stop])
        before, after, legs, departures, latest, room = np.concatenate([_NO_POSITIONS, *positions], axis=1)
        to, on = distances[before.astype(np.int64)], distances[after.astype(np.int64)]
        begin = np.maximum(departures + to, stops.opens[stop])
        in_time = (begin <= stops.closes[stop]) & (begin + stops.service[stop] + on <= latest)
        longer = np.where(in_time & (stops.demands[stop] <= room), to + on - legs, np.inf)
        if longer.min(initial=np.inf) >= 2.0 * away[stop]:
            routes.append([stop])
            positions.append(_positions(stops, away, [stop]))
            continue
        best, index = int(np.argmin(longer)), 0
        while best >= positions[index].shape[1]:
            best -= positions[index].shape[1]
            index += 1
        routes[index].insert(best, stop)
        positions[index] = _positions(stops, away, routes[index])
    return routes


def _positions(stops: Stops, away: Floats, route: list[int]) -> Floats:
    """Return the positions in a route, each a column: the stops before and after it (-1: the depot), the way between
    them, the earliest departure before it, the latest arrival after it, and the room that the route has left.
    """
    nodes = np.array([-1, *route, -1])
    between = np.ceil(np.sqrt(((stops.points[nodes[2:-1]] - stops.points[nodes[1:-2]]) ** 2).sum(axis=1)))
    legs = np.concatenate([away[route[:1]], between, away[route[-1:]]])
    departures, latest = np.zeros(len(legs)), np.full(len(legs), stops.shift)
    for position, stop in enumerate(route):
        departures[position + 1] = max(departures[position] + legs[position], stops.opens[stop]) + stops.service[stop]
    for position in range(len(route) - 1, -1, -1):
        in_time = latest[position + 1] - legs[position + 1] - stops.service[route[position]]
        latest[position] = min(in_time, stops.closes[route[position]])
    room = np.full(len(legs), stops.capacity - stops.demands[route].sum())
    return np.stack([nodes[:-1], nodes[1:], legs, departures, latest, room])
