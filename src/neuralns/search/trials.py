"""Short trials that find the best fixed pair of operators for some instances."""

from __future__ import annotations

import signal
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from neuralns.operators.portfolio import Portfolio
from neuralns.problem.instance import Instance
from neuralns.problem.solution import Solution
from neuralns.routes.bounds import charged_cost
from neuralns.search.acceptance.rule import Acceptance
from neuralns.search.interrupt import Interrupts
from neuralns.search.search import Search
from neuralns.search.setup import Scale, Start, make_setup, prepare
from neuralns.search.stopping import Stop
from neuralns.search.supervision import Supervised
from neuralns.selection.fixed import Fixed, fixed_pairs

TRIAL_SEED = 1_000_000
"""Seed of trials, far from those that people take."""


@dataclass(frozen=True)
class Trials:
    """Searches with every pair of a portfolio on some instances, each of a share of the limit that a run has.

    The pair with the lowest cost is the best fixed pair, costs being taken relative to the lowest of the instance.
    """

    instances: Sequence[Instance]
    portfolio: Portfolio
    stop: Stop
    share: float
    scale: Scale = None
    initial: Start = "savings"
    acceptance: Acceptance | None = None
    workers: int = 1
    sigterm: bool = False
    """Whether SIGTERM ends them as Ctrl-C does."""
    found: list[Solution] = field(default_factory=list, compare=False)
    """The best solution of each trial that has ended."""

    def best_fixed(self) -> Fixed:
        """Return the best pair.

        A function that gives no answer, or fails, ends all trials by `GivenUpError`. A signal ends them, too, and is
        passed on.
        """
        pairs = fixed_pairs(self.portfolio)
        trials = [(pair, instance) for pair in pairs for instance in self.instances]
        with Interrupts(patient=True, sigterm=self.sigterm) as interrupts, ThreadPoolExecutor(self.workers) as pool:
            found = list(pool.map(lambda trial: self._cost(*trial), trials))
        if interrupts.caught is not None:
            signal.raise_signal(signal.Signals[interrupts.caught])
            return pairs[0]
        costs = np.array(found).reshape(len(pairs), len(self.instances))
        return pairs[int((costs / costs.min(axis=0)).mean(axis=1).argmin())]

    def _cost(self, pair: Fixed, instance: Instance) -> float:
        # The seeds are those of a search by `solve`: one for the start, one for the rest.
        start_seed, search_seed = np.random.SeedSequence(TRIAL_SEED).spawn(2)
        setup = make_setup(
            instance, self.stop.scaled(self.share), pair, self.portfolio, scale=self.scale, initial=self.initial,
            acceptance=self.acceptance, seed=start_seed,
        )  # fmt: skip
        prepare(setup.portfolio, setup.selector, setup.acceptance, setup.stop, instance)
        with Supervised(lambda hook: Search(setup, search_seed, time.perf_counter(), hook)) as supervised:
            try:
                search = supervised.finish()
            finally:
                # One that was given up may have been writing it.
                self.found.extend(best for best in [supervised.search.best()] if not best.broken_rules())
        return charged_cost(search.best())
