"""Dials: parameters that a controller turns, which operators declare when they are registered."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Dial:
    """What turns a parameter: a factor of it that is the same for all operators that declare the dial.

    Attributes
    ----------
    name
        What settings and policies call it.
    spread
        Standard deviation of the logarithm of the factor, where settings are drawn to be tried.
    """

    name: str
    spread: float = 0.5
