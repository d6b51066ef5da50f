"""Processes, and clusters that cannot do jobs; those that can are tried with the jobs."""

from __future__ import annotations

import os
import re
import signal
import socket
import sys
import time
from pathlib import Path

import pytest

from clusters import Cluster
from neuralns import InputError
from neuralns.experiments.executors import LostProcessError, ProcessPool, check_hands, cluster


def test_a_cluster_without_workers_is_refused(tmp_path: Path) -> None:
    with Cluster(tmp_path) as mine:
        sentence = f"cluster '{mine.address}' has no worker; start some with 'dask worker {mine.address} --nthreads 1'."
        with pytest.raises(InputError, match=f"^{re.escape(sentence)}$"), cluster(mine.address):
            pass


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("tcp://127.0.0.1:1", "Timed out trying to connect to tcp://127.0.0.1:1 after 0.2 s"),
        ("nowhere", "missing port number in address 'nowhere'"),
        ("", "missing port number in address ''"),
        ("post://host:1", "unknown address scheme 'post'"),
        ("tls://127.0.0.1:1", "TLS expects a `ssl_context` argument"),
        ("silent", "no answer in 0.3 s"),
    ],
)
def test_a_cluster_that_cannot_be_reached_is_named(address: str, reason: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        if address == "silent":
            address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        sentence = f"cluster '{address}' cannot be reached ({reason}"
        with pytest.raises(InputError, match=f"^{re.escape(sentence)}.*\\)\\.$"), cluster(address, patience=0.2):
            pass


def test_without_dask_the_command_to_install_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    sentence = "a cluster needs Dask; install it with: pip install '.[cluster]' in the project's folder."
    with pytest.raises(InputError, match=f"^{re.escape(sentence)}$"), cluster("tcp://127.0.0.1:1"):
        pass


# --- Processes. ------------------------------------------------------------------------------------------------------


class StubbornError(Exception):
    """Can be sent, but not be made again from what was sent."""

    def __init__(self, one: int, other: int) -> None:
        super().__init__(f"{one} and {other}")


def be_stubborn() -> None:
    raise StubbornError(1, 2)


def test_processes_give_results_and_errors_as_they_are() -> None:
    with ProcessPool(1) as pool:
        assert pool.submit(divmod, 7, 2).result() == (3, 1)
        with pytest.raises(ZeroDivisionError):
            pool.submit(divmod, 7, 0).result()
        with pytest.raises(RuntimeError, match=r"^StubbornError: 1 and 2$"):
            pool.submit(be_stubborn).result()
        with pytest.raises((TypeError, AttributeError), match="pickle"):
            pool.submit(lambda: None).result()
        with pytest.raises(TypeError, match="pickle"):
            pool.submit(memoryview, b"cannot be sent back").result()
        # One process did it all.
        assert pool.submit(os.getpid).result() == pool.submit(os.getpid).result()


def test_a_killed_process_takes_its_own_call_with_it_and_another_takes_its_place() -> None:
    with ProcessPool(2) as pool:
        beside = pool.submit(time.sleep, 2)
        first = pool.submit(os.getpid).result()
        doomed = pool.submit(time.sleep, 60)
        time.sleep(0.2)
        os.kill(first, signal.SIGKILL)
        with pytest.raises(LostProcessError, match=r"^the process that did it was killed by signal 9 \(perhaps for"):
            doomed.result()
        assert not beside.done()
        assert pool.submit(os.getpid).result() != first
        assert beside.result() is None


def test_work_that_is_given_up_ends_at_once() -> None:
    begin = time.monotonic()
    pool = ProcessPool(1)
    under_way, waiting = pool.submit(time.sleep, 60), pool.submit(time.sleep, 60)
    while not under_way.running():
        time.sleep(0.01)
    pool.shutdown(wait=False)
    assert time.monotonic() - begin < 20
    assert isinstance(under_way.exception(), LostProcessError)
    assert waiting.cancelled()
    with pytest.raises(RuntimeError, match="after shutdown"):
        pool.submit(time.sleep, 0)


@pytest.mark.parametrize(
    ("workers", "address", "sentence"),
    [
        (0, None, "number of workers 0 must be at least 1."),
        (2, "tcp://host:1", "work goes to processes here (--workers) or to a cluster (--cluster), not to both."),
    ],
)
def test_hands_that_make_no_sense_are_refused(workers: int, address: str | None, sentence: str) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(sentence)}$"):
        check_hands(workers, address)
    check_hands(None, address)
