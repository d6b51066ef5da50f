"""Ablation of the modern portfolio."""

from __future__ import annotations

from pathlib import Path

import pytest

from neuralns import read
from neuralns.experiments import ablation
from neuralns.experiments.ablation import BASE, Change, ablate, changes, variant_solvers, variants
from neuralns.experiments.solver_runs import SolverRun, run_solvers
from neuralns.operators.portfolio import MODERN, MODERN_CANDIDATES, make_portfolio


def test_each_operator_is_left_out_or_added_in_turn() -> None:
    found = variants()
    assert found[BASE] == MODERN
    assert len(found) == 1 + len(MODERN) + (len(MODERN_CANDIDATES) - len(MODERN)) + 1
    for name in MODERN:
        assert any(name not in operators and len(operators) <= len(MODERN) for operators in found.values())
    for operators in found.values():
        make_portfolio("variant", operators)


def test_variants_run_as_solvers(tmp_path: Path) -> None:
    chosen = {name: variant_solvers()[name] for name in (BASE, "− regret-2")}
    runs = run_solvers(chosen, [read("P-n16-k8")], 0.1, 1, tmp_path / "runs.csv")
    assert [run.gap for run in runs] == [0.0, 0.0]


def test_an_ablation_has_all_variants_and_their_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ablation, "MODERN_CANDIDATES", (*MODERN, "shaw"))
    found = ablate([read("P-n16-k8")], 0.02, [6], tmp_path / "runs.csv", workers=2)
    assert [change.portfolio for change in found.changes] == list(variants())
    assert [(run.solver, run.seed) for run in found.runs] == [(name, 6) for name in variants()]
    # One run has no interval, and NaN is not equal to itself.
    assert repr(list(found.changes)) == repr(changes(found.runs))


def test_changes_are_paired_by_instance_and_seed() -> None:
    def run(solver: str, seed: int, gap: float, known: float = 100.0) -> SolverRun:
        return SolverRun("a", 5, solver, 1.0, seed, 100.0 + gap, known, gap, 1, True, 1.0)

    rows = changes([run(BASE, 1, 1.0), run(BASE, 2, 5.0), run("other", 1, 2.0), run("other", 2, 6.0)])
    assert rows[0].portfolio == BASE
    assert (rows[0].gap, rows[0].change, rows[0].ci) == pytest.approx((3.0, 0.0, 0.0))
    assert rows[1].portfolio == "other"
    assert (rows[1].gap, rows[1].change, rows[1].ci) == pytest.approx((4.0, 1.0, 0.0))


def test_intervals_of_changes_are_over_instances() -> None:
    def run(solver: str, instance: str, seed: int, gap: float) -> SolverRun:
        return SolverRun(instance, 5, solver, 1.0, seed, 100.0 + gap, 100.0, gap, 1, True, 1.0)

    def changed(seeds: int) -> Change:
        made = [run(BASE, instance, seed, 1.0) for instance in "ab" for seed in range(seeds)]
        made += [
            run("other", instance, seed, gap) for instance, gap in (("a", 2.0), ("b", 4.0)) for seed in range(seeds)
        ]
        return changes(made)[1]

    # Student's t for one degree of freedom at 97.5 % is 12.7062; the changes are 1 and 3.
    assert (changed(3).change, changed(3).ci) == pytest.approx((2.0, 12.7062), rel=1e-5)
    assert changed(3).ci == pytest.approx(changed(30).ci)


def test_the_least_cost_of_all_runs_stands_in_for_an_unknown_best() -> None:
    runs = [
        SolverRun("a", 5, solver, 1.0, 1, cost, float("nan"), float("nan"), 1, True, 1.0)
        for solver, cost in ((BASE, 102.0), ("other", 100.0))
    ]
    assert [row.gap for row in changes(runs)] == pytest.approx([2.0, 0.0])
