"""VROOM's JSON states the same problem to us as to VROOM, and what it does not state to us is refused by name."""

from __future__ import annotations

import copy
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neuralns import InputError, InputWarning, Instance, MaxIterations, Solution, read, solve
from neuralns.problem.formats.vroom import VroomProblem, read_vroom
from neuralns.problem.formats.vroom_input import is_vroom

DURATIONS = [[0, 2104, 197, 1299], [2103, 0, 2255, 3152], [197, 2256, 0, 1102], [1299, 3153, 1102, 0]]
PLAIN: dict[str, Any] = {
    "vehicles": [{"id": 0, "start_index": 0, "end_index": 3}],
    "jobs": [{"id": 1414, "location_index": 1}, {"id": 1515, "location_index": 2}],
    "matrices": {"car": {"durations": DURATIONS}},
}
RICH: dict[str, Any] = {
    "vehicles": [
        {
            "id": 7,
            "description": "van",
            "type": "van",
            "start": [2.35, 48.72],
            "start_index": 0,
            "end_index": 0,
            "capacity": [4, 100],
            "skills": [1, 14],
            "time_window": [28800, 43200],
            "max_tasks": 5,
            "costs": {"fixed": 10, "per_hour": 3600},
        },
        {"id": 8, "profile": "bike", "start_index": 0, "capacity": [1, 10], "skills": [1], "speed_factor": 2},
    ],
    "jobs": [
        {
            "id": 1,
            "location_index": 1,
            "setup": 60,
            "service": 300,
            "delivery": [1, 5],
            "pickup": [0, 3],
            "skills": [1],
            "time_windows": [[32400, 36000], [39600, 40000]],
            "description": "ring twice",
        },
        {"id": 2, "location_index": 2, "location": [2.0, 48.6], "delivery": [1, 1]},
    ],
    "shipments": [
        {
            "amount": [1, 7],
            "skills": [14],
            "pickup": {"id": 4, "service": 300, "location_index": 3},
            "delivery": {"id": 4, "service": 200, "location_index": 1},
        }
    ],
    "matrices": {"car": {"durations": DURATIONS}, "bike": {"durations": DURATIONS, "distances": DURATIONS}},
}


def changed(problem: dict[str, Any], *changes: tuple[str, Any]) -> dict[str, Any]:
    """The problem with some values set, by their path: ``jobs.0.service``."""
    copied = copy.deepcopy(problem)
    for path, value in changes:
        *way, last = path.split(".")
        place: Any = copied
        for step in way:
            place = place[int(step)] if step.isdecimal() else place[step]
        place[int(last) if last.isdecimal() else last] = value
    return copied


def legs(problem: VroomProblem, vehicle: int, time: bool = False) -> list[list[float]]:
    """Distances, or durations, of a type of vehicle."""
    instance: Instance = problem.instance
    nodes = range(len(instance.demands))
    measure = instance.times if time else instance.legs
    return [measure([node] * len(nodes), nodes, instance.types[vehicle].profile).tolist() for node in nodes]


def test_vehicles_of_other_speeds_have_one_table_each() -> None:
    vehicles = [PLAIN["vehicles"][0] | {"id": number, "speed_factor": 1 + number / 10} for number in range(3)]
    problem = read_vroom(PLAIN | {"vehicles": vehicles})
    tables = [problem.instance.matrix, *(profile.matrix for profile in problem.instance.profiles or ())]
    assert len(tables) == 3
    for table, travel in zip(tables, problem.travel, strict=True):
        assert table is travel


def test_jobs_are_customers_and_each_place_of_vehicles_is_a_depot() -> None:
    problem = read_vroom(PLAIN)
    instance = problem.instance
    assert [instance.label(node) for node in range(4)] == ["depot 1", "job 1414", "job 1515", "depot 2"]
    assert instance.depot_nodes == (0, 3)
    assert [(each.start, each.end, each.available) for each in instance.types] == [(0, 3, 1)]
    assert legs(problem, 0) == DURATIONS
    assert not instance.timed
    assert problem.notes == ()
    assert Solution(instance, [[1, 2]]).cost == 5461


def test_all_that_is_stated_is_in_the_instance() -> None:
    problem = read_vroom(json.dumps(RICH))
    instance = problem.instance
    van, bike = instance.types
    assert (van.name, van.capacity, van.shift) == ("vehicle 7", (4.0, 100.0), (28800.0, 43200.0))
    assert van.skills == {"1", "14"}
    assert (van.max_stops, van.fixed_cost, van.start, van.end) == (5, 10, 0, 0)
    assert bike.end is None
    # Its first task needs a setup, so it begins nowhere rather than at that task.
    assert bike.start == 0
    assert instance.needs(1) == {"1"}
    assert instance.needs(3) == instance.needs(4) == {"14"}
    assert instance.shipments is not None
    assert [(each.pickup, each.delivery, each.amount) for each in instance.shipments] == [(3, 4, (1, 7))]
    deliveries, pickups = instance.amounts
    assert deliveries.tolist() == [[0, 0], [1, 5], [1, 1], [0, 0], [0, 0]]
    assert pickups[1].tolist() == [0, 3]
    assert instance.services.tolist() == [0, 300, 0, 300, 200]
    # Another task is where job 1 is: it may have no setup, so its windows end when they say.
    assert instance.windows_of(1) == ((32460, 36000), (39660, 40000))
    assert instance.windows_of(2) == ((0, math.inf),)
    assert legs(problem, 1)[0][1] == 2104 / 2
    assert legs(problem, 1, time=True)[0][1] == 2104 / 2 + 60
    assert legs(problem, 1, time=True)[4][1] == 0
    assert problem.vehicles[0][0].description == "van"
    assert problem.whole


def test_vehicles_that_are_alike_are_of_one_type() -> None:
    vehicles = [{"id": number, "start_index": 0, "end_index": 0, "description": str(number)} for number in (5, 1, 2, 9)]
    problem = read_vroom(PLAIN | {"vehicles": [*vehicles, {"id": 3, "start_index": 0}]})
    assert [each.available for each in problem.instance.types] == [4, 1]
    assert [each.name for each in problem.instance.types] == ["vehicles 1-2, 5, 9", "vehicle 3"]
    assert [[vehicle.id for vehicle in vehicles] for vehicles in problem.vehicles] == [[5, 1, 2, 9], [3]]


def test_the_older_words_for_a_matrix_and_a_delivery_are_understood() -> None:
    old = {
        "vehicles": [{"id": 0, "start_index": 0, "capacity": [2]}],
        "jobs": [{"id": 1, "location_index": 1, "amount": [2]}],
        "matrix": [[0, 3], [3, 0]],
    }
    instance = read_vroom(old).instance
    assert Solution(instance, [[1]]).cost == 3
    assert instance.demands.tolist() == [0, 2]


@pytest.mark.parametrize(
    ("costs", "cost"),
    [
        ({}, 30),
        ({"fixed": 100}, 130),
        ({"per_hour": 7200}, 60),
        ({"per_hour": 0, "per_km": 500}, 1.5),
        ({"per_km": 500}, 31.5),
        ({"per_km": 1000, "fixed": 1}, 34),
        ({"per_task_hour": 1800}, 30 + (40 + 5) / 2),
        ({"per_task_hour": 3600, "per_hour": 0}, 45),
    ],
)
@pytest.mark.parametrize("ends", [{"start_index": 0, "end_index": 0}, {"end_index": 0}])
def test_costs_are_those_of_ways_and_work(costs: dict[str, int], cost: float, ends: dict[str, int]) -> None:
    stated = {
        "vehicles": [{"id": 0, **ends, "costs": costs}],
        "jobs": [{"id": 1, "location_index": 1, "setup": 5, "service": 40}],
        "matrices": {"car": {"durations": [[0, 10], [20, 0]], "distances": [[0, 1], [2, 0]]}},
    }
    share = 1 if "start_index" in ends else 2 / 3
    task, fixed = costs.get("per_task_hour", 0) / 3600 * 45, costs.get("fixed", 0)
    found = Solution(read_vroom(stated).instance, [[1]]).cost
    assert found == pytest.approx((cost - task - fixed) * share + task + fixed)


def test_costs_of_the_matrices_are_taken_as_they_are() -> None:
    tables = {"durations": DURATIONS, "costs": (np.array(DURATIONS) // 100).tolist()}
    assert Solution(read_vroom(PLAIN | {"matrices": {"car": tables}}).instance, [[1, 2]]).cost == 21 + 22 + 11


LIMITED: dict[str, Any] = {
    "vehicles": [{"id": 0, "start_index": 0, "end_index": 0}],
    "jobs": [{"id": 1, "location_index": 1}, {"id": 2, "location_index": 2}],
    "matrices": {
        "car": {
            "durations": [[0, 10, 20], [10, 0, 15], [20, 15, 0]],
            "distances": [[0, 300, 200], [300, 0, 100], [200, 100, 0]],
        }
    },
}


@pytest.mark.parametrize(
    ("limits", "fits"),
    [
        ({"max_travel_time": 45}, True),
        ({"max_travel_time": 44}, False),
        ({"max_travel_time": 45, "costs": {"per_hour": 1}}, True),
        ({"max_travel_time": 44, "costs": {"per_hour": 1}}, False),
        ({"max_travel_time": 23, "speed_factor": 2}, True),
        ({"max_travel_time": 22, "speed_factor": 2}, False),
        ({"max_distance": 600}, True),
        ({"max_distance": 599}, False),
        ({"max_distance": 599, "costs": {"per_hour": 0, "per_km": 3}}, False),
        ({"max_distance": 600, "costs": {"per_hour": 0, "per_km": 3}, "time_window": [0, 100]}, True),
        ({"max_distance": 600, "max_travel_time": 45, "costs": {"per_km": 3}}, True),
        ({"max_distance": 600, "max_travel_time": 44, "costs": {"per_km": 3}}, False),
        ({"max_tasks": 2}, True),
        ({"max_tasks": 1}, False),
    ],
)
def test_limits_of_routes_are_kept(limits: dict[str, Any], fits: bool) -> None:
    stated = changed(LIMITED, ("vehicles.0", LIMITED["vehicles"][0] | limits), ("jobs.0.service", 7))
    solution = Solution(read_vroom(stated).instance, [[1, 2]])
    assert solution.feasible == fits
    costs = {"per_hour": 3600, "per_km": 0} | limits.get("costs", {})
    travel = 45 / limits.get("speed_factor", 1)
    assert solution.cost == pytest.approx(costs["per_hour"] / 3600 * travel + costs["per_km"] / 1000 * 600)


def test_without_matrices_ways_are_great_circles_and_that_is_said() -> None:
    stated = {
        "vehicles": [{"id": 0, "start": [13.40, 52.52], "max_distance": 505000, "costs": {"per_km": 1000}}],
        "jobs": [{"id": 1, "location": [11.58, 48.14]}],
    }
    problem = read_vroom(stated, source="trip.json")
    assert problem.notes == (
        "trip.json: no matrices are given for profile 'car', so distances are great circles, travelled at 40 km/h; "
        "VROOM asks a routing server for them.",
    )
    solution = Solution(problem.instance, [[1]])
    assert problem.travel[0][0, 1] == pytest.approx(504 / 40 * 3600, rel=0.001)
    assert solution.cost == pytest.approx(problem.travel[0][0, 1] + 504000, rel=0.001)
    assert solution.feasible
    assert not Solution(read_vroom(changed(stated, ("vehicles.0.max_distance", 500000))).instance, [[1]]).feasible
    assert read_vroom(stated, speed=80).travel[0][0, 1] == pytest.approx(504 / 80 * 3600, rel=0.001)


@pytest.mark.parametrize("lone", [True, False])
def test_the_setup_is_part_of_the_way_only_from_elsewhere(lone: bool) -> None:
    stated = {
        "vehicles": [{"id": 0, "start_index": 0, "end_index": 0, "time_window": [0, 1000]}],
        "jobs": [
            {"id": 1, "location_index": 1, "setup": 30, "service": 5, "time_windows": [[100, 200]]},
            {"id": 2, "location_index": 2 if lone else 1, "setup": 40},
        ],
        "matrices": {"car": {"durations": [[0, 10, 10], [10, 0, 10], [10, 10, 0]]}},
    }
    instance = read_vroom(stated).instance
    assert instance.windows_of(1) == ((130, 230 if lone else 200),)
    plan = Solution(instance, [[1, 2]]).schedules[0]
    assert plan.stops[0].start == 130
    assert plan.stops[1].start == 135 + (50 if lone else 0)
    assert Solution(instance, [[1, 2]]).cost == (30 if lone else 20)


def test_priorities_come_before_the_number_of_tasks_and_that_before_costs() -> None:
    stated = changed(LIMITED, ("jobs.0.priority", 3), ("jobs.1.priority", 2))
    stated["shipments"] = [
        {"pickup": {"id": 1, "location_index": 1}, "delivery": {"id": 1, "location_index": 2}, "priority": 1}
    ]
    instance = read_vroom(stated).instance
    assert not any(instance.required(node) for node in range(1, 5))
    all_served = Solution(instance, [[1, 2, 3, 4]]).cost
    # A shipment is two tasks of its priority.
    without = {left: Solution(instance, [[node for node in (1, 2, 3, 4) if node not in left]]).cost for left in
               [(1,), (2,), (3, 4), (1, 2)]}  # fmt: skip
    assert all_served < without[2,] < without[3, 4] < without[1,] < without[1, 2]
    assert all(read_vroom(LIMITED).instance.required(node) for node in (1, 2))


def test_tasks_that_no_vehicle_can_serve_are_left_out_and_named() -> None:
    jobs = [
        {"id": 1, "location_index": 1, "skills": [3]},
        {"id": 2, "location_index": 2},
        {"id": 3, "location_index": 1, "delivery": [9]},
        {"id": 4, "location_index": 1, "time_windows": [[200, 300]]},
    ]
    vehicles = [{"id": 0, "start_index": 0, "capacity": [5], "time_window": [0, 100]}]
    problem = read_vroom(PLAIN | {"jobs": jobs, "vehicles": vehicles}, source="a.json")
    assert [task.name for task in problem.tasks] == ["job 2"]
    assert [task.name for task in problem.left_out] == ["job 1", "job 3", "job 4"]
    assert problem.notes == ("a.json: no vehicle has the skills, the capacity and the hours for job 1, job 3, job 4.",)
    with pytest.raises(InputError, match=r"^a\.json: there is no job or shipment that a vehicle could serve\.$"):
        read_vroom(PLAIN | {"jobs": jobs[:1], "vehicles": vehicles}, source="a.json")


def steps(*names: str) -> list[dict[str, Any]]:
    """Steps by the names of their tasks: ``job 1``."""
    return [{"type": name.split()[0], "id": int(name.split()[1])} for name in names]


def test_steps_are_routes_to_start_from() -> None:
    ends = {"type": "start"}, {"type": "end"}
    visits = steps("pickup 4", "job 1", "delivery 4")
    problem = read_vroom(changed(RICH, ("vehicles.0.steps", [ends[0], *visits, ends[1]])))
    assert problem.start is not None
    # The way from the pickup is to job 1, of node 1, though the vehicle could go anywhere.
    assert (problem.start.routes, problem.start.vehicles) == (((3, 1, 4),), (0,))
    assert [vehicle.steps for vehicle in problem.vehicles[0]] == [("pickup 4", "job 1", "delivery 4")]
    # Vehicles with other steps are still alike.
    vehicles = [
        {"id": number, "start_index": 0, "steps": steps(f"job {job}")} for number, job in ((1, 1515), (2, 1414))
    ]
    alike = read_vroom(PLAIN | {"vehicles": vehicles})
    assert alike.start is not None
    assert (alike.start.routes, alike.start.vehicles, len(alike.vehicles)) == (((2,), (1,)), (0, 0), 1)
    assert read_vroom(changed(RICH, ("vehicles.0.steps", visits)), ignore="steps").start is None
    assert read_vroom(RICH).start is None


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (steps("job 9"), "steps of vehicle 7: job 9 is not there."),
        (steps("job 1", "job 1"), "steps of vehicle 7: job 1 is in steps twice."),
        (steps("pickup 4"), "steps of vehicle 7: the shipment from pickup 4 to delivery 4 is picked up only."),
        (steps("delivery 4", "pickup 4"), "steps of vehicle 7: "),
        ([{"type": "job"}], "step 1 of vehicle 7: id None must be a whole number"),
        ([{"id": 1}], "step 1 of vehicle 7: type None must be start, job, pickup, delivery, break or end."),
        ([{"type": "end"}, *steps("job 1")], "step 1 of vehicle 7: end must be the last step."),
        ([*steps("job 1"), {"type": "start"}], "step 2 of vehicle 7: start must be the first step."),
        ("job 1", "vehicle 7: steps 'job 1' must be a list."),
        ([7], "step 1 of vehicle 7 must be a JSON object."),
    ],
)
def test_steps_that_cannot_be_are_refused(given: Any, sentence: str) -> None:
    with pytest.raises(InputError) as refusal:
        read_vroom(changed(RICH, ("vehicles.0.steps", given)))
    assert str(refusal.value).startswith(f"problem: {sentence}")


def test_steps_keep_the_rules() -> None:
    skilled = changed(RICH, ("vehicles.1.steps", steps("pickup 4", "delivery 4")))
    with pytest.raises(InputError, match=r"^problem: steps of vehicle 8: .*pickup 4"):
        read_vroom(skilled)
    nobody = changed(RICH, ("jobs.1.skills", [99]), ("vehicles.0.steps", steps("job 2")))
    with pytest.raises(InputError, match=r"^problem: steps of vehicle 7: no vehicle can serve job 2\.$"):
        read_vroom(nobody)


def test_an_instance_alone_has_no_steps_and_that_is_told(tmp_path: Path) -> None:
    path = tmp_path / "day.json"
    path.write_text(json.dumps(changed(PLAIN, ("vehicles.0.steps", steps("job 1414")))))
    with pytest.warns(InputWarning, match=r"day\.json: steps of vehicles are where a search starts"):
        read(path)


def test_a_shipment_is_two_tasks_where_not_all_can_be_served() -> None:
    stated = {
        "vehicles": [{"id": 1, "start_index": 0, "end_index": 0, "time_window": [0, 22]}],
        "jobs": [{"id": 1, "location_index": 1}],
        "shipments": [{"pickup": {"id": 2, "location_index": 2}, "delivery": {"id": 2, "location_index": 2}}],
        "matrices": {"car": {"durations": [[0, 5, 10], [5, 0, 15], [10, 15, 0]]}},
    }
    # Either of them is all that the time is enough for; the shipment is twice as much, though its way is longer.
    assert solve(read_vroom(stated).instance, MaxIterations(200)).routes == [[2, 3]]


BREAK = {"id": 1, "service": 300, "time_windows": [[0, 100]]}


@pytest.mark.parametrize(
    ("change", "what", "key"),
    [
        (("vehicles.0.breaks", [BREAK]), "'breaks' of vehicle 7", "breaks"),
        (
            ("vehicles.1.steps", [{"type": "start", "service_at": 9}]),
            "'service_at' of step 1 of vehicle 8",
            "service_at",
        ),
        (("vehicles.1.steps", [{"type": "break", "id": 9}]), "'break' as step 1 of vehicle 8", "breaks"),
        (("vehicles.0.reload", True), "'reload' of vehicle 7", "reload"),
        (("vehicles.0.costs.per_litre", 2), "'per_litre' of costs of vehicle 7", "per_litre"),
        (("jobs.1.service_per_type", {"van": 3}), "'service_per_type' of job 2", "service_per_type"),
        (("jobs.0.setup_per_type", {"van": 3}), "'setup_per_type' of job 1", "setup_per_type"),
        (("shipments.0.pickup.colour", "red"), "'colour' of pickup 4", "colour"),
        (("shipments.0.colour", "red"), "'colour' of entry 1 of shipments", "colour"),
        (("matrices.car.tolls", [[1]]), "'tolls' of profile 'car' of matrices", "tolls"),
        (("options", {"g": True}), "'options' of the problem", "options"),
    ],
)
def test_what_is_not_understood_is_refused_by_name_unless_told_otherwise(
    change: tuple[str, Any], what: str, key: str
) -> None:
    stated = changed(RICH, change)
    with pytest.raises(InputError) as refusal:
        read_vroom(json.dumps(stated, indent=1), source="a.json")
    assert str(refusal.value).startswith("a.json, line ")
    assert str(refusal.value).endswith(f": {what} is not supported yet; --ignore {key} goes on without it.")
    assert read_vroom(stated, ignore=[key]).notes == ()
    assert read_vroom(stated, lenient=True, source="a.json").notes == (
        f"a.json: what is not understood is left out: {what}.",
    )


def test_what_is_empty_asks_for_nothing() -> None:
    stated = changed(RICH, ("vehicles.0.breaks", []), ("vehicles.0.steps", None), ("options", {}))
    assert read_vroom(stated).notes == ()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (("vehicles", []), "at least one vehicle is needed."),
        (("vehicles", {}), "the problem: vehicles {} must be a list."),
        (("vehicles.0", 3), "entry 1 of vehicles must be a JSON object."),
        (("vehicles.0.id", None), f"entry 1 of vehicles: id None must be a whole number from 0 to {2**64 - 1}."),
        (("vehicles.0.id", -1), f"vehicle -1: id -1 must be a whole number from 0 to {2**64 - 1}."),
        (("vehicles.0.id", 8), "vehicle 8 is there twice."),
        (("jobs.0.id", 2), "job 2 is there twice."),
        (("jobs.0.id", "a"), f"entry 1 of jobs: id 'a' must be a whole number from 0 to {2**64 - 1}."),
        (("jobs.0.service", -1), "job 1: service -1 must be a number from 0 to 1e+15."),
        (("jobs.0.service", "5"), "job 1: service '5' must be a number from 0 to 1e+15."),
        (("jobs.0.setup", math.nan), "job 1: setup nan must be a number from 0 to 1e+15."),
        (("jobs.0.service", True), "job 1: service True must be a number from 0 to 1e+15."),
        (("jobs.0.priority", 101), "job 1: priority 101 must be a whole number from 0 to 100."),
        (("jobs.0.skills", ["a"]), "job 1: skill 'a' must be a whole number."),
        (("jobs.0.description", 3), "job 1: description 3 must be text."),
        (("jobs.0.delivery", [1]), "job 1: delivery has 1 amounts, but the capacities of vehicles have 2."),
        (("jobs.0.time_windows", [[5, 3]]), "job 1: the window 5 to 3 ends before it begins."),
        (("jobs.0.time_windows", [[5]]), "job 1: time_windows [5] must be a pair of times."),
        (("jobs.0.time_windows", [[30000, 30030]]), "job 1 has a window shorter than its setup 60, at a place where "
         "something else is, which is not supported yet."),
        (("jobs.0.location_index", 4), "job 1 is at index 4, but durations of profile 'car' have 4 rows."),
        (("jobs.0.location_index", 1.0), "job 1: location_index 1.0 must be a whole number from 0 to 1000000."),
        (("jobs.0.location_index", None), "job 1: location_index is missing."),
        (("jobs.1.location_index", None), "job 2: location_index is missing, and matrices are given."),
        (("jobs.1.location", [2]), "job 2: location [2] must be longitude and latitude."),
        (("shipments.0.pickup", None), "pickup of entry 1 of shipments must be a JSON object."),
        (("vehicles.1.start_index", None), "vehicle 8: it has neither a start nor an end."),
        (("vehicles.1.speed_factor", 6), "vehicle 8: speed_factor 6 must be a number from 0 to 5."),
        (("vehicles.1.speed_factor", 0), "vehicle 8: speed_factor 0 must be above 0."),
        (("vehicles.1.profile", "boat"), "matrices do not have what vehicle 8 needs for profile 'boat', and job 1 has "
         "no location to take it from."),
        (("vehicles.0.costs.per_km", 1), "matrices do not have what vehicle 7 needs for profile 'car', and job 1 has "
         "no location to take it from."),
        (("vehicles.1.max_distance", 9), "max_distance of vehicle 8 is not supported yet together with its costs and "
         "with windows; it has to limit what the costs count."),
        (("vehicles.0.costs", []), None),
        (("matrices", 5), "matrices must be a JSON object."),
        (("matrices.car.durations", [[0, 1], [1]]), "profile 'car' of matrices: durations must be a square table of "
         "numbers."),
        (("matrices.car.durations.1.2", -4), "profile 'car' of matrices: durations -4 from 1 to 2 must be a number "
         "from 0 to 1e+15."),
        (("matrices.bike.costs", DURATIONS), None),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_refused_in_a_sentence(change: tuple[str, Any], sentence: str | None) -> None:
    if sentence is None:
        read_vroom(changed(RICH, change))
        return
    with pytest.raises(InputError) as refusal:
        read_vroom(changed(RICH, change), source="a.json")
    assert str(refusal.value) == f"a.json: {sentence}"


def test_places_and_costs_that_contradict_one_another_are_refused() -> None:
    straight: dict[str, Any] = {"vehicles": [{"id": 1, "start": [2, 48]}], "jobs": [{"id": 1, "location": [3, 48]}]}
    with pytest.raises(InputError, match=r"job 1: location_index is given, but no matrices are, and no location\.$"):
        read_vroom(straight | {"jobs": [{"id": 1, "location_index": 3}]})
    with pytest.raises(InputError, match=r"job 1: location is missing\.$"):
        read_vroom(straight | {"jobs": [{"id": 1}]})
    with pytest.raises(InputError, match=r"location \[3, 148\] of job 1 is not a longitude and a latitude\.$"):
        read_vroom(changed(straight, ("jobs.0.location", [3, 148])))
    priced = changed(PLAIN, ("vehicles.0.costs", {"per_hour": 1}), ("matrices.car.costs", DURATIONS))
    with pytest.raises(InputError, match=r"vehicle 0 has costs per hour or kilometre, and matrices have costs of its"):
        read_vroom(priced)
    with pytest.raises(InputError, match=r"a\.json: windows cannot be left out of VROOM's JSON\.$"):
        read_vroom(PLAIN, source="a.json", ignore="windows")
    with pytest.raises(InputError, match=r"a\.json, line 2: not valid JSON"):
        read_vroom('{"vehicles": [],\n"jobs": [}', source="a.json")
    with pytest.raises(InputError, match=r"speed 0 must be a number of km/h above 0\.$"):
        read_vroom(straight, speed=0)


def test_files_are_told_by_their_content(tmp_path: Path) -> None:
    path = tmp_path / "today.txt"
    path.write_text(json.dumps(PLAIN))
    assert (read(path).name, read(path).customers) == ("today", 2)
    path.write_text(json.dumps({"vehicles": [{"id": 1, "start": [2, 48]}], "jobs": [{"id": 1, "location": [3, 48]}]}))
    with pytest.warns(InputWarning, match=r"today\.txt: no matrices are given"):
        assert read(path).customers == 1
    path.write_text('{"vehicles": 3,\n "jobs": [}')
    with pytest.raises(InputError, match=r"today\.txt, line 2: not valid JSON"):
        read(path)
    assert not is_vroom('{"format": "neuralns-instance", "vehicles": 3, "jobs": 1}')
    assert not is_vroom('{"vehicles": []}')
    assert not is_vroom('["vehicles", "jobs"]')
    assert is_vroom('{"vehicles": [], "shipments": []}')


ODD = [None, -1, 0, 2.5, 1e300, 10**400, math.nan, math.inf, True, "a", "1", [], [1], [[1, 2]], {}, {"id": 1}]


@st.composite
def damaged(draw: st.DrawFn) -> dict[str, Any]:
    """A problem with some values replaced or lost."""
    stated: dict[str, Any] = copy.deepcopy(draw(st.sampled_from([PLAIN, RICH, LIMITED])))
    for _ in range(draw(st.integers(1, 3))):
        place: Any = stated
        while True:
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            if not keys:
                break
            key = draw(st.sampled_from(keys))
            if isinstance(place[key], dict | list) and draw(st.integers(0, 4)):
                place = place[key]
                continue
            if draw(st.booleans()):
                place[key] = copy.deepcopy(draw(st.sampled_from(ODD)))
            else:
                del place[key]
            break
    return stated


@settings(max_examples=300, deadline=None)
@given(damaged())
def test_damaged_input_is_read_or_refused_with_a_sentence(stated: dict[str, Any]) -> None:
    try:
        problem = read_vroom(stated, source="a.json")
    except InputError as refusal:
        sentence = str(refusal)
    else:
        assert len(problem.tasks) == problem.instance.customers
        return
    assert sentence.startswith(("a.json: ", "a.json, line"))
    assert "\n" not in sentence
