"""Figures compared: which pairs, and how their p is corrected."""

from __future__ import annotations

import math

import pytest
from scipy.stats import wilcoxon

import results
from neuralns.experiments.statistics import holm, welch
from neuralns.reproduction.contrasts import Contrast, compare_agents, contrasts, over_all
from neuralns.reproduction.tables import Cell, Place


def test_contrasts_are_corrected_for_those_that_could_be_tested() -> None:
    def cell(*values: float) -> Cell:
        return Cell(sum(values) / len(values), 0.0, values)

    far, near, once = (Place("table1", "paper", "C", number, "DQN") for number in (2, 3, 4))
    pairs = {
        far: (cell(9.0, 10.0, 11.0), cell(1.0, 2.0, 3.0)),
        near: (cell(1.0, 2.0, 3.0), cell(2.0, 3.5, 4.0)),
        once: (cell(5.0), cell(3.0)),
    }
    found = contrasts(pairs)
    raw = [welch(a.values, b.values) for a, b in (pairs[far], pairs[near])]
    assert [found[far].p, found[near].p] == pytest.approx(holm(raw))
    assert (found[far].significant, found[near].significant, found[once].significant) == (True, False, False)
    assert (found[far].difference, found[once].difference) == (8.0, 2.0)
    assert math.isnan(found[once].p)


def test_agents_are_compared_where_both_are() -> None:
    gap = results.without(lambda place: (place.number, place.agent) == (7, "LRW"))
    cells = results.make_tables(gap).cells
    found = compare_agents(cells, "table1", "paper", "DQN", "LRW")
    assert set(found) == {
        Place("table1", "paper", i, n, "DQN") for i in ("C", "R", "RC") for n in range(2, 13) if n != 7
    }
    place = Place("table1", "paper", "R", 12, "DQN")
    assert found[place].difference == cells[place].mean - cells[place.of("LRW")].mean
    place = Place("table2", "distance", "C", 3, "DQN", "min")
    average = compare_agents(cells, "table2", "distance", "DQN", "FIXED", "min")[place]
    assert average.difference == cells[place].mean - cells[place.of("FIXED")].mean


def test_the_test_over_all_cells_is_wilcoxons() -> None:
    moves = [1.0, -2.0, 3.0, 4.0, 5.5, -0.5, 7.0, 0.0]
    found = [Contrast(move, math.nan) for move in moves]
    assert over_all(found) == pytest.approx(wilcoxon([move for move in moves if move]).pvalue)
    assert over_all([Contrast(1.0, 0.0)] * 33) < 0.001
    assert math.isnan(over_all([]))
    assert math.isnan(over_all([Contrast(0.0, 1.0)] * 33))
    assert math.isnan(over_all([Contrast(1.0, 0.0)] * 5))
