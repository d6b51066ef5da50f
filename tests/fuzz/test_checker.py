"""The checker itself: it finds every kind of wrong plan, and the best of all plans; and the cases that are known."""

from __future__ import annotations

import ast
import copy
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from fuzz import checker, forms, solving, vroom_checker
from fuzz.checker import Problem, near
from fuzz.instances import rich
from neuralns import write_solution

SQUARE: dict[str, Any] = {
    "coordinates": [[0, 0], [0, 3], [4, 3], [4, 0], [8, 0]],
    "deliveries": [0, 2, 1, 2, 0],
    "fleet": [
        {"name": "van", "capacity": 4, "available": 1, "fixed_cost": 10},
        {"name": "truck", "capacity": 9, "distance_cost": 2, "duration_cost": 0.5, "end": None, "skills": ["crane"]},
    ],
    "depots": [{"capacity": 9}, {"cost": 7}],
}
"""Three customers on a square with sides of 4 and 3, and a second depot beside it."""
KNOWN = json.loads((Path(__file__).parent / "known.json").read_text(encoding="utf-8"))
MOST_KNOWN = 8
"""How many cases may be known; the number only falls."""


def judged(changes: dict[str, Any], routes: list[list[int]], kinds: list[int]) -> checker.Verdict:
    return Problem(copy.deepcopy(SQUARE) | changes).judge(routes, kinds)


def of_type(number: int, **changes: Any) -> dict[str, Any]:
    """The square with something else said of a type of its vehicles."""
    fleet = copy.deepcopy(SQUARE["fleet"])
    fleet[number] |= changes
    return {"fleet": fleet}


def test_a_plan_costs_vehicles_ways_times_and_depots() -> None:
    assert judged({}, [[1, 2, 3]], [1]) == checker.Verdict([], 2 * 10 + 0.5 * 10)
    # 3 + 4 + 5 there and back, and 4 one way.
    assert judged({}, [[1, 2], [3]], [0, 1]).cost == 10 + 12 + 2 * 4 + 0.5 * 4
    assert judged(of_type(1, start=4), [[3, 2, 1]], [1]).cost == 2.5 * (4 + 3 + 4) + 7


def test_waiting_counts_only_where_it_cannot_be_avoided() -> None:
    windows = [[0, 100], [20, 30], [0, 5], [40, 50], [0, 100]]
    # Customer 2 by 5, then until 20 at customer 1: it leaves at 0, and is done at 20.
    assert judged({"windows": windows}, [[2, 1]], [1]).cost == 2 * 9 + 0.5 * 20
    # One that begins with customer 1 leaves at 17.
    assert judged({"windows": windows}, [[1]], [1]).cost == 2 * 3 + 0.5 * 3


@pytest.mark.parametrize(
    ("changes", "routes", "kinds", "said"),
    [
        ({}, [[1, 2, 3]], [0], "5.0 on board, above 4.0"),
        ({"pickups": [0, 0, 9, 0, 0]}, [[2, 1, 3]], [1], "13.0 on board"),
        ({"deliveries": [[0, 0]] * 3 + [[1, 2], [0, 0]], "fleet": [{"capacity": [5, 1]}]}, [[3]], [0], "2.0 on board"),
        ({}, [[1], [2]], [0, 0], "2 vehicles of type 0, but 1 there are"),
        (of_type(1, max_distance=9.5), [[1, 2, 3]], [1], "10.0 long, above 9.5"),
        (of_type(1, max_duration=9.5), [[1, 2, 3]], [1], "takes 10.0, above 9.5"),
        (of_type(1, max_stops=2), [[1, 2, 3]], [1], "3 stops, above 2.0"),
        ({"skills": {"2": ["crane"]}}, [[2]], [0], "node 2 needs a skill"),
        ({"windows": [[0, 9], [0, 2.5], [0, 9], [0, 9], [0, 9]]}, [[1]], [1], "at node 1 at 3.0, after 2.5"),
        ({"windows": [[0, 9]] * 5, "service": [0, 4, 0, 0, 0]}, [[1]], [0], "back at 10.0, after 9.0"),
        ({"windows": [[0, 9]] * 5, "openings": {"1": [[0, 1], [2, 2.5]]}}, [[1]], [1], "at node 1 at 3.0"),
        (
            {"windows": [[0, 9], *[[0, 99]] * 4], "release": [0, 0, 10, 0, 0]},
            [[1, 2]],
            [1],
            "leaves at 10.0, after 9.0",
        ),
        (of_type(1, shift=[0, 2]), [[1]], [1], "back at 3.0, after 2.0"),
        ({"depots": [{"capacity": 4}, {}]}, [[1, 2, 3]], [1], "depot 0 gives out 5.0, above 4.0"),
        ({"groups": [{"members": [1, 3]}]}, [[1], [3]], [0, 1], "of group [1, 3] more than one"),
        ({"backhauls": True, "deliveries": [0, 2, 0, 0, 0], "pickups": [0, 0, 2, 0, 0]}, [[2, 1]], [1], "before a"),
        ({"backhauls": True, "deliveries": [0, 2, 0, 0, 0], "pickups": [0, 0, 2, 0, 0]}, [[2]], [1], "pickups alone"),
        ({"deliveries": [0] * 5, "shipments": [{"pickup": 3, "delivery": 1}]}, [[1, 3]], [1], "is delivered first"),
        (
            {"deliveries": [0] * 5, "shipments": [{"pickup": 1, "delivery": 3, "max_ride": 3}]},
            [[1, 2, 3]],
            [1],
            "a ride is too long",
        ),
        (
            {
                "deliveries": [0] * 5,
                "shipments": [{"pickup": 1, "delivery": 2, "max_ride": 5}],
                "windows": [[0, 99], [0, 4], [30, 99], [0, 99], [0, 99]],
            },
            [[1, 2]],
            [1],
            "a ride is too long",
        ),
        ({"deliveries": [0] * 5, "shipments": [{"pickup": 3, "delivery": 1}]}, [[1], [3]], [1, 1], "not on one route"),
        ({"deliveries": [0] * 5, "shipments": [{"pickup": 3, "delivery": 1}]}, [[3]], [1], "not on one route"),
        ({"deliveries": [0] * 5, "shipments": [{"pickup": 3, "delivery": 1, "amount": 10}]}, [[3, 1]], [1], "10.0 on"),
        ({}, [[1, 2, 1]], [1], "node 1 is visited 2 times"),
        ({}, [[1, 4]], [1], "node 4 is no customer"),
        ({}, [[1], []], [1, 1], "empty"),
    ],
)
def test_each_kind_of_wrong_plan_is_found(
    changes: dict[str, Any], routes: list[list[int]], kinds: list[int], said: str
) -> None:
    broken = judged(changes, routes, kinds).broken
    assert [said in each for each in broken] == [True], broken


def test_those_who_are_left_out_are_named_and_their_prizes_lost() -> None:
    prizes = {"prizes": [None, 5, None, 8, None]}
    assert judged(prizes, [[3]], [0]) == checker.Verdict([], 10 + 8 + 5, [2], [1])
    grouped = {"groups": [{"members": [1, 2]}, {"members": [3], "required": False}]}
    assert judged(grouped, [], []) == checker.Verdict([], 0.0, [1], [1, 2, 3])
    shipped = {"deliveries": [0] * 5, "shipments": [{"pickup": 3, "delivery": 1}], "prizes": [None, 8, None, 8, None]}
    assert judged(shipped, [[2]], [1]) == checker.Verdict([], 2.5 * 5 + 8, [], [1, 3])


@pytest.mark.parametrize("kind", ["overtime", "balance_durations", "balance_stops", "tolls"])
def test_costs_of_routes_are_counted(kind: str) -> None:
    parameters = {"overtime": {"after": 8, "cost": 3}, "tolls": {"costs": [0, 0.5]}}.get(kind, {"weight": 2})
    more = {"overtime": 3 * 2, "tolls": 0.5 * 10, "balance_durations": 2 * 100, "balance_stops": 2 * 9}[kind]
    cost = judged({"route_costs": [{"name": kind, "parameters": parameters}]}, [[1, 2, 3]], [1]).cost
    assert cost == 25 + more


def test_the_best_of_all_plans_is_found() -> None:
    assert Problem(SQUARE).optimum() == (0, 25.0, [[1, 2, 3]], [1])
    # With nothing but one van, the smallest request is left out.
    assert Problem({**SQUARE, **of_type(1, available=0)}).optimum()[:2] == (1, 10 + 3 + 5 + 4)
    # Without a fleet: two routes at most, of at most 4.
    plain = {"coordinates": SQUARE["coordinates"][:4], "demands": [0, 2, 1, 2], "capacity": 4, "vehicles": 2}
    assert Problem(plain).optimum()[:2] == (0, 18.0)


@pytest.mark.parametrize("seed", range(60))
def test_no_plan_made_by_accidents_is_better_than_the_best_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = Problem(rich(rng, 2, 5))
    unserved, cost, routes, kinds = problem.optimum()
    verdict = problem.judge(routes, kinds)
    assert (verdict.broken, problem.requests_unserved(verdict)) == ([], unserved)
    assert near(verdict.cost, cost)
    for _ in range(50):
        verdict = problem.judge(*solving.changed_plan(rng, problem, routes, kinds))
        if not verdict.broken:
            rank = problem.requests_unserved(verdict), verdict.cost * (1 + 1e-9)
            assert rank >= (unserved, cost)


def test_accidents_make_most_plans_wrong() -> None:
    wrong = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        problem = Problem(rich(rng, 2, 5))
        _, _, routes, kinds = problem.optimum()
        changed = solving.changed_plan(rng, problem, routes, kinds)
        wrong += bool(problem.judge(*changed).broken)
    assert wrong > 30


@pytest.mark.parametrize("damage", ["cost", "stop", "order"])
def test_an_engine_that_errs_is_found_out(damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(solution: Any, path: Path) -> None:
        write_solution(solution, path)
        plan = json.loads(path.read_text(encoding="utf-8"))
        if damage == "cost":
            plan["cost"] *= 1.001
        elif damage == "stop":
            plan["routes"][0].append(plan["routes"][0][0])
        else:
            plan["routes"][0].reverse()
        path.write_text(json.dumps(plan), encoding="utf-8")

    data = {"format": "neuralns-instance", "version": 1, "coordinates": SQUARE["coordinates"][:4], "capacity": 9}
    windows = [[0, 20], [0, 3], [0, 7], [0, 20]]
    asked = {"instance": {**data, "demands": [0, 1, 1, 1], "windows": windows}, "seed": 1}
    content = json.dumps({**asked, "iterations": 20}).encode()
    solving.check_rich(content, tmp_path / "input")
    monkeypatch.setattr(solving, "write_solution", write)
    with pytest.raises(AssertionError, match="costs" if damage == "cost" else "breaks rules"):
        solving.check_rich(content, tmp_path / "input")


def test_an_optimum_that_is_beaten_is_a_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = solving.make_tiny(np.random.default_rng(0))
    assert solving.check_tiny(content, tmp_path / "input") is None
    unserved, cost, routes, kinds = Problem(json.loads(content)["instance"]).optimum()
    monkeypatch.setattr(Problem, "optimum", lambda problem: (unserved, cost + 1, routes, kinds))
    with pytest.raises(AssertionError, match="is below"):
        solving.check_tiny(content, tmp_path / "input")


VROOM_DAMAGES: dict[str, Callable[[dict[str, Any]], object]] = {
    "late": lambda answer: [step.update(arrival=step["arrival"] + 9000) for step in answer["routes"][0]["steps"]],
    "quick": lambda answer: answer["routes"][0]["steps"][1].update(arrival=1),
    "load": lambda answer: answer["routes"][0]["steps"][1].update(load=[9]),
    "cost": lambda answer: answer["routes"][0].update(cost=answer["routes"][0]["cost"] + 5),
    "sum": lambda answer: answer["summary"].update(cost=answer["summary"]["cost"] + 5),
    "setup": lambda answer: answer["routes"][0]["steps"][1].update(setup=0),
    "lost": lambda answer: answer["unassigned"].clear(),
    "twice": lambda answer: answer["routes"].append(answer["routes"][0]),
    "skill": lambda answer: answer["routes"][0].update(vehicle=2),
    "order": lambda answer: answer["routes"][0]["steps"].reverse(),
}


@pytest.mark.parametrize("damage", VROOM_DAMAGES)
def test_wrong_answers_in_vrooms_form_are_found(damage: str) -> None:
    answer = json.loads(forms.VROOM_ANSWER)
    assert vroom_checker.complaints(forms.VROOM, answer) == []
    VROOM_DAMAGES[damage](answer)
    assert vroom_checker.complaints(forms.VROOM, answer) != []


@pytest.mark.parametrize("module", [checker, vroom_checker])
def test_the_checkers_share_nothing_with_the_package(module: ModuleType) -> None:
    tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
    names = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    names += [each.name for node in ast.walk(tree) if isinstance(node, ast.Import) for each in node.names]
    assert {name.partition(".")[0] for name in names} <= sys.stdlib_module_names


def test_the_checker_judges_files_by_hand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    instance, plan = tmp_path / "instance.json", tmp_path / "plan.json"
    instance.write_text(json.dumps(SQUARE), encoding="utf-8")
    for cost, code in ((25.0, 0), (24.0, 1)):
        plan.write_text(json.dumps({"routes": [[1, 2, 3]], "vehicles": ["truck"], "cost": cost}), encoding="utf-8")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "argv", ["checker.py", str(instance), str(plan)])
            assert checker.main() == code
        assert "cost 25.0, unserved [], skipped []" in capsys.readouterr().out


@pytest.mark.parametrize("case", KNOWN, ids=lambda case: case["seed"])
def test_known_cases_are_still_not_solved_to_the_optimum(case: dict[str, Any], tmp_path: Path) -> None:
    content = json.dumps({"instance": case["instance"], "seed": case["search_seed"]}).encode()
    found = solving.check_tiny(content, tmp_path / "input")
    assert found == solving.SUBOPTIMAL, "solved to the optimum: take it off the list, and lower MOST_KNOWN"


def test_the_list_of_known_cases_only_shrinks() -> None:
    assert len(KNOWN) == MOST_KNOWN
    assert len({case["seed"] for case in KNOWN}) == len(KNOWN)
    assert all(case["why"].endswith(".") for case in KNOWN)
