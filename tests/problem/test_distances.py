"""Rounding conventions against numbers worked by hand, and points fitted to a matrix."""

from __future__ import annotations

import time

import numpy as np
import pytest

from neuralns import InputError
from neuralns.problem.distances import EMBED_LIMIT, embed, euclidean, round_distances, rounding_named


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


def test_points_fitted_to_distances_of_the_plane_keep_them() -> None:
    distances = euclidean(np.random.default_rng(1).uniform(0, 100, size=(12, 2)))
    assert euclidean(embed(distances)) == pytest.approx(distances)


def test_points_are_fitted_to_the_mean_of_both_directions() -> None:
    there_and_back = np.array([[0.0, 1.0], [7.0, 0.0]])
    assert euclidean(embed(there_and_back))[0, 1] == pytest.approx(5.0)


def test_points_of_a_large_matrix_keep_its_distances_and_come_quickly() -> None:
    true = np.random.default_rng(1).uniform(0, 100, (EMBED_LIMIT + 200, 2))
    matrix = euclidean(true)
    begin = time.perf_counter()
    found = embed(matrix)
    assert time.perf_counter() - begin < 5.0
    assert np.allclose(euclidean(found), matrix, atol=1e-6)
    assert np.array_equal(found, embed(matrix))
