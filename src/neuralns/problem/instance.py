"""An instance of the capacitated vehicle routing problem."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from neuralns.errors import InputError
from neuralns.problem.distances import Floats, Rounding, embed, euclidean, round_distances, rounding_named

LARGEST = 1e100
"""Largest number that an instance may hold; sums and squares of such numbers are still finite."""
MATRIX_LIMIT = 5000
"""Largest number of nodes for which distances are held as a matrix (200 MB); above it they are computed on demand."""


_FORMS = {1: "a list of numbers", 2: "a table of numbers"}


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Instance:
    """Customers with demands, one depot, vehicles of one capacity, and the objective's parameters.

    Node 0 is the depot, nodes 1 to n are the customers. The objective is
    F = length of all routes + ``vehicle_cost`` × number of routes.

    Parameters
    ----------
    name
        What to call the instance in output.
    demands
        Demand of every node, the depot's first (0).
    capacity
        Load that one vehicle carries.
    coordinates
        Points of the nodes, shape (n + 1, 2); may be left out if ``matrix`` is given.
    matrix
        Explicit distances, shape (n + 1, n + 1); Euclidean distances of the coordinates if left out.
    rounding
        Convention applied to distances: ``none``, ``round``, ``trunc`` or ``dimacs``.
    vehicle_cost
        Cost of each route in addition to its length.
    best_known
        Best known cost under this rounding, if there is one.

    Examples
    --------
    >>> square = Instance("square", [0, 1, 1, 1], 2, coordinates=[[0, 0], [0, 3], [4, 3], [4, 0]])
    >>> square.customers, square.distance(0, 2)
    (3, 5.0)
    """

    name: str
    demands: Floats
    capacity: float
    coordinates: Floats | None
    matrix: Floats | None
    rounding: Rounding
    vehicle_cost: float
    best_known: float | None

    def __init__(
        self,
        name: str,
        demands: npt.ArrayLike,
        capacity: float,
        coordinates: npt.ArrayLike | None = None,
        matrix: npt.ArrayLike | None = None,
        rounding: Rounding = "none",
        vehicle_cost: float = 0.0,
        best_known: float | None = None,
    ) -> None:
        if not isinstance(name, str) or not name.isprintable():
            raise InputError(f"name {name!r:.60} of an instance must be text on one line.")
        fields: dict[str, object] = {"name": name, "rounding": rounding_named(rounding)}
        fields["demands"] = quantities = _numbers(f"{name}: demands", demands, 1)
        fields["capacity"] = limit = _number(f"{name}: capacity", capacity)
        fields["vehicle_cost"] = per_route = _number(f"{name}: vehicle cost", vehicle_cost)
        nodes = len(quantities)
        if nodes < 2:
            raise InputError(f"{name}: at least one customer is needed, {max(nodes - 1, 0)} given.")
        if limit <= 0:
            raise InputError(f"{name}: capacity {limit:g} must be above 0.")
        if per_route < 0:
            raise InputError(f"{name}: vehicle cost {per_route:g} must not be negative.")
        if quantities[0] != 0:
            raise InputError(f"{name}: the depot has demand {quantities[0]:g}, but must have 0.")
        for customer in np.flatnonzero(quantities < 0)[:1]:
            raise InputError(f"{name}: demand {quantities[customer]:g} of customer {customer} is negative.")
        for customer in np.flatnonzero(quantities > limit)[:1]:
            raise InputError(
                f"{name}: demand {quantities[customer]:g} of customer {customer} is above the capacity {limit:g}."
            )
        if coordinates is None and matrix is None:
            raise InputError(f"{name}: neither coordinates nor a distance matrix is given.")
        fields["coordinates"] = None if coordinates is None else _points(name, coordinates, nodes)
        fields["matrix"] = None if matrix is None else _matrix(name, matrix, nodes)
        fields["best_known"] = None if best_known is None else _number(f"{name}: best known cost", best_known)
        for field, value in fields.items():
            object.__setattr__(self, field, value)

    def __repr__(self) -> str:
        return f"<Instance {self.name}: {self.customers} customers, capacity {self.capacity:.10g}>"

    @property
    def customers(self) -> int:
        """Number of customers (nodes without the depot)."""
        return len(self.demands) - 1

    @cached_property
    def points(self) -> Floats:
        """Coordinates of all nodes; for an instance given by a matrix only, points fitted to its distances."""
        if self.coordinates is not None:
            return self.coordinates
        assert self.matrix is not None
        return embed(self.matrix)

    @cached_property
    def distances(self) -> Floats | None:
        """Matrix of rounded distances, or None for instances too large to hold one (see ``MATRIX_LIMIT``)."""
        if self.matrix is None and len(self.demands) > MATRIX_LIMIT:
            return None
        raw = self.matrix if self.matrix is not None else euclidean(self.points)
        rounded = np.ascontiguousarray(round_distances(raw, self.rounding))
        rounded.setflags(write=False)
        return rounded

    def distance(self, tail: int, head: int) -> float:
        """Rounded distance from node ``tail`` to node ``head``, computed from the given data."""
        if self.matrix is not None:
            raw = self.matrix[tail, head]
        else:
            raw = np.sqrt(((self.points[tail] - self.points[head]) ** 2).sum())
        return float(round_distances(np.asarray(raw), self.rounding))

    def legs(self, tails: npt.ArrayLike, heads: npt.ArrayLike) -> Floats:
        """Rounded distances from nodes to others, each as `distance` gives it."""
        starts, ends = np.asarray(tails, dtype=np.int64), np.asarray(heads, dtype=np.int64)
        if self.matrix is not None:
            raw = self.matrix[starts, ends]
        else:
            raw = np.sqrt(((self.points[starts] - self.points[ends]) ** 2).sum(axis=1))
        return round_distances(raw, self.rounding)

    def with_rounding(self, rounding: str) -> Instance:
        """Return the instance under another rounding convention; the best known cost is kept only if it still holds."""
        name = rounding_named(rounding)
        return self if name == self.rounding else replace(self, rounding=name, best_known=None)

    def with_vehicle_cost(self, cost: float) -> Instance:
        """Return the instance with another cost per route; the best known cost is kept only if it still holds."""
        return self if cost == self.vehicle_cost else replace(self, vehicle_cost=cost, best_known=None)

    def first(self, customers: int) -> Instance:
        """Return the instance of the first ``customers`` customers, the capacity scaled in proportion."""
        if not 1 <= customers <= self.customers:
            raise InputError(f"{self.name}: {customers} customers asked for, but it has {self.customers}.")
        if customers == self.customers:
            return self
        keep = customers + 1
        return Instance(
            f"{self.name}:{customers}",
            self.demands[:keep],
            self.capacity * customers / self.customers,
            None if self.coordinates is None else self.coordinates[:keep],
            None if self.matrix is None else self.matrix[:keep, :keep],
            self.rounding,
            self.vehicle_cost,
        )

    def in_paper_setting(self) -> Instance:
        """Return the instance in the setting that was fitted to the paper's published numbers.

        F = 100 × routes + length, where x is divided by the largest x, y by the largest y, and each demand by the
        largest demand, while the capacity stays as it is: it never binds.
        """
        scale = np.abs(self.points).max(axis=0)
        return Instance(
            f"{self.name} (paper)",
            self.demands / max(self.demands.max(), 1e-12),
            self.capacity,
            self.points / np.where(scale > 0, scale, 1.0),
            vehicle_cost=100.0,
        )


def _points(name: str, coordinates: npt.ArrayLike, nodes: int) -> Floats:
    points = _numbers(f"{name}: coordinates", coordinates, 2)
    if points.shape != (nodes, 2):
        raise InputError(f"{name}: coordinates of shape {points.shape} do not fit {nodes} demands (({nodes}, 2)).")
    return points


def _matrix(name: str, distances: npt.ArrayLike, nodes: int) -> Floats:
    matrix = _numbers(f"{name}: distance matrix", distances, 2)
    if matrix.shape != (nodes, nodes):
        raise InputError(f"{name}: a distance matrix of shape {matrix.shape} does not fit {nodes} demands.")
    for row, column in np.argwhere(matrix < 0)[:1]:
        raise InputError(f"{name}: distance {matrix[row, column]:g} from node {row} to node {column} is negative.")
    return matrix


def _numbers(what: str, values: object, dimensions: int) -> Floats:
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{what} must be {_FORMS[dimensions]}.") from None
    if array.ndim != dimensions:
        raise InputError(f"{what} must be {_FORMS[dimensions]}.")
    for place in np.argwhere(~(np.abs(array) <= LARGEST))[:1]:
        raise InputError(f"{what}: value {array[tuple(place)]} of node {place[0]} is {_unfit(array[tuple(place)])}.")
    array.setflags(write=False)
    return array


def _number(what: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{what} {value!r:.60} is not a number.") from None
    if not abs(number) <= LARGEST:
        raise InputError(f"{what} {number} is {_unfit(number)}.")
    return number


def _unfit(value: float) -> str:
    return "too large to compute with" if np.isfinite(value) else "not a finite number"
