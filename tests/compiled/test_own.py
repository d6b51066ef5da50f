"""Functions of a user's own, compiled or refused."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core.caching import NullCache
from numba.core.errors import TypingError

from neuralns.compiled.caching import compiled
from neuralns.compiled.own import compile_own, reason


def test_the_reason_of_a_failed_compilation_is_one_line() -> None:
    message = "Failed in nopython mode\nUnknown attribute 'x' of type State\n\nFile \"mine.py\", line 3:\n  code"
    assert reason(TypingError(message)) == "Unknown attribute 'x' of type State (File \"mine.py\", line 3)."


def test_what_only_calls_a_function_of_a_user_is_not_kept_on_disk() -> None:
    def written(value):
        return 2 * value

    inner: Any = compiled(written, kept=False)

    def call(value):
        return inner(value)

    found = compile_own("cost 'mine'", types.int64(types.int64), call, written=written)
    assert found(21) == 42
    assert isinstance(found._cache, NullCache)
    assert isinstance(inner._cache, NullCache)
