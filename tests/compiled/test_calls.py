"""Compiled functions called by their addresses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import njit, types

from neuralns.compiled.caching import compile_for
from neuralns.compiled.calls import MOST_PARAMETERS, address_of, caller, caller_with_parameters

_row = types.Array(types.float64, 1, "C")


def add(one, other):
    return one + other


def multiply(one, other):
    return one * other


def positive(value):
    return value > 0


def test_one_caller_serves_all_functions_of_a_signature() -> None:
    signature = types.float64(types.float64, types.int64)
    call = caller(signature)

    @njit
    def called(address, one, other):
        return call(address, (one, other))

    functions = [compile_for(signature, function) for function in (add, multiply)]
    found = [called(address_of(function), 2.5, 4) for function in functions]
    assert found == [6.5, 10.0]
    assert len(called.signatures) == 1


def test_arguments_are_converted_to_those_of_the_signature() -> None:
    signature = types.float64(types.float64, types.int64)
    call = caller(signature)

    @njit
    def called(address, one, other):
        return call(address, (one, other))

    function = compile_for(signature, add)
    assert called(address_of(function), np.int32(2), np.uint8(3)) == 5.0
    assert called(address_of(function), True, 3) == 4.0


def test_a_function_may_answer_yes_or_no() -> None:
    signature = types.boolean(types.float64)
    call = caller(signature)

    @njit
    def counted(address, values):
        found = 0
        for value in values:
            if call(address, (value,)):
                found += 1
        return found

    assert counted(address_of(compile_for(signature, positive)), np.array([1.0, -2.0, 3.0, 0.0])) == 2


def function_with(count: int) -> Any:
    """A function that writes its number of parameters, its fixed argument, and the parameters into a row."""
    names = [f"p{number}" for number in range(count)]
    lines = [f"    row[{2 + number}] = {name}" for number, name in enumerate(names)]
    space: dict[str, Any] = {}
    source = "\n".join([f"def f(row, fixed{''.join(f', {name}' for name in names)}):", f"    row[0] = {count}"])
    exec("\n".join([source, "    row[1] = fixed", *lines]), space)
    return compile_for(types.void(_row, types.int64, *(types.float64,) * count), space["f"])


_call_with = caller_with_parameters(types.void(_row, types.int64))


@njit
def called_with(address, row, fixed, table, place, count):
    _call_with(address, (row, fixed), table, place, count)


@pytest.mark.parametrize("count", range(MOST_PARAMETERS + 1))
def test_a_function_is_given_as_many_parameters_as_it_takes(count: int) -> None:
    table = np.arange(3 * MOST_PARAMETERS, dtype=np.float64).reshape(3, MOST_PARAMETERS) + 0.5
    function = function_with(count)
    for place in range(3):
        row = np.full(2 + MOST_PARAMETERS, -1.0)
        called_with(address_of(function), row, 42, table, place, count)
        assert row[:2].tolist() == [count, 42.0]
        assert row[2 : 2 + count].tolist() == table[place, :count].tolist()
        assert (row[2 + count :] == -1.0).all()
    assert len(called_with.signatures) == 1


@pytest.mark.parametrize("count", [-1, MOST_PARAMETERS + 1])
def test_a_count_that_no_function_has_calls_nobody(count: int) -> None:
    row = np.full(2 + MOST_PARAMETERS, -1.0)
    called_with(address_of(function_with(0)), row, 42, np.zeros((1, MOST_PARAMETERS)), 0, count)
    assert (row == -1.0).all()


def test_functions_with_different_numbers_of_parameters_stand_in_one_table() -> None:
    functions = [function_with(count) for count in (3, 0, 8)]
    table = np.arange(3 * MOST_PARAMETERS, dtype=np.float64).reshape(3, MOST_PARAMETERS)

    @njit
    def all_called(addresses, counts, table, rows):
        for place in range(len(addresses)):
            _call_with(addresses[place], (rows[place], place), table, place, counts[place])

    rows = np.full((3, 2 + MOST_PARAMETERS), -1.0)
    all_called(np.array([address_of(each) for each in functions]), np.array([3, 0, 8]), table, rows)
    assert rows[:, 0].tolist() == [3, 0, 8]
    assert rows[:, 1].tolist() == [0, 1, 2]
    assert rows[0, 2:5].tolist() == [0, 1, 2]
    assert rows[2, 2:].tolist() == list(range(16, 24))
