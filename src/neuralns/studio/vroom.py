"""VROOM's convention: its JSON in the body of ``POST /``, with the options of vroom-express."""

from __future__ import annotations

import json
import math
from typing import Any

from neuralns.errors import InputError
from neuralns.problem.formats.vroom import read_vroom
from neuralns.studio.limits import Limits
from neuralns.studio.request import Options, Request, check_keys, check_matrices, check_memory, check_size, parse

INTERNAL, INPUT, TOO_LARGE = 1, 2, 4
"""Codes of errors: VROOM's own (3, routing, never happens here) and that of vroom-express."""
LEVELS = 5
"""Highest level of exploration, which takes the default time; lower ones take a share of it."""
NOTES = "X-Neuralns-Notes"
"""Header of an answer: its notes once more, as a list in JSON of plain letters."""
LONGEST_NOTE = 500
"""Letters of a note in the header; the answer itself has all of it."""
OPTIONS = ("g", "c", "t", "x", "l", "seed", "lenient")


def code_of(status: int) -> int:
    """Return VROOM's code for an error of a status of HTTP."""
    return TOO_LARGE if status == 413 else INPUT if status in (400, 408, 422) else INTERNAL


def read_vroom_request(body: bytes, limits: Limits) -> Request:
    """Return the request that VROOM's JSON states; options beyond the server's limits are cut to them."""
    content = parse(body)
    given = content.pop("options", None) or {}
    if not isinstance(given, dict):
        raise InputError("'options' must be an object.")
    check_keys("options", given, OPTIONS)
    for key in ("t", "x", "l", "seed"):
        value = given.get(key, 0)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 2**53:
            raise InputError(f"options: {key} {value!r:.40} must be a number of at least 0.")
    if given.get("c"):
        raise InputError("options: c (times of given routes, nothing to be searched) is not supported.")
    if "vehicles" not in content or not ("jobs" in content or "shipments" in content):
        raise InputError("the request must have vehicles, and jobs or shipments.")
    level = min(LEVELS, given.get("x", LEVELS))
    seconds = given["l"] if "l" in given else limits.default_seconds * (level + 1) / (LEVELS + 1)
    check_memory(content, limits, "the request")
    problem = read_vroom(content, bool(given.get("lenient")), source="the request")
    check_matrices(problem, limits)
    check_size(problem.instance, limits)
    options = Options(
        time=min(float(seconds), limits.seconds),
        seed=int(given.get("seed", 0)),
        workers=max(1, min(math.ceil(given.get("t", 1)), limits.workers)),
    )
    return Request(problem.instance, options, problem, geometry=bool(given.get("g")))


def notes_header(notes: list[str]) -> dict[str, str]:
    """Return the header that tells of notes; none where there are none.

    >>> notes_header(["the request: no matrices are given."])
    {'X-Neuralns-Notes': '["the request: no matrices are given."]'}
    """
    cut = [note if len(note) <= LONGEST_NOTE else f"{note[:LONGEST_NOTE]}…" for note in notes]
    return {NOTES: json.dumps(cut)} if cut else {}


def with_geometry(answer: dict[str, Any]) -> None:
    """Add to each route of an answer the line from stop to stop, encoded as VROOM does it: straight, not by road."""
    for route in answer["routes"]:
        places = [step["location"] for step in route["steps"] if "location" in step]
        if len(places) == len(route["steps"]):
            route["geometry"] = encode_line(places)


def encode_line(places: list[list[float]]) -> str:
    """Return a line of longitudes and latitudes as text: differences in steps of 10⁻⁵ degrees, five bits a letter.

    >>> encode_line([[-120.2, 38.5], [-120.95, 40.7], [-126.453, 43.252]])
    '_p~iF~ps|U_ulLnnqC_mqNvxq`@'
    """
    letters: list[str] = []
    before = (0, 0)
    for east, north in places:
        now = (round(north * 1e5), round(east * 1e5))
        for one, other in zip(now, before, strict=True):
            step = one - other
            bits = ~(step << 1) if step < 0 else step << 1
            while bits >= 0x20:
                letters.append(chr((0x20 | (bits & 0x1F)) + 63))
                bits >>= 5
            letters.append(chr(bits + 63))
        before = now
    return "".join(letters)
