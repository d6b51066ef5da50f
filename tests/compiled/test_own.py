"""Functions of a user's own, compiled or refused."""

from __future__ import annotations

from numba.core.errors import TypingError

from neuralns.compiled.own import reason


def test_the_reason_of_a_failed_compilation_is_one_line() -> None:
    message = "Failed in nopython mode\nUnknown attribute 'x' of type State\n\nFile \"mine.py\", line 3:\n  code"
    assert reason(TypingError(message)) == "Unknown attribute 'x' of type State (File \"mine.py\", line 3)."
