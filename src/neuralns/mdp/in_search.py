"""Agents evaluated inside ALNS, in the setting of the paper's Table 2: few iterations from every test tour."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from neuralns.errors import InputError
from neuralns.mdp.baselines import best_fixed_pair, train_roulette
from neuralns.mdp.evaluate import confidence
from neuralns.mdp.mdp import MDP, SET_SIZE, named_seed
from neuralns.search.acceptance import Acceptance, SimulatedAnnealing
from neuralns.search.search import Plan, Search, prepare
from neuralns.search.stopping import MaxIterations
from neuralns.selection.named import selector_named
from neuralns.selection.selector import Selector

PAIRS = 20
ACCEPTANCE = SimulatedAnnealing(100.0, 1.0)
"""The paper's simulated annealing: from temperature 100, cooling geometrically."""


@dataclass(frozen=True)
class SearchEvaluation:
    """How an agent did inside ALNS.

    Attributes
    ----------
    courses, costs
        Mean of the current F over the iterations of a run, and the best F that it found, for each seed and tour. The
        paper's Table 2 has "the average and best objective values found within a fixed number of iterations": of these
        its columns ``avg`` and ``min`` are the means over the tours.
    """

    agent: str
    mdp: MDP
    pairs: int
    courses: npt.NDArray[np.float64]
    costs: npt.NDArray[np.float64]
    seconds: float

    @property
    def average(self) -> float:
        """Mean of F over the iterations, tours and seeds."""
        return float(self.courses.mean())

    @property
    def average_ci(self) -> float:
        """Half of the 95 % confidence interval of the average over seeds."""
        return confidence(self.courses.mean(axis=1))

    @property
    def minimum(self) -> float:
        """Mean over tours and seeds of the best F of a run."""
        return float(self.costs.mean())

    @property
    def minimum_ci(self) -> float:
        return confidence(self.costs.mean(axis=1))

    def as_dict(self) -> dict[str, Any]:
        """Return all figures as plain values."""
        seeds = len(self.costs)
        return {
            "agent": self.agent,
            **self.mdp.as_dict(),
            "iterations": self.pairs,
            "episodes": self.costs.shape[1],
            "seeds": seeds,
            "average": self.average,
            "average_ci": None if seeds == 1 else self.average_ci,
            "minimum": self.minimum,
            "minimum_ci": None if seeds == 1 else self.minimum_ci,
        }


def evaluate_in_search(
    mdp: MDP,
    agent: str | Selector | Mapping[int, Selector],
    *,
    pairs: int = PAIRS,
    tours: str = "test",
    episodes: int = SET_SIZE,
    seeds: int = 10,
    temperature: float | None = None,
    acceptance: Acceptance = ACCEPTANCE,
    progress: Callable[[int, int], object] | None = None,
) -> SearchEvaluation:
    """Run ALNS for so many pairs of operators from every start tour, once for each seed.

    ``agent`` is a selector or its name, one for each seed, ``best-fixed`` (found on the training tours), ``lrw``
    (trained anew for each seed), or policy files with ``{seed}`` in their name.
    """
    if pairs < 1 or seeds < 1:
        raise InputError(f"{pairs} pairs and {seeds} seeds asked for; at least 1 of each is needed.")
    starts = mdp.start_tours(tours, episodes)
    name = agent if isinstance(agent, str) else agent[0].name if isinstance(agent, Mapping) else agent.name
    fixed = best_fixed_pair(mdp) if agent == "best-fixed" else None

    def selector_for(seed: int) -> Selector:
        if isinstance(agent, Mapping):
            return agent[seed]
        if not isinstance(agent, str):
            return agent
        if fixed is not None:
            return fixed
        if agent == "lrw":
            return train_roulette(mdp, seed)
        if agent == "oracle":
            raise InputError("the oracle plays episodes of the MDP only.")
        return selector_named(agent.replace("{seed}", str(seed)), temperature)

    first = selector_for(0)
    first.start(mdp.portfolio, mdp.instance.customers)
    prepare(mdp.portfolio, first)
    begin = time.perf_counter()
    courses, costs = np.zeros((2, seeds, len(starts)))
    for seed in range(seeds):
        selector = first if seed == 0 else selector_for(seed)
        for number, start in enumerate(starts):
            temperatures = acceptance.temperatures(start)
            plan = Plan(
                mdp.instance, MaxIterations(pairs), selector, mdp.portfolio, (mdp.scale, mdp.scale), acceptance,
                temperatures, start,
            )  # fmt: skip
            search = Search(plan, named_seed("in search", seed, number), time.perf_counter())
            while search.reason_to_stop() is None:
                search.advance()
            courses[seed, number], costs[seed, number] = search.mean_cost, search.best().cost
        if progress is not None:
            progress(seed + 1, seeds)
    return SearchEvaluation(name, mdp, pairs, courses, costs, time.perf_counter() - begin)
