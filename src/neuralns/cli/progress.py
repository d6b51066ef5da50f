"""What a person sees while a search runs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from neuralns.compiled.caching import CompilationNotice
from neuralns.plot import format_cost
from neuralns.problem.instance import Instance
from neuralns.search.progress import Progress
from neuralns.search.stopping import Stop

if TYPE_CHECKING:
    from neuralns.experiments.batch import BatchRow
    from neuralns.experiments.tune import Standing

UNDER_WAY = 8
"""So many instances under way are named; the others are counted."""
PLAIN_SECONDS = 2.0
"""Seconds between two lines where output is no terminal."""


@contextmanager
def announce_compilation(console: Console) -> Iterator[None]:
    """Say so when functions have to be compiled, which happens at the first use and after an upgrade."""
    with CompilationNotice(
        lambda: console.print("compiling the search (only this first time, some 10 to 40 seconds) ...")
    ):
        yield


class ProgressDisplay:
    """A live view on a terminal, a line now and then elsewhere."""

    def __init__(self, console: Console, instance: Instance, stop: Stop, shown: bool = True) -> None:
        self._console = console
        self._instance = instance
        self._stop = stop
        self._shown = shown
        self._live: Live | None = None
        self._last = 0.0

    def __enter__(self) -> ProgressDisplay:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._live is not None:
            self._live.stop()

    def update(self, progress: Progress) -> None:
        """Show where the search stands."""
        if not self._shown:
            return
        if not self._console.is_terminal:
            if progress.time - self._last >= PLAIN_SECONDS:
                self._last = progress.time
                self._console.print(f"{self._instance.name}: {_line(progress)}", soft_wrap=True)
            return
        if self._live is None:
            self._live = Live(console=self._console, transient=True, auto_refresh=False)
            self._live.start()
        if progress.time - self._last >= 0.09 or progress.iteration == 0:
            self._last = progress.time
            self._live.update(self._view(progress), refresh=True)

    def _view(self, progress: Progress) -> Group:
        head = Table.grid(padding=(0, 1))
        head.add_row(
            Text(self._instance.name, style="bold"), ProgressBar(total=1.0, completed=progress.share, width=30)
        )
        total = max(1, progress.iteration)
        shares = Table.grid(padding=(0, 2))
        names = list(progress.uses)
        for start in range(0, len(names), 4):
            shares.add_row(
                *(Text(f"{100 * progress.uses[name] / total:4.0f} % {name}") for name in names[start : start + 4])
            )
        return Group(head, Text(_line(progress)), shares)


def _line(progress: Progress) -> str:
    limit = f"/{progress.stop.time:g}" if math.isfinite(progress.stop.time) else ""
    gap = "" if progress.gap is None else f" (gap {progress.gap:.2f} %)"
    left_out = getattr(progress, "unserved", 0)
    unserved = f", {left_out} unserved" if left_out else ""
    return (
        f"{progress.time:.1f}{limit} s  best {format_cost(progress.best)}{gap}{unserved}  "
        f"current {format_cost(progress.current)}  {progress.rate:,.0f} iterations/s"
    )


class BatchDisplay:
    """A line for each instance that is through; on a terminal, below them, what is under way and the time left."""

    def __init__(self, console: Console, shown: bool = True) -> None:
        self._console = console
        self._shown = shown
        self._under_way: dict[str, None] = {}
        self._begun = perf_counter()
        self._before: int | None = None
        self._done = self._total = 0
        self._live = Live(
            console=console, get_renderable=self._view, transient=True, refresh_per_second=2, redirect_stdout=False
        )

    def __enter__(self) -> BatchDisplay:
        if self._shown and self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Let the view end; its last state is not left on the screen."""
        self._live.stop()

    def begin(self, file: str) -> None:
        """Show that an instance is under way; one that is so already was lost with its process, and is begun anew."""
        if file in self._under_way and self._shown:
            self._console.print(f"{file}  lost on the way; it is tried again")
        self._under_way[file] = None

    def end(self, row: BatchRow, done: int, total: int) -> None:
        """Show what became of an instance."""
        self._under_way.pop(row.file, None)
        if self._before is None:
            self._before = done - 1
        self._done, self._total = done, total
        if not self._shown:
            return
        if row.fault:
            what = f"failed ({row.fault.removeprefix(f'{row.file}: ').rstrip('.')})"
        else:
            gap = "" if row.gap is None else f" (gap {row.gap:.2f} %)"
            left_out = f", {row.unserved} unserved" if row.unserved else ""
            what = f"cost {format_cost(row.cost or 0.0)}{gap}, {row.routes} routes{left_out}, {row.seconds:.1f} s"
        self._console.print(f"{done}/{total}  {row.file}  {what}{self._left()}")

    def _left(self) -> str:
        """Return how long the rest may take, going by what this call has done."""
        if self._before is None or self._done in (self._before, self._total):
            return ""
        pace = (perf_counter() - self._begun) / (self._done - self._before)
        return f"  ({duration_text(pace * (self._total - self._done))} left)"

    def _view(self) -> Text:
        names = list(self._under_way)
        more = f" and {len(names) - UNDER_WAY} more" if len(names) > UNDER_WAY else ""
        head = f"{self._done}/{self._total} done{self._left()}, " if self._total else ""
        return Text(f"{head}under way: {', '.join(names[:UNDER_WAY])}{more}", style="dim")


class TuningDisplay:
    """On a terminal a line that tells where a tuning stands; elsewhere one at the start of each of its stages."""

    def __init__(self, console: Console, shown: bool = True) -> None:
        self._console = console
        self._shown = shown
        self._stage = ""
        self._line = ""
        self._live = Live(
            console=console, get_renderable=self._view, transient=True, refresh_per_second=2, redirect_stdout=False
        )

    def __enter__(self) -> TuningDisplay:
        if self._shown and self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._live.stop()

    def update(self, standing: Standing) -> None:
        """Show where it stands."""
        head, left = f"{standing.stage}: {standing.left} settings", f"{duration_text(standing.seconds)} left"
        self._line = f"{head}, {standing.done}/{standing.total} runs, {left}"
        if self._shown and standing.stage != self._stage:
            self._stage = standing.stage
            self._console.print(f"{head}, {standing.total} runs, {left}")

    def _view(self) -> Text:
        return Text(self._line, style="dim")


def duration_text(seconds: float) -> str:
    """Return a time in few words.

    >>> duration_text(12.3), duration_text(300), duration_text(7000)
    ('12 s', '5 min', '1 h 57 min')
    """
    minutes = round(seconds / 60)
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
