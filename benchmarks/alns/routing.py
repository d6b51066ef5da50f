"""Capacitated vehicle routing: short routes from a depot that serve all customers within the vehicles' capacity."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from benchmarks.alns.problem import Problem, in_three_sizes

CUSTOMERS = 200
ROUTE_LENGTH = 8


class Customers:
    """An instance by its seed: the depot is node 0; demands of 1 to 100; about eight customers a route."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng([12, seed])
        places = rng.integers(0, 1001, (CUSTOMERS + 1, 2)).astype(float)
        if seed % 2:
            seeds = rng.integers(100, 901, (6, 2))
            places[1:] = seeds[rng.integers(0, 6, CUSTOMERS)] + rng.normal(0, 60, (CUSTOMERS, 2))
        self.distances = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1))
        self.rows: list[list[float]] = self.distances.tolist()
        self.near: list[list[int]] = [
            [node for node in row if node] for row in np.argsort(self.distances, axis=1).tolist()
        ]
        self.demands: list[int] = [0, *rng.integers(1, 101, CUSTOMERS).tolist()]
        self.capacity = max(100, round(ROUTE_LENGTH * sum(self.demands) / CUSTOMERS))


class Routes:
    """Routes without the depot; destroyed, they lack the customers in ``missing``."""

    def __init__(self, customers: Customers, routes: list[list[int]], missing: list[int]) -> None:
        self.customers, self.routes, self.missing = customers, routes, missing
        self._cost: float | None = None

    def objective(self) -> float:
        if self._cost is None:
            self._cost = sum(map(self.length, self.routes))
        return self._cost

    def length(self, route: list[int]) -> float:
        rows = self.customers.rows
        return sum([rows[a][b] for a, b in zip([0, *route], [*route, 0], strict=True)])

    def load(self, route: list[int]) -> int:
        demands = self.customers.demands
        return sum([demands[node] for node in route])

    def get_context(self) -> npt.NDArray[np.float64]:
        lengths = np.array(list(map(self.length, self.routes)))
        loads = np.array(list(map(self.load, self.routes))) / self.customers.capacity
        sizes = np.array(list(map(len, self.routes)))
        return np.array([len(lengths), lengths.mean(), lengths.std(), loads.mean(), loads.min(), sizes.std()])


def initial(seed: int) -> Routes:
    """From each customer to the nearest one that the vehicle can still take."""
    customers = Customers(seed)
    left, routes = set(range(1, CUSTOMERS + 1)), []
    while left:
        route: list[int] = []
        room, last = customers.capacity, 0
        while fitting := [node for node in left if customers.demands[node] <= room]:
            last = min(fitting, key=customers.rows[last].__getitem__)
            route.append(last)
            left.remove(last)
            room -= customers.demands[last]
        routes.append(route)
    return Routes(customers, routes, [])


def without(state: Routes, gone: list[int]) -> Routes:
    chosen = set(gone)
    kept = [[node for node in route if node not in chosen] for route in state.routes]
    return Routes(state.customers, [route for route in kept if route], gone)


def random_removal(state: Routes, rng: np.random.Generator, size: int) -> Routes:
    return without(state, (1 + rng.choice(CUSTOMERS, size, replace=False)).tolist())


def string_removal(state: Routes, rng: np.random.Generator, size: int) -> Routes:
    """Remove a string of each route near a customer, until there are enough."""
    where = {node: route for route in state.routes for node in route}
    gone: list[int] = []
    met: set[int] = set()
    for node in state.customers.near[int(rng.integers(1, CUSTOMERS + 1))]:
        route = where[node]
        if id(route) in met or node in gone:
            continue
        met.add(id(route))
        length = int(rng.integers(1, min(len(route), 8) + 1))
        place = route.index(node)
        begin = int(rng.integers(max(0, place - length + 1), min(place, len(route) - length) + 1))
        gone += route[begin : begin + length]
        if len(gone) >= size:
            break
    rng.shuffle(gone)
    return without(state, gone)


def near_removal(state: Routes, rng: np.random.Generator, size: int) -> Routes:
    gone = state.customers.near[int(rng.integers(1, CUSTOMERS + 1))][:size]
    rng.shuffle(gone)
    return without(state, gone)


def worst_removal(state: Routes, rng: np.random.Generator, size: int) -> Routes:
    """Remove customers whose removal saves most, with some chance in the order."""
    rows = state.customers.rows
    saved = {}
    for route in state.routes:
        for before, node, after in zip([0, *route], route, [*route[1:], 0], strict=False):
            saved[node] = (rows[before][node] + rows[node][after] - rows[before][after]) * rng.random()
    return without(state, sorted(saved, key=saved.__getitem__, reverse=True)[:size])


def route_removal(state: Routes, rng: np.random.Generator, size: int) -> Routes:
    """Take whole routes apart, as long as there are not enough."""
    gone: list[int] = []
    for index in rng.permutation(len(state.routes)).tolist():
        gone += state.routes[index]
        if len(gone) >= size:
            break
    rng.shuffle(gone)
    return without(state, gone)


def best_place(state: Routes, node: int, route: list[int]) -> tuple[float, int]:
    rows = state.customers.rows
    row = rows[node]
    best, place, before = np.inf, 0, 0
    for index, after in enumerate([*route, 0]):
        longer = row[before] + row[after] - rows[before][after]
        if longer < best:
            best, place = longer, index
        before = after
    return best, place


def greedy_insertion(state: Routes, rng: np.random.Generator, blink: float = 0.0) -> Routes:
    """Insert each missing customer where it costs least, a route of its own where it fits nowhere.

    With a blink, each route is overlooked with that probability.
    """
    demands, capacity = state.customers.demands, state.customers.capacity
    loads = [state.load(route) for route in state.routes]
    for node in state.missing:
        best, slot, place = 2 * state.customers.rows[0][node], -1, 0
        seen = rng.random(len(loads)) >= blink if blink else [True] * len(loads)
        for index, route in enumerate(state.routes):
            if seen[index] and loads[index] + demands[node] <= capacity:
                cost, where = best_place(state, node, route)
                if cost < best:
                    best, slot, place = cost, index, where
        if slot < 0:
            state.routes.append([node])
            loads.append(demands[node])
        else:
            state.routes[slot].insert(place, node)
            loads[slot] += demands[node]
    state.missing = []
    return state


def insertion_with_blinks(state: Routes, rng: np.random.Generator) -> Routes:
    return greedy_insertion(state, rng, blink=0.1)


def regret_insertion(state: Routes, rng: np.random.Generator) -> Routes:
    """Insert first the customer that loses most if it does not get its best route."""
    demands, capacity = state.customers.demands, state.customers.capacity
    loads = [state.load(route) for route in state.routes]
    costs = {node: [best_place(state, node, route) for route in state.routes] for node in state.missing}
    while costs:
        most, chosen, slot = -np.inf, -1, -1
        for node, places in costs.items():
            own = 2 * state.customers.rows[0][node]
            first, second, at = own, np.inf, -1
            for index, (cost, _) in enumerate(places):
                if loads[index] + demands[node] > capacity:
                    continue
                if cost < first:
                    first, second, at = cost, first, index
                elif cost < second:
                    second = cost
            regret = (second if at >= 0 else own + 1e6) - first
            if regret > most:
                most, chosen, slot = regret, node, at
        if slot < 0:
            slot = len(state.routes)
            state.routes.append([chosen])
            loads.append(demands[chosen])
            del costs[chosen]
            for node, places in costs.items():
                places.append(best_place(state, node, state.routes[slot]))
            continue
        state.routes[slot].insert(costs[chosen][slot][1], chosen)
        loads[slot] += demands[chosen]
        del costs[chosen]
        for node, places in costs.items():
            places[slot] = best_place(state, node, state.routes[slot])
    state.missing = []
    return state


PROBLEM = Problem(
    "routing",
    initial,
    in_three_sizes([random_removal, string_removal, near_removal, worst_removal, route_removal], CUSTOMERS),
    {"greedy": greedy_insertion, "greedy with blinks": insertion_with_blinks, "regret": regret_insertion},
    worse=0.02,
)
