"""``neuralns tune``: the best constant setting for instances."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

import typer

from neuralns.cli import options
from neuralns.cli.printing import plain_console
from neuralns.errors import InputError

if TYPE_CHECKING:
    from neuralns.experiments.halving import Gain


def tune(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="Files (VRPLIB, Solomon, JSON, CSV), folders of .vrp, .txt and .json, bundled names.",
        ),
    ],
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="FILE.setting", help="The setting; its runs go to FILE.csv beside it."),
    ] = "best.setting",
    portfolio: Annotated[
        str, typer.Option(metavar="NAME|a,b,c", help="Operators to choose among and to set: a portfolio, or by name.")
    ] = "wide",
    time: Annotated[float, typer.Option("--time", "-t", metavar="S", help="Seconds of each run.")] = 2.0,
    minutes: Annotated[float, typer.Option(metavar="M", help="How long all runs may take.")] = 30.0,
    candidates: Annotated[int, typer.Option(metavar="N", help="Settings to begin with.")] = 64,
    workers: Annotated[int, typer.Option("--workers", "-w", metavar="N", help="Runs at a time.")] = 1,
    seed: Annotated[int, typer.Option(metavar="K", help="Decides which settings are tried, and on what.")] = 0,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the runs beside the output.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Write over a setting and runs that are there.")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Find the weights of operators, scale, parameters and temperatures that are best for instances on average.

    Settings are tried by successive halving: all have the same runs, the better half stays. The best one is compared
    with the default at the end, on other seeds. Ctrl-C writes the best so far, --resume goes on.

    Examples:

        neuralns tune yesterday/*.vrp -o best.setting --minutes 30 --workers 4

        neuralns solve today.vrp --selector best.setting
    """
    from neuralns.cli.progress import TuningDisplay, announce_compilation
    from neuralns.experiments.tune import tune as run
    from neuralns.operators.portfolio import portfolio_named
    from neuralns.problem.bundled import read
    from neuralns.search.stopping import MaxTime

    for option, value in (("--time", time), ("--minutes", minutes)):
        if not 0 < value < math.inf:
            raise InputError(f"{option} {value:g} must be a number above 0.")
    chosen = portfolio_named(portfolio)
    stop = MaxTime(time)
    messages = plain_console(stderr=True, soft_wrap=True)
    with announce_compilation(messages), TuningDisplay(messages, shown=not quiet) as display:
        tuned = run(
            {source: read(source) for source in options.files_named(files)},
            chosen,
            output,
            stop=stop,
            runs=int(60 * minutes * max(1, workers) / time),
            seconds=60 * minutes,
            candidates=candidates,
            workers=workers,
            seed=seed,
            resume=resume,
            force=force,
            progress=display.update,
        )
    if tuned.constant is None:
        messages.print("stopped before all candidates had a run; runs are kept, and --resume goes on from there.")
        raise typer.Exit(130)
    console = plain_console(soft_wrap=True)
    for name, gain in tuned.gains.items():
        console.print(f"against {name}: {gain_text(gain)}")
    console.print(f"best of {candidates} settings by {tuned.runs} runs written to {tuned.written}")
    if not tuned.finished:
        messages.print("stopped; runs are kept, and --resume goes on from there.")
        raise typer.Exit(130)
    if tuned.written != output:
        raise typer.Exit(1)


def gain_text(gain: Gain) -> str:
    """Return a gain in words.

    >>> from neuralns.experiments.halving import Gain
    >>> gain_text(Gain(-0.25, 0.1, 0.02, 8, 16))
    '0.250 ± 0.100 % dearer, p = 0.02 (16 runs on 8 instances); it is no better'
    """
    interval = "" if gain.interval is None else f" ± {gain.interval:.3f}"
    p = "too few instances for a test" if gain.p is None else f"p = {gain.p:.2g}"
    than, worse = ("cheaper", "") if gain.percent > 0 else ("dearer", "; it is no better")
    return (
        f"{abs(gain.percent):.3f}{interval} % {than}, {p} ({gain.runs} run{'s' if gain.runs != 1 else ''} on "
        f"{gain.instances} instance{'s' if gain.instances != 1 else ''}){worse}"
    )
