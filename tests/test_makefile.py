"""What ``make`` does."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

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
    for name in ("pyproject.toml", "constraints.txt", "requirements-dev.txt"):
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


PINS = re.compile(r"^([a-z0-9-]+)==(\S+) \\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", re.MULTILINE)
# Asked which system it is on, it says so by its exit code; all else is noted.
PYTHON = """#!/bin/sh
if [ "$1" = -c ]; then exit IS_OTHER; fi
shift 5
echo "$@" >> asked
"""


def test_all_of_the_development_environment_is_pinned_by_hashes_but_torch() -> None:
    folder = MAKEFILE.parent
    text = (folder / "requirements-dev.txt").read_text()
    pins = {name: version for name, version, _ in PINS.findall(text)}
    rest = PINS.sub("", text)
    assert all(line.startswith("#") for line in rest.splitlines())
    assert "://" not in text
    project = tomllib.loads((folder / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *extras["dev"]]
    for each in map(Requirement, wanted):
        if each.name == "neuralns":
            wanted += [more for extra in each.extras for more in extras[extra]]
        elif each.name == "torch":
            assert "torch" not in pins
            assert re.search(r"^torch==", (folder / "constraints.txt").read_text(), re.MULTILINE)
        else:
            assert each.specifier.contains(pins[canonicalize_name(each.name)]), each


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
@pytest.mark.parametrize("other", [False, True])
def test_the_environment_is_the_pinned_one_where_there_is_one(tmp_path: Path, other: bool) -> None:
    shutil.copy(MAKEFILE, tmp_path)
    for name in ("pyproject.toml", "constraints.txt", "requirements-dev.txt"):
        (tmp_path / name).touch()
    (tmp_path / ".venv/bin").mkdir(parents=True)
    (tmp_path / ".venv/bin/python").write_text(PYTHON.replace("IS_OTHER", str(int(other))))
    (tmp_path / ".venv/bin/python").chmod(0o755)
    alone = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    subprocess.run(["make", ".venv/.made"], cwd=tmp_path, env=alone, check=True, capture_output=True)
    asked = (tmp_path / "asked").read_text().splitlines()
    if other:
        assert asked == ["--constraint constraints.txt --editable .[dev]"]
    else:
        assert asked == [
            "--require-hashes --no-deps --requirement requirements-dev.txt",
            "--constraint constraints.txt torch",
            "--no-deps --editable .",
        ]
