"""``neuralns bench``: comparisons with other solvers and between portfolios."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from neuralns.cli.printing import plain_console

if TYPE_CHECKING:
    from neuralns.experiments.contest import Run
    from neuralns.problem.instance import Instance

bench = typer.Typer(help="Measure: against other solvers, or operators against each other.", no_args_is_help=True)

Instances = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[INSTANCE]...", help="Files or bundled names with a best known cost; by default the X set."
    ),
]
Time = Annotated[float, typer.Option("--time", "-t", metavar="S", help="Seconds for each run.")]
Seeds = Annotated[int, typer.Option(metavar="K", min=1, help="Runs for each solver and instance.")]
Output = Annotated[
    str,
    typer.Option(
        "--output", "-o", metavar="FILE.csv", help="Results; what it holds is not run again (remove it to start anew)."
    ),
]
Core = Annotated[
    int | None, typer.Option(metavar="N", help="Pin every run to this core; the others stay free for other work.")
]


@bench.command()
def peers(
    instances: Instances = None,
    time: Time = 10.0,
    seeds: Seeds = 3,
    solvers: Annotated[
        str | None, typer.Option(metavar="a,b", help="Only these: neuralns, PyVRP, HGS-CVRP, OR-Tools, VROOM.")
    ] = None,
    output: Output = "peers.csv",
    plot: Annotated[
        str | None, typer.Option(metavar="FILE", help="Draw the gaps over the number of customers.")
    ] = None,
    core: Core = None,
) -> None:
    """Compare neuralns with the other solvers that are installed, one after another, on one core, in equal time.

    Examples:

        neuralns bench peers X-n110-k13 X-n200-k36 --time 10 --seeds 3

        neuralns bench peers data/*.vrp --solvers neuralns,HGS-CVRP --plot gaps.png
    """
    from neuralns.errors import InputError
    from neuralns.experiments.contest import compete, mean_gaps
    from neuralns.experiments.peers import PEERS, installed_peers
    from neuralns.plot import check_plot_path, save
    from neuralns.plot import gaps as draw_gaps

    available = installed_peers()
    chosen = available
    if solvers is not None:
        by_name = {name.lower(): name for name in PEERS}
        asked = [name.strip() for name in solvers.split(",") if name.strip()]
        for name in asked:
            if name.lower() not in by_name:
                raise InputError(f"solver {name!r} is not known; choose from {', '.join(PEERS)}.")
            if by_name[name.lower()] not in available:
                raise InputError(f"solver {name!r} is not installed; pip install 'neuralns[peers]'.")
        chosen = [by_name[name.lower()] for name in asked]
    if plot is not None:
        check_plot_path(plot)
    results, problems = _results(output), _read_all(instances)
    for problem in problems:
        if problem.best_known is None or problem.best_known <= 0:
            raise InputError(f"{problem.name}: no best known cost to compare with (a .sol file beside it gives one).")
        if problem.vehicle_cost > 0:
            raise InputError(
                f"{problem.name}: other solvers are not told of its vehicle cost {problem.vehicle_cost:g}."
            )
    absent = [name for name in PEERS if name not in available]
    if absent and solvers is None:
        plain_console(stderr=True, soft_wrap=True).print(
            f"not installed: {', '.join(absent)} (pip install 'neuralns[peers]')"
        )
    runs = compete({name: PEERS[name][1] for name in chosen}, problems, time, seeds, results, [core], _tell)

    table = _table(["instance", *chosen])
    sizes = {run.instance: run.customers for run in runs}
    by_instance = mean_gaps(runs)
    for name in sorted(by_instance, key=lambda name: (sizes[name], name)):
        table.add_row(name, *(f"{by_instance[name][solver]:.2f}" for solver in chosen))
    table.add_row("mean", *(f"{_mean(by_instance, solver):.2f}" for solver in chosen), style="bold")
    printer = plain_console()
    printer.print(f"mean gap to the best known cost in %, {time:g} s on one core, {seeds} seeds")
    printer.print(table)
    others = [(_mean(by_instance, solver), solver) for solver in chosen if solver != "neuralns"]
    if "neuralns" in chosen and others and min(others)[0] > 0:
        best, solver = min(others)
        printer.print(f"neuralns: {_mean(by_instance, 'neuralns') / best:.2f} times the gap of {solver}, the best peer")
    if plot is not None:
        save(
            draw_gaps(
                {solver: [(sizes[name], by_instance[name][solver]) for name in by_instance] for solver in chosen},
                f"gap to the best known cost after {time:g} s on one core",
            ),
            plot,
        )


@bench.command()
def ablation(
    instances: Instances = None,
    time: Time = 5.0,
    seeds: Seeds = 3,
    output: Output = "ablation.csv",
    workers: Annotated[int, typer.Option(metavar="N", min=1, help="Runs at a time, each on a core of its own.")] = 1,
) -> None:
    """Leave each operator of the portfolio `modern` out in turn, add each candidate in turn, and compare.

    Examples:

        neuralns bench ablation --time 5 --seeds 3

        neuralns bench ablation my/*.vrp --time 10
    """
    from neuralns.experiments.ablation import changes, contestants
    from neuralns.experiments.contest import compete

    available = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    cores = available[:workers] if len(available) >= workers else [None] * workers
    runs = compete(contestants(), _read_all(instances), time, seeds, _results(output), cores, _tell)
    table = _table(["portfolio", "mean gap, %", "change", "95 % interval"])
    for name, gap, change, spread in changes(runs):
        table.add_row(name, f"{gap:.3f}", f"{change:+.3f}", f"± {spread:.3f}")
    printer = plain_console()
    printer.print(f"{time:g} s on one core, {seeds} seeds, {len({run.instance for run in runs})} instances")
    printer.print(table)


def _read_all(names: list[str] | None) -> list[Instance]:
    from neuralns.problem.bundled import bundled_names, read

    return [read(name) for name in names or [name for name in bundled_names() if name.startswith("X-")]]


def _results(output: str) -> Path:
    from neuralns.files import check_writable

    check_writable(output)
    return Path(output)


def _tell(run: Run, done: int, total: int) -> None:
    gap = "infeasible" if not run.feasible else f"cost {run.cost:g}" if math.isnan(run.gap) else f"{run.gap:.2f} %"
    plain_console(stderr=True, soft_wrap=True).print(
        f"{done}/{total}  {run.instance}  {run.solver}  seed {run.seed}  {gap}"
    )


def _table(columns: list[str]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for place, column in enumerate(columns):
        table.add_column(column, justify="left" if place == 0 else "right", no_wrap=True)
    return table


def _mean(by_instance: dict[str, dict[str, float]], solver: str) -> float:
    return sum(gaps[solver] for gaps in by_instance.values()) / len(by_instance)
