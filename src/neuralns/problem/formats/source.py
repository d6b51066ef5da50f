"""Where an instance comes from: a file, or a text that was sent in its place, read once and told apart once."""

from __future__ import annotations

import os
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


def read_instance(path: str | os.PathLike[str], rounding: str | None = None, ignore: Collection[str] = ()) -> Instance:
    """Read an instance file, told by its content: VRPLIB, Solomon, Li and Lim, JSON (ours or VROOM's) or CSV.

    Parameters
    ----------
    path
        The file.
    rounding
        Rounding convention; left out, the one that the published costs of the instance's family use: ``round`` for
        CVRPLIB's A, B, E, F, M, P, X, XML100 and Belgium sets, ``dimacs`` for Solomon's and for Gehring and
        Homberger's with their windows, what the file says for JSON, ``none`` for all others.
    ignore
        Names of what to go on without, though the file has it and it would change the problem; ``windows`` stands for
        all that has to do with time, and for the number of vehicles.
    """
    instance = read_source(path).instance(ignore)
    return instance if rounding is None else instance.with_rounding(rounding)
