"""A judge of answers in VROOM's JSON, by nothing but the standard library: times, loads, skills, costs and sums."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Facts = dict[str, Any]


class Judge:
    """What an answer to a problem with matrices says, held against the problem."""

    def __init__(self, problem: Facts, answer: Facts) -> None:
        self.problem, self.answer, self.broken = problem, answer, list[str]()
        self.vehicles = {each["id"]: each for each in problem["vehicles"]}
        self.goods = max((len(each.get("capacity", ())) for each in problem["vehicles"]), default=0)
        self.tasks: dict[tuple[str, int], Facts] = {("job", each["id"]): each for each in problem.get("jobs", ())}
        self.other_end: dict[tuple[str, int], tuple[str, int]] = {}
        for shipment in problem.get("shipments", ()):
            keys = [(end, shipment[end]["id"]) for end in ("pickup", "delivery")]
            for end, key in zip(("pickup", "delivery"), keys, strict=True):
                shared = {name: shipment[name] for name in ("amount", "skills", "priority") if name in shipment}
                self.tasks[key] = {**shared, **shipment[end]}
            self.other_end[keys[1]] = keys[0]

    def judge(self) -> list[str]:
        """Return what is wrong with the answer."""
        routes, summary = self.answer["routes"], self.answer["summary"]
        visited = [(step["type"], step["id"]) for route in routes for step in self._stops(route)]
        left = [(task["type"], task["id"]) for task in self.answer["unassigned"]]
        if sorted([*visited, *left]) != sorted(self.tasks):
            self.broken.append(f"tasks {sorted(visited)} and {sorted(left)} are not all, each once")
            return self.broken
        for delivery, pickup in self.other_end.items():
            if (delivery in left) != (pickup in left):
                self.broken.append(f"of a shipment, only one end is served: {delivery}")
        numbers = [route["vehicle"] for route in routes]
        if len(set(numbers)) != len(numbers):
            self.broken.append(f"a vehicle has two routes: {numbers}")
        for route in routes:
            self._judge_route(route)
        for key in ("cost", "setup", "service", "duration", "waiting_time"):
            self._expect(f"summary: {key}", summary[key], sum(route[key] for route in routes))
        self._expect("summary: routes", summary["routes"], len(routes))
        self._expect("summary: unassigned", summary["unassigned"], len(left))
        return self.broken

    @staticmethod
    def _stops(route: Facts) -> Iterator[Facts]:
        return (step for step in route["steps"] if step["type"] not in ("start", "end"))

    def _expect(self, what: str, said: Any, found: Any) -> None:
        if said != found:
            self.broken.append(f"{what} {said} is said, but found is {found}")

    def _judge_route(self, route: Facts) -> None:
        vehicle = self.vehicles[route["vehicle"]]
        what = f"vehicle {vehicle['id']}"
        steps = [(step["type"], step["id"]) for step in self._stops(route)]
        if not steps or len(steps) > vehicle.get("max_tasks", len(steps)):
            self.broken.append(f"{what} has {len(steps)} tasks")
        for key in steps:
            if not set(self.tasks[key].get("skills", ())) <= set(vehicle.get("skills", ())):
                self.broken.append(f"{what} has not the skills of {key}")
            if key in self.other_end and self.other_end[key] not in steps[: steps.index(key)]:
                self.broken.append(f"{what} delivers {key} before it is picked up")
        self._judge_loads(what, vehicle, route)
        self._judge_times(what, vehicle, route)

    def _amounts(self, task: Facts, name: str) -> list[float]:
        return [*task.get(name, ()), *[0] * self.goods][: self.goods]

    def _judge_loads(self, what: str, vehicle: Facts, route: Facts) -> None:
        room = self._amounts(vehicle, "capacity")
        jobs = [self.tasks["job", step["id"]] for step in self._stops(route) if step["type"] == "job"]
        load = [sum(parts) for parts in zip(*(self._brought(job) for job in jobs), strict=True)] or [0] * self.goods
        for step in route["steps"]:
            if step["type"] not in ("start", "end"):
                task = self.tasks[step["type"], step["id"]]
                if step["type"] == "job":
                    more, less = self._amounts(task, "pickup"), self._brought(task)
                else:
                    sign = 1 if step["type"] == "pickup" else -1
                    more, less = [sign * each for each in self._amounts(task, "amount")], [0] * self.goods
                load = [now + plus - minus for now, plus, minus in zip(load, more, less, strict=True)]
            if self.goods:
                self._expect(f"{what}: load at {step['type']} {step.get('id')}", step["load"], load)
            if any(now > limit for now, limit in zip(load, room, strict=True)):
                self.broken.append(f"{what} carries {load}, above {room}")

    def _brought(self, job: Facts) -> list[float]:
        return self._amounts(job, "delivery" if "delivery" in job else "amount")

    def _judge_times(self, what: str, vehicle: Facts, route: Facts) -> None:
        profile = self.problem["matrices"][vehicle.get("profile", "car")]
        costs = vehicle.get("costs", {})
        opens, closes = vehicle.get("time_window", (float("-inf"), float("inf")))
        steps, travelled, worked, waited = route["steps"], 0, 0, 0
        places = [step["location_index"] for step in steps]
        for end, key in ((0, "start_index"), (-1, "end_index")):
            if key in vehicle:
                self._expect(f"{what}: {key}", places[end], vehicle[key])
        if steps[0]["arrival"] < opens or steps[-1]["arrival"] + steps[-1]["service"] > closes:
            self.broken.append(f"{what} drives outside its hours")
        free = steps[0]["arrival"]
        for place, step in enumerate(steps):
            if place:
                way = profile["durations"][places[place - 1]][places[place]]
                travelled += way
                self._expect(f"{what}: arrival at step {place}", step["arrival"], free + way)
            self._expect(f"{what}: duration at step {place}", step["duration"], travelled)
            task = {} if step["type"] in ("start", "end") else self.tasks[step["type"], step["id"]]
            # A vehicle without a start begins at its first task, and comes from nowhere.
            same = place > ("start_index" not in vehicle) and places[place - 1] == places[place]
            due = 0 if same else task.get("setup", 0)
            self._expect(f"{what}: setup at step {place}", step["setup"], due)
            self._expect(f"{what}: service at step {place}", step["service"], task.get("service", 0))
            begin = step["arrival"] + step["waiting_time"]
            spans = task.get("time_windows") or [[float("-inf"), float("inf")]]
            if not any(early <= begin <= late for early, late in spans):
                self.broken.append(f"{what} serves {step['type']} {step.get('id')} at {begin}, outside {spans}")
            waited += step["waiting_time"]
            worked += step["setup"] + step["service"]
            free = begin + step["setup"] + step["service"]
        if travelled > vehicle.get("max_travel_time", travelled):
            self.broken.append(f"{what} travels {travelled}, above {vehicle['max_travel_time']}")
        self._expect(f"{what}: duration", route["duration"], travelled)
        self._expect(f"{what}: waiting_time", route["waiting_time"], waited)
        self._expect(f"{what}: setup and service", route["setup"] + route["service"], worked)
        cost = costs.get("fixed", 0) + costs.get("per_hour", 3600) * travelled / 3600
        cost += costs.get("per_task_hour", 0) * worked / 3600
        if abs(route["cost"] - cost) > 1 + 1e-9 * cost:
            self.broken.append(f"{what}: cost {route['cost']} is said, but found is {cost}")


def complaints(problem: Facts, answer: Facts) -> list[str]:
    """What is wrong with an answer."""
    return Judge(problem, answer).judge()
