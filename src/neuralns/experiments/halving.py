"""Successive halving (Jamieson and Talwalkar 2016): how runs are divided, on what, and what they are worth."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from neuralns.errors import InputError
from neuralns.experiments.statistics import mean_by_instance, signed_rank_by_instance

Floats = npt.NDArray[np.float64]

LAST_SHARE = 0.25
"""Share of the runs that goes to the last comparison; up to twice as much, so that all instances take part in it."""
LEFT_OUT = 0.1
"""What a required customer left out counts, as a share of the cost, on top of the dearest run that serves more."""


class Block(NamedTuple):
    """What all candidates are tried on, once each."""

    source: str
    seed: int


@dataclass(frozen=True)
class Plan:
    """How many candidates are left in each round and how many runs each of them has; runs of the last comparison."""

    rounds: tuple[tuple[int, int], ...]
    last: int


def plan_for(candidates: int, instances: int, runs: int) -> Plan:
    """Divide a number of runs among the rounds, about equally, and the last comparison.

    >>> plan_for(8, 2, 100)
    Plan(rounds=((8, 3), (4, 6), (2, 14)), last=8)
    """
    left, sizes = candidates, []
    while left > 1:
        sizes.append(left)
        left = math.ceil(left / 2)
    last = max(int(runs * LAST_SHARE) // 3, min(instances, runs // 6), 1)
    # Whole rounds of the instances, so that all count the same.
    last = last // instances * instances or last
    rest = runs - 3 * last
    if rest < sum(sizes):
        raise InputError(
            f"there is time for {runs} runs, but {candidates} candidates need {sum(sizes) + 3 * last} at least; take "
            "fewer candidates, shorter runs or more minutes."
        )
    rounds = []
    for number, size in enumerate(sizes):
        each = max(1, rest // (len(sizes) - number) // size)
        rounds.append((size, each))
        rest -= size * each
    return Plan(tuple(rounds), last)


def blocks_of(sources: Sequence[str], seed: int, stream: int) -> Iterator[Block]:
    """Give what to try on, without end: every instance once, in random order, with a random seed, and again."""
    generator = np.random.default_rng([seed, stream])
    while True:
        for index in generator.permutation(len(sources)):
            yield Block(sources[index], int(generator.integers(2**31)))


def relative_costs(costs: Floats, unserved: Floats) -> Floats:
    """Return what runs are worth, a row for each block: how far the cost is above the block's mean, as a share.

    Only runs with the fewest customers left out are compared so; every other one is behind the dearest of them, by
    `LEFT_OUT` for each customer more.

    >>> relative_costs(np.array([[90.0, 110.0, 10.0]]), np.array([[0, 0, 2]])).round(3)
    array([[-0.1,  0.1,  0.3]])
    """
    more = unserved - unserved.min(axis=1, keepdims=True)
    serving = more == 0
    mean = np.mean(costs, axis=1, keepdims=True, where=serving)
    values = np.divide(costs - mean, np.abs(mean), out=np.zeros_like(costs), where=mean != 0)
    dearest = np.max(values, axis=1, keepdims=True, where=serving, initial=-np.inf)
    # Sums of the same lengths in another order differ in their last digits.
    found: Floats = np.round(np.where(serving, values, dearest + LEFT_OUT * more), 10)
    return found


@dataclass(frozen=True)
class Gain:
    """By how many per cent the best was cheaper, in the last comparison.

    ``interval`` is half of the 95 % interval, and ``p`` that of the signed-rank test over instances (see
    `neuralns.experiments.statistics`); None where there are too few.
    """

    percent: float
    interval: float | None
    p: float | None
    instances: int
    runs: int


def gain_of(blocks: Sequence[Block], differences: npt.ArrayLike) -> Gain:
    """Return the gain from what another one's runs are worth more, on each block."""
    groups: dict[str, list[float]] = {}
    for block, difference in zip(blocks, np.asarray(differences).tolist(), strict=True):
        groups.setdefault(block.source, []).append(100 * difference)
    mean, interval = mean_by_instance(list(groups.values()))
    p = signed_rank_by_instance(list(groups.values()))
    return Gain(mean, _known(interval), _known(p), len(groups), len(blocks))


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None
