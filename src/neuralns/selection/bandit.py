"""Bandits over pairs of operators: each pair is an arm, an iteration is a pull."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np

from neuralns.compiling import compiled
from neuralns.errors import InputError
from neuralns.operators.registry import Portfolio
from neuralns.operators.state import random
from neuralns.selection.selector import BETTER, Memory, compile_selector

# Layout of the memory: the header below, then two numbers for each arm.
_DESTROYS, _REPAIRS, _PARAMETER, _CHOSEN, _PULLS = range(5)
_SCORES = 5  # the score of outcome o (0 rejected to 3 best) stands at _SCORES + o
_HEADER = 10


@dataclass(frozen=True)
class AlphaUCB:
    """The α-UCB bandit (Hendel 2022, section 3.2).

    Pull the arm with the largest m_a + √(α ln(1 + t) / N_a): m_a is the mean score of its N_a pulls so far, t the
    iteration. Arms that were never pulled come first. Scores depend on the outcome.

    Parameters
    ----------
    alpha
        How much to explore, from 0 to 1.
    scores
        For a new best solution, a better one than the current, an accepted one, a rejected one.
    """

    alpha: float = 0.05
    scores: tuple[float, float, float, float] = (1.0, 0.5, 0.1, 0.0)
    name: str = "ucb"

    adapts: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 0 <= self.alpha <= 1:
            raise InputError(f"alpha {self.alpha} of the bandit must lie between 0 and 1.")

    def start(self, portfolio: Portfolio, customers: int = 1) -> Memory:
        return _memory(portfolio, self.alpha, self.scores)

    def functions(self) -> tuple[Any, Any]:
        return _ucb_functions()


@dataclass(frozen=True)
class Thompson:
    """Thompson sampling with Beta posteriors that forget.

    An iteration succeeds when it improves the current solution. Each arm's chance has the posterior Beta(1 + s, 1 + f)
    of its successes and failures; draw one number from each and pull the arm with the largest. With every pull the
    counts of the arm shrink by ``memory``, so that it follows a search whose chances fall (Raj & Kalyani 2017).

    Parameters
    ----------
    memory
        What is left of a count after a pull, from above 0 to 1 (never forget).
    """

    memory: float = 0.999
    name: str = "thompson"

    adapts: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 0 < self.memory <= 1:
            raise InputError(f"memory {self.memory} of the bandit must lie above 0 and at most at 1.")

    def start(self, portfolio: Portfolio, customers: int = 1) -> Memory:
        return _memory(portfolio, self.memory, (0.0, 0.0, 0.0, 0.0))

    def functions(self) -> tuple[Any, Any]:
        return _thompson_functions()


def _memory(portfolio: Portfolio, parameter: float, scores: tuple[float, ...]) -> Memory:
    destroys, repairs = len(portfolio.destroys), len(portfolio.repairs)
    memory = np.zeros(_HEADER + 2 * destroys * repairs)
    memory[_DESTROYS], memory[_REPAIRS], memory[_PARAMETER] = destroys, repairs, parameter
    memory[_SCORES : _SCORES + 4] = scores[::-1]
    return memory


def _choose_by_ucb(memory, state, phase):
    repairs = np.int64(memory[_REPAIRS])
    if phase == 0:
        arms = np.int64(memory[_DESTROYS]) * repairs
        bonus = memory[_PARAMETER] * np.log(1.0 + memory[_PULLS])
        best, most = 0, -np.inf
        for arm in range(arms):
            pulls = memory[_HEADER + 2 * arm + 1]
            value = np.inf if pulls == 0.0 else memory[_HEADER + 2 * arm] / pulls + np.sqrt(bonus / pulls)
            if value > most:
                best, most = arm, value
        memory[_CHOSEN] = best
        return best // repairs
    return np.int64(memory[_CHOSEN]) % repairs


def _update_ucb(memory, destroy, repair, outcome, change):
    arm = destroy * np.int64(memory[_REPAIRS]) + repair
    memory[_PULLS] += 1.0
    memory[_HEADER + 2 * arm] += memory[_SCORES + outcome]
    memory[_HEADER + 2 * arm + 1] += 1.0


@compiled
def _normal(state):
    return np.sqrt(-2.0 * np.log(1.0 - random(state))) * np.cos(2.0 * np.pi * random(state))


@compiled
def gamma(state, shape):
    """Return a number from the Gamma distribution with scale 1 (Marsaglia & Tsang 2000), for shapes of at least 1."""
    d = shape - 1.0 / 3.0
    c = 1.0 / np.sqrt(9.0 * d)
    while True:
        x = _normal(state)
        v = (1.0 + c * x) ** 3
        if v > 0.0 and np.log(1.0 - random(state)) < 0.5 * x * x + d - d * v + d * np.log(v):
            return d * v


def _choose_by_thompson(memory, state, phase):
    repairs = np.int64(memory[_REPAIRS])
    if phase == 0:
        best, most = 0, -1.0
        for arm in range(np.int64(memory[_DESTROYS]) * repairs):
            one = gamma(state, 1.0 + memory[_HEADER + 2 * arm])
            other = gamma(state, 1.0 + memory[_HEADER + 2 * arm + 1])
            if one / (one + other) > most:
                best, most = arm, one / (one + other)
        memory[_CHOSEN] = best
        return best // repairs
    return np.int64(memory[_CHOSEN]) % repairs


def _update_thompson(memory, destroy, repair, outcome, change):
    arm = destroy * np.int64(memory[_REPAIRS]) + repair
    memory[_HEADER + 2 * arm] *= memory[_PARAMETER]
    memory[_HEADER + 2 * arm + 1] *= memory[_PARAMETER]
    memory[_HEADER + 2 * arm + (0 if outcome >= BETTER else 1)] += 1.0


@cache
def _ucb_functions() -> tuple[Any, Any]:
    return compile_selector(_choose_by_ucb, _update_ucb)


@cache
def _thompson_functions() -> tuple[Any, Any]:
    return compile_selector(_choose_by_thompson, _update_thompson)
