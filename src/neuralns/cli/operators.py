"""``neuralns operators``: the operators and portfolios there are."""

import json
from typing import Annotated

import typer
from rich.table import Table

from neuralns.cli import options
from neuralns.cli.printing import plain_console


def operators(
    own: Annotated[
        list[str] | None, typer.Option("--operators", metavar="FILE.py", help="List those of your own file too.")
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """List the operators (name, phase, class, what each does, parameters) and the portfolios with their members.

    In a portfolio ``string:longest=20`` sets a parameter.

    Examples:

        neuralns operators

        neuralns operators --operators my_operators.py
    """
    from neuralns.operators.portfolio import portfolio_named, portfolio_names
    from neuralns.operators.registry import load_operators
    from neuralns.operators.registry import operators as all_operators

    for path in own or []:
        load_operators(path)
    entries = all_operators()
    if as_json:
        rows = [
            {"name": e.name, "phase": e.phase, "class": e.kind, "summary": e.summary, "parameters": dict(e.parameters)}
            for e in entries
        ]
        portfolios = {name: portfolio_named(name).names for name in portfolio_names()}
        print(json.dumps({"operators": rows, "portfolios": portfolios}))
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("name", "phase", "class", "what it does (parameters)"):
        table.add_column(column, no_wrap=not column.startswith("what"))
    for entry in entries:
        parameters = " ".join(f"{name}={value:g}" for name, value in entry.parameters)
        table.add_row(entry.name, entry.phase, entry.kind, entry.summary + (f" ({parameters})" if parameters else ""))
    console = plain_console()
    console.print(table)
    console.print()
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("portfolio", "its operators"):
        table.add_column(column, no_wrap=column == "portfolio")
    names = portfolio_names()
    sizes = [name for name in names if name.startswith("paper-")]
    for name in names:
        if name not in sizes:
            table.add_row(name, ", ".join(portfolio_named(name).names))
    table.add_row(
        f"{sizes[0]} to {sizes[-1]}", "the first so many destroy operators of paper, and its repair operators"
    )
    console.print(table)
    console.print("In a list a portfolio stands for its operators: --portfolio modern,zone,greedy.", soft_wrap=True)
