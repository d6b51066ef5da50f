"""Days of planners: a town and its villages, a few vehicles with shifts, and as much to spare as is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from neuralns.errors import InputError
from neuralns.problem.distances import Floats
from neuralns.problem.fleet import Depot, VehicleType
from neuralns.problem.generate.choices import Customers, check_choices
from neuralns.problem.instance import MATRIX_LIMIT, Instance
from neuralns.problem.solution import Solution

Numbers = npt.NDArray[np.int64]
MOST_CUSTOMERS = MATRIX_LIMIT - 2
MOST_SPARE = 0.5
UNITS = 0.1, 0.01
"""What amounts are whole multiples of: kilograms and cubic metres."""
ROOM_UNITS = 1.0, 0.1
"""What capacities are whole multiples of."""
SHIFTS = (360, 420, 480, 540, 600)
LONGEST_SERVICE = 60
STREETS = 4.0
"""Kilometres of each way that are driven on streets of a town, the others on country roads."""
NAMES = ("van", "truck", "lorry")
PRIZES = 0.4, 2.5
"""Prizes, as multiples of what a stop costs on average."""


def generate_days(
    customers: int,
    positions: Customers = "mixed",
    depots: int = 1,
    share: float = 0.5,
    spare_capacity: float = 0.05,
    spare_time: float = 0.1,
    seed: int = 0,
) -> Instance:
    """Generate a planner's day, with as little capacity and time to spare as is asked for.

    Stops lie in a town and villages (``clustered``), anywhere around (``random``), or three in four as the former and
    the others anywhere (``mixed``), in tenths of kilometres; times are minutes, amounts kilograms, in some days cubic
    metres as well. A ``share`` of the stops has a window, a half-day or a slot of some hours. One to three types of
    vehicles, of limited numbers, differ in capacity, costs and shift. In some days there are pickups beside deliveries,
    optional stops with prizes, a cost of time, and slower streets.

    Routes made for the purpose, and not stored, serve all stops. Amounts, services, windows, capacities and shifts are
    fitted to them, so that ``spare_capacity`` and ``spare_time`` are the shares of all vehicles' capacity and shifts
    that they leave over: of the kind of goods that is tightest, and of time up to a minute for each vehicle. A good
    search may leave more. Where stops are few and far apart, time is left over because no service is longer than an
    hour.

    Examples
    --------
    >>> instance = generate_days(100, depots=2, spare_capacity=0.1, seed=1)
    >>> instance.name, instance.depot_nodes, instance.unservable
    ('day-mixed-c10-t10-n102-s1', (0, 101), {})
    """
    return planned_day(customers, positions, depots, share, spare_capacity, spare_time, seed).instance


def planned_day(
    customers: int,
    positions: Customers = "mixed",
    depots: int = 1,
    share: float = 0.5,
    spare_capacity: float = 0.05,
    spare_time: float = 0.1,
    seed: int = 0,
) -> Solution:
    """Return the routes that a generated day is fitted to, with the day as their instance; see `generate_days`."""
    check_choices(customers, seed, positions=(positions, Customers))
    if customers > MOST_CUSTOMERS:
        raise InputError(f"{customers} customers are too many for a day; choose at most {MOST_CUSTOMERS}.")
    if depots not in (1, 2):
        raise InputError(f"{depots} depots cannot be generated for a day; choose 1 or 2.")
    if not 0 <= share <= 1:
        raise InputError(f"share {share:g} of customers with a window must lie between 0 and 1.")
    for what, spare in (("capacity", spare_capacity), ("time", spare_time)):
        if not 0 <= spare <= MOST_SPARE:
            raise InputError(f"spare {what} {spare:g} must lie between 0 and {MOST_SPARE:g}.")
    # A stream for each part, so that an option leaves the other parts as they are.
    streams = np.random.SeedSequence([seed, 1440]).spawn(6)
    firms, places, stops, vehicles, goods, hours = (np.random.default_rng(stream) for stream in streams)
    firm = _Firm.drawn(firms)
    points = _places(places, customers, depots, positions, firm.radius)
    away = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
    durations = None if firm.streets == firm.roads == 1.0 else _minutes(away, firm)
    times = away if durations is None else durations
    service = np.zeros(customers + depots)
    service[1 : customers + 1] = firm.service * stops.choice([1, 2, 3], size=customers, p=[0.5, 0.3, 0.2])
    routes: list[_Route] = []
    for depot, own in enumerate(_areas(stops, away, customers, depots)):
        home = (0, customers + 1)[depot]
        routes += _timed_routes(vehicles, firm, own, home, points, times, service, spare_time)
    deliveries, pickups, capacities = _amounts(goods, firm, routes, customers + depots, spare_capacity)
    fleet, of_route = _fleet(firm, routes, capacities)
    windows = _windows(hours, firm, routes, times, service, share)
    paid = sum(
        fleet[index].fixed_cost + fleet[index].distance_cost * _way(away, route) + firm.by_minute * route.done
        for index, route in zip(of_route, routes, strict=True)
    )
    prizes = np.full(customers + depots, np.inf)
    optional = stops.permutation(customers)[: int(firm.optional * customers)] + 1
    prizes[optional] = np.maximum(np.round(stops.uniform(*PRIZES, size=len(optional)) * paid / customers, 1), 0.1)
    instance = Instance(
        f"day-{positions}-c{100 * spare_capacity:g}-t{100 * spare_time:g}-n{customers + depots}-s{seed}",
        coordinates=points,
        windows=windows,
        service=service,
        durations=durations,
        clock="00:00",
        fleet=fleet,
        depots=[Depot()] * depots,
        deliveries=deliveries,
        pickups=pickups,
        prizes=prizes,
    )
    return Solution(instance, [route.stops for route in routes], of_route)


@dataclass(frozen=True)
class _Firm:
    """The firm whose day it is, beside the options: what it has on the road, how fast, and what it costs."""

    radius: float
    service: int
    streets: float
    roads: float
    sizes: tuple[float, ...]
    shifts: tuple[int, ...]
    begins: tuple[tuple[int, ...], ...]
    fixed: float
    by_distance: float
    by_minute: float
    goods: int
    pickups: float
    optional: float
    half_days: float
    slot: int

    @classmethod
    def drawn(cls, rng: np.random.Generator) -> _Firm:
        """Draw a firm: ``streets`` and ``roads`` in minutes for each kilometre, ``service`` as the shortest."""
        types = int(rng.choice([1, 2, 3], p=[0.4, 0.35, 0.25]))
        sizes = np.cumprod([1.0, *rng.uniform(1.3, 2.0, size=2)])[:types]
        uniform = rng.random() < 0.5
        streets, roads = float(rng.choice([1.5, 2.0, 2.5])), float(rng.choice([0.8, 1.0, 1.2]))
        begins = 30 * rng.integers(11, 17, size=(3, 2))
        chances = rng.random(4)
        return cls(
            radius=float(rng.uniform(10.0, 30.0)),
            service=int(rng.choice([4, 5, 8, 10, 15])),
            streets=1.0 if uniform else streets,
            roads=1.0 if uniform else roads,
            sizes=tuple(sizes.tolist()),
            shifts=tuple(rng.choice(SHIFTS, size=3).tolist()),
            begins=tuple(map(tuple, begins.tolist())),
            fixed=float(rng.uniform(15.0, 60.0)),
            by_distance=float(rng.uniform(0.2, 0.5)),
            by_minute=round(float(rng.uniform(0.2, 0.6)), 2) * bool(chances[0] < 0.5),
            goods=1 + bool(chances[1] < 0.5),
            pickups=float(rng.uniform(0.15, 0.4)) * bool(chances[2] < 0.4),
            optional=float(rng.uniform(0.1, 0.25)) * bool(chances[3] < 0.4),
            half_days=float(rng.uniform(0.2, 0.7)),
            slot=int(rng.choice([60, 120, 120, 180])),
        )


@dataclass
class _Route:
    """A route with its vehicle: the type, the depot (0 or 1) and its node, the shift, and how long it takes."""

    stops: list[int]
    vehicle_type: int
    depot: int
    home: int
    shift: tuple[int, int]
    done: float


def _places(rng: np.random.Generator, customers: int, depots: int, positions: Customers, radius: float) -> Floats:
    """Return the points of all nodes: a town about (0, 0), villages around it, and others anywhere."""

    def anywhere(size: int, farthest: float) -> Floats:
        angle, far = rng.uniform(0.0, 2.0 * np.pi, size), farthest * np.sqrt(rng.random(size))
        return np.stack([far * np.cos(angle), far * np.sin(angle)], axis=1)

    homes = np.concatenate([anywhere(1, 0.4 * radius), anywhere(1, 0.8 * radius)])
    villages = anywhere(int(rng.integers(3, 9)), radius)
    in_clusters = {"random": 0, "clustered": customers, "mixed": customers * 3 // 4}[positions]
    in_town = round(rng.uniform(0.4, 0.7) * in_clusters)
    town = rng.normal(0.0, 0.12 * radius, size=(in_town, 2))
    rural = villages[rng.integers(len(villages), size=in_clusters - in_town)]
    rural = rural + rng.normal(0.0, 0.6, size=rural.shape)
    stops = rng.permutation(np.concatenate([town, rural, anywhere(customers - in_clusters, radius)]))
    points: Floats = np.round(np.concatenate([homes[:1], stops, homes[1:depots]]), 1)
    return points


def _minutes(away: Floats, firm: _Firm) -> Floats:
    """Return travel times in tenths of minutes, rounded up: slower on streets; no detour is quicker than the way."""
    streets = np.minimum(away, STREETS)
    minutes: Floats = np.ceil(10.0 * (firm.streets * streets + firm.roads * (away - streets))) / 10.0
    return minutes


def _areas(rng: np.random.Generator, away: Floats, customers: int, depots: int) -> list[Numbers]:
    """Return the stops of each depot: those to whom it is nearer than the other one, or almost."""
    share = rng.uniform(0.35, 0.65)
    nodes = np.arange(1, customers + 1)
    if depots == 1 or customers == 1:
        return [nodes]
    nodes = nodes[np.argsort(away[nodes, 0] - away[nodes, -1], kind="stable")]
    first = min(max(1, round(share * customers)), customers - 1)
    return [nodes[:first], nodes[first:]]


def _timed_routes(
    rng: np.random.Generator,
    firm: _Firm,
    own: Numbers,
    home: int,
    points: Floats,
    times: Floats,
    service: Floats,
    spare: float,
) -> list[_Route]:
    """Return routes for the stops of a depot, around it, all about as full of time, in shifts that leave time to spare.

    Shifts are made shorter or longer for it, and services longer, in place.
    """
    depot = int(home > 0)
    x, y = (points[own] - points[home]).T
    angle = (np.arctan2(y, x) + rng.uniform(0.0, 2.0 * np.pi)) % (2.0 * np.pi)
    around = own[np.argsort(angle, kind="stable")].tolist()
    usual = float(np.mean(firm.shifts[: len(firm.sizes)]))
    vehicles = len(_cut(around, home, times, service, [(1.0 - spare) * usual] * len(around), whole=False) or [])
    types = rng.permutation((np.arange(vehicles) + rng.integers(len(firm.sizes))) % len(firm.sizes))
    shifts = np.array(firm.shifts, dtype=float)[types]
    full = _full(rng, spare, shifts)
    low, high, cut = 0.0, 1.0, None
    while cut is None:
        cut = _cut(around, home, times, service, (high * full * shifts).tolist())
        low, high = (low, high) if cut is not None else (high, 2.0 * high)
    for _ in range(10):
        middle = (low + high) / 2.0
        tried = _cut(around, home, times, service, (middle * full * shifts).tolist())
        low, high, cut = (middle, high, cut) if tried is None else (low, middle, tried)
    stops = [_shortened(route, home, times) for route in cut]
    # A few far apart may leave vehicles without work; these stay away.
    types, shifts, full = types[: len(stops)], shifts[: len(stops)], _full(rng, spare, shifts[: len(stops)])
    done = np.array([_way(times, [home, *route, home]) + service[route].sum() for route in stops])
    stretch = float((done / (full * shifts)).max())
    routes = []
    for number, route in enumerate(stops):
        length = int(np.ceil(stretch * shifts[number]))
        begin = firm.begins[types[number]][depot]
        extra = int(max(full[number] * length - done[number], 0.0))
        more = _shares(rng.uniform(0.5, 1.5, size=len(route)), extra)
        service[route] = np.minimum(service[route] + more, LONGEST_SERVICE)
        taken = _way(times, [home, *route, home]) + float(service[route].sum())
        routes.append(_Route(route, int(types[number]), depot, home, (begin, begin + length), taken))
    return routes


def _full(rng: np.random.Generator, spare: float, sizes: Floats) -> Floats:
    """Return how full each vehicle is, so that of all sizes together just so much is spare."""
    left = rng.uniform(0.7, 1.3, size=len(sizes))
    full: Floats = 1.0 - spare * left * sizes.sum() / (left * sizes).sum()
    return full


def _cut(
    around: Sequence[int], home: int, times: Floats, service: Floats, limits: Sequence[float], whole: bool = True
) -> list[list[int]] | None:
    """Return routes through stops in order, each inserted where the way becomes least longer while there is time left.

    None if there is not enough of it; without ``whole``, a stop alone may take longer.
    """
    routes: list[list[int]] = []
    nodes, taken = np.array([home, home]), 0.0
    for stop in around:
        longer = times[nodes[:-1], stop] + times[stop, nodes[1:]] - times[nodes[:-1], nodes[1:]]
        best = int(np.argmin(longer))
        then = taken + float(longer[best] + service[stop])
        if not routes or then > limits[len(routes) - 1]:
            then = float(times[home, stop] + times[stop, home] + service[stop])
            if len(routes) == len(limits) or (whole and then > limits[len(routes)]):
                return None
            routes.append([])
            nodes, best = np.array([home, home]), 0
        routes[-1].insert(best, stop)
        nodes, taken = np.insert(nodes, best + 1, stop), then
    return routes


def _shortened(route: list[int], home: int, times: Floats) -> list[int]:
    """Return a route without crossings: parts of it are reversed while that makes it shorter."""
    nodes = np.array([home, *route, home])
    while True:
        tails, heads = nodes[:-1], nodes[1:]
        legs = times[tails, heads]
        gains = legs[:, None] + legs[None] - times[np.ix_(tails, tails)] - times[np.ix_(heads, heads)]
        first, last = np.unravel_index(np.argmax(np.triu(gains, 1)), gains.shape)
        if gains[first, last] <= 1e-9 or first >= last:
            return [int(node) for node in nodes[1:-1]]
        nodes[first + 1 : last + 1] = nodes[first + 1 : last + 1][::-1].copy()


def _way(legs: Floats, route: _Route | Sequence[int]) -> float:
    """Return how long a route is, or how long its ways take."""
    nodes = [route.home, *route.stops, route.home] if isinstance(route, _Route) else route
    return float(legs[nodes[:-1], nodes[1:]].sum())


def _shares(weights: Floats, total: int) -> Numbers:
    """Return whole numbers about in proportion to weights, whose sum is given."""
    sums = np.rint(np.cumsum(weights) / weights.sum() * total).astype(np.int64)
    shares: Numbers = np.diff(sums, prepend=0)
    return shares


def _amounts(
    rng: np.random.Generator, firm: _Firm, routes: list[_Route], nodes: int, spare: float
) -> tuple[Floats, Floats | None, Floats]:
    """Return deliveries, pickups and the capacities of all types, such that each route's vehicle is just so full."""
    tight, looser = int(rng.integers(firm.goods)), rng.uniform(0.05, 0.3)
    kilograms = np.exp(rng.normal(np.log(rng.uniform(15.0, 50.0)), rng.uniform(0.5, 1.1), size=nodes))
    density = np.exp(rng.normal(np.log(0.006), 0.4, size=nodes))
    raw = np.stack([kilograms, density * kilograms], axis=1)[:, : firm.goods]
    back = raw * rng.uniform(0.3, 0.9, size=(nodes, 1))
    gives, only = rng.random(nodes) < firm.pickups, rng.random(nodes) < 0.7
    for route in routes:
        # There is no room for pickups in the first third of a route.
        gives[route.stops[: (len(route.stops) + 2) // 3]] = False
    raw[gives & only] = 0.0
    sizes = np.array([firm.sizes[route.vehicle_type] for route in routes])
    deliveries, pickups = np.zeros((nodes, firm.goods)), np.zeros((nodes, firm.goods))
    capacities = np.zeros((len(firm.sizes), firm.goods))
    for good in range(firm.goods):
        unit, step = UNITS[good], round(ROOM_UNITS[good] / UNITS[good])
        to_spare = spare if good == tight else min(spare + looser, MOST_SPARE)
        asked = sum(float(raw[route.stops, good].sum()) for route in routes)
        base = asked / unit / ((1.0 - to_spare) * sizes.sum())
        # In units, whole numbers of steps.
        room = np.ceil(base * np.array(firm.sizes) / step).astype(np.int64) * step
        full = _full(rng, to_spare, room[[route.vehicle_type for route in routes]].astype(float))
        capacities[:, good] = np.round(room * unit, 2)
        for number, route in enumerate(routes):
            limit = int(room[route.vehicle_type])
            given = _shares(raw[route.stops, good], round(full[number] * limit))
            left, taken = int(given.sum()), np.zeros(len(route.stops), dtype=np.int64)
            for index, stop in enumerate(route.stops):
                left -= int(given[index])
                if gives[stop]:
                    taken[index] = min(back[stop, good] / unit, (limit - left - taken.sum()) // 2)
            deliveries[route.stops, good] = np.round(given * unit, 2)
            pickups[route.stops, good] = np.round(taken * unit, 2)
    return deliveries, pickups if pickups.any() else None, capacities


def _fleet(firm: _Firm, routes: list[_Route], capacities: Floats) -> tuple[list[VehicleType], list[int]]:
    """Return the types of vehicles, those of each depot apart, as many as there are routes, and the type of each."""
    vehicles = sorted({(route.vehicle_type, route.depot) for route in routes})
    of_route = [vehicles.index((route.vehicle_type, route.depot)) for route in routes]
    two = len({depot for _, depot in vehicles}) > 1
    fleet = []
    for index, (size, depot) in enumerate(vehicles):
        one = routes[of_route.index(index)]
        fleet.append(
            VehicleType(
                capacities[size].tolist(),
                of_route.count(index),
                float(round(firm.fixed * firm.sizes[size] ** 0.8)),
                round(firm.by_distance * firm.sizes[size] ** 0.5, 2),
                firm.by_minute,
                start=one.home,
                end=one.home,
                shift=one.shift,
                name=f"{NAMES[size]} of depot {depot + 1}" if two else NAMES[size],
            )
        )
    return fleet, of_route


def _windows(
    rng: np.random.Generator, firm: _Firm, routes: list[_Route], times: Floats, service: Floats, share: float
) -> Floats:
    """Return the windows of all nodes: those of a share of the stops lie about the times at which routes come by."""
    opens = 60.0 * (min(route.shift[0] for route in routes) // 60)
    closes = 60.0 * np.ceil(max(route.shift[1] for route in routes) / 60)
    noon = 30.0 * round((opens + closes) / 60.0)
    windows = np.tile([opens, closes], (len(service), 1))
    drawn = rng.random((len(service), 3))
    customers = sum(len(route.stops) for route in routes)
    with_window = np.argsort(drawn[1 : customers + 1, 0], kind="stable")[: round(share * customers)] + 1
    chosen = np.zeros(len(service), dtype=bool)
    chosen[with_window] = True
    for route in routes:
        now, last = float(route.shift[0]), route.home
        for stop in route.stops:
            now += times[last, stop]
            if chosen[stop] and drawn[stop, 1] < firm.half_days:
                windows[stop] = (opens, noon) if now <= noon else (noon, closes)
            elif chosen[stop]:
                begin = 30.0 * np.floor((now - drawn[stop, 2] * (firm.slot - 30)) / 30.0)
                windows[stop] = max(begin, opens), min(begin + firm.slot, closes)
            now, last = now + service[stop], stop
    return windows
