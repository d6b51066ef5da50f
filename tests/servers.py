"""A server of the tests, in a thread of theirs, and a client of it."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import uvicorn

from neuralns.studio.access import Access
from neuralns.studio.connections import uvicorn_options
from neuralns.studio.jobs import Jobs
from neuralns.studio.limits import Limits
from neuralns.studio.server import make_app

NAMED = {"name": "E-n22-k4"}


@dataclass
class Served:
    """A server that runs, as a client sees it, and what it holds."""

    address: str
    client: httpx.Client
    jobs: Jobs
    loop: asyncio.AbstractEventLoop

    def begin(self, instance: dict[str, Any] | None = None, **options: Any) -> str:
        """Begin a job; return its number."""
        answer = self.client.post("/jobs", json={"instance": instance or NAMED, "options": options})
        assert answer.status_code == 201, answer.text
        return str(answer.json()["id"])

    def get(self, path: str) -> Any:
        answer = self.client.get(path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, path: str, content: Any = None) -> Any:
        answer = self.client.post(path, json=content)
        assert answer.status_code in (200, 201), answer.text
        return answer.json()

    def wait(self, job: str, *states: str, seconds: float = 300) -> dict[str, Any]:
        """Wait until a job is in one of some states, by default at its end; return what is told of it."""
        wanted = states or ("done", "stopped", "failed")
        self.until(lambda: self.get(f"/jobs/{job}")["state"] in wanted, seconds)
        found: dict[str, Any] = self.get(f"/jobs/{job}")
        return found

    def solved(self, instance: dict[str, Any] | None = None, **options: Any) -> dict[str, Any]:
        """Run a job to its end."""
        return self.wait(self.begin(instance, **options))

    def until(self, happens: Callable[[], Any], seconds: float = 300) -> None:
        end = time.monotonic() + seconds
        while not happens():
            assert time.monotonic() < end, "it never happened"
            time.sleep(0.02)

    def events(self, job: str, after: int = 0) -> Iterator[tuple[int, str, Any]]:
        """Yield the events of a job: number, kind and content."""
        with self.client.stream("GET", f"/jobs/{job}/events", headers={"Last-Event-ID": str(after)}) as stream:
            number, kind = 0, ""
            for line in stream.iter_lines():
                name, _, value = line.partition(": ")
                if name == "id":
                    number = int(value)
                elif name == "event":
                    kind = value
                elif name == "data":
                    yield number, kind, json.loads(value)

    @contextmanager
    def limited(self, folder: Path | None = None, **limits: Any) -> Iterator[Served]:
        """Have other limits for a while, and no jobs at the beginning."""
        usual = self.jobs.limits
        self.jobs._jobs.clear()
        self.jobs.limits, self.jobs.folder = replace(usual, **limits), folder
        try:
            yield self
        finally:
            self.jobs.limits, self.jobs.folder = usual, None

    def process(self, job: str) -> int:
        """Return the number of the process of a job."""
        process = self.jobs._jobs[job].process
        assert process is not None
        self.until(lambda: process.pid)
        assert process.pid is not None
        return process.pid


@contextmanager
def serving(limits: Limits | None = None, access: Access | None = None, folder: Path | None = None) -> Iterator[Served]:
    """Run a server in a thread."""
    app = make_app(limits or Limits(jobs=4), access, folder)
    options = uvicorn_options(limits or Limits())
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1, **options))
    found: list[asyncio.AbstractEventLoop] = []

    async def run() -> None:
        found.append(asyncio.get_running_loop())
        await server.serve([listening])

    thread = threading.Thread(target=lambda: asyncio.run(run()))
    thread.start()
    address = f"http://127.0.0.1:{listening.getsockname()[1]}"
    try:
        while not server.started:
            time.sleep(0.01)
        with httpx.Client(base_url=address, timeout=900) as client:
            yield Served(address, client, app.app.state.jobs, found[0])
    finally:
        app.app.state.jobs.closing = server.should_exit = True
        thread.join()
        listening.close()
