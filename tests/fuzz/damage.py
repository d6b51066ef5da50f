"""Accidents that happen to files."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

ODD = (
    *("", "0", "-1", "2.5", "7", "1e200", "1e-320", "1e400", "nan", "-inf", "9" * 40, "9" * 5000, "0" * 5000, "1_0"),
    *(
        "٣",
        "0x1",
        "1\xa02",
        "null",
        "true",
        '"a"',
        "[1]",
        "{}",
        "[" * 3000,
        ":",
        "#",
        "EOF",
        "X_SECTION",
        "\0",
        "\x1b[2J",
    ),
    *("\0", "\u202e", "-" * 500, "1e", "--5", "NODE_COORD_SECTION", "DEPOT_SECTION", "\r", "\ufeff", "," * 2000),
)
_NUMBER = re.compile(r"-?\d+(\.\d+)?")


def damaged_text(rng: np.random.Generator, text: str) -> bytes:
    """The text after a few accidents: lines lost, repeated or moved, odd words, cuts, flipped bits."""
    for _ in range(rng.integers(1, 6)):
        lines = text.split("\n")
        one, two = sorted(int(place) for place in rng.integers(0, len(lines) + 1, 2))
        word = ODD[rng.integers(len(ODD))]
        place = int(rng.integers(0, len(text) + 1))
        match rng.integers(7):
            case 0:
                text = "\n".join(lines[:one] + lines[one + 1 :])
            case 1:
                text = "\n".join(lines[:two] + lines[one:])
            case 2:
                text = "\n".join(lines[:one] + lines[two:] + lines[one:two])
            case 3 if numbers := list(_NUMBER.finditer(text)):
                found = numbers[rng.integers(len(numbers))]
                text = text[: found.start()] + word + text[found.end() :]
            case 4:
                text = text[:place] + word + text[place:]
            case 5:
                text = text[:place]
            case _:
                text = text.replace(" ", "\t", 3)
    return flipped(rng, text.encode(errors="surrogatepass"))


NUMBERS = (0, -0.0, 1, -1, 0.5, 1e-9, 7, 1000, 1e9, -1e9, 1e17, 1e100)
OTHERS: tuple[Any, ...] = (None, True, False, "", "a", "1", [], [0], [[]], {}, {"a": 1})


def changed_json(rng: np.random.Generator, data: Any) -> None:
    """Change a few places of JSON, most of them from a number to another: what is left is JSON, and often a problem."""
    for _ in range(rng.integers(1, 4)):
        places = list(_places(data))
        if not places:
            return
        numbers = [place for place in places if type(place[0][place[1]]) in (int, float)]
        container, key = (numbers or places)[rng.integers(len(numbers or places))]
        match rng.integers(10):
            case 0:
                container, key = places[rng.integers(len(places))]
                container[key] = OTHERS[rng.integers(len(OTHERS))]
            case 1:
                container, key = places[rng.integers(len(places))]
                del container[key]
            case 2:
                lists = [place for place in places if isinstance(place[0][place[1]], list) and place[0][place[1]]]
                if lists:
                    container, key = lists[rng.integers(len(lists))]
                    container[key].append(copy.deepcopy(container[key][rng.integers(len(container[key]))]))
            case 3 | 4 | 5:
                other, at = (numbers or places)[rng.integers(len(numbers or places))]
                container[key], other[at] = other[at], container[key]
            case _:
                container[key] = NUMBERS[rng.integers(len(NUMBERS))]


def _places(data: Any) -> Iterator[tuple[Any, Any]]:
    """Every place of JSON that holds something, as what it is in and where there."""
    pairs = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in pairs:
        yield data, key
        yield from _places(value)


def flipped(rng: np.random.Generator, content: bytes, most: int = 2) -> bytes:
    """The content with up to so many bits flipped."""
    changed = bytearray(content)
    for _ in range(rng.integers(0, most + 1) if changed else 0):
        changed[rng.integers(len(changed))] ^= 1 << int(rng.integers(8))
    return bytes(changed)
