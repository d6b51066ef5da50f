"""Where an instance comes from: a file, or a text that was sent in its place, read once and told apart once."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from neuralns.problem.formats.detect import SPREADSHEET, VROOM, InstanceFormat, format_of
from neuralns.problem.formats.text import FilePath, read_text
from neuralns.problem.instance import Instance

SPREADSHEET_SUFFIXES = (".csv", ".tsv")
"""How files end that are spreadsheets whatever they hold, so that refusals speak of a table."""


@dataclass(frozen=True)
class Source:
    """The text of a file, and the format that it is in; ``path`` is what sentences call it."""

    path: FilePath
    text: str
    form: InstanceFormat

    @property
    def is_vroom(self) -> bool:
        """Whether it is VROOM's input, which says more than an instance holds."""
        return self.form is VROOM

    @property
    def is_spreadsheet(self) -> bool:
        """Whether it is a table of stops, beside which there may be others."""
        return self.form is SPREADSHEET

    def instance(self, ignore: Collection[str] = ()) -> Instance:
        """Return the instance that it holds by itself."""
        return self.form.read(self.path, self.text, (ignore,) if isinstance(ignore, str) else tuple(ignore))


def read_source(path: FilePath, text: str | None = None) -> Source:
    """Read a file, unless its text is given, and tell its format: by its content, or a spreadsheet by its name."""
    text = read_text(path) if text is None else text
    form = format_of(text)
    if form is not VROOM and Path(path).suffix.lower() in SPREADSHEET_SUFFIXES:
        form = SPREADSHEET
    return Source(path, text, form)
