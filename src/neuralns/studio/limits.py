"""What a server allows: sizes, seconds, processes and memory, with safe defaults."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from typing import Any

from neuralns.errors import InputError

CORES = os.cpu_count() or 1
TOO_LARGE = 2**53


@dataclass(frozen=True)
class Limits:
    """Limits of a server.

    Attributes
    ----------
    bytes
        Most bytes of a request.
    body_seconds
        Longest that a request may take to arrive.
    customers
        Most customers of an instance.
    seconds, default_seconds
        Longest search, and how long one takes that does not say.
    workers
        Most processes of one search.
    jobs, waiting, client_jobs
        Searches at a time, how many more wait, and the most of both of one client; None for no other limit.
    pause_seconds
        Longest that a search may be paused, in all, while others wait.
    connections, client_connections
        Most connections at a time, and of one client.
    head_seconds
        Longest that a connection may take until it has sent all headers of a request.
    uploads
        Most bytes of requests that are on their way together; of one client, half as many.
    memory
        Most bytes of memory of each process of a search.
    keep_seconds
        How long what a finished search has found is kept.
    kept_bytes
        Most bytes that finished searches take together; the oldest are forgotten first.
    require_matrices
        Whether VROOM's JSON without matrices is refused; else great circles stand in for roads.
    """

    bytes: int = 16 << 20
    body_seconds: float = 30.0
    customers: int = 10_000
    seconds: float = 600.0
    default_seconds: float = 10.0
    workers: int = CORES
    jobs: int = min(4, CORES)
    waiting: int = 20
    client_jobs: int | None = None
    pause_seconds: float = 60.0
    connections: int = 1000
    client_connections: int = 200
    head_seconds: float = 10.0
    uploads: int = 128 << 20
    memory: int = 4 << 30
    keep_seconds: float = 3600.0
    kept_bytes: int = 256 << 20
    require_matrices: bool = False

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if value is None:
                continue
            if not value > 0 and not (name in ("waiting", "require_matrices") and value == 0):
                raise InputError(f"limit {name} {value} must be above 0.")
            if value >= TOO_LARGE:
                raise InputError(f"limit {name} {value} is too large.")
        if self.default_seconds > self.seconds:
            raise InputError(
                f"limit default_seconds {self.default_seconds:g} must not be above limit seconds {self.seconds:g}."
            )

    def public(self) -> dict[str, Any]:
        """Return what clients are told of."""
        names = ("seconds", "default_seconds", "customers", "bytes", "jobs", "waiting", "client_jobs", "workers")
        return {name: getattr(self, name) for name in (*names, "require_matrices")}
