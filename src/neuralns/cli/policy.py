"""``neuralns policy``: what a policy file is."""

import json
from typing import Annotated

import typer

from neuralns.cli import options
from neuralns.cli.printing import plain_console


def policy(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A policy file, or the name of a bundled policy.")],
    as_json: options.AsJson = False,
) -> None:
    """Print the card of a policy: network, operators, where it was trained and how well it did.

    Examples:

        neuralns policy mine.policy
    """
    from neuralns.selection.policy_file import describe, read_policy

    found = read_policy(file)
    if as_json:
        print(json.dumps(dict(found.card)))
        return
    plain_console(soft_wrap=True).print(describe(found))
