"""Jobs: each a search in a process of its own, so many at a time, others in line, finished ones kept for a while."""

from __future__ import annotations

import asyncio
import json
import time
import zlib
from collections.abc import AsyncIterator, Coroutine
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from neuralns.errors import InputError
from neuralns.studio.children import Child, Nurse
from neuralns.studio.limits import Limits
from neuralns.studio.record import DONE, FAILED, PAUSED, RUNNING, STOPPED, WAITING, Facts, Job, read_job

READING_SECONDS = 60.0
"""Longest that the reading of a request, or the making of a download, may take."""
LOADING_SECONDS = 900.0
"""Longest that a job may say nothing at first: rules that were never used before are compiled."""
SILENT_SECONDS = 60.0
"""Longest that a job may say nothing later."""
STOP_SECONDS = 10.0
"""Time that a job has to end by itself."""
CLIENT_SECONDS = 10.0
"""Time without a listener after which a job ends that is to stop with its client."""
WATCH_SECONDS = 1.0
MOST_RECALLED = 200
MAKERS = 2
"""Processes at a time that make downloads, timetables and episodes."""


class RefusedError(Exception):
    """A request that cannot be met: its status and sentence."""

    def __init__(self, status: int, sentence: str, **headers: str) -> None:
        super().__init__(sentence)
        self.status, self.sentence, self.headers = status, sentence, headers


class Jobs:
    """All jobs of a server; those that have ended are kept in a folder if one is given.

    While it is ``closing``, nobody is to wait for anything.
    """

    def __init__(self, limits: Limits, folder: Path | None = None) -> None:
        self.limits, self.folder = limits, folder
        self.nurse = Nurse()
        self._jobs: dict[str, Job] = {}
        self._line: list[Job] = []
        self._running: set[Job] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._makers = asyncio.Semaphore(MAKERS)
        self.closing = False

    def start(self) -> None:
        """Begin to work."""
        self.recall()
        self.nurse.start()
        self._begin(self._watch())

    def recall(self) -> None:
        """Take up the jobs of the folder again, the newest of them where there are many."""
        if self.folder is None:
            return
        files = sorted(self.folder.glob("*.json"), key=lambda path: path.stat().st_mtime)[-MOST_RECALLED:]
        for path in files:
            with suppress(InputError):
                job = read_job(self.folder, path.stem)
                if job is not None:
                    self._jobs[job.id] = job

    def close(self) -> None:
        """End everything; of searches that still run, the best so far is kept if there is a folder."""
        for task in self._tasks:
            task.cancel()
        for job in self._running:
            job.set_state(STOPPED)
            self._keep(job)
        self.nurse.close()

    def listed(self) -> list[Facts]:
        """Return all jobs in brief, the newest first."""
        return [job.brief(self.place_of(job)) for job in reversed(self._jobs.values())]

    def told(self, job: Job) -> Facts:
        """Return what is told of a job."""
        return job.told(self.place_of(job))

    def get(self, name: str) -> Job:
        """Return a job by its number."""
        found = self._jobs.get(name)
        if found is None and self.folder is not None:
            with suppress(InputError):
                found = read_job(self.folder, name)
        if found is None:
            raise RefusedError(404, "there is no such job; those that have ended are kept for a while only.")
        return found

    def place_of(self, job: Job) -> int:
        """Return the place of a job in line, 0 if it is in none."""
        return self._line.index(job) + 1 if job in self._line else 0

    async def submit(
        self, body: bytes, kind: str = "solve", start: Facts | None = None, changes: Facts | None = None
    ) -> Job:
        """Take a request, or refuse it; those of VROOM's convention are not listed."""
        running, waiting = len(self._running), len(self._line)
        if running + waiting >= self.limits.jobs + self.limits.waiting:
            sentence = (
                f"{running} searches run and {waiting} wait, which is all that this server takes; try again later."
            )
            raise RefusedError(429, sentence, **{"Retry-After": "5"})
        job = Job(kind, body, start, changes)
        self._line.append(job)
        try:
            await self._read(job, body)
        except BaseException:
            self._line.remove(job)
            raise
        job.is_read = True
        if kind == "solve":
            self._jobs[job.id] = job
        self._advance()
        return job

    async def _read(self, job: Job, body: bytes) -> None:
        """Have a child read the request; it is the one to do it, when its turn comes."""
        child = await self._child({"task": job.kind, "start": job.start, "changes": job.changes}, body)
        messages = child.messages()
        message = await self._first(child, messages)
        job.child = child
        job.name, job.options, job.notes = message["name"], message["options"], message["notes"]
        job.take_instance(message["instance"])
        self._begin(self._listen(job, child, messages))

    async def _child(self, order: Facts, body: bytes) -> Child:
        child = await self.nurse.child()
        child.send(order | {"bytes": len(body), "limits": asdict(self.limits)}, body)
        return child

    async def _first(self, child: Child, messages: AsyncIterator[Facts], seconds: float = READING_SECONDS) -> Facts:
        """Return the first that a child says, unless it refuses or takes longer than some seconds."""
        try:
            message = await asyncio.wait_for(anext(messages), seconds)
            if message["kind"] == "refused":
                raise RefusedError(message["status"], message["error"])
        except TimeoutError:
            self._drop(child)
            raise RefusedError(422, f"that could not be done in {seconds:g} s.") from None
        except StopAsyncIteration:
            self._drop(child)
            raise RefusedError(422, "the process that read the request ended unexpectedly.") from None
        except BaseException:
            self._drop(child)
            raise
        return message

    def _drop(self, child: Child) -> None:
        child.kill()
        child.close()

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _advance(self) -> None:
        """Let those in line begin for whom there is room, and tell the others their places."""
        ready = [job for job in self._line if job.is_read]
        for job in ready[: max(0, self.limits.jobs - len(self._running))]:
            self._line.remove(job)
            self._running.add(job)
            job.heard_at = time.time()
            job.set_state(RUNNING)
            assert job.child is not None
            job.child.send({"do": "go"})
        for place, job in enumerate(self._line, 1):
            if job.is_read:
                job.events.add("state", {"state": WAITING, "place": place})

    async def _listen(self, job: Job, child: Child, messages: AsyncIterator[Facts]) -> None:
        """Take in what a job's process tells, until it ends."""
        async for message in messages:
            job.heard_at = time.time()
            self._take(job, message.pop("kind"), message)
            if job.is_over:
                break
        child.close()
        if not job.is_over:
            status = await child.ended
            if job.stopped_at is not None:
                self._end(job, STOPPED)
            else:
                how = f"signal {-status}" if status < 0 else f"status {status}"
                self._end(job, FAILED, f"the process of this search ended unexpectedly ({how}).")

    def _take(self, job: Job, kind: str, content: Facts) -> None:
        if kind == "progress":
            job.progress = content
            job.events.add(kind, content)
        elif kind == "best":
            job.take_best(content)
        elif kind == "step":
            job.events.add(kind, content)
        elif kind == "paused":
            job.set_state(PAUSED)
        elif kind == "resumed":
            job.set_state(RUNNING)
        elif kind == "refused":
            self._end(job, FAILED, content["error"])
        elif kind == "done":
            job.result, job.answer = content["result"], content["answer"]
            job.trace = zlib.compress(content["trace"].encode())
            job.events.add("done", {"result": content["result"]})
            self._end(job, DONE if job.stopped_at is None else STOPPED)

    def _end(self, job: Job, state: str, error: str | None = None) -> None:
        if error is not None:
            job.error = error
            job.events.add("error", {"error": error})
        if job in self._line:
            self._line.remove(job)
        self._running.discard(job)
        job.set_state(state)
        self._keep(job)
        self._advance()

    def _keep(self, job: Job) -> None:
        if self.folder is not None and job.kind == "solve":
            with suppress(InputError):
                job.write(self.folder)

    def order(self, job: Job, what: str, **more: Any) -> None:
        """Have a running job do something."""
        if job.is_over:
            raise RefusedError(409, f"this search has ended ({job.state}).")
        if job.state == WAITING or job.child is None:
            raise RefusedError(409, "this search has not begun yet.")
        job.child.send({"do": what, **more})

    def stop(self, job: Job) -> None:
        """End a job; what it has found is kept."""
        if job.is_over or job.child is None:
            return
        job.stopped_at = job.stopped_at or time.time()
        if job.state == WAITING:
            self._end(job, STOPPED)
            self._drop(job.child)
        elif job.progress is None:
            # It is being compiled, or its start is being built: there is nothing to keep.
            job.child.kill()
        else:
            job.child.send({"do": "stop"})

    async def forget(self, job: Job) -> None:
        """Stop a job and forget it."""
        self.stop(job)
        await job.ended.wait()
        self._jobs.pop(job.id, None)
        if self.folder is not None:
            (self.folder / f"{job.id}.json").unlink(missing_ok=True)

    async def follow(self, job: Job, changes: Facts) -> Job:
        """Return a new job that goes on from the best of another one."""
        if job.best is None:
            raise RefusedError(409, "this search has found nothing yet to go on from.")
        start = {key: job.best[key] for key in ("routes", "vehicles")}
        return await self.submit(zlib.decompress(job.body), "solve", start, (job.changes or {}) | changes)

    async def make(self, order: Facts, body: bytes = b"", seconds: float = READING_SECONDS) -> Facts:
        """Have a process make something within some seconds, and return it."""
        async with self._makers:
            child = await self._child(order, body)
            found = await self._first(child, child.messages(), seconds)
            child.close()
            return found

    async def episode(self, asked: Facts) -> Facts:
        """Return an episode; what plays it may have to be compiled."""
        return await self.make({"task": "episode", "episode": asked}, seconds=LOADING_SECONDS)

    async def download(self, job: Job, name: str) -> Facts:
        """Return the best routes of a job in a format."""
        if job.best is None:
            raise RefusedError(409, "this search has found nothing yet.")
        solution = {key: job.best[key] for key in ("routes", "vehicles")}
        return await self.make({"task": "make", "solution": solution, "format": name}, zlib.decompress(job.body))

    async def _watch(self) -> None:
        """See to it, from time to time, that nothing takes too long."""
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            for job in (*self._running, *self._line):
                self._look_after(job)
            self._tidy()

    def _look_after(self, job: Job) -> None:
        now = time.time()
        alone = job.listeners == 0 and now - job.alone_since > CLIENT_SECONDS
        if job.child is None or job.is_over:
            return
        if job.options.get("stop_with_client") and alone:
            self.stop(job)
        if job.stopped_at is not None and now - job.stopped_at > STOP_SECONDS:
            job.child.kill()
        elif job.state == PAUSED and now - job.heard_at > self.limits.keep_seconds:
            self.stop(job)
        elif job.state == RUNNING:
            silent = LOADING_SECONDS if job.progress is None else SILENT_SECONDS
            if now - job.heard_at > silent:
                job.child.kill()

    def _tidy(self) -> None:
        """Forget jobs that ended long ago, and more of them where they take too much memory."""
        now, taken = time.time(), sum(job.bytes for job in self._jobs.values())
        for job in [job for job in self._jobs.values() if job.is_over and job.listeners == 0]:
            assert job.ended_at is not None
            is_old = self.folder is None and now - job.ended_at > self.limits.keep_seconds
            if is_old or taken > self.limits.kept_bytes:
                taken -= job.bytes
                del self._jobs[job.id]

    def instance(self, job: Job) -> bytes:
        """Return what is drawn of a job's instance, as JSON."""
        return zlib.decompress(job.instance)


def as_json(content: Any) -> bytes:
    """Return the text of JSON."""
    return json.dumps(content, separators=(",", ":")).encode()
