"""What is known of a job, from its request to its result: in memory, and in a file if it is kept."""

from __future__ import annotations

import asyncio
import base64
import json
import re
import secrets
import time
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neuralns.errors import InputError
from neuralns.files import write_text
from neuralns.studio.children import Child
from neuralns.studio.events import EventLog

WAITING, RUNNING, PAUSED, DONE, FAILED, STOPPED = "waiting", "running", "paused", "done", "failed", "stopped"
ENDED = (DONE, FAILED, STOPPED)
MOST_IMPROVEMENTS = 300
"""Improvements that are kept; of more, every other one of the older half is dropped."""
NAME = re.compile(r"[0-9a-f]{16}")
KEPT = (
    *("id", "kind", "start", "changes", "state", "name", "options", "notes", "error", "progress", "best", "result"),
    *("created", "ended_at"),
)
"""What a file says of a job as it is, beside what is packed."""

Facts = dict[str, Any]


@dataclass(frozen=True)
class Improvement:
    """A new best solution: when it was found, at what cost, and its routes."""

    brief: Facts
    packed: bytes

    @property
    def content(self) -> Facts:
        """All that is known of it."""
        found: Facts = json.loads(zlib.decompress(self.packed))
        return self.brief | found


class Job:
    """A search, from its request to its result.

    Attributes
    ----------
    kind
        ``solve``, or ``vroom`` if it came by VROOM's convention.
    body
        The request, compressed.
    start, changes
        The solution to start from, and other options than the request has.
    listeners
        How many listen to its events, and ``alone_since`` when the last one left or asked where it stands.
    heard_at, stopped_at, silent_for
        When its process was last heard of, when it was told to stop, and how long it was silent when it was ended for
        that; by a clock that nobody sets.
    """

    def __init__(self, kind: str, body: bytes, start: Facts | None = None, changes: Facts | None = None) -> None:
        self.id = secrets.token_hex(8)
        self.kind, self.body, self.start, self.changes = kind, zlib.compress(body), start, changes
        self.state = WAITING
        self.is_read = False
        self.name = ""
        self.options: Facts = {}
        self.instance = b""
        self.notes: list[str] = []
        self.error: str | None = None
        self.progress: Facts | None = None
        self.best: Facts | None = None
        self.result: Facts | None = None
        self.answer: Facts | None = None
        self.trace = b""
        self.improvements: dict[int, Improvement] = {}
        self.events = EventLog()
        self.child: Child | None = None
        self.created = time.time()
        self.heard_at = time.monotonic()
        self.stopped_at: float | None = None
        self.silent_for: float | None = None
        self.ended_at: float | None = None
        self.ended = asyncio.Event()
        self.listeners, self.alone_since = 0, self.heard_at

    @property
    def is_over(self) -> bool:
        return self.state in ENDED

    @property
    def seconds(self) -> float:
        """How long it has searched, as far as it has told."""
        told = self.result["runtime"] if self.result else self.progress["time"] if self.progress else 0.0
        return float(told or 0.0)

    @property
    def bytes(self) -> int:
        """About how much memory it takes."""
        routes = sum(len(each.packed) + 500 for each in self.improvements.values())
        return len(self.body) + len(self.instance) + len(self.trace) + self.events.bytes + routes + 20_000

    def join(self) -> None:
        """Take note that somebody listens."""
        self.listeners += 1

    def leave(self) -> None:
        """Take note that one who listened has left."""
        self.listeners -= 1
        self.be_seen()

    def be_seen(self) -> None:
        """Take note that somebody has just listened or asked."""
        self.alone_since = time.monotonic()

    def take_instance(self, content: Facts) -> None:
        """Keep what is drawn of the instance."""
        self.instance = zlib.compress(json.dumps(content, allow_nan=False).encode())

    def set_state(self, state: str, **more: Any) -> None:
        """Be in a state, and tell."""
        self.state = state
        if state in ENDED:
            self.ended_at = time.time()
        self.events.add("state", {"state": state, **more})
        if state in ENDED:
            self.events.close()
            self.ended.set()

    def take_best(self, content: Facts) -> None:
        """Keep a new best solution, of which only changed routes may have been told."""
        brief = {key: content[key] for key in ("index", "time", "iteration", "cost")}
        whole = dict(content)
        if "changed" in content:
            before = [] if self.best is None else self.best["routes"]
            changed = whole.pop("changed")
            count = content["count"]
            whole["routes"] = [changed.get(str(place)) or before[place] for place in range(count)]
        self.best = whole
        parts = {key: whole[key] for key in ("routes", "vehicles", "unserved", "skipped")}
        packed = zlib.compress(json.dumps(parts, separators=(",", ":"), allow_nan=False).encode(), 1)
        self.improvements[content["index"]] = Improvement(brief, packed)
        if len(self.improvements) > MOST_IMPROVEMENTS:
            for index in list(self.improvements)[1 : MOST_IMPROVEMENTS // 2 : 2]:
                del self.improvements[index]
        self.events.add("best", content, whole, brief)

    def brief(self, place: int = 0) -> Facts:
        """Return what is listed of it."""
        return {
            "id": self.id,
            "name": self.name,
            "state": self.state,
            "place": place,
            "created": self.created,
            "selector": self.options.get("selector"),
            "cost": None if self.best is None else self.best["cost"],
        }

    def told(self, place: int = 0) -> Facts:
        """Return what is told of it."""
        found: Facts = {
            "id": self.id,
            "state": self.state,
            "place": place,
            "name": self.name,
            "created": self.created,
            "options": self.options,
            "notes": self.notes,
            "progress": self.progress,
            "best": self.best,
        }
        for key, value in (("error", self.error), ("result", self.result)):
            if value is not None:
                found[key] = value
        return found

    def write(self, folder: Path) -> None:
        """Keep it in a file."""
        packed = {name: base64.b64encode(getattr(self, name)).decode() for name in ("body", "instance", "trace")}
        content = {name: getattr(self, name) for name in KEPT} | packed
        content["improvements"] = [each.content for each in self.improvements.values()]
        content["events"] = self.events.to_json()
        write_text(folder / f"{self.id}.json", json.dumps(content, allow_nan=False))


def read_job(folder: Path, name: str) -> Job | None:
    """Return a job that was kept in a file, or None."""
    if NAME.fullmatch(name) is None:
        return None
    try:
        content = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        job = Job(content.pop("kind"), b"")
        for key in ("body", "instance", "trace"):
            setattr(job, key, base64.b64decode(content.pop(key)))
        for each in content.pop("improvements"):
            parts = {key: each.pop(key) for key in ("routes", "vehicles", "unserved", "skipped")}
            packed = zlib.compress(json.dumps(parts).encode(), 1)
            job.improvements[each["index"]] = Improvement(each, packed)
        job.events = EventLog.from_json(content.pop("events"))
        for key, value in content.items():
            setattr(job, key, value)
        job.ended.set()
    except FileNotFoundError:
        return None
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{folder / name}.json: is not a job that was kept, or is damaged ({error}).") from None
    return job
