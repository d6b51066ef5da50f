"""Places on the globe: how far they are from each other, and where to draw them."""

from __future__ import annotations

import numpy as np

from neuralns.problem.distances import Floats

RADIUS = 6371.0088
"""The Earth's mean radius in kilometres."""


def great_circle(latitudes: Floats, longitudes: Floats) -> Floats:
    """Return the kilometres between all pairs of places, by the haversine formula.

    >>> round(float(great_circle(np.array([52.52, 48.14]), np.array([13.40, 11.58]))[0, 1]))
    504
    """
    north, east = np.radians(latitudes), np.radians(longitudes)
    up, across = (np.sin((angles[:, None] - angles[None, :]) / 2) ** 2 for angles in (north, east))
    between: Floats = np.cos(north)[:, None] * np.cos(north)[None, :]
    distances: Floats = 2 * RADIUS * np.arcsin(np.sqrt(np.clip(up + between * across, 0.0, 1.0)))
    return distances


def in_plane(latitudes: Floats, longitudes: Floats) -> Floats:
    """Return places as kilometres to the east and north of the first one, true near it."""
    east = (longitudes - longitudes[0] + 180.0) % 360.0 - 180.0
    points = np.column_stack([east * np.cos(np.radians(latitudes[0])), latitudes - latitudes[0]])
    return points * (np.pi * RADIUS / 180.0)
