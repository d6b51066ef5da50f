"""Portfolios: ordered choices of operators, by name or of your own, and their compiled form."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from neuralns.compiled.calls import MOST_PARAMETERS, address_of
from neuralns.compiled.structs import Struct, StructType, number_table, numbers, whole, wholes
from neuralns.errors import InputError
from neuralns.operators.registry import Operator, operator
from neuralns.problem.instance import Instance
from neuralns.problem.limits import load_limit

_FIELDS = {
    "n_destroys": whole,
    "destroys": wholes,  # addresses of the compiled operators
    "destroy_parameters": number_table,  # a row for each operator
    "destroy_counts": wholes,  # how many of the row it takes
    "n_repairs": whole,
    "repairs": wholes,
    "repair_parameters": number_table,
    "repair_counts": wholes,
    "n_improves": whole,
    "improves": wholes,
    "improve_parameters": number_table,
    "improve_counts": wholes,
    "improve_shares": numbers,  # of the steps that each is applied in
}
tables_type = StructType("neuralns.Tables", _FIELDS, constants=_FIELDS)

MOST_OPERATORS = 500
"""Most operators of a portfolio: each pair of them takes memory, and time to learn how good it is."""
MOST_IMPROVES = 60
"""Most improve operators of a portfolio: which of them a step applied is noted in the bits of a number."""


@dataclass(frozen=True)
class Portfolio:
    """An ordered choice of destroy and repair operators, and improve operators that are applied one after another.

    Examples
    --------
    >>> portfolio = portfolio_named("paper-3")
    >>> [entry.name for entry in portfolio.destroys]
    ['worst-node', 'proximity', 'cluster']
    >>> [entry.name for entry in portfolio.repairs]
    ['greedy', 'regret-2']
    """

    name: str
    destroys: tuple[Operator, ...]
    repairs: tuple[Operator, ...]
    improves: tuple[Operator, ...] = ()

    _tables: ClassVar[tuple[list[int], Struct] | None] = None

    def __post_init__(self) -> None:
        for phase, entries in (("destroy", self.destroys), ("repair", self.repairs)):
            if not entries:
                raise InputError(f"portfolio {self.name!r:.200} has no {phase} operator.")
        _check_count(self.name, len(self.operators))
        if len(self.improves) > MOST_IMPROVES:
            raise InputError(
                f"portfolio {self.name!r} has {len(self.improves)} improve operators; {MOST_IMPROVES} at most."
            )
        for name in self.names:
            if self.names.count(name) > 1:
                raise InputError(f"portfolio {self.name!r} names operator {name!r} twice.")

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel to other processes by the names of the operators, which are registered there too."""
        return make_portfolio, (self.name, list(self.names))

    @property
    def operators(self) -> tuple[Operator, ...]:
        """All operators: destroy, repair, improve."""
        return *self.destroys, *self.repairs, *self.improves

    @property
    def uses_history(self) -> bool:
        """Whether any operator reads the search's memory."""
        return any(entry.uses_history for entry in self.operators)

    @property
    def may_overload(self) -> bool:
        """Whether these are the operators with which it was tried to let vehicles carry too much for a while."""
        return self.names == PLAIN

    @property
    def actions(self) -> tuple[str, ...]:
        """Names of the operators that a selector chooses among, the destroy operators first."""
        return tuple(entry.name for entry in (*self.destroys, *self.repairs))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all operators, in the same order."""
        return tuple(entry.name for entry in self.operators)

    @property
    def tables(self) -> Struct:
        """Compiled operators as compiled functions take them (see `contract`), made anew if one has changed."""
        addresses = [address_of(entry.compiled) for entry in self.operators]
        if self._tables is None or self._tables[0] != addresses:
            object.__setattr__(self, "_tables", (addresses, self._new_tables()))
        assert self._tables is not None
        return self._tables[1]

    def _new_tables(self) -> Struct:
        found: dict[str, Any] = {}
        for phase, entries in (("destroy", self.destroys), ("repair", self.repairs), ("improve", self.improves)):
            given = np.zeros((len(entries), MOST_PARAMETERS))
            for row, entry in enumerate(entries):
                given[row, : len(entry.arguments)] = entry.arguments
            found[f"n_{phase}s"] = len(entries)
            found[f"{phase}s"] = np.array([address_of(entry.compiled) for entry in entries], np.int64)
            found[f"{phase}_parameters"] = given
            found[f"{phase}_counts"] = np.array([len(entry.arguments) for entry in entries], np.int64)
        found["improve_shares"] = np.array([entry.share for entry in self.improves])
        return Struct(tables_type, **found)

    def own_tables(self) -> Struct:
        """Return tables whose parameters may be changed while a search runs."""
        fields = {name: getattr(self.tables, name) for name in _FIELDS}
        return Struct(
            tables_type,
            **{name: value.copy() if isinstance(value, np.ndarray) else value for name, value in fields.items()},
        )

    def place_of(self, name: str, parameter: str) -> tuple[str, int, int]:
        """Return where tables keep a parameter of an operator: the phase, the row and the column, -1 of a share."""
        for phase, entries in (("destroy", self.destroys), ("repair", self.repairs), ("improve", self.improves)):
            for row, entry in enumerate(entries):
                if entry.name == name:
                    names = [each for each, _ in entry.parameters]
                    if parameter in names:
                        return phase, row, names.index(parameter) - (phase == "improve")
                    known = ", ".join(names) or "none"
                    raise InputError(f"operator {name!r} has no parameter {parameter!r} (its parameters: {known}).")
        raise InputError(f"operator {name!r} is not in portfolio {self.name!r} ({', '.join(self.names)}).")


# The order in which the operators join the paper's portfolios: random selection at |D| = 2 .. 12 fits it.
PAPER_DESTROYS = (
    "worst-node",
    "proximity",
    "cluster",
    "zone",
    "random-route",
    "node-neighbourhood",
    "route-neighbourhood",
    "random-node",
    "pair",
    "neighbourhood",
    "historical",
    "greedy-route",
)
PAPER_REPAIRS = ("greedy", "regret-2")

# What makes the solver strong, and the candidates that did not earn a place beside it (`neuralns bench ablation`).
MODERN = ("string", "blinks", "regret-2")
# Where lengths and loads are all: the same, and ends of routes are exchanged; many customers need repairs that look
# near, and on long routes strings must stay together.
PLAIN = (*MODERN, "2-opt-star")
LARGE = ("string", "blinks:near=50", "2-opt-star")
LONG = ("string:keep=0.5", "blinks:near=50", "2-opt-star")
# With windows what is best differs from one class of instances to the next, so that a varied choice is strongest.
WINDOWS = (
    "string", "string:longest=20", "string:longest=40", "string:longest=20:keep=0.01", "string:longest=5:keep=0.01",
    "blinks", "blinks:rate=0.05:near=40",
)  # fmt: skip
# Where vehicles are few, routes that break rules for a while are mended.
TIGHT = (*WINDOWS, "unload", "2-opt-star:share=0.2", "swap-star:share=0.2")
# For controllers: short and long strings, whole and split; near and full repairs; improving in a share of the steps.
WIDE = (
    *WINDOWS, "shaw", "random-route", "regret-2", "2-opt-star:share=0.1", "or-opt:share=0.1",
)  # fmt: skip
MODERN_CANDIDATES = (*MODERN, "cluster", "shaw", "worst-load", "regret-3", "regret-4", "noise", "random-insertion")
_NAMED = {
    "modern": MODERN,
    "modern-all": MODERN_CANDIDATES,
    "plain": PLAIN,
    "large": LARGE,
    "long": LONG,
    "windows": WINDOWS,
    "tight": TIGHT,
    "wide": WIDE,
}

LONG_ROUTE, MANY_CUSTOMERS = 40, 2000
"""From so many customers of a full vehicle on, routes are long; from so many in all on, an instance is large."""


def portfolio_names() -> tuple[str, ...]:
    """Return the names of the named portfolios."""
    return (*_NAMED, "paper", *(f"paper-{size}" for size in range(2, len(PAPER_DESTROYS) + 1)))


def portfolio_named(name: str) -> Portfolio:
    """Return a named portfolio, or the one of a comma-separated list of operators and portfolios.

    >>> portfolio_named("modern,zone,greedy").names
    ('string', 'zone', 'blinks', 'regret-2', 'greedy')
    """
    if name in portfolio_names():
        return make_portfolio(name, [name])
    if "," in name:
        return make_portfolio(name, [part.strip() for part in name.split(",") if part.strip()])
    raise InputError(
        f"portfolio {name!r:.200} is not known; choose {', '.join(_NAMED)}, paper or paper-2 to "
        f"paper-{len(PAPER_DESTROYS)}, or list operators separated by commas."
    )


FULL = 0.75
"""Vehicles are few where they are full to this share with all that is to be carried."""


def default_for(instance: Instance) -> str:
    """Return the name of the portfolio that a search has if neither it nor a selector that brings one was chosen."""
    found = strongest_for(instance)
    return "tight" if found == "windows" and fullness(instance) >= FULL else found


def fullness(instance: Instance) -> float:
    """Return how full all vehicles together are with all that is to be delivered or picked up; 0 if they may be many.

    It is that of the goods of which they are fullest. Shipments and groups do not tell.
    """
    if instance.shipments or instance.groups or any(each.available is None for each in instance.types):
        return 0.0
    used = [np.asarray(each.capacity) * float(each.available) for each in instance.types if each.available]
    room = np.sum(used, axis=0) if used else np.zeros(instance.dimensions)
    amounts = np.max([np.abs(part[1 : instance.customers + 1]).sum(axis=0) for part in instance.amounts], axis=0)
    return float(np.max(np.divide(amounts, room, out=np.zeros(len(room)), where=room > 0)))


def strongest_for(instance: Instance) -> str:
    """Return the name of the portfolio that is best for an instance, however full its vehicles (docs/benchmarks.md)."""
    if instance.timed or instance.general:
        return "windows"
    full = math.ceil(float(instance.demands.sum()) / (load_limit(instance) or math.inf))
    limited = instance.max_distance is not None or instance.max_duration is not None
    if instance.customers >= LONG_ROUTE * max(1, full) and not limited:
        return "long"
    return "large" if instance.customers >= MANY_CUSTOMERS else "plain"


def make_portfolio(name: str, entries: Sequence[str | Operator]) -> Portfolio:
    """Return a portfolio of operators given by name or as registered; the phases may be mixed in the list.

    The name of a portfolio stands for its members that are not in the list anyway.
    """
    _check_count(name, len(entries))
    chosen: list[Operator] = []
    given = [entry for entry in entries if entry not in portfolio_names()]
    for entry in entries:
        if isinstance(entry, str) and entry in portfolio_names():
            known = {*given, *(other.name for other in given if isinstance(other, Operator))}
            members = [operator(member) for member in _members(entry) if member not in known]
            chosen += [member for member in members if member not in chosen]
        else:
            chosen.append(operator(entry) if isinstance(entry, str) else entry)
    return Portfolio(
        name,
        tuple(entry for entry in chosen if entry.phase == "destroy"),
        tuple(entry for entry in chosen if entry.phase == "repair"),
        tuple(entry for entry in chosen if entry.phase == "improve"),
    )


def _check_count(name: str, count: int) -> None:
    if count > MOST_OPERATORS:
        raise InputError(f"portfolio {name!r:.60} has {count} operators; {MOST_OPERATORS} at most.")


def _members(name: str) -> tuple[str, ...]:
    """Return the names of the operators of a named portfolio."""
    if name in _NAMED:
        return _NAMED[name]
    size = len(PAPER_DESTROYS) if name == "paper" else int(name.removeprefix("paper-"))
    return (*PAPER_DESTROYS[:size], *PAPER_REPAIRS)
