"""What is printed: text as it is, but nothing that steers a terminal."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from rich.table import Table

from commands import COMMAND, invoke
from neuralns.cli.printing import clean, plain_console
from neuralns.selection.policy_file import write_policy
from policies import constant_policy


@pytest.mark.parametrize("text", ["", "plain", "é – 東京 ½", "two\nlines", "no-break\xa0space", "[bold]:smile:"])
def test_text_that_steers_nothing_stays(text: str) -> None:
    assert clean(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2J", r"\x1b[2J"),
        ("\x9b2J", r"\x9b2J"),
        ("a\rb\x07\x00\x7f", r"a\rb\x07\x00\x7f"),
        ("\u202eabc", r"\u202eabc"),
        ("a\u2028b", r"a\u2028b"),
        ("\ud800", r"\ud800"),
    ],
)
def test_what_steers_a_terminal_is_written_out(text: str, shown: str) -> None:
    assert clean(text) == shown


def test_a_console_cleans_text_and_tables(capsys: pytest.CaptureFixture[str]) -> None:
    console = plain_console(soft_wrap=True)
    console.print("a\x1b[31mb")
    table = Table(box=None)
    table.add_column("name\x1b")
    table.add_row("c\x1b]0;title\x07d")
    console.print(table)
    printed = capsys.readouterr().out
    assert "\x1b" not in printed
    assert "\x07" not in printed
    assert printed.startswith(r"a\x1b[31mb")


def test_the_card_of_a_stranger_and_refusals_are_clean(tmp_path: Path) -> None:
    path = tmp_path / "mine.policy"
    write_policy(constant_policy("random-node,greedy", [0, 0], note={"\x1b[2J": "\ud800\x1b[2J"}), path)
    shown = invoke("policy", path)
    assert shown.code == 0
    assert "\x1b" not in shown.stdout
    assert r"\u001b[2J" in shown.stdout or r"\x1b[2J" in shown.stdout
    assert r"no\x1b[2J: no such file" in invoke("policy", "no\x1b[2J").refusal()


def test_a_terminal_that_lacks_a_character_gets_it_written_out(tmp_path: Path) -> None:
    path = tmp_path / "mine.policy"
    write_policy(constant_policy("random-node,greedy", [0, 0], note="é\ud800"), path)
    done = subprocess.run(
        [*COMMAND, "policy", str(path)], capture_output=True, check=False, env={"PYTHONIOENCODING": "ascii", **_paths()}
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert re.search(rb"^note +\\xe9\\ud800 *$", done.stdout, re.MULTILINE)


def _paths() -> dict[str, str]:
    return {"PYTHONPATH": ":".join(sys.path)}
