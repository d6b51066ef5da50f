"""Which pair of operators brings most in a second: learned while the search runs, with numpy alone.

Gains are events. That of a pair p in a state with numbers x comes at the rate

    λ(t) φ_p exp(w_p · x),

where λ falls with the search for all pairs alike, φ_p is what a pair is worth against the others, and w_p is what the
state changes about that. An iteration of s seconds is expected to bring λ φ_p exp(w_p · x) s. With S_p the events of a
pair and E_p those that an average pair would have had in its time, the posterior of φ_p is a gamma distribution; pairs
are drawn in proportion to a power of its mean. What all pairs with one destroy or repair operator have in common is the
prior of each, so that a pair is judged before it has been tried often.
Both sums fade with the events that come, not with iterations: where gains are rare, memory is long. All this is
reckoned anew once in a segment of a few iterations.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt

from neuralns.errors import InputError

Floats = npt.NDArray[np.float64]

_REACH = 1.5
"""Most that the state changes the logarithm of what a pair is worth."""


@dataclass(frozen=True)
class Settings:
    """How the learner learns; the defaults were chosen by short runs on the five problems in ``benchmarks/alns``.

    Attributes
    ----------
    memory
        Events after which what was learned counts only 1/e.
    pooling, prior
        Events that the mean of all pairs counts in that of an operator, and that of its operators in that of a pair.
    better
        What a gain over the current solution counts that is none over the best.
    largest
        A gain counts at most as that many typical ones.
    power
        And then to this power: below 1, often is better than much.
    greed
        Pairs are drawn in proportion to φ to this power; with 0 all alike.
    segment
        Iterations for which pairs are drawn by the same probabilities.
    window
        Iterations over which λ is a mean.
    slope
        Step by which w is learned; 0 leaves the state's numbers alone.
    """

    memory: float = 60.0
    pooling: float = 2.0
    prior: float = 1.0
    better: float = 0.2
    largest: float = 20.0
    power: float = 0.75
    greed: float = 3.0
    segment: float = 5.0
    window: float = 100.0
    slope: float = 0.002

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            least = {"better": 0.0, "greed": 0.0, "segment": 1.0, "slope": 0.0, "window": 1.0}.get(name)
            if not (value > 0.0 if least is None else value >= least) or not math.isfinite(value):
                bound = "above 0" if least is None else f"at least {least:g}"
                raise InputError(f"{name} {value} must be a number, {bound}.")


class Learner:
    """What is known of each pair, row by row of destroy operators."""

    def __init__(self, allowed: npt.NDArray[np.bool_], settings: Settings) -> None:
        self.shape = allowed.shape
        self.settings = settings
        pairs = allowed.size
        self.closed = None if allowed.all() else ~allowed.ravel()
        self.events, self.expected = np.zeros(pairs), np.zeros(pairs)
        # What an earlier training says that a pair is worth, and the events that this counts.
        self.belief = np.ones(self.shape)
        self.trust = 0.0
        self.adapts = True
        self.weights: Floats | None = None
        self.steepness: Floats | None = None
        self.seconds = [0.0] * pairs
        self.uses = [0] * pairs
        self._came, self._time = 1.0, 0.0
        # Of the segment at hand: what is seen, what pairs are worth by that, and sums to draw pairs by.
        self.numbers = np.zeros(0)
        self.known, self.influence = np.ones(pairs), np.ones(pairs)
        self._sums = self.known
        self._age, self._count = 10**9, 0

    def _pool(self) -> Floats:
        """Return what a pair is worth by its operators alone."""
        pooling = self.settings.pooling
        events, expected = self.events.reshape(self.shape), self.expected.reshape(self.shape)
        came, due = np.add.reduce(events, 1), np.add.reduce(expected, 1)
        common = (pooling + float(np.add.reduce(came))) / (pooling + float(np.add.reduce(due)))
        by_repair = (np.add.reduce(events, 0) + pooling) / (np.add.reduce(expected, 0) + pooling)
        by_repair /= common
        came += pooling
        due += pooling
        came /= due
        worth: Floats = np.multiply.outer(came, by_repair)
        return worth.ravel()

    def worth(self) -> Floats:
        """Return the mean of each φ."""
        pooled = self._pool() * self.settings.prior
        if self.trust > 0.0:
            pooled += self.trust * self.belief.ravel()
        pooled += self.events
        pooled /= self.expected + (self.settings.prior + self.trust)
        return pooled

    @property
    def due(self) -> bool:
        """Whether a segment has ended; the first ones are short."""
        return self._age >= min(self.settings.segment, 1 + self._count // 20)

    def renew(self, numbers: Floats) -> None:
        """Begin a segment in a state with the given numbers: find anew how likely each pair is."""
        self.numbers = numbers
        self.known = self.worth()
        if self.settings.slope > 0.0 or self.weights is not None:
            if self.weights is None:
                self.weights = np.zeros((self.events.size, len(numbers)))
                self.steepness = np.ones(self.events.size)
            slope = self.weights @ numbers
            self.influence = np.exp(np.minimum(np.maximum(slope, -_REACH, out=slope), _REACH, out=slope), out=slope)
        values = (self.known * self.influence) ** self.settings.greed
        if self.closed is not None:
            values[self.closed] = 0.0
        self._sums = values.cumsum()
        self._age = 0

    def draw(self, rng: np.random.Generator) -> int:
        """Return a pair."""
        self._age += 1
        self._count += 1
        sums = self._sums
        return min(int(sums.searchsorted(rng.random() * sums[-1], side="right")), len(sums) - 1)

    def learn(self, pair: int, event: float, seconds: float) -> None:
        """Take in what a pair brought in its time."""
        if not self.adapts:
            return
        settings = self.settings
        # The mean time of the pair: what else the machine did meanwhile says nothing about the pair.
        self.uses[pair] += 1
        self.seconds[pair] += (seconds - self.seconds[pair]) / min(self.uses[pair], 50)
        seconds = self.seconds[pair]
        if self._time == 0.0:
            # Nothing is known yet: gains as often as every tenth time.
            self._time = 10.0 * seconds or 1.0
        worth, influence = float(self.known[pair]), float(self.influence[pair])
        expected = min(1.0, self._came / self._time * seconds * influence)
        fading = math.exp(-expected / settings.memory)
        self.events *= fading
        self.expected *= fading
        self.events[pair] += event
        self.expected[pair] += expected
        keep = 1.0 - 1.0 / settings.window
        self._came = keep * self._came + event
        self._time = keep * self._time + seconds * worth * influence
        if settings.slope > 0.0 and self.weights is not None and self.steepness is not None:
            error = event - min(1.0, expected * worth)
            self.steepness[pair] += error * error
            self.weights[pair] += (settings.slope * error / math.sqrt(self.steepness[pair])) * self.numbers
