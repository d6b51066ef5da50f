"""Clusters that cannot do jobs are named; those that can are tried with the jobs."""

from __future__ import annotations

import re
import socket
import sys
from pathlib import Path

import pytest

from clusters import Cluster
from neuralns import InputError
from neuralns.experiments.executors import cluster


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
