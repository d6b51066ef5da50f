"""What all generators have in common: repeatable by seed, and where customers lie."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from neuralns import Instance, generate_solomon, generate_windows, generate_x
from neuralns.problem.distances import Floats


def spread(points: Floats) -> float:
    """Mean distance from a point to the nearest other one."""
    distances = np.hypot(*(points[:, None, :] - points[None, :, :]).transpose(2, 0, 1))
    np.fill_diagonal(distances, np.inf)
    return float(distances.min(axis=1).mean())


@pytest.mark.parametrize("generate", [generate_solomon, generate_windows, generate_x])
def test_the_seed_decides_the_instance(generate: Callable[..., Instance]) -> None:
    one, same, other = generate(40, seed=5), generate(40, seed=5), generate(40, seed=6)
    np.testing.assert_array_equal(one.points, same.points)
    np.testing.assert_array_equal(one.demands, same.demands)
    assert (one.capacity, one.name) == (same.capacity, same.name)
    assert not np.array_equal(one.points, other.points)
    assert not np.array_equal(one.demands, other.demands)
    assert one.name != other.name


@pytest.mark.parametrize("generate", [generate_solomon, generate_windows, generate_x])
@pytest.mark.parametrize("customers", [1, 2, 7, 250])
@pytest.mark.parametrize("kind", ["random", "clustered", "mixed"])
def test_there_are_as_many_customers_as_asked_for(generate: Callable[..., Instance], customers: int, kind: str) -> None:
    name = "positions" if generate is generate_x else "kind"
    assert generate(customers, seed=1, **{name: kind}).customers == customers


@pytest.mark.parametrize("generate", [generate_solomon, generate_windows, generate_x])
def test_clusters_are_denser_than_a_mixture_and_that_than_chance(generate: Callable[..., Instance]) -> None:
    name = "positions" if generate is generate_x else "kind"
    clustered, mixed, random = (
        np.mean([spread(generate(200, seed=seed, **{name: kind}).points[1:]) for seed in range(5)])
        for kind in ("clustered", "mixed", "random")
    )
    assert clustered < mixed < random
