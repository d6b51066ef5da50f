"""The best constant setting of some instances, by successive halving.

Every candidate left has the same runs in a round: the same instances, seeds and time. The better half stays, by the
mean over all its runs so far, and has about twice as many runs in the next round. The last one left is compared once
more, with seeds that nothing was chosen by, with the portfolio as it is and with the default of `neuralns solve`.
"""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from neuralns import __version__
from neuralns.errors import InputError, InputWarning, NeuralnsError
from neuralns.experiments.batch import digests
from neuralns.experiments.candidates import candidates_for
from neuralns.experiments.executors import ProcessPool, check_hands, refuse_cut_short
from neuralns.experiments.halving import LAST_SHARE, Block, Gain, Plan, blocks_of, gain_of, plan_for, relative_costs
from neuralns.experiments.jobs import Done, Failure, Job, run_jobs
from neuralns.experiments.store import CsvRows, Store
from neuralns.files import check_new, check_suffix, check_writable, write_or_rescue
from neuralns.operators.portfolio import Portfolio, default_for, make_portfolio, portfolio_named
from neuralns.problem.instance import Instance
from neuralns.search.acceptance.annealing import SimulatedAnnealing
from neuralns.search.setup import prepare
from neuralns.search.solve import solve
from neuralns.search.stopping import Stop
from neuralns.selection.constant import SUFFIX, Constant, write_setting
from neuralns.selection.default import bundled_mark
from neuralns.selection.dials import Dials, Floats
from neuralns.selection.uniform import Uniform

PLAIN, DEFAULT = "0", "default"
"""The candidate with all dials at 0, and the default of `neuralns solve`, with which the best is compared."""


@dataclass(frozen=True)
class TuningRun:
    """One row of the results.

    Attributes
    ----------
    candidate
        Its number; 0 has all dials at 0, and ``default`` is `neuralns solve` without any setting.
    cost, unserved
        What its routes cost, and how many required customers they leave out.
    seconds
        How long it searched.
    dials
        The dials that are not at 0, as JSON.
    job
        What tells rows apart: the same for the same content of the instance and the same settings.
    """

    stage: str
    candidate: str
    instance: str
    seed: int
    cost: float
    unserved: int
    iterations: int
    seconds: float
    dials: str
    job: str

    def __post_init__(self) -> None:
        for name, value in (("cost", self.cost), ("seconds", self.seconds)):
            if not math.isfinite(value):
                raise ValueError(f"{name} {value} is not a number")


@dataclass(frozen=True)
class Standing:
    """Where the tuning stands.

    Attributes
    ----------
    stage
        ``round 2 of 6`` or ``last comparison``.
    left
        How many candidates are in it.
    done, total
        Its runs.
    seconds
        What is left of the time.
    """

    stage: str
    left: int
    done: int
    total: int
    seconds: float


@dataclass(frozen=True)
class Tuned:
    """What came of it.

    Attributes
    ----------
    constant
        The best setting; None if it was stopped before there was any.
    gains
        Against ``all at 0`` and ``default``, what there is of them.
    runs
        How many runs it was chosen and compared by.
    written
        Where the file is.
    finished
        Whether it was not stopped by Ctrl-C.
    """

    constant: Constant | None
    gains: Mapping[str, Gain]
    runs: int
    written: str
    finished: bool


Progress = Callable[[Standing], object]


def tune(
    problems: Mapping[str, Instance],
    portfolio: Portfolio,
    output: str,
    *,
    stop: Stop,
    runs: int,
    seconds: float = math.inf,
    candidates: int = 64,
    workers: int = 1,
    seed: int = 0,
    resume: bool = False,
    force: bool = False,
    progress: Progress = lambda standing: None,
) -> Tuned:
    """Find the constant setting of a portfolio that is best on some instances, and write it to a file.

    Parameters
    ----------
    problems
        Instances by the files or bundled names that they come from.
    output
        The file of the setting; every run is a row of the table beside it, whose name ends with ``.csv``.
    stop
        Of each run.
    runs, seconds
        How many runs there are to be, and how long they may take in all, by the clock of the searches; where they take
        longer than expected, the tuning ends earlier.
    candidates, seed
        How many settings are tried. The seed decides which (see `candidates_for`), and on what.
    workers
        Runs at a time, by processes of their own.
    resume
        Go on from the table, whose runs are not done again.
    force
        Write over a setting and a table that are there.
    """
    table = check_tuning(output, candidates, workers, seed, resume, force)
    plan = plan_for(candidates, len(problems), runs)
    for instance in problems.values():
        if len(instance.unservable) == instance.customers:
            first = next(iter(instance.unservable.values()))
            raise InputError(f"{instance.name}: no customer can be served; of customer 1, {first}.")
    # Compiled by one process, if at all, not by all at the same time.
    rows = candidates_for(list(problems.values()), portfolio, candidates, seed)
    for instance in problems.values():
        prepare(portfolio, Constant(portfolio, tuple(rows[0])), SimulatedAnnealing(), stop, instance)
        prepare(portfolio_named(default_for(instance)), Uniform(), SimulatedAnnealing(), stop, instance)
    if not resume:
        table.unlink(missing_ok=True)
    with Store(table, CsvRows(TuningRun)) as store:
        pool = ProcessPool(workers)
        try:
            tuning = _Tuning(problems, portfolio, rows, stop, seconds, workers, seed, store, pool, progress)
            finished = True
            try:
                tuning.halve(plan)
                tuning.compare(plan)
            except KeyboardInterrupt:
                finished = False
        finally:
            pool.shutdown()
        best = tuning.best
        if best is None:
            if finished:
                raise InputError("the time was over before all candidates had a run; take more minutes.")
            return Tuned(None, {}, len(tuning.used), output, finished)
        names = tuple(instance.name for instance in problems.values())
        constant = Constant(portfolio, tuple(tuning.rows[best].tolist()), output, names)
        card = {
            "neuralns": __version__,
            "instances": list(names),
            "time": stop.time if math.isfinite(stop.time) else None,
            "iterations": stop.iterations if math.isfinite(stop.iterations) else None,
            "candidates": candidates,
            "runs": len(tuning.used),
            "seed": seed,
            "finished": finished,
            "gain": {name: asdict(gain) for name, gain in tuning.gains.items()},
        }
        written = write_or_rescue(partial(write_setting, constant, card=card), output)
        return Tuned(constant, tuning.gains, len(tuning.used), written, finished)


def check_tuning(output: str, candidates: int, workers: int, seed: int, resume: bool, force: bool) -> Path:
    """Refuse what cannot be, before any work; return where the table of runs is."""
    if candidates < 2:
        raise InputError(f"number of candidates {candidates} must be at least 2.")
    if seed < 0:
        raise InputError(f"seed {seed} must be at least 0.")
    check_hands(workers, None)
    check_suffix(output, (SUFFIX,))
    check_writable(output)
    table = Path(output).with_suffix(".csv")
    check_writable(table)
    if resume:
        if not table.is_file():
            raise InputError(f"{table}: there are no runs to resume from.")
    else:
        check_new(output, force)
        if table.is_file():
            # Never written over what is something else.
            Store(table, CsvRows(TuningRun))
            if not force:
                raise InputError(f"{table}: holds runs already; go on with --resume, or start anew with --force.")
    return table


class _Tuning:
    """The candidates left, what they were tried on, and the runs so far."""

    def __init__(
        self,
        problems: Mapping[str, Instance],
        portfolio: Portfolio,
        rows: Sequence[Floats],
        stop: Stop,
        seconds: float,
        workers: int,
        seed: int,
        store: Store[TuningRun],
        pool: Executor,
        progress: Progress,
    ) -> None:
        self._problems, self._portfolio, self._stop = problems, portfolio, stop
        self._seconds, self._workers, self._seed = seconds * workers, workers, seed
        self._hands, self._progress = _KeptOpen(pool), progress
        self._contents, self._controller = digests(list(problems)), bundled_mark()
        self._results = _Results(store)
        self._spent = 0.0
        self.rows = {str(number): row for number, row in enumerate(rows)}
        self.used: set[str] = set()
        self.gains: dict[str, Gain] = {}
        self._left = list(self.rows)
        self._blocks: list[Block] = []

    @property
    def best(self) -> str | None:
        """The best candidate of those left, by the blocks that all of them were tried on; None if there is none."""
        return next(iter(self._ranked()), None)

    def halve(self, plan: Plan) -> None:
        """Let the better half stay, round for round, until one is left or the time for it is over."""
        further = blocks_of(list(self._problems), self._seed, 1)
        for number, (_, count) in enumerate(plan.rounds, 1):
            blocks = [next(further) for _ in range(count)]
            self._blocks += blocks
            whole = self._run(
                f"round {number} of {len(plan.rounds)}", self._left, blocks, (1 - LAST_SHARE) * self._seconds
            )
            ranked = self._ranked()
            self._left = ranked[: math.ceil(len(ranked) / 2)] if whole else ranked[:1]
            if len(self._left) < 2:
                return

    def compare(self, plan: Plan) -> None:
        """Compare the one left with all dials at 0 and with the default."""
        best = self.best
        if best is None:
            return
        others = [name for name in (PLAIN, DEFAULT) if name != best]
        further = blocks_of(list(self._problems), self._seed, 2)
        blocks = [next(further) for _ in range(plan.last)]
        self._run("last comparison", [best, *others], blocks, self._seconds)
        done, values = self._values([best, *others], blocks)
        for column, name in enumerate(others, 1):
            if done:
                self.gains["all at 0" if name == PLAIN else name] = gain_of(done, values[:, column] - values[:, 0])

    def _ranked(self) -> list[str]:
        """Return the candidates left, the best first; none if there is no block that all were tried on."""
        done, values = self._values(self._left, self._blocks)
        if not done:
            return []
        return [self._left[index] for index in np.argsort(values.mean(axis=0), kind="stable")]

    def _values(self, names: Sequence[str], blocks: Sequence[Block]) -> tuple[list[Block], Floats]:
        """Return the blocks that all were tried on, and what their runs there are worth (see `relative_costs`)."""
        found, done = self._results.rows, []
        costs, unserved = [], []
        for block in blocks:
            jobs = [self._job(name, block).name for name in names]
            if jobs and all(job in found for job in jobs):
                done.append(block)
                costs.append([found[job].cost for job in jobs])
                unserved.append([found[job].unserved for job in jobs])
        return done, relative_costs(np.array(costs), np.array(unserved)) if done else np.zeros((0, len(names)))

    def _run(self, stage: str, names: Sequence[str], blocks: Sequence[Block], limit: float) -> bool:
        """Try candidates on blocks, unless that was done before or the time is over; return whether all were tried."""
        asked = [(name, self._job(name, block)) for block in blocks for name in names]
        jobs = {job.name: job for _, job in asked}
        known = [name for name in jobs if name in self._results.done]
        self._spent += sum(self._results.rows[name].seconds for name in known)
        self.used.update(known)
        self._results.stage, self._results.candidates = stage, {job.name: name for name, job in asked}
        late: set[str] = set()

        def tell() -> None:
            done = len(self.used & jobs.keys())
            left = max(0.0, self._seconds - self._spent) / self._workers
            self._progress(Standing(stage, len(names), done, len(jobs), left))

        def pack(job: Job) -> dict[str, Any]:
            if self._spent >= limit:
                late.add(job.name)
                raise _TimeOverError
            row = job.settings["row"]
            operators = None if row is None else (self._portfolio.name, job.settings["operators"])
            return {
                **job.settings,
                "instance": self._problems[job.settings["file"]],
                "operators": operators,
                "stop": self._stop,
            }

        def take(job: Job, news: Done | Failure) -> None:
            if job.name in self._results.done:
                self.used.add(job.name)
                self._spent += self._results.rows[job.name].seconds
                tell()

        tell()
        failures = run_jobs(
            work, list(jobs.values()), self._results, lambda: self._hands, self._workers + 1, take, pack
        )
        for failure in failures:
            if failure.job.name not in late:
                raise InputError(
                    f"{failure.job.settings['file']}: a run failed ({failure.reason.rstrip('.')}); those that are done "
                    "are kept, and --resume goes on from there."
                )
        return not late

    def _job(self, name: str, block: Block) -> Job:
        row = self.rows.get(name)
        return Job(
            "tune",
            {
                "neuralns": __version__,
                "file": block.source,
                "content": self._contents.get(block.source, ""),
                "operators": None if row is None else list(self._portfolio.names),
                "row": None if row is None else row.tolist(),
                "limits": [self._stop.time, self._stop.iterations, self._stop.no_improvement],
                "seed": block.seed,
                # Runs by another bundled controller, or by none, are others.
                **({"controller": self._controller} if row is None else {}),
            },
        )


class _TimeOverError(NeuralnsError):
    """A run is not begun any more."""


class _KeptOpen(Executor):
    """Processes that stay for the next round when one is done."""

    def __init__(self, pool: Executor) -> None:
        self._pool = pool

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        return self._pool.submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        if not wait:
            self._pool.shutdown(wait=False)


class _Results:
    """The table of runs, and the way from what a job gave to its row."""

    def __init__(self, store: Store[TuningRun]) -> None:
        self._store = store
        self.rows = {row.job: row for row in store.rows}
        self.stage = ""
        self.candidates: Mapping[str, str] = {}

    @property
    def done(self) -> Mapping[str, TuningRun]:
        return self.rows

    def add(self, job: Job, done: Done) -> None:
        """Write the row of a run."""
        settings, found = job.settings, done.result
        dials: dict[str, float] = {}
        if settings["row"] is not None:
            names = Dials(make_portfolio("", settings["operators"])).names
            dials = {name: value for name, value in zip(names, settings["row"], strict=True) if value}
        row = TuningRun(
            self.stage,
            self.candidates[job.name],
            settings["file"],
            settings["seed"],
            found["cost"],
            found["unserved"],
            found["iterations"],
            round(found["seconds"], 3),
            json.dumps(dials),
            job.name,
        )
        self._store.add(row)
        self.rows[job.name] = row


def work(kind: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Search by a setting, or by the default; return what came of it in plain values."""
    choices: dict[str, Any] = {}
    if given["operators"] is not None:
        portfolio = make_portfolio(*given["operators"])
        choices = {"portfolio": portfolio, "selector": Constant(portfolio, tuple(given["row"]))}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)
        result = solve(given["instance"], given["stop"], seed=given["seed"], **choices)
    refuse_cut_short(result.stopped_by)
    return {
        "cost": result.cost,
        "unserved": len(result.unserved),
        "iterations": result.iterations,
        "seconds": result.runtime,
    }
