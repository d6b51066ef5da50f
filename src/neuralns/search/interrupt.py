"""Ctrl-C, and SIGTERM where that is asked for: noted between two segments, so that the best solution is returned."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from types import FrameType
from typing import Any

from neuralns.errors import InputError

END, RETURN = "end", "return"
"""What SIGTERM does: it ends the program, or it ends the search, which returns the best so far."""

_active: list[Interrupts] = []


def leaving() -> bool:
    """Return whether the work that goes on was asked by a signal to end."""
    return any(each.caught is not None for each in _active)


def hurried() -> bool:
    """Return whether it was asked again."""
    return any(each.again for each in _active)


def check_on_sigterm(on_sigterm: str) -> None:
    """Refuse what SIGTERM cannot do."""
    if on_sigterm not in (END, RETURN):
        raise InputError(f"on_sigterm {on_sigterm!r:.60} is not known; choose {END} or {RETURN}.")


@contextmanager
def interrupts_blocked() -> Iterator[None]:
    """Let processes that are started here begin with Ctrl-C blocked: it goes to all of a terminal, and we end them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # Started later by the first process, it would lift what is blocked here.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Interrupts:
    """While in use, a first Ctrl-C only sets ``caught``; a second one acts as usual.

    So does SIGTERM with ``sigterm``; without, it is left alone: it ends the program, or does what the program has it
    do. If this is ``patient``, a second signal only sets ``again``, and a third one acts as usual. A signal that was
    ignored stays ignored, as shells have it for what they put into the background. Signals can be handled in the main
    thread alone; elsewhere this does nothing.
    """

    def __init__(self, patient: bool = False, sigterm: bool = False) -> None:
        self.caught: str | None = None
        self.again = False
        self.patient = patient
        self._numbers = (signal.SIGINT, signal.SIGTERM) if sigterm else (signal.SIGINT,)
        self._previous: dict[int, Any] = {}

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            for number in self._numbers:
                if signal.getsignal(number) is not signal.SIG_IGN:
                    self._previous[number] = signal.signal(number, self._note)
            _active.append(self)
        return self

    def __exit__(self, *exception: object) -> None:
        self._restore()
        if self in _active:
            _active.remove(self)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.again = self.caught is not None
        self.caught = signal.Signals(number).name
        if self.again or not self.patient:
            self._restore()

    def _restore(self) -> None:
        while self._previous:
            number, handler = self._previous.popitem()
            signal.signal(number, handler)
