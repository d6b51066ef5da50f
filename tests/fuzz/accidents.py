"""Accidents while the package works: processes that are killed, and a disk that is full."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

import texts
from commands import COMMAND, invoke
from fuzz import forms
from neuralns import InputError, MaxTime, generate_x, read, read_solution, solve
from neuralns.experiments.batch import BatchRow
from neuralns.experiments.jobs import Done, Job, JobStore
from neuralns.experiments.store import CsvRows, Store, read_rows

PATIENCE = 90.0
"""Seconds in which whatever lost a process has ended."""


# --- Workers that are killed. -----------------------------------------------------------------------------------------


def workers_of(process: int) -> list[int]:
    """The processes that one has started to work for it, and those that these have started."""
    found: list[int] = []
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):
            for child in map(int, task.read_text().split()):
                if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes():
                    found.append(child)
                found += workers_of(child)
    return sorted(found)


class Killer(threading.Thread):
    """Kills one worker of a process after each of some times."""

    def __init__(self, process: int, pauses: list[float], seed: int) -> None:
        super().__init__(daemon=True)
        self._process, self._pauses, self._rng = process, pauses, np.random.default_rng(seed)
        self._over = threading.Event()
        self._others = set(workers_of(process))

    def _victims(self) -> list[int]:
        return [worker for worker in workers_of(self._process) if worker not in self._others]

    def run(self) -> None:
        for pause in self._pauses:
            while not (victims := self._victims()):
                if self._over.wait(0.01):
                    return
            if self._over.wait(pause):
                return
            victims = self._victims() or victims
            with suppress(OSError):
                os.kill(victims[self._rng.integers(len(victims))], signal.SIGKILL)

    def __enter__(self) -> Killer:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self.join()


def make_workers(rng: np.random.Generator) -> bytes:
    """How many workers are killed, and when."""
    pauses = [round(float(rng.random()) * 1.5, 3) for _ in range(rng.integers(1, 4))]
    customers = int(rng.choice([100, 600]))
    return json.dumps({"pauses": pauses, "customers": customers, "seed": int(rng.integers(2**31))}).encode()


def check_workers(content: bytes, file: Path) -> None:
    """Kill workers of a search: it ends soon, with routes that keep all rules."""
    asked = json.loads(content)
    instance = read("X-n101-k25") if asked["customers"] == 100 else generate_x(600, seed=1)
    begin, others = time.monotonic(), workers_of(os.getpid())
    with Killer(os.getpid(), asked["pauses"], asked["seed"]), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = solve(instance, MaxTime(1), workers=2, seed=asked["seed"])
    assert result.feasible, result.best.faults()
    assert time.monotonic() - begin < PATIENCE
    assert set(workers_of(os.getpid())) <= set(others), "workers are left behind"


def make_batch(rng: np.random.Generator) -> bytes:
    """Which processes of a batch are killed, and when."""
    whole = bool(rng.random() < 0.5)
    pauses = [round(float(rng.random()) * 2.5, 3) for _ in range(1 if whole else rng.integers(1, 5))]
    return json.dumps({"whole": whole, "pauses": pauses, "seed": int(rng.integers(2**31))}).encode()


def check_batch(content: bytes, file: Path) -> None:
    """Kill a batch or its workers: no row is lost, and the same command does what is missing."""
    asked = json.loads(content)
    folder = _fresh(file, "batch")
    for number in range(4):
        (folder / f"{number}.vrp").write_text(texts.EUCLIDEAN, encoding="utf-8")
    table = folder / "results.csv"
    command = [*COMMAND, "batch", *map(str, sorted(folder.glob("*.vrp"))), "--time", "0.3", "--workers", "2", "--quiet"]
    command += ["--output", str(table), "--solutions", str(folder / "{name}.sol")]
    first = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    with Killer(first.pid, [] if asked["whole"] else asked["pauses"], asked["seed"]):
        try:
            if asked["whole"]:
                time.sleep(asked["pauses"][0])
                first.kill()
            _, said = first.communicate(timeout=PATIENCE)
        finally:
            first.kill()
    assert "Traceback" not in said, said
    assert asked["whole"] or first.returncode in (0, 1), (first.returncode, said)
    before = read_rows(table, BatchRow)
    assert all(row.fault or row.cost is not None for row in before)
    again = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert again.returncode == 0, again.stderr
    after = read_rows(table, BatchRow)
    assert after[: len(before)] == before, "rows are lost"
    assert len({row.file for row in after if not row.fault}) == 4, after
    for number in range(4):
        assert read_solution(texts.TINY, folder / f"{number}.sol").feasible


# --- A full disk. -----------------------------------------------------------------------------------------------------

_SOLVE = "solve E-n22-k4 --iterations 50 --quiet --seed 3"
COMMANDS = {
    "sol": (f"{_SOLVE} --output OUT", ".sol"),
    "json": (f"{_SOLVE} --output OUT", ".json"),
    "csv": (f"{_SOLVE} --output OUT", ".csv"),
    "trace": (f"{_SOLVE} --trace OUT", ".csv"),
    "vrp": ("generate OUT --customers 30 --seed 3 --force", ".vrp"),
    "instance": ("generate OUT --variant pdptw --customers 20 --seed 3 --force", ".json"),
}


def make_disk(rng: np.random.Generator) -> bytes:
    """What is written, how many bytes there is room for, and whether there is a file already."""
    kinds = [*COMMANDS, "table", "jobs"]
    room = int(rng.choice([0, 1, 100, 1000, 4096, int(rng.integers(8000))]))
    return json.dumps({"kind": str(rng.choice(kinds)), "room": room, "old": bool(rng.random() < 0.5)}).encode()


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """Have no file grow beyond so many bytes."""
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, usual[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, usual)


def check_disk(content: bytes, file: Path) -> str | None:
    """Write where there is little room: a file is whole or what it was, and what failed is told in a sentence."""
    asked = json.loads(content)
    folder = _fresh(file, "disk")
    if asked["kind"] in COMMANDS:
        return _check_written(folder, asked)
    if asked["kind"] == "table":
        form, rows = forms.TABLES["batch"]
        return _check_rows(folder, asked["room"], lambda path: Store(path, CsvRows(form)), rows[0])
    return _check_jobs(folder, asked["room"])


def _check_written(folder: Path, asked: dict[str, Any]) -> str | None:
    words, suffix = COMMANDS[asked["kind"]]
    whole, output = folder / f"whole{suffix}", folder / f"out{suffix}"
    outcome = invoke(*words.replace("OUT", str(whole)).split())
    assert outcome.code == 0, outcome
    wanted, old = whole.read_bytes(), None
    if asked["old"]:
        old = wanted if asked["kind"] != "vrp" else b"anything"
        output.write_bytes(old)
    with room_for(asked["room"]), warnings.catch_warnings():
        # A command tells of what cannot be written by a warning, when it has shown what it found.
        warnings.simplefilter("default")
        outcome = invoke(*words.replace("OUT", str(output)).split())
    assert "Traceback" not in outcome.stderr, outcome.stderr
    assert {path.name for path in folder.iterdir()} <= {whole.name, output.name}, "a temporary file is left behind"
    if outcome.code == 0:
        # A trace has times in it.
        assert asked["kind"] == "trace" or output.read_bytes() == wanted
        return None
    assert (outcome.code, outcome.stderr.count("\n"), outcome.stderr[-2:]) == (2, 1, ".\n"), outcome
    if asked["kind"] in ("sol", "json", "csv"):
        # What was found is not lost: it is shown.
        assert {str(customer) for customer in range(1, 22)} <= set(outcome.stdout.split()), outcome.stdout
    assert (output.read_bytes() if output.exists() else None) == old
    return "full"


def _check_rows(folder: Path, room: int, store: Callable[[Path], Store[Any]], row: Any) -> str | None:
    """Add rows until there is no room; then all that were added are there, and more come behind them later."""
    path, added, full = folder / "rows.csv", 0, False
    with store(path) as journal:
        with room_for(room):
            for _ in range(60):
                try:
                    journal.add(row)
                except InputError as error:
                    full = _is_told(error)
                    break
                added += 1
        assert journal.rows == [row] * added
        journal.add(row)
    with room_for(room), suppress(InputError), store(path) as journal:
        journal.add(row)
        added += 1
    assert store(path).rows == [row] * (added + 1)
    return "full" if full else None


def _check_jobs(folder: Path, room: int) -> str | None:
    path, added, full = folder / "jobs", 0, False
    with JobStore(path, forms.JOBS_CONDITIONS) as journal:
        with room_for(room):
            for number in range(60):
                try:
                    journal.add(Job("solve", {"seed": number}), Done([number], 0.5, 0.25))
                except InputError as error:
                    full = _is_told(error)
                    break
                added += 1
        journal.add(Job("last", {}), Done(None, 0.5, 0.25))
    found = JobStore(path, forms.JOBS_CONDITIONS).results
    assert list(found.values()) == [*([number] for number in range(added)), None]
    return "full" if full else None


def _is_told(error: InputError) -> bool:
    assert str(error).endswith("."), str(error)
    return True


def _fresh(file: Path, name: str) -> Path:
    folder = file.with_name(name)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder
