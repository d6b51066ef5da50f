"""What an edit of the package compiles again: the function, what builds it in, and nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from neuralns.compiled import fingerprint

SOURCES = {
    "far": """
from llvmlite import ir
from numba import types
from numba.core.extending import intrinsic
from neuralns.compiled.caching import compiled

def _constant():
    return ir.Constant(ir.IntType(64), 5)

@intrinsic
def five(typing_context):
    def generate(context, builder, signature, arguments):
        return builder.add(_constant(), ir.Constant(ir.IntType(64), 0))
    return types.int64(), generate

FACTOR = 3

@compiled
def inner(x):
    return 2 * x

@compiled
def scaled(x):
    return FACTOR * x

@compiled
def added(x):
    return x + five()
""",
    "near": """
from neuralns.compiled.caching import compiled
from neuralns.mine.far import added, inner, scaled

@compiled
def helper(x):
    return inner(x) + 1

@compiled
def other(x):
    return x - 1
""",
    "layout": """
from neuralns.compiled.structs import Struct, StructType, number, whole
bag_type = StructType("mine.Bag", {"one": whole, "two": whole})
bag = Struct(bag_type, one=1, two=2)
""",
    "top": """
from numba import types
from neuralns.compiled.caching import compile_for, compiled
from neuralns.compiled.calls import address_of, caller
from neuralns.mine import far, near
from neuralns.mine.far import added
from neuralns.mine.layout import bag, bag_type
from neuralns.mine.near import helper, other

signature = types.int64(types.int64)
call = caller(signature)

@compiled
def through_helper(x):
    return helper(x)

@compiled
def through_module(x):
    return far.scaled(x)

@compiled
def through_intrinsic(x):
    return added(x)

@compiled
def of_struct(bag):
    return 10 * bag.one + bag.two

@compiled
def by_address(address, x):
    return call(address, (x,))

def operator(x):
    return other(x)

def answers():
    called = by_address(address_of(compile_for(signature, operator)), 7)
    return through_helper(7), through_module(7), through_intrinsic(7), of_struct(bag), called
""",
}
PROGRAM = """
import sys
import neuralns
neuralns.__path__.append(sys.argv[1])
from neuralns.compiled import caching

class Names(caching._Compilations):
    def on_start(self, event):
        print(event.data["dispatcher"].py_func.__name__)

with Names():
    from neuralns.mine import top
    print(*top.answers())
"""
ANSWERS = ["15", "21", "12", "12", "6"]
THROUGH_HELPER = {"through_helper", "helper", "inner"}
BY_ADDRESS = {"operator", "other"}


def run(folder: Path) -> tuple[set[str], list[str]]:
    """Return the names of the functions that a process compiles, and its answers."""
    done = subprocess.run(
        [sys.executable, "-B", "-c", PROGRAM, str(folder)], capture_output=True, text=True, check=True,
        env={**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache")},
    )  # fmt: skip
    *names, answers = done.stdout.splitlines()
    return set(names), answers.split()


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a part of the package, compiled once."""
    folder = tmp_path_factory.mktemp("package")
    (folder / "mine").mkdir()
    for name, source in SOURCES.items():
        (folder / "mine" / f"{name}.py").write_text(source)
    names, answers = run(folder)
    assert names > {*THROUGH_HELPER, *BY_ADDRESS, "of_struct", "by_address"}
    assert answers == ANSWERS
    return folder


def edited(first: Path, folder: Path, name: str, old: str, new: str) -> tuple[set[str], list[str]]:
    """Return the same after an edit of one file, and see to it that the edit is compiled once only."""
    shutil.copytree(first, folder, dirs_exist_ok=True)
    assert SOURCES[name].count(old) == 1
    (folder / "mine" / f"{name}.py").write_text(SOURCES[name].replace(old, new))
    found = run(folder)
    assert run(folder) == (set(), found[1])
    return found


@pytest.mark.parametrize(
    ("name", "old", "new", "compiled", "place", "answer"),
    [
        ("far", "2 * x", "3 * x", THROUGH_HELPER, 0, "22"),
        ("far", "FACTOR = 3", "FACTOR = 4", {"through_module", "scaled"}, 1, "28"),
        ("far", "(64), 0)", "(64), 1)", {"through_intrinsic", "added"}, 2, "13"),
        ("far", "(64), 5)", "(64), 6)", {"through_intrinsic", "added"}, 2, "13"),
        ("layout", '"one": whole, "two": whole', '"two": whole, "one": whole', {"of_struct"}, 3, "12"),
        ("layout", '"two": whole', '"two": number', {"of_struct"}, 3, "12.0"),
        ("layout", "two=2", "two=3", set(), 3, "13"),
        ("near", "x - 1", "x - 2", BY_ADDRESS, 4, "5"),
        ("top", "other(x)", "other(x) + 1", {"operator"}, 4, "7"),
        ("top", "types.int64(types.int64)", "types.int64(types.int32)", {"by_address", *BY_ADDRESS}, 4, "6"),
        ("near", "def other", "def unused(x):\n    return x\n\n@compiled\ndef other", set(), 4, "6"),
    ],
    ids=[
        "helper two levels down", "constant", "generator of an intrinsic", "what a generator calls", "order of fields",
        "type of a field", "content of a struct", "helper of what is called by address", "function called by address",
        "signature of calls", "unrelated function",
    ],
)  # fmt: skip
def test_an_edit_compiles_what_builds_it_in_and_nothing_else(
    first: Path, tmp_path: Path, name: str, old: str, new: str, compiled: set[str], place: int, answer: str
) -> None:
    names, answers = edited(first, tmp_path, name, old, new)
    assert names == compiled
    assert answers == [answer if number == place else each for number, each in enumerate(ANSWERS)]


MARK = "from neuralns.operators.registry import operator\nfrom neuralns.compiled.fingerprint import fingerprint\n"
MARK += "print(fingerprint(operator('random-node').function))"


def mark_in(package: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-B", "-c", MARK], capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": str(package)},
    )  # fmt: skip
    return done.stdout


def test_modules_that_say_how_functions_are_compiled_count_for_all_others_by_use(tmp_path: Path) -> None:
    room = Path(fingerprint.__file__).parent
    shutil.copytree(room.parents[1], tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    before = mark_in(tmp_path)
    for name in ("random", "calls", "clock"):
        with (tmp_path / "neuralns" / "compiled" / f"{name}.py").open("a") as file:
            file.write("\n\ndef unused(x):\n    return x\n")
    assert mark_in(tmp_path) == before
    path = tmp_path / "neuralns" / "compiled" / "structs.py"
    path.write_text(path.read_text().replace('"invariant.load"', '"nontemporal"'))
    assert mark_in(tmp_path) != before


def test_every_module_of_the_room_is_a_rule_or_holds_functions() -> None:
    """A new one has to be put in its place: rules count for everything that is compiled; sharing changes no code."""
    found = {path.stem for path in Path(fingerprint.__file__).parent.glob("*.py")}
    assert found == {*fingerprint._RULES, "__init__", "calls", "clock", "random", "sharing"}
