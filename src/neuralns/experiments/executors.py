"""Who does jobs: processes of this machine, or the workers of a Dask cluster."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from threading import Thread

from neuralns.errors import InputError, how_to_install


def process_pool(workers: int) -> Executor:
    """Return an executor of processes that leave Ctrl-C to their parent, and do not outlive it."""
    # Read by numeric libraries when they load, in the processes to come.
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(variable, "1")
    return ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _begin_process)


def _begin_process() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextmanager
def cluster(address: str, patience: float = 10.0) -> Iterator[Callable[[], Executor]]:
    """Connect to a Dask scheduler; give a function that returns its executor."""
    try:
        from distributed import Client, Security
        from distributed.core import connect
    except ImportError:
        raise InputError(f"a cluster needs Dask; install it with: {how_to_install('cluster')}.") from None

    # What it logs with tracebacks comes from here as sentences.
    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)

    async def knock() -> None:
        trying = connect(address, timeout=patience, **Security().get_connection_args("client"))
        # Its own limit leaves out a server that accepts and then says nothing.
        comm = await asyncio.wait_for(trying, 1.5 * patience)
        await comm.close()

    try:
        # A client that cannot connect makes noise when it is thrown away.
        asyncio.run(knock())
        client = Client(address, timeout=patience, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        reason = " ".join(str(error).split()) or f"no answer in {1.5 * patience:g} s"
        raise InputError(f"cluster {address!r} cannot be reached ({reason.rstrip('.')}).") from None
    try:
        if not client.scheduler_info().get("workers"):
            raise InputError(
                f"cluster {address!r} has no worker; start some with 'dask worker {address} --nthreads 1'."
            )
        # Tasks that count as pure are not done again when they failed.
        yield partial(client.get_executor, pure=False)
    finally:
        client.close()
