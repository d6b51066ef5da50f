"""Generated instances with optional customers."""

from __future__ import annotations

import numpy as np

from neuralns import MaxIterations, generate_prizes, generate_windows, solve


def test_nobody_has_to_be_served_and_all_else_is_as_with_windows() -> None:
    instance, base = generate_prizes(80, "mixed", seed=1), generate_windows(80, "mixed", seed=1)
    assert instance.prizes is not None
    assert not any(map(instance.required, range(1, 81)))
    assert (instance.prizes[1:] >= 1).all()
    np.testing.assert_array_equal(instance.points, base.points)
    np.testing.assert_array_equal(instance.windows, base.windows)
    assert (instance.capacity, instance.rounding) == (base.capacity, "dimacs")


def test_prizes_grow_with_demands() -> None:
    instance = generate_prizes(200, seed=2)
    assert instance.prizes is not None
    assert np.corrcoef(instance.prizes[1:], instance.demands[1:])[0, 1] > 0.7


def test_some_are_left_out_and_most_are_served() -> None:
    found = solve(generate_prizes(100, "random", seed=3), MaxIterations(5000), seed=1)
    assert 10 <= len(found.best.skipped) <= 45


def test_one_customer_at_the_depot_does_no_harm() -> None:
    assert generate_prizes(1, "clustered", seed=4).customers == 1
