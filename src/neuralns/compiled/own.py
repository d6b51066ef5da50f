"""Functions of a user's own, compiled, or refused with a sentence that says why not."""

from __future__ import annotations

import dis
import os
import re
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import CellType, FunctionType, ModuleType
from typing import Any

import numba
from numba.core.dispatcher import Dispatcher
from numba.core.errors import NumbaError

from neuralns import errors
from neuralns.compiled.caching import compile_for, compiled
from neuralns.compiled.failures import is_own, lines_named
from neuralns.compiled.fingerprint import is_versioned, key_of, names_in, overloads_of
from neuralns.errors import OperatorError


def compile_own(
    what: str, signature: Any, function: Callable[..., Any], written: Callable[..., Any] | None = None
) -> Any:
    """Compile a function that a user may have written; one that cannot be is refused as ``what``.

    It is compiled anew when anything that it uses has changed since: the value of a global, the code of a helper.
    Exceptions are refused: called by its address, the function has nobody to raise to. If the function only calls what
    the user has ``written``, exceptions are looked for there.
    """
    _refuse(what, function if written is None else written)
    theirs = is_own(function) or written is not None
    key = function, signature, key_of(function) if theirs else ""
    try:
        if key not in _compiled:
            if theirs:
                with lines_named():
                    _compiled[key] = compile_for(signature, _Copies().copy(function), "python")
            else:
                _compiled[key] = compile_for(signature, function)
        return _compiled[key]
    except NumbaError as error:
        raise OperatorError(f"{what} does not compile: {reason(error, written or function)}") from None


_compiled: dict[tuple[Any, ...], Any] = {}


@cache
def _refuse(what: str, function: Callable[..., Any]) -> None:
    """Refuse a function with a statement that compiled code cannot do."""
    source_line = _source_line_of(function, lambda step: step.opname == "RAISE_VARARGS")
    if source_line is not None:
        file, line = source_line
        raise OperatorError(
            f"{what} raises an exception or asserts ({file}, line {line}), which compiled code cannot report; "
            "take it out."
        )
    source_line = _source_line_of(function, lambda step: step.opname == "IMPORT_NAME")
    if source_line is not None:
        file, line = source_line
        raise OperatorError(f"{what} imports a module inside ({file}, line {line}); import it at the top of the file.")


class _Copies:
    """Copies of functions to compile, whose helpers of the user's are compiled as they are now.

    Helpers need no decorator. Those compiled before keep the values that globals had then, so that copies are compiled
    in their place. The name of a copy is its own: machine code is linked by name.
    """

    def __init__(self) -> None:
        self._compiled: dict[Any, Any] = {}
        self._modules: dict[int, tuple[ModuleType, set[str]]] = {}

    def copy(self, function: Any) -> Any:
        """Return the copy of a function."""
        if not isinstance(function, FunctionType):
            return function
        copy = _shell(function)
        self._fill(copy, function)
        return copy

    def _fill(self, copy: FunctionType, function: FunctionType) -> None:
        names = frozenset(names_in(function.__code__))
        for cell, value in zip(copy.__closure__ or (), function.__closure__ or (), strict=True):
            with suppress(ValueError):  # not filled yet
                cell.cell_contents = self._replaced(value.cell_contents, names)
        for name in names & copy.__globals__.keys():
            copy.__globals__[name] = self._replaced(copy.__globals__[name], names)

    def _replaced(self, value: Any, names: frozenset[str]) -> Any:
        """Return what stands for a value: a helper of the user's is compiled, everything else is itself."""
        if isinstance(value, ModuleType):
            return self._replaced_module(value, names)
        if isinstance(value, tuple):
            found = [self._replaced(each, names) for each in value]
            same = all(one is other for one, other in zip(found, value, strict=True))
            return value if same else type(value)(*found) if hasattr(value, "_fields") else tuple(found)
        function = value.py_func if isinstance(value, Dispatcher) else value
        if not isinstance(function, FunctionType) or not is_own(function) or is_versioned(function.__module__):
            return value
        if not isinstance(value, Dispatcher) and overloads_of(function):
            return value  # numba knows what to compile in its place
        if function not in self._compiled:
            options: dict[str, Any] = {"error_model": "python"}
            if isinstance(value, Dispatcher):
                options |= {**value.targetoptions, "locals": value.locals}
            options["nogil"] = True
            options.pop("nopython", None)
            copy = _shell(function)
            self._compiled[function] = compiled(copy, **options)
            self._fill(copy, function)
        return self._compiled[function]

    def _replaced_module(self, module: ModuleType, names: frozenset[str]) -> ModuleType:
        if is_versioned(module.__name__) or module.__name__.partition(".")[0] == "neuralns":
            return module
        if id(module) not in self._modules:
            copy = ModuleType(module.__name__)
            vars(copy).update(vars(module))
            self._modules[id(module)] = copy, set()
        copy, filled = self._modules[id(module)]
        new = (names & vars(module).keys()) - filled
        # Noted before they are filled in: modules may import each other.
        filled |= new
        for name in new:
            vars(copy)[name] = self._replaced(vars(module)[name], names)
        return copy


def _shell(function: FunctionType) -> FunctionType:
    """Return a copy with globals and free variables of its own, those still empty."""
    closure = tuple(CellType() for _ in function.__closure__ or ())
    copy = FunctionType(
        function.__code__, dict(function.__globals__), function.__name__, function.__defaults__, closure or None
    )
    copy.__kwdefaults__, copy.__module__ = function.__kwdefaults__, function.__module__
    copy.__qualname__ = f"{function.__qualname__}_{key_of(function)[:12]}"
    return copy


def _source_line_of(function: Any, is_meant: Callable[[dis.Instruction], bool]) -> tuple[str, int] | None:
    """Return file and line of the first instruction in a function that is meant, or None."""
    code: Any = getattr(function, "__code__", None)
    line = 0
    for step in dis.get_instructions(code) if code is not None else ():
        line = step.starts_line if isinstance(step.starts_line, int) and step.starts_line > 1 else line
        if is_meant(step):
            return code.co_filename, line
    return None


def reason(error: NumbaError, function: Callable[..., Any] | None = None) -> str:
    """Return the line of numba's message that says what is wrong, with the line of the user's where it is."""
    # Where colorama is installed, numba colours what it says.
    plain = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    lines = [line.strip() for line in plain.splitlines() if line.strip()]
    skip = ("Failed in", "File ", "During", "This error", "- Resolution", "->", "No implementation")
    said = next((line for line in lines if not line.startswith(skip)), lines[0] if lines else "unknown reason")
    if said.startswith(">>> "):
        said = f"nothing is known that does {said[4:]}"
    named = [number for number, line in enumerate(lines) if line.startswith('File "')]
    theirs = [number for number in named if _is_users(lines[number])]
    if theirs:
        source_line = lines[theirs[0]]
        called = [_CALLEE.search(line) for line in lines[: theirs[0]]]
        if theirs[0] != named[0] and any(called):
            said = f"{said.rstrip('.')}, in a call of {[each for each in called if each][-1][1]}"
    else:
        source_line = _source_line_of_name(error, function) or next((lines[number] for number in named), "")
    return f"{said.rstrip('.')}{' (' + source_line.rstrip(':') + ')' if source_line else ''}."


_CALLEE = re.compile(r"resolving callee type: type\(CPUDispatcher\(<function (\w+) at")
_NOT_USERS = tuple(str(Path(found).parent) + os.sep for found in (numba.__file__, errors.__file__))


def _is_users(line: str) -> bool:
    """Return whether a line of a message names a file that is neither numba's nor ours."""
    return not os.path.abspath(line.split('"')[1]).startswith(_NOT_USERS)


def _source_line_of_name(error: NumbaError, function: Callable[..., Any] | None) -> str | None:
    """Return where a function asks for a name that there is not, which numba's message leaves out."""
    name = re.search(r"name '(\w+)' is not defined", str(error))
    source_line = None if name is None else _source_line_of(function, lambda step: step.argval == name[1])
    return None if source_line is None else f'File "{source_line[0]}", line {source_line[1]}'
