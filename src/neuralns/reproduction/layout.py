"""What the tables and figures of the report look like, experiment by experiment."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from neuralns.reproduction.plan import INSTANCES, Plan, settings_of
from neuralns.reproduction.tables import Cell

NONE = "–"
AGENTS = ("DQN", "LRW", "RAN", "FIXED", "ORACLE", "CRW", "AHEAD", "GNN+")
"""In the order in which figures give them their looks."""
STATISTICS = {"": "", "avg": ", average over a run", "min": ", best of a run"}


@dataclass(frozen=True)
class Layout:
    """What the tables and figures of an experiment look like.

    Attributes
    ----------
    title, value
        What it is about, and what its figures are.
    axis, label
        The field of the plan that has the numbers that vary, and what they are called.
    agents, statistics
        Those that it has, in the order of its tables.
    """

    title: str
    value: str
    axis: str
    label: str
    agents: tuple[str, ...]
    statistics: tuple[str, ...] = ("",)

    def numbers(self, plan: Plan) -> tuple[float, ...]:
        """Return the numbers that vary."""
        found: tuple[float, ...] = getattr(plan, self.axis)
        return found


LAYOUTS = {
    "table1": Layout("Table 1, rewards in the MDP", "mean reward", "destroys", "|D|", (*AGENTS[:5], "AHEAD")),
    "table2": Layout(
        "Table 2, F in ALNS", "F", "destroys", "|D|", ("DQN", "LRW", "RAN", "CRW", "FIXED", "AHEAD"), ("avg", "min")
    ),
    "scaling": Layout(
        "Larger instances, GNN trained at n = 20", "mean reward", "sizes", "n", ("DQN", "GNN+", "LRW", "RAN", "FIXED")
    ),
    "large": Layout(
        "Large generated instances, GNN trained at n = 20",
        "mean reward",
        "large",
        "n",
        ("GNN+", "LRW", "RAN", "FIXED", "ORACLE"),
    ),
    "scale": Layout("Destroy scales, |D| = 12", "mean reward", "scales", "d", AGENTS[:4]),
    "temperature": Layout("Temperatures in ALNS, |D| = 12", "F", "temperatures", "τ", ("DQN",), ("avg", "min")),
}


def wanted_cells(experiment: str, plan: Plan) -> list[Cell]:
    """Return where a whole experiment has figures."""
    layout = LAYOUTS[experiment]
    return [
        Cell(experiment, *cell)
        for cell in product(
            settings_of(experiment), INSTANCES, layout.numbers(plan), layout.agents, layout.statistics
        )
    ]  # fmt: skip
