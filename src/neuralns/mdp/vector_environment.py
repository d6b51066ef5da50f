"""The operator-selection MDP as a vector environment of Gymnasium: lanes stepped by one compiled call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from neuralns.errors import InputError
from neuralns.mdp.environment import Observation, OperatorSelection
from neuralns.mdp.lanes import Lanes


class OperatorSelectionLanes(VectorEnv[Observation, npt.NDArray[np.int64], npt.NDArray[Any]]):
    """So many `OperatorSelection` environments at once, each lane just what one of them would be with its seed.

    All episodes have the same length and end together. The step after that ignores its actions and begins new ones, as
    Gymnasium's mode ``NEXT_STEP`` asks for.

    Parameters
    ----------
    num_envs
        Lanes.
    threads
        Threads that step them.
    arguments
        Of `OperatorSelection`; nothing is rendered.

    Examples
    --------
    >>> import gymnasium, neuralns
    >>> lanes = gymnasium.make_vec("neuralns/OperatorSelection-v0", num_envs=8, customers=20)
    >>> observation, info = lanes.reset(seed=1)
    >>> observation["globals"].shape[0], info["action_mask"].shape
    (8, (8, 14))
    """

    metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}  # noqa: RUF012 (as Gymnasium declares it)

    def __init__(self, num_envs: int = 1, threads: int = 1, **arguments: Any) -> None:
        if num_envs < 1:
            raise InputError(f"number of environments {num_envs} must be at least 1.")
        if arguments.pop("render_mode", None) is not None:
            raise InputError("a vector environment renders nothing; render a single one.")
        one = OperatorSelection(**arguments)
        self.mdp = one.mdp
        self.num_envs = num_envs
        self.single_action_space, self.single_observation_space = one.action_space, one.observation_space
        self.action_space = batch_space(one.action_space, num_envs)
        self.observation_space = batch_space(one.observation_space, num_envs)
        self._starts = one.starts
        self._neighbours = np.repeat(one.neighbours[None], num_envs, axis=0)
        self._lanes = Lanes([self.mdp] * num_envs, one.features, nodes=arguments.get("nodes"), threads=threads)
        self._generators: list[np.random.Generator] = []
        self._numbers = self._episode_seeds = np.zeros(num_envs, np.int64)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode in every lane; lane k has seed ``seed + k``, or number k of those given."""
        if options:
            raise InputError(f"option {next(iter(options))!r} of reset is not known; lanes have none.")
        if seed is None or isinstance(seed, int | np.integer):
            seeds = [None if seed is None else int(seed) + lane for lane in range(self.num_envs)]
        else:
            seeds = list(seed)
        if len(seeds) != self.num_envs:
            raise InputError(f"{self.num_envs} lanes need as many seeds; {len(seeds)} given.")
        before: Sequence[np.random.Generator | None] = self._generators or [None] * self.num_envs
        self._generators = [
            seeding.np_random(number)[0] if number is not None or generator is None else generator
            for number, generator in zip(seeds, before, strict=True)
        ]
        return self._begin()

    def step(
        self, actions: npt.NDArray[np.int64]
    ) -> tuple[Observation, npt.NDArray[np.float64], npt.NDArray[np.bool_], npt.NDArray[np.bool_], dict[str, Any]]:
        """Apply one action in each lane; forbidden ones are replaced by allowed ones drawn at random."""
        if not self._generators:
            raise InputError("no episode has begun; call reset.")
        never = np.zeros(self.num_envs, np.bool_)
        if self._lanes.done:
            observation, info = self._begin()
            return observation, np.zeros(self.num_envs), never, never.copy(), info
        chosen = np.array(actions, dtype=np.int64)
        if not self.action_space.contains(chosen):
            raise InputError(f"actions {actions!r} are not in {self.action_space}.")
        mask = self._lanes.action_mask
        replaced = mask[np.arange(self.num_envs), chosen] == 0
        for lane in np.flatnonzero(replaced):
            chosen[lane] = self._generators[lane].choice(np.flatnonzero(mask[lane]))
        self._lanes.step(chosen)
        ended = np.full(self.num_envs, self._lanes.done)
        info = self._info(replaced_action=replaced)
        return self._observation(), self._lanes.rewards.copy(), ended, never, info

    def _begin(self) -> tuple[Observation, dict[str, Any]]:
        # As a single environment draws them: the random numbers of the operators, then the start.
        drawn = [
            (generator.integers(2**63), generator.integers(len(self._starts) or 2**31))
            for generator in self._generators
        ]
        self._episode_seeds, self._numbers = np.array(drawn, dtype=np.int64).T
        starts = [
            self._starts[number] if self._starts else self.mdp.random_start(int(number)) for number in self._numbers
        ]
        self._lanes.reset(starts, self._episode_seeds.astype(np.uint64))
        return self._observation(), self._info()

    def _observation(self) -> Observation:
        lanes = self._lanes
        lanes.tour_edges(self._neighbours)
        return {
            "nodes": lanes.node_features.copy(),
            "node_mask": lanes.node_mask.copy(),
            "neighbours": self._neighbours.copy(),
            "globals": lanes.global_features.copy(),
            "action_mask": lanes.action_mask.copy(),
        }

    def _info(self, **more: Any) -> dict[str, Any]:
        lanes = self._lanes
        found = {
            "action_mask": lanes.action_mask.copy(),
            "cost": lanes.costs.copy(),
            "start_cost": lanes.start_costs.copy(),
            "phase": np.array(["destroy", "repair"], dtype=object)[lanes.phases],
            "budget": lanes.budgets.copy(),
            "start": self._numbers.copy(),
            "episode_seed": self._episode_seeds.copy(),
            **more,
        }
        # Gymnasium's way of saying which lanes have an entry: here always all.
        return {**found, **{f"_{name}": np.ones(self.num_envs, np.bool_) for name in found}}
