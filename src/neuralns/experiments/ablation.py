"""Which operators earn their place: the portfolio ``modern`` less each operator, and with each candidate added."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from neuralns.experiments.machine import core_numbers
from neuralns.experiments.solver_runs import Notify, Solver, SolverRun, run_solvers
from neuralns.experiments.statistics import mean_by_instance
from neuralns.operators.portfolio import MODERN, MODERN_CANDIDATES, make_portfolio
from neuralns.problem.instance import Instance
from neuralns.search.solve import solve
from neuralns.search.stopping import MaxTime

BASE = "modern"


@dataclass(frozen=True)
class Change:
    """What a change of the portfolio does.

    Attributes
    ----------
    gap
        Mean, in per cent of the best known cost, or of the least cost in these runs where none is known.
    change, ci
        Mean change of the gap against ``modern``, on the same instances with the same seeds, and half of its 95 %
        interval over instances (`mean_by_instance`); NaN if there is one run only.
    """

    portfolio: str
    gap: float
    change: float
    ci: float


@dataclass(frozen=True)
class Ablation:
    """All runs, and what each change does."""

    runs: tuple[SolverRun, ...]
    changes: tuple[Change, ...]


def ablate(
    instances: Sequence[Instance],
    seconds: float,
    seeds: int | Sequence[int],
    path: Path,
    *,
    workers: int = 1,
    notify: Notify = lambda run, done, total: None,
) -> Ablation:
    """Run every variant of ``modern`` on every instance with every seed, unless the file has that run.

    With several workers each has a core of its own, where there are as many.
    """
    available = core_numbers()
    cores: list[int | None] = [*available[:workers]] if len(available) >= workers else [None] * workers
    runs = run_solvers(variant_solvers(), instances, seconds, seeds, path, cores, notify)
    return Ablation(tuple(runs), tuple(changes(runs)))


def variants() -> dict[str, tuple[str, ...]]:
    """Return the portfolios to compare, by what changes against ``modern``.

    Without its only destroy operator a portfolio cannot search; there, random-node stands in.
    """
    found: dict[str, tuple[str, ...]] = {BASE: MODERN}
    for name in MODERN:
        left = tuple(other for other in MODERN if other != name)
        if name == "string":
            found["string → random-node"] = (*left, "random-node")
        else:
            found[f"− {name}"] = left
    for name in MODERN_CANDIDATES:
        if name not in MODERN:
            found[f"+ {name}"] = (*MODERN, name)
    found["all candidates"] = MODERN_CANDIDATES
    return found


def variant_solvers() -> dict[str, Solver]:
    """Return a solver for each portfolio."""
    return {name: partial(_solve, operators) for name, operators in variants().items()}


def _solve(operators: tuple[str, ...], instance: Instance, seconds: float, seed: int) -> list[list[int]]:
    return solve(instance, MaxTime(seconds), portfolio=make_portfolio("variant", operators), seed=seed).routes


def changes(runs: Sequence[SolverRun]) -> list[Change]:
    """Return what each variant changes; see ``Change``."""
    least: dict[str, float] = {}
    for run in runs:
        known = run.cost if np.isnan(run.best_known) else run.best_known
        least[run.instance] = min(known, least.get(run.instance, np.inf))
    gaps = {run: 100.0 * (run.cost / least[run.instance] - 1.0) for run in runs}
    base = {(run.instance, run.seed): gaps[run] for run in runs if run.solver == BASE}
    rows = []
    for name in dict.fromkeys(run.solver for run in runs):
        own = [run for run in runs if run.solver == name]
        differences: dict[str, list[float]] = {}
        for run in own:
            differences.setdefault(run.instance, []).append(gaps[run] - base[run.instance, run.seed])
        change, ci = mean_by_instance(list(differences.values()))
        rows.append(Change(name, float(np.mean([gaps[run] for run in own])), change, ci))
    return rows
