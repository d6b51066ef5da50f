"""``neuralns batch``: routes for many instances, several at a time."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from neuralns.cli import options
from neuralns.cli.options_file import OptionsFile
from neuralns.cli.printing import SHOWN_ROWS, plain_console
from neuralns.errors import InputError


def batch(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="Files (VRPLIB, Solomon, JSON, CSV), folders of .vrp, .txt and .json, bundled names.",
        ),
    ],
    time: options.Time = None,
    iterations: options.Iterations = None,
    workers: Annotated[
        int | None,
        typer.Option("--workers", "-w", metavar="N", help="Instances at a time; as many as cores by default."),
    ] = None,
    cluster: options.Cluster = None,
    output: Annotated[
        str,
        typer.Option("--output", "-o", metavar="FILE.csv", help="Results; what it holds is not solved again."),
    ] = "results.csv",
    solutions: Annotated[
        str | None,
        typer.Option(
            metavar="PATTERN",
            help="Write the routes of each, as 'routes/{name}.sol' (or .json, .csv), or '{folder}/routes.csv'.",
        ),
    ] = None,
    seed: options.Seed = 0,
    selector: options.SelectorName = "auto",
    temperature: options.Temperature = None,
    decide_every: options.DecideEvery = 1,
    portfolio: options.PortfolioName = None,
    operators: options.JoiningOperators = None,
    scale: options.Quotas = None,
    objective: options.Objective = None,
    route_cost: options.RouteCosts = None,
    rounding: options.Rounding = None,
    vehicle_cost: options.VehicleCost = None,
    customers: options.Customers = None,
    ignore: options.Ignore = None,
    vehicles: options.Vehicles = None,
    capacity: options.Capacity = None,
    matrix: options.Matrix = None,
    speed: options.Speed = None,
    lenient: options.Lenient = False,
    initial: Annotated[str, typer.Option(metavar="NAME", help="Start from savings, insertion or random.")] = "savings",
    quiet: options.Quiet = False,
    options_file: OptionsFile = None,
) -> None:
    """Search for short routes of many instances, one core each, with a row of results for each as soon as it is there.

    A call that was stopped goes on where it was when it is made again. A file that cannot be solved has a row that says
    why, and stops no other; the exit code is 1 then.

    Examples:

        neuralns batch depots/*.vrp --time 10 --workers 8 -o results.csv

        neuralns batch depots/*.csv --vehicles fleet.csv --solutions 'routes/{name}.csv'

        neuralns batch depots --cluster tcp://scheduler:8786
    """
    from neuralns.cli.progress import BatchDisplay, announce_compilation
    from neuralns.cli.search_choices import Choice, Reading
    from neuralns.experiments.batch import Problem, Recipe, digests, run_batch
    from neuralns.experiments.jobs import Stopped
    from neuralns.operators.own_parts import is_own_file
    from neuralns.search.stopping import Stop
    from neuralns.selection.default import AUTO, bundled_mark

    if initial not in ("savings", "insertion", "random"):
        raise InputError(f"initial {initial!r}: many instances start from savings, insertion or random.")
    for each in filter(is_own_file, route_cost or ()):
        raise InputError(f"--route-cost {each}: a file with a cost of your own is for 'neuralns solve' alone.")
    settings = {
        "time": time if time is not None or iterations is not None else 10.0,
        "iterations": iterations,
        "seed": seed or None,
        "selector": selector if selector != "auto" else None,
        "temperature": temperature,
        "decide_every": decide_every if decide_every != 1 else None,
        "portfolio": portfolio,
        "operators": operators,
        "scale": scale,
        "objective": objective,
        "route_cost": route_cost,
        "rounding": rounding,
        "vehicle_cost": vehicle_cost,
        "customers": customers,
        "ignore": ignore,
        "vehicles": vehicles,
        "capacity": capacity,
        "matrix": matrix,
        "speed": speed,
        "lenient": lenient or None,
        "initial": initial if initial != "savings" else None,
        # Rows by another bundled controller, or by none, are others.
        "contents": digests(files_of(selector, vehicles, matrix, *(operators or ())))
        | ({"controller": bundled_mark() or ""} if selector == AUTO and iterations is None else {})
        or None,
    }
    stop: Stop = options.parse_limits(time, iterations)
    choice = Choice(selector, temperature, decide_every, portfolio, operators or ())
    reading = Reading(
        rounding, customers, vehicle_cost, ignore or (), vehicles, capacity, matrix, speed, lenient, objective,
        route_cost or (),
    )  # fmt: skip

    def read(file: str) -> Problem:
        source = reading.read(file)
        choice.check(source.instance)
        if source.vroom is not None and source.vroom.start is not None:
            raise InputError(
                f"{file}: steps of vehicles say what to start from, but many instances start from {initial}; "
                "--ignore steps goes on without them."
            )
        return Problem(source.instance, choice.portfolio_for(source.instance), source.write)

    recipe = Recipe(
        read,
        stop,
        {"selector": choice.selector, "seed": seed, "scale": options.parse_scale(scale), "initial": initial}
        | ({} if objective is None else {"objective": objective}),
        {name: value for name, value in settings.items() if value is not None},
        operators or (),
        selector if choice.own_file else None,
    )
    messages = plain_console(stderr=True, soft_wrap=True)
    with announce_compilation(messages), BatchDisplay(messages, shown=not quiet) as display:
        try:
            rows = run_batch(
                options.files_named(files),
                recipe,
                Path(output),
                solutions=solutions,
                workers=workers,
                cluster=cluster,
                begin=display.begin,
                end=display.end,
            )
        except Stopped as stopped:
            display.stop()
            messages.print(str(stopped))
            raise typer.Exit(130) from None
    console = plain_console(soft_wrap=True)
    failed = [row for row in rows if row.fault]
    for row in failed[:SHOWN_ROWS]:
        console.print(f"failed: {row.fault if row.fault.startswith(row.file) else f'{row.file}: {row.fault}'}")
    if len(failed) > SHOWN_ROWS:
        console.print(f"and {len(failed) - SHOWN_ROWS} more failed")
    console.print(f"{len(rows) - len(failed)} of {len(rows)} instances solved; results in {output}")
    left_out = [row.unserved for row in rows if row.unserved]
    if left_out:
        console.print(f"customers not served: {sum(left_out)}, in {len(left_out)} of the instances (column 'unserved')")
    if failed:
        console.print("The same command tries what failed again.")
        raise typer.Exit(1)


def files_of(*values: str | None) -> list[str]:
    """Return what options may name files by, also in parts: ``FILE@0.1``, ``lrw:FILE``, ``FILE.py:NAME``."""
    parts = [re.split("[@:]", value) for value in values if value is not None]
    return [*filter(None, values), *(part for pieces in parts for part in pieces if len(pieces) > 1)]
