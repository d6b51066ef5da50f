"""``neuralns tune``."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from commands import COMMAND, invoke
from neuralns.experiments import tune
from neuralns.experiments.tune import work

pytestmark = pytest.mark.usefixtures("in_own_folder")

SHORT = ("--time", 0.02, "--minutes", 0.01, "--candidates", 4, "--portfolio", "string,random-node,blinks")


def in_time(kind: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """A run that takes no longer than it may, however busy the machine is."""
    return {**work(kind, given), "seconds": given["stop"].time}


@pytest.mark.usefixtures("here")
def test_the_best_setting_is_written_and_solves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tune, "work", in_time)
    outcome = invoke("tune", "E-n22-k4", "P-n16-k8", *SHORT, "-o", "mine.setting")
    assert outcome.code == 0, outcome.stderr
    lines = [line for line in outcome.stderr.splitlines() if not line.startswith("compiling ")]
    assert lines[0] == "round 1 of 2: 4 settings, 12 runs, 1 s left"
    assert [line.partition(":")[0] for line in lines] == ["round 1 of 2", "round 2 of 2", "last comparison"]
    against = (
        r"against (all at 0|default): \d+\.\d{3}( ± \d+\.\d{3})? % (cheaper|dearer), too few instances for a test \("
    )
    *gains, last = outcome.stdout.splitlines()
    assert gains
    assert all(re.match(against, line) for line in gains)
    assert re.fullmatch(r"best of 4 settings by \d+ runs written to mine\.setting", last)
    card = json.loads(Path("mine.setting").read_text())["card"]
    assert (card["time"], card["candidates"], card["instances"]) == (0.02, 4, ["E-n22-k4", "P-n16-k8"])
    found = invoke("solve", "E-n22-k4", "--iterations", 200, "--selector", "mine.setting", "--json", "--quiet").json
    assert found["selector"] == "mine.setting"
    again = ("tune", "E-n22-k4", "P-n16-k8", *SHORT, "-o", "mine.setting", "--resume", "--quiet")
    assert invoke(*again).stderr == ""
    # A table that was edited is refused with its line, and left alone.
    text, setting = Path("mine.csv").read_text(), Path("mine.setting").read_bytes()
    head, first, *rest = text.splitlines(keepends=True)
    cost = first.split(",")[4]
    for line, edited in (
        (1, "".join([head.replace("seed,", ""), first, *rest])),
        (2, "".join([head, first.replace(f",{cost},", ",inf,", 1), *rest])),
        (2, "".join([head, first.replace(f",{cost},", ",cheap,", 1), *rest])),
        (3, "".join([head, first, "mine\n", *rest])),
    ):
        Path("mine.csv").write_text(edited)
        assert invoke(*again).refusal().startswith(f"mine.csv, line {line}: ")
        assert Path("mine.csv").read_text() == edited
    assert Path("mine.setting").read_bytes() == setting


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--time", 0), "--time 0 must be a number above 0."),
        (("--minutes", "nan"), "--minutes nan must be a number above 0."),
        (("--candidates", 1), "number of candidates 1 must be at least 2."),
        (("--minutes", 1), "there is time for 30 runs, but 64 candidates need "),
        (("--workers", 0), "number of workers 0 must be at least 1."),
        (("--seed", -1), "seed -1 must be at least 0."),
        (("--portfolio", "joy"), "portfolio 'joy' is not known; "),
        (("--output", "best.json"), "best.json: the file name must end with .setting."),
        (("--output", "absent/best.setting"), "absent/best.setting: folder "),
        (("--resume",), "best.csv: there are no runs to resume from."),
        (("absent.vrp",), "absent.vrp: cannot be read (No such file or directory)."),
    ],
)
def test_what_makes_no_sense_is_refused_before_any_work(words: tuple[object, ...], sentence: str) -> None:
    assert invoke("tune", "E-n22-k4", *words).refusal().startswith(sentence)
    assert not list(Path().iterdir())


def test_a_setting_that_is_there_is_kept() -> None:
    Path("best.setting").write_text("mine")
    assert invoke("tune", "E-n22-k4").refusal() == (
        "best.setting: exists already; choose another name, or write over it with --force."
    )
    assert Path("best.setting").read_text() == "mine"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_writes_the_best_so_far(number: signal.Signals, code: int) -> None:
    words = ("tune", "E-n22-k4", "--time", "0.1", "--minutes", "0.2", "--candidates", "4", "--portfolio", "plain")
    run = subprocess.Popen(
        [*COMMAND, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        assert run.stderr is not None
        for line in run.stderr:
            if line.startswith(("round 2", "last")):
                break
        # Ctrl-C goes to all processes, SIGTERM to the one that it is sent to.
        (os.killpg if number == signal.SIGINT else os.kill)(run.pid, number)
        stdout, stderr = run.communicate(timeout=120)
    finally:
        run.kill()
    assert run.returncode == code
    assert re.fullmatch(r"best of 4 settings by \d+ runs written to best\.setting\n", stdout)
    assert stderr.splitlines()[-1] == "stopped; runs are kept, and --resume goes on from there."
    assert json.loads(Path("best.setting").read_text())["card"]["finished"] is False
