"""Machine code on disk: used again by whoever has the same functions, and by nobody else."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from neuralns.compiled import kept

MODULE = """
from neuralns.compiled.caching import compiled

@compiled
def double(value):
    return {factor} * value
"""
PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
from neuralns.compiled import caching
import mine
said = []
with caching.CompilationNotice(lambda: said.append("compiled")):
    print(mine.double(21), *said)
"""


def process(folder: Path, *arguments: str, program: str = PROGRAM, **environment: str) -> tuple[list[str], str]:
    """Run a program with the modules of a folder; return the words that it prints, and its warnings."""
    # Beside the sources, wherever the tests themselves keep theirs.
    outer = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    done = subprocess.run(
        [sys.executable, "-B", "-c", program, str(folder), *arguments],
        capture_output=True, text=True, check=True, env={**outer, **environment},
    )  # fmt: skip
    return done.stdout.split(), done.stderr


def run(folder: Path, *arguments: str, **environment: str) -> list[str]:
    return process(folder, *arguments, **environment)[0]


def test_what_is_compiled_once_is_loaded_from_the_disk(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MODULE.format(factor=2))
    assert run(tmp_path) == ["42", "compiled"]
    assert run(tmp_path) == ["42"]
    (tmp_path / "mine.py").write_text(MODULE.format(factor=3))
    assert run(tmp_path) == ["63", "compiled"]
    assert run(tmp_path) == ["63"]


def test_times_of_files_do_not_matter(tmp_path: Path) -> None:
    """A copy, a checkout and a layer of a container have other times."""
    (tmp_path / "mine.py").write_text(MODULE.format(factor=2))
    run(tmp_path)
    os.utime(tmp_path / "mine.py", (1, 1))
    assert run(tmp_path) == ["42"]


@pytest.mark.parametrize(
    ("line", "factor"),
    [
        ("import sys\nK = int(sys.argv[2])", "K"),
        ("import os\nK = int(os.environ['NUMBER'])", "K"),
        ("from settings import K", "K"),
        ("import settings", "settings.K"),
        ("from settings import helped", "helped()"),
        ("import settings", "settings.helped()"),
    ],
)
def test_a_sweep_over_values_from_outside_gets_each_of_them(tmp_path: Path, line: str, factor: str) -> None:
    (tmp_path / "mine.py").write_text(line + MODULE.format(factor=factor))
    for number in (2, 3, 2):
        settings = f"from numba import njit\nK = {number}\n@njit\ndef helped():\n    return K\n"
        (tmp_path / "settings.py").write_text(settings)
        shutil.rmtree(tmp_path / "__pycache__" / "settings.pyc", ignore_errors=True)
        assert run(tmp_path, str(number), NUMBER=str(number))[0] == str(21 * number)
    # All versions are kept.
    assert run(tmp_path, "2", NUMBER="2") == ["42"]


def test_what_cannot_be_covered_is_not_kept(tmp_path: Path) -> None:
    text = "import ctypes\nabs_of = ctypes.CDLL(None).labs\nabs_of.argtypes = [ctypes.c_long]\n"
    text += "abs_of.restype = ctypes.c_long\n"
    (tmp_path / "mine.py").write_text(text + MODULE.format(factor="abs_of(-2)"))
    for _ in range(2):
        assert run(tmp_path) == ["42", "compiled"]


def test_functions_are_not_kept_beside_attributes_of_types_that_a_user_gives_numba(tmp_path: Path) -> None:
    text = "import sys\nfrom numba import types\nfrom numba.extending import overload_attribute\n"
    text += "@overload_attribute(types.Integer, 'share')\ndef share(x):\n"
    (tmp_path / "mine.py").write_text(text + "    return lambda x: FACTOR\n" + MODULE.format(factor="value.share"))
    for number in (2, 3):
        text = (tmp_path / "mine.py").read_text()
        (tmp_path / "mine.py").write_text(
            text.replace("FACTOR", str(number)).replace("lambda x: 2", f"lambda x: {number}")
        )
        assert run(tmp_path) == [str(21 * number), "compiled"]


def test_a_helper_compiled_before_its_global_was_set_is_not_kept_as_what_it_is_now(tmp_path: Path) -> None:
    text = "from neuralns.compiled.caching import compiled\nK = 1\n@compiled\ndef helped():\n    return K\n"
    (tmp_path / "mine.py").write_text(text + MODULE.format(factor="helped()"))
    program = PROGRAM.replace("import mine\n", "import mine\n{0}mine.K = 2\n")
    process(tmp_path, program=program.format("mine.helped()\n"))
    assert process(tmp_path, program=program.format(""))[0][0] == "42"


def test_functions_kept_by_several_processes_are_never_taken_for_one_another(tmp_path: Path) -> None:
    """Machine code is linked by names, which numba tells apart by numbers that begin anew in each process."""
    text = "from neuralns.compiled.caching import compiled\ndef made(k):\n    @compiled\n    def plus(x):\n"
    text += "        return x + k\n    return plus\n"
    (tmp_path / "mine.py").write_text(text)
    one = "import sys\nsys.path.insert(0, sys.argv[1])\nimport mine\nprint(mine.made(int(sys.argv[2]))(100))"
    for number in ("1", "2"):
        process(tmp_path, number, program=one)
    both = "import sys\nsys.path.insert(0, sys.argv[1])\nimport mine\nfrom neuralns.compiled.caching import compiled\n"
    both += "first, second = mine.made(1), mine.made(2)\n@compiled\ndef sum_of(x):\n"
    both += "    return first(x) * 1000 + second(x)\n"
    both += "print(sum_of(100))"
    for _ in range(2):
        assert process(tmp_path, program=both)[0] == ["101102"]


def test_options_of_a_function_are_part_of_what_it_is(tmp_path: Path) -> None:
    text = "import sys\nfrom neuralns.compiled.caching import compiled\ndef double(x):\n    return 1.0 / x\n"
    (tmp_path / "mine.py").write_text(text + "double = compiled(double, error_model=sys.argv[2])\n")
    program = "import sys\nsys.path.insert(0, sys.argv[1])\nimport mine\ntry:\n    print(mine.double(0.0))\n"
    program += "except ZeroDivisionError:\n    print('raised')"
    assert process(tmp_path, "numpy", program=program)[0] == ["inf"]
    assert process(tmp_path, "python", program=program)[0] == ["raised"]


def test_a_helper_compiled_in_several_versions_is_not_kept_as_one(tmp_path: Path) -> None:
    text = "from neuralns.compiled.caching import compiled\nK = 1\n@compiled\ndef h(x):\n    return x + K\n"
    (tmp_path / "mine.py").write_text(text + "@compiled\ndef f(x):\n    return h(x)\n")
    start = "import sys\nsys.path.insert(0, sys.argv[1])\nimport mine\n"
    process(tmp_path, program=start + "mine.h(3)\nmine.K = 2\nmine.h(3.0)\nmine.f(3)")
    assert process(tmp_path, program=start + "mine.K = 2\nprint(mine.f(3))")[0] == ["5"]


def test_a_folder_named_by_the_environment_serves_all_copies(tmp_path: Path) -> None:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "mine.py").write_text(MODULE.format(factor=2))
    folder = str(tmp_path / "cache")
    ours = (
        "import sys\nfrom neuralns.compiled.random import random_rank as f\nfrom neuralns.compiled.caching import *\n"
    )
    ours += "from neuralns.operators.registry import operator\nsaid = []\n"
    ours += (
        "with CompilationNotice(lambda: said.append('compiled')):\n    operator('random-node').compiled\nprint(*said)"
    )
    assert process(tmp_path / "one", program=ours, NUMBA_CACHE_DIR=folder)[0] == ["compiled"]
    package = tmp_path / "copy"
    shutil.copytree(Path(kept.__file__).parents[2], package, ignore=shutil.ignore_patterns("__pycache__", "*.policy"))
    assert process(tmp_path / "one", program=ours, NUMBA_CACHE_DIR=folder, PYTHONPATH=str(package))[0] == []
    assert {path.suffix for path in Path(folder).rglob("*") if path.is_file()} == {".nbc"}


def test_only_so_many_versions_of_a_function_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.py").write_text(
        "import sys" + MODULE.format(factor="int(sys.argv[2])").replace("int(", "K * int(")
    )
    text = "import sys\nK = int(sys.argv[2])\n" + MODULE.format(factor="K")
    (tmp_path / "mine.py").write_text(text)
    program = PROGRAM.replace(
        "import mine\n", "from neuralns.compiled import kept\nkept.MOST_VERSIONS = 3\nimport mine\n"
    )
    for number in range(5):
        process(tmp_path, str(number), program=program)
    assert len(list(tmp_path.rglob("mine.double-*.nbc"))) == 3
    assert run(tmp_path, "4") == ["84"]


def test_checks_of_bounds_asked_for_later_have_an_effect(tmp_path: Path) -> None:
    text = "import numpy as np\nA = np.arange(3)" + MODULE.format(factor="A[value]")
    (tmp_path / "mine.py").write_text(text)
    run(tmp_path)
    with pytest.raises(subprocess.CalledProcessError) as failed:
        run(tmp_path, NUMBA_BOUNDSCHECK="1")
    assert "IndexError" in failed.value.stderr


def kept_in(folder: Path) -> Path:
    (path,) = folder.rglob("mine.double-*.nbc")
    return path


def flip(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


@pytest.mark.parametrize(
    "damage", [lambda content: b"", lambda content: b"nonsense", lambda content: content[:-9], flip]
)
def test_what_is_damaged_on_the_disk_is_never_run_but_compiled_anew(
    tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    (tmp_path / "mine.py").write_text(MODULE.format(factor=2))
    run(tmp_path)
    path = kept_in(tmp_path)
    path.write_bytes(damage(path.read_bytes()))
    words, warnings = process(tmp_path)
    assert words == ["42", "compiled"]
    assert f"{path}: compiled code kept there is damaged" in warnings
    assert run(tmp_path) == ["42"]


WITHOUT_A_PLACE = """
import pathlib
def refuse(self, *arguments, **options):
    raise OSError(30, "Read-only file system")
pathlib.Path.mkdir = refuse
"""
FULL = """
from neuralns.compiled import kept
def refuse(path, content):
    raise OSError(28, "No space left on device")
kept._write = refuse
"""
UNREADABLE = """
from neuralns.compiled import kept
def refuse(path):
    raise PermissionError(13, "Permission denied")
kept._read_checked = refuse
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
    (tmp_path / "__pycache__").mkdir()
    words, warnings = process(tmp_path, program=disk + PROGRAM)
    assert words == ["42", "compiled"]
    assert warnings.count(f"compiled code cannot be kept on disk ({why}) and is compiled each time") == 1


posix = pytest.mark.skipif(os.name != "posix", reason="rights are lists here")


@posix
@pytest.mark.parametrize("target", ["folder", "file", "above"])
def test_code_that_others_may_write_is_not_run(tmp_path: Path, target: str) -> None:
    folder = tmp_path / "above"
    folder.mkdir()
    (folder / "mine.py").write_text(MODULE.format(factor=2))
    run(folder)
    open_to_all = {"folder": folder / "__pycache__", "file": kept_in(folder), "above": folder}[target]
    open_to_all.chmod(0o777)
    words, warnings = process(folder)
    assert words == ["42", "compiled"]
    assert "compiled code there is not used, since others may write to it" in warnings
    open_to_all.chmod(0o755)
    assert run(folder) == ["42"]


@posix
def test_a_folder_of_everybodys_that_the_environment_names_is_refused_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(MODULE.format(factor=2))
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    words, warnings = process(tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "open"))
    assert words == ["42", "compiled"]
    assert "open/neuralns: compiled code there is not used, since others may write to it" in warnings
    assert "no folder can be written to" not in warnings


@posix
def test_a_folder_may_lie_in_one_where_everybody_owns_what_is_theirs(tmp_path: Path) -> None:
    tmp_path.chmod(0o1777)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "mine.py").write_text(MODULE.format(factor=2))
    run(tmp_path / "mine")
    assert run(tmp_path / "mine") == ["42"]


@posix
def test_code_beside_the_source_is_read_where_it_cannot_be_written(tmp_path: Path) -> None:
    """In an image, root has compiled, and another user runs."""
    (tmp_path / "mine.py").write_text(MODULE.format(factor=2))
    run(tmp_path)
    locked = "import os\naccess = os.access\nos.access = lambda path, mode: not mode & os.W_OK and access(path, mode)\n"
    assert process(tmp_path, program=locked + PROGRAM)[0] == ["42"]
