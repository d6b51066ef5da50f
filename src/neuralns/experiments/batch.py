"""Many instances, each solved by a process or a worker of a cluster, with a row of results as soon as it is done."""

from __future__ import annotations

import hashlib
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from neuralns.errors import InputError, InputWarning, NeuralnsError
from neuralns.experiments.executors import ProcessPool, check_hands, refuse_cut_short
from neuralns.experiments.executors import cluster as open_cluster
from neuralns.experiments.jobs import Done, Failure, Job, Stopped, run_jobs
from neuralns.experiments.machine import cores
from neuralns.experiments.store import CsvRows, Store
from neuralns.files import check_writable, fill_name, write_or_rescue
from neuralns.operators.portfolio import Portfolio, make_portfolio
from neuralns.operators.registry import load_operators
from neuralns.problem.formats.detect import check_solution_path
from neuralns.problem.instance import Instance
from neuralns.problem.solution import Solution
from neuralns.search.acceptance.annealing import SimulatedAnnealing
from neuralns.search.setup import portfolio_for, prepare
from neuralns.search.solve import solve
from neuralns.search.stopping import Stop
from neuralns.selection.default import AUTO, default_selector
from neuralns.selection.selector import Selector
from neuralns.selection.uniform import Uniform

AT_THE_CLUSTER = 200
"""So many instances at most are handed to a cluster at a time, which holds them in memory."""


@dataclass(frozen=True)
class BatchRow:
    """What became of an instance.

    Attributes
    ----------
    file
        The file or the bundled name, as it was given.
    cost, gap
        Recomputed from the routes; the gap to the best known cost is in per cent, and left out where none is known.
    routes, unserved, skipped
        How many routes there are, and how many customers are on none: by need, or as optional ones.
    settings
        The options that differ from their defaults.
    fault
        Why there are no routes, in a sentence; empty if there are.
    job
        What tells rows apart: the same for the same file with the same content and the same settings.
    """

    file: str
    instance: str
    customers: int | None
    cost: float | None
    best_known: float | None
    gap: float | None
    routes: int | None
    unserved: int | None
    skipped: int | None
    iterations: int | None
    seconds: float | None
    stopped_by: str
    rounding: str
    settings: str
    fault: str
    job: str

    def __post_init__(self) -> None:
        if self.cost is not None and not math.isfinite(self.cost):
            raise ValueError(f"cost {self.cost} is not a number")


class Problem(NamedTuple):
    """An instance that was read, the operators to solve it with, and how its routes are written to a file.

    Without operators the search takes those that go with the selector.
    """

    instance: Instance
    portfolio: Portfolio | None
    write: Callable[[Solution, str], None]


@dataclass(frozen=True)
class Recipe:
    """How every instance is solved.

    Attributes
    ----------
    read
        From a file or a bundled name to what to solve; what it refuses becomes the fault of a row.
    stop, choices
        When to end, and further arguments of `neuralns.solve`.
    settings
        What makes up the search, in plain values: a row counts as done for the same ones only.
    own_files
        Python files with operators of one's own.
    own_selector
        One of a Python file, by its name: every process reads that file itself.
    """

    read: Callable[[str], Problem]
    stop: Stop
    choices: Mapping[str, Any]
    settings: Mapping[str, Any]
    own_files: Sequence[str] = ()
    own_selector: str | None = None


Begin = Callable[[str], object]
"""Told of each file when it is handed out."""
End = Callable[[BatchRow, int, int], object]
"""Told of each row when it is written, with the files that are through and the files in all."""


def run_batch(
    sources: Sequence[str],
    recipe: Recipe,
    output: Path,
    *,
    solutions: str | None = None,
    workers: int | None = None,
    cluster: str | None = None,
    begin: Begin = lambda file: None,
    end: End = lambda row, done, total: None,
) -> list[BatchRow]:
    """Solve what a file of results lacks of some instances, so many at a time; return the rows of all, in their order.

    A file that cannot be read or solved has a row that says why, and is tried again by the next call. An instance is
    done if the last row of its file has the same content and settings, and its routes are there if they are asked for.

    Parameters
    ----------
    sources
        Files, or bundled names.
    output
        The table of results, which is added to.
    solutions
        Where routes go: a file name with ``{name}``, that of the instance's file without its ending, and perhaps
        ``{folder}``.
    workers, cluster
        Processes, as many as cores by default; or the address of a Dask scheduler instead, to whose workers
        instances are sent.
    begin, end
        Told what goes on, see ``Begin`` and ``End``.
    """
    check_hands(workers, cluster)
    own = [*recipe.own_files, *([recipe.own_selector] if recipe.own_selector else [])]
    if cluster is not None and own:
        raise InputError(
            f"{own[0]}: code of your own is read from files here (--workers); a cluster does not have them."
        )
    check_writable(output)
    jobs = {
        source: Job("solve", {"file": source, "content": _digest(source), **recipe.settings})
        for source in dict.fromkeys(sources)
    }
    targets = {} if solutions is None else _targets(jobs, solutions, output)
    hands: AbstractContextManager[Callable[[], Executor]] = (
        nullcontext(partial(ProcessPool, workers or cores())) if cluster is None else open_cluster(cluster)
    )
    with Store(output, CsvRows(BatchRow)) as store:
        results = _Results(store, recipe, targets)
        through = {source for source, job in jobs.items() if job.name in results.done}

        def pack(job: Job) -> dict[str, Any]:
            source = job.settings["file"]
            begin(source)
            if _digest(source) != job.settings["content"]:
                raise InputError(f"{source}: was changed in the meantime; the same command solves it as it is now.")
            problem = results.under_way[job.name] = recipe.read(source)
            if cluster is None:
                # Compiled by one process, if at all, not by all at the same time.
                chooser = recipe.choices.get("selector")
                selector = chooser if isinstance(chooser, Selector) else Uniform()
                if chooser == AUTO and problem.portfolio is None:
                    selector = default_selector(problem.instance, recipe.stop.time)
                operators = problem.portfolio or portfolio_for(selector, problem.instance)
                prepare(operators, selector, SimulatedAnnealing(), recipe.stop, problem.instance)
            return {
                "instance": problem.instance,
                "portfolio": problem.portfolio and (problem.portfolio.name, problem.portfolio.names),
                "stop": recipe.stop,
                "choices": {**recipe.choices, **({"selector": recipe.own_selector} if recipe.own_selector else {})},
                "own_files": list(recipe.own_files),
            }

        def tell(job: Job, news: Done | Failure) -> None:
            results.under_way.pop(job.name, None)
            if isinstance(news, Failure):
                results.add_fault(job, news.reason)
            through.add(job.settings["file"])
            end(results.last[job.settings["file"]], len(through), len(jobs))

        # One is always ready, so that no process waits for it to be read.
        window = (workers or cores()) + 1 if cluster is None else AT_THE_CLUSTER
        try:
            with hands as open_executor:
                run_jobs(work, list(jobs.values()), results, open_executor, window, tell, pack)
        except KeyboardInterrupt:
            done = len(results.done & {job.name for job in jobs.values()})
            raise Stopped(
                f"stopped; {done} of {len(jobs)} instances are done and kept in {output}. The same command goes on "
                "from there; those that were under way are begun anew."
            ) from None
        return [results.last[source] for source in jobs]


class _Results:
    """The table of results: which jobs it has, and the way from what a job gave to its row."""

    def __init__(self, store: Store[BatchRow], recipe: Recipe, targets: Mapping[str, str]) -> None:
        self._store, self._recipe, self._targets = store, recipe, targets
        self.under_way: dict[str, Problem] = {}
        self.last = {row.file: row for row in store.rows}
        self.done = {
            row.job
            for row in self.last.values()
            if not row.fault and (row.file not in targets or Path(targets[row.file]).is_file())
        }

    def add(self, job: Job, done: Done) -> None:
        """Write the routes, if they are asked for, and then the row, so that a row tells of routes that are there."""
        problem, found = self.under_way[job.name], done.result
        source, instance = job.settings["file"], problem.instance
        for note in found["notes"]:
            warnings.warn(note, InputWarning, stacklevel=2)
        if "fault" in found:
            self.add_fault(job, found["fault"])
            return
        objective = self._recipe.choices.get("objective")
        solution = Solution(
            instance if objective is None else instance.with_objective(objective), found["routes"], found["vehicles"]
        )
        faults = solution.broken_rules() if instance.may_leave_out else solution.faults()
        if faults:  # never seen; a user's own operator could be at fault
            self.add_fault(job, f"the search ended with {faults[0]}")
            return
        if source in self._targets:
            try:
                write_or_rescue(partial(problem.write, solution), self._targets[source])
            except ValueError as error:  # also of names that are no text
                self.add_fault(job, str(error))
                return
        row = BatchRow(
            source,
            instance.name,
            instance.customers,
            solution.cost,
            solution.instance.best_known,
            solution.gap,
            len(solution.routes),
            len(solution.unserved),
            len(solution.skipped),
            found["iterations"],
            round(found["runtime"], 3),
            found["stopped_by"],
            instance.rounding,
            settings_text(self._recipe.settings),
            "",
            job.name,
        )
        self._store.add(row)
        self.last[source] = row
        self.done.add(job.name)

    def add_fault(self, job: Job, fault: str) -> None:
        """Write why a job has no result, unless the last row of its file says just that."""
        nothing = (None,) * 8
        source, settings = job.settings["file"], settings_text(self._recipe.settings)
        row = BatchRow(source, "", *nothing, None, "", "", settings, " ".join(fault.split()), job.name)
        if row != self.last.get(source):
            self._store.add(row)
            self.last[source] = row


def work(kind: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Solve an instance; return its routes in plain values, or why there are none."""
    for path in given["own_files"]:
        _load(path)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", InputWarning)
        try:
            portfolio = given["portfolio"] and make_portfolio(*given["portfolio"])
            result = solve(given["instance"], given["stop"], portfolio=portfolio, **given["choices"])
        except NeuralnsError as error:
            return {"fault": str(error), "notes": _notes(warned)}
    refuse_cut_short(result.stopped_by)
    return {
        "routes": result.routes,
        "vehicles": list(result.best.vehicles),
        "iterations": result.iterations,
        "runtime": result.runtime,
        "stopped_by": result.stopped_by,
        "notes": _notes(warned),
    }


_load = cache(load_operators)


def _notes(warned: Sequence[warnings.WarningMessage]) -> list[str]:
    return [str(each.message) for each in warned if issubclass(each.category, InputWarning)]


def settings_text(settings: Mapping[str, Any]) -> str:
    """Return settings as options of the command line.

    >>> settings_text({"time": 10, "ignore": ["windows", "COLOUR"], "lenient": True, "files": {"my.policy": "1a2b"}})
    '--time 10 --ignore windows --ignore COLOUR --lenient'
    """
    parts = []
    for name, value in settings.items():
        option = f"--{name.replace('_', '-')}"
        if value is True:
            parts.append(option)
        elif not isinstance(value, Mapping):
            values = value if isinstance(value, list | tuple) else [value]
            parts += [f"{option} {each:g}" if isinstance(each, float) else f"{option} {each}" for each in values]
    return " ".join(parts)


def digests(paths: Sequence[str]) -> dict[str, str]:
    """Return what tells the contents of files apart, for settings that name files; those that are none are left out."""
    return {path: _digest(path) for path in paths if Path(path).is_file()}


def _digest(path: str) -> str:
    """Return what tells the content of a file apart; of what cannot be read, nothing."""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError):
        return ""


def _targets(sources: Sequence[str] | Mapping[str, Any], pattern: str, results: Path) -> dict[str, str]:
    """Return where the routes of each source go; refuse what cannot be written, and one file for two of them."""
    taken: dict[Path, str] = {}
    found = {}
    for source in sources:
        name = Path(source).stem if Path(source).is_file() else source
        target = Path(fill_name(pattern.replace("{folder}", str(Path(source).parent)), name))
        if target.resolve() == results.resolve():
            raise InputError(f"{target}: the routes of {source} would go to the file of results; choose another name.")
        other = taken.setdefault(target.resolve(), source)
        if other != source:
            raise InputError(
                f"{target}: the routes of {other} and of {source} would go to this one file; let the name contain "
                "'{name}' or '{folder}'."
            )
        check_solution_path(target)
        found[source] = str(target)
    return found
