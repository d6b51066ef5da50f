"""Running the command line, in this process or as a user would."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import pytest

from neuralns.cli import main

COMMAND = [sys.executable, "-c", "from neuralns.cli import main; main()"]


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    code: int
    stdout: str
    stderr: str

    @property
    def json(self) -> Any:
        """The one JSON object on stdout, of a command that went well."""
        assert self.code == 0, self.stderr
        assert self.stdout.count("\n") == 1
        return json.loads(self.stdout)

    def refusal(self) -> str:
        """The one sentence of a command that refused its input."""
        assert (self.code, self.stdout) == (2, "")
        assert self.stderr.startswith("neuralns: ")
        assert self.stderr.count("\n") == 1
        return self.stderr.removeprefix("neuralns: ").rstrip("\n")


def invoke(*arguments: object) -> Outcome:
    """Run a command in this process."""
    stdout, stderr = io.StringIO(), io.StringIO()
    with (
        redirect_stdout(stdout),
        redirect_stderr(stderr),
        patch.object(sys, "argv", ["neuralns", *map(str, arguments)]),
        pytest.raises(SystemExit) as ending,
    ):
        main()
    return Outcome(int(ending.value.code or 0), stdout.getvalue(), stderr.getvalue())


def spawn(*arguments: object) -> Outcome:
    """Run a command in a process of its own."""
    done = subprocess.run([*COMMAND, *map(str, arguments)], capture_output=True, text=True, timeout=1800, check=False)
    return Outcome(done.returncode, done.stdout, done.stderr)
