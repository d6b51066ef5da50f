"""Pairs chosen by a small network that says what all that follows is worth after each of them, with numpy alone."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from neuralns.bridges.alns.online import Learner, Settings

Floats = npt.NDArray[np.float64]
Layers = tuple[tuple[Floats, Floats], ...]
"""Weights, a row for each number that comes in, and bias of each layer."""


def values_of(layers: Layers, numbers: Floats) -> Floats:
    """Return what each pair is worth in a state with the given numbers; rows of numbers give rows of values.

    >>> layers = ((np.array([[1.0, -1.0]]), np.zeros(2)), (np.array([[2.0], [3.0]]), np.array([0.5])))
    >>> values_of(layers, np.array([[1.0], [-1.0]])).ravel()
    array([2.5, 3.5])
    """
    for weights, bias in layers[:-1]:
        numbers = np.maximum(numbers @ weights + bias, 0.0)
    weights, bias = layers[-1]
    found: Floats = numbers @ weights + bias
    return found


class ByValue(Learner):
    """Chooses the pair of the largest value, and a pair by chance in a share of the iterations.

    It learns nothing in the search at hand: what a pair makes possible later cannot be told from single gains.
    """

    def __init__(self, allowed: npt.NDArray[np.bool_], settings: Settings, layers: Layers, exploration: float) -> None:
        super().__init__(allowed, settings)
        self.layers = layers
        self.adapts = False
        self._chances = exploration * allowed.ravel() / allowed.sum()
        self._rest = 1.0 - exploration

    def renew(self, numbers: Floats) -> None:
        """Begin a segment in a state with the given numbers."""
        self.numbers = numbers
        values = values_of(self.layers, numbers)
        if self.closed is not None:
            values[self.closed] = -np.inf
        chances = self._chances.copy()
        chances[values.argmax()] += self._rest
        self._sums = chances.cumsum()
        self._age = 0
