"""Controllers that weigh operators by what they bring in a second: a bandit, and the classic wheel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from neuralns.errors import InputError
from neuralns.selection.controller import Controller, Setting, View

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class GainBandit(Controller):
    """Pairs drawn by their gain per second of late.

    Each question fades what was seen before by the factor λ: G ← λ G + g and S ← λ S + s for the gains g and seconds s
    of a pair since the last one. Its weight is ε / K + (1 − ε) r / Σ r with the rate r = (G / S)^β, K the number of
    pairs; a gain is any lowering of the current cost. The pairs that were not used yet count as the mean.

    Parameters
    ----------
    explore
        ε, the share of iterations whose pair is drawn uniformly.
    fade
        λ.
    power
        β: the larger, the more the best pair gets.
    """

    explore: float = 0.1
    fade: float = 0.95
    power: float = 2.0
    name: str = "gain"

    looks_at_routes: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for label, value in (("explore", self.explore), ("fade", self.fade)):
            if not 0 <= value <= 1:
                raise InputError(f"{label} {value} of the bandit must lie between 0 and 1.")
        if not 0 < self.power <= 100:
            raise InputError(f"power {self.power} of the bandit must lie above 0, up to 100.")

    def begin(self) -> Controller:
        return _GainBandit(self)


class _GainBandit(Controller):
    """What a bandit has seen in a search."""

    def __init__(self, rule: GainBandit) -> None:
        self.name = rule.name
        self._rule = rule
        self._gains: Floats | float = 0.0
        self._seconds: Floats | float = 0.0

    def control(self, view: View) -> Setting | None:
        rule = self._rule
        gains = self._gains = rule.fade * self._gains + view.gains
        seconds = self._seconds = rule.fade * self._seconds + view.seconds
        if not gains.any():
            return None
        rates = np.where(seconds > 0, gains / np.maximum(seconds, 1e-12), gains.sum() / seconds.sum())
        rates = (rates / rates.max()) ** rule.power
        return Setting(rule.explore / rates.size + (1 - rule.explore) * rates / rates.sum())


@dataclass(frozen=True)
class TimedRoulette(Controller):
    """The classic wheel (see `Roulette`) whose scores count per second, not per use.

    After each question w ← (1 − α) w + α R for each destroy and each repair operator, where R is the score of its
    iterations since the last one for each second that they took, over the mean of all operators of the phase. Ropke &
    Pisinger 2006, section 3.4, with time in place of the number of uses.

    Parameters
    ----------
    scores
        (δ1, δ2, δ3) for a new best solution, a better one than the current, one accepted; falling.
    reaction
        α.
    """

    scores: tuple[float, float, float] = (33.0, 13.0, 9.0)
    reaction: float = 0.1
    name: str = "timed-roulette"

    looks_at_routes: ClassVar[bool] = False

    def __post_init__(self) -> None:
        best, better, accepted = self.scores
        if not best > better > accepted >= 0:
            raise InputError(f"roulette scores {self.scores} must fall: δ1 > δ2 > δ3 ≥ 0.")
        if not 0 <= self.reaction <= 1:
            raise InputError(f"roulette reaction {self.reaction} must lie between 0 and 1.")

    def begin(self) -> Controller:
        return _TimedRoulette(self)


class _TimedRoulette(Controller):
    """The weights of the wheel in a search."""

    def __init__(self, rule: TimedRoulette) -> None:
        self.name = rule.name
        self._rule = rule
        self._weights: list[Floats] = []

    def control(self, view: View) -> Setting | None:
        if not self._weights:
            self._weights = [np.ones(count) for count in view.uses.shape]
        best, better, accepted = self._rule.scores
        points = (
            best * view.new_best + better * (view.improved - view.new_best) + accepted * (view.accepted - view.improved)
        )
        for axis, weights in enumerate(self._weights):
            won, took = (each.sum(axis=1 - axis) for each in (points, view.seconds))
            if won.sum() > 0:
                rates = np.where(took > 0, won / np.maximum(took, 1e-12) * took.sum() / won.sum(), weights)
                weights += self._rule.reaction * (rates - weights)
                np.maximum(weights, 1e-6, out=weights)
        return Setting(np.outer(*self._weights))
