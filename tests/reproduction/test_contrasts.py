"""Figures compared: which pairs, and how their p is corrected."""

from __future__ import annotations

import math

import pytest
from scipy.stats import wilcoxon

import results
from neuralns.experiments.statistics import holm, welch
from neuralns.reproduction.contrasts import Contrast, compare_agents, contrasts, over_all
from neuralns.reproduction.tables import Cell, Estimate


def test_contrasts_are_corrected_for_those_that_could_be_tested() -> None:
    def estimate(*values: float) -> Estimate:
        return Estimate(sum(values) / len(values), 0.0, values)

    far, near, once = (Cell("table1", "paper", "C", number, "DQN") for number in (2, 3, 4))
    pairs = {
        far: (estimate(9.0, 10.0, 11.0), estimate(1.0, 2.0, 3.0)),
        near: (estimate(1.0, 2.0, 3.0), estimate(2.0, 3.5, 4.0)),
        once: (estimate(5.0), estimate(3.0)),
    }
    found = contrasts(pairs)
    raw = [welch(a.values, b.values) for a, b in (pairs[far], pairs[near])]
    assert [found[far].p, found[near].p] == pytest.approx(holm(raw))
    assert (found[far].significant, found[near].significant, found[once].significant) == (True, False, False)
    assert (found[far].difference, found[once].difference) == (8.0, 2.0)
    assert math.isnan(found[once].p)


def test_agents_are_compared_where_both_are() -> None:
    gap = results.without(lambda cell: (cell.number, cell.agent) == (7, "LRW"))
    estimates = results.make_tables(gap).estimates
    found = compare_agents(estimates, "table1", "paper", "DQN", "LRW")
    assert set(found) == {
        Cell("table1", "paper", i, n, "DQN") for i in ("C", "R", "RC") for n in range(2, 13) if n != 7
    }
    cell = Cell("table1", "paper", "R", 12, "DQN")
    assert found[cell].difference == estimates[cell].mean - estimates[cell.of("LRW")].mean
    cell = Cell("table2", "distance", "C", 3, "DQN", "min")
    average = compare_agents(estimates, "table2", "distance", "DQN", "FIXED", "min")[cell]
    assert average.difference == estimates[cell].mean - estimates[cell.of("FIXED")].mean


def test_the_test_over_all_cells_is_wilcoxons() -> None:
    moves = [1.0, -2.0, 3.0, 4.0, 5.5, -0.5, 7.0, 0.0]
    found = [Contrast(move, math.nan) for move in moves]
    assert over_all(found) == pytest.approx(wilcoxon([move for move in moves if move]).pvalue)
    assert over_all([Contrast(1.0, 0.0)] * 33) < 0.001
    assert math.isnan(over_all([]))
    assert math.isnan(over_all([Contrast(0.0, 1.0)] * 33))
    assert math.isnan(over_all([Contrast(1.0, 0.0)] * 5))
