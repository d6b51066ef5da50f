"""Customers to remove by a number that each customer has, as in FILO."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from neuralns.compiled.caching import compiled
from neuralns.compiled.random import randint
from neuralns.compiled.structs import Struct, number, whole, wholes
from neuralns.errors import InputError
from neuralns.operators.destroy.picking import random_routed
from neuralns.operators.portfolio import Portfolio
from neuralns.routes.evaluate import request_of
from neuralns.selection.selector import DESTROY, MOST_REMOVED, Selector


@dataclass(frozen=True)
class Intensity(Selector):
    """Operators drawn uniformly; how many customers are removed follows the place where a step begins.

    Each customer i has a number ω_i, at first ⌈ln |V|⌉. A step begins at a seed s drawn uniformly and removes ω_s
    customers. With m the mean cost of an arc, the current cost over customers plus twice the routes, and Δ the
    candidate's cost less the current one, for each customer i that was removed

        ω_i ← ω_i − 1   if Δ > upper · m and ω_i ≥ ω_s        (too much was removed),
        ω_i ← ω_i + 1   if 0 ≤ Δ < lower · m and ω_i ≤ ω_s    (too little),

    and one of the two by chance where Δ is neither, within 1 and `MOST_REMOVED`. Accorsi & Vigo 2021 (FILO) and 2024
    (FILO2), who remove customers by a random walk and bring solutions to a local optimum before they compare them. Here
    the portfolio's operators are drawn uniformly: those that begin with a customer or a route drawn by chance begin
    with the seed, for others its number alone counts. Candidates are not given up before they cost ``upper`` · m more
    than the current solution, since it has to be known where they lie.

    Parameters
    ----------
    lower, upper
        The bounds of the band, in units of the mean cost of an arc.
    """

    lower: float = 0.375
    upper: float = 0.85
    name: str = "intensity"

    adapts: ClassVar[bool] = True
    sets_scale: ClassVar[bool] = True
    fields: ClassVar = {
        "counts": wholes,  # of destroy and repair operators
        "intensity": wholes,  # ω of each customer
        "most": whole,
        "lower": number,
        "upper": number,
        # Of the last step: the seed's request, who was removed, and what came of it.
        "seed": whole,
        "removed": wholes,
        "n_removed": whole,
        "unit": number,
        "change": number,
    }

    def __post_init__(self) -> None:
        if not (0 <= self.lower <= self.upper and math.isfinite(self.upper)):
            raise InputError(f"bounds {self.lower} and {self.upper} of the intensity must be at least 0 and rise.")

    def start(self, portfolio: Portfolio, customers: int = 1) -> Struct:
        most = min(MOST_REMOVED, customers)
        first = min(max(1, math.ceil(math.log(customers + 1))), most)
        return self.new_memory(
            counts=np.array([len(portfolio.destroys), len(portfolio.repairs)]),
            intensity=np.full(customers + 1, first),
            most=most,
            lower=self.lower,
            upper=self.upper,
            seed=0,
            removed=np.zeros(MOST_REMOVED, np.int64),
            n_removed=0,
            unit=0.0,
            change=0.0,
        )

    @staticmethod
    def choose(memory, state, phase):
        if phase == DESTROY:
            _learn(memory, state)
            _begin(memory, state)
        else:
            memory.n_removed = min(state.n_removed, len(memory.removed))
            for index in range(memory.n_removed):
                memory.removed[index] = state.removed[index]
        return randint(state, memory.counts[phase])

    @staticmethod
    def update(memory, destroy, repair, outcome, change):
        # What follows from it is for the next choice, which has random numbers.
        memory.change = change


@compiled
def _begin(memory, state):
    """Draw the seed of a step, which says how many are removed, and up to which cost the candidate matters."""
    status = state.status
    status.seed = 0
    status.seed = random_routed(state)
    memory.seed = request_of(state, status.seed)
    status.quota = memory.intensity[memory.seed]
    memory.unit = abs(status.current) / (state.present + 2 * state.n_routes + 1e-9)
    if status.current >= state.unserved_cost:
        # The penalty of somebody left out says nothing about arcs.
        memory.unit = 0.0
    status.finish_below = status.current + memory.upper * memory.unit


@compiled
def _learn(memory, state):
    """Bring the numbers of those whom the last step has removed nearer to what their place needs."""
    if memory.unit <= 0.0:
        return
    intensity, base = memory.intensity, memory.intensity[memory.seed]
    low, high = max(1, base - 1), min(memory.most, base + 1)
    too_much = memory.change > memory.upper * memory.unit
    too_little = 0.0 <= memory.change < memory.lower * memory.unit
    for index in range(memory.n_removed):
        customer = memory.removed[index]
        if too_much or (not too_little and randint(state, 2) == 0):
            if intensity[customer] > low:
                intensity[customer] -= 1
        elif intensity[customer] < high:
            intensity[customer] += 1
