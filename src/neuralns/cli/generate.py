"""``neuralns generate``: write a random instance."""

from typing import Annotated, Any

import typer

from neuralns.cli.printing import plain_console


def generate(
    output: Annotated[str, typer.Argument(metavar="FILE", help="Where to write: .vrp or .json.")],
    customers: Annotated[int, typer.Option(metavar="N", help="Number of customers.")] = 100,
    family: Annotated[str, typer.Option(help="x: the X set's generator; solomon: Solomon's square of side 100.")] = "x",
    positions: Annotated[str, typer.Option(help="Customers: random, clustered or mixed.")] = "random",
    depot: Annotated[str, typer.Option(help="Depot (x only): random, center or corner.")] = "random",
    demand: Annotated[
        str, typer.Option(help="Demands (x only): unit, 1-10, 5-10, 1-100, 50-100, quadrant or many-small.")
    ] = "1-100",
    route_length: Annotated[
        float | None, typer.Option(metavar="R", help="Customers on a route (x only); drawn from 3 to 25 by default.")
    ] = None,
    windows: Annotated[
        bool, typer.Option("--windows", help="With time windows, after Gehring and Homberger's kinds of instances.")
    ] = False,
    width: Annotated[str, typer.Option(help="Windows (with --windows): narrow or wide.")] = "narrow",
    horizon: Annotated[
        str,
        typer.Option(help="Shift (with --windows): short, for about 10 customers a route, or long, for 40 and more."),
    ] = "short",
    window_share: Annotated[
        float, typer.Option(metavar="P", help="Share of the customers with a window (with --windows), 0 to 1.")
    ] = 1.0,
    seed: Annotated[int, typer.Option(metavar="K", help="Same seed, same instance.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
) -> None:
    """Generate an instance.

    Examples:

        neuralns generate big.vrp --customers 1000 --positions clustered --depot corner --seed 7

        neuralns generate like-rc101.json --family solomon --positions mixed

        neuralns generate deliveries.vrp --windows --customers 200 --positions clustered --width wide --horizon long
    """
    from neuralns.errors import InputError
    from neuralns.files import check_new, check_suffix, check_writable
    from neuralns.problem.formats.detect import INSTANCE_SUFFIXES, write_instance
    from neuralns.problem.generate import generate_solomon, generate_windows, generate_x

    check_writable(output)
    check_suffix(output, INSTANCE_SUFFIXES)
    check_new(output, force)
    kind: Any = positions
    if windows:
        wide: Any = width
        long: Any = horizon
        instance = generate_windows(customers, kind, wide, long, window_share, seed)
    elif family == "x":
        place: Any = depot
        amounts: Any = demand
        instance = generate_x(customers, place, kind, amounts, route_length, seed)
    elif family == "solomon":
        instance = generate_solomon(customers, kind, seed)
    else:
        raise InputError(f"family {family!r} is not known; choose x or solomon.")
    write_instance(instance, output)
    plain_console(soft_wrap=True).print(
        f"{instance.name}: {instance.customers} customers, capacity {instance.capacity:g}, written to {output}"
    )
