"""How commands print: names and paths as they are, since brackets and colons are markup and emoji to rich."""

from __future__ import annotations

from rich.console import Console


def plain_console(stderr: bool = False, soft_wrap: bool = False) -> Console:
    """Return a console that prints text unchanged."""
    return Console(stderr=stderr, soft_wrap=soft_wrap, highlight=False, markup=False, emoji=False)
