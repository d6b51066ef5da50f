"""Many instances: rows as they come, calls that go on where others were, and nothing lost but what was under way."""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import chores
from chores import Here
from clusters import Cluster, wait_until
from neuralns import (
    InputError,
    InputWarning,
    Instance,
    MaxIterations,
    MaxTime,
    Stop,
    load_operators,
    make_portfolio,
    overtime,
    portfolio_named,
    read,
    read_solution,
    solve,
    write_instance,
    write_solution,
)
from neuralns.experiments import batch
from neuralns.experiments.batch import BatchRow, Problem, Recipe, run_batch
from neuralns.experiments.jobs import Stopped
from neuralns.experiments.store import read_rows
from neuralns.search.setup import portfolio_for
from neuralns.selection.names import selector_named

OWN = """from neuralns import Uniform, destroy
from neuralns.operators.toolkit import random_routed, remove

@destroy("mine-in-batch")
def mine(state, quota):
    for _ in range(quota):
        remove(state, random_routed(state))

chooser = Uniform()
"""
pytestmark = pytest.mark.usefixtures("in_own_folder")

NAMES = ("E-n22-k4", "A-n32-k5", "E-n51-k5")


def problem(source: str) -> Problem:
    return Problem(read(source), portfolio_named("plain"), write_solution)


def recipe(iterations: int = 100, stop: Stop | None = None, **choices: Any) -> Recipe:
    settings = {"iterations": iterations, **choices}
    return Recipe(problem, MaxIterations(iterations) if stop is None else stop, choices, settings)


@pytest.fixture
def files() -> list[str]:
    for name in NAMES:
        write_instance(read(name), f"{name}.json")
    return [f"{name}.json" for name in NAMES]


class Watch:
    """What was begun, and what was told at each end."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.ended: list[tuple[str, int, int]] = []

    def run(self, sources: list[str] | tuple[str, ...], chosen: Recipe, **more: Any) -> list[BatchRow]:
        return run_batch(sources, chosen, Path("results.csv"), begin=self.begun.append, end=self.end, **more)

    def end(self, row: BatchRow, done: int, total: int) -> None:
        assert row in rows()  # on the disk already
        self.ended.append((row.file, done, total))


def rows() -> list[BatchRow]:
    return read_rows(Path("results.csv"), BatchRow)


def begun(sources: list[str] | tuple[str, ...], chosen: Recipe, **more: Any) -> list[str]:
    """The files that a call begins."""
    watch = Watch()
    watch.run(sources, chosen, **more)
    return watch.begun


# --- Rows. -----------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("here")
def test_every_instance_has_a_row_with_the_cost_of_its_routes(files: list[str]) -> None:
    Path("routes").mkdir()
    watch = Watch()
    found = watch.run(files, recipe(seed=3), solutions="routes/{name}.sol")
    assert found == rows()
    assert watch.begun == files
    assert watch.ended == [(file, number, 3) for number, file in enumerate(files, 1)]
    for row, name in zip(found, NAMES, strict=True):
        expected = solve(name, MaxIterations(100), seed=3)
        assert (row.cost, row.gap, row.routes, row.iterations) == (
            expected.cost, expected.gap, len(expected.routes), 100
        )  # fmt: skip
        assert read_solution(read(name), f"routes/{name}.sol").routes == expected.best.routes
        assert (row.instance, row.rounding, row.stopped_by, row.fault) == (name, "round", "iterations", "")
        assert row.settings == "--iterations 100 --seed 3"


@pytest.mark.usefixtures("here")
def test_customers_without_a_place_are_counted_and_the_objective_is_that_of_the_search() -> None:
    few = Instance("few", [0, 9, 1, 1], 2, [[0, 0], [0, 3], [4, 0], [0, 5]], best_known=1)
    write_instance(few, "few.json")
    (row,) = run_batch(["few.json"], recipe(objective="distance=2,vehicles=100"), Path("results.csv"))
    best = solve(few, MaxIterations(100), objective="distance=2,vehicles=100")
    assert (row.customers, row.unserved, row.skipped, row.cost) == (3, 1, 0, best.cost)
    assert (row.best_known, row.gap) == (None, None)


def test_costs_of_routes_travel_to_processes() -> None:
    write_instance(
        replace(read("C101").first(10), route_costs=(overtime(after=100, cost=2),), best_known=None), "c.json"
    )
    (row,) = run_batch(["c.json"], recipe(), Path("results.csv"), workers=1)
    assert row.fault == ""
    assert row.cost == solve("c.json", MaxIterations(100), portfolio="plain").cost


@pytest.mark.usefixtures("here")
def test_what_should_be_known_of_a_search_is_said() -> None:
    selector = selector_named("C101-20-paper")

    def by_policy(source: str) -> Problem:
        return Problem(read(source), portfolio_for(selector), write_solution)

    with pytest.warns(InputWarning, match="trained"):
        run_batch(["E-n22-k4"], Recipe(by_policy, MaxIterations(100), {"selector": selector}, {}), Path("results.csv"))


# --- Going on. -------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("here")
def test_what_is_done_is_not_done_again(files: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    first = run_batch(files[:2], recipe(), Path("results.csv"))
    watch = Watch()
    found = watch.run([files[2], *files], recipe())
    assert watch.begun == [files[2]]
    assert watch.ended == [(files[2], 3, 3)]
    assert [row.file for row in found] == [files[2], *files[:2]]
    assert found[1:] == first

    def refuse(workers: int) -> Executor:
        raise AssertionError("nothing is to be done")

    monkeypatch.setattr(batch, "ProcessPool", refuse)
    content = Path("results.csv").read_bytes()
    assert run_batch(files, recipe(), Path("results.csv")) == [found[1], found[2], found[0]]
    assert Path("results.csv").read_bytes() == content


@pytest.mark.usefixtures("here")
def test_a_file_that_has_changed_is_solved_anew_below_its_old_row(files: list[str]) -> None:
    before = run_batch(files, recipe(), Path("results.csv"))
    write_instance(read("E-n22-k4").first(15), files[0])
    assert begun(files, recipe()) == [files[0]]
    assert rows()[:3] == before
    (new,) = rows()[3:]
    assert (new.file, new.customers) == (files[0], 15)
    # The same content at another time is the same.
    os.utime(files[1], (0, 0))
    assert begun(files, recipe()) == []


@pytest.mark.usefixtures("here")
def test_other_settings_are_solved_anew_and_the_last_row_of_a_file_counts(files: list[str]) -> None:
    run_batch(files, recipe(), Path("results.csv"), solutions="{name}.sol")
    assert begun(files[:1], recipe(seed=7), solutions="{name}.sol") == files[:1]
    assert begun(files, recipe(), solutions="{name}.sol") == files[:1]
    assert [(row.file, row.settings) for row in rows()[3:]] == [
        (files[0], "--iterations 100 --seed 7"), (files[0], "--iterations 100")
    ]  # fmt: skip


@pytest.mark.usefixtures("here")
def test_routes_that_are_gone_are_searched_again(files: list[str]) -> None:
    run_batch(files, recipe(), Path("results.csv"), solutions="{name}.sol")
    Path("A-n32-k5.sol").unlink()
    assert begun(files, recipe(), solutions="{name}.sol") == [files[1]]
    assert begun(files, recipe(), solutions="{name}.csv") == files


@pytest.mark.usefixtures("here")
def test_a_row_that_was_cut_is_written_again(files: list[str]) -> None:
    run_batch(files, recipe(), Path("results.csv"))
    content = Path("results.csv").read_bytes()
    Path("results.csv").write_bytes(content[:-10])
    assert begun(files, recipe()) == [files[2]]
    assert [row.file for row in rows()] == files


# --- Faults. ---------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("here")
def test_what_cannot_be_solved_has_a_row_that_says_why_and_stops_no_other(files: list[str]) -> None:
    Path("bad.vrp").write_text("NAME : bad\n")
    write_instance(Instance("none", [0, 9], 1, [[0, 0], [1, 1]]), "none.json")
    asked = ["bad.vrp", files[0], "absent.vrp", "none.json", files[1]]
    found = run_batch(asked, recipe(), Path("results.csv"))
    assert [row.file for row in found if not row.fault] == files[:2]
    assert [row.fault for row in found if row.fault] == [
        "bad.vrp: line 'DIMENSION : ...' is missing.",
        "absent.vrp: cannot be read (No such file or directory).",
        "none: no customer can be served; of customer 1, its demand 9 is above the capacity 1.",
    ]
    assert {(row.cost, row.customers, row.seconds) for row in found if row.fault} == {(None, None, None)}
    # They are tried again, and told of once.
    content = Path("results.csv").read_bytes()
    assert begun(asked, recipe()) == ["bad.vrp", "absent.vrp", "none.json"]
    assert Path("results.csv").read_bytes() == content
    Path("bad.vrp").write_bytes(Path(files[0]).read_bytes())
    mended, *_ = run_batch(asked, recipe(), Path("results.csv"))
    assert (mended.file, mended.instance, mended.fault) == ("bad.vrp", "E-n22-k4", "")


@pytest.mark.usefixtures("here")
def test_a_file_that_changes_before_its_turn_is_not_taken_for_what_it_was(files: list[str]) -> None:
    watch = Watch()

    def end(row: BatchRow, done: int, total: int) -> None:
        if row.file == files[0]:
            write_instance(read("E-n22-k4").first(10), files[2])

    _, _, last = run_batch(files, recipe(), Path("results.csv"), workers=1, begin=watch.begun.append, end=end)
    assert last.fault == f"{files[2]}: was changed in the meantime; the same command solves it as it is now."
    assert begun(files, recipe()) == [files[2]]
    assert rows()[-1].customers == 10


@pytest.mark.usefixtures("here")
def test_routes_that_break_a_rule_are_no_result(files: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    right = batch.work
    monkeypatch.setattr(batch, "work", lambda *given: {**right(*given), "routes": [[1, 1]], "vehicles": [0]})
    (row,) = run_batch(files[:1], recipe(), Path("results.csv"), solutions="{name}.sol")
    assert row.fault.startswith("the search ended with ")
    assert not Path("E-n22-k4.sol").exists()


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"solutions": "all.sol"}, "all.sol: the routes of a.json and of b/a.json would go to this one file; let the "),
        (
            {"solutions": "{name}.sol"},
            "a.sol: the routes of a.json and of b/a.json would go to this one file; let the ",
        ),
        ({"solutions": "{folder}/{name}.txt"}, "a.txt: the file name must end with .sol or .json or .csv."),
        ({"solutions": "{folder}/{name}.json"}, "a.json: exists and was not written by neuralns; choose another name."),
        ({"solutions": "{folder}/results.csv"}, "results.csv: the routes of a.json would go to the file of results; "),
        ({"solutions": "absent/{name}.sol"}, "absent/a.sol: folder "),
        ({"workers": 0}, "number of workers 0 must be at least 1."),
        ({"workers": 1, "cluster": "tcp://host:1"}, "work goes to processes here (--workers) or to a cluster (--"),
    ],
)
def test_what_makes_no_sense_is_refused_before_any_work(more: dict[str, Any], sentence: str) -> None:
    Path("b").mkdir()
    for path in ("a.json", "b/a.json"):
        write_instance(read("E-n22-k4"), path)
    with pytest.raises(InputError, match=f"^(b/)?{re.escape(sentence)}"):
        run_batch(["a.json", "b/a.json"], recipe(), Path("results.csv"), **more)
    assert not Path("results.csv").exists()


def test_a_table_of_something_else_is_refused_and_left_alone(files: list[str]) -> None:
    Path("results.csv").write_text("name,x,y\ndepot,0,0\n")
    with pytest.raises(
        InputError, match=r"^results\.csv, line 1: holds other columns than file, instance, customers, "
    ):
        run_batch(files, recipe(), Path("results.csv"))
    assert Path("results.csv").read_text() == "name,x,y\ndepot,0,0\n"


@pytest.mark.usefixtures("here")
def test_routes_of_files_in_many_folders_go_beside_them() -> None:
    for name in ("north", "south"):
        Path(name).mkdir()
        write_instance(read("E-n22-k4"), f"{name}/stops.json")
    run_batch(["north/stops.json", "south/stops.json"], recipe(), Path("results.csv"), solutions="{folder}/routes.csv")
    assert Path("north/routes.csv").read_text() == Path("south/routes.csv").read_text()


@pytest.mark.usefixtures("here")
@pytest.mark.skipif(sys.platform != "linux", reason="names of files are text elsewhere")
def test_names_of_files_that_are_no_text_are_kept_as_they_are() -> None:
    name = os.fsdecode(b"M\xfcnchen.json")
    write_instance(read("E-n22-k4"), name)
    run_batch([name, "P-n16-k8"], recipe(), Path("results.csv"), solutions="{name}.sol")
    assert b"M\xfcnchen.json,E-n22-k4,21,375.0," in Path("results.csv").read_bytes()
    assert begun([name, "P-n16-k8"], recipe(), solutions="{name}.sol") == []


# --- Processes. ------------------------------------------------------------------------------------------------------


def test_a_killed_process_costs_the_time_of_its_own_instance_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "work", chores.solve_and_tell)
    told = {name: Path(f"{name}.begun") for name in NAMES}

    def strike() -> None:
        wait_until(lambda: told["A-n32-k5"].exists() and told["A-n32-k5"].read_text().endswith("\n"))
        os.kill(int(told["A-n32-k5"].read_text()), signal.SIGKILL)

    striker = threading.Thread(target=strike)
    striker.start()
    found = run_batch(NAMES, recipe(stop=MaxTime(1)), Path("results.csv"), workers=2)
    striker.join()
    assert [row.file for row in found] == list(NAMES)
    assert all(row.fault == "" and row.stopped_by == "time" for row in found)
    assert {name: path.read_text().count("\n") for name, path in told.items()} == {
        "E-n22-k4": 1, "A-n32-k5": 2, "E-n51-k5": 1
    }  # fmt: skip


def test_an_instance_that_kills_every_process_is_reported_and_all_others_are_solved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(batch, "work", chores.solve_or_die)
    found = run_batch(NAMES, recipe(), Path("results.csv"), workers=2)
    assert [row.fault for row in found] == [
        "the process that did it was killed by signal 9 (perhaps for want of memory).", "", ""
    ]  # fmt: skip


@pytest.mark.usefixtures("here")
def test_an_interrupted_call_keeps_what_is_done_and_says_how_to_go_on(files: list[str]) -> None:
    def end(row: BatchRow, done: int, total: int) -> None:
        raise KeyboardInterrupt

    sentence = (
        "stopped; 1 of 3 instances are done and kept in results.csv. The same command goes on from there; those that "
        "were under way are begun anew."
    )
    with pytest.raises(Stopped, match=f"^{re.escape(sentence)}$"):
        run_batch(files, recipe(), Path("results.csv"), workers=1, end=end)
    (kept,) = rows()
    assert begun(files, recipe()) == [file for file in files if file != kept.file]


def test_a_search_that_a_signal_ends_early_is_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*arguments: Any, **options: Any) -> Any:
        return replace(solve("E-n22-k4", MaxIterations(1)), stopped_by="SIGTERM")

    monkeypatch.setattr(batch, "solve", interrupted)
    monkeypatch.setattr(batch, "ProcessPool", lambda workers: Here())
    (row,) = run_batch(["E-n22-k4"], recipe(), Path("results.csv"))
    assert row.fault == "the process that did it was stopped by SIGTERM."


def test_operators_and_selectors_of_ones_own_are_loaded_by_every_process() -> None:
    Path("mine.py").write_text(OWN)

    def with_mine(source: str) -> Problem:
        return Problem(read(source), make_portfolio("own", ["mine-in-batch", "greedy"]), write_solution)

    load_operators("mine.py")
    chosen = Recipe(with_mine, MaxIterations(100), {}, {}, ("mine.py",), "mine.py")
    (row,) = run_batch(["E-n22-k4"], chosen, Path("results.csv"), workers=1)
    assert row.fault == ""


# --- A cluster. ------------------------------------------------------------------------------------------------------


def test_a_cluster_is_sent_the_instances_and_a_worker_that_dies_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("elsewhere").mkdir()
    with Cluster(tmp_path / "elsewhere", workers=2) as mine:
        # Its workers do not find these names.
        Path("home").mkdir()
        monkeypatch.chdir(tmp_path / "home")
        for name in NAMES:
            write_instance(read(name), f"{name}.json")
        files = [f"{name}.json" for name in NAMES]
        Path("bad.vrp").write_text("NAME : bad\n")

        def end(row: BatchRow, done: int, total: int) -> None:
            if done == 2:
                mine.kill(mine.workers[0])

        found = run_batch(
            ["bad.vrp", *files],
            recipe(stop=MaxTime(0.5)),
            Path("results.csv"),
            solutions="{name}.sol",
            cluster=mine.address,
            end=end,
        )
        assert [bool(row.fault) for row in found] == [True, False, False, False]
        assert all(
            read_solution(read(name), f"{name}.sol").cost == row.cost
            for name, row in zip(NAMES, found[1:], strict=True)
        )
        chosen = replace(recipe(), own_files=("mine.py",))
        sentence = r"^mine\.py: code of your own is read from files here \(--workers\); a cluster does not have them\.$"
        with pytest.raises(InputError, match=sentence):
            run_batch(files, chosen, Path("results.csv"), cluster=mine.address)
