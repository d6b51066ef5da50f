"""Learn beforehand, from many runs of the user's own search, which operators to use when.

Runs are recorded, and rates regressed: gains come at a rate a second whose logarithm is linear in what the selector
sees, with one part for all pairs alike (the search slows down for all), one for each operator, and one for each pair,
all but the first drawn towards 0. The choice between pairs asks for the second and third part alone.

But who gains is not always who helps: quick operators take gains that others would have found as well, and slow ones
make possible what comes later. So the weights of all operators are disturbed at random, once up and once down, from the
same initial solution with the same seed, and what this changes about the final cost is regressed on the disturbance (an
evolution strategy with antithetic samples). The direction in which cost falls is followed for a few lengths.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from neuralns import __version__
from neuralns.bridges.alns.online import Settings
from neuralns.bridges.alns.runs import MakeAccept, MakeAlns, Search, coupling_of, hands, hill_climbing
from neuralns.bridges.alns.selector import NETWORK, LearnedSelector, Lesson
from neuralns.bridges.alns.status import LIMIT, STATUS
from neuralns.errors import InputError
from neuralns.files import check_writable
from neuralns.selection.policy_file import Policy, write_policy

Floats = npt.NDArray[np.float64]
Pairs = npt.NDArray[np.bool_]

RECORDED = (Settings(greed=0.5, segment=1.0), Settings(segment=1.0))
"""How recorded runs choose, in turn: nearly by chance, so that every pair is seen in every state, and online."""
TRUST = 10.0
"""Events that a lesson counts for each pair against those of the search at hand."""
DISTURBED = 8
"""Pairs of runs with disturbed weights, for each of the seeds of a training."""
STEPS = (1.5, 3.0, 6.0)
"""How far weights go in the direction in which cost falls; a disturbance of each weight's logarithm has deviation 1."""
_LIMIT = 12.0
"""Bound of the logarithms of rates, far outside of what occurs."""
STATUS_SIZE = 1 + len(STATUS)
"""What is seen before the state's own numbers: a constant, and the status."""


@dataclass(frozen=True)
class Trained:
    """What came of a training.

    Attributes
    ----------
    lesson
        What was learned, and is in the file.
    standings
        The mean cost of each candidate of the last round, in per cent above the mean of all of them, the best first.
    runs
        How many runs were made.
    """

    lesson: Lesson
    standings: tuple[tuple[str, float], ...]
    runs: int


def train(
    make_alns: MakeAlns,
    initial_states: Sequence[Any],
    path: str | os.PathLike[str],
    *,
    seconds: float | None = None,
    iterations: int | None = None,
    seeds: int = 4,
    make_accept: MakeAccept = hill_climbing,
    op_coupling: npt.ArrayLike | None = None,
    clock: str = "time",
    workers: int | None = None,
    executor: Executor | None = None,
    seed: int = 0,
    force: bool = False,
    progress: Callable[[str], object] | None = None,
) -> Trained:
    """Run a search many times, learn from it which operators to use when, and write a policy file.

    First every initial state is searched from with an online selector and with one that chooses nearly by chance, and
    all that happens is recorded. From the records the worth of each pair is fitted as a function of what a selector
    sees. Then the weights of operators are disturbed and moved to where the final cost falls, by three lengths. What
    was fitted, what was moved and the online selector race against each other, by the final cost on the initial states
    with fresh seeds; in each round the worse half is dropped and the others are tried twice as often. The best that was
    taught is saved.

    Parameters
    ----------
    make_alns
        Returns your ALNS with its operators; it is given a random generator. With several workers, a function at the
        top of a module.
    initial_states
        Initial solutions of instances such as those to be solved later.
    path
        Where the policy goes.
    seconds, iterations
        The budget of one run.
    seeds
        Runs of each candidate in the first round; as many records of each kind are made.
    make_accept
        Returns a fresh acceptance criterion for a run from an initial solution; hill climbing by default.
    op_coupling, clock
        As those of `LearnedSelector`.
    workers, executor
        Processes to use, or who else does the runs (``Client.get_executor(pure=False)`` of Dask, for one).
    seed
        Of the whole training; with ``clock="iterations"`` the same seed gives the same policy.
    force, progress
        Whether to write over a file that is there; what is called with a sentence now and then.
    """
    check_writable(path)
    if not force and Path(path).exists():
        raise InputError(f"{path}: exists already; choose another name, or write over it with force=True.")
    if not initial_states:
        raise InputError("training needs at least 1 initial state.")
    if seeds < 1:
        raise InputError(f"{seeds} seeds asked for; at least 1 is needed.")
    search = Search(make_alns, make_accept, seconds, iterations, clock)
    names = search.operators()
    allowed = coupling_of(op_coupling, (len(names[0]), len(names[1])))
    say = progress or (lambda text: None)
    with hands(workers, executor) as call:
        runs = _Runs(search, initial_states, allowed, call, np.random.default_rng([seed, 20]))
        say(f"recording {2 * seeds} runs")
        record, mean, deviation = joined(runs.do(record_run, [[settings] for settings in RECORDED * seeds]))
        by_gains = Lesson(fit(record, allowed.shape), mean, deviation, Settings(), TRUST)

        say(f"disturbing weights in {2 * DISTURBED * seeds} runs")
        shifts = [runs.rng.standard_normal(sum(allowed.shape)) for _ in range(DISTURBED * seeds)]
        both = [[shifted(by_gains, allowed.shape, sign * shift) for sign in (1, -1)] for shift in shifts]
        downwards = downhill(shifts, runs.costs(both))
        candidates: dict[str, Lesson | None] = {"online": None, "gains": by_gains}
        for step in STEPS:
            candidates[f"gains, weights moved by {step:g}"] = shifted(by_gains, allowed.shape, step * downwards)

        count = seeds
        while True:
            say(f"{len(candidates)} candidates, {count} runs each")
            costs = runs.costs([[*candidates.values()]] * count)
            means = costs.mean(axis=1, keepdims=True)
            above = 100 * np.mean((costs - means) / np.where(means == 0, 1.0, np.abs(means)), axis=0)
            standings = sorted(zip(candidates, above.tolist(), strict=True), key=lambda each: each[1])
            if len(candidates) <= 2:
                break
            candidates = {name: candidates[name] for name, _ in standings[: math.ceil(len(candidates) / 2)]}
            count *= 2
    learned, lesson = next((name, each) for name, _ in standings if (each := candidates[name]) is not None)
    training = {
        "learned": learned, "seconds": seconds, "iterations": iterations, "clock": clock,
        "states": len(initial_states), "runs": runs.made, "seed": seed, "version": __version__,
        "standings": [f"{name} {value:+.3f} %" for name, value in standings],
    }  # fmt: skip
    card = {
        "network": NETWORK,
        "operators": {"destroy": names[0], "repair": names[1]},
        "features": ["1", *STATUS, *(f"context {index}" for index in range(len(mean)))],
        "learning": {**asdict(lesson.settings), "trust": lesson.trust},
        "coupling": None if op_coupling is None else allowed.tolist(),
        "training": training,
    }
    own = {"mean": mean, "deviation": deviation} if len(mean) else {}
    write_policy(Policy(card, {"slopes": lesson.slopes, **own}), path)
    return Trained(lesson, tuple(standings), runs.made)


@dataclass
class _Runs:
    """Runs from the initial states, each with a seed of its own."""

    search: Search
    states: Sequence[Any]
    allowed: Pairs
    call: Callable[..., list[Any]]
    rng: np.random.Generator
    made: int = 0

    def do(self, function: Callable[..., Any], blocks: Sequence[Sequence[Any]]) -> list[Any]:
        """Return what comes of all runs; those of a block have a state and a seed in common."""
        rounds = math.ceil(len(blocks) / len(self.states))
        order = np.concatenate([self.rng.permutation(len(self.states)) for _ in range(rounds)])
        starts = [(self.states[index], int(self.rng.integers(2**31))) for index in order[: len(blocks)]]
        tasks = [
            (self.search, state, each, self.allowed, seed)
            for (state, seed), block in zip(starts, blocks, strict=True)
            for each in block
        ]
        self.made += len(tasks)
        return self.call(function, tasks)

    def costs(self, blocks: Sequence[Sequence[Lesson | None]]) -> Floats:
        """Return final costs with lessons, a row for each block; without a lesson those of the online selector."""
        return np.array(self.do(try_run, blocks)).reshape(len(blocks), -1)


class Record(NamedTuple):
    """One run: for each iteration the pair, what was seen (a row), the event, and its seconds."""

    pairs: npt.NDArray[np.int64]
    seen: Floats
    events: Floats
    seconds: Floats


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


def joined(records: Sequence[Record]) -> tuple[Record, Floats, Floats]:
    """Return all records as one, with the state's own numbers as who knows their mean and deviation sees them."""
    pairs, seen, events, seconds = map(np.concatenate, zip(*records, strict=True))
    own = seen[:, STATUS_SIZE:]
    mean, deviation = own.mean(axis=0), own.std(axis=0)
    deviation = np.where(deviation > 1e-9 * (1.0 + np.abs(mean)), deviation, 1.0)
    seen[:, STATUS_SIZE:] = np.clip((own - mean) / deviation, -LIMIT, LIMIT)
    return Record(pairs, seen, events, seconds), mean, deviation


def fit(record: Record, shape: tuple[int, int], ridge: float = 3.0) -> Floats:
    """Return for each pair the logarithm of its worth as a linear function of what is seen, a row each."""
    from scipy.optimize import minimize

    destroys, repairs = shape
    pairs, seen, events, seconds = record
    features = seen.shape[1]
    # Rows of the coefficients: for all, for each destroy operator, for each repair operator, for each pair.
    parts = 1 + destroys + repairs + destroys * repairs
    rows = np.stack([
        np.zeros(len(pairs), np.int64), 1 + pairs // repairs, 1 + destroys + pairs % repairs,
        1 + destroys + repairs + pairs,
    ])  # fmt: skip
    # What is the same for all iterations is nearly free; a slope of one operator has to earn its place.
    weight = np.full((parts, features), ridge)
    weight[:, 0] /= 3.0
    weight[0] = 1e-3
    exposure = seconds / max(float(seconds.mean()), 1e-12)

    def loss(flat: Floats) -> tuple[float, Floats]:
        table = flat.reshape(parts, features)
        slopes = table[rows].sum(axis=0)
        logs = np.clip(np.einsum("if,if->i", slopes, seen), -_LIMIT, _LIMIT)
        expected = exposure * np.exp(logs)
        off = ((expected - events)[:, None] * seen).astype(np.float64)
        gradient = weight * table
        for part in rows:
            for feature in range(features):
                gradient[:, feature] += np.bincount(part, off[:, feature], parts)
        value = float((expected - events * logs).sum() + 0.5 * (weight * table * table).sum())
        return value, gradient.ravel()

    found: Any = minimize(loss, np.zeros(parts * features), jac=True, method="L-BFGS-B", options={"maxiter": 150})
    table = found.x.reshape(parts, features)
    number = np.arange(destroys * repairs)
    slopes: Floats = (
        table[1 + number // repairs] + table[1 + destroys + number % repairs] + table[1 + destroys + repairs + number]
    )
    # Against the mean pair: what is common to all says nothing.
    slopes -= slopes.mean(axis=0)
    return slopes


def record_run(search: Search, state: Any, settings: Settings, allowed: Pairs, seed: int) -> Record:
    """Return the record of one run."""
    recorder = Recorder(*allowed.shape, allowed, settings=settings, **search.budget)
    search.run(state, recorder, seed)
    return recorder.record()


def try_run(search: Search, state: Any, lesson: Lesson | None, allowed: Pairs, seed: int) -> float:
    """Return the final cost of one run."""
    selector = LearnedSelector(len(allowed), len(allowed.T), allowed, **search.budget)
    return search.run(state, selector if lesson is None else lesson.teach(selector), seed)[0]


def shifted(lesson: Lesson, shape: tuple[int, int], shifts: Floats) -> Lesson:
    """Return a lesson that draws each operator e^shift times as often, the destroy operators first.

    >>> plain = Lesson(np.zeros((4, 1)), np.empty(0), np.empty(0), Settings(greed=1.0), 10.0)
    >>> shifted(plain, (2, 2), np.array([1.0, 0.0, 0.0, 2.0])).slopes.ravel()
    array([1., 3., 0., 2.])
    """
    destroys = shape[0]
    slopes = lesson.slopes.copy()
    slopes[:, 0] += np.add.outer(shifts[:destroys], shifts[destroys:]).ravel() / lesson.settings.greed
    return replace(lesson, slopes=slopes)


def downhill(disturbances: Sequence[Floats], costs: Floats) -> Floats:
    """Return the direction, of length 1, in which the cost falls.

    Rows of costs are final costs with a disturbance of the weights' logarithms, and with its opposite.

    >>> up = [np.array([3.0, 0.0]), np.array([0.0, 3.0])]
    >>> downhill(up, np.array([[97.0, 103.0], [104.0, 96.0]])).tolist()
    [0.6, -0.8]
    """
    table = np.array(disturbances)
    scale = np.abs(costs).sum(axis=1)
    change = (costs[:, 0] - costs[:, 1]) / np.where(scale == 0, 1.0, scale)
    slope = np.linalg.solve(table.T @ table + np.eye(table.shape[1]), table.T @ change)
    down: Floats = np.negative(slope) / max(float(np.linalg.norm(slope)), 1e-300)
    return down
