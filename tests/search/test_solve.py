"""The search as a whole."""

from __future__ import annotations

import csv
import itertools
import json
import math
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neuralns import (
    Always,
    Fixed,
    InputError,
    Instance,
    MaxIterations,
    MaxTime,
    Operator,
    OperatorError,
    PolicySelector,
    Progress,
    Roulette,
    Solution,
    Uniform,
    generate_x,
    portfolio_named,
    random_tours,
    read,
    savings,
    solve,
    write_solution,
)
from neuralns.operators.registry import operator
from neuralns.operators.state import insert, open_route, remove
from neuralns.search import loop
from neuralns.search import search as search_module
from neuralns.search import solve as solve_module
from neuralns.selection.learned_roulette import LearnedRoulette
from neuralns.selection.selector import Selector
from policies import constant_policy


def optimum(instance: Instance) -> float:
    """Least cost by trying every order of the customers and every way to cut it into routes."""
    customers = range(1, instance.customers + 1)
    best = math.inf
    for order in itertools.permutations(customers):
        # least[i]: least cost of serving the first i customers of this order
        least = [0.0] + [math.inf] * len(order)
        for end in range(1, len(order) + 1):
            load = 0.0
            for start in range(end - 1, -1, -1):
                load += instance.demands[order[start]]
                if load > instance.capacity:
                    break
                route = Solution(instance, [order[start:end]])
                least[end] = min(least[end], least[start] + route.cost)
        best = min(best, least[-1])
    return best


@settings(deadline=None, max_examples=6)
@given(st.integers(1, 6), st.integers(0, 10**6), st.sampled_from([0.0, 30.0]))
def test_small_instances_are_solved_to_optimality(customers: int, seed: int, vehicle_cost: float) -> None:
    rng = np.random.default_rng(seed)
    demands = [0.0, *rng.integers(1, 10, size=customers).tolist()]
    instance = Instance("small", demands, 15, rng.integers(0, 50, size=(customers + 1, 2)), vehicle_cost=vehicle_cost)
    result = solve(instance, MaxIterations(3000), initial="random", seed=seed)
    assert result.cost == pytest.approx(optimum(instance), rel=1e-9)


def test_seven_customers_are_solved_to_optimality() -> None:
    rng = np.random.default_rng(7)
    instance = Instance("seven", [0, 3, 5, 2, 8, 4, 6, 1], 12, rng.integers(0, 40, size=(8, 2)))
    assert solve(instance, MaxIterations(3000)).cost == pytest.approx(optimum(instance), rel=1e-9)


@pytest.mark.parametrize("name", ["A-n32-k5", "E-n51-k5", "P-n16-k8", "B-n45-k6"])
def test_known_optima_are_reached_and_never_beaten(name: str) -> None:
    result = solve(name, MaxIterations(60000), seed=1)
    assert result.gap == 0.0


IN_ANOTHER_PROCESS = """
import json, sys, neuralns
r = neuralns.solve("X-n101-k25", neuralns.MaxIterations(4000), seed=11, selector=sys.argv[1])
print(json.dumps([r.routes, r.cost, [u.used for u in r.operators]]))
"""


@pytest.mark.parametrize("selector", ["random", "roulette", "fixed:worst-node,greedy"])
def test_same_seed_and_iterations_give_the_same_routes_in_two_processes(selector: str) -> None:
    command = [sys.executable, "-c", IN_ANOTHER_PROCESS, selector]
    first, second = (json.loads(subprocess.run(command, capture_output=True, check=True).stdout) for _ in range(2))
    assert first == second


def test_another_seed_gives_another_course() -> None:
    one, other = (solve("X-n101-k25", MaxIterations(500), seed=seed) for seed in (1, 2))
    assert one.routes != other.routes


def test_the_segments_of_a_run_do_not_change_its_result(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = solve("X-n101-k25", MaxIterations(3000), seed=4)
    monkeypatch.setattr(search_module, "_next_size", lambda size, took, left: 37)
    assert solve("X-n101-k25", MaxIterations(3000), seed=4).routes == whole.routes


def test_the_incremental_cost_equals_the_recomputed_one_after_many_iterations() -> None:
    for source in ("R101", "X-n110-k13"):
        result = solve(source, MaxIterations(loop.REFRESH_STEP + 5000), acceptance=Always())
        assert result.trace.best[-1] == pytest.approx(result.cost, rel=1e-9)


@pytest.mark.parametrize(
    ("selector", "portfolio", "operators"),
    [
        (Uniform(), "modern", portfolio_named("modern").names),
        (Roulette(), "modern", portfolio_named("modern").names),
        (Fixed("zone", "greedy"), "zone,greedy", ("zone", "greedy")),
        (PolicySelector(constant_policy("paper", [0.0] * 14)), "paper", portfolio_named("paper").names),
        (PolicySelector(constant_policy("zone,cluster,greedy", [0.0] * 3)), "own", ("zone", "cluster", "greedy")),
        (LearnedRoulette(("zone", "greedy", "regret-2"), (1.0, 1.0, 1.0)), "own", ("zone", "greedy", "regret-2")),
        (Roulette(learned={"zone": 1.0, "greedy": 1.0}), "own", ("zone", "greedy")),
    ],
)
def test_a_selector_without_a_portfolio_gets_the_one_that_it_knows(
    selector: Selector, portfolio: str, operators: tuple[str, ...]
) -> None:
    result = solve("E-n22-k4", MaxIterations(50), selector=selector)
    assert result.portfolio == portfolio
    assert {use.name for use in result.operators} == set(operators)


def test_a_number_is_no_limit() -> None:
    wrong: Any = 5
    with pytest.raises(InputError, match=r"^stop 5 is not a limit such as MaxTime\(10\) or MaxIterations\(1000\)\.$"):
        solve("E-n22-k4", wrong)


def test_a_result_tells_how_it_came_about() -> None:
    result = solve("E-n51-k5", MaxIterations(2000), seed=5, selector="random", portfolio="paper-4")
    assert result.feasible
    assert result.cost == Solution(read("E-n51-k5"), result.routes).cost == result.best.cost
    assert (result.seed, result.selector, result.portfolio) == (5, "random", "paper-4")
    assert result.initial == savings(result.best.instance)
    by_phase = {
        phase: sum(use.used for use in result.operators if use.phase == phase) for phase in ("destroy", "repair")
    }
    assert by_phase == {"destroy": 2000, "repair": 2000}
    for use in result.operators:
        assert use.used >= use.accepted >= use.improved >= use.new_best
    assert result.trace.iteration[-1] == 2000
    assert result.trace.best == sorted(result.trace.best, reverse=True)


def test_the_trace_is_exported_as_a_table(tmp_path: Path) -> None:
    result = solve("E-n22-k4", MaxIterations(2000))
    result.trace.to_csv(tmp_path / "trace.csv")
    with open(tmp_path / "trace.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(result.trace.time)
    assert int(rows[-1]["iteration"]) == 2000
    assert float(rows[-1]["best"]) == result.cost
    assert sum(int(rows[-1][use.name]) for use in result.operators) == 4000


def test_callbacks_see_progress_from_the_start_to_the_end() -> None:
    seen: list[Progress] = []
    result = solve("E-n22-k4", MaxIterations(5000), callbacks=[seen.append])
    assert seen[0].iteration == 0
    assert seen[-1].iteration == 5000
    assert seen[-1].best == result.cost
    assert seen[-1].gap == result.gap
    assert sum(seen[-1].uses.values()) == 10000


def test_a_warm_start_is_never_made_worse(tmp_path: Path) -> None:
    instance = read("E-n51-k5")
    good = solve(instance, MaxIterations(20000)).best
    write_solution(good, tmp_path / "good.sol")
    result = solve(instance, MaxIterations(10), initial=tmp_path / "good.sol")
    assert result.initial.cost == good.cost
    assert result.cost <= good.cost


def test_a_warm_start_that_misses_or_repeats_a_customer_is_refused(tmp_path: Path) -> None:
    instance = read("P-n16-k8")
    routes = [list(route) for route in savings(instance).routes]
    lost = routes[0].pop()
    with pytest.raises(InputError, match=f"does not fit P-n16-k8: customer {lost} is not visited"):
        solve(instance, MaxIterations(1), initial=Solution(instance, routes))
    routes[0].append(routes[1][0])
    (tmp_path / "twice.sol").write_text("\n".join(f"Route #1: {' '.join(map(str, route))}" for route in routes))
    with pytest.raises(InputError, match=r"twice\.sol does not fit"):
        solve(instance, MaxIterations(1), initial=tmp_path / "twice.sol")


@pytest.mark.parametrize(
    ("scale", "low", "high"),
    [(5, 5, 5), (0.1, 5, 5), ((2, 7), 2, 7), ((0.1, 0.2), 5, 10), (1000, 50, 50), (0.001, 1, 1)],
)
def test_the_scale_is_a_number_a_share_or_a_range(scale: float | tuple[float, float], low: int, high: int) -> None:
    assert solve_module._quotas(scale, 50) == (low, high)


@pytest.mark.parametrize("scale", [0, -1, (5, 2), 2.5, math.nan, math.inf, (0.5, 4)])
def test_a_scale_that_makes_no_sense_is_refused(scale: float | tuple[float, float]) -> None:
    with pytest.raises(InputError, match="scale"):
        solve("E-n22-k4", MaxIterations(1), scale=scale)


def test_an_instance_of_one_customer_is_solved() -> None:
    instance = Instance("one", [0, 1], 1, [[0, 0], [3, 4]])
    assert solve(instance, MaxIterations(100)).routes == [[1]]


def test_customers_at_one_point_and_without_demand_are_solved() -> None:
    instance = Instance("heap", np.zeros(30), 1, np.ones((30, 2)))
    result = solve(instance, MaxIterations(1000), initial=random_tours(instance, 1, chunk=3))
    assert result.feasible
    assert result.cost == 0.0


def test_an_instance_without_coordinates_is_solved_with_every_operator() -> None:
    plane = generate_x(25, seed=3)
    matrix = Instance("matrix", plane.demands, plane.capacity, matrix=plane.distances)
    result = solve(matrix, MaxIterations(3000), selector=Uniform())
    assert result.cost == pytest.approx(solve(plane, MaxIterations(3000)).cost, rel=0.02)


INTERRUPTED = """
import neuralns, os, signal, sys
calls = []
def interrupt(progress):
    calls.append(progress)
    if len(calls) == 3:
        os.kill(os.getpid(), getattr(signal, sys.argv[1]))
r = neuralns.solve("X-n101-k25", neuralns.MaxTime(60), callbacks=[interrupt])
print(r.stopped_by, r.feasible, r.runtime < 10)
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_returns_the_best_solution_so_far(name: str) -> None:
    done = subprocess.run([sys.executable, "-c", INTERRUPTED, name], capture_output=True, check=True, text=True)
    assert done.stdout.split() == [name, "True", "True"]


def test_handlers_of_signals_are_given_back() -> None:
    before = signal.getsignal(signal.SIGINT)
    solve("E-n22-k4", MaxIterations(1))
    assert signal.getsignal(signal.SIGINT) is before


def test_a_search_runs_in_a_thread_as_well() -> None:
    costs: list[float] = []
    thread = threading.Thread(target=lambda: costs.append(solve("E-n22-k4", MaxIterations(2000), seed=1).cost))
    thread.start()
    thread.join()
    assert costs == [375.0]


def test_operators_with_randomness_stay_inside_their_own_generator() -> None:
    np.random.seed(1)
    before = np.random.get_state()[1].copy()  # type: ignore[index]
    solve("E-n22-k4", MaxTime(0.05))
    assert (np.random.get_state()[1] == before).all()  # type: ignore[index]


def _always_five(state, quota):
    """Waits for a quota that customer 5 alone cannot fill."""
    while state.n_removed < quota:
        remove(state, 5)


def _never_the_others(state):
    """Waits for an empty list, but inserts only its first customer."""
    first = state.removed[0]
    while state.n_removed > 0:
        insert(state, first, open_route(state), 0)


@pytest.mark.parametrize(
    ("portfolio", "sentence"),
    [
        (
            [Operator("always-five", "destroy", "own", _always_five), operator("greedy")],
            "operator 'always-five' removed customer 5, which is not on a route",
        ),
        (
            [operator("random-node"), Operator("never-the-others", "repair", "own", _never_the_others)],
            r"operator 'never-the-others' inserted customer \d+ twice",
        ),
    ],
)
def test_operators_that_wait_for_what_their_mistake_prevents_end_with_a_sentence(
    portfolio: list[Operator], sentence: str
) -> None:
    with pytest.raises(OperatorError, match=sentence):
        solve("E-n22-k4", MaxIterations(1000), portfolio=portfolio, scale=4)
