"""How long all trainings of the paper's Table 1 take in one stacked run: 3 instances × 11 portfolios × 10 seeds.

python benchmarks/stacked.py --device cuda
"""

from __future__ import annotations

import argparse
import time
from itertools import product

import numpy as np

from neuralns.experiments.machine import cores
from neuralns.reproduction.plan import DQN_GRID, FULL, INSTANCES
from neuralns.reproduction.work import train_policies


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seeds", type=int, default=FULL.seeds)
    parser.add_argument("--share", type=float, default=1.0, help="Share of the steps that is done.")
    parser.add_argument("--choice", choices=DQN_GRID, action="append", help="Of the grid; all by default.")
    arguments = parser.parse_args()
    cells = [
        {"setting": "paper", "instance": instance, "destroys": destroys, "seeds": range(arguments.seeds)}
        for instance, destroys in product(INSTANCES, FULL.destroys)
    ]
    for choice in arguments.choice or DQN_GRID:
        begin = time.perf_counter()
        config = {**DQN_GRID[choice], "share": arguments.share}
        trained = train_policies(cells, config, device=arguments.device, threads=cores())
        seconds = time.perf_counter() - begin
        rewards = [policy.card["validation_reward"] for group in trained for policy in group.values()]
        print(f"{choice}: {len(rewards)} networks in {seconds:.0f} s, mean validation reward {np.mean(rewards):.1f}")


if __name__ == "__main__":
    main()
