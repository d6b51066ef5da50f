"""Evaluating agents: the same start tours for all, several seeds, means with intervals."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from neuralns.errors import InputError
from neuralns.mdp.baselines import ROLLOUTS, best_fixed_pair, play_oracle, train_roulette
from neuralns.mdp.lanes import Lanes, Tours
from neuralns.mdp.mdp import MDP, SET_SIZE, episode_seeds
from neuralns.problem.solution import Solution
from neuralns.selection.fixed import Fixed
from neuralns.selection.names import selector_named
from neuralns.selection.selector import Selector, new_memory_of
from neuralns.selection.uniform import Uniform


class Agent(Protocol):
    """Plays the episodes of lanes to their end."""

    @property
    def name(self) -> str:
        """What output calls it."""

    def play(self, lanes: Lanes, seed: int) -> npt.NDArray[np.int64]:
        """Play all episodes; return how often each lane used each operator. Agents that learn do so from the seed."""


@dataclass(frozen=True)
class SelectorAgent:
    """A selector as an agent, or another one for each seed."""

    selector: Selector | Mapping[int, Selector] | Callable[[int], Selector]
    name: str

    def selector_for(self, seed: int) -> Selector:
        """Return the selector of a seed."""
        if isinstance(self.selector, Selector):
            return self.selector
        return self.selector[seed] if isinstance(self.selector, Mapping) else self.selector(seed)

    def play(self, lanes: Lanes, seed: int) -> npt.NDArray[np.int64]:
        return lanes.play(self.selector_for(seed))


@dataclass(frozen=True)
class OracleAgent:
    """The rollout oracle."""

    pair: Fixed
    name: str = "oracle"
    rollouts: int = ROLLOUTS

    def play(self, lanes: Lanes, seed: int) -> npt.NDArray[np.int64]:
        return play_oracle(lanes, self.pair, self.rollouts)


def agent_named(name: str, mdp: MDP, temperature: float | None = 0.0) -> SelectorAgent | OracleAgent:
    """Return an agent: the oracle, or a selector by one of the names of `neuralns.selection.names`.

    ``best-fixed`` is found on the training tours of the MDP, ``lrw`` trained on them anew for each seed. Policies have
    a temperature, greedy if it is 0 (None: as searches have it).
    """
    if name == "oracle":
        return OracleAgent(best_fixed_pair(mdp))

    def selector_for(seed: int) -> Selector:
        return selector_named(
            name.replace("{seed}", str(seed)),
            temperature,
            best_fixed=lambda: best_fixed_pair(mdp),
            learned_wheel=lambda: train_roulette(mdp, seed),
        )

    if name == "lrw" or "{seed}" in name:
        return SelectorAgent(selector_for, name)
    selector = selector_for(0)
    new_memory_of(selector, mdp.portfolio, mdp.instance.customers, mdp.instance)
    if name == "best-fixed" and isinstance(selector, Fixed):
        name = f"best-fixed ({selector.destroy}, {selector.repair})"
    return SelectorAgent(selector, name)


@dataclass(frozen=True)
class Evaluation:
    """How an agent did.

    Attributes
    ----------
    rewards, finals
        F(S_0) − F(S_T) and F(S_T) of each seed and episode.
    uses
        How often each operator was used, in all.
    seconds
        Time to play, with the training of agents that learn.
    """

    agent: str
    mdp: MDP
    rewards: npt.NDArray[np.float64]
    finals: npt.NDArray[np.float64]
    uses: npt.NDArray[np.int64]
    seconds: float

    @property
    def reward_mean(self) -> float:
        return float(self.rewards.mean())

    @property
    def reward_ci(self) -> float:
        """Half of the 95 % confidence interval of the mean reward over seeds (Student's t); nan with one seed."""
        return confidence(self.rewards.mean(axis=1))

    @property
    def final_mean(self) -> float:
        return float(self.finals.mean())

    @property
    def final_min(self) -> float:
        """The best final F of all."""
        return float(self.finals.min())

    @property
    def start_mean(self) -> float:
        return float((self.rewards + self.finals).mean())

    @property
    def decisions_a_second(self) -> float:
        return float(self.uses.sum() / self.seconds)

    @property
    def shares(self) -> dict[str, float]:
        """Share of each operator among those of its phase."""
        destroys = len(self.mdp.portfolio.destroys)
        parts = (self.uses[:destroys], self.uses[destroys:])
        shares = np.concatenate([part / max(1, part.sum()) for part in parts])
        return dict(zip(self.mdp.portfolio.actions, map(float, shares), strict=True))

    def as_dict(self) -> dict[str, Any]:
        """Return all figures as plain values."""
        seeds = len(self.rewards)
        return {
            "agent": self.agent,
            **self.mdp.as_dict(),
            "budget": self.mdp.budget,
            "episodes": self.rewards.shape[1],
            "seeds": seeds,
            "reward_mean": self.reward_mean,
            "reward_ci": None if seeds == 1 else self.reward_ci,
            "start_mean": self.start_mean,
            "final_mean": self.final_mean,
            "final_min": self.final_min,
            "operators": self.shares,
            "decisions_a_second": self.decisions_a_second,
        }


def evaluate(
    mdp: MDP,
    agent: Agent | Selector | str,
    *,
    tours: str | Sequence[Solution] = "test",
    episodes: int = SET_SIZE,
    seeds: int | Sequence[int] = 10,
    progress: Callable[[int, int], object] | None = None,
) -> Evaluation:
    """Let an agent play the episodes of a set of start tours, once for each seed.

    Parameters
    ----------
    tours
        ``train``, ``validate`` or ``test``, or solutions of your own.
    episodes, seeds
        Start tours of a set, and how often each is played with other random numbers (and other training), or the
        seeds of these.
    progress
        Called with the seeds done and to do.

    Examples
    --------
    >>> from neuralns.mdp.mdp import make_mdp
    >>> mdp = make_mdp("R101", customers=20, portfolio="random-node,greedy-route,greedy")
    >>> worse = evaluate(mdp, "fixed:random-node,greedy", episodes=16, seeds=2)
    >>> better = evaluate(mdp, "fixed:greedy-route,greedy", episodes=16, seeds=2)
    >>> better.reward_mean > worse.reward_mean
    True
    """
    numbers = range(seeds) if isinstance(seeds, int) else seeds
    if not numbers:
        raise InputError(f"{seeds} seeds asked for; at least 1 is needed.")
    starts = mdp.start_tours(tours, episodes) if isinstance(tours, str) else list(tours)
    episodes = len(starts)
    if isinstance(agent, Selector):
        agent = SelectorAgent(agent, agent.name)
    player: Agent = agent_named(agent, mdp) if isinstance(agent, str) else agent
    lanes = Lanes([mdp] * episodes, observes_nodes=False)
    laid = Tours(starts)
    lanes.reset(laid, episode_seeds(0, episodes), observe=False)
    lanes.play(Uniform())  # compiles what is to be timed
    rewards, finals, uses = [], [], np.zeros(len(mdp.portfolio.actions), np.int64)
    begin = time.perf_counter()
    for done, seed in enumerate(numbers, 1):
        lanes.reset(laid, episode_seeds(seed, episodes), observe=False)
        uses += player.play(lanes, seed).sum(axis=0)
        rewards.append(lanes.start_costs - lanes.costs)
        finals.append(lanes.costs.copy())
        if progress is not None:
            progress(done, len(numbers))
    seconds = time.perf_counter() - begin
    return Evaluation(player.name, mdp, np.array(rewards), np.array(finals), uses, seconds)


def episode(mdp: MDP, agent: str, *, start: int = 0, seed: int = 0) -> list[tuple[Solution, str]]:
    """Play one episode from a test tour; return every state's tours with the name of the operator that led to it."""
    if not 0 <= start < SET_SIZE:
        raise InputError(f"start {start} is not in the set; it has tours 0 to {SET_SIZE - 1}.")
    player = agent_named(agent, mdp)
    if isinstance(player, OracleAgent):
        raise InputError(f"agent {agent!r} decides on pairs and cannot be shown step by step; choose another one.")
    selector = player.selector_for(seed)
    if selector.adapts:
        raise InputError(f"selector {selector.name!r} learns from a search and plays no episodes.")
    lanes = Lanes([mdp], observes_nodes=False)
    lanes.reset(mdp.start_tours("test")[start : start + 1], episode_seeds(seed, 1), observe=False)
    choose, _ = selector.functions()
    memory = new_memory_of(selector, mdp.portfolio, mdp.instance.customers, mdp.instance)
    frames = [(lanes.solution(0), "start")]
    while not lanes.done:
        phase = int(lanes.phases[0])
        action = int(choose(memory, lanes.state(0), phase)) + phase * len(mdp.portfolio.destroys)
        lanes.step(np.array([action]), observe=False)
        frames.append((lanes.solution(0), mdp.portfolio.actions[action]))
    return frames


def confidence(values: npt.NDArray[np.float64]) -> float:
    """Return half of the 95 % confidence interval of a mean (Student's t).

    >>> round(confidence(np.array([1.0, 2.0, 3.0])), 3)
    2.484
    """
    from scipy.stats import t

    count = len(values)
    if count < 2:
        return float("nan")
    return float(t.ppf(0.975, count - 1) * values.std(ddof=1) / np.sqrt(count))
