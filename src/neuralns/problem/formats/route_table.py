"""Routes as a table for spreadsheets, read and written: who is visited when, one row a stop."""

from __future__ import annotations

import csv
import io

from neuralns.errors import InputError
from neuralns.problem.formats.sheet import Columns, Sheet, column_name, separator_of
from neuralns.problem.formats.text import FilePath
from neuralns.problem.instance import Instance
from neuralns.problem.schedule import schedule
from neuralns.problem.solution import Solution

HEADER = ("route", "stop", "name", "arrival", "departure", "load")
COLUMNS: Columns = {name: (name,) for name in HEADER}
UNSERVED = "unserved"
"""What stands for a route where a customer is on none."""


def is_route_table(text: str) -> bool:
    """Tell whether a text begins with the header of a table of routes."""
    first = text.lstrip().partition("\n")[0]
    names = [column_name(cell) for cell in first.split(separator_of(first) or ",")]
    return "route" in names and "name" in names


def is_own_route_table(text: str) -> bool:
    """Tell whether a text begins as a table that we wrote does."""
    return text.lstrip().partition("\n")[0].strip() == ",".join(HEADER)


def read_route_table(instance: Instance, path: FilePath, text: str) -> Solution:
    """Read routes by the names and numbers of their stops; times and loads follow from the instance."""
    sheet = Sheet(path, text, COLUMNS, (), ())
    nodes = {instance.label(node): node for node in range(instance.customers + 1)}
    routes: dict[str, list[tuple[float, int]]] = {}
    for index in range(len(sheet)):
        route, name = sheet.text(index, "route"), sheet.text(index, "name")
        if not route or route == UNSERVED:
            continue
        if name not in nodes:
            raise sheet.refusal(index, "name", f"{name!r:.60} is no stop of {instance.name}")
        routes.setdefault(route, []).append((sheet.number(index, "stop") or 0.0, nodes[name]))
    if not routes:
        raise InputError(f"{path}: no row belongs to a route.")
    # Stops without numbers stay in the order of their rows.
    ordered = (sorted(stops, key=lambda stop: stop[0]) for stops in routes.values())
    return Solution(instance, [[node for _, node in stops if node] for stops in ordered])


def route_table_text(solution: Solution) -> str:
    """Return the text of a table of routes, each from the depot and back to it, and of who is not served.

    Times are as the instance's clock shows them, to the minute; they are left out where the instance has none. The load
    is what is on the vehicle when it leaves.
    """
    instance, text = solution.instance, io.StringIO()
    write = csv.writer(text, lineterminator="\n").writerow
    write(HEADER)
    has_times = instance.timed or instance.durations is not None or instance.service is not None

    def at(time: float) -> str:
        return instance.at(time, exact=False) if has_times else ""

    for number, route in enumerate(solution.routes, 1):
        plan = schedule(instance, route)
        load = plan.stops[0].load + float(instance.demands[route[0]])
        write((number, 0, instance.label(0), "", at(plan.departure), f"{load:.10g}"))
        for place, stop in enumerate(plan.stops, 1):
            times = at(stop.arrival), at(stop.departure)
            write((number, place, instance.label(stop.node), *times, f"{stop.load:.10g}"))
        write((number, len(route) + 1, instance.label(0), at(plan.arrival), "", 0))
    for customer in solution.unserved:
        write((UNSERVED, "", instance.label(customer), "", "", ""))
    return text.getvalue()
