"""The fork server: one process that has loaded all that tasks need, and forks a process for each of them.

It is started by the server, is given sockets for its children to talk to the server by, and tells when they end. It
ends with the server, and all its children with it.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from selectors import EVENT_READ, DefaultSelector

from neuralns.compiled.sharing import end_with_parent

MOST_BYTES, MOST_DESCRIPTORS = 4096, 64
WARM_UP = ""
"""Name of the child that compiles what has not been compiled yet."""


def main(number: int, server: int) -> None:
    """Serve on a socket that this process was given by a server, until its other end is closed."""
    end_with_parent(server)
    # What is imported here is there for all children.
    import neuralns.studio.task_runner  # noqa: F401

    with socket.socket(fileno=number) as control:
        ForkServer(control).run()


class ForkServer:
    """Forks a process for each socket that comes, by the name that comes with it."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._names: dict[int, str] = {}
        self._text, self._descriptors = b"", list[int]()
        self._wakeup_reader, writer = socket.socketpair()
        for end in (self._wakeup_reader, writer):
            end.setblocking(False)
        self._wakeup_writer = writer
        signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)

    def run(self) -> None:
        """Serve; what has to be compiled first is compiled by a child, so that others need not wait for it."""
        self._names[self._fork(_warm_up)] = WARM_UP
        with DefaultSelector() as selector:
            selector.register(self._control, EVENT_READ)
            selector.register(self._wakeup_reader, EVENT_READ)
            while True:
                for key, _ in selector.select():
                    if key.fileobj is self._wakeup_reader:
                        with suppress(BlockingIOError):
                            self._wakeup_reader.recv(MOST_BYTES)
                        self._reap()
                    elif not self._take_orders():
                        self._end_all()
                        return

    def _take_orders(self) -> bool:
        """Do what the server asks for; return whether it is still there."""
        text, descriptors, _, _ = socket.recv_fds(self._control, MOST_BYTES, MOST_DESCRIPTORS)
        if not text:
            return False
        self._descriptors += descriptors
        *lines, self._text = (self._text + text).split(b"\n")
        for order in map(json.loads, lines):
            if "kill" not in order:
                self._start(order["name"], self._descriptors.pop(0))
            for process, name in self._names.items():
                if name == order.get("kill"):
                    _kill(process)
        return True

    def _start(self, name: str, descriptor: int) -> None:
        process = self._fork(lambda: _run_task(descriptor))
        os.close(descriptor)
        self._names[process] = name
        self._report(name=name, process=process)

    def _fork(self, work: Callable[[], None]) -> int:
        """Start a process for one piece of work, in a group of its own together with those that it starts."""
        own = os.getpid()
        process = os.fork()
        if process > 0:
            with suppress(OSError):
                os.setpgid(process, process)
            return process
        status = 1
        try:
            end_with_parent(own)
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for end in (self._control, self._wakeup_reader, self._wakeup_writer):
                end.close()
            with suppress(OSError):
                os.setpgid(0, 0)
            work()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            # Nothing of the fork server is to be tidied up by its child.
            os._exit(status)

    def _reap(self) -> None:
        for process in list(self._names):
            ended, status = os.waitpid(process, os.WNOHANG)
            if ended:
                # Those that it started must not outlive it.
                _kill(process)
                name = self._names.pop(process)
                if name != WARM_UP:
                    self._report(name=name, status=os.waitstatus_to_exitcode(status))
                elif status == 0:
                    _warm_up()
                    self._report(loaded=True)

    def _report(self, **message: object) -> None:
        with suppress(OSError):
            self._control.sendall(json.dumps(message).encode() + b"\n")

    def _end_all(self) -> None:
        for process in self._names:
            _kill(process)


def _kill(process: int) -> None:
    with suppress(OSError):
        os.killpg(process, signal.SIGKILL)


def _run_task(number: int) -> None:
    from neuralns.studio.task_runner import run_task

    run_task(socket.socket(fileno=number))


def _warm_up() -> None:
    """Load what nearly every search needs, and compile it where that has not been done."""
    from neuralns.operators.portfolio import portfolio_named
    from neuralns.search.acceptance.annealing import SimulatedAnnealing
    from neuralns.search.setup import prepare
    from neuralns.search.stopping import MaxTime
    from neuralns.selection.uniform import Uniform

    prepare(portfolio_named("plain"), Uniform(), SimulatedAnnealing(), MaxTime(1))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
