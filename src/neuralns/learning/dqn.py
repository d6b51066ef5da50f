"""Deep Q-learning of operator selection (the paper's section 3.3), for several seeds at once.

Read from top to bottom: what can be set, the replay memory, the learner, one step of training.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from neuralns.errors import InputError
from neuralns.learning.networks import GAT, MLP, Shape, make_network

torch.set_num_threads(1)

MOST_HIDDEN = 8
HIDDEN = {"mlp": (256, 128, 64, 32), "small": (32, 16), "gat": ()}


@dataclass(frozen=True)
class Config:
    """How to train.

    Attributes
    ----------
    network, features
        ``mlp``, ``gat`` or ``small``; feature set ``paper``, ``rich``, ``windows`` or ``relative``.
    hidden
        Widths of the hidden layers of ``mlp`` and ``small``, and of those that follow the attention of ``gat``.
    width, layers, heads, graph
        Of ``gat``; its graph is ``complete`` or ``nearest``.
    steps
        Gradient steps. Each follows one action in every lane.
    lanes
        Episodes played side by side, for each seed.
    batch, learning_rate, loss
        Of a gradient step by Adam; ``squared`` or ``huber``. With ``anneal`` the rate falls linearly to 0.
    replay
        Transitions remembered; 0 stands for 20 % of the steps.
    reward
        ``final`` or ``improvement``; scaled so that random actions gain ``reward_scale`` in an episode on average.
    epsilon, epsilon_share
        Exploration at last, and the share of steps over which it falls linearly from 1.
    target_every
        Gradient steps between two copies into the target network.
    double, n_step
        Double-DQN, and the number of rewards before the bootstrap.
    validate_every
        Gradient steps between two greedy runs over the validation tours.
    tours
        Start tours in training.
    """

    network: str = "mlp"
    features: str = "paper"
    hidden: tuple[int, ...] = ()
    width: int = 32
    layers: int = 3
    heads: int = 1
    graph: str = "complete"
    steps: int = 15_000
    lanes: int = 16
    batch: int = 16
    learning_rate: float = 0.0005
    anneal: bool = False
    loss: str = "squared"
    replay: int = 0
    reward: str = "final"
    reward_scale: float = 2.5
    epsilon: float = 0.1
    epsilon_share: float = 0.1
    target_every: int = 50
    double: bool = False
    n_step: int = 1
    validate_every: int = 500
    tours: int = 128
    options: dict[str, Any] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name, known in (
            ("network", ("mlp", "gat", "small")),
            ("graph", ("complete", "nearest")),
            ("loss", ("squared", "huber")),
        ):
            if getattr(self, name) not in known:
                raise InputError(f"{name} {getattr(self, name)!r} is not known; choose {', '.join(known)}.")
        counts = ("steps", "lanes", "batch", "target_every", "n_step", "validate_every", "tours")
        for name in (*counts, "width", "layers", "heads"):
            if getattr(self, name) < 1:
                raise InputError(f"{name.replace('_', ' ')} {getattr(self, name)} must be at least 1.")
        hidden = self.hidden or HIDDEN[self.network]
        object.__setattr__(self, "hidden", tuple(hidden))
        if len(hidden) > MOST_HIDDEN:
            raise InputError(f"{len(hidden)} hidden layers are too many; {MOST_HIDDEN} at most.")
        names = ("width", "layers", "heads", "graph", "hidden") if self.network == "gat" else ("hidden",)
        object.__setattr__(self, "options", {name: getattr(self, name) for name in names})

    def as_dict(self) -> dict[str, Any]:
        """Return what was set, as plain values."""
        entries = asdict(self)
        del entries["options"]
        return {**entries, "hidden": list(self.hidden)}


def preset(name: str, network: str = "mlp") -> Config:
    """Return the configuration ``paper`` or ``strong`` for a network, or ``graph`` for ``gat``.

    ``paper`` has the paper's numbers, and for what it does not say those that its authors used later. ``graph`` is for
    policies that are to carry over to other sizes.
    """
    if name == "paper":
        return Config(network, "rich" if network == "small" else "paper", steps=25_000 if network == "gat" else 15_000)
    if name == "strong":
        common = Config(
            network, "rich", steps=15_000, lanes=64, batch=128, learning_rate=0.001, anneal=True, loss="huber",
            replay=60_000, reward="improvement", epsilon=0.05, epsilon_share=0.2, target_every=200, double=True,
            n_step=2, validate_every=1000, tours=4000,
        )  # fmt: skip
        if network == "small":
            return replace(common, steps=30_000)
        if network == "gat":
            # Attention costs many times more a step than an MLP.
            return replace(common, steps=12_000, lanes=32, batch=64, replay=30_000, tours=2000)
        return common
    if name == "graph":
        if network != "gat":
            raise InputError(f"preset graph is for network gat, not {network}.")
        return replace(
            preset("strong", "gat"), features="relative", layers=2, hidden=(64,), steps=5000, lanes=16, batch=32,
            replay=20_000, validate_every=250,
        )  # fmt: skip
    raise InputError(f"preset {name!r} is not known; choose paper, strong or graph.")


# --- Random numbers as a function of seed, stream, step and index: nothing to save, the same however they are batched.


class Draws:
    """Uniform numbers for each seed, by hashing a counter (splitmix64)."""

    def __init__(self, seeds: Sequence[int]) -> None:
        self._seeds = _mix(np.array(seeds, dtype=np.uint64) + np.uint64(0x9E3779B97F4A7C15))

    def words(self, stream: int, step: int, count: int) -> npt.NDArray[np.uint64]:
        """Return [seed, count] random words."""
        with np.errstate(over="ignore"):
            base = _mix(self._seeds + np.uint64((stream << 48) + step))
            return _mix(base[:, None] + np.arange(count, dtype=np.uint64) * np.uint64(0xD1342543DE82EF95))

    def uniform(self, stream: int, step: int, count: int) -> npt.NDArray[np.float32]:
        """Return [seed, count] numbers in [0, 1)."""
        return ((self.words(stream, step, count) >> np.uint64(40)).astype(np.float64) / 2**24).astype(np.float32)

    def integers(self, stream: int, step: int, count: int, bound: int) -> npt.NDArray[np.int64]:
        """Return [seed, count] whole numbers from 0 to ``bound`` − 1."""
        scaled = (self.words(stream, step, count) >> np.uint64(11)).astype(np.float64) / 2**53
        return (scaled * bound).astype(np.int64)


def _mix(words: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    with np.errstate(over="ignore"):
        words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return words ^ (words >> np.uint64(31))


EXPLORE, PICK, STARTS, EPISODES, SAMPLE = range(5)
"""Streams of random numbers."""


# --- Replay: a ring over time. What follows the observation at time t is the one at t + 1, unless the episode ended.


class Replay:
    """The last ``ticks`` observations, actions and rewards of all lanes of all seeds."""

    def __init__(self, ticks: int, seeds: int, lanes: int, shape: Shape, edges: int, device: torch.device) -> None:
        self.ticks, self.filled, self.now = ticks, 0, 0
        size = (ticks, seeds, lanes)
        self.rows = torch.zeros(*size, shape.row, device=device)
        self.masks = torch.zeros(*size, shape.actions, dtype=torch.bool, device=device)
        self.edges = torch.zeros(*size, shape.nodes, edges, dtype=torch.int32, device=device) if edges else None
        self.actions = torch.zeros(size, dtype=torch.int64, device=device)
        self.rewards = torch.zeros(size, device=device)
        self.done = torch.zeros(ticks, dtype=torch.bool)

    def add(
        self, rows: Tensor, masks: Tensor, edges: Tensor | None, actions: Tensor, rewards: Tensor, done: bool
    ) -> None:
        """Remember what was seen, done and paid in all lanes at one time."""
        self.rows[self.now], self.masks[self.now] = rows, masks
        self.actions[self.now], self.rewards[self.now], self.done[self.now] = actions, rewards, done
        if self.edges is not None and edges is not None:
            self.edges[self.now] = edges
        self.now = (self.now + 1) % self.ticks
        self.filled = min(self.filled + 1, self.ticks)

    def at(self, kept: Tensor, times: Tensor, columns: Tensor) -> Tensor:
        """Return what was remembered [seed, batch, ...] at some times, in lanes that are counted through all seeds.

        Rows are taken as a whole, which is quicker than by three indices.
        """
        indices = (times * (kept.shape[1] * kept.shape[2]) + columns).flatten()
        return kept.flatten(0, 2).index_select(0, indices).view(*times.shape, *kept.shape[3:])

    def tensors(self) -> dict[str, Tensor]:
        """Return all that a checkpoint needs."""
        found = {"rows": self.rows, "masks": self.masks, "actions": self.actions, "rewards": self.rewards}
        found["done"] = self.done
        return found if self.edges is None else {**found, "edges": self.edges}


# --- The learner. ----------------------------------------------------------------------------------------------------


class Learner:
    """Q-networks of several seeds with their target networks, optimiser and replay memory."""

    def __init__(
        self,
        config: Config,
        shape: Shape,
        seeds: Sequence[int],
        node_mask: npt.NDArray[np.int8],
        edges: int,
        device: str | torch.device = "cpu",
    ) -> None:
        self.config, self.shape, self.seeds = config, shape, tuple(seeds)
        self.device = torch.device(device)
        self.online: MLP | GAT = make_network(config.network, shape, seeds, config.options).to(self.device)
        self.target: MLP | GAT = make_network(config.network, shape, seeds, config.options).to(self.device)
        self.target.load_state_dict(self.online.state_dict())
        self.optimiser = torch.optim.Adam(self.online.parameters(), lr=config.learning_rate, fused=True)
        self.draws = Draws(seeds)
        self.node_mask = torch.from_numpy(node_mask).to(self.device)  # [seed, lane, node]
        row_shape = shape if config.network != "small" else replace(shape, nodes=0)
        remembered = config.replay or config.steps // 5
        ticks = max(config.n_step + 2, remembered // config.lanes)
        self.replay = Replay(ticks, len(seeds), config.lanes, row_shape, edges, self.device)

    def epsilon(self, step: int) -> float:
        """Return the exploration rate: from 1 linearly down, then constant."""
        config = self.config
        share = min(1.0, step / max(1.0, config.epsilon_share * config.steps))
        return 1.0 + share * (config.epsilon - 1.0)

    @torch.no_grad()
    def act(self, rows: Tensor, masks: Tensor, node_mask: Tensor, edges: Tensor | None) -> Tensor:
        """Return the greedy actions [seed, lane] among those allowed."""
        values: Tensor = self.online(rows, node_mask, edges).masked_fill(~masks, -torch.inf)
        return values.argmax(-1)

    def explore(self, greedy: Tensor, masks: Tensor, tick: int, epsilon: float) -> Tensor:
        """Replace each action by a random allowed one with probability ε; ``tick`` counts what was drawn before."""
        lanes = greedy.shape[1]
        random = torch.from_numpy(self.draws.uniform(EXPLORE, tick, lanes)).to(self.device)
        noise = torch.from_numpy(self.draws.uniform(PICK, tick, lanes * masks.shape[2])).to(self.device)
        picked = (noise.view(masks.shape) + 1.0).masked_fill(~masks, 0.0).argmax(-1)
        return torch.where(random < epsilon, picked, greedy)

    def learn(self, step: int) -> Tensor:
        """Do one gradient step; return the loss of each seed."""
        config, replay = self.config, self.replay
        seeds, batch, n = len(self.seeds), config.batch, config.n_step
        # Times with all n rewards and what follows them in memory; the newest is at now − 1.
        usable = max(1, replay.filled - n)
        drawn = self.draws.words(SAMPLE, step, 2 * batch)
        oldest = (replay.now - replay.filled) % replay.ticks
        ago = ((drawn[:, :batch] >> np.uint64(11)).astype(np.float64) / 2**53 * usable).astype(np.int64)
        times = (torch.from_numpy(ago) + oldest) % replay.ticks
        lanes = torch.from_numpy((drawn[:, batch:] % np.uint64(config.lanes)).astype(np.int64)).to(self.device)
        # Where the lanes of the seeds stand in what was remembered at one time.
        columns = lanes + torch.arange(seeds, device=self.device)[:, None] * config.lanes

        # The sum of rewards up to the end of the episode, at most n of them, and the time after them.
        returns = torch.zeros(seeds, batch, device=self.device)
        over = torch.zeros(seeds, batch, dtype=torch.bool)
        here = times
        for _ in range(n):
            alive = (~over).to(self.device)
            returns += replay.at(replay.rewards, here.to(self.device), columns) * alive
            over = over | replay.done[here]
            here = (here + 1) % replay.ticks
        there, ended = here.to(self.device), over.to(self.device)
        times = times.to(self.device)

        node_mask = self.node_mask.flatten(0, 1)[columns]
        with torch.no_grad():
            rows, masks = (replay.at(each, there, columns) for each in (replay.rows, replay.masks))
            edges = None if replay.edges is None else replay.at(replay.edges, there, columns)
            values = self.target(rows, node_mask, edges).masked_fill(~masks, -torch.inf)
            if config.double:
                chosen = self.online(rows, node_mask, edges).masked_fill(~masks, -torch.inf).argmax(-1, keepdim=True)
                follow = values.gather(-1, chosen)[..., 0]
            else:
                follow = values.amax(-1)
            goal = returns + torch.where(ended, torch.zeros_like(follow), follow)

        edges = None if replay.edges is None else replay.at(replay.edges, times, columns)
        found = self.online(replay.at(replay.rows, times, columns), node_mask, edges)
        found = found.gather(-1, replay.at(replay.actions, times, columns)[..., None])[..., 0]
        error = torch.nn.functional.smooth_l1_loss if config.loss == "huber" else torch.nn.functional.mse_loss
        losses = error(found, goal, reduction="none").mean(1)
        if config.anneal:
            for group in self.optimiser.param_groups:
                group["lr"] = config.learning_rate * (1.0 - step / config.steps)
        self.optimiser.zero_grad(set_to_none=True)
        # Seeds share no parameter: the gradient of the sum is each seed's own.
        losses.sum().backward()  # type: ignore[no-untyped-call]
        self.optimiser.step()
        if (step + 1) % config.target_every == 0:
            self.target.load_state_dict(self.online.state_dict())
        return losses.detach()
