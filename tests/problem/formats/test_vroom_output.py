"""VROOM's output says of any routes what VROOM would: every step by its rules, all sums as they are."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neuralns import InputError, Solution
from neuralns.problem.formats.vroom import VroomProblem, read_vroom
from neuralns.problem.formats.vroom_output import vroom_answer

DURATIONS = [[0, 2104, 197, 1299], [2103, 0, 2255, 3152], [197, 2256, 0, 1102], [1299, 3153, 1102, 0]]


def test_an_answer_has_all_that_one_of_vroom_has() -> None:
    stated = {
        "vehicles": [{"id": 0, "start_index": 0, "end_index": 3, "description": "red"}],
        "jobs": [{"id": 1414, "location_index": 1, "description": "first"}, {"id": 1515, "location_index": 2}],
        "matrices": {"car": {"durations": DURATIONS}},
    }
    problem = read_vroom(stated)
    never = {"setup": 0, "service": 0, "waiting_time": 0, "violations": []}
    assert vroom_answer(problem, Solution(problem.instance, [[1, 2]])) == {
        "code": 0,
        "generator": "neuralns",
        "summary": {"cost": 5461, "routes": 1, "unassigned": 0, "duration": 5461, "priority": 0, **never, "notes": []},
        "unassigned": [],
        "routes": [
            {
                "vehicle": 0,
                "description": "red",
                "cost": 5461,
                "duration": 5461,
                "priority": 0,
                **never,
                "steps": [
                    {"type": "start", "location_index": 0, "arrival": 0, "duration": 0, **never},
                    {
                        "type": "job",
                        "id": 1414,
                        "job": 1414,
                        "description": "first",
                        "location_index": 1,
                        "arrival": 2104,
                        "duration": 2104,
                        **never,
                    },
                    {
                        "type": "job",
                        "id": 1515,
                        "job": 1515,
                        "location_index": 2,
                        "arrival": 4359,
                        "duration": 4359,
                        **never,
                    },
                    {"type": "end", "location_index": 3, "arrival": 5461, "duration": 5461, **never},
                ],
            }
        ],
    }


def test_loads_waiting_and_shipments_are_told() -> None:
    stated = {
        "vehicles": [{"id": 3, "start_index": 0, "end_index": 0, "capacity": [4], "time_window": [0, 9000]}],
        "jobs": [
            {"id": 1, "location_index": 1, "delivery": [2], "service": 10, "time_windows": [[3000, 3000]]},
            {"id": 2, "location_index": 2, "pickup": [1], "time_windows": [[100, 300], [6000, 6100]], "priority": 5},
        ],
        "shipments": [
            {
                "amount": [1],
                "priority": 2,
                "pickup": {"id": 1, "location_index": 3, "setup": 7},
                "delivery": {"id": 9, "location_index": 3, "setup": 7},
            }
        ],
        "matrices": {"car": {"durations": DURATIONS, "distances": DURATIONS}},
    }
    problem = read_vroom(stated)
    answer = vroom_answer(problem, Solution(problem.instance, [[1, 2, 3, 4]]))
    steps = answer["routes"][0]["steps"]
    assert [step["type"] for step in steps] == ["start", "job", "job", "pickup", "delivery", "end"]
    assert [step["load"] for step in steps] == [[2], [0], [1], [2], [1], [1]]
    assert [step["arrival"] for step in steps] == [896, 3000, 5265, 7102, 7109, 8408]
    assert [step["waiting_time"] for step in steps] == [0, 0, 735, 0, 0, 0]
    assert [step["setup"] for step in steps] == [0, 0, 0, 7, 0, 0]
    assert [step["duration"] for step in steps] == [0, 2104, 4359, 5461, 5461, 6760]
    assert [step["distance"] for step in steps] == [0, 2104, 4359, 5461, 5461, 6760]
    summary = answer["summary"]
    assert (summary["delivery"], summary["pickup"], summary["amount"], summary["priority"]) == ([3], [2], [3], 9)
    assert summary["distance"] == summary["cost"] == 6760


def test_who_is_on_no_route_is_unassigned_as_it_was_stated() -> None:
    stated = {
        "vehicles": [{"id": 3, "start": [2, 48]}],
        "jobs": [
            {"id": 1, "location": [2.5, 48.5], "description": "far"},
            {"id": 2, "location": [2.1, 48]},
            {"id": 4, "location": [2.2, 48], "skills": [1]},
        ],
    }
    problem = read_vroom(stated)
    answer = vroom_answer(problem, Solution(problem.instance, [[2]]))
    assert answer["unassigned"] == [
        {"id": 1, "type": "job", "location": [2.5, 48.5], "description": "far"},
        {"id": 4, "type": "job", "location": [2.2, 48]},
    ]
    assert answer["summary"]["unassigned"] == 2
    # A route without an end ends where it is.
    assert answer["routes"][0]["steps"][-1]["location"] == [2.1, 48]
    nobody = vroom_answer(problem, Solution(problem.instance, []))
    assert (nobody["routes"], nobody["summary"]["unassigned"], nobody["summary"]["cost"]) == ([], 3, 0)


def test_routes_go_by_the_vehicles_of_the_input() -> None:
    ends = {"start_index": 0, "end_index": 0}
    stated = {
        "vehicles": [{"id": 9, "end_index": 0}, {"id": 5, **ends}, {"id": 4, **ends}],
        "jobs": [{"id": number, "location_index": number} for number in (1, 2, 3)],
        "matrices": {"car": {"durations": DURATIONS}},
    }
    problem = read_vroom(stated)
    answer = vroom_answer(problem, Solution(problem.instance, [[1], [2], [3]], [1, 1, 0]))
    assert [(route["vehicle"], route["steps"][1]["id"]) for route in answer["routes"]] == [(9, 3), (5, 1), (4, 2)]


def test_fractions_of_seconds_are_cut_only_if_there_were_none() -> None:
    stated: dict[str, Any] = {
        "vehicles": [{"id": 1, "start_index": 0, "end_index": 0, "speed_factor": 2, "costs": {"per_km": 1}}],
        "jobs": [{"id": 1, "location_index": 1}],
        "matrices": {"car": {"durations": [[0, 3], [3, 0]], "distances": [[0, 9], [9, 0]]}},
    }
    problem = read_vroom(stated)
    route = vroom_answer(problem, Solution(problem.instance, [[1]]))["routes"][0]
    assert [step["arrival"] for step in route["steps"]] == [0, 1, 3]
    assert (route["cost"], route["duration"], route["distance"]) == (3, 3, 18)
    stated["jobs"][0]["service"] = 0.25
    problem = read_vroom(stated)
    route = vroom_answer(problem, Solution(problem.instance, [[1]]))["routes"][0]
    assert [step["arrival"] for step in route["steps"]] == [0, 1.5, 3.25]
    assert (route["cost"], route["duration"], route["service"]) == (3.018, 3, 0.25)


SMALL = st.integers(0, 30)


@st.composite
def problems(draw: st.DrawFn) -> tuple[dict[str, Any], list[tuple[int, list[tuple[str, int]]]]]:
    """A problem with any of the parts, and routes for some of its vehicles."""
    places, dimensions = draw(st.sampled_from([2, 4, 9])), draw(st.integers(0, 2))
    index = st.integers(0, places - 1)
    timed, skilled = draw(st.integers(0, 3)) > 0, draw(st.integers(0, 3)) == 0
    # Every task at a place of its own, or anywhere.
    free = draw(st.permutations(range(places))) if places == 9 else []

    def amounts(most: int) -> list[int]:
        return draw(st.lists(st.integers(0, most), min_size=dimensions, max_size=dimensions))

    def square() -> list[list[int]]:
        return draw(st.lists(st.lists(SMALL, min_size=places, max_size=places), min_size=places, max_size=places))

    def skills() -> dict[str, Any]:
        return {"skills": draw(st.lists(st.integers(1, 2), max_size=2))} if skilled and draw(st.booleans()) else {}

    def task(number: int) -> dict[str, Any]:
        found: dict[str, Any] = {"id": number, "location_index": free.pop() if free else draw(index)}
        found |= {key: draw(st.integers(0, 9)) for key in ("setup", "service") if draw(st.booleans())}
        if timed and draw(st.booleans()):
            begins = draw(st.lists(st.integers(0, 4), min_size=1, max_size=2, unique=True))
            found["time_windows"] = [[25 * begin, 25 * begin + draw(st.integers(9, 20))] for begin in sorted(begins)]
        return found

    vehicles = []
    for number in draw(st.lists(st.integers(0, 9), min_size=1, max_size=3, unique=True)):
        ends = draw(st.sampled_from([("start_index",), ("end_index",), ("start_index", "end_index")]))
        vehicle: dict[str, Any] = {"id": number, **{end: draw(index) for end in ends}, **skills()}
        if dimensions:
            vehicle["capacity"] = [6 + amount for amount in amounts(6)]
        if timed and draw(st.booleans()):
            vehicle["time_window"] = [draw(st.integers(0, 20)), draw(st.integers(40, 200))]
        costs = {"fixed": SMALL, "per_hour": st.sampled_from([0, 1800, 3600]), "per_km": st.sampled_from([0, 500])}
        costs["per_task_hour"] = st.sampled_from([0, 3600])
        vehicle["costs"] = {key: draw(value) for key, value in costs.items() if draw(st.booleans())}
        if draw(st.integers(0, 3)) == 0:
            vehicle["max_tasks"] = draw(st.integers(0, 4))
        if draw(st.integers(0, 3)) == 0:
            vehicle["speed_factor"] = draw(st.sampled_from([0.5, 2, 1.5]))
        vehicles.append(vehicle)
    jobs = [task(number) | skills() for number in range(draw(st.integers(1, 4)))]
    for job in jobs if dimensions else []:
        job.update({key: amounts(3) for key in ("delivery", "pickup") if draw(st.booleans())})
    if draw(st.booleans()):
        jobs[0]["priority"] = draw(st.integers(0, 9))
    shipments = []
    for number in range(draw(st.integers(0, 2))):
        shipment = {"pickup": task(number), "delivery": task(number)} | skills()
        shipments.append(shipment | ({"amount": amounts(3)} if dimensions else {}))
    tables = {"car": {"durations": square(), "distances": square()}}
    stated: dict[str, Any] = {"vehicles": vehicles, "jobs": jobs, "shipments": shipments, "matrices": tables}
    visits = [("job", number) for number in range(len(jobs))]
    visits += [(kind, number) for number in range(len(shipments)) for kind in ("pickup", "delivery")]
    routes: dict[int, list[tuple[str, int]]] = {}
    for visit in draw(st.permutations(visits)):
        with_pickup = [number for number, route in routes.items() if ("pickup", visit[1]) in route]
        number = draw(st.sampled_from([None, *(vehicle["id"] for vehicle in vehicles)]))
        if visit[0] == "delivery" and with_pickup:
            number = with_pickup[0]
        if number is not None:
            routes.setdefault(number, []).append(visit)
    return stated, list(routes.items())


@st.composite
def tight_days(draw: st.DrawFn) -> tuple[dict[str, Any], list[tuple[int, list[tuple[str, int]]]]]:
    """A vehicle and a route whose windows open and close about when the vehicle comes."""
    count = draw(st.integers(1, 4))
    index = st.integers(0, 4)
    apart = draw(st.booleans())
    places = draw(st.permutations(range(1, 5))) if apart else [draw(index) for _ in range(4)]
    seconds = [draw(st.lists(SMALL, min_size=5, max_size=5)) for _ in range(5)]
    ends = draw(st.sampled_from([("start_index",), ("end_index",), ("start_index", "end_index")]))
    vehicle: dict[str, Any] = {"id": 1, **dict.fromkeys(ends, 0), "costs": {}}
    now, here, jobs = draw(st.integers(0, 9)), vehicle.get("start_index"), []
    vehicle["time_window"] = [now, 0]
    for number, place in enumerate(places[:count]):
        now += 0 if here is None else seconds[here][place]
        opens = max(0, now + draw(st.integers(-9, 5)))
        job: dict[str, Any] = {
            "id": number,
            "location_index": place,
            "setup": draw(st.integers(0, 9)),
            "service": draw(SMALL),
        }
        if draw(st.integers(0, 3)):
            job["time_windows"] = [[opens, opens + 9 + draw(st.integers(0, 5))]]
            now = max(now, opens)
        jobs.append(job)
        now, here = now + (0 if here == place else job["setup"]) + job["service"], place
    now += seconds[here][0] if "end_index" in vehicle and here is not None else 0
    vehicle["time_window"][1] = max(now + draw(st.integers(-2, 1)), vehicle["time_window"][0])
    tables = {"car": {"durations": seconds, "distances": seconds}}
    stated: dict[str, Any] = {"vehicles": [vehicle], "jobs": jobs, "shipments": [], "matrices": tables}
    return stated, [(1, [("job", number) for number in range(count)])]


def test_a_route_is_that_of_the_vehicle_with_its_steps() -> None:
    vehicles: list[dict[str, Any]] = [{"id": number, "start_index": 0} for number in (1, 2, 3)]
    vehicles[2] |= {"steps": [{"type": "job", "id": 1}, {"type": "job", "id": 2}]}
    vehicles[1] |= {"steps": [{"type": "job", "id": 3}]}
    stated = {
        "vehicles": vehicles,
        "jobs": [{"id": number, "location_index": number} for number in (1, 2, 3)],
        "matrices": {"car": {"durations": DURATIONS}},
    }
    problem = read_vroom(stated)
    answer = vroom_answer(problem, Solution(problem.instance, [[2], [3, 1]]))
    assert {route["vehicle"]: [step["id"] for step in route["steps"][1:-1]] for route in answer["routes"]} == {
        2: [3, 1],
        3: [2],
    }


def test_computing_times_are_milliseconds() -> None:
    stated = {
        "vehicles": [{"id": 1, "start_index": 0}],
        "jobs": [{"id": 1, "location_index": 1}],
        "matrices": {"car": {"durations": DURATIONS}},
    }
    problem = read_vroom(stated)
    answer = vroom_answer(problem, Solution(problem.instance, [[1]]), {"loading": 0.0014, "solving": 2})
    assert answer["summary"]["computing_times"] == {"loading": 1, "solving": 2000}


class Referee:
    """VROOM's rules, told once more and in the simplest way."""

    def __init__(self, stated: dict[str, Any]) -> None:
        self.tasks = {("job", job["id"]): job for job in stated["jobs"]}
        for each in stated["shipments"]:
            shared, amount = {"skills": each.get("skills", [])}, each.get("amount", [])
            self.tasks["pickup", each["pickup"]["id"]] = each["pickup"] | shared | {"pickup": amount}
            self.tasks["delivery", each["delivery"]["id"]] = each["delivery"] | shared | {"delivery": amount}
        self.vehicles = {vehicle["id"]: vehicle for vehicle in stated["vehicles"]}
        self.seconds, self.metres = (stated["matrices"]["car"][what] for what in ("durations", "distances"))

    def allows(self, number: int, visits: list[tuple[str, int]]) -> bool:
        """Whether a vehicle can do these tasks in that order, as early as it can."""
        vehicle = self.vehicles[number]
        tasks = [self.tasks[visit] for visit in visits]
        if len(tasks) > vehicle.get("max_tasks", 99):
            return False
        if any(not set(task.get("skills", [])) <= set(vehicle.get("skills", [])) for task in tasks):
            return False
        for kind, each in visits:
            if kind != "job" and (
                {("pickup", each), ("delivery", each)} - {*visits}
                or visits.index(("pickup", each)) > visits.index(("delivery", each))
            ):
                return False
        for place, most in enumerate(vehicle.get("capacity", [])):

            def of(task: dict[str, Any], what: str, place: int = place) -> int:
                amounts = task.get(what, [])
                return amounts[place] if amounts else 0

            load = sum(of(self.tasks[visit], "delivery") for visit in visits if visit[0] == "job")
            loads = [load]
            for task in tasks:
                load += of(task, "pickup") - of(task, "delivery")
                loads.append(load)
            if max(loads) > most:
                return False
        first, last = vehicle.get("time_window", [0, math.inf])
        now, here = first, vehicle.get("start_index")
        for task in tasks:
            at = task["location_index"]
            now += 0 if here is None else self.seconds[here][at] / vehicle.get("speed_factor", 1)
            starts = [max(opens, now) for opens, closes in task.get("time_windows", [[0, math.inf]]) if closes >= now]
            if not starts:
                return False
            now = starts[0] + (0 if here == at else task.get("setup", 0)) + task.get("service", 0)
            here = at
        back = vehicle.get("end_index")
        now += 0 if back is None else self.seconds[here][back] / vehicle.get("speed_factor", 1)
        return bool(now <= last)

    def cost(self, number: int, visits: list[tuple[str, int]]) -> float:
        """What a route costs."""
        vehicle = self.vehicles[number]
        costs = {"fixed": 0, "per_hour": 3600, "per_km": 0, "per_task_hour": 0} | vehicle["costs"]
        total, here = float(costs["fixed"]), vehicle.get("start_index")
        stands = [*(self.tasks[visit] for visit in visits)]
        stands += [{"location_index": vehicle["end_index"]}] if "end_index" in vehicle else []
        for task in stands:
            at = task["location_index"]
            if here is not None:
                total += costs["per_hour"] / 3600 * self.seconds[here][at] / vehicle.get("speed_factor", 1)
                total += costs["per_km"] / 1000 * self.metres[here][at]
            work = (0 if here == at else task.get("setup", 0)) + task.get("service", 0)
            total, here = total + costs["per_task_hour"] / 3600 * work, at
        return total


def solution_of(problem: VroomProblem, routes: list[tuple[int, list[tuple[str, int]]]]) -> Solution | None:
    """The routes by customers; None if somebody is on them whom no vehicle can serve."""
    nodes = {(task.kind, task.id): node for node, task in enumerate(problem.tasks, 1)}
    types = {vehicle.id: vehicle_type for vehicle_type, vehicles in enumerate(problem.vehicles) for vehicle in vehicles}
    if any(visit not in nodes for _, visits in routes for visit in visits):
        return None
    found = [[nodes[visit] for visit in visits] for _, visits in routes]
    return Solution(problem.instance, found, [types[number] for number, _ in routes])


@settings(max_examples=400, deadline=None)
@given(problems() | tight_days())
def test_routes_keep_our_rules_if_and_only_if_they_keep_those_of_vroom(
    drawn: tuple[dict[str, Any], list[tuple[int, list[tuple[str, int]]]]],
) -> None:
    stated, routes = drawn
    referee = Referee(stated)
    fair = all(referee.allows(number, visits) for number, visits in routes)
    # Where tasks share a place, those with a setup have windows that are right with and without it.
    places = [task["location_index"] for task in referee.tasks.values()]
    places += [vehicle[end] for vehicle in stated["vehicles"] for end in ("start_index", "end_index") if end in vehicle]
    apart = all(
        places.count(task["location_index"]) == 1
        for task in referee.tasks.values()
        if task.get("setup") and "time_windows" in task
    )
    try:
        problem = read_vroom(stated)
        solution = solution_of(problem, routes)
    except InputError:
        solution = None
    if solution is None:
        # Nobody at all can be served, or somebody on the routes cannot.
        assert not fair or not routes or not apart
        return
    keeps = not solution.broken_rules()
    assert fair or not keeps
    assert keeps or not fair or not apart
    for place, (number, visits) in enumerate(routes):
        kind = solution.vehicles[place]
        assert number in [vehicle.id for vehicle in problem.vehicles[kind]]
        assert solution.route_cost(place) == pytest.approx(referee.cost(number, visits))


@settings(max_examples=300, deadline=None)
@given(problems() | tight_days())
def test_answers_add_up_and_keep_the_rules_that_the_routes_keep(
    drawn: tuple[dict[str, Any], list[tuple[int, list[tuple[str, int]]]]],
) -> None:
    stated, routes = drawn
    referee = Referee(stated)
    try:
        problem = read_vroom(stated)
    except InputError:
        return
    solution = solution_of(problem, routes)
    if solution is None:
        return
    answer = json.loads(json.dumps(vroom_answer(problem, solution)))
    summary = answer["summary"]
    assert summary["routes"] == len(answer["routes"]) == len(routes)
    told = [(step["type"], step["id"]) for route in answer["routes"] for step in route["steps"][1:-1]]
    told += [(each["type"], each["id"]) for each in answer["unassigned"]]
    assert sorted(told) == sorted(referee.tasks)
    assert summary["unassigned"] == len(answer["unassigned"])
    for key in ("cost", "setup", "service", "duration", "waiting_time", "priority", "distance"):
        assert summary[key] == sum(route[key] for route in answer["routes"])
    for key in ("delivery", "pickup"):
        sums = [sum(each) for each in zip(*(route[key] for route in answer["routes"] if key in route), strict=True)]
        assert summary.get(key, []) == sums or not answer["routes"]
    for route in answer["routes"]:
        vehicle, steps = referee.vehicles[route["vehicle"]], route["steps"]
        for key in ("setup", "service", "waiting_time"):
            assert route[key] == sum(step[key] for step in steps)
        assert (route["duration"], route["distance"]) == (steps[-1]["duration"], steps[-1]["distance"])
        for before, step in pairwise(steps):
            left = before["arrival"] + before["waiting_time"] + before["setup"] + before["service"]
            way = step["duration"] - before["duration"]
            assert step["arrival"] == left + way
            assert step["waiting_time"] >= 0
            anywhere = (before["type"] == "start" and "start_index" not in vehicle) or (
                step["type"] == "end" and "end_index" not in vehicle
            )
            tail, head = before["location_index"], step["location_index"]
            exact = 0 if anywhere else referee.seconds[tail][head] / vehicle.get("speed_factor", 1)
            assert abs(way - exact) < 1
            assert step["distance"] - before["distance"] == (0 if anywhere else referee.metres[tail][head])
            if step["type"] != "end":
                task = referee.tasks[step["type"], step["id"]]
                same = tail == head and not anywhere
                assert step["setup"] == (0 if same else task.get("setup", 0))
                assert step["service"] == task.get("service", 0)
    if not solution.broken_rules():
        for route in answer["routes"]:
            vehicle, steps = referee.vehicles[route["vehicle"]], route["steps"]
            first, last = vehicle.get("time_window", [0, math.inf])
            assert first <= steps[0]["arrival"] <= steps[-1]["arrival"] <= last
            for step in steps:
                assert all(0 <= load <= most for load, most in zip(step.get("load", []), vehicle.get("capacity", [])))  # noqa: B905
            for step in steps[1:-1]:
                windows = referee.tasks[step["type"], step["id"]].get("time_windows", [[0, math.inf]])
                begin = step["arrival"] + step["waiting_time"]
                assert any(opens <= begin <= closes for opens, closes in windows)
