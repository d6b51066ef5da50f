"""Results as rows of a CSV file, one dataclass for each kind of row."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, fields
from io import StringIO
from pathlib import Path
from typing import Any

from neuralns.errors import InputError

_CASTS: dict[str, Callable[[str], Any]] = {
    "int": int,
    "float": float,
    "str": str,
    "bool": {"True": True, "False": False}.__getitem__,
}


def read_rows(path: Path, kind: type[Any]) -> list[Any]:
    """Return the rows of a results file as objects of a dataclass; none if there is no file."""
    if not path.exists():
        return []
    with open(path, encoding="utf-8", errors="replace", newline="") as file:
        reader = csv.DictReader(file)
        names = [entry.name for entry in fields(kind)]
        if reader.fieldnames != names:
            raise InputError(f"{path}: holds other columns than {', '.join(names)}.")
        try:
            return [
                kind(**{entry.name: _CASTS[str(entry.type)](row[entry.name]) for entry in fields(kind)})
                for row in reader
            ]
        except (TypeError, ValueError, KeyError) as error:
            raise InputError(f"{path}, line {reader.line_num}: is not a result ({error}).") from None


def append_rows(path: Path, rows: Sequence[Any]) -> None:
    """Add rows to a results file, which gets its header with the first ones."""
    if not rows:
        return
    new = not path.exists()
    try:
        with open(path, "a", encoding="utf-8", newline="") as file:
            file.write(rows_text(rows, header=new))
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror or error}).") from None


def rows_text(rows: Iterable[Any], header: bool = True) -> str:
    """Return rows as the text of a results file."""
    rows, text = list(rows), StringIO()
    writer = csv.DictWriter(text, [entry.name for entry in fields(rows[0])], lineterminator="\n")
    if header:
        writer.writeheader()
    writer.writerows(asdict(row) for row in rows)
    return text.getvalue()
