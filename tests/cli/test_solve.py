"""``neuralns solve``."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

import neuralns.search.solve
import texts
from commands import COMMAND, invoke, spawn
from neuralns import Instance, read, read_solution, savings, write_instance
from neuralns.problem.generate.variants import generate_of

SHORT = ("--iterations", 50, "--quiet")
KEYS = {
    "instance",
    "customers",
    "cost",
    "best_known",
    "gap",
    "routes",
    "unserved",
    "feasible",
    "iterations",
    "runtime",
    "stopped_by",
    "seed",
    "selector",
    "portfolio",
    "decision_time_share",
    "objective",
    "rounding",
    "vehicle_cost",
    "initial_cost",
    "operators",
}
OWN = '''
import neuralns
from neuralns.operators.toolkit import random_routed, remove


@neuralns.destroy("mine")
def mine(state, quota):
    """Remove anybody."""
    for _ in range(quota):
        remove(state, random_routed(state))
'''


def test_a_portfolio_of_thousands_is_refused() -> None:
    crowd = ",".join(f"string:longest={longest}" for longest in range(1, 8001))
    refusal = invoke("solve", "E-n22-k4", "--portfolio", f"{crowd},greedy").refusal()
    assert refusal.endswith("has 8001 operators; 500 at most.")


def test_a_search_prints_one_json_object_and_nothing_else() -> None:
    choices = ("--seed", 1, "--selector", "roulette", "--portfolio", "paper")
    found = spawn("solve", "E-n22-k4", "--iterations", 2000, *choices, "--json").json
    assert set(found) >= KEYS
    assert (found["instance"], found["customers"], found["best_known"]) == ("E-n22-k4", 21, 375)
    assert (found["iterations"], found["stopped_by"], found["seed"]) == (2000, "iterations", 1)
    assert (found["selector"], found["portfolio"], found["rounding"]) == ("roulette", "paper", "round")
    assert found["feasible"] is True
    assert sorted(customer for route in found["routes"] for customer in route) == list(range(1, 22))
    assert found["gap"] == pytest.approx(100 * (found["cost"] / 375 - 1))
    assert found["cost"] <= found["initial_cost"]
    assert 0 <= found["decision_time_share"] < 1
    assert sum(use["used"] for use in found["operators"] if use["phase"] == "destroy") == 2000


def test_the_seed_decides_the_routes() -> None:
    one, same, other = (
        invoke("solve", "A-n32-k5", *SHORT, "--initial", "random", "--seed", seed, "--json").json["routes"]
        for seed in (1, 1, 2)
    )
    assert one == same
    assert one != other


def test_options_reach_the_search() -> None:
    options = "--customers 20 --vehicle-cost 100 --rounding trunc --selector fixed:worst-node,regret-2 --scale 2-5"
    known = ("solve", "C101", "--ignore", "windows", *SHORT)
    found = invoke(*known, *options.split(), "--portfolio", "worst-node,zone,regret-2", "--json").json
    assert (found["instance"], found["customers"]) == ("C101:20", 20)
    assert (found["vehicle_cost"], found["rounding"]) == (100, "trunc")
    assert {use["name"]: use["used"] for use in found["operators"]} == {"worst-node": 50, "zone": 0, "regret-2": 50}


@pytest.mark.parametrize("selector", ["ucb", "thompson"])
def test_bandits_search_by_name(selector: str) -> None:
    found = invoke("solve", "E-n22-k4", *SHORT, "--selector", selector, "--json").json
    assert (found["selector"], found["feasible"]) == (selector, True)


@pytest.mark.parametrize("scale", ["7", "0.2", "1-20", "0.1-0.3", "500"])
def test_the_scale_is_a_number_a_share_or_a_range(scale: str) -> None:
    assert invoke("solve", "A-n32-k5", *SHORT, "--scale", scale, "--json").json["feasible"]


def test_a_time_limit_is_kept() -> None:
    found = invoke("solve", "A-n32-k5", "--time", 0.2, "--json", "--quiet").json
    assert found["stopped_by"] == "time"
    assert 0.2 <= found["runtime"] < 1


def test_a_search_that_is_steered_says_so(tmp_path: Path) -> None:
    file = tmp_path / "timed.vrp"
    write_instance(generate_of("vrptw", 100, 1), file)
    outcome = invoke("solve", file, "--time", 1.5, "--json")
    found = outcome.json
    assert (found["selector"], found["portfolio"]) == ("controller", "wide")
    assert 0 <= found["decision_time_share"] < 1
    said = " ".join(outcome.stderr.split())
    assert (
        "steered by controller, which comes with the package and was trained on such instances; --selector random does "
        "without it" in said
    )
    other = invoke("solve", file, "--iterations", 50, "--json")
    assert other.json["selector"] == "random"
    assert "steered by" not in other.stderr


@pytest.mark.parametrize("initial", ["savings", "insertion", "random"])
def test_a_search_starts_from_the_method_named(initial: str) -> None:
    found = invoke("solve", "A-n32-k5", "--iterations", 0, "--initial", initial, "--json").json
    assert found["cost"] == found["initial_cost"]
    assert (found["cost"] == savings(read("A-n32-k5")).cost) == (initial == "savings")


def test_a_search_starts_from_a_solution_file(tmp_path: Path) -> None:
    (tmp_path / "mine.sol").write_text("".join(f"Route #{customer}: {customer}\n" for customer in range(1, 22)))
    arguments = ("--iterations", 0, "--initial", tmp_path / "mine.sol", "--json")
    assert len(invoke("solve", "E-n22-k4", *arguments).json["routes"]) == 21


def test_routes_picture_and_trace_are_written(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("a.sol", "a.png", "a.csv")]
    outcome = invoke("solve", "A-n32-k5", *SHORT, "-o", files[0], "--plot", files[1], "--trace", files[2])
    assert outcome.code == 0
    assert outcome.stdout.splitlines()[-3:] == [
        f"{what} written to {path}" for what, path in zip(("routes", "picture", "trace"), files, strict=True)
    ]
    instance = read("A-n32-k5")
    cost = read_solution(instance, files[0]).checked("a.sol").cost
    assert files[1].read_bytes().startswith(b"\x89PNG")
    with files[2].open() as table:
        rows = list(csv.DictReader(table))
    assert (float(rows[0]["best"]), float(rows[-1]["best"])) == (savings(instance).cost, cost)
    assert rows[-1]["iteration"] == "50"
    assert sorted(os.listdir(tmp_path)) == ["a.csv", "a.png", "a.sol"]


def test_several_instances_give_a_table_and_a_file_each(tmp_path: Path) -> None:
    outcome = invoke("solve", "A-n32-k5", "E-n22-k4", *SHORT, "--output", tmp_path / "{name}.json")
    header, first, second = (line.split() for line in outcome.stdout.splitlines()[:3])
    assert header[:6] == ["instance", "customers", "cost", "rounding", "objective", "best"]
    assert (first[0], first[1], second[0], second[1]) == ("A-n32-k5", "31", "E-n22-k4", "21")
    for row in (first, second):
        solution = read_solution(read(row[0]), tmp_path / f"{row[0]}.json")
        assert solution.checked(row[0]).cost == float(row[2])


def test_several_instances_give_a_list_of_results() -> None:
    outcome = invoke("solve", "A-n32-k5", "E-n22-k4", *SHORT, "--json").json
    assert [found["instance"] for found in outcome["results"]] == ["A-n32-k5", "E-n22-k4"]


def test_names_and_paths_are_printed_as_they_are(tmp_path: Path) -> None:
    write_instance(Instance("[red]:100:[/x]", [0, 1], 1, [[0, 0], [0, 1]]), tmp_path / "odd.json")
    outcome = invoke("solve", tmp_path / "odd.json", *SHORT, "--output", tmp_path / "{name}[b].sol")
    assert outcome.stdout.count("[red]:100:[/x]") == 1
    assert outcome.stdout.endswith("[red]:100:[_x][b].sol\n")


def test_operators_of_ones_own_join_the_portfolio(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN)
    options = ("--portfolio", "paper", "--operators", tmp_path / "own.py", "--selector", "fixed:mine,greedy")
    found = spawn("solve", "E-n22-k4", *SHORT, *options, "--json").json
    assert {use["name"]: use["used"] for use in found["operators"]}["mine"] == 50


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 0), (signal.SIGTERM, 143)])
def test_a_signal_ends_the_search_with_the_best_so_far(number: signal.Signals, code: int) -> None:
    with subprocess.Popen(
        [*COMMAND, "solve", "A-n32-k5", "--time", "60", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as search:
        assert search.stderr is not None
        try:
            while "best" not in search.stderr.readline():
                assert search.poll() is None
            search.send_signal(number)
            begin = time.monotonic()
            stdout, stderr = search.communicate(timeout=600)
        finally:
            search.kill()
    assert time.monotonic() - begin < 5
    found = json.loads(stdout)
    assert (search.returncode, found["stopped_by"], found["feasible"]) == (code, number.name, True)
    assert stderr.splitlines()[-1] == f"stopped by {number.name}; this is the best found so far"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("C199", "C199: no such file, and no bundled instance of that name (see 'neuralns instances')."),
        ("A-n32-k5 missing.vrp", "missing.vrp: cannot be read (No such file or directory)."),
        ("A-n32-k5 --customers 0", "A-n32-k5: 0 customers asked for, but it has 31."),
        ("A-n32-k5 --rounding up", "rounding 'up' is not known; choose one of none, round, trunc, dimacs."),
        ("A-n32-k5 --vehicle-cost -1", "A-n32-k5: vehicle cost -1 must not be negative."),
        ("A-n32-k5 --time -1", "time limit -1.0 must be a number of at least 0."),
        ("A-n32-k5 --time nan", "time limit nan must be a number of at least 0."),
        ("A-n32-k5 --time inf", "time limit inf must be a finite number."),
        ("A-n32-k5 --iterations -1", "number of iterations -1 must be a number of at least 0."),
        ("A-n32-k5 --seed -1", "seed -1 must be a whole number of at least 0."),
        ("A-n32-k5 --selector best", "selector 'best' is not known"),
        ("A-n32-k5 --selector fixed:zone", "selector 'fixed:zone' is not a pair; write 'fixed:DESTROY,REPAIR'."),
        ("A-n32-k5 --portfolio paper --selector fixed:zone,none", "operator 'none' is not among greedy, regret-2"),
        ("A-n32-k5 --portfolio book", "portfolio 'book' is not known"),
        ("A-n32-k5 --portfolio zone,none", "operator 'none' is not known (see 'neuralns operators')."),
        ("A-n32-k5 --portfolio zone,", "portfolio 'zone,' has no repair operator."),
        ("A-n32-k5 --operators missing.py", "missing.py: cannot be read (no such file)."),
        ("A-n32-k5 --scale many", "scale 'many' must be a number, a share below 1, or LOW-HIGH."),
        ("A-n32-k5 --scale 1-2-3", "scale '1-2-3' must be a number, a share below 1, or LOW-HIGH."),
        ("A-n32-k5 --scale 0", "must be a number above 0"),
        ("A-n32-k5 --initial missing.sol", "missing.sol: cannot be read (No such file or directory)."),
        ("A-n32-k5 --output missing/a.sol", "missing does not exist."),
        ("A-n32-k5 --output .", ".: is a folder, not a file."),
        ("A-n32-k5 --trace missing/a.csv", "missing does not exist."),
        ("A-n32-k5 --plot a.gif", "a.gif: a picture's name must end with .png, .pdf, .svg."),
        ("A-n32-k5 --plot missing/a.png", "missing does not exist."),
        ("A-n32-k5 E-n22-k4 --output a.sol", "a.sol: with several instances the file name must contain '{name}'."),
        ("A-n32-k5 A-n32-k5 --output {name}.sol", "A-n32-k5.sol: this command reads or writes that file already"),
        ("A-n32-k5 --output a.sol --trace a.sol", "a.sol: this command reads or writes that file already"),
        ("tiny.vrp --output tiny.vrp", "tiny.vrp: this command reads or writes that file already"),
        ("tiny.vrp --output tiny.sol", "tiny.sol: this command reads or writes that file already"),
        ("A-n32-k5 --output tiny.sol", "tiny.sol: exists and was not written by neuralns; choose another name."),
        ("A-n32-k5 --output routes.txt", "routes.txt: the file name must end with .sol or .json or .csv."),
        ("A-n32-k5 --output routes", "routes: the file name must end with .sol or .json or .csv."),
    ],
)
def test_what_cannot_be_used_is_refused_before_any_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: str, sentence: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.vrp").write_text(texts.EUCLIDEAN)
    (tmp_path / "tiny.sol").write_text(texts.SOLUTIONS["sol"])
    assert sentence in invoke("solve", *arguments.split()).refusal()
    assert sorted(os.listdir(tmp_path)) == ["tiny.sol", "tiny.vrp"]


# --- Results are never thrown away. -----------------------------------------------------------------------------------


def take_away_in_time(monkeypatch: pytest.MonkeyPatch, folder: Path, rescue: Path) -> None:
    """Let a folder vanish while the search runs."""
    monkeypatch.setattr(tempfile, "tempdir", str(rescue))
    search = neuralns.search.solve.solve

    def search_and_remove(*arguments: Any, **options: Any) -> Any:
        found = search(*arguments, **options)
        folder.rmdir()
        return found

    monkeypatch.setattr(neuralns.search.solve, "solve", search_and_remove)


@pytest.mark.filterwarnings("always::neuralns.errors.InputWarning")
def test_results_whose_folder_is_gone_are_kept_in_another_place_that_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, rescue = tmp_path / "out", tmp_path / "rescue"
    folder.mkdir()
    rescue.mkdir()
    take_away_in_time(monkeypatch, folder, rescue)
    files = {"--output": folder / "a.sol", "--trace": folder / "a.csv", "--plot": folder / "a.png"}
    outcome = invoke("solve", "E-n22-k4", *SHORT, "--json", *(word for pair in files.items() for word in pair))
    assert outcome.code == 2
    routes = json.loads(outcome.stdout)["routes"]
    assert outcome.stderr.count("it is in ") == 3
    kept = sorted(rescue.glob("*/*"))
    assert sorted(path.name for path in kept) == ["a.csv", "a.png", "a.sol"]
    assert all(str(path) in outcome.stderr for path in kept)
    [solution] = rescue.glob("*/a.sol")
    assert [list(route) for route in read_solution(read("E-n22-k4"), solution).routes] == routes


@pytest.mark.filterwarnings("always::neuralns.errors.InputWarning")
def test_routes_that_no_folder_takes_are_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    take_away_in_time(monkeypatch, folder, tmp_path / "nowhere")
    outcome = invoke("solve", "E-n22-k4", *SHORT, "--output", folder / "a.sol")
    assert outcome.code == 2
    assert "nor can anything in" in outcome.stderr
    numbers = [int(word) for line in outcome.stdout.partition("\nE-n22-k4\n")[2].splitlines() for word in line.split()]
    assert sorted(numbers) == list(range(1, 22))


def test_names_are_refused_before_the_search_as_they_will_be(tmp_path: Path) -> None:
    named = Instance("n" * 300, [0, 1], 1, [[0, 0], [1, 1]])
    write_instance(named, tmp_path / "long.json")
    refusal = invoke("solve", tmp_path / "long.json", "--output", tmp_path / "{name}.sol").refusal()
    assert refusal.endswith("cannot be written (File name too long).")


def test_a_name_of_an_instance_does_not_leave_the_folder(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    write_instance(Instance("../out", [0, 1], 1, [[0, 0], [1, 1]]), tmp_path / "climbing.json")
    assert invoke("solve", tmp_path / "climbing.json", *SHORT, "--output", tmp_path / "in" / "{name}.sol").code == 0
    assert os.listdir(tmp_path / "in") == [".._out.sol"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--iterations", 10**30), "is too large; at most 1e+15 is possible."),
        (("--time", "1e300"), "is too large; at most 1e+15 is possible."),
        (("--workers", 10**6), "number of workers 1000000 is too large; at most 1000 are possible."),
    ],
)
def test_limits_beyond_all_measure_are_refused(words: tuple[object, ...], sentence: str) -> None:
    assert invoke("solve", "E-n22-k4", *words).refusal().endswith(sentence)


@pytest.mark.parametrize("name", ["tiny.sol", "routes.json"])
def test_our_own_routes_are_written_over_and_are_no_best_known_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tiny.vrp").write_text(texts.EUCLIDEAN)
    for _ in range(2):
        assert invoke("solve", "tiny.vrp", "-n", 10, "--output", name, "--json").json["best_known"] is None
    assert invoke("check", "tiny.vrp", name, "--json").json["gap"] is None


# --- Python files of one's own. ---------------------------------------------------------------------------------------

OWN_RULES = """
from neuralns import Acceptance, MaxIterations, route_cost

class Downhill(Acceptance):
    @staticmethod
    def threshold(state):
        return state.status.current

def soon(state):
    return state.status.iteration >= 70

@route_cost
def per_stop(route):
    return 10.0 * route.stops
"""


def test_rules_and_costs_of_a_file_of_one_s_own_are_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.py").write_text(OWN_RULES)
    shared = ("solve", "E-n22-k4", "--iterations", 500, "--json", "-q")
    plain = invoke(*shared, "--selector", "random").json
    found = invoke(*shared, "--stop", "own.py:soon", "--route-cost", "own.py", "--acceptance", "own.py").json
    assert (found["stopped_by"], found["iterations"]) == ("soon", 70)
    assert found["objective"].endswith("+ per_stop")
    assert found["cost"] >= plain["cost"] + 210
    downhill = invoke(*shared, "--acceptance", "own.py:Downhill", "--initial", "random", "--trace", "a.csv").json
    assert downhill["cost"] > 0
    with Path("a.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert all(row["current"] == row["best"] for row in rows)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("--acceptance missing.py", "missing.py: cannot be read (no such file)."),
        ("--acceptance annealing", "--acceptance 'annealing' is no Python file, such as mine.py or mine.py:NAME."),
        (
            "--acceptance empty.py",
            "empty.py: holds no acceptance rule (write a subclass of neuralns.Acceptance, or ",
        ),
        ("--acceptance own.py:Uphill", "own.py: holds no acceptance rule 'Uphill' (its acceptance rules: Downhill)."),
        ("--stop 5", "--stop '5' is no Python file"),
        ("--stop empty.py", "empty.py: holds no stopping rule (write a function of the state that says whether to "),
        ("--route-cost empty.py", "empty.py: holds no route cost (write a function of a route's totals)."),
        ("--route-cost fails.py", "fails.py: fails when run (ZeroDivisionError: division by zero)."),
    ],
)
def test_files_of_one_s_own_that_will_not_do_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: str, sentence: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.py").write_text(OWN_RULES)
    Path("empty.py").write_text("x = 1\n")
    Path("fails.py").write_text("1 / 0\n")
    said = invoke("solve", "E-n22-k4", "--iterations", 5, *arguments.split(), "--output", "a.sol").refusal()
    assert said.startswith(sentence)
    assert not Path("a.sol").exists()


def test_a_start_may_leave_customers_out(tmp_path: Path) -> None:
    (tmp_path / "part.sol").write_text("Route #1: 1 2\n")
    found = invoke("solve", "E-n22-k4", "--iterations", 50, "--initial", tmp_path / "part.sol", "--json", "-q").json
    assert found["feasible"]
