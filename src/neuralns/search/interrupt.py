"""Ctrl-C and SIGTERM during a search: noted between two segments, so that the best solution is returned."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any

_active: list[Interrupts] = []


def leaving() -> bool:
    """Return whether the work that goes on was asked by a signal to end."""
    return any(each.caught is not None for each in _active)


def hurried() -> bool:
    """Return whether it was asked again."""
    return any(each.again for each in _active)


class Interrupts:
    """While in use, a first Ctrl-C or SIGTERM only sets ``caught``; a second one acts as usual.

    If it is ``patient``, a second one only sets ``again``, and a third one acts as usual. Signals can be handled in the
    main thread alone; elsewhere this does nothing.
    """

    def __init__(self, patient: bool = False) -> None:
        self.caught: str | None = None
        self.again = False
        self.patient = patient
        self._previous: dict[int, Any] = {}

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
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
