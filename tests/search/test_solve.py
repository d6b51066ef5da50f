"""The search as a whole."""

from __future__ import annotations

import itertools
import json
import math
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brute_force import completions, costly_instances
from neuralns import (
    Always,
    InputError,
    InputWarning,
    Instance,
    MaxIterations,
    MaxTime,
    NoImprovement,
    Operator,
    OperatorError,
    PolicySelector,
    Progress,
    RouteTotals,
    Solution,
    Uniform,
    generate_x,
    random_tours,
    read,
    route_cost,
    savings,
    solve,
    write_solution,
)
from neuralns.operators.registry import operator
from neuralns.operators.toolkit import insert, open_route, remove
from neuralns.search import loop, segments
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
    monkeypatch.setattr(segments, "next_size", lambda size, took, left: 37)
    assert solve("X-n101-k25", MaxIterations(3000), seed=4).routes == whole.routes


def test_the_incremental_cost_equals_the_recomputed_one_after_many_iterations() -> None:
    for source in (read("R101", ignore="windows"), read("X-n110-k13")):
        result = solve(source, MaxIterations(loop.RECOMPUTE_STEP + 5000), acceptance=Always())
        assert result.trace.best[-1] == pytest.approx(result.cost, rel=1e-9)


@pytest.mark.parametrize("wrong", ["5", True])
def test_a_text_or_a_truth_value_is_no_limit(wrong: Any) -> None:
    with pytest.raises(InputError, match=rf"^stop {wrong!r} is not a limit such as MaxTime\(10\) or Max"):
        solve("E-n22-k4", wrong)


def test_callbacks_see_progress_from_the_start_to_the_end() -> None:
    seen: list[Progress] = []
    result = solve("E-n22-k4", MaxIterations(5000), callbacks=[seen.append])
    assert seen[0].iteration == 0
    assert seen[-1].iteration == 5000
    assert seen[-1].best == result.cost
    assert seen[-1].gap == result.gap
    assert sum(seen[-1].uses[use.name] for use in result.operators if use.phase != "improve") == 10000


def test_a_warm_start_is_never_made_worse(tmp_path: Path) -> None:
    instance = read("E-n51-k5")
    good = solve(instance, MaxIterations(20000)).best
    write_solution(good, tmp_path / "good.sol")
    result = solve(instance, MaxIterations(10), initial=tmp_path / "good.sol")
    assert result.initial.cost == good.cost
    assert result.cost <= good.cost


def test_a_warm_start_may_miss_a_customer_but_not_repeat_one(tmp_path: Path) -> None:
    instance = read("P-n16-k8")
    routes = [list(route) for route in savings(instance).routes]
    routes[0].pop()
    assert solve(instance, MaxIterations(1), initial=Solution(instance, routes)).feasible
    assert solve(instance, MaxIterations(1), initial=routes).feasible
    routes[0].append(routes[1][0])
    (tmp_path / "twice.sol").write_text("\n".join(f"Route #1: {' '.join(map(str, route))}" for route in routes))
    with pytest.raises(InputError, match=r"twice\.sol does not fit"):
        solve(instance, MaxIterations(1), initial=tmp_path / "twice.sol")


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


# --- New best solutions. ---------------------------------------------------------------------------------------------


def test_every_new_best_solution_is_told_of() -> None:
    told: list[tuple[Solution, Progress]] = []
    result = solve(
        "X-n101-k25",
        MaxIterations(2000),
        initial="random",
        on_best=lambda best, progress: told.append((best, progress)),
    )
    costs = [result.initial.cost, *(best.cost for best, _ in told)]
    assert all(after < before for before, after in itertools.pairwise(costs))
    assert all(best.feasible for best, _ in told)
    assert told[-1][0] == result.best
    assert len(told) == sum(use.new_best for use in result.operators if use.phase == "destroy")
    for best, progress in told:
        assert progress.best == pytest.approx(best.cost, rel=1e-9)
    iterations = [progress.iteration for _, progress in told]
    assert iterations == sorted(set(iterations))


@pytest.mark.parametrize("selector", ["random", "roulette"])
def test_telling_of_best_solutions_does_not_change_the_routes(selector: str) -> None:
    plain = solve("X-n101-k25", MaxIterations(3000), selector=selector, seed=3)
    told: list[float] = []
    heard = solve(
        "X-n101-k25", MaxIterations(3000), selector=selector, seed=3, on_best=lambda best, _: told.append(best.cost)
    )
    assert told
    assert heard.routes == plain.routes
    assert heard.operators == plain.operators
    assert heard.iterations == plain.iterations == 3000


def test_who_is_told_of_a_best_solution_can_end_the_search() -> None:
    costs: list[float] = []

    def good_enough(best: Solution, progress: Progress) -> bool:
        costs.append(best.cost)
        return best.cost < 450

    result = solve("E-n22-k4", MaxIterations(10**6), initial="random", on_best=good_enough)
    assert result.stopped_by == "callback"
    assert result.iterations < 10**6
    assert min(costs) < 450


def test_where_nothing_is_better_than_the_start_nobody_is_told() -> None:
    instance = Instance("one", [0, 1], 1, [[0, 0], [3, 4]])
    told: list[Solution] = []
    solve(instance, MaxIterations(50), on_best=lambda best, progress: told.append(best))
    assert told == []


# --- The best fixed pair. --------------------------------------------------------------------------------------------


def test_the_best_fixed_pair_is_found_first_within_the_limit() -> None:
    result = solve("E-n22-k4", MaxIterations(1000), selector="best-fixed", portfolio="zone,string,greedy,blinks")
    assert result.selector.startswith("fixed:")
    assert result.iterations == 800
    assert sorted(use.used for use in result.operators) == [0, 0, 800, 800]
    again = solve("E-n22-k4", MaxIterations(1000), selector="best-fixed", portfolio="zone,string,greedy,blinks")
    assert (again.selector, again.routes) == (result.selector, result.routes)
    assert "2-opt-star" in {use.name for use in solve("E-n22-k4", MaxIterations(50), selector="best-fixed").operators}


def test_the_limits_of_time_count_the_trials() -> None:
    result = solve("E-n22-k4", MaxTime(0.5), selector="best-fixed", portfolio="zone,string,greedy")
    assert result.stopped_by == "time"
    assert 0.35 < result.runtime < 0.6


# --- Policies. -------------------------------------------------------------------------------------------------------


def test_doubts_about_a_policy_are_warned_of_where_the_search_was_called() -> None:
    policy = constant_policy("zone,greedy", [1.0, 1.0], sizes=[200])
    with pytest.warns(InputWarning, match=r"^mine: it was trained on 200 customers, this instance has 21\.$") as caught:
        solve("E-n22-k4", MaxIterations(5), selector=PolicySelector(policy, name="mine"))
    assert caught[0].filename == __file__


def test_a_number_is_seconds_and_so_is_time() -> None:
    short: Any = np.float32(0.1)
    for result in (solve("E-n22-k4", 0.1), solve("E-n22-k4", time=0.1), solve("E-n22-k4", short)):
        assert result.stopped_by == "time"
        assert 0.1 <= result.runtime < 5
    assert solve("E-n22-k4", MaxIterations(10), time=60).stopped_by == "iterations"
    with pytest.raises(InputError, match=r"^time limit -1"):
        solve("E-n22-k4", time=-1)


def test_a_wheel_that_learns_nothing_in_so_short_a_search_is_warned_of() -> None:
    with pytest.warns(InputWarning, match=r"^selector 'roulette' changes its weights after 100 iterations, and the"):
        solve("E-n22-k4", MaxIterations(50), selector="roulette")


# --- Windows, limits and objectives. ---------------------------------------------------------------------------------


@settings(deadline=None, max_examples=60)
@given(costly_instances(most=4), st.integers(0, 1000))
def test_small_instances_with_windows_are_solved_to_the_end(instance: Instance, seed: int) -> None:
    # Where distances or durations are given, a customer may have a place only once another has one.
    plane = replace(instance, matrix=None, durations=None)
    if len(plane.unservable) == plane.customers:
        return
    found = solve(plane, MaxIterations(300), seed=seed).best
    everybody = list(range(1, instance.customers + 1))
    best = min(completions(plane, [], everybody), key=lambda each: (len(each.unserved), each.cost))
    assert found.broken_rules() == []
    assert len(found.unserved) == len(best.unserved)
    assert found.cost == pytest.approx(best.cost, rel=1e-9, abs=1e-9)


@settings(deadline=None, max_examples=60)
@given(costly_instances(most=12), st.integers(0, 1000))
def test_routes_keep_every_rule_whatever_is_given(instance: Instance, seed: int) -> None:
    if len(instance.unservable) == instance.customers:
        return
    result = solve(instance, MaxIterations(300), seed=seed, portfolio="modern,worst-time,time-oriented,shaw")
    assert result.best.broken_rules() == []
    assert set(instance.unservable) <= set(result.best.unserved)
    assert len(result.best.unserved) <= len(result.initial.unserved)


@pytest.mark.parametrize("objective", ["distance", "duration", "distance=1,duration=0.5,vehicles=100"])
@pytest.mark.parametrize("limits", [{}, {"vehicles": 3}, {"max_duration": 150.0}, {"max_distance": 120.0}])
def test_every_objective_is_lowered_within_all_limits(objective: str, limits: dict[str, Any]) -> None:
    instance = replace(read("RC101", customers=25).with_objective(objective), **limits)
    result = solve(instance, MaxIterations(2000), seed=1)
    assert result.best.broken_rules() == []
    assert (len(result.best.unserved), result.cost) <= (len(result.initial.unserved), result.initial.cost)
    if not limits:
        assert result.best.unserved == ()
        assert result.cost < result.initial.cost


@pytest.mark.parametrize("workers", [1, 2])
def test_the_fewest_vehicles_come_first_if_they_are_to(workers: int) -> None:
    found = solve("R101", MaxIterations(4000), objective="vehicles", workers=workers)
    again = solve("R101", MaxIterations(4000), objective="vehicles", workers=workers)
    assert found.routes == again.routes
    # No solution with fewer is known; by distance alone 20 are best.
    assert (len(found.routes), found.feasible) == (19, True)
    assert found.cost == pytest.approx(Solution(found.best.instance, found.routes).length)


def test_fewer_vehicles_than_loads_need_are_not_looked_for() -> None:
    found = solve("P-n16-k8", MaxIterations(2000), objective="vehicles")
    assert (len(found.routes), found.cost) == (8, 450)


def test_too_few_vehicles_leave_customers_out() -> None:
    few = replace(read("R101"), vehicles=12)
    told: list[int] = []
    found = solve(few, MaxIterations(3000), callbacks=[lambda progress: told.append(progress.unserved)])
    assert found.best.broken_rules() == []
    assert len(found.unserved) == told[-1] > 0
    assert len(found.unserved) <= len(found.initial.unserved)
    # Costs are those of the routes, without penalties.
    assert found.trace.best[-1] == pytest.approx(found.cost)
    assert not found.feasible


def test_an_instance_that_nobody_can_serve_is_refused() -> None:
    heavy = Instance("heavy", [0, 5, 6], 4, [[0, 0], [1, 0], [2, 0]])
    with pytest.raises(InputError, match=r"^heavy: no customer can be served; of customer 1, its demand 5 is above"):
        solve(heavy, 1)
    one = Instance("one", [0, 5, 3], 4, [[0, 0], [1, 0], [2, 0]])
    found = solve(one, MaxIterations(10))
    assert (found.routes, found.unserved, found.best.broken_rules()) == ([[2]], (1,), [])


def test_objectives_of_unknown_name_are_refused() -> None:
    with pytest.raises(InputError, match="objective 'speed' is not known"):
        solve("R101", 1, objective="speed")


def test_a_start_that_leaves_customers_out_is_no_limit_on_vehicles() -> None:
    instance = read("R101")
    start = Solution(instance, [[1], [2]])
    found = solve(instance, MaxIterations(3000), objective="vehicles", initial=start)
    assert (len(found.routes), found.unserved) == (19, ())


@pytest.mark.parametrize("seconds", [0.0003, 0.3])
def test_fewest_vehicles_do_not_depend_on_the_segments(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    # The loads allow no fewer than 36 vehicles, so that the first phase ends early, in the middle of a segment.
    expected = solve("X-n200-k36", MaxIterations(2000), objective="vehicles", seed=1).routes
    monkeypatch.setattr(segments, "SEGMENT_SECONDS", seconds)
    assert solve("X-n200-k36", MaxIterations(2000), objective="vehicles", seed=1).routes == expected


def test_patience_ends_the_search_for_fewer_vehicles_before_the_whole() -> None:
    limit = NoImprovement(1500) | MaxIterations(20000)
    found = solve("RC101", limit, objective="vehicles", seed=1)
    assert found.stopped_by == "no improvement"
    assert found.cost < 1750


def test_travel_times_of_their_own_count_in_instances_too_large_for_a_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    timed = read("R101", customers=20)
    assert timed.distances is not None
    slow = replace(timed, durations=1.5 * timed.distances)
    monkeypatch.setattr("neuralns.problem.instance.MATRIX_LIMIT", 10)
    found = solve(replace(slow), MaxIterations(200))
    assert found.best.broken_rules() == found.initial.broken_rules() == []


def _per_stop(route: RouteTotals) -> float:
    return 10.0 * route.stops


def test_costs_of_one_s_own_are_added_by_a_plain_call() -> None:
    instance = read("E-n22-k4")
    plain = solve(instance, MaxIterations(200))
    for costs in ([_per_stop], (route_cost(_per_stop),), _per_stop):
        priced = solve(instance, MaxIterations(200), route_costs=costs)  # type: ignore[arg-type]
        assert priced.cost == priced.best.length + 10.0 * 21
        assert priced.best.gap is None
        assert plain.cost <= priced.cost - 210
    both = solve(instance.with_route_costs([_per_stop]), MaxIterations(50), route_costs=[_per_stop])
    assert both.cost == both.best.length + 20.0 * 21
    for wrong in ("overtime", 5, [5]):
        with pytest.raises(InputError, match=r"must be a (list|function)"):
            solve(instance, MaxIterations(1), route_costs=wrong)  # type: ignore[arg-type]
