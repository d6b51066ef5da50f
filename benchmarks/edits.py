"""How long it takes from an edit until its tests pass, and what the edit compiles again.

The package and its tests are copied to a temporary folder and compiled there. Then a function of one file
after another is edited, and the tests of the file are run: once, which compiles, and once more, which does not.
Run: python benchmarks/edits.py [--keep FOLDER] [--only EDIT]; the folder keeps what is compiled before the edits.
Where the cores are not idle, look at the seconds of processor time.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]


class Edit(NamedTuple):
    """An edit of one file that changes nothing but machine code, and the tests that see to it."""

    what: str
    path: str
    old: str
    new: str
    tests: str
    goal: float


EDITS = [
    Edit(
        "operator", "operators/destroy/random.py", "while state.n_removed < quota:",
        "while state.n_removed + 1 <= quota:", "tests/operators/destroy/test_random.py", 10,
    ),
    Edit(
        "rule", "routes/rules/stops.py", "def violation(state, stops, vehicle):\n",
        "def violation(state, stops, vehicle):\n    edited = 1\n", "tests/routes/test_general.py", 30,
    ),
    Edit(
        "distance", "routes/rules/length.py", "def _computed(state, tail, head):\n",
        "def _computed(state, tail, head):\n    edited = 1\n", "tests/routes/test_general.py", 30,
    ),
    Edit(
        "selector", "selection/bandit.py", "np.cos(2.0 * np.pi * random(state))", "np.cos(np.pi * 2.0 * random(state))",
        "tests/selection/test_bandit.py", 15,
    ),
]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--keep", type=Path, help="folder of compiled code to begin with, and to leave there")
    parser.add_argument("--only", choices=[edit.what for edit in EDITS], help="one edit alone")
    arguments = parser.parse_args()
    keep, edits = arguments.keep, [edit for edit in EDITS if arguments.only in (None, edit.what)]
    with tempfile.TemporaryDirectory() as temporary:
        copy, cache = Path(temporary) / "copy", Path(temporary) / "cache"
        cache.mkdir()
        if keep is not None and keep.is_dir():
            shutil.copytree(keep, cache, dirs_exist_ok=True)
        for name in ("src", "tests"):
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", copy)
        first = {tests: tested(copy, cache, tests) for tests in dict.fromkeys(edit.tests for edit in edits)}
        if keep is not None:
            shutil.copytree(cache, keep, dirs_exist_ok=True)
        print(f"{'edit of':<10}{'file':<30}{'before':>8}{'after':>8}{'cpu':>8}{'again':>8}{'goal':>6}{'compiled':>10}")
        for edit in edits:
            path = copy / "src" / "neuralns" / edit.path
            source = path.read_text(encoding="utf-8")
            if edit.old not in source:
                sys.exit(f"{edit.path}: nothing reads {edit.old!r}; change the edit of this benchmark.")
            before = tested(copy, cache, edit.tests)  # all that it needs is compiled
            files = set(cache.rglob("*.nbc"))
            path.write_text(source.replace(edit.old, edit.new, 1), encoding="utf-8")
            begin = processor_time()
            after = tested(copy, cache, edit.tests)
            processor = processor_time() - begin
            new = len(set(cache.rglob("*.nbc")) - files)
            again = tested(copy, cache, edit.tests)
            path.write_text(source, encoding="utf-8")
            print(
                f"{edit.what:<10}{edit.path:<30}{before:8.1f}{after:8.1f}{processor:8.1f}{again:8.1f}{edit.goal:6.0f}{new:10}",
                flush=True,
            )
    told = ", ".join(f"{tests} {seconds:.1f}" for tests, seconds in first.items())
    print(f"seconds until the tests pass; the first time: {told}")


def processor_time() -> float:
    """Return the seconds of processor time that children have used."""
    times = os.times()
    return times.children_user + times.children_system


def tested(copy: Path, cache: Path, tests: str) -> float:
    """Run tests of the copy; return the seconds that they took."""
    begin = time.perf_counter()
    environment = {**os.environ, "PYTHONPATH": str(copy / "src"), "NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", tests]
    done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{tests} fails:\n{done.stdout[-3000:]}")
    return time.perf_counter() - begin


if __name__ == "__main__":
    main()
