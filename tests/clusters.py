"""A Dask cluster for tests: a scheduler and workers as processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType


class Cluster:
    """Processes that end with the block."""

    def __init__(self, folder: Path, workers: int = 0) -> None:
        self.folder = folder
        self.workers: list[subprocess.Popen[bytes]] = []
        told = folder / "scheduler.json"
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", told)
        try:
            wait_until(lambda: told.exists() and told.read_text().endswith("}"))
            self.address: str = json.loads(told.read_text())["address"]
            for _ in range(workers):
                self.start_worker()
            wait_until(lambda: self._known_workers() >= workers)
        except BaseException:
            self.stop()
            raise

    def start_worker(self) -> None:
        options = ("--nworkers", "1", "--nthreads", "1", "--no-nanny", "--local-directory", self.folder)
        self.workers.append(self._start("worker", self.address, *options))

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        process.kill()
        process.wait()

    def stop(self) -> None:
        for process in (*self.workers, self.scheduler):
            self.kill(process)

    def __enter__(self) -> Cluster:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    def _start(self, part: str, *options: object) -> subprocess.Popen[bytes]:
        # They import the jobs of tests, and what the tests do.
        paths = os.pathsep.join([str(Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])])
        command = [sys.executable, "-m", f"distributed.cli.dask_{part}", "--no-dashboard", *map(str, options)]
        return subprocess.Popen(
            command, env={**os.environ, "PYTHONPATH": paths}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def _known_workers(self) -> int:
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:
            return len(client.scheduler_info()["workers"])


def wait_until(ready: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait for something that happens in another process."""
    end = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < end
        time.sleep(0.05)
