"""What there is to choose from when an instance is generated."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from neuralns.errors import InputError

Customers = Literal["random", "clustered", "mixed"]
Depot = Literal["random", "center", "corner"]
Width = Literal["narrow", "wide"]
Horizon = Literal["short", "long"]
Demand = Literal["unit", "1-10", "5-10", "1-100", "50-100", "quadrant", "many-small"]
Fleet = Literal["hvrp", "hd", "fsmf", "fsmd", "fsmfd"]


def check_choices(customers: int, seed: int, **choices: tuple[str, object]) -> None:
    """Refuse choices that are not among those of their kind, and numbers without meaning."""
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"seed {seed!r} must be a whole number of at least 0.")
    if customers < 1:
        raise InputError(f"{customers} customers cannot be generated; at least 1 is needed.")
    for what, (value, allowed) in choices.items():
        if value not in get_args(allowed):
            raise InputError(f"{what} {value!r} is not known; choose one of {', '.join(get_args(allowed))}.")
