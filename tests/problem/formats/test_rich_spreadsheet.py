"""Spreadsheets of mixed fleets: depots, pickups, shipments, several windows, skills, prizes and groups."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest

from neuralns import InputError, Instance
from neuralns.problem.fleet import Depot, Group, Shipment, VehicleType
from neuralns.problem.formats.spreadsheet import read_spreadsheet

COLUMNS = (
    "name;type;x;y;delivery;delivery 2;pickup;earliest;latest;windows;service;release;skills;prize;group;stock;stock 2;"
    "opening cost\n"
)
STOPS = (
    COLUMNS
    + """North;depot;0;0;;;;06:00;20:00;;;;;;;100;50;
Bakery;;3;4;4;1;2;;;8:00-10:00, 14:00-16:00;10;;;;;;;
School;;6;8;5;;;09:00;12:00;;00:15;08:30;Crane, cold;;;;;
Farm;;0;5;;2;6;;;;;;;25,5;;;;
South;depot;9;9;;;;07:00;18:00;;;;;;;;;80
Mall;;9;5;1;;;;;;;;;;shop;;;
Kiosk;;9;6;1;;;;;;;;;;shop;;;
"""
)
FLEET = (
    "name,number,capacity,capacity 2,cost,cost per km,cost per hour,depot,end depot,shift start,shift end,max_stops,"
    "max_distance,skills\n"
    """truck,2,20,5,100,1.5,,,,06:00,14:00,,,crane; cold
van,any,8,3,40,,,South,none,,,4,60.5,
"""
)


def loaded(folder: Path, stops: str, fleet: str | None = None, **options: Any) -> Instance:
    (folder / "stops.csv").write_text(stops, encoding="utf-8")
    if fleet is not None:
        (folder / "fleet.csv").write_text(fleet, encoding="utf-8")
        options["vehicles"] = folder / "fleet.csv"
    return read_spreadsheet(folder / "stops.csv", **options)


def refused(folder: Path, *arguments: Any, **options: Any) -> str:
    """The sentence, with the names of files only."""
    with pytest.raises(InputError) as refusal:
        loaded(folder, *arguments, **options)
    return str(refusal.value).replace(f"{folder}/", "")


def test_every_column_is_read(tmp_path: Path) -> None:
    found = loaded(tmp_path, STOPS, FLEET)
    assert found.names == ("North", "Bakery", "School", "Farm", "Mall", "Kiosk", "South")
    assert (found.customers, found.depot_nodes, found.dimensions) == (5, (0, 6), 2)
    deliveries, pickups = found.amounts
    assert deliveries.tolist() == [[0, 0], [4, 1], [5, 0], [0, 2], [1, 0], [1, 0], [0, 0]]
    assert pickups.tolist() == [[0, 0], [2, 0], [0, 0], [6, 0], [0, 0], [0, 0], [0, 0]]
    assert found.windows_of(1) == ((480, 600), (840, 960))
    assert (found.windows_of(2), found.windows_of(3)) == (((540, 720),), ((360, math.inf),))
    assert (found.windows_of(0), found.windows_of(6)) == (((360, 1200),), ((420, 1080),))
    assert found.services.tolist() == [0, 10, 15, 0, 0, 0, 0]
    assert found.release is not None
    assert found.release.tolist() == [0, 0, 510, 0, 0, 0, 0]
    assert (found.needs(2), found.needs(1)) == (frozenset({"crane", "cold"}), frozenset())
    assert (found.prize(3), found.required(3), found.required(1)) == (25.5, False, True)
    assert found.groups == (Group([4, 5], name="shop"),)
    assert found.depots == (Depot([100, 50]), Depot(cost=80))
    assert found.types == (
        VehicleType([20, 5], 2, 100, 1.5, shift=(360, 840), skills=["crane", "cold"], name="truck"),
        VehicleType([8, 3], None, 40, start=6, end=None, max_distance=60.5, max_stops=4, name="van"),
    )


SHIPMENTS = """name,type,x,y,amount,shipment,earliest,latest,prize
depot,,0,0,,,,,
A,pickup,1,1,3,s1,10,20,
B,delivery,2,2,,s1,15,40,9
C,delivery,3,3,4,s2,,,
D,pickup,4,4,4,s2,,,
E,,5,5,1,,,,
F,pickup,6,6,2,,,,
"""


def test_rows_of_one_shipment_are_its_pickup_and_its_delivery(tmp_path: Path) -> None:
    found = loaded(tmp_path, SHIPMENTS, capacity=10)
    assert found.shipments == (Shipment(1, 2, 3), Shipment(4, 3, 4))
    deliveries, pickups = found.amounts
    assert (deliveries[:, 0].tolist(), pickups[:, 0].tolist()) == ([0, 0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 0, 2])
    assert (found.prize(1), found.prize(2), found.prize(3)) == (9, 9, math.inf)
    assert found.fleet is None


def test_pickups_may_be_a_column_or_a_kind(tmp_path: Path) -> None:
    one = loaded(tmp_path, "name,x,y,delivery,pickup\ndepot,0,0,,\nA,1,1,3,\nB,2,2,,4\nC,3,3,1,2\n", capacity=9)
    other = loaded(tmp_path, "name,x,y,type,amount\ndepot,0,0,,\nA,1,1,delivery,3\nB,2,2,pickup,4\n", capacity=9)
    assert [part[:3, 0].tolist() for part in one.amounts] == [part[:, 0].tolist() for part in other.amounts]
    assert one.amounts[1][3] == 2
    assert not one.backhauls


def test_backhauls_are_switched_on_by_name(tmp_path: Path) -> None:
    stops = "name,x,y,type,amount\ndepot,0,0,,\nA,1,1,linehaul,3\nB,2,2,backhaul,4\n"
    found = loaded(tmp_path, stops, capacity=9)
    assert (found.backhauls, found.amounts[1][:, 0].tolist()) == (True, [0, 0, 4])


def test_only_pickups_are_understood(tmp_path: Path) -> None:
    found = loaded(tmp_path, "name,x,y,pickup\ndepot,0,0,\nA,1,1,3\n", capacity=9)
    assert [part[:, 0].tolist() for part in found.amounts] == [[0, 0], [0, 3]]


def test_windows_may_be_pairs_of_columns(tmp_path: Path) -> None:
    stops = "name,x,y,earliest 1,latest 1,earliest 2,latest 2\ndepot,0,0,0,900,,\nA,1,1,10,20,30,40\nB,2,2,,,50,60\n"
    found = loaded(tmp_path, stops)
    assert (found.windows_of(1), found.windows_of(2)) == (((10, 20), (30, 40)), ((50, 60),))


@pytest.mark.parametrize(
    ("cell", "windows"),
    [
        ("8:00-9:30", [(480, 570)]),
        ("8:00 - 9:30; 11:00 to 12:00", [(480, 570), (660, 720)]),
        ("8:00–9:30", [(480, 570)]),
        ("11:00-12:00, 8:00-9:30", [(480, 570), (660, 720)]),
    ],
)
def test_windows_may_stand_in_one_cell(tmp_path: Path, cell: str, windows: list[tuple[float, float]]) -> None:
    found = loaded(tmp_path, f'name,x,y,windows\ndepot,0,0,6:00-20:00\nA,1,1,"{cell}"\n')
    assert list(found.windows_of(1)) == windows
    assert found.windows_of(0) == ((360, 1200),)


def test_windows_of_dates_stand_in_one_cell(tmp_path: Path) -> None:
    cell = "2026-03-02T08:00 - 2026-03-02T09:00, 2026-03-03T08:00 to 2026-03-03T09:00"
    found = loaded(tmp_path, f'name,x,y,windows\ndepot,0,0,\nA,1,1,"{cell}"\n')
    assert found.windows_of(1) == ((480, 540), (1920, 1980))


def test_ignored_windows_are_all_left_out(tmp_path: Path) -> None:
    stops = STOPS.replace("8:00-10:00", "soon").replace("09:00", "later")
    found = loaded(tmp_path, stops, FLEET, ignore=["windows"])
    assert (found.windows, found.openings, found.release, found.service) == (None, None, None, None)
    assert all(each.shift == (-math.inf, math.inf) for each in found.types)


def test_optional_stops_have_a_prize(tmp_path: Path) -> None:
    stops = "name,x,y,optional,prize\ndepot,0,0,,\nA,1,1,yes,5\nB,2,2,no,7\nC,3,3,,\n"
    found = loaded(tmp_path, stops)
    assert [found.prize(node) for node in (1, 2, 3)] == [5, math.inf, math.inf]


def test_a_group_of_optional_stops_may_be_left_out(tmp_path: Path) -> None:
    stops = "name,x,y,prize,group\ndepot,0,0,,\nA,1,1,5,g\nB,2,2,7,g\nC,3,3,,h\nD,3,3,2,h\n"
    found = loaded(tmp_path, stops)
    assert found.groups == (Group([1, 2], required=False, name="g"), Group([3, 4], name="h"))


# --- Depots and vehicles. ---------------------------------------------------------------------------------------------

TWO = "name,type,x,y,demand\nNorth,depot,0,0,\nA,,1,1,3\nSouth,depot,5,5,\n"


def test_vehicles_without_number_are_at_every_depot(tmp_path: Path) -> None:
    for found in (loaded(tmp_path, TWO, "capacity,\n9,\n"), loaded(tmp_path, TWO, capacity=9)):
        assert [(each.start, each.end, each.available) for each in found.types] == [(0, 0, None), (2, 2, None)]


def test_the_rows_of_depots_may_describe_their_vehicles(tmp_path: Path) -> None:
    stops = "name,type,x,y,demand,vehicles,capacity\nNorth,depot,0,0,,2,10\nA,,1,1,3,,\nSouth,depot,5,5,,any,8\n"
    found = loaded(tmp_path, stops)
    assert found.types == (
        VehicleType(10, 2, name="from North"),
        VehicleType(8, None, start=2, end=2, name="from South"),
    )


def test_rows_that_are_alike_are_one_type(tmp_path: Path) -> None:
    fleet = "driver,capacity\nAnn,9\nBob,9\nCleo,12\nDan,9\nEve,12\n"
    found = loaded(tmp_path, "name,x,y,demand\ndepot,0,0,\nA,1,1,3\n", fleet)
    assert [(each.name, each.available) for each in found.types] == [("Ann, Bob and 1 more", 3), ("Cleo, Eve", 2)]


def test_one_kind_of_vehicles_stays_plain(tmp_path: Path) -> None:
    fleet = "number,capacity,cost per hour,cost per km\n3,9,30,2\n"
    found = loaded(tmp_path, "name,x,y,demand\ndepot,0,0,\nA,1,1,3\n", fleet)
    assert (found.fleet, found.vehicles, found.duration_cost, found.distance_cost) == (None, 3, 0.5, 2)
    assert not found.general


def test_vehicles_may_have_speeds_of_their_own(tmp_path: Path) -> None:
    stops = "name,x,y,demand\ndepot,0,0,\nA,3,4,3\n"
    found = loaded(tmp_path, stops, "name,number,capacity,speed\nbike,2,9,15\nvan,2,9,\ncar,1,9,30\n")
    assert [each.profile for each in found.types] == [1, 0, 2]
    assert [found.times([0], [1], profile).item() for profile in (0, 1, 2)] == [5, 20, 10]
    assert [found.legs([0], [1], profile).item() for profile in (0, 1, 2)] == [5, 5, 5]
    globe = stops.replace("x,y", "lat,lon")
    found = loaded(tmp_path, globe, "name,capacity,speed\nbike,9,20\nvan,9,\n")
    assert found.times([0], [1], 1).item() == pytest.approx(2 * found.times([0], [1], 0).item())


def test_one_speed_of_all_vehicles_is_that_of_the_instance(tmp_path: Path) -> None:
    stops = "name,x,y,demand\ndepot,0,0,\nA,3,4,3\n"
    found = loaded(tmp_path, stops, "name,number,capacity,speed\nvan,2,9,30\n", speed=60)
    assert (found.fleet, found.profiles, found.times([0], [1]).item()) == (None, None, 10)
    (tmp_path / "minutes.csv").write_text("0,1\n1,0\n")
    fleet = "name,capacity,speed\nvan,9,30\nbike,9,15\n"
    sentence = "minutes.csv: durations are given, and speeds of vehicles as well; leave one of them out."
    assert refused(tmp_path, stops, fleet, matrix=tmp_path / "minutes.csv") == sentence


@pytest.mark.parametrize(
    ("depot", "ends"),
    [("North", (0, 0)), ("South", (2, 2)), ("", (0, 0)), ("none", (None, None)), ("Open", (None, None))],
)
def test_vehicles_are_at_the_depot_that_is_named(tmp_path: Path, depot: str, ends: tuple[Any, Any]) -> None:
    (vehicle_type,) = loaded(tmp_path, TWO, f"capacity,depot\n9,{depot}\n").types
    assert (vehicle_type.start, vehicle_type.end) == ends


def test_an_open_route_begins_or_ends_anywhere(tmp_path: Path) -> None:
    stops = "name,x,y\ndepot,0,0\nA,1,1\n"
    one, other = (loaded(tmp_path, stops, f"{side} depot,\nnone,\n").types[0] for side in ("start", "end"))
    assert (one.start, one.end, other.start, other.end) == (None, 0, 0, None)


# --- Refusals. --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "to", "sentence"),
    [
        ("8:00-10:00", "8:00", ", row 3, column 'windows': '8:00' is no window such as 08:00-10:00."),
        ("8:00-10:00", "8:00-soon", ", row 3, column 'windows': 'soon' is not a time (minutes, 08:30 or 2026-"),
        ("8:00-10:00", "10:00-8:00", ", row 3, column 'windows': the window 10:00 to 08:00 ends before it begins."),
        ("8:00-10:00", "480-600", ", row 3, column 'windows': '480' is a number of minutes, but '06:00' in "),
        ("2;;;8:00", "2;8:00;;8:00", ", row 3, column 'windows': windows are given here and by 'earliest'."),
        ("06:00;20:00;", ";;6:00-8:00, 9:00-20:00", ", row 2, column 'windows': several windows of a depot are not "),
        ("25,5", "much", ", row 5, column 'prize': 'much' is not a number."),
        ("25,5", "-2", ", row 5, column 'prize': '-2' must not be negative."),
        ("25,5", "nan", ", row 5, column 'prize': 'nan' is not a finite number."),
        ("0;5;;2;6", "0;5;;;", ", row 5, column 'delivery': the cell is empty."),
        ("4;1;2", "4;1;-2", ", row 3, column 'pickup': '-2' must not be negative."),
        ("0;0;;;;", "0;0;;;3;", ", row 2, column 'pickup': '3' at the depot must be 0 or empty."),
        ("08:30", "never", ", row 4, column 'release': 'never' is not a time (minutes"),
        ("Crane", "piano", ": stops: customer School needs skill 'piano', which no vehicle type has."),
        ("shop;;;\nK", "mart;;;\nK", ", row 7, column 'group': 'mart' is in no other row, but a group is a choice."),
        ("Kiosk;", "Kiosk;locker", ", row 8, column 'type': 'locker' is not supported yet, only depot, customer, "),
        ("100;50", "100;", ", row 2, column 'stock 2': the cell is empty."),
        ("shop;;;\n", "shop;5;;\n", ", row 7, column 'stock': '5', but the stop is no depot."),
        ("20:00;;;;;;;100", "20:00;;;;crane;;;100", ", row 2, column 'skills': 'crane', but the stop is a depot."),
        ("South", "North", ", row 6, column 'name': 'North' is the name of row 2 as well."),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_stop_is_said(tmp_path: Path, change: str, to: str, sentence: str) -> None:
    assert change in STOPS
    found = refused(tmp_path, STOPS.replace(change, to, 1), FLEET)
    assert found.startswith(f"stops.csv{sentence}")
    assert found.endswith(".")


@pytest.mark.parametrize(
    ("change", "to", "sentence"),
    [
        ("South", "West", ", row 3, column 'depot': 'West' is no depot; there are North, South."),
        ("none", "West", ", row 3, column 'end depot': 'West' is no depot; there are North, South."),
        ("4,60.5", "2.5,60.5", ", row 3, column 'max_stops': '2.5' is not a whole number."),
        ("8,3", "8,", ", row 3: 'capacity 2' is missing, though stops have amounts of that dimension."),
        ("van,any", "van,", ", row 3, column 'number': the cell is empty."),
        ("1.5", "-1", ", row 2, column 'cost per km': '-1' must not be negative."),
        ("1.5,", "1.5,-30", ", row 2, column 'cost per hour': '-30' must not be negative."),
        ("14:00", "840", ", row 2, column 'shift end': '840' is a number of minutes, but '06:00' in stops.csv, row 2"),
        ("capacity 2", "emissions", ": column 'emissions' is not supported yet; --ignore emissions goes on "),
    ],
)  # fmt: skip
def test_what_is_wrong_with_the_fleet_is_said(tmp_path: Path, change: str, to: str, sentence: str) -> None:
    assert change in FLEET
    assert refused(tmp_path, STOPS, FLEET.replace(change, to, 1)).startswith(f"fleet.csv{sentence}")


@pytest.mark.parametrize(
    ("change", "to", "sentence"),
    [
        ("delivery,2,2,,s1", "delivery,2,2,,", ", row 4, column 'amount': the cell is empty."),
        ("5,5,1,", "5,5,1,s1", ", row 7, column 'shipment': 's1' is in 3 rows, but a shipment has a pickup and "),
        ("6,6,2,", "6,6,2,s3", ", row 8, column 'shipment': 's3' is in 1 row, but a shipment has a pickup and "),
        ("B,delivery", "B,customer", ", row 4, column 'type': shipment 's1' needs 'pickup' or 'delivery' here."),
        ("B,delivery", "B,pickup", ", row 4, column 'type': both rows of shipment 's1' are a pickup."),
        ("B,delivery,2,2,", "B,delivery,2,2,5", ", row 4, column 'amount': '5' is not what shipment 's1' picks up, 3."),
        ("3,s1", "30,s1", ": stops: shipment 1 (from A to B) is of 30, more than any vehicle carries (10)."),
        ("E,,", "E,backhaul,", ", row 3, column 'type': 'pickup' beside backhauls; all pickups must be of one kind."),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_shipment_is_said(tmp_path: Path, change: str, to: str, sentence: str) -> None:
    assert change in SHIPMENTS
    assert refused(tmp_path, SHIPMENTS.replace(change, to, 1), capacity=10).startswith(f"stops.csv{sentence}")


@pytest.mark.parametrize(
    ("stops", "fleet", "options", "sentence"),
    [
        (TWO, "vehicles,capacity\n2,9\n", {}, "fleet.csv: there are 2 depots, and no column 'depot' says where "),
        (TWO, None, {"vehicles": 3, "capacity": 9}, "stops.csv: 3 vehicles are given, but not at which of 2 depots; "),
        (
            TWO.replace("demand\n", "demand,vehicles\n").replace(",\n", ",,2\n").replace("3\n", "3,\n"),
            "capacity,\n9,\n",
            {},
            "stops.csv: column 'vehicles' describes vehicles, and so does fleet.csv; leave one of them out.",
        ),
        (TWO, "capacity,capacity 2,depot\n9,9,North\n", {}, "fleet.csv, row 2: vehicles have 2 capacities, but stops "),
        (TWO.replace("A,,", "A,depot,"), None, {}, "stops.csv: every row is a depot; at least one customer is needed."),
        (
            "name,x,y,optional\ndepot,0,0,\nA,1,1,maybe\n",
            None,
            {},
            "stops.csv, row 3, column 'optional': 'maybe' is neither yes nor no.",
        ),
        (
            "name,x,y,optional\ndepot,0,0,\nA,1,1,yes\n",
            None,
            {},
            "stops.csv, row 3, column 'prize': the cell is empty, though the stop is optional.",
        ),
        (
            "name,x,y,type,delivery,pickup\ndepot,0,0,,,\nA,1,1,pickup,2,3\n",
            None,
            {"capacity": 9},
            "stops.csv, row 3, column 'delivery': '2' beside a pickup, though the stop is a pickup.",
        ),
        (
            "name,x,y,windows,max_duration\ndepot,0,0,,90\nA,1,1,1-2;3-4,\n",
            None,
            {},
            "stops.csv: stops: several windows do not go with costs or limits of durations: the least duration depends "
            "on the windows that stops get.",
        ),
    ],
)  # fmt: skip
def test_contradictions_are_refused(
    tmp_path: Path, stops: str, fleet: str | None, options: dict[str, Any], sentence: str
) -> None:
    assert re.sub(r"\s+", " ", refused(tmp_path, stops, fleet, **options)).startswith(sentence)
