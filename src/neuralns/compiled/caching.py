"""How functions are compiled: once, and kept on disk."""

from __future__ import annotations

import itertools
import os
import secrets
from collections.abc import Callable
from typing import Any, Self, TypeVar

from numba import njit, types
from numba.core import event
from numba.core.bytecode import FunctionIdentity
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.core.sigutils import normalize_signature

from neuralns.compiled import helpers
from neuralns.compiled.failures import is_own
from neuralns.compiled.fingerprint import options_text
from neuralns.compiled.kept import KeptCode
from neuralns.compiled.known import Compiler

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function, **options: Any) -> Function:
    """Compile a function for the types it is called with; the machine code is kept on disk (see `kept`).

    A division by zero is infinite. Numba's ``options`` can say otherwise.
    """
    dispatcher = njit(**{"error_model": "numpy", "nogil": True, "pipeline_class": Compiler, **options})(function)
    dispatcher.__class__ = _Function
    dispatcher._cache = KeptCode(function, options_text(dispatcher.targetoptions, dispatcher.locals))
    return dispatcher


class _Function(CPUDispatcher):  # type: ignore[misc]
    """A compiled function that costs its compiled callers less time to compile."""

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Return what a compiled caller takes for the function, compiled for types of arguments.

        Numba would compile functions of the package for each whole number that is written in a call. A user's helper
        may ask for that.
        """
        is_helper = not is_own(self.py_func)
        if is_helper:
            args = tuple(map(_any_whole, args))
            kws = {name: _any_whole(numba_type) for name, numba_type in dict(kws).items()}
        with global_compiler_lock:
            self._asked_as_helper = is_helper
            try:
                return super().get_call_template(args, kws)
            finally:
                self._asked_as_helper = False

    _asked_as_helper = False

    def compile(self, sig: Any) -> Any:
        """Compile the function for a signature: as a helper if a compiled caller asks, else whole."""
        with global_compiler_lock:
            is_helper, self._asked_as_helper = self._asked_as_helper, False
            arguments = tuple(normalize_signature(sig)[0])
            if not is_helper and arguments in self.overloads and helpers.is_helper(self.overloads[arguments]):
                # Callers point to what belongs to it.
                _replaced.append(self.overloads.pop(arguments))
            helpers.making.append(is_helper)
            try:
                return super().compile(sig)
            finally:
                helpers.making.pop()

    def get_compile_result(self, sig: Any) -> Any:
        """Return what was compiled for a signature; numba asks where the function itself is a value."""
        with global_compiler_lock:
            found = self.overloads.get(tuple(sig.args))
            if found is not None and helpers.is_helper(found):
                self.compile(sig)
            return super().get_compile_result(sig)

    def add_overload(self, result: Any) -> None:
        """Take what was compiled; Python is told of it unless it is a helper."""
        if helpers.is_helper(result):
            self.overloads[tuple(result.signature.args)] = result
        else:
            super().add_overload(result)


_replaced: list[Any] = []
"""Helpers that were compiled whole since."""


def _any_whole(numba_type: Any) -> Any:
    return types.unliteral(numba_type) if isinstance(numba_type, types.IntegerLiteral) else numba_type


def _number_from_anywhere() -> None:
    """Number functions from a number of this process's own.

    Machine code is linked by names, which numba tells apart by numbers that begin at 1 in each process: functions kept
    by several processes would be taken for one another.
    """
    FunctionIdentity._unique_ids = itertools.count(secrets.randbits(56))


_number_from_anywhere()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_number_from_anywhere)


def inlined(function: Function) -> Function:
    """Compile a function that is always built into its callers: for a few lines that the innermost loops call."""
    return compiled(function, forceinline=True)


def compile_for(signature: Any, function: Callable[..., Any], error_model: str = "numpy") -> Any:
    """Compile a function for one signature, so that it can be called by its address (see `calls`).

    With the ``error_model`` of ``python`` a division by zero is an exception.
    """
    dispatcher = compiled(function, error_model=error_model)
    dispatcher.compile(signature)  # type: ignore[attr-defined]
    dispatcher.disable_compile()  # type: ignore[attr-defined]
    return dispatcher


class _Compilations(event.Listener):  # type: ignore[misc]
    """Hears of compilations as long as it is entered."""

    def on_start(self, event: Any) -> None:
        pass

    def on_end(self, event: Any) -> None:
        pass

    def __enter__(self) -> Self:
        event.register("numba:compile", self)
        return self

    def __exit__(self, *exception: object) -> None:
        event.unregister("numba:compile", self)


class CompilationNotice(_Compilations):
    """Call ``notify`` once, at the first function that has to be compiled because the disk does not hold it.

    >>> with CompilationNotice(lambda: print("compiling ...")):
    ...     pass
    """

    def __init__(self, notify: Callable[[], None]) -> None:
        self._notify: Callable[[], None] | None = notify

    def on_start(self, event: Any) -> None:
        if self._notify is not None:
            notify, self._notify = self._notify, None
            notify()


class CompilationCount(_Compilations):
    """Counts beginnings and ends of compilations, in all threads: what shows that a long one goes on."""

    count = 0

    def on_start(self, event: Any) -> None:
        self.count += 1

    def on_end(self, event: Any) -> None:
        self.count += 1
