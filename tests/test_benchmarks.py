"""Scripts of the folder ``benchmarks``."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
from benchmarks.ahead_dqn import rows_of

from neuralns.mdp.baselines import best_fixed_pair
from neuralns.mdp.labels import plan_probes
from neuralns.mdp.lanes import Lanes, Tours
from neuralns.mdp.mdp import episode_seeds, make_mdp
from neuralns.selection.features import RICH

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


def test_rows_are_those_of_labelled_states() -> None:
    mdp = make_mdp("C101", customers=20, setting="paper", portfolio="random-node,greedy-route,greedy,regret-2")
    _, probes = plan_probes(mdp)
    lanes = Lanes([mdp] * 3, RICH)
    lanes.reset(Tours(mdp.start_tours("validate")[:3]), episode_seeds(1, 3))
    rows = rows_of(lanes, probes, RICH)
    assert rows.shape == (3, len(RICH.globals) + probes.width)
    assert np.array_equal(rows[:, : len(RICH.globals)], lanes.global_features)
    first = best_fixed_pair(mdp)
    lanes.play(first)
    index = probes.chains.index((first.destroy, first.repair))
    end = rows[:, len(RICH.globals) + 2 + 4 * index]
    assert np.allclose(end, lanes.costs / lanes.start_costs, rtol=1e-5)
