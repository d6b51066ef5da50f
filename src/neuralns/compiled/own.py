"""Functions of a user's own, compiled, or refused with a sentence that says why not."""

from __future__ import annotations

import dis
import re
from collections.abc import Callable
from functools import cache
from typing import Any

from numba.core.errors import NumbaError

from neuralns.compiled.caching import compile_for
from neuralns.compiled.failures import is_own, lines_named
from neuralns.errors import OperatorError


def compile_own(
    what: str, signature: Any, function: Callable[..., Any], written: Callable[..., Any] | None = None
) -> Any:
    """Compile a function that a user may have written, once; one that cannot be is refused as ``what``.

    Exceptions are refused as well: called by its address, the function has nobody to raise to. If the function only
    calls what the user has ``written``, exceptions are looked for there, and nothing is kept on disk: such a function
    is another one in each process.
    """
    place = _place_of_raise(function if written is None else written)
    if place is not None:
        raise OperatorError(
            f"{what} raises an exception or asserts ({place}), which compiled code cannot report; take it out."
        )
    try:
        return _compiled(function, signature, written is None)
    except NumbaError as error:
        raise OperatorError(f"{what} does not compile: {reason(error)}") from None


@cache
def _compiled(function: Callable[..., Any], signature: Any, kept: bool) -> Any:
    if not is_own(function):
        return compile_for(signature, function, kept=kept)
    with lines_named():
        return compile_for(signature, function, "python", kept)


@cache
def _place_of_raise(function: Callable[..., Any]) -> str | None:
    """Return file and line of the first ``raise`` or ``assert`` of a function, or None."""
    code: Any = getattr(function, "__code__", None)
    line = 0
    for step in dis.get_instructions(code) if code is not None else ():
        line = step.starts_line if isinstance(step.starts_line, int) and step.starts_line > 1 else line
        if step.opname == "RAISE_VARARGS":
            return f"{code.co_filename}, line {line}"
    return None


def reason(error: NumbaError) -> str:
    """Return the line of numba's message that says what is wrong, with the line of the source where it is."""
    # Where colorama is installed, numba colours what it says.
    plain = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    lines = [line.strip() for line in plain.splitlines() if line.strip()]
    place = next((line for line in lines if line.startswith("File ")), "")
    skip = ("Failed in", "File ", "During", "This error", "- Resolution", "->", "No implementation")
    said = next((line for line in lines if not line.startswith(skip)), lines[0] if lines else "unknown reason")
    return f"{said.rstrip('.')}{' (' + place.rstrip(':') + ')' if place else ''}."
