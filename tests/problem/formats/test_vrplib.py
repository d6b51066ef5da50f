"""VRPLIB instances: what is read, and each refusal with its line and value."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import texts
from neuralns import InputError, Solution, write_instance
from neuralns.problem.bundled import bundled, bundled_names
from neuralns.problem.formats.source import read_instance
from neuralns.problem.formats.vrplib import (
    NEEDED_KEYS,
    NEEDED_SECTIONS,
    RULE_KEYS,
    RULE_SECTIONS,
    TYPES,
    WEIGHT_TYPES,
    WITHOUT_MEANING,
)
from texts import assert_same, written

SYMMETRIC = [[0, 5, 10, 6], [5, 0, 5, 4], [10, 5, 0, 7], [6, 4, 7, 0]]
ONE_WAY = [[0, 1, 2, 3], [4, 0, 5, 6], [7, 8, 0, 9], [10, 11, 12, 0]]


def explicit(form: str, numbers: str) -> str:
    text = texts.EXPLICIT.replace("LOWER_ROW", form)
    return text.replace("5\n10 5\n6 4 7\n", numbers + "\n")


def test_coordinates_give_euclidean_distances(tmp_path: Path) -> None:
    instance = read_instance(written(tmp_path, texts.EUCLIDEAN))
    assert (instance.name, instance.customers, instance.capacity, instance.rounding) == ("tiny", 3, 10, "none")
    assert instance.demands.tolist() == [0, 4, 5, 6]
    assert [instance.distance(0, node) for node in (1, 2, 3)] == [5, 10, 5.5]


def test_floor_2d_cuts_distances(tmp_path: Path) -> None:
    instance = read_instance(written(tmp_path, texts.EUCLIDEAN.replace("EUC_2D", "FLOOR_2D")))
    assert (instance.rounding, instance.distance(0, 3)) == ("trunc", 5)


@pytest.mark.parametrize(
    ("form", "numbers"),
    [
        ("FULL_MATRIX", "0 5 10 6 5 0 5 4 10 5 0 7 6 4 7 0"),
        ("LOWER_ROW", "5 10 5 6 4 7"),
        ("UPPER_ROW", "5 10 6 5 4 7"),
        ("LOWER_DIAG_ROW", "0 5 0 10 5 0 6 4 7 0"),
        ("UPPER_DIAG_ROW", "0 5 10 6 0 5 4 0 7 0"),
        ("LOWER_COL", "5 10 6 5 4 7"),
        ("UPPER_COL", "5 10 5 6 4 7"),
        ("LOWER_DIAG_COL", "0 5 10 6 0 5 4 0 7 0"),
        ("UPPER_DIAG_COL", "0 5 0 10 5 0 6 4 7 0"),
    ],
)
@pytest.mark.parametrize("line_length", [1, 4, 5, 100])
def test_every_matrix_form_is_read_however_its_lines_break(
    tmp_path: Path, form: str, numbers: str, line_length: int
) -> None:
    words = numbers.split()
    lines = [" ".join(words[start : start + line_length]) for start in range(0, len(words), line_length)]
    instance = read_instance(written(tmp_path, explicit(form, "\n".join(lines))))
    assert instance.matrix is not None
    assert instance.matrix.tolist() == SYMMETRIC


def test_a_full_matrix_may_differ_by_direction(tmp_path: Path) -> None:
    numbers = "\n".join(" ".join(map(str, row)) for row in ONE_WAY)
    instance = read_instance(written(tmp_path, explicit("FULL_MATRIX", numbers)))
    assert (instance.distance(1, 3), instance.distance(3, 1)) == (6, 11)


def test_a_matrix_may_come_with_coordinates_for_pictures(tmp_path: Path) -> None:
    coordinates = texts.EUCLIDEAN[texts.EUCLIDEAN.index("NODE_COORD") : texts.EUCLIDEAN.index("DEMAND")]
    text = texts.EXPLICIT.replace("DEMAND_SECTION", coordinates + "DEMAND_SECTION")
    instance = read_instance(written(tmp_path, text))
    assert instance.distance(0, 3) == 6
    assert instance.points[3].tolist() == [0, 5.5]


@pytest.mark.parametrize(
    ("change", "to"),
    [
        ("NODE_COORD_SECTION", "NODE_COORD_SECTION:"),
        ("\n", "\r\n"),
        ("1 0 0\n", "1\t0.0  0e0\n\n"),
        ("DEPOT_SECTION\n1\n-1\n", ""),
        ("DEPOT_SECTION\n1\n-1\nEOF\n", "DISPLAY_DATA_SECTION\n1 2 3 4\nEOF\nnot read any more"),
        ("CAPACITY : 10\n", "CAPACITY : 10\nNODE_COORD_TYPE : TWOD_COORDS\nDISPLAY_DATA_TYPE : COORD_DISPLAY\n"),
        ("TYPE : CVRP", "TYPE : ACVRP"),
        (" : ", ":"),
        ("NAME", "\ufeffNAME"),
        ("three customers", "DEMAND_SECTION, EOF: 5 # twice"),
    ],
)
def test_what_files_do_differently_makes_no_difference(tmp_path: Path, change: str, to: str) -> None:
    plain = read_instance(written(tmp_path, texts.EUCLIDEAN))
    assert_same(read_instance(written(tmp_path, texts.EUCLIDEAN.replace(change, to))), plain)


@pytest.mark.parametrize(
    ("word", "number"),
    [
        ("6", 6.0),
        ("006", 6.0),
        ("+6", 6.0),
        ("6.", 6.0),
        ("6.0625", 6.0625),
        ("0.1", 0.1),
        (".5", 0.5),
        ("6e-3", 0.006),
        ("6E0", 6.0),
        ("9007199254740993", 2.0**53),
        ("123456789012345678901234567890", 1.2345678901234568e29),
        ("-0", 0.0),
        ("0" * 5000 + "7", 7.0),
    ],
)
def test_a_number_is_the_double_nearest_to_its_digits(tmp_path: Path, word: str, number: float) -> None:
    text = texts.EUCLIDEAN.replace("CAPACITY : 10", "CAPACITY : 1e30").replace("4 6\n", f"4 {word}\n")
    instance = read_instance(written(tmp_path, text.replace("4 0 5.5", f"4 {word} -{word.lstrip('+-')}")))
    assert instance.demands.tolist() == [0, 4, 5, number]
    assert instance.points.tolist() == [[0, 0], [3, 4], [6, 8], [number, -number]]
    capacity = texts.EUCLIDEAN.replace("10", word).replace("2 4\n3 5\n4 6\n", "2 0\n3 0\n4 0\n")
    if number > 0:
        assert read_instance(written(tmp_path, capacity)).capacity == number


@pytest.mark.parametrize("name", bundled_names())
def test_the_published_sets_come_back_number_by_number(tmp_path: Path, name: str) -> None:
    write_instance(bundled(name), tmp_path / "a.vrp")
    assert_same(read_instance(tmp_path / "a.vrp"), bundled(name))


@pytest.mark.parametrize("name", ["GEOFFREY", "my_SECTION", "1e3", "007", "Zürich 2"])
def test_the_name_is_kept_as_it_stands(tmp_path: Path, name: str) -> None:
    assert read_instance(written(tmp_path, texts.EUCLIDEAN.replace("tiny", name))).name == name


@pytest.mark.parametrize("line", ["", "NAME :\n"])
def test_a_file_without_a_name_is_called_as_the_file(tmp_path: Path, line: str) -> None:
    text = texts.EUCLIDEAN.replace("NAME : tiny\n", line)
    assert read_instance(written(tmp_path, text, "X-n4-k2.vrp")).name == "X-n4-k2"


@pytest.mark.parametrize(
    ("name", "rounding"),
    [
        *((f"{family}-n4-k2", "round") for family in "ABEFMPX"),
        ("XML100_1111_01", "round"),
        ("Leuven1", "round"),
        ("C101", "none"),
        ("CMT1", "none"),
        ("Golden_1", "none"),
        ("tai75a", "none"),
        ("Xmas-n4-k2", "none"),
    ],
)
def test_the_rounding_is_that_of_the_familys_published_costs(tmp_path: Path, name: str, rounding: str) -> None:
    assert read_instance(written(tmp_path, texts.EUCLIDEAN.replace("tiny", name))).rounding == rounding


def test_the_rounding_can_be_chosen(tmp_path: Path) -> None:
    assert read_instance(written(tmp_path, texts.EUCLIDEAN), "dimacs").rounding == "dimacs"


@pytest.mark.parametrize(
    ("change", "to", "sentence"),
    [
        ("DIMENSION : 4", "DIMENSION : 5", "line 16: DEMAND_SECTION ends early: 4 rows, 5 expected"),
        ("DIMENSION : 4", "DIMENSION : 3", "line 16: DEMAND_SECTION is too long: 4 rows, 3 expected"),
        ("DIMENSION : 4", "DIMENSION : many", "line 4: DIMENSION 'many' is not a whole number"),
        ("DIMENSION : 4\n", "", "line 'DIMENSION : ...' is missing"),
        ("CAPACITY : 10\n", "", "line 'CAPACITY : ...' is missing"),
        ("CAPACITY : 10", "CAPACITY : ten", "line 6: 'ten' is not a number"),
        ("CAPACITY : 10", "CAPACITY : inf", "line 6: 'inf' is not a finite number"),
        ("CAPACITY : 10", "CAPACITY : 0", "line 6: capacity 0 must be above 0"),
        ("CAPACITY : 10", "CAPACITY : 10\nCAPACITY : 20", "line 7: 'CAPACITY' is given twice"),
        ("CAPACITY : 10", "CAPACITY 10", "line 6: 'CAPACITY 10' is neither 'KEY : value' nor a section"),
        (
            "TYPE : CVRP",
            "TYPE : VRPPD",
            f"line 3: problem type 'VRPPD' is not supported, only {', '.join(TYPES)}; "
            "--ignore TYPE reads it as a CVRP.",
        ),
        (
            "EUC_2D",
            "EUC_3D",
            "line 5: EDGE_WEIGHT_TYPE 'EUC_3D' is not known, only EUC_2D, FLOOR_2D, CEIL_2D, ATT, GEO, EXPLICIT",
        ),
        ("EUC_2D", "EXPLICIT", "section EDGE_WEIGHT_SECTION is missing"),
        ("3 5\n4 6\n", "3 5\n4\n", "line 16: 1 numbers in DEMAND_SECTION, 2 expected"),
        ("3 5\n4 6\n", "3 -5\n4 6\n", "line 15: demand -5 of customer 2 is negative"),
        ("3 5\n4 6\n", "3 nan\n4 6\n", "line 15: 'nan' is not a finite number"),
        ("3 5\n4 6\n", "3 1_0\n4 6\n", "line 15: '1_0' is not a number"),
        ("3 5\n4 6\n", "4 6\n3 5\n", "line 15: node 4 in DEMAND_SECTION, 3 expected"),
        ("1 0\n2 4\n", "1 1\n2 4\n", "tiny: the depot has demand 1, but must have 0"),
        ("2 3 4\n", "2 3 inf\n", "line 9: 'inf' is not a finite number"),
        ("2 3 4\n", "2 3 4 5\n", "line 9: 4 numbers in NODE_COORD_SECTION, 3 expected"),
        ("2 3 4\n", "2 3 four\n", "line 9: 'four' is not a number"),
        ("2 3 4\n", "2 : 3 4\n", "line 9: '2 : 3 4' stands inside a section"),
        ("1 0 0\n2 3 4\n3 6 8\n4 0 5.5\n", "", "NODE_COORD_SECTION ends early: 0 rows, 4 expected"),
        ("DEMAND_SECTION", "NODE_COORD_SECTION", "line 12: section NODE_COORD_SECTION appears twice"),
        ("DEMAND_SECTION", "EOF", "section DEMAND_SECTION is missing"),
        ("DEPOT_SECTION\n1\n", "DEPOT_SECTION\n1\n2\n", "line 17: 2 depots, but no VEHICLES_DEPOT_SECTION says"),
        ("DEPOT_SECTION\n1\n", "DEPOT_SECTION\n5\n", "line 18: depot '5' must be a node from 1 to 4"),
        ("DEPOT_SECTION\n1\n", "DEPOT_SECTION\n2\n", "tiny: the depot has demand 4, but must have 0"),
    ],
)
def test_a_broken_file_is_refused_with_its_line_and_value(tmp_path: Path, change: str, to: str, sentence: str) -> None:
    assert change in texts.EUCLIDEAN
    path = written(tmp_path, texts.EUCLIDEAN.replace(change, to, 1))
    with pytest.raises(InputError) as refusal:
        read_instance(path)
    assert str(refusal.value).startswith(str(path))
    assert sentence in str(refusal.value)


@pytest.mark.parametrize(
    ("line", "name", "key"),
    [
        ("COLOUR : red", "COLOUR", "COLOUR"),
        ("TIME_WINDOW : 9", "TIME_WINDOW", "TIME_WINDOW"),
        ("VEHICLES_RELOAD_DEPOT_SECTION\n1 1", "VEHICLES_RELOAD_DEPOT_SECTION", "VEHICLES_RELOAD_DEPOT"),
        ("VEHICLES_MAX_RELOADS : 2", "VEHICLES_MAX_RELOADS", "VEHICLES_MAX_RELOADS"),
        ("PICKUP_AND_DELIVERY_SECTION\n1 0", "PICKUP_AND_DELIVERY_SECTION", "PICKUP_AND_DELIVERY"),
        ("SCENERY_SECTION:\n1", "SCENERY_SECTION", "SCENERY"),
    ],
)
def test_what_may_change_the_problem_is_refused_by_name_and_gone_on_without_if_told_to(
    tmp_path: Path, line: str, name: str, key: str
) -> None:
    plain = read_instance(written(tmp_path, texts.EUCLIDEAN))
    path = written(tmp_path, texts.EUCLIDEAN.replace("CAPACITY : 10\n", f"CAPACITY : 10\n{line}\n"))
    sentence = f"{path}, line 7: {name} is not supported yet; --ignore {key} goes on without it."
    with pytest.raises(InputError, match=f"^{re.escape(sentence)}$"):
        read_instance(path)
    for spelled in (key, key.lower(), f"{key}_SECTION"):
        assert_same(read_instance(path, ignore=(spelled,)), plain)


def test_all_that_has_to_be_ignored_is_said_at_once(tmp_path: Path) -> None:
    text = texts.EUCLIDEAN.replace("CAPACITY", "COLOUR : red\nSHAPE : round\nCAPACITY")
    path = written(tmp_path, text)
    way_out = "--ignore COLOUR --ignore SHAPE goes on without them"
    with pytest.raises(InputError, match=rf"line 6: COLOUR is not supported yet \(nor SHAPE\); {way_out}\.$"):
        read_instance(path)
    with pytest.raises(InputError, match="line 7: SHAPE is not"):
        read_instance(path, ignore=["COLOUR"])
    assert read_instance(path, ignore=["COLOUR", "SHAPE"]).customers == 3


def test_windows_services_and_vehicles_are_read(tmp_path: Path) -> None:
    instance = read_instance(written(tmp_path, texts.TIMED))
    assert instance.windows is not None
    assert instance.windows.tolist() == [[0, 100], [10, 20.5], [0, 60], [30, 90]]
    assert instance.services.tolist() == [0, 5, 5, 5]
    assert (instance.vehicles, instance.rounding, instance.max_duration) == (2, "none", None)


@pytest.mark.parametrize(
    ("name", "rounding"),
    [("C101", "dimacs"), ("RC208", "dimacs"), ("R1_2_3", "dimacs"), ("rc2_10_10", "dimacs"), ("C1001", "none")],
)
def test_the_rounding_of_solomons_kinds_is_dimacs_with_windows(tmp_path: Path, name: str, rounding: str) -> None:
    path = written(tmp_path, texts.TIMED.replace("timed", name))
    assert read_instance(path).rounding == rounding
    assert read_instance(path, ignore=["windows"]).rounding == "none"
    assert read_instance(path, ignore=["TIME_WINDOW"]).rounding == "none"


def test_service_times_may_differ(tmp_path: Path) -> None:
    section = "SERVICE_TIME_SECTION\n1 0\n2 1\n3 2.5\n4 0\n"
    text = texts.TIMED.replace("SERVICE_TIME : 5\n", "").replace("DEPOT_SECTION", f"{section}DEPOT_SECTION")
    assert read_instance(written(tmp_path, text)).services.tolist() == [0, 1, 2.5, 0]


def test_times_keep_to_their_nodes_where_the_depot_is_another_node(tmp_path: Path) -> None:
    text = texts.TIMED.replace("DEPOT_SECTION\n1\n", "DEPOT_SECTION\n4\n").replace("1 0 100", "1 30 40")
    instance = read_instance(written(tmp_path, text.replace("4 6\n", "4 0\n").replace("4 30 90", "4 0 90")))
    assert instance.earliest.tolist() == [0, 30, 10, 0]
    assert instance.services.tolist() == [0, 5, 5, 5]


@pytest.mark.parametrize(
    ("lines", "duration", "distance"),
    [
        ("VEHICLES_MAX_DURATION : 50", 50, None),
        ("VEHICLES_MAX_DISTANCE : 40.5", None, 40.5),
        ("VEHICLES_MAX_DURATION : 50\nVEHICLES_MAX_DISTANCE : 40", 50, 40),
        ("DISTANCE : 200\nSERVICE_TIME : 10", 200, None),
        ("DISTANCE : 200", None, 200),
        ("DISTANCE : 200\nVEHICLES_MAX_DISTANCE : 40", None, 40),
    ],
)
def test_limits_on_routes_are_read(tmp_path: Path, lines: str, duration: float | None, distance: float | None) -> None:
    text = texts.EUCLIDEAN.replace("CAPACITY", f"{lines}\nCAPACITY")
    instance = read_instance(written(tmp_path, text))
    assert (instance.max_duration, instance.max_distance) == (duration, distance)
    without = read_instance(written(tmp_path, text), ignore="windows")
    assert (without.max_duration, without.max_distance) == (None, distance)


def test_a_route_of_christofides_sets_takes_its_length_and_its_services(tmp_path: Path) -> None:
    text = texts.EUCLIDEAN.replace("CAPACITY", "DISTANCE : 39\nSERVICE_TIME : 10\nCAPACITY")
    instance = read_instance(written(tmp_path, text))
    assert Solution(instance, [[1, 2], [3]]).faults() == ["route 1 takes 40, above 39."]
    assert Solution(instance, [[1], [2], [3]]).feasible


def test_a_demand_above_the_capacity_is_read_and_cannot_be_served(tmp_path: Path) -> None:
    instance = read_instance(written(tmp_path, texts.EUCLIDEAN.replace("3 5\n4 6\n", "3 11\n4 6\n")))
    assert instance.unservable == {2: "its demand 11 is above the capacity 10"}


@pytest.mark.parametrize(
    ("ignore", "parts"),
    [
        (["windows"], ["windows"]),
        (["WINDOWS", "vehicles"], ["windows"]),
        (["vehicles"], ["vehicles"]),
        (["VEHICLES"], ["vehicles"]),
        (["TIME_WINDOW_SECTION", "SERVICE_TIME", "VEHICLES"], ["windows"]),
    ],
)
def test_rules_can_be_ignored(tmp_path: Path, ignore: list[str], parts: list[str]) -> None:
    path = written(tmp_path, texts.TIMED)
    assert_same(read_instance(path, ignore=ignore), read_instance(path).without(*parts))


def test_broken_windows_do_not_matter_where_they_are_ignored(tmp_path: Path) -> None:
    path = written(
        tmp_path, texts.TIMED.replace("2 10 20.5", "2 10 2").replace("SERVICE_TIME : 5", "SERVICE_TIME : -5")
    )
    assert not read_instance(path, ignore=["windows"]).timed


@pytest.mark.parametrize(
    ("change", "to", "sentence"),
    [
        ("2 10 20.5", "2 10 9.5", "line 20: the window of customer 1, 10 to 9.5, ends before it begins"),
        ("1 0 100", "1 100 0", "line 19: the window of the depot, 100 to 0, ends before it begins"),
        ("2 10 20.5", "2 10 nan", "line 20: 'nan' is not a finite number"),
        ("2 10 20.5", "2 10", "line 20: 2 numbers in TIME_WINDOW_SECTION, 3 expected"),
        ("4 30 90\n", "", "line 21: TIME_WINDOW_SECTION ends early: 3 rows, 4 expected"),
        ("SERVICE_TIME : 5", "SERVICE_TIME : -5", "line 6: SERVICE_TIME -5 must not be negative"),
        ("SERVICE_TIME : 5", "SERVICE_TIME : nan", "line 6: 'nan' is not a finite number"),
        ("VEHICLES : 2", "VEHICLES : few", "line 4: 'few' is not a number"),
        (
            "VEHICLES : 2",
            "VEHICLES : 9223372036854775808",
            "line 4: number of vehicles 9.22337e+18 is too large to compute with",
        ),
        ("VEHICLES : 2", "VEHICLES : 0", "line 4: number of vehicles 0 must be a whole number above 0"),
        ("VEHICLES : 2", "VEHICLES : 1.5", "line 4: number of vehicles 1.5 must be a whole number above 0"),
        ("VEHICLES : 2", "VEHICLES_MAX_DURATION : -1", "line 4: VEHICLES_MAX_DURATION -1 must not be negative"),
        ("VEHICLES : 2", "DISTANCE : far", "line 4: 'far' is not a number"),
        ("TIME_WINDOW_SECTION\n1 0 100\n2 10 20.5\n3 0 60\n4 30 90\n", "", "TIME_WINDOW_SECTION is missing"),
        ("DEPOT_SEC", "SERVICE_TIME_SECTION\n1 0\nDEPOT_SEC", "line 23: SERVICE_TIME is given twice"),
    ],
)
def test_broken_rules_are_refused_with_their_line_and_value(
    tmp_path: Path, change: str, to: str, sentence: str
) -> None:
    assert change in texts.TIMED
    path = written(tmp_path, texts.TIMED.replace(change, to, 1))
    with pytest.raises(InputError, match=rf"^{re.escape(str(path))}.*{re.escape(sentence)}\.$"):
        read_instance(path)


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ("3 -2", "line 25: service time -2 of customer 2 is negative"),
        ("3 inf", "line 25: 'inf' is not a finite number"),
        ("3", "line 25: 1 numbers in SERVICE_TIME_SECTION, 2 expected"),
    ],
)
def test_broken_service_times_are_refused_with_their_line_and_value(tmp_path: Path, row: str, sentence: str) -> None:
    section = f"SERVICE_TIME_SECTION\n1 0\n2 1\n{row}\n4 0\n"
    text = texts.TIMED.replace("SERVICE_TIME : 5\n", "").replace("DEPOT_SECTION", f"{section}DEPOT_SECTION")
    with pytest.raises(InputError, match=sentence):
        read_instance(written(tmp_path, text))


def test_a_service_of_the_depot_is_refused(tmp_path: Path) -> None:
    section = "SERVICE_TIME_SECTION\n1 3\n2 1\n3 1\n4 0\n"
    text = texts.TIMED.replace("SERVICE_TIME : 5\n", "").replace("DEPOT_SECTION", f"{section}DEPOT_SECTION")
    with pytest.raises(InputError, match="line 23: the depot has service time 3, but must have 0"):
        read_instance(written(tmp_path, text))


def test_what_the_format_has_no_place_for_is_refused_by_name(tmp_path: Path) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"durations": np.ones((4, 4))}, "travel times apart from distances"),
        ({"windows": [[0, np.inf]] * 4}, "windows without an end"),
        ({"duration_cost": 1.0}, "a cost of duration"),
        ({"names": ("depot", "a", "b", "c")}, "names of customers"),
    ]
    for changes, what in cases:
        sentence = rf"mine\.vrp: tiny: VRPLIB's format has no place for {what}; write a \.json file instead\.$"
        with pytest.raises(InputError, match=sentence):
            write_instance(replace(texts.TINY, **changes), tmp_path / "mine.vrp")
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_type_can_be_read_as_a_cvrp(tmp_path: Path) -> None:
    path = written(tmp_path, texts.EUCLIDEAN.replace(": CVRP", ": VRPPD"))
    assert_same(read_instance(path, ignore="TYPE"), read_instance(written(tmp_path, texts.EUCLIDEAN)))


@pytest.mark.parametrize("key", ["CAPACITY", "DEMAND", "demand_section"])
def test_what_is_honoured_cannot_be_ignored(tmp_path: Path, key: str) -> None:
    name = key.upper().removesuffix("_SECTION")
    with pytest.raises(InputError, match=rf"tiny\.vrp: {name} is honoured, and cannot be ignored\.$"):
        read_instance(written(tmp_path, texts.EUCLIDEAN), ignore=(key,))


@pytest.mark.parametrize(("kind", "distance"), [("CEIL_2D", 6), ("ATT", 2), ("GEO", 650)])
def test_tsplibs_whole_distances_are_a_matrix_with_points_for_pictures(
    tmp_path: Path, kind: str, distance: float
) -> None:
    instance = read_instance(written(tmp_path, texts.EUCLIDEAN.replace("EUC_2D", kind)))
    assert (instance.distance(0, 3), instance.distance(3, 3)) == (distance, 0)
    assert instance.points[3].tolist() == [0, 5.5]


@pytest.mark.parametrize("kind", ["CEIL_2D", "ATT", "GEO"])
def test_they_are_refused_where_the_matrix_would_be_too_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr("neuralns.problem.formats.vrplib.MATRIX_LIMIT", 3)
    path = written(tmp_path, texts.EUCLIDEAN.replace("EUC_2D", kind))
    with pytest.raises(
        InputError, match=rf"line 5: EDGE_WEIGHT_TYPE '{kind}' needs a matrix .* up to 3 nodes, not for 4"
    ):
        read_instance(path)


@pytest.mark.parametrize("text", [texts.EUCLIDEAN, texts.EXPLICIT], ids=["points", "matrix"])
def test_the_depot_may_be_another_node_and_the_customers_keep_their_order(tmp_path: Path, text: str) -> None:
    first = read_instance(written(tmp_path, text))
    other = text.replace("DEPOT_SECTION\n1\n", "DEPOT_SECTION\n3\n")
    other = other.replace("1 0\n2 4\n3 5\n4 6\n", "1 5\n2 4\n3 0\n4 6\n")
    instance = read_instance(written(tmp_path, other))
    assert instance.demands.tolist() == [0, 5, 4, 6]
    nodes = [2, 0, 1, 3]
    for tail in range(4):
        for head in range(4):
            assert instance.distance(tail, head) == first.distance(nodes[tail], nodes[head])


@pytest.mark.parametrize("problem", ["TSP", "ATSP"])
def test_a_tsp_is_one_vehicle_without_limit_from_the_first_node(tmp_path: Path, problem: str) -> None:
    text = texts.EUCLIDEAN.replace("CVRP", problem).replace("CAPACITY : 10\n", "")
    instance = read_instance(written(tmp_path, text[: text.index("DEMAND_SECTION")] + "EOF\n"))
    assert (instance.customers, instance.rounding) == (3, "round")
    tour = Solution(instance, [[1, 2, 3]])
    assert tour.feasible
    assert tour.cost == 5 + 5 + 7 + 6
    assert Solution(instance, [[1, 2], [3]]).faults() == ["there are 2 routes, but 1 vehicle."]


@pytest.mark.parametrize(
    ("form", "numbers", "sentence"),
    [
        ("LOWER_ROW", "5\n10 5\n6 4", "line 10: EDGE_WEIGHT_SECTION has 5 numbers, 6 expected for LOWER_ROW"),
        ("LOWER_DIAG_ROW", "5 10 5 6 4 7", "line 8: EDGE_WEIGHT_SECTION has 6 numbers, 10 expected"),
        ("FULL_MATRIX", "", "EDGE_WEIGHT_SECTION has 0 numbers, 16 expected"),
        ("FUNCTION", "5 10 5 6 4 7", "line 5: EDGE_WEIGHT_FORMAT 'FUNCTION' is not known, only FULL_MATRIX, LOWER"),
        ("LOWER_ROW", "5\n10 x\n6 4 7", "line 9: 'x' is not a number"),
        ("LOWER_ROW", "5\n10 -5\n6 4 7", "tiny: distance -5 from node 1 to node 2 is negative"),
    ],
)
def test_a_broken_matrix_is_refused_with_its_line_and_value(
    tmp_path: Path, form: str, numbers: str, sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence):
        read_instance(written(tmp_path, explicit(form, numbers)))


@pytest.mark.parametrize("text", ["", "\n", "hello", "\x00\xff"])
def test_any_other_file_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match=r"tiny\.vrp"):
        read_instance(written(tmp_path, text))


def test_the_documentation_says_what_is_supported() -> None:
    page = (Path(__file__).parents[3] / "docs" / "solve.md").read_text(encoding="utf-8")
    table = page.partition("## What is supported")[2].partition("\n## ")[0]
    keys = NEEDED_KEYS | NEEDED_SECTIONS | RULE_KEYS | RULE_SECTIONS | WITHOUT_MEANING
    for word in (*TYPES, *WEIGHT_TYPES, *keys):
        assert re.search(rf"`{word}(_SECTION)?`", table), word
