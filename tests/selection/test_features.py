"""What selectors see, against the formulas of the documentation worked out in plain Python."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from math import inf, sqrt
from statistics import fmean, pstdev

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from brute_force import drive, timed_instances, way
from helpers import random_instances
from neuralns import MDP, InputError, Instance, Lanes, Solution, make_mdp, portfolio_named, random_tours
from neuralns.mdp.mdp import episode_seeds
from neuralns.routes.bounds import charged_cost
from neuralns.selection.features import (
    FEATURE_SETS,
    PAPER,
    RELATIVE,
    RICH,
    ROUTES,
    WINDOWS,
    FeatureSet,
    features_for,
    features_named,
)

Arc = tuple[int, int]


def arcs_of(route: tuple[int, ...]) -> list[Arc]:
    return list(pairwise((0, *route, 0)))


class View:
    """A solution, complete or destroyed, with what the formulas refer to."""

    def __init__(
        self, solution: Solution, quota: int, left: float, seen: dict[Arc, float], complete: list[Solution]
    ) -> None:
        self.instance, self.routes = solution.instance, solution.routes
        self.quota, self.left, self.seen = quota, left, seen
        self.start_cost, self.last = complete[0].cost, complete[-1]
        self.gains = [before.cost - after.cost for before, after in pairwise(complete)]
        self.gains = [0.0 if abs(gain) <= 1e-10 * complete[0].cost else gain for gain in self.gains]
        routed = {customer for route in self.routes for customer in route}
        self.removed = [customer for customer in range(1, self.instance.customers + 1) if customer not in routed]
        self.unit = fmean(self.distance(0, customer) for customer in range(1, self.instance.customers + 1)) or 1.0
        self.lengths = [sum(self.distance(*arc) for arc in arcs_of(route)) for route in self.routes]
        self.loads = [sum(float(self.instance.demands[customer]) for customer in route) for route in self.routes]
        self.sizes = [len(route) for route in self.routes]
        self.cost = sum(self.lengths) + self.instance.vehicle_cost * len(self.routes)

    def distance(self, tail: int, head: int) -> float:
        return 0.0 if tail == head else self.instance.distance(tail, head)

    def squash(self, size: float) -> float:
        return size / (size + self.quota)

    def detour(self, before: int, customer: int, after: int) -> float:
        return self.distance(before, customer) + self.distance(customer, after) - self.distance(before, after)

    def elsewhere(self, customer: int, near: int) -> tuple[float, int]:
        """The cheapest place beside one of the nearest on another route with room, and the number of that or −1."""
        home = next((number for number, route in enumerate(self.routes) if customer in route), None)
        others = (other for other in range(1, self.instance.customers + 1) if other != customer)
        nearest = sorted(others, key=lambda other: self.distance(customer, other))[:near]
        best, goal = inf, -1
        for number, route in enumerate(self.routes):
            room = self.instance.capacity * (1 + 1e-9) - self.loads[number]
            if number != home and self.instance.demands[customer] <= room:
                for before, after in arcs_of(route):
                    if before in nearest or after in nearest:
                        best, goal = min((best, goal), (self.detour(before, customer, after), number))
        return best, goal

    def move(self, customer: int, unit: float | None = None, near: int = 8) -> float:
        """What it costs, in units, to put a routed customer where it costs least on another route."""
        path = next((0, *route, 0) for route in self.routes if customer in route)
        place, best = path.index(customer), self.elsewhere(customer, near)[0]
        return min((best - self.detour(path[place - 1], customer, path[place + 1])) / (unit or self.unit), 4.0)

    def leave(self, customer: int, rest: tuple[int, ...]) -> float:
        """What another route costs more than what is left of its own, in units."""
        best = self.elsewhere(customer, 10)[0]
        if best == inf or not rest:
            return 4.0 if best == inf else -4.0
        stay = min(self.detour(before, customer, after) for before, after in arcs_of(rest))
        return max(-4.0, min(4.0, (best - stay) / self.unit))


def ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0 else 0.0


def paper_nodes(view: View) -> list[dict[str, float]]:
    instance = view.instance
    nodes = range(instance.customers + 1)
    most_x, most_y = (max(abs(float(value)) for value in column) for column in instance.points.T)
    most_demand = max(float(demand) for demand in instance.demands)
    most_depot = max(view.distance(0, node) for node in nodes)
    return [
        {
            "x": ratio(float(instance.points[node][0]), most_x),
            "y": ratio(float(instance.points[node][1]), most_y),
            "demand": ratio(float(instance.demands[node]), most_demand),
            "depot": ratio(view.distance(0, node), most_depot),
            "routed": float(node not in view.removed),
            "tours": len(view.routes) / 5,
        }
        for node in nodes
    ]


def rich_nodes(view: View) -> list[dict[str, float]]:
    instance, unit = view.instance, view.unit
    rows = []
    for node in range(instance.customers + 1):
        row = dict.fromkeys(RICH.nodes, 0.0)
        row["x"] = float(instance.points[node][0] - instance.points[0][0]) / unit
        row["y"] = float(instance.points[node][1] - instance.points[0][1]) / unit
        row["demand"] = float(instance.demands[node]) / instance.capacity
        row["depot"] = view.distance(0, node) / unit
        row["routed"] = float(node not in view.removed)
        rows.append(row)
    for number, route in enumerate(view.routes):
        for place, customer in enumerate(route, 1):
            before, after = (0, *route, 0)[place - 1], (0, *route, 0)[place + 1]
            arriving, leaving = view.distance(before, customer), view.distance(customer, after)
            known = [min(view.seen.get(arc, inf), view.start_cost) for arc in ((before, customer), (customer, after))]
            rows[customer] |= {
                "before": arriving / unit,
                "after": leaving / unit,
                "gain": (arriving + leaving - view.distance(before, after)) / unit,
                "load": view.loads[number] / instance.capacity,
                "length": view.lengths[number] / (8 * unit),
                "size": len(route) / (len(route) + view.quota),
                "position": place / (len(route) + 1),
                "history": ratio(sum(known) / 2, view.start_cost),
            }
    return rows


def shares_of_moves(view: View, routes: list[tuple[int, ...]]) -> set[float]:
    """Shares of negative moves in any of the routes; a move of 0 may count either way."""
    if len(view.routes) < 2:
        return {0.0}
    found = set()
    for route in routes:
        moves = [view.move(customer) for customer in route]
        least, most = (sum(move < bound for move in moves) for bound in (-1e-9, 1e-9))
        found |= {count / len(route) for count in range(least, most + 1)}
    return found


def means_of_moves(view: View, routes: list[tuple[int, ...]], unit: float | None = None) -> set[float]:
    if len(view.routes) < 2:
        return {4.0}
    return {fmean(view.move(customer, unit) for customer in route) for route in routes}


def rich_globals(view: View) -> dict[str, float | set[float]]:
    """Features of the whole; where routes tie, the set of values that any of them gives."""
    instance, routes, quota = view.instance, len(view.routes), view.quota
    sizes, lengths, loads = view.sizes or [0], view.lengths or [0.0], view.loads or [0.0]
    capacity, long = instance.capacity, 8 * view.unit
    ordered = sorted(view.sizes)
    removed = instance.points[view.removed]
    box = float((removed.max(axis=0) - removed.min(axis=0)).sum()) if view.removed else 0.0
    shortest = {view.squash(size) for size, length in zip(sizes, lengths, strict=True) if length <= min(lengths) + 1e-9}
    smallest = {length / long for size, length in zip(sizes, lengths, strict=True) if size == min(sizes)}
    arcs = sum(len(route) + 1 for route in view.routes)
    tied_shortest = [
        route for route, length in zip(view.routes, view.lengths, strict=True) if length <= min(lengths) + 1e-9
    ]
    tied_smallest = [route for route in view.routes if len(route) == min(sizes)]
    stalled = next((pairs for pairs, gain in enumerate(reversed(view.gains)) if gain > 0), len(view.gains))
    return {
        "phase": float(bool(view.removed)),
        "budget": view.left,
        "cost": ratio(view.cost, view.start_cost),
        "routes": routes / sqrt(instance.customers),
        "quota": quota / instance.customers,
        "removed": len(view.removed) / quota,
        "vehicles": ratio(instance.vehicle_cost * routes, view.cost),
        "one": float(routes == 1),
        "two": float(routes == 2),
        "three": float(routes == 3),
        "smallest": view.squash(min(sizes)),
        "second": view.squash(ordered[1]) if routes > 1 else 1.0,
        "largest": max(sizes) / instance.customers,
        "one_fits": float(any(size <= quota for size in ordered)),
        "two_fit": float(routes > 1 and ordered[0] + ordered[1] <= quota),
        "shortest_size": shortest,
        "shortest": min(lengths) / long,
        "mean_length": fmean(lengths) / long,
        "longest": max(lengths) / long,
        "spread_length": pstdev(lengths) / long,
        "smallest_length": smallest,
        "least_load": min(loads) / capacity,
        "mean_load": fmean(loads) / capacity,
        "most_load": max(loads) / capacity,
        "spread_load": pstdev(loads) / capacity,
        "fitting": sum(size <= quota for size in ordered) / max(1, routes),
        "arc": ratio(sum(lengths), arcs) / view.unit,
        "waiting": sum(float(instance.demands[customer]) for customer in view.removed) / capacity,
        "waiting_depot": fmean([view.distance(0, customer) for customer in view.removed] or [0.0]) / view.unit,
        "waiting_box": box / (4 * view.unit),
        "saved": ratio(view.last.cost - view.cost, view.start_cost) if view.removed else 0.0,
        "emptied": (len(view.last.routes) - routes) / 5 if view.removed else 0.0,
        "shortest_moves": shares_of_moves(view, tied_shortest),
        "shortest_move": means_of_moves(view, tied_shortest),
        "smallest_moves": shares_of_moves(view, tied_smallest),
        "smallest_move": means_of_moves(view, tied_smallest),
        "gained": ratio(view.gains[-1] if view.gains else 0.0, view.start_cost),
        "stalled": stalled / (stalled + 2),
    }


def routes_globals(view: View) -> list[float]:
    """What the set ``routes`` has of the whole beyond ``rich``."""
    numbers = sorted(range(len(view.routes)), key=lambda number: (view.sizes[number], view.lengths[number]))[:6]
    moves = {customer: view.move(customer, near=10) for number in numbers for customer in view.routes[number]}
    goals = {customer: view.elsewhere(customer, 10)[1] for customer in (*moves, *view.removed)}
    found = []
    for number in numbers:
        route = view.routes[number]
        own, first = [moves[customer] for customer in route], route[: view.quota]
        leaves = [view.leave(customer, route[view.quota :]) for customer in first]
        found += [
            1.0,
            view.squash(len(route)),
            view.lengths[number] / (8 * view.unit),
            float(view.lengths[number] == min(view.lengths)),
            sum(move < 0 for move in own) / view.quota,
            fmean(own),
            min(own),
            max(own),
            sum(leave < 0 for leave in leaves) / view.quota,
            fmean(leaves),
            sum(goals[customer] == number and move < 0 for customer, move in moves.items()) / view.quota,
            sum(goals[customer] == number for customer in moves) / view.instance.customers,
            sum(goals[customer] == number for customer in view.removed) / view.quota,
        ]
    return found + [0.0] * (len(ROUTES.globals) - len(RICH.globals) - len(found))


def episode(lanes: Lanes, start: Solution, seed: int) -> Iterator[View]:
    """Play lane 0 by random operators; yield what there is to see after each step, the start first."""
    mdp, choice = lanes.mdps[0], np.random.default_rng(seed)
    seen: dict[Arc, float] = {}
    lanes.reset([start] * len(lanes), np.arange(len(lanes), dtype=np.uint64) + np.uint64(seed))
    complete: list[Solution] = []
    while True:
        solution = lanes.solution(0)
        if lanes.phases[0] == 0:
            complete.append(solution)
            for route in solution.routes:
                for arc in arcs_of(route):
                    seen[arc] = min(seen.get(arc, inf), solution.cost)
        yield View(solution, mdp.scale, int(lanes.budgets[0]) / mdp.budget, seen, complete)
        if lanes.done:
            return
        action = choice.choice(np.flatnonzero(lanes.action_mask[0]))
        lanes.step(np.full(len(lanes), action))


def assert_rows(found: np.ndarray, expected: list[dict[str, float]], names: tuple[str, ...]) -> None:
    assert found.shape == (len(expected), len(names))
    for node, row in enumerate(expected):
        for column, name in enumerate(names):
            assert found[node, column] == pytest.approx(row[name], rel=1e-5, abs=1e-5), f"{name} of node {node}"


def assert_globals(found: np.ndarray, expected: dict[str, float | set[float]]) -> None:
    for value, name in zip(found.tolist(), RICH.globals, strict=True):
        wanted = expected[name]
        choices = wanted if isinstance(wanted, set) else {wanted}
        assert any(value == pytest.approx(choice, rel=1e-5, abs=1e-5) for choice in choices), name


def mdp_of(instance: Instance, scale: int, budget: int = 3) -> MDP:
    return MDP(instance, portfolio_named("paper"), "distance", scale, budget)


@settings(deadline=None, max_examples=40)
@given(random_instances(most=14), st.integers(0, 1000), st.data())
def test_rich_features_follow_their_formulas_all_through_an_episode(
    instance: Instance, seed: int, data: st.DataObject
) -> None:
    lanes = Lanes([mdp_of(instance, data.draw(st.integers(1, instance.customers)))], RICH)
    for view in episode(lanes, random_tours(instance, seed), seed):
        assert_rows(lanes.node_features[0], rich_nodes(view), RICH.nodes)
        assert_globals(lanes.global_features[0], rich_globals(view))


@settings(deadline=None, max_examples=25)
@given(random_instances(most=14), st.integers(0, 1000), st.data())
def test_paper_features_follow_their_formulas_all_through_an_episode(
    instance: Instance, seed: int, data: st.DataObject
) -> None:
    lanes = Lanes([mdp_of(instance, data.draw(st.integers(1, instance.customers)))], PAPER)
    for view in episode(lanes, random_tours(instance, seed), seed):
        assert_rows(lanes.node_features[0], paper_nodes(view), PAPER.nodes)
        assert lanes.global_features[0].tolist() == pytest.approx([float(bool(view.removed)), view.left])


@settings(deadline=None, max_examples=40)
@given(st.integers(2, 16), st.integers(0, 10**6), st.data())
def test_features_of_routes_follow_their_formulas_all_through_an_episode(
    customers: int, seed: int, data: st.DataObject
) -> None:
    # Points with fractions: no two places cost the same, so that nothing hangs on how ties are broken.
    points = np.random.default_rng(seed).uniform(0, 100, (customers + 1, 2))
    demands = [0, *np.random.default_rng(seed + 1).integers(1, 5, customers).tolist()]
    instance = Instance("drawn", demands, data.draw(st.sampled_from([8, 20, 100])), points)
    lanes = Lanes([mdp_of(instance, data.draw(st.integers(1, customers)))], ROUTES)
    for view in episode(lanes, random_tours(instance, seed), seed):
        assert_rows(lanes.node_features[0], rich_nodes(view), RICH.nodes)
        assert_globals(lanes.global_features[0, : len(RICH.globals)], rich_globals(view))
        found = lanes.global_features[0, len(RICH.globals) :].tolist()
        names = ROUTES.globals[len(RICH.globals) :]
        for name, value, expected in zip(names, found, routes_globals(view), strict=True):
            assert value == pytest.approx(expected, rel=1e-4, abs=1e-4), name


def test_features_of_routes_by_hand() -> None:
    lanes = lanes_of_triangle(ROUTES)
    found = lanes.global_features[0, len(RICH.globals) :].reshape(6, -1)
    assert ROUTES.globals[-13:] == (
        "there_6", "size_6", "length_6", "shortest_6", "moves_6", "move_6", "least_move_6", "most_move_6", "leaves_6",
        "leave_6", "drawn_6", "goal_6", "waiting_6",
    )  # fmt: skip
    # First comes route (2): with d = 1 nothing is left of it. On (1, 3) it costs 2 and gains 8 where it is. Beside 2,
    # customer 1 costs 3 + 5 − 4 = 4 and gains 3 + 4 − 5 = 2, customer 3 costs 3 + 5 − 4 = 4 and gains 4 + 5 − 3 = 6.
    assert found[0].tolist() == pytest.approx([1, 1 / 2, 8 / 32, 1, 1, -1.5, -1.5, -1.5, 1, -4, 1, 2 / 3, 0])
    # Of (1, 3) a removal begins with 1: 3 is left, where 1 costs 3 + 4 − 5 = 2 again.
    assert found[1].tolist() == pytest.approx([1, 2 / 3, 12 / 32, 0, 1, 0, -0.5, 0.5, 0, 0.5, 1, 1 / 3, 0])
    assert not found[2:].any()
    lanes.step(np.array([0]))
    # Without 2 there is one route: nowhere to go for its customers, and it is where 2 goes.
    found = lanes.global_features[0, len(RICH.globals) :].reshape(6, -1)
    assert found[0].tolist() == pytest.approx([1, 2 / 3, 12 / 32, 1, 0, 4, 4, 4, 0, 4, 0, 0, 1])


@pytest.mark.parametrize("features", [PAPER, RICH], ids=["paper", "rich"])
def test_rows_are_nodes_and_rows_beyond_them_stay_zero(features: FeatureSet) -> None:
    instance = Instance("plane", [0, 1, 2, 3, 4], 6, [[1, 2], [4, 6], [1, 5], [-2, 2], [1, 14]])
    lanes = Lanes([mdp_of(instance, 2)] * 3, features, nodes=7)
    expected = paper_nodes if features is PAPER else rich_nodes
    for view in episode(lanes, Solution(instance, [[3, 1], [2, 4]]), 5):
        assert_rows(lanes.node_features[0, :5], expected(view), features.nodes)
        assert not lanes.node_features[:, 5:].any()
    assert lanes.node_mask.tolist() == [[1, 1, 1, 1, 1, 0, 0]] * 3
    assert lanes.node_features[2, :5, : features.static].tolist() == lanes.node_features[0, :5, :4].tolist()


# The depot at the origin; customers 3 east, 4 north, 5 north-east; distances 3, 4, 5 from the depot, so u = 4.
#   1 at (3, 0), 2 at (0, 4), 3 at (3, 4): c_12 = 5, c_13 = 4, c_23 = 3.
# Routes (1, 3) of length 3 + 4 + 5 = 12 and (2) of length 8; F0 = 20 + 2 × 10 = 40; Q = 10, demands 1, 4, 2; d = 1.
TRIANGLE = Instance("triangle", [0, 1, 4, 2], 10, [[0, 0], [3, 0], [0, 4], [3, 4]], vehicle_cost=10)
TOURS = Solution(TRIANGLE, [[1, 3], [2]])


def lanes_of_triangle(features: FeatureSet) -> Lanes:
    mdp = MDP(TRIANGLE, portfolio_named("greedy-route,greedy"), "distance", 1, 2)
    lanes = Lanes([mdp], features)
    lanes.reset([TOURS], np.zeros(1, np.uint64))
    return lanes


def named(lanes: Lanes, names: Iterable[str]) -> dict[str, float]:
    """The global features of these names."""
    found = dict(zip(RICH.globals, lanes.global_features[0].tolist(), strict=True))
    return {name: found[name] for name in names}


def test_rich_node_features_of_a_triangle_by_hand() -> None:
    found = lanes_of_triangle(RICH).node_features[0, :, :13]
    assert " ".join(RICH.nodes[:13]) == ("x y demand depot routed before after gain load length size position history")
    expected = [
        [0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0],
        [3 / 4, 0, 0.1, 3 / 4, 1, 3 / 4, 4 / 4, (3 + 4 - 5) / 4, 0.3, 12 / 32, 2 / 3, 1 / 3, 1],
        [0, 1, 0.4, 4 / 4, 1, 4 / 4, 4 / 4, (4 + 4 - 0) / 4, 0.4, 8 / 32, 1 / 2, 1 / 2, 1],
        [3 / 4, 1, 0.2, 5 / 4, 1, 4 / 4, 5 / 4, (4 + 5 - 3) / 4, 0.3, 12 / 32, 2 / 3, 2 / 3, 1],
    ]
    assert found.tolist() == [pytest.approx(row) for row in expected]


def test_rich_global_features_of_a_triangle_by_hand() -> None:
    lanes = lanes_of_triangle(RICH)
    start = {
        "phase": 0, "budget": 1, "cost": 1, "routes": 2 / sqrt(3), "quota": 1 / 3, "removed": 0, "vehicles": 20 / 40,
        "one": 0, "two": 1, "three": 0, "smallest": 1 / 2, "second": 2 / 3, "largest": 2 / 3, "one_fits": 1,
        "two_fit": 0, "shortest_size": 1 / 2, "shortest": 8 / 32, "mean_length": 10 / 32, "longest": 12 / 32,
        "spread_length": 2 / 32, "smallest_length": 8 / 32, "least_load": 0.3, "mean_load": 0.35, "most_load": 0.4,
        "spread_load": 0.05, "fitting": 1 / 2, "arc": 20 / 5 / 4, "waiting": 0, "waiting_depot": 0, "waiting_box": 0,
        "saved": 0, "emptied": 0, "gained": 0, "stalled": 0,
    }  # fmt: skip
    assert named(lanes, start) == pytest.approx(start)
    # The shorter route, customer 2, is removed: F falls from 40 to 12 + 10 = 22.
    lanes.step(np.array([0]))
    destroyed = {
        "phase": 1, "budget": 1, "cost": 22 / 40, "routes": 1 / sqrt(3), "quota": 1 / 3, "removed": 1,
        "vehicles": 10 / 22, "one": 1, "two": 0, "three": 0, "smallest": 2 / 3, "second": 1, "largest": 2 / 3,
        "one_fits": 0, "two_fit": 0, "shortest_size": 2 / 3, "shortest": 12 / 32, "mean_length": 12 / 32,
        "longest": 12 / 32, "spread_length": 0, "smallest_length": 12 / 32, "least_load": 0.3, "mean_load": 0.3,
        "most_load": 0.3, "spread_load": 0, "fitting": 0, "arc": 12 / 3 / 4, "waiting": 0.4, "waiting_depot": 1,
        "waiting_box": 0, "saved": 18 / 40, "emptied": 1 / 5, "gained": 0, "stalled": 0,
    }  # fmt: skip
    assert named(lanes, destroyed) == pytest.approx(destroyed)
    assert lanes.node_features[0, 2, :4].tolist() == pytest.approx([0, 1, 0.4, 1])
    assert not lanes.node_features[0, 2, 4:].any()


def test_history_is_the_mean_of_the_best_costs_seen_with_the_two_arcs() -> None:
    lanes = lanes_of_triangle(RICH)
    lanes.step(np.array([0]))
    lanes.step(np.array([1]))
    # Customer 2 joins between 3 and the depot: + 3 + 4 − 5 = 2, so F = 12 + 2 + 10 = 24. All its arcs have seen 24.
    assert lanes.solution(0).routes == ((1, 3, 2),)
    assert lanes.costs[0] == pytest.approx(24)
    history = RICH.nodes.index("history")
    assert lanes.node_features[0, 1:, history].tolist() == pytest.approx([24 / 40] * 3)
    # Without customer 1, the first of the only route, 3 follows the depot: an arc that no solution had, so F0.
    lanes.step(np.array([0]))
    assert lanes.solution(0).routes == ((3, 2),)
    assert lanes.node_features[0, 1:, history].tolist() == pytest.approx([0, 24 / 40, (40 + 24) / 2 / 40])


def test_gained_and_stalled_follow_the_pairs_by_hand() -> None:
    lanes = lanes_of_triangle(RICH)
    gained, stalled = RICH.globals.index("gained"), RICH.globals.index("stalled")
    lanes.step(np.array([0]))
    lanes.step(np.array([1]))
    # The first pair lowers F from 40 to 24.
    assert lanes.global_features[0, [gained, stalled]].tolist() == pytest.approx([16 / 40, 0])
    lanes.step(np.array([0]))
    assert lanes.global_features[0, [gained, stalled]].tolist() == pytest.approx([16 / 40, 0])
    lanes.step(np.array([1]))
    # The second one takes the first customer out and puts it back: nothing gained, for one pair.
    assert lanes.costs[0] == pytest.approx(24)
    assert lanes.global_features[0, [gained, stalled]].tolist() == pytest.approx([0, 1 / 3])


def test_moves_of_a_triangle_by_hand() -> None:
    lanes = lanes_of_triangle(RICH)
    # On route (1, 3) customer 2 costs at least 3 + 4 − 5 = 2, after 3, and gains 8 where it is, alone on its route.
    move = (2 - 8) / 4
    expected = {"shortest_moves": 1, "shortest_move": move, "smallest_moves": 1, "smallest_move": move}
    assert named(lanes, expected) == pytest.approx(expected)
    # With one route left there is nowhere to move to.
    lanes.step(np.array([0]))
    expected = {"shortest_moves": 0, "shortest_move": 4, "smallest_moves": 0, "smallest_move": 4}
    assert named(lanes, expected) == expected


def test_the_box_of_removed_customers_is_half_its_perimeter() -> None:
    mdp = MDP(TRIANGLE, portfolio_named("greedy-route,greedy"), "distance", 3, 1)
    lanes = Lanes([mdp])
    lanes.reset([TOURS], np.zeros(1, np.uint64))
    lanes.step(np.array([0]))
    found = named(lanes, RICH.globals)
    assert found["waiting_box"] == pytest.approx((3 + 4) / (4 * 4))
    assert found["waiting_depot"] == pytest.approx((3 + 4 + 5) / 3 / 4)
    assert found["waiting"] == pytest.approx(0.7)
    assert found["saved"] == pytest.approx(1)
    assert found["emptied"] == pytest.approx(2 / 5)
    assert (found["routes"], found["second"], found["one_fits"], found["cost"]) == pytest.approx((0, 1, 0, 0))


def test_paper_features_of_a_triangle_by_hand() -> None:
    lanes = lanes_of_triangle(PAPER)
    assert lanes.node_features[0].tolist() == [
        pytest.approx(row)
        for row in (
            # x / 3, y / 4, q / 4, c_0i / 5, routed, 2 tours / 5
            [0, 0, 0, 0, 1, 0.4],
            [1, 0, 1 / 4, 3 / 5, 1, 0.4],
            [0, 1, 1, 4 / 5, 1, 0.4],
            [1, 1, 1 / 2, 1, 1, 0.4],
        )
    ]
    assert lanes.global_features[0].tolist() == [0, 1]
    lanes.step(np.array([0]))
    assert lanes.node_features[0, :, 4].tolist() == [1, 1, 0, 1]
    assert lanes.node_features[0, :, 5].tolist() == pytest.approx([0.2] * 4)
    assert lanes.global_features[0].tolist() == [1, 1]
    lanes.step(np.array([1]))
    assert lanes.global_features[0].tolist() == [0, 0.5]


def test_the_rich_unit_is_the_mean_distance_to_the_depot() -> None:
    # Twice as large in every direction, the view is the same.
    large = Instance("large", [0, 1, 4, 2], 10, [[5, 5], [11, 5], [5, 13], [11, 13]], vehicle_cost=20)
    lanes = Lanes([MDP(large, portfolio_named("greedy-route,greedy"), "distance", 1, 2)])
    lanes.reset([Solution(large, TOURS.routes)], np.zeros(1, np.uint64))
    small = lanes_of_triangle(RICH)
    assert lanes.node_features == pytest.approx(small.node_features)
    assert lanes.global_features == pytest.approx(small.global_features)


# --- Windows. ---------------------------------------------------------------------------------------------------------


def shift_of(instance: Instance) -> tuple[float, float]:
    """When the shift begins, and how long it is."""
    if instance.windows is not None:
        return float(instance.windows[0, 0]), float(instance.windows[0, 1] - instance.windows[0, 0])
    unit = fmean(way(instance, 0, customer)[0] for customer in range(1, instance.customers + 1))
    return 0.0, 8 * unit or 1.0


def on_time(instance: Instance, route: tuple[int, ...], place: int, start: float) -> bool:
    """Whether a route is on time from a stop on whose service starts at some time."""
    if instance.windows is not None and start > instance.windows[route[place], 1] + 1e-9:
        return False
    service = 0.0 if instance.service is None else float(instance.service[route[place]])
    left, node = start + service, route[place]
    for following in (*route[place + 1 :], 0):
        left += way(instance, node, following)[1]
        if instance.windows is not None:
            if left > instance.windows[following, 1] + 1e-9:
                return False
            left = max(left, float(instance.windows[following, 0])) if following else left
        left += 0.0 if instance.service is None else float(instance.service[following])
        node = following
    return True


def windows_nodes(instance: Instance, routes: tuple[tuple[int, ...], ...]) -> list[dict[str, float]]:
    """What the set ``windows`` has of each node beyond ``rich``, times in whole numbers being tried one by one."""
    begin, shift = shift_of(instance)

    def share(time: float) -> float:
        return min(1.0, max(0.0, time / shift))

    rows = []
    for node in range(instance.customers + 1):
        opens, closes = (0.0, inf) if instance.windows is None else instance.windows[node]
        service = 0.0 if instance.service is None else float(instance.service[node])
        rows.append({"opens": share(opens - begin), "closes": share(closes - begin), "service": share(service)})
        rows[-1] |= {"start": 0.0, "idle": 0.0, "slack": 0.0}
    for route in routes:
        left, node = begin, 0
        for place, customer in enumerate(route):
            arrival = left + way(instance, node, customer)[1]
            start = arrival if instance.windows is None else max(arrival, float(instance.windows[customer, 0]))
            later = 0
            while later < shift and on_time(instance, route, place, start + later + 1):
                later += 1
            unbound = instance.windows is None
            rows[customer] |= {
                "start": share(start - begin),
                "idle": share(start - arrival),
                "slack": 1.0 if unbound else share(later),
            }
            left = start + (0.0 if instance.service is None else float(instance.service[customer]))
            node = customer
    return rows


def windows_globals(
    instance: Instance, routes: tuple[tuple[int, ...], ...], removed: list[int], left_out: int, quota: int
) -> dict[str, float]:
    rows, (begin, shift) = windows_nodes(instance, routes), shift_of(instance)
    everyone = range(1, instance.customers + 1)
    served = [customer for route in routes for customer in route]
    backs = [min(1.0, (drive(instance, route, begin)[0] - begin) / shift) for route in routes] or [0.0]

    def mean(values: Iterable[float]) -> float:
        return fmean([*values] or [0.0])

    def width(customer: int) -> float:
        return rows[customer]["closes"] - rows[customer]["opens"]

    return {
        "widths": mean(width(customer) for customer in everyone),
        "unserved": left_out / (left_out + quota),
        "idleness": min(1.0, mean(sum(rows[customer]["idle"] for customer in route) for route in routes)),
        "slackness": mean(rows[customer]["slack"] for customer in served),
        "tightness": mean(1 - min(rows[customer]["slack"] for customer in route) for route in routes),
        "back": mean(backs),
        "last_back": max(backs),
        "waiting_width": mean(width(customer) for customer in removed),
        "waiting_centre": mean((rows[customer]["opens"] + rows[customer]["closes"]) / 2 for customer in removed),
        "waiting_span": max((rows[customer]["closes"] for customer in removed), default=0.0)
        - min((rows[customer]["opens"] for customer in removed), default=0.0),
    }


@settings(deadline=None, max_examples=60)
@given(timed_instances(), st.integers(0, 1000), st.data())
def test_windows_features_follow_their_formulas_also_with_customers_left_out(
    instance: Instance, seed: int, data: st.DataObject
) -> None:
    # Travel times that nothing depends on are not looked at.
    assume(instance.timed or instance.durations is None)
    lanes = Lanes([mdp_of(instance, data.draw(st.integers(1, instance.customers)))], WINDOWS)
    left_out: set[int] = set()
    for view in episode(lanes, random_tours(instance, seed), seed):
        if lanes.phases[0] == 0:
            left_out = set(view.removed)
            assert lanes.costs[0] == pytest.approx(charged_cost(lanes.solution(0)))
        removed = [customer for customer in view.removed if customer not in left_out]
        nodes, whole = lanes.node_features[0], dict(zip(WINDOWS.globals, lanes.global_features[0], strict=True))
        columns = [WINDOWS.nodes.index(name) for name in WINDOWS.nodes[len(RICH.nodes) :]]
        assert_rows(nodes[:, columns], windows_nodes(instance, view.routes), WINDOWS.nodes[len(RICH.nodes) :])
        for row in nodes[view.removed, WINDOWS.nodes.index("routed") : len(RICH.nodes)]:
            assert not row.any()
        quota = lanes.state(0).status.quota
        waiting = len(left_out - set(instance.unservable))
        expected = windows_globals(instance, view.routes, removed, waiting, max(quota, 1))
        expected["removed"] = len(removed) / max(quota, 1)
        expected["waiting"] = sum(float(instance.demands[customer]) for customer in removed) / instance.capacity
        arcs = sum(len(route) + 1 for route in view.routes)
        expected["arc"] = ratio(sum(view.lengths), arcs) / view.unit
        for name, value in expected.items():
            assert whole[name] == pytest.approx(value, rel=1e-5, abs=1e-5), name
        assert np.isfinite(nodes).all()
        assert np.isfinite(lanes.global_features).all()


@settings(deadline=None, max_examples=30)
@given(timed_instances(), st.integers(0, 1000), st.data())
def test_features_of_routes_stay_in_their_bounds_with_windows_and_customers_left_out(
    instance: Instance, seed: int, data: st.DataObject
) -> None:
    assume(instance.timed)
    lanes = Lanes([mdp_of(instance, data.draw(st.integers(1, instance.customers)))], ROUTES)
    for view in episode(lanes, random_tours(instance, seed), seed):
        found = lanes.global_features[0, len(RICH.globals) :].reshape(6, -1)
        assert np.isfinite(found).all()
        assert found[:, 0].sum() == min(6, len(view.routes))
        assert (np.abs(found[:, 9]) <= 4).all()
        assert (found[:, 5:8] <= 4).all()
        assert found[:, 12].sum() <= len(view.removed) / max(1, lanes.state(0).status.quota) + 1e-6


def test_windows_features_by_hand() -> None:
    # A line to the east with a shift of 100. Customer 1 at 10 opens at 30, so that the vehicle waits for 20; its
    # service takes 5. Customer 2 at 20 is reached at 45 and closes at 50, so that all may be 5 later; back at 65.
    instance = Instance(
        "line", [0, 1, 1, 1], 9, [[0, 0], [10, 0], [20, 0], [30, 0]],
        windows=[[0, 100], [30, 60], [0, 50], [0, 10]], service=[0, 5, 0, 0],
    )  # fmt: skip
    lanes = Lanes([mdp_of(instance, 1)], WINDOWS)
    lanes.reset([Solution(instance, [[1, 2]])], np.zeros(1, np.uint64))
    assert instance.unservable.keys() == {3}
    found = lanes.node_features[0, :, -6:].tolist()
    assert found == [
        pytest.approx(row)
        for row in (
            [0, 1, 0, 0, 0, 0],
            [0.3, 0.6, 0.05, 0.3, 0.2, 0.05],
            [0, 0.5, 0, 0.45, 0, 0.05],
            [0, 0.1, 0, 0, 0, 0],
        )
    ]
    assert lanes.global_features[0, -10:].tolist() == pytest.approx(
        [(0.3 + 0.5 + 0.1) / 3, 0, 0.2, 0.05, 0.95, 0.65, 0.65, 0, 0, 0]
    )


# --- Relative: routes measured by routes. ----------------------------------------------------------------------------


def test_relative_features_of_a_triangle_by_hand() -> None:
    # Five arcs of 20 in all, so that the unit is 4, as u is; routes of 12 and 8, twice their mean is 20.
    lanes = lanes_of_triangle(RELATIVE)
    rich = lanes_of_triangle(RICH)
    expected = rich.node_features[0, :, 4:].copy()
    expected[1:, RELATIVE.nodes.index("length")] = [12 / 20, 8 / 20, 12 / 20]
    assert lanes.node_features[0] == pytest.approx(expected)
    known = dict(zip(RICH.globals, rich.global_features[0].tolist(), strict=True))
    changed = {
        "routes": 2 / 6, "arc": 1.0, "shortest": 8 / 20, "mean_length": 1 / 2, "longest": 12 / 20,
        "spread_length": 2 / 20, "smallest_length": 8 / 20,
    }  # fmt: skip
    assert named(lanes, RELATIVE.globals) == pytest.approx({**known, **changed})


@settings(deadline=None, max_examples=25)
@given(random_instances(most=14), st.integers(0, 1000), st.data())
def test_relative_features_are_those_of_rich_in_other_units(instance: Instance, seed: int, data: st.DataObject) -> None:
    quota = data.draw(st.integers(1, instance.customers))
    both = [Lanes([mdp_of(instance, quota)], features) for features in (RICH, RELATIVE)]
    start = random_tours(instance, seed)
    for view, other in zip(*(episode(lanes, start, seed) for lanes in both), strict=True):
        assert view.routes == other.routes
        rich, relative = (lanes.node_features[0].astype(float) for lanes in both)
        lengths = view.lengths
        arcs = sum(len(route) + 1 for route in view.routes)
        if sum(lengths) < 1e-9:
            continue
        unit, long = sum(lengths) / arcs / view.unit, 2 * fmean(lengths) / (8 * view.unit)
        for name in RELATIVE.nodes:
            scale = {"before": unit, "after": unit, "gain": unit, "length": long}.get(name, 1.0)
            column = relative[:, RELATIVE.nodes.index(name)] * scale
            assert column == pytest.approx(rich[:, RICH.nodes.index(name)], rel=1e-3, abs=1e-5)
        tied = [route for route, length in zip(view.routes, lengths, strict=True) if length < min(lengths) + 1e-9]
        found = float(both[1].global_features[0, RELATIVE.globals.index("shortest_move")])
        means = means_of_moves(view, tied, sum(lengths) / arcs)
        assert any(found == pytest.approx(mean, rel=1e-3, abs=1e-4) for mean in means)


@pytest.mark.parametrize("features", [RICH, RELATIVE], ids=["rich", "relative"])
def test_relative_features_mean_the_same_at_every_size(features: FeatureSet) -> None:
    # The same kind of instance, five times as large, with a fifth of the customers removed at a time.
    found = []
    for customers in (20, 100):
        mdp = make_mdp("R101", customers=customers, portfolio="greedy-route,greedy")
        lanes = Lanes([mdp] * 8, features)
        lanes.reset(mdp.start_tours("train", 8), episode_seeds(0, 8))
        found.append(lanes.global_features.mean(axis=0))
    far = np.abs(found[0] - found[1]).max()
    assert far < 0.35 if features is RELATIVE else far > 1.5


def test_the_set_windows_is_for_instances_in_which_time_plays_a_part() -> None:
    timed = Instance("timed", [0, 1], 1, [[0, 0], [3, 4]], windows=[[0, 20], [8, 9]])
    assert features_for(TRIANGLE) is RICH
    assert features_for(timed) is features_for(TRIANGLE, timed) is WINDOWS


def test_sets_are_named_and_versioned() -> None:
    assert features_named("paper") is PAPER
    assert features_named("rich") is RICH
    assert {name: (entry.name, entry.version) for name, entry in FEATURE_SETS.items()} == {
        "paper": ("paper", 1),
        "rich": ("rich", 1),
        "windows": ("windows", 1),
        "relative": ("relative", 1),
        "routes": ("routes", 1),
    }
    assert (PAPER.nodes[4:], PAPER.globals) == (("routed", "tours"), ("phase", "budget"))
    assert len({entry.index for entry in FEATURE_SETS.values()}) == 5
    assert (RELATIVE.nodes, RELATIVE.globals) == (RICH.nodes[4:], RICH.globals)
    assert (WINDOWS.nodes[: len(RICH.nodes)], WINDOWS.globals[: len(RICH.globals)]) == (RICH.nodes, RICH.globals)
    for entry in FEATURE_SETS.values():
        assert len(set(entry.nodes)) == len(entry.nodes)
        assert len(set(entry.globals)) == len(entry.globals)
        assert entry.nodes[: entry.static] == (() if entry is RELATIVE else ("x", "y", "demand", "depot"))
        assert entry.globals[:2] == ("phase", "budget")


def test_an_unknown_set_is_refused() -> None:
    with pytest.raises(
        InputError, match=r"^feature set 'poor' is not known; choose paper, rich, windows, relative, routes\.$"
    ):
        features_named("poor")
