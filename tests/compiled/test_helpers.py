"""Functions that compiled callers build in: neither wrappers nor machine code, unless somebody asks for them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import types

from compiled.test_kept import process
from neuralns.compiled.caching import CompilationCount, compile_for, compiled
from neuralns.compiled.calls import address_for, caller
from neuralns.compiled.helpers import is_helper

NUMBER = types.float64(types.float64)


@pytest.fixture
def functions() -> dict[str, Any]:
    """Two functions of the package, one of which calls the other."""
    content: dict[str, Any] = {"__name__": "neuralns.mine"}
    exec("def inner(x): return 2.0 * x", content)
    content["inner"] = compiled(content["inner"])
    exec("def outer(x): return inner(x) + 1.0", content)
    return content


def made(function: Any) -> list[bool]:
    """Whether each version of a function is a helper."""
    return [is_helper(result) for result in function.overloads.values()]


def test_what_a_caller_builds_in_is_a_helper_and_the_caller_is_none(functions: dict[str, Any]) -> None:
    outer = compile_for(NUMBER, functions["outer"])
    assert outer(20.5) == 42.0
    assert made(functions["inner"]) == [True]
    assert made(outer) == [False]


def test_a_helper_that_python_calls_is_compiled_whole(functions: dict[str, Any]) -> None:
    compile_for(NUMBER, functions["outer"])
    with CompilationCount() as compilations:
        assert functions["inner"](21.0) == 42.0
        assert made(functions["inner"]) == [False]
        assert compilations.count == 2
        assert functions["inner"](4.0) == 8.0
        assert compilations.count == 2


def test_a_helper_that_is_called_by_its_address_is_compiled_whole(functions: dict[str, Any]) -> None:
    compile_for(NUMBER, functions["outer"])
    address = address_for(functions["inner"], NUMBER)
    call = caller(NUMBER)

    @compiled
    def by_address(address, value):
        return call(address, (value,))

    assert by_address(address, 21.0) == 42.0


def test_what_was_compiled_whole_is_built_in_as_it_is(functions: dict[str, Any]) -> None:
    assert functions["inner"](1.0) == 2.0
    with CompilationCount() as compilations:
        assert compile_for(NUMBER, functions["outer"])(20.5) == 42.0
        assert compilations.count == 2
    assert made(functions["inner"]) == [False]


def test_an_exception_in_a_helper_says_what_it_says_elsewhere() -> None:
    content: dict[str, Any] = {"__name__": "neuralns.mine"}
    exec("def inner(x):\n    if x < 0.0: raise ValueError('below 0', x)\n    return x", content)
    content["inner"] = compiled(content["inner"])
    exec("def outer(x): return inner(x) + 1.0", content)
    outer = compile_for(NUMBER, content["outer"])
    with pytest.raises(ValueError, match="below 0") as caught:
        outer(-2.5)
    assert caught.value.args == ("below 0", -2.5)


def test_helpers_are_kept_on_disk_and_only_their_callers_compiled_anew(tmp_path: Path) -> None:
    program = """
import sys
sys.path.insert(0, sys.argv[1])
from neuralns.compiled import caching
caching.is_own = lambda function: False
from numba import types
import mine
with caching.CompilationCount() as compilations:
    print(caching.compile_for(types.float64(types.float64), mine.outer)(20.5), compilations.count // 2)
"""
    source = """
from neuralns.compiled.caching import compiled

@compiled
def inner(value):
    if value < 0.0:
        raise ValueError("below 0", value)
    return 2.0 * value

def outer(value):
    return inner(value) + {more}
"""
    for more, compiled_anew in ((1.0, 2), (1.0, 0), (2.0, 1)):
        (tmp_path / "mine.py").write_text(source.format(more=more))
        assert process(tmp_path, program=program)[0] == [str(41.0 + more), str(compiled_anew)]


def test_a_helper_may_be_a_value(functions: dict[str, Any]) -> None:
    compile_for(NUMBER, functions["outer"])
    assert made(functions["inner"]) == [True]

    @compiled
    def applied(function, value):
        return function(value)

    applied.compile((types.FunctionType(NUMBER), types.float64))  # type: ignore[attr-defined]
    applied.disable_compile()  # type: ignore[attr-defined]
    assert applied(functions["inner"], 21.0) == 42.0


def test_threads_may_compile_at_once() -> None:
    """One asks for a helper whole while another compiles it as a part of its caller."""
    for number in range(3):
        content: dict[str, Any] = {"__name__": "neuralns.mine"}
        exec(f"def inner(x): return 2.0 * x + {number}.0 + {np.random.default_rng().random()}", content)
        content["inner"] = inner = compiled(content["inner"])
        exec("def outer(x): return inner(x) + 1.0", content)
        with ThreadPoolExecutor(2) as pool:
            outer = pool.submit(compile_for, NUMBER, content["outer"])
            address = pool.submit(address_for, inner, NUMBER)
            assert address.result() != 0
            assert outer.result()(3.0) == inner(3.0) + 1.0
