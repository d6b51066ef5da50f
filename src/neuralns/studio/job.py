"""What is known of a job, from its request to its result: in memory, and in a file if it is kept."""

from __future__ import annotations

import asyncio
import base64
import json
import re
import secrets
import stat
import sys
import time
import zlib
from dataclasses import dataclass
from pathlib import Path
from types import NoneType
from typing import Any

from neuralns.errors import InputError
from neuralns.files import write_text
from neuralns.studio.events import EventLog
from neuralns.studio.processes import TaskProcess

WAITING, RUNNING, PAUSED, DONE, FAILED, STOPPED = "waiting", "running", "paused", "done", "failed", "stopped"
ENDED = (DONE, FAILED, STOPPED)
MOST_IMPROVEMENTS = 300
"""Improvements that are kept; of more, every other one of the older half is dropped."""
NAME = re.compile(r"[0-9a-f]{16}")
PACKED_FIELDS = ("body", "instance", "trace")
FILE_FIELDS: dict[str, tuple[type, ...]] = {
    "id": (str,),
    "kind": (str,),
    "start": (dict, NoneType),
    "changes": (dict, NoneType),
    "state": (str,),
    "name": (str,),
    "options": (dict,),
    "notes": (list,),
    "error": (str, NoneType),
    "progress": (dict, NoneType),
    "best": (dict, NoneType),
    "result": (dict, NoneType),
    "created": (int, float),
    "ended_at": (int, float),
}
"""What a file says of a job as it is, beside what is packed, and of which types."""
LATEST = 1e11
"""Times are before the year 5000."""
OTHER_BYTES = 10_000
"""About what a job takes beside what is counted."""
LARGEST_FILE = 1 << 28
"""Most bytes of a file that is read again."""
PRIVATE = 0o600
"""Permissions of a file that is kept: it says where people live and when they are at home."""

JsonObject = dict[str, Any]


@dataclass(frozen=True)
class Improvement:
    """A new best solution: when it was found, at what cost, and its routes."""

    brief: JsonObject
    packed: bytes

    @property
    def content(self) -> JsonObject:
        """All that is known of it."""
        found: JsonObject = json.loads(zlib.decompress(self.packed))
        return self.brief | found


class Job:
    """A search, from its request to its result.

    Attributes
    ----------
    kind
        ``solve``, or ``vroom`` if it came by VROOM's convention.
    body, instance, trace, answer
        The request, what is drawn of its instance, the trace, and an answer in VROOM's form; all compressed.
    start, changes
        The solution to start from, and other options than the request has.
    client
        Whose it is.
    is_read
        Whether its request has been found to be right.
    listeners
        How many listen to its events, and ``alone_since`` when the last one left or asked where it stands.
    kept, not_kept
        Whether it is in the folder, None as long as that is not known or where there is none; and why it is not.
    held
        Seconds in which it stood still while others waited.
    heard_at, stopped_at, silent_for
        When its process was last heard of, when it was told to stop, and how long it was silent when it was ended for
        that; by a clock that nobody sets.
    """

    def __init__(
        self, kind: str, start: JsonObject | None = None, changes: JsonObject | None = None, client: str = ""
    ) -> None:
        self.id = secrets.token_hex(8)
        self.kind, self.start, self.changes, self.client = kind, start, changes, client
        self.body = b""
        self.state = WAITING
        self.is_read = False
        self.name = ""
        self.options: JsonObject = {}
        self.instance = b""
        self.notes: list[str] = []
        self.error: str | None = None
        self.progress: JsonObject | None = None
        self.best: JsonObject | None = None
        self.result: JsonObject | None = None
        self.answer = b""
        self.trace = b""
        self.improvements: dict[int, Improvement] = {}
        self.events = EventLog()
        self.process: TaskProcess | None = None
        self.kept: bool | None = None
        self.not_kept: list[str] = []
        self.created = time.time()
        self.heard_at = time.monotonic()
        self.stopped_at: float | None = None
        self.silent_for: float | None = None
        self.held = 0.0
        self._bytes: int | None = None
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
        """How much memory it takes, of all that may be large."""
        if self._bytes is None or not self.is_over:
            parts = [getattr(self, name) for name in (*FILE_FIELDS, *PACKED_FIELDS, "answer", "improvements")]
            self._bytes = size_of([parts, self.events.after(0)]) + OTHER_BYTES
        return self._bytes

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

    def take_request(self, message: JsonObject) -> None:
        """Keep what a process has read of the request."""
        self.name, self.options, self.notes = message["name"], message["options"], message["notes"]
        self.instance = base64.b64decode(message["instance"])
        self.is_read = True

    def set_state(self, state: str, **more: Any) -> None:
        """Be in a state, and tell."""
        self.state = state
        if state in ENDED:
            self.ended_at = time.time()
        self.events.add("state", {"state": state, **more})
        if state in ENDED:
            self.events.close()
            self.ended.set()

    def take_best(self, content: JsonObject) -> None:
        """Keep a new best solution, of which only changed routes may have been told."""
        brief = {key: content[key] for key in ("index", "time", "iteration", "cost")}
        whole = dict(content)
        if "changed" in content:
            before = [] if self.best is None else self.best["routes"]
            changed = whole.pop("changed")
            count = content["count"]
            whole["routes"] = [changed.get(str(index)) or before[index] for index in range(count)]
        self.best = whole
        parts = {key: whole[key] for key in ("routes", "vehicles", "unserved", "skipped")}
        packed = zlib.compress(json.dumps(parts, separators=(",", ":"), allow_nan=False).encode(), 1)
        self.improvements[content["index"]] = Improvement(brief, packed)
        if len(self.improvements) > MOST_IMPROVEMENTS:
            for index in list(self.improvements)[1 : MOST_IMPROVEMENTS // 2 : 2]:
                del self.improvements[index]
        self.events.add("best", content, whole, brief)

    def summary(self, queue_position: int = 0) -> JsonObject:
        """Return what is listed of it."""
        return {
            "id": self.id,
            "name": self.name,
            "state": self.state,
            "place": queue_position,
            "created": self.created,
            "selector": self.options.get("selector"),
            "cost": None if self.best is None else self.best["cost"],
        }

    def description(self, queue_position: int = 0) -> JsonObject:
        """Return what is told of it."""
        found: JsonObject = {
            "id": self.id,
            "state": self.state,
            "place": queue_position,
            "name": self.name,
            "created": self.created,
            "options": self.options,
            "notes": self.notes + self.not_kept,
            "progress": self.progress,
            "best": self.best,
            "kept": self.kept,
        }
        for key, value in (("error", self.error), ("result", self.result)):
            if value is not None:
                found[key] = value
        return found

    def write(self, folder: Path) -> None:
        """Keep it in a file that nobody else may read; where that fails, it is noted."""
        packed = {name: base64.b64encode(getattr(self, name)).decode() for name in PACKED_FIELDS}
        content = {name: getattr(self, name) for name in FILE_FIELDS} | packed
        content["improvements"] = [each.content for each in self.improvements.values()]
        content["events"] = self.events.to_json()
        try:
            write_text(path_of(folder, self.id), json.dumps(content, allow_nan=False), PRIVATE)
        except InputError as error:
            self.kept, self.not_kept = False, [f"this search is not kept: {error}"]
            raise
        self.kept, self.not_kept = True, []


def size_of(content: Any) -> int:
    """Return the memory that values take, with all that they are made of.

    >>> size_of([[1000, 2000]]) > size_of([1000])
    True
    """
    total, seen, left = 0, set[int](), [content]
    while left:
        value = left.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        total += sys.getsizeof(value)
        if isinstance(value, dict):
            left += value
            left += value.values()
        elif isinstance(value, list | tuple):
            left += value
        elif hasattr(value, "__dict__"):
            left.append(vars(value))
    return total


def path_of(folder: Path, name: str) -> Path:
    """Return where a job of a number is kept, which is in the folder itself."""
    if NAME.fullmatch(name) is None:
        raise InputError(f"{name!r:.60} is not the number of a job.")
    return folder / f"{name}.json"


def read_job(folder: Path, name: str) -> Job | None:
    """Return a job that was kept in a file, or None."""
    if NAME.fullmatch(name) is None:
        return None
    path = path_of(folder, name)
    try:
        state = path.lstat()
        # Whatever else has the name of a job, such as a link or a pipe, is none of ours.
        if not stat.S_ISREG(state.st_mode):
            raise ValueError("it is not a plain file")
        if state.st_size > LARGEST_FILE:
            raise ValueError(f"it is longer than {LARGEST_FILE} bytes")
        return _job_of(json.loads(path.read_text(encoding="utf-8"), parse_constant=_refuse), name)
    except FileNotFoundError:
        return None
    except (OSError, KeyError, TypeError, ValueError, RecursionError, zlib.error) as error:
        raise InputError(f"{path}: is not a job that was kept, or is damaged ({_reason(error)}).") from None


def _job_of(content: Any, name: str) -> Job:
    """Return the job of a number that a file says all of."""
    _expect(isinstance(content, dict), "it is not an object")
    for key, types in FILE_FIELDS.items():
        value = content[key]
        _expect(isinstance(value, types) and not isinstance(value, bool), f"{key} is of another type")
    # What is a number too large for JSON could not be told.
    json.dumps(content, allow_nan=False)
    _expect(content["id"] == name, "its id is not its name")
    _expect(content["kind"] == "solve" and content["state"] in ENDED, "it has not ended")
    _expect(all(isinstance(note, str) for note in content["notes"]), "a note is no text")
    for key in ("start", "best"):
        if content[key] is not None:
            _check_routes(content[key])
    if content["best"] is not None:
        cost = content["best"]["cost"]
        _expect(cost is None or type(cost) in (int, float), "its cost is no number")
    for key in ("created", "ended_at"):
        _expect(0 <= content[key] < LATEST, f"{key} is no time")
    job = Job(content["kind"])
    for key in FILE_FIELDS:
        setattr(job, key, content[key])
    for key in PACKED_FIELDS:
        packed = base64.b64decode(content[key], validate=True)
        _check_packed(packed)
        setattr(job, key, packed)
    for each in content["improvements"]:
        _check_routes(each)
        brief = {key: each[key] for key in ("index", "time", "iteration", "cost")}
        _expect(type(brief["index"]) is int, "an improvement has no index")
        parts = {key: each[key] for key in ("routes", "vehicles", "unserved", "skipped")}
        job.improvements[brief["index"]] = Improvement(brief, zlib.compress(json.dumps(parts).encode(), 1))
    job.events = EventLog.from_json(content["events"])
    job.kept = True
    job.ended.set()
    return job


def _check_packed(packed: bytes) -> None:
    """Refuse what cannot be unpacked, or would be very large; a job that was stopped may have no trace."""
    if packed:
        unpacking = zlib.decompressobj()
        unpacking.decompress(packed, LARGEST_FILE)
        _expect(unpacking.eof, "what is packed is cut off, or too long")


def _check_routes(content: Any) -> None:
    routes, vehicles = content["routes"], content["vehicles"]
    _expect(isinstance(routes, list) and all(isinstance(route, list) for route in routes), "routes are no lists")
    _expect(all(type(node) is int for route in routes for node in route), "a stop is not a whole number")
    _expect(isinstance(vehicles, list) and all(type(each) is int for each in vehicles), "a vehicle is no number")


def _expect(right: bool, otherwise: str) -> None:
    if not right:
        raise ValueError(otherwise)


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number")


def _reason(error: BaseException) -> str:
    if isinstance(error, RecursionError):
        return "nested too deeply"
    if isinstance(error, KeyError):
        return f"{error} is missing"
    return f"{getattr(error, 'strerror', None) or error}"
