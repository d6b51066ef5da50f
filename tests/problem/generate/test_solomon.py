"""Generated instances in the manner of Solomon's sets."""

from __future__ import annotations

from typing import Any

import pytest

from neuralns import InputError, generate_solomon


def test_solomons_square_has_side_100_and_the_depot_near_its_middle() -> None:
    instance = generate_solomon(300, "random", seed=2, capacity=500)
    assert instance.points[0].tolist() == [40, 50]
    assert (instance.points.min(), instance.points.max()) == (0, 100)
    assert (instance.capacity, instance.rounding) == (500, "none")


@pytest.mark.parametrize(("kind", "demands"), [("random", set(range(1, 42))), ("clustered", {10, 20, 30, 40, 50})])
def test_solomons_demands_depend_on_the_kind(kind: Any, demands: set[int]) -> None:
    assert set(generate_solomon(1000, kind, seed=2).demands[1:]) == demands


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"customers": 0}, "0 customers cannot be generated"),
        ({"kind": "odd"}, "kind 'odd' is not known; choose one of random, clustered, mixed"),
        ({"seed": -1}, "seed -1 must be a whole number of at least 0"),
        ({"capacity": 49}, "capacity 49 is too small for demands of up to 50"),
    ],
)
def test_options_without_meaning_are_refused_for_solomons_kinds(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        generate_solomon(**({"customers": 10} | options))
