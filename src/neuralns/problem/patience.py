"""A limit of time for functions of users in Python: one that never returns is ended with an exception."""

from __future__ import annotations

import ctypes
import itertools
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

PATIENCE = 5.0
"""Seconds that a function of a user's own may take for one route."""
_LOOK, _IDLE = 0.2, 50
"""Seconds between two looks, and how many of them without a call are the end of the thread."""


class NoAnswerError(BaseException):
    """A function took longer than it may; no ``except Exception`` of its own stops it."""


@contextmanager
def patience(seconds: float | None = None) -> Iterator[None]:
    """Raise `NoAnswerError` in this thread if what is inside takes longer: than ``PATIENCE`` if nothing is said.

    >>> with patience(1.0):
    ...     sum(range(10))
    45
    """
    number = _watch.begin(PATIENCE if seconds is None else seconds)
    try:
        yield
    finally:
        while True:
            # The exception may come here, too.
            try:
                _watch.end(number)
                break
            except NoAnswerError:
                continue


class _Watch:
    """One thread that looks after all calls; it is there only while calls go on."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self._calls: dict[int, tuple[int, float]] = {}
        self._looks = False

    def begin(self, seconds: float) -> int:
        number = next(self._numbers)
        with self._lock:
            if not self._looks:
                self._looks = True
                threading.Thread(target=self._look, daemon=True, name="neuralns-patience").start()
            self._calls[number] = threading.get_ident(), time.monotonic() + seconds
        return number

    def end(self, number: int) -> None:
        with self._lock:
            self._calls.pop(number, None)
            # One that is on its way is called back.
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(threading.get_ident()), None)

    def _look(self) -> None:
        idle = 0
        while idle < _IDLE:
            time.sleep(_LOOK)
            now = time.monotonic()
            with self._lock:
                idle = 0 if self._calls else idle + 1
                for thread, until in self._calls.values():
                    if now >= until:
                        # Again and again: the function may catch it.
                        ctypes.pythonapi.PyThreadState_SetAsyncExc(
                            ctypes.c_ulong(thread), ctypes.py_object(NoAnswerError)
                        )
                self._looks = idle < _IDLE


_watch = _Watch()


def _renew() -> None:
    """Begin anew in a process that was forked, perhaps while a lock was held."""
    global _watch
    _watch = _Watch()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)
