"""Seeds as people give them: how many, or which."""

from __future__ import annotations

from collections.abc import Sequence

from neuralns.errors import InputError


def seeds_from(seeds: int | Sequence[int], first: int) -> tuple[int, ...]:
    """Return the seeds of runs: so many from the first one on, or those named, each once.

    >>> seeds_from(3, first=1), seeds_from([4, 2, 4], first=1)
    ((1, 2, 3), (4, 2))
    """
    found = tuple(range(first, first + seeds)) if isinstance(seeds, int) else tuple(dict.fromkeys(seeds))
    if not found:
        count = seeds if isinstance(seeds, int) else 0
        raise InputError(f"{count} seeds asked for; at least 1 is needed.")
    if min(found) < 0:
        raise InputError(f"seed {min(found)} must be at least 0.")
    return found
