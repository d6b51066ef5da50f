"""What ``make`` does."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

MAKEFILE = Path(__file__).parents[1] / "Makefile"
COMMAND = """#!/bin/sh
echo "$@" >> asked
case "$*" in *controller-large*) name=controller-large ;; *) name=controller ;; esac
echo made > out/$name.policy
echo runs > out/$name.runs
"""


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_controllers_are_trained_anew_unless_the_last_training_was_cut_short(tmp_path: Path) -> None:
    shutil.copy(MAKEFILE, tmp_path)
    for name in ("pyproject.toml", "constraints.txt"):
        (tmp_path / name).touch()
    bundled = tmp_path / "src/neuralns/selection/policies"
    for folder in (tmp_path / ".venv/bin", bundled):
        folder.mkdir(parents=True)
    (tmp_path / ".venv/bin/neuralns").write_text(COMMAND)
    (tmp_path / ".venv/bin/neuralns").chmod(0o755)
    (tmp_path / ".venv/.made").touch()
    # The make that may have begun the tests has no say in it.
    alone = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    # What a training that was cut short leaves: its log, or that the first is done, and perhaps a log of the second.
    left_behind: list[tuple[str, ...]] = [(), (), ("controller.runs",), ("controller.done",)]
    left_behind.append(("controller.done", "controller-large.runs"))
    for files in left_behind:
        for file in files:
            (tmp_path / "out" / file).touch()
        subprocess.run(["make", "controller"], cwd=tmp_path, env=alone, check=True)
        for name in ("controller", "controller-large"):
            assert (bundled / f"{name}.policy").read_text() == "made\n"
        assert {path.suffix for path in (tmp_path / "out").iterdir()} == {".policy"}
    ends = [line.rpartition(" ")[2] for line in (tmp_path / "asked").read_text().splitlines()]
    assert ends == ["--force", "--force", "--force", "--force", "--resume", "--force", "--force", "--resume"]
