"""What a fleet and its customers are made of: types of vehicles, depots, profiles, shipments, groups."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from neuralns.errors import InputError
from neuralns.problem.distances import Floats
from neuralns.problem.values import amounts, not_negative, numbers, same_fields, text, whole_number, window

ALWAYS = (-math.inf, math.inf)
"""A shift without beginning and end."""


def _set(part: Any, **fields: object) -> None:
    for name, value in fields.items():
        object.__setattr__(part, name, value)


@dataclass(frozen=True, init=False)
class VehicleType:
    """Vehicles that are alike.

    Parameters
    ----------
    capacity
        What a vehicle carries: a number, or one for each dimension of goods.
    available
        How many there are; as many as needed if left out.
    fixed_cost
        Cost of each vehicle used.
    distance_cost, duration_cost
        What a unit of length and a unit of a route's duration costs, waiting and service included.
    start, end
        Node of the depot where routes begin and end; None for routes that begin or end at a customer.
    shift
        From the first departure to the last return.
    max_distance, max_duration, max_stops
        The longest that a route may be and take, and the most customers on it; any if left out.
    skills
        What its crew can do: customers who need a skill are served by those who have it.
    profile
        Whose distances and durations count: 0 for those of the instance, k for the k-th of its profiles.
    name
        What to call it in output.

    >>> VehicleType(10, skills=["crane"]).capacity
    (10.0,)
    """

    capacity: tuple[float, ...]
    available: int | None
    fixed_cost: float
    distance_cost: float
    duration_cost: float
    start: int | None
    end: int | None
    shift: tuple[float, float]
    max_distance: float | None
    max_duration: float | None
    max_stops: int | None
    skills: frozenset[str]
    profile: int
    name: str

    def __init__(
        self,
        capacity: float | Sequence[float],
        available: int | None = None,
        fixed_cost: float = 0.0,
        distance_cost: float = 1.0,
        duration_cost: float = 0.0,
        start: int | None = 0,
        end: int | None = 0,
        shift: Sequence[float] = ALWAYS,
        max_distance: float | None = None,
        max_duration: float | None = None,
        max_stops: int | None = None,
        skills: Iterable[str] = (),
        profile: int = 0,
        name: str = "",
    ) -> None:
        what = f"vehicle type {name}" if name else "vehicle type"
        if isinstance(skills, str):
            raise InputError(f"{what}: skills {skills!r:.60} must be a list of texts.")
        _set(
            self,
            name=text("name of a vehicle type", name),
            capacity=amounts(f"{what}: capacity", capacity),
            available=None if available is None else whole_number(f"{what}: number of vehicles", available, 0),
            fixed_cost=not_negative(f"{what}: fixed cost", fixed_cost),
            distance_cost=not_negative(f"{what}: distance cost", distance_cost),
            duration_cost=not_negative(f"{what}: duration cost", duration_cost),
            start=None if start is None else whole_number(f"{what}: start depot", start, 0),
            end=None if end is None else whole_number(f"{what}: end depot", end, 0),
            shift=window(f"{what}: shift", shift),
            max_distance=None if max_distance is None else not_negative(f"{what}: max distance", max_distance),
            max_duration=None if max_duration is None else not_negative(f"{what}: max duration", max_duration),
            max_stops=None if max_stops is None else whole_number(f"{what}: most stops", max_stops, 0),
            skills=frozenset(text(f"{what}: skill", each) for each in skills),
            profile=whole_number(f"{what}: profile", profile, 0),
        )


@dataclass(frozen=True, init=False)
class Depot:
    """What there is to a depot beside its place and window: the goods that it has, and what it costs to open it.

    Its capacity is the most that all routes that start there deliver, in all or for each dimension of goods; any if
    left out. The cost is paid once if any route starts or ends there.
    """

    capacity: tuple[float, ...] | None
    cost: float

    def __init__(self, capacity: float | Sequence[float] | None = None, cost: float = 0.0) -> None:
        _set(
            self,
            capacity=None if capacity is None else amounts("capacity of a depot", capacity),
            cost=not_negative("cost of opening a depot", cost),
        )


@dataclass(frozen=True, init=False, eq=False)
class Profile:
    """Distances and durations of their own for some vehicles, from all nodes to all nodes; durations are the distances
    if left out.
    """

    matrix: Floats
    durations: Floats | None
    name: str

    def __init__(self, matrix: npt.ArrayLike, durations: npt.ArrayLike | None = None, name: str = "") -> None:
        what = f"profile {name}" if name else "profile"
        _set(
            self,
            name=text("name of a profile", name),
            matrix=numbers(f"{what}: distances", matrix, 2),
            durations=None if durations is None else numbers(f"{what}: durations", durations, 2),
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Profile):
            return NotImplemented
        return self is other or same_fields(self, other)

    def __hash__(self) -> int:
        return hash((self.name, self.matrix.shape))


@dataclass(frozen=True, init=False)
class Shipment:
    """Goods that are picked up at one customer and delivered to another one, by one vehicle in that order.

    ``max_ride`` is the most time from the end of service at the pickup to the start of service at the delivery; any if
    left out. A vehicle may wait before the pickup to make it shorter.
    """

    pickup: int
    delivery: int
    amount: tuple[float, ...]
    max_ride: float | None

    def __init__(
        self, pickup: int, delivery: int, amount: float | Sequence[float] = 0.0, max_ride: float | None = None
    ) -> None:
        _set(
            self,
            pickup=whole_number("pickup of a shipment: customer", pickup),
            delivery=whole_number("delivery of a shipment: customer", delivery),
            amount=amounts("amount of a shipment", amount),
            max_ride=None if max_ride is None else not_negative("longest ride of a shipment", max_ride),
        )


@dataclass(frozen=True, init=False)
class Group:
    """Customers of whom only one is served; one has to be if the group is ``required``."""

    members: tuple[int, ...]
    required: bool
    name: str

    def __init__(self, members: Sequence[int], required: bool = True, name: str = "") -> None:
        what = f"group {name}" if name else "group"
        _set(
            self,
            name=text("name of a group", name),
            members=tuple(whole_number(f"{what}: customer", each) for each in members),
            required=bool(required),
        )
