"""Jobs: each a search in a process of its own, so many at a time, others in line, finished ones kept for a while."""

from __future__ import annotations

import asyncio
import secrets
import time
import zlib
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from neuralns.studio.children import Child, Nurse
from neuralns.studio.events import EventLog
from neuralns.studio.limits import Limits

WAITING, RUNNING, PAUSED, DONE, FAILED, STOPPED = "waiting", "running", "paused", "done", "failed", "stopped"
ENDED = (DONE, FAILED, STOPPED)
READING_SECONDS = 60.0
"""Longest that the reading of a request may take."""


class RefusedError(Exception):
    """A request that cannot be met: its status and sentence."""

    def __init__(self, status: int, sentence: str, **headers: str) -> None:
        super().__init__(sentence)
        self.status, self.sentence, self.headers = status, sentence, headers


class Job:
    """A search, from its request to its result."""

    def __init__(self, body: bytes, limits: Limits) -> None:
        self.id = secrets.token_urlsafe(9)
        self.body = zlib.compress(body)
        self.limits = limits
        self.state = WAITING
        self.name = ""
        self.options: dict[str, Any] = {}
        self.instance: dict[str, Any] = {}
        self.notes: list[str] = []
        self.error: str | None = None
        self.progress: dict[str, Any] | None = None
        self.best: dict[str, Any] | None = None
        self.result: dict[str, Any] | None = None
        self.events = EventLog()
        self.child: Child | None = None
        self.created = time.time()
        self.ended_at: float | None = None
        self.ended = asyncio.Event()

    @property
    def is_over(self) -> bool:
        return self.state in ENDED

    def set_state(self, state: str, **more: Any) -> None:
        """Be in a state, and tell."""
        self.state = state
        self.events.add("state", {"state": state, **more})
        if self.is_over:
            self.ended_at = time.time()
            self.events.close()
            self.ended.set()


class Jobs:
    """All jobs of a server."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.nurse = Nurse()
        self._jobs: dict[str, Job] = {}
        self._line: list[Job] = []
        self._running: set[Job] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    def __iter__(self) -> Iterable[Job]:
        return reversed(self._jobs.values())

    def get(self, name: str) -> Job:
        """Return a job by its number."""
        if name not in self._jobs:
            raise RefusedError(404, "there is no such job; finished ones are kept for a while only.")
        return self._jobs[name]

    def place_of(self, job: Job) -> int:
        """Return the place of a job in line, 0 if it is in none."""
        return self._line.index(job) + 1 if job in self._line else 0

    async def submit(self, body: bytes) -> Job:
        """Take a request, or refuse it."""
        if len(self._running) + len(self._line) >= self.limits.jobs + self.limits.waiting:
            raise RefusedError(
                429, f"{len(self._running)} jobs run and {len(self._line)} wait; try again later.", **{"Retry-After": "5"}
            )
        job = Job(body, self.limits)
        self._line.append(job)
        try:
            await self._read(job, body)
        except BaseException:
            self._line.remove(job)
            raise
        self._jobs[job.id] = job
        self._tell_places()
        self._advance()
        return job

    async def _read(self, job: Job, body: bytes) -> None:
        """Have a child read the request; it is the one to do it, later."""
        child = await self.nurse.child()
        child.send({"bytes": len(body), "limits": asdict(self.limits)}, body)
        messages = child.messages()
        try:
            message = await asyncio.wait_for(anext(messages), READING_SECONDS)
        except TimeoutError:
            child.kill()
            child.close()
            raise RefusedError(422, f"the request could not be read in {READING_SECONDS:g} s.") from None
        except StopAsyncIteration:
            child.close()
            raise RefusedError(422, "the process that read the request ended unexpectedly.") from None
        except BaseException:
            child.kill()
            child.close()
            raise
        if message["kind"] == "refused":
            child.close()
            raise RefusedError(message.get("status", 422), message["error"])
        job.child = child
        job.name, job.options, job.instance = message["name"], message["options"], message["instance"]
        job.notes = message["notes"]
        task = asyncio.create_task(self._listen(job, child, messages))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _tell_places(self) -> None:
        for place, job in enumerate(self._line, 1):
            if job.id in self._jobs:
                job.events.add("state", {"state": WAITING, "place": place})

    def _advance(self) -> None:
        """Let those in line begin for whom there is room."""
        while len(self._running) < self.limits.jobs:
            job = next((job for job in self._line if job.id in self._jobs), None)
            if job is None:
                return
            self._line.remove(job)
            self._running.add(job)
            job.set_state(RUNNING)
            assert job.child is not None
            job.child.send({"do": "go"})
            self._tell_places()

    async def _listen(self, job: Job, child: Child, messages: Any) -> None:
        """Take in what a job's process tells, until it ends."""
        try:
            async for message in messages:
                self._take(job, message.pop("kind"), message)
        finally:
            child.close()
            if not job.is_over:
                status = await asyncio.wait_for(asyncio.shield(child.ended), 5)
                self._end(job, FAILED, f"the process of this job ended unexpectedly (status {status}).")

    def _take(self, job: Job, kind: str, content: dict[str, Any]) -> None:
        if kind == "progress":
            job.progress = content
            job.events.add(kind, content)
        elif kind == "best":
            job.best = content
            job.events.add(kind, content, {key: content[key] for key in ("index", "time", "iteration", "cost")})
        elif kind == "refused":
            self._end(job, FAILED, content["error"])
        elif kind == "done":
            job.result = content["result"]
            job.events.add("done", content)
            self._end(job, STOPPED if content["result"]["stopped_by"] == "callback" else DONE)

    def _end(self, job: Job, state: str, error: str | None = None) -> None:
        if error is not None:
            job.error = error
            job.events.add("error", {"error": error})
        if job in self._line:
            self._line.remove(job)
        self._running.discard(job)
        job.set_state(state)
        self._tell_places()
        self._advance()

    def stop(self, job: Job) -> None:
        """End a job; what it has found is kept."""
        if job.state == WAITING and job.child is not None:
            self._end(job, STOPPED)
            job.child.kill()
        elif not job.is_over and job.child is not None:
            job.child.send({"do": "stop"})

    def forget(self, job: Job) -> None:
        """Forget a job that is over."""
        self._jobs.pop(job.id, None)

    def close(self) -> None:
        """End everything."""
        for task in self._tasks:
            task.cancel()
        self.nurse.close()
