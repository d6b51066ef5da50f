"""Exceptions in compiled functions that nobody could handle."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from numba import njit, types

from neuralns.compiled.caching import compile_for
from neuralns.compiled.calls import address_of, caller
from neuralns.compiled.failures import catching, is_own, lines_named

_signature = types.int64(types.int64)
_call = caller(_signature)


def entry(place):
    return [1, 2, 3][place]


def dividing(number):
    return 1 // number


@njit
def call(address, number):
    return _call(address, (number,))


def compiled_here(function: Any) -> int:
    with lines_named():
        return address_of(compile_for(_signature, function, "python"))


def test_an_exception_is_told_of_with_its_line() -> None:
    told: list[str] = []
    hook = sys.unraisablehook
    with catching(told.append):
        assert call(compiled_here(entry), 2) == 3
        call(compiled_here(entry), 7)
        call(compiled_here(dividing), 0)
    assert sys.unraisablehook is hook
    lines = Path(__file__).read_text().splitlines()
    numbers = [lines.index(f"    return {text}") + 1 for text in ("[1, 2, 3][place]", "1 // number")]
    assert told == [
        f"{__file__}, line {numbers[0]}: IndexError: getitem out of range",
        f"{__file__}, line {numbers[1]}: ZeroDivisionError: integer division by zero",
    ]


def test_the_innermost_is_told() -> None:
    outer: list[str] = []
    inner: list[str] = []
    with catching(outer.append):
        with catching(inner.append):
            call(compiled_here(entry), 7)
        call(compiled_here(entry), 8)
    assert (len(outer), len(inner)) == (1, 1)


def test_functions_of_the_package_are_told_from_others() -> None:
    assert is_own(entry)
    assert not is_own(is_own)
