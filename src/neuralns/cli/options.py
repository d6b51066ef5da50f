"""Options that several commands share."""

from typing import Annotated

import typer

from neuralns.errors import InputError

InstanceName = Annotated[
    str, typer.Argument(metavar="INSTANCE", help="A file (VRPLIB, Solomon, JSON) or the name of a bundled instance.")
]
Rounding = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="Distances: none, round, trunc or dimacs; by default as the family's published costs."
    ),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(
        "--ignore",
        metavar="KEY",
        help="Go on without what an instance has: a key that is not supported, windows or vehicles; may be repeated.",
    ),
]
Customers = Annotated[
    int | None, typer.Option(metavar="N", help="Take only the first N customers, capacity scaled in proportion.")
]
VehicleCost = Annotated[
    float | None, typer.Option(metavar="C", help="Cost of each route in addition to its length; 0 by default.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object to stdout, all else to stderr.")]
Setting = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="paper (100 per route, coordinates scaled to 1, no capacity), distance (no windows) or windows (all "
        "rules, and the whole capacity for the first N customers).",
    ),
]
MdpPortfolio = Annotated[
    str, typer.Option(metavar="NAME|a,b,c", help="paper, paper-2 ... paper-12, modern, or operators by name.")
]
Scale = Annotated[int | None, typer.Option(metavar="D", help="Customers removed at a time; a fifth by default.")]
Budget = Annotated[int, typer.Option(metavar="B", help="Pairs of operators in an episode.")]
Quotas = Annotated[
    str | None, typer.Option(metavar="D", help="Customers removed at a time: a number, a share below 1, or LOW-HIGH.")
]


Operators = Annotated[
    list[str] | None,
    typer.Option("--operators", metavar="FILE.py", help="Your own operators, for --portfolio to name."),
]


def load_own(files: list[str] | None) -> None:
    """Make the operators of files known by their names."""
    from neuralns.operators.registry import load_operators

    for path in files or []:
        load_operators(path)


def parse_scale(text: str | None) -> tuple[float, float] | None:
    """Return the least and most customers to remove that a text such as ``5-20`` or ``0.1`` names."""
    if text is None:
        return None
    try:
        parts = [float(part) for part in text.split("-")]
    except ValueError:
        parts = []
    if not 1 <= len(parts) <= 2:
        raise InputError(f"scale {text!r} must be a number, a share below 1, or LOW-HIGH.")
    return (parts[0], parts[-1])
