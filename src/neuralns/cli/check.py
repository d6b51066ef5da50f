"""``neuralns check``: is a file in order; is a solution feasible, and what does it cost?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from neuralns.cli import options
from neuralns.cli.options_file import OptionsFile
from neuralns.cli.printing import plain_console

if TYPE_CHECKING:
    from neuralns.problem.instance import Instance


def _print_schema(asked: bool) -> None:
    if asked:
        from neuralns.problem.formats.own_json import instance_schema

        print(json.dumps(instance_schema(), indent=2))
        raise typer.Exit


def check(
    instance: options.InstanceName,
    solution: Annotated[
        str | None,
        typer.Argument(metavar="SOLUTION", help="A .sol, JSON or CSV file; without it the instance is checked."),
    ] = None,
    rounding: options.Rounding = None,
    customers: options.Customers = None,
    vehicle_cost: options.VehicleCost = None,
    ignore: options.Ignore = None,
    vehicles: options.Vehicles = None,
    capacity: options.Capacity = None,
    matrix: options.Matrix = None,
    speed: options.Speed = None,
    plot: options.PlotRoutes = None,
    plot_timetable: options.PlotTimetable = None,
    as_json: options.AsJson = False,
    options_file: OptionsFile = None,
    schema: Annotated[
        bool,
        typer.Option(
            "--schema", callback=_print_schema, is_eager=True, help="Print the schema of JSON instances, exit."
        ),
    ] = False,
) -> None:
    """Check a solution, or an instance alone; exit code 0 if all is well, 1 if a solution breaks a rule.

    Examples:

        neuralns check X-n101-k25 mine.sol

        neuralns check mine.json

        neuralns check stops.csv routes.csv --vehicles fleet.csv --plot-timetable day.png
    """
    from neuralns.cli.unserved import (
        inexcusable_faults,
        print_skipped,
        print_unserved,
        print_vehicles,
        skipped_with_prizes,
        unserved_with_reasons,
        vehicle_names,
    )
    from neuralns.plot import check_plot_path, format_cost, routes, save, timetable
    from neuralns.problem.bundled import find_source
    from neuralns.problem.formats.detect import read_solution
    from neuralns.problem.formats.own_json import check_json_instance, is_own_json_instance

    pictures = [(path, draw) for path, draw in ((plot, routes), (plot_timetable, timetable)) if path is not None]
    for path, _ in pictures:
        check_plot_path(path)
    source = find_source(instance)
    if source is not None and is_own_json_instance(source.text):
        check_json_instance(instance, source.text, ignore or ())
    problem = options.read_problem(
        instance, rounding, customers, vehicle_cost, ignore or (), vehicles, capacity, matrix, speed, source
    )
    if solution is None:
        _report_instance(instance, problem, as_json)
        return
    answer = read_solution(problem, solution)
    faults, left_out = inexcusable_faults(answer), unserved_with_reasons(answer, "it is on no route")
    # Routes to customers that do not exist have no cost.
    known = all(1 <= customer <= problem.customers for route in answer.routes for customer in route)
    if as_json:
        facts = {
            "instance": problem.name,
            "feasible": not faults,
            "cost": answer.cost if known else None,
            "rounding": problem.rounding,
            "vehicle_cost": problem.vehicle_cost,
            "best_known": problem.best_known,
            "gap": answer.gap if known and not faults else None,
            "routes": len(answer.routes),
            "vehicles": vehicle_names(answer),
            "unserved": left_out,
            "skipped": skipped_with_prizes(answer),
            "faults": faults,
        }
        print(json.dumps(facts))
    else:
        console = plain_console(soft_wrap=True)
        verdict = "feasible" if not faults else "not feasible"
        cost = f"cost {format_cost(answer.cost)} (rounding {problem.rounding})" if known else "no cost"
        gap = f", {answer.gap:.2f} % above the best known" if known and not faults and answer.gap is not None else ""
        number = f"{len(answer.routes)} route{'' if len(answer.routes) == 1 else 's'}"
        console.print(f"{problem.name}: {verdict}, {cost}, {number}{gap}")
        for fault in faults:
            console.print(f"  {fault}")
        print_vehicles(console, problem.name, vehicle_names(answer))
        excused = [each for each in left_out if f"customer {each['name']} is not visited." not in faults]
        print_unserved(console, problem.name, excused)
        print_skipped(console, problem.name, skipped_with_prizes(answer))
    for path, draw in pictures if known else []:
        save(draw(answer), path)
    if faults:
        raise typer.Exit(1)


def _report_instance(path: str, problem: Instance, as_json: bool) -> None:
    """Say that an instance is in order, and who cannot be served."""
    nobody = {problem.label(customer): reason for customer, reason in problem.unservable.items()}
    if as_json:
        facts = {"instance": problem.name, "valid": True, "customers": problem.customers, "unservable": nobody}
        print(json.dumps(facts))
        return
    console = plain_console(soft_wrap=True)
    console.print(f"{path}: in order, {problem.customers} customer{'' if problem.customers == 1 else 's'}")
    for name, reason in nobody.items():
        console.print(f"  nobody can serve customer {name}: {reason}.")
