"""What the formats share: text of a file, rows of numbers, and refusals that name file, line and value."""

from __future__ import annotations

import math
import os
import re
import stat
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from neuralns.errors import AdvisedError, InputError
from neuralns.problem.distances import Rounding
from neuralns.problem.instance import PARTS, whose
from neuralns.problem.values import whole_number

FilePath = str | os.PathLike[str]

Row = tuple[int, list[str]]
"""A line of a table: its number in the file and its words."""

ROUNDED_FAMILIES = re.compile(
    r"^([ABEFMPX]-n\d+-k\d+|X-n\d+-\d+-k\d+|XML100_|(Leuven|Antwerp|Ghent|Brussels|Flanders)\d)"
)
"""Names of CVRPLIB families, and of the X set with backhauls, whose published costs are for distances rounded to the
nearest integer."""
SOLOMON_FAMILIES = re.compile(r"^(R|C|RC)[12](\d\d|_(2|4|6|8|10)_\d+)\b", re.ASCII | re.IGNORECASE)
"""Names of Solomon's and of Gehring and Homberger's sets, whose published costs cut distances to one decimal."""


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
    keys = tuple(dict.fromkeys(each.key for each in left))
    advice = f"{' '.join(f'--ignore {key}' for key in keys)} goes on without {'them' if others else 'it'}"
    raise AdvisedError(f"{path}{where}: {first.what} is not supported yet{more}", advice, keys)


def parts_ignored(ignore: Collection[str]) -> tuple[str, ...]:
    """Return the parts of an instance that are to be ignored, as `Instance.without` takes them.

    >>> parts_ignored(["Windows", "colour"])
    ('windows',)
    """
    wanted = {key.casefold() for key in ignore}
    return tuple(part for part in PARTS if part in wanted)


class HeldText(str):
    """What sentences call a text that is held in memory, in place of a file; it brings the text along."""

    text: str

    def __new__(cls, name: str, text: str) -> HeldText:
        found = super().__new__(cls, name)
        found.text = text
        return found


def read_text(path: FilePath) -> str:
    """Return the text of a file; bytes that are no text become marks that no format takes for a number."""
    if isinstance(path, HeldText):
        return path.text
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


def check_rows(
    path: FilePath,
    name: str,
    table: Sequence[Row],
    expected: int,
    width: int | None,
    first_id: int,
    what: str = "node",
) -> None:
    """Refuse a table that is not ``expected`` rows of ``width`` numbers, each row beginning with its node's number.

    Without a width rows may be of any.
    """
    for number, ((line, words), row) in enumerate(zip(table, numbers(path, table), strict=True), first_id):
        if width is not None and len(words) != width:
            raise InputError(f"{path}, line {line}: {len(words)} numbers in {name}, {width} expected.")
        if row[0] != number:
            raise InputError(f"{path}, line {line}: {what} {words[0]} in {name}, {number} expected.")
    if len(table) != expected:
        where = f", line {table[-1][0]}" if table else ""
        what = "ends early" if len(table) < expected else "is too long"
        raise InputError(f"{path}{where}: {name} {what}: {len(table)} rows, {expected} expected.")


def check_demands(path: FilePath, table: Sequence[Row], column: int, depots: int = 1, dimensions: int = 1) -> None:
    """Refuse demands below 0, in so many columns, with the line that an `Instance` no longer knows.

    As in an instance, the row of the first depot comes first, and those of others last.
    """
    for node, (line, words) in enumerate(table):
        if (demand := min(map(float, words[column : column + dimensions]))) < 0:
            raise InputError(f"{path}, line {line}: demand {demand:.10g} of {_whose(node, table, depots)} is negative.")


def check_windows(path: FilePath, table: Sequence[Row], column: int, depots: int = 1) -> None:
    """Refuse windows, two columns from ``column`` on, that end before they begin."""
    for node, (line, words) in enumerate(table):
        opens, closes = float(words[column]), float(words[column + 1])
        if opens > closes:
            whose = _whose(node, table, depots)
            raise InputError(
                f"{path}, line {line}: the window of {whose}, {opens:.10g} to {closes:.10g}, ends before it begins."
            )


def check_service(path: FilePath, table: Sequence[Row], column: int, depots: int = 1) -> None:
    """Refuse service times below 0, and any of a depot."""
    for node, (line, words) in enumerate(table):
        whose = _whose(node, table, depots)
        if (service := float(words[column])) < 0:
            raise InputError(f"{path}, line {line}: service time {service:.10g} of {whose} is negative.")
        if whose == "the depot" and service > 0:
            raise InputError(f"{path}, line {line}: the depot has service time {service:.10g}, but must have 0.")


def vehicle_number(path: FilePath, line: int, word: str) -> int:
    """Return the number of vehicles that a word stands for.

    >>> vehicle_number("tiny.vrp", 4, "25")
    25
    """
    return whole_number(f"{path}, line {line}: number of vehicles", finite(path, line, word))


def published_rounding(name: str, windows: bool) -> Rounding:
    """Return the rounding of the published costs of an instance's family, which its name tells.

    >>> published_rounding("X-n101-50-k13", windows=False), published_rounding("RC2_10_8", windows=True)
    ('round', 'dimacs')
    """
    if windows and SOLOMON_FAMILIES.match(name):
        return "dimacs"
    return "round" if ROUNDED_FAMILIES.match(name) else "none"


def _whose(node: int, table: Sequence[Row], depots: int) -> str:
    return whose(node if node <= len(table) - depots else 0)


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
