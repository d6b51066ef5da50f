"""Searches on several cores."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers import is_running
from neuralns import (
    InputError,
    InputWarning,
    Instance,
    MaxIterations,
    MaxTime,
    Model,
    OperatorError,
    Progress,
    Shipment,
    Solution,
    Stop,
    StopWhen,
    TargetCost,
    load_operators,
    read,
    solve,
)
from neuralns.search import division, parallel


def test_workers_give_the_same_result_for_the_same_seed_and_iterations() -> None:
    first, second = (solve("X-n101-k25", MaxIterations(6000), seed=3, workers=2) for _ in range(2))
    assert first.routes == second.routes
    assert [use.used for use in first.operators] == [use.used for use in second.operators]
    assert first.iterations == 12000
    assert first.stopped_by == "iterations"
    assert first.feasible


OWN = """
import neuralns
from neuralns.operators.toolkit import random_routed, remove
@neuralns.destroy("mine-anew")
def mine(state, quota):
    for _ in range(quota):
        remove(state, random_routed(state))
"""


@pytest.mark.parametrize("own", [False, True])
def test_workers_that_are_started_anew_find_the_routes_of_forked_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own: bool
) -> None:
    (tmp_path / "mine.py").write_text(OWN)
    choices: dict[str, Any] = {}
    if own:
        load_operators(tmp_path / "mine.py")
        choices = {"portfolio": ["mine-anew", "greedy"]}
    found = []
    for method in ("fork", "spawn"):
        monkeypatch.setenv(parallel.START, method)
        found.append(solve("X-n101-k25", MaxIterations(3000), seed=3, workers=2, **choices))
    assert found[0].routes == found[1].routes
    assert found[0].iterations == found[1].iterations == 6000


def test_what_workers_load_is_no_time_of_the_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(parallel.START, "spawn")
    (tmp_path / "slow.py").write_text(OWN.replace("mine-anew", "slow-anew") + "import time\ntime.sleep(2)\n")
    load_operators(tmp_path / "slow.py")
    begin = time.perf_counter()
    result = solve("E-n22-k4", MaxTime(0.5), workers=2)
    assert time.perf_counter() - begin > 2.5
    assert (result.stopped_by, result.iterations > 100) == ("time", True)
    assert 0.5 <= result.runtime < 1.5


def test_what_cannot_be_sent_to_workers_that_are_started_anew_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(parallel.START, "spawn")
    with pytest.raises(InputError, match=r"^several workers are started anew here, and something of this"):
        solve("E-n22-k4", MaxIterations(10) | StopWhen(lambda state: False), workers=2)
    monkeypatch.setenv(parallel.START, "joy")
    with pytest.raises(InputError, match=r"^NEURALNS_START=joy: processes cannot begin so here; "):
        solve("E-n22-k4", MaxIterations(10), workers=2)


def test_a_program_that_starts_itself_again_with_its_workers_is_told_so(tmp_path: Path) -> None:
    (tmp_path / "plain.py").write_text(
        "import neuralns\nprint(neuralns.solve('E-n22-k4', neuralns.MaxIterations(10), workers=2).cost)\n"
    )
    command = [sys.executable, str(tmp_path / "plain.py")]
    environment = os.environ | {parallel.START: "spawn"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment)
    assert done.returncode == 1
    assert "solve under 'if __name__ == \"__main__\":'." in done.stderr.splitlines()[-1]


def test_the_number_of_workers_changes_the_course() -> None:
    two, three = (solve("X-n101-k25", MaxIterations(2000), seed=3, workers=workers) for workers in (2, 3))
    assert (two.iterations, three.iterations) == (4000, 6000)
    assert two.routes != three.routes


def test_the_worst_search_goes_on_from_the_best_solution(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = read("X-n101-k25")
    with_exchange = solve(instance, MaxIterations(20000), seed=1, workers=2)
    monkeypatch.setattr(parallel, "EXCHANGES", 1)
    without = solve(instance, MaxIterations(20000), seed=1, workers=2)
    assert with_exchange.routes != without.routes


def crowded(seed: int) -> Instance:
    """Shipments with windows, too many for the vehicles."""
    rng = np.random.default_rng(seed)
    points, opens = rng.integers(0, 100, (41, 2)), rng.integers(0, 300, 40).tolist()
    return Instance(
        "crowded", None, 10, points, rounding="round", windows=[[0, 600], *([begin, begin + 150] for begin in opens)],
        vehicles=4, shipments=[Shipment(2 * pair + 1, 2 * pair + 2, 3) for pair in range(20)],
    )  # fmt: skip


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize(
    ("seed", "iterations", "initial"), [(32, 20, "savings"), (35, 20, ()), (2, 100, "savings"), (3, 1000, ())]
)
def test_the_best_that_was_told_is_returned(workers: int, seed: int, iterations: int, initial: Any) -> None:
    result = solve(crowded(seed), MaxIterations(iterations), seed=seed, workers=workers, initial=initial)
    assert result.initial.unserved
    assert result.cost == result.trace.best[-1]
    assert result.best.broken_rules() == []


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_a_start_that_leaves_customers_out_ends_with_the_best_that_was_told(workers: int) -> None:
    result = solve("E-n51-k5", MaxIterations(300), seed=1, workers=workers, initial=[[1, 2], [3]])
    assert result.feasible
    assert result.cost == result.trace.best[-1]


def test_time_limits_targets_and_callbacks_end_all_workers() -> None:
    begin = time.perf_counter()
    assert solve("E-n22-k4", MaxTime(0.5), workers=2).stopped_by == "time"
    assert solve("E-n22-k4", MaxTime(60) | TargetCost(380), workers=2, initial="random").stopped_by == "target"

    def enough(progress: Progress) -> bool:
        return progress.time > 0.3

    result = solve("E-n22-k4", MaxTime(60), workers=2, callbacks=[enough])
    assert result.stopped_by == "callback"
    assert result.feasible
    assert time.perf_counter() - begin < 20


INTERRUPTED = """
import neuralns, os, signal, sys
os.environ["NEURALNS_START"] = sys.argv[1]
calls = []
def interrupt(progress):
    calls.append(progress)
    if len(calls) == 3:
        os.kill(os.getpid(), signal.SIGINT)
r = neuralns.solve("X-n101-k25", neuralns.MaxTime(60), workers=2, callbacks=[interrupt])
print(r.stopped_by, r.feasible, r.runtime < 20)
"""


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_ctrl_c_returns_the_best_solution_of_all_workers(method: str) -> None:
    command = [sys.executable, "-c", INTERRUPTED, method]
    done = subprocess.run(command, capture_output=True, check=True, text=True, timeout=600)
    assert done.stdout.split() == ["SIGINT", "True", "True"]


def test_an_error_in_a_worker_is_reported_as_it_is(tmp_path: Path) -> None:
    source = "from neuralns import destroy\n@destroy('idle-in-parallel')\ndef f(state, quota):\n    pass\n"
    (tmp_path / "idle.py").write_text(source)
    load_operators(tmp_path / "idle.py")
    with pytest.raises(OperatorError, match="operator 'idle-in-parallel' removed 0 customers"):
        solve("E-n22-k4", MaxIterations(10), portfolio=["idle-in-parallel", "greedy"], workers=2)


@pytest.mark.parametrize("workers", [0, -1, 1.5])
def test_a_number_of_workers_that_makes_no_sense_is_refused(workers: int) -> None:
    with pytest.raises(InputError, match="number of workers"):
        solve("E-n22-k4", MaxIterations(10), workers=workers)


def kill(count: int) -> Callable[[Progress], None]:
    """A callback that kills so many workers, once."""
    victims: list[int] = []

    def strike(progress: Progress) -> None:
        for process in multiprocessing.active_children() if progress.iteration > 0 else []:
            if process.pid is not None and len(victims) < count:
                victims.append(process.pid)
                process.kill()

    return strike


def test_a_worker_that_is_killed_is_left_out_and_the_others_go_on() -> None:
    with pytest.warns(InputWarning, match=r"1 of 3 worker processes ended unexpectedly .*; the search went on"):
        result = solve("X-n101-k25", MaxTime(1), workers=3, callbacks=[kill(1)])
    assert (result.stopped_by, result.feasible) == ("time", True)
    with pytest.warns(InputWarning, match="1 of 2"):
        result = solve("X-n101-k25", MaxIterations(20000), workers=2, callbacks=[kill(1)])
    assert (result.stopped_by, result.feasible) == ("iterations", True)
    assert 20000 <= result.iterations < 40000


def test_the_best_known_routes_are_returned_if_all_workers_are_killed() -> None:
    told: list[float] = []
    killer = kill(2)
    with pytest.warns(InputWarning, match=r"2 of 2 worker processes .*; this is the best they had told of\.$"):
        result = solve(
            "X-n101-k25",
            MaxTime(60),
            workers=2,
            initial="random",
            callbacks=[lambda progress: killer(progress) if told else None],
            on_best=lambda best, progress: told.append(best.cost),
        )
    assert (result.stopped_by, result.feasible) == ("lost workers", True)
    assert result.cost == told[-1] < result.initial.cost
    assert result.runtime < 20


ABANDONED = """
import multiprocessing, os, signal, sys
import neuralns
os.environ["NEURALNS_START"] = sys.argv[2]
def leave(progress):
    if progress.iteration > 0:
        print(*(process.pid for process in multiprocessing.active_children()), flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
stop = neuralns.MaxTime(60) if sys.argv[1] == "time" else neuralns.MaxIterations(10**9)
neuralns.solve("X-n101-k25", stop, workers=3, callbacks=[leave])
"""


@pytest.mark.parametrize(("limit", "method"), [("time", "fork"), ("iterations", "fork"), ("iterations", "spawn")])
def test_workers_end_when_the_coordinator_is_killed(limit: str, method: str) -> None:
    command = [sys.executable, "-c", ABANDONED, limit, method]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == -signal.SIGKILL
    children = [int(word) for word in done.stdout.split()]
    assert len(children) == 3
    begin = time.perf_counter()
    while any(is_running(child) for child in children):
        assert time.perf_counter() - begin < 10
        time.sleep(0.05)


def test_progress_counts_the_iterations_of_all_and_the_share_of_each() -> None:
    seen: list[Progress] = []
    solve("E-n22-k4", MaxIterations(3000), workers=2, callbacks=[seen.append])
    assert seen[-1].iteration == 6000
    assert seen[-1].share == 1.0


def test_new_best_solutions_of_all_workers_are_told_in_falling_order() -> None:
    told: list[tuple[Solution, Progress]] = []
    result = solve(
        "X-n101-k25",
        MaxIterations(4000),
        workers=2,
        initial="random",
        on_best=lambda best, progress: told.append((best, progress)),
    )
    costs = [best.cost for best, _ in told]
    assert costs == sorted(costs, reverse=True)
    assert len(set(costs)) == len(costs) > 0
    assert all(best.feasible for best, _ in told)
    assert [progress.best for _, progress in told] == pytest.approx(costs)
    assert costs[-1] == result.cost
    assert result.routes == solve("X-n101-k25", MaxIterations(4000), workers=2, initial="random").routes


def test_who_is_told_of_a_best_solution_can_end_all_workers() -> None:
    result = solve("X-n101-k25", MaxTime(30), workers=2, initial="random", on_best=lambda best, progress: True)
    assert result.stopped_by == "callback"
    assert result.runtime < 20


def test_vehicles_stay_those_that_a_worker_found() -> None:
    model = Model("three depots")
    for number in range(3):
        depot = model.add_depot(20 * number, 5 * number, cost=30 * (number + 1), capacity=30)
        model.add_vehicle_type(3, capacity=12, start_depot=depot, end_depot=depot)
    for number in range(20):
        model.add_client(number * 7 % 50, number * 13 % 50, delivery=3)
    told: list[Solution] = []
    result = solve(
        model.instance(), MaxIterations(1000), workers=2, seed=1, on_best=lambda best, progress: told.append(best)
    )
    assert [best.faults() for best in (*told, result.best)] == [[]] * (len(told) + 1)
    # Any other vehicles, such as those that are cheapest for each route alone, would cost something else.
    assert result.cost == pytest.approx(result.trace.best[-1])
    assert Solution(result.best.instance, result.routes).cost > result.cost


def late(state):
    """After so many iterations."""
    return state.status.iteration >= 500


def test_a_stopping_rule_of_ones_own_ends_all_workers() -> None:
    result = solve("E-n22-k4", MaxIterations(4000) | StopWhen(late), workers=2)
    assert result.stopped_by == "late"
    assert result.iterations == 1000


def _solve_with_workers(told: Any) -> None:
    try:
        solve("E-n22-k4", MaxIterations(100), workers=2)
    except InputError as error:
        told.put(str(error))


def test_a_daemonic_process_cannot_have_workers() -> None:
    context = multiprocessing.get_context("fork")
    told = context.Queue()
    process = context.Process(target=_solve_with_workers, args=(told,), daemon=True)
    process.start()
    sentence = told.get(timeout=600)
    process.join()
    assert sentence == "several workers cannot be started by a daemonic process; search on one core there."


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Divide small solutions, too."""
    monkeypatch.setattr(division, "PART_CUSTOMERS", 10)
    monkeypatch.setattr(division, "PART_ROUTES", 2)
    monkeypatch.setattr(parallel, "ROUND_ITERATIONS", 200)
    monkeypatch.setattr(parallel, "ROUND_SECONDS", 0.1)


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("workers", [2, 16])
def test_workers_that_divide_a_solution_give_the_same_result_for_the_same_seed(workers: int) -> None:
    first, second = (solve("X-n200-k36", MaxIterations(1000), seed=3, workers=workers) for _ in range(2))
    assert first.feasible
    assert first.routes == second.routes
    assert first.iterations == second.iterations == 1000 * workers
    assert sum(use.used for use in first.operators if use.phase != "improve") == 2 * first.iterations
    assert first.cost == pytest.approx(first.trace.best[-1])
    assert first.cost < first.initial.cost


@pytest.mark.usefixtures("small_parts")
def test_teams_divide_solutions_of_their_own_where_parts_would_be_too_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(division, "PART_CUSTOMERS", 50)
    first, second = (solve("X-n101-k25", MaxIterations(2000), workers=5) for _ in range(2))
    assert first.feasible
    assert first.routes == second.routes
    assert first.iterations == 10000


@pytest.mark.usefixtures("small_parts")
def test_where_iterations_are_plenty_the_whole_solution_is_searched_at_last(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = MaxIterations(3000)
    few, same = (solve("X-n101-k25", asked, workers=3) for _ in range(2))
    monkeypatch.setattr(parallel, "PLENTY", 10)
    plenty, again = (solve("X-n101-k25", asked, workers=3) for _ in range(2))
    assert few.routes == same.routes != plenty.routes == again.routes
    assert plenty.feasible
    assert plenty.cost == pytest.approx(plenty.trace.best[-1])
    assert plenty.trace.best == sorted(plenty.trace.best, reverse=True)
    assert plenty.iterations == few.iterations == 9000


@pytest.mark.usefixtures("small_parts")
def test_best_solutions_of_parts_together_are_told_in_falling_order() -> None:
    told: list[tuple[Solution, Progress]] = []
    result = solve("X-n101-k25", MaxTime(1), workers=2, on_best=lambda best, progress: told.append((best, progress)))
    costs = [best.cost for best, _ in told]
    assert costs == sorted(set(costs), reverse=True)
    assert all(best.feasible for best, _ in told)
    assert [progress.best for _, progress in told] == pytest.approx(costs)
    assert result.cost == costs[-1]
    assert result.stopped_by == "time"


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("limit", [MaxTime(60), MaxIterations(100_000), Stop()], ids=["time", "iterations", "open"])
def test_a_target_is_the_cost_of_all_parts_together(limit: Stop) -> None:
    result = solve("X-n101-k25", limit | TargetCost(28500), workers=2)
    assert result.stopped_by == "target"
    assert 27591 <= result.cost <= 28500


@pytest.mark.usefixtures("small_parts")
def test_others_go_on_with_the_part_of_a_worker_that_is_killed() -> None:
    with pytest.warns(InputWarning, match=r"1 of 3 worker processes ended unexpectedly .*; the search went on"):
        result = solve("X-n101-k25", MaxTime(1), workers=3, callbacks=[kill(1)])
    assert (result.stopped_by, result.feasible) == ("time", True)
    assert result.cost < result.initial.cost
    with pytest.warns(InputWarning, match="2 of 2"):
        result = solve("X-n101-k25", MaxTime(60), workers=2, callbacks=[kill(2)])
    assert (result.stopped_by, result.feasible) == ("lost workers", True)


@pytest.mark.usefixtures("small_parts")
def test_windows_and_vehicles_are_kept_by_parts() -> None:
    instance = read("R101")
    known = solve(instance, MaxIterations(2000), workers=2, seed=1)
    assert known.feasible
    # Nobody is divided until everybody is served.
    short = replace(instance, vehicles=len(known.routes))
    result = solve(short, MaxIterations(4000), workers=2, initial="insertion")
    assert result.best.broken_rules() == []
    assert result.iterations == 8000


def test_workers_that_are_started_anew_refuse_functions_that_differ_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They run the file again, where a global has the value that the file gives it."""
    path = tmp_path / "mine.py"
    path.write_text(
        "from neuralns.operators.toolkit import destroy, random_routed, remove\nEXTRA = 0\n"
        "@destroy('own-anew')\ndef anew(state, quota):\n"
        "    while state.n_removed < quota + EXTRA:\n        remove(state, random_routed(state))\n"
    )
    (entry,) = load_operators(path)
    monkeypatch.setenv(parallel.START, "spawn")
    choices: dict[str, Any] = {"portfolio": ["own-anew", "greedy"], "workers": 2}
    assert solve("E-n22-k4", MaxIterations(20), **choices).iterations == 40
    monkeypatch.setitem(entry.function.__globals__, "EXTRA", 1)
    with pytest.raises(InputError, match=r"anew of .*mine\.py is not the same in workers"):
        solve("E-n22-k4", MaxIterations(20), **choices)
