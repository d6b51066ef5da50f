"""A random instance of a variant: what is not chosen is drawn from the seed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from neuralns.errors import InputError
from neuralns.problem.generate.choices import Customers, Demand, Depot, Fleet, Horizon, Width, check_choices
from neuralns.problem.generate.days import generate_days
from neuralns.problem.generate.depots import generate_depots
from neuralns.problem.generate.fleet import generate_fleet
from neuralns.problem.generate.prizes import generate_prizes
from neuralns.problem.generate.shipments import generate_shipments
from neuralns.problem.generate.windows import generate_windows
from neuralns.problem.generate.x import generate_x
from neuralns.problem.instance import Instance

Variant = Literal["cvrp", "vrptw", "pdptw", "hfvrp", "mdvrptw", "pcvrptw", "day"]


@dataclass(frozen=True)
class Generator:
    """How instances of a variant are generated: a function, and its options with what they are drawn from."""

    generate: Callable[..., Instance]
    options: Mapping[str, Sequence[Any]]


def _windows(customers: int, positions: Customers, **options: Any) -> Instance:
    return generate_windows(customers, positions, **options)


_PLACES = {"depot": get_args(Depot), "positions": get_args(Customers), "demand": get_args(Demand)}
# Lengths of routes are drawn by the generator itself.
_X = _PLACES | {"route_length": (None,)}
_TIMES = {
    "positions": get_args(Customers),
    "width": get_args(Width),
    "horizon": get_args(Horizon),
    "share": (0.25, 0.5, 0.75, 1.0),
}
GENERATORS: dict[str, Generator] = {
    "cvrp": Generator(generate_x, _X),
    "vrptw": Generator(_windows, _TIMES),
    "pdptw": Generator(generate_shipments, _TIMES),
    "hfvrp": Generator(generate_fleet, {"fleet": get_args(Fleet)} | _X),
    "mdvrptw": Generator(
        generate_depots, {"depots": range(2, 7), "positions": get_args(Customers), "width": get_args(Width)}
    ),
    "pcvrptw": Generator(generate_prizes, _TIMES),
    "day": Generator(
        generate_days,
        {
            "positions": get_args(Customers),
            "depots": (1, 2),
            "share": (0.2, 0.4, 0.6, 0.8),
            "spare_capacity": (0.02, 0.05, 0.1, 0.3),
            "spare_time": (0.02, 0.05, 0.1, 0.3),
        },
    ),
}
"""The generators by variant; the order of options is that in which they are drawn."""


def generate_of(variant: Variant, customers: int = 100, seed: int = 0, **options: Any) -> Instance:
    """Generate a random instance of a variant, for training and tests: options left out are drawn from the seed.

    Parameters
    ----------
    variant
        ``cvrp`` (`generate_x`), ``vrptw`` (`generate_windows`), ``pdptw`` (`generate_shipments`), ``hfvrp``
        (`generate_fleet`), ``mdvrptw`` (`generate_depots`), ``pcvrptw`` (`generate_prizes`) or ``day``
        (`generate_days`).
    customers
        Number of customers.
    seed
        Same seed, same instance; an option that is given leaves the others as they are drawn without it.
    **options
        Options of the variant's generator: ``depot``, ``positions``, ``demand`` and ``route_length`` of ``cvrp`` and
        ``hfvrp``, ``fleet`` of ``hfvrp``, ``positions`` and ``width`` of all with windows, ``horizon`` and ``share`` of
        those with one depot, ``depots`` of ``mdvrptw``; ``positions``, ``depots``, ``share``, ``spare_capacity`` and
        ``spare_time`` of ``day``.

    Examples
    --------
    >>> generate_of("vrptw", 50, seed=3).name
    'clustered-wide-long-n51-s3'
    >>> generate_of("vrptw", 50, seed=3, width="narrow").name
    'clustered-narrow-long-n51-s3'
    """
    check_choices(customers, seed, variant=(variant, Variant))
    generator = GENERATORS[variant]
    for option in options.keys() - generator.options.keys():
        raise InputError(f"{variant} has no option {option}, only {', '.join(generator.options)}.")
    rng = np.random.default_rng(np.random.SeedSequence([seed, 18, get_args(Variant).index(variant)]))
    drawn = {option: among[int(rng.integers(len(among)))] for option, among in generator.options.items()}
    return generator.generate(customers, seed=seed, **(drawn | options))
