"""A training run: lanes that play, a learner that learns, validation in between, the best of each seed kept."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from neuralns import __version__
from neuralns.errors import InputError
from neuralns.learning.dqn import EPISODES, STARTS, Config, Learner
from neuralns.learning.networks import Shape
from neuralns.mdp.lanes import Lanes, Tours
from neuralns.mdp.mdp import MDP, episode_seeds, named_seed
from neuralns.problem.initial import nearest_neighbours
from neuralns.problem.solution import Solution
from neuralns.routes.tables import SOME_NEIGHBOURS
from neuralns.selection.attention import NEAREST
from neuralns.selection.features import features_named
from neuralns.selection.policy import PolicySelector
from neuralns.selection.policy_file import Policy


@dataclass(frozen=True)
class Task:
    """What one agent learns: MDPs (instances) with the tours to start from and to validate on, and its seed.

    It is validated, too, on MDPs that it never learns on (``beyond``), with tours of theirs.
    """

    mdps: tuple[MDP, ...]
    starts: tuple[tuple[Solution, ...], ...]
    validation: tuple[tuple[Solution, ...], ...]
    seed: int
    beyond: tuple[tuple[MDP, tuple[Solution, ...]], ...] = ()


@dataclass(frozen=True)
class Standing:
    """Where a training run stands; arrays have one entry for each agent."""

    step: int
    steps: int
    done: int  # steps of this run, without those before a checkpoint
    seconds: float
    epsilon: float
    loss: npt.NDArray[np.float64]
    returns: npt.NDArray[np.float64]
    validation: npt.NDArray[np.float64]
    best: npt.NDArray[np.float64]


class _Players:
    """Lanes for all agents, and their observations as tensors [agent, lane, ...]."""

    def __init__(
        self, tasks: Sequence[Task], per_agent: Sequence[Sequence[MDP]], learner: _Parts, threads: int
    ) -> None:
        self.agents, self.count = len(tasks), len(per_agent[0])
        flat = [mdp for mdps in per_agent for mdp in mdps]
        sees_nodes = learner.config.network != "small"
        self.lanes = Lanes(
            flat, learner.config.features, nodes=learner.nodes, observes_nodes=sees_nodes, threads=threads
        )
        self._device = learner.device
        self.node_mask = self.lanes.node_mask.reshape(self.agents, self.count, -1)
        self.edges: npt.NDArray[np.int32] | None = None
        if learner.config.network == "gat" and learner.config.graph == "nearest":
            self.edges = np.tile(np.arange(learner.nodes, dtype=np.int32)[None, :, None], (len(flat), 1, 2 + NEAREST))
            for lane, mdp in enumerate(flat):
                # The first of many, as compiled policies read them: the last ones are arbitrary where distances tie.
                near = nearest_neighbours(mdp.instance, SOME_NEIGHBOURS)[:, :NEAREST]
                self.edges[lane, : len(near), 2 : 2 + near.shape[1]] = near

    def observe(self) -> tuple[Tensor, Tensor, Tensor | None]:
        lanes, shape = self.lanes, (self.agents, self.count)
        parts = [torch.from_numpy(lanes.global_features).view(*shape, -1)]
        if lanes.node_features.shape[1]:
            parts.insert(0, torch.from_numpy(lanes.node_features).view(*shape, -1))
        masks = torch.from_numpy(lanes.action_mask).view(*shape, -1).bool()
        edges = None
        if self.edges is not None:
            lanes.tour_edges(self.edges)
            edges = torch.from_numpy(self.edges).view(*shape, *self.edges.shape[1:]).to(self._device)
        return torch.cat(parts, dim=-1).to(self._device), masks.to(self._device), edges

    def step(self, actions: Tensor) -> None:
        self.lanes.step(actions.cpu().numpy().reshape(-1))


@dataclass(frozen=True)
class _Parts:
    config: Config
    nodes: int
    device: torch.device


class Training:
    """A run that trains one agent for each task, all stacked.

    Parameters
    ----------
    tasks
        What each agent learns; all need the same actions.
    config
        How.
    device
        Where the networks live; the lanes always run on the CPU.
    threads
        Threads that step the lanes.
    """

    def __init__(self, tasks: Sequence[Task], config: Config, device: str = "cpu", threads: int = 1) -> None:
        if not tasks:
            raise InputError("training needs at least one task.")
        budgets = {mdp.budget for task in tasks for mdp in task.mdps}
        if len(budgets) > 1:
            raise InputError("all MDPs of a training run need the same budget.")
        check_device(device)
        self.config, self.tasks = config, tuple(tasks)
        nodes = max(mdp.instance.customers for task in tasks for mdp in task.mdps) + 1
        met = [mdp for task in tasks for mdp in (*task.mdps, *(mdp for mdp, _ in task.beyond))]
        if config.network == "mlp" and any(mdp.instance.customers + 1 != nodes for mdp in met):
            raise InputError("an mlp needs instances of one size; take gat or small for different sizes.")
        if len({len(task.beyond) for task in tasks}) > 1:
            raise InputError("all tasks of a training run need as many MDPs to be validated on.")
        lanes = config.lanes
        if any(len(task.mdps) > lanes for task in tasks):
            config = self.config = replace(config, lanes=max(len(task.mdps) for task in tasks))
        parts = _Parts(config, nodes, torch.device(device))
        playing = [[replace(m, reward=config.reward) for m in _dealt(task.mdps, config.lanes)] for task in tasks]
        self._players = _Players(tasks, playing, parts, threads)

        # All starts of all MDPs in one table; a lane draws from the rows of its own MDP.
        solutions: list[Solution] = []
        first: list[tuple[int, int]] = []
        for task in tasks:
            ranges = []
            for starts in task.starts:
                ranges.append((len(solutions), len(starts)))
                solutions.extend(starts)
            first.extend(_dealt(ranges, config.lanes))
        self._tours = Tours(solutions)
        self._offsets = np.array([offset for offset, _ in first]).reshape(len(tasks), -1)
        self._counts = np.array([count for _, count in first]).reshape(len(tasks), -1)
        self.reward_scales = config.reward_scale / self._typical_gains()
        self._scales = torch.tensor(self.reward_scales, dtype=torch.float32, device=parts.device)[:, None]

        validating = [[m for m, starts in zip(t.mdps, t.validation, strict=True) for _ in starts] for t in tasks]
        shortest = min(map(len, validating))
        self._validators = _Players(tasks, [mdps[:shortest] for mdps in validating], parts, threads)
        chosen = [[start for starts in task.validation for start in starts][:shortest] for task in tasks]
        self._validation_tours = Tours([start for starts in chosen for start in starts])

        features = features_named(config.features)
        actions = len(self._players.lanes.portfolio.actions)
        self.portfolio = self._players.lanes.portfolio
        self.shape = Shape(nodes, len(features.nodes), len(features.globals), actions)
        edges = 0 if self._players.edges is None else self._players.edges.shape[2]
        seeds = [task.seed for task in tasks]
        self.learner = Learner(config, self.shape, seeds, self._players.node_mask, edges, device)
        self._validation_mask = torch.from_numpy(self._validators.node_mask).to(parts.device)
        self.step = 0
        self.ticks = 0
        self._beyond = [[Validation(mdp, tours, threads) for mdp, tours in task.beyond] for task in tasks]
        self.best_scores = np.full(len(tasks), -np.inf)
        self.best_rewards = np.full((len(tasks), 1 + len(tasks[0].beyond)), np.nan)
        self.best_parameters = {name: values.clone() for name, values in self.learner.online.state_dict().items()}
        self.last_validation = np.full(len(tasks), np.nan)
        self.last_returns = np.full(len(tasks), np.nan)

    def _typical_gains(self) -> npt.NDArray[np.float64]:
        """Return for each agent the mean size of what an episode of random actions gains."""
        lanes, rng = self._players.lanes, np.random.default_rng(named_seed("typical gains"))
        agents, count = self._offsets.shape
        # The same random numbers for each agent, so that none depends on how many there are.
        seeds = np.tile(rng.integers(0, 2**63, count).astype(np.uint64), agents)
        lanes.reset(self._tours, seeds, self._offsets.reshape(-1))
        while not lanes.done:
            noise = np.tile(rng.random((count, lanes.action_mask.shape[1])), (agents, 1))
            lanes.step(((1.0 + noise) * lanes.action_mask).argmax(axis=1))
        gains = np.abs(lanes.start_costs - lanes.costs).reshape(len(self.tasks), -1).mean(axis=1)
        return np.where(gains > 0, gains, 1.0)

    def policy(self, agent: int, **card: Any) -> Policy:
        """Return the best policy of an agent, with more entries for its card."""
        validated = bool(np.isfinite(self.best_scores[agent]))
        rewards = [float(reward) for reward in self.best_rewards[agent]] if validated else [None]
        entries: dict[str, Any] = {"validation_reward": rewards[0]}
        if self._beyond[agent]:
            sizes = [mdp.instance.customers for mdp, _ in self.tasks[agent].beyond]
            entries["validation_sizes"] = sizes
            entries["validation_rewards_by_size"] = rewards[1:]
        # Before the first validation the present parameters are the best that there are.
        parameters = self.best_parameters if validated else self.learner.online.state_dict()
        return self._policy_of(agent, parameters, {**entries, **card})

    def _policy_of(self, agent: int, parameters: Mapping[str, Tensor], card: Mapping[str, Any]) -> Policy:
        config, task = self.config, self.tasks[agent]
        features = features_named(config.features)
        sizes = sorted({mdp.instance.customers for mdp in task.mdps})
        entries: dict[str, Any] = {
            "network": config.network,
            "features": {"name": features.name, "version": features.version},
            "operators": {
                "destroy": [entry.name for entry in self.portfolio.destroys],
                "repair": [entry.name for entry in self.portfolio.repairs],
            },
            "nodes": self.shape.nodes,
            "graph": config.graph,
            "setting": task.mdps[0].setting,
            "instances": [mdp.instance.name for mdp in task.mdps],
            "sizes": sizes,
            "scale": [mdp.scale for mdp in task.mdps] if len(sizes) > 1 else task.mdps[0].scale,
            "budget": task.mdps[0].budget,
            "acceptance": task.mdps[0].acceptance_name,
            "seed": task.seed,
            "reward_scale": float(self.reward_scales[agent]),
            "training": config.as_dict(),
            "neuralns": __version__,
        }
        tensors = {name: values[agent].cpu().numpy() for name, values in parameters.items()}
        return Policy({**entries, **card}, tensors)

    @property
    def done(self) -> bool:
        return self.step >= self.config.steps

    def run(
        self,
        progress: Callable[[Standing], object] | None = None,
        stop: Callable[[], bool] = lambda: False,
        at_boundary: Callable[[], object] = lambda: None,
    ) -> None:
        """Train until all steps are done, or ``stop`` says so at the end of an episode.

        ``progress`` is told after every episode, and ``at_boundary`` called, when a checkpoint can be written.
        """
        begin, first = time.perf_counter(), self.step
        while not self.done:
            losses = self._episode()
            if progress is not None:
                progress(
                    Standing(
                        self.step,
                        self.config.steps,
                        self.step - first,
                        time.perf_counter() - begin,
                        self.learner.epsilon(self.step),
                        losses,
                        self.last_returns,
                        self.last_validation,
                        self.best_rewards[:, 0].copy(),
                    )
                )
            at_boundary()
            if stop():
                return

    def _episode(self) -> npt.NDArray[np.float64]:
        """Play one episode in every lane, with a gradient step after each action; return the mean losses."""
        learner, players, draws = self.learner, self._players, self.learner.draws
        count = self.config.lanes
        with np.errstate(over="ignore"):
            numbers = self._offsets + (draws.words(STARTS, self.ticks, count) % self._counts.astype(np.uint64)).astype(
                np.int64
            )
        words = draws.words(EPISODES, self.ticks, count)
        players.lanes.reset(self._tours, words.reshape(-1), numbers.reshape(-1))
        # The first episode only fills the memory.
        warm = self.ticks > 0
        total = torch.zeros(len(self.tasks), device=learner.device)
        learned = 0
        done = False
        while not done:
            rows, masks, edges = players.observe()
            actions = learner.act(rows, masks, learner.node_mask, edges)
            actions = learner.explore(actions, masks, self.ticks, learner.epsilon(self.step) if warm else 1.0)
            players.step(actions)
            done = players.lanes.done
            rewards = torch.from_numpy(players.lanes.rewards.astype(np.float32)).view(len(self.tasks), count)
            learner.replay.add(rows, masks, edges, actions, rewards.to(learner.device) * self._scales, done)
            self.ticks += 1
            if warm and not self.done:
                total += learner.learn(self.step)
                learned += 1
                self.step += 1
                if self.step % self.config.validate_every == 0 or self.done:
                    self._validate()
        gains = players.lanes.start_costs - players.lanes.costs
        self.last_returns = gains.reshape(len(self.tasks), count).mean(axis=1)
        return np.asarray((total / max(1, learned)).cpu().double().numpy())

    def _play_beyond(self, agent: int) -> list[tuple[float, float]]:
        """Return what the present policy of an agent gains on each MDP beyond the training, and the costs there."""
        policy = self._policy_of(agent, self.learner.online.state_dict(), {})
        return [each.play(policy) for each in self._beyond[agent]]

    def _validate(self) -> None:
        """Play the validation tours greedily; keep the parameters of the agents that did better than ever.

        With MDPs beyond those of the training, better is what saves a larger share of the cost of the start tours, in
        the mean over the training's own MDPs and each of the others.
        """
        players, learner = self._validators, self.learner
        count = players.count
        seeds = np.tile(episode_seeds(0, count, "validation"), len(self.tasks))
        players.lanes.reset(self._validation_tours, seeds)
        while not players.lanes.done:
            rows, masks, edges = players.observe()
            players.step(learner.act(rows, masks, self._validation_mask, edges))
        gains = players.lanes.start_costs - players.lanes.costs
        self.last_validation = gains.reshape(len(self.tasks), count).mean(axis=1)
        rewards, scores = self.last_validation[:, None], self.last_validation
        if self._beyond[0]:
            costs = players.lanes.start_costs.reshape(len(self.tasks), count).mean(axis=1)[:, None]
            others = np.array([self._play_beyond(agent) for agent in range(len(self.tasks))])
            rewards = np.hstack([rewards, others[:, :, 0]])
            scores = (rewards / np.hstack([costs, others[:, :, 1]])).mean(axis=1)
        better = np.flatnonzero(scores > self.best_scores)
        self.best_scores[better] = scores[better]
        self.best_rewards[better] = rewards[better]
        index = torch.from_numpy(better).to(learner.device)
        for name, values in learner.online.state_dict().items():
            self.best_parameters[name][index] = values[index]


class Validation:
    """Tours of an MDP that compiled policies play greedily, as they will be used."""

    def __init__(self, mdp: MDP, tours: Sequence[Solution], threads: int = 1) -> None:
        self._lanes = Lanes([mdp] * len(tours), observes_nodes=False, threads=threads)
        self._tours = Tours(tours)
        self._seeds = episode_seeds(0, len(tours), "validation")

    def play(self, policy: Policy) -> tuple[float, float]:
        """Return the mean reward of a policy, and the mean cost of the start tours."""
        self._lanes.reset(self._tours, self._seeds, observe=False)
        self._lanes.play(PolicySelector(policy, 0.0))
        costs = self._lanes.start_costs
        return float((costs - self._lanes.costs).mean()), float(costs.mean())


def check_device(name: str) -> None:
    """Refuse a device that torch does not see."""
    try:
        torch.zeros(1, device=name).item()
    except (RuntimeError, AssertionError):
        raise InputError(f"device {name!r} is not there; choose cpu, or cuda where torch sees a GPU.") from None


def _dealt(items: Sequence[Any], count: int) -> list[Any]:
    return [items[number % len(items)] for number in range(count)]
