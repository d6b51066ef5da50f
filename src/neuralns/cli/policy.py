"""``neuralns policy``: what a policy file is."""

import json
from typing import Annotated

import typer
from rich.table import Table

from neuralns.cli import options
from neuralns.cli.printing import plain_console


def policy(
    file: Annotated[
        str | None, typer.Argument(metavar="[FILE]", help="A policy file, or the name of a bundled policy.")
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Print the card of a policy: network, operators, where it was trained and how well it did; or list the bundled.

    Examples:

        neuralns policy

        neuralns policy mine.policy
    """
    from neuralns.selection.policy_file import bundled_policies, describe, read_policy

    if file is None:
        if as_json:
            print(json.dumps(list(bundled_policies())))
        else:
            plain_console().print("\n".join(bundled_policies()))
        return
    found = read_policy(file)
    if as_json:
        print(json.dumps(dict(found.card)))
        return
    table = Table(box=None, show_header=False, pad_edge=False)
    for side in ("name", "text"):
        table.add_column(side, no_wrap=side == "name", overflow="fold")
    for row in describe(found):
        table.add_row(*row)
    plain_console().print(table)
