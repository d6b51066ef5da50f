"""Connections to the server: so many at a time, so many from one client, and none that never asks for anything."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import re
import socket
from collections import Counter
from contextlib import suppress
from typing import Any, ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol

from neuralns.studio.limits import Limits

PART = re.compile(rb"\r\n[0-9a-fA-F]{1,20}(?:;[^\r\n]*)?\r\n")
"""Where a part of a request begins that comes in parts."""
MOST_PARTS, SHORTEST_PART = 500, 512
"""Parts of a request that may be of any length; of more, bytes that they have on average: each takes time to read."""
UNREAD_SECONDS = 60.0
"""Longest that a client may leave an answer unread."""


def client_of(address: str | None) -> str:
    """Return whom an address belongs to: of IPv6, somebody has all those that begin alike.

    >>> client_of("192.0.2.1"), client_of("2001:db8::1") == client_of("2001:db8::2")
    ('192.0.2.1', True)
    """
    try:
        found = ipaddress.ip_address((address or "").partition("%")[0])
    except ValueError:
        return address or ""
    if found.version == 4:
        return str(found)
    mapped = found.ipv4_mapped
    return str(mapped or ipaddress.ip_network((found, 64), strict=False))


class ConnectionLimiter:
    """Keeps count of connections.

    Where there are as many as may be, whoever asks for nothing has to leave for the next one, the longest idle first.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._counts: Counter[str] = Counter()
        self._idle: dict[Connection, None] = {}

    def admit(self, connection: Connection) -> None:
        """Let a connection in, or turn it away."""
        self._counts[connection.client_id] += 1
        if self._counts[connection.client_id] > self.limits.client_connections:
            connection.refuse(429, "there are too many connections from this address.")
        elif self._counts.total() > self.limits.connections:
            if not self._idle:
                connection.refuse(503, "there are too many connections to this server; try again later.")
            else:
                next(iter(self._idle)).refuse(503, "others need this connection.")

    def note_idleness(self, connection: Connection) -> None:
        """Take note whether a connection is of use to anybody."""
        if not connection.is_idle:
            self._idle.pop(connection, None)
        else:
            self._idle.setdefault(connection)

    def release(self, connection: Connection) -> None:
        """Take note that a connection is gone."""
        self._idle.pop(connection, None)
        self._counts[connection.client_id] -= 1
        if self._counts[connection.client_id] == 0:
            del self._counts[connection.client_id]


class Connection(H11Protocol):
    """A connection that is closed if what it asks for does not come in time."""

    limiter: ClassVar[ConnectionLimiter]
    _timer: asyncio.TimerHandle | None = None
    _parts = _bytes = 0

    @property
    def is_idle(self) -> bool:
        """Whether nothing is asked for: no request has come yet, or the last one has been answered."""
        return self.cycle is None or bool(self.cycle.response_complete)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin; a request has to come soon."""
        super().connection_made(transport)
        self.client_id = client_of(self.client[0] if self.client else None)
        with suppress(OSError, AttributeError):
            option = socket.TCP_USER_TIMEOUT
            transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, option, int(1000 * UNREAD_SECONDS))
        self.limiter.admit(self)
        self._update_timer()

    def data_received(self, data: bytes) -> None:
        """Take what has come: whatever is no whole request yet has to be one soon."""
        self._parts += len(PART.findall(data))
        self._bytes += len(data)
        if self._parts > MOST_PARTS + self._bytes / SHORTEST_PART:
            self.refuse(400, "the request comes in too many small parts.")
            return
        super().data_received(data)
        self._update_timer()

    def on_response_complete(self) -> None:
        """Wait for the next request as long as connections are kept."""
        super().on_response_complete()
        self._parts = self._bytes = 0
        self._stop_timer()
        self.limiter.note_idleness(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Be gone."""
        self._stop_timer()
        self._unset_keepalive_if_required()
        self.limiter.release(self)
        super().connection_lost(exc)

    def refuse(self, status: int, sentence: str) -> None:
        """Close it with a refusal."""
        if self.transport.is_closing():
            return
        body = json.dumps({"error": sentence})
        head = f"HTTP/1.1 {status} \r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        # An answer that was given already, or is on its way, must not be followed by one that nobody asked for.
        if self.cycle is None or not self.cycle.response_started:
            self.transport.write(f"{head}Connection: close\r\n\r\n{body}".encode())
        self.transport.close()

    def _update_timer(self) -> None:
        self.limiter.note_idleness(self)
        if not self.is_idle or self.transport.is_closing():
            self._stop_timer()
        elif self._timer is None:
            self._timer = self.loop.call_later(self.limiter.limits.head_seconds, self._give_up)

    def _give_up(self) -> None:
        self.refuse(408, f"no request came in {self.limiter.limits.head_seconds:g} s.")

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def uvicorn_options(limits: Limits) -> dict[str, Any]:
    """Return how the server is to take connections."""
    protocol = type("Connection", (Connection,), {"limiter": ConnectionLimiter(limits)})
    return {"http": protocol, "ws": "none", "timeout_keep_alive": 30}
