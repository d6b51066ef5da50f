"""Which selector a search has if none is chosen: a bundled controller where it was trained for that, else chance."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from neuralns.errors import InputError
from neuralns.problem.instance import Instance
from neuralns.selection.learned_controller import LearnedController
from neuralns.selection.policy_file import bundled_policies, mark_of, read_policy
from neuralns.selection.selector import Selector
from neuralns.selection.traits import kind_of
from neuralns.selection.uniform import Uniform

AUTO = "auto"
"""What stands for it in Python and on command lines."""
TRIED: Mapping[str, tuple[int, float]] = {"controller-large": (1000, 0.025), "controller": (1000, 0.1)}
"""The bundled controllers, the first that covers a search steers it: the most customers that each was compared with
others on, and the most seconds for a customer (benchmarks/choice.py). That may be more than it was trained with."""


def default_selector(instance: Instance, seconds: float) -> Selector:
    """Return the selector for a search of some seconds that nothing else was chosen for."""
    for controller in bundled_controllers():
        if covers(controller.policy.card, instance, seconds, TRIED[controller.name]):
            return controller
    return Uniform()


def covers(card: Mapping[str, Any], instance: Instance, seconds: float, tried: tuple[int, float]) -> bool:
    """Return whether a controller is for such an instance and time, by its card and by what it was tried on.

    The card's entry ``for`` has kinds of instances (see `kind_of`), and the fewest and most customers, and seconds for
    each.
    """
    meant = card.get("for")
    if meant is None:
        return False
    customers, (most, longest) = instance.customers, tried
    return (
        meant["customers"][0] <= customers <= most
        and meant["seconds_per_customer"][0] <= seconds / customers <= longest
        and kind_of(instance) in meant["kinds"]
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
