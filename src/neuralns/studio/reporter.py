"""Reports of a search while it runs, several times a second, and the commands that it takes meanwhile."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from neuralns.problem.instance import Instance
from neuralns.problem.solution import Solution
from neuralns.search.loop import ACCEPTED, NEW_BEST, USED
from neuralns.search.pausing import Clock
from neuralns.search.result import Result
from neuralns.search.search import Progress, Search
from neuralns.selection.controller import Setting, View
from neuralns.selection.policy import PolicySelector
from neuralns.studio.channel import Channel
from neuralns.studio.describe import describe_solution, number
from neuralns.studio.request import Options

REPORT_SECONDS = 0.15
"""Time between two reports."""
RATE_SECONDS = 1.0
"""Time over which gains per second are told, at least."""
PACE_SECONDS = 0.5
"""Time between two iterations of a search that is slowed down."""
QUICKEST_PACE = 0.02
REPORTING_SHARE = 0.05
"""Most of the time that may go into reports of best solutions, which takes long where they are large."""
WHOLE_ROUTES = 2000
"""Up to so many customers all routes of a best solution are told, of more only those that have changed."""

Rank = tuple[int, float]


class Reporter:
    """A callback of `neuralns.solve`: it reports on the search, and does what is commanded.

    A search of so many iterations is ended, where its time is up, by it alone; then it was ``out_of_time``.
    """

    def __init__(self, channel: Channel, instance: Instance, options: Options, clock: Clock) -> None:
        self._channel, self._clock = channel, clock
        self._whole = instance.customers <= WHOLE_ROUTES
        self._pace = PACE_SECONDS if options.slow else None
        self._stopped = self.out_of_time = False
        self._seconds = math.inf if options.iterations is None else options.time
        self._reported_at = self._best_due_at = -REPORT_SECONDS
        self._index = 0
        self._rank: Rank | None = None
        self._routes: list[list[int]] = []
        self._vehicles: list[int] = []
        self._unreported: tuple[Solution, Progress] | None = None
        self._rates = _Rates()

    def note_best(self, solution: Solution, progress: Progress) -> None:
        """Take note of a new best solution that several workers told of."""
        self._unreported = solution, progress

    def __call__(self, progress: Progress) -> bool:
        """Tell where the search stands, if that has not been told of late; return whether it is to end."""
        self._do_commands(self._channel.commands())
        self._check_time(progress.time)
        if self._pace is not None and progress.search is not None and not self._stopped:
            self._step_slowly(progress.search)
        if not self._stopped:
            self._report_if_due(progress if progress.search is None else progress.search.progress())
        return self._stopped

    def finish(self, result: Result) -> None:
        """Tell of the best solution of all."""
        self._report_best(result.best, result.runtime, result.iterations)

    def _check_time(self, seconds: float) -> None:
        if seconds >= self._seconds and not self._stopped:
            self._stopped = self.out_of_time = True

    def _do_commands(self, commands: list[dict[str, Any]]) -> None:
        """Do what is commanded; in a pause, wait until it is over."""
        for command in commands:
            self._do(command)
        if not self._clock.paused:
            return
        self._channel.send("paused")
        while self._clock.paused:
            self._do(self._channel.next_command())
        if not self._stopped:
            self._channel.send("resumed")

    def _do(self, command: dict[str, Any]) -> None:
        what = command["do"]
        if what == "slow":
            self._pace = max(QUICKEST_PACE, float(command["pace"]))
        elif what == "fast":
            self._pace = None
        elif what == "pause":
            self._clock.pause()
        elif what in ("resume", "stop"):
            self._stopped = self._stopped or what == "stop"
            self._clock.resume()

    def _step_slowly(self, search: Search) -> None:
        """Do one iteration after the other, each told of, until the command comes to be quick again."""
        while self._pace is not None and not self._stopped and search.reason_to_stop() is None:
            before = search.pair_counts.copy()
            search.advance(1)
            self._report_step(search, search.pair_counts - before)
            self._report_if_due(search.progress())
            self._do_commands(self._channel.commands(self._pace))
            self._check_time(search.elapsed)

    def _report_step(self, search: Search, made: np.ndarray[Any, Any]) -> None:
        portfolio = search.setup.portfolio
        destroy, repair = (int(index) for index in np.argwhere(made[:, :, USED])[0])
        current = search.current()
        self._channel.send(
            "step",
            iteration=search.iteration,
            removed=search.removed,
            destroy=portfolio.destroys[destroy].name,
            repair=portfolio.repairs[repair].name,
            cost=number(current.cost),
            accepted=bool(made[destroy, repair, ACCEPTED]),
            new_best=bool(made[destroy, repair, NEW_BEST]),
            routes=[list(route) for route in current.routes],
            vehicles=list(current.vehicles),
        )

    def _report_if_due(self, progress: Progress) -> None:
        """Tell where the search stands, unless that has been told a moment ago."""
        now = time.perf_counter()
        if now - self._reported_at < REPORT_SECONDS:
            return
        self._reported_at = now
        if now >= self._best_due_at:
            self._report_new_best(progress)
            took = time.perf_counter() - now
            self._best_due_at = now + took / REPORTING_SHARE
        self._report_progress(progress)

    def _report_new_best(self, progress: Progress) -> None:
        search = progress.search
        if search is None:
            if self._unreported is not None:
                solution, at = self._unreported
                self._unreported = None
                self._report_best(solution, at.time, at.iteration)
        elif (progress.unserved, progress.best) != self._rank:
            self._rank = progress.unserved, progress.best
            self._report_best(search.best(), progress.time, progress.iteration)

    def _report_progress(self, progress: Progress) -> None:
        search = progress.search
        self._channel.send(
            "progress",
            time=number(progress.time),
            iteration=progress.iteration,
            current=number(progress.current),
            best=number(progress.best),
            temperature=number(progress.temperature),
            acceptance=None if search is None else number(search.acceptance),
            uses=progress.uses,
            gains=None if search is None else self._rates.of(search),
            unserved=progress.unserved,
            share=number(progress.share),
            controller=None if search is None else _controller_report(search),
        )

    def _report_best(self, solution: Solution, at: float, iteration: int) -> None:
        found = describe_solution(solution)
        routes, vehicles = found["routes"], found["vehicles"]
        if self._index > 0 and routes == self._routes and vehicles == self._vehicles:
            return
        if not self._whole and self._index > 0:
            del found["routes"]
            before = self._routes
            found["changed"] = {
                index: route for index, route in enumerate(routes) if index >= len(before) or route != before[index]
            }
        self._routes, self._vehicles = routes, vehicles
        self._channel.send("best", index=self._index, time=number(at), iteration=iteration, count=len(routes), **found)
        self._index += 1


class _Rates:
    """Gain per second of each operator, over the last second or so."""

    def __init__(self) -> None:
        self._seen: list[tuple[float, np.ndarray[Any, Any], np.ndarray[Any, Any]]] = []

    def of(self, search: Search) -> dict[str, float | None]:
        now = search.elapsed
        self._seen.append((now, search.pair_gains.copy(), search.pair_seconds))
        while len(self._seen) > 2 and now - self._seen[1][0] > RATE_SECONDS:
            del self._seen[0]
        (_, gains, seconds), (_, last_gains, last_seconds) = self._seen[0], self._seen[-1]
        won, took = last_gains - gains, last_seconds - seconds
        rates: dict[str, float | None] = {}
        portfolio = search.setup.portfolio
        for axis, entries in ((1, portfolio.destroys), (0, portfolio.repairs)):
            by_gain, by_time = won.sum(axis=axis), took.sum(axis=axis)
            for index, entry in enumerate(entries):
                rates[entry.name] = number(by_gain[index] / by_time[index]) if by_time[index] > 1e-9 else None
        return rates


def _controller_report(search: Search) -> dict[str, Any] | None:
    """Return what steers the choice of operators, and what that was made of; None where chance alone does."""
    selector, portfolio = search.setup.selector, search.setup.portfolio
    if search.control is not None:
        return _controller_values(*search.control)
    if isinstance(selector, PolicySelector):
        values = selector.values(search.memory, search.setup.instance.customers)
        scored = {f"Q {name}": number(value) for name, value in zip(portfolio.actions, values, strict=True)}
        return {"inputs": {"temperature of the policy": number(selector.temperature)}, "outputs": scored}
    weights = getattr(search.memory, "weights", None)
    if weights is not None and len(weights) == len(portfolio.actions):
        outputs = {f"weight {name}": number(value) for name, value in zip(portfolio.actions, weights, strict=True)}
        return {"inputs": {}, "outputs": outputs}
    return None


def _controller_values(view: View, setting: Setting) -> dict[str, Any]:
    inputs: dict[str, Any] = {
        "time left": number(view.left),
        "current": number(view.current),
        "best": number(view.best),
        "change": number(view.change),
        "temperature": number(view.temperature),
        "acceptance": number(view.acceptance),
        "iterations since best": view.since_best,
    }
    outputs: dict[str, Any] = {}
    destroys, repairs = ([entry.name for entry in each] for each in (view.portfolio.destroys, view.portfolio.repairs))
    for axis, names in ((1, destroys), (0, repairs)):
        took, won = view.seconds.sum(axis=axis), view.gains.sum(axis=axis)
        for index, name in enumerate(names):
            inputs[f"gain a second of {name}"] = number(won[index] / took[index]) if took[index] > 0 else None
    if setting.weights is not None:
        weights = np.asarray(setting.weights, np.float64)
        for axis, names in ((1, destroys), (0, repairs)):
            shares = weights.sum(axis=axis) / weights.sum()
            outputs |= {f"share of {name}": number(share) for name, share in zip(names, shares, strict=True)}
    if setting.scale is not None:
        outputs["fewest removed"], outputs["most removed"] = map(int, setting.scale)
    outputs |= {
        f"{operator}: {parameter}": number(value) for (operator, parameter), value in setting.parameters.items()
    }
    if setting.heat is not None:
        outputs["heat at the start"], outputs["heat at the end"] = map(number, setting.heat)
    return {"inputs": inputs, "outputs": outputs}
