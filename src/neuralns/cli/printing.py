"""How commands print: names and paths as they are, since brackets and colons are markup and emoji to rich.

What a file says never steers a terminal: control characters and escape codes are shown, not sent.
"""

from __future__ import annotations

import io
import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table

if TYPE_CHECKING:
    from neuralns.problem.instance import Instance

SHOWN_ROWS = 20
"""So many rows of a table are printed; the others are counted."""
_UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Categories of characters that steer a terminal, turn the direction of a text or break its lines."""


def clean(text: str) -> str:
    r"""Return a text with every character that steers a terminal written out; ends of lines stay.

    >>> clean("a\x1b[31mb")
    'a\\x1b[31mb'
    """
    if text.isprintable():
        return text
    return "".join(
        char.encode("unicode_escape").decode() if char != "\n" and unicodedata.category(char) in _UNSEEN else char
        for char in text
    )


def take_any_text() -> None:
    """Let standard output and errors take characters that their encoding lacks, written out."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


class _PlainConsole(Console):
    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render, with all text cleaned; the codes of styles and of live views are added later."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(clean(segment.text), segment.style)


def plain_console(stderr: bool = False, soft_wrap: bool = False) -> Console:
    """Return a console that prints text unchanged, except for characters that would steer a terminal."""
    return _PlainConsole(stderr=stderr, soft_wrap=soft_wrap, highlight=False, markup=False, emoji=False)


def objective_of(instance: Instance) -> str:
    """Return what an instance's cost counts: a name, or weights.

    >>> from neuralns import Instance
    >>> one = Instance("one", [0, 1], 1, [[0, 0], [3, 4]])
    >>> objective_of(one), objective_of(one.with_vehicle_cost(100))
    ('distance', 'distance=1,vehicles=100')
    """
    if (
        len(
            {
                (vehicle_type.distance_cost, vehicle_type.duration_cost, vehicle_type.fixed_cost)
                for vehicle_type in instance.types
            }
        )
        > 1
    ):
        return "by vehicle type"
    vehicle_type = instance.types[0]
    costs = {
        "distance": vehicle_type.distance_cost,
        "duration": vehicle_type.duration_cost,
        "vehicles": vehicle_type.fixed_cost,
    }
    weights = {name: cost for name, cost in costs.items() if cost > 0}
    for name in ("distance", "duration"):
        if weights == {name: 1}:
            return name
    return ",".join(f"{name}={cost:.10g}" for name, cost in weights.items())


def print_rows(console: Console, first: str, rows: Sequence[Mapping[str, str]]) -> None:
    """Print rows as a table; the first column, of names, is called ``first``."""
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for index, name in enumerate(rows[0]):
        table.add_column(name.replace("_", " ") if index else first, no_wrap=True)
    for row in rows[:SHOWN_ROWS]:
        table.add_row(*row.values())
    # A figure is never cut: on a narrow terminal lines wrap.
    console.width = max(console.width, 160)
    console.print(table)
    if len(rows) > SHOWN_ROWS:
        console.print(f"and {len(rows) - SHOWN_ROWS} more")
