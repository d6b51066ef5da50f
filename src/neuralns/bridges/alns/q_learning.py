"""What pairs are worth by all that follows: Q-learning from records of searches, with numpy alone.

As in the paper's DQN, transitions are drawn from a memory, here all that was recorded, and a network Q is moved towards

    gain + γ^t P'(s', argmax Q(s', ·)).

Iterations differ in length, so t is the time of the iteration, in those of a mean one: of two pairs that gain the same,
the quicker is worth more. Nothing follows the end of a run. Gains are rare and pairs many, so that the largest of their
values is mostly luck, and would be far too large in the end; therefore there are two networks, Q and P, each of which
learns from its own half of the transitions and asks the other what the pair of its choice is worth (double Q-learning,
van Hasselt 2010). P' is a copy that is renewed now and then. Pairs are chosen by the mean of both.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from neuralns.bridges.alns.fitting import Record
from neuralns.bridges.alns.q_values import Floats, Layers, values_of

Indices = npt.NDArray[np.int64]

HIDDEN = (32, 16)
DISCOUNT = 0.95
"""γ: what comes within about 20 iterations counts."""
STEPS = 3000
BATCH = 64
RATE = 0.002
"""Of Adam; it falls linearly to 0."""
TARGET_EVERY = 50
PAIR_SHARE = 0.5
"""Of a step in the value of an operator, what the value of a single pair moves by."""
_FIRST, _SECOND, _TINY = 0.9, 0.999, 1e-8


class QLearner:
    """Two networks that learn from records, and go on learning from more of them.

    Parameters
    ----------
    features
        How many numbers are seen.
    allowed
        Which pairs may be used, a row for each destroy operator.
    seed
        Of their first weights, and of what is drawn from memory.
    """

    def __init__(self, features: int, allowed: npt.NDArray[np.bool_], seed: int) -> None:
        self._rng = np.random.default_rng([seed, 22])
        self._closed = ~allowed.ravel()
        # The value of a pair has parts: one for all, one for each of its operators, and one of its own.
        destroys, repairs = allowed.shape
        pairs = np.arange(allowed.size)
        parts = 1 + destroys + repairs + allowed.size
        self._parts = np.zeros((parts, allowed.size))
        self._parts[0] = 1.0
        self._parts[1 + pairs // repairs, pairs] = 1.0
        self._parts[1 + destroys + pairs % repairs, pairs] = 1.0
        self._parts[1 + destroys + repairs + pairs, pairs] = PAIR_SHARE
        widths = (features, *HIDDEN)
        self._tables = [
            table
            for before, after in pairwise(widths)
            for table in (self._rng.normal(0.0, (2.0 / before) ** 0.5, (2, before, after)), np.zeros((2, 1, after)))
        ]
        self._tables += [np.zeros((2, HIDDEN[-1], parts)), np.zeros((2, 1, parts))]
        # Values are about 1 (see `learn`): to come there from 0 would take most of the time.
        self._tables[-1][:, :, 0] = 1.0

    @property
    def _both(self) -> Layers:
        """The two networks, one behind the other, with a value for each pair."""
        *hidden, weights, bias = self._tables
        inner = [(hidden[index].copy(), hidden[index + 1].copy()) for index in range(0, len(hidden), 2)]
        return (*inner, (weights @ self._parts, bias @ self._parts))

    @property
    def layers(self) -> Layers:
        """One network, whose values are the mean of those of the two."""
        (first, first_bias), *inner, (last, last_bias) = self._both
        joined = [(np.hstack([*first]), np.hstack([*first_bias])[0])]
        for (one, other), bias in inner:
            apart = np.zeros((len(one), other.shape[1]))
            joined.append((np.block([[one, apart], [apart, other]]), np.hstack([*bias])[0]))
        return (*joined, (np.vstack([*last]) / 2.0, last_bias.mean(axis=0)[0]))

    def learn(self, records: Sequence[Record]) -> None:
        """Learn from all that was recorded."""
        pairs = np.concatenate([record.pairs for record in records])
        seen = np.concatenate([record.seen for record in records])
        then = np.concatenate([np.vstack([record.seen[1:], record.seen[-1:]]) for record in records])
        seconds = np.concatenate([record.seconds for record in records])
        events = np.concatenate([record.events for record in records])
        discounts = DISCOUNT ** (seconds / max(float(seconds.mean()), 1e-12))
        discounts[np.cumsum([len(record.pairs) for record in records]) - 1] = 0.0
        # However often something is gained, values are about 1.
        rewards = events * ((1.0 - DISCOUNT) / max(float(events.mean()), 1e-12))
        first, second = ([np.zeros_like(table) for table in self._tables] for _ in range(2))
        networks = goals = self._both
        for step in range(STEPS):
            if step % TARGET_EVERY == 0:
                goals = tuple((weights[::-1], bias[::-1]) for weights, bias in networks)
            # Every other transition is the first network's.
            rows = 2 * self._rng.integers((len(pairs) + 1) // 2, size=(2, BATCH)) + [[0], [1]]
            rows = np.minimum(rows, len(pairs) - 1)
            chosen = values_of(networks, then[rows])
            chosen[:, :, self._closed] = -np.inf
            follow = _of(values_of(goals, then[rows]), chosen.argmax(axis=2))
            slopes = self._slopes(networks, seen[rows], pairs[rows], rewards[rows] + discounts[rows] * follow)
            rate = RATE * (1.0 - step / STEPS)
            for table, slope, mean, square in zip(self._tables, slopes, first, second, strict=True):
                mean += (1.0 - _FIRST) * (slope - mean)
                square += (1.0 - _SECOND) * (slope * slope - square)
                scaled = mean / (1.0 - _FIRST ** (step + 1))
                table -= rate * scaled / (np.sqrt(square / (1.0 - _SECOND ** (step + 1))) + _TINY)
            networks = self._both

    def _slopes(self, networks: Layers, seen: Floats, pairs: Indices, goals: Floats) -> list[Floats]:
        """Return how the mean squared errors of both networks change with each table."""
        coming = [seen]
        for weights, bias in networks[:-1]:
            coming.append(np.maximum(coming[-1] @ weights + bias, 0.0))
        weights, bias = networks[-1]
        values = coming[-1] @ weights + bias
        back = np.zeros_like(values)
        error = (_of(values, pairs) - goals) * (2.0 / goals.shape[1])
        np.put_along_axis(back, pairs[:, :, None], error[:, :, None], axis=2)
        over = self._parts.T
        found = [coming[-1].swapaxes(-1, -2) @ back @ over, back.sum(axis=1, keepdims=True) @ over]
        for index in range(len(networks) - 2, -1, -1):
            back = (back @ networks[index + 1][0].swapaxes(-1, -2)) * (coming[index + 1] > 0.0)
            found = [coming[index].swapaxes(-1, -2) @ back, back.sum(axis=1, keepdims=True), *found]
        return found


def _of(values: Floats, pairs: Indices) -> Floats:
    """Return the values of the given pairs alone."""
    found: Floats = np.take_along_axis(values, pairs[:, :, None], axis=2)[:, :, 0]
    return found
