"""The classic roulette wheel of ALNS (CRW)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from neuralns.compiled.caching import compiled
from neuralns.compiled.random import random
from neuralns.compiled.structs import Struct, number, numbers, whole
from neuralns.errors import InputError
from neuralns.operators.portfolio import Portfolio
from neuralns.selection.selector import DESTROY, REJECTED, Selector


@dataclass(frozen=True)
class Roulette(Selector):
    """Operators drawn in proportion to weights that follow their success (Ropke & Pisinger 2006, section 3.4).

    An operator's score ψ grows by δ1 when its pair finds a new best solution, δ2 a better one than the current, δ3 a
    worse one that is accepted. After each segment of iterations (Equation 1 of the paper)

        w ← (1 − α) w + α ψ / N   if ψ > 0,      w ← w   if ψ = 0,

    with N the times the operator was used in the segment. Destroy and repair operators have weights of their own.

    Parameters
    ----------
    scores
        (δ1, δ2, δ3) with δ1 > δ2 > δ3 ≥ 0.
    segment
        Iterations between two updates of the weights.
    reaction
        α, from 0 (weights never change) to 1 (only the last segment counts).
    learned
        Weights to begin with, such as those of a learned roulette; all 1 by default. They are scaled to a mean of
        ``scores[1]``, so that what the search scores is of the same size.
    """

    scores: tuple[float, float, float] = (33.0, 13.0, 9.0)
    segment: int = 100
    reaction: float = 0.1
    name: str = "roulette"
    learned: Mapping[str, float] | None = None

    adapts: ClassVar[bool] = True
    looks_at_routes: ClassVar[bool] = False
    fields: ClassVar = {
        "n_destroys": whole,
        "n_repairs": whole,
        "segment": whole,
        "reaction": number,
        "done": whole,  # iterations of this segment
        "scores": numbers,  # of outcomes
        "weights": numbers,  # of all operators, destroys first
        "points": numbers,  # ψ in this segment
        "uses": numbers,  # N in this segment
    }

    def __post_init__(self) -> None:
        best, better, accepted = self.scores
        if not best > better > accepted >= 0:
            raise InputError(f"roulette scores {self.scores} must fall: δ1 > δ2 > δ3 ≥ 0.")
        if self.segment < 1:
            raise InputError(f"roulette segment {self.segment} must be at least 1.")
        if not 0 <= self.reaction <= 1:
            raise InputError(f"roulette reaction {self.reaction} must lie between 0 and 1.")

    def made_for(self) -> tuple[str, ...]:
        return () if self.learned is None else tuple(self.learned)

    def doubt_of_length(self, iterations: float) -> str | None:
        if self.segment < iterations:
            return None
        instead = "at random; give a shorter segment, as in roulette:segment=10"
        return (
            f"selector {self.name!r} changes its weights after {self.segment} iterations, and the run has "
            f"{int(iterations)}: it chooses {instead if self.learned is None else 'by the weights it began with'}."
        )

    def start(self, portfolio: Portfolio, customers: int = 1) -> Struct:
        operators = len(portfolio.actions)
        weights = np.ones(operators)
        if self.learned is not None:
            for name in portfolio.actions:
                if name not in self.learned:
                    raise InputError(f"selector {self.name!r} was trained without operator {name!r}.")
            for first, last in ((0, len(portfolio.destroys)), (len(portfolio.destroys), operators)):
                values = np.array([self.learned[name] for name in portfolio.actions[first:last]])
                scale = self.scores[1] / values.mean() if values.mean() > 0 else 1.0
                weights[first:last] = np.maximum(values * scale, 1e-9)
        return self.new_memory(
            n_destroys=len(portfolio.destroys),
            n_repairs=len(portfolio.repairs),
            segment=self.segment,
            reaction=self.reaction,
            done=0,
            scores=np.array([0.0, *self.scores[::-1]]),
            weights=weights,
            points=np.zeros(operators),
            uses=np.zeros(operators),
        )

    @staticmethod
    def choose(memory, state, phase):
        if phase == DESTROY:
            return spin(memory.weights, 0, memory.n_destroys, state)
        return spin(memory.weights, memory.n_destroys, memory.n_repairs, state)

    @staticmethod
    def update(memory, destroy, repair, outcome, change):
        for operator in (destroy, memory.n_destroys + repair):
            if outcome > REJECTED:
                memory.points[operator] += memory.scores[outcome]
            memory.uses[operator] += 1.0
        memory.done += 1
        if memory.done >= memory.segment:
            memory.done = 0
            reaction = memory.reaction
            for operator in range(memory.n_destroys + memory.n_repairs):
                points = memory.points[operator]
                if points > 0.0:
                    mean = points / memory.uses[operator]
                    memory.weights[operator] = (1.0 - reaction) * memory.weights[operator] + reaction * mean
                memory.points[operator] = 0.0
                memory.uses[operator] = 0.0


@compiled
def spin(weights, start, count, state):
    """Return an index from 0 to ``count`` − 1 with probability in proportion to the weights from ``start`` on."""
    total = 0.0
    for index in range(start, start + count):
        total += weights[index]
    point = random(state) * total
    for index in range(start, start + count - 1):
        point -= weights[index]
        if point < 0.0:
            return index - start
    return count - 1
