"""Jobs: each a search in a process of its own, so many at a time, others in line, finished ones kept for a while."""

from __future__ import annotations

import asyncio
import base64
import time
import warnings
import zlib
from collections.abc import AsyncIterator, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any

from neuralns.errors import InputError, InputWarning
from neuralns.search.solve import TRIALS_SHARE
from neuralns.studio.asking import Makers, RefusedError, begin, first
from neuralns.studio.children import Child, new_parent
from neuralns.studio.limits import Limits
from neuralns.studio.record import DONE, FAILED, PAUSED, RUNNING, STOPPED, WAITING, Facts, Job, path_of, read_job

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


class Jobs:
    """All jobs of a server; those that have ended are kept in a folder if one is given.

    While it is ``closing``, nobody is to wait for anything.
    """

    def __init__(self, limits: Limits, folder: Path | None = None) -> None:
        self.limits, self.folder = limits, folder
        self.nurse = new_parent()
        self._jobs: dict[str, Job] = {}
        self._line: list[Job] = []
        self._running: set[Job] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._makers = Makers(self.nurse)
        self._writing: dict[Job, asyncio.Task[None]] = {}
        self.closing = False

    def start(self) -> None:
        """Begin to work."""
        self.recall()
        self.nurse.start()
        self._begin(self._watch())

    def recall(self) -> None:
        """Take up the jobs of the folder again, the newest of them where there are many; what is damaged is left."""
        if self.folder is None:
            return
        files = sorted(self.folder.glob("*.json"), key=lambda path: path.lstat().st_mtime)[-MOST_RECALLED:]
        taken = 0
        for path in reversed(files):
            if taken > self.limits.kept_bytes:
                break
            try:
                job = read_job(self.folder, path.stem)
            except InputError as error:
                _warn(error)
                continue
            if job is not None:
                self._jobs[job.id] = job
                taken += job.bytes

    def close(self) -> None:
        """End everything; of searches that still run, the best so far is kept if there is a folder."""
        known = self._jobs.values()
        unwritten = [job for job in known if job in self._writing or job in self._running or job.kept is False]
        for task in self._tasks:
            task.cancel()
        for job in self._running:
            job.set_state(STOPPED)
        if self.folder is not None:
            for job in unwritten:
                _write(job, self.folder)
        self.nurse.close()

    def listed(self) -> list[Facts]:
        """Return all jobs in brief, the newest first."""
        jobs = sorted(self._jobs.values(), key=lambda job: job.created, reverse=True)
        return [job.brief(self.place_of(job)) for job in jobs]

    def told(self, job: Job) -> Facts:
        """Return what is told of a job."""
        return job.told(self.place_of(job))

    async def get(self, name: str) -> Job:
        """Return a job by its number."""
        found = self._jobs.get(name)
        if found is None and self.folder is not None:
            with suppress(InputError):
                found = await asyncio.to_thread(read_job, self.folder, name)
            if found is not None:
                found = self._jobs.setdefault(name, found)
        if found is None:
            raise RefusedError(404, "there is no such job; those that have ended are kept for a while only.")
        return found

    def place_of(self, job: Job) -> int:
        """Return the place of a job in line, 0 if it is in none."""
        return self._line.index(job) + 1 if job in self._line else 0

    async def submit(
        self,
        body: bytes,
        kind: str = "solve",
        start: Facts | None = None,
        changes: Facts | None = None,
        client: str = "",
    ) -> Job:
        """Take a request, or refuse it; those of VROOM's convention are not listed.

        Where it has to wait, a process reads it to see whether it is right, and ends; it is read again by the one that
        is to do it. So no memory is held for those that wait but for what was received.
        """
        self._check_room(client)
        job = Job(kind, start, changes, client)
        at_once = not self._line and len(self._running) < self.limits.jobs
        if at_once:
            self._running.add(job)
        else:
            self._line.append(job)
        try:
            # What takes long is done in a thread, so that others are answered meanwhile.
            job.body = await asyncio.to_thread(zlib.compress, body)
            if at_once:
                await self._start(job, body)
            else:
                job.take_request(await self._makers.ask(_order(job), self.limits, body))
        except BaseException:
            self._leave(job)
            self._advance()
            raise
        if kind == "solve":
            self._jobs[job.id] = job
        self._advance()
        return job

    def _check_room(self, client: str) -> None:
        """Refuse a request where there is no room for it, or none for more of its client's."""
        running, waiting, most = len(self._running), len(self._line), self.limits.client_jobs
        later = {"Retry-After": "5"}
        if running + waiting >= self.limits.jobs + self.limits.waiting:
            sentence = (
                f"{running} searches run and {waiting} wait, which is all that this server takes; try again later."
            )
            raise RefusedError(429, sentence, **later)
        own = sum(job.client == client for job in (*self._running, *self._line))
        if most is not None and own >= most:
            sentence = f"{own} searches of this client run or wait, which is all that it may have; try again later."
            raise RefusedError(429, sentence, **later)

    def _leave(self, job: Job) -> None:
        """Give up the place of a job."""
        self._running.discard(job)
        if job in self._line:
            self._line.remove(job)

    async def _start(self, job: Job, body: bytes) -> None:
        """Have a child read the request, and begin."""
        job.child = child = await begin(self.nurse, _order(job), body, self.limits)
        if job.stopped_at is not None:
            child.kill()
        messages = child.messages()
        job.take_request(await first(child, messages))
        job.heard_at = time.monotonic()
        job.set_state(RUNNING)
        child.send({"do": "go"})
        self._begin(self._listen(job, child, messages))

    async def _start_from_line(self, job: Job) -> None:
        try:
            await self._start(job, await asyncio.to_thread(zlib.decompress, job.body))
        except RefusedError as error:
            if job.stopped_at is not None:
                self._end(job, STOPPED)
            else:
                self._end(job, FAILED, error.sentence)
        except OSError as error:
            self._end(job, FAILED, f"no process could be begun for it ({error.strerror or error}).")

    def _begin(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _advance(self) -> None:
        """Let those in line begin for whom there is room, and tell the others their places."""
        ready = [job for job in self._line if job.is_read]
        for job in ready[: max(0, self.limits.jobs - len(self._running))]:
            self._line.remove(job)
            self._running.add(job)
            self._begin(self._start_from_line(job))
        for place, job in enumerate(self._line, 1):
            if job.is_read:
                job.events.add("state", {"state": WAITING, "place": place})

    async def _listen(self, job: Job, child: Child, messages: AsyncIterator[Facts]) -> None:
        """Take in what a job's process tells, until it ends."""
        async for message in messages:
            job.heard_at = time.monotonic()
            self._take(job, message.pop("kind"), message)
            if job.is_over:
                break
        child.close()
        if not job.is_over:
            status = await child.ended
            if job.stopped_at is not None:
                self._end(job, STOPPED)
            elif job.silent_for is not None:
                self._end(job, FAILED, f"the process of this search gave no sign for {job.silent_for:g} s.")
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
            job.result = content["result"]
            job.trace, job.answer = (base64.b64decode(content[key]) for key in ("trace", "answer"))
            job.events.add("done", {"result": content["result"]})
            self._end(job, DONE if job.stopped_at is None else STOPPED)

    def _end(self, job: Job, state: str, error: str | None = None) -> None:
        if error is not None:
            job.error = error
            job.events.add("error", {"error": error})
        self._leave(job)
        job.set_state(state)
        self._keep(job)
        self._advance()

    def _keep(self, job: Job) -> None:
        """Have a job that has ended be written, beside all else."""
        if self.folder is not None and job.kind == "solve":
            task = self._writing[job] = self._begin(asyncio.to_thread(_write, job, self.folder))
            task.add_done_callback(lambda _: self._writing.pop(job, None))

    def order(self, job: Job, what: str, **more: Any) -> None:
        """Have a running job do something."""
        if job.is_over:
            raise RefusedError(409, f"this search has ended ({job.state}).")
        if job.state == WAITING or job.child is None:
            raise RefusedError(409, "this search has not begun yet.")
        job.child.send({"do": what, **more})

    def stop(self, job: Job) -> None:
        """End a job; what it has found is kept."""
        if job.is_over:
            return
        job.stopped_at = job.stopped_at or time.monotonic()
        if job in self._line:
            self._end(job, STOPPED)
        elif job.child is None:
            # It is just about to begin, and ends then.
            pass
        elif job.progress is None:
            # It is being read or compiled, or its start is being built: there is nothing to keep.
            job.child.kill()
        else:
            job.child.send({"do": "stop"})

    async def forget(self, job: Job) -> None:
        """Stop a job and forget it."""
        self.stop(job)
        await job.ended.wait()
        if job in self._writing:
            await asyncio.wait([self._writing[job]])
        self._jobs.pop(job.id, None)
        if self.folder is not None:
            try:
                path_of(self.folder, job.id).unlink(missing_ok=True)
            except OSError as error:
                raise RefusedError(500, f"its file cannot be deleted ({error.strerror or error}).") from None

    async def follow(self, job: Job, changes: Facts, client: str = "") -> Job:
        """Return a new job that goes on from the best of another one."""
        if job.best is None:
            raise RefusedError(409, "this search has found nothing yet to go on from.")
        start = {key: job.best[key] for key in ("routes", "vehicles")}
        self._check_room(client)
        body = await asyncio.to_thread(zlib.decompress, job.body)
        return await self.submit(body, "solve", start, (job.changes or {}) | changes, client)

    async def episode(self, asked: Facts) -> Facts:
        """Return an episode; what plays it may have to be compiled."""
        return await self._makers.make({"task": "episode", "episode": asked}, self.limits, seconds=LOADING_SECONDS)

    async def download(self, job: Job, name: str) -> Facts:
        """Return the best routes of a job in a format."""
        if job.best is None:
            raise RefusedError(409, "this search has found nothing yet.")
        solution = {key: job.best[key] for key in ("routes", "vehicles")}
        order = {"task": "make", "changes": job.changes, "solution": solution, "format": name, "seconds": job.seconds}
        return await self._makers.make(order, self.limits, job.body)

    async def _watch(self) -> None:
        """See to it, from time to time, that nothing takes too long."""
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            for job in (*self._running, *self._line):
                self._look_after(job)
            self._tidy()

    def _look_after(self, job: Job) -> None:
        now = time.monotonic()
        alone = job.listeners == 0 and now - job.alone_since > CLIENT_SECONDS
        if job.is_over:
            return
        if job.options.get("stop_with_client") and alone:
            self.stop(job)
        if job.child is None:
            return
        if job.stopped_at is not None and now - job.stopped_at > STOP_SECONDS:
            job.child.kill()
        elif job.state == PAUSED:
            self._look_after_pause(job, now)
        elif job.state == RUNNING:
            silent = SILENT_SECONDS if job.progress is not None else _loading_seconds(job)
            if now - job.heard_at > silent:
                job.silent_for = silent
                job.child.kill()

    def _look_after_pause(self, job: Job, now: float) -> None:
        """End a job that keeps its place from others for too long, or that nobody lets go on."""
        job.held += WATCH_SECONDS if self._line else 0.0
        if job.stopped_at is None and job.held > self.limits.pause_seconds:
            note = f"it was ended after {self.limits.pause_seconds:g} s of pause in which others waited."
            job.notes = [*job.notes, note]
            self.stop(job)
        elif now - job.heard_at > self.limits.keep_seconds:
            self.stop(job)

    def _tidy(self) -> None:
        """Forget jobs that ended long ago, and more of them where they take too much memory."""
        now, taken = time.time(), sum(job.bytes for job in self._jobs.values() if job.is_over)
        unused = [job for job in self._jobs.values() if job.is_over and job.listeners == 0 and job not in self._writing]
        for job in sorted(unused, key=lambda job: job.ended_at or 0.0):
            assert job.ended_at is not None
            is_old = not job.kept and now - job.ended_at > self.limits.keep_seconds
            if is_old or taken > self.limits.kept_bytes:
                taken -= job.bytes
                del self._jobs[job.id]


def _order(job: Job) -> Facts:
    return {"task": job.kind, "start": job.start, "changes": job.changes}


def _write(job: Job, folder: Path) -> None:
    try:
        job.write(folder)
    except InputError as error:
        _warn(error)


def _warn(error: InputError) -> None:
    """Tell whoever runs the server."""
    warnings.warn(str(error), InputWarning, stacklevel=2)


def _loading_seconds(job: Job) -> float:
    """Return the longest that a job may say nothing at first: some try out pairs of operators before they begin."""
    tries = job.options.get("selector") == "best-fixed"
    return LOADING_SECONDS + (TRIALS_SHARE * float(job.options["time"]) if tries else 0.0)
