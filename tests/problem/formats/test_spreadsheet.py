"""Spreadsheets of stops: what is read under which names, and each refusal with its row, column and value."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from neuralns import InputError, Instance, read
from neuralns.problem.formats.spreadsheet import is_spreadsheet, read_spreadsheet

STOPS = """name,x,y,demand,earliest,latest,service
depot,0,0,,08:00,17:00,
Bakery,3,4,4,08:30,10:00,10
School,6,8,5,,,00:15
Farm,0,5.5,6,09:00,,
"""
FLEET = "vehicles,capacity\n2,10\n"
GLOBE = "name,lat,lon,demand\ndepot,52.52,13.40,\nMunich,48.14,11.58,1\n"


def loaded(
    folder: Path, stops: str = STOPS, fleet: str | None = FLEET, matrix: str | None = None, **options: Any
) -> Instance:
    """The instance of files with these texts."""
    (folder / "stops.csv").write_text(stops, encoding="utf-8")
    for name, text in (("fleet.csv", fleet), ("matrix.csv", matrix)):
        if text is not None:
            (folder / name).write_text(text, encoding="utf-8")
    if fleet is not None:
        options.setdefault("vehicles", folder / "fleet.csv")
    if matrix is not None:
        options["matrix"] = folder / "matrix.csv"
    return read_spreadsheet(folder / "stops.csv", **options)


def refused(folder: Path, *arguments: Any, **options: Any) -> str:
    """The sentence, with the names of files only."""
    with pytest.raises(InputError) as refusal:
        loaded(folder, *arguments, **options)
    return str(refusal.value).replace(f"{folder}/", "")


def test_every_column_is_read(tmp_path: Path) -> None:
    instance = loaded(tmp_path)
    assert (instance.name, instance.customers, instance.capacity, instance.vehicles) == ("stops", 3, 10, 2)
    assert instance.names == ("depot", "Bakery", "School", "Farm")
    assert instance.demands.tolist() == [0, 4, 5, 6]
    assert instance.points.tolist() == [[0, 0], [3, 4], [6, 8], [0, 5.5]]
    assert instance.windows is not None
    assert instance.windows.tolist() == [[480, 1020], [510, 600], [480, math.inf], [540, math.inf]]
    assert instance.services.tolist() == [0, 10, 15, 0]
    assert (instance.clock, instance.rounding, instance.durations) == ("00:00", "none", None)


def same(one: Instance, other: Instance) -> bool:
    return all(
        np.array_equal(getattr(one, field), getattr(other, field))
        for field in ("demands", "points", "windows", "service", "names", "capacity", "vehicles", "clock")
    )


@pytest.mark.parametrize(
    "stops",
    [
        STOPS.replace(
            "name,x,y,demand,earliest,latest,service", "Customer,X,Y, Quantity ,OPEN,Close,Service Time (min)"
        ),
        STOPS.replace("name,x,y,demand,earliest,latest,service", "id,x,y,load,Ready time,Due-date,duration"),
        STOPS.replace(",", "\t"),
        STOPS.replace(",", ";"),
        STOPS.replace(",", ";").replace("5.5", "5,5"),
        STOPS.replace("\n", "\r\n"),
        "\ufeff" + STOPS,
        STOPS.replace("Bakery", '"Bakery"').replace("name", '"name"'),
        STOPS.replace("\n", "\n\n"),
        STOPS.replace("\n", "\n,,,,,,\n"),
        STOPS.replace("08:", "8:").replace("17:00", "17:00:00"),
        re.sub(r"^(\w+),(.*)$", r"\2,\1", STOPS, flags=re.MULTILINE),
        STOPS.replace("\n", ",ring twice\n").replace("service,ring twice", "service,Note"),
    ],
    ids=[
        "capitals",
        "synonyms",
        "tab",
        "semicolon",
        "decimal comma",
        "crlf",
        "bom",
        "quotes",
        "blank lines",
        "empty rows",
        "seconds",
        "order",
        "note",
    ],
)
def test_the_same_table_may_be_written_in_many_ways(tmp_path: Path, stops: str) -> None:
    assert same(loaded(tmp_path, stops), loaded(tmp_path, STOPS))


def test_older_encodings_are_understood(tmp_path: Path) -> None:
    (tmp_path / "old.csv").write_bytes("name;x;y\ndepot;0;0\nMüller;1;1\n".encode("cp1252"))
    assert read(tmp_path / "old.csv").label(1) == "Müller"


@pytest.mark.parametrize(
    ("text", "is_one"),
    [("name,x\n", True), ("depot;0;0\n", True), ("25\t200\t1\n", False), ("1,5;2\n", False), ("NAME : a,b\n", False)],
)  # fmt: skip
def test_a_spreadsheet_begins_with_names(text: str, is_one: bool) -> None:
    assert is_spreadsheet(text) == is_one


def test_any_row_may_be_the_depot(tmp_path: Path) -> None:
    instance = loaded(tmp_path, "x,y,type\n1,1,\n2,2,Depot\n3,3,customer\n", None)
    assert instance.points.tolist() == [[2, 2], [1, 1], [3, 3]]
    assert (instance.names, instance.label(2)) == (None, "2")


def test_names_are_preferred_to_numbers(tmp_path: Path) -> None:
    assert loaded(tmp_path, "id,name,x,y\n7,depot,0,0\n8,Bakery,1,1\n", None).names == ("depot", "Bakery")


@pytest.mark.parametrize(
    ("first", "second", "clock", "windows"),
    [
        ("480", "510.5", None, [480, 510.5]),
        ("08:00", "08:30:30", "00:00", [480, 510.5]),
        ("08:00", "26:00", "00:00", [480, 1560]),
        ("2026-03-02T08:00", "2026-03-03T08:30:30", "2026-03-02T00:00", [480, 1950.5]),
        ("2026-03-02 08:00:00", "2026-03-02 09:00", "2026-03-02 00:00", [480, 540]),
        ("2026-03-02T08:00+01:00", "2026-03-02T08:00Z", "2026-03-02T00:00+01:00", [480, 540]),
    ],
)
def test_times_are_minutes_times_of_day_or_dates(
    tmp_path: Path, first: str, second: str, clock: str | None, windows: list[float]
) -> None:
    instance = loaded(tmp_path, f"name,x,y,earliest,latest\ndepot,0,0,,\nA,1,1,{first},{second}\n", None)
    assert instance.windows is not None
    assert (instance.clock, instance.windows[1].tolist()) == (clock, windows)
    assert instance.at(480) == (first.removesuffix(":00") if len(first) == 19 else first)


def test_without_times_there_are_no_windows(tmp_path: Path) -> None:
    instance = loaded(tmp_path, "name,x,y\ndepot,0,0\nA,1,1\n", None)
    assert (instance.timed, instance.windows, instance.service, instance.clock) == (False, None, None, None)
    assert (instance.demands.tolist(), instance.vehicles) == ([0, 0], None)


# --- Ways and minutes. ------------------------------------------------------------------------------------------------


def test_the_great_circle_and_a_speed_give_kilometres_and_minutes(tmp_path: Path) -> None:
    instance = loaded(tmp_path, GLOBE, capacity=1)
    assert instance.distance(0, 1) == pytest.approx(504, abs=1)
    assert instance.times([0], [1]) == pytest.approx(504 / 40 * 60, abs=1.5)
    assert loaded(tmp_path, GLOBE, speed=80).times([1], [0]) == pytest.approx(504 / 80 * 60, abs=1)
    east, north = instance.points[1]
    assert (east, north) == pytest.approx((-123, -487), abs=1)


def test_places_across_the_date_line_are_near(tmp_path: Path) -> None:
    instance = loaded(tmp_path, "name,lat,lon\ndepot,0,179.9\nA,0,-179.9\n", None)
    assert instance.distance(0, 1) == pytest.approx(22.2, abs=0.1)
    assert instance.points[1].tolist() == pytest.approx([22.2, 0], abs=0.1)


def test_a_speed_gives_minutes_in_the_plane_too(tmp_path: Path) -> None:
    assert loaded(tmp_path).times([0], [1]) == 5
    instance = loaded(tmp_path, speed=30)
    assert (instance.distance(0, 1), instance.times([0], [1]).item()) == (5, 10)


@pytest.mark.parametrize(
    "matrix",
    [
        "0,1,2\n3,0,4\n5,6,0\n",
        "depot;A;B\n0;1;2\n3;0;4\n5;6;0\n",
        ",A,depot,B\nA,0,3,4\ndepot,1,0,2\nB,6,5,0\n",
        "depot\t0\t00:01\t2\nA\t3\t0\t4\nB\t5\t6,0\t0\n",
        "from,depot,A,X,B\ndepot,0,1,9,2\nA,3,0,9,4\nX,9,9,0,9\nB,5,6,9,0\n",
    ],
    ids=["plain", "names on top", "both, another order", "names at the left", "more stops"],
)
def test_a_matrix_gives_minutes_and_may_go_one_way(tmp_path: Path, matrix: str) -> None:
    instance = loaded(tmp_path, "name\ndepot\nA\nB\n".replace("\n", ",\n"), None, matrix)
    assert instance.distances is not None
    assert instance.distances.tolist() == [[0, 1, 2], [3, 0, 4], [5, 6, 0]]
    assert instance.times([0, 2], [1, 1]).tolist() == [1, 6]


def test_a_matrix_without_names_has_the_order_of_the_rows(tmp_path: Path) -> None:
    instance = loaded(tmp_path, "name,x,y\nA,0,0\ndepot,3,4\n", None, "0,1\n2,0\n")
    assert (instance.distance(0, 1), instance.times([0], [1]).item()) == (5, 2)


# --- Vehicles. --------------------------------------------------------------------------------------------------------


def test_the_fleet_has_a_shift_and_limits(tmp_path: Path) -> None:
    fleet = "number,capacity,shift start,shift end,max_duration,max_distance,cost\n3,10,07:00,16:00,08:00,120.5,50\n"
    instance = loaded(tmp_path, STOPS, fleet)
    assert (instance.vehicles, instance.max_duration, instance.max_distance) == (3, 480, 120.5)
    assert instance.vehicle_cost == 50
    assert instance.windows is not None
    assert instance.windows[0].tolist() == [480, 960]


@pytest.mark.parametrize(
    ("fleet", "vehicles"),
    [
        ("capacity,\n10,\n", None),
        ("name,capacity\nvan,10\n", 1),
        ("name,capacity\nvan 1,10\nvan 2,10\n", 2),
        ("vehicles,capacity,driver\n2,10,A\n3,10,B\n", 5),
    ],
)
def test_vehicles_are_counted(tmp_path: Path, fleet: str, vehicles: int | None) -> None:
    assert loaded(tmp_path, STOPS, fleet).vehicles == vehicles


def test_stops_and_vehicles_may_be_in_one_file(tmp_path: Path) -> None:
    (tmp_path / "all.csv").write_text("name,x,y,demand,capacity,vehicles\ndepot,0,0,,10,2\nA,1,1,4,,\n")
    instance = read(tmp_path / "all.csv")
    assert (instance.name, instance.capacity, instance.vehicles) == ("all", 10, 2)


def test_numbers_given_count_more_than_tables(tmp_path: Path) -> None:
    instance = loaded(tmp_path, vehicles=7, capacity=20)
    assert (instance.vehicles, instance.capacity) == (7, 20)


# --- What is gone on without. -----------------------------------------------------------------------------------------


def test_windows_and_vehicles_can_be_ignored(tmp_path: Path) -> None:
    broken = STOPS.replace("10:00", "soon")
    assert not loaded(tmp_path, broken, ignore=["windows"]).timed
    instance = loaded(tmp_path, ignore="vehicles")
    assert (instance.vehicles, instance.timed) == (None, True)


def test_a_column_that_is_not_known_is_refused_unless_ignored(tmp_path: Path) -> None:
    stops = "name,x,y,Team needed,Priority\ndepot,0,0,,\nA,1,1,crane,1\n"
    assert refused(tmp_path, stops, None) == (
        "stops.csv: column 'Team needed' is not supported yet (nor column 'Priority'); "
        "--ignore team_needed --ignore priority goes on without them."
    )
    assert loaded(tmp_path, stops, None, ignore=["Team Needed", "priority"]).customers == 1


def test_a_known_column_can_be_ignored(tmp_path: Path) -> None:
    assert loaded(tmp_path, ignore=["service"]).service is None


# --- Refusals. --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "to", "sentence"),
    [
        ("3,4,4", "3,four,4", ", row 3, column 'y': 'four' is not a number."),
        ("3,4,4", "nan,4,4", ", row 3, column 'x': 'nan' is not a finite number."),
        ("3,4,4", "1e300,4,4", ", row 3, column 'x': '1e300' is too large to compute with."),
        ("3,4,4", ",4,4", ", row 3, column 'x': the cell is empty."),
        ("3,4,4", "3,4,", ", row 3, column 'demand': the cell is empty."),
        ("3,4,4", "3,4,-4", ", row 3, column 'demand': '-4' must not be negative."),
        ("0,0,,", "0,0,3,", ", row 2, column 'demand': '3' at the depot must be 0 or empty."),
        ("0,0,,08:00,17:00,", "0,0,,08:00,17:00,5", ", row 2, column 'service': '5' at the depot is not supported"),
        ("10:00,10", "10:00,-10", ", row 3, column 'service': '-10' must not be negative."),
        ("10:00,10", "10:00,long", ", row 3, column 'service': 'long' is not a number."),
        ("10:00", "10am", ", row 3, column 'latest': '10am' is not a time (minutes, 08:30 or 2026-03-02T08:30)."),
        ("10:00", "10:75", ", row 3, column 'latest': '10:75' is not a time"),
        ("10:00", "2026-03-02", ", row 3, column 'latest': '2026-03-02' is not a time"),
        (
            "10:00",
            "600",
            ", row 3, column 'latest': '600' is a number of minutes, but '08:00' in stops.csv, row 2, is a time "
            "of day; write all one way.",
        ),
        ("10:00", "2026-03-02T10:00", ", row 3, column 'latest': '2026-03-02T10:00' is a date with a time, but "),
        ("10:00", "08:00", ", row 3, column 'latest': the window 08:30 to 08:00 ends before it begins."),
        ("depot", "Warehouse", ": no row is the depot; name one 'depot', or add a column 'type' that says so."),
        ("Farm", "Depot", ": rows 2 and 5 are both named depot; give each a name of its own."),
        ("Farm", "Bakery", ", row 5, column 'name': 'Bakery' is the name of row 3 as well."),
        ("Farm", "", ", row 5, column 'name': the cell is empty."),
        ("Farm", "Fa\x1brm", ", row 5, column 'name': 'Fa\\x1brm' must be text on one line."),
        ("Farm", '"Farm', ", row 5: not valid CSV ("),
        ("5.5", "5,5", ", row 5: 8 cells, but the header has 7."),
        (",y,", ",north,", ": column 'north' is not supported yet; --ignore north goes on without it."),
        ("x,y,", "note,note,", ": columns 'x' and 'y' or 'lat' and 'lon' are missing; --matrix FILE does without."),
        ("x,y,", "x,note,", ": column 'y' is missing beside 'x'."),
        ("demand", "note", ": column 'demand' is missing, though vehicles have a capacity."),
        ("service", "ready", ", row 1: columns 'earliest' and 'ready' both mean earliest."),
        ("service", "type", ", row 3, column 'type': '10' is not supported yet, only depot, customer, delivery, "),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_stop_is_said_with_row_and_column(
    tmp_path: Path, change: str, to: str, sentence: str
) -> None:
    assert change in STOPS
    found = refused(tmp_path, STOPS.replace(change, to, 1))
    assert found.startswith(f"stops.csv{sentence}")
    assert found.endswith(".")


def test_a_demand_above_the_capacity_is_no_fault_of_the_file(tmp_path: Path) -> None:
    assert list(loaded(tmp_path, STOPS.replace("3,4,4", "3,4,400")).unservable) == [1]


@pytest.mark.parametrize(
    ("stops", "sentence"),
    [
        ("name,x,y\n", "stops.csv: a depot and at least one customer are needed, 0 rows given."),
        ("name,x,y\ndepot,0,0\n", "stops.csv: a depot and at least one customer are needed, 1 rows given."),
        ("", "stops.csv: the table is empty."),
        ("depot,0,0\nA,1,1\n", "stops.csv, row 1: no column has a name that is known, such as name, kind, x, y, lat, "),
        ("name,lat,lon\ndepot,91,0\nA,0,0\n", "stops.csv, row 2, column 'lat': '91' is not between -90 and 90."),
        ("name,lat,lon\ndepot,0,-181\nA,0,0\n", "stops.csv, row 2, column 'lon': '-181' is not between -180 and 180."),
        (
            "name,lat,lon,x,y\ndepot,0,0,0,0\nA,0,0,0,0\n",
            "stops.csv: places are given by x and y, and by lat and lon; ",
        ),
        ("name,x,y,demand\ndepot,0,0,\nA,0,0,1\n", "stops.csv: demands are given, but no capacity; give --capacity"),
        (
            "name,x,y,capacity\ndepot,0,0,5\nA,0,0,6\n",
            "stops.csv, row 3, column 'capacity': '6' is not in the row of a depot, where vehicles are described.",
        ),
    ],
)
def test_a_table_that_lacks_something_is_refused(tmp_path: Path, stops: str, sentence: str) -> None:
    assert refused(tmp_path, stops, None).startswith(sentence)


@pytest.mark.parametrize(
    ("fleet", "sentence"),
    [
        ("", "fleet.csv: the table is empty."),
        ("capacity,\n", "fleet.csv: no row describes a vehicle."),
        ("vehicles,capacity\n2,10\n,10\n", "fleet.csv, row 3, column 'vehicles': the cell is empty."),
        ("vehicles,capacity\n2.5,10\n", "fleet.csv, row 2, column 'vehicles': '2.5' is not a whole number."),
        ("vehicles,capacity\n0,10\n", "fleet.csv, row 2, column 'vehicles': '0' must be above 0."),
        ("vehicles,capacity\n2,0\n", "fleet.csv, row 2, column 'capacity': '0' must be above 0."),
        ("vehicles,capacity\n2,much\n", "fleet.csv, row 2, column 'capacity': 'much' is not a number."),
        (
            "vehicles,capacity,emissions\n2,10,3\n",
            "fleet.csv: column 'emissions' is not supported yet; --ignore emissions",
        ),
        ("capacity,start\n10,420\n", "fleet.csv, row 2, column 'start': '420' is a number of minutes, but '08:00' in "),
        (
            "capacity,start\n10,18:00\n",
            "stops.csv, row 2, column 'latest': the window 18:00 to 17:00 ends before it begins.",
        ),
        ("vehicles,\n2,\n", "stops.csv: demands are given, but no capacity; "),
    ],
)
def test_what_is_wrong_with_the_fleet_is_said(tmp_path: Path, fleet: str, sentence: str) -> None:
    assert refused(tmp_path, STOPS, fleet).startswith(sentence)


@pytest.mark.parametrize(
    ("matrix", "sentence"),
    [
        ("", "matrix.csv: the table is empty."),
        ("0,1\n1,0\n", "matrix.csv: 2 rows of durations do not fit 4 stops."),
        ("0,1,2,3\n1,0,2\n1,2,0,3\n1,2,3,0\n", "matrix.csv, row 2: 3 durations, but the table has 4 rows."),
        ("0,1,2,3\n1,0,x,3\n1,2,0,3\n1,2,3,0\n", "matrix.csv, row 2, column 3: 'x' is not a number."),
        ("0,1,2,3\n1,0,,3\n1,2,0,3\n1,2,3,0\n", "matrix.csv, row 2, column 3: the cell is empty."),
        ("0,1,2,3\n1,0,inf,3\n1,2,0,3\n1,2,3,0\n", "matrix.csv, row 2, column 3: 'inf' is not a finite number."),
        ("depot,0,1,2,3\nA,1,0,-2,3\nB,1,2,0,3\nC,1,2,3,0\n", "matrix.csv: no column is named 'Bakery', as a stop is."),
        (
            "depot,0,1,2,3\nBakery,1,0,-2,3\nSchool,1,2,0,3\nFarm,1,2,3,0\n",
            "matrix.csv, row 2, column 4: '-2' must not be negative.",
        ),
        (
            ",depot,A\ndepot,0,1\nB,1,0\n",
            "matrix.csv, row 3: the names at the left are not those on top, in that order.",
        ),
    ],
)
def test_what_is_wrong_with_the_matrix_is_said(tmp_path: Path, matrix: str, sentence: str) -> None:
    assert refused(tmp_path, STOPS, FLEET, matrix) == sentence


def test_a_matrix_with_names_needs_stops_with_names(tmp_path: Path) -> None:
    found = refused(tmp_path, "x,y,type\n0,0,depot\n1,1,\n", None, ",A,B\nA,0,1\nB,1,0\n")
    assert found == "matrix.csv: the table names its stops, but the stops have no column 'name'."


@pytest.mark.parametrize("speed", [0, -1, math.inf, math.nan])
def test_a_speed_must_be_above_zero(tmp_path: Path, speed: float) -> None:
    assert refused(tmp_path, speed=speed) == f"speed {speed:g} must be a number of km/h above 0."


def test_a_speed_beside_a_matrix_is_refused(tmp_path: Path) -> None:
    found = refused(tmp_path, matrix="0,1\n1,0\n", speed=30)
    assert found == "matrix.csv: durations are given, and a speed as well; leave one of them out."


# --- Tables in memory. ------------------------------------------------------------------------------------------------


class Frame:
    """What a DataFrame shows of itself: labels, and its text in CSV."""

    def __init__(self, rows: list[list[Any]], columns: list[Any], index: list[Any] | None = None) -> None:
        self.rows, self.columns, self.index = rows, columns, index or list(range(len(rows)))

    def to_csv(self, index: bool, header: bool, index_label: str) -> str:
        lines = [[index_label] * index + list(self.columns)] * header
        lines += [[label] * index + row for label, row in zip(self.index, self.rows, strict=True)]
        return "".join(",".join(map(str, line)) + "\n" for line in lines)


STOPS_TABLE = [line.split(",") for line in STOPS.splitlines()]


def test_tables_in_memory_are_read_like_files(tmp_path: Path) -> None:
    expected = loaded(tmp_path)
    header, *rows = STOPS_TABLE
    vehicles = Frame([[2, 10]], ["vehicles", "capacity"])
    found = read_spreadsheet(Frame(rows, header), vehicles)
    assert found == expected
    # Names may be the labels of the rows.
    labelled = Frame([row[1:] for row in rows], header[1:], [row[0] for row in rows])
    assert read_spreadsheet(labelled, vehicles) == expected
    minutes = [[0, 1, 2, 3], [1, 0, 4, 5], [2, 4, 0, 6], [3, 5, 6, 0]]
    timed = loaded(tmp_path, matrix="".join(",".join(map(str, row)) + "\n" for row in minutes))
    assert read_spreadsheet(Frame(rows, header), vehicles, matrix=Frame(minutes, [0, 1, 2, 3])) == timed
    names = [row[0] for row in rows]
    assert read_spreadsheet(Frame(rows, header), vehicles, matrix=Frame(minutes, names, names)) == timed


def test_a_data_frame_of_pandas_is_read(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    loaded(tmp_path)
    frames = [pandas.read_csv(tmp_path / name) for name in ("stops.csv", "fleet.csv")]
    assert read_spreadsheet(frames[0], frames[1]) == loaded(tmp_path)


def test_what_is_wrong_in_a_table_in_memory_is_said_with_its_row() -> None:
    header, *rows = STOPS_TABLE
    with pytest.raises(InputError, match=r"^stops, row 3, column 'demand': 'much' is not a number"):
        read_spreadsheet(Frame([rows[0], [*rows[1][:3], "much", *rows[1][4:]], *rows[2:]], header), capacity=10)
    for given in ([[1, 2]], 5, object()):
        with pytest.raises(InputError, match=r"^stops: .* is neither a file nor a table"):
            read_spreadsheet(given)
    with pytest.raises(InputError, match=r"^vehicles: \[2\] is neither a file nor a table"):
        read_spreadsheet(Frame(rows, header), [2])


@pytest.mark.parametrize("window", ["18:00,19:00", "05:00,06:00", ",06:00"])
def test_a_window_outside_the_shift_is_that_stop_s_own_trouble(tmp_path: Path, window: str) -> None:
    stops = STOPS.replace("08:30,10:00", window)
    for fleet in (FLEET, "name,vehicles,capacity\nvan,1,10\nlorry,1,20\n"):
        instance = loaded(tmp_path, stops, fleet)
        assert list(instance.unservable) == [1]


def test_more_vehicles_than_can_be_counted_are_refused(tmp_path: Path) -> None:
    for text, column in (("vehicles,capacity", "vehicles"), ("max stops,capacity", "max stops")):
        said = refused(tmp_path, fleet=f"{text}\n9223372036854775808,10\n")
        assert said == f"fleet.csv, row 2, column {column!r}: '9223372036854775808' is too large to compute with."
