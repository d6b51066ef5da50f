"""What a search is to do, put together from a user's choices: the one way to make a run."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import index

import numpy as np

from neuralns.compiled.sharing import compile_together
from neuralns.errors import InputError
from neuralns.operators.construction import build, compile_building
from neuralns.operators.portfolio import Portfolio, default_for, make_portfolio, portfolio_named
from neuralns.operators.registry import Operator
from neuralns.problem.formats.detect import read_solution
from neuralns.problem.initial import nearest_insertion, random_tours, savings_in
from neuralns.problem.instance import Instance
from neuralns.problem.solution import Solution
from neuralns.problem.values import one_number
from neuralns.routes.answers import compilations_of
from neuralns.routes.tables import compilations_of_rules
from neuralns.routes.transfer import compilations
from neuralns.search import loop
from neuralns.search.acceptance.annealing import SimulatedAnnealing
from neuralns.search.acceptance.rule import Acceptance
from neuralns.search.stopping import Stop
from neuralns.selection.controller import Controller
from neuralns.selection.selector import Selector
from neuralns.selection.uniform import Uniform

DEFAULT_SCALE, TIMED_SCALE = (1, 20), (1, 30)
"""Fewest and most customers to remove in an iteration, drawn uniformly; the latter with windows or fleets."""

DEFAULTS = ("plain", "large", "long", "windows", "tight")
"""Portfolios of searches where none is given (see `default_for`)."""

Scale = int | float | tuple[float, float] | None
"""Customers to remove in an iteration: a number, a share below 1, or a pair of them to draw from."""


Start = Solution | str | os.PathLike[str] | Sequence[Sequence[int]]
"""Where to start: a solution, routes as lists of customers, a method's name, or a file."""


@dataclass(frozen=True)
class Setup:
    """What a search is to do; several searches may follow one setup with different seeds."""

    instance: Instance
    stop: Stop
    selector: Selector
    portfolio: Portfolio
    quotas: tuple[int, int]
    acceptance: Acceptance
    temperatures: tuple[float, float]
    initial: Solution
    fewest_vehicles: bool = False
    keeps_limit: bool = False
    """Whether no route may carry too much even for a while (see `penalties`)."""

    def starting_from(self, initial: Solution) -> Setup:
        """Return the same from another solution."""
        return replace(self, initial=initial, temperatures=_temperatures(self.acceptance, initial))


def make_setup(
    instance: Instance,
    stop: Stop,
    selector: Selector | None = None,
    portfolio: Portfolio | None = None,
    *,
    scale: Scale = None,
    acceptance: Acceptance | None = None,
    initial: Start = "savings",
    seed: int | np.random.SeedSequence = 0,
    fewest_vehicles: bool = False,
) -> Setup:
    """Return the setup of a search, each choice left out being the default; ``seed`` is that of a random start.

    ``fewest_vehicles`` puts the number of vehicles before the cost.
    """
    selector = Uniform() if selector is None else selector
    portfolio = portfolio_for(selector, instance) if portfolio is None else portfolio
    acceptance = SimulatedAnnealing() if acceptance is None else acceptance
    first = initial_solution(instance, initial, seed, stop.time)
    # Random tours say nothing about the distances in good routes.
    random = isinstance(initial, str) and initial == "random"
    typical = initial_solution(instance, "savings", seconds=stop.time) if random else first
    quotas = quotas_for(instance, selector, scale)
    temperatures = _temperatures(acceptance, typical)
    return Setup(instance, stop, selector, portfolio, quotas, acceptance, temperatures, first, fewest_vehicles)


def _temperatures(acceptance: Acceptance, initial: Solution) -> tuple[float, float]:
    """Return the temperatures of a rule, which may be a user's own."""
    found = acceptance.temperatures(initial)
    try:
        hot, cold = (one_number("temperature", each) for each in found)
    except (TypeError, ValueError):
        hot = cold = 0.0
    if not (hot > 0 and cold > 0):
        raise InputError(
            f"acceptance rule {type(acceptance).__name__!r} gives temperatures {found!r:.60}, but they must be two "
            "numbers above 0, at the start and at the end."
        )
    return hot, cold


def prepare(
    portfolio: Portfolio, selector: Selector, acceptance: Acceptance, stop: Stop, instance: Instance | None = None
) -> None:
    """Compile or load all that a search needs, so that its clock does not count it.

    Of an instance that is its profile of rules and costs of one's own; without one, the plain profile.
    """
    jobs: list[Callable[[], object]] = [acceptance.compiled, selector.functions, loop.compiled_loop]
    jobs += [partial(getattr, entry, "compiled") for entry in portfolio.operators]
    jobs += [partial(getattr, rule, "compiled") for rule in stop.rules]
    jobs += compilations_of("plain") if instance is None else compilations_of_rules(instance)
    jobs += [compile_building, *compilations()]
    compile_together(jobs)
    _ = portfolio.tables


def portfolio_of(
    choice: Portfolio | str | Sequence[str | Operator] | None,
    selector: Selector | None = None,
    instance: Instance | None = None,
) -> Portfolio:
    """Return the portfolio that a user's choice stands for; left out, the one that fits the selector and instance."""
    if choice is None:
        return portfolio_for(Uniform() if selector is None else selector, instance)
    if isinstance(choice, str):
        return portfolio_named(choice)
    return choice if isinstance(choice, Portfolio) else make_portfolio("own", choice)


def portfolio_for(selector: Selector, instance: Instance | None = None) -> Portfolio:
    """Return the portfolio of a selector that comes without one: what it was made for, else the strongest."""
    known = selector.made_for()
    if not known:
        return portfolio_named("modern" if instance is None else default_for(instance))
    for portfolio in map(portfolio_named, ("modern", "windows", "paper", "wide")):
        if set(known) == set(portfolio.names if isinstance(selector, Controller) else portfolio.actions):
            return portfolio
    return make_portfolio(",".join(known) if len(known) == 2 else "own", known)


def initial_solution(
    instance: Instance,
    source: Start,
    seed: int | np.random.SeedSequence = 0,
    seconds: float = math.inf,
) -> Solution:
    """Return a start for a search of some seconds: built by a named method, read from a file, or as given; checked.

    Routes that leave customers out are taken: where everybody can be served, those are added at once.
    """
    if isinstance(source, Solution):
        vehicles = source.vehicles if len(source.instance.types) == len(instance.types) else None
        return _completed(Solution(instance, source.routes, vehicles), seconds).checked("the initial solution")
    if not isinstance(source, str | os.PathLike):
        return _completed(Solution(instance, _routes(source)), seconds).checked("the initial solution")
    if source in ("savings", "insertion") and instance.may_leave_out:
        return build(instance)
    if source == "savings":
        return savings_in(instance, seconds)
    if source == "insertion":
        return nearest_insertion(instance)
    if source == "random":
        return random_tours(instance, seed)
    return _completed(read_solution(instance, source), seconds).checked(os.fspath(source))


def _routes(given: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return the routes that lists of customers give."""
    try:
        return [[index(customer) for customer in route] for route in given]
    except TypeError:
        raise InputError(
            f"initial {given!r:.60} is neither a solution, a file or the name of a method, nor a list of routes, each "
            "a list of customer numbers."
        ) from None


def _completed(start: Solution, seconds: float) -> Solution:
    """Return routes with those whom they leave out on further ones, where loads are all that limits routes.

    Elsewhere the search itself sees to it that they are served.
    """
    missing = set(start.unserved)
    if not missing or start.instance.may_leave_out:
        return start
    built = savings_in(start.instance, seconds).routes
    return Solution(start.instance, [*start.routes, *([each for each in route if each in missing] for route in built)])


def quotas_for(instance: Instance, selector: Selector, scale: Scale = None) -> tuple[int, int]:
    """Return the least and most customers to remove: as given, else as a policy was trained, else the default."""
    chosen = selector.made_with() if scale is None else scale
    varied = instance.timed or instance.general
    return quotas_of(TIMED_SCALE if chosen is None and varied else chosen, instance.customers)


def quotas_of(scale: Scale, customers: int) -> tuple[int, int]:
    """Return the least and most customers to remove in an iteration."""
    try:
        low, high = DEFAULT_SCALE if scale is None else scale if isinstance(scale, tuple | list) else (scale, scale)
        fits = bool(0 < low <= high < math.inf)
    except (TypeError, ValueError):
        fits = False
    if not fits:
        raise InputError(f"scale {scale!r:.60} must be a number above 0, or a pair of them with the smaller first.")
    if any(value >= 1 and value != int(value) for value in (low, high)):
        raise InputError(f"scale {scale!r} must be a whole number of customers, or a share below 1.")
    least, most = (max(1, round(value * customers)) if value < 1 else int(value) for value in (low, high))
    if least > most:
        raise InputError(f"scale {scale!r} means {least} to {most} customers; the smaller must be first.")
    return min(least, customers), min(most, customers)
