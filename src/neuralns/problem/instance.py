"""An instance of a vehicle routing problem: demands and a capacity, and as many other rules as it states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from neuralns.errors import InputError
from neuralns.problem.clock import check_clock, format_time
from neuralns.problem.distances import Floats, Rounding, embed, euclidean, round_distances, rounding_named
from neuralns.problem.limits import find_unservable

LARGEST = 1e100
"""Largest number that an instance may hold; sums and squares of such numbers are still finite."""
MATRIX_LIMIT = 5000
"""Largest number of nodes for which distances are held as a matrix (200 MB); above it they are computed on demand."""


_FORMS = {1: "a list of numbers", 2: "a table of numbers"}


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Instance:
    """Customers with demands, one depot, vehicles of one capacity, time windows, and the objective's parameters.

    Node 0 is the depot, nodes 1 to n are the customers. The objective is
    F = ``distance_cost`` × length + ``duration_cost`` × duration of all routes + ``vehicle_cost`` × number of routes.

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
    windows
        Earliest and latest start of service of every node, shape (n + 1, 2); the depot's is the shift, from the first
        departure to the last return. Waiting is allowed; ``inf`` as the latest means any time.
    service
        How long the service of every node takes, the depot's first (0).
    durations
        How long travelling takes, shape (n + 1, n + 1), under the same rounding; the distances if left out.
    vehicles
        The most routes; as many as needed if left out.
    max_duration, max_distance
        The longest that a route may take and be; any if left out.
    distance_cost, duration_cost
        What a unit of length and a unit of a route's duration costs, waiting and service included.
    names
        What to call the nodes in output, the depot first; their numbers if left out.
    clock
        Where times are minutes, what minute 0 is called: ``00:00``, or a date and time; output shows times by it.

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
    windows: Floats | None
    service: Floats | None
    durations: Floats | None
    vehicles: int | None
    max_duration: float | None
    max_distance: float | None
    distance_cost: float
    duration_cost: float
    names: tuple[str, ...] | None
    clock: str | None

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
        *,
        windows: npt.ArrayLike | None = None,
        service: npt.ArrayLike | None = None,
        durations: npt.ArrayLike | None = None,
        vehicles: int | None = None,
        max_duration: float | None = None,
        max_distance: float | None = None,
        distance_cost: float = 1.0,
        duration_cost: float = 0.0,
        names: Sequence[str] | None = None,
        clock: str | None = None,
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
        if coordinates is None and matrix is None:
            raise InputError(f"{name}: neither coordinates nor a distance matrix is given.")
        fields["coordinates"] = None if coordinates is None else _points(name, coordinates, nodes)
        fields["matrix"] = None if matrix is None else _matrix(f"{name}: distance", matrix, nodes)
        fields["durations"] = None if durations is None else _matrix(f"{name}: duration", durations, nodes)
        fields["windows"] = None if windows is None else _windows(name, windows, nodes)
        fields["service"] = None if service is None else _service(name, service, nodes)
        fields["vehicles"] = None if vehicles is None else _vehicles(name, vehicles)
        for what, bound in (("max_duration", max_duration), ("max_distance", max_distance)):
            fields[what] = None if bound is None else _not_negative(f"{name}: {what}", bound)
        for what, price in (("distance_cost", distance_cost), ("duration_cost", duration_cost)):
            fields[what] = _not_negative(f"{name}: {what}", price)
        fields["names"] = None if names is None else _names(name, names, nodes)
        fields["clock"] = None if clock is None else check_clock(clock)
        fields["best_known"] = None if best_known is None else _number(f"{name}: best known cost", best_known)
        for field, value in fields.items():
            object.__setattr__(self, field, value)

    def __repr__(self) -> str:
        return f"<Instance {self.name}: {self.customers} customers, capacity {self.capacity:.10g}>"

    @property
    def timed(self) -> bool:
        """Whether time plays a part: windows, a limit on durations, or durations that cost."""
        return self.windows is not None or self.max_duration is not None or self.duration_cost > 0

    @property
    def may_leave_out(self) -> bool:
        """Whether customers may have to stay unserved: too few vehicles, no time, or some that nobody can serve."""
        return self.timed or self.vehicles is not None or self.max_distance is not None or bool(self.unservable)

    @cached_property
    def unservable(self) -> dict[int, str]:
        """Customers that no route whatever can serve, and why."""
        return find_unservable(self)

    def label(self, node: int) -> str:
        """Return what to call a node: its name, or its number."""
        return str(node) if self.names is None else self.names[node]

    def at(self, time: float, exact: bool = True) -> str:
        """Return a time as this instance's clock shows it, to the second or, if it need not be exact, to the minute."""
        return format_time(float(time), self.clock, exact)

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
        if self.matrix is None and self.durations is None and len(self.demands) > MATRIX_LIMIT:
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

    @cached_property
    def travel_times(self) -> Floats | None:
        """Matrix of rounded durations; None where they are the distances."""
        if self.durations is None:
            return None
        rounded = np.ascontiguousarray(round_distances(self.durations, self.rounding))
        rounded.setflags(write=False)
        return rounded

    def times(self, tails: npt.ArrayLike, heads: npt.ArrayLike) -> Floats:
        """Rounded durations of travelling from nodes to others."""
        if self.durations is None:
            return self.legs(tails, heads)
        starts, ends = np.asarray(tails, dtype=np.int64), np.asarray(heads, dtype=np.int64)
        return round_distances(self.durations[starts, ends], self.rounding)

    @property
    def earliest(self) -> Floats:
        """Earliest start of service of every node; 0 without windows."""
        return np.zeros(len(self.demands)) if self.windows is None else self.windows[:, 0]

    @property
    def latest(self) -> Floats:
        """Latest start of service of every node; infinite without windows."""
        return np.full(len(self.demands), np.inf) if self.windows is None else self.windows[:, 1]

    @property
    def services(self) -> Floats:
        """Duration of the service of every node."""
        return np.zeros(len(self.demands)) if self.service is None else self.service

    def without(self, *parts: str) -> Instance:
        """Return the instance without some of its rules: ``windows`` (all that has to do with time) or ``vehicles``.

        The best known cost is kept only if nothing changed. Without windows a limit on vehicles, which is often meant
        for routes with windows, is gone as well, and so is rounding ``dimacs``, the convention of costs with windows.

        >>> timed = Instance("one", [0, 1], 1, [[0, 0], [3, 4]], windows=[[0, 20], [8, 9]], service=[0, 5])
        >>> timed.timed, timed.without("windows").timed
        (True, False)
        """
        changes: dict[str, Any] = {}
        for part in parts:
            if part not in PARTS:
                raise InputError(f"{part!r} cannot be left out of an instance, only {' and '.join(PARTS)}.")
            changes |= PARTS[part]
        if all(getattr(self, field) is None for field in changes):
            return self
        if "windows" in parts and self.windows is not None and self.rounding == "dimacs":
            changes["rounding"] = "none"
        return replace(self, **changes, best_known=None)

    def with_objective(self, objective: str) -> Instance:
        """Return the instance with an objective's costs: ``distance``, ``duration``, or weights to mix them.

        ``vehicles`` (fewest vehicles, then distance) is the search's business; its costs are those of ``distance``.

        >>> one = Instance("one", [0, 1], 1, [[0, 0], [3, 4]])
        >>> one.with_objective("distance=1,duration=0.5,vehicles=100").duration_cost
        0.5
        """
        changes: dict[str, Any] = {**objective_costs(objective)}
        if objective != "vehicles" and all(getattr(self, field) == value for field, value in changes.items()):
            return self
        return replace(self, **changes, best_known=None)

    def with_rounding(self, rounding: str) -> Instance:
        """Return the instance under another rounding convention; the best known cost is kept only if it still holds."""
        name = rounding_named(rounding)
        return self if name == self.rounding else replace(self, rounding=name, best_known=None)

    def with_vehicle_cost(self, cost: float) -> Instance:
        """Return the instance with another cost per route; the best known cost is kept only if it still holds."""
        return self if cost == self.vehicle_cost else replace(self, vehicle_cost=cost, best_known=None)

    def first(self, customers: int, *, scaled: bool = True) -> Instance:
        """Return the instance of the first ``customers`` customers, the capacity ``scaled`` in proportion or kept."""
        if not 1 <= customers <= self.customers:
            raise InputError(f"{self.name}: {customers} customers asked for, but it has {self.customers}.")
        if customers == self.customers:
            return self
        keep = customers + 1
        return Instance(
            f"{self.name}:{customers}",
            self.demands[:keep],
            self.capacity * customers / self.customers if scaled else self.capacity,
            None if self.coordinates is None else self.coordinates[:keep],
            None if self.matrix is None else self.matrix[:keep, :keep],
            self.rounding,
            self.vehicle_cost,
            windows=None if self.windows is None else self.windows[:keep],
            service=None if self.service is None else self.service[:keep],
            durations=None if self.durations is None else self.durations[:keep, :keep],
            vehicles=self.vehicles,
            max_duration=self.max_duration,
            max_distance=self.max_distance,
            distance_cost=self.distance_cost,
            duration_cost=self.duration_cost,
            names=None if self.names is None else self.names[:keep],
            clock=self.clock,
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


def _matrix(what: str, values: npt.ArrayLike, nodes: int) -> Floats:
    matrix = _numbers(f"{what} matrix", values, 2)
    if matrix.shape != (nodes, nodes):
        raise InputError(f"{what} matrix of shape {matrix.shape} does not fit {nodes} demands.")
    for row, column in np.argwhere(matrix < 0)[:1]:
        raise InputError(f"{what} {matrix[row, column]:g} from node {row} to node {column} is negative.")
    return matrix


def _windows(name: str, values: npt.ArrayLike, nodes: int) -> Floats:
    try:
        open_ended = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name}: windows must be {_FORMS[2]}.") from None
    windows = _numbers(f"{name}: windows", np.where(open_ended == np.inf, LARGEST, open_ended), 2).copy()
    if windows.shape != (nodes, 2):
        raise InputError(f"{name}: windows of shape {windows.shape} do not fit {nodes} demands (({nodes}, 2)).")
    for node in np.flatnonzero(windows[:, 0] > windows[:, 1])[:1]:
        raise InputError(f"{name}: the window of {whose(node)}, {_span(windows[node])}, ends before it begins.")
    opens, closes = windows[0]
    for node in np.flatnonzero((windows[:, 0] > closes) | (windows[:, 1] < opens))[:1]:
        raise InputError(
            f"{name}: the window of {whose(node)}, {_span(windows[node])}, is outside the depot's, {_span(windows[0])}."
        )
    windows[windows == LARGEST] = np.inf
    windows.setflags(write=False)
    return windows


def _service(name: str, values: npt.ArrayLike, nodes: int) -> Floats:
    service = _numbers(f"{name}: service", values, 1)
    if service.shape != (nodes,):
        raise InputError(f"{name}: {len(service)} service times do not fit {nodes} demands.")
    for node in np.flatnonzero(service < 0)[:1]:
        raise InputError(f"{name}: service time {service[node]:g} of {whose(node)} is negative.")
    if service[0] != 0:
        raise InputError(f"{name}: the depot has service time {service[0]:g}, but must have 0.")
    return service


def _vehicles(name: str, value: Any) -> int:
    number = _number(f"{name}: number of vehicles", value)
    if number != int(number) or number < 1:
        raise InputError(f"{name}: number of vehicles {number:g} must be a whole number above 0.")
    return int(number)


def _names(name: str, values: Any, nodes: int) -> tuple[str, ...]:
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise InputError(f"{name}: names must be a list of texts.")
    names = tuple(values)
    if len(names) != nodes:
        raise InputError(f"{name}: {len(names)} names do not fit {nodes} demands.")
    for each in names:
        if not isinstance(each, str) or not each.isprintable():
            raise InputError(f"{name}: name {each!r:.60} of a node must be text on one line.")
    return names


def whose(node: int) -> str:
    """Return what to call a node in a refusal."""
    return "the depot" if node == 0 else f"customer {node}"


def _span(window: Floats) -> str:
    return f"{window[0]:.10g} to {window[1]:.10g}"


OBJECTIVES = ("distance", "vehicles", "duration")
"""Objectives by name; weights mix them."""
PARTS: dict[str, dict[str, Any]] = {
    "windows": {"windows": None, "service": None, "durations": None, "max_duration": None, "vehicles": None},
    "vehicles": {"vehicles": None},
}
"""What `Instance.without` leaves out, by name."""


def objective_costs(objective: str) -> dict[str, float]:
    """Return the costs of an objective given by name, or by weights: ``distance=1,duration=0.5,vehicles=100``."""
    if objective in ("distance", "vehicles"):
        return {"distance_cost": 1.0, "duration_cost": 0.0}
    if objective == "duration":
        return {"distance_cost": 0.0, "duration_cost": 1.0}
    weights = {"distance": 0.0, "duration": 0.0, "vehicles": 0.0}
    for part in objective.split(","):
        name, equals, value = (word.strip() for word in part.partition("="))
        if name not in weights or not equals:
            raise InputError(
                f"objective {objective!r:.60} is not known; choose one of {', '.join(OBJECTIVES)}, or give weights "
                "as in distance=1,duration=0.5,vehicles=100."
            )
        weights[name] = _number(f"objective {objective!r:.60}: weight", value)
        if weights[name] < 0:
            raise InputError(f"objective {objective!r:.60}: weight {value} of {name} must not be negative.")
    if not any(weights.values()):
        raise InputError(f"objective {objective!r:.60}: at least one weight must be above 0.")
    return {f"{name.removesuffix('s')}_cost": weight for name, weight in weights.items()}


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


def _not_negative(what: str, value: Any) -> float:
    number = _number(what, value)
    if number < 0:
        raise InputError(f"{what} {number:g} must not be negative.")
    return number


def _unfit(value: float) -> str:
    return "too large to compute with" if np.isfinite(value) else "not a finite number"
