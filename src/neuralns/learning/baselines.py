"""What a trained policy is measured by: random selection and the best fixed pair on its own validation tours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from neuralns.mdp.lanes import Lanes, Tours
from neuralns.mdp.mdp import episode_seeds
from neuralns.selection.fixed import fixed_pairs
from neuralns.selection.policy import PolicySelector
from neuralns.selection.uniform import Uniform

if TYPE_CHECKING:
    from neuralns.learning.training import Task
    from neuralns.selection.policy_file import Policy

ONE_PAIR = 0.95
"""Share of a pair above which a policy counts as choosing it always."""


@dataclass(frozen=True)
class Baselines:
    """Mean rewards on the validation tours of a training, with the random numbers of its validations.

    Attributes
    ----------
    random, best_fixed
        Of random selection, and of the pair that does best there when it is used always.
    pair
        That pair.
    """

    random: float
    best_fixed: float
    pair: tuple[str, str]


@dataclass(frozen=True)
class PairUse:
    """The pair that a policy chooses most often in its validation episodes, and its share of all pairs."""

    destroy: str
    repair: str
    share: float

    @property
    def always(self) -> bool:
        """Whether the policy is hardly more than this pair."""
        return self.share > ONE_PAIR


def baselines_of(task: Task) -> Baselines:
    """Return what random selection and the best fixed pair gain on the validation tours of a task."""
    lanes = _validation_lanes(task)

    def gain() -> float:
        return float((lanes.start_costs - lanes.costs).mean())

    lanes.play(Uniform())
    random = gain()
    found = []
    for pair in fixed_pairs(task.mdps[0].portfolio):
        _restart(lanes, task)
        lanes.play(pair)
        found.append((gain(), pair))
    best, pair = max(found, key=lambda entry: entry[0])
    return Baselines(random, best, (pair.destroy, pair.repair))


def most_used_pair(task: Task, policy: Policy) -> PairUse:
    """Return the pair that the greedy policy chooses most often on the validation tours of a task."""
    lanes, portfolio = _validation_lanes(task), task.mdps[0].portfolio
    selector = PolicySelector(policy, 0.0)
    choose, _ = selector.functions()
    memory = selector.start(portfolio, max(mdp.instance.customers for mdp in task.mdps))
    counts = np.zeros((len(portfolio.destroys), len(portfolio.repairs)), np.int64)
    chosen = np.zeros((2, len(lanes)), np.int64)
    while not lanes.done:
        phase = int(lanes.phases[0])
        for lane in range(len(lanes)):
            chosen[phase, lane] = choose(memory, lanes.state(lane), phase)
        lanes.step(chosen[phase] + phase * len(portfolio.destroys), observe=False)
        if phase == 1:
            np.add.at(counts, (chosen[0], chosen[1]), 1)
    destroy, repair = np.unravel_index(int(counts.argmax()), counts.shape)
    share = float(counts.max() / counts.sum())
    return PairUse(portfolio.destroys[int(destroy)].name, portfolio.repairs[int(repair)].name, share)


def _validation_lanes(task: Task) -> Lanes:
    mdps = [mdp for mdp, starts in zip(task.mdps, task.validation, strict=True) for _ in starts]
    lanes = Lanes(mdps, observes_nodes=False)
    _restart(lanes, task)
    return lanes


def _restart(lanes: Lanes, task: Task) -> None:
    tours = Tours([start for starts in task.validation for start in starts])
    lanes.reset(tours, episode_seeds(0, len(lanes), "validation"), observe=False)
