"""Generated instances with windows: each option with its effect."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from neuralns import InputError, Solution, generate_windows

KINDS = list(product(["random", "clustered", "mixed"], ["narrow", "wide"], ["short", "long"]))


@pytest.mark.parametrize(("kind", "width", "horizon"), KINDS)
@pytest.mark.parametrize("rounding", ["none", "round", "trunc", "dimacs"])
def test_everybody_with_a_window_can_be_served(kind: Any, width: Any, horizon: Any, rounding: str) -> None:
    for customers, seed in ((1, 1), (2, 2), (40, 3), (120, 4)):
        instance = generate_windows(customers, kind, width, horizon, seed=seed).with_rounding(rounding)
        assert instance.unservable == {}
        alone = Solution(instance, [[customer] for customer in range(1, customers + 1)])
        assert alone.faults() == []


@pytest.mark.parametrize(("kind", "horizon"), [("random", "short"), ("clustered", "long"), ("mixed", "short")])
def test_wide_windows_are_four_times_as_wide_as_narrow_ones_and_more(kind: Any, horizon: Any) -> None:
    narrow, wide = (generate_windows(300, kind, width, horizon, seed=5) for width in ("narrow", "wide"))
    np.testing.assert_array_equal(narrow.points, wide.points)
    assert (wide.latest - wide.earliest)[1:].mean() > 3 * (narrow.latest - narrow.earliest)[1:].mean()


@pytest.mark.parametrize("kind", ["random", "clustered", "mixed"])
def test_a_long_shift_has_larger_vehicles(kind: Any) -> None:
    short, long = (generate_windows(50, kind, horizon=horizon) for horizon in ("short", "long"))
    assert long.latest[0] > 2 * short.latest[0]
    assert long.capacity > 3 * short.capacity


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_a_share_of_the_customers_has_a_window(share: float) -> None:
    instance = generate_windows(200, share=share, seed=6)
    narrow = (instance.latest - instance.earliest)[1:] < 100
    assert narrow.mean() == share
    assert (instance.earliest[1:][~narrow] == 0).all()


@pytest.mark.parametrize(("customers", "side"), [(10, 100), (100, 100), (400, 200), (1000, 500)])
def test_the_square_grows_with_the_customers(customers: int, side: int) -> None:
    instance = generate_windows(customers, seed=7)
    assert instance.points[0].tolist() == [side // 2, side // 2]
    assert instance.points.max() <= side
    assert customers < 100 or instance.points.max() > 0.95 * side


def test_windows_of_clusters_follow_one_another_as_routes_do() -> None:
    instance = generate_windows(100, "clustered", "narrow", seed=8)
    middles = (instance.latest + instance.earliest)[1:] / 2
    apart = np.hypot(*(instance.points[1:, None] - instance.points[None, 1:]).transpose(2, 0, 1))
    following = (middles[None, :] - middles[:, None] > 45) & (middles[None, :] - middles[:, None] < 150) & (apart < 15)
    assert following.any(axis=1).mean() > 0.6


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"customers": 0}, "0 customers cannot be generated"),
        ({"kind": "odd"}, "kind 'odd' is not known; choose one of random, clustered, mixed"),
        ({"width": "odd"}, "width 'odd' is not known; choose one of narrow, wide"),
        ({"horizon": "odd"}, "horizon 'odd' is not known; choose one of short, long"),
        ({"share": 1.5}, "share 1.5 of customers with a window must lie between 0 and 1"),
        ({"share": float("nan")}, "share nan of customers with a window must lie between 0 and 1"),
        ({"seed": -1}, "seed -1 must be a whole number of at least 0"),
    ],
)
def test_options_without_meaning_are_refused_for_windows(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        generate_windows(**({"customers": 10} | options))
