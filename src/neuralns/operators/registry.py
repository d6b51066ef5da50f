"""Operators by name: the decorators that register them, and their parameters."""

from __future__ import annotations

import importlib
import inspect
import math
import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import entry_points
from typing import Any, Literal

from numba import types

from neuralns.compiled.calls import MOST_PARAMETERS
from neuralns.compiled.own import compile_own
from neuralns.errors import InputError, InputWarning, OperatorError
from neuralns.operators.dial import Dial
from neuralns.operators.own_file import run_python_file
from neuralns.routes.layout import state_type

Phase = Literal["destroy", "repair", "improve"]

SIGNATURES = {
    "destroy": types.void(state_type, types.int64),
    "repair": types.void(state_type),
    "improve": types.void(state_type),
}
"""What operators take; their parameters follow as floats."""
_ARGUMENTS = {"destroy": ("state", "quota"), "repair": ("state",), "improve": ("state",)}
SHARE = "share"
"""The parameter that every improve operator has without taking it: the share of the steps that it is applied in."""


@dataclass(frozen=True)
class Operator:
    """A registered operator.

    Attributes
    ----------
    name
        What the command line, portfolios and policies call it, with the parameters that differ from their defaults:
        ``string:longest=20``.
    phase
        ``destroy``, ``repair`` or ``improve``.
    kind
        The paper's class: ``random``, ``greedy`` or ``related`` (or a word of your own).
    function
        The Python function: ``(state, quota)`` for a destroy operator, ``(state)`` for others, then its parameters.
    uses_history
        Whether it asks for the cost of the best solution seen with an arc (``seen_cost`` of the toolkit; the array
        behind it is laid out differently for large instances), which costs memory and time to keep.
    parameters
        Names and values of its parameters; those of an improve operator begin with the ``share`` of the steps that it
        is applied in, which its function does not take.
    dials
        Names of the parameters that controllers may turn, and the dials that turn them.
    """

    name: str
    phase: Phase
    kind: str
    function: Callable[..., None]
    uses_history: bool = False
    parameters: tuple[tuple[str, float], ...] = ()
    dials: tuple[tuple[str, Dial], ...] = ()

    @property
    def summary(self) -> str:
        """First line of the docstring."""
        return (inspect.getdoc(self.function) or "").partition("\n")[0]

    @property
    def compiled(self) -> Any:
        """The compiled function; an operator that does not compile is refused by name."""
        signature = types.void(*SIGNATURES[self.phase].args, *(types.float64,) * len(self.arguments))
        return compile_own(f"operator {self.name!r}", signature, self.function)

    @property
    def arguments(self) -> tuple[float, ...]:
        """Values of the parameters that its function takes."""
        taken = self.parameters[1:] if self.phase == "improve" else self.parameters
        return tuple(value for _, value in taken)

    @property
    def share(self) -> float:
        """Share of the steps that it is applied in, if it is chosen at all."""
        return self.parameters[0][1] if self.phase == "improve" else 1.0

    def apply(self, *arguments: Any) -> None:
        """Apply the operator to a state (and a quota), with its parameters."""
        self.compiled(*arguments, *self.arguments)

    def with_parameters(self, text: str) -> Operator:
        """Return the operator with other parameters.

        >>> operator("string").with_parameters("longest=20:split=0.3").name
        'string:longest=20:split=0.3'
        """
        values = dict(self.parameters)
        for part in text.split(":"):
            name, equals, value = (piece.strip() for piece in part.partition("="))
            if name not in values:
                known = ", ".join(values) or "none"
                raise InputError(f"operator {self.name!r} has no parameter {name!r} (its parameters: {known}).")
            try:
                values[name] = float(value)
            except ValueError:
                values[name] = math.nan
            if not equals or not math.isfinite(values[name]):
                raise InputError(f"operator {self.name!r}: {part!r} does not give a number, such as {name}=2.")
        found = replace(self, name=f"{self.name}:{text}", parameters=tuple(values.items()))
        if not 0.0 <= found.share <= 1.0:
            raise InputError(f"operator {self.name!r}: share {found.share:g} must be from 0 to 1.")
        return found


_registry: dict[str, Operator] = {}


Decorator = Callable[[Callable[..., None]], Operator]
_NO_DIALS: Mapping[str, Dial] = {}


def destroy(
    name: str, kind: str = "own", *, uses_history: bool = False, dials: Mapping[str, Dial] = _NO_DIALS
) -> Decorator:
    """Register a destroy operator: a function ``(state, quota)`` that removes exactly ``quota`` customers.

    It is compiled when a search first uses it. It reads the state's fields and removes customers with
    `neuralns.operators.toolkit.remove`; all randomness comes from `random` and `randint` of the same module. Arguments
    with default values are parameters, numbers that the operator's name can set (``mine:radius=3``). Those named in
    ``dials`` are turned by controllers and tuning as well: ``dials={"radius": Dial("radius")}``.
    """
    return _register(name, "destroy", kind, uses_history, dials)


def repair(
    name: str, kind: str = "own", *, uses_history: bool = False, dials: Mapping[str, Dial] = _NO_DIALS
) -> Decorator:
    """Register a repair operator: a function ``(state)`` that inserts every customer on the removal list."""
    return _register(name, "repair", kind, uses_history, dials)


def improve(
    name: str, kind: str = "own", *, uses_history: bool = False, dials: Mapping[str, Dial] = _NO_DIALS
) -> Decorator:
    """Register an improve operator: a function ``(state)`` that makes complete routes cheaper, after each repair.

    It begins with the customers beside whom the step has changed something, ``state.touched[: state.n_touched]``, and
    makes moves by `neuralns.operators.toolkit`, which add to them. Its parameter ``share``, which the function does not
    take, is the share of the steps that it is applied in: ``mine:share=0.1``.
    """
    return _register(name, "improve", kind, uses_history, dials)


def _register(name: str, phase: Phase, kind: str, uses_history: bool, dials: Mapping[str, Dial]) -> Decorator:
    def decorate(function: Callable[..., None]) -> Operator:
        if not name or any(character in name for character in ",:/ "):
            raise OperatorError(f"operator name {name!r} must not be empty or hold spaces, commas, colons or slashes.")
        taken = inspect.signature(function).parameters
        own = {key: entry.default for key, entry in taken.items() if entry.default is not inspect.Parameter.empty}
        if len(taken) - len(own) != len(_ARGUMENTS[phase]):
            raise OperatorError(
                f"operator {name!r} takes ({', '.join(taken)}), but a {phase} operator takes "
                f"({', '.join(_ARGUMENTS[phase])}), and parameters with default values."
            )
        for key, value in own.items():
            if not isinstance(value, int | float):
                raise OperatorError(f"operator {name!r}: default {value!r} of parameter {key!r} is not a number.")
        for key, dial in dials.items():
            if key not in own:
                known = ", ".join(own) or "none"
                raise OperatorError(f"operator {name!r}: dial of {key!r:.60}, which is no parameter of it ({known}).")
            if not (isinstance(dial, Dial) and isinstance(dial.name, str) and 0 < dial.spread < math.inf):
                raise OperatorError(f"operator {name!r}: {dial!r:.60} is no dial of parameter {key!r}.")
        if phase == "improve":
            if SHARE in own:
                raise OperatorError(f"operator {name!r}: an improve operator has a parameter 'share' anyway.")
            own = {SHARE: 1.0, **own}
        if len(own) > MOST_PARAMETERS:
            raise OperatorError(f"operator {name!r} has {len(own)} parameters; {MOST_PARAMETERS} at most.")
        before = _registry.get(name)
        if before is not None and not _may_replace(before.function, function):
            raise OperatorError(f"operator {name!r} is registered already, in {inspect.getfile(before.function)}.")
        parameters = tuple((key, float(value)) for key, value in own.items())
        _registry[name] = Operator(name, phase, kind, function, uses_history, parameters, tuple(dials.items()))
        return _registry[name]

    return decorate


def _may_replace(known: Callable[..., None], function: Callable[..., None]) -> bool:
    """Return whether a function is a version of a known one: of the same file and name, or typed at a prompt again."""
    typed = known.__module__ == function.__module__ == "__main__"
    origin = (known.__code__.co_filename, known.__qualname__)
    return typed or origin == (function.__code__.co_filename, function.__qualname__)


def operators() -> tuple[Operator, ...]:
    """Return all registered operators: destroy, repair, improve; of each phase the built-in ones first.

    Those of installed packages are among them.
    """
    _load_built_in()
    _load_installed()
    return tuple(sorted(_registry.values(), key=lambda entry: [*SIGNATURES].index(entry.phase)))


def operator(name: str) -> Operator:
    """Return the operator of a name, with parameters of its own where the name gives some (``string:longest=20``)."""
    _load_built_in()
    plain, colon, parameters = name.partition(":")
    if plain not in _registry:
        _load_installed()
    if plain not in _registry:
        raise InputError(f"operator {plain!r} is not known (see 'neuralns operators').")
    return _registry[plain].with_parameters(parameters) if colon else _registry[plain]


def load_operators(path: str | os.PathLike[str]) -> tuple[Operator, ...]:
    """Run a user's Python file and return the operators that its decorators register."""
    _load_built_in()
    before = dict(_registry)
    run_python_file(path)
    found = tuple(entry for name, entry in _registry.items() if before.get(name) is not entry)
    if not found:
        raise InputError(f"{path}: registers no operator (use neuralns.destroy, neuralns.repair or neuralns.improve).")
    return found


INSTALLED = "neuralns.operators"
"""Group of the entry points by which installed packages name modules with operators."""


@cache
def _load_installed() -> None:
    """Load the operators of installed packages, once; a package that fails is named in a warning, and left out."""
    for entry in entry_points(group=INSTALLED):
        try:
            entry.load()
        except Exception as error:
            package = "a package" if entry.dist is None else f"package {entry.dist.name!r}"
            warnings.warn(
                f"operators {entry.name!r} of {package} ({entry.value}) cannot be loaded ({type(error).__name__}: "
                f"{error}); all else goes on without them.",
                InputWarning,
                stacklevel=3,
            )


BUILT_IN = (
    "destroy.greedy", "repair.greedy", "repair.random", "destroy.random", "destroy.related", "destroy.strings",
    "improve.relocate", "improve.swap", "improve.two_opt", "improve.unload",
)  # fmt: skip
"""Modules that register operators when they are imported; `operators` lists in this order."""


def _load_built_in() -> None:
    for name in BUILT_IN:
        importlib.import_module(f"neuralns.operators.{name}")
