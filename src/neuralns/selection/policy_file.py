"""Policy files: safetensors with a JSON card that says what the numbers are, for which operators, and where from.

Nothing in such a file is ever executed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from neuralns.errors import InputError
from neuralns.files import write_bytes

FORMAT = 1
_KEY = "neuralns"
_FOLDER = Path(__file__).parent / "policies"
_SUFFIX = ".policy"
_MOST_BYTES = 1 << 28
"""Most bytes of a policy file (256 MiB), some thousand times what the networks of this package need."""
_NUMBER_TYPES = ("F32", "F64")


@dataclass(frozen=True)
class Policy:
    """What a policy file holds.

    Attributes
    ----------
    card
        What it is: ``network`` (``lrw``, ``mlp``, ``small``, ``gat``), ``operators`` (``destroy`` and ``repair`` names
        in order), ``features`` and so on.
    tensors
        Its numbers by name.
    """

    card: Mapping[str, Any]
    tensors: Mapping[str, npt.NDArray[Any]]

    @property
    def network(self) -> str:
        return str(self.card["network"])

    @property
    def destroys(self) -> tuple[str, ...]:
        """Names of the destroy operators that it knows, in order."""
        return tuple(self.card["operators"]["destroy"])

    @property
    def repairs(self) -> tuple[str, ...]:
        """Names of the repair operators that it knows, in order."""
        return tuple(self.card["operators"]["repair"])

    @property
    def instances(self) -> tuple[str, ...]:
        """Names of the instances that it was trained on, where its card has them."""
        return tuple(self.card.get("instances") or ())


def write_policy(policy: Policy, path: str | os.PathLike[str]) -> None:
    """Write a policy to a file, at once or not at all."""
    write_bytes(path, policy_bytes(policy))


def policy_bytes(policy: Policy) -> bytes:
    """Return a policy as the content of a file."""
    from safetensors.numpy import save

    tensors = {name: np.ascontiguousarray(values) for name, values in policy.tensors.items()}
    return save(tensors, metadata={_KEY: json.dumps({"format": FORMAT, **policy.card})})


def mark_of(policy: Policy) -> str:
    """Return what tells a policy from others."""
    return sha256(policy_bytes(policy)).hexdigest()[:16]


def bundled_policies() -> tuple[str, ...]:
    """Return the names of the policies that come with the package."""
    return tuple(sorted(path.name.removesuffix(_SUFFIX) for path in _FOLDER.glob(f"*{_SUFFIX}")))


def is_policy(name: str) -> bool:
    """Return whether a name is that of a bundled policy or of a file, other than Python's."""
    return (Path(name).is_file() and not name.endswith(".py")) or name in bundled_policies()


def read_policy(path: str | os.PathLike[str]) -> Policy:
    """Read a policy from a file, or a bundled one by its name; one that is damaged or of another version is refused."""
    from safetensors import SafetensorError, safe_open

    name = os.fspath(path)
    source = Path(name)
    if not source.is_file():
        if name not in bundled_policies():
            raise InputError(f"{name}: no such file, and no bundled policy of that name (see 'neuralns policy').")
        source = _FOLDER / f"{name}{_SUFFIX}"
    try:
        if source.stat().st_size > _MOST_BYTES:
            raise InputError(f"{name}: is larger than the {_MOST_BYTES >> 20} MiB that a policy may have.")
        with safe_open(source, framework="np") as file:
            metadata = file.metadata() or {}
            keys = list(file.keys())
            for key in keys:
                _check_tensor(name, key, file.get_slice(key))
            tensors = {key: file.get_tensor(key) for key in keys}
    except InputError:
        raise
    except (SafetensorError, OSError, TypeError, ValueError) as error:
        raise InputError(f"{name}: is not a policy file, or is damaged ({error}).") from None
    try:
        card = json.loads(metadata[_KEY])
        wrong = _wrong_entry(card)
    # A card can be nested deeper than Python follows.
    except (KeyError, TypeError, ValueError, RecursionError):
        wrong = ""
    if wrong is not None:
        which = f" (its entry {wrong!r})" if wrong else ""
        raise InputError(f"{name}: is a safetensors file without a readable card of neuralns{which}.")
    if card.get("format") != FORMAT:
        raise InputError(f"{name}: has policy format {card.get('format')!r}, but this version reads {FORMAT}.")
    return Policy(card, tensors)


def _check_tensor(name: str, key: str, values: Any) -> None:
    """Refuse numbers of another type and empty tables, by the file's header alone, before they take memory."""
    if values.get_dtype() not in _NUMBER_TYPES:
        raise InputError(f"{name}: the numbers {key!r:.60} are of type {values.get_dtype()}, not F32 or F64.")
    # An empty table takes no room in the file, whatever its other dimensions ask for.
    if 0 in values.get_shape():
        raise InputError(f"{name}: the numbers {key!r:.60} are an empty table.")


def _wrong_entry(card: Any) -> str | None:
    """Return the name of an entry that is not what the package will take it for, or None."""

    def names(value: object) -> bool:
        return isinstance(value, list) and all(isinstance(entry, str) for entry in value)

    def count(value: object) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= 10**9

    def meant(value: object) -> bool:
        if not isinstance(value, dict) or not names(value.get("kinds")):
            return False
        sizes = value.get("customers")
        return isinstance(sizes, list) and len(sizes) == 2 and all(map(count, sizes))

    if not isinstance(card, dict):
        return ""
    operators = card.get("operators")
    if not isinstance(operators, dict) or not all(
        names(operators.get(phase)) and 0 < len(operators[phase]) == len(set(operators[phase]))
        for phase in ("destroy", "repair")
    ):
        return "operators"
    if not isinstance(card.get("network"), str):
        return "network"
    fits = {
        "instances": names,
        "sizes": lambda value: isinstance(value, list) and all(map(count, value)),
        # One for all instances, or one for each.
        "scale": lambda value: count(value) or (isinstance(value, list) and all(map(count, value))),
        "for": meant,
        "nodes": count,
        "setting": lambda value: isinstance(value, str),
        "graph": lambda value: isinstance(value, str),
    }
    for entry, is_fit in fits.items():
        if card.get(entry) is not None and not is_fit(card[entry]):
            return entry
    return None


def describe(policy: Policy) -> list[tuple[str, str]]:
    """Return the card of a policy as rows of a table, a name and a text each; what is nested has rows of its own.

    >>> card = {"network": "small", "operators": {"destroy": ["zone", "pair"], "repair": ["greedy"]}, "scale": 10}
    >>> describe(Policy(card, {}))[:3]
    [('network', 'small'), ('operators, destroy', 'zone, pair'), ('operators, repair', 'greedy')]
    """
    rows: list[tuple[str, str]] = []
    for name, value in policy.card.items():
        for part, inner in value.items() if isinstance(value, Mapping) else [("", value)]:
            label = f"{name}, {part}" if part else name
            rows.append((label.replace("_", " "), _in_words(inner)))
    return [*rows, ("parameters", str(sum(values.size for values in policy.tensors.values())))]


def _in_words(value: Any) -> str:
    if isinstance(value, list | tuple):
        same = len(value) > 1 and value.count(value[0]) == len(value)
        return f"{_in_words(value[0])} ({len(value)} times)" if same else ", ".join(map(_in_words, value))
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    return f"{value:.6g}" if isinstance(value, float) else str(value)
