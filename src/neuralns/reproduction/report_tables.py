"""The tables of the report: our numbers with the published ones beside them, and tests between agents."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from neuralns.reproduction.claims import LARGE, signed
from neuralns.reproduction.contrasts import compare_agents, over_all
from neuralns.reproduction.document import Block, Bullets, Heading, Paragraph, Table
from neuralns.reproduction.layout import LAYOUTS, NONE, STATISTICS
from neuralns.reproduction.plan import INSTANCES, Plan, settings_of
from neuralns.reproduction.tables import Cell, Cells, Place


@dataclass(frozen=True)
class _Column:
    """What a column of numbers is called, and of whom they are."""

    name: str
    agent: str
    statistic: str


def _columns(experiment: str) -> list[list[_Column]]:
    """Return the columns of each table of an experiment: those of all agents, or of the statistics of one."""
    layout = LAYOUTS[experiment]
    if len(layout.agents) == 1:
        return [[_Column(statistic, layout.agents[0], statistic) for statistic in layout.statistics]]
    return [[_Column(agent, agent, statistic) for agent in layout.agents] for statistic in layout.statistics]


def number_blocks(cells: Cells, plan: Plan, published: Cells) -> Iterable[Block]:
    """Give the tables of all experiments."""
    for experiment, layout in LAYOUTS.items():
        for setting, columns in product(settings_of(experiment), _columns(experiment)):
            statistics = {column.statistic for column in columns}
            if not any(
                (place.experiment, place.setting) == (experiment, setting) and place.statistic in statistics
                for place in cells
            ):
                continue
            statistic = statistics.pop() if len(statistics) == 1 else ""
            yield Heading(3, f"{layout.title}{STATISTICS[statistic]}; setting {setting}")
            if experiment in ("table1", "table2") and setting == "paper":
                yield from _errors(cells, plan, published, experiment, statistic)
            for instance in INSTANCES:
                yield Paragraph(f"Instance {instance}")
                yield _grid(cells, plan, published, experiment, setting, instance, columns)


def _errors(cells: Cells, plan: Plan, published: Cells, experiment: str, statistic: str) -> Iterable[Block]:
    """Say how far our figures are from the published ones, over the cells that have both."""

    def both(agent: str, least: int) -> list[tuple[float, float]]:
        places = [
            Place(experiment, "paper", instance, number, agent, statistic)
            for instance, number in product(INSTANCES, plan.destroys)
            if number >= least
        ]
        return [(cells[place].mean, published[place].mean) for place in places if place in cells and place in published]

    rows = []
    for agent in LAYOUTS[experiment].agents:
        for least in (2, LARGE):
            pairs = both(agent, least)
            if pairs:
                ours, theirs = np.array(pairs).T
                rows.append((
                    agent, f"|D| ≥ {least}", str(len(pairs)), f"{ours.mean():.1f}", f"{theirs.mean():.1f}",
                    signed(float((ours - theirs).mean())), f"{np.abs(ours - theirs).mean():.1f}",
                ))  # fmt: skip
    yield Paragraph("Over C, R and RC, ours against the published numbers:")
    head = ("agent", "cells with", "cells", "our mean", "published mean", "difference", "mean absolute error")
    yield Table(head, tuple(rows), 2)


def _grid(
    cells: Cells, plan: Plan, published: Cells, experiment: str, setting: str, instance: str,
    columns: Sequence[_Column],
) -> Table:  # fmt: skip
    """Return the figures of one instance, each with its published one if there are any, and their means."""
    layout = LAYOUTS[experiment]
    numbers = layout.numbers(plan)
    head = [layout.label]
    rows = [[f"{number:g}"] for number in numbers] + [["mean"]]
    for column in columns:
        places = [Place(experiment, setting, instance, number, column.agent, column.statistic) for number in numbers]
        ours, theirs = ([source.get(place) for place in places] for source in (cells, published))
        ours, theirs = [*ours, _mean(ours)], [*theirs, _mean(theirs)]
        head.append(column.name)
        for row, cell in zip(rows, ours, strict=True):
            row.append(_figure(cell))
        if any(theirs):
            head += [f"{column.name}, published", "difference"]
            for row, cell, other in zip(rows, ours, theirs, strict=True):
                row += [_figure(other), signed(cell.mean - other.mean) if cell and other else NONE]
    if experiment == "temperature":
        rows.pop()
    return Table(tuple(head), tuple(tuple(row) for row in rows))


def _mean(column: Sequence[Cell | None]) -> Cell | None:
    """Return the mean of a column without gaps."""
    means = [cell.mean for cell in column if cell]
    return Cell(float(np.mean(means)), math.nan, ()) if means and len(means) == len(column) else None


def significance_blocks(cells: Cells, plan: Plan) -> Iterable[Block]:
    """Compare the DQN with LRW and FIXED, and the agent that looks ahead with FIXED, in each cell and over all."""
    yield Paragraph(
        "Differences with p in brackets: Welch's t-test over seeds, corrected by Holm for all cells of the table and "
        "setting. Over all cells of a table: Wilcoxon signed-rank test of the differences of means; cells share "
        "instances and operators, so take that p as a guide."
    )
    for experiment, statistic in (("table1", ""), ("table2", "avg")):
        for setting in settings_of(experiment):
            found = {
                (first, other): compare_agents(cells, experiment, setting, first, other, statistic)
                for first, other in (("DQN", "LRW"), ("DQN", "FIXED"), ("AHEAD", "FIXED"))
            }
            if not any(found.values()):
                continue
            yield Heading(3, f"{LAYOUTS[experiment].title}{STATISTICS[statistic]}; setting {setting}")
            head = [f"{instance}: {first} − {other}" for instance, (first, other) in product(INSTANCES, found)]
            rows = []
            for number in plan.destroys:
                row = [
                    each.get(Place(experiment, setting, instance, number, first, statistic))
                    for instance, ((first, _), each) in product(INSTANCES, found.items())
                ]
                rows.append((str(number), *(f"{signed(c.difference)} ({_p(c.p)})" if c else NONE for c in row)))
            yield Table(("|D|", *head), tuple(rows))
            yield Bullets(
                tuple(
                    f"{first} − {other} over {len(each)} cells: "
                    f"{signed(float(np.mean([contrast.difference for contrast in each.values()])))} on average, "
                    f"Wilcoxon p {_p(over_all(each.values()))}."
                    for (first, other), each in found.items()
                    if each
                )
            )


def _figure(cell: Cell | None) -> str:
    if cell is None:
        return NONE
    return f"{cell.mean:.1f}" + ("" if math.isnan(cell.ci) else f" ± {cell.ci:.1f}")


def _p(value: float) -> str:
    return NONE if math.isnan(value) else "< 0.001" if value < 0.001 else f"{value:.3f}"
