"""Is it the look ahead, or the labels? Deep Q-learning over pairs of operators on the same features.

    python benchmarks/ahead_dqn.py runs.csv --device cuda

The cells of the paper's Table 1 with all operators in setting ``paper``, 20 customers. The network sees what that of
`neuralns.learning.labelled` sees, the features of the whole and what simulations give, and has an output for every
pair; but it learns by the DQN of `neuralns.learning.dqn` what follows a pair, with no labels and no margin. Rows are
written as they come.
"""

from __future__ import annotations

import argparse
import csv
import time
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from numba import types

from neuralns.compiled.caching import compile_for
from neuralns.learning.dqn import EPISODES, STARTS, Config, Learner, preset
from neuralns.learning.networks import Shape
from neuralns.mdp.evaluate import evaluate
from neuralns.mdp.labels import blame, plan_probes, write_row
from neuralns.mdp.lanes import LEFT, SCALE, Lanes, Tours
from neuralns.mdp.mdp import MDP, SET_SIZE, episode_seeds, make_mdp
from neuralns.operators.contract import FINE
from neuralns.operators.portfolio import tables_type
from neuralns.routes.layout import state_at, state_type
from neuralns.routes.transfer import new_state
from neuralns.selection.features import ROUTES, FeatureSet
from neuralns.selection.look_ahead import Probes
from neuralns.selection.uniform import Uniform

FIELDS = ("instance", "destroys", "seed", "steps", "lanes", "batch", "tours", "validation", "test", "seconds")
EVERY = 500
"""Steps between two plays of the validation tours."""


_wholes, _floats = types.Array(types.int64, 1, "C"), types.Array(types.float32, 1, "C")
_signature = types.int64(
    _wholes, state_type, tables_type, _wholes, _wholes, _wholes, types.int64, types.int64, types.int64,
    types.Array(types.int64, 2, "C"), _floats,
)  # fmt: skip


def _see(addresses, copy, tables, chains, exact, firsts, samples, budget, features, longs, rows):
    """Write the rows of all lanes; return −1, or the lane where a contract was broken."""
    width = len(rows) // len(addresses)
    for lane in range(len(addresses)):
        code, broken = write_row(
            state_at(addresses[lane]), copy, tables, chains, exact, firsts, samples, budget, features,
            longs[lane, LEFT], longs[lane, SCALE], rows, lane * width, width,
        )  # fmt: skip
        if code != FINE:
            return blame(longs, lane, code, broken, tables)
    return -1


@cache
def _compiled_see() -> Any:
    return compile_for(_signature, _see)


def rows_of(lanes: Lanes, probes: Probes, features: FeatureSet) -> npt.NDArray[np.float32]:
    """Return the features of the whole and simulations from complete routes, for all lanes of one MDP."""
    mdp, see = lanes.mdps[0], _compiled_see()
    copy = new_state(mdp.instance, 0, history=lanes.history, quota=mdp.scale)
    fields = probes.fields_for(mdp.portfolio, "rows")
    rows = np.zeros(len(lanes) * (len(features.globals) + probes.width), np.float32)
    lanes.run(
        lambda addresses, longs, floats: see(
            addresses, copy, mdp.portfolio.tables, *(fields[key] for key in ("chains", "exact", "firsts")),
            probes.samples, probes.budget, features.index, longs, rows,
        ),
        "rows",
        copy,
    )  # fmt: skip
    return rows.reshape(len(lanes), -1)


class Pairs:
    """Episodes in which an action is a pair of operators."""

    def __init__(self, mdp: MDP, count: int, probes: Probes) -> None:
        self.lanes, self.probes = Lanes([mdp] * count, ROUTES, observes_nodes=False), probes
        self.destroys, self.repairs = len(mdp.portfolio.destroys), len(mdp.portfolio.repairs)

    def rows(self, agents: int, device: torch.device) -> torch.Tensor:
        """Return what the agents see, each in as many lanes."""
        found = torch.from_numpy(rows_of(self.lanes, self.probes, ROUTES))
        return found.view(agents, -1, found.shape[1]).to(device)

    def step(self, pairs: torch.Tensor) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """Apply a pair in every lane; return by how much F falls."""
        chosen, before = pairs.cpu().numpy().reshape(-1), self.lanes.costs.copy()
        self.lanes.step(chosen // self.repairs, observe=False)
        self.lanes.step(self.destroys + chosen % self.repairs, observe=False)
        return before - self.lanes.costs


def play(learner: Learner, pairs: Pairs, tours: Tours, seed: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the mean reward of each agent on start tours."""
    agents, lanes = len(learner.seeds), pairs.lanes
    each = len(lanes) // agents
    noise, numbers = np.tile(episode_seeds(seed, each), agents), np.tile(np.arange(each), agents)
    lanes.reset(tours, noise, numbers, observe=False)
    while not lanes.done:
        rows = pairs.rows(agents, learner.device)
        mask = torch.ones(*rows.shape[:2], learner.shape.actions, dtype=torch.bool, device=learner.device)
        pairs.step(learner.act(rows, mask, learner.node_mask, None))
    return np.asarray((lanes.start_costs - lanes.costs).reshape(agents, each).mean(axis=1))


def train(mdp: MDP, config: Config, seeds: list[int], device: str) -> tuple[Learner, Probes]:
    """Train agents side by side; return them with the parameters that did best on the validation tours."""
    _, probes = plan_probes(mdp)
    pairs = Pairs(mdp, len(seeds) * config.lanes, probes)
    shape = Shape(0, 0, len(ROUTES.globals) + probes.width, pairs.destroys * pairs.repairs)
    learner = Learner(config, shape, seeds, np.ones((len(seeds), config.lanes, 1), np.int8), 0, device)
    starts = Tours([mdp.random_start(number) for number in range(config.tours)])
    validators, validation = Pairs(mdp, len(seeds) * SET_SIZE, probes), Tours(mdp.start_tours("validate"))
    unit = config.reward_scale / evaluate(mdp, Uniform(), tours="validate", seeds=2).reward_mean
    best = np.full(len(seeds), -np.inf)
    kept = {name: values.clone() for name, values in learner.online.state_dict().items()}
    mask = torch.ones(len(seeds), config.lanes, shape.actions, dtype=torch.bool, device=learner.device)
    step = ticks = 0
    while step < config.steps:
        numbers = learner.draws.words(STARTS, ticks, config.lanes) % np.uint64(config.tours)
        words = learner.draws.words(EPISODES, ticks, config.lanes)
        pairs.lanes.reset(starts, words.reshape(-1), numbers.astype(np.int64).reshape(-1), observe=False)
        while not pairs.lanes.done:
            rows = pairs.rows(len(seeds), learner.device)
            actions = learner.act(rows, mask, learner.node_mask, None)
            actions = learner.explore(actions, mask, ticks, learner.epsilon(step) if ticks >= mdp.budget else 1.0)
            gains = torch.from_numpy((pairs.step(actions) * unit).astype(np.float32)).view(len(seeds), -1)
            learner.replay.add(rows, mask, None, actions, gains.to(learner.device), pairs.lanes.done)
            ticks += 1
            if ticks > mdp.budget and step < config.steps:
                learner.learn(step)
                step += 1
                if step % EVERY == 0 or step == config.steps:
                    found = play(learner, validators, validation, 0)
                    better = np.flatnonzero(found > best)
                    best[better] = found[better]
                    index = torch.from_numpy(better).to(learner.device)
                    for name, values in learner.online.state_dict().items():
                        kept[name][index] = values[index]
                    print(f"{mdp.instance.name}: step {step}, validation {found.mean():.1f}", flush=True)
    learner.online.load_state_dict(kept)
    return learner, probes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output", type=Path)
    parser.add_argument("--instances", default="C,R,RC")
    parser.add_argument("--destroys", type=int, default=12)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--steps", type=int, default=6000)
    parser.add_argument("--lanes", type=int, default=32)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--tours", type=int, default=8000)
    parser.add_argument("--device", default="cpu")
    given = parser.parse_args()
    seeds = list(range(given.seeds))
    config = replace(
        preset("strong", "small"), features="routes", hidden=(128, 64), steps=given.steps, lanes=given.lanes,
        batch=given.batch, tours=given.tours, n_step=1,
    )  # fmt: skip
    for instance in given.instances.split(","):
        mdp = make_mdp(
            f"{instance}101", customers=20, setting="paper", portfolio=f"paper-{given.destroys}", scale=4
        )  # fmt: skip
        begin = time.perf_counter()
        learner, probes = train(mdp, config, seeds, given.device)
        judges = Pairs(mdp, len(seeds) * SET_SIZE, probes)
        marks = [
            np.mean([play(learner, judges, Tours(mdp.start_tours(tours)), number) for number in range(1, 7)], axis=0)
            for tours in ("validate", "test")
        ]
        new = not given.output.exists()
        with given.output.open("a", newline="") as file:
            rows = csv.writer(file)
            if new:
                rows.writerow(FIELDS)
            for seed, validation, test in zip(seeds, *marks, strict=True):
                rows.writerow([
                    instance, given.destroys, seed, given.steps, given.lanes, given.batch, given.tours,
                    round(float(validation), 1), round(float(test), 1), round(time.perf_counter() - begin),
                ])  # fmt: skip
        print(instance, "test", round(float(marks[1].mean()), 1), flush=True)


if __name__ == "__main__":
    main()
