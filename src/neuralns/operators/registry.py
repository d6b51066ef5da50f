"""Operators by name: the decorators that register them, and portfolios of them."""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal

from numba import types
from numba.core.errors import NumbaError
from numba.experimental import structref

from neuralns.compiling import compile_for
from neuralns.errors import InputError, OperatorError
from neuralns.operators.handle import Handle, HandleType
from neuralns.operators.state import state_type

Phase = Literal["destroy", "repair"]

MOST_DESTROYS, MOST_REPAIRS = 32, 16
"""Lengths of the tables that the search loop is compiled for; portfolios are padded to them."""

destroy_signature = types.void(state_type, types.int64)
repair_signature = types.void(state_type)
_destroy_table = types.UniTuple(types.FunctionType(destroy_signature), MOST_DESTROYS)
_repair_table = types.UniTuple(types.FunctionType(repair_signature), MOST_REPAIRS)
tables_type = HandleType(
    "neuralns.Tables",
    [("destroys", _destroy_table), ("repairs", _repair_table), ("n_destroys", types.int64), ("n_repairs", types.int64)],
)

_PARAMETERS = {"destroy": ("state", "quota"), "repair": ("state",)}


@dataclass(frozen=True)
class Operator:
    """A registered operator.

    Attributes
    ----------
    name
        What the command line, portfolios and policies call it.
    phase
        ``destroy`` or ``repair``.
    kind
        The paper's class: ``random``, ``greedy`` or ``related`` (or a word of your own).
    function
        The Python function: ``(state, quota)`` for a destroy operator, ``(state)`` for a repair operator.
    uses_history
        Whether it reads ``state.history``, which costs memory and time to keep.
    """

    name: str
    phase: Phase
    kind: str
    function: Callable[..., None]
    uses_history: bool = False

    @property
    def summary(self) -> str:
        """First line of the docstring."""
        return (inspect.getdoc(self.function) or "").partition("\n")[0]

    @cached_property
    def compiled(self) -> Any:
        """The compiled function; an operator that does not compile is refused by name."""
        signature = destroy_signature if self.phase == "destroy" else repair_signature
        try:
            return compile_for(signature, self.function)
        except NumbaError as error:
            raise OperatorError(f"operator {self.name!r} does not compile: {_reason(error)}") from None


_registry: dict[str, Operator] = {}


def destroy(name: str, kind: str = "own", *, uses_history: bool = False) -> Callable[[Callable[..., None]], Operator]:
    """Register a destroy operator: a function ``(state, quota)`` that removes exactly ``quota`` customers.

    It is compiled when a search first uses it. It reads the state's fields and removes customers with
    `neuralns.operators.state.remove`; all randomness comes from `random` and `randint` of the same module.
    """
    return _register(name, "destroy", kind, uses_history)


def repair(name: str, kind: str = "own", *, uses_history: bool = False) -> Callable[[Callable[..., None]], Operator]:
    """Register a repair operator: a function ``(state)`` that inserts every customer on the removal list."""
    return _register(name, "repair", kind, uses_history)


def _register(name: str, phase: Phase, kind: str, uses_history: bool) -> Callable[[Callable[..., None]], Operator]:
    def decorate(function: Callable[..., None]) -> Operator:
        if not name or any(character in name for character in ",:/ "):
            raise OperatorError(f"operator name {name!r} must not be empty or hold spaces, commas, colons or slashes.")
        parameters = tuple(inspect.signature(function).parameters)
        if len(parameters) != len(_PARAMETERS[phase]):
            raise OperatorError(
                f"operator {name!r} takes ({', '.join(parameters)}), but a {phase} operator takes "
                f"({', '.join(_PARAMETERS[phase])})."
            )
        known = _registry.get(name)
        if known is not None and not _same_place(known.function, function):
            raise OperatorError(f"operator {name!r} is registered already, in {inspect.getfile(known.function)}.")
        _registry[name] = Operator(name, phase, kind, function, uses_history)
        return _registry[name]

    return decorate


def _same_place(one: Callable[..., None], other: Callable[..., None]) -> bool:
    return (one.__code__.co_filename, one.__qualname__) == (other.__code__.co_filename, other.__qualname__)


def _reason(error: NumbaError) -> str:
    """Return the line of numba's message that says what is wrong, with the line of the source where it is."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    place = next((line for line in lines if line.startswith("File ")), "")
    skip = ("Failed in", "File ", "During", "This error", "- Resolution", "->", "No implementation")
    said = next((line for line in lines if not line.startswith(skip)), lines[0] if lines else "unknown reason")
    return f"{said.rstrip('.')}{' (' + place.rstrip(':') + ')' if place else ''}."


def operators() -> tuple[Operator, ...]:
    """Return all registered operators, the destroy operators first, and of each phase the built-in ones first."""
    _load_built_in()
    return tuple(sorted(_registry.values(), key=lambda entry: entry.phase))


def operator(name: str) -> Operator:
    """Return the operator of a name."""
    _load_built_in()
    if name not in _registry:
        raise InputError(f"operator {name!r} is not known (see 'neuralns operators').")
    return _registry[name]


def load_operators(path: str | os.PathLike[str]) -> tuple[Operator, ...]:
    """Run a user's Python file and return the operators that its decorators register."""
    _load_built_in()
    source = Path(path).resolve()
    if not source.is_file():
        raise InputError(f"{path}: cannot be read (no such file).")
    before = dict(_registry)
    # The full path is part of the name, so that two files of one name do not meet.
    module_name = f"neuralns_user_{source.stem}_{hashlib.sha256(str(source).encode()).hexdigest()[:8]}"
    spec = importlib.util.spec_from_file_location(module_name, source)
    if spec is None or spec.loader is None:
        raise InputError(f"{path}: is not a Python file.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    try:
        spec.loader.exec_module(module)
    except (InputError, OperatorError):
        raise
    except Exception as error:
        raise InputError(f"{path}: fails when run ({type(error).__name__}: {error}).") from None
    found = tuple(entry for name, entry in _registry.items() if before.get(name) is not entry)
    if not found:
        raise InputError(f"{path}: registers no operator (use the decorators neuralns.destroy and neuralns.repair).")
    return found


def _load_built_in() -> None:
    from neuralns.operators import greedy, insertion, random, related, strings  # noqa: F401 (importing registers)


@dataclass(frozen=True)
class Portfolio:
    """An ordered choice of destroy and repair operators.

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

    def __post_init__(self) -> None:
        for phase, entries, most in (
            ("destroy", self.destroys, MOST_DESTROYS),
            ("repair", self.repairs, MOST_REPAIRS),
        ):
            if not entries:
                raise InputError(f"portfolio {self.name!r} has no {phase} operator.")
            if len(entries) > most:
                raise InputError(f"portfolio {self.name!r} has {len(entries)} {phase} operators, at most {most} fit.")
        names = [entry.name for entry in (*self.destroys, *self.repairs)]
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"portfolio {self.name!r} names operator {name!r} twice.")

    @property
    def uses_history(self) -> bool:
        """Whether any operator reads the search's memory."""
        return any(entry.uses_history for entry in (*self.destroys, *self.repairs))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all operators, the destroy operators first."""
        return tuple(entry.name for entry in (*self.destroys, *self.repairs))

    @cached_property
    def tables(self) -> Handle:
        """Compiled operators as compiled functions take them (`apply_destroy`, `apply_repair`)."""
        destroys = [entry.compiled for entry in self.destroys]
        repairs = [entry.compiled for entry in self.repairs]
        counts = len(destroys), len(repairs)
        destroys += destroys[:1] * (MOST_DESTROYS - len(destroys))
        repairs += repairs[:1] * (MOST_REPAIRS - len(repairs))
        return Handle(tables_type, _table_maker()(tuple(destroys), tuple(repairs), *counts))


def _make_tables(destroys, repairs, n_destroys, n_repairs):
    tables = structref.new(_tables_owner)
    tables.destroys = destroys
    tables.repairs = repairs
    tables.n_destroys = n_destroys
    tables.n_repairs = n_repairs
    return tables


_tables_owner = tables_type.owner


@cache
def _table_maker() -> Any:
    return compile_for(_tables_owner(_destroy_table, _repair_table, types.int64, types.int64), _make_tables)


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
MODERN_CANDIDATES = (*MODERN, "cluster", "shaw", "worst-load", "regret-3", "regret-4", "noise", "random-insertion")


def portfolio_names() -> tuple[str, ...]:
    """Return the names of the named portfolios."""
    return ("modern", "modern-all", "paper", *(f"paper-{size}" for size in range(2, len(PAPER_DESTROYS) + 1)))


def portfolio_named(name: str) -> Portfolio:
    """Return a named portfolio, or the one of a comma-separated list of operators."""
    if name == "modern":
        return make_portfolio(name, MODERN)
    if name == "modern-all":
        return make_portfolio(name, MODERN_CANDIDATES)
    if name == "paper":
        return make_portfolio(name, (*PAPER_DESTROYS, *PAPER_REPAIRS))
    if name in portfolio_names():
        return make_portfolio(name, (*PAPER_DESTROYS[: int(name.removeprefix("paper-"))], *PAPER_REPAIRS))
    if "," in name:
        return make_portfolio(name, [part.strip() for part in name.split(",") if part.strip()])
    raise InputError(
        f"portfolio {name!r} is not known; choose modern, modern-all, paper or paper-2 to paper-{len(PAPER_DESTROYS)}, "
        "or list operators separated by commas."
    )


def make_portfolio(name: str, entries: Sequence[str | Operator]) -> Portfolio:
    """Return a portfolio of operators given by name or as registered; repairs may stand anywhere in the list."""
    chosen = [operator(entry) if isinstance(entry, str) else entry for entry in entries]
    return Portfolio(
        name,
        tuple(entry for entry in chosen if entry.phase == "destroy"),
        tuple(entry for entry in chosen if entry.phase == "repair"),
    )
