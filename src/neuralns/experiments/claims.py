"""The paper's five claims, each judged on our results by a rule that is written beside it."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import astuple, dataclass
from itertools import pairwise, product
from typing import Any, TypeVar

import numpy as np

from neuralns.experiments.comparison import holm
from neuralns.experiments.paper import EXPERIMENTS, INSTANCES, Plan, Tables

LEVEL = 0.05
"""Differences with a corrected p below it count as significant."""
LARGE = 5
"""The portfolios about which the paper's claims are have at least that many destroy operators."""
JUMPS = (5, 12)
CLOSED = 0.25
"""A gap has closed when only this share of it is left."""
ALIKE = 0.02
"""Agents whose means differ by at most this share are not different."""

Place = TypeVar("Place", bound=Hashable)


# --- Results by their keys, and tests between them. -------------------------------------------------------------------


@dataclass(frozen=True)
class Cell:
    """A figure of a table: mean over seeds, half of its 95 % interval (NaN for one seed), the value of each seed."""

    mean: float
    ci: float
    values: tuple[float, ...]


Cells = Mapping[tuple[Any, ...], Cell]
"""Figures under experiment, setting, instance, the number that varies (|D|, n, d, τ), agent and statistic."""


@dataclass(frozen=True)
class Contrast:
    """First minus second; ``p`` of Welch's t-test over seeds after Holm's correction, NaN if one has a single seed."""

    difference: float
    p: float

    @property
    def significant(self) -> bool:
        return self.p < LEVEL


def cells_of(tables: Tables) -> dict[tuple[Any, ...], Cell]:
    """Return the figures of all tables by their keys."""
    values = dict(tables.values)
    found = {}
    for experiment in EXPERIMENTS:
        for row in getattr(tables, experiment):
            *place, mean, ci, _ = astuple(row)
            key = (experiment, *place)
            found[key] = Cell(mean, ci, tuple(values.get(key, ())))
    return found


def welch(first: Sequence[float], second: Sequence[float]) -> float:
    """Return p of Welch's t-test, two-sided; NaN if there is nothing to estimate a variance from.

    Values that are all the same, as those of agents without chance are, count as known exactly.
    """
    from scipy.stats import ttest_ind_from_stats

    if min(len(first), len(second)) < 2:
        return math.nan
    if np.ptp(first) == np.ptp(second) == 0:
        return 1.0 if first[0] == second[0] else 0.0
    parts = [(np.mean(each), np.std(each, ddof=1) if np.ptp(each) > 0 else 0.0, len(each)) for each in (first, second)]
    return float(ttest_ind_from_stats(*parts[0], *parts[1], equal_var=False).pvalue)


def contrasts(pairs: Mapping[Place, tuple[Cell, Cell]]) -> dict[Place, Contrast]:
    """Compare pairs of figures; p is corrected for their number."""
    raw = {place: welch(first.values, second.values) for place, (first, second) in pairs.items()}
    tested = [place for place, p in raw.items() if not math.isnan(p)]
    corrected = dict(zip(tested, holm([raw[place] for place in tested]), strict=True))
    return {
        place: Contrast(first.mean - second.mean, corrected.get(place, math.nan))
        for place, (first, second) in pairs.items()
    }


def agents(
    cells: Cells, experiment: str, setting: str, first: str, second: str, *statistic: str
) -> dict[tuple[str, Any], Contrast]:
    """Compare two agents in all cells of an experiment and a setting that have both."""
    pairs = {}
    for key, cell in cells.items():
        if key[:2] == (experiment, setting) and key[4:] == (first, *statistic):
            other = cells.get((*key[:4], second, *statistic))
            if other is not None:
                pairs[key[2], key[3]] = (cell, other)
    return contrasts(pairs)


def over_all(found: Mapping[Any, Contrast]) -> float:
    """Return p of the Wilcoxon signed-rank test over cells, NaN for less than six, which could not be significant."""
    from scipy.stats import wilcoxon

    moved = [each.difference for each in found.values() if each.difference != 0]
    return float(wilcoxon(np.round(moved, 6)).pvalue) if len(moved) >= 6 else math.nan


# --- Claims. ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Condition:
    """A condition of a rule: in how many of the wanted cases it could be judged, and in how many it is met."""

    met: int
    judged: int
    wanted: int
    unit: str
    detail: str = ""

    def sentence(self, letter: str) -> str:
        """Return what was found.

        >>> Condition(22, 23, 24, "cells", "means 3 and 4").sentence("a")
        '(a) is met in 22 of 23 cells, 1 more could not be judged; means 3 and 4.'
        """
        if not self.judged:
            return f"({letter}) could not be judged: there are no results, or only of a single seed."
        missing = self.wanted - self.judged
        return (
            f"({letter}) is met in {self.met} of {self.judged} {self.unit}"
            + (f", {missing} more could not be judged" if missing else "")
            + (f"; {self.detail}" if self.detail else "")
            + "."
        )


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, the rule that we judge it by, and the function that looks at the rule's conditions."""

    experiment: str
    title: str
    text: str
    rule: str
    conditions: Callable[[Cells, Plan, str], list[Condition]]

    def judge(self, cells: Cells, plan: Plan, setting: str) -> tuple[str, tuple[str, ...]]:
        """Return the verdict in a setting and the evidence for it."""
        conditions = self.conditions(cells, plan, setting)
        evidence = tuple(each.sentence(letter) for letter, each in zip("abc", conditions, strict=False))
        return verdict(conditions), evidence


VERDICT_RULE = (
    "A claim holds if all conditions of its rule are met in all cases; it does not hold if the first condition is met "
    "in less than half of the cases; otherwise it holds in part. Cases that could not be judged are left out, but then "
    "a claim holds at most in part. A difference is significant if p < 0.05 by Welch's t-test over seeds, corrected by "
    "Holm for all cells of the experiment and setting in which the same two agents are compared."
)


def verdict(conditions: Sequence[Condition]) -> str:
    """Return what the conditions of a rule amount to; see ``VERDICT_RULE``."""
    if not conditions[0].judged:
        return "not tested"
    if all(each.met == each.wanted for each in conditions):
        return "holds"
    return "does not hold" if 2 * conditions[0].met < conditions[0].judged else "holds in part"


def _beats(
    cells: Cells, experiment: str, setting: str, numbers: Sequence[int], first: str, others: Sequence[str],
    *statistic: str, lower: bool = False,
) -> Condition:  # fmt: skip
    """Look whether an agent is significantly better than each of the others."""
    found = [agents(cells, experiment, setting, first, other, *statistic) for other in others]
    wanted = list(product(INSTANCES, numbers))
    judged = [place for place in wanted if all(place in each and not math.isnan(each[place].p) for each in found)]
    met = sum(
        all(each[place].significant and (each[place].difference < 0) == lower for each in found) for place in judged
    )
    means = [
        f"{agent} {np.mean([cells[experiment, setting, *place, agent, *statistic].mean for place in judged]):.1f}"
        for agent in (first, *others)
        if judged
    ]
    return Condition(met, len(judged), len(wanted), "cells", f"means over them: {', '.join(means)}")


def _table1(cells: Cells, plan: Plan, setting: str) -> list[Condition]:
    rises: dict[str, dict[int, float]] = {}
    for instance in INSTANCES:
        row = [cells.get(("table1", setting, instance, number, "DQN")) for number in plan.destroys]
        if all(row) and set(JUMPS) <= set(plan.destroys[1:]):
            means = [cell.mean for cell in row if cell]
            rises[instance] = {b: high - low for b, (low, high) in zip(plan.destroys[1:], pairwise(means), strict=True)}
    met = sum(
        sorted(sorted(each, key=lambda number: -each[number])[: len(JUMPS)]) == list(JUMPS)
        and min(each[number] for number in JUMPS) > 0
        for each in rises.values()
    )
    detail = "; ".join(
        f"the rise to |D| = {number} is " + ", ".join(f"{name} {signed(each[number])}" for name, each in rises.items())
        for number in JUMPS
    )
    return [
        _beats(cells, "table1", setting, _large(plan), "DQN", ("LRW", "RAN")),
        Condition(met, len(rises), len(INSTANCES), "instances", detail),
    ]


def _table2(cells: Cells, plan: Plan, setting: str) -> list[Condition]:
    alike = agents(cells, "table2", setting, "CRW", "RAN", "avg")
    wanted = list(product(INSTANCES, _large(plan)))
    judged = [place for place in wanted if place in alike]
    mean = signed(float(np.mean([alike[place].difference for place in judged]))) if judged else ""
    near = [
        abs(alike[place].difference) <= ALIKE * cells["table2", setting, *place, "RAN", "avg"].mean for place in judged
    ]
    return [
        _beats(cells, "table2", setting, _large(plan), "DQN", ("LRW", "CRW", "RAN"), "avg", lower=True),
        _beats(cells, "table2", setting, _large(plan), "LRW", ("CRW",), "avg", lower=True),
        Condition(sum(near), len(judged), len(wanted), "cells", f"CRW − RAN is {mean} on average"),
    ]


def _scaling(cells: Cells, plan: Plan, setting: str) -> list[Condition]:
    return [_beats(cells, "scaling", setting, plan.sizes, "DQN", ("LRW", "RAN"))]


def _scale(cells: Cells, plan: Plan, setting: str) -> list[Condition]:
    gaps = []
    for instance, other in product(INSTANCES, ("LRW", "RAN")):
        keys = [("scale", setting, instance, number) for number in plan.scales]
        if all((*key, agent) in cells for key in keys for agent in ("DQN", other)):
            gaps.append([cells[*key, "DQN"].mean - cells[*key, other].mean for key in keys])
    means = [f"{mean:.1f}".replace("-", "−") for mean in np.mean(gaps, axis=0)] if gaps else []
    shown = "; ".join(f"d = {number}: {mean}" for number, mean in zip(plan.scales, means, strict=False))
    wanted = 2 * len(INSTANCES)
    return [
        Condition(
            sum(gap[0] == max(gap) and gap[0] > 0 for gap in gaps), len(gaps), wanted, "comparisons",
            f"mean gap at {shown}",
        ),
        Condition(
            sum(gap[0] > 0 and abs(gap[-1]) <= CLOSED * gap[0] for gap in gaps), len(gaps), wanted, "comparisons"
        ),
    ]  # fmt: skip


def _temperature(cells: Cells, plan: Plan, setting: str) -> list[Condition]:
    def pairs(steps: Sequence[tuple[float, float]]) -> dict[Any, tuple[Cell, Cell]]:
        found = {}
        for instance, (low, high) in product(INSTANCES, steps):
            keys = [("temperature", setting, instance, value, "avg") for value in (high, low)]
            if all(key in cells for key in keys):
                found[instance, high] = (cells[keys[0]], cells[keys[1]])
        return found

    def tested(steps: Sequence[tuple[float, float]]) -> list[Contrast]:
        return [each for each in contrasts(pairs(steps)).values() if not math.isnan(each.p)]

    ends = tested([(plan.temperatures[0], plan.temperatures[-1])])
    steps = list(pairwise(plan.temperatures))
    each_step = tested(steps)
    means = []
    for value in plan.temperatures:
        found = [cells.get(("temperature", setting, instance, value, "avg")) for instance in INSTANCES]
        if all(found):
            means.append(f"τ = {value:g}: {np.mean([cell.mean for cell in found if cell]):.1f}")
    return [
        Condition(
            sum(each.significant and each.difference > 0 for each in ends), len(ends), len(INSTANCES), "instances",
            f"F on average over the instances at {'; '.join(means)}" if means else "",
        ),
        Condition(
            sum(not (each.significant and each.difference < 0) for each in each_step),
            len(each_step), len(INSTANCES) * len(steps), "steps",
        ),
    ]  # fmt: skip


def _large(plan: Plan) -> tuple[int, ...]:
    return tuple(number for number in plan.destroys if number >= LARGE)


def signed(value: float) -> str:
    """Return a difference as people write it.

    >>> signed(-3.14159), signed(2), signed(-0.01)
    ('−3.1', '+2.0', '+0.0')
    """
    return f"{round(value, 1) + 0.0:+.1f}".replace("-", "−")


CLAIMS = (
    Claim(
        "table1",
        "Selection in the MDP (Table 1)",
        "The DQN beats LRW and RAN once the portfolio has 5 or more destroy operators, with jumps at |D| = 5 and 12.",
        "(a) in every cell with |D| ≥ 5 the DQN's mean reward is significantly above that of LRW and that of RAN; (b) "
        "on every instance the two largest rises of its reward from one |D| to the next are those to 5 and to 12. The "
        "order in which operators join is read from the published numbers, so that (b) is a check of that reading.",
        _table1,
    ),
    Claim(
        "table2",
        "Selection inside ALNS (Table 2)",
        "The DQN gives the lowest F for |D| ≥ 5, LRW beats CRW, and CRW is not different from RAN.",
        "in every cell with |D| ≥ 5, by F on average over a run, (a) the DQN is significantly below LRW, CRW "
        "and RAN, (b) LRW is significantly below CRW, and (c) CRW lies within 2 % of RAN.",
        _table2,
    ),
    Claim(
        "scaling",
        "Larger instances with a GNN (Figure 2, top)",
        "A GNN policy trained at 20 customers beats LRW and RAN up to 100 customers.",
        "(a) on every instance and for every number of customers n the GNN's mean reward is significantly above that "
        "of LRW and that of RAN.",
        _scaling,
    ),
    Claim(
        "scale",
        "Destroy scale (Figure 2, bottom)",
        "The gap between the DQN and the others is largest at the smallest destroy scale d and closes as d grows.",
        "on every instance, for the gap to LRW and that to RAN, (a) it is positive and largest at the smallest d, and "
        "(b) at the largest d at most a quarter of that is left, in either direction.",
        _scale,
    ),
    Claim(
        "temperature",
        "Temperature (Figure 3)",
        "F gets worse as the temperature τ of the DQN's choice grows.",
        "τ divides Q-values that are scaled so that an episode of random choices is worth 2.5. On every instance, by F "
        "on average over a run, (a) F at the largest τ is significantly above that at the smallest, and (b) from no τ "
        "to the next it falls significantly.",
        _temperature,
    ),
)  # fmt: skip
