"""``neuralns instances``: the bundled instances."""

import json

from rich.table import Table

from neuralns.cli import options
from neuralns.cli.printing import plain_console


def instances(as_json: options.AsJson = False) -> None:
    """List the bundled instances; their names work wherever a file does.

    Examples:

        neuralns instances
    """
    from neuralns.plot import format_cost
    from neuralns.problem.bundled import bundled, bundled_names

    entries = [bundled(name) for name in bundled_names()]
    if as_json:
        keys = ("name", "customers", "capacity", "rounding", "best_known")
        found = [{key: getattr(entry, key) for key in keys} | {"windows": entry.timed} for entry in entries]
        print(json.dumps({"instances": found}))
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("name")
    for column in ("customers", "capacity", "windows", "rounding", "best known"):
        table.add_column(column, justify="right")
    for entry in entries:
        known = "" if entry.best_known is None else format_cost(entry.best_known)
        windows = "yes" if entry.timed else ""
        table.add_row(entry.name, str(entry.customers), f"{entry.capacity:g}", windows, entry.rounding, known)
    plain_console().print(table)
