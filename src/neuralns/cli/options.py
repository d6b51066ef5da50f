"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from neuralns.errors import InputError

if TYPE_CHECKING:
    from neuralns.problem.formats.source import Source
    from neuralns.problem.instance import Instance
    from neuralns.problem.route_cost import RouteCost
    from neuralns.search.stopping import Stop

SUFFIXES = (".vrp", ".txt", ".json")
"""How the names of instances in a folder end."""

InstanceName = Annotated[
    str,
    typer.Argument(metavar="INSTANCE", help="A file (VRPLIB, Solomon, JSON, CSV) or the name of a bundled instance."),
]
Time = Annotated[
    float | None, typer.Option("--time", "-t", metavar="S", help="Seconds to search, for each; 10 by default.")
]
Iterations = Annotated[
    int | None, typer.Option("--iterations", "-n", metavar="N", help="Iterations to search; repeatable by seed.")
]
Seed = Annotated[int, typer.Option(metavar="K", help="Same seed and iterations, same routes.")]
SelectorName = Annotated[
    str,
    typer.Option(
        metavar="NAME|FILE",
        help="auto (a bundled controller where it was trained for that, else random), random, "
        "roulette, ucb, thompson, best-fixed, fixed:DESTROY,REPAIR, a policy, FILE.setting (of tune), or "
        "FILE.py (your own).",
    ),
]
Temperature = Annotated[
    float | None, typer.Option(metavar="T", help="Of a policy: 0 is greedy, large is random; 0.01 by default.")
]
DecideEvery = Annotated[int, typer.Option(metavar="K", help="A policy decides every K iterations; worth it for gat.")]
PortfolioName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|a,b,c",
        help="modern, plain, large, long, windows, tight, paper, paper-2 ... paper-12, or operators by name "
        "(string:longest=20 sets a parameter); by default the one for the instance, or all that a policy knows.",
    ),
]
JoiningOperators = Annotated[
    list[str] | None,
    typer.Option("--operators", metavar="FILE.py", help="Your own operators; they join a portfolio given by name."),
]
Objective = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|WEIGHTS",
        help="distance (by default), vehicles (fewest, then distance), duration (working time), or weights: "
        "distance=1,duration=0.5,vehicles=100.",
    ),
]
RouteCosts = Annotated[
    list[str] | None,
    typer.Option(
        "--route-cost",
        metavar="NAME:KEY=VALUE,...|FILE.py",
        help="Cost of each route besides: overtime:after=480,cost=2, balance_durations:weight=0.01, "
        "balance_stops:weight=1, tolls:costs=0/0.15 (per distance, one for each vehicle type), or FILE.py with a "
        "function of your own; may be repeated.",
    ),
]
Lenient = Annotated[
    bool, typer.Option("--lenient", help="Go on without what is not understood in VROOM's JSON; it is named.")
]
Cluster = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="A Dask scheduler such as tcp://host:8786, not processes.")
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
Vehicles = Annotated[
    str | None, typer.Option(metavar="N|FILE.csv", help="At most N vehicles, or a spreadsheet that describes them.")
]
Capacity = Annotated[float | None, typer.Option(metavar="Q", help="What a vehicle carries, whatever the files say.")]
Matrix = Annotated[
    str | None, typer.Option(metavar="FILE.csv", help="Minutes from stop to stop, beside a spreadsheet of stops.")
]
Speed = Annotated[
    float | None, typer.Option(metavar="KM/H", help="Of vehicles, beside a spreadsheet of stops; 40 by default.")
]
PlotRoutes = Annotated[str | None, typer.Option("--plot", metavar="FILE", help="Draw the routes: .png, .pdf or .svg.")]
PlotTimetable = Annotated[
    str | None,
    typer.Option("--plot-timetable", metavar="FILE", help="Draw the timetable, one line a route: .png, .pdf or .svg."),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
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


def read_problem(
    name: str,
    rounding: str | None,
    customers: int | None,
    vehicle_cost: float | None,
    ignore: Collection[str],
    vehicles: str | None = None,
    capacity: float | None = None,
    matrix: str | None = None,
    speed: float | None = None,
    source: Source | None = None,
) -> Instance:
    """Read an instance, a spreadsheet of stops with the tables beside it; ``source`` is its file, if it was read."""
    from neuralns.problem.bundled import changed, find_source, read, with_cost_beside
    from neuralns.problem.formats.spreadsheet import read_spreadsheet

    source = find_source(name) if source is None else source
    number = int(vehicles) if vehicles is not None and vehicles.isdecimal() else None
    if source is not None and source.is_spreadsheet:
        fleet = vehicles if number is None else number
        instance = read_spreadsheet(
            name, fleet, capacity=capacity, matrix=matrix, speed=speed, ignore=ignore, text=source.text
        )
        return changed(instance, rounding, customers, vehicle_cost)
    for option, value in (("--vehicles", vehicles if number is None else None), ("--matrix", matrix)):
        if value is not None:
            raise InputError(f"{name}: {option} {value} is for stops in a spreadsheet (CSV), which this is not.")
    if speed is not None:
        raise InputError(f"{name}: --speed {speed:g} is for stops in a spreadsheet (CSV), which this is not.")
    if source is None:
        instance = read(name, rounding, customers, vehicle_cost, ignore)
    else:
        instance = changed(with_cost_beside(source.instance(ignore), name), rounding, customers, vehicle_cost)
    changes = {"vehicles": number, "capacity": capacity}
    given = {what: value for what, value in changes.items() if value not in (None, getattr(instance, what))}
    return replace(instance, **given, best_known=None) if given else instance  # type: ignore[arg-type]


def parse_route_cost(text: str) -> RouteCost:
    """Return the cost that a text names: ``overtime:after=480,cost=2``, ``tolls:costs=0/0.15``, or one of a file."""
    from neuralns.operators.own_parts import is_own_file, load_function, split_own_file
    from neuralns.problem.route_cost import RouteCost, named_cost, route_cost

    if is_own_file(text):
        how = "write a function of a route's totals"
        found = load_function(*split_own_file(text), RouteCost, "route cost", how)
        return found if isinstance(found, RouteCost) else route_cost(found)
    name, _, rest = text.partition(":")
    parameters: dict[str, str | list[str]] = {}
    for part in rest.split(",") if rest else []:
        key, equals, value = (word.strip() for word in part.partition("="))
        if not equals:
            raise InputError(f"--route-cost {text!r:.60}: {part!r} is not of the form key=value.")
        if key in parameters:
            raise InputError(f"--route-cost {text!r:.60}: {key} is given twice.")
        parameters[key] = value.split("/") if key == "costs" else value
    return named_cost(name.strip(), parameters)


def files_named(names: list[str]) -> list[str]:
    """Return files and bundled names as they are, and for folders the instances in them."""
    found = []
    for name in names:
        if not Path(name).is_dir():
            found.append(name)
            continue
        inside = sorted(str(path) for path in Path(name).iterdir() if path.suffix in SUFFIXES)
        if not inside:
            raise InputError(f"{name}: no instances in this folder (files that end with {', '.join(SUFFIXES)}).")
        found += inside
    return found


def load_own(files: list[str] | None) -> None:
    """Make the operators of files known by their names."""
    from neuralns.operators.registry import load_operators

    for path in files or []:
        load_operators(path)


def parse_limits(time: float | None, iterations: int | None) -> Stop:
    """Return the limits of a search: 10 seconds if there are none."""
    from neuralns.search.stopping import MaxIterations, MaxTime, Stop

    if time is None and iterations is None:
        return MaxTime(10)
    return (Stop() if time is None else MaxTime(time)) | (Stop() if iterations is None else MaxIterations(iterations))


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
