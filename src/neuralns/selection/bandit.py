"""Bandits over pairs of operators: each pair is an arm, an iteration is a pull."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from neuralns.compiled.caching import compiled
from neuralns.compiled.random import random
from neuralns.compiled.structs import Struct, number, numbers, whole
from neuralns.errors import InputError
from neuralns.operators.portfolio import Portfolio
from neuralns.selection.selector import BETTER, DESTROY, Selector


@dataclass(frozen=True)
class AlphaUCB(Selector):
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
    looks_at_routes: ClassVar[bool] = False
    fields: ClassVar = {
        "n_destroys": whole,
        "n_repairs": whole,
        "alpha": number,
        "chosen": whole,  # the arm of this iteration
        "pulls": number,  # of all arms
        "scores": numbers,  # of outcomes
        "totals": numbers,  # scores of each arm
        "counts": numbers,  # pulls of each arm
    }

    def __post_init__(self) -> None:
        if not 0 <= self.alpha <= 1:
            raise InputError(f"alpha {self.alpha} of the bandit must lie between 0 and 1.")

    def start(self, portfolio: Portfolio, customers: int = 1) -> Struct:
        arms = len(portfolio.destroys) * len(portfolio.repairs)
        return self.new_memory(
            n_destroys=len(portfolio.destroys),
            n_repairs=len(portfolio.repairs),
            alpha=self.alpha,
            chosen=0,
            pulls=0.0,
            scores=np.array(self.scores[::-1], dtype=np.float64),
            totals=np.zeros(arms),
            counts=np.zeros(arms),
        )

    @staticmethod
    def choose(memory, state, phase):
        if phase == DESTROY:
            bonus = memory.alpha * np.log(1.0 + memory.pulls)
            best, most = 0, -np.inf
            for arm in range(memory.n_destroys * memory.n_repairs):
                pulls = memory.counts[arm]
                value = np.inf if pulls == 0.0 else memory.totals[arm] / pulls + np.sqrt(bonus / pulls)
                if value > most:
                    best, most = arm, value
            memory.chosen = best
            return best // memory.n_repairs
        return memory.chosen % memory.n_repairs

    @staticmethod
    def update(memory, destroy, repair, outcome, change):
        arm = destroy * memory.n_repairs + repair
        memory.pulls += 1.0
        memory.totals[arm] += memory.scores[outcome]
        memory.counts[arm] += 1.0


@dataclass(frozen=True)
class Thompson(Selector):
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
    looks_at_routes: ClassVar[bool] = False
    fields: ClassVar = {
        "n_destroys": whole,
        "n_repairs": whole,
        "kept": number,  # what is left of a count after a pull
        "chosen": whole,
        "successes": numbers,  # of each arm
        "failures": numbers,
    }

    def __post_init__(self) -> None:
        if not 0 < self.memory <= 1:
            raise InputError(f"memory {self.memory} of the bandit must lie above 0 and at most at 1.")

    def start(self, portfolio: Portfolio, customers: int = 1) -> Struct:
        arms = len(portfolio.destroys) * len(portfolio.repairs)
        return self.new_memory(
            n_destroys=len(portfolio.destroys),
            n_repairs=len(portfolio.repairs),
            kept=self.memory,
            chosen=0,
            successes=np.zeros(arms),
            failures=np.zeros(arms),
        )

    @staticmethod
    def choose(memory, state, phase):
        if phase == DESTROY:
            best, most = 0, -1.0
            for arm in range(memory.n_destroys * memory.n_repairs):
                one = gamma(state, 1.0 + memory.successes[arm])
                other = gamma(state, 1.0 + memory.failures[arm])
                if one / (one + other) > most:
                    best, most = arm, one / (one + other)
            memory.chosen = best
            return best // memory.n_repairs
        return memory.chosen % memory.n_repairs

    @staticmethod
    def update(memory, destroy, repair, outcome, change):
        arm = destroy * memory.n_repairs + repair
        memory.successes[arm] *= memory.kept
        memory.failures[arm] *= memory.kept
        if outcome >= BETTER:
            memory.successes[arm] += 1.0
        else:
            memory.failures[arm] += 1.0


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
