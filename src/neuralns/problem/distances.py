"""Distances between nodes and the rounding conventions that published costs depend on."""

from typing import Literal, cast, get_args

import numpy as np
import numpy.typing as npt

from neuralns.errors import InputError

Floats = npt.NDArray[np.float64]
Rounding = Literal["none", "round", "trunc", "dimacs"]

ROUNDINGS: tuple[str, ...] = get_args(Rounding)
"""Names of the conventions; the index of a name is its code in compiled functions."""


def rounding_named(name: str) -> Rounding:
    """Return ``name`` if it is a rounding convention; refuse it otherwise."""
    if name not in ROUNDINGS:
        raise InputError(f"rounding {name!r} is not known; choose one of {', '.join(ROUNDINGS)}.")
    return cast(Rounding, name)


def round_distances(distances: Floats, rounding: Rounding) -> Floats:
    """Apply a rounding convention.

    ``none`` keeps the distance, ``round`` takes the nearest integer (⌊d + ½⌋, as TSPLIB and CVRPLIB's A to X sets),
    ``trunc`` the integer part, ``dimacs`` one decimal, cut (⌊10 d⌋ / 10, the DIMACS challenge's VRPTW convention).

    >>> round_distances(np.array([1.46, 2.5]), "round").tolist()
    [1.0, 3.0]
    >>> round_distances(np.array([1.46, 2.5]), "dimacs").tolist()
    [1.4, 2.5]
    """
    if rounding == "round":
        return np.floor(distances + 0.5)
    if rounding == "trunc":
        return np.floor(distances)
    if rounding == "dimacs":
        return np.floor(10.0 * distances) / 10.0
    return distances


def euclidean(coordinates: Floats) -> Floats:
    """Return the matrix of Euclidean distances between all pairs of points."""
    x, y = coordinates[:, 0], coordinates[:, 1]
    return np.sqrt((x[:, None] - x[None, :]) ** 2 + (y[:, None] - y[None, :]) ** 2)


EMBED_LIMIT = 1000
"""Most nodes that points are fitted to all at once; the time for it grows with their third power."""


def embed(distances: Floats) -> Floats:
    """Return points in the plane whose distances come close to ``distances`` (classical scaling).

    Instances given only by a matrix get coordinates this way, for plots and for operators that look at the plane.
    """
    if len(distances) > EMBED_LIMIT:
        return _embed_by_landmarks(distances)
    squared = 0.5 * (distances**2 + distances.T**2)
    centred = squared - squared.mean(axis=0) - squared.mean(axis=1)[:, None] + squared.mean()
    values, vectors = np.linalg.eigh(-0.5 * centred)
    top = vectors[:, -2:][:, ::-1] * np.sqrt(np.maximum(values[-2:][::-1], 0.0))
    return np.ascontiguousarray(top)


def _embed_by_landmarks(distances: Floats) -> Floats:
    """Fit points to some nodes, and place each other node by its distances to them (de Silva & Tenenbaum 2004)."""
    chosen = np.linspace(0, len(distances) - 1, EMBED_LIMIT // 4).astype(np.int64)
    points = embed(distances[np.ix_(chosen, chosen)])
    squared = 0.5 * (distances[:, chosen] ** 2 + distances[chosen].T ** 2)
    norms = np.maximum((points**2).sum(axis=0), 1e-300)
    return np.ascontiguousarray(-0.5 * (squared - squared[chosen].mean(axis=0)) @ (points / norms))
