"""Runs of several solvers."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from pathlib import Path

import pytest

from neuralns import InputError, Instance, read, savings
from neuralns.experiments.peers import PEERS, installed_peers
from neuralns.experiments.runs import RunKey
from neuralns.experiments.solver_runs import Plan, SolverRun, mean_gaps, run_solvers
from neuralns.experiments.store import read_rows
from neuralns.problem.fleet import VehicleType


def by_savings(instance: Instance, seconds: float, seed: int) -> list[list[int]]:
    return [list(route) for route in savings(instance).routes]


def one_by_one(instance: Instance, seconds: float, seed: int) -> list[list[int]]:
    print("noise that a library writes")
    return [[customer] for customer in range(1, instance.customers + 1)]


def forgetful(instance: Instance, seconds: float, seed: int) -> list[list[int]]:
    return [[1]]


def idle(instance: Instance, seconds: float, seed: int) -> list[list[int]]:
    return []


def endless(instance: Instance, seconds: float, seed: int) -> list[list[int]]:
    while True:
        time.sleep(1)


def failing(instance: Instance, seconds: float, seed: int) -> list[list[int]]:
    raise ValueError("no idea")


def test_every_solver_runs_on_every_instance_and_seed_and_a_second_call_adds_only_what_is_missing(
    tmp_path: Path,
) -> None:
    path = tmp_path / "runs.csv"
    instances = [read("E-n22-k4"), read("P-n16-k8")]
    told: list[str] = []

    def notify(run: SolverRun, done: int, total: int) -> None:
        told.append(f"{run.instance} {run.solver} {run.seed} {done}/{total}")

    first = run_solvers({"savings": by_savings}, instances, 1, 2, path, notify=notify)
    assert told == [
        "E-n22-k4 savings 1 1/4", "E-n22-k4 savings 2 2/4", "P-n16-k8 savings 1 3/4", "P-n16-k8 savings 2 4/4",
    ]  # fmt: skip
    told.clear()
    both = run_solvers({"savings": by_savings, "single": one_by_one}, instances, 1, 2, path, notify=notify)
    assert len(told) == 4
    assert all("single" in line for line in told)
    assert [run for run in both if run.solver == "savings"] == first
    assert sorted(read_rows(path, SolverRun), key=lambda run: run.key) == sorted(both, key=lambda run: run.key)
    expected = savings(instances[0])
    assert first[0].cost == expected.cost
    assert first[0].gap == pytest.approx(expected.gap)


def test_an_infeasible_solution_counts_as_infinitely_bad_and_is_named(tmp_path: Path) -> None:
    runs = run_solvers({"forgetful": forgetful, "idle": idle}, [read("P-n16-k8")], 1, 1, tmp_path / "runs.csv")
    assert [run.feasible for run in runs] == [False, False]
    assert [run.fault for run in runs] == ["customer 2 is not visited.", "no routes were found."]
    assert read_rows(tmp_path / "runs.csv", SolverRun) == runs
    assert mean_gaps(runs) == {"P-n16-k8": {"forgetful": float("inf"), "idle": float("inf")}}


def test_seeds_and_seconds_tell_runs_apart(tmp_path: Path) -> None:
    path, instances = tmp_path / "runs.csv", [read("P-n16-k8")]
    runs = run_solvers({"savings": by_savings}, instances, 1, [3], path)
    runs += run_solvers({"savings": by_savings}, instances, 1.5, (3, 1), path)
    assert [run.key for run in runs] == [
        RunKey("P-n16-k8", "savings", f"{seconds} s, rounding round, distance", seed)
        for seconds, seed in ((1.0, 3), (1.5, 3), (1.5, 1))
    ]
    assert read_rows(path, SolverRun) == runs
    with pytest.raises(InputError, match=r"^0 seeds asked for; at least 1 is needed\.$"):
        run_solvers({"savings": by_savings}, instances, 1, 0, path)


def test_the_rounding_and_the_objective_tell_runs_apart(tmp_path: Path) -> None:
    path, instance = tmp_path / "runs.csv", read("P-n16-k8")
    told: list[str] = []
    for each, objective in (
        (instance, "distance"),
        (instance, "vehicles"),
        (instance.with_rounding("none"), "vehicles"),
    ):
        run_solvers(
            {"savings": by_savings}, [each], 1, 1, path, objective=objective,
            notify=lambda run, done, total: told.append(f"{run.objective} {run.rounding}"),
        )  # fmt: skip
    assert told == ["distance round", "vehicles round", "vehicles none"]
    gaps = [run.gap for run in read_rows(path, SolverRun)]
    assert gaps == pytest.approx([savings(instance).gap, math.nan, math.nan], nan_ok=True)


def test_an_interruption_ends_runs_under_way_and_keeps_what_is_done(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"

    def interrupt(run: SolverRun, done: int, total: int) -> None:
        raise KeyboardInterrupt

    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run_solvers(
            {"savings": by_savings, "endless": endless}, [read("P-n16-k8")], 1, 2, path, [None, None], interrupt
        )
    assert time.monotonic() - begin < 60
    assert [run.solver for run in read_rows(path, SolverRun)] == ["savings"]


def test_two_calls_do_not_write_to_one_file(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"

    def second(run: SolverRun, done: int, total: int) -> None:
        with pytest.raises(InputError, match=r"runs\.csv: is being written to by another run; let that one end first"):
            run_solvers({"savings": by_savings}, [read("P-n16-k8")], 1, 1, path)

    assert run_solvers({"savings": by_savings}, [read("P-n16-k8")], 1, 1, path, notify=second) == read_rows(
        path, SolverRun
    )


def by_the_dear_one(instance: Instance, seconds: float, seed: int) -> Plan:
    return Plan([[1], [2]], [1, 1])


def test_vehicles_are_those_of_the_plan_and_optional_customers_may_be_left_out(tmp_path: Path) -> None:
    instance = Instance(
        "two",
        [0, 1, 1],
        coordinates=[[0, 0], [3, 4], [6, 8]],
        fleet=[VehicleType(2), VehicleType(2, 1, 100)],
        prizes=[math.inf, 7, 8],
    )
    dear, nothing = run_solvers({"dear": by_the_dear_one, "idle": idle}, [instance], 1, 1, tmp_path / "runs.csv")
    assert dear.fault == "there are 2 routes of type 2, but 1 such vehicles."
    assert (nothing.feasible, nothing.cost, nothing.routes) == (True, 15.0, 0)


def test_instances_of_one_name_are_told_apart(tmp_path: Path) -> None:
    path, instance = tmp_path / "runs.csv", read("P-n16-k8")
    with pytest.raises(InputError, match=r"^two instances are called P-n16-k8; compare them one after the other\.$"):
        run_solvers({"savings": by_savings}, [instance, replace(instance, capacity=40.0)], 1, 1, path)
    run_solvers({"savings": by_savings}, [instance], 1, 1, path)
    with pytest.raises(
        InputError, match=r"runs\.csv: holds runs of another P-n16-k8 \(15 customers, best known cost 450"
    ):
        run_solvers({"savings": by_savings}, [replace(instance, best_known=400.0)], 1, 1, path)


def test_gaps_are_averaged_over_seeds() -> None:
    run = SolverRun("a", 5, "s", 1.0, 1, 10.0, 10.0, 2.0, 1, True, 1.0)
    assert mean_gaps([run, replace(run, seed=2, gap=4.0)]) == {"a": {"s": 3.0}}


def test_a_failing_solver_and_a_foreign_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="failing failed on P-n16-k8: ValueError: no idea"):
        run_solvers({"failing": failing}, [read("P-n16-k8")], 1, 1, tmp_path / "runs.csv")
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="holds other columns"):
        run_solvers({"savings": by_savings}, [read("P-n16-k8")], 1, 1, tmp_path / "other.csv")


@pytest.mark.parametrize("name", PEERS)
def test_every_installed_peer_gives_feasible_routes(name: str, tmp_path: Path) -> None:
    if name not in installed_peers():
        pytest.skip(f"{name} is not installed")
    for instance in (read("E-n22-k4"), read("C101", ignore="windows").first(25)):
        known = replace(instance, best_known=instance.best_known or 100.0)
        runs = run_solvers({name: PEERS[name][1]}, [known], 1, 1, tmp_path / "runs.csv")
        assert runs[0].feasible
        assert runs[0].cost <= savings(known).cost * 1.2
