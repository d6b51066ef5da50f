"""Which selector a search has if none is chosen: the bundled controller where it was trained for that, else chance."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from neuralns.errors import InputError
from neuralns.problem.instance import Instance
from neuralns.selection.learned_controller import LARGER, LearnedController
from neuralns.selection.policy_file import bundled_policies, mark_of, read_policy
from neuralns.selection.selector import Selector
from neuralns.selection.traits import kind_of
from neuralns.selection.uniform import Uniform

AUTO = "auto"
"""What stands for it in Python and on command lines."""
BUNDLED = "controller"
"""Name of the bundled controller."""
LONGER = 1.33
"""How many times the seconds for each customer that it was trained with a controller may be used for: what was learned
with up to 0.075 s was tried with up to 0.1 (benchmarks/choice.py)."""


def default_selector(instance: Instance, seconds: float) -> Selector:
    """Return the selector for a search of some seconds that nothing else was chosen for."""
    controller = bundled_controller()
    if controller is not None and covers(controller.policy.card, instance, seconds):
        return controller
    return Uniform()


def covers(card: Mapping[str, Any], instance: Instance, seconds: float) -> bool:
    """Return whether a card says that a controller is for such an instance and time.

    Its entry ``for`` has kinds of instances (see `kind_of`), and the fewest and most customers, and seconds for each.
    """
    meant = card.get("for")
    if meant is None:
        return False
    (least, most), (shortest, longest) = meant["customers"], meant["seconds_per_customer"]
    customers = instance.customers
    return (
        least <= customers <= LARGER * most
        and shortest <= seconds / customers <= LONGER * longest
        and kind_of(instance) in meant["kinds"]
    )


def bundled_mark() -> str | None:
    """Return what tells the bundled controller from others."""
    controller = bundled_controller()
    return None if controller is None else mark_of(controller.policy)


@cache
def bundled_controller() -> LearnedController | None:
    """Return the bundled controller; none where there is none that fits this version."""
    try:
        return LearnedController(read_policy(BUNDLED), BUNDLED) if BUNDLED in bundled_policies() else None
    except InputError:
        # One of another version, which is to be trained anew: searches go on without it.
        return None
