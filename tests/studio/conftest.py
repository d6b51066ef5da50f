"""What the tests of the studio share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from servers import Served, serving


@pytest.fixture(scope="session")
def server() -> Iterator[Served]:
    """A server for all tests that need no other."""
    with serving() as found:
        yield found
