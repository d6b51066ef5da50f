"""``neuralns check``: is a solution feasible, and what does it cost?"""

import json
from typing import Annotated

import typer

from neuralns.cli import options
from neuralns.cli.printing import plain_console


def check(
    instance: options.InstanceName,
    solution: Annotated[str, typer.Argument(metavar="SOLUTION", help="A .sol or JSON file.")],
    rounding: options.Rounding = None,
    customers: options.Customers = None,
    vehicle_cost: options.VehicleCost = None,
    ignore: options.Ignore = None,
    as_json: options.AsJson = False,
) -> None:
    """Check a solution; exit code 0 if it is feasible, 1 if a rule is broken.

    Examples:

        neuralns check X-n101-k25 mine.sol
    """
    from neuralns.plot import format_cost
    from neuralns.problem.bundled import read
    from neuralns.problem.formats.detect import read_solution

    problem = read(instance, rounding, customers, vehicle_cost, ignore or ())
    answer = read_solution(problem, solution)
    faults = answer.faults()
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
            "faults": faults,
        }
        print(json.dumps(facts))
    else:
        console = plain_console(soft_wrap=True)
        verdict = "feasible" if not faults else "not feasible"
        cost = f"cost {format_cost(answer.cost)} (rounding {problem.rounding})" if known else "no cost"
        gap = f", {answer.gap:.2f} % above the best known" if known and not faults and answer.gap is not None else ""
        routes = f"{len(answer.routes)} route{'' if len(answer.routes) == 1 else 's'}"
        console.print(f"{problem.name}: {verdict}, {cost}, {routes}{gap}")
        for fault in faults:
            console.print(f"  {fault}")
    if faults:
        raise typer.Exit(1)
