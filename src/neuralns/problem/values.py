"""Numbers that a user gives, checked: one sentence for each that will not do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, TypeGuard

import numpy as np

from neuralns.errors import InputError
from neuralns.problem.distances import Floats

LARGEST_NUMBER = 1e100
"""Largest number that an instance may hold; sums and squares of such numbers are still finite."""
MOST_COUNTED = 2**63
"""Whole numbers of this size and above are more than compiled functions can count to."""
_FORMS = {1: "a list of numbers", 2: "a table of numbers"}


def form_of(dimensions: int) -> str:
    """Return what an array of so many dimensions is called in sentences."""
    return _FORMS[dimensions]


def numbers(what: str, values: object, dimensions: int, *, endless: bool = False) -> Floats:
    """Return an array of finite numbers that cannot be changed; infinity may be among them if it is ``endless``.

    One that cannot be changed already is taken as it is: large instances, and many profiles, are not copied.
    """
    try:
        array = values if _is_settled(values) else np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{what} must be {_FORMS[dimensions]}.") from None
    if array.ndim != dimensions:
        raise InputError(f"{what} must be {_FORMS[dimensions]}.")
    fits = np.abs(array) <= LARGEST_NUMBER
    for index in np.argwhere(~(fits | (array == np.inf) if endless else fits))[:1]:
        raise InputError(f"{what}: value {array[tuple(index)]} of node {index[0]} is {_unfit(array[tuple(index)])}.")
    array.setflags(write=False)
    return array


def _is_settled(values: object) -> TypeGuard[Floats]:
    """Return whether values are an array of numbers that nobody can change."""
    if type(values) is not np.ndarray or values.dtype != np.float64:
        return False
    return values.flags.owndata and not values.flags.writeable


def one_number(what: str, value: Any) -> float:
    """Return a finite number."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{what} {value!r:.60} is not a number.") from None
    if not abs(number) <= LARGEST_NUMBER:
        raise InputError(f"{what} {number} is {_unfit(number)}.")
    return number


def not_negative(what: str, value: Any) -> float:
    """Return a finite number that is 0 or more."""
    number = one_number(what, value)
    if number < 0:
        raise InputError(f"{what} {number:g} must not be negative.")
    return number


def whole_number(what: str, value: Any, least: int = 1) -> int:
    """Return a whole number that is not below the least."""
    number = one_number(what, value)
    if number != int(number) or number < least:
        above = "above 0" if least == 1 else f"of at least {least}"
        raise InputError(f"{what} {number:g} must be a whole number {above}.")
    if number >= MOST_COUNTED:
        raise InputError(f"{what} {number:g} is {_unfit(number)}.")
    return int(number)


def amounts(what: str, value: Any) -> tuple[float, ...]:
    """Return amounts of goods, one for each dimension: a number alone is one dimension."""
    listed = value if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str) else (value,)
    if len(listed) == 0:
        raise InputError(f"{what} must have at least one dimension.")
    return tuple(not_negative(what, each) for each in listed)


def window(what: str, value: Any) -> tuple[float, float]:
    """Return a span of time, which may have no beginning or end."""
    try:
        opens, closes = (float(each) for each in value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{what} {value!r:.60} is not a pair of times.") from None
    if np.isnan(opens) or np.isnan(closes):
        raise InputError(f"{what} {value!r:.60} is not a pair of times.")
    if opens > closes:
        raise InputError(f"{what}, {opens:.10g} to {closes:.10g}, ends before it begins.")
    return opens, closes


def text(what: str, value: Any) -> str:
    """Return a text on one line."""
    if not isinstance(value, str) or not value.isprintable():
        raise InputError(f"{what} {value!r:.60} must be text on one line.")
    return value


def same_fields(one: Any, other: Any) -> bool:
    """Return whether two of a dataclass that holds arrays are equal, field by field."""
    for field in fields(one):
        ours, theirs = getattr(one, field.name), getattr(other, field.name)
        arrays = isinstance(ours, np.ndarray) or isinstance(theirs, np.ndarray)
        if not (np.array_equal(ours, theirs) if arrays else ours == theirs):
            return False
    return True


def _unfit(value: float) -> str:
    return "too large to compute with" if np.isfinite(value) else "not a finite number"
