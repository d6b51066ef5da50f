"""What makes learning from labelled states work: what the network sees, or what the labels are?

    python benchmarks/labels.py runs.csv --workers 2

Trains policies of `neuralns.learning.labelled` on cells of the paper's Table 1 in setting ``paper``, with the features
``rich`` and ``routes``, with labels that are simulated to the end or foretold by a value network, and plays the
validation tours again with other chance than that which chose the margins. Test tours are not touched. Rows are written
as they come, and those that are there are not done again.
"""

from __future__ import annotations

import argparse
import csv
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import product
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from neuralns.learning.labelled import LabelConfig, train_labelled
from neuralns.mdp.evaluate import evaluate
from neuralns.mdp.mdp import make_mdp
from neuralns.selection.look_ahead import LookAhead

FIELDS = ("cell", "features", "labels", "states", "seed", "validation", "seconds")
CELLS = "RC:3,C:4,C:5,R:8,RC:9,C:11"
PLAYS = 6


def try_arm(cell: str, features: str, labels: str, states: int, seeds: list[int]) -> list[tuple[object, ...]]:
    """Train agents on a cell; return a row for each."""
    instance, destroys = cell.split(":")
    mdp = make_mdp(f"{instance}101", customers=20, setting="paper", portfolio=f"paper-{destroys}", scale=4)
    begin = time.perf_counter()
    policies = train_labelled(
        mdp, seeds, LabelConfig(states=states, features=features, value=labels == "foretold")
    )  # fmt: skip
    seconds = round(time.perf_counter() - begin)
    agents = {seed: LookAhead(policy, 0.0) for seed, policy in policies.items()}
    rows: list[tuple[object, ...]] = []
    for seed in seeds:
        chance = [10**6 * play + seed for play in range(1, PLAYS + 1)]
        found = evaluate(mdp, agents[seed], tours="validate", seeds=chance)
        rows.append((cell, features, labels, states, seed, round(float(found.reward_mean), 1), seconds))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output", type=Path)
    parser.add_argument("--cells", default=CELLS)
    parser.add_argument("--states", type=int, default=150_000)
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--workers", type=int, default=1)
    given = parser.parse_args()
    seeds = list(range(given.seeds))
    done: set[tuple[str, ...]] = set()
    if given.output.exists():
        with given.output.open(newline="") as file:
            done = {(row["cell"], row["features"], row["labels"], row["states"]) for row in csv.DictReader(file)}
    else:
        given.output.write_text(",".join(FIELDS) + "\n")
    arms = [
        (cell, features, labels)
        for cell, features, labels in product(given.cells.split(","), ("rich", "routes"), ("simulated", "foretold"))
        if (cell, features, labels, str(given.states)) not in done
    ]
    with ProcessPoolExecutor(given.workers, get_context("spawn")) as pool:
        futures = [pool.submit(try_arm, *arm, given.states, seeds) for arm in arms]
        for number, future in enumerate(as_completed(futures), 1):
            rows = future.result()
            with given.output.open("a", newline="") as file:
                csv.writer(file).writerows(rows)
            print(f"{number}/{len(arms)}", *rows[0][:3], round(float(np.mean([row[5] for row in rows])), 1), flush=True)


if __name__ == "__main__":
    main()
