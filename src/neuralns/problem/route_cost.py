"""Costs of one's own: functions of a route's totals, which the search compiles, and some that are ready-made."""

from __future__ import annotations

import dis
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any, NamedTuple, SupportsIndex

from neuralns.errors import GivenUpError, InputError
from neuralns.problem.patience import NoAnswerError, patience


class RouteTotals(NamedTuple):
    """What a cost of one's own is told about a route.

    Attributes
    ----------
    distance, duration
        How long the route is, and how long it takes from departure to return, waiting and service included.
    load
        The most that is on board at a time, in the first dimension.
    stops
        Number of customers on the route; at least 1.
    vehicle
        Number of the vehicle's type, counted from 0.
    """

    distance: float
    duration: float
    load: float
    stops: float
    vehicle: int


_TRIAL = RouteTotals(1.0, 1.0, 1.0, 1.0, 0)


@dataclass(frozen=True, eq=False)
class RouteCost:
    """A cost of every route in addition to that of its vehicle, its distance and its duration.

    Parameters
    ----------
    name
        What to call it in output.
    function
        From the `RouteTotals` of a route to its cost, a finite number of any sign. The search compiles it with numba,
        so that it can use numbers, ``min``, ``max``, the module ``math``, and the like.
    parameters
        Of a ready-made cost, what `named_cost` makes it of again; None for a function of one's own, which cannot be
        written to a file.

    Examples
    --------
    >>> steep = RouteCost("steep", lambda route: 0.01 * route.distance**2)
    >>> steep(RouteTotals(distance=10.0, duration=0.0, load=0.0, stops=1.0, vehicle=0))
    1.0
    """

    name: str
    function: Callable[[RouteTotals], float]
    parameters: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip() or not self.name.isprintable():
            raise InputError(f"name {self.name!r:.60} of a route cost must be text on one line.")
        # A function that is compiled already brings the Python one along.
        object.__setattr__(self, "function", getattr(self.function, "py_func", self.function))
        if not isinstance(self.function, FunctionType):
            # Others (methods, partial functions, those of C) cannot be compiled.
            raise InputError(f"{self} must be a function of a route's totals, not {self.function!r:.60}.")
        try:
            inspect.signature(self.function).bind(_TRIAL)
        except TypeError:
            raise InputError(f"{self} must take one argument, the totals of a route.") from None
        line = _line_of_import(self.function)
        if line is not None:
            raise InputError(
                f"{self} has an import in its function ({line}), which cannot be compiled; import above the function."
            )
        self(_TRIAL)

    def __call__(self, totals: RouteTotals) -> float:
        """Return the cost of a route with these totals."""
        try:
            if self.is_own:
                with patience():
                    value = self.function(totals)
            else:
                value = self.function(totals)
            number = math.nan if value is None else float(value)
        except NoAnswerError:
            raise GivenUpError(str(self)) from None
        except Exception as error:
            raise InputError(f"{self} fails for {_shown(totals)} ({type(error).__name__}: {error}).") from None
        if not math.isfinite(number):
            raise InputError(f"{self} gives {value} for {_shown(totals)}, but must give a finite number.")
        return number

    @property
    def is_own(self) -> bool:
        """Whether it is a function of the user's, not a ready-made one."""
        return self.parameters is None

    def __str__(self) -> str:
        return f"route cost {self.name!r:.60}"

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        """Let ready-made costs, whose functions cannot be pickled, travel to other processes by name."""
        if self.parameters is None:
            return super().__reduce_ex__(protocol)
        return named_cost, (self.name, dict(self.parameters))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RouteCost):
            return NotImplemented
        if self.parameters is None or other.parameters is None:
            return (self.name, self.function) == (other.name, other.function)
        return (self.name, self.parameters) == (other.name, other.parameters)

    def __hash__(self) -> int:
        return hash(self.name)

    def check_types(self, instance: str, types: int) -> None:
        """Refuse an instance whose number of vehicle types is another than this cost knows."""
        costs = (self.parameters or {}).get("costs")
        if costs is not None and len(costs) != types:
            raise InputError(f"{instance}: {self} has costs of {len(costs)} vehicle types, but there are {types}.")


def route_cost(function: Callable[[RouteTotals], float]) -> RouteCost:
    """Make a function of a route's totals a cost; decorator.

    Examples
    --------
    >>> @route_cost
    ... def overtime(route):
    ...     return 2.0 * max(0.0, route.duration - 480.0)
    >>> overtime.name, overtime(RouteTotals(distance=0.0, duration=500.0, load=0.0, stops=5.0, vehicle=0))
    ('overtime', 40.0)
    """
    return RouteCost(getattr(function, "__name__", "own"), function)


def overtime(after: float, cost: float = 1.0) -> RouteCost:
    """Return the cost of time that a route takes beyond ``after``, ``cost`` a unit.

    >>> overtime(after=480, cost=2)(RouteTotals(distance=0.0, duration=500.0, load=0.0, stops=5.0, vehicle=0))
    40.0
    """
    limit, price = _parameter("overtime", "after", after), _parameter("overtime", "cost", cost)
    return RouteCost(
        "overtime", lambda route: price * max(0.0, route.duration - limit), {"after": limit, "cost": price}
    )


def balance_durations(weight: float) -> RouteCost:
    """Return the cost ``weight`` × duration² of a route: the sum is least where routes take equally long."""
    factor = _parameter("balance_durations", "weight", weight)
    return RouteCost("balance_durations", lambda route: factor * route.duration * route.duration, {"weight": factor})


def balance_stops(weight: float) -> RouteCost:
    """Return the cost ``weight`` × stops² of a route: the sum is least where routes have equally many stops."""
    factor = _parameter("balance_stops", "weight", weight)
    return RouteCost("balance_stops", lambda route: factor * route.stops * route.stops, {"weight": factor})


def tolls(costs: Sequence[float]) -> RouteCost:
    """Return the toll of a route: its distance times the toll a unit of its type of vehicle, one for each type.

    >>> tolls([0, 0.15])(RouteTotals(distance=100.0, duration=0.0, load=0.0, stops=5.0, vehicle=1))
    15.0
    """
    if isinstance(costs, str | Mapping):
        raise InputError(f"route cost 'tolls': costs {costs!r:.60} must be a list of numbers, one a vehicle type.")
    try:
        tariff = tuple(_parameter("tolls", "costs", cost) for cost in costs)
    except TypeError:
        raise InputError(
            f"route cost 'tolls': costs {costs!r:.60} must be a list of numbers, one a vehicle type."
        ) from None
    if not tariff:
        raise InputError("route cost 'tolls': costs must name at least one vehicle type.")
    return RouteCost("tolls", lambda route: tariff[route.vehicle] * route.distance, {"costs": list(tariff)})


READY_MADE: dict[str, Callable[..., RouteCost]] = {
    "overtime": overtime,
    "balance_durations": balance_durations,
    "balance_stops": balance_stops,
    "tolls": tolls,
}
"""Costs that can be asked for by name."""


def named_cost(name: str, parameters: Mapping[str, Any]) -> RouteCost:
    """Return a ready-made cost of a name, as files and the command line give it.

    >>> named_cost("overtime", {"after": 480}).parameters
    {'after': 480.0, 'cost': 1.0}
    """
    if name not in READY_MADE:
        raise InputError(f"route cost {name!r:.60} is not known; choose one of {', '.join(READY_MADE)}.")
    known = inspect.signature(READY_MADE[name]).parameters
    for key in parameters:
        if key not in known:
            raise InputError(f"route cost {name!r} has no parameter {key!r:.60}, only {' and '.join(known)}.")
    for key, entry in known.items():
        if key not in parameters and entry.default is inspect.Parameter.empty:
            raise InputError(f"route cost {name!r} needs the parameter {key!r}.")
    return READY_MADE[name](**parameters)


def _line_of_import(function: Any) -> str | None:
    """Return file and line of the first import statement within a function, or None."""
    code: Any = getattr(function, "__code__", None)
    line = 0
    for step in () if code is None else dis.get_instructions(code):
        line = step.starts_line if isinstance(step.starts_line, int) and step.starts_line > 1 else line
        if step.opname == "IMPORT_NAME":
            return f"{code.co_filename}, line {line}"
    return None


def _parameter(name: str, key: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"route cost {name!r}: {key} {value!r:.60} is not a number.") from None
    if not 0 <= number <= 1e100:
        raise InputError(f"route cost {name!r}: {key} {number:g} must be a finite number and not negative.")
    return number


def _shown(totals: RouteTotals) -> str:
    return f"a route of distance {totals.distance:.10g}, duration {totals.duration:.10g} and {totals.stops:g} stops"
