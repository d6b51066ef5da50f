"""The connection of a process to the server: a line of JSON for each message, either way."""

from __future__ import annotations

import base64
import json
import os
import select
import socket
import zlib
from typing import Any

SECRET_BYTES = 32
"""Bytes that a process which was started anew tells the server first, so that it is known for the one."""


def packed(text: str) -> str:
    """Return a long text as a process sends it, which the server need not read.

    >>> zlib.decompress(base64.b64decode(packed("long")))
    b'long'
    """
    return base64.b64encode(zlib.compress(text.encode())).decode()


class Channel:
    """The process's end of the connection; where the server is gone, the process ends."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._unread = bytearray()

    def send(self, event: str, /, **content: Any) -> None:
        """Tell the server."""
        text = json.dumps({"kind": event, **content}, separators=(",", ":"), allow_nan=False)
        try:
            self._connection.sendall(text.encode() + b"\n")
        except OSError:
            os._exit(0)

    def read(self, count: int) -> bytes:
        """Return so many bytes that the server sends."""
        while len(self._unread) < count:
            self._receive()
        found = bytes(self._unread[:count])
        del self._unread[:count]
        return found

    def next_command(self) -> dict[str, Any]:
        """Return the next line that the server sends."""
        while b"\n" not in self._unread:
            self._receive()
        text, _, rest = self._unread.partition(b"\n")
        self._unread = rest
        found: dict[str, Any] = json.loads(text)
        return found

    def commands(self, seconds: float = 0.0) -> list[dict[str, Any]]:
        """Return the lines that have come, or that come within some seconds."""
        found: list[dict[str, Any]] = []
        while b"\n" in self._unread or select.select([self._connection], [], [], 0.0 if found else seconds)[0]:
            found.append(self.next_command())
        return found

    def _receive(self) -> None:
        try:
            found = self._connection.recv(1 << 16)
        except OSError:
            found = b""
        if not found:
            os._exit(0)
        self._unread += found
