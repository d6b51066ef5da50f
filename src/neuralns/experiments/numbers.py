"""The numbers of the report: tables with the published ones beside ours, tests between agents, and figures."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from neuralns import plot
from neuralns.experiments.claims import LARGE, Cell, Cells, agents, over_all, signed
from neuralns.experiments.document import Block, Bullets, Heading, Paragraph, Picture, Table
from neuralns.experiments.paper import INSTANCES, Plan, settings_of
from neuralns.experiments.published import published_objectives, published_rewards
from neuralns.mdp.evaluate import confidence

NONE = "–"
AGENTS = ("DQN", "LRW", "RAN", "FIXED", "ORACLE", "CRW")
"""In the order in which figures give them their looks."""


@dataclass(frozen=True)
class Kind:
    """What the tables and figures of an experiment look like.

    Attributes
    ----------
    title, value
        What it is about, and what its figures are.
    axis, label
        The field of the plan that has the numbers that vary, and what they are called.
    columns, statistics
        The names beside these numbers in the keys of the results.
    """

    title: str
    value: str
    axis: str
    label: str
    columns: tuple[str, ...]
    statistics: tuple[tuple[str, ...], ...] = ((),)


KINDS = {
    "table1": Kind("Table 1, rewards in the MDP", "mean reward", "destroys", "|D|", AGENTS[:5]),
    "table2": Kind(
        "Table 2, F in ALNS", "F", "destroys", "|D|", ("DQN", "LRW", "RAN", "CRW", "FIXED"), (("avg",), ("min",))
    ),
    "scaling": Kind("Larger instances, GNN trained at n = 20", "mean reward", "sizes", "n", AGENTS[:4]),
    "scale": Kind("Destroy scales, |D| = 12", "mean reward", "scales", "d", AGENTS[:4]),
    "temperature": Kind("Temperatures in ALNS, |D| = 12", "F", "temperatures", "τ", ("avg", "min")),
}
STATISTICS = {(): "", ("avg",): ", average over a run", ("min",): ", best of a run"}


def published_cells() -> dict[tuple[Any, ...], Cell]:
    """Return the published numbers under experiment, instance, |D|, agent and statistic."""
    found: dict[tuple[Any, ...], Cell] = {
        ("table1", row.instance, row.destroy_operators, row.agent): Cell(row.mean_reward, row.ci, ())
        for row in published_rewards()
    }
    for row in published_objectives():
        key = ("table2", row.instance, row.destroy_operators, row.agent, row.statistic)
        found[key] = Cell(row.objective, math.nan, ())
    return found


# --- Figures. ---------------------------------------------------------------------------------------------------------


def pictures(cells: Cells, plan: Plan, published: Cells, experiment: str) -> Iterable[Block]:
    """Give the figures of an experiment, those of setting paper with published lines where there are some."""
    kind = KINDS[experiment]
    if experiment == "temperature":
        lines = {f"setting {setting}": _temperature_lines(cells, plan, setting) for setting in settings_of(experiment)}
        shown = {name: panel for name, panel in lines.items() if any(panel.values())}
        if shown:
            title = "DQN in ALNS: F over the temperature, mean of the instances; lower is better"
            yield Picture(experiment, title, plot.panels(shown, title, "τ", "F", log=True, one_scale=False))
        return
    best = "lower" if kind.value == "F" else "higher"
    across = {"|D|": "destroy operators |D|", "n": "customers n", "d": "destroy scale d"}[kind.label]
    for setting in settings_of(experiment):
        panels = _agent_lines(cells, plan, kind, experiment, setting)
        if any(line for panel in panels.values() for line in panel.values()):
            title = f"{kind.title}{STATISTICS[kind.statistics[0]]}; setting {setting}, {best} is better"
            behind = _agent_lines(published, plan, kind, experiment) if setting == "paper" else None
            # Without the cost of tours the instances differ by more than the agents do.
            one = setting == "paper"
            figure = plot.panels(panels, title, across, kind.value, behind=behind, one_scale=one)
            yield Picture(f"{experiment}-{setting}", title, figure)


def _agent_lines(source: Cells, plan: Plan, kind: Kind, *head: str) -> dict[str, plot.Lines]:
    """Return the lines of all agents for each instance, from the cells whose keys begin with ``head``."""
    place = len(head) + 1

    def line(instance: str, agent: str) -> list[tuple[float, float, float]]:
        keys = [(*head, instance, number, agent, *kind.statistics[0]) for number in getattr(plan, kind.axis)]
        return [(key[place], source[key].mean, source[key].ci) for key in keys if key in source]

    return {instance: {agent: line(instance, agent) for agent in AGENTS} for instance in INSTANCES}


def _temperature_lines(cells: Cells, plan: Plan, setting: str) -> plot.Lines:
    """Return F averaged over the instances, seed by seed; a temperature that lacks an instance is left out."""
    lines: dict[str, list[tuple[float, float, float]]] = {"average over a run": [], "best of a run": []}
    for (name, points), value in product(zip(("avg", "min"), lines.values(), strict=True), plan.temperatures):
        found = [cells.get(("temperature", setting, instance, value, name)) for instance in INSTANCES]
        seeds = [cell.values for cell in found if cell]
        if len(seeds) == len(INSTANCES) and len({len(each) for each in seeds}) == 1 and seeds[0]:
            means = np.mean(seeds, axis=0)
            points.append((value, float(means.mean()), confidence(means)))
    return lines


# --- Tables. ----------------------------------------------------------------------------------------------------------


def number_blocks(cells: Cells, plan: Plan, published: Cells) -> Iterable[Block]:
    """Give the tables of all experiments."""
    for experiment, kind in KINDS.items():
        for setting, statistic in product(settings_of(experiment), kind.statistics):
            if not any(key[:2] == (experiment, setting) and key[5:] == statistic for key in cells):
                continue
            beside = published if setting == "paper" else {}
            yield Heading(3, f"{kind.title}{STATISTICS[statistic]}; setting {setting}")
            if experiment in ("table1", "table2") and setting == "paper":
                yield from _errors(cells, plan, published, experiment, statistic)
            for instance in INSTANCES:
                yield Paragraph(f"Instance {instance}")
                yield _grid(cells, plan, beside, experiment, setting, instance, statistic)


def _errors(cells: Cells, plan: Plan, published: Cells, experiment: str, statistic: tuple[str, ...]) -> Iterable[Block]:
    """Say how far our figures are from the published ones, over the cells that have both."""

    def both(agent: str, least: int) -> list[tuple[float, float]]:
        keys = [
            (instance, number, agent, *statistic)
            for instance, number in product(INSTANCES, plan.destroys)
            if number >= least
        ]
        return [
            (cells[experiment, "paper", *key].mean, published[experiment, *key].mean)
            for key in keys
            if (experiment, "paper", *key) in cells and (experiment, *key) in published
        ]

    rows = []
    for agent in KINDS[experiment].columns:
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
    statistic: tuple[str, ...],
) -> Table:  # fmt: skip
    """Return the figures of one instance, each with its published one if there are any, and their means."""
    kind = KINDS[experiment]
    numbers = getattr(plan, kind.axis)
    head = [kind.label]
    rows = [[f"{number:g}"] for number in numbers] + [["mean"]]
    for agent in kind.columns:
        ours = [cells.get((experiment, setting, instance, number, agent, *statistic)) for number in numbers]
        theirs = [published.get((experiment, instance, number, agent, *statistic)) for number in numbers]
        ours, theirs = [*ours, _mean(ours)], [*theirs, _mean(theirs)]
        head.append(agent)
        for row, cell in zip(rows, ours, strict=True):
            row.append(_figure(cell))
        if any(theirs):
            head += [f"{agent}, published", "difference"]
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
    """Compare the DQN with LRW and FIXED in each cell, and over all cells."""
    yield Paragraph(
        "Differences with p in brackets: Welch's t-test over seeds, corrected by Holm for all cells of the table and "
        "setting. Over all cells of a table: Wilcoxon signed-rank test of the differences of means; cells share "
        "instances and operators, so take that p as a guide."
    )
    for experiment, statistic in (("table1", ()), ("table2", ("avg",))):
        for setting in settings_of(experiment):
            found = {other: agents(cells, experiment, setting, "DQN", other, *statistic) for other in ("LRW", "FIXED")}
            if not any(found.values()):
                continue
            yield Heading(3, f"{KINDS[experiment].title}{STATISTICS[statistic]}; setting {setting}")
            head = [f"{instance}: DQN − {other}" for instance, other in product(INSTANCES, found)]
            rows = []
            for number in plan.destroys:
                places = [each.get((instance, number)) for instance, each in product(INSTANCES, found.values())]
                rows.append((str(number), *(f"{signed(c.difference)} ({_p(c.p)})" if c else NONE for c in places)))
            yield Table(("|D|", *head), tuple(rows))
            yield Bullets(
                tuple(
                    f"DQN − {other} over {len(each)} cells: "
                    f"{signed(float(np.mean([contrast.difference for contrast in each.values()])))} on average, "
                    f"Wilcoxon p {_p(over_all(each))}."
                    for other, each in found.items()
                    if each
                )
            )


def _figure(cell: Cell | None) -> str:
    if cell is None:
        return NONE
    return f"{cell.mean:.1f}" + ("" if math.isnan(cell.ci) else f" ± {cell.ci:.1f}")


def _p(value: float) -> str:
    return NONE if math.isnan(value) else "< 0.001" if value < 0.001 else f"{value:.3f}"
