"""Travelling salesman: the shortest closed tour through all points of the plane."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from benchmarks.alns.problem import Problem, in_three_sizes

NODES = 200


class Points:
    """Points of an instance, uniform in the unit square or in clusters, by its seed; distances as nested lists."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng([11, seed])
        places = rng.random((NODES, 2))
        if seed % 2:
            places = rng.random((8, 2))[rng.integers(0, 8, NODES)] + rng.normal(0, 0.05, (NODES, 2))
        self.distances = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1))
        self.rows: list[list[float]] = self.distances.tolist()


class Tour:
    """A closed tour; destroyed, it lacks the nodes in ``missing``."""

    def __init__(self, points: Points, order: list[int], missing: list[int]) -> None:
        self.points, self.order, self.missing = points, order, missing
        self._length: float | None = None

    def objective(self) -> float:
        if self._length is None:
            self._length = sum(self.edges())
        return self._length

    def edges(self) -> list[float]:
        rows, order = self.points.rows, self.order
        return [rows[a][b] for a, b in zip(order, order[1:] + order[:1], strict=True)]

    def get_context(self) -> npt.NDArray[np.float64]:
        edges = np.array(self.edges())
        return np.array([edges.mean(), edges.std(), edges.max(), np.median(edges)])


def initial(seed: int) -> Tour:
    """Nearest neighbour from node 0."""
    points = Points(seed)
    left, order = set(range(1, NODES)), [0]
    while left:
        row = points.rows[order[-1]]
        order.append(min(left, key=row.__getitem__))
        left.remove(order[-1])
    return Tour(points, order, [])


def without(tour: Tour, gone: list[int]) -> Tour:
    chosen = set(gone)
    return Tour(tour.points, [node for node in tour.order if node not in chosen], gone)


def random_removal(tour: Tour, rng: np.random.Generator, size: int) -> Tour:
    return without(tour, rng.choice(NODES, size, replace=False).tolist())


def path_removal(tour: Tour, rng: np.random.Generator, size: int) -> Tour:
    """Remove a stretch of the tour."""
    begin = int(rng.integers(NODES))
    turned = tour.order[begin:] + tour.order[:begin]
    gone = turned[:size]
    rng.shuffle(gone)
    return without(tour, gone)


def worst_removal(tour: Tour, rng: np.random.Generator, size: int) -> Tour:
    """Remove nodes whose removal saves most, with some chance in the order."""
    rows, order = tour.points.rows, tour.order
    saved = np.empty(NODES)
    for place, node in enumerate(order):
        before, after = order[place - 1], order[(place + 1) % NODES]
        saved[place] = rows[before][node] + rows[node][after] - rows[before][after]
    ranked = np.argsort(-saved * rng.random(NODES))
    return without(tour, [order[place] for place in ranked[:size]])


def near_removal(tour: Tour, rng: np.random.Generator, size: int) -> Tour:
    """Remove a node and those nearest to it."""
    centre = int(rng.integers(NODES))
    gone = np.argsort(tour.points.distances[centre])[:size].tolist()
    rng.shuffle(gone)
    return without(tour, gone)


def greedy_insertion(tour: Tour, rng: np.random.Generator) -> Tour:
    """Insert each missing node where it lengthens the tour least."""
    rows, order = tour.points.rows, tour.order
    for node in tour.missing:
        row = rows[node]
        best, place, before = np.inf, 0, order[-1]
        for index, after in enumerate(order):
            longer = row[before] + row[after] - rows[before][after]
            if longer < best:
                best, place = longer, index
            before = after
        order.insert(place, node)
    tour.missing = []
    return tour


def insertion_with_blinks(tour: Tour, rng: np.random.Generator) -> Tour:
    """Insert each missing node at the best of the places that are not overlooked, one in ten."""
    rows, order = tour.points.rows, tour.order
    for node in tour.missing:
        row = rows[node]
        seen = rng.random(len(order)) >= 0.1
        best, place, before = np.inf, 0, order[-1]
        for index, after in enumerate(order):
            longer = row[before] + row[after] - rows[before][after]
            if longer < best and seen[index]:
                best, place = longer, index
            before = after
        order.insert(place, node)
    tour.missing = []
    return tour


def insertion_with_two_opt(tour: Tour, rng: np.random.Generator) -> Tour:
    """Insert greedily, then turn stretches round as long as that shortens the tour, for one pass."""
    order = greedy_insertion(tour, rng).order
    distances = tour.points.distances
    for first in range(NODES - 2):
        line = np.array(order)
        after = np.append(line[1:], line[0])
        a, b = line[first], after[first]
        change = (
            distances[a, line[first + 2 :]]
            + distances[b, after[first + 2 :]]
            - distances[a, b]
            - distances[line[first + 2 :], after[first + 2 :]]
        )
        index = int(change.argmin())
        if change[index] < -1e-9:
            last = first + 2 + index
            order[first + 1 : last + 1] = order[first + 1 : last + 1][::-1]
    return tour


PROBLEM = Problem(
    "salesman",
    initial,
    in_three_sizes([random_removal, path_removal, worst_removal, near_removal], NODES),
    {
        "greedy": greedy_insertion,
        "greedy with blinks": insertion_with_blinks,
        "greedy and 2-opt": insertion_with_two_opt,
    },
)
