"""Initial solutions: random tours and constructions."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from neuralns.errors import InputError
from neuralns.problem.instance import Instance
from neuralns.problem.limits import LOAD_TOLERANCE, load_limit, load_limits
from neuralns.problem.schedule import schedule
from neuralns.problem.solution import Solution, out_of_limits

Floats = npt.NDArray[np.float64]

SAVINGS_NEIGHBOURS = 100
"""Merges are tried between customers that are among each other's nearest so many."""


FEWEST_NEIGHBOURS = 10
"""With fewer, savings leave too many short routes."""
SURE_PAIRS = 100_000
"""Merges that are tried in any case: all those of a thousand customers."""
PAIR_SECONDS = 1e-6
"""What one merge takes, about."""
SAVINGS_SHARE = 0.2
"""Share of the time of a search that may go into its start."""


def random_tours(instance: Instance, seed: int | np.random.SeedSequence = 0, chunk: int | None = None) -> Solution:
    """Shuffle the customers and cut them into routes: when the vehicle is full, or also after ``chunk`` customers.

    A route also ends where the next customer would break another rule, such as a window. Customers whom a route of
    their own does not serve, or for whom no vehicle is left, are left out. A shipment is delivered right after it is
    picked up, and of a group the first is served.

    Examples
    --------
    >>> from neuralns.problem.bundled import read
    >>> start = random_tours(read("C101", customers=20).in_paper_setting(), seed=1, chunk=4)
    >>> [len(route) for route in start.routes]
    [4, 4, 4, 4, 4]
    """
    if chunk is not None and chunk < 1:
        raise InputError(f"chunks of {chunk} customers cannot be cut; at least 1 is needed.")
    order = np.random.default_rng(seed).permutation(np.arange(1, instance.customers + 1))
    if instance.general:
        return _cut_for_fleet(instance, order.tolist(), chunk)
    limit = load_limit(instance, LOAD_TOLERANCE / 2)
    if instance.may_leave_out:
        return Solution(instance, _cut_by_rules(instance, order.tolist(), limit, chunk))
    routes: list[list[int]] = []
    room = -1.0
    for customer in order:
        demand = float(instance.demands[customer])
        if not routes or demand > room or (chunk is not None and len(routes[-1]) >= chunk):
            routes.append([])
            room = limit
        routes[-1].append(int(customer))
        room -= demand
    return Solution(instance, routes)


def _cut_by_rules(instance: Instance, order: list[int], limit: float, chunk: int | None) -> list[list[int]]:
    """Return routes of customers in order, each as long as it keeps all rules, those left out who fit on none."""
    routes: list[list[int]] = []
    vehicles = len(order) if instance.vehicles is None else instance.vehicles

    def keeps_rules(route: list[int]) -> bool:
        return float(instance.demands[route].sum()) <= limit and not out_of_limits(instance, 1, route)

    for customer in order:
        full = not routes or (chunk is not None and len(routes[-1]) >= chunk)
        if not full and keeps_rules([*routes[-1], customer]):
            routes[-1].append(customer)
        elif len(routes) < vehicles and keeps_rules([customer]):
            routes.append([customer])
    return routes


def _cut_for_fleet(instance: Instance, order: list[int], chunk: int | None) -> Solution:
    """Return routes of requests in order, each by the first type of vehicle that is free and serves the first one."""
    shipped = {each.pickup: each.delivery for each in instance.shipments or ()}
    ends, most = set(shipped.values()), load_limits(instance, LOAD_TOLERANCE / 2)
    depots = zip(instance.depot_nodes, instance.depots or (), strict=False)
    stock = {node: np.array(depot.capacity) for node, depot in depots if depot.capacity is not None}
    routes: list[list[int]] = []
    vehicle_types: list[int] = []
    groups: set[int] = set()

    def keeps_rules(route: list[int], vehicle_type: int, needed: Floats) -> bool:
        start = instance.types[vehicle_type].start
        if start in stock and (needed > stock[start]).any():
            return False
        loads = schedule(instance, route, vehicle_type).most_loaded
        return bool((loads <= most[vehicle_type]).all()) and not out_of_limits(instance, 1, route, vehicle_type)

    for customer in order:
        group = instance.group_of.get(customer)
        if customer in ends or group in groups:
            continue
        request = [customer, shipped[customer]] if customer in shipped else [customer]
        needed = instance.amounts[0][request].sum(axis=0)
        full = not routes or (chunk is not None and len(routes[-1]) + len(request) > chunk)
        if not full and keeps_rules([*routes[-1], *request], vehicle_types[-1], needed):
            routes[-1] += request
        else:
            free = (
                at
                for at, vehicle_type in enumerate(instance.types)
                if vehicle_type.available is None or vehicle_types.count(at) < vehicle_type.available
            )
            chosen = next((at for at in free if keeps_rules(request, at, needed)), None)
            if chosen is None or len(routes) == instance.vehicles:
                continue
            routes.append(request)
            vehicle_types.append(chosen)
        start = instance.types[vehicle_types[-1]].start
        if start in stock:
            stock[start] = stock[start] - needed
        if group is not None:
            groups.add(group)
    return Solution(instance, routes, vehicle_types)


def _refuse_rules(instance: Instance, what: str) -> None:
    """Refuse a construction that knows loads alone for an instance with more rules."""
    if instance.may_leave_out:
        raise InputError(
            f"{instance.name}: {what} serves everybody and looks at loads alone, but windows, limits or demands rule "
            "that out; take random_tours, or the start of neuralns.solve."
        )


def savings(instance: Instance, most: int = SAVINGS_NEIGHBOURS) -> Solution:
    """Build routes by Clarke and Wright's savings: one route per customer, then merge ends by c_i0 + c_0j − c_ij.

    Merges are tried in order of their savings (Clarke & Wright 1964), those with a vehicle's cost saved included;
    between customers that are among the nearest ``most`` of one another.
    """
    _refuse_rules(instance, "savings")
    nodes = instance.customers + 1
    neighbours = nearest_neighbours(instance, SAVINGS_NEIGHBOURS)[:, :most]
    tails = np.repeat(np.arange(1, nodes), neighbours.shape[1])
    heads = neighbours[1:].ravel().astype(np.int64)
    gains = (
        _distances_between(instance, tails, np.zeros_like(tails))
        + _distances_between(instance, np.zeros_like(heads), heads)
        - _distances_between(instance, tails, heads)
        + instance.vehicle_cost
    )
    order = np.argsort(-gains, kind="stable")
    order = order[gains[order] > 0]

    route_of = list(range(nodes))
    routes: list[list[int]] = [[customer] for customer in range(nodes)]
    load = [float(demand) for demand in instance.demands]
    limit = load_limit(instance, LOAD_TOLERANCE / 2)
    symmetric = instance.matrix is None or bool(np.array_equal(instance.matrix, instance.matrix.T))
    for tail, head in zip(tails[order].tolist(), heads[order].tolist(), strict=True):
        first, second = route_of[tail], route_of[head]
        if first == second or load[first] + load[second] > limit:
            continue
        front, back = routes[first], routes[second]
        if front[-1] != tail:
            if not symmetric or front[0] != tail:
                continue
            front.reverse()
        if back[0] != head:
            if not symmetric or back[-1] != head:
                continue
            back.reverse()
        front.extend(back)
        load[first] += load[second]
        for customer in back:
            route_of[customer] = first
        routes[second] = []
    return Solution(instance, routes[1:])


def sweep(instance: Instance) -> Solution:
    """Cut the customers into routes in the order of their angle around the depot (Gillett & Miller 1974).

    Each route then goes out along one half of its sector and back along the other. Worse than savings, and done in a
    moment.
    """
    _refuse_rules(instance, "sweep")
    around = instance.points[1:] - instance.points[0]
    angles, radii = np.arctan2(around[:, 1], around[:, 0]), np.hypot(around[:, 0], around[:, 1])
    limit = load_limit(instance, LOAD_TOLERANCE / 2)
    routes: list[list[int]] = []
    room = -1.0
    for customer in (np.argsort(angles, kind="stable") + 1).tolist():
        demand = float(instance.demands[customer])
        if not routes or demand > room:
            routes.append([])
            room = limit
        routes[-1].append(customer)
        room -= demand
    for route in routes:
        half = len(route) // 2
        route[:half] = sorted(route[:half], key=lambda customer: float(radii[customer - 1]))
        route[half:] = sorted(route[half:], key=lambda customer: -float(radii[customer - 1]))
    return Solution(instance, routes)


def savings_in(instance: Instance, seconds: float) -> Solution:
    """Build routes by savings as far as they come in a small part of some seconds, by a sweep if they do not at all.

    What is built depends on the seconds given and the size alone, not on how fast the machine is.
    """
    pairs = max(SURE_PAIRS, SAVINGS_SHARE * seconds / PAIR_SECONDS)
    most = int(min(SAVINGS_NEIGHBOURS, pairs / instance.customers))
    return savings(instance, most) if most >= FEWEST_NEIGHBOURS else sweep(instance)


def nearest_insertion(instance: Instance) -> Solution:
    """Build routes one by one: the farthest customer opens a route, then the nearest one that fits joins it.

    Nearest means nearest to any node of the route; the customer joins where it lengthens the route the least
    (nearest insertion, Rosenkrantz, Stearns & Lewis 1977, with a new route when nobody fits).
    """
    _refuse_rules(instance, "nearest_insertion")
    waiting = np.ones(instance.customers + 1, dtype=bool)
    waiting[0] = False
    everyone = np.arange(instance.customers + 1)
    from_depot = _distances_between(instance, np.zeros_like(everyone), everyone)
    limit = load_limit(instance, LOAD_TOLERANCE / 2)
    routes: list[list[int]] = []
    while waiting.any():
        newest = int(np.argmax(np.where(waiting, from_depot, -1.0)))
        route = [0, newest]
        room = limit - instance.demands[newest]
        waiting[newest] = False
        nearness = _distances_between(instance, np.full_like(everyone, newest), everyone)
        while True:
            able = waiting & (instance.demands <= room)
            if not able.any():
                break
            newest = int(np.argmin(np.where(able, nearness, np.inf)))
            before, after = np.array(route), np.array([*route[1:], 0])
            added = (
                _distances_between(instance, before, np.full_like(before, newest))
                + _distances_between(instance, np.full_like(after, newest), after)
                - _distances_between(instance, before, after)
            )
            route.insert(int(np.argmin(added)) + 1, newest)
            room -= instance.demands[newest]
            waiting[newest] = False
            nearness = np.minimum(nearness, _distances_between(instance, np.full_like(everyone, newest), everyone))
        routes.append(route[1:])
    return Solution(instance, routes)


def nearest_neighbours(instance: Instance, count: int) -> np.ndarray[tuple[int, int], np.dtype[np.int32]]:
    """Return for every node its nearest ``count`` customers (at most all others), nearest first."""
    known = _neighbours.setdefault(instance, {})
    if count not in known:
        known[count] = _nearest_neighbours(instance, count)
        known[count].setflags(write=False)
    return known[count]


_neighbours: WeakKeyDictionary[Instance, dict[int, np.ndarray[tuple[int, int], np.dtype[np.int32]]]] = (
    WeakKeyDictionary()
)
"""Those found so far: the start and the state of a search ask for the same, which takes long for large instances."""


def _nearest_neighbours(instance: Instance, count: int) -> np.ndarray[tuple[int, int], np.dtype[np.int32]]:
    nodes = instance.customers + 1
    count = min(count, nodes - 2) if nodes > 2 else 0
    result = np.zeros((nodes, count), dtype=np.int32)
    if count < 1:
        return result
    if instance.matrix is None and instance.distances is None:
        from scipy.spatial import cKDTree

        tree = cKDTree(instance.points[1:nodes])
        # Nodes near each other in turn, which finds what it needs in the processor's cache.
        order = np.append(tree.indices + 1, 0)
        found = np.empty((nodes, count + 1), dtype=np.int64)
        found[order] = tree.query(instance.points[order], k=count + 1)[1]
        # A customer is not its own neighbour; where several share its place, it may not even be among those found.
        other = found != np.arange(-1, nodes - 1)[:, None]
        other[other.all(axis=1), -1] = False
        result[:] = found[other].reshape(nodes, count) + 1
        return result
    assert instance.distances is not None
    for node in range(nodes):
        row = instance.distances[node, :nodes].copy()
        row[0] = row[node] = np.inf
        if count < nodes - 2:
            nearest = np.sort(np.argpartition(row, count)[:count])
        else:
            nearest = np.flatnonzero(row < np.inf)
        result[node] = nearest[np.argsort(row[nearest], kind="stable")][:count]
    return result


def _distances_between(
    instance: Instance,
    tails: np.ndarray[tuple[int], np.dtype[np.int64]],
    heads: np.ndarray[tuple[int], np.dtype[np.int64]],
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return instance.legs(tails, heads) if instance.distances is None else instance.distances[tails, heads]
