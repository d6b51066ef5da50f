"""``neuralns batch``."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from clusters import wait_until
from commands import COMMAND, Outcome, invoke, spawn
from neuralns import read, read_policy, write_instance, write_policy

pytestmark = pytest.mark.usefixtures("in_own_folder")

SHORT = ("--iterations", 100)


def rows(name: str = "results.csv") -> list[dict[str, str]]:
    return list(csv.DictReader(Path(name).read_text().splitlines()))


def told(outcome: Outcome) -> list[str]:
    """The instances that were told of on stderr."""
    return re.findall(r"^\d+/\d+  (\S+)  ", outcome.stderr, re.MULTILINE)


@pytest.mark.usefixtures("here")
def test_a_line_for_each_instance_and_a_summary() -> None:
    Path("bad.vrp").write_text("NAME : bad\n")
    outcome = invoke("batch", "E-n22-k4", "bad.vrp", "A-n32-k5", *SHORT, "-o", "mine.csv")
    assert outcome.code == 1
    assert outcome.stdout.splitlines() == [
        "failed: bad.vrp: line 'DIMENSION : ...' is missing.",
        "2 of 3 instances solved; results in mine.csv",
        "The same command tries what failed again.",
    ]
    lines = outcome.stderr.splitlines()
    assert sorted(told(outcome)) == ["A-n32-k5", "E-n22-k4", "bad.vrp"]
    assert any(re.match(r"\d/3  E-n22-k4  cost 375 \(gap 0\.00 %\), 4 routes, \d+\.\d s", line) for line in lines)
    assert any(re.match(r"\d/3  bad\.vrp  failed \(line 'DIMENSION : \.\.\.' is missing\)", line) for line in lines)
    assert {row["file"]: row["cost"] for row in rows("mine.csv")}["E-n22-k4"] == "375.0"


@pytest.mark.usefixtures("here")
def test_the_same_command_goes_on_and_says_the_same_in_the_end() -> None:
    words = ("batch", "E-n22-k4", "A-n32-k5", *SHORT, "--quiet")
    first = invoke(*words)
    assert (first.code, first.stderr) == (0, "")
    content = Path("results.csv").read_bytes()
    assert invoke(*words) == first
    assert Path("results.csv").read_bytes() == content
    assert told(invoke("batch", "E-n22-k4", "P-n16-k8", *SHORT)) == ["P-n16-k8"]
    assert told(invoke("batch", "E-n22-k4", "P-n16-k8", *SHORT, "--seed", 1)) == ["E-n22-k4", "P-n16-k8"]


@pytest.mark.usefixtures("here")
def test_folders_stand_for_the_instances_in_them() -> None:
    Path("set").mkdir()
    for name in ("E-n22-k4", "P-n16-k8"):
        write_instance(read(name), f"set/{name}.vrp")
    Path("set/notes.md").touch()
    assert told(invoke("batch", "set", *SHORT)) == ["set/E-n22-k4.vrp", "set/P-n16-k8.vrp"]


STOPS = "name,x,y,demand\ndepot,0,0,0\nAda,3,4,1\nBen,6,0,1\nCleo,0,5,1\n"


@pytest.mark.usefixtures("here")
def test_tables_beside_spreadsheets_are_read_and_count_as_settings() -> None:
    for name in ("north.csv", "south.csv"):
        Path(name).write_text(STOPS)
    Path("fleet.csv").write_text("vehicles,capacity\n3,2\n")
    Path("routes").mkdir()
    words = ("batch", "north.csv", "south.csv", "--vehicles", "fleet.csv", *SHORT, "--solutions", "routes/{name}.csv")
    assert invoke(*words).code == 0
    assert Path("routes/north.csv").read_text().count("Ada") == 1
    assert [row["settings"] for row in rows()] == ["'--iterations 100 --vehicles fleet.csv"] * 2
    assert told(invoke(*words)) == []
    Path("fleet.csv").write_text("vehicles,capacity\n3,1\n")
    assert told(invoke(*words)) == ["north.csv", "south.csv"]
    assert [row["routes"] for row in rows()] == ["2", "2", "3", "3"]


@pytest.mark.usefixtures("here")
def test_vrooms_input_is_answered_in_vrooms_form_and_refusals_are_of_one_file() -> None:
    day = {
        "vehicles": [{"id": 7, "start_index": 0, "end_index": 0}],
        "jobs": [{"id": place, "location_index": place} for place in (1, 2)],
        "matrices": {"car": {"durations": [[0, 1, 2], [1, 0, 1], [2, 1, 0]]}},
    }
    Path("day.json").write_text(json.dumps(day))
    assert invoke("batch", "day.json", *SHORT, "--solutions", "{name}-answer.json").code == 0
    answer = json.loads(Path("day-answer.json").read_text())
    assert (answer["routes"][0]["vehicle"], answer["summary"]["cost"]) == (7, 4)
    outcome = invoke("batch", "day.json", "E-n22-k4", *SHORT, "--objective", "vehicles")
    assert outcome.stdout.splitlines()[:2] == [
        "failed: day.json: --objective vehicles does not go with VROOM's JSON, which says all of that itself.",
        "1 of 2 instances solved; results in results.csv",
    ]


@pytest.mark.usefixtures("here")
def test_options_reach_the_search() -> None:
    words = ("--seed", 2, "--selector", "ucb", "--portfolio", "paper", "--scale", "1-5", "--initial", "random")
    more = ("--route-cost", "balance_stops:weight=1", "--vehicle-cost", 10)
    assert invoke("batch", "E-n22-k4", *SHORT, *words, *more).code == 0
    (row,) = rows()
    assert row["settings"] == (
        "'--iterations 100 --seed 2 --selector ucb --portfolio paper --scale 1-5 "
        "--route-cost balance_stops:weight=1 --vehicle-cost 10 --initial random"
    )
    found = invoke("solve", "E-n22-k4", *SHORT, *words, *more, "--json", "--quiet").json
    assert float(row["cost"]) == found["cost"]


@pytest.mark.usefixtures("here")
@pytest.mark.filterwarnings("default::neuralns.errors.InputWarning")
def test_a_policy_that_has_changed_is_another_setting() -> None:
    for name in ("C101-20-paper", "R101-20-paper"):
        write_policy(read_policy(name), f"{name}.policy")
    words = ("batch", "E-n22-k4", *SHORT, "--selector", "C101-20-paper.policy@0.1")
    outcome = invoke(*words)
    assert told(outcome) == ["E-n22-k4"]
    assert "neuralns: " in outcome.stderr  # it was trained for something else
    assert told(invoke(*words)) == []
    Path("R101-20-paper.policy").replace("C101-20-paper.policy")
    assert told(invoke(*words)) == ["E-n22-k4"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--initial", "routes.sol"), "initial 'routes.sol': many instances start from savings, insertion or random."),
        (("--rounding", "up"), "rounding 'up' is not known; choose one of none, round, trunc, dimacs."),
        (("--objective", "joy"), "objective 'joy' is not known; "),
        (("--selector", "joy"), "selector 'joy' is not known; "),
        (("--route-cost", "joy"), "route cost 'joy' is not known; "),
        (("--time", -1), "time limit -1.0 must be a number of at least 0."),
        (("--workers", 0), "number of workers 0 must be at least 1."),
        (("--output", "absent/results.csv"), "absent/results.csv: folder "),
        (("--solutions", "routes.txt"), "routes.txt: the file name must end with .sol or .json or .csv."),
        (("--cluster", "nowhere"), "cluster 'nowhere' cannot be reached ("),
    ],
)
def test_what_is_wrong_for_all_is_refused_before_any_work(words: tuple[object, ...], sentence: str) -> None:
    assert invoke("batch", "E-n22-k4", *words).refusal().startswith(sentence)
    assert not Path("results.csv").exists()


def test_without_dask_the_command_to_install_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert invoke("batch", "E-n22-k4", "--cluster", "tcp://host:1").refusal() == (
        "a cluster needs Dask; install it with: pip install '.[cluster]' in the project's folder."
    )


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("unserved,", "", "line 1: holds other columns than file, instance, customers, "),
        (",cost,", ",Cost,", "line 1: holds other columns than file, instance, customers, "),
        (",375.0,", ",dear,", "line 2: is not a result (could not convert string to float: 'dear')."),
        (",375.0,", ",nan,", "line 2: is not a result (cost nan is not a number)."),
        (",375.0,", ",", "line 2: is not a result (15 values for 16 columns)."),
    ],
)
def test_a_table_that_was_edited_is_refused_with_its_line_and_left_alone(old: str, new: str, sentence: str) -> None:
    assert invoke("batch", "E-n22-k4", *SHORT).code == 0
    text = Path("results.csv").read_text()
    assert old in text
    edited = text.replace(old, new, 1)
    Path("results.csv").write_text(edited)
    assert invoke("batch", "E-n22-k4", "A-n32-k5", *SHORT).refusal().startswith(f"results.csv, {sentence}")
    assert Path("results.csv").read_text() == edited


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_keeps_what_is_done_and_the_same_command_goes_on(number: signal.Signals, code: int) -> None:
    words = ("batch", "E-n22-k4", "A-n32-k5", "E-n51-k5", "P-n16-k8", "--time", "0.5", "--workers", "1")
    run = subprocess.Popen(
        [*COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        assert run.stderr is not None
        first = run.stderr.readline()
        assert first.startswith("1/4  E-n22-k4  cost 375")
        # Ctrl-C goes to all processes, SIGTERM to the one that it is sent to.
        (os.killpg if number == signal.SIGINT else os.kill)(run.pid, number)
        stdout, stderr = run.communicate(timeout=60)
    finally:
        run.kill()
    kept = [row["file"] for row in rows()]
    assert (run.returncode, stdout) == (code, "")
    assert stderr.splitlines()[-1] == (
        f"stopped; {len(kept)} of 4 instances are done and kept in results.csv. The same command goes on from there; "
        "those that were under way are begun anew."
    )
    wait_until(lambda: not _group(run.pid), 10)
    again = spawn(*words)
    assert again.code == 0
    assert sorted([*kept, *told(again)]) == sorted(words[1:5])


def _group(leader: int) -> bool:
    """Whether there are processes of a group."""
    try:
        os.killpg(leader, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_route_cost_of_one_s_own_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.py").write_text("def cost(route):\n    return 1.0\n")
    said = invoke("batch", "E-n22-k4", "--iterations", 5, "--route-cost", "own.py").refusal()
    assert said == "--route-cost own.py: a file with a cost of your own is for 'neuralns solve' alone."
    assert not Path("results.csv").exists()
