"""What a job tells, numbered, for those who listen now and for those who come later or come back."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, replace
from typing import Any

MOST_PROGRESS = 1000
"""Reports of progress that are kept; of more, every other one of the older half is dropped."""
MOST_STEPS = 50
"""Single iterations that are kept."""


@dataclass(frozen=True)
class Event:
    """A message by its number.

    ``text`` is what those are told who have heard the ``previous`` one of its name; ``whole`` what others are told, and
    ``brief`` what is left of it when there is a later one.
    """

    number: int
    name: str
    text: str
    whole: str | None = None
    brief: str | None = None
    previous: int = 0

    def to_sse(self, heard: int) -> str:
        """Return it as a server-sent event, for those who have heard the one of a number in full."""
        text = self.text if self.whole is None or heard == self.previous else self.whole
        return f"id: {self.number}\nevent: {self.name}\ndata: {text}\n\n"


class EventLog:
    """Events of a job; whoever waits is woken by each of them."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._next = 1
        self._counts: dict[str, int] = {}
        self._last: dict[str, int] = {}
        self._changed = asyncio.Event()
        self.closed = False

    def add(
        self,
        name: str,
        content: dict[str, Any],
        whole: dict[str, Any] | None = None,
        brief: dict[str, Any] | None = None,
    ) -> None:
        """Add an event."""
        same = whole is None or whole == content
        event = Event(
            self._next,
            name,
            _text(content),
            None if same else _text(whole),
            None if brief is None else _text(brief),
            self._last.get(name, 0),
        )
        self._next += 1
        if brief is not None:
            self._shorten(name)
        self._last[name] = event.number
        self._events.append(event)
        self._counts[name] = self._counts.get(name, 0) + 1
        if name == "progress" and self._counts[name] > MOST_PROGRESS:
            self._drop([event for event in self._events if event.name == name][1 : MOST_PROGRESS // 2 : 2])
        elif name == "step" and self._counts[name] > MOST_STEPS:
            self._drop([event for event in self._events if event.name == name][: MOST_STEPS // 2])
        self._wake()

    def close(self) -> None:
        """Have nothing more to tell."""
        self.closed = True
        self._wake()

    def after(self, number: int) -> list[Event]:
        """Return the events that are kept after the one of a number."""
        index = len(self._events)
        while index > 0 and self._events[index - 1].number > number:
            index -= 1
        return self._events[index:]

    async def wait(self, number: int, seconds: float) -> bool:
        """Wait until there is anything after the event of a number; return False if there is nothing for so long."""
        changed = self._changed
        if self.closed or (self._events and self._events[-1].number > number):
            return True
        try:
            await asyncio.wait_for(changed.wait(), seconds)
        except TimeoutError:
            return False
        return True

    def to_json(self) -> list[Any]:
        """Return the events as plain values."""
        return [[event.number, event.name, event.whole or event.text] for event in self._events]

    @classmethod
    def from_json(cls, events: list[Any]) -> EventLog:
        """Return the log of a job that has ended."""
        log = cls()
        log._events = [Event(int(number), str(name), str(text)) for number, name, text in events]
        # What is sent line by line must have no lines of its own.
        if any("\n" in part or "\r" in part for event in log._events for part in (event.name, event.text)):
            raise ValueError("an event has several lines")
        log._next = log._events[-1].number + 1 if log._events else 1
        log.closed = True
        return log

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    def _shorten(self, name: str) -> None:
        """Keep of the last event of a name only what is told of it in brief."""
        if name not in self._last:
            return
        index = len(self._events) - 1
        while self._events[index].number != self._last[name]:
            index -= 1
        event = self._events[index]
        short = replace(event, text=event.brief or event.text, whole=None, brief=None)
        self._events[index] = short

    def _drop(self, events: list[Event]) -> None:
        numbers = {event.number for event in events}
        self._events = [event for event in self._events if event.number not in numbers]
        self._counts[events[0].name] -= len(events)


def _text(content: dict[str, Any] | None) -> str:
    return json.dumps(content, separators=(",", ":"), allow_nan=False)
