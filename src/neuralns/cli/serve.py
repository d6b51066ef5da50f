"""``neuralns serve``: a service that programs call."""

from __future__ import annotations

import math
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from neuralns.studio.limits import Limits

Port = Annotated[int, typer.Option(metavar="N", help="Port to listen on; 0 for any that is free.")]
MaxSeconds = Annotated[float | None, typer.Option(metavar="S", help="Longest search; 600 by default.")]
DefaultSeconds = Annotated[float | None, typer.Option(metavar="S", help="Search of requests that do not say; 10.")]
MaxCustomers = Annotated[int | None, typer.Option(metavar="N", help="Largest instance; 10000 by default.")]
MaxMegabytes = Annotated[float | None, typer.Option(metavar="M", help="Largest request; 16 by default.")]
MaxJobs = Annotated[int | None, typer.Option(metavar="N", help="Searches at a time; up to 4, by the cores.")]
MaxWaiting = Annotated[int | None, typer.Option(metavar="N", help="Searches that wait in line; 20 by default.")]
MaxClientJobs = Annotated[
    int | None, typer.Option(metavar="N", help="Searches of one client; half of all that run or wait, by default.")
]
MaxWorkers = Annotated[int | None, typer.Option(metavar="N", help="Processes of one search; the cores by default.")]
MaxMemory = Annotated[float | None, typer.Option(metavar="GB", help="Memory of each process; 4 by default.")]
RequireMatrices = Annotated[
    bool, typer.Option("--require-matrices", help="Refuse VROOM's JSON without matrices: no straight lines.")
]
Keep = Annotated[Path | None, typer.Option(metavar="DIR", help="Keep finished searches there, not for an hour only.")]
Tiles = Annotated[str | None, typer.Option(metavar="URL", help="Map tiles for the page, with {z}, {x} and {y}.")]


def serve(
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="Address to listen on.")] = "127.0.0.1",
    port: Port = 3000,
    token_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Callers must know the token in this file.")
    ] = None,
    allow_origin: Annotated[
        list[str] | None, typer.Option(metavar="ORIGIN", help="Let pages from elsewhere call it; * for all.")
    ] = None,
    max_seconds: MaxSeconds = None,
    default_seconds: DefaultSeconds = None,
    max_customers: MaxCustomers = None,
    max_megabytes: MaxMegabytes = None,
    max_jobs: MaxJobs = None,
    max_waiting: MaxWaiting = None,
    max_client_jobs: MaxClientJobs = None,
    max_workers: MaxWorkers = None,
    max_memory: MaxMemory = None,
    require_matrices: RequireMatrices = False,
    keep: Keep = None,
    tiles: Tiles = None,
) -> None:
    """Serve VROOM's convention and jobs; a client of vroom-express works by changing the address.

    Examples:

        neuralns serve

        neuralns serve --host 0.0.0.0 --token-file token.txt --max-seconds 60 --keep results
    """
    from neuralns.studio.running import run_server

    limits = make_limits(
        max_seconds,
        default_seconds,
        max_customers,
        max_megabytes,
        max_jobs,
        max_waiting,
        max_workers,
        max_memory,
        max_client_jobs,
        require_matrices=require_matrices,
    )
    run_server(
        host,
        port,
        limits,
        token_file=token_file,
        folder=keep,
        origins=tuple(allow_origin or ()),
        tiles=tiles,
        started=announce,
    )


def make_limits(
    seconds: float | None,
    default_seconds: float | None,
    customers: int | None,
    megabytes: float | None,
    jobs: int | None,
    waiting: int | None,
    workers: int | None,
    memory: float | None,
    client_jobs: int | None = None,
    *,
    require_matrices: bool,
) -> Limits:
    """Return the limits that options give; defaults for those left out."""
    from neuralns.studio.limits import Limits

    usual = Limits()
    given = {
        "seconds": seconds,
        "default_seconds": default_seconds,
        "customers": customers,
        "bytes": _bytes(megabytes, 2**20),
        "jobs": jobs,
        "waiting": waiting,
        "client_jobs": client_jobs,
        "workers": workers,
        "memory": _bytes(memory, 2**30),
        "require_matrices": require_matrices,
    }
    stated = {name: value for name, value in given.items() if value is not None}
    if seconds is not None and default_seconds is None:
        stated["default_seconds"] = min(usual.default_seconds, seconds)
    return Limits(**stated)  # type: ignore[arg-type]


def _bytes(amount: float | None, unit: int) -> float | None:
    """Return an amount in bytes, whole ones where it is a number at all."""
    if amount is None or not math.isfinite(amount):
        return amount
    return int(amount * unit)


def announce(address: str) -> None:
    """Say where the server listens; from now on SIGTERM ends it as it ends any program."""
    from neuralns.cli.printing import plain_console

    # It has done its work then: there is nothing to say, and no exit code to choose.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    plain_console(stderr=True).print(f"listening on {address} (Ctrl-C ends it)", soft_wrap=True)
