"""Routes divided among searches: parts that lie together, each of which a search improves as if there were no other.

An iteration changes a few routes near each other, and annealing looks at differences of costs alone. So the routes of
one solution can be searched in parts at the same time, and put together again; other borders in every round let
customers pass between all of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from neuralns.compiled.failures import is_own
from neuralns.problem.instance import Instance
from neuralns.problem.solution import Solution
from neuralns.search.setup import Setup

PART_CUSTOMERS, PART_ROUTES = 250, 32
"""Fewest customers and routes of a part, as the routes are at the start."""

Routes = Sequence[Sequence[int]]


def parts_of(setup: Setup, workers: int) -> int:
    """Return in how many parts the solutions of a search on so many cores are divided; 1 where they are not."""
    return 1 if problem_against(setup) or choice_against(setup) else _most_parts(setup, workers)


def notice_of_whole(setup: Setup, workers: int) -> str | None:
    """Return a sentence if workers search a solution whole which they would divide if other choices were made."""
    choice = choice_against(setup)
    if choice is None or problem_against(setup) is not None or _most_parts(setup, workers) == 1:
        return None
    return f"{choice}: each of the {workers} workers searches the whole solution, which they could divide otherwise."


def problem_against(setup: Setup) -> str | None:
    """Return what about the problem is against dividing solutions, if anything is."""
    if setup.instance.general:
        return "fleets, depots, shipments and the like are not divided"
    if setup.instance.prizes is not None:
        return "optional customers are not divided"
    return "the fewest vehicles are those of the whole solution" if setup.fewest_vehicles else None


def choice_against(setup: Setup) -> str | None:
    """Return which choice is against dividing solutions, and why, if any is."""
    selector, rule = setup.selector, setup.acceptance
    if not setup.stop.is_local:
        return "a limit without improvement, or a stopping rule of your own, looks at the whole solution"
    for entry in setup.portfolio.operators:
        if entry.uses_history:
            return f"operator {entry.name!r} looks at the history of the whole solution"
        if is_own(entry.function):
            return f"operator {entry.name!r} may look at the whole solution"
    if not rule.is_local or not _says_so(rule, "is_local", "threshold", "accepts"):
        return f"acceptance rule {type(rule).__name__!r} does not say that it is local"
    methods = "choose", "update", "control", "observe", "begin", "setting"
    if selector.looks_at_routes or not _says_so(selector, "looks_at_routes", *methods):
        return f"selector {selector.name!r} looks at the routes, or does not say that it looks at none"
    return None


def _says_so(rule: object, attribute: str, *methods: str) -> bool:
    """Return whether an attribute is said by a class that also has the methods.

    One that inherits what its base says, but has other methods, has said nothing.
    """
    order = type(rule).__mro__
    said, *others = (
        next((index for index, each in enumerate(order) if name in vars(each)), len(order))
        for name in (attribute, *methods)
    )
    return said <= min(others)


def _most_parts(setup: Setup, workers: int) -> int:
    """Return in how many parts solutions are divided where nothing is against it."""
    served = sum(map(len, setup.initial.routes))
    most = min(served // PART_CUSTOMERS, len(setup.initial.routes) // PART_ROUTES)
    return max(1, min(workers, most))


def divide(instance: Instance, routes: Routes, parts: int, generator: np.random.Generator) -> list[list[int]]:
    """Return the numbers of the routes in each of so many parts, at most as there are routes.

    The centres of the routes are cut in two by a line of random direction, and each half again, so that parts have
    about the same number of customers.
    """
    sizes = np.array([len(route) for route in routes])
    points = instance.points[np.concatenate([np.asarray(route) for route in routes])]
    centres = np.add.reduceat(points, np.cumsum([0, *sizes[:-1]])) / sizes[:, None]
    return _bisect(np.arange(len(routes)), centres, sizes, min(parts, len(routes)), generator)


def _bisect(
    routes: npt.NDArray[np.int64],
    centres: npt.NDArray[np.float64],
    sizes: npt.NDArray[np.int64],
    parts: int,
    generator: np.random.Generator,
) -> list[list[int]]:
    if parts == 1:
        return [np.sort(routes).tolist()]
    angle = generator.uniform(0.0, 2.0 * np.pi)
    along = centres[routes] @ np.array([np.cos(angle), np.sin(angle)])
    routes = routes[np.argsort(along, kind="stable")]
    first = parts // 2
    behind = np.cumsum(sizes[routes])
    cut = int(np.searchsorted(behind, behind[-1] * first / parts))
    cut = min(max(cut, first), len(routes) - (parts - first))
    return [
        *_bisect(routes[:cut], centres, sizes, first, generator),
        *_bisect(routes[cut:], centres, sizes, parts - first, generator),
    ]


def fleets(instance: Instance, parts: Sequence[Sequence[int]], generator: np.random.Generator) -> list[int | None]:
    """Return how many vehicles each part has: those of its routes, and one part by chance those that are left over."""
    if instance.vehicles is None:
        return [None] * len(parts)
    found: list[int | None] = [len(part) for part in parts]
    lucky = int(generator.integers(len(parts)))
    found[lucky] = len(parts[lucky]) + instance.vehicles - sum(map(len, parts))
    return found


def put_together(instance: Instance, parts: Sequence[Routes]) -> Solution:
    """Return the solution that parts make up."""
    routes = [route for part in parts for route in part]
    return Solution(instance, routes, [0] * len(routes))
