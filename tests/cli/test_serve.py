"""``neuralns serve`` and ``neuralns studio``."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time

import httpx
import pytest

from commands import COMMAND, invoke
from helpers import is_running

LISTEN = "import sys, urllib.request; urllib.request.urlopen(sys.argv[1]).read()"


@pytest.mark.skipif(sys.platform == "win32", reason="it forks.")
@pytest.mark.parametrize(("command", "end"), [("serve", signal.SIGTERM), ("studio", signal.SIGKILL)])
def test_a_server_runs_until_a_signal_and_leaves_nobody_behind(command: str, end: signal.Signals) -> None:
    more = ["--no-browser"] if command == "studio" else []
    with subprocess.Popen([*COMMAND, command, "--port", "0", *more], stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        address = re.findall(r"listening on (\S+)", server.stderr.readline())[0]
        end_of_wait = time.monotonic() + 30
        while True:
            try:
                assert httpx.get(f"{address}/health").json() == {}
                break
            except httpx.ConnectError:
                assert time.monotonic() < end_of_wait
                time.sleep(0.1)
        body = {"instance": {"name": "E-n22-k4"}, "options": {"time": 60}}
        assert httpx.post(f"{address}/jobs", json=body, timeout=60).status_code == 201
        job = httpx.get(f"{address}/jobs").json()[0]["id"]
        listener = subprocess.Popen([sys.executable, "-c", LISTEN, f"{address}/jobs/{job}/events"])
        tree = _descendants(server.pid)
        assert len(tree) >= 2
        os.kill(server.pid, end)
        server.wait(20)
        listener.wait(20)
        assert server.stderr.read() == ""
        while any(map(is_running, tree)):
            assert time.monotonic() < end_of_wait + 30
            time.sleep(0.1)


def _descendants(process: int) -> list[int]:
    listed = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    parents = {int(child): int(parent) for child, parent in (line.split() for line in listed.splitlines())}
    found = [child for child, parent in parents.items() if parent == process]
    return found + [each for child in found for each in _descendants(child)]


def test_another_host_needs_a_token() -> None:
    assert "so give a token (--token-file FILE)." in invoke("serve", "--host", "0.0.0.0").refusal()


def test_limits_are_checked() -> None:
    assert invoke("serve", "--max-jobs", 0).refusal() == "limit jobs 0 must be above 0."
    assert invoke("serve", "--max-memory", "inf").refusal() == "limit memory inf is too large."
    assert invoke("serve", "--max-megabytes", "nan").refusal() == "limit bytes nan must be above 0."
    refusal = invoke("serve", "--max-seconds", 5, "--default-seconds", 6).refusal()
    assert refusal == "limit default_seconds 6 must not be above limit seconds 5."


@pytest.mark.parametrize("command", ["serve", "studio"])
def test_matrices_may_be_required(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []
    monkeypatch.setattr(
        "neuralns.studio.running.run_server", lambda host, port, limits, **_: asked.append(limits.require_matrices)
    )
    assert invoke(command).code == invoke(command, "--require-matrices").code == 0
    assert asked == [False, True]
