"""The paper's five claims, each judged on our results by a rule that is written beside it, one on ours as well."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise, product

import numpy as np

from neuralns.reproduction.contrasts import Contrast, compare_agents, contrasts
from neuralns.reproduction.plan import INSTANCES, Plan
from neuralns.reproduction.tables import Cell, Estimate, Estimates

LARGE = 5
"""The portfolios about which the paper's claims are have at least that many destroy operators."""
JUMPS = (5, 12)
CLOSED = 0.25
"""A gap has closed when only this share of it is left."""
ALIKE = 0.02
"""Agents whose means differ by at most this share are not different."""


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
    """A claim of the paper, the rule that we judge it by, and the function that looks at the rule's conditions.

    Where we have an agent of our own for it, ``of_ours`` looks at the same conditions of that one (``ours``).
    """

    experiment: str
    title: str
    text: str
    rule: str
    conditions: Callable[[Estimates, Plan, str], list[Condition]]
    ours: str = ""
    of_ours: Callable[[Estimates, Plan, str], list[Condition]] | None = None

    def judge(self, estimates: Estimates, plan: Plan, setting: str) -> tuple[str, tuple[str, ...]]:
        """Return the verdict in a setting and the evidence for it."""
        return self._judged(self.conditions(estimates, plan, setting))

    def judge_ours(self, estimates: Estimates, plan: Plan, setting: str) -> tuple[str, tuple[str, ...]]:
        """Return the same for our agent."""
        assert self.of_ours is not None
        return self._judged(self.of_ours(estimates, plan, setting))

    def _judged(self, conditions: Sequence[Condition]) -> tuple[str, tuple[str, ...]]:
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
    estimates: Estimates, experiment: str, setting: str, numbers: Sequence[int], first: str, others: Sequence[str],
    statistic: str = "", lower: bool = False,
) -> Condition:  # fmt: skip
    """Look whether an agent is significantly better than each of the others."""
    found = [compare_agents(estimates, experiment, setting, first, other, statistic) for other in others]
    wanted = [
        Cell(experiment, setting, instance, number, first, statistic)
        for instance, number in product(INSTANCES, numbers)
    ]
    judged = [cell for cell in wanted if all(cell in each and not math.isnan(each[cell].p) for each in found)]
    met = sum(all(each[cell].significant and (each[cell].difference < 0) == lower for each in found) for cell in judged)
    means = [
        f"{agent} {np.mean([estimates[cell.of(agent)].mean for cell in judged]):.1f}"
        for agent in (first, *others)
        if judged
    ]
    return Condition(met, len(judged), len(wanted), "cells", f"means over them: {', '.join(means)}")


def _table1(estimates: Estimates, plan: Plan, setting: str) -> list[Condition]:
    rises: dict[str, dict[int, float]] = {}
    for instance in INSTANCES:
        row = [estimates.get(Cell("table1", setting, instance, number, "DQN")) for number in plan.destroys]
        if all(row) and set(JUMPS) <= set(plan.destroys[1:]):
            means = [estimate.mean for estimate in row if estimate]
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
        _beats(estimates, "table1", setting, _large(plan), "DQN", ("LRW", "RAN")),
        Condition(met, len(rises), len(INSTANCES), "instances", detail),
    ]


def _table2(estimates: Estimates, plan: Plan, setting: str) -> list[Condition]:
    alike = compare_agents(estimates, "table2", setting, "CRW", "RAN", "avg")
    wanted = [
        Cell("table2", setting, instance, number, "CRW", "avg") for instance, number in product(INSTANCES, _large(plan))
    ]
    judged = [cell for cell in wanted if cell in alike]
    mean = signed(float(np.mean([alike[cell].difference for cell in judged]))) if judged else ""
    near = [abs(alike[cell].difference) <= ALIKE * estimates[cell.of("RAN")].mean for cell in judged]
    return [
        _beats(estimates, "table2", setting, _large(plan), "DQN", ("LRW", "CRW", "RAN"), "avg", lower=True),
        _beats(estimates, "table2", setting, _large(plan), "LRW", ("CRW",), "avg", lower=True),
        Condition(sum(near), len(judged), len(wanted), "cells", f"CRW − RAN is {mean} on average"),
    ]


def _scaling(estimates: Estimates, plan: Plan, setting: str, agent: str = "DQN") -> list[Condition]:
    return [_beats(estimates, "scaling", setting, plan.sizes, agent, ("LRW", "RAN"))]


def _scale(estimates: Estimates, plan: Plan, setting: str) -> list[Condition]:
    gaps = []
    for instance, other in product(INSTANCES, ("LRW", "RAN")):
        cells = [Cell("scale", setting, instance, number, "DQN") for number in plan.scales]
        if all(cell in estimates and cell.of(other) in estimates for cell in cells):
            gaps.append([estimates[cell].mean - estimates[cell.of(other)].mean for cell in cells])
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


def _temperature(estimates: Estimates, plan: Plan, setting: str) -> list[Condition]:
    def at(instance: str, value: float) -> Cell:
        return Cell("temperature", setting, instance, value, "DQN", "avg")

    def tested(steps: Sequence[tuple[float, float]]) -> list[Contrast]:
        pairs: dict[Cell, tuple[Estimate, Estimate]] = {}
        for instance, (low, high) in product(INSTANCES, steps):
            if at(instance, low) in estimates and at(instance, high) in estimates:
                pairs[at(instance, high)] = (estimates[at(instance, high)], estimates[at(instance, low)])
        return [each for each in contrasts(pairs).values() if not math.isnan(each.p)]

    ends = tested([(plan.temperatures[0], plan.temperatures[-1])])
    steps = list(pairwise(plan.temperatures))
    each_step = tested(steps)
    means = []
    for value in plan.temperatures:
        found = [estimates.get(at(instance, value)) for instance in INSTANCES]
        if all(found):
            means.append(f"τ = {value:g}: {np.mean([estimate.mean for estimate in found if estimate]):.1f}")
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
        "order in which operators join is read from the published numbers, so that (b) follows from it and is no test.",
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
        "GNN+",
        partial(_scaling, agent="GNN+"),
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
