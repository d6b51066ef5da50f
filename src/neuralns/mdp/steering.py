"""Steering a search between its segments as a Gymnasium environment."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from neuralns.operators.portfolio import Portfolio
from neuralns.problem.instance import Instance
from neuralns.search.acceptance.annealing import SimulatedAnnealing
from neuralns.search.search import Search
from neuralns.search.setup import make_setup, prepare
from neuralns.search.stopping import MaxTime
from neuralns.selection.controller import Controller, Setting, View
from neuralns.selection.dr_alns import FEATURES, Watched, sizes_of

Observation = npt.NDArray[np.float32]

NEW_BEST = 5.0
"""Reward of a segment that finds a new best solution."""


class Steering(gymnasium.Env[Observation, npt.NDArray[np.int64]]):
    """Steering searches, as DR-ALNS does (see `neuralns.selection.dr_alns`).

    ## Description

    An episode is a search of some seconds of processor time on an instance; a step is a segment of it, of about 50 ms.
    Time between two steps, in which an agent learns, does not count.

    ## Action Space

    ``MultiDiscrete``: a destroy operator, a repair operator, ten levels of the scale, ten of the temperature.

    ## Observation Space

    ``Box(0, 100, (8,), float32)``: the features of `Watched`.

    ## Rewards

    5 for a segment that finds a new best solution, else 0. The authors' code gives the same for an iteration; the 3 for
    a better and 1 for an accepted solution are left out there as well.

    ## Starting State

    Routes by savings on the next instance.

    ## Episode End

    The episode terminates when the time of the search is used up. ``info`` then has the ``cost`` of the best solution,
    that of the ``start``, and ``unserved`` customers.

    ## Arguments

    ``instance_of`` returns the instance of an episode by its number; ``seconds`` is the time of a search, or the least
    and the most to draw it from; ``number`` that of the first episode.
    """

    def __init__(
        self,
        instance_of: Callable[[int], Instance],
        portfolio: Portfolio,
        seconds: tuple[float, float],
        number: int = 0,
        seed: int = 0,
    ) -> None:
        self.portfolio = portfolio
        self.number = number
        self._instance_of = instance_of
        self._seconds = seconds
        self._seed = seed
        self._driven = _Driven()
        self._watched = Watched()
        self._search: _Metered | None = None
        self._before = 0.0
        self.action_space = spaces.MultiDiscrete([*sizes_of(portfolio)])
        self.observation_space = spaces.Box(0.0, 100.0, (len(FEATURES),), np.float32)

    @property
    def spent(self) -> float:
        """Seconds of searching so far, in all episodes."""
        return self._before + (0.0 if self._search is None else self._search.elapsed)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        super().reset(seed=seed)
        instance = self._instance_of(self.number)
        rng = np.random.default_rng((self._seed, self.number))
        acceptance, stop = SimulatedAnnealing(), MaxTime(float(rng.uniform(*self._seconds)))
        self._driven, self._watched = _Driven(), Watched()
        prepare(self.portfolio, self._driven, acceptance, stop, instance)
        setup = make_setup(instance, stop, self._driven, self.portfolio, acceptance=acceptance)
        self._before = self.spent
        self._search = _Metered(setup, np.random.SeedSequence((self._seed, self.number)), 0.0)
        self.number += 1
        return self._watched.features(self._search.view()).astype(np.float32), {}

    def step(self, action: npt.NDArray[np.int64]) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        search, driven = self._search, self._driven
        assert search is not None, "reset comes before step"
        driven.setting, driven.view = self._watched.setting(action, self.portfolio, self.portfolio), None
        while driven.view is None:
            search.advance()
        view = driven.view
        over = search.reason_to_stop() is not None
        info: dict[str, Any] = {}
        if over:
            best = search.best()
            info = {"cost": best.cost, "start": search.setup.initial.cost, "unserved": len(best.unserved)}
        found = bool(view.new_best.sum() > 0)
        return self._watched.features(view).astype(np.float32), NEW_BEST * found, over, False, info


class _Driven(Controller):
    """A controller that sets what it is given, and keeps what it is told."""

    name = "driven"
    setting: Setting | None = None
    view: View | None = None

    def control(self, view: View) -> Setting | None:
        return self.setting

    def observe(self, view: View) -> None:
        self.view = view


class _Metered(Search):
    """A search whose clock is the processor time that its segments take."""

    _spent = 0.0
    _since: float | None = None

    @property
    def elapsed(self) -> float:
        return self._spent + (0.0 if self._since is None else time.process_time() - self._since)

    def advance(self, iterations: float = np.inf) -> None:
        self._since = time.process_time()
        super().advance(iterations)
        self._spent, self._since = self.elapsed, None

    def view(self) -> View:
        """Return where it stands, as a controller sees it at the first question."""
        return self._view(self._seen)
