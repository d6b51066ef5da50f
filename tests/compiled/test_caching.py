"""How functions are compiled: kept on disk, compiled anew when a source changes, and told about."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba import types

import neuralns
from neuralns.compiled import caching
from neuralns.compiled.caching import COMPILED_ROOMS, CompilationNotice, compile_for, compiled, inlined

PACKAGE = Path(neuralns.__file__).parent

MODULE = """
from neuralns.compiled import caching
from neuralns.compiled.caching import CompilationNotice, compiled

@compiled
def double(value):
    return {factor} * value
"""
PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
from neuralns.compiled import caching
if len(sys.argv) > 2:
    caching._stamp_of_sources = lambda: sys.argv[2]
import mine
said = []
with caching.CompilationNotice(lambda: said.append("compiled")):
    print(mine.double(21), *said)
"""


def process(folder: Path, *arguments: str, program: str = PROGRAM) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", program, str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True)


def run(folder: Path, *arguments: str) -> list[str]:
    return process(folder, *arguments).stdout.split()


def test_what_is_compiled_once_is_loaded_from_the_disk(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MODULE.format(factor=2))
    assert run(tmp_path) == ["42", "compiled"]
    assert run(tmp_path) == ["42"]
    (tmp_path / "mine.py").write_text(MODULE.format(factor="  3"))
    assert run(tmp_path) == ["63", "compiled"]


def test_a_change_of_any_compiled_source_compiles_anew(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MODULE.format(factor=2))
    assert run(tmp_path, "before") == ["42", "compiled"]
    assert run(tmp_path, "before") == ["42"]
    assert run(tmp_path, "after") == ["42", "compiled"]


def kept_in(folder: Path, ending: str) -> Path:
    (path,) = [path for path in folder.rglob(f"*.{ending}") if path.name.startswith("mine")]
    return path


def flip(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
@pytest.mark.parametrize(
    "damage", [lambda content: b"", lambda content: b"nonsense", lambda content: content[:-9], flip]
)
def test_what_is_damaged_on_the_disk_is_never_run_but_compiled_anew(
    tmp_path: Path, ending: str, damage: Callable[[bytes], bytes]
) -> None:
    (tmp_path / "mine.py").write_text(MODULE.format(factor=2))
    run(tmp_path)
    path = kept_in(tmp_path, ending)
    path.write_bytes(damage(path.read_bytes()))
    done = process(tmp_path)
    assert done.stdout.split() == ["42", "compiled"]
    assert f"{path}: compiled code kept there is damaged" in done.stderr
    assert run(tmp_path) == ["42"]


WITHOUT_A_PLACE = """
from numba.core.caching import _CacheLocator
def refuse(self):
    raise OSError(30, "Read-only file system")
_CacheLocator.ensure_cache_path = refuse
"""
FULL = """
from numba.core.caching import IndexDataCacheFile
def refuse(self, path):
    raise OSError(28, "No space left on device")
IndexDataCacheFile._open_for_write = refuse
"""
UNREADABLE = """
from pathlib import Path
def refuse(self):
    raise PermissionError(13, "Permission denied")
Path.read_bytes = refuse
"""


@pytest.mark.parametrize(
    ("disk", "why"),
    [
        (WITHOUT_A_PLACE, "no folder can be written to"),
        (FULL, "No space left on device"),
        (UNREADABLE, "Permission denied"),
    ],
)
def test_where_nothing_can_be_kept_all_is_compiled_with_a_word(tmp_path: Path, disk: str, why: str) -> None:
    (tmp_path / "mine.py").write_text(MODULE.format(factor=2))
    done = process(tmp_path, program=disk + PROGRAM)
    assert done.stdout.split() == ["42", "compiled"]
    assert done.stderr.count(f"compiled code cannot be kept on disk ({why}) and is compiled each time") == 1


def test_the_stamp_covers_all_rooms_with_compiled_functions() -> None:
    rooms = {
        path.relative_to(PACKAGE).parts[0]
        for path in PACKAGE.rglob("*.py")
        if any(mark in path.read_text(encoding="utf-8") for mark in ("@compiled", "@inlined", "compile_for(", "@njit"))
    }
    assert rooms <= set(COMPILED_ROOMS)
    assert all((PACKAGE / room / "__init__.py").is_file() for room in COMPILED_ROOMS)


def test_the_stamp_changes_with_a_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for room in COMPILED_ROOMS:
        (tmp_path / room / "deep").mkdir(parents=True)
        (tmp_path / room / "deep" / "module.py").write_text("one")
    monkeypatch.setattr(caching, "__file__", str(tmp_path / "compiled" / "caching.py"))
    stamp = caching._stamp_of_sources.__wrapped__
    seen = {stamp()}
    assert stamp() in seen
    for number, room in enumerate(COMPILED_ROOMS, 2):
        (tmp_path / room / "deep" / "module.py").write_text("x" * number)
        seen.add(stamp())
    assert len(seen) == 1 + len(COMPILED_ROOMS)


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


def test_the_first_compilation_is_told_once() -> None:
    told: list[Any] = []

    @compiled
    def one(value):
        return value + 1

    @compiled
    def other(value):
        return one(value) + 1

    with CompilationNotice(lambda: told.append("compiling")):
        assert told == []
        other(np.float32(1.5))
        one(np.uint8(3))
    assert told == ["compiling"]
    one(np.uint16(3))
    assert told == ["compiling"]


def test_nothing_is_compiled_past_the_cache_that_is_checked() -> None:
    """Numba's own cache fails where it cannot be written, and runs what is damaged."""
    for path in PACKAGE.rglob("*.py"):
        if path.name != "caching.py":
            assert not re.search(r"\bnjit\b|\bcfunc\(|cache=True|enable_caching", path.read_text(encoding="utf-8")), (
                path
            )
