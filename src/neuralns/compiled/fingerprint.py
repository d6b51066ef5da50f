"""The fingerprint of a function to compile: of its code and of everything that is frozen into its machine code.

Numba freezes the values of globals and free variables and builds helper functions in, wherever they are written. Two
functions with the same fingerprint compile to the same machine code, on any path and after any copy.
"""

from __future__ import annotations

import dis
import enum
import hashlib
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary

import llvmlite
import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import config
from numba.core.dispatcher import Dispatcher
from numba.core.extending import _Intrinsic
from numba.core.typing.templates import Signature

from neuralns.compiled.failures import is_own
from neuralns.compiled.structs import StructType

_PLAIN = frozenset({bool, int, float, complex, str, bytes, type(None), type(Ellipsis), range, slice})
_VERSIONED = frozenset({"numpy", "numba", "llvmlite", *sys.stdlib_module_names})
"""Packages that are known by their versions alone."""
_SWITCHES = ("BOUNDSCHECK", "OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "DEBUGINFO_DEFAULT")
"""Settings of numba's that change the machine code."""


class _NotCoveredError(Exception):
    """A value that is frozen into machine code, and of which nobody can tell whether it is the same another time."""


def fingerprint(function: Callable[..., Any]) -> str | None:
    """Return the fingerprint of a function; None if it uses a value that cannot be covered.

    >>> FACTOR = 2
    >>> def twice(value):
    ...     return FACTOR * value
    >>> before = fingerprint(twice)
    >>> FACTOR = 3
    >>> fingerprint(twice) == before
    False
    """
    digest = hashlib.sha256(_ground().encode())
    try:
        for part in _parts_of(function):
            digest.update(part.digest)
    except _NotCoveredError:
        return None
    return digest.hexdigest()


def own_helpers(function: Callable[..., Any]) -> list[Any]:
    """Return the compiled functions outside the package that a function calls, directly or not."""
    found: list[Any] = []
    with suppress(_NotCoveredError):
        for part in _parts_of(function):
            found += part.helpers
    return found


def _parts_of(function: Callable[..., Any]) -> Iterator[_Part]:
    """Yield what a function is made of itself, then the functions that it uses, and those that they use."""
    found = {id(function): function}
    waiting = [function]
    for each in waiting:  # grows
        part = _known.get(each)
        if part is None:
            part = _Part(each)
            if not is_own(each):  # functions of the package do not change while it runs
                _known[each] = part
        yield part
        new = {id(other): other for other in part.functions if id(other) not in found}
        found |= new
        waiting += new.values()


class _Part:
    """What one function is made of: a digest of it, the functions that it uses, and those compiled and not ours."""

    def __init__(self, function: Any) -> None:
        self.functions: list[Any] = []
        self.helpers: list[Any] = []
        code = getattr(function, "__code__", None)
        if not isinstance(code, CodeType):
            raise _NotCoveredError(f"{function!r:.60}")
        names = frozenset(names_in(code))
        parts = [_name(function), _code_text(code, is_own(function))]
        for name, value in zip(code.co_freevars, function.__closure__ or (), strict=True):
            try:
                parts.append(f"{name}={self._value_text(value.cell_contents, names)}")
            except ValueError:  # not filled yet
                parts.append(f"{name} empty")
        for name in sorted(set(globals_in(code)) if is_own(function) else names):
            if name in function.__globals__:
                parts.append(f"{name}={self._value_text(function.__globals__[name], names)}")
        defaults = function.__defaults__, tuple((function.__kwdefaults__ or {}).items())
        parts.append(self._value_text(defaults, names))
        self.digest = hashlib.sha256("\n".join(parts).encode()).digest()

    def _value_text(self, value: Any, names: frozenset[str]) -> str:
        """Return a text that differs whenever machine code with a value frozen in would."""
        kind = f"{type(value).__module__}.{type(value).__qualname__}"
        if isinstance(value, enum.Enum):
            return f"{kind} {value.name} {self._value_text(value.value, names)}"
        if isinstance(value, np.ndarray | np.generic):
            return _array_text(value)
        if type(value) in _PLAIN:
            return f"{kind} {value!r}"
        if isinstance(value, tuple) or type(value) in (list, dict, set, frozenset):
            told = [self._value_text(entry, names) for entry in (value.items() if isinstance(value, dict) else value)]
            return f"{kind} ({', '.join(sorted(told) if isinstance(value, set | frozenset) else told)})"
        if isinstance(value, Dispatcher):
            if is_own(value.py_func):
                self.helpers.append(value)
            return f"compiled {sorted(value.targetoptions.items(), key=str)!r} {self._used(value.py_func)}"
        if isinstance(value, _Intrinsic):
            return f"intrinsic {self._used(value._defn)}"
        if isinstance(value, FunctionType):
            return self._used(value)
        if isinstance(value, types.Type):
            return type_text(value)
        if isinstance(value, Signature):
            return f"{type_text(value.return_type)} of {[type_text(argument) for argument in value.args]}"
        if isinstance(value, ir.Type | np.dtype | np.ufunc | BuiltinFunctionType):
            return f"{kind} {value!r}"
        if isinstance(value, ModuleType):
            return self._module_text(value, names)
        if isinstance(value, type):
            return _class_text(value)
        raise _NotCoveredError(f"{value!r:.60}")

    def _used(self, function: Any) -> str:
        """Return the name of a function that is used; what it is made of follows elsewhere."""
        if not is_versioned(function.__module__):
            self.functions.append(function)
        return _name(function)

    def _module_text(self, module: ModuleType, names: frozenset[str]) -> str:
        """Return a text of all that code with these names can reach through a module."""
        if is_versioned(module.__name__):
            return f"module {module.__name__}"
        content = vars(module)
        reached = (f"{name}={self._value_text(content[name], names)}" for name in sorted(names & content.keys()))
        return f"module {module.__name__} ({', '.join(reached)})"


_known: WeakKeyDictionary[Any, _Part] = WeakKeyDictionary()


def _name(function: Any) -> str:
    return f"function {function.__module__}.{function.__qualname__}"


@cache
def _ground() -> str:
    """Return what everything compiled depends on: this room, which says how, and the compiler."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.name.encode() + path.read_bytes())
    versions = (sys.version_info[:3], numba.__version__, llvmlite.__version__, np.__version__)
    return f"{digest.hexdigest()} {versions} {[getattr(config, name, None) for name in _SWITCHES]}"


def names_in(code: CodeType) -> Iterator[str]:
    """Yield the names of globals and attributes in a code, and in the codes of functions inside it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from names_in(constant)


def globals_in(code: CodeType) -> Iterator[str]:
    """Yield the names of globals alone, which takes longer."""
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield step.argval
        elif isinstance(step.argval, CodeType):
            yield from globals_in(step.argval)


def _code_text(code: CodeType, lines: bool) -> str:
    """Return what a code says; with the ``lines`` where it is written if messages have to name them."""
    constants = [
        _code_text(constant, lines) if isinstance(constant, CodeType) else f"{type(constant).__name__} {constant!r}"
        for constant in code.co_consts
        # A docstring is no code.
        if not (constant is code.co_consts[0] and isinstance(constant, str))
    ]
    shape = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    text = f"{shape} {names} {code.co_code.hex()} {code.co_exceptiontable.hex()} [{', '.join(constants)}]"
    return f"{text} {code.co_filename} {code.co_firstlineno} {code.co_linetable.hex()}" if lines else text


def _array_text(value: Any) -> str:
    if value.dtype.hasobject:
        raise _NotCoveredError(f"{value!r:.60}")
    content = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
    return f"{type(value).__name__} {value.dtype.descr} {value.shape} {value.flags.c_contiguous} {content}"


def _class_text(value: type) -> str:
    name = f"class {value.__module__}.{value.__qualname__}"
    if is_versioned(value.__module__):
        return name
    if issubclass(value, enum.Enum):
        return f"{name} {[(member.name, member.value) for member in value]}"
    if issubclass(value, tuple) and hasattr(value, "_fields"):
        return f"{name} {value._fields}"
    if issubclass(value, BaseException) and "__init__" not in vars(value):
        return name
    raise _NotCoveredError(name)


def is_versioned(module: Any) -> bool:
    return str(module).partition(".")[0] in _VERSIONED


def type_text(kind: Any) -> str:
    """Return a text that differs for all types that compile differently; one that cannot be told raises an error."""
    if isinstance(kind, types.BaseTuple):
        made_of = getattr(kind, "instance_class", tuple)
        return f"{made_of.__module__}.{made_of.__qualname__}({', '.join(map(type_text, kind))})"
    if isinstance(kind, StructType):
        return kind.key
    if isinstance(kind, types.NumberClass | types.TypeRef):
        return f"class of {type_text(kind.instance_type)}"
    if isinstance(
        kind,
        types.Number | types.Boolean | types.Array | types.NoneType | types.Omitted | types.UnicodeType | types.Record,
    ):
        return str(kind)
    raise _NotCoveredError(str(kind))


def signature_text(arguments: Any, returned: Any) -> str | None:
    """Return a text of the types that a function is compiled for; None if they cannot be told."""
    try:
        return f"{[type_text(kind) for kind in arguments]} {None if returned is None else type_text(returned)}"
    except _NotCoveredError:
        return None
