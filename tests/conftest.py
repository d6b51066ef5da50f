"""What the tests share."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings

# The first call of a compiled function compiles it, whichever test that is in.
settings.register_profile("compiling", settings.default, deadline=None)
settings.load_profile("compiling")

# Two test processes on two cores leave none for libraries that start threads.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

# A shell starts what it puts into the background with interrupts ignored, other programs block signals, and all that is
# started from there inherits it: tests of Ctrl-C and SIGTERM would press in vain.
for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGTERM, signal.SIG_DFL)):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, usual)
if hasattr(signal, "pthread_sigmask"):
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM})


@pytest.fixture
def in_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names of files mean those of a folder that only this test has."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Instances of a batch are solved in this process, and settings are tried in it."""
    from chores import Here
    from neuralns.experiments import batch, tune

    for module in (batch, tune):
        monkeypatch.setattr(module, "ProcessPool", lambda workers: Here())


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a quick run of all; made once, however many processes test."""
    from clusters import wait_until
    from commands import spawn

    base = tmp_path_factory.getbasetemp()
    root = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder, ended = root / "whole", root / "whole.json"
    try:
        (root / "whole.lock").mkdir()
    except FileExistsError:
        wait_until(ended.exists, 1200)
    else:
        before = os.times()
        outcome = spawn("reproduce", "all", "--quick", "--workers", 2, "--out", folder)
        after = os.times()
        processor = after.children_user + after.children_system - before.children_user - before.children_system
        news = {**vars(outcome), "processor": processor}
        ended.with_suffix(".part").write_text(json.dumps(news))
        ended.with_suffix(".part").rename(ended)
    return folder
