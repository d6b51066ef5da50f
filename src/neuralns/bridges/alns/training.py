"""Learn beforehand, from many runs of the user's own search, which operators to use when."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from neuralns import __version__
from neuralns.bridges.alns.fitting import Record, fit
from neuralns.bridges.alns.online import Settings
from neuralns.bridges.alns.policy import Lesson, write_selector
from neuralns.bridges.alns.runs import MakeAccept, MakeAlns, Search, hands, hill_climbing
from neuralns.bridges.alns.selector import LearnedSelector
from neuralns.bridges.alns.status import STATUS
from neuralns.bridges.alns.weighing import downhill, shifted
from neuralns.errors import InputError
from neuralns.files import check_new, check_writable

Floats = npt.NDArray[np.float64]

EXPLORING = Settings(greed=0.5)
"""How half of the recorded runs choose: nearly by chance, so that every pair is seen in every state."""
STATUS_SIZE = 1 + len(STATUS)
"""What is seen before the state's own numbers: a constant, and the status."""
HORIZONS = (1, 10)
TRUST = 10.0
"""Events that a lesson counts for each pair against those of the search at hand."""
DISTURBED = 8
"""Pairs of runs with disturbed weights, for each of the seeds of a training."""
STEPS = (1.5, 3.0, 6.0)
"""How far weights go in the direction in which cost falls; a disturbance of each weight's logarithm has deviation 1."""


class Recorder(LearnedSelector):
    """A selector that keeps what it saw and what came of it."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._kept: list[tuple[int, Floats, float, float]] = []

    def _learn(self, pair: int, event: float, spent: float) -> None:
        super()._learn(pair, event, spent)
        self._kept.append((pair, self.learner.numbers, event, spent))

    def _see(self, state: Any) -> Floats | None:
        # As they come: they are normalised when all are known.
        self.context.numbers(state)
        tell = getattr(state, "get_context", None)
        return None if tell is None else np.asarray(tell(), dtype=np.float64)

    def record(self) -> Record:
        pairs, numbers, events, seconds = zip(*self._kept, strict=True)
        # Single times are noisy; those of a pair differ little from each other.
        mean = np.array(seconds)
        chosen = np.array(pairs)
        for pair in np.unique(chosen):
            mean[chosen == pair] = mean[chosen == pair].mean()
        return Record(chosen, np.stack(numbers), np.array(events), mean)


@dataclass(frozen=True)
class Candidate:
    """A way to choose that is tried: how it learns, and what it was taught, if anything."""

    name: str
    settings: Settings
    lesson: Lesson | None = None

    def shifted(self, shape: tuple[int, int], shifts: Floats, name: str = "") -> Candidate:
        """Return the same with other weights of operators (see `neuralns.bridges.alns.weighing.shifted`)."""
        assert self.lesson is not None
        return Candidate(name, self.settings, shifted(self.lesson, shape, shifts))

    def selector(self, search: Search, shape: tuple[int, int], coupling: npt.ArrayLike | None) -> LearnedSelector:
        selector = LearnedSelector(*shape, coupling, settings=self.settings, **search.budget)
        return selector if self.lesson is None else self.lesson.teach(selector)


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
    sees, over the next iteration and over the next ten. Then the weights of operators are disturbed and moved to where
    the final cost falls (see `neuralns.bridges.alns.weighing`). All that was found so races against each other and
    against the online selector, by the final cost on the initial states with fresh seeds; in each round the worse half
    is dropped and the others are tried twice as often. The best that was taught is saved.

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
    force
        Write over a file that is there.
    progress
        Called with a sentence now and then.
    """
    check_writable(path)
    check_new(path, force)
    if not initial_states:
        raise InputError("training needs at least 1 initial state.")
    if seeds < 1:
        raise InputError(f"{seeds} seeds asked for; at least 1 is needed.")
    search = Search(make_alns, make_accept, seconds, iterations, clock)
    names = search.operators()
    shape = len(names[0]), len(names[1])
    say = progress or (lambda text: None)
    rng = np.random.default_rng([seed, 20])
    with hands(workers, executor) as call:
        blocks = _blocks(initial_states, 2 * seeds, rng)
        say(f"recording {len(blocks)} runs")
        manners = [Settings() if number % 2 else EXPLORING for number in range(len(blocks))]
        tasks = [
            (search, state, manner, shape, op_coupling, number)
            for (state, number), manner in zip(blocks, manners, strict=True)
        ]
        records = call(record_run, tasks)
        candidates = _candidates(records, shape)
        blocks = _blocks(initial_states, DISTURBED * seeds, rng)
        say(f"disturbing weights in {2 * len(blocks)} runs")
        shifts = [rng.standard_normal(sum(shape)) for _ in blocks]
        taught = candidates[1]
        trials = [
            (search, state, taught.shifted(shape, sign * shift), shape, op_coupling, number)
            for (state, number), shift in zip(blocks, shifts, strict=True)
            for sign in (1, -1)
        ]
        downwards = downhill(shifts, np.array(call(try_run, trials)).reshape(-1, 2))
        candidates += [taught.shifted(shape, step * downwards, f"weights moved by {step:g}") for step in STEPS]
        runs, count = len(manners) + len(trials), seeds
        while True:
            blocks = _blocks(initial_states, count, rng)
            say(f"{len(candidates)} candidates, {count} runs each")
            trials = [
                (search, state, each, shape, op_coupling, number) for state, number in blocks for each in candidates
            ]
            costs = np.array(call(try_run, trials)).reshape(len(blocks), len(candidates))
            runs += costs.size
            scores = _relative(costs)
            order = np.argsort(scores, kind="stable")
            if len(candidates) <= 2:
                break
            candidates = [candidates[index] for index in order[: math.ceil(len(candidates) / 2)]]
            count *= 2
    standings = tuple((candidates[index].name, float(100 * scores[index])) for index in order)
    best = next(each.lesson for index in order if (each := candidates[index]).lesson is not None)
    training = {
        "seconds": seconds, "iterations": iterations, "clock": clock, "states": len(initial_states), "runs": runs,
        "seed": seed, "version": __version__, "standings": [f"{name} {value:+.3f} %" for name, value in standings],
    }  # fmt: skip
    coupling = None if op_coupling is None else np.asarray(op_coupling, dtype=bool).tolist()
    write_selector(path, best, names, {"coupling": coupling, "training": training})
    return Trained(best, standings, runs)


def record_run(
    search: Search, state: Any, settings: Settings, shape: tuple[int, int], coupling: npt.ArrayLike | None, seed: int
) -> Record:
    """Return the record of one run."""
    recorder = Recorder(*shape, coupling, settings=settings, **search.budget)
    search.run(state, recorder, seed)
    return recorder.record()


def try_run(
    search: Search, state: Any, candidate: Candidate, shape: tuple[int, int], coupling: npt.ArrayLike | None, seed: int
) -> float:
    """Return the final cost of one run."""
    return search.run(state, candidate.selector(search, shape, coupling), seed)[0]


def _blocks(states: Sequence[Any], count: int, rng: np.random.Generator) -> list[tuple[Any, int]]:
    """Return states and seeds to run with, every state as often as the others, or about."""
    order = np.concatenate([rng.permutation(len(states)) for _ in range(math.ceil(count / len(states)))])[:count]
    return [(states[index], int(rng.integers(2**31))) for index in order]


def _candidates(records: Sequence[Record], shape: tuple[int, int]) -> list[Candidate]:
    """Return the online selector, and a lesson of each horizon."""
    own = records[0].seen.shape[1] - STATUS_SIZE
    seen = np.concatenate([record.seen[:, STATUS_SIZE:] for record in records])
    mean, deviation = seen.mean(axis=0), seen.std(axis=0)
    deviation = np.where(deviation > 1e-9 * (1.0 + np.abs(mean)), deviation, 1.0)
    if own:
        records = [
            replace(
                record,
                seen=np.hstack([
                    record.seen[:, :STATUS_SIZE],
                    np.clip((record.seen[:, STATUS_SIZE:] - mean) / deviation, -3.0, 3.0),
                ]),
            )
            for record in records
        ]  # fmt: skip
    candidates = [Candidate("online", Settings())]
    for horizon in HORIZONS:
        # A pair's part of what comes over several iterations is small against that of the others.
        settings = replace(Settings(), greed=Settings().greed * (1 if horizon == 1 else 3))
        lesson = Lesson(fit(records, shape, horizon), mean, deviation, settings, TRUST)
        candidates.append(Candidate(f"gains over {horizon} iteration{'s' * (horizon > 1)}", settings, lesson))
    return candidates


def _relative(costs: Floats) -> Floats:
    """Return how far each column is above the mean of its rows, as a share, on average.

    >>> _relative(np.array([[9.0, 11.0], [18.0, 22.0]]))
    array([-0.1,  0.1])
    """
    mean = costs.mean(axis=1, keepdims=True)
    found: Floats = np.mean((costs - mean) / np.where(mean == 0, 1.0, np.abs(mean)), axis=0)
    return found
