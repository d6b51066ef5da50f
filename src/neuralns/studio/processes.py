"""The server's side of its processes: where they come from, and a connection to each.

A `ForkStarter` has a fork server fork them; where there is no fork, a `SpawnStarter` starts each of them anew.
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
from neuralns.studio.channel import SECRET_BYTES

LONGEST_MESSAGE = 1 << 28
FORK_SERVER, TASK_RUNNER = "neuralns.studio.fork_server", "neuralns.studio.task_runner"
START_SECONDS = 60.0
"""Longest that a process may take to load what it needs."""
ROOT = Path(__file__).parents[2]


class ProcessStarter(Protocol):
    """Where processes come from.

    ``loaded`` is set once all is loaded that nearly every search needs, if there is anything that can be.
    """

    loaded: asyncio.Event

    async def new_process(self) -> TaskProcess:
        """Return a new process."""

    def kill(self, name: str) -> None:
        """End a process by force."""

    def start(self) -> None:
        """Do what can be done before the first process is asked for."""

    def close(self) -> None:
        """End all processes."""


def new_starter() -> ProcessStarter:
    """Return where processes come from on this system."""
    return ForkStarter() if start_method() == "fork" else SpawnStarter()


class TaskProcess:
    """A process that does one piece of work.

    Attributes
    ----------
    pid
        Its number, None until it has been forked.
    ended
        Its exit status, once it has ended.
    """

    def __init__(self, name: str, starter: ProcessStarter) -> None:
        self.name, self._starter = name, starter
        self.pid: int | None = None
        self.ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def connect(self, end: socket.socket) -> None:
        """Talk to it by one end of a pair of sockets."""
        self._reader, self._writer = await asyncio.open_connection(sock=end, limit=LONGEST_MESSAGE)

    def send(self, message: dict[str, Any], body: bytes = b"") -> None:
        """Send it a line, and what belongs to it."""
        if not self._writer.is_closing():
            self._writer.write(json.dumps(message).encode() + b"\n" + body)

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
        self._starter.kill(self.name)

    def close(self) -> None:
        """Have nothing more to do with it: it ends."""
        self._writer.close()


class ForkStarter:
    """Keeps a fork server, starting another one if it should be lost.

    ``loaded`` is set once all is loaded that nearly every search needs.
    """

    def __init__(self) -> None:
        self._fork_server: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._text = b""
        self._processes: dict[str, TaskProcess] = {}
        self._names = count(1)
        self.loaded = asyncio.Event()

    async def new_process(self) -> TaskProcess:
        """Return a new process."""
        name = str(next(self._names))
        process = TaskProcess(name, self)
        ours, theirs = socket.socketpair()
        with theirs:
            await process.connect(ours)
            try:
                self._hand_over(process, theirs)
            except ConnectionError:
                # The fork server is lost, which nobody had noticed: another one takes its place.
                self._drop_fork_server()
                self._hand_over(process, theirs)
        return process

    def _hand_over(self, process: TaskProcess, end: socket.socket) -> None:
        """Have the fork server make a process, which talks by one end of a pair of sockets."""
        control = self._control or self._start()
        socket.send_fds(control, [json.dumps({"name": process.name}).encode() + b"\n"], [end.fileno()])
        self._processes[process.name] = process

    def kill(self, name: str) -> None:
        """End a process by force."""
        if self._control is not None and name in self._processes:
            with suppress(OSError):
                self._control.send(json.dumps({"kill": name}).encode() + b"\n")

    def start(self) -> None:
        """Start the fork server, so that it has loaded everything by the time that it is needed."""
        if self._control is None:
            self._start()

    def _start(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        with theirs:
            self._fork_server = _run_module(
                FORK_SERVER, theirs.fileno(), pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL
            )
        ours.setblocking(False)
        self._control, self._text = ours, b""
        asyncio.get_running_loop().add_reader(ours.fileno(), self._receive, ours)
        return ours

    def _receive(self, control: socket.socket) -> None:
        try:
            text = control.recv(4096)
        except BlockingIOError:
            return
        except OSError:
            text = b""
        if not text:
            self._drop_fork_server()
            return
        *lines, self._text = (self._text + text).split(b"\n")
        for message in map(json.loads, lines):
            self._handle(message)

    def _handle(self, message: dict[str, Any]) -> None:
        if "loaded" in message:
            self.loaded.set()
            return
        process = self._processes[message["name"]]
        if "process" in message:
            process.pid = message["process"]
        else:
            del self._processes[process.name]
            if not process.ended.done():
                process.ended.set_result(message["status"])

    def _drop_fork_server(self) -> None:
        """Take note that the fork server is gone, and all processes with it."""
        if self._control is not None:
            asyncio.get_running_loop().remove_reader(self._control.fileno())
            self._control.close()
            self._control = None
        for process in self._processes.values():
            process.close()
            if not process.ended.done():
                process.ended.set_result(-9)
        self._processes.clear()
        if self._fork_server is not None:
            popen, self._fork_server = self._fork_server, None
            popen.kill()
            popen.wait()

    def close(self) -> None:
        """End the fork server and all processes."""
        self._drop_fork_server()


class SpawnStarter:
    """Starts every process anew, which takes longer than to fork it, and needs nothing of the system."""

    def __init__(self) -> None:
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._names = count(1)
        self.loaded = asyncio.Event()

    def start(self) -> None:
        """Begin; there is nothing to be loaded."""
        self.loaded.set()

    async def new_process(self) -> TaskProcess:
        """Return a new process."""
        name, loop = str(next(self._names)), asyncio.get_running_loop()
        process = TaskProcess(name, self)
        secret = os.urandom(SECRET_BYTES)
        with socket.create_server(("127.0.0.1", 0)) as listening:
            listening.setblocking(False)
            popen = self._processes[name] = _run_module(TASK_RUNNER, listening.getsockname()[1], stdin=subprocess.PIPE)
            process.pid = popen.pid
            threading.Thread(target=self._wait, args=(process, popen, loop), daemon=True).start()
            assert popen.stdin is not None
            with suppress(OSError), popen.stdin as stdin:
                stdin.write(secret)
            connecting = asyncio.ensure_future(_accept(listening, secret))
            either: list[asyncio.Future[Any]] = [connecting, process.ended]
            await asyncio.wait(either, timeout=START_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if not connecting.done():
                connecting.cancel()
                self.kill(name)
                # Nobody is at the other end: what it tells is that it has ended.
                ours, theirs = socket.socketpair()
                theirs.close()
                await process.connect(ours)
                return process
        await process.connect(connecting.result())
        return process

    def kill(self, name: str) -> None:
        """End a process by force; those that it has started end by themselves."""
        if name in self._processes:
            self._processes[name].kill()

    def close(self) -> None:
        """End all processes."""
        for popen in [*self._processes.values()]:
            popen.kill()

    def _wait(self, process: TaskProcess, popen: subprocess.Popen[bytes], loop: asyncio.AbstractEventLoop) -> None:
        status = popen.wait()

        def end() -> None:
            self._processes.pop(process.name, None)
            if not process.ended.done():
                process.ended.set_result(status)

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
