"""The figures of the report."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

import numpy as np

from neuralns import plot
from neuralns.experiments.statistics import confidence
from neuralns.reproduction.document import Block, Picture
from neuralns.reproduction.layout import AGENTS, LAYOUTS, STATISTICS
from neuralns.reproduction.plan import INSTANCES, Plan, settings_of
from neuralns.reproduction.tables import Cell, Estimates


def pictures(estimates: Estimates, plan: Plan, published: Estimates, experiment: str) -> Iterable[Block]:
    """Give the figures of an experiment, those of setting paper with published lines where there are some."""
    layout = LAYOUTS[experiment]
    if experiment == "temperature":
        lines = {
            f"setting {setting}": _temperature_lines(estimates, plan, setting) for setting in settings_of(experiment)
        }
        shown = {name: panel for name, panel in lines.items() if any(panel.values())}
        if shown:
            title = "DQN in ALNS: F over the temperature, mean of the instances; lower is better"
            yield Picture(experiment, title, plot.panels(shown, title, "τ", "F", log=True, one_scale=False))
        return
    best = "lower" if layout.value == "F" else "higher"
    across = {"|D|": "destroy operators |D|", "n": "customers n", "d": "destroy scale d"}[layout.label]
    for setting in settings_of(experiment):
        panels = _agent_lines(estimates, plan, experiment, setting)
        if any(line for panel in panels.values() for line in panel.values()):
            title = f"{layout.title}{STATISTICS[layout.statistics[0]]}; setting {setting}, {best} is better"
            behind = _agent_lines(published, plan, experiment, setting) if setting == "paper" else None
            # Without the cost of tours the instances differ by more than the agents do.
            one = setting == "paper"
            figure = plot.panels(panels, title, across, layout.value, behind=behind, one_scale=one)
            yield Picture(f"{experiment}-{setting}", title, figure)


def _agent_lines(source: Estimates, plan: Plan, experiment: str, setting: str) -> dict[str, plot.Lines]:
    """Return the lines of all agents for each instance."""
    layout = LAYOUTS[experiment]

    def line(instance: str, agent: str) -> list[tuple[float, float, float]]:
        cells = [
            Cell(experiment, setting, instance, number, agent, layout.statistics[0]) for number in layout.numbers(plan)
        ]
        return [(cell.number, source[cell].mean, source[cell].ci) for cell in cells if cell in source]

    return {instance: {agent: line(instance, agent) for agent in AGENTS} for instance in INSTANCES}


def _temperature_lines(estimates: Estimates, plan: Plan, setting: str) -> plot.Lines:
    """Return F averaged over the instances, seed by seed; a temperature that lacks an instance is left out."""
    lines: dict[str, list[tuple[float, float, float]]] = {"average over a run": [], "best of a run": []}
    for (name, points), value in product(zip(("avg", "min"), lines.values(), strict=True), plan.temperatures):
        found = [estimates.get(Cell("temperature", setting, instance, value, "DQN", name)) for instance in INSTANCES]
        seeds = [estimate.values for estimate in found if estimate]
        if len(seeds) == len(INSTANCES) and len({len(each) for each in seeds}) == 1 and seeds[0]:
            means = np.mean(seeds, axis=0)
            points.append((value, float(means.mean()), confidence(means)))
    return lines
