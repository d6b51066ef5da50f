"""Agents evaluated inside ALNS, in the setting of the paper's Table 2: few iterations from every test tour."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from neuralns.errors import InputError, InputWarning
from neuralns.mdp.evaluate import OracleAgent, SelectorAgent, agent_named, confidence
from neuralns.mdp.mdp import MDP, SET_SIZE, named_seed
from neuralns.routes.bounds import charged_cost
from neuralns.search.acceptance.annealing import DrawnAfterRepair
from neuralns.search.acceptance.rule import Acceptance
from neuralns.search.search import Search
from neuralns.search.setup import Setup, make_setup, prepare
from neuralns.search.stopping import MaxIterations
from neuralns.search.supervision import Supervised
from neuralns.selection.selector import Selector, new_memory_of

PAIRS = 20
ACCEPTANCE = DrawnAfterRepair(100.0, 1.0)
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
    seeds: int | Sequence[int] = 10,
    temperature: float | None = None,
    acceptance: Acceptance = ACCEPTANCE,
    progress: Callable[[int, int], object] | None = None,
) -> SearchEvaluation:
    """Run ALNS for so many pairs of operators from every start tour, once for each seed.

    ``agent`` is a selector, one for each seed, or a name as `agent_named` takes it.
    """
    numbers = range(seeds) if isinstance(seeds, int) else seeds
    if pairs < 1 or not numbers:
        raise InputError(f"{pairs} pairs and {seeds} seeds asked for; at least 1 of each is needed.")
    starts = mdp.start_tours(tours, episodes)
    if isinstance(agent, str):
        player = agent_named(agent, mdp, temperature)
        if isinstance(player, OracleAgent):
            raise InputError("the oracle plays episodes of the MDP only.")
    else:
        player = SelectorAgent(agent, agent[numbers[0]].name if isinstance(agent, Mapping) else agent.name)
    first = player.selector_for(numbers[0])
    new_memory_of(first, mdp.portfolio, mdp.instance.customers, mdp.instance)
    doubt = first.doubt_of_length(pairs)
    if doubt is not None:
        warnings.warn(doubt, InputWarning, stacklevel=2)
    stop = MaxIterations(pairs)
    prepare(mdp.portfolio, first, acceptance, stop, mdp.instance)
    begin = time.perf_counter()
    courses, costs = np.zeros((2, len(numbers), len(starts)))
    for row, seed in enumerate(numbers):
        selector = first if row == 0 else player.selector_for(seed)
        setup = make_setup(
            mdp.instance, stop, selector, mdp.portfolio, scale=mdp.scale, acceptance=acceptance, initial=starts[0]
        )
        for number, start in enumerate(starts):
            search = _searched(setup.starting_from(start), named_seed("in search", seed, number))
            courses[row, number], costs[row, number] = search.mean_cost, charged_cost(search.best())
        if progress is not None:
            progress(row + 1, len(numbers))
    return SearchEvaluation(player.name, mdp, pairs, courses, costs, time.perf_counter() - begin)


def _searched(setup: Setup, seed: np.random.SeedSequence) -> Search:
    with Supervised(lambda hook: Search(setup, seed, time.perf_counter(), hook)) as supervised:
        return supervised.finish()
