"""Solomon's instances: what is read, what can be ignored, and each refusal with its line and value."""

from __future__ import annotations

from pathlib import Path

import pytest

import texts
from neuralns import InputError, read
from neuralns.problem.formats.source import read_instance
from texts import assert_same, written


def test_coordinates_demands_and_capacity_are_read_with_their_decimals(tmp_path: Path) -> None:
    path = written(tmp_path, texts.SOLOMON.replace("200", "200.5"), "r104.txt")
    instance = read_instance(path, ignore=["windows"])
    assert (instance.name, instance.customers, instance.capacity, instance.rounding) == ("R104", 3, 200.5, "none")
    assert instance.points.tolist() == [[35, 35], [41, 49], [35.5, 17], [55, 45]]
    assert instance.demands.tolist() == [0, 10, 7, 13.25]


def test_windows_services_and_vehicles_are_read(tmp_path: Path) -> None:
    instance = read_instance(written(tmp_path, texts.SOLOMON.replace("0       204", "161     204"), "r104.txt"))
    assert instance.windows is not None
    assert instance.windows.tolist() == [[0, 230], [161, 204], [0, 202], [0, 197]]
    assert instance.services.tolist() == [0, 10, 10, 10]
    assert (instance.vehicles, instance.rounding) == (25, "dimacs")


@pytest.mark.parametrize(
    ("name", "rounding"), [("R104", "dimacs"), ("c1_2_10", "dimacs"), ("RC2_10_8", "dimacs"), ("mine", "none")]
)
def test_published_costs_of_the_sets_cut_distances_to_one_decimal(tmp_path: Path, name: str, rounding: str) -> None:
    path = written(tmp_path, texts.SOLOMON.replace("R104", name), "r104.txt")
    assert read_instance(path).rounding == rounding
    assert read_instance(path, ignore="windows").rounding == "none"


@pytest.mark.parametrize("ignore", ["windows", "WINDOWS", ("windows", "vehicles")])
def test_without_windows_it_is_the_cvrp_behind_it(tmp_path: Path, ignore: str | tuple[str, ...]) -> None:
    path = written(tmp_path, texts.SOLOMON, "r104.txt")
    plain = read(path, ignore=ignore)
    assert (plain.timed, plain.service, plain.vehicles, plain.rounding) == (False, None, None, "none")
    assert_same(plain, read(path).without("windows"))


def test_the_number_of_vehicles_can_be_ignored(tmp_path: Path) -> None:
    path = written(tmp_path, texts.SOLOMON.replace("  25  ", "  0  "), "r104.txt")
    with pytest.raises(InputError, match="line 5: number of vehicles 0 must be a whole number above 0"):
        read(path)
    plain = read(path, ignore=("vehicles",))
    assert (plain.vehicles, plain.timed) == (None, True)


def test_times_that_are_all_0_are_none(tmp_path: Path) -> None:
    instance = read_instance(written(tmp_path, texts.WITHOUT_TIMES, "r104.txt"))
    assert (instance.windows, instance.service, instance.rounding) == (None, None, "none")


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
        ("13.25", "-3", "line 13: demand -3 of customer 3 is negative"),
        ("0       197", "198     197", "line 13: the window of customer 3, 198 to 197, ends before it begins"),
        ("0       197", "0       nan", "line 13: 'nan' is not a finite number"),
        ("197         10", "197        -10", "line 13: service time -10 of customer 3 is negative"),
        ("230          0", "230          5", "line 10: the depot has service time 5, but must have 0"),
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
