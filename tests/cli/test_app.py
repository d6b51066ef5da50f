"""What all commands share: help, version, refusals, and output that nobody takes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from commands import COMMAND, invoke, spawn
from neuralns import __version__

EVERY_COMMAND = ["solve", "info", "check", "operators", "instances", "generate"]


def test_the_version_is_printed() -> None:
    assert invoke("--version").stdout == f"neuralns {__version__}\n"


def test_help_names_every_command() -> None:
    outcome = invoke("--help")
    assert outcome.code == 0
    assert all(command in outcome.stdout for command in EVERY_COMMAND)


@pytest.mark.parametrize("command", EVERY_COMMAND)
def test_every_command_has_help_with_examples(command: str) -> None:
    outcome = invoke(command, "--help")
    assert outcome.code == 0
    assert f"neuralns {command}" in outcome.stdout.partition("Examples")[2]


@pytest.mark.parametrize(
    "arguments",
    [["fly"], ["solve"], ["solve", "C101", "--time", "long"], ["solve", "C101", "--fast"], ["check", "C101"]],
)
def test_a_command_that_does_not_exist_that_way_is_told_its_usage(arguments: list[str]) -> None:
    outcome = invoke(*arguments)
    assert (outcome.code, outcome.stdout) == (2, "")
    assert outcome.stderr.startswith("Usage: ")
    assert "Traceback" not in outcome.stderr


@pytest.mark.parametrize("command", ["solve", "info"])
def test_a_refusal_is_one_line_and_exit_code_2(command: str) -> None:
    assert spawn(command, "missing.vrp").refusal() == "missing.vrp: cannot be read (No such file or directory)."


def test_a_refusal_stays_one_line_whatever_the_names_in_it(tmp_path: Path) -> None:
    refusal = invoke("info", tmp_path / "two\nlines.vrp").refusal()
    assert refusal.endswith("two lines.vrp: cannot be read (No such file or directory).")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_output_that_cannot_be_written_is_one_line_and_exit_code_2() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run([*COMMAND, "instances"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "neuralns: output cannot be written (No space left on device).\n")


def test_a_reader_that_leaves_early_gets_no_traceback() -> None:
    taken, given = os.pipe()
    os.close(taken)
    done = subprocess.run([*COMMAND, "instances"], stdout=given, stderr=subprocess.PIPE, text=True, check=False)
    os.close(given)
    assert done.stderr == ""
