"""The fingerprint of a function: it changes with everything that is frozen into machine code, and with nothing else."""

from __future__ import annotations

import collections
import enum
import sys
import textwrap
from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import njit, types
from numba.core import config
from numba.extending import overload

from neuralns.compiled.caching import compiled
from neuralns.compiled.fingerprint import fingerprint, fingerprint_anew, key_of, own_helpers, signature_text
from neuralns.compiled.structs import StructType, number, whole
from neuralns.operators.registry import operators
from neuralns.routes import edits


def function_of(source: str, name: str = "f", **values: Any) -> Any:
    """Return a function of a source, as if it stood in a file, with values of globals."""
    content: dict[str, Any] = {"__name__": "mine", **values}
    exec(compile(textwrap.dedent(source), "mine.py", "exec"), content)
    return content[name]


class Colour(enum.IntEnum):
    RED = 1
    BLUE = 2


class Pair(NamedTuple):
    one: float
    other: float


GLOBAL = "def f(x):\n    return K + x"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 2),
        (1, 1.0),
        (1, True),
        (0.1, 0.2),
        ("a", "b"),
        ((1, 2), (2, 1)),
        (np.float32(1), np.float64(1)),
        (np.array([1.0, 2.0]), np.array([1.0, 3.0])),
        (np.zeros((2, 3)), np.zeros((3, 2))),
        (Colour.RED, Colour.BLUE),
        (Pair(1.0, 2.0), Pair(1.0, 3.0)),
        (None, 0),
        (types.int64, types.int32),
    ],
)
def test_it_changes_with_the_value_of_a_global(one: Any, other: Any) -> None:
    found = [fingerprint(function_of(GLOBAL, K=value)) for value in (one, other, one)]
    assert found[0] == found[2] is not None
    assert found[0] != found[1]


def test_it_changes_with_free_variables_and_defaults() -> None:
    def made(factor: float) -> Callable[[float], float]:
        def times(x: float) -> float:
            return factor * x

        return times

    assert fingerprint(made(1.0)) == fingerprint(made(1.0)) != fingerprint(made(2.0))
    sources = ["def f(x, y=1): return x", "def f(x, y=2): return x", "def f(x, *, y=2): return x"]
    assert len({fingerprint(function_of(source)) for source in sources}) == 3


@pytest.mark.parametrize("decorate", [njit, compiled, lambda function: function])
def test_it_changes_with_helpers_of_helpers(decorate: Any) -> None:
    """Each helper has a helper with a constant, all of them in modules of their own."""
    found = []
    for constant in (1, 2, 1):
        inner = decorate(function_of("def g(x): return x + C", "g", C=constant))
        helper = decorate(function_of("def h(x): return inner(x)", "h", inner=inner))
        module = ModuleType("helpers")
        vars(module).update(h=helper)
        found.append(
            (
                fingerprint(function_of("def f(x): return h(x)", h=helper)),
                fingerprint(function_of("def f(x): return helpers.h(x)", helpers=module)),
            )
        )
    assert found[0] == found[2]
    assert None not in found[0]
    assert not {*found[0]} & {*found[1]}


def test_it_changes_with_constants_of_modules_that_are_used_and_with_no_others() -> None:
    def with_module(**content: Any) -> str | None:
        module = ModuleType("settings")
        vars(module).update(content)
        return fingerprint(function_of("def f(x): return settings.K * x", settings=module))

    assert with_module(K=1) != with_module(K=2)
    assert with_module(K=1, other=3) == with_module(K=1, other=4)


def test_it_changes_with_code_and_lines_of_users_but_not_with_docstrings_of_ours() -> None:
    assert fingerprint(function_of("def f(x): return x + 1")) != fingerprint(function_of("def f(x): return x - 1"))
    assert fingerprint(function_of("def f(x): return x + 1")) != fingerprint(function_of("def f(x): return x + 2"))
    # Messages name the lines of users' functions.
    assert fingerprint(function_of("def f(x): return x")) != fingerprint(function_of("\ndef f(x): return x"))
    ours = {"__name__": "neuralns.mine"}
    texts = ['def f(x):\n    """One."""\n    return x', '\n\ndef f(x):\n    """Two."""\n    return x']
    assert len({fingerprint(function_of(text, **ours)) for text in texts}) == 1


@pytest.mark.parametrize("value", [object(), {"a": object()}, np.array([None]), iter(())])
def test_what_uses_a_value_that_cannot_be_covered_has_none(value: Any) -> None:
    assert fingerprint(function_of(GLOBAL, K=value)) is None
    # An attribute of the same name is not that global.
    assert fingerprint(function_of("def f(x): return x.K", K=value)) is not None


def test_functions_that_call_each_other_have_one() -> None:
    content: dict[str, Any] = {"__name__": "mine"}
    exec("def even(x): return x == 0 or odd(x - 1)\ndef odd(x): return x != 0 and even(x - 1)", content)
    assert fingerprint(content["even"]) not in (None, fingerprint(content["odd"]))


def test_helpers_of_users_are_found_wherever_they_are_called() -> None:
    inner = njit(function_of("def g(x): return x", "g"))
    helper = compiled(function_of("def h(x): return g(x)", "h", g=inner))
    assert own_helpers(function_of("def f(x): return h(x)", h=helper)) == [helper, inner]


def test_structs_with_other_fields_or_constants_are_other_types() -> None:
    inner = [StructType("inner", {"a": kind}) for kind in (whole, number)]
    kinds = [
        StructType("s", {"a": whole, "b": number}),
        StructType("s", {"b": number, "a": whole}),
        StructType("s", {"a": whole, "b": number}, constants=["a"]),
        *(StructType("s", {"a": each}) for each in inner),
    ]
    assert len({signature_text((kind,), None) for kind in kinds}) == len(kinds)
    assert len({signature_text((types.Tuple((kind, types.int64)),), None) for kind in kinds}) == len(kinds)
    assert signature_text((types.pyobject,), None) is None


def test_every_operator_of_the_package_has_one() -> None:
    """What has none would be compiled in each process."""
    found = {entry.name: fingerprint(entry.function) for entry in operators()}
    assert None not in found.values()
    assert len({*found.values()}) == len({id(entry.function) for entry in operators()})


def test_it_changes_with_what_reads_alike() -> None:
    """Functions of one name in two modules, other orders of fields, texts that are no docstrings, names as texts."""
    import operator
    from math import pow as real_pow

    one: Any
    other: Any
    one, other = (collections.namedtuple("Cfg", fields) for fields in (["a", "b"], ["b", "a"]))
    pairs: list[Any] = [
        ({"K": real_pow}, {"K": operator.pow}),
        ({"K": one(1, 2)}, {"K": other(1, 2)}),
    ]
    for first, second in pairs:
        assert fingerprint(function_of(GLOBAL, **first)) != fingerprint(function_of(GLOBAL, **second))
    texts = ["def f(x): return [y for y in ['{0}' for _ in range(3)]]", "f = lambda x: '{0}'"]
    for text in texts:
        assert fingerprint(function_of(text.format("a"))) != fingerprint(function_of(text.format("b")))
    found = []
    for value in (1, 2):
        module = ModuleType("settings")
        vars(module).update(K=value)
        found.append(fingerprint(function_of("def f(x): return getattr(settings, 'K')", settings=module)))
    assert found[0] != found[1]


def test_it_changes_with_aliases_of_enumerations_and_fields_of_arguments() -> None:
    kinds = [enum.IntEnum("Kind", {"A": 1, "B": 2, "D": alias}) for alias in (1, 2)]
    assert fingerprint(function_of(GLOBAL, K=kinds[0])) != fingerprint(function_of(GLOBAL, K=kinds[1]))
    one, other = (collections.namedtuple("Cfg", fields) for fields in (["a", "b"], ["b", "a"]))
    kinds = [types.NamedUniTuple(types.int64, 2, made) for made in (one, other)]
    assert signature_text((kinds[0],), None) != signature_text((kinds[1],), None)


def test_a_module_of_the_user_with_a_name_of_pythons_own_is_looked_into(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for value in (1, 2):
        module = ModuleType("sched")
        vars(module).update(K=value, __file__="/somewhere/sched.py")
        monkeypatch.setitem(sys.modules, "sched", module)
        found.append(fingerprint(function_of("def f(x): return sched.K", sched=module)))
    assert found[0] != found[1]


def test_it_changes_with_what_numba_compiles_in_place_of_a_function() -> None:
    found = []
    for value in (1, 2):
        helped = function_of("def h(x): return 0", "h")
        overload(helped)(function_of(f"def ov(x): return lambda x: {value}", "ov"))
        found.append(fingerprint(function_of("def f(x): return h(x)", h=helped)))
    assert found[0] != found[1]


def test_it_changes_with_the_types_of_locals_that_a_helper_is_compiled_with() -> None:
    written = function_of("def h(x):\n    y = x\n    return y", "h")
    helpers = [njit(locals={"y": kind})(written) for kind in (types.float64, types.float32)]
    one, other = (fingerprint(function_of("def f(x): return h(x)", h=helper)) for helper in helpers)
    assert one != other


def test_modules_that_import_each_other_have_one() -> None:
    one, other = ModuleType("one"), ModuleType("other")
    vars(one).update(other=other, K=1)
    vars(other).update(one=one, K=2)
    before = fingerprint(function_of("def f(x): return one.other.K", one=one))
    vars(other).update(K=3)
    assert before != fingerprint(function_of("def f(x): return one.other.K", one=one))


def test_in_one_process_objects_tell_versions_apart() -> None:
    """What uses a value that cannot be covered is compiled anew all the same when another value changes."""
    thing = object()
    text = "def f(x): return K * thing"
    found = [key_of(function_of(text, K=value, thing=thing)) for value in (1, 2, 1)]
    assert found[0] == found[2] != found[1]
    assert key_of(function_of(text, K=1, thing=object())) != found[0]


def test_changes_of_the_package_itself_are_seen_where_it_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    taking: Any = edits.take_from_bank
    before = fingerprint(taking.py_func)
    assert fingerprint_anew(taking.py_func) == before
    monkeypatch.setattr(edits, "MOST_TAKEN", 3)
    assert fingerprint(taking.py_func) == before
    assert fingerprint_anew(taking.py_func) != before


def test_switches_of_numba_count_when_they_are_set(monkeypatch: pytest.MonkeyPatch) -> None:
    function = function_of("def f(x): return x")
    before = fingerprint(function)
    monkeypatch.setattr(config, "BOUNDSCHECK", 1)
    assert fingerprint(function) != before


def test_arrays_with_entries_that_overlap_have_one() -> None:
    value = np.zeros(2, np.dtype({"names": ["a", "b"], "formats": ["i4", "i4"], "offsets": [0, 2]}))
    assert fingerprint(function_of(GLOBAL, K=value)) is not None
