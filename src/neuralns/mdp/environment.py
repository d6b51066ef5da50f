"""The operator-selection MDP as a Gymnasium environment."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from neuralns.errors import InputError
from neuralns.mdp.lanes import Lanes
from neuralns.mdp.mdp import DEFAULT_BUDGET, SET_SIZE, SETS, make_mdp
from neuralns.operators.portfolio import Portfolio
from neuralns.operators.registry import Operator
from neuralns.problem.initial import nearest_neighbours
from neuralns.problem.instance import Instance
from neuralns.problem.solution import Solution
from neuralns.selection.features import features_for

FEATURE_BOUND = 1e6
"""Bound of the features in the observation space; they are of order 1."""

Observation = dict[str, npt.NDArray[Any]]


class OperatorSelection(gymnasium.Env[Observation, np.int64]):
    """Choosing destroy and repair operators for a vehicle routing instance.

    ## Description

    An episode starts from tours of an instance. Pairs of operators are applied to them: a destroy operator takes d
    customers off the tours and puts them on the removal list, a repair operator puts them back. The agent chooses both,
    knowing the solution, and is paid what the tours have become cheaper when its budget of b pairs is used up. This is
    the Markov decision process of Johnn, Darvariu, Handl and Kalcsics, "Graph Reinforcement Learning for Operator
    Selection in the ALNS Metaheuristic", section 3.2.

    ## Action Space

    ``Discrete(|D| + |R|)``: the operators of the portfolio, destroy operators first. In the destroy phase only the
    former are allowed, in the repair phase only the latter: see ``action_mask`` in the observation and in ``info``, and
    the method ``action_masks()``. Any other action is replaced by an allowed one drawn at random, and ``info`` says so
    (``replaced_action``).

    ## Observation Space

    A ``Dict``; N is ``nodes``, by default the number of customers plus one, node 0 being the depot.

    | key           | shape     | type    | what                                                                   |
    |---------------|-----------|---------|------------------------------------------------------------------------|
    | `nodes`       | (N, F)    | float32 | features of each node; rows beyond the instance's nodes are 0          |
    | `node_mask`   | (N,)      | int8    | 1 for the nodes of the instance, 0 for padding                         |
    | `neighbours`  | (N, 2 + k)| int32   | predecessor and successor on the tour, then the k nearest other        |
    |               |           |         | customers; a node stands for itself where there is none                |
    | `globals`     | (G,)      | float32 | features of the whole: phase, budget left and so on                    |
    | `action_mask` | (A,)      | int8    | 1 for the actions allowed now                                          |

    The features and their formulas are in `neuralns.selection.features`.

    ## Rewards

    F(S_0) − F(S_T) at the end of the episode and 0 before; with ``reward="improvement"`` each pair's improvement at
    once, which sums up to the same. F is the length of all tours plus the vehicles' cost. Where customers may have to
    be left out, each of those costs more than routes for all.

    ## Starting State

    Tours drawn from one of the three disjoint sets of 128 (``tours``), or new random ones (``tours="random"``).
    ``reset(options={"start": 5})`` takes number 5 of the set, ``{"start": solution}`` a solution of your own, and
    ``{"episode_seed": 7}`` the random numbers that the operators use; ``info`` names both.

    ## Episode End

    Terminated when the budget is used up, after 2b actions. Never truncated.

    ## Arguments

    | argument     | default   | what                                                                                |
    |--------------|-----------|-------------------------------------------------------------------------------------|
    | `instance`   | `"C101"`  | an instance, a file, or the name of a bundled one                                   |
    | `customers`  | None      | take only the first so many                                                         |
    | `setting`    | `"paper"` | `paper` (100 per tour, coordinates scaled to 1), `distance` (the instance as is, but  |
    |              |           | for windows) or `windows` (the instance as is, the whole capacity for the first)    |
    | `portfolio`  | `"paper"` | name, list of operators, or portfolio                                               |
    | `scale`      | None      | d; a fifth of the customers by default                                              |
    | `budget`     | 10        | b                                                                                   |
    | `reward`     | `"final"` | `final` or `improvement`                                                            |
    | `features`   | None      | a feature set by name; `windows` where time plays a part, else `rich`               |
    | `neighbours` | 10        | k                                                                                   |
    | `nodes`      | None      | N, to pad instances of different sizes to one shape                                 |
    | `tours`      | `"train"` | `train`, `validate`, `test` or `random`                                             |
    | `render_mode`| None      | `rgb_array` draws tours, removed customers and the last action                      |

    >>> import gymnasium, neuralns
    >>> env = gymnasium.make("neuralns/OperatorSelection-v0", instance="C101", customers=20)
    >>> observation, info = env.reset(seed=1)
    >>> done, total = False, 0.0
    >>> while not done:
    ...     action = env.action_space.sample(mask=info["action_mask"])
    ...     observation, reward, done, truncated, info = env.step(action)
    ...     total += reward
    >>> abs(total - (info["start_cost"] - info["cost"])) < 1e-9
    True

    ## Version History

    * v0: first version
    """

    metadata = {  # noqa: RUF012 (as Gymnasium declares it)
        "render_modes": ["rgb_array"],
        "render_fps": 2,
    }

    def __init__(
        self,
        instance: Instance | str | os.PathLike[str] = "C101",
        customers: int | None = None,
        setting: str = "paper",
        portfolio: Portfolio | str | Sequence[str | Operator] = "paper",
        scale: int | None = None,
        budget: int = DEFAULT_BUDGET,
        reward: str = "final",
        features: str | None = None,
        neighbours: int = 10,
        nodes: int | None = None,
        tours: str = "train",
        render_mode: str | None = None,
    ) -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise InputError(f"render mode {render_mode!r} is not known; there is rgb_array.")
        if tours not in (*SETS, "random"):
            raise InputError(f"set of start tours {tours!r} is not known; choose {', '.join(SETS)} or random.")
        if neighbours < 0:
            raise InputError(f"number of neighbours {neighbours} must not be negative.")
        self.mdp = make_mdp(
            instance,
            customers=customers,
            setting=setting,
            portfolio=portfolio,
            scale=scale,
            budget=budget,
            reward=reward,
        )
        self.render_mode = render_mode
        self.features = features or features_for(self.mdp.instance).name
        self._lanes = Lanes([self.mdp], self.features, nodes=nodes)
        self.starts = [] if tours == "random" else self.mdp.start_tours(tours, SET_SIZE)
        self._last_action: int | None = None

        rows, count = self._lanes.node_features.shape[1], self.mdp.instance.customers + 1
        self.neighbours = np.tile(np.arange(rows, dtype=np.int32)[:, None], (1, 2 + neighbours))
        nearest = nearest_neighbours(self.mdp.instance, neighbours)
        self.neighbours[:count, 2 : 2 + nearest.shape[1]] = nearest
        actions = self._lanes.action_mask.shape[1]
        self.action_space = spaces.Discrete(actions)
        self.observation_space = spaces.Dict(  # type: ignore[assignment]
            {
                "nodes": spaces.Box(-FEATURE_BOUND, FEATURE_BOUND, self._lanes.node_features.shape[1:], np.float32),
                "node_mask": spaces.MultiBinary(rows),
                "neighbours": spaces.Box(0, rows - 1, self.neighbours.shape, np.int32),
                "globals": spaces.Box(-FEATURE_BOUND, FEATURE_BOUND, self._lanes.global_features.shape[1:], np.float32),
                "action_mask": spaces.MultiBinary(actions),
            }
        )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        super().reset(seed=seed)
        given = options or {}
        for name in given:
            if name not in ("start", "episode_seed"):
                raise InputError(f"option {name!r} of reset is not known; there are start and episode_seed.")
        # Both are drawn always, so that an option changes nothing else.
        drawn = int(self.np_random.integers(2**63))
        number = int(self.np_random.integers(len(self.starts) or 2**31))
        start = given.get("start", number)
        if isinstance(start, Solution):
            solution = Solution(self.mdp.instance, start.routes).checked("the start")
        elif self.starts:
            solution = self.starts[_whole("start", start, len(self.starts))]
        else:
            solution = self.mdp.random_start(_whole("start", start, 2**63))
        self._episode_seed = _whole("episode_seed", given.get("episode_seed", drawn), 2**64)
        self._start = None if isinstance(start, Solution) else int(start)
        self._last_action = None
        self._lanes.reset([solution], np.array([self._episode_seed], dtype=np.uint64))
        return self._observation(), self._info()

    def step(self, action: np.int64 | int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        if not hasattr(self, "_episode_seed") or self._lanes.done:
            raise InputError("the episode is over; call reset.")
        if not self.action_space.contains(action):
            raise InputError(f"action {action!r} is not in {self.action_space}.")
        mask = self._lanes.action_mask[0]
        replaced = mask[action] == 0
        if replaced:
            action = int(self.np_random.choice(np.flatnonzero(mask)))
        self._lanes.step(np.array([action], dtype=np.int64))
        self._last_action = int(action)
        info = self._info()
        info["replaced_action"] = bool(replaced)
        return self._observation(), float(self._lanes.rewards[0]), self._lanes.done, False, info

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return which actions are allowed now, as sb3-contrib asks for it."""
        return np.asarray(self._lanes.action_mask[0] == 1)

    @property
    def solution(self) -> Solution:
        """The tours; in the repair phase the removed customers are missing."""
        return self._lanes.solution(0)

    def render(self) -> npt.NDArray[np.uint8] | None:
        if self.render_mode is None:
            return None
        from neuralns import plot

        names = self.mdp.portfolio.actions
        title = "start" if self._last_action is None else names[self._last_action]
        return plot.to_array(plot.tours(self.solution, title))

    def _observation(self) -> Observation:
        self._lanes.tour_edges(self.neighbours[None])
        return {
            "nodes": self._lanes.node_features[0].copy(),
            "node_mask": self._lanes.node_mask[0].copy(),
            "neighbours": self.neighbours.copy(),
            "globals": self._lanes.global_features[0].copy(),
            "action_mask": self._lanes.action_mask[0].copy(),
        }

    def _info(self) -> dict[str, Any]:
        return {
            "action_mask": self._lanes.action_mask[0].copy(),
            "cost": float(self._lanes.costs[0]),
            "start_cost": float(self._lanes.start_costs[0]),
            "phase": ("destroy", "repair")[int(self._lanes.phases[0])],
            "budget": int(self._lanes.budgets[0]),
            "start": -1 if self._start is None else self._start,
            "episode_seed": self._episode_seed,
        }


def _whole(name: str, value: Any, bound: int) -> int:
    """Return an option of reset if it is a whole number from 0 to ``bound`` − 1."""
    if not isinstance(value, int | np.integer) or not 0 <= value < bound:
        raise InputError(f"option {name!r} of reset is {value!r}, but must be a whole number from 0 to {bound - 1}.")
    return int(value)
