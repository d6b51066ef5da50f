"""``neuralns studio``: a page to solve, watch and understand."""

from __future__ import annotations

from typing import Annotated

import typer

from neuralns.cli import serve


def studio(
    port: serve.Port = 8765,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
    max_seconds: serve.MaxSeconds = None,
    max_customers: serve.MaxCustomers = None,
    max_megabytes: serve.MaxMegabytes = None,
    max_jobs: serve.MaxJobs = None,
    max_waiting: serve.MaxWaiting = None,
    max_workers: serve.MaxWorkers = None,
    max_memory: serve.MaxMemory = None,
    require_matrices: serve.RequireMatrices = False,
    keep: serve.Keep = None,
    tiles: serve.Tiles = None,
) -> None:
    """Open a page on this machine: drop a file, watch the search, take the routes.

    Examples:

        neuralns studio

        neuralns studio --port 9000 --no-browser --keep runs
    """
    from neuralns.studio.running import run_server

    limits = serve.make_limits(
        max_seconds,
        None,
        max_customers,
        max_megabytes,
        max_jobs,
        max_waiting,
        max_workers,
        max_memory,
        require_matrices=require_matrices,
    )

    def started(address: str) -> None:
        serve.announce(address)
        if browser:
            import webbrowser

            webbrowser.open(address)

    run_server("127.0.0.1", port, limits, folder=keep, tiles=tiles, started=started)
