"""Speed of the networks: compiled decisions next to torch, and training of several seeds at once.

python benchmarks/networks.py [--seconds 0.3] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numba import njit

from neuralns import MDP, Lanes, generate_x, make_mdp
from neuralns.learning.dqn import Config, preset
from neuralns.learning.networks import Shape, make_network
from neuralns.learning.starts import make_tasks
from neuralns.learning.training import Training
from neuralns.mdp.mdp import episode_seeds
from neuralns.selection.features import RICH
from neuralns.selection.policy import PolicySelector
from neuralns.selection.policy_file import Policy

NODES = (20, 100, 500)
ROUNDS = 3
CALLS = 500
GRADIENT_STEPS = 200
SEEDS = 10
NETWORKS: dict[str, dict[str, Any]] = {
    "mlp": {},
    "small": {},
    "gat": {},
    "gat, nearest": {"graph": "nearest"},
}


def microseconds(work: Callable[[], object], seconds: float) -> float:
    """Time of one call, over as many as fit into so many seconds."""
    work()
    count, begin = 0, time.perf_counter()
    while (spent := time.perf_counter() - begin) < seconds:
        work()
        count += 1
    return 1e6 * spent / max(1, count)


@njit
def decide(choose, memory, state, calls):  # type: ignore[no-untyped-def]
    """Make decisions as the search loop does, without a call from Python for each."""
    total = 0
    for _ in range(calls):
        total += choose(memory, state, 0)
    return total


def untrained(mdp: MDP, config: Config) -> tuple[Policy, Any]:
    """A policy with the parameters that training begins with, and the same network in torch."""
    shape = Shape(mdp.instance.customers + 1, len(RICH.nodes), len(RICH.globals), len(mdp.portfolio.names))
    network = make_network(config.network, shape, [0], config.options)
    card = {
        "network": config.network,
        "features": {"name": RICH.name, "version": RICH.version},
        "operators": {
            "destroy": [entry.name for entry in mdp.portfolio.destroys],
            "repair": [entry.name for entry in mdp.portfolio.repairs],
        },
        "nodes": shape.nodes,
        "graph": config.graph,
    }
    return Policy(card, {name: values[0].numpy() for name, values in network.state_dict().items()}), network


def decision_times(mdp: MDP, config: Config, seconds: float) -> tuple[float, float]:
    """Microseconds of a greedy decision: compiled with its features, and torch eager without them, on one thread."""
    policy, network = untrained(mdp, config)
    selector = PolicySelector(policy, 0.0)
    choose, memory = selector.functions()[0], selector.start(mdp.portfolio, mdp.instance.customers)
    lanes = Lanes([mdp])
    lanes.reset([mdp.random_start(1)], episode_seeds(1, 1))
    state = lanes.state(0)
    parts = [] if config.network == "small" else [lanes.node_features.reshape(1, -1)]
    rows = torch.from_numpy(np.concatenate([*parts, lanes.global_features], axis=1))[None]
    edges = None
    if config.graph == "nearest":
        nodes = mdp.instance.customers + 1
        edges = torch.randint(nodes, (1, 1, nodes, 12), generator=torch.Generator().manual_seed(1))
    with torch.inference_mode():
        return (
            microseconds(lambda: decide(choose, memory, state, CALLS), seconds) / CALLS,
            microseconds(lambda: network(rows, None, edges).argmax(), seconds),
        )


def compare_decisions(seconds: float) -> list[dict[str, Any]]:
    """Measure every network at every size, compiled and in torch in turns, and return medians and ratios."""
    rows: list[dict[str, Any]] = []
    print("microseconds a decision, one thread: compiled (features included) and torch eager (without features)")
    print(f"{'network':<16}{'nodes':>8}{'compiled':>12}{'torch':>12}{'ratio':>9}")
    for nodes in NODES:
        instance = generate_x(nodes - 1, route_length=10, seed=1)
        mdp = make_mdp(instance, setting="distance")
        for name, options in NETWORKS.items():
            config = replace(preset("strong", name.split(",")[0]), **options)
            times = [decision_times(mdp, config, seconds) for _ in range(ROUNDS)]
            compiled, eager = (statistics.median(pair[place] for pair in times) for place in (0, 1))
            rows.append(
                {"network": name, "nodes": nodes, "compiled": compiled, "torch": eager, "ratio": eager / compiled}
            )
            print(f"{name:<16}{nodes:>8}{compiled:>12,.1f}{eager:>12,.1f}{eager / compiled:>8.1f}x", flush=True)
    return rows


def training_seconds(mdp: MDP, config: Config, seeds: int) -> float:
    """Seconds of so many gradient steps with their episodes, without validation and without the first episode."""
    config = replace(config, steps=GRADIENT_STEPS, replay=config.replay or config.steps // 5, tours=128)
    tasks = make_tasks([mdp], range(seeds), "random", config.tours)
    # Validation is not what is measured: one tour, once, at the end.
    tasks = [replace(task, validation=(task.validation[0][:1],)) for task in tasks]
    training = Training(tasks, replace(config, validate_every=GRADIENT_STEPS))
    training.run(stop=lambda: True)
    begin = time.perf_counter()
    training.run()
    return time.perf_counter() - begin


def compare_training() -> list[dict[str, Any]]:
    """Measure the training of 1 and of 10 seeds."""
    mdp = make_mdp("R101", customers=20)
    rows: list[dict[str, Any]] = []
    print(f"\nseconds for {GRADIENT_STEPS} gradient steps with their episodes (R101, 20 customers, setting paper)")
    print(f"{'network':<16}{'preset':<10}{'1 seed':>10}{f'{SEEDS} seeds':>12}{'ratio':>9}")
    for network, name in (("mlp", "paper"), ("small", "strong")):
        config = preset(name, network)
        training_seconds(mdp, replace(config, lanes=2), 1)  # compiles what is to be timed
        one, many = (training_seconds(mdp, config, seeds) for seeds in (1, SEEDS))
        rows.append({"network": network, "preset": name, "one": one, "many": many, "ratio": many / one})
        print(f"{network:<16}{name:<10}{one:>10.2f}{many:>12.2f}{many / one:>8.1f}x", flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=0.3, help="seconds for each measurement")
    parser.add_argument("--json", help="write the figures to this file")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    decisions = compare_decisions(arguments.seconds)
    training = compare_training()
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"decisions": decisions, "training": training}, file, indent=1)


if __name__ == "__main__":
    main()
