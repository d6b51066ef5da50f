"""Solomon's instances: what is read, what is refused by name, and each refusal with its line and value."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import texts
from neuralns import InputError, read
from neuralns.problem.formats.detect import read_instance
from texts import written


def test_coordinates_demands_and_capacity_are_read_with_their_decimals(tmp_path: Path) -> None:
    path = written(tmp_path, texts.SOLOMON.replace("200", "200.5"), "r104.txt")
    instance = read_instance(path, ignore=["windows"])
    assert (instance.name, instance.customers, instance.capacity, instance.rounding) == ("R104", 3, 200.5, "none")
    assert instance.points.tolist() == [[35, 35], [41, 49], [35.5, 17], [55, 45]]
    assert instance.demands.tolist() == [0, 10, 7, 13.25]


@pytest.mark.parametrize(
    "row",
    [
        "3      55         45         13.25       0       197         0",
        "3      55         45         13.25       0         0        10",
        "3      55         45         13.25     188       197        10",
    ],
    ids=["due date", "service time", "all"],
)
def test_times_are_refused_unless_windows_are_ignored(tmp_path: Path, row: str) -> None:
    text = texts.WITHOUT_TIMES.replace("3      55         45         13.25  0  0  0", row)
    path = written(tmp_path, text, "r104.txt")
    sentence = f"{path}, line 13: a time window or service time is not supported yet; "
    with pytest.raises(InputError, match=f"^{re.escape(sentence)}--ignore windows goes on without it\\.$"):
        read(path)
    assert read(path, ignore=("windows",)).customers == 3


def test_fewer_vehicles_than_customers_are_refused_unless_ignored(tmp_path: Path) -> None:
    path = written(tmp_path, texts.WITHOUT_TIMES.replace("  25  ", "  2  "), "r104.txt")
    sentence = f"{path}, line 5: the number of vehicles, 2, is not supported yet; --ignore vehicles goes on without it."
    with pytest.raises(InputError, match=f"^{re.escape(sentence)}$"):
        read(path)
    assert read(path, ignore=("vehicles",)).customers == 3


def test_vehicles_for_everyone_and_no_times_change_nothing(tmp_path: Path) -> None:
    assert read_instance(written(tmp_path, texts.WITHOUT_TIMES, "r104.txt")).customers == 3


@pytest.mark.parametrize(
    ("change", "to", "sentence"),
    [
        ("  25         200", "  25", "line 5: '25' is not a number of vehicles and a capacity"),
        ("  25         200", "  25 much", "line 5: 'much' is not a number"),
        ("NUMBER     CAPACITY\n", "", "'NUMBER CAPACITY' are missing above the customer table"),
        ("R104\n", "", "NAME, 'VEHICLE' and 'NUMBER CAPACITY' are missing above the customer table"),
        ("    2      35.5", "    5      35.5", "line 12: node 5 in the customer table, 2 expected"),
        ("35.5       17 ", "35.5 ", "line 12: 6 numbers in the customer table, 7 expected"),
        ("13.25", "nan", "line 13: 'nan' is not a finite number"),
        ("13.25", "300", "line 13: demand 300 of customer 3 is above the capacity 200"),
        (texts.SOLOMON[texts.SOLOMON.index("    0 ") :], "", "line 8: the customer table is empty"),
        (texts.SOLOMON[texts.SOLOMON.index("    1 ") :], "", "at least one customer is needed, 0 given"),
    ],
)
def test_a_broken_file_is_refused_with_its_line_and_value(tmp_path: Path, change: str, to: str, sentence: str) -> None:
    assert change in texts.SOLOMON
    path = written(tmp_path, texts.SOLOMON.replace(change, to, 1), "r104.txt")
    with pytest.raises(InputError) as refusal:
        read_instance(path)
    assert str(refusal.value).startswith(str(path))
    assert sentence in str(refusal.value)
