"""Which operators earn their place: the portfolio ``modern`` less each operator, and with each candidate added."""

from __future__ import annotations

from functools import partial

import numpy as np

from neuralns.experiments.contest import Contestant, Run
from neuralns.operators.registry import MODERN, MODERN_CANDIDATES, make_portfolio
from neuralns.problem.instance import Instance
from neuralns.search.solve import solve
from neuralns.search.stopping import MaxTime

BASE = "modern"


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


def contestants() -> dict[str, Contestant]:
    """Return a solver for each portfolio."""
    return {name: partial(_solve, operators) for name, operators in variants().items()}


def _solve(operators: tuple[str, ...], instance: Instance, seconds: float, seed: int) -> list[list[int]]:
    return solve(instance, MaxTime(seconds), portfolio=make_portfolio("variant", operators), seed=seed).routes


def changes(runs: list[Run]) -> list[tuple[str, float, float, float]]:
    """Return for each variant its mean gap, the mean change against ``modern``, and the 95 % interval of the change.

    Gaps are in per cent of the best known cost, or of the least cost in these runs where none is known. Changes are
    paired: the same instance and seed.
    """
    least: dict[str, float] = {}
    for run in runs:
        known = run.cost if np.isnan(run.best_known) else run.best_known
        least[run.instance] = min(known, least.get(run.instance, np.inf))
    gaps = {run: 100.0 * (run.cost / least[run.instance] - 1.0) for run in runs}
    base = {(run.instance, run.seed): gaps[run] for run in runs if run.solver == BASE}
    rows = []
    for name in dict.fromkeys(run.solver for run in runs):
        own = [run for run in runs if run.solver == name]
        differences = np.array([gaps[run] - base[run.instance, run.seed] for run in own])
        spread = 1.96 * differences.std(ddof=1) / np.sqrt(len(differences)) if len(differences) > 1 else 0.0
        rows.append((name, float(np.mean([gaps[run] for run in own])), float(differences.mean()), float(spread)))
    return rows
