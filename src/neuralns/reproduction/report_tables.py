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
from neuralns.reproduction.tables import Cell, Estimate, Estimates


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


def number_blocks(estimates: Estimates, plan: Plan, published: Estimates) -> Iterable[Block]:
    """Give the tables of all experiments."""
    for experiment, layout in LAYOUTS.items():
        for setting, columns in product(settings_of(experiment), _columns(experiment)):
            statistics = {column.statistic for column in columns}
            if not any(
                (cell.experiment, cell.setting) == (experiment, setting) and cell.statistic in statistics
                for cell in estimates
            ):
                continue
            statistic = statistics.pop() if len(statistics) == 1 else ""
            yield Heading(3, f"{layout.title}{STATISTICS[statistic]}; setting {setting}")
            if experiment in ("table1", "table2") and setting == "paper":
                yield from _errors(estimates, plan, published, experiment, statistic)
            for instance in INSTANCES:
                yield Paragraph(f"Instance {instance}")
                yield _grid(estimates, plan, published, experiment, setting, instance, columns)


def _errors(estimates: Estimates, plan: Plan, published: Estimates, experiment: str, statistic: str) -> Iterable[Block]:
    """Say how far our figures are from the published ones, over the cells that have both."""

    def both(agent: str, least: int) -> list[tuple[float, float]]:
        cells = [
            Cell(experiment, "paper", instance, number, agent, statistic)
            for instance, number in product(INSTANCES, plan.destroys)
            if number >= least
        ]
        return [
            (estimates[cell].mean, published[cell].mean) for cell in cells if cell in estimates and cell in published
        ]

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
    estimates: Estimates, plan: Plan, published: Estimates, experiment: str, setting: str, instance: str,
    columns: Sequence[_Column],
) -> Table:  # fmt: skip
    """Return the figures of one instance, each with its published one if there are any, and their means."""
    layout = LAYOUTS[experiment]
    numbers = layout.numbers(plan)
    head = [layout.label]
    rows = [[f"{number:g}"] for number in numbers] + [["mean"]]
    for column in columns:
        cells = [Cell(experiment, setting, instance, number, column.agent, column.statistic) for number in numbers]
        ours, theirs = ([source.get(cell) for cell in cells] for source in (estimates, published))
        ours, theirs = [*ours, _mean(ours)], [*theirs, _mean(theirs)]
        head.append(column.name)
        for row, estimate in zip(rows, ours, strict=True):
            row.append(_figure(estimate))
        if any(theirs):
            head += [f"{column.name}, published", "difference"]
            for row, estimate, other in zip(rows, ours, theirs, strict=True):
                row += [_figure(other), signed(estimate.mean - other.mean) if estimate and other else NONE]
    if experiment == "temperature":
        rows.pop()
    return Table(tuple(head), tuple(tuple(row) for row in rows))


def _mean(column: Sequence[Estimate | None]) -> Estimate | None:
    """Return the mean of a column without gaps."""
    means = [estimate.mean for estimate in column if estimate]
    return Estimate(float(np.mean(means)), math.nan, ()) if means and len(means) == len(column) else None


def significance_blocks(estimates: Estimates, plan: Plan) -> Iterable[Block]:
    """Compare the DQN with LRW and FIXED, and the agent that looks ahead with FIXED, in each cell and over all."""
    yield Paragraph(
        "Differences with p in brackets: Welch's t-test over seeds, corrected by Holm for all cells of the table and "
        "setting. Over all cells of a table: Wilcoxon signed-rank test of the differences of means; cells share "
        "instances and operators, so take that p as a guide."
    )
    for experiment, statistic in (("table1", ""), ("table2", "avg")):
        for setting in settings_of(experiment):
            found = {
                (first, other): compare_agents(estimates, experiment, setting, first, other, statistic)
                for first, other in (("DQN", "LRW"), ("DQN", "FIXED"), ("AHEAD", "FIXED"))
            }
            if not any(found.values()):
                continue
            yield Heading(3, f"{LAYOUTS[experiment].title}{STATISTICS[statistic]}; setting {setting}")
            head = [f"{instance}: {first} − {other}" for instance, (first, other) in product(INSTANCES, found)]
            rows = []
            for number in plan.destroys:
                row = [
                    each.get(Cell(experiment, setting, instance, number, first, statistic))
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


def _figure(estimate: Estimate | None) -> str:
    if estimate is None:
        return NONE
    return f"{estimate.mean:.1f}" + ("" if math.isnan(estimate.ci) else f" ± {estimate.ci:.1f}")


def _p(value: float) -> str:
    return NONE if math.isnan(value) else "< 0.001" if value < 0.001 else f"{value:.3f}"
