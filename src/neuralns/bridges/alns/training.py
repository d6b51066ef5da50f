"""Learn beforehand, from many runs of the user's own search, which operators to use when."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from neuralns import __version__
from neuralns.bridges.alns.fitting import Record, fit
from neuralns.bridges.alns.online import Settings
from neuralns.bridges.alns.policy import Lesson, ValueLesson, write_selector
from neuralns.bridges.alns.q_learning import QLearner
from neuralns.bridges.alns.recording import Recorder, normalised, spread
from neuralns.bridges.alns.runs import MakeAccept, MakeAlns, Search, coupling_of, hands, hill_climbing
from neuralns.bridges.alns.selector import LearnedSelector
from neuralns.bridges.alns.weighing import downhill, shifted
from neuralns.errors import InputError
from neuralns.files import check_writable

Floats = npt.NDArray[np.float64]

RECORDED = (Settings(greed=0.5, segment=1.0), Settings(segment=1.0))
"""How recorded runs choose, in turn: nearly by chance, so that every pair is seen in every state, and online."""
PLAYED, EXPLORATION = 0.3, 0.1
"""Share of pairs by chance in recorded runs with what Q-learning has found so far, and in its policy."""
HORIZONS = (1, 10)
TRUST = 10.0
"""Events that a lesson counts for each pair against those of the search at hand."""
FIRM = 1e8
"""The same where weights are to stay as they are."""
FIRST = 2
"""Runs with each of the weights that may be disturbed, for each of the seeds of a training."""
DISTURBED = 8
"""Pairs of runs with disturbed weights, for each of the seeds of a training."""
STEPS = (1.5, 3.0, 6.0)
"""How far weights go in the direction in which cost falls; a disturbance of each weight's logarithm has deviation 1."""


@dataclass(frozen=True)
class Candidate:
    """A way to choose that is tried: how it learns, and what it was taught, if anything."""

    name: str
    settings: Settings
    lesson: Lesson | ValueLesson | None = None

    def shifted(self, shape: tuple[int, int], shifts: Floats, name: str = "") -> Candidate:
        """Return the same with other weights of operators (see `neuralns.bridges.alns.weighing.shifted`)."""
        assert isinstance(self.lesson, Lesson)
        return Candidate(name, self.settings, shifted(self.lesson, shape, shifts))

    def teach(self, selector: LearnedSelector) -> LearnedSelector:
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

    lesson: Lesson | ValueLesson
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
    sees, over the next iteration and over the next ten, and a network learns the value of all that follows a pair by
    Q-learning, then plays as many runs and learns on from them (see `neuralns.bridges.alns.q_learning`). Then the
    weights of operators, those fitted or equal ones, whichever end cheaper in a few runs, are disturbed and moved to
    where the final cost falls (see `neuralns.bridges.alns.weighing`).
    All that was found so races against each other and against the online selector, by the final cost on the initial
    states with fresh seeds; in each round the worse half is dropped and the others are tried twice as often. The best
    that was taught is saved.

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
    if not force and Path(path).exists():
        raise InputError(f"{path}: exists already; choose another name, or write over it with force=True.")
    if not initial_states:
        raise InputError("training needs at least 1 initial state.")
    if seeds < 1:
        raise InputError(f"{seeds} seeds asked for; at least 1 is needed.")
    search = Search(make_alns, make_accept, seconds, iterations, clock)
    names = search.operators()
    shape = len(names[0]), len(names[1])
    allowed = coupling_of(op_coupling, shape)
    say = progress or (lambda text: None)
    with hands(workers, executor) as call:
        runs = _Runs(search, initial_states, shape, op_coupling, call, np.random.default_rng([seed, 20]))
        say(f"recording {2 * seeds} runs")
        records = runs.record([Candidate("", settings) for settings in RECORDED], 2 * seeds)
        mean, deviation = spread(records)
        records = normalised(records, mean, deviation)
        candidates = _candidates(records, shape, mean, deviation)
        may_move = [candidates[1], candidates[-1]]

        learner = QLearner(records[0].seen.shape[1], allowed, seed)
        learner.learn(records)
        say(f"playing {2 * seeds} runs with what Q-learning has found")
        playing = _by_value(learner, mean, deviation, 1.0, PLAYED)
        records += normalised(runs.record([playing], 2 * seeds), mean, deviation)
        learner.learn(records)
        candidates.append(_by_value(learner, mean, deviation, Settings().segment, EXPLORATION))

        say(f"disturbing weights in {2 * (FIRST + DISTURBED) * seeds} runs")
        moved = may_move[int(_relative(runs.costs([may_move] * (FIRST * seeds))).argmin())]
        shifts = [runs.rng.standard_normal(sum(shape)) for _ in range(DISTURBED * seeds)]
        costs = runs.costs([[moved.shifted(shape, sign * shift) for sign in (1, -1)] for shift in shifts])
        downwards = downhill(shifts, costs)
        name = f"{moved.name}, weights moved by"
        candidates += [moved.shifted(shape, step * downwards, f"{name} {step:g}") for step in STEPS]

        count = seeds
        while True:
            say(f"{len(candidates)} candidates, {count} runs each")
            scores = _relative(runs.costs([candidates] * count))
            order = np.argsort(scores, kind="stable")
            if len(candidates) <= 2:
                break
            candidates = [candidates[index] for index in order[: math.ceil(len(candidates) / 2)]]
            count *= 2
    standings = tuple((candidates[index].name, float(100 * scores[index])) for index in order)
    best = next(each for index in order if (each := candidates[index]).lesson is not None)
    assert best.lesson is not None
    training = {
        "learned": best.name, "seconds": seconds, "iterations": iterations, "clock": clock,
        "states": len(initial_states), "runs": runs.made, "seed": seed, "version": __version__,
        "standings": [f"{name} {value:+.3f} %" for name, value in standings],
    }  # fmt: skip
    coupling = None if op_coupling is None else allowed.tolist()
    write_selector(path, best.lesson, names, {"coupling": coupling, "training": training})
    return Trained(best.lesson, standings, runs.made)


@dataclass
class _Runs:
    """Runs from the initial states, each with a seed of its own."""

    search: Search
    states: Sequence[Any]
    shape: tuple[int, int]
    coupling: npt.ArrayLike | None
    call: Callable[..., list[Any]]
    rng: np.random.Generator
    made: int = 0

    def record(self, manners: Sequence[Candidate], count: int) -> list[Record]:
        """Return the records of so many runs, with the given candidates in turn."""
        return self._do(record_run, [[manners[index % len(manners)]] for index in range(count)])

    def costs(self, blocks: Sequence[Sequence[Candidate]]) -> Floats:
        """Return final costs, a row for each block; its candidates have the same initial state and seed."""
        return np.array(self._do(try_run, blocks)).reshape(len(blocks), -1)

    def _do(self, function: Callable[..., Any], blocks: Sequence[Sequence[Candidate]]) -> list[Any]:
        starts = _blocks(self.states, len(blocks), self.rng)
        tasks = [
            (self.search, state, each, self.shape, self.coupling, number)
            for (state, number), block in zip(starts, blocks, strict=True)
            for each in block
        ]
        self.made += len(tasks)
        return self.call(function, tasks)


def record_run(
    search: Search, state: Any, candidate: Candidate, shape: tuple[int, int], coupling: npt.ArrayLike | None, seed: int
) -> Record:
    """Return the record of one run."""
    recorder = Recorder(*shape, coupling, settings=candidate.settings, **search.budget)
    candidate.teach(recorder)
    search.run(state, recorder, seed)
    return recorder.record()


def try_run(
    search: Search, state: Any, candidate: Candidate, shape: tuple[int, int], coupling: npt.ArrayLike | None, seed: int
) -> float:
    """Return the final cost of one run."""
    selector = LearnedSelector(*shape, coupling, settings=candidate.settings, **search.budget)
    return search.run(state, candidate.teach(selector), seed)[0]


def _blocks(states: Sequence[Any], count: int, rng: np.random.Generator) -> list[tuple[Any, int]]:
    """Return states and seeds to run with, every state as often as the others, or about."""
    order = np.concatenate([rng.permutation(len(states)) for _ in range(math.ceil(count / len(states)))])[:count]
    return [(states[index], int(rng.integers(2**31))) for index in order]


def _candidates(records: Sequence[Record], shape: tuple[int, int], mean: Floats, deviation: Floats) -> list[Candidate]:
    """Return the online selector, a lesson of each horizon, and one by which all pairs are drawn alike."""
    candidates = [Candidate("online", Settings())]
    for horizon in HORIZONS:
        # A pair's part of what comes over several iterations is small against that of the others.
        settings = replace(Settings(), greed=Settings().greed * (1 if horizon == 1 else 3))
        lesson = Lesson(fit(records, shape, horizon), mean, deviation, settings, TRUST)
        candidates.append(Candidate(f"gains over {horizon} iteration{'s' * (horizon > 1)}", settings, lesson))
    plain = replace(Settings(), greed=1.0, slope=0.0)
    even = Lesson(np.zeros((math.prod(shape), records[0].seen.shape[1])), mean, deviation, plain, FIRM)
    candidates.append(Candidate("equal weights", plain, even))
    return candidates


def _by_value(learner: QLearner, mean: Floats, deviation: Floats, segment: float, exploration: float) -> Candidate:
    """Return a candidate that chooses by the network as it is now."""
    lesson = ValueLesson(learner.layers, mean, deviation, segment, exploration)
    return Candidate("Q-learning", lesson.settings, lesson)


def _relative(costs: Floats) -> Floats:
    """Return how far each column is above the mean of its rows, as a share, on average.

    >>> _relative(np.array([[9.0, 11.0], [18.0, 22.0]]))
    array([-0.1,  0.1])
    """
    mean = costs.mean(axis=1, keepdims=True)
    found: Floats = np.mean((costs - mean) / np.where(mean == 0, 1.0, np.abs(mean)), axis=0)
    return found
