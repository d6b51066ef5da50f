"""``neuralns reproduce``: the paper's tables and figures."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from neuralns.cli.printing import plain_console
from neuralns.errors import InputError


def reproduce(
    experiment: Annotated[
        str, typer.Argument(metavar="EXPERIMENT", help="table1, table2, scaling, scale, temperature or all.")
    ],
    quick: Annotated[
        bool, typer.Option("--quick", help="A minute's run that tries everything and shows nothing about the paper.")
    ] = False,
    seeds: Annotated[int | None, typer.Option(metavar="S", help="Trainings of each agent; 10 by default.")] = None,
    workers: Annotated[
        int | None, typer.Option("--workers", "-w", metavar="N", help="Processes; as many as cores by default.")
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="A Dask scheduler such as tcp://host:8786, not processes.")
    ] = None,
    device: Annotated[
        str, typer.Option(metavar="NAME", help="cuda: train the MLPs of all cells in one run on a GPU.")
    ] = "cpu",
    out: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="Where results go; results, or results-quick, by default.")
    ] = None,
) -> None:
    """Do the paper's experiments again: tables as CSV, and a report that sets them beside the published ones.

    A run that was stopped goes on where it was when it is called again. The whole takes somewhat more than an hour on
    two cores.

    Examples:

        neuralns reproduce table1 --quick

        neuralns reproduce all --workers 8
    """
    from dataclasses import replace

    from neuralns.experiments.jobs import Done, Failure, Job
    from neuralns.experiments.paper import FULL, QUICK
    from neuralns.experiments.report import write_report
    from neuralns.experiments.reproduce import cores, experiments_named, open_folder, write_tables
    from neuralns.experiments.reproduce import reproduce as run

    experiments = experiments_named(experiment)
    if workers is not None and workers < 1:
        raise InputError(f"number of workers {workers} must be at least 1.")
    if workers is not None and cluster is not None:
        raise InputError("work goes to processes here (--workers) or to a cluster (--cluster), not to both.")
    if cluster is not None and device != "cpu":
        raise InputError("a GPU trains in this process; work goes to a cluster (--cluster) without --device.")
    _check_extras(device)
    plan = QUICK if quick else FULL
    if seeds is not None:
        plan = replace(plan, seeds=seeds)
    folder = Path(out if out is not None else "results-quick" if quick else "results")
    journal = open_folder(folder, plan, quick)
    messages = plain_console(stderr=True)

    def show(job: Job, outcome: Done | Failure, done: int, total: int) -> None:
        about = _describe(job)
        if isinstance(outcome, Failure):
            messages.print(f"{done}/{total}  {about}: failed ({outcome.reason})", soft_wrap=True)
        else:
            messages.print(f"{done}/{total}  {about}  {outcome.seconds:.0f} s", soft_wrap=True)

    # Without what is true of this machine only: folders, addresses, the number of its cores.
    parts = [f"neuralns reproduce {experiment}", "--quick" if quick else "", f"--seeds {seeds}" if seeds else ""]
    command = " ".join(part for part in (*parts, "" if device == "cpu" else f"--device {device}") if part)
    try:
        found = run(
            experiments, plan, journal, workers=workers or cores(), address=cluster, device=device, command=command,
            notify=show, say=lambda text: messages.print(text, soft_wrap=True),
        )  # fmt: skip
    except KeyboardInterrupt:
        messages.print(
            f"stopped; {len(journal.done)} jobs are kept in {journal.path}. The same command goes on from there.",
            soft_wrap=True,
        )
        raise typer.Exit(130) from None
    console = plain_console()
    written = write_tables(found.tables, folder)
    written += write_report(found, plan, quick, folder)
    for path in written:
        console.print(f"written: {path}", soft_wrap=True)
    for failure in found.failures:
        console.print(f"failed: {_describe(failure.job)} ({failure.reason})", soft_wrap=True)
    if found.failures:
        console.print("The same command tries what failed again.")
        raise typer.Exit(1)


def _check_extras(device: str) -> None:
    """Refuse before any work what would fail after it."""
    for package, what in (("torch", "the experiments train networks"), ("matplotlib", "the report has pictures")):
        if find_spec(package) is None:
            raise InputError(f"{what}; install with: pip install 'neuralns[train,plot]'.")
    if device != "cpu":
        from neuralns.learning.training import check_device

        check_device(device)


def _describe(job: Any) -> str:
    """Return a job in a few words."""
    about = job.settings
    parts = [job.kind, about["setting"], about.get("instance", "")]
    if "instance" in about and "destroys" in about:
        parts.append(f"|D|={about['destroys']}")
    if about.get("scale", 4) != 4:
        parts.append(f"d={about['scale']}")
    return " ".join(part for part in parts if part)
