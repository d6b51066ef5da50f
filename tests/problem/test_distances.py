"""Rounding conventions against numbers worked by hand, and points fitted to a matrix."""

from __future__ import annotations

import numpy as np
import pytest

from neuralns import InputError
from neuralns.problem.distances import (
    EMBED_LIMIT,
    ceiled,
    embed,
    euclidean,
    geographical,
    pseudo_euclidean,
    round_distances,
    rounding_named,
    triangle_excess,
)


# √2 = 1.4142..., √8 = 2.8284..., √29 = 5.3851...
@pytest.mark.parametrize(
    ("rounding", "expected"),
    [
        ("none", [0.0, np.sqrt(2.0), 2.5, np.sqrt(8.0), np.sqrt(29.0)]),
        ("round", [0.0, 1.0, 3.0, 3.0, 5.0]),
        ("trunc", [0.0, 1.0, 2.0, 2.0, 5.0]),
        ("dimacs", [0.0, 1.4, 2.5, 2.8, 5.3]),
    ],
)
def test_each_convention_rounds_as_worked_by_hand(rounding: str, expected: list[float]) -> None:
    distances = np.array([0.0, np.sqrt(2.0), 2.5, np.sqrt(8.0), np.sqrt(29.0)])
    assert round_distances(distances, rounding_named(rounding)).tolist() == expected


def test_an_unknown_convention_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match=r"'ceil' is not known; choose one of none, round, trunc, dimacs\."):
        rounding_named("ceil")


def test_euclidean_distances_are_those_of_the_plane() -> None:
    points = np.array([[0.0, 0.0], [3.0, 4.0], [3.0, -4.0]])
    assert euclidean(points).tolist() == [[0, 5, 5], [5, 0, 8], [5, 8, 0]]


def test_a_detour_saves_what_the_best_third_node_says() -> None:
    rng = np.random.default_rng(1)
    plane, given = euclidean(rng.random((7, 2))), rng.random((7, 7))
    nodes = range(7)
    saved = max(given[i, j] - given[i, via] - given[via, j] for i in nodes for j in nodes for via in nodes)
    assert triangle_excess(plane) == pytest.approx(0.0, abs=1e-12)
    assert saved > 0
    assert triangle_excess(given) == pytest.approx(saved)
    assert triangle_excess(np.ones((2, 2))) == 0.0


def test_points_fitted_to_distances_of_the_plane_keep_them() -> None:
    distances = euclidean(np.random.default_rng(1).uniform(0, 100, size=(12, 2)))
    assert euclidean(embed(distances)) == pytest.approx(distances)


def test_points_are_fitted_to_the_mean_of_both_directions() -> None:
    there_and_back = np.array([[0.0, 1.0], [7.0, 0.0]])
    assert euclidean(embed(there_and_back))[0, 1] == pytest.approx(5.0)


def test_points_of_a_large_matrix_keep_its_distances() -> None:
    true = np.random.default_rng(1).uniform(0, 100, (EMBED_LIMIT + 200, 2))
    matrix = euclidean(true)
    found = embed(matrix)
    assert np.allclose(euclidean(found), matrix, atol=1e-6)
    assert np.array_equal(found, embed(matrix))


BURMA = (
    "16.47 96.10, 16.47 94.44, 20.09 92.54, 22.39 93.37, 25.23 97.24, 22.00 96.05, 20.47 97.02, "
    "17.20 96.29, 16.30 97.38, 14.05 98.12, 16.53 97.38, 21.52 95.59, 19.41 97.13, 20.09 94.55"
)


def test_geographical_distances_give_the_published_cost_of_tsplibs_burma14() -> None:
    points = np.array([[float(word) for word in pair.split()] for pair in BURMA.split(", ")])
    tour = np.array([1, 2, 14, 3, 4, 5, 6, 12, 7, 13, 8, 11, 9, 10]) - 1
    assert geographical(points)[tour, np.roll(tour, -1)].sum() == 3323


def test_pseudo_euclidean_distances_are_rounded_up_after_division_by_the_root_of_ten() -> None:
    # √(100/10) = 3.16..., √(10/10) = 1 and √(40/10) = 2.
    assert pseudo_euclidean(np.array([[0.0, 0.0], [10.0, 0.0], [3.0, 1.0], [6.0, 2.0]]))[0].tolist() == [0, 4, 1, 2]


def test_distances_that_are_rounded_up_stay_where_they_are_whole() -> None:
    assert ceiled(np.array([[0.0, 0.0], [3.0, 4.0], [1.0, 1.0]]))[0].tolist() == [0, 5, 2]
