"""What the formats share: text of a file, rows of numbers, and refusals that name file, line and value."""

from __future__ import annotations

import math
import os
import stat
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from neuralns.errors import InputError

FilePath = str | os.PathLike[str]

Row = tuple[int, list[str]]
"""A line of a table: its number in the file and its words."""


class Unsupported(NamedTuple):
    """Something in a file that would change the problem and is not supported: where, what, and its name to ignore."""

    line: int
    what: str
    key: str


def refuse_unsupported(path: FilePath, found: Sequence[Unsupported], ignore: Collection[str]) -> None:
    """Refuse the first of ``found`` that is not to be ignored, with the options that go on without it and the others.

    >>> refuse_unsupported("my.vrp", [Unsupported(7, "VEHICLES", "VEHICLES")], ["vehicles"])
    """
    wanted = {key.casefold() for key in ignore}
    left = [each for each in found if each.key.casefold() not in wanted]
    if not left:
        return
    first, *others = left
    where = f", line {first.line}" if first.line else ""
    more = f" (nor {', '.join(each.what for each in others)})" if others else ""
    keys = dict.fromkeys(each.key for each in left)
    raise InputError(
        f"{path}{where}: {first.what} is not supported yet{more}; "
        f"{' '.join(f'--ignore {key}' for key in keys)} goes on without {'them' if others else 'it'}."
    )


def read_text(path: FilePath) -> str:
    """Return the text of a file; bytes that are no text become marks that no format takes for a number."""
    try:
        # Reading a pipe or a device may never end, and takes away what is in it.
        mode = os.stat(path).st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            raise OSError("it is a pipe or a device, not a file")
        return Path(path).read_bytes().decode("utf-8-sig", errors="replace")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path}: cannot be read ({reason}).") from None


def rows(text: str) -> list[Row]:
    """Return the lines that hold words.

    >>> rows("NAME : tiny\\n\\n1 0\\n")
    [(1, ['NAME', ':', 'tiny']), (3, ['1', '0'])]
    """
    return [(number, words) for number, line in enumerate(text.splitlines(), 1) if (words := line.split())]


def finite(path: FilePath, line: int, word: str) -> float:
    """Return the finite number that a word of a line stands for.

    >>> finite("tiny.vrp", 4, "1e2")
    100.0
    """
    try:
        # Python also takes digits of other scripts and underscores between digits for numbers; no other reader does.
        value = float(word) if word.isascii() and "_" not in word else float("")
    except ValueError:
        raise InputError(f"{path}, line {line}: {word[:40]!r} is not a number.") from None
    if not math.isfinite(value):
        raise InputError(f"{path}, line {line}: {word[:40]!r} is not a finite number.")
    return value


def numbers(path: FilePath, table: Sequence[Row]) -> list[list[float]]:
    """Return the finite numbers that the words of each row stand for."""
    if all(word.isascii() and "_" not in word for word in map("".join, (words for _, words in table))):
        # Quick for the many files where all is well; what is not is named below.
        with suppress(ValueError):
            found = [list(map(float, words)) for _, words in table]
            if all(map(math.isfinite, map(sum, found))):
                return found
    return [[finite(path, line, word) for word in words] for line, words in table]


def check_rows(path: FilePath, name: str, table: Sequence[Row], expected: int, width: int, first_id: int) -> None:
    """Refuse a table that is not ``expected`` rows of ``width`` numbers, each row beginning with its node's number."""
    for node, ((line, words), row) in enumerate(zip(table, numbers(path, table), strict=True), first_id):
        if len(words) != width:
            raise InputError(f"{path}, line {line}: {len(words)} numbers in {name}, {width} expected.")
        if row[0] != node:
            raise InputError(f"{path}, line {line}: node {words[0]} in {name}, {node} expected.")
    if len(table) != expected:
        where = f", line {table[-1][0]}" if table else ""
        what = "ends early" if len(table) < expected else "is too long"
        raise InputError(f"{path}{where}: {name} {what}: {len(table)} rows, {expected} expected.")


def check_demands(path: FilePath, table: Sequence[Row], column: int, capacity: float) -> None:
    """Refuse demands that no vehicle carries, with the line that an `Instance` no longer knows."""
    for customer, (line, words) in enumerate(table):
        demand = float(words[column])
        if demand < 0:
            raise InputError(f"{path}, line {line}: demand {demand:g} of customer {customer} is negative.")
        if demand > capacity:
            raise InputError(
                f"{path}, line {line}: demand {demand:g} of customer {customer} is above the capacity {capacity:g}."
            )


@contextmanager
def naming(path: FilePath) -> Iterator[None]:
    """Put the file in front of what an `Instance` refuses."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def plain(value: float) -> float | int:
    """Return a number as it is written: whole numbers without a point, as far as floats tell them apart.

    >>> plain(4.0), plain(5.5)
    (4, 5.5)
    """
    return int(value) if float(value).is_integer() and abs(value) < 2**53 else float(value)
