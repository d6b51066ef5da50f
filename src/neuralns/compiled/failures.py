"""Exceptions in compiled functions that are called by their address, where numba itself would only print them."""

from __future__ import annotations

import os
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

from numba.core.callconv import CPUCallConv
from numba.core.lowering import Lower

Note = Callable[[str], object]
"""What is told of an exception: what it says, and the line that it comes from if that is known."""

_PACKAGE = str(Path(__file__).parents[1]) + os.sep
_lock, _compiling = threading.Lock(), threading.RLock()
_notes: dict[int, Note] = {}
_previous: list[Any] = []


def is_own(function: Any) -> bool:
    """Return whether a function comes from outside the package."""
    return not str(getattr(function, "__module__", "")).startswith("neuralns.")


@contextmanager
def catching(note: Note) -> Iterator[None]:
    """Tell ``note`` of every exception in compiled functions that this thread calls, at once; they go on all the same.

    Numba hands such an exception to Python as one that nobody can handle, in the thread where it came up.
    """
    thread = threading.get_ident()
    with _lock:
        if not _notes:
            _previous[:] = [sys.unraisablehook]
            sys.unraisablehook = _hook
        outer = _notes.get(thread)
        _notes[thread] = note
    try:
        yield
    finally:
        with _lock:
            del _notes[thread]
            if outer is not None:
                _notes[thread] = outer
            if not _notes:
                sys.unraisablehook = _previous[0]


def _hook(what: Any) -> None:
    note = _notes.get(threading.get_ident())
    if note is None or not str(what.object).startswith("<numba."):
        _previous[0](what)
        return
    note(said(what.exc_value, what.exc_type, what.exc_traceback))


def said(error: BaseException | None, error_class: type[BaseException], trace: TracebackType | None) -> str:
    """Return what an exception says and, if it is known, the line of one's own code that it comes from."""
    frames = [frame for frame in traceback.extract_tb(trace) if not frame.filename.startswith(_PACKAGE)]
    source = f"{frames[-1].filename}, line {frames[-1].lineno}: " if frames else ""
    return f"{source}{error_class.__name__}{f': {error}' if str(error or '') else ''}"


@contextmanager
def lines_named() -> Iterator[None]:
    """Let the exceptions of numba's own checks carry the line that is being compiled, which numba leaves out."""
    lines: list[Any] = []

    def lower_noting(self: Any, instruction: Any) -> Any:
        lines.append(instruction.loc)
        try:
            return lower(self, instruction)
        finally:
            lines.pop()

    def give_with_line(
        self: Any, builder: Any, exc: Any, exc_args: Any = None, loc: Any = None, func_name: Any = None
    ) -> Any:
        return give(self, builder, exc, exc_args, loc or (lines[-1] if lines else None), func_name)

    with _compiling:
        lower, give = Lower.lower_inst, CPUCallConv.return_user_exc
        Lower.lower_inst, CPUCallConv.return_user_exc = lower_noting, give_with_line
        try:
            yield
        finally:
            Lower.lower_inst, CPUCallConv.return_user_exc = lower, give
