"""How much choosing could win for a user's problem, before anything is trained."""

from __future__ import annotations

import copy
import time
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from neuralns.bridges.alns.runs import MakeAccept, MakeAlns, Search, coupling_of, hands, hill_climbing
from neuralns.bridges.alns.selector import CLOCKS, LearnedSelector
from neuralns.errors import InputError

SCORES = [3, 2, 1, 0.5]
"""What alns's examples give the wheel for a new best, a better, an accepted and a rejected candidate."""


@dataclass(frozen=True)
class FixedPair:
    """Choose the same pair in every iteration."""

    pair: tuple[int, int]

    def __call__(self, rng: np.random.Generator, best: Any, curr: Any) -> tuple[int, int]:
        return self.pair

    def update(self, candidate: Any, d_idx: int, r_idx: int, outcome: int) -> None:
        """Learn nothing."""


class Oracle:
    """Try every pair on the current solution before each choice, with other random numbers; take the best on average.

    The best is what gains most in a second (in an iteration, with the clock ``iterations``). The time of its trials
    does not count as time of the run (``uncounted``). It sees one step ahead, and by a few trials only: no upper bound.
    """

    def __init__(self, alns: Any, clock: str, trials: int, pairs: npt.NDArray[np.int64]) -> None:
        self.alns, self.clock, self.trials, self.pairs = alns, clock, trials, pairs
        self.uncounted = 0.0

    def __call__(self, rng: np.random.Generator, best: Any, curr: Any) -> tuple[int, int]:
        read = CLOCKS.get(self.clock, time.perf_counter)
        begin = read()
        cost = curr.objective()
        # Another generator whenever that of the search has moved on, which stays as it is.
        child = np.random.default_rng(int(copy.deepcopy(rng).integers(2**63)))
        most, chosen = -1.0, (0, 0)
        for destroy, repair in child.permutation(self.pairs).tolist():
            operators = self.alns.destroy_operators[destroy][1], self.alns.repair_operators[repair][1]
            gain, started = 0.0, read()
            for _ in range(self.trials):
                gain += max(0.0, cost - operators[1](operators[0](curr, child), child).objective())
            spent = 1.0 if self.clock == "iterations" else max(read() - started, 1e-9)
            if gain / spent > most:
                most, chosen = gain / spent, (destroy, repair)
        self.uncounted += read() - begin
        return chosen

    def update(self, candidate: Any, d_idx: int, r_idx: int, outcome: int) -> None:
        """Learn nothing."""


@dataclass(frozen=True)
class Headroom:
    """Final costs of ways to choose on the same states with the same seeds.

    Attributes
    ----------
    costs
        By name: of each run.
    best_pair
        The fixed pair that did best in runs of its own, with other seeds.
    """

    costs: dict[str, tuple[float, ...]]
    best_pair: tuple[str, str]

    def gain(self, name: str) -> float:
        """Return by how many per cent a way to choose is cheaper than random selection, on average."""
        base = np.array(self.costs["random"])
        return float(100 * np.mean((base - np.array(self.costs[name])) / np.where(base == 0, 1.0, np.abs(base))))

    def __str__(self) -> str:
        names = {
            name: f"{name} ({', '.join(self.best_pair)})" if name == "best fixed pair" else name for name in self.costs
        }
        width = max(map(len, names.values()))
        lines = [f"{'':{width}}  {'mean cost':>12}  cheaper than random"]
        lines += [
            f"{names[name]:{width}}  {np.mean(costs):12.6g}  {self.gain(name):+.2f} %"
            for name, costs in self.costs.items()
        ]
        return "\n".join(lines)


def headroom(
    make_alns: MakeAlns,
    initial_states: Sequence[Any],
    *,
    seconds: float | None = None,
    iterations: int | None = None,
    seeds: int = 5,
    make_accept: MakeAccept = hill_climbing,
    op_coupling: npt.ArrayLike | None = None,
    clock: str = "time",
    trials: int = 3,
    workers: int | None = None,
    executor: Executor | None = None,
    show: bool = True,
) -> Headroom:
    """Compare random selection, the best fixed pair, alns's wheel, the online selector and a one-step oracle.

    Where the oracle is hardly better than random selection, no way to choose will be by much, and the operators are
    what to work on. Where the best fixed pair is better than all, drop the others.

    Parameters
    ----------
    make_alns, initial_states, seconds, iterations, make_accept, op_coupling, clock, workers, executor
        As those of `neuralns.bridges.alns.train`.
    seeds
        Runs from each state.
    trials
        How often the oracle tries each pair before each choice; one such run takes about pairs × trials times as long.
    show
        Print the table.
    """
    if not initial_states:
        raise InputError("at least 1 initial state is needed.")
    if seeds < 1 or trials < 1:
        raise InputError(f"{min(seeds, trials)} seeds or trials asked for; at least 1 is needed.")
    search = Search(make_alns, make_accept, seconds, iterations, clock)
    names = search.operators()
    coupling = coupling_of(op_coupling, (len(names[0]), len(names[1])))
    pairs = [(int(destroy), int(repair)) for destroy, repair in np.argwhere(coupling)]
    blocks = [(state, seed) for state in initial_states for seed in range(seeds)]
    # The best pair is chosen by runs of its own; by those that it is judged by, it would be the luckiest.
    apart = [(state, seed + 10**6) for state, seed in blocks[:: max(1, seeds // 2)]]
    with hands(workers, executor) as call:
        tasks = [(search, state, pair, seed, coupling, trials) for pair in pairs for state, seed in apart]
        found = np.array(call(run_named, tasks)).reshape(len(pairs), len(apart))
        # Each start counts the same, whatever its costs are.
        scale = np.abs(found).mean(axis=0)
        best = pairs[int(np.argmin((found / np.where(scale == 0, 1.0, scale)).mean(axis=1)))]
        ways: dict[str, Any] = {
            "random": "random", "best fixed pair": best, "wheel": "wheel", "online": "online", "oracle": "oracle",
        }  # fmt: skip
        tasks = [(search, state, way, seed, coupling, trials) for way in ways.values() for state, seed in blocks]
        costs = np.array(call(run_named, tasks)).reshape(len(ways), len(blocks))
    result = Headroom(
        {name: tuple(map(float, row)) for name, row in zip(ways, costs, strict=True)},
        (names[0][best[0]], names[1][best[1]]),
    )
    if show:
        print(result)
    return result


def run_named(
    search: Search, state: Any, way: str | tuple[int, int], seed: int, coupling: npt.NDArray[np.bool_], trials: int
) -> float:
    """Return the final cost of one run with a way to choose by its name, or with a fixed pair."""
    from alns.select import RandomSelect, RouletteWheel

    selector: Any
    destroys, repairs = coupling.shape
    if not isinstance(way, str):
        selector = FixedPair(way)
    elif way == "random":
        selector = RandomSelect(destroys, repairs, coupling)
    elif way == "wheel":
        selector = RouletteWheel(SCORES, 0.8, destroys, repairs, coupling)
    elif way == "online":
        selector = LearnedSelector(destroys, repairs, coupling, **search.budget)
    else:
        alns = search.make_alns(np.random.default_rng(seed))
        selector = Oracle(alns, search.clock, trials, np.argwhere(coupling))
    return search.run(state, selector, seed)[0]
