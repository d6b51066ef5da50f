"""``neuralns check-operator``: are the operators and selectors of a file safe to use?"""

import json
from dataclasses import asdict
from typing import Annotated

import typer

from neuralns.cli import options
from neuralns.cli.printing import plain_console


def check_operator(
    file: Annotated[str, typer.Argument(metavar="FILE.py", help="Your own operators and selectors.")],
    seconds: Annotated[float, typer.Option(metavar="S", help="Seconds that the calls of one may take in all.")] = 10.0,
    python: Annotated[
        bool, typer.Option("--python", help="Run them uncompiled, in this process: breakpoint() and print work.")
    ] = False,
    instances: Annotated[
        list[str] | None,
        typer.Option("--instance", metavar="INSTANCE", help="Try them on this instance too; may be repeated."),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Put your own operators and selectors to the test; exit code 0 if none has a fault, 1 otherwise.

    Each runs on small instances of many kinds with the bounds of arrays checked.

    Examples:

        neuralns check-operator my_operators.py

        neuralns check-operator my_operators.py --python

        neuralns check-operator my_operators.py --instance day.json
    """
    from neuralns.testing import check

    reports = check(file, seconds, python=python, instances=instances or ())
    if as_json:
        print(json.dumps({"operators": [asdict(report) for report in reports]}))
    else:
        console = plain_console(soft_wrap=True)
        for report in reports:
            how = "uncompiled" if python else "with bounds checked"
            fine = f"fine, {report.microseconds or 0.0:.1f} µs a call {how}"
            console.print(f"{report.name} ({report.phase}): {report.fault or fine}")
    if any(report.fault for report in reports):
        raise typer.Exit(1)
