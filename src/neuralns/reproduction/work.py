"""What the jobs of the paper's experiments do."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from numba import types

from neuralns.compiled.caching import compile_for
from neuralns.compiled.calls import address_of
from neuralns.experiments.seeds import seeds_from
from neuralns.mdp.baselines import best_fixed_pair, train_roulette
from neuralns.mdp.evaluate import OracleAgent, SelectorAgent, evaluate
from neuralns.mdp.in_search import evaluate_in_search
from neuralns.mdp.lanes import Lanes
from neuralns.mdp.mdp import MDP, episode_seeds, make_mdp
from neuralns.problem.generate.choices import Customers
from neuralns.problem.generate.solomon import generate_solomon
from neuralns.reproduction.plan import ALL_DESTROYS, INSTANCES
from neuralns.reproduction.rounds import SCALE
from neuralns.routes.layout import state_at
from neuralns.selection.learned_roulette import LearnedRoulette
from neuralns.selection.look_ahead import LookAhead
from neuralns.selection.policy import DEFAULT_TEMPERATURE, PolicySelector
from neuralns.selection.policy_file import Policy
from neuralns.selection.roulette import Roulette
from neuralns.selection.selector import DESTROY, Selector, call_choose, memory_at, new_memory_of
from neuralns.selection.uniform import Uniform


def work(kind: str, settings: Mapping[str, Any]) -> Any:
    """Do a job."""
    return _WORK[kind](settings)


def mdp_of(settings: Mapping[str, Any], **changes: Any) -> MDP:
    """Return the MDP that a job is about."""
    chosen = {"customers": 20, **settings, **changes}
    return make_mdp(
        f"{chosen['instance']}101",
        customers=chosen["customers"],
        setting=chosen["setting"],
        portfolio=f"paper-{chosen.get('destroys', ALL_DESTROYS)}",
        scale=chosen.get("scale", chosen["customers"] // 5),
    )


KINDS: dict[str, Customers] = {"C": "clustered", "R": "random", "RC": "mixed"}
"""How the customers of the instances lie."""


def large_mdp(settings: Mapping[str, Any], customers: int) -> MDP:
    """Return the MDP of a generated instance of the same kind as the one that a job is about, with a capacity as there.

    Solomon's instances have 100 customers.
    """
    instance = generate_solomon(customers, KINDS[settings["instance"]], capacity=2.0 * customers)
    return make_mdp(instance, setting=settings["setting"], portfolio=f"paper-{ALL_DESTROYS}")


def train_policies(
    cells: Sequence[Mapping[str, Any]], config: Mapping[str, Any], *, device: str = "cpu", threads: int = 1,
    progress: Callable[[Any], object] | None = None,
) -> list[dict[int, Policy]]:  # fmt: skip
    """Train the networks of all seeds of all cells in one stacked run; return those of each cell by seed."""
    from neuralns.learning.starts import make_tasks
    from neuralns.learning.training import Training

    chosen, sizes = dqn_config(config), config.get("validation_sizes", ())
    tasks = []
    for cell in cells:
        beyond = [mdp_of({**cell, "scale": size // 5}, customers=size) for size in sizes]
        tasks += make_tasks([mdp_of(cell)], cell["seeds"], "random", chosen.tours, beyond=beyond)
    training = Training(tasks, chosen, device, threads)
    training.run(progress)
    policies = iter([training.policy(agent) for agent in range(len(tasks))])
    return [{seed: next(policies) for seed in cell["seeds"]} for cell in cells]


def dqn_config(entries: Mapping[str, Any]) -> Any:
    """Return the training configuration that plain values stand for: a preset, changes to it, a share of its steps."""
    from neuralns.learning.dqn import preset

    changes = {name: value for name, value in entries.items() if name != "validation_sizes"}
    config = preset(changes.pop("preset"), changes.pop("network"))
    share = changes.pop("share")
    if "hidden" in changes:
        changes["hidden"] = tuple(changes["hidden"])
    config = replace(config, **changes)
    if share < 1:
        steps = max(40, round(share * config.steps))
        config = replace(config, steps=steps, validate_every=max(20, steps // 2), tours=min(config.tours, 64))
    return config


def judge_policies(settings: Mapping[str, Any], policies: Mapping[int, Policy]) -> dict[str, Any]:
    """Evaluate the trained networks of a cell: in the MDP, in ALNS, and there at several temperatures."""
    mdp = mdp_of(settings)
    greedy = {seed: PolicySelector(policy, 0.0) for seed, policy in policies.items()}

    def in_search(temperature: float) -> dict[str, list[float]]:
        chosen = {seed: PolicySelector(policy, temperature) for seed, policy in policies.items()}
        return _statistics(mdp, chosen, settings)

    return {
        "mdp": {"DQN": _replayed(mdp, SelectorAgent(greedy, "DQN"), settings)},
        "search": {"DQN": in_search(DEFAULT_TEMPERATURE)},
        "temperature": {f"{value:g}": in_search(value) for value in settings["temperatures"]},
    }


def _dqn(settings: Mapping[str, Any]) -> dict[str, Any]:
    return judge_policies(settings, train_policies([settings], settings["config"])[0])


def _baselines(settings: Mapping[str, Any]) -> dict[str, Any]:
    mdp, tours, seeds = mdp_of(settings), settings["tours"], settings["seeds"]
    pair = best_fixed_pair(mdp)
    wheels = _wheels(mdp, settings)
    classic = Roulette(**settings["classic"])
    return {
        "mdp": {
            "RAN": _rewards(mdp, SelectorAgent(Uniform(), "RAN"), tours, seeds),
            "LRW": _rewards(mdp, SelectorAgent(wheels, "LRW"), tours, seeds),
            "FIXED": _replayed(mdp, SelectorAgent(pair, "FIXED"), settings),
        },
        "search": {
            name: _statistics(mdp, agent, settings)
            for name, agent in (("RAN", Uniform()), ("LRW", wheels), ("CRW", classic), ("FIXED", pair))
        },
        "pair": [pair.destroy, pair.repair],
    }


_timing_signature = types.void(
    types.Array(types.int64, 1, "C"), types.int64, types.Array(types.int64, 1, "C"), types.int64
)


def _decide(addresses: Any, choose: Any, memories: Any, repeats: Any) -> None:
    for _ in range(repeats):
        for lane in range(len(addresses)):
            call_choose(choose, (memory_at(memories[lane]), state_at(addresses[lane]), DESTROY))


@cache
def _compiled_decide() -> Any:
    return compile_for(_timing_signature, _decide)


def decision_time(mdp: MDP, selector: Selector, repeats: int = 3) -> float:
    """Return the mean time in seconds that a selector takes to choose a destroy operator, over its own episodes.

    Processor time, so that other work on the machine counts for little; the episodes start from training tours.
    """
    episodes = 32
    lanes = Lanes([mdp] * episodes, observes_nodes=False)
    lanes.reset(mdp.start_tours("train", episodes), episode_seeds(0, episodes, "decision time"), observe=False)
    choose, _ = selector.functions()
    memories = [new_memory_of(selector, mdp.portfolio, mdp.instance.customers, mdp.instance) for _ in range(episodes)]
    decide, address = _compiled_decide(), address_of(choose)
    memories_at = np.array([memory.address for memory in memories], np.int64)
    states = np.array([lanes.state(lane).address for lane in range(episodes)], np.int64)
    spent, chosen = 0.0, np.zeros(episodes, np.int64)
    while not lanes.done:
        phase = int(lanes.phases[0])
        if phase == DESTROY:
            begin = time.process_time()
            decide(states, address, memories_at, repeats)
            spent += time.process_time() - begin
        for lane in range(episodes):
            chosen[lane] = choose(memories[lane], lanes.state(lane), phase) + phase * len(mdp.portfolio.destroys)
        lanes.step(chosen, observe=False)
    return spent / (repeats * episodes * mdp.budget)


def _ahead(settings: Mapping[str, Any]) -> dict[str, Any]:
    from neuralns.learning.labelled import LabelConfig, train_labelled

    mdp, seeds = mdp_of(settings), settings["seeds"]
    policies = train_labelled(mdp, seeds, LabelConfig(states=settings["states"]))
    greedy = {seed: LookAhead(policy, 0.0) for seed, policy in policies.items()}
    warm = {seed: LookAhead(policy, DEFAULT_TEMPERATURE) for seed, policy in policies.items()}
    first = greedy[seeds[0]]
    return {
        "mdp": {"AHEAD": _replayed(mdp, SelectorAgent(greedy, "AHEAD"), settings)},
        "search": {"AHEAD": _statistics(mdp, warm, settings)},
        "microseconds": round(1e6 * decision_time(mdp, first), 2),
        "simulates": first.probes.width > 0,
    }


def _oracle(settings: Mapping[str, Any]) -> dict[str, Any]:
    mdp = mdp_of(settings)
    agent = OracleAgent(best_fixed_pair(mdp), rollouts=settings["rollouts"])
    return {"mdp": {"ORACLE": _rewards(mdp, agent, settings["tours"], settings["seeds"])}}


def _gat(settings: Mapping[str, Any]) -> dict[str, Any]:
    agent = _graph_agent(settings, "DQN")
    return {"sizes": {str(size): _at_size(settings, size, agent) for size in settings["sizes"]}}


def _graph(settings: Mapping[str, Any]) -> dict[str, Any]:
    agent = _graph_agent(settings, "GNN+")
    return {
        "sizes": {str(size): _at_size(settings, size, agent) for size in settings["sizes"]},
        "large": {
            str(size): _all_rewards(large_mdp(settings, size), [agent], settings["large_tours"], settings["seeds"])
            for size in settings["large"]
        },
    }


def _graph_agent(settings: Mapping[str, Any], name: str) -> SelectorAgent:
    """Return graph networks trained at 20 customers."""
    policies = train_policies([{**settings, "scale": SCALE}], settings["config"])[0]
    return SelectorAgent({seed: PolicySelector(policy, 0.0) for seed, policy in policies.items()}, name)


def _at_size(settings: Mapping[str, Any], size: int, *agents: Any) -> dict[str, list[float]]:
    return _all_rewards(mdp_of(settings, customers=size), agents, settings["tours"], settings["seeds"])


def _sizes(settings: Mapping[str, Any]) -> dict[str, Any]:
    wheels = _wheels(mdp_of(settings), settings)
    agents = (SelectorAgent(Uniform(), "RAN"), SelectorAgent(wheels, "LRW"))
    found: dict[str, Any] = {}
    for size in settings["sizes"]:
        mdp = mdp_of(settings, customers=size)
        pair = SelectorAgent(best_fixed_pair(mdp), "FIXED")
        found[str(size)] = _all_rewards(mdp, (*agents, pair), settings["tours"], settings["seeds"])
    return {"sizes": found}


def _large(settings: Mapping[str, Any]) -> dict[str, Any]:
    wheels = _wheels(mdp_of(settings), settings)
    found: dict[str, Any] = {}
    for size in settings["large"]:
        mdp = large_mdp(settings, size)
        pair = SelectorAgent(best_fixed_pair(mdp, repeats=1), "FIXED")
        agents = (SelectorAgent(Uniform(), "RAN"), SelectorAgent(wheels, "LRW"), pair)
        found[str(size)] = _all_rewards(mdp, agents, settings["large_tours"], settings["seeds"])
    return {"large": found}


def _large_oracle(settings: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for size in settings["large"]:
        mdp = large_mdp(settings, size)
        agent = OracleAgent(best_fixed_pair(mdp, repeats=1), "ORACLE", settings["rollouts"])
        found[str(size)] = _all_rewards(mdp, [agent], settings["large_tours"], settings["seeds"])
    return {"large": found}


def _tune_dqn(settings: Mapping[str, Any]) -> list[float]:
    seeds = seeds_from(settings["seeds"], first=0)
    cells = [
        {"setting": settings["setting"], "instance": instance, "destroys": destroys, "seeds": seeds}
        for instance, destroys in product(INSTANCES, settings["destroys"])
    ]
    trained = train_policies(cells, settings["config"])
    return [float(np.mean([policy.card["validation_reward"] for policy in group.values()])) for group in trained]


def _tune_wheels(settings: Mapping[str, Any]) -> dict[str, list[float]]:
    mdp, tours, seeds = mdp_of(settings), settings["tours"], seeds_from(settings["seeds"], first=0)
    learned = []
    for choice in settings["learned"]:
        wheels = _wheels(mdp, {"seeds": seeds, "learned": choice, "episodes": settings["episodes"]})
        learned.append(_rewards(mdp, SelectorAgent(wheels, "LRW"), tours, seeds, "validate"))
    classic = [
        evaluate_in_search(
            mdp, Roulette(**choice), pairs=settings["pairs"], tours="validate", episodes=tours, seeds=len(seeds)
        ).average
        for choice in settings["classic"]
    ]
    return {"LRW": [float(np.mean(values)) for values in learned], "CRW": classic}


_WORK: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "dqn": _dqn, "ahead": _ahead, "baselines": _baselines, "oracle": _oracle, "gat": _gat, "graph": _graph,
    "sizes": _sizes, "large": _large, "large-oracle": _large_oracle, "tune-dqn": _tune_dqn,
    "tune-wheels": _tune_wheels,
}  # fmt: skip


def _wheels(mdp: MDP, settings: Mapping[str, Any]) -> dict[int, LearnedRoulette]:
    episodes = settings["episodes"]
    chosen = {**settings["learned"], "segment": min(settings["learned"]["segment"], episodes)}
    return {seed: train_roulette(mdp, seed, episodes=episodes, **chosen) for seed in settings["seeds"]}


_NEXT_PLAY = 10**6
"""How far the seeds of the chance in further plays of the same tours are from those in the first."""


def _rewards(mdp: MDP, agent: Any, tours: int, seeds: Sequence[int], which: str = "test") -> list[float]:
    """Return the mean reward of each seed."""
    found = evaluate(mdp, agent, tours=which, episodes=tours, seeds=seeds)
    return [round(float(value), 4) for value in found.rewards.mean(axis=1)]


def _replayed(mdp: MDP, agent: SelectorAgent, settings: Mapping[str, Any]) -> list[float]:
    """Return the mean reward of each seed, which plays each tour several times: the operators' chance is most of it."""
    seeds, plays = settings["seeds"], settings["plays"]
    owners = {seed + _NEXT_PLAY * play: seed for seed in seeds for play in range(plays)}
    player = SelectorAgent(lambda number: agent.selector_for(owners[number]), agent.name)
    found = np.array(_rewards(mdp, player, settings["tours"], list(owners))).reshape(len(seeds), plays)
    return [round(float(value), 4) for value in found.mean(axis=1)]


def _all_rewards(mdp: MDP, agents: Sequence[Any], tours: int, seeds: Sequence[int]) -> dict[str, list[float]]:
    return {agent.name: _rewards(mdp, agent, tours, seeds) for agent in agents}


def _statistics(
    mdp: MDP, agent: Selector | Mapping[int, Selector], settings: Mapping[str, Any]
) -> dict[str, list[float]]:
    """Return F on average over the iterations of ALNS and the best F of a run, means over the tours, for each seed."""
    found = evaluate_in_search(mdp, agent, pairs=settings["pairs"], episodes=settings["tours"], seeds=settings["seeds"])
    parts = (("avg", found.courses), ("min", found.costs))
    return {name: [round(float(value), 4) for value in values.mean(axis=1)] for name, values in parts}
