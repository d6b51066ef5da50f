"""What a job tells, numbered, for those who listen now and for those who come later or come back."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any

MOST_PROGRESS = 1000
"""Reports of progress that are kept; of more, every other one of the older half is dropped."""


@dataclass(frozen=True)
class Event:
    """A message by its number; ``brief`` is what is told of it once a later one makes the rest needless."""

    number: int
    kind: str
    text: str
    brief: str | None = None

    def written(self, brief: bool = False) -> str:
        """Return it as a server-sent event."""
        text = self.brief if brief and self.brief is not None else self.text
        return f"id: {self.number}\nevent: {self.kind}\ndata: {text}\n\n"


class EventLog:
    """Events of a job; whoever waits is woken by each of them."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._next = 1
        self._changed = asyncio.Event()
        self.closed = False
        self.bytes = 0

    def add(self, kind: str, content: dict[str, Any], brief: dict[str, Any] | None = None) -> None:
        """Add an event."""
        event = Event(self._next, kind, json.dumps(content), None if brief is None else json.dumps(brief))
        self._next += 1
        if brief is not None:
            self._shorten(kind)
        self._events.append(event)
        self.bytes += len(event.text)
        if kind == "progress":
            self._thin_out()
        self._wake()

    def close(self) -> None:
        """Have nothing more to tell."""
        self.closed = True
        self._wake()

    def after(self, number: int) -> list[Event]:
        """Return the events that are kept after the one of a number."""
        place = len(self._events)
        while place > 0 and self._events[place - 1].number > number:
            place -= 1
        return self._events[place:]

    async def wait(self, number: int, seconds: float) -> None:
        """Wait until there is anything after the event of a number, some seconds at most."""
        changed = self._changed
        if self.closed or self.after(number):
            return
        try:
            await asyncio.wait_for(changed.wait(), seconds)
        except TimeoutError:
            return

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    def _shorten(self, kind: str) -> None:
        """Keep of the last event of a kind only what is told of it in brief."""
        for place in range(len(self._events) - 1, -1, -1):
            event = self._events[place]
            if event.kind == kind:
                if event.brief is not None:
                    self.bytes += len(event.brief) - len(event.text)
                    self._events[place] = Event(event.number, kind, event.brief)
                return

    def _thin_out(self) -> None:
        places = [place for place, event in enumerate(self._events) if event.kind == "progress"]
        if len(places) <= MOST_PROGRESS:
            return
        dropped = set(places[1 : len(places) // 2 : 2])
        self.bytes -= sum(len(self._events[place].text) for place in dropped)
        self._events = [event for place, event in enumerate(self._events) if place not in dropped]
