"""Looking ahead: what a few pairs of operators, repeated to the end of the budget, would give.

Whether a pair leads to one tour in the pairs that are left is in the state, but networks regress it badly; simulating
it takes some microseconds. A *chain* is a pair repeated to the end, on a copy of the routes; a *first* is a pair tried
once before the chains. For the routes as they are, and then after each first, the network sees

====================  ======================================================================
``gain``, ``routes``  what the first gained / F0, and by how many routes there are fewer / √n
====================  ======================================================================

and of each chain from there

====================  ======================================================================
``end``               F at the end / F0
``one``               1 if there is one route at the end
``routes``            routes at the end / √n
``used``              the pairs until F last fell / the budget
====================  ======================================================================

A pair whose outcome depends on the routes alone is *exact*: its chain is simulated once, and ends where F no longer
changes. Other chains are simulated several times with the same random numbers at every decision, which are not those
of the search, and figures are means. Where an exact chain ends with one route, firsts are not tried and are 0.
In simulations all that a pair gives is kept, as in the paper's MDP.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from neuralns.compiled.caching import compiled
from neuralns.compiled.random import seed_generator
from neuralns.compiled.structs import Struct, whole, wholes
from neuralns.errors import InputError
from neuralns.operators.contract import FINE
from neuralns.operators.pair import keep_pair
from neuralns.operators.portfolio import Portfolio, tables_type
from neuralns.problem.instance import Instance
from neuralns.routes.layout import state_type
from neuralns.routes.transfer import copy_routes, new_state
from neuralns.selection.dense import pack_layers
from neuralns.selection.features import write_globals
from neuralns.selection.policy import (
    DEFAULT_TEMPERATURE,
    PolicySelector,
    features_of,
    forward,
    keeps,
    layers_of,
    pick,
)
from neuralns.selection.policy_file import Policy
from neuralns.selection.selector import DESTROY, MOST_REMOVED, REPAIR, Selector, compile_selector, memory_type

NETWORK = "ahead"
FIRST, CHAIN = 2, 4
"""Numbers of a first, and of each chain after it."""
_STREAM = np.uint64(20)
"""Seed of the simulations."""
_MOST = 64
"""Most chains, firsts and samples that a file may ask for."""
_MOST_PAIRS = 10**5
"""Most pairs that a decision may simulate."""

Pair = tuple[str, str]


@dataclass(frozen=True)
class Probes:
    """What is simulated before each decision.

    Attributes
    ----------
    chains, exact
        Pairs that are repeated to the end, and whether the outcome of each depends on the routes alone.
    firsts
        Pairs that are tried once before the chains.
    samples
        Simulations of a chain that is not exact.
    budget
        Pairs of a whole episode; of a search whose length differs, the share that is left is taken of it.
    """

    chains: tuple[Pair, ...] = ()
    exact: tuple[bool, ...] = ()
    firsts: tuple[Pair, ...] = ()
    samples: int = 2
    budget: int = 10

    @property
    def width(self) -> int:
        """How many numbers the simulations give."""
        return (1 + len(self.firsts)) * (FIRST + CHAIN * len(self.chains)) if self.chains else 0

    def as_dict(self) -> dict[str, Any]:
        """Return what the card of a policy says."""
        return {
            "chains": [list(pair) for pair in self.chains], "exact": list(self.exact),
            "firsts": [list(pair) for pair in self.firsts], "samples": self.samples, "budget": self.budget,
        }  # fmt: skip

    def fields_for(self, portfolio: Portfolio, name: str) -> dict[str, Any]:
        """Return the fields of memories and compiled functions: pairs are numbered through the destroy operators."""
        destroys = [entry.name for entry in portfolio.destroys]
        repairs = [entry.name for entry in portfolio.repairs]
        found = []
        for pairs in (self.chains, self.firsts):
            for destroy, repair in pairs:
                if destroy not in destroys or repair not in repairs:
                    raise InputError(
                        f"{name}: simulates the pair {destroy!r}, {repair!r}, which is not in portfolio "
                        f"{portfolio.name!r}."
                    )
            indices = [destroys.index(destroy) * len(repairs) + repairs.index(repair) for destroy, repair in pairs]
            found.append(np.array(indices, np.int64))
        exact = np.array(self.exact, np.int64)
        return {
            "chains": found[0], "exact": exact, "firsts": found[1], "samples": self.samples, "budget": self.budget,
        }  # fmt: skip


def probes_of(policy: Policy, name: str) -> Probes:
    """Return what the card of a policy asks to simulate."""
    given = policy.card.get("look_ahead")
    entry: Mapping[str, Any] = given if isinstance(given, Mapping) else {}
    chains, firsts, exact = entry.get("chains"), entry.get("firsts"), entry.get("exact")
    if (
        isinstance(chains, list)
        and isinstance(firsts, list)
        and isinstance(exact, list)
        and len(chains) == len(exact) <= _MOST >= len(firsts)
        and all(isinstance(pair, list) and len(pair) == 2 for pair in (*chains, *firsts))
        and all(isinstance(name, str) for pair in (*chains, *firsts) for name in pair)
        and all(isinstance(each, bool) for each in exact)
        and all(type(entry.get(key)) is int for key in ("samples", "budget"))
        and 1 <= entry["samples"] <= _MOST
        and entry["budget"] >= 1
        and (1 + len(firsts)) * (1 + len(chains)) * entry["samples"] * entry["budget"] <= _MOST_PAIRS
    ):
        pairs = [tuple((one, other) for one, other in each) for each in (chains, firsts)]
        return Probes(pairs[0], tuple(exact), pairs[1], entry["samples"], entry["budget"])
    raise InputError(f"{name}: its card does not say what to simulate (entry 'look_ahead').")


@compiled
def _follow(copy, tables, pair, left, quota, exact):
    """Repeat a pair; return after how many F last fell, or less a code of `contract`, where one was broken."""
    used = 0
    for number in range(left):
        before = copy.cost
        code = keep_pair(copy, tables, pair // tables.n_repairs, pair % tables.n_repairs, quota)
        if code != FINE:
            return -code
        if copy.cost < before:
            used = number + 1
        elif exact and copy.cost == before:
            break
    return used


@compiled
def write_ahead(state, copy, tables, chains, exact, firsts, samples, budget, left, quota, out, base):
    """Write what simulations from complete routes give; return a code of `contract`, and the pair that broke one."""
    width = FIRST + CHAIN * len(chains)
    start, root = max(state.status.start, 1e-300), np.sqrt(np.float64(state.customers))
    for offset in range(base, base + (1 + len(firsts)) * width):
        out[offset] = np.float32(0.0)
    seed_generator(copy, _STREAM)
    for first in range(-1, len(firsts)):
        offset = base + (first + 1) * width
        for index in range(len(chains)):
            count = np.int64(1) if exact[index] != 0 else samples
            for _ in range(count):
                copy_routes(state, copy)
                pairs = left
                if first >= 0 and pairs > 0:
                    pair = firsts[first]
                    code = keep_pair(copy, tables, pair // tables.n_repairs, pair % tables.n_repairs, quota)
                    if code != FINE:
                        return code, pair
                    pairs -= 1
                out[offset] = (state.cost - copy.cost) / start
                out[offset + 1] = (state.n_routes - copy.n_routes) / root
                used = _follow(copy, tables, chains[index], pairs, quota, exact[index] != 0)
                if used < 0:
                    return -used, chains[index]
                to = offset + FIRST + CHAIN * index
                out[to] += copy.cost / start / count
                out[to + 1] += (1.0 if copy.n_routes == 1 else 0.0) / count
                out[to + 2] += copy.n_routes / root / count
                out[to + 3] += used / (count * np.float64(budget))
        if first < 0:
            for index in range(len(chains)):
                if exact[index] != 0 and out[offset + FIRST + CHAIN * index + 1] > 0.0:
                    return FINE, np.int64(0)
    return FINE, np.int64(0)


@dataclass(frozen=True, eq=False)
class LookAhead(PolicySelector):
    """A learned policy that chooses pairs, at the destroy phase, by what it sees and what it simulates."""

    fields: ClassVar = {
        **PolicySelector.fields,
        "copy": state_type,  # where simulations run
        "tables": tables_type,
        "repairs": whole,
        "most": whole,  # customers that a simulation removes at a time
        "chains": wholes,
        "exact": wholes,
        "firsts": wholes,
        "samples": whole,
        "budget": whole,
    }
    shared: ClassVar[tuple[str, ...]] = (*PolicySelector.shared, "chains", "exact", "firsts")
    simulates: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self._check_choices()
        layers_of(self.policy, self.name, self.probes.width)

    @property
    def probes(self) -> Probes:
        """What it simulates."""
        return probes_of(self.policy, self.name)

    @property
    def remembers(self) -> bool:
        return True

    def start(self, portfolio: Portfolio, customers: int = 1, instance: Instance | None = None) -> Struct:
        """Return the memory for searches and episodes on an instance; without one it serves no more than a check."""
        policy, probes = self.policy, self.probes
        if instance is None:
            instance = Instance("none", [0, 1], 1, [[0.0, 0.0], [1.0, 0.0]])
        if instance.general:
            raise InputError(f"{self.name}: looks ahead with one depot and one type of vehicle only.")
        self._check_operators(portfolio)
        features, layers = features_of(policy, self.name), layers_of(policy, self.name, probes.width)
        pairs = [
            policy.destroys.index(destroy.name) * len(policy.repairs) + policy.repairs.index(repair.name)
            for destroy in portfolio.destroys
            for repair in portfolio.repairs
        ]
        numbers, sizes, row, scratch = pack_layers(layers)
        most = min(instance.customers, max(MOST_REMOVED, self.made_with() or 0))
        return self.new_memory(
            temperature=self.temperature, every=self.every, turn=0, last=np.zeros(2, np.int64),
            counts=np.array([len(pairs), 0]), outputs=np.array(pairs), features=features.index, nodes=0,
            node_width=len(features.nodes), globals=len(features.globals), layers=len(layers), sizes=sizes,
            width=0, heads=0, nearest=0, numbers=numbers, row=row, scratch=scratch,
            seen=np.zeros(1, np.int64), copy=new_state(instance, 0, history=True, quota=most),
            tables=portfolio.tables, repairs=len(portfolio.repairs), most=most,
            **probes.fields_for(portfolio, self.name),
        )  # fmt: skip

    def values(self, memory: Struct, customers: int) -> npt.NDArray[np.float64]:
        """Return the Q-values of the last decision: a destroy operator's is its best pair's, a repair operator's that
        of its pair with the destroy operator chosen.
        """
        pairs = super().values(memory, customers).reshape(-1, memory.repairs)
        return np.concatenate([pairs.max(axis=1), pairs[int(memory.last[DESTROY])]])

    def functions(self) -> tuple[Any, Any]:
        return compile_selector(self.name, _choose_ahead, Selector.update, memory_type(LookAhead))


def policy_selector(
    policy: Policy, temperature: float = DEFAULT_TEMPERATURE, name: str = "policy", every: int = 1
) -> PolicySelector:
    """Return the selector of a policy that a network makes up, one that looks ahead if it was trained so."""
    selector_class = LookAhead if policy.network == NETWORK else PolicySelector
    return selector_class(policy, temperature, name, every)


def _choose_ahead(memory, state, phase):
    if phase == REPAIR or keeps(memory, phase):
        return memory.last[phase]
    # A memory is of one instance; the contract refuses what is no operator.
    if memory.copy.x.ctypes.data != state.x.ctypes.data:
        return -1
    numbers, row = memory.numbers, memory.row
    write_globals(state, memory.features, phase, numbers, row)
    if len(memory.chains) > 0:
        left = max(np.int64(1), np.int64(np.rint(state.status.left * memory.budget)))
        code, _ = write_ahead(
            state, memory.copy, memory.tables, memory.chains, memory.exact, memory.firsts, memory.samples,
            memory.budget, left, min(state.status.quota, memory.most), numbers, row + memory.globals,
        )  # fmt: skip
        if code != FINE:
            return -1
    pair = pick(memory, forward(memory), state, DESTROY)
    memory.last[DESTROY] = pair // memory.repairs
    memory.last[REPAIR] = pair % memory.repairs
    return memory.last[DESTROY]
