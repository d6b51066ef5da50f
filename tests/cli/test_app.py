"""What all commands share: help, version, refusals, and output that nobody takes."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest
import typer

from commands import COMMAND, invoke, spawn
from neuralns import InputWarning, __version__
from neuralns.cli import main
from neuralns.cli.app import app

ROOT: Any = typer.main.get_command(app)
COMMANDS: dict[str, Any] = {
    **{name: command for name, command in ROOT.commands.items() if not hasattr(command, "commands")},
    **{f"bench {name}": command for name, command in ROOT.commands["bench"].commands.items()},
}
EXAMPLES = [
    shlex.split(line)
    for command in (ROOT, *COMMANDS.values())
    for line in command.help.partition("Examples:")[2].splitlines()
    if line.strip()
]


def test_the_version_is_printed() -> None:
    assert invoke("--version").stdout == f"neuralns {__version__}\n"


def test_help_names_every_command() -> None:
    outcome = invoke("--help")
    assert outcome.code == 0
    assert all(f" {command} " in outcome.stdout for command in ROOT.commands)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_examples(command: str) -> None:
    outcome = invoke(*command.split(), "--help")
    assert outcome.code == 0
    assert f"neuralns {command}" in outcome.stdout.partition("Examples")[2]


@pytest.mark.parametrize("command", COMMANDS)
def test_options_are_in_lower_case_with_every_typer(command: str) -> None:
    options = [each for each in COMMANDS[command].params if each.param_type_name == "option"]
    names = [name for each in options for name in (*each.opts, *each.secondary_opts) if name.startswith("--")]
    assert names == [name.lower() for name in names]
    shown = re.findall(r"--[A-Za-z][\w-]*", invoke(*command.split(), "--help").stdout)
    assert shown == [name.lower() for name in shown]
    # Typer 0.27 writes an option as what stands for its value, where that is the same word in capitals: --HOST.
    assert not [each.name for each in options if str(each.metavar).lower().replace("-", "_") == each.name]


@pytest.mark.parametrize("words", EXAMPLES, ids=" ".join)
def test_every_example_uses_options_that_there_are(words: list[str]) -> None:
    assert words[0] == "neuralns"
    count = 3 if words[1] == "bench" else 2
    name = " ".join(words[1:count])
    COMMANDS[name].make_context(name, words[count:])


@pytest.mark.parametrize(
    "arguments",
    [["fly"], ["solve"], ["solve", "C101", "--time", "long"], ["solve", "C101", "--fast"], ["check"]],
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


@pytest.mark.filterwarnings("always::neuralns.errors.InputWarning")
def test_a_warning_about_input_is_one_line_said_once_by_each_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def app() -> None:
        for _ in range(2):
            warnings.warn("two\nlines.", InputWarning, stacklevel=1)

    monkeypatch.setattr("neuralns.cli.app.app", app)
    for _ in range(2):
        main()
        assert capsys.readouterr().err == "neuralns: two lines.\n"


def test_other_warnings_are_shown_as_python_shows_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("neuralns.cli.app.app", lambda: warnings.warn("old", DeprecationWarning, stacklevel=1))
    with pytest.warns(DeprecationWarning, match="old"):
        main()


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


@pytest.mark.parametrize(
    ("raised", "code", "start"),
    [
        (MemoryError(), 2, "neuralns: the memory of this machine is not enough; "),
        (KeyboardInterrupt(), 130, "neuralns: stopped by SIGINT."),
    ],
)
def test_too_little_memory_and_a_stop_are_a_sentence_each(
    monkeypatch: pytest.MonkeyPatch, raised: BaseException, code: int, start: str
) -> None:
    def fail() -> None:
        raise raised

    monkeypatch.setattr("neuralns.cli.app.app", fail)
    outcome = invoke("info", "C101")
    assert (outcome.code, outcome.stdout, outcome.stderr.count("\n")) == (code, "", 1)
    assert outcome.stderr.startswith(start)


def test_ctrl_c_while_the_program_loads_is_a_sentence() -> None:
    program = """
import sys
class Stop:
    def find_spec(self, name, path=None, target=None):
        if name == "neuralns.cli.app":
            raise KeyboardInterrupt
from neuralns.cli import main
sys.meta_path.insert(0, Stop())
main()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "neuralns: stopped by SIGINT.\n")


@pytest.mark.skipif(sys.platform == "win32", reason="it has no SIGTERM to send.")
def test_sigterm_ends_a_command_with_a_sentence_and_its_exit_code() -> None:
    program = """
import signal, sys
import neuralns.cli.app
from neuralns.cli import main
neuralns.cli.app.app = lambda: signal.raise_signal(signal.SIGTERM)
main()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (143, "neuralns: stopped by SIGTERM.\n")


def test_the_command_is_also_a_module() -> None:
    done = subprocess.run([sys.executable, "-m", "neuralns", "--version"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, invoke("--version").stdout)
