"""How functions are compiled: kept on disk, and told about."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import types

import neuralns
from neuralns.compiled.caching import CompilationCount, CompilationNotice, compile_for, compiled, inlined

PACKAGE = Path(neuralns.__file__).parent


def test_a_function_is_compiled_for_one_signature_only() -> None:
    def half(value):
        return value / 2

    function = compile_for(types.float64(types.float64), half)
    assert function(3) == 1.5
    assert len(function.overloads) == 1
    with pytest.raises(TypeError):
        function("three")


def test_divisions_by_zero_follow_numpy() -> None:
    @compiled
    def ratio(one, other):
        return one / other

    assert ratio(1.0, 0.0) == np.inf
    assert np.isnan(ratio(0.0, 0.0))


def test_inlined_functions_do_what_others_do() -> None:
    @inlined
    def square(value):
        return value * value

    @compiled
    def fourth(value):
        return square(square(value))

    assert (square(3.0), fourth(3.0)) == (9.0, 81.0)


def test_the_first_compilation_is_told_once_and_all_are_counted() -> None:
    told: list[Any] = []
    # Values that no other run has, so that nothing is on disk.
    nonce = np.random.default_rng().random()

    @compiled
    def one(value):
        return value + nonce

    @compiled
    def other(value):
        return one(value) + 1

    with CompilationNotice(lambda: told.append("compiling")), CompilationCount() as compilations:
        assert told == []
        other(np.float32(1.5))
        assert compilations.count == 4
        one(np.uint8(3))
        assert compilations.count == 6
    assert told == ["compiling"]
    one(np.uint16(3))
    assert told == ["compiling"]
    assert compilations.count == 6


def test_nothing_is_compiled_past_the_cache_that_is_checked() -> None:
    """Numba's own cache fails where it cannot be written, runs what is damaged, and what is stale."""
    for path in PACKAGE.rglob("*.py"):
        if path.name != "caching.py":
            assert not re.search(r"\bnjit\b|\bcfunc\(|cache=True|enable_caching", path.read_text(encoding="utf-8")), (
                path
            )


def test_whole_numbers_written_in_calls_do_not_make_versions_of_functions_of_the_package() -> None:
    content: dict[str, Any] = {"__name__": "neuralns.mine", "half": 0.5}
    exec("def inner(x, y=0, z=False): return x + y + half if z else x - y", content)
    content["inner"] = inner = compiled(content["inner"])
    exec("def f(x): return inner(1, x) + inner(2, y=3) + inner(x, 4) + inner(x, 5, True)", content)
    assert compiled(content["f"])(7) == (1 - 7) + (2 - 3) + (7 - 4) + (7 + 5 + 0.5)
    kinds = {str(signature) for signature in inner.overloads}
    assert len(kinds) == 2  # with and without the last one
    assert not [kind for kind in kinds if "Literal[int]" in kind]


def test_helpers_of_users_may_ask_for_the_number_that_is_written() -> None:
    from numba import literally

    def chosen(pair, place):
        return pair[literally(place)]

    picked = compiled(chosen)

    @compiled
    def second(x):
        return picked((1, x), 1)

    assert second(2.5) == 2.5
