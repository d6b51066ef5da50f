"""The operator-selection MDP of the paper's section 3.2, and the start tours of its experiments."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from neuralns.errors import InputError
from neuralns.operators.portfolio import Portfolio
from neuralns.operators.registry import Operator
from neuralns.problem.bundled import read
from neuralns.problem.initial import random_tours
from neuralns.problem.instance import Instance
from neuralns.problem.solution import Solution
from neuralns.search.acceptance.annealing import SimulatedAnnealing
from neuralns.search.acceptance.constant import Always, HillClimbing
from neuralns.search.acceptance.rule import Acceptance
from neuralns.search.setup import initial_solution, portfolio_of

Setting = Literal["paper", "distance", "windows"]
Reward = Literal["final", "improvement"]
SETTINGS: tuple[Setting, ...] = get_args(Setting)
REWARDS: tuple[Reward, ...] = get_args(Reward)
ACCEPTANCES: dict[str, Acceptance] = {
    "always": Always(),
    "improving": HillClimbing(),
    "annealing": SimulatedAnnealing(),
}
"""Acceptance rules by the names that the MDP calls them."""
SETS = ("train", "validate", "test")
"""The three disjoint sets of start tours."""
SET_SIZE = 128

DEFAULT_BUDGET = 10


@dataclass(frozen=True)
class MDP:
    """Choosing operators for one instance.

    A state is (G, X, tours J, removal list C, phase φ, budget b). In the destroy phase an action is a destroy operator,
    which moves ``scale`` customers from the tours to the removal list; in the repair phase it is a repair operator,
    which puts them back and uses up one of ``budget`` pairs. When the budget is used up the reward is F(S_0) − F(S_T);
    with ``reward="improvement"`` each pair is paid what it improves at once, which sums up to the same.

    The paper's MDP keeps what every pair gives (``always``). With ``acceptance="improving"`` a pair that makes the
    tours dearer is undone, as a late search would: rewards are then never negative. With ``annealing``, or any rule of
    a search, pairs are accepted or undone as there, the temperature falling over the episode.

    Actions are numbered through the portfolio, the destroy operators first.
    """

    instance: Instance
    portfolio: Portfolio
    setting: Setting
    scale: int
    budget: int = DEFAULT_BUDGET
    reward: Reward = "final"
    acceptance: Acceptance = ACCEPTANCES["always"]

    @property
    def acceptance_name(self) -> str:
        """What files and output call the acceptance rule."""
        return next((name for name, rule in ACCEPTANCES.items() if rule == self.acceptance), repr(self.acceptance))

    @cached_property
    def temperatures(self) -> tuple[float, float]:
        """Temperatures at the start and at the end of an episode."""
        if isinstance(self.acceptance, Always | HillClimbing):
            return 1.0, 1.0
        # Random tours say nothing about the distances in good routes.
        return self.acceptance.temperatures(initial_solution(self.instance, "savings"))

    @property
    def steps(self) -> int:
        """Actions of an episode."""
        return 2 * self.budget

    def as_dict(self) -> dict[str, Any]:
        """Return what tells evaluations apart, as plain values."""
        return {
            "setting": self.setting,
            "instance": self.instance.name.removesuffix(" (paper)").partition(":")[0],
            "customers": self.instance.customers,
            "portfolio": self.portfolio.name,
            "scale": self.scale,
        }

    def random_start(self, seed: int | np.random.SeedSequence) -> Solution:
        """Return random tours as the setting starts from: cut by the rules, and in setting ``paper`` into fifths."""
        chunk = math.ceil(self.instance.customers / 5) if self.setting == "paper" else None
        return random_tours(self.instance, seed, chunk)

    def start_tours(self, name: str, count: int = SET_SIZE) -> list[Solution]:
        """Return the first tours of the set ``train``, ``validate`` or ``test``.

        All agents get the same; no tours are in two sets. Different tours are drawn one after the other from a seed
        made of the instance's name, and dealt out to the three sets in turn.
        """
        if name not in SETS:
            raise InputError(f"set of start tours {name!r} is not known; choose {', '.join(SETS)}.")
        if count < 1:
            raise InputError(f"{count} start tours asked for; at least 1 is needed.")
        found: dict[frozenset[tuple[int, ...]], Solution] = {}
        attempts, needed = 0, len(SETS) * count
        while len(found) < needed:
            start = self.random_start(named_seed("tours", self.setting, self.instance.name, attempts))
            found.setdefault(frozenset(start.routes), start)
            attempts += 1
            if attempts > 20 * needed:
                raise InputError(
                    f"{self.instance.name}: {self.instance.customers} customers have too few different tours for three "
                    f"sets of {count}; take more customers or fewer episodes."
                )
        return list(found.values())[SETS.index(name) :: len(SETS)]


def make_mdp(
    instance: Instance | str | os.PathLike[str],
    *,
    customers: int | None = None,
    setting: str = "paper",
    portfolio: Portfolio | str | Sequence[str | Operator] = "paper",
    scale: int | None = None,
    budget: int = DEFAULT_BUDGET,
    reward: str = "final",
    acceptance: str | Acceptance = "always",
) -> MDP:
    """Return the MDP of an instance in a named setting.

    Parameters
    ----------
    instance
        An instance, or the file or bundled name to read it from.
    customers
        Take only the first so many customers, with the capacity scaled in proportion, except in setting ``windows``.
    setting
        ``paper``: F = 100 × routes + length over coordinates scaled to 1, capacity never binds, tours start as fifths:
        fitted to the paper's published numbers. ``distance``: the instance as it is, but for windows, tours start cut
        by capacity: the paper's text read literally. ``windows``: the instance as it is, tours start cut by all rules;
        the first customers come with the whole capacity, as in Solomon's instances of 25 and 50.
    portfolio
        Which operators: a portfolio, a name, or a list of operators.
    scale
        d, customers removed at a time; a fifth of them by default.
    budget
        b, pairs of operators in an episode.
    reward
        ``final`` or ``improvement``.
    acceptance
        ``always``, ``improving``, ``annealing``, or a rule such as ``SimulatedAnnealing(100, 1)``.

    Examples
    --------
    >>> mdp = make_mdp("C101", customers=20)
    >>> mdp.scale, mdp.budget, mdp.steps, len(mdp.portfolio.names)
    (4, 10, 20, 14)
    """
    if not isinstance(instance, Instance):
        instance = read(instance)
    if setting not in SETTINGS:
        raise InputError(f"setting {setting!r} is not known; choose {', '.join(SETTINGS)}.")
    if customers is not None:
        instance = instance.first(customers, scaled=setting != "windows")
    if reward not in REWARDS:
        raise InputError(f"reward {reward!r} is not known; choose {' or '.join(REWARDS)}.")
    if not isinstance(acceptance, Acceptance):
        if acceptance not in ACCEPTANCES:
            raise InputError(f"acceptance {acceptance!r} is not known; choose {', '.join(ACCEPTANCES)}.")
        acceptance = ACCEPTANCES[acceptance]
    if setting == "windows":
        if not instance.timed:
            raise InputError(f"{instance.name}: has no windows; take setting distance.")
    else:
        instance = instance.without("windows")
    if setting == "paper":
        instance = instance.in_paper_setting()
    if instance.general or instance.prizes is not None:
        raise InputError(f"{instance.name}: the MDP knows one depot, one type of vehicle and no optional customers.")
    if scale is None:
        scale = max(1, instance.customers // 5)
    if not 1 <= scale <= instance.customers:
        raise InputError(f"scale {scale} must lie between 1 and the {instance.customers} customers of the instance.")
    if budget < 1:
        raise InputError(f"budget {budget} must be at least 1 pair.")
    return MDP(instance, portfolio_of(portfolio), setting, scale, budget, reward, acceptance)


def named_seed(*names: object) -> np.random.SeedSequence:
    """Return the seed that names stand for, the same on every machine."""
    digest = hashlib.sha256("/".join(map(str, names)).encode()).digest()
    return np.random.SeedSequence(int.from_bytes(digest[:16], "little"))


@cache
def episode_seeds(seed: int, count: int, purpose: str = "episodes") -> npt.NDArray[np.uint64]:
    """Return one seed for each of so many episodes; a longer row begins with the shorter one."""
    return named_seed(purpose, seed).generate_state(count, np.uint64).astype(np.uint64)
