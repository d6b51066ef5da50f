"""Rows of results in a file, each written when it comes: what a run has done is neither lost nor done again."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, fields
from io import FileIO, StringIO
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, Protocol, TypeVar

from neuralns.errors import InputError
from neuralns.problem.formats.sheet import cell_text, text_cell

try:
    import fcntl
except ImportError:  # Windows has none.
    fcntl = None  # type: ignore[assignment]

Row = TypeVar("Row")


class Form(Protocol[Row]):
    """How rows are written: a first line that says what the file holds, then lines for each row."""

    def head(self) -> bytes:
        """Return the first line."""

    def lines(self, row: Row) -> bytes:
        """Return a row as it is written, with the end of its line."""

    def read(self, path: Path, content: bytes) -> list[Row]:
        """Return the rows of a file's whole lines; refuse what is no such file."""


class Store(Generic[Row]):
    """Rows in a file, or in memory where there is no path.

    A store is read when it is made. Inside ``with`` it also takes rows: the file is locked, so that no other run writes
    to it at the same time, and read once more. The lock ends with the block, or with the process however that ends.
    A line that a killed run or a full disk left half-written is cut off by the next row; reading leaves it alone. A
    file without any row is removed again if it was not there before.

    Examples
    --------
    >>> from neuralns.experiments.solver_runs import SolverRun
    >>> with Store(None, CsvRows(SolverRun)) as store:
    ...     store.add(SolverRun("C101", 100, "mine", 1.0, 7, 830.0, 827.3, 0.33, 10, True, 1.0))
    >>> [run.seed for run in store.rows]
    [7]
    """

    def __init__(self, path: Path | None, form: Form[Row]) -> None:
        self.path = path
        self.rows: list[Row] = []
        self._form = form
        self._file: FileIO | None = None
        self._made = False
        # Bytes of the file, and of its whole lines.
        self._size = self._whole = 0
        if path is not None:
            try:
                content = path.read_bytes() if path.exists() else b""
            except OSError as error:
                raise InputError(f"{path}: cannot be read ({error.strerror or error}).") from None
            self._take_in(path, content)

    def _take_in(self, path: Path, content: bytes) -> None:
        self._size, self._whole = len(content), content.rfind(b"\n") + 1
        if self._whole:
            self.rows = self._form.read(path, content[: self._whole])
        elif not self._form.head().startswith(content):
            # No first line of ours that was cut: to be refused, and never written over.
            self._form.read(path, content)
            raise InputError(f"{path}, line 1: is not a result.")
        else:
            self.rows = []

    def __enter__(self) -> Store[Row]:
        if self.path is not None:
            self._file, self._made = _open_alone(self.path)
            try:
                self._file.seek(0)
                self._take_in(self.path, self._file.readall())
            except BaseException:
                self._close()
                raise
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._close()

    def _close(self) -> None:
        file, self._file = self._file, None
        if file is None or self.path is None:
            return
        # Removed before the lock ends: whoever waits for it looks whether it still locks the file of that name.
        if self._made and os.fstat(file.fileno()).st_size == 0:
            with suppress(OSError):
                os.unlink(os.path.realpath(self.path))
        file.close()

    def add(self, *rows: Row) -> None:
        """Write rows; they are on the disk when this returns."""
        if not rows:
            return
        if self.path is None:
            self.rows += rows
            return
        if self._file is None:
            raise RuntimeError(f"{self.path}: rows are added inside a with statement.")
        self._expect_untouched(self.path, self._file)
        content = b"".join([b"" if self._whole else self._form.head(), *map(self._form.lines, rows)])
        grown = self._whole + len(content)
        try:
            self._file.truncate(self._whole)
            left = memoryview(content)
            while left:
                left = left[self._file.write(left) :]
            os.fsync(self._file.fileno())
        except OSError as error:
            raise InputError(f"{self.path}: cannot be written ({error.strerror or error}).") from None
        finally:
            # After a full disk or Ctrl-C too: rows that came out whole count, others are cut off by the next writing.
            self._size = os.fstat(self._file.fileno()).st_size
            if self._size == grown:
                self._whole = grown
                self.rows += rows

    def _expect_untouched(self, path: Path, file: FileIO) -> None:
        """Refuse to go on with a file that something else has changed; not every file system knows locks."""
        if not _is_at(file, path):
            raise InputError(f"{path}: has been removed or replaced since this run began.")
        if os.fstat(file.fileno()).st_size != self._size:
            raise InputError(f"{path}: has been written to by another run; let that one end first.")


def _open_alone(path: Path) -> tuple[FileIO, bool]:
    """Open a file and lock it; return it and whether it was made. A file that another run has open is refused."""
    while True:
        made = not path.exists()
        try:
            file = open(path, "a+b", buffering=0)  # noqa: SIM115
        except OSError as error:
            raise InputError(f"{path}: cannot be written ({error.strerror or error}).") from None
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                file.close()
                raise InputError(f"{path}: is being written to by another run; let that one end first.") from None
            except OSError:
                # A file system without locks; a file that grows under our hands is still noticed.
                pass
        # Another run may have removed its empty file between our opening and locking it.
        if _is_at(file, path):
            return file, made
        file.close()


def _is_at(file: FileIO, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.stat(path))
    except OSError:
        return False


# --- Dataclasses as lines of CSV. -------------------------------------------------------------------------------------

_ANY_NAME = "surrogateescape"
"""Names of files may hold bytes that are no text."""
_CASTS: dict[str, Callable[[str], Any]] = {
    "int": int,
    "float": float,
    "str": cell_text,
    "bool": {"True": True, "False": False}.__getitem__,
    # Nothing is an empty cell.
    "int | None": lambda text: int(text) if text else None,
    "float | None": lambda text: float(text) if text else None,
}


class CsvRows(Generic[Row]):
    """Objects of a dataclass, below the names of its fields; texts are cells that are no formula (see `text_cell`)."""

    def __init__(self, row_type: type[Row]) -> None:
        self._row_type = row_type
        self._casts = {entry.name: _CASTS[str(entry.type)] for entry in fields(row_type)}  # type: ignore[arg-type]

    def head(self) -> bytes:
        return _csv_line(self._casts)

    def lines(self, row: Row) -> bytes:
        values = asdict(row).values()  # type: ignore[call-overload]
        return _csv_line(text_cell(value) if isinstance(value, str) else value for value in values)

    def read(self, path: Path, content: bytes) -> list[Row]:
        reader = csv.reader(StringIO(content.decode(errors=_ANY_NAME), newline=""))
        names = list(self._casts)
        found = _first(reader)
        if found != names:
            missing = [name for name in names if name not in found]
            how = f"; {', '.join(missing)} is missing" if 0 < len(missing) < len(names) else ""
            raise InputError(f"{path}, line 1: holds other columns than {', '.join(names)}{how}.")
        try:
            return [self._row(values) for values in reader if values]
        except (ValueError, KeyError, csv.Error) as error:
            raise InputError(f"{path}, line {reader.line_num}: is not a result ({error}).") from None

    def _row(self, values: Sequence[str]) -> Row:
        if len(values) != len(self._casts):
            raise ValueError(f"{len(values)} values for {len(self._casts)} columns")
        return self._row_type(*(cast(text) for cast, text in zip(self._casts.values(), values, strict=True)))


def read_rows(path: Path, row_type: type[Row]) -> list[Row]:
    """Return the rows of a CSV file as objects of a dataclass; none if there is no file."""
    return Store(path, CsvRows(row_type)).rows


def rows_text(rows: Iterable[Any]) -> str:
    """Return rows of one kind as the text of a CSV file."""
    rows = list(rows)
    form: CsvRows[Any] = CsvRows(type(rows[0]))
    return b"".join([form.head(), *map(form.lines, rows)]).decode()


def _first(reader: Any) -> list[str]:
    try:
        return list(next(reader, []))
    except csv.Error:
        return []


def _csv_line(values: Iterable[object]) -> bytes:
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerow(values)
    return text.getvalue().encode(errors=_ANY_NAME)


# --- Plain values as lines of JSON. -----------------------------------------------------------------------------------


class JsonRows:
    """Mappings of plain values, below one that names the conditions; a file of other conditions is refused.

    ``check`` raises an error (of lookup, type or value) for an entry that is none of those that the file holds;
    ``instead`` says what to do about a file of other conditions.
    """

    def __init__(
        self,
        conditions: Mapping[str, Any],
        check: Callable[[Any], object],
        instead: str = "choose another folder with --out",
    ) -> None:
        self._conditions = conditions
        self._check = check
        self._instead = instead

    def head(self) -> bytes:
        return self.lines(self._conditions)

    def lines(self, row: Mapping[str, Any]) -> bytes:
        return json.dumps(row).encode() + b"\n"

    def read(self, path: Path, content: bytes) -> list[Mapping[str, Any]]:
        rows = []
        for number, line in enumerate(content.removesuffix(b"\n").split(b"\n"), 1):
            try:
                entry = json.loads(line)
                if number == 1:
                    self._compare(path, entry)
                else:
                    self._check(entry)
                    rows.append(entry)
            except InputError:
                raise
            except (ValueError, LookupError, TypeError, RecursionError):
                raise InputError(f"{path}, line {number}: is not a result of neuralns.") from None
        return rows

    def _compare(self, path: Path, found: Any) -> None:
        if not isinstance(found, dict) or next(iter(self._conditions)) not in found:
            raise ValueError
        for name, value in self._conditions.items():
            if found.get(name) != value:
                raise InputError(
                    f"{path}: holds results with {name} {found.get(name)}, but now it is {value}; {self._instead}."
                )
