"""Rows of results files: what is written is read again, and what is no such file is refused."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuralns import InputError
from neuralns.experiments.rows import append_rows, read_rows, rows_text


@dataclass(frozen=True)
class Row:
    name: str
    count: int
    cost: float
    good: bool


ROWS = [Row("C101", 20, 1.25, True), Row("a, b\n", -3, 1e-9, False), Row('say "é"', 0, 0.1 + 0.2, True)]
HEADER = "name,count,cost,good\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "rows.csv"


def test_rows_are_lines_below_the_names_of_their_fields() -> None:
    assert rows_text(ROWS[:1]) == f"{HEADER}C101,20,1.25,True\n"
    assert rows_text(iter(ROWS[:1]), header=False) == "C101,20,1.25,True\n"


def test_the_header_is_written_once(path: Path) -> None:
    append_rows(path, [])
    assert not path.exists()
    for row in ROWS:
        append_rows(path, [row])
    assert path.read_text() == rows_text(ROWS)
    assert read_rows(path, Row) == ROWS


@given(
    st.lists(
        st.builds(
            Row,
            st.text(st.characters(codec="utf-8", exclude_characters="\r\x00")),
            st.integers(),
            st.floats(allow_nan=False),
            st.booleans(),
        ),
        min_size=1,
    )
)
def test_rows_read_again_are_the_same_to_the_last_digit(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Row]
) -> None:
    path = tmp_path_factory.mktemp("rows") / "rows.csv"
    path.write_text(rows_text(rows), encoding="utf-8", newline="")
    assert read_rows(path, Row) == rows


def test_an_interval_that_one_seed_does_not_have_is_read_again(path: Path) -> None:
    append_rows(path, [Row("C101", 1, math.nan, True)])
    assert math.isnan(read_rows(path, Row)[0].cost)


def test_no_file_has_no_rows(path: Path) -> None:
    assert read_rows(path, Row) == []


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", "name,count,cost\n", "count,name,cost,good\n", "\x00\xff"])
def test_a_file_with_other_columns_is_refused(path: Path, text: str) -> None:
    path.write_text(text, encoding="latin-1")
    with pytest.raises(InputError, match=f"^{re.escape(str(path))}: holds other columns than name, count, cost, good"):
        read_rows(path, Row)


@pytest.mark.parametrize(
    "line", ["C101,many,1.0,True", "C101,1.5,1.0,True", "C101,1,1.0,yes", "C101,1", "C101,1,,True"]
)
def test_a_line_that_is_no_row_is_named(path: Path, line: str) -> None:
    path.write_text(f"{HEADER}C101,20,1.25,True\n{line}\n")
    with pytest.raises(InputError, match=rf"^{re.escape(str(path))}, line 3: is not a result \(.+\)\.$"):
        read_rows(path, Row)


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    path = tmp_path / "absent" / "rows.csv"
    with pytest.raises(InputError, match=rf"^{re.escape(str(path))}: cannot be written \(No such file or directory\)"):
        append_rows(path, ROWS)
