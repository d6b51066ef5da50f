"""The paper's learned roulette wheel (LRW) and fixed pairs, as selectors for alns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from neuralns.bridges.alns.runs import MakeAccept, MakeAlns, Search, coupling_of, hill_climbing
from neuralns.bridges.alns.selector import OperatorSelectionScheme
from neuralns.errors import InputError

Floats = npt.NDArray[np.float64]


class FixedPair(OperatorSelectionScheme):  # type: ignore[misc]
    """Choose the same pair in every iteration."""

    def __init__(self, num_destroy: int, num_repair: int, pair: tuple[int, int]) -> None:
        super().__init__(num_destroy, num_repair)
        self.pair = pair

    def __call__(self, rng: np.random.Generator, best: Any, curr: Any) -> tuple[int, int]:
        return self.pair

    def update(self, candidate: Any, d_idx: int, r_idx: int, outcome: int) -> None:
        """Learn nothing."""


class LRW(OperatorSelectionScheme):  # type: ignore[misc]
    """Choose each operator in proportion to a weight that was learned before the search (see `train_lrw`).

    Examples
    --------
    >>> wheel = LRW([1.0, 0.0], [0.0, 2.0])
    >>> wheel(np.random.default_rng(0), None, None)
    (0, 1)
    """

    def __init__(
        self, destroy_weights: npt.ArrayLike, repair_weights: npt.ArrayLike, op_coupling: npt.ArrayLike | None = None
    ) -> None:
        self.destroy_weights = np.array(destroy_weights, dtype=np.float64)
        self.repair_weights = np.array(repair_weights, dtype=np.float64)
        for weights in (self.destroy_weights, self.repair_weights):
            if weights.ndim != 1 or not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
                raise InputError(f"weights {weights.tolist()} must be finite, none below 0, and one above 0.")
        super().__init__(len(self.destroy_weights), len(self.repair_weights), op_coupling)
        self.uses = np.zeros(self.num_destroy + self.num_repair)
        weights = self.destroy_weights[:, None] * (self.repair_weights * self.op_coupling)
        rows = weights.sum(axis=1)
        # A destroy operator is drawn by its own weight, then a repair operator that goes with it.
        with np.errstate(invalid="ignore", divide="ignore"):
            weights = np.where(rows[:, None] > 0, weights / rows[:, None] * self.destroy_weights[:, None], 0.0)
        if not weights.any():
            raise InputError("no pair that is coupled has a weight above 0.")
        self._sums = np.cumsum(weights.ravel())

    def __call__(self, rng: np.random.Generator, best: Any, curr: Any) -> tuple[int, int]:
        pair = int(self._sums.searchsorted(rng.random() * self._sums[-1], side="right"))
        pair = min(pair, len(self._sums) - 1)
        return pair // len(self.repair_weights), pair % len(self.repair_weights)

    def update(self, candidate: Any, d_idx: int, r_idx: int, outcome: int) -> None:
        """Count uses; weights stay as they are."""
        self.uses[d_idx] += 1
        self.uses[self.num_destroy + r_idx] += 1


def train_lrw(
    make_alns: MakeAlns,
    initial_states: Sequence[Any],
    *,
    episodes: int = 200,
    length: int = 10,
    segment: int = 20,
    reaction: float = 0.9,
    make_accept: MakeAccept = hill_climbing,
    op_coupling: npt.ArrayLike | None = None,
    seed: int = 0,
) -> LRW:
    """Train the learned roulette wheel on episodes of a user's own search.

    Weights start at 1. The improvement of an episode is the score of every operator, once for each time that it was
    used; after each segment of episodes w ← (1 − α) w + α ψ / N for operators with a score ψ above 0, where N is the
    number of episodes in the segment. Scores are relative to the cost at the start of the episode.

    Parameters
    ----------
    episodes, length, segment
        Episodes in all, pairs of operators in one, and episodes between two updates of the weights.
    reaction
        α.
    """
    search = Search(make_alns, make_accept, iterations=length, clock="iterations")
    destroys, repairs = search.operators()
    coupling = coupling_of(op_coupling, (len(destroys), len(repairs)))
    return learn_wheel(
        lambda state, wheel, number: search.run(state, wheel, number)[0], initial_states, coupling,
        episodes=episodes, segment=segment, reaction=reaction, seed=seed,
    )  # fmt: skip


def learn_wheel(
    play: Callable[[Any, LRW, int], float],
    initial_states: Sequence[Any],
    coupling: npt.NDArray[np.bool_],
    *,
    episodes: int = 200,
    segment: int = 20,
    reaction: float = 0.9,
    seed: int = 0,
) -> LRW:
    """Train the wheel (see `train_lrw`) on episodes that ``play`` plays from a state with a wheel and a seed.

    ``play`` returns the cost that an episode ends with.
    """
    if not initial_states:
        raise InputError("training needs at least 1 initial state.")
    if segment < 1 or episodes < segment:
        raise InputError(f"{episodes} episodes do not hold a segment of {segment}.")
    if not 0 < reaction <= 1:
        raise InputError(f"reaction {reaction} must lie above 0 and at most at 1.")
    destroys = len(coupling)
    rng = np.random.default_rng([seed, 21])
    weights = np.ones(sum(coupling.shape))
    for _ in range(episodes // segment):
        scores = np.zeros(len(weights))
        for _ in range(segment):
            state = initial_states[int(rng.integers(len(initial_states)))]
            wheel = LRW(weights[:destroys], weights[destroys:], coupling)
            cost = play(state, wheel, int(rng.integers(2**31)))
            start = float(state.objective())
            scores += wheel.uses * max(0.0, start - cost) / (abs(start) or 1.0)
        # Weights count against each other alone.
        scores *= segment / max(float(scores.mean()), 1e-300)
        weights = np.where(scores > 0, (1 - reaction) * weights + reaction * scores / segment, weights)
    return LRW(weights[:destroys], weights[destroys:], coupling)
