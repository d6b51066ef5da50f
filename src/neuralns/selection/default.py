"""Which selector a search has if none is chosen: a bundled controller where it was trained for that, else chance."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from neuralns.errors import InputError
from neuralns.problem.instance import Instance
from neuralns.selection.instance_features import variant_of
from neuralns.selection.learned_controller import LearnedController
from neuralns.selection.policy_file import bundled_policies, mark_of, read_policy
from neuralns.selection.selector import Selector
from neuralns.selection.uniform import Uniform

AUTO = "auto"
"""What stands for it in Python and on command lines."""


class Tried(NamedTuple):
    """What a controller was compared with others on: at most so many customers, seconds for each, and seconds."""

    customers: int
    each: float
    seconds: tuple[float, float] = (0.0, math.inf)


TRIED: Mapping[str, Tried] = {
    "controller-large": Tried(1000, 0.03, (7.0, 15.0)),
    "controller": Tried(1000, 0.1),
}
"""The bundled controllers with what they were tried on, or nearly (benchmarks/choice.py: searches of 10 s), which
may be more than they were trained with. The first that covers a search steers it. All searches that the larger one has
learned from took 10 s, so that it knows nothing of much shorter and longer ones."""


def default_selector(instance: Instance, seconds: float) -> Selector:
    """Return the selector for a search of some seconds that nothing else was chosen for."""
    for controller in bundled_controllers():
        if covers(controller.policy.card, instance, seconds, TRIED[controller.name]):
            return controller
    return Uniform()


def covers(card: Mapping[str, Any], instance: Instance, seconds: float, tried: Tried) -> bool:
    """Return whether a controller is for such an instance and time, by its card and by what it was tried on.

    The card's entry ``for`` has variants (see `variant_of`), and the fewest and most customers, and seconds for each.
    """
    meant = card.get("for")
    if meant is None:
        return False
    customers = instance.customers
    return (
        meant["customers"][0] <= customers <= tried.customers
        and meant["seconds_per_customer"][0] <= seconds / customers <= tried.each
        and tried.seconds[0] <= seconds <= tried.seconds[1]
        and variant_of(instance) in meant["kinds"]
    )


def bundled_mark() -> str | None:
    """Return what tells the bundled controllers from others."""
    return ", ".join(mark_of(controller.policy) for controller in bundled_controllers()) or None


@cache
def bundled_controllers() -> tuple[LearnedController, ...]:
    """Return the bundled controllers that fit this version."""
    found = []
    for name in TRIED:
        try:
            if name in bundled_policies():
                found.append(LearnedController(read_policy(name), name))
        except InputError:
            # One of another version, which is to be trained anew: searches go on without it.
            continue
    return tuple(found)
