"""The fingerprint of a function to compile: of its code and of everything that is frozen into its machine code.

Numba freezes the values of globals and free variables and builds helper functions in, wherever they are written. Two
functions with the same fingerprint compile to the same machine code, on any path and after any copy. Functions that are
called by their address are no part of it: an edit of an operator compiles that operator alone.
"""

from __future__ import annotations

import dis
import enum
import hashlib
import inspect
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping
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
from numba.core.extending import _Intrinsic, register_jitable
from numba.core.registry import cpu_target
from numba.core.typing.templates import Signature

from neuralns.compiled.failures import is_own
from neuralns.compiled.structs import StructType

_PLAIN = frozenset({bool, int, float, complex, str, bytes, type(None), type(Ellipsis), range, slice})
_VERSIONED = frozenset({"numpy", "numba", "llvmlite", *sys.stdlib_module_names})
"""Packages that are known by their versions alone."""
_SWITCHES = (
    "BOUNDSCHECK", "OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "DEBUGINFO_DEFAULT", "DEBUG_NRT", "NRT_STATS",
    "LLVM_REFPRUNE_PASS", "LLVM_REFPRUNE_FLAGS", "DISABLE_INTEL_SVML", "EXTEND_VARIABLE_LIFETIMES",
)  # fmt: skip
"""Settings of numba's that change the machine code."""
_RULES = ("caching", "failures", "fingerprint", "helpers", "kept", "known", "own", "structs")
"""Modules of this room that say how everything is compiled and kept; others hold functions, which count by use."""


class _NotCoveredError(Exception):
    """A value that is frozen into machine code, and of which nobody can tell whether it is the same another time."""


def fingerprint(function: Callable[..., Any]) -> str | None:
    """Return the fingerprint of a function; None if it uses a value that cannot be covered.

    >>> def times(factor):
    ...     return lambda value: factor * value
    >>> fingerprint(times(2)) == fingerprint(times(2)), fingerprint(times(2)) == fingerprint(times(3))
    (True, False)
    """
    try:
        return _digest(_parts_of(function))
    except _NotCoveredError:
        return None


def fingerprint_anew(function: Callable[..., Any]) -> str | None:
    """Return the same with nothing remembered: functions of the package may have been changed as well."""
    try:
        return _digest(_parts_of(function, remembered=False))
    except _NotCoveredError:
        return None


def key_of(function: Callable[..., Any]) -> str:
    """Return what tells versions of a function apart in this process; values that cannot be covered count as objects.

    They must be held by whoever holds the key, as a compiled copy of the function does.
    """
    return _digest(_parts_of(function, here=True))


def _digest(parts: Iterator[_Part]) -> str:
    digest = hashlib.sha256(_ground().encode())
    for part in parts:
        digest.update(part.digest)
    return digest.hexdigest()


def own_helpers(function: Callable[..., Any]) -> list[Any]:
    """Return the compiled functions outside the package that a function calls, directly or not."""
    return [helper for part in _parts_of(function, here=True) for helper in part.helpers]


def _parts_of(function: Callable[..., Any], remembered: bool = True, here: bool = False) -> Iterator[_Part]:
    """Yield what a function is made of itself, then the functions that it uses, and those that they use.

    Only ``here``, in this process, values that cannot be covered count as the objects that they are.
    """
    found = {id(function): function}
    waiting = [function]
    for each in waiting:  # grows
        ours = remembered and isinstance(each, FunctionType) and not is_own(each)
        part = _known.get(each) if ours else None
        if part is None:
            part = _Part(each, here)
            if ours:  # functions of the package do not change while it runs
                _known[each] = part
        yield part
        new = {id(other): other for other in part.functions if id(other) not in found}
        found |= new
        waiting += new.values()


class _Part:
    """What one function is made of: a digest of it, the functions that it uses, and those compiled and not ours."""

    def __init__(self, function: Any, here: bool = False) -> None:
        self.functions: list[Any] = []
        self.helpers: list[Any] = []
        self._here, self._modules = here, set[int]()
        code = getattr(function, "__code__", None)
        if not isinstance(code, CodeType):
            self.digest = self._object_text(function).encode()
            return
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
        if is_own(function) and has_foreign_attributes():
            parts.append(self._object_text(function))
        self.digest = hashlib.sha256("\n".join(parts).encode()).digest()

    def _value_text(self, value: Any, names: frozenset[str]) -> str:
        """Return a text that differs whenever machine code with a value frozen in would."""
        class_name = f"{type(value).__module__}.{type(value).__qualname__}"
        if isinstance(value, enum.Enum):
            return f"{class_name} {value.name} {self._value_text(value.value, names)}"
        if isinstance(value, np.ndarray | np.generic):
            return self._object_text(value) if value.dtype.hasobject else _array_text(value)
        if type(value) in _PLAIN:
            return f"{class_name} {value!r}"
        if isinstance(value, tuple) or type(value) in (list, dict, set, frozenset):
            told = [self._value_text(entry, names) for entry in (value.items() if isinstance(value, dict) else value)]
            fields = getattr(value, "_fields", "")
            return f"{class_name} {fields} ({', '.join(sorted(told) if isinstance(value, set | frozenset) else told)})"
        if isinstance(value, Dispatcher):
            if is_own(value.py_func):
                self.helpers.append(value)
            return f"compiled {options_text(value.targetoptions, value.locals)} {self._used(value.py_func)}"
        if isinstance(value, _Intrinsic):
            return f"intrinsic {self._used(value._defn)}"
        if isinstance(value, FunctionType):
            written = overloads_of(value)
            return f"{self._used(value)} {[self._used(each) for each in written]}"
        if isinstance(value, BuiltinFunctionType):
            return f"builtin {value.__module__}.{value.__qualname__} of {type(value.__self__).__qualname__}"
        if isinstance(value, ir.Type | np.dtype | np.ufunc):
            return f"{class_name} {value!r}"
        if isinstance(value, ModuleType):
            return self._module_text(value, names)
        try:
            if isinstance(value, types.Type):
                return type_text(value)
            if isinstance(value, Signature):
                return f"{type_text(value.return_type)} of {[type_text(argument) for argument in value.args]}"
            if isinstance(value, type):
                return _class_text(value)
        except _NotCoveredError:
            return self._object_text(value)
        return self._object_text(value)

    def _object_text(self, value: Any) -> str:
        """Return which object a value is that says nothing else; only for this process."""
        if not self._here:
            raise _NotCoveredError(f"{value!r:.60}")
        return f"object {id(value)}"

    def _used(self, function: Any) -> str:
        """Return the name of a function that is used; what it is made of follows elsewhere."""
        if not is_versioned(function.__module__):
            self.functions.append(function)
        return _name(function)

    def _module_text(self, module: ModuleType, names: frozenset[str]) -> str:
        """Return a text of all that code with these names can reach through a module."""
        if is_versioned(module.__name__) or id(module) in self._modules:
            return f"module {module.__name__}"
        self._modules.add(id(module))
        content = vars(module)
        reached = (f"{name}={self._value_text(content[name], names)}" for name in sorted(names & content.keys()))
        return f"module {module.__name__} ({', '.join(reached)})"


_known: WeakKeyDictionary[Any, _Part] = WeakKeyDictionary()


def _name(function: Any) -> str:
    # In processes that are started anew, the program is called otherwise.
    module = "__main__" if function.__module__ == "__mp_main__" else function.__module__
    return f"function {module}.{function.__qualname__}"


def _ground() -> str:
    """Return what everything compiled depends on: the rules of this room, the compiler and its switches."""
    versions = (sys.version_info[:3], numba.__version__, llvmlite.__version__, np.__version__)
    return f"{_SOURCES} {versions} {[getattr(config, name, None) for name in _SWITCHES]}"


def _sources() -> str:
    digest = hashlib.sha256()
    for name in _RULES:
        digest.update(name.encode() + Path(__file__).with_name(f"{name}.py").read_bytes())
    return digest.hexdigest()


_SOURCES = _sources()  # as they are imported: the files may be edited while this process runs


def names_in(code: CodeType) -> Iterator[str]:
    """Yield the names of globals and attributes in a code, and in the codes of functions inside it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from names_in(constant)
        elif isinstance(constant, str) and "getattr" in code.co_names:
            yield constant


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
        if not (constant is code.co_consts[0] and isinstance(constant, str) and _begins_with_docstring(code))
    ]
    shape = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    text = f"{shape} {names} {code.co_code.hex()} {code.co_exceptiontable.hex()} [{', '.join(constants)}]"
    return f"{text} {code.co_filename} {code.co_firstlineno} {code.co_linetable.hex()}" if lines else text


def _begins_with_docstring(code: CodeType) -> bool:
    """Return whether the first constant of a code, if it is a text, says what the code does, and is no part of it."""
    if sys.version_info >= (3, 13):
        return bool(code.co_flags & inspect.CO_HAS_DOCSTRING)
    return not code.co_name.startswith("<")


def _array_text(value: Any) -> str:
    content = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
    return f"{type(value).__name__} {value.dtype!r} {value.shape} {value.flags.c_contiguous} {content}"


def options_text(options: Mapping[str, Any], local_types: Mapping[str, Any] | None = None) -> str:
    """Return a text of the options that a function is compiled with."""
    return f"{sorted(options.items(), key=str)!r} {sorted((local_types or {}).items(), key=str)!r}"


def overloads_of(function: Any) -> list[Any]:
    """Return the functions that a user has given numba to compile in place of a function; none if there are none."""
    if not is_own(function) or is_versioned(function.__module__):
        return []
    cpu_target.typing_context.refresh()
    known = cpu_target.typing_context._get_global_type(function)
    found = [getattr(each, "_overload_func", None) for each in getattr(known, "templates", ())]
    # By `register_jitable` a function is given in its own place.
    return [each for each in found if each is not None and each.__module__ != register_jitable.__module__]


def has_foreign_attributes() -> bool:
    """Return whether a user has given numba methods or attributes of types; functions do not say which they use."""
    cpu_target.typing_context.refresh()
    return any(
        is_own(each._overload_func) and not is_versioned(each._overload_func.__module__)
        for templates in cpu_target.typing_context._attributes.values()
        for each in templates
        if getattr(each, "_overload_func", None) is not None
    )


def _class_text(value: type) -> str:
    name = f"class {value.__module__}.{value.__qualname__}"
    if is_versioned(value.__module__):
        return name
    if issubclass(value, enum.Enum):
        return f"{name} {[(name, member.value) for name, member in value.__members__.items()]}"
    if issubclass(value, tuple) and hasattr(value, "_fields"):
        return f"{name} {value._fields}"
    if issubclass(value, BaseException) and "__init__" not in vars(value):
        return name
    raise _NotCoveredError(name)


def is_versioned(module: Any) -> bool:
    """Return whether a module is known by the version of its package alone: the compiler's, or Python's own."""
    top = str(module).partition(".")[0]
    return top in _VERSIONED and _is_installed(top, getattr(sys.modules.get(top), "__file__", None))


@cache
def _is_installed(name: str, file: str | None) -> bool:
    """Return whether a module of such a name is not a file of the user's: ``profile.py``, say."""
    if file is None or name not in sys.stdlib_module_names:
        return True
    return Path(file).resolve().is_relative_to(Path(sysconfig.get_paths()["stdlib"]).resolve())


def type_text(numba_type: Any) -> str:
    """Return a text that differs for all types that compile differently; one that cannot be told raises an error."""
    if isinstance(numba_type, types.BaseTuple):
        made_of = getattr(numba_type, "instance_class", tuple)
        fields = getattr(made_of, "_fields", "")
        return f"{made_of.__module__}.{made_of.__qualname__} {fields}({', '.join(map(type_text, numba_type))})"
    if isinstance(numba_type, StructType):
        return numba_type.key
    if isinstance(numba_type, types.NumberClass | types.TypeRef):
        return f"class of {type_text(numba_type.instance_type)}"
    if isinstance(
        numba_type,
        types.Number | types.Boolean | types.Array | types.NoneType | types.Omitted | types.UnicodeType | types.Record,
    ):
        return str(numba_type)
    raise _NotCoveredError(str(numba_type))


def signature_text(arguments: Any, returned: Any) -> str | None:
    """Return a text of the types that a function is compiled for; None if they cannot be told."""
    try:
        return f"{[type_text(each) for each in arguments]} {None if returned is None else type_text(returned)}"
    except _NotCoveredError:
        return None
