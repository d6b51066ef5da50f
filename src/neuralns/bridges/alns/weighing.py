"""What operators are worth by the final cost itself, not by the gains that they are credited with.

Who gains is not always who helps: quick operators take gains that others would have found as well, and slow ones make
possible what comes later. So the weights of all operators are disturbed at random, once up and once down, from the same
initial solution with the same seed, and what this changes about the final cost is regressed on the disturbance (an
evolution strategy with antithetic samples). The direction in which cost falls is followed for a few lengths.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from neuralns.bridges.alns.policy import Lesson

Floats = npt.NDArray[np.float64]


def shifted(lesson: Lesson, shape: tuple[int, int], shifts: Floats) -> Lesson:
    """Return a lesson that draws each operator e^shift times as often, the destroy operators first.

    >>> from neuralns.bridges.alns.online import Settings
    >>> plain = Lesson(np.zeros((4, 1)), np.empty(0), np.empty(0), Settings(greed=1.0), 10.0)
    >>> shifted(plain, (2, 2), np.array([1.0, 0.0, 0.0, 2.0])).slopes.ravel()
    array([1., 3., 0., 2.])
    """
    destroys = shape[0]
    slopes = lesson.slopes.copy()
    slopes[:, 0] += np.add.outer(shifts[:destroys], shifts[destroys:]).ravel() / lesson.settings.greed
    return replace(lesson, slopes=slopes)


def downhill(disturbances: Sequence[Floats], costs: Floats) -> Floats:
    """Return the direction, of length 1, in which the cost falls.

    Parameters
    ----------
    disturbances
        What was added to the weights' logarithms, a row for each pair of runs.
    costs
        Final costs of each pair of runs: with the disturbance, and with its opposite.

    >>> up = [np.array([3.0, 0.0]), np.array([0.0, 3.0])]
    >>> downhill(up, np.array([[97.0, 103.0], [104.0, 96.0]])).tolist()
    [0.6, -0.8]
    """
    table = np.array(disturbances)
    scale = np.abs(costs).sum(axis=1)
    change = (costs[:, 0] - costs[:, 1]) / np.where(scale == 0, 1.0, scale)
    slope = np.linalg.solve(table.T @ table + np.eye(table.shape[1]), table.T @ change)
    down: Floats = np.negative(slope) / max(float(np.linalg.norm(slope)), 1e-300)
    return down
