"""``neuralns bench``: comparisons with other solvers and between portfolios."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from neuralns.cli import options
from neuralns.cli.printing import plain_console

if TYPE_CHECKING:
    from neuralns.experiments.solver_runs import SolverRun
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
    ignore: options.Ignore = None,
) -> None:
    """Compare neuralns with the other solvers that are installed, one after another, on one core, in equal time.

    Examples:

        neuralns bench peers X-n110-k13 X-n200-k36 --time 10 --seeds 3

        neuralns bench peers data/*.vrp --solvers neuralns,HGS-CVRP --plot gaps.png
    """
    from neuralns.experiments.peer_comparison import compare_peers
    from neuralns.plot import check_plot_path, save
    from neuralns.plot import gaps as draw_gaps

    if plot is not None:
        check_plot_path(plot)
    names = None if solvers is None else [name.strip() for name in solvers.split(",") if name.strip()]
    messages = plain_console(stderr=True, soft_wrap=True)
    found = compare_peers(
        _read_all(instances, ignore), time, seeds, Path(output), names, core=core, notify=_tell, say=messages.print
    )
    table = _table(["instance", *found.solvers])
    for name in found.instances:
        table.add_row(name, *(f"{found.gaps[name][solver]:.2f}" for solver in found.solvers))
    table.add_row("mean", *(f"{found.means[solver]:.2f}" for solver in found.solvers), style="bold")
    printer = plain_console()
    printer.print(f"mean gap to the best known cost in %, {time:g} s on one core, {seeds} seeds")
    printer.print(table)
    best = found.best_peer
    if best is not None and found.means[best] > 0:
        ratio = found.means["neuralns"] / found.means[best]
        printer.print(f"neuralns: {ratio:.2f} times the gap of {best}, the best peer")
    if plot is not None:
        lines = {
            solver: [(found.customers[name], gaps[solver]) for name, gaps in found.gaps.items()]
            for solver in found.solvers
        }
        save(draw_gaps(lines, f"gap to the best known cost after {time:g} s on one core"), plot)


@bench.command()
def ablation(
    instances: Instances = None,
    time: Time = 5.0,
    seeds: Seeds = 3,
    output: Output = "ablation.csv",
    workers: Annotated[int, typer.Option(metavar="N", min=1, help="Runs at a time, each on a core of its own.")] = 1,
    ignore: options.Ignore = None,
) -> None:
    """Leave each operator of the portfolio `modern` out in turn, add each candidate in turn, and compare.

    Examples:

        neuralns bench ablation --time 5 --seeds 3

        neuralns bench ablation my/*.vrp --time 10
    """
    from neuralns.experiments.ablation import ablate

    found = ablate(_read_all(instances, ignore), time, seeds, Path(output), workers=workers, notify=_tell)
    table = _table(["portfolio", "mean gap, %", "change", "95 % interval"])
    for row in found.changes:
        ci = "" if math.isnan(row.ci) else f"± {row.ci:.3f}"
        table.add_row(row.portfolio, f"{row.gap:.3f}", f"{row.change:+.3f}", ci)
    printer = plain_console()
    printer.print(f"{time:g} s on one core, {seeds} seeds, {len({run.instance for run in found.runs})} instances")
    printer.print(table)


def _read_all(names: list[str] | None, ignore: list[str] | None) -> list[Instance]:
    from neuralns.problem.bundled import bundled_names, read

    chosen = names or [name for name in bundled_names() if name.startswith("X-")]
    return [read(name, ignore=ignore or ()) for name in chosen]


def _tell(run: SolverRun, done: int, total: int) -> None:
    gap = "infeasible" if not run.feasible else f"cost {run.cost:g}" if math.isnan(run.gap) else f"{run.gap:.2f} %"
    plain_console(stderr=True, soft_wrap=True).print(
        f"{done}/{total}  {run.instance}  {run.solver}  seed {run.seed}  {gap}"
    )


def _table(columns: list[str]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for place, column in enumerate(columns):
        table.add_column(column, justify="left" if place == 0 else "right", no_wrap=True)
    return table
