"""``neuralns reproduce``: the paper's tables and figures."""

from __future__ import annotations

from typing import Annotated

import typer

from neuralns.cli import options
from neuralns.cli.printing import plain_console


def reproduce(
    experiment: Annotated[
        str, typer.Argument(metavar="EXPERIMENT", help="table1, table2, scaling, large, scale, temperature or all.")
    ],
    quick: Annotated[
        bool, typer.Option("--quick", help="A minute's run that tries everything and shows nothing about the paper.")
    ] = False,
    seeds: Annotated[int | None, typer.Option(metavar="S", help="Trainings of each agent; 10 by default.")] = None,
    workers: Annotated[
        int | None, typer.Option("--workers", "-w", metavar="N", help="Processes; as many as cores by default.")
    ] = None,
    cluster: options.Cluster = None,
    device: Annotated[
        str, typer.Option(metavar="NAME", help="cuda: train the MLPs of all cells in one run on a GPU.")
    ] = "cpu",
    out: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="Where results go; results, or results-quick, by default.")
    ] = None,
) -> None:
    """Do the paper's experiments again: tables as CSV, and a report that sets them beside the published ones.

    A run that was stopped goes on where it was when it is called again. The whole takes one to two hours on
    two cores.

    Examples:

        neuralns reproduce table1 --quick

        neuralns reproduce all --workers 8
    """
    from neuralns.experiments.jobs import Done, Failure, Job, Stopped
    from neuralns.reproduction.reproduce import reproduce as run
    from neuralns.reproduction.rounds import describe

    messages = plain_console(stderr=True, soft_wrap=True)

    def show(job: Job, end: Done | Failure, done: int, total: int) -> None:
        if isinstance(end, Failure):
            messages.print(f"{done}/{total}  {describe(job)}: failed ({end.reason})")
        else:
            messages.print(f"{done}/{total}  {describe(job)}  {end.seconds:.0f} s")

    try:
        found = run(experiment, quick, seeds, workers, cluster, device, out, show, messages.print)
    except Stopped as stopped:
        messages.print(str(stopped))
        raise typer.Exit(130) from None
    console = plain_console(soft_wrap=True)
    for path in found.written:
        console.print(f"written: {path}")
    for failure in found.failures:
        console.print(f"failed: {describe(failure.job)} ({failure.reason})")
    if found.failures:
        console.print("The same command tries what failed again.")
        raise typer.Exit(1)
