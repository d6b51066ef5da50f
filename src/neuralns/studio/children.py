"""The server's side of its processes: where they come from, and a line to each.

A `Nurse` has a nursery fork them; where there is no fork, `Starters` start each of them anew.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any, Protocol

from neuralns.search.parallel import start_method
from neuralns.studio.line import SECRET_BYTES

LONGEST_MESSAGE = 1 << 28
NURSERY, WORKER = "neuralns.studio.nursery", "neuralns.studio.worker"
START_SECONDS = 60.0
"""Longest that a process may take to load what it needs."""
ROOT = Path(__file__).parents[2]


class Parent(Protocol):
    """Where processes come from.

    ``loaded`` is set once all is loaded that nearly every search needs, if there is anything that can be.
    """

    loaded: asyncio.Event

    async def child(self) -> Child:
        """Return a new child."""

    def kill(self, name: str) -> None:
        """End a child by force."""

    def start(self) -> None:
        """Do what can be done before the first child is asked for."""

    def close(self) -> None:
        """End all children."""


def new_parent() -> Parent:
    """Return where processes come from on this system."""
    return Nurse() if start_method() == "fork" else Starters()


class Child:
    """A process that does one piece of work.

    Attributes
    ----------
    process
        Its number, None until it has been forked.
    ended
        Its exit status, once it has ended.
    """

    def __init__(self, name: str, parent: Parent) -> None:
        self.name, self._parent = name, parent
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
        self._parent.kill(self.name)

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
            self._process = _run_module(NURSERY, theirs.fileno(), pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
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


class Starters:
    """Starts every child anew, which takes longer than to fork it, and needs nothing of the system."""

    def __init__(self) -> None:
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._names = count(1)
        self.loaded = asyncio.Event()

    def start(self) -> None:
        """Begin; there is nothing to be loaded."""
        self.loaded.set()

    async def child(self) -> Child:
        """Return a new child."""
        name, loop = str(next(self._names)), asyncio.get_running_loop()
        child = Child(name, self)
        secret = os.urandom(SECRET_BYTES)
        with socket.create_server(("127.0.0.1", 0)) as listening:
            listening.setblocking(False)
            process = self._processes[name] = _run_module(WORKER, listening.getsockname()[1], stdin=subprocess.PIPE)
            child.process = process.pid
            threading.Thread(target=self._wait, args=(child, process, loop), daemon=True).start()
            assert process.stdin is not None
            with suppress(OSError), process.stdin as stdin:
                stdin.write(secret)
            connecting = asyncio.ensure_future(_accept(listening, secret))
            either: list[asyncio.Future[Any]] = [connecting, child.ended]
            await asyncio.wait(either, timeout=START_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if not connecting.done():
                connecting.cancel()
                self.kill(name)
                # Nobody is at the other end: what it tells is that it has ended.
                ours, theirs = socket.socketpair()
                theirs.close()
                await child.connect(ours)
                return child
        await child.connect(connecting.result())
        return child

    def kill(self, name: str) -> None:
        """End a child by force; those that it has started end by themselves."""
        if name in self._processes:
            self._processes[name].kill()

    def close(self) -> None:
        """End all children."""
        for process in [*self._processes.values()]:
            process.kill()

    def _wait(self, child: Child, process: subprocess.Popen[bytes], loop: asyncio.AbstractEventLoop) -> None:
        status = process.wait()

        def end() -> None:
            self._processes.pop(child.name, None)
            if not child.ended.done():
                child.ended.set_result(status)

        # A server that has ended asks for nothing any more.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(end)


async def _accept(listening: socket.socket, secret: bytes) -> socket.socket:
    """Return the connection to the process that knows the secret; others of this machine are turned away."""
    loop = asyncio.get_running_loop()
    while True:
        found, _ = await loop.sock_accept(listening)
        found.setblocking(False)
        told = b""
        with suppress(OSError, TimeoutError):
            while len(told) < SECRET_BYTES:
                part = await asyncio.wait_for(loop.sock_recv(found, SECRET_BYTES - len(told)), 1.0)
                if not part:
                    break
                told += part
        if hmac.compare_digest(told, secret):
            return found
        found.close()


def _run_module(name: str, argument: int, **more: Any) -> subprocess.Popen[bytes]:
    """Start a process that runs a module of ours, told a number and who the server is."""
    # What lies in the folder that the server was started in is not imported.
    command = [sys.executable, "-P", "-m", name, str(argument), str(os.getpid())]
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    # Signals of the terminal are the server's to handle.
    return subprocess.Popen(command, start_new_session=True, env=os.environ | {"PYTHONPATH": path}, **more)
