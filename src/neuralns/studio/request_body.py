"""Bodies of requests: how much clients may send, and how long that may take."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import suppress

from fastapi import Request
from starlette.requests import ClientDisconnect

from neuralns.studio.connections import client_of
from neuralns.studio.limits import Limits
from neuralns.studio.refusal import RefusedError

DRAIN_SECONDS = 5.0
"""Longest that a client may go on sending a request that was refused."""
STALL_SECONDS = 5.0
"""Longest that a request may stand still on its way."""
SMALL = 1 << 16
"""Bytes of a request that are always taken, however many others are on their way."""


class Uploads:
    """Counts the bytes of requests that are on their way."""

    def __init__(self) -> None:
        self._bytes: Counter[str] = Counter()

    def reserve(self, client: str, count: int, most: int) -> bool:
        """Count some more bytes of a client; return whether there is room for them."""
        if self._bytes.total() + count > most or self._bytes[client] + count > most // 2:
            return False
        self._bytes[client] += count
        return True

    def release(self, client: str, count: int) -> None:
        """Count them no longer."""
        self._bytes[client] -= count
        if self._bytes[client] <= 0:
            del self._bytes[client]


def client_of_request(request: Request) -> str:
    """Return which client a request comes from."""
    return client_of(request.client.host if request.client else None)


async def read_body(request: Request, limits: Limits, uploads: Uploads, most: int | None = None) -> bytes:
    """Return the body of a request; one that is too long or too slow is refused before it has been read."""
    most = limits.bytes if most is None else most
    too_large = RefusedError(
        413, f"the request is longer than the {most} bytes that this server takes.", Connection="close"
    )
    stated, parts = request.headers.get("content-length", "0"), request.stream()
    if not stated.isdecimal() or len(stated) > 15 or int(stated) > most:
        if "expect" not in request.headers:
            await _drain(parts)
        raise too_large
    sentence = "too many large requests are on their way to this server; try again later."
    crowded = RefusedError(429, sentence, Connection="close", **{"Retry-After": "5"})
    refusal: RefusedError | None = None
    body, client, counted = bytearray(), client_of_request(request), 0
    # Each client may send two of the largest at a time, however large they may be.
    most_of_all = max(limits.uploads, 4 * limits.bytes)
    clock = asyncio.get_running_loop().time
    end = clock() + limits.body_seconds
    try:
        async with asyncio.timeout(min(limits.body_seconds, STALL_SECONDS)) as patience:
            async for part in parts:
                patience.reschedule(min(end, clock() + STALL_SECONDS))
                body += part
                more = len(body) - SMALL - counted
                if len(body) > most:
                    refusal = too_large
                    break
                if more > 0 and not uploads.reserve(client, more, most_of_all):
                    refusal = crowded
                    break
                counted += max(0, more)
    except TimeoutError:
        is_late = clock() >= end
        how = f"did not arrive in {limits.body_seconds:g} s" if is_late else f"stood still for {STALL_SECONDS:g} s"
        raise RefusedError(408, f"the request {how}.", Connection="close") from None
    except ClientDisconnect:
        raise RefusedError(400, "the client left before it had sent its request.") from None
    finally:
        uploads.release(client, counted)
    if refusal is not None:
        body.clear()
        await _drain(parts)
        raise refusal
    return bytes(body)


async def _drain(parts: AsyncIterator[bytes]) -> None:
    """Let a client finish sending what is not wanted, for a while: many read no answer before."""
    with suppress(TimeoutError, ClientDisconnect):
        async with asyncio.timeout(DRAIN_SECONDS):
            async for _ in parts:
                pass
