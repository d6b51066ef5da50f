"""Scripts of the folder ``benchmarks``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CUT_SHORT = """
import sys
from dataclasses import replace
from math import inf
from pathlib import Path
sys.path.insert(0, sys.argv[2])
import choice, neuralns
solve = neuralns.solve
neuralns.solve = lambda *given, **how: replace(solve(*given, **how), stopped_by=sys.argv[3])
choice.run(Path(sys.argv[1]), ["before"], 0.01, 1, inf, ["cvrp"], [100], 101)
"""


def test_a_search_that_a_signal_has_cut_short_is_no_row(tmp_path: Path) -> None:
    folder = Path(__file__).parents[1] / "benchmarks"
    found = []
    for stopped_by in ("SIGINT", "time"):
        table = tmp_path / f"{stopped_by}.csv"
        command = [sys.executable, "-c", CUT_SHORT, str(table), str(folder), stopped_by]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
        found.append((done.returncode != 0, "stopped by SIGINT" in done.stderr, len(table.read_text().splitlines())))
    assert found == [(True, True, 1), (False, False, 2)]
