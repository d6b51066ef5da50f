"""Random instances of every kind, solved, and their plans judged by `fuzz.checker`, which shares nothing with them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.checker import Problem, Verdict, near, plan_of
from fuzz.damage import changed_json
from fuzz.instances import rich, vroom
from fuzz.vroom_checker import complaints
from neuralns import (
    InputError,
    Instance,
    MaxIterations,
    Result,
    Solution,
    read,
    read_solution,
    solve,
    write_instance,
    write_solution,
)
from neuralns.problem.formats.vroom import read_vroom
from neuralns.problem.formats.vroom_output import vroom_answer_text
from neuralns.problem.route_cost import RouteCost, named_cost
from neuralns.selection.names import plain_names

SUBOPTIMAL = "not the best plan"
"""Said of a plan that keeps all rules and costs more than the best one."""
REFUSED = "refused"
BRIEF, LONG = 1000, 20_000
"""Iterations that a tiny instance gets first, and where those do not find the best plan."""
CHANGES = 8


def make_rich(rng: np.random.Generator) -> bytes:
    """An instance of any size up to 20 customers, and how to solve it."""
    data = rich(rng, 1, int(rng.choice([4, 9, 20, 60], p=[0.33, 0.32, 0.32, 0.03])))
    choices: dict[str, Any] = {}
    if rng.random() < 0.3:
        choices["portfolio"] = "paper,modern-all"
    if rng.random() < 0.2:
        choices["selector"] = str(rng.choice(plain_names()))
    if rng.random() < 0.2:
        choices["initial"] = str(rng.choice(["insertion", "random"]))
    if rng.random() < 0.1:
        choices["scale"] = int(rng.integers(1, 40))
    asked = {"instance": data, "seed": int(rng.integers(2**31)), "iterations": int(rng.choice([0, 20, 200]))}
    return json.dumps({**asked, "choices": choices}).encode()


def make_tiny(rng: np.random.Generator) -> bytes:
    """An instance of so few stops that all plans can be tried."""
    data = rich(rng, 1, int(rng.choice([4, 5, 6, 7, 8], p=[0.3, 0.34, 0.3, 0.05, 0.01])))
    return json.dumps({"instance": data, "seed": int(rng.integers(2**31))}).encode()


def make_vroom(rng: np.random.Generator) -> bytes:
    """A problem in VROOM's JSON, and how to solve it."""
    return json.dumps({"problem": vroom(rng), "seed": int(rng.integers(2**31))}).encode()


def check_vroom(content: bytes, file: Path) -> str | None:
    """Solve a problem in VROOM's JSON in brief; judge the answer."""
    asked = json.loads(content)
    try:
        problem = read_vroom(json.dumps(asked["problem"]), source="drawn.json")
        best = solve(problem.instance, MaxIterations(100), seed=asked["seed"]).best
    except InputError as error:
        _check_refusal(None, str(error))
        return REFUSED
    broken = complaints(asked["problem"], json.loads(vroom_answer_text(problem, best)))
    assert broken == [], broken
    return None


def make_changed(rng: np.random.Generator) -> bytes:
    """An instance of which some places say something else."""
    asked = json.loads(make_rich(rng))
    head = {key: asked["instance"].pop(key) for key in ("format", "version")}
    changed_json(rng, asked["instance"])
    return json.dumps({**asked, "iterations": 20, "instance": {**head, **asked["instance"]}}).encode()


def check_changed(content: bytes, file: Path) -> str | None:
    """Have an instance be refused in a sentence, or be what it says."""
    asked = json.loads(content)
    file = file.with_suffix(".json")
    file.write_text(json.dumps(asked["instance"]), encoding="utf-8")
    try:
        read(file)
    except InputError as error:
        _check_refusal(None, str(error))
        return REFUSED
    return check_rich(content, file)


def check_rich(content: bytes, file: Path) -> str | None:
    """Solve an instance in brief; judge its plan, and others that are made of it by accidents."""
    asked = json.loads(content)
    found = _solved(asked["instance"], file, asked["seed"], asked["iterations"], **asked.get("choices", {}))
    if isinstance(found, str):
        return found
    problem, result = found
    _check_forms(problem, result.best, file)
    rng = np.random.default_rng(asked["seed"])
    for _ in range(CHANGES):
        _compare(problem, *changed_plan(rng, problem, result.routes, result.best.vehicles), result.best.instance)
    return None


def check_tiny(content: bytes, file: Path) -> str | None:
    """Solve an instance of a few stops, and try all plans: none may be dearer than that which was found."""
    asked = json.loads(content)
    best: tuple[int, float] | None = None
    for iterations in (BRIEF, LONG):
        found = _solved(asked["instance"], file, asked["seed"], iterations)
        if isinstance(found, str):
            return found
        problem, result = found
        if best is None:
            unserved, cost, routes, kinds = problem.optimum()
            best = unserved, cost
            _compare(problem, routes, kinds, result.best.instance)
        verdict = problem.judge(result.routes, result.best.vehicles)
        missing = problem.requests_unserved(verdict)
        assert missing >= best[0], f"{missing} requests are unserved, but {best[0]} by trying all plans"
        if missing == best[0]:
            assert verdict.cost > best[1] or near(verdict.cost, best[1]), (
                f"cost {verdict.cost} is below {best[1]}, the least of all plans"
            )
            if near(verdict.cost, best[1]):
                return None
    return SUBOPTIMAL


def _solved(
    data: dict[str, Any], file: Path, seed: int, iterations: int, **choices: Any
) -> tuple[Problem, Result] | str:
    """Return the problem and what the package finds, judged; or that it refuses it."""
    file = file.with_suffix(".json")
    file.write_text(json.dumps(data), encoding="utf-8")
    problem = Problem(data)
    try:
        instance = _with_known_costs(read(file))
        result = solve(instance, MaxIterations(iterations), seed=seed, **choices)
    except InputError as error:
        _check_refusal(problem, str(error))
        return REFUSED
    plan = file.with_name("plan.json")
    write_solution(result.best, plan)
    stated = json.loads(plan.read_text(encoding="utf-8"))
    routes, kinds = plan_of(data, stated)
    verdict = problem.judge(routes, kinds)
    assert verdict.broken == [], f"the plan {routes} of vehicles {kinds} breaks rules: {verdict.broken}"
    assert near(verdict.cost, stated["cost"]), f"the plan says {stated['cost']}, but costs {verdict.cost}"
    assert near(verdict.cost, result.cost), f"the search says {result.cost}, but the plan costs {verdict.cost}"
    _compare(problem, routes, kinds, instance)
    return problem, result


def _check_refusal(problem: Problem | None, sentence: str) -> None:
    """Have nobody be served by a vehicle alone where it is said that nobody can be."""
    assert sentence.endswith((".", "?")), sentence
    if "no customer can be served" in sentence and problem is not None:
        pairs = {pickup: delivery for pickup, delivery, _ in problem.shipments}
        lone = [node for node in range(1, problem.customers + 1) if node not in problem.delivered_for]
        for node in lone:
            route = [node, *([pairs[node]] if node in pairs else [])]
            for number, kind in enumerate(problem.kinds):
                served = kind.available != 0 and not problem.judge([route], [number]).broken
                assert not served, f"{route} can be served, though it is said: {sentence}"


def _check_forms(problem: Problem, solution: Solution, file: Path) -> None:
    """Have every form that takes an instance, or a plan, give it back."""
    instance, routes = solution.instance, [list(route) for route in solution.routes]
    written = file.with_name("written.json")
    write_instance(instance, written)
    again = Problem(json.loads(written.read_text(encoding="utf-8"))).judge(routes, solution.vehicles)
    assert again == problem.judge(routes, solution.vehicles), "its JSON says something else"
    written = file.with_name("written.vrp")
    with suppress(InputError):
        write_instance(instance, written)
        other = read(written, rounding=instance.rounding)
        # Vehicles that are alike are one type there, and types are in another order.
        assert near(Solution(other, routes).cost, Solution(instance, routes).cost), "its VRPLIB says something else"
    for suffix in (".json", ".csv", ".sol"):
        plan = file.with_name(f"plan{suffix}")
        try:
            write_solution(solution, plan)
        except InputError as error:
            _check_refusal(None, str(error))
            continue
        back = read_solution(instance, plan)
        pairs = zip((solution, back), (solution.vehicles, back.vehicles), strict=True)
        one, two = (sorted(zip(each.routes, kinds, strict=True)) for each, kinds in pairs)
        assert one == two or (suffix == ".sol" and near(back.cost, solution.cost)), f"{suffix}: {one} is {two}"


@cache
def _known_cost(name: str, parameters: str) -> RouteCost:
    return named_cost(name, json.loads(parameters))


def _with_known_costs(instance: Instance) -> Instance:
    """Return an instance with costs that are compiled once for all that have the same."""
    if instance.route_costs is None:
        return instance
    costs = (_known_cost(cost.name, json.dumps(cost.parameters)) for cost in instance.route_costs)
    return replace(instance, route_costs=tuple(costs))


def _compare(problem: Problem, routes: Sequence[Sequence[int]], kinds: Sequence[int], instance: Instance) -> None:
    """Have the package and the checker say the same of a plan."""
    verdict: Verdict = problem.judge([list(route) for route in routes], list(kinds))
    said = Solution(instance, routes, kinds)
    broken, what = said.broken_rules(), f"plan {routes} of vehicles {kinds}"
    assert bool(broken) == bool(verdict.broken), f"{what}: {broken} is said, but found is {verdict.broken}"
    if not broken:
        assert near(said.cost, verdict.cost), f"{what}: cost {said.cost} is said, but found is {verdict.cost}"
        assert list(said.unserved) == verdict.unserved, f"{what}: unserved {said.unserved}, not {verdict.unserved}"
        assert list(said.skipped) == verdict.skipped, f"{what}: skipped {said.skipped}, not {verdict.skipped}"


def changed_plan(
    rng: np.random.Generator, problem: Problem, routes: Sequence[Sequence[int]], kinds: Sequence[int]
) -> tuple[list[list[int]], list[int]]:
    """A plan after an accident or two: stops lost, moved, repeated or swapped, other vehicles, routes joined."""
    plan, vehicles = [list(route) for route in routes], list(kinds)
    for _ in range(rng.integers(1, 3)):
        if not plan:
            plan, vehicles = [[int(rng.integers(1, problem.customers + 1))]], [0]
        one, two = (int(place) for place in rng.integers(0, len(plan), 2))
        at, to = int(rng.integers(len(plan[one]))), int(rng.integers(len(plan[two])))
        match rng.integers(8):
            case 0:
                plan[one].pop(at)
            case 1:
                plan[two].insert(to, plan[one].pop(at))
            case 2:
                plan[one][at], plan[two][to] = plan[two][to], plan[one][at]
            case 3:
                vehicles[one] = int(rng.integers(len(problem.kinds)))
            case 4:
                plan.append([plan[one].pop(at)])
                vehicles.append(int(rng.integers(len(problem.kinds))))
            case 5:
                plan[one].insert(at, int(rng.integers(1, problem.customers + 1)))
            case 6 if one != two:
                plan[one] += plan[two]
                plan[two] = []
            case _:
                plan[one].reverse()
        kept = [place for place, route in enumerate(plan) if route]
        plan, vehicles = [plan[place] for place in kept], [vehicles[place] for place in kept]
    return plan, vehicles
