"""Distances between nodes and the rounding conventions that published costs depend on."""

from collections.abc import Callable
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


def triangle_excess(matrix: Floats) -> float:
    """Return by how much the way by a third node can be shorter than the direct one; 0 if it never is.

    The time for it grows with the third power of the nodes.

    >>> triangle_excess(np.array([[0.0, 1.0, 5.0], [1.0, 0.0, 2.0], [5.0, 2.0, 0.0]]))
    2.0
    """
    return max(0.0, *(float((matrix - matrix[:, [via]] - matrix[via]).max()) for via in range(len(matrix))))


EMBED_LIMIT = 1000
"""Most nodes that points are fitted to all at once; the time for it grows with their third power."""
LANDMARKS = 100
"""Nodes that stand for all where there are more: so few that numpy starts no threads, slow on a busy machine."""


def ceiled(coordinates: Floats) -> Floats:
    """Return TSPLIB's ``CEIL_2D``: Euclidean distances, rounded up.

    >>> float(ceiled(np.array([[0.0, 0.0], [1.0, 1.0]]))[0, 1])
    2.0
    """
    return np.ceil(euclidean(coordinates))


def pseudo_euclidean(coordinates: Floats) -> Floats:
    """Return TSPLIB's ``ATT``: Euclidean distances over √10, rounded up."""
    x, y = coordinates[:, 0], coordinates[:, 1]
    return np.ceil(np.sqrt(((x[:, None] - x[None, :]) ** 2 + (y[:, None] - y[None, :]) ** 2) / 10.0))


def geographical(coordinates: Floats) -> Floats:
    """Return TSPLIB's ``GEO``: whole kilometres on a sphere between latitudes and longitudes.

    Coordinates are degrees and minutes, written DDD.MM. π and the radius are those of TSPLIB, on which its published
    costs depend.
    """
    pi, radius = 3.141592, 6378.388
    degrees = np.trunc(coordinates)
    latitude, longitude = (pi * (degrees + 5.0 * (coordinates - degrees) / 3.0) / 180.0).T
    across = np.cos(longitude[:, None] - longitude[None, :])
    apart = np.cos(latitude[:, None] - latitude[None, :])
    together = np.cos(latitude[:, None] + latitude[None, :])
    angle = np.arccos(np.clip(0.5 * ((1.0 + across) * apart - (1.0 - across) * together), -1.0, 1.0))
    distances: Floats = np.floor(radius * angle + 1.0)
    # By the formula a node is 1 km from itself.
    np.fill_diagonal(distances, 0.0)
    return distances


TSPLIB_DISTANCES: dict[str, Callable[[Floats], Floats]] = {
    "CEIL_2D": ceiled,
    "ATT": pseudo_euclidean,
    "GEO": geographical,
}
"""TSPLIB's distances that are whole numbers by definition, whatever the rounding convention."""


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
    chosen = np.linspace(0, len(distances) - 1, LANDMARKS).astype(np.int64)
    points = embed(distances[np.ix_(chosen, chosen)])
    squared = 0.5 * (distances[:, chosen] ** 2 + distances[chosen].T ** 2)
    norms = np.maximum((points**2).sum(axis=0), 1e-300)
    return np.ascontiguousarray(-0.5 * (squared - squared[chosen].mean(axis=0)) @ (points / norms))
