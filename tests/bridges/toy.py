"""A search as a user of alns writes it, small enough for tests: lights to be switched off, the heavy ones first."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from alns import ALNS

WEIGHTS = np.arange(1.0, 13.0)


class Lights:
    """Which lights are on; what they weigh is to be minimised."""

    def __init__(self, on: npt.NDArray[np.bool_], open_at: tuple[int, ...] = ()) -> None:
        self.on, self.open_at = on, open_at

    def objective(self) -> float:
        return float(WEIGHTS[self.on].sum()) + 1.0

    def get_context(self) -> npt.NDArray[np.float64]:
        return np.array([self.on.mean(), self.on[:6].mean(), 1.0])


class PlainLights(Lights):
    """The same without numbers of its own."""

    get_context = None  # type: ignore[assignment]


def all_on() -> Lights:
    return Lights(np.ones(len(WEIGHTS), bool))


def one(state: Lights, rng: np.random.Generator) -> Lights:
    return type(state)(state.on.copy(), (int(rng.integers(len(WEIGHTS))),))


def nothing(state: Lights, rng: np.random.Generator) -> Lights:
    return type(state)(state.on.copy())


def by_chance(state: Lights, rng: np.random.Generator) -> Lights:
    for place in state.open_at:
        state.on[place] = rng.random() < 0.9
    return state


def off(state: Lights, rng: np.random.Generator) -> Lights:
    for place in state.open_at:
        state.on[place] = False
    return state


def make_alns(rng: np.random.Generator) -> ALNS:
    alns = ALNS(rng)
    alns.add_destroy_operator(nothing)
    alns.add_destroy_operator(one)
    alns.add_repair_operator(by_chance)
    alns.add_repair_operator(off)
    return alns
