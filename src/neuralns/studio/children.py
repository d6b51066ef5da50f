"""The server's side of its processes: the nursery, and a line to each child that it forks."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

LONGEST_MESSAGE = 1 << 28
NURSERY = "neuralns.studio.nursery"
ROOT = Path(__file__).parents[2]


class Child:
    """A process that does one piece of work.

    Attributes
    ----------
    process
        Its number, None until it has been forked.
    ended
        Its exit status, once it has ended.
    """

    def __init__(self, name: str, nurse: Nurse) -> None:
        self.name, self._nurse = name, nurse
        self.process: int | None = None
        self.ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def connect(self, end: socket.socket) -> None:
        """Talk to it by one end of a pair of sockets."""
        self._reader, self._writer = await asyncio.open_connection(sock=end, limit=LONGEST_MESSAGE)

    def send(self, order: dict[str, Any], body: bytes = b"") -> None:
        """Send it a line, and what belongs to it."""
        if not self._writer.is_closing():
            self._writer.write(json.dumps(order).encode() + b"\n" + body)

    async def messages(self) -> AsyncIterator[dict[str, Any]]:
        """Return what it tells, until it has ended."""
        while True:
            try:
                line = await self._reader.readline()
            except (OSError, ValueError):
                return
            if not line.endswith(b"\n"):
                return
            yield json.loads(line)

    def kill(self) -> None:
        """End it by force, and what it has started."""
        self._nurse.kill(self.name)

    def close(self) -> None:
        """Have nothing more to do with it: it ends."""
        self._writer.close()


class Nurse:
    """Keeps a nursery, starting another one if it should be lost.

    ``loaded`` is set once all is loaded that nearly every search needs.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._text = b""
        self._children: dict[str, Child] = {}
        self._names = count(1)
        self.loaded = asyncio.Event()

    async def child(self) -> Child:
        """Return a new child."""
        control = self._control or self._start()
        name = str(next(self._names))
        child = self._children[name] = Child(name, self)
        ours, theirs = socket.socketpair()
        with theirs:
            await child.connect(ours)
            socket.send_fds(control, [json.dumps({"name": name}).encode() + b"\n"], [theirs.fileno()])
        return child

    def kill(self, name: str) -> None:
        """End a child by force."""
        if self._control is not None and name in self._children:
            with suppress(OSError):
                self._control.send(json.dumps({"kill": name}).encode() + b"\n")

    def start(self) -> None:
        """Start the nursery, so that it has loaded everything by the time that it is needed."""
        if self._control is None:
            self._start()

    def _start(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        with theirs:
            # What lies in the folder that the server was started in is not imported.
            command = [sys.executable, "-P", "-m", NURSERY, str(theirs.fileno()), str(os.getpid())]
            path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
            self._process = subprocess.Popen(
                command,
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                # Signals of the terminal are the server's to handle.
                start_new_session=True,
                env=os.environ | {"PYTHONPATH": path},
            )
        ours.setblocking(False)
        self._control, self._text = ours, b""
        asyncio.get_running_loop().add_reader(ours.fileno(), self._hear, ours)
        return ours

    def _hear(self, control: socket.socket) -> None:
        try:
            text = control.recv(4096)
        except BlockingIOError:
            return
        except OSError:
            text = b""
        if not text:
            self._lose()
            return
        *lines, self._text = (self._text + text).split(b"\n")
        for message in map(json.loads, lines):
            self._take(message)

    def _take(self, message: dict[str, Any]) -> None:
        if "loaded" in message:
            self.loaded.set()
            return
        child = self._children[message["name"]]
        if "process" in message:
            child.process = message["process"]
        else:
            del self._children[child.name]
            if not child.ended.done():
                child.ended.set_result(message["status"])

    def _lose(self) -> None:
        """Take note that the nursery is gone, and all its children with it."""
        if self._control is not None:
            asyncio.get_running_loop().remove_reader(self._control.fileno())
            self._control.close()
            self._control = None
        for child in self._children.values():
            child.close()
            if not child.ended.done():
                child.ended.set_result(-9)
        self._children.clear()
        if self._process is not None:
            process, self._process = self._process, None
            process.kill()
            process.wait()

    def close(self) -> None:
        """End the nursery and all its children."""
        self._lose()
