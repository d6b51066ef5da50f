"""Who may call the server, and the headers of every answer."""

from __future__ import annotations

import hmac
import json
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

OPEN = ("/", "/health", "/docs", "/openapi.json", "/favicon.ico")
"""What may be read without a token: the page itself, which holds nothing, and what the server offers."""
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


class AccessMiddleware:
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
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer":
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
