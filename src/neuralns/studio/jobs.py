"""Jobs: each a search in a process of its own, so many at a time, others in a queue, finished ones kept for a while."""

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
from neuralns.studio.job import DONE, FAILED, PAUSED, RUNNING, STOPPED, WAITING, Job, JsonObject, path_of, read_job
from neuralns.studio.limits import Limits
from neuralns.studio.processes import TaskProcess, new_starter
from neuralns.studio.refusal import RefusedError
from neuralns.studio.tasks import TaskPool, first_message, start_task

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
        self.starter = new_starter()
        self._jobs: dict[str, Job] = {}
        self._queue: list[Job] = []
        self._running: set[Job] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._pool = TaskPool(self.starter)
        self._writing: dict[Job, asyncio.Task[None]] = {}
        self.closing = False

    def start(self) -> None:
        """Begin to work."""
        self.recall()
        self.starter.start()
        self._run(self._watch())

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
        self.starter.close()

    def summaries(self) -> list[JsonObject]:
        """Return all jobs in brief, the newest first."""
        jobs = sorted(self._jobs.values(), key=lambda job: job.created, reverse=True)
        return [job.summary(self.queue_position(job)) for job in jobs]

    def description(self, job: Job) -> JsonObject:
        """Return what is told of a job."""
        return job.description(self.queue_position(job))

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

    def queue_position(self, job: Job) -> int:
        """Return the position of a job in the queue from 1, 0 if it is not in it."""
        return self._queue.index(job) + 1 if job in self._queue else 0

    async def submit(
        self,
        body: bytes,
        kind: str = "solve",
        start: JsonObject | None = None,
        changes: JsonObject | None = None,
        client: str = "",
    ) -> Job:
        """Take a request, or refuse it; those of VROOM's convention are not listed.

        Where it has to wait, a process reads it to see whether it is right, and ends; it is read again by the one that
        is to do it. So no memory is held for those that wait but for what was received.
        """
        self._check_room(client)
        job = Job(kind, start, changes, client)
        at_once = not self._queue and len(self._running) < self.limits.jobs
        if at_once:
            self._running.add(job)
        else:
            self._queue.append(job)
        try:
            # What takes long is done in a thread, so that others are answered meanwhile.
            job.body = await asyncio.to_thread(zlib.compress, body)
            if at_once:
                await self._start(job, body)
            else:
                job.take_request(await self._pool.run(_task_of(job), self.limits, body))
        except BaseException:
            self._remove(job)
            self._advance()
            raise
        if kind == "solve":
            self._jobs[job.id] = job
        self._advance()
        return job

    def _check_room(self, client: str) -> None:
        """Refuse a request where there is no room for it, or none for more of its client's."""
        running, waiting, most = len(self._running), len(self._queue), self.limits.client_jobs
        later = {"Retry-After": "5"}
        if running + waiting >= self.limits.jobs + self.limits.waiting:
            sentence = (
                f"{running} searches run and {waiting} wait, which is all that this server takes; try again later."
            )
            raise RefusedError(429, sentence, **later)
        own = sum(job.client == client for job in (*self._running, *self._queue))
        if most is not None and own >= most:
            sentence = f"{own} searches of this client run or wait, which is all that it may have; try again later."
            raise RefusedError(429, sentence, **later)

    def _remove(self, job: Job) -> None:
        """Take a job out of those that run or wait."""
        self._running.discard(job)
        if job in self._queue:
            self._queue.remove(job)

    async def _start(self, job: Job, body: bytes) -> None:
        """Have a process read the request, and begin."""
        job.process = process = await start_task(self.starter, _task_of(job), body, self.limits)
        if job.stopped_at is not None:
            process.kill()
        messages = process.messages()
        job.take_request(await first_message(process, messages))
        job.heard_at = time.monotonic()
        job.set_state(RUNNING)
        process.send({"do": "go"})
        self._run(self._listen(job, process, messages))

    async def _start_from_queue(self, job: Job) -> None:
        try:
            await self._start(job, await asyncio.to_thread(zlib.decompress, job.body))
        except RefusedError as error:
            if job.stopped_at is not None:
                self._end(job, STOPPED)
            else:
                self._end(job, FAILED, error.sentence)
        except OSError as error:
            self._end(job, FAILED, f"no process could be begun for it ({error.strerror or error}).")

    def _run(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _advance(self) -> None:
        """Let those in the queue begin for whom there is room, and tell the others their positions."""
        startable = [job for job in self._queue if job.is_read]
        for job in startable[: max(0, self.limits.jobs - len(self._running))]:
            self._queue.remove(job)
            self._running.add(job)
            self._run(self._start_from_queue(job))
        for position, job in enumerate(self._queue, 1):
            if job.is_read:
                job.events.add("state", {"state": WAITING, "place": position})

    async def _listen(self, job: Job, process: TaskProcess, messages: AsyncIterator[JsonObject]) -> None:
        """Take in what a job's process tells, until it ends."""
        async for message in messages:
            job.heard_at = time.monotonic()
            self._handle(job, message.pop("kind"), message)
            if job.is_over:
                break
        process.close()
        if not job.is_over:
            status = await process.ended
            if job.stopped_at is not None:
                self._end(job, STOPPED)
            elif job.silent_for is not None:
                self._end(job, FAILED, f"the process of this search gave no sign for {job.silent_for:g} s.")
            else:
                how = f"signal {-status}" if status < 0 else f"status {status}"
                self._end(job, FAILED, f"the process of this search ended unexpectedly ({how}).")

    def _handle(self, job: Job, event: str, content: JsonObject) -> None:
        if event == "progress":
            job.progress = content
            job.events.add(event, content)
        elif event == "best":
            job.take_best(content)
        elif event == "step":
            job.events.add(event, content)
        elif event == "paused":
            job.set_state(PAUSED)
        elif event == "resumed":
            job.set_state(RUNNING)
        elif event == "refused":
            self._end(job, FAILED, content["error"])
        elif event == "done":
            job.result = content["result"]
            job.trace, job.answer = (base64.b64decode(content[key]) for key in ("trace", "answer"))
            job.events.add("done", {"result": content["result"]})
            self._end(job, DONE if job.stopped_at is None else STOPPED)

    def _end(self, job: Job, state: str, error: str | None = None) -> None:
        if error is not None:
            job.error = error
            job.events.add("error", {"error": error})
        self._remove(job)
        job.set_state(state)
        self._keep(job)
        self._advance()

    def _keep(self, job: Job) -> None:
        """Have a job that has ended be written, beside all else."""
        if self.folder is not None and job.kind == "solve":
            task = self._writing[job] = self._run(asyncio.to_thread(_write, job, self.folder))
            task.add_done_callback(lambda _: self._writing.pop(job, None))

    def command(self, job: Job, what: str, **more: Any) -> None:
        """Have a running job do something."""
        if job.is_over:
            raise RefusedError(409, f"this search has ended ({job.state}).")
        if job.state == WAITING or job.process is None:
            raise RefusedError(409, "this search has not begun yet.")
        job.process.send({"do": what, **more})

    def stop(self, job: Job) -> None:
        """End a job; what it has found is kept."""
        if job.is_over:
            return
        job.stopped_at = job.stopped_at or time.monotonic()
        if job in self._queue:
            self._end(job, STOPPED)
        elif job.process is None:
            # It is just about to begin, and ends then.
            pass
        elif job.progress is None:
            # It is being read or compiled, or its start is being built: there is nothing to keep.
            job.process.kill()
        else:
            job.process.send({"do": "stop"})

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

    async def continue_from(self, job: Job, changes: JsonObject, client: str = "") -> Job:
        """Return a new job that goes on from the best of another one."""
        if job.best is None:
            raise RefusedError(409, "this search has found nothing yet to go on from.")
        start = {key: job.best[key] for key in ("routes", "vehicles")}
        self._check_room(client)
        body = await asyncio.to_thread(zlib.decompress, job.body)
        return await self.submit(body, "solve", start, (job.changes or {}) | changes, client)

    async def episode(self, episode: JsonObject) -> JsonObject:
        """Return an episode; what plays it may have to be compiled."""
        return await self._pool.run_or_refuse(
            {"task": "episode", "episode": episode}, self.limits, seconds=LOADING_SECONDS
        )

    async def download(self, job: Job, name: str) -> JsonObject:
        """Return the best routes of a job in a format."""
        if job.best is None:
            raise RefusedError(409, "this search has found nothing yet.")
        solution = {key: job.best[key] for key in ("routes", "vehicles")}
        task = {"task": "make", "changes": job.changes, "solution": solution, "format": name, "seconds": job.seconds}
        return await self._pool.run_or_refuse(task, self.limits, job.body)

    async def _watch(self) -> None:
        """See to it, from time to time, that nothing takes too long."""
        while True:
            await asyncio.sleep(WATCH_SECONDS)
            for job in (*self._running, *self._queue):
                self._check_times(job)
            self._forget_old()

    def _check_times(self, job: Job) -> None:
        now = time.monotonic()
        alone = job.listeners == 0 and now - job.alone_since > CLIENT_SECONDS
        if job.is_over:
            return
        if job.options.get("stop_with_client") and alone:
            self.stop(job)
        if job.process is None:
            return
        if job.stopped_at is not None and now - job.stopped_at > STOP_SECONDS:
            job.process.kill()
        elif job.state == PAUSED:
            self._check_pause(job, now)
        elif job.state == RUNNING:
            silent = SILENT_SECONDS if job.progress is not None else _loading_seconds(job)
            if now - job.heard_at > silent:
                job.silent_for = silent
                job.process.kill()

    def _check_pause(self, job: Job, now: float) -> None:
        """End a job that keeps its place from others for too long, or that nobody lets go on."""
        job.held += WATCH_SECONDS if self._queue else 0.0
        if job.stopped_at is None and job.held > self.limits.pause_seconds:
            note = f"it was ended after {self.limits.pause_seconds:g} s of pause in which others waited."
            job.notes = [*job.notes, note]
            self.stop(job)
        elif now - job.heard_at > self.limits.keep_seconds:
            self.stop(job)

    def _forget_old(self) -> None:
        """Forget jobs that ended long ago, and more of them where they take too much memory."""
        now, taken = time.time(), sum(job.bytes for job in self._jobs.values() if job.is_over)
        unused = [job for job in self._jobs.values() if job.is_over and job.listeners == 0 and job not in self._writing]
        for job in sorted(unused, key=lambda job: job.ended_at or 0.0):
            assert job.ended_at is not None
            is_old = not job.kept and now - job.ended_at > self.limits.keep_seconds
            if is_old or taken > self.limits.kept_bytes:
                taken -= job.bytes
                del self._jobs[job.id]


def _task_of(job: Job) -> JsonObject:
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
