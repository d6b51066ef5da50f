"""What a search returns: the best solution, how it came about, and how the operators fared."""

from __future__ import annotations

import csv
import io
import os
from base64 import b64encode
from dataclasses import dataclass, field
from html import escape
from typing import NamedTuple

from neuralns import plot
from neuralns.errors import InputError
from neuralns.files import write_text
from neuralns.problem.solution import Solution
from neuralns.search.progress import Progress


@dataclass(repr=False)
class Trace:
    """The course of a search, one row for each segment (about 20 a second).

    ``uses`` has for each row how often each operator, in the order of ``operators``, was used so far.
    """

    operators: tuple[str, ...]
    time: list[float] = field(default_factory=list)
    iteration: list[int] = field(default_factory=list)
    current: list[float] = field(default_factory=list)
    best: list[float] = field(default_factory=list)
    temperature: list[float] = field(default_factory=list)
    uses: list[list[int]] = field(default_factory=list)

    def __repr__(self) -> str:
        rows = len(self.time)
        return f"<Trace: {rows} rows{f', {self.time[-1]:.1f} s, best {self.best[-1]:.10g}' if rows else ''}>"

    def add(self, progress: Progress) -> None:
        """Add a row."""
        self.time.append(progress.time)
        self.iteration.append(progress.iteration)
        self.current.append(progress.current)
        self.best.append(progress.best)
        self.temperature.append(progress.temperature)
        self.uses.append(list(progress.uses.values()))

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the trace as a table."""
        write_text(path, self.text())

    def text(self) -> str:
        """Return the text of that table."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["time", "iteration", "current", "best", "temperature", *self.operators])
        for index in range(len(self.time)):
            row: list[object] = [f"{self.time[index]:.6f}", self.iteration[index]]
            row += [repr(self.current[index]), repr(self.best[index]), f"{self.temperature[index]:.6g}"]
            writer.writerow([*row, *self.uses[index]])
        return text.getvalue()


@dataclass(frozen=True)
class OperatorUse:
    """How often an operator was used, and with what outcome; each outcome includes the next ones.

    Of an improve operator the outcomes are those of the steps in which it made the routes cheaper.
    """

    name: str
    phase: str
    used: int
    accepted: int
    improved: int
    new_best: int


class NamedRoute(NamedTuple):
    """A route by names: the type of its vehicle, where it begins, its stops, and where it ends.

    Printed it reads ``van: depot → A → B → depot``; an open route has no start or no end.
    """

    vehicle: str
    start: str | None
    stops: tuple[str, ...]
    end: str | None

    def __str__(self) -> str:
        ends = (self.start, *self.stops, self.end)
        return f"{self.vehicle}: {' → '.join(stop for stop in ends if stop is not None)}"


@dataclass(frozen=True, repr=False)
class Result:
    """Outcome of `neuralns.solve`.

    Attributes
    ----------
    best
        The best solution found; its cost is recomputed from its routes.
    initial
        The solution that the search started from.
    iterations, runtime
        Iterations done, and seconds taken, without the time to compile.
    decision_time_share
        Share of the time that the selector took to choose operators and to learn, from one iteration in 37; None where
        the processor has no counter to measure it by.
    stopped_by
        ``time``, ``iterations``, ``no improvement``, ``target``, ``callback``, the name of a rule of your own, the
        signal's name, ``lost workers`` if all were killed, or who gave no answer or failed:
        ``operator 'mine' (no answer)``.
    """

    best: Solution
    initial: Solution
    iterations: int
    runtime: float
    seed: int
    stopped_by: str
    selector: str
    portfolio: str
    operators: tuple[OperatorUse, ...]
    trace: Trace
    decision_time_share: float | None

    def __repr__(self) -> str:
        return (
            f"<Result of {self.best.instance.name}: cost {self.cost:.10g}, {len(self.best.routes)} routes, "
            f"{self.iterations} iterations, {self.runtime:.1f} s, stopped by {self.stopped_by}>"
        )

    def _repr_html_(self) -> str:
        """Return what notebooks show: the cost and a picture of the routes, or a table of them without matplotlib."""
        what = f"{self.best.instance.name}: cost {plot.format_cost(self.cost)}, {len(self.best.routes)} routes"
        if self.unserved:
            what += f", {len(self.unserved)} customers not served"
        more = f"{self.iterations} iterations, {self.runtime:.1f} s, stopped by {self.stopped_by}"
        return f"<p><b>{escape(what)}</b><br>{escape(more)}</p>{self._picture() or self._table()}"

    def _picture(self) -> str | None:
        """Return the routes as an image, None without matplotlib."""
        try:
            figure = plot.routes(self)
        except InputError:
            return None
        content = io.BytesIO()
        figure.savefig(content, format="png", dpi=80)
        return f'<img alt="routes" src="data:image/png;base64,{b64encode(content.getvalue()).decode()}">'

    def _table(self) -> str:
        rows = "".join(
            f"<tr><td>{number}</td><td>{escape(str(route))}</td></tr>"
            for number, route in enumerate(self.named_routes, 1)
        )
        return f"<table><tr><th>route</th><th>stops</th></tr>{rows}</table>"

    @property
    def cost(self) -> float:
        """Cost of the best solution."""
        return self.best.cost

    @property
    def routes(self) -> list[list[int]]:
        """Routes of the best solution as lists of customers."""
        return [list(route) for route in self.best.routes]

    @property
    def named_routes(self) -> list[NamedRoute]:
        """Routes of the best solution by the names of vehicles and stops; numbers where there are none."""
        best, label = self.best, self.best.instance.label
        found = []
        for vehicle, route in zip(best.vehicles, best.routes, strict=True):
            vehicle_type = best.instance.types[vehicle]
            start, end = (None if node is None else label(node) for node in (vehicle_type.start, vehicle_type.end))
            found.append(NamedRoute(best.instance.type_name(vehicle), start, tuple(map(label, route)), end))
        return found

    @property
    def unserved(self) -> tuple[int, ...]:
        """Customers on no route, because nobody can serve them or the vehicles are too few."""
        return self.best.unserved

    @property
    def feasible(self) -> bool:
        """Whether the best solution keeps every rule."""
        return self.best.feasible

    @property
    def gap(self) -> float | None:
        """Gap to the best known cost in per cent."""
        return self.best.gap
