"""What it brings to give up hopeless candidates half-way: iterations a second with and without.

Both searches accept by the same rule; one draws its random number before the repair and can give up, the other one
after it. Run: python benchmarks/early_end.py [SECONDS]
"""

from __future__ import annotations

import sys

from neuralns import MaxIterations, SimulatedAnnealing, generate_windows, read, solve
from neuralns.experiments.executors import refuse_cut_short
from neuralns.search.acceptance.annealing import DrawnAfterRepair

INSTANCES = [
    *(read(name) for name in ("E-n101-k14", "X-n148-k46", "X-n200-k36", "R101", "RC108")),
    generate_windows(400, "mixed", "narrow", "short", seed=1),
    generate_windows(400, "mixed", "wide", "long", seed=1),
    generate_windows(1000, "random", "wide", "long", seed=1),
]


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 3.0
    for instance in INSTANCES:
        rates: dict[bool, list[float]] = {True: [], False: []}
        for seed in range(4):
            # In turn, so that a busy machine slows both.
            for early in (True, False) if seed % 2 else (False, True):
                rule = SimulatedAnnealing() if early else DrawnAfterRepair()
                solve(instance, MaxIterations(10), acceptance=rule)
                result = solve(instance, seconds, acceptance=rule, seed=seed)
                refuse_cut_short(result.stopped_by)
                rates[early].append(result.iterations / result.runtime)
        early_rate, late_rate = (sorted(rates[early])[-2] for early in (True, False))
        print(f"{instance.name:26} {late_rate:9.0f} -> {early_rate:9.0f} a second, {early_rate / late_rate:.2f} times")


if __name__ == "__main__":
    main()
