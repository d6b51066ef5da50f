"""The operator-selection MDP with operators written for alns: what choosing could win in episodes of a few pairs.

An episode starts from a state of the user's. In each of its steps a destroy operator and a repair operator are applied,
and what they give is kept, or what an acceptance criterion of the user's keeps. The reward is F(S_0) − F(S_T), as in
`neuralns.mdp`; evaluations are of the same kind as there, and so are agents.
"""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from neuralns.bridges.alns.runs import MakeAccept, MakeAlns, cheapest_pair, coupling_of, generator_beside, operators_of
from neuralns.bridges.alns.wheel import LRW, FixedPair, learn_wheel
from neuralns.errors import InputError

if TYPE_CHECKING:
    from neuralns.mdp.evaluate import Evaluation
    from neuralns.mdp.mdp import MDP

AGENTS = ("random", "best-fixed", "lrw", "oracle")
_BEST, _BETTER, _ACCEPT, _REJECT = range(4)


def always(initial: Any) -> Any:
    """Return the acceptance criterion that takes every candidate, as the paper's MDP does."""
    from alns.accept import AlwaysAccept

    return AlwaysAccept()


@dataclass(frozen=True)
class Names:
    """Names of the operators."""

    destroys: tuple[str, ...]
    repairs: tuple[str, ...]

    @property
    def actions(self) -> tuple[str, ...]:
        return self.destroys + self.repairs


class Episodes:
    """The MDP of a user's ALNS.

    Parameters
    ----------
    make_alns
        As that of `neuralns.bridges.alns.train`.
    states
        Where episodes start.
    budget
        Pairs of operators in an episode.
    training
        Where those episodes start by which the best fixed pair is found and the learned wheel is trained; the same
        states by default, with other random numbers.
    make_accept
        Returns a fresh acceptance criterion for an episode from a state; every candidate is accepted by default.
    op_coupling
        Which pairs may be used, as alns has it.

    Examples
    --------
    ``Episodes(make_alns, states).table()`` prints what random selection, the best fixed pair, the learned wheel and the
    oracle gain.
    """

    def __init__(
        self,
        make_alns: MakeAlns,
        states: Sequence[Any],
        *,
        budget: int = 10,
        training: Sequence[Any] | None = None,
        make_accept: MakeAccept = always,
        op_coupling: npt.ArrayLike | None = None,
    ) -> None:
        self.states = list(states)
        self.training = self.states if training is None else list(training)
        if not self.states or not self.training:
            raise InputError("at least 1 initial state is needed.")
        if budget < 1:
            raise InputError(f"budget {budget} must be at least 1.")
        self.make_alns, self.make_accept, self.budget = make_alns, make_accept, budget
        destroys, repairs = operators_of(make_alns)
        self.portfolio = Names(tuple(destroys), tuple(repairs))
        self.shape = len(destroys), len(repairs)
        self.coupling = coupling_of(op_coupling, self.shape)
        self.pairs = [(int(destroy), int(repair)) for destroy, repair in np.argwhere(self.coupling)]

    def as_dict(self) -> dict[str, Any]:
        """Return what tells evaluations apart, as plain values."""
        return {"destroys": list(self.portfolio.destroys), "repairs": list(self.portfolio.repairs)}

    def play(self, state: Any, selector: Any, rng: np.random.Generator) -> tuple[float, npt.NDArray[np.int64]]:
        """Play one episode; return the last cost, and how often each operator was used."""
        uses = np.zeros(len(self.portfolio.actions), np.int64)
        episode = _Episode(self, state, rng)
        if isinstance(selector, Rollouts):
            selector.episode = episode
        while episode.left:
            destroy, repair = selector(rng, episode.best, episode.current)
            candidate, outcome = episode.step(destroy, repair)
            selector.update(candidate, destroy, repair, outcome)
            uses[destroy] += 1
            uses[len(self.portfolio.destroys) + repair] += 1
        return float(episode.current.objective()), uses

    def best_fixed_pair(self, repeats: int = 4) -> tuple[int, int]:
        """Return the pair that ends at the least cost on average when it is used in every step."""
        found = np.array([
            [
                self.play(state, FixedPair(*self.shape, pair), np.random.default_rng([17, number, turn]))[0]
                for number, state in enumerate(self.training)
                for turn in range(repeats)
            ]
            for pair in self.pairs
        ])  # fmt: skip
        return cheapest_pair(self.pairs, found)

    def agent_named(self, name: str, seed: int = 0, rollouts: int = 8) -> tuple[str, Any]:
        """Return a name for output and a selector: random, best-fixed, fixed:DESTROY,REPAIR, lrw or oracle."""
        if name == "random":
            return name, LRW(np.ones(self.shape[0]), np.ones(self.shape[1]), self.coupling)
        if name == "lrw":
            # It learns from the rewards that it is judged by.
            return name, learn_wheel(
                lambda state, wheel, number: self.play(state, wheel, np.random.default_rng(number))[0],
                self.training, self.coupling, seed=seed,
            )  # fmt: skip
        if name in ("best-fixed", "oracle"):
            pair = self.best_fixed_pair()
            if name == "oracle":
                return name, Rollouts(self, pair, rollouts)
            return f"{name} ({', '.join(self.called(pair))})", FixedPair(*self.shape, pair)
        if name.startswith("fixed:"):
            for pair in self.pairs:
                if name == f"fixed:{','.join(self.called(pair))}":
                    return name, FixedPair(*self.shape, pair)
        raise InputError(f"agent {name!r} is not known; choose {', '.join(AGENTS)} or fixed:DESTROY,REPAIR.")

    def called(self, pair: tuple[int, int]) -> tuple[str, str]:
        """Return the names of a pair's operators."""
        return self.portfolio.destroys[pair[0]], self.portfolio.repairs[pair[1]]

    def evaluate(self, agent: str | Callable[[], Any] = "random", *, seeds: int = 10, rollouts: int = 8) -> Evaluation:
        """Let an agent play an episode from each state, once for each seed.

        Parameters
        ----------
        agent
            A name (see `agent_named`), or a function that returns a selector of alns's kind for one episode.
        rollouts
            Simulations that the oracle makes at each step, for each pair on average.
        """
        from neuralns.mdp.evaluate import Evaluation

        if seeds < 1 or rollouts < 1:
            raise InputError(f"{min(seeds, rollouts)} seeds or rollouts asked for; at least 1 is needed.")
        name, selector = getattr(agent, "__name__", "own"), None
        if isinstance(agent, str):
            name, selector = self.agent_named(agent, rollouts=rollouts)
        starts = np.array([float(state.objective()) for state in self.states])
        finals = np.empty((seeds, len(self.states)))
        uses = np.zeros(len(self.portfolio.actions), np.int64)
        begin = time.perf_counter()
        for seed in range(seeds):
            if agent == "lrw" and seed:
                selector = self.agent_named("lrw", seed)[1]
            for number, state in enumerate(self.states):
                chosen = agent() if callable(agent) else selector
                finals[seed, number], used = self.play(state, chosen, np.random.default_rng([18, seed, number]))
                uses += used
        spent = time.perf_counter() - begin
        # It has all that an evaluation asks of an MDP: operators, budget and what tells it apart.
        return Evaluation(name, cast("MDP", self), starts - finals, finals, uses, spent)

    def table(self, agents: Sequence[str] = AGENTS, *, seeds: int = 10, rollouts: int = 8) -> list[Evaluation]:
        """Evaluate agents and print a line for each: the mean reward with its 95 % interval, mean and least F."""
        found = [self.evaluate(agent, seeds=seeds, rollouts=rollouts) for agent in agents]
        width = max(len(each.agent) for each in found)
        print(
            f"{len(self.states)} states, b = {self.budget}, {seeds} seeds; mean F at the start {found[0].start_mean:g}"
        )
        print(f"{'':{width}}  {'mean reward':>20}  {'mean F at the end':>18}  {'best F':>12}")
        for each in found:
            ci = "" if math.isnan(each.reward_ci) else f" ± {each.reward_ci:.4g}"
            reward = f"{each.reward_mean:.6g}{ci}"
            print(f"{each.agent:{width}}  {reward:>20}  {each.final_mean:>18.6g}  {each.final_min:>12.6g}")
        return found


class _Episode:
    """An episode under way: the current and the best state, and the steps that are left."""

    def __init__(self, mdp: Episodes, state: Any, rng: np.random.Generator) -> None:
        alns = mdp.make_alns(rng)
        self.destroys = [operator for _, operator in alns.destroy_operators]
        self.repairs = [operator for _, operator in alns.repair_operators]
        self.accept = mdp.make_accept(state)
        self.best = self.current = state
        self.left = mdp.budget
        self.rng = rng

    def fork(self, rng: np.random.Generator) -> _Episode:
        """Return a copy that goes on with random numbers of its own; states are never changed, so they are shared."""
        other = copy.copy(self)
        other.accept, other.rng = copy.deepcopy(self.accept), rng
        return other

    def step(self, destroy: int, repair: int) -> tuple[Any, int]:
        """Apply a pair; return the candidate and alns's outcome."""
        candidate = self.repairs[repair](self.destroys[destroy](self.current, self.rng), self.rng)
        outcome = _REJECT
        if self.accept(self.rng, self.best, self.current, candidate):
            outcome = _BETTER if candidate.objective() < self.current.objective() else _ACCEPT
            self.current = candidate
        if candidate.objective() < self.best.objective():
            outcome = _BEST
            self.best = self.current = candidate
        self.left -= 1
        return candidate, outcome


class Rollouts:
    """The oracle: before each step pairs are simulated to the end of the episode, which a fixed pair plays.

    Simulations are shared out by sequential halving, as in `neuralns.mdp.baselines.play_oracle`; the pair with the
    least mean cost at the end is taken where it stands out. No upper bound: simulations are noisy, and plan one step.
    """

    def __init__(self, mdp: Episodes, then: tuple[int, int], rollouts: int) -> None:
        self.mdp, self.then, self.rollouts = mdp, then, rollouts
        self.episode: _Episode | None = None

    def __call__(self, rng: np.random.Generator, best: Any, curr: Any) -> tuple[int, int]:
        if self.episode is None:
            raise InputError("the oracle plays episodes alone, no searches.")
        child = generator_beside(rng)
        pairs = self.mdp.pairs
        rounds = max(1, math.ceil(math.log2(len(pairs))))
        costs: dict[tuple[int, int], list[float]] = {pair: [] for pair in pairs}
        alive = list(pairs)
        while True:
            for pair in alive:
                for _ in range(max(1, self.rollouts * len(pairs) // (rounds * len(alive)))):
                    costs[pair].append(self._simulated(pair, child))
            alive.sort(key=lambda pair: float(np.mean(costs[pair])))
            if len(alive) <= 2:
                break
            alive = alive[: math.ceil(len(alive) / 2)]

        # The best of many noisy means looks better than it is: to leave the fixed pair it has to stand out.
        noise = math.sqrt(sum(np.var(costs[pair]) / len(costs[pair]) for pair in (alive[0], self.then)))
        return alive[0] if np.mean(costs[self.then]) - np.mean(costs[alive[0]]) > noise else self.then

    def _simulated(self, pair: tuple[int, int], rng: np.random.Generator) -> float:
        assert self.episode is not None
        fork = self.episode.fork(rng)
        fork.step(*pair)
        while fork.left:
            fork.step(*self.then)
        return float(fork.current.objective())

    def update(self, candidate: Any, d_idx: int, r_idx: int, outcome: int) -> None:
        """Learn nothing."""
