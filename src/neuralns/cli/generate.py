"""``neuralns generate``: write a random instance."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Annotated, Any

import typer

from neuralns.cli.printing import plain_console

if TYPE_CHECKING:
    from neuralns.problem.instance import Instance


OPTIONS_OF = {
    "--family x": ("positions", "depot", "demand", "route_length"),
    "--family solomon": ("positions",),
    "--windows": ("positions", "width", "horizon", "share"),
}
"""Options that have a meaning without a variant, by what is generated; a variant's are its generator's."""


def generate(
    output: Annotated[str, typer.Argument(metavar="FILE", help="Where to write: .vrp or .json.")],
    customers: Annotated[int, typer.Option(metavar="N", help="Number of customers.")] = 100,
    variant: Annotated[
        str | None,
        typer.Option(
            help="A random instance of cvrp, vrptw, pdptw (shipments), hfvrp (types of vehicles), mdvrptw (several "
            "depots), pcvrptw (prizes) or day (a planner's day): options left out are drawn from the seed."
        ),
    ] = None,
    family: Annotated[
        str | None,
        typer.Option(
            help="Without --variant: x, the X set's generator (the default), or solomon, a square of side 100."
        ),
    ] = None,
    positions: Annotated[str | None, typer.Option(help="Customers: random (the default), clustered or mixed.")] = None,
    depot: Annotated[
        str | None, typer.Option(help="Depot (x, cvrp, hfvrp): random (the default), center or corner.")
    ] = None,
    demand: Annotated[
        str | None,
        typer.Option(
            help="Demands (x, cvrp, hfvrp): unit, 1-10, 5-10, 1-100 (the default), 50-100, quadrant or many-small."
        ),
    ] = None,
    route_length: Annotated[
        float | None,
        typer.Option(metavar="R", help="Customers on a route (x, cvrp, hfvrp); drawn from 3 to 25 by default."),
    ] = None,
    windows: Annotated[
        bool, typer.Option("--windows", help="With time windows, after Gehring and Homberger's kinds of instances.")
    ] = False,
    width: Annotated[
        str | None, typer.Option(help="Windows (--windows and variants with windows): narrow (the default) or wide.")
    ] = None,
    horizon: Annotated[
        str | None,
        typer.Option(
            help="Shift (--windows, vrptw, pdptw, pcvrptw): short (the default), for about 10 customers a route, or "
            "long, for 40 and more."
        ),
    ] = None,
    window_share: Annotated[
        float | None,
        typer.Option(
            metavar="P",
            help="Share of the customers with a window (--windows, vrptw, pdptw, pcvrptw, day), 0 to 1; all by "
            "default.",
        ),
    ] = None,
    fleet: Annotated[
        str | None,
        typer.Option(
            help="Fleet (hfvrp): hvrp or hd, of limited numbers, fsmf, fsmd or fsmfd, of as many as needed; hvrp, fsmf "
            "and fsmfd with fixed costs, all but fsmf with costs of distance that differ."
        ),
    ] = None,
    depots: Annotated[int | None, typer.Option(metavar="N", help="Number of depots (mdvrptw, day).")] = None,
    spare_capacity: Annotated[
        float | None,
        typer.Option(metavar="P", help="Share of the vehicles' capacity that is left over (day), 0 to 0.5."),
    ] = None,
    spare_time: Annotated[
        float | None,
        typer.Option(metavar="P", help="Share of the vehicles' shifts that simple routes leave over (day), 0 to 0.5."),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="K", help="Same seed, same instance.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
) -> None:
    """Generate an instance.

    Examples:

        neuralns generate big.vrp --customers 1000 --positions clustered --depot corner --seed 7

        neuralns generate like-rc101.json --family solomon --positions mixed

        neuralns generate deliveries.vrp --windows --customers 200 --positions clustered --width wide --horizon long

        neuralns generate couriers.json --variant pdptw --customers 200 --seed 7

        neuralns generate day.json --variant day --spare-capacity 0.02 --spare-time 0.1 --seed 7
    """
    from neuralns.files import check_new, check_suffix, check_writable
    from neuralns.problem.formats.detect import INSTANCE_SUFFIXES, write_instance

    check_writable(output)
    check_suffix(output, INSTANCE_SUFFIXES)
    check_new(output, force)
    options = {
        "positions": positions,
        "depot": depot,
        "demand": demand,
        "route_length": route_length,
        "width": width,
        "horizon": horizon,
        "share": window_share,
        "fleet": fleet,
        "depots": depots,
        "spare_capacity": spare_capacity,
        "spare_time": spare_time,
    }
    given = {option: value for option, value in options.items() if value is not None}
    instance = _generated(variant, family, windows, customers, seed, given)
    write_instance(instance, output)
    plain_console(soft_wrap=True).print(
        f"{instance.name}: {instance.customers} customers, capacity {instance.capacity:g}, written to {output}"
    )


def _generated(
    variant: Any, family: str | None, windows: bool, customers: int, seed: int, given: dict[str, Any]
) -> Instance:
    """Return the instance asked for, if the options given have a meaning there."""
    from neuralns.errors import InputError
    from neuralns.problem.generate.solomon import generate_solomon
    from neuralns.problem.generate.variants import GENERATORS, generate_of
    from neuralns.problem.generate.windows import generate_windows
    from neuralns.problem.generate.x import generate_x

    generators = {"--variant": variant is not None, "--windows": windows, "--family": family is not None}
    said = [flag for flag, there in generators.items() if there]
    if len(said) > 1:
        raise InputError(f"{said[0]} and {said[1]} do not go together.")
    if family not in (None, "x", "solomon"):
        raise InputError(f"family {family!r} is not known; choose x or solomon.")
    what = f"--variant {variant}" if variant is not None else "--windows" if windows else f"--family {family or 'x'}"
    known: Collection[str] = OPTIONS_OF.get(what, given)
    if variant in GENERATORS:
        known = GENERATORS[variant].options
    for option in given:
        if option not in known:
            flags = ", ".join(map(_flag, known))
            raise InputError(f"{_flag(option)} does not go with {what}; its options are {flags}.")
    if variant is not None:
        return generate_of(variant, customers, seed, **given)
    make: Callable[..., Instance] = (
        generate_windows if windows else generate_solomon if family == "solomon" else generate_x
    )
    if make is not generate_x and "positions" in given:
        given["kind"] = given.pop("positions")
    return make(customers, seed=seed, **given)


def _flag(option: str) -> str:
    return "--window-share" if option == "share" else f"--{option.replace('_', '-')}"
