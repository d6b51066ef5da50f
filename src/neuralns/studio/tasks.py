"""Tasks of processes: how one begins, its first answer, and a pool for downloads, timetables and episodes."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator
from dataclasses import asdict

from neuralns.studio.job import JsonObject
from neuralns.studio.limits import Limits
from neuralns.studio.processes import ProcessStarter, TaskProcess
from neuralns.studio.refusal import RefusedError

READING_SECONDS = 60.0
"""Longest that the reading of a request, or the making of a download, may take."""
POOL_SIZE = 2
"""Processes at a time that make downloads, timetables and episodes, or read requests that are to wait."""
MOST_PENDING = 20
"""How many of these may be asked for at a time; most of them wait."""


async def start_task(starter: ProcessStarter, task: JsonObject, body: bytes, limits: Limits) -> TaskProcess:
    """Return a new process with its task, and the request that belongs to it."""
    process = await starter.new_process()
    process.send(task | {"bytes": len(body), "limits": asdict(limits)}, body)
    return process


async def first_message(
    process: TaskProcess, messages: AsyncIterator[JsonObject], seconds: float = READING_SECONDS
) -> JsonObject:
    """Return the first that a process says, unless it refuses or takes longer than some seconds."""
    try:
        message = await asyncio.wait_for(anext(messages), seconds)
        if message["kind"] == "refused":
            raise RefusedError(message["status"], message["error"])
    except TimeoutError:
        kill_and_close(process)
        raise RefusedError(422, f"that could not be done in {seconds:g} s.") from None
    except StopAsyncIteration:
        kill_and_close(process)
        raise RefusedError(422, "the process that read the request ended unexpectedly.") from None
    except BaseException:
        kill_and_close(process)
        raise
    return message


def kill_and_close(process: TaskProcess) -> None:
    """End a process by force, and have nothing more to do with it."""
    process.kill()
    process.close()


class TaskPool:
    """Processes that do one short task each; few at a time, others wait."""

    def __init__(self, starter: ProcessStarter) -> None:
        self._starter, self._turns, self._pending = starter, asyncio.Semaphore(POOL_SIZE), 0

    async def run_or_refuse(
        self, task: JsonObject, limits: Limits, packed: bytes | None = None, seconds: float = READING_SECONDS
    ) -> JsonObject:
        """Run a task on a request that is compressed, or refuse it where too many wait."""
        if self._pending >= MOST_PENDING:
            sentence = f"{self._pending} downloads are made or waited for, all that this server takes; try again later."
            raise RefusedError(429, sentence, **{"Retry-After": "5"})
        self._pending += 1
        try:
            body = b"" if packed is None else await asyncio.to_thread(zlib.decompress, packed)
            return await self.run(task, limits, body, seconds)
        finally:
            self._pending -= 1

    async def run(self, task: JsonObject, limits: Limits, body: bytes, seconds: float = READING_SECONDS) -> JsonObject:
        """Return the first that a process says when its turn has come; then it ends."""
        async with self._turns:
            process = await start_task(self._starter, task, body, limits)
            found = await first_message(process, process.messages(), seconds)
            kill_and_close(process)
            return found
