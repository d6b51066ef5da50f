"""Seeds: how many, or which."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from neuralns import InputError
from neuralns.experiments.seeds import seeds_from


@pytest.mark.parametrize(
    ("seeds", "first", "found"),
    [
        (1, 0, (0,)),
        (3, 0, (0, 1, 2)),
        (3, 1, (1, 2, 3)),
        ([5], 1, (5,)),
        ((4, 2, 4), 0, (4, 2)),
        (range(2, 4), 1, (2, 3)),
    ],
)
def test_seeds_are_so_many_from_the_first_or_those_named(
    seeds: int | Sequence[int], first: int, found: tuple[int, ...]
) -> None:
    assert seeds_from(seeds, first) == found


@pytest.mark.parametrize(("seeds", "count"), [(0, 0), (-2, -2), ([], 0)])
def test_less_than_one_is_refused(seeds: int | Sequence[int], count: int) -> None:
    with pytest.raises(InputError, match=rf"^{count} seeds asked for; at least 1 is needed\.$"):
        seeds_from(seeds, first=1)


def test_a_seed_below_zero_is_refused() -> None:
    with pytest.raises(InputError, match=r"^seed -3 must be at least 0\.$"):
        seeds_from([1, -3], first=1)
