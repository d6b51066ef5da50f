"""``neuralns reproduce``."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import IO, Any

import pytest

import chores
from chores import Here
from clusters import Cluster, wait_until
from commands import COMMAND, Outcome, invoke, spawn
from neuralns import __version__
from neuralns.experiments import executors
from neuralns.reproduction import reproduce
from neuralns.reproduction.folder import JOBS, REPORTS, TABLES
from neuralns.reproduction.plan import ALL_DESTROYS, QUICK
from neuralns.reproduction.rounds import SCALE
from results import HEADERS, contents


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def results_in(folder: Path) -> dict[str, Any]:
    """What the jobs of a folder gave, by their names, but for what a clock has measured."""
    lines = [json.loads(line) for line in (folder / JOBS).read_text().splitlines()]
    found = {line["job"]: line["result"] for line in lines if "job" in line}
    for result in found.values():
        if isinstance(result, dict):
            result.pop("microseconds", None)
    return found


def told(outcome: Outcome) -> list[str]:
    """The jobs that were told of on stderr."""
    return re.findall(r"^(\d+/\d+)  \S.*  \d+ s$", outcome.stderr, re.MULTILINE)


# --- The whole, quickly, as a user would. ----------------------------------------------------------------------------


def test_a_quick_run_does_everything_within_two_minutes_of_two_cores(whole: Path) -> None:
    news = json.loads(whole.with_suffix(".json").read_text())
    outcome = Outcome(news["code"], news["stdout"], news["stderr"])
    assert outcome.code == 0, outcome.stderr
    assert 1 < news["processor"] < 2 * 120
    total = len(results_in(whole))
    assert told(outcome) == [f"{number}/{total}" for number in range(1, total + 1)]
    written = re.findall(r"^written: (.+)$", outcome.stdout, re.MULTILINE)
    assert len(written) == outcome.stdout.count("\n")
    assert {str(whole / name) for name in (*TABLES, *REPORTS)} < set(written)
    assert set(written) | {str(whole / JOBS)} == {str(whole / name) for name in contents(whole)}
    assert all(path.startswith(str(whole / "figures")) for path in written[len(TABLES) + len(REPORTS) :])


def test_every_table_has_its_columns_and_every_cell(whole: Path) -> None:
    rows = {}
    for name, header in HEADERS.items():
        text = (whole / name).read_text()
        assert text.splitlines()[0] == header
        rows[name] = list(csv.DictReader(text.splitlines()))
        assert all(row["seeds"] == "2" for row in rows[name] if "seeds" in row)
    settings, instances = 2, 3
    counts = {
        "table1.csv": settings * instances * 3 * 6,
        "table2.csv": settings * instances * 3 * 6 * 2,
        "scaling.csv": instances * 2 * 5,
        "large.csv": instances * 5,
        "scale.csv": instances * 3 * 4,
        "temperature.csv": settings * instances * 2 * 2,
        "tuning.csv": settings * (12 + 12 + 4),
    }
    assert {name: len(found) for name, found in rows.items()} == counts
    assert sum(row["chosen"] == "True" for row in rows["tuning.csv"]) == settings * 3


def test_the_report_says_that_a_quick_run_shows_nothing(whole: Path) -> None:
    for name in REPORTS:
        assert "This was a quick run" in (whole / name).read_text()
    pictures = re.findall(r"\((figures/[^)]+\.png)\)", (whole / "report.md").read_text())
    assert pictures
    for name in pictures:
        assert (whole / name).read_bytes().startswith(b"\x89PNG")


def test_a_second_call_does_no_job_and_writes_the_same(whole: Path) -> None:
    before = contents(whole)
    again = invoke("reproduce", "all", "--quick", "--out", whole)
    assert (again.code, again.stderr) == (0, "")
    after = contents(whole)
    assert after[JOBS] == before[JOBS]
    assert {name: after[name] for name in HEADERS} == {name: before[name] for name in HEADERS}
    assert set(after) == set(before)


def test_a_part_is_made_from_what_the_whole_did(whole: Path, tmp_path: Path) -> None:
    shutil.copytree(whole, tmp_path / "mine")
    outcome = invoke("reproduce", "scale", "--quick", "--out", "mine")
    assert (outcome.code, outcome.stderr) == (0, "")
    before, after = contents(whole), contents(tmp_path / "mine")
    for name in (JOBS, "scale.csv", "table1.csv"):
        assert after[name] == before[name]


def test_results_with_other_seeds_are_refused_and_left_alone(whole: Path) -> None:
    before = contents(whole)
    refusal = invoke("reproduce", "all", "--quick", "--seeds", 3, "--out", whole).refusal()
    assert refusal == (
        f"{whole / JOBS}: holds results with seeds 2, but now it is 3; choose another folder with --out."
    )
    refusal = invoke("reproduce", "all", "--out", whole).refusal()
    assert refusal.startswith(f"{whole / JOBS}: holds results with quick True, but now it is False; choose another")
    assert contents(whole) == before


# --- Runs that end early. --------------------------------------------------------------------------------------------


class Running:
    """A command that runs in a process of its own, with the processes that it starts."""

    def __init__(self, *arguments: object) -> None:
        command = [*COMMAND, "reproduce", *map(str, arguments)]
        # A group of its own: Ctrl-C in a terminal goes to all processes of one.
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        self.lines: list[str] = []

    def wait_for(self, begin: str) -> None:
        """Wait for a line on stderr."""
        stream: IO[str] | None = self.process.stderr
        assert stream is not None
        while not (self.lines and self.lines[-1].startswith(begin)):
            self.lines.append(stream.readline())
            assert self.lines[-1], self.lines

    def group(self) -> set[int]:
        """Processes of its group that are there."""
        found = set()
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    state, _, group = (entry / "stat").read_text().rpartition(")")[2].split()[:3]
                except OSError:
                    continue
                if int(group) == self.process.pid and state != "Z":
                    found.add(int(entry.name))
        return found

    def end(self) -> Outcome:
        stdout, stderr = self.process.communicate(timeout=600)
        return Outcome(self.process.returncode, stdout, "".join(self.lines) + stderr)

    def kill(self) -> None:
        for process in self.group():
            os.kill(process, signal.SIGKILL)
        self.process.communicate()


@pytest.fixture
def running() -> Iterator[Running]:
    run = Running("temperature", "--quick", "--workers", 2, "--out", "mine")
    yield run
    run.kill()


@pytest.fixture
def begun(whole: Path, tmp_path: Path) -> None:
    """The first 20 jobs, which are the longer ones, are done already."""
    lines = (whole / JOBS).read_text().splitlines(keepends=True)
    entries = [json.loads(line) for line in lines]
    done = [
        line for line, entry in zip(lines, entries, strict=True)
        if entry.get("job", "").startswith("tune-")
        or (entry.get("job", "").startswith("dqn-") and entry["settings"]["destroys"] == ALL_DESTROYS
            and entry["settings"]["scale"] == SCALE)
    ]  # fmt: skip
    assert len(done) == 20
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / JOBS).write_text("".join([lines[0], *done]))


linux_only = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@linux_only
@pytest.mark.usefixtures("begun")
def test_ctrl_c_keeps_what_is_done_and_the_same_command_goes_on_to_the_same_end(
    running: Running, whole: Path, tmp_path: Path
) -> None:
    running.wait_for("22/38 ")
    assert len(running.group()) >= 3
    begin = time.monotonic()
    os.killpg(running.process.pid, signal.SIGINT)
    outcome = running.end()
    assert time.monotonic() - begin < 10
    folder = tmp_path / "mine"
    kept = len(results_in(folder))
    assert 22 <= kept < 38
    assert (outcome.code, outcome.stdout) == (130, "")
    *lines, last = outcome.stderr.splitlines()
    assert last == f"stopped; {kept} jobs are kept in mine/{JOBS}. The same command goes on from there."
    assert len(told(outcome)) == len(lines)
    wait_until(lambda: not running.group(), 10)
    assert sorted(contents(folder)) == [JOBS]

    again = spawn("reproduce", "temperature", "--quick", "--out", "mine")
    assert again.code == 0, again.stderr
    assert told(again) == [f"{number}/38" for number in range(kept + 1, 39)]
    assert results_in(folder).items() <= results_in(whole).items()
    assert (folder / "temperature.csv").read_bytes() == (whole / "temperature.csv").read_bytes()
    assert not (folder / "table1.csv").exists()


@linux_only
def test_a_killed_run_leaves_results_but_no_process_behind(running: Running, tmp_path: Path) -> None:
    running.wait_for("1/38 ")
    running.process.kill()
    assert running.end().code == -signal.SIGKILL
    wait_until(lambda: not running.group(), 10)
    assert results_in(tmp_path / "mine")


# --- What is told, with made-up results. -----------------------------------------------------------------------------


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs are done at once and give made-up results."""
    monkeypatch.setattr(reproduce, "work", chores.made_up)
    monkeypatch.setattr(reproduce, "ProcessPool", lambda workers: Here())


@pytest.mark.usefixtures("played")
def test_results_have_a_folder_by_default() -> None:
    assert invoke("reproduce", "scale", "--quick").code == 0
    assert Path("results-quick/scale.csv").is_file()
    outcome = invoke("reproduce", "scale", "--seeds", 2)
    assert outcome.code == 0
    assert Path("results/scale.csv").is_file()
    assert Path("results/scale.csv").read_text() != Path("results-quick/scale.csv").read_text()


@pytest.mark.usefixtures("played")
def test_every_job_is_told_of_in_a_few_words() -> None:
    lines = invoke("reproduce", "all", "--quick", "--workers", 1).stderr.splitlines()
    for words in (
        "1/119  tune-dqn paper  0 s",
        "5/119  tune-wheels paper C |D|=12  0 s",
        "15/119  gat paper C  0 s",
    ):
        assert words in lines
    for words in (r"graph paper C", r"dqn paper C \|D\|=2", r"dqn paper RC \|D\|=12 d=10", r"large paper C"):
        assert any(re.fullmatch(rf"\d+/119  {words}  0 s", line) for line in lines), words


@pytest.mark.usefixtures("played")
def test_the_command_is_kept_with_the_results_without_what_is_true_of_one_machine_only() -> None:
    invoke("reproduce", "scale", "--quick", "--seeds", 1, "--workers", 2, "--out", "mine")
    call = json.loads(Path("mine", JOBS).read_text().splitlines()[-1])["call"]
    assert call["command"] == "neuralns reproduce scale --quick --seeds 1"
    assert call["workers"] == 2


@pytest.mark.usefixtures("played")
def test_one_seed_is_enough() -> None:
    assert invoke("reproduce", "scale", "--quick", "--seeds", 1, "--out", "mine").code == 0
    rows = list(csv.DictReader(Path("mine/scale.csv").read_text().splitlines()))
    assert {(row["ci"], row["seeds"]) for row in rows} == {("nan", "1")}


@pytest.mark.usefixtures("played")
def test_failures_are_named_and_end_with_1(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(kind: str, settings: Any) -> Any:
        if kind == "baselines" and settings["instance"] == "RC":
            raise ValueError("no luck")
        return chores.made_up(kind, settings)

    monkeypatch.setattr(reproduce, "work", broken)
    outcome = invoke("reproduce", "scale", "--quick", "--workers", 1, "--out", "mine")
    assert outcome.code == 1
    failed = [line for line in outcome.stdout.splitlines() if line.startswith("failed: ")]
    assert failed == [
        "failed: baselines paper RC |D|=12 d=2 (ValueError: no luck)",
        "failed: baselines paper RC |D|=12 (ValueError: no luck)",
        "failed: baselines paper RC |D|=12 d=10 (ValueError: no luck)",
    ]
    assert outcome.stdout.endswith("The same command tries what failed again.\n")
    assert re.search(r"^\d+/\d+  baselines paper RC \|D\|=12: failed \(ValueError: no luck\)$", outcome.stderr, re.M)
    rows = list(csv.DictReader(Path("mine/scale.csv").read_text().splitlines()))
    assert {row["agent"] for row in rows if row["instance"] == "RC"} == {"DQN"}
    assert "report.html" in os.listdir("mine")


# --- What is refused. ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            "table3",
            "experiment 'table3' is not known; choose table1, table2, scaling, large, scale, temperature or all.",
        ),
        ("all --workers 0", "number of workers 0 must be at least 1."),
        ("all --workers -2", "number of workers -2 must be at least 1."),
        ("all --seeds 0", "0 seeds asked for; at least 1 is needed."),
        (
            "all --workers 2 --cluster tcp://127.0.0.1:1",
            "work goes to processes here (--workers) or to a cluster (--cluster), not to both.",
        ),
        (
            "all --device cuda --cluster tcp://127.0.0.1:1",
            "a GPU trains in this process; work goes to a cluster (--cluster) without --device.",
        ),
        ("all --device tpu", "device 'tpu' is not there; choose cpu, or cuda where torch sees a"),
        ("all --device cuda:99", "device 'cuda:99' is not there; choose cpu, or cuda where torch sees a"),
        ("all --out file", "file: cannot be made a folder (File exists)."),
        ("all --out file/inside", "file/inside: cannot be made a folder (Not a directory)."),
        (
            "all --out others",
            "others/table1.csv: is there, but not the results in jobs.jsonl that it would be made from",
        ),
        ("all --out old", f"old/jobs.jsonl: holds results with neuralns 0.0.1, but now it is {__version__}; choose"),
        ("all --out odd", "odd/jobs.jsonl, line 1: is not a result of neuralns."),
        ("all --out folder", "folder/jobs.jsonl: cannot be read (Is a directory)."),
    ],
)
@pytest.mark.parametrize("quick", ["", " --quick"])
def test_what_cannot_be_used_is_refused_before_any_work(
    tmp_path: Path, arguments: str, sentence: str, quick: str
) -> None:
    (tmp_path / "file").write_text("mine")
    for name in ("others", "old", "odd", "folder/jobs.jsonl"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "others" / "table1.csv").write_text("mine")
    seeds = QUICK.seeds if quick else 10
    head = {"neuralns": "0.0.1", "format": 1, "quick": bool(quick), "seeds": seeds}
    (tmp_path / "old" / JOBS).write_text(json.dumps(head) + "\n")
    (tmp_path / "odd" / JOBS).write_text("mine")
    before = contents(tmp_path)
    assert invoke("reproduce", *(arguments + quick).split()).refusal().startswith(sentence)
    assert contents(tmp_path) == before


def test_a_folder_that_cannot_be_written_to_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert invoke("reproduce", "all", "--out", "mine").refusal() == "mine: cannot be written to."


@pytest.mark.parametrize(
    ("package", "what"), [("torch", "the experiments train"), ("matplotlib", "the report has pic")]
)
def test_packages_that_are_needed_in_the_end_are_asked_for_first(
    monkeypatch: pytest.MonkeyPatch, package: str, what: str
) -> None:
    monkeypatch.setattr("neuralns.reproduction.reproduce.find_spec", lambda name: None if name == package else name)
    refusal = invoke("reproduce", "all", "--out", "mine").refusal()
    assert refusal.startswith(what)
    assert refusal.endswith("; install with: pip install '.[train,plot]' in the project's folder.")
    assert not Path("mine").exists()


@pytest.mark.usefixtures("played")
def test_a_cluster_that_cannot_be_reached_is_refused_and_nothing_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    invoke("reproduce", "scale", "--quick", "--out", "mine")
    before = contents(tmp_path)
    monkeypatch.setattr(reproduce, "open_cluster", partial(executors.cluster, patience=0.2))
    refusal = invoke("reproduce", "all", "--quick", "--cluster", "tcp://127.0.0.1:1", "--out", "mine").refusal()
    assert refusal.startswith("cluster 'tcp://127.0.0.1:1' cannot be reached (Timed out trying to connect to tcp://")
    assert contents(tmp_path) == before


def test_a_cluster_without_workers_is_refused_as_a_user_sees_it(tmp_path: Path) -> None:
    with Cluster(tmp_path) as mine:
        refusal = spawn("reproduce", "all", "--quick", "--cluster", mine.address, "--out", "mine").refusal()
        nonsense = spawn("reproduce", "all", "--quick", "--cluster", "post://host:1", "--out", "mine").refusal()
    assert (
        refusal == f"cluster '{mine.address}' has no worker; start some with 'dask worker {mine.address} --nthreads 1'."
    )
    assert nonsense.startswith("cluster 'post://host:1' cannot be reached (unknown address scheme 'post'")
    assert list(Path("mine").iterdir()) == []
