"""``neuralns solve``: routes for one or more instances."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from neuralns.cli import TERMINATED, options
from neuralns.cli.options_file import OptionsFile
from neuralns.cli.printing import objective_of, plain_console
from neuralns.errors import InputError, InputWarning

if TYPE_CHECKING:
    from neuralns.search.result import Result


def solve(
    instances: Annotated[
        list[str], typer.Argument(metavar="INSTANCE...", help="Files (VRPLIB, Solomon, JSON, CSV) or bundled names.")
    ],
    time: options.Time = None,
    iterations: options.Iterations = None,
    seed: options.Seed = 0,
    selector: options.SelectorName = "auto",
    temperature: options.Temperature = None,
    decide_every: options.DecideEvery = 1,
    portfolio: options.PortfolioName = None,
    operators: options.JoiningOperators = None,
    scale: options.Quotas = None,
    objective: options.Objective = None,
    route_cost: options.RouteCosts = None,
    acceptance: Annotated[
        str | None, typer.Option(metavar="FILE.py", help="Your own acceptance rule, a subclass of neuralns.Acceptance.")
    ] = None,
    stop: Annotated[
        str | None, typer.Option(metavar="FILE.py", help="Your own rule to end by, a function of the state.")
    ] = None,
    rounding: options.Rounding = None,
    vehicle_cost: options.VehicleCost = None,
    customers: options.Customers = None,
    ignore: options.Ignore = None,
    vehicles: options.Vehicles = None,
    capacity: options.Capacity = None,
    matrix: options.Matrix = None,
    speed: options.Speed = None,
    lenient: options.Lenient = False,
    initial: Annotated[
        str | None,
        typer.Option(metavar="NAME|FILE", help="Start from savings (default), insertion, random, or a solution file."),
    ] = None,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Write the routes: .sol, .json or .csv.")
    ] = None,
    plot: options.PlotRoutes = None,
    plot_timetable: options.PlotTimetable = None,
    trace: Annotated[str | None, typer.Option(metavar="FILE.csv", help="Write the cost over time.")] = None,
    workers: Annotated[int, typer.Option("--workers", "-w", metavar="N", help="Search on N cores at once.")] = 1,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    options_file: OptionsFile = None,
) -> None:
    """Search for short routes.

    Examples:

        neuralns solve X-n101-k25

        neuralns solve my.vrp --time 60 --output routes.sol --plot routes.png

        neuralns solve my.vrp --initial yesterday.sol --time 5

        neuralns solve stops.csv --vehicles fleet.csv --output routes.csv --plot-timetable day.png

        neuralns solve vroom.json --output answer.json

        neuralns solve A-n32-k5 E-n51-k5 --iterations 20000 --output '{name}.sol'
    """
    from neuralns.cli.progress import ProgressDisplay, announce_compilation
    from neuralns.cli.search_choices import Choice, Reading, own_acceptance, own_stop
    from neuralns.cli.unserved import (
        announce_unservable,
        check_somebody_can_be_served,
        print_skipped,
        print_unserved,
        print_vehicles,
        skipped_with_prizes,
        unserved_with_reasons,
        vehicle_names,
    )
    from neuralns.files import check_writable
    from neuralns.plot import check_plot_path, format_cost
    from neuralns.problem.formats.detect import check_solution_path, is_own_solution
    from neuralns.problem.formats.route_table import route_table_text
    from neuralns.search.setup import initial_solution
    from neuralns.search.solve import solve
    from neuralns.selection.default import AUTO, TRIED

    # Everything that can be refused is refused before the first search.
    limit = options.parse_limits(time, iterations) | own_stop(stop)
    rule = own_acceptance(acceptance)
    choice = Choice(selector, temperature, decide_every, portfolio, operators or ())
    quotas = options.parse_scale(scale)
    reading = Reading(
        rounding, customers, vehicle_cost, ignore or (), vehicles, capacity, matrix, speed, lenient, objective,
        route_cost or (),
    )  # fmt: skip
    read = [reading.read(source) for source in instances]
    problems = [each.instance for each in read]
    for problem in problems:
        check_somebody_can_be_served(problem)
        choice.check(problem)
    # The solution beside an instance is read as its best known one, unless it is ours.
    files = [Path(source) for source in instances if Path(source).is_file()]
    beside = [path for file in files if (path := file.with_suffix(".sol")).is_file() and not is_own_solution(path)]
    beside += [Path(table) for table in (vehicles, matrix) if table is not None and Path(table).is_file()]
    taken = {os.path.realpath(path) for path in (*files, *beside)}
    for pattern, check in (
        (output, check_solution_path),
        (plot, check_plot_path),
        (plot_timetable, check_plot_path),
        (trace, check_writable),
    ):
        for problem in problems if pattern is not None else []:
            assert pattern is not None
            if len(problems) > 1 and "{name}" not in pattern:
                raise InputError(f"{pattern}: with several instances the file name must contain '{{name}}'.")
            target = _fill(pattern, problem.name)
            if os.path.realpath(target) in taken:
                raise InputError(f"{target}: this command reads or writes that file already; choose another name.")
            check(target)
            taken.add(os.path.realpath(target))
    if initial not in (None, "savings", "insertion", "random"):
        for problem in problems:
            initial_solution(problem, initial)
    starts = [each.start(initial) for each in read]

    aims: dict[str, Any] = {} if objective is None else {"objective": objective}
    messages = plain_console(stderr=True)
    found: list[dict[str, Any]] = []
    written: dict[tuple[str, str], str | None] = {}
    whole: dict[str, str] = {}
    astray = steered = terminated = False
    for problem in problems:
        announce_unservable(messages, problem)
    with announce_compilation(messages):
        for problem, source, start in zip(problems, read, starts, strict=True):
            with ProgressDisplay(messages, problem, limit, shown=not quiet) as display:
                result = solve(
                    problem,
                    limit,
                    selector=choice.selector,
                    portfolio=choice.portfolio_for(problem),
                    seed=seed,
                    scale=quotas,
                    acceptance=rule,
                    initial=start,
                    workers=workers,
                    callbacks=[display.update],
                    on_sigterm="return",
                    **aims,
                )
            faults = result.best.broken_rules() if problem.may_leave_out else result.best.faults()
            if faults:  # never seen; a user's own operator could be at fault
                raise InputError(f"{problem.name}: the search ended with {faults[0]}")
            # Routes first: they are what the time was spent on.
            for what, pattern, write in (
                ("routes", output, partial(source.write, result.best, seconds=result.runtime)),
                ("trace", trace, result.trace.to_csv),
                ("picture", plot, partial(_draw, result)),
                ("timetable", plot_timetable, partial(_draw_timetable, result)),
            ):
                if pattern is not None:
                    target = _fill(pattern, problem.name)
                    written_path = written[what, problem.name] = _kept(write, target)
                    astray = astray or written_path != target
            if selector == AUTO and result.selector in TRIED and not steered and not quiet:
                steered = True
                messages.print(
                    f"steered by {result.selector}, which comes with the package and was trained on such instances; "
                    "--selector random does without it"
                )
            solved = result.best.instance
            whole[problem.name] = route_table_text(result.best)
            found.append(
                {
                    "instance": problem.name,
                    "customers": problem.customers,
                    "cost": result.cost,
                    "best_known": solved.best_known,
                    "gap": result.gap,
                    "routes": result.routes,
                    "vehicles": vehicle_names(result.best),
                    "unserved": unserved_with_reasons(result.best),
                    "skipped": skipped_with_prizes(result.best),
                    "feasible": result.feasible,
                    "iterations": result.iterations,
                    "runtime": result.runtime,
                    "stopped_by": result.stopped_by,
                    "seed": result.seed,
                    "selector": result.selector,
                    "portfolio": result.portfolio,
                    "decision_time_share": result.decision_time_share,
                    "objective": " + ".join(
                        (objective or objective_of(solved), *(cost.name for cost in solved.route_costs or ()))
                    ),
                    "rounding": solved.rounding,
                    "vehicle_cost": solved.vehicle_cost,
                    "initial_cost": result.initial.cost,
                    "operators": [vars(use) for use in result.operators],
                }
            )
            if result.stopped_by.startswith("SIG"):
                messages.print(f"stopped by {result.stopped_by}; this is the best found so far")
                terminated = result.stopped_by == "SIGTERM"
                break
            if result.stopped_by.endswith(("(no answer)", "(failed)")):
                break  # it would do so on the next instance too

    if as_json:
        print(json.dumps(found[0] if len(problems) == 1 else {"results": found}))
        _end(astray, terminated)
        return
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for name, side in (
        ("instance", "left"), ("customers", "right"), ("cost", "right"), ("rounding", "left"),
        ("objective", "left"), ("best known", "right"), ("gap", "right"), ("routes", "right"), ("iterations", "right"),
        ("seconds", "right"),
    ):  # fmt: skip
        table.add_column(name, justify=side, no_wrap=True)  # type: ignore[arg-type]
    for row in found:
        table.add_row(
            row["instance"],
            str(row["customers"]),
            format_cost(row["cost"]),
            row["rounding"],
            row["objective"],
            "" if row["best_known"] is None else format_cost(row["best_known"]),
            "" if row["gap"] is None else f"{row['gap']:.2f} %",
            str(len(row["routes"])),
            str(row["iterations"]),
            f"{row['runtime']:.1f}",
        )
    console = plain_console()
    # A figure is never cut: on a narrow terminal lines wrap.
    console.width = max(console.width, 160)
    console.print(table)
    for row in found:
        print_vehicles(console, row["instance"], row["vehicles"])
        print_unserved(console, row["instance"], row["unserved"])
        print_skipped(console, row["instance"], row["skipped"])
    for problem in problems[: len(found)]:
        for what, pattern in (
            ("routes", output),
            ("picture", plot),
            ("timetable", plot_timetable),
            ("trace", trace),
        ):
            if pattern is not None and (written_path := written[what, problem.name]) is not None:
                console.print(f"{what} written to {written_path}", soft_wrap=True)
    for row in found:
        if ("routes", row["instance"]) in written and written["routes", row["instance"]] is None:
            # No folder took them; whoever reads this can still copy them.
            plain = (" ".join(map(str, route)) for route in row["routes"])
            console.print(row["instance"], *([whole[row["instance"]]] if row["vehicles"] else plain), sep="\n")
    _end(astray, terminated)


def _end(astray: bool, terminated: bool) -> None:
    """End with an exit code that says whether routes are elsewhere than asked for, or SIGTERM came."""
    if astray or terminated:
        raise typer.Exit(2 if astray else TERMINATED)


def _fill(pattern: str, name: str) -> str:
    from neuralns.files import fill_name

    return fill_name(pattern, name)


def _kept(write: Callable[[str], None], path: str) -> str | None:
    """Write a result to its file, or to another one, which is named; return its path, None if there is none."""
    from neuralns.files import write_or_rescue

    try:
        return write_or_rescue(write, path)
    except InputError as error:
        warnings.warn(str(error), InputWarning, stacklevel=2)
        return None


def _draw(result: Result, path: str) -> None:
    from neuralns.plot import routes, save

    save(routes(result), path)


def _draw_timetable(result: Result, path: str) -> None:
    from neuralns.plot import save, timetable

    save(timetable(result), path)
