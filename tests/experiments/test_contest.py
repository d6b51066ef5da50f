"""Contests between solvers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from neuralns import InputError, Instance, read, savings
from neuralns.experiments.contest import Run, compete, mean_gaps
from neuralns.experiments.peers import PEERS, installed_peers
from neuralns.experiments.rows import read_rows


def by_savings(instance: Instance, seconds: float, seed: int) -> list[list[int]]:
    return [list(route) for route in savings(instance).routes]


def one_by_one(instance: Instance, seconds: float, seed: int) -> list[list[int]]:
    print("noise that a library writes")
    return [[customer] for customer in range(1, instance.customers + 1)]


def forgetful(instance: Instance, seconds: float, seed: int) -> list[list[int]]:
    return [[1]]


def failing(instance: Instance, seconds: float, seed: int) -> list[list[int]]:
    raise ValueError("no idea")


def test_every_solver_runs_on_every_instance_and_seed_and_a_second_call_adds_only_what_is_missing(
    tmp_path: Path,
) -> None:
    path = tmp_path / "runs.csv"
    instances = [read("E-n22-k4"), read("P-n16-k8")]
    told: list[str] = []

    def notify(run: Run, done: int, total: int) -> None:
        told.append(f"{run.instance} {run.solver} {run.seed} {done}/{total}")

    first = compete({"savings": by_savings}, instances, 1, 2, path, notify=notify)
    assert told == [
        "E-n22-k4 savings 1 1/4", "E-n22-k4 savings 2 2/4", "P-n16-k8 savings 1 3/4", "P-n16-k8 savings 2 4/4",
    ]  # fmt: skip
    told.clear()
    both = compete({"savings": by_savings, "single": one_by_one}, instances, 1, 2, path, notify=notify)
    assert len(told) == 4
    assert all("single" in line for line in told)
    assert [run for run in both if run.solver == "savings"] == first
    assert sorted(read_rows(path, Run), key=lambda run: run.key) == sorted(both, key=lambda run: run.key)
    expected = savings(instances[0])
    assert first[0].cost == expected.cost
    assert first[0].gap == pytest.approx(expected.gap)


def test_an_infeasible_solution_counts_as_infinitely_bad(tmp_path: Path) -> None:
    runs = compete({"forgetful": forgetful}, [read("P-n16-k8")], 1, 1, tmp_path / "runs.csv")
    assert not runs[0].feasible
    assert mean_gaps(runs) == {"P-n16-k8": {"forgetful": float("inf")}}


def test_gaps_are_averaged_over_seeds() -> None:
    run = Run("a", 5, "s", 1.0, 1, 10.0, 10.0, 2.0, 1, True, 1.0)
    assert mean_gaps([run, replace(run, seed=2, gap=4.0)]) == {"a": {"s": 3.0}}


def test_a_failing_solver_and_a_foreign_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="failing failed on P-n16-k8: ValueError: no idea"):
        compete({"failing": failing}, [read("P-n16-k8")], 1, 1, tmp_path / "runs.csv")
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="holds other columns"):
        compete({"savings": by_savings}, [read("P-n16-k8")], 1, 1, tmp_path / "other.csv")


@pytest.mark.parametrize("name", PEERS)
def test_every_installed_peer_gives_feasible_routes(name: str, tmp_path: Path) -> None:
    if name not in installed_peers():
        pytest.skip(f"{name} is not installed")
    for instance in (read("E-n22-k4"), read("C101").first(25)):
        known = replace(instance, best_known=instance.best_known or 100.0)
        runs = compete({name: PEERS[name][1]}, [known], 1, 1, tmp_path / "runs.csv")
        assert runs[0].feasible
        assert runs[0].cost <= savings(known).cost * 1.2
