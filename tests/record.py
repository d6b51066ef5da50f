"""What a change of the engine must leave as it is: routes, episodes and trainings, recorded in ``record.json``.

``python tests/record.py`` records anew, which only a change that is meant to change random streams or results may do.
"""

from __future__ import annotations

import hashlib
import json
import platform
import sys
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from neuralns import (
    Always,
    HillClimbing,
    InputWarning,
    Instance,
    Lanes,
    MaxIterations,
    NoImprovement,
    RecordToRecord,
    SimulatedAnnealing,
    generate_solomon,
    generate_x,
    make_mdp,
    read,
    solve,
)
from neuralns.mdp.baselines import best_fixed_pair, play_oracle, train_roulette
from neuralns.mdp.in_search import evaluate_in_search
from neuralns.mdp.mdp import episode_seeds
from neuralns.operators.registry import operators

FILE = Path(__file__).with_name("record.json")
Entry = dict[str, Any]


def digest(*parts: Any) -> str:
    """A short name for values, the same only if they are the same to the bit."""
    found = hashlib.sha256()
    for part in parts:
        content = np.ascontiguousarray(part).tobytes() if isinstance(part, np.ndarray) else json.dumps(part).encode()
        found.update(content)
    return found.hexdigest()[:16]


def instance_of(size: int, vehicle_cost: float = 0.0) -> Instance:
    """Customers in the plane: rounded distances at 100, as they are elsewhere, on demand at 6000."""
    instance = read("X-n101-k25") if size == 100 else generate_x(size, route_length=9, seed=size).with_rounding("none")
    return instance.with_vehicle_cost(vehicle_cost)


def lopsided() -> Instance:
    """Forty customers with distances that differ by direction."""
    rng = np.random.default_rng(5)
    return Instance("lopsided", [0, *rng.integers(1, 9, 40)], 50, matrix=rng.uniform(1, 60, (41, 41)))


def routes(instance: Callable[[], Instance], iterations: int, **options: Any) -> Entry:
    """Where a search ends."""
    stop = options.pop("stop", MaxIterations(iterations))
    result = solve(instance(), stop, **options)
    uses = [[use.used, use.accepted, use.improved, use.new_best] for use in result.operators]
    return {"digest": digest(result.routes, result.iterations, uses), "figure": result.cost}


def solved() -> dict[str, Callable[[], Entry]]:
    found: dict[str, Callable[[], Entry]] = {}
    for size, iterations in ((20, 3000), (100, 3000), (500, 1500), (6000, 300)):
        for cost in (0.0, 100.0):
            for portfolio in ("modern", "paper") if size < 6000 else ("modern", "string,shaw,greedy,noise"):
                few = iterations if portfolio == "modern" else iterations // 3
                found[f"{size} customers, vehicle cost {cost:g}, {portfolio}"] = partial(
                    routes, partial(instance_of, size, cost), few, portfolio=portfolio, seed=size
                )
    hundred = partial(instance_of, 100)
    for selector in ("roulette", "ucb", "thompson"):
        for portfolio in ("modern", "paper"):
            for seed in (1, 2):
                found[f"{selector}, {portfolio}, seed {seed}"] = partial(
                    routes, hundred, 1500, selector=selector, portfolio=portfolio, seed=seed
                )
    for pair in ("string,blinks", "worst-node,greedy", "historical,regret-2", "zone,random-insertion"):
        found[f"fixed:{pair}"] = partial(routes, hundred, 1000, selector=f"fixed:{pair}", seed=3)
    twenty = partial(read, "C101", customers=20, ignore="windows")
    for policy in ("C101-20-distance", "gat-20-paper"):
        for every in (1, 4):
            found[f"{policy}, every {every}"] = partial(deciding, twenty, policy, every)
    found["a policy at 100 customers"] = partial(deciding, hundred, "R101-20-distance", 1)
    # Other tests may have registered operators of their own.
    built_in = [entry for entry in operators() if entry.function.__module__.startswith("neuralns.")]
    everybody = tuple(entry.name for entry in built_in if entry.phase != "improve")
    for name, instance in (("100 customers", hundred), ("by direction", lopsided)):
        found[f"all operators, {name}"] = partial(routes, instance, 1500, portfolio=everybody, seed=4)
    for rule in (SimulatedAnnealing(50.0, 1.0), RecordToRecord(), RecordToRecord(20, 20), HillClimbing(), Always()):
        found[f"accepting by {rule}"] = partial(routes, hundred, 1500, acceptance=rule, portfolio="modern", seed=5)
    found["two workers"] = partial(routes, hundred, 4000, workers=2, portfolio="modern", seed=6)
    found["two workers, paper"] = partial(routes, hundred, 2000, workers=2, portfolio="paper", seed=6)
    found["until nothing improves"] = partial(routes, hundred, 0, stop=NoImprovement(400), portfolio="modern", seed=7)
    found["from random tours, scale 5 to 30"] = partial(
        routes, hundred, 1500, initial="random", scale=(5, 30), portfolio="modern", seed=8
    )
    found["from insertion, scale 0.2"] = partial(
        routes, hundred, 1000, initial="insertion", scale=0.2, portfolio="modern", seed=8
    )
    return found


def kept(name: str) -> str:
    """A policy as it was when it was recorded, where the one that comes with the package was trained anew since."""
    path = Path(__file__).with_name("recorded") / f"{name}.policy"
    return str(path) if path.is_file() else name


def deciding(instance: Callable[[], Instance], policy: str, every: int) -> Entry:
    """Where a search by a policy ends that decides every so many iterations."""
    from neuralns import PolicySelector, read_policy

    selector = PolicySelector(read_policy(kept(policy)), 0.05, every=every)
    with warnings.catch_warnings():
        # That an instance lies outside of what a policy was trained for is no matter here.
        warnings.simplefilter("ignore", InputWarning)
        return routes(instance, 1500, selector=selector, scale=(1, 20), seed=9)


def played(features: str, setting: str, acceptance: str, reward: str) -> Entry:
    """Observations, rewards and costs of episodes with actions by number."""
    mdps = [
        make_mdp(name, customers=size, setting=setting, acceptance=acceptance, reward=reward)
        for name in ("C101", "RC101")
        for size in (20, 30)
    ]
    lanes = Lanes(mdps, features)
    lanes.reset([mdp.start_tours("train", 2)[1] for mdp in mdps], episode_seeds(3, len(mdps)))
    parts: list[Any] = []
    turn = 0
    while not lanes.done:
        allowed = [np.flatnonzero(mask) for mask in lanes.action_mask]
        parts += [lanes.node_features.copy(), lanes.global_features.copy()]
        lanes.step(np.array([row[(turn * 5 + lane) % len(row)] for lane, row in enumerate(allowed)]))
        parts += [lanes.rewards.copy(), lanes.costs.copy()]
        turn += 1
    return {"digest": digest(*parts), "figure": float(lanes.costs.sum())}


def chosen_pair(setting: str) -> Entry:
    pair = best_fixed_pair(make_mdp("R101", customers=20, setting=setting), repeats=1)
    return {"digest": digest(pair.destroy, pair.repair), "figure": 0.0}


def wheel(setting: str) -> Entry:
    found = train_roulette(make_mdp("C101", customers=20, setting=setting), 1, episodes=300)
    return {"digest": digest(np.array(found.weights)), "figure": float(np.sum(found.weights))}


def foreseen(acceptance: str) -> Entry:
    """Episodes of the oracle."""
    from neuralns import Fixed

    mdp = make_mdp("RC101", customers=20, portfolio="paper-5", acceptance=acceptance)
    lanes = Lanes([mdp] * 6)
    lanes.reset(mdp.start_tours("test", 6), episode_seeds(2, 6))
    uses = play_oracle(lanes, Fixed("random-route", "regret-2"), rollouts=4)
    return {"digest": digest(uses, lanes.costs.copy()), "figure": float(lanes.costs.sum())}


def episodes(agent: str) -> Entry:
    """Episodes of a selector that plays all lanes."""
    from neuralns import evaluate

    mdp = make_mdp("R101", customers=20)
    found = evaluate(mdp, kept(agent), episodes=16, seeds=2)
    return {"digest": digest(found.rewards, found.uses), "figure": found.reward_mean}


def searched(agent: str) -> Entry:
    mdp = make_mdp("R101", customers=20)
    found = evaluate_in_search(mdp, agent, episodes=8, seeds=2)
    return {"digest": digest(found.courses, found.costs), "figure": found.average}


def trained(network: str, **changes: Any) -> Entry:
    """The parameters after a short training."""
    from agents import short
    from agents import trained as train

    mdps = [make_mdp(generate_solomon(20, "random", seed=1), setting="distance"), make_mdp("C101", customers=20)]
    training = train(mdps[:1] if network == "mlp" else mdps, short(network, **changes), seeds=(0, 3))
    parameters = training.learner.online.state_dict()
    values = [parameters[name].detach().numpy() for name in sorted(parameters)]
    figure = float(sum(np.abs(value, dtype=np.float64).sum() for value in values))
    return {"digest": digest(*values, training.best_scores), "figure": figure}


def started(start: str) -> Entry:
    """Where episodes of training start."""
    from neuralns.learning.starts import starting_tours

    mdp = make_mdp("C101", customers=20, setting="distance", portfolio="modern")
    tours = [[list(route) for route in tour.routes] for tour in starting_tours(mdp, start, "train", 12)]
    return {"digest": digest(tours), "figure": 0.0}


def cases() -> dict[str, Callable[[], Entry]]:
    """All that is recorded, by name; what trains depends on the processor and on torch to the last bit."""
    found = {f"solve: {name}": case for name, case in solved().items()}
    for features in ("paper", "rich"):
        for setting, acceptance, reward in (("paper", "always", "final"), ("distance", "improving", "improvement")):
            name = f"lanes: {features}, {setting}, {acceptance}"
            found[name] = partial(played, features, setting, acceptance, reward)
    for setting in ("paper", "distance"):
        found[f"best fixed pair: {setting}"] = partial(chosen_pair, setting)
        found[f"learned wheel: {setting}"] = partial(wheel, setting)
    for acceptance in ("always", "improving"):
        found[f"oracle: {acceptance}"] = partial(foreseen, acceptance)
    for agent in ("random", "fixed:greedy-route,regret-2", "R101-20-paper", "gat-20-paper"):
        found[f"episodes: {agent}"] = partial(episodes, agent)
    for agent in ("random", "roulette", "R101-20-paper"):
        found[f"in search: {agent}"] = partial(searched, agent)
    for start in ("savings", "search"):
        found[f"starts: {start}"] = partial(started, start)
    found["training: mlp"] = partial(trained, "mlp", features="paper", n_step=1)
    found["training: small"] = partial(trained, "small")
    found["training: gat, complete"] = partial(trained, "gat", features="paper", width=8, layers=2)
    found["training: gat, nearest"] = partial(trained, "gat", width=8, layers=2, heads=2, graph="nearest")
    return found


def machine() -> str:
    """What the last bits of trained numbers depend on."""
    import torch

    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    return f"{platform.machine()} {model}, torch {torch.__version__}, numpy {np.__version__}"


def main() -> None:
    wanted = [name for name in cases() if not sys.argv[1:] or any(part in name for part in sys.argv[1:])]
    known = json.loads(FILE.read_text()) if FILE.exists() else {"entries": {}}
    for name in wanted:
        known["entries"][name] = cases()[name]()
        print(name, known["entries"][name], flush=True)
    known["machine"] = machine()
    known["entries"] = {name: known["entries"][name] for name in cases()}
    FILE.write_text(json.dumps(known, indent=1) + "\n")


if __name__ == "__main__":
    main()
