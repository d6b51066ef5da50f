"""The five problems that selectors are compared on, and the comparison in its shortest form."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from neuralns.experiments.store import read_rows, rows_text

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _from_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))


def what_it_holds(state: Any) -> Counter[int]:
    """All that a solution must hold whatever the operators do; routes and schedules are checked for their rules."""
    if hasattr(state, "routes"):
        assert all(state.load(route) <= state.customers.capacity for route in state.routes)
        return Counter(node for route in state.routes for node in route)
    if hasattr(state, "beams"):
        assert max(map(sum, state.beams)) <= 1000
        return Counter(piece for beam in state.beams for piece in beam)
    if hasattr(state, "project"):
        place = {activity: index for index, activity in enumerate(state.order)}
        assert all(place[a] < place[b] for b, before in enumerate(state.project.before) for a in before)
        assert state.use().max() <= 1
    return Counter(state.order)


@pytest.mark.parametrize("name", ["routing", "cutting", "flow_shop", "projects", "salesman"])
def test_every_pair_of_operators_leaves_a_whole_solution(name: str) -> None:
    problem = importlib.import_module(f"benchmarks.alns.{name}").PROBLEM
    start = problem.initial(1000)
    whole, cost = what_it_holds(start), start.objective()
    rng = np.random.default_rng(1)
    for destroy in problem.destroys.values():
        for repair in problem.repairs.values():
            candidate = repair(destroy(start, rng), rng)
            assert what_it_holds(candidate) == whole
            assert not candidate.missing
            assert np.isfinite(candidate.get_context()).all()
    assert (what_it_holds(start), start.objective()) == (whole, cost)


def test_the_makespan_of_a_flow_shop_is_that_of_its_definition() -> None:
    module = importlib.import_module("benchmarks.alns.flow_shop")
    times = np.random.default_rng(1).integers(1, 9, (5, 3))
    order, job = [2, 0, 4, 1], 3
    spans = [module.Order(times, [*order[:k], job, *order[k:]], []).objective() for k in range(5)]
    assert module.best_place(times, order, job) == (min(spans), int(np.argmin(spans)))
    assert module.Order(times[:1], [0], []).objective() == times[0].sum()


def test_the_comparison_in_its_shortest_form(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "benchmarks.alns.compare", "--quick", "--out", str(tmp_path / "runs.csv")]
    command += ["--problems", "cutting", "flow shop", "--selectors", "RandomSelect", "MABSelector, LinUCB"]
    command += ["online", "trained"]
    for _ in range(2):
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert "cutting    online against " in done.stdout
        assert len((tmp_path / "runs.csv").read_text().splitlines()) == 1 + 8


def test_the_policies_of_the_comparison_are_for_its_problems() -> None:
    compare = importlib.import_module("benchmarks.alns.compare")
    for problem in compare.PROBLEMS.values():
        alns = problem.make_alns(np.random.default_rng(1))
        selector = compare.LearnedSelector.load(compare.policy_of(problem), alns=alns)
        state = problem.initial(1000)
        selector(np.random.default_rng(1), state, state)


def test_the_page_has_the_figures_of_the_results() -> None:
    compare = importlib.import_module("benchmarks.alns.compare")
    rows = read_rows(ROOT / "benchmarks" / "results" / "alns" / "1s.csv", compare.Run)
    assert rows_text(rows) == (ROOT / "benchmarks" / "results" / "alns" / "1s.csv").read_text(encoding="utf-8")
    costs: dict[str, dict[str, dict[int, float]]] = {}
    for row in rows:
        costs.setdefault(row.problem, {}).setdefault(row.selector, {})[row.seed] = row.cost
    page = (ROOT / "docs" / "bridges.md").read_text(encoding="utf-8")
    for name in [*compare.OWN, compare.ONLINE, compare.TRAINED]:
        shown = [line.split("|")[2:-1] for line in page.splitlines() if line.startswith(f"| {name} |")]
        if name not in costs["routing"]:
            assert not shown
            continue
        means = [compare.above(costs[problem], name).mean() for problem in compare.PROBLEMS]
        cells = [f"{round(mean, 2) + 0.0:+.2f}" for mean in means]
        assert [[cell.strip() for cell in line] for line in shown] == [cells]
