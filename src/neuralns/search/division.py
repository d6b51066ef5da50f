"""Routes divided among searches: parts that lie together, each of which a search improves as if there were no other.

An iteration changes a few routes near each other, and annealing looks at differences of costs alone. So the routes of
one solution can be searched in parts at the same time, and put together again; other borders in every round let
customers pass between all of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from neuralns.problem.instance import Instance
from neuralns.problem.solution import Solution
from neuralns.search.acceptance.annealing import DrawnAfterRepair, SimulatedAnnealing
from neuralns.search.acceptance.constant import Always, HillClimbing
from neuralns.search.setup import Setup
from neuralns.search.supervision import has_own_functions
from neuralns.selection.bandit import AlphaUCB, Thompson
from neuralns.selection.by_time import GainBandit, TimedRoulette
from neuralns.selection.constant import Constant
from neuralns.selection.fixed import Fixed
from neuralns.selection.roulette import Roulette
from neuralns.selection.uniform import Uniform

PART_CUSTOMERS, PART_ROUTES = 250, 32
"""Fewest customers and routes of a part, as the routes are at the start."""
_LOCAL_RULES = (SimulatedAnnealing, DrawnAfterRepair, HillClimbing, Always)
"""Acceptance rules that look at differences of costs alone."""
_BLIND_SELECTORS = (Uniform, Fixed, Roulette, AlphaUCB, Thompson, Constant, GainBandit, TimedRoulette)
"""Selectors that do not look at the routes."""

Routes = Sequence[Sequence[int]]


def parts_of(setup: Setup, workers: int) -> int:
    """Return in how many parts the solutions of a search on so many cores are divided; 1 where they are not."""
    instance, stop = setup.instance, setup.stop
    searched_whole = (
        instance.general
        or instance.prizes is not None
        or setup.fewest_vehicles
        or stop.no_improvement < np.inf
        or setup.portfolio.uses_history
        or not isinstance(setup.acceptance, _LOCAL_RULES)
        or not isinstance(setup.selector, _BLIND_SELECTORS)
        or has_own_functions(setup)
    )
    if searched_whole:
        return 1
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
