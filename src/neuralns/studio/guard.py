"""Who may call the server, how much they may send, and the headers of every answer."""

from __future__ import annotations

import asyncio
import hmac
import json
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

from fastapi import Request
from starlette.requests import ClientDisconnect

from neuralns.studio.asking import RefusedError
from neuralns.studio.door import client_of
from neuralns.studio.limits import Limits

OPEN = ("/", "/health", "/docs", "/openapi.json", "/favicon.ico")
"""What may be read without a token: the page itself, which holds nothing, and what the server offers."""
DRAIN_SECONDS = 5.0
STALL_SECONDS = 5.0
"""Longest that a request may stand still on its way."""
SMALL = 1 << 16
"""Bytes of a request that are always taken, however many others are on their way."""
LOCAL = ("localhost", "127.0.0.1", "::1")

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


@dataclass(frozen=True)
class Access:
    """Who may call a server.

    Attributes
    ----------
    token
        What they have to know; None if anybody may call it.
    hosts
        Names by which it may be called, where there is no token: a page elsewhere must not reach it by a name of its
        own for this machine. None for any.
    origins
        Pages elsewhere that may call it.
    tiles
        Address of map tiles that its own page may load.
    """

    token: str | None = None
    hosts: tuple[str, ...] | None = LOCAL
    origins: tuple[str, ...] = ()
    tiles: str | None = None

    @property
    def policy(self) -> str:
        """What the page may load, and from where."""
        parts = urlsplit(self.tiles) if self.tiles else None
        tiles = f" {parts.scheme}://{parts.netloc.replace('{s}', '*')}" if parts else ""
        return (
            f"default-src 'self'; img-src 'self' data: blob:{tiles}; style-src 'self' 'unsafe-inline'; "
            "object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )


class Guard:
    """An application of ASGI around another one: it lets through who may call it."""

    def __init__(self, app: Any, access: Access) -> None:
        self.app, self.access = app, access

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        origin = headers.get("origin")
        allowed = origin is not None and (origin in self.access.origins or "*" in self.access.origins)
        extra = self._headers(origin if allowed else None)

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *extra]
            await send(message)

        if allowed and scope["method"] == "OPTIONS":
            await _refuse(answer, 204, "")
            return
        refusal = self._refusal(scope, headers, allowed)
        if refusal is not None:
            await _refuse(answer, *refusal)
            return
        await self.app(scope, receive, answer)

    def _refusal(self, scope: Message, headers: dict[str, str], allowed: bool) -> tuple[int, str] | None:
        """Return why a request is not let through, or None."""
        access = self.access
        try:
            host = urlsplit(f"//{headers.get('host', '')}").hostname or ""
            page = urlsplit(headers.get("origin", "")).netloc
        except ValueError:
            return 400, "the request's host or origin is not an address."
        if access.token is None and access.hosts is not None and host not in access.hosts:
            return 403, f"host {host!r:.60} is not a name of this server."
        origin = headers.get("origin")
        if origin is not None and not allowed and page != headers.get("host"):
            return 403, f"pages of {origin!r:.60} may not call this server."
        is_open = scope["method"] in ("GET", "HEAD") and (scope["path"] in OPEN or scope["path"].startswith("/static/"))
        # Pictures and links of pages elsewhere come without an origin.
        if headers.get("sec-fetch-site") == "cross-site" and not allowed and not is_open:
            return 403, "pages of other sites may not call this server."
        if access.token is None or is_open:
            return None
        kind, _, given = headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer":
            given = next(iter(parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [])), "")
        if hmac.compare_digest(given.encode(), access.token.encode()):
            return None
        return 401, "this server wants a token: Authorization: Bearer TOKEN."

    def _headers(self, origin: str | None) -> list[tuple[bytes, bytes]]:
        found = {
            "content-security-policy": self.access.policy,
            "x-content-type-options": "nosniff",
            "referrer-policy": "no-referrer",
        }
        if origin is not None:
            found |= {
                "access-control-allow-origin": origin,
                "access-control-allow-headers": "authorization, content-type, last-event-id",
                "access-control-allow-methods": "GET, POST, DELETE",
                "access-control-expose-headers": "x-neuralns-notes, retry-after",
                "vary": "origin",
            }
        return [(name.encode(), value.encode("latin-1", "replace")) for name, value in found.items()]


async def _refuse(send: Send, status: int, sentence: str) -> None:
    content = json.dumps({"error": sentence}).encode() if sentence else b""
    headers: Iterable[tuple[bytes, bytes]] = [(b"content-length", str(len(content)).encode())]
    if sentence:
        headers = [*headers, (b"content-type", b"application/json")]
    if status == 401:
        headers = [*headers, (b"www-authenticate", b"Bearer")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content})


class Uploads:
    """Counts the bytes of requests that are on their way."""

    def __init__(self) -> None:
        self._bytes: Counter[str] = Counter()

    def take(self, client: str, count: int, most: int) -> bool:
        """Count some more bytes of a client; return whether there is room for them."""
        if self._bytes.total() + count > most or self._bytes[client] + count > most // 2:
            return False
        self._bytes[client] += count
        return True

    def give(self, client: str, count: int) -> None:
        """Count them no longer."""
        self._bytes[client] -= count
        if self._bytes[client] <= 0:
            del self._bytes[client]


def caller(request: Request) -> str:
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
            await _read_to_no_end(parts)
        raise too_large
    sentence = "too many large requests are on their way to this server; try again later."
    crowded = RefusedError(429, sentence, Connection="close", **{"Retry-After": "5"})
    refusal: RefusedError | None = None
    body, client, counted = bytearray(), caller(request), 0
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
                if more > 0 and not uploads.take(client, more, most_of_all):
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
        uploads.give(client, counted)
    if refusal is not None:
        body.clear()
        await _read_to_no_end(parts)
        raise refusal
    return bytes(body)


async def _read_to_no_end(parts: AsyncIterator[bytes]) -> None:
    """Let a client finish sending what is not wanted, for a while: many read no answer before."""
    with suppress(TimeoutError, ClientDisconnect):
        async with asyncio.timeout(DRAIN_SECONDS):
            async for _ in parts:
                pass
