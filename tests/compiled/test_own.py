"""Functions of a user's own, compiled or refused."""

from __future__ import annotations

import ctypes
import subprocess
import sys
import textwrap
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numba import njit, types
from numba.core.errors import TypingError
from numba.extending import overload

from neuralns import OperatorError
from neuralns.compiled.caching import compiled
from neuralns.compiled.own import compile_own, reason

SIGNATURE = types.int64(types.int64)


def module_of(source: str, **values: Any) -> Any:
    module = ModuleType("mine")
    sys.modules["mine"] = module
    vars(module).update(values)
    exec(compile(textwrap.dedent(source), "mine.py", "exec"), vars(module))
    return module


def made(function: Any) -> Any:
    return compile_own("operator 'mine'", SIGNATURE, function)


def test_the_reason_of_a_failed_compilation_is_one_line() -> None:
    message = "Failed in nopython mode\nUnknown attribute 'x' of type State\n\nFile \"mine.py\", line 3:\n  code"
    assert reason(TypingError(message)) == "Unknown attribute 'x' of type State (File \"mine.py\", line 3)."


def test_it_is_compiled_anew_when_a_global_has_changed_and_only_then() -> None:
    mine = module_of("K = 2\ndef f(x): return K * x")
    first = made(mine.f)
    assert first(21) == 42
    assert made(mine.f) is first
    mine.K = 3
    assert made(mine.f)(21) == 63
    mine.K = 2
    assert made(mine.f) is first


@pytest.mark.parametrize("decorate", [lambda function: function, njit, compiled])
def test_helpers_need_no_decorator_and_follow_their_globals(decorate: Any) -> None:
    """Those compiled before, by other types or the same, would keep the value that their global had then."""
    mine = module_of("K = 2\ndef helped(x): return K * x\ndef f(x): return helped(x)")
    mine.helped = decorate(mine.helped)
    mine.helped(1)
    assert made(mine.f)(21) == 42
    mine.K = 3
    assert made(mine.f)(21) == 63


def test_helpers_of_other_modules_need_none_either() -> None:
    helpers = module_of("def inner(x): return x + 1\ndef helped(x): return inner(x) + inner(x)")
    mine = module_of("def f(x): return helpers.helped(x)", helpers=helpers)
    assert made(mine.f)(20) == 42
    assert not hasattr(helpers.helped, "py_func")


def test_a_helper_may_call_itself() -> None:
    mine = module_of("def down(x):\n    if x <= 0: return 0\n    return 2 + down(x - 1)\ndef f(x): return down(x)")
    assert made(mine.f)(21) == 42


def test_options_of_helpers_are_kept() -> None:
    mine = module_of("def ratio(x): return 1.0 / x\ndef f(x): return 42 if ratio(float(x)) == np.inf else 0", np=np)
    mine.ratio = njit(error_model="numpy")(mine.ratio)
    assert made(mine.f)(0) == 42


def test_functions_that_numba_compiles_otherwise_are_left_to_it() -> None:
    mine = module_of("def g(x): return -1\ndef f(x): return g(x)")
    overload(mine.g)(lambda x: lambda x: 2 * x)
    assert made(mine.f)(21) == 42


@pytest.mark.filterwarnings("ignore:First-class function type")
def test_helpers_in_tuples_follow_their_globals() -> None:
    mine = module_of("J = 2\ndef h(x): return J * x\ndef f(x): return HS[0](x)")
    mine.HS = (njit(mine.h),)
    assert made(mine.f)(21) == 42
    mine.J = 3
    assert made(mine.f)(21) == 63


def test_functions_may_use_other_helpers_of_the_same_module() -> None:
    helpers = module_of("def a(x): return x\ndef b(x): return 2 * x")
    mine = module_of("def g(x): return helpers.b(x)\ndef f(x): return helpers.a(x) + g(x)", helpers=helpers)
    assert made(mine.f)(14) == 42


def test_modules_that_import_each_other_can_be_used() -> None:
    one, other = (module_of("def helped(x): return 2 * x") for _ in range(2))
    one.other, other.one = other, one
    mine = module_of("def f(x): return one.other.helped(x)", one=one)
    assert made(mine.f)(21) == 42


def test_what_cannot_be_kept_is_compiled_anew_in_the_process_all_the_same() -> None:
    library = ctypes.CDLL(None)
    library.labs.argtypes, library.labs.restype = [ctypes.c_long], ctypes.c_long
    mine = module_of("K = 2\ndef f(x): return K * abs_of(x)", abs_of=library.labs)
    assert made(mine.f)(-21) == 42
    mine.K = 3
    assert made(mine.f)(-21) == 63


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("    raise ValueError", r"raises an exception or asserts \(mine.py, line 2\)"),
        ("    import math\n    return x", r"imports a module inside \(mine.py, line 2\); import it at the top"),
        ("    y = 1\n    return x.nothing", r"does not compile: .*mine\.py.*line 3"),
        ("    y = 1\n    return undefined(x)", r"does not compile: .*undefined.*mine\.py.*line 3"),
        ("    y = 1\n    return helped(x)", r"does not compile: .*nothing.*mine\.py.*line 6"),
        ("    y = 1\n    return randint(x, 'a')", r"does not compile: .*mine\.py.*line 3"),
        ("    y = {}\n    return len(y.keys())", r"does not compile: .*mine\.py.*line [23]"),
        ("    return [x for x in open('a')]", r"does not compile: .*mine\.py.*line 2"),
    ],
)
def test_what_cannot_be_compiled_is_refused_with_the_line_of_the_user(body: str, sentence: str) -> None:
    from neuralns.compiled.random import randint

    mine = module_of(f"def f(x):\n{body}\n\ndef helped(x):\n    return x.nothing", randint=randint)
    with pytest.raises(OperatorError, match=f"^operator 'mine' {sentence}") as caught:
        made(mine.f)
    assert "\n" not in str(caught.value)


PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
from numba import types
from neuralns.compiled.caching import CompilationCount
from neuralns.compiled.own import compile_own
import mine
with CompilationCount() as compilations:
    for number in map(int, sys.argv[2:]):
        print(compile_own("operator 'mine'", types.int64(types.int64), mine.made(number))(21))
print(compilations.count)
"""


def test_versions_from_several_processes_do_not_meet_when_they_are_loaded(tmp_path: Path) -> None:
    """Machine code is linked by name, and numba counts names anew in each process."""
    (tmp_path / "mine.py").write_text(
        "def made(factor):\n    def helped(x): return factor * x\n    def f(x): return helped(x)\n    return f\n"
    )

    def run(*numbers: str) -> list[str]:
        command = [sys.executable, "-c", PROGRAM, str(tmp_path), *numbers]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()

    assert run("2")[0] == "42"
    assert run("3")[0] == "63"
    assert run("2", "3", "2") == ["42", "63", "42", "0"]
