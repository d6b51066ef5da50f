"""The classic roulette wheel of ALNS (CRW)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np

from neuralns.compiling import compiled
from neuralns.errors import InputError
from neuralns.operators.registry import Portfolio
from neuralns.operators.state import random
from neuralns.selection.selector import Memory, compile_selector

# Layout of the memory: the header below, then weights, scores and counts of all operators, destroys first.
_DESTROYS, _REPAIRS, _SEGMENT, _REACTION, _DONE = 0, 1, 2, 3, 4
_SCORES = 4  # the score of outcome o (1 accepted, 2 better, 3 best) stands at _SCORES + o
_HEADER = 8


@dataclass(frozen=True)
class Roulette:
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

    def __post_init__(self) -> None:
        best, better, accepted = self.scores
        if not best > better > accepted >= 0:
            raise InputError(f"roulette scores {self.scores} must fall: δ1 > δ2 > δ3 ≥ 0.")
        if self.segment < 1:
            raise InputError(f"roulette segment {self.segment} must be at least 1.")
        if not 0 <= self.reaction <= 1:
            raise InputError(f"roulette reaction {self.reaction} must lie between 0 and 1.")

    def start(self, portfolio: Portfolio, customers: int = 1) -> Memory:
        operators = len(portfolio.names)
        memory = np.zeros(_HEADER + 3 * operators)
        memory[_DESTROYS], memory[_REPAIRS] = len(portfolio.destroys), len(portfolio.repairs)
        memory[_SEGMENT], memory[_REACTION] = self.segment, self.reaction
        memory[_SCORES + 1 : _SCORES + 4] = self.scores[::-1]
        memory[_HEADER : _HEADER + operators] = 1.0
        if self.learned is not None:
            for name in portfolio.names:
                if name not in self.learned:
                    raise InputError(f"selector {self.name!r} was trained without operator {name!r}.")
            for first, last in ((0, len(portfolio.destroys)), (len(portfolio.destroys), operators)):
                values = np.array([self.learned[name] for name in portfolio.names[first:last]])
                scale = self.scores[1] / values.mean() if values.mean() > 0 else 1.0
                memory[_HEADER + first : _HEADER + last] = np.maximum(values * scale, 1e-9)
        return memory

    def functions(self) -> tuple[Any, Any]:
        return _functions()


def weights(memory: Memory) -> Memory:
    """Return the weights that a wheel's memory holds, those of the destroy operators first."""
    return memory[_HEADER : _HEADER + int(memory[_DESTROYS] + memory[_REPAIRS])].copy()


@compiled
def spin(memory, start, count, state):
    """Return an index from 0 to ``count`` − 1 with probability in proportion to the weights from ``start`` on."""
    total = 0.0
    for index in range(start, start + count):
        total += memory[index]
    point = random(state) * total
    for index in range(start, start + count - 1):
        point -= memory[index]
        if point < 0.0:
            return index - start
    return count - 1


def _choose(memory, state, phase):
    destroys, repairs = np.int64(memory[_DESTROYS]), np.int64(memory[_REPAIRS])
    if phase == 0:
        return spin(memory, _HEADER, destroys, state)
    return spin(memory, _HEADER + destroys, repairs, state)


def _update(memory, destroy, repair, outcome, change):
    destroys = np.int64(memory[_DESTROYS])
    operators = destroys + np.int64(memory[_REPAIRS])
    scores, counts = _HEADER + operators, _HEADER + 2 * operators
    for operator in (destroy, destroys + repair):
        if outcome > 0:
            memory[scores + operator] += memory[_SCORES + outcome]
        memory[counts + operator] += 1.0
    memory[_DONE] += 1.0
    if memory[_DONE] >= memory[_SEGMENT]:
        memory[_DONE] = 0.0
        reaction = memory[_REACTION]
        for operator in range(operators):
            score = memory[scores + operator]
            if score > 0.0:
                mean = score / memory[counts + operator]
                memory[_HEADER + operator] = (1.0 - reaction) * memory[_HEADER + operator] + reaction * mean
            memory[scores + operator] = 0.0
            memory[counts + operator] = 0.0


@cache
def _functions() -> tuple[Any, Any]:
    return compile_selector(_choose, _update)
