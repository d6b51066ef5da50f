"""Everything compiled in advance: for images of containers, for packages, and for machines that must answer at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import get_args

from neuralns.operators.portfolio import portfolio_named
from neuralns.operators.registry import operators
from neuralns.problem.generate.variants import Variant, generate_of
from neuralns.problem.instance import Instance
from neuralns.routes.tables import profile_of_instance
from neuralns.search.acceptance.annealing import SimulatedAnnealing
from neuralns.search.acceptance.constant import Always, HillClimbing
from neuralns.search.acceptance.record import RecordToRecord
from neuralns.search.setup import DEFAULTS
from neuralns.search.solve import solve
from neuralns.search.stopping import MaxIterations
from neuralns.selection.names import plain_names, selector_named

CUSTOMERS, ITERATIONS = 12, 40
"""Sizes of the searches: each function is to be called once."""
SEEDS = 20
"""How many instances of a variant are looked through for different profiles of rules."""


def works() -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield all there is to compile in parts: what each is called, and the function that does it."""
    yield "operators", lambda: [entry.compiled for entry in operators()]
    yield "selectors", lambda: [selector_named(name).functions() for name in plain_names()]
    rules = SimulatedAnnealing(), HillClimbing(), Always(), RecordToRecord()
    yield "acceptance rules", lambda: [rule.compiled() for rule in rules]
    for variant in get_args(Variant):
        for instance, what in _of_each_profile(variant):
            yield what, partial(_searches, instance)
    yield "portfolios", _portfolios
    yield "the decision process", _episodes


def _of_each_profile(variant: Variant) -> Iterator[tuple[Instance, str]]:
    """Yield an instance for each profile of rules that a variant's instances have, and what to call it."""
    found: dict[str, Instance] = {}
    for seed in range(SEEDS):
        instance = generate_of(variant, CUSTOMERS, seed)
        found.setdefault(profile_of_instance(instance), instance)
    for profile, instance in found.items():
        yield instance, variant if len(found) == 1 else f"{variant} ({profile})"


def _searches(instance: Instance) -> None:
    """Search from all starts, and for fewest vehicles."""
    for initial in ("savings", "insertion", "random"):
        solve(instance, MaxIterations(ITERATIONS), initial=initial)
    solve(instance, MaxIterations(ITERATIONS), objective="vehicles")


def _portfolios() -> None:
    plain = generate_of("cvrp", CUSTOMERS, 0)
    for name in DEFAULTS:
        solve(plain, MaxIterations(ITERATIONS), portfolio=portfolio_named(name), selector="random")


def _episodes() -> None:
    """Play episodes alone and in lanes, as training does."""
    from neuralns.mdp.environment import OperatorSelection
    from neuralns.mdp.vector_environment import OperatorSelectionLanes

    alone, together = OperatorSelection(customers=CUSTOMERS), OperatorSelectionLanes(2, customers=CUSTOMERS)
    alone.reset(seed=0)
    together.reset(seed=0)
    for _ in range(3):
        alone.step(alone.action_space.sample())
        together.step(together.action_space.sample())
