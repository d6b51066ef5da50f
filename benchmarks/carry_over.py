"""What makes a graph network carry over from 20 to 100 customers: its features, the sizes it is validated at, or both.

python benchmarks/carry_over.py [--features relative] [--seeds 5] [--instances C,R,RC]

For each feature set it trains two agents a seed, alike but for the choice of parameters: by validation at 20 customers,
and at 30, 50, 70 and 90 as well. It prints mean test rewards, and the lowest reward of an agent at 40 to 100 customers.
Minutes of a core for each feature set, instance and seed.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from neuralns.mdp.evaluate import SelectorAgent, evaluate
from neuralns.reproduction.plan import FULL, GRAPH
from neuralns.reproduction.rounds import SCALE
from neuralns.reproduction.work import mdp_of, train_policies
from neuralns.selection.policy import PolicySelector

STRONG = {"preset": "strong", "network": "gat", "hidden": [64], "steps": 6000, "validate_every": 500}
CONFIGS: dict[str, dict[str, Any]] = {
    "paper": {**STRONG, "features": "paper"},
    "rich": {**STRONG, "features": "rich"},
    "relative": dict(GRAPH),
}
"""Of each feature set; that of ``relative`` is preset ``graph``, which is smaller."""


def rewards(instance: str, seeds: range, config: dict[str, Any]) -> np.ndarray[Any, Any]:
    """Return test rewards [size, seed] of agents trained at 20 customers."""
    place = {"setting": "paper", "instance": instance}
    (policies,) = train_policies([{**place, "seeds": seeds, "scale": SCALE}], {**config, "share": 1.0})
    agent = SelectorAgent({seed: PolicySelector(policy, 0.0) for seed, policy in policies.items()}, "gat")
    found = [evaluate(mdp_of(place, customers=size), agent, seeds=seeds).rewards.mean(axis=1) for size in FULL.sizes]
    return np.array(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--features", choices=CONFIGS, action="append", help="all by default")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--instances", default="C,R,RC")
    given = parser.parse_args()
    print("features   validated at     instance  " + "".join(f"{size:>8}" for size in FULL.sizes) + "    lowest")
    for features in given.features or CONFIGS:
        for several in ((), FULL.validation_sizes):
            config = {**CONFIGS[features], "validation_sizes": several}
            sizes = ", ".join(map(str, (20, *several)))
            for instance in given.instances.split(","):
                found = rewards(instance, range(given.seeds), config)
                means = "".join(f"{mean:8.1f}" for mean in found.mean(axis=1))
                print(f"{features:10} {sizes:18} {instance:6}  {means}  {found[1:].min():8.1f}", flush=True)


if __name__ == "__main__":
    main()
