"""Asking processes for things: the first answer of one, and downloads, timetables and episodes that are soon made."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator
from dataclasses import asdict

from neuralns.studio.children import Child, Parent
from neuralns.studio.limits import Limits
from neuralns.studio.record import Facts

READING_SECONDS = 60.0
"""Longest that the reading of a request, or the making of a download, may take."""
MAKERS = 2
"""Processes at a time that make downloads, timetables and episodes, or read requests that are to wait."""
MOST_MADE = 20
"""How many of these may be asked for at a time; most of them wait."""


class RefusedError(Exception):
    """A request that cannot be met: its status and sentence."""

    def __init__(self, status: int, sentence: str, **headers: str) -> None:
        super().__init__(sentence)
        self.status, self.sentence, self.headers = status, sentence, headers


async def begin(nurse: Parent, order: Facts, body: bytes, limits: Limits) -> Child:
    """Return a new child with its order, and the request that belongs to it."""
    child = await nurse.child()
    child.send(order | {"bytes": len(body), "limits": asdict(limits)}, body)
    return child


async def first(child: Child, messages: AsyncIterator[Facts], seconds: float = READING_SECONDS) -> Facts:
    """Return the first that a child says, unless it refuses or takes longer than some seconds."""
    try:
        message = await asyncio.wait_for(anext(messages), seconds)
        if message["kind"] == "refused":
            raise RefusedError(message["status"], message["error"])
    except TimeoutError:
        drop(child)
        raise RefusedError(422, f"that could not be done in {seconds:g} s.") from None
    except StopAsyncIteration:
        drop(child)
        raise RefusedError(422, "the process that read the request ended unexpectedly.") from None
    except BaseException:
        drop(child)
        raise
    return message


def drop(child: Child) -> None:
    """End a child by force, and have nothing more to do with it."""
    child.kill()
    child.close()


class Makers:
    """Processes that make or read one thing each; few at a time, others wait."""

    def __init__(self, nurse: Parent) -> None:
        self._nurse, self._turns, self._asked = nurse, asyncio.Semaphore(MAKERS), 0

    async def make(
        self, order: Facts, limits: Limits, packed: bytes | None = None, seconds: float = READING_SECONDS
    ) -> Facts:
        """Have something made, of a request that is compressed, within some seconds."""
        if self._asked >= MOST_MADE:
            sentence = f"{self._asked} downloads are made or waited for, all that this server takes; try again later."
            raise RefusedError(429, sentence, **{"Retry-After": "5"})
        self._asked += 1
        try:
            body = b"" if packed is None else await asyncio.to_thread(zlib.decompress, packed)
            return await self.ask(order, limits, body, seconds)
        finally:
            self._asked -= 1

    async def ask(self, order: Facts, limits: Limits, body: bytes, seconds: float = READING_SECONDS) -> Facts:
        """Return the first that a process says when its turn has come; then it ends."""
        async with self._turns:
            child = await begin(self._nurse, order, body, limits)
            found = await first(child, child.messages(), seconds)
            drop(child)
            return found
