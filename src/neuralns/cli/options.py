"""Options that several commands share."""

from typing import Annotated

import typer

InstanceName = Annotated[
    str, typer.Argument(metavar="INSTANCE", help="A file (VRPLIB, Solomon, JSON) or the name of a bundled instance.")
]
Rounding = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="Distances: none, round, trunc or dimacs; by default as the family's published costs."
    ),
]
Customers = Annotated[
    int | None, typer.Option(metavar="N", help="Take only the first N customers, capacity scaled in proportion.")
]
VehicleCost = Annotated[
    float | None, typer.Option(metavar="C", help="Cost of each route in addition to its length; 0 by default.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object to stdout, all else to stderr.")]
