"""What the tests of the studio share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import neuralns
from neuralns import MaxIterations, generate_of
from servers import Served, serving


@pytest.fixture(scope="session", autouse=True)
def _compiled() -> None:
    """Have all compiled before anybody waits for it: what the processes of a server run comes from the same disk."""
    neuralns.solve("E-n22-k4", MaxIterations(20))
    neuralns.solve("R101", MaxIterations(20), portfolio="wide")
    neuralns.solve(generate_of("pdptw", 20, 1), MaxIterations(20))


@pytest.fixture(scope="session")
def server(_compiled: None) -> Iterator[Served]:
    """A server for all tests that need no other."""
    with serving() as found:
        yield found
