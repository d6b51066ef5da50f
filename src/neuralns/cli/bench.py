"""``neuralns bench``: comparisons with other solvers and between portfolios."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from neuralns.cli import options
from neuralns.cli.printing import plain_console
from neuralns.errors import InputError

if TYPE_CHECKING:
    from neuralns.experiments.best_known import BestKnown
    from neuralns.experiments.peer_comparison import PeerComparison
    from neuralns.experiments.solver_runs import SolverRun
    from neuralns.problem.instance import Instance

bench = typer.Typer(help="Measure: against other solvers, or operators against each other.", no_args_is_help=True)

Instances = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[INSTANCE]...",
        help="Files, folders of them, or bundled names, with best known costs; by default the X set.",
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
    objective: Annotated[
        str, typer.Option(metavar="NAME", help="distance (the cost), or vehicles: fewest vehicles, then the cost.")
    ] = "distance",
    rounding: options.Rounding = None,
    ignore: options.Ignore = None,
) -> None:
    """Compare neuralns with the other solvers that are installed, one after another, on one core, in equal time.

    Solvers that cannot be told all that an instance has, such as time windows, are left out by name. The best known
    cost is that of the solution beside a file (X.sol beside X.vrp), or stated in best_known.csv in its folder, with the
    columns instance, vehicles and cost. Without one, the cheapest of these runs stands in its place.

    Examples:

        neuralns bench peers X-n110-k13 X-n200-k36 --time 10 --seeds 3

        neuralns bench peers data/*.vrp --solvers neuralns,HGS-CVRP --plot gaps.png

        neuralns bench peers solomon/*.txt --objective vehicles

        neuralns bench peers hfvrp mdvrptw --solvers neuralns,PyVRP --output fleets.csv

        neuralns bench peers yesterday/*.json --solvers neuralns,PyVRP
    """
    from neuralns.experiments.peer_comparison import compare_peers
    from neuralns.plot import check_plot_path, save
    from neuralns.plot import gaps as draw_gaps

    if plot is not None:
        check_plot_path(plot)
        if objective == "vehicles":
            raise InputError("--plot draws gaps to best known costs, and with --objective vehicles there are none.")
    names = None if solvers is None else [name.strip() for name in solvers.split(",") if name.strip()]
    messages = plain_console(stderr=True, soft_wrap=True)
    problems, known = _read_all(instances, ignore, rounding)
    found = compare_peers(
        problems,
        time,
        seeds,
        Path(output),
        names,
        objective=objective,
        known=known,
        core=core,
        notify=_tell,
        say=messages.print,
    )
    printer = plain_console()
    # No figure is cut off where the terminal is narrow.
    printer.width = max(printer.width, 160)
    what = "mean gap to the best known cost in %" if objective == "distance" else "mean number of vehicles, and cost"
    if objective == "distance" and any(instance.best_known is None for instance in problems):
        what += " (to the cheapest run where none is known)"
    roundings = ", ".join(sorted({instance.rounding for instance in problems}))
    printer.print(f"{what}, {time:g} s on one core, {seeds} seeds, rounding {roundings}", soft_wrap=True)
    printer.print(_peer_table(found))
    for sentence in _peer_sentences(found):
        printer.print(sentence, soft_wrap=True)
    if plot is not None:
        lines = {
            solver: [(found.customers[name], gaps[solver]) for name, gaps in found.gaps.items()]
            for solver in found.solvers
        }
        save(draw_gaps(lines, f"gap to the best known cost after {time:g} s on one core"), plot)


def _peer_table(found: PeerComparison) -> Table:
    """Return a line for each instance, one for each class of size where there are several, and the means."""
    listed = found.objective == "vehicles" and bool(found.known)
    table = _table(["instance", *found.solvers, *(["best known"] if listed else [])])
    for name in found.instances:
        table.add_row(name, *_figures(found, [name], listed))
    sizes = found.sizes()
    for size, names in sizes.items() if len(sizes) > 1 else ():
        table.add_row(f"{size} customers", *_figures(found, names, listed))
    table.add_row("mean", *_figures(found, found.instances, listed), style="bold")
    return table


def _figures(found: PeerComparison, names: Sequence[str], listed: bool) -> list[str]:
    if found.objective == "distance":
        return [f"{gap:.2f}" for gap in found.mean_of(found.gaps, names).values()]
    vehicles, costs = found.mean_of(found.vehicles, names), found.mean_of(found.costs, names)
    figures = [f"{vehicles[solver]:.2f}  {costs[solver]:.1f}" for solver in found.solvers]
    best = [found.known[name] for name in names if name in found.known]
    if listed and len(best) == len(names):
        mean = [sum(figure) / len(best) for figure in zip(*best, strict=True)]
        figures.append(f"{mean[0]:.2f}  {mean[1]:.1f}")
    elif listed:
        figures.append("")
    return figures


def _peer_sentences(found: PeerComparison) -> list[str]:
    """Return what a table does not say: how far neuralns is from the best peer, who is ahead, who broke a rule."""
    sentences = []
    best = found.best_peer
    if found.objective == "distance" and best is not None and 0 < found.means[best] < math.inf:
        ratio = found.means["neuralns"] / found.means[best]
        sentences.append(f"neuralns: {ratio:.2f} times the gap of {best}, the best peer")
    if len(found.solvers) > 1:
        ahead = found.ahead()
        level = len(found.instances) - sum(ahead.values())
        names = ", ".join(f"{solver} on {count}" for solver, count in ahead.items())
        sentences.append(f"alone ahead: {names}; several level on {level}")
    if found.objective == "vehicles" and found.known:
        few = ", ".join(f"{solver} on {count}" for solver, count in found.as_few_as_known().items())
        sentences.append(f"fewest known vehicles with every seed: {few} of {len(found.known)}")
    for run in found.infeasible:
        sentences.append(f"infeasible: {run.solver} on {run.instance}, seed {run.seed}: {run.fault}")
    return sentences


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

    problems, _ = _read_all(instances, ignore)
    found = ablate(problems, time, seeds, Path(output), workers=workers, notify=_tell)
    table = _table(["portfolio", "mean gap, %", "change", "95 % interval"])
    for row in found.changes:
        ci = "" if math.isnan(row.ci) else f"± {row.ci:.3f}"
        table.add_row(row.portfolio, f"{row.gap:.3f}", f"{row.change:+.3f}", ci)
    printer = plain_console()
    printer.print(f"{time:g} s on one core, {seeds} seeds, {len({run.instance for run in found.runs})} instances")
    printer.print(table)


def _read_all(
    names: list[str] | None, ignore: list[str] | None, rounding: str | None = None
) -> tuple[list[Instance], dict[str, BestKnown]]:
    """Return the instances that are named, and what lists beside them know of the fewest vehicles."""
    from neuralns.experiments.best_known import best_known_beside
    from neuralns.problem.bundled import bundled_names, read

    instances, known = [], {}
    for name in options.files_named(names) if names else [name for name in bundled_names() if name.startswith("X-")]:
        instance = read(name, rounding, ignore=ignore or ())
        best = best_known_beside(Path(name))
        if best is not None:
            known[instance.name] = best
            instance = replace(instance, best_known=instance.best_known or best.cost)
        instances.append(instance)
    return instances, known


def _tell(run: SolverRun, done: int, total: int) -> None:
    gap = f"cost {run.cost:.10g}" if math.isnan(run.gap) else f"{run.gap:.2f} %"
    if run.objective == "vehicles":
        gap = f"{run.routes} vehicles, {gap}"
    if not run.feasible:
        gap = f"infeasible: {run.fault}"
    plain_console(stderr=True, soft_wrap=True).print(
        f"{done}/{total}  {run.instance}  {run.solver}  seed {run.seed}  {gap}"
    )


def _table(columns: list[str]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for index, column in enumerate(columns):
        table.add_column(column, justify="left" if index == 0 else "right", no_wrap=True)
    return table
