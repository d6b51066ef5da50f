"""Instances and timetables as the page is told of them."""

from __future__ import annotations

import json

import numpy as np

from neuralns import Instance, Shipment, Solution, VehicleType
from neuralns.problem.formats.vroom import read_vroom
from neuralns.studio.describe import describe_instance, describe_timetable
from neuralns.studio.downloads import make_download
from neuralns.studio.request import Options, Request

POINTS = [[0, 0], [3, 4], [6, 8], [0, 5]]


def test_windows_as_they_are() -> None:
    windows = [[0.0, 99.0], [0.0, np.inf], [5.0, 20.0], [0.0, 99.0]]
    instance = Instance("it", [0, 1, 1, 1], 9, POINTS, windows=windows, openings={3: [(1, 2), (30, 40)]})
    told = describe_instance(Request(instance, Options(1)))
    assert told["windows"] == [[0, 99], None, [5, 20], [[1, 2], [30, 40]]]
    assert (told["kind"], told["nodes"][2]) == ("plane", [6, 8])
    json.dumps(told, allow_nan=False)


def test_a_matrix_has_no_places() -> None:
    instance = Instance("it", [0, 1], 9, matrix=[[0, 1], [1, 0]])
    assert describe_instance(Request(instance, Options(1)))["nodes"] is None


def test_the_timetable_of_a_shipment_on_an_open_route() -> None:
    instance = Instance(
        "it", coordinates=POINTS, fleet=[VehicleType(5, end=None)], shipments=[Shipment(1, 2, 3)], windows=[[0, 99]] * 4
    )
    (route,) = describe_timetable(Solution(instance, [[1, 2, 3]]))["routes"]
    assert [stop["kind"] for stop in route["stops"]] == ["depot", "pickup", "delivery", "customer"]
    assert [stop["load"] for stop in route["stops"]] == [0, 3, 0, 0]
    assert (route["load"], route["stops"][1]["arrival"]) == (3, 5)


def test_places_of_vrooms_json_and_their_shapes() -> None:
    problem = read_vroom(
        {
            "vehicles": [{"id": 1, "start": [2.0, 48.0]}],
            "jobs": [{"id": 1, "location": [2.5, 48.5]}, {"id": 2, "location": [2.6, 48.6]}],
        }
    )
    request = Request(problem.instance, Options(1), problem)
    told = describe_instance(request)
    assert (told["kind"], told["nodes"]) == ("geo", [[2.0, 48.0], [2.5, 48.5], [2.6, 48.6]])
    text, kind = make_download(request, Solution(problem.instance, [[1, 2]]), "geojson")
    line = json.loads(text)["features"][0]["geometry"]
    assert (kind, line["coordinates"]) == ("application/geo+json", [[2.0, 48.0], [2.5, 48.5], [2.6, 48.6]])
    answer, _ = make_download(request, Solution(problem.instance, [[1, 2]]), "vroom")
    assert json.loads(answer)["code"] == 0
