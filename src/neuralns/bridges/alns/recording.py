"""What happened in runs of a user's search, recorded as a selector sees it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from neuralns.bridges.alns.fitting import Record
from neuralns.bridges.alns.selector import LearnedSelector
from neuralns.bridges.alns.status import LIMIT, STATUS

Floats = npt.NDArray[np.float64]

STATUS_SIZE = 1 + len(STATUS)
"""What is seen before the state's own numbers: a constant, and the status."""


class Recorder(LearnedSelector):
    """A selector that keeps what it saw and what came of it; the state's own numbers as they were told."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._kept: list[tuple[int, Floats, float, float]] = []

    def _learn(self, pair: int, event: float, spent: float) -> None:
        numbers = np.concatenate((self.learner.numbers[:STATUS_SIZE], self.context.told))
        super()._learn(pair, event, spent)
        self._kept.append((pair, numbers, event, spent))

    def record(self) -> Record:
        pairs, numbers, events, seconds = zip(*self._kept, strict=True)
        # Single times are noisy; those of a pair differ little from each other.
        mean = np.array(seconds)
        chosen = np.array(pairs)
        for pair in np.unique(chosen):
            mean[chosen == pair] = mean[chosen == pair].mean()
        return Record(chosen, np.stack(numbers), np.array(events), mean)


def spread(records: Sequence[Record]) -> tuple[Floats, Floats]:
    """Return mean and deviation of the state's own numbers."""
    told = np.concatenate([record.seen[:, STATUS_SIZE:] for record in records])
    mean, deviation = told.mean(axis=0), told.std(axis=0)
    return mean, np.where(deviation > 1e-9 * (1.0 + np.abs(mean)), deviation, 1.0)


def normalised(records: Sequence[Record], mean: Floats, deviation: Floats) -> list[Record]:
    """Return records with the state's own numbers as a selector that knows their mean and deviation sees them."""
    return [
        replace(
            record,
            seen=np.hstack([
                record.seen[:, :STATUS_SIZE],
                np.clip((record.seen[:, STATUS_SIZE:] - mean) / deviation, -LIMIT, LIMIT),
            ]),
        )
        for record in records
    ]  # fmt: skip
