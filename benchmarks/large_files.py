"""A policy on files of more than 100 customers, against the best fixed pair and the oracle, as in ``reproduce large``.

python benchmarks/large_files.py runs.csv C1_2_2.vrp R1_2_4.vrp [--agent gat-20-paper] [--seeds 10] [--oracle-seeds 2]

Setting ``paper``: of a file the coordinates count, not the windows, and capacity never binds; a fifth of the customers
is removed at a time. Gehring and Homberger's instances of one class and size, such as C1_2_1 to C1_2_10, have the same
customers, and so have RC1 and RC2: one of each is enough. Rows of an instance are written when all its agents are done,
and an instance that is there with the same agent, seeds and tours is not done again.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from pathlib import Path

from neuralns.mdp.baselines import best_fixed_pair
from neuralns.mdp.evaluate import Agent, OracleAgent, SelectorAgent, agent_named, evaluate
from neuralns.mdp.mdp import MDP, make_mdp
from neuralns.reproduction.plan import ALL_DESTROYS, FULL

FIELDS = ("instance", "customers", "agent", "reward", "ci", "seeds", "tours")


def agents(mdp: MDP, name: str, seeds: int, oracle_seeds: int) -> Iterator[tuple[Agent, int]]:
    """Give what plays an instance, with the number of seeds."""
    pair = best_fixed_pair(mdp, repeats=1)
    yield agent_named(name, mdp), seeds
    yield agent_named("random", mdp), seeds
    yield SelectorAgent(pair, f"fixed:{pair.destroy},{pair.repair}"), seeds
    if oracle_seeds:
        yield OracleAgent(pair, rollouts=FULL.large_rollouts), oracle_seeds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--agent", default="gat-20-paper")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--oracle-seeds", type=int, default=2, help="0: no oracle")
    parser.add_argument("--tours", type=int, default=FULL.large_tours)
    given = parser.parse_args()
    there = set()
    if given.runs.exists():
        with given.runs.open(newline="") as file:
            there = {
                tuple(row[name] for name in ("instance", "agent", "seeds", "tours")) for row in csv.DictReader(file)
            }
    for name in given.files:
        mdp = make_mdp(name, setting="paper", portfolio=f"paper-{ALL_DESTROYS}")
        about = mdp.as_dict()
        if (about["instance"], given.agent, str(given.seeds), str(given.tours)) in there:
            continue
        rows = []
        for agent, seeds in agents(mdp, given.agent, given.seeds, given.oracle_seeds):
            found = evaluate(mdp, agent, episodes=given.tours, seeds=seeds)
            rows.append(
                (about["instance"], about["customers"], found.agent, f"{found.reward_mean:.2f}",
                 f"{found.reward_ci:.2f}", seeds, given.tours)
            )  # fmt: skip
            print(*rows[-1], flush=True)
        new = not given.runs.exists()
        with given.runs.open("a", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([FIELDS, *rows] if new else rows)


if __name__ == "__main__":
    main()
