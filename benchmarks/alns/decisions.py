"""What a decision of the online selector takes, with what is learned from it: 8 by 3 operators, 20 numbers of context.

python -m benchmarks.alns.decisions [--decisions 20000]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from neuralns.bridges.alns import LearnedSelector

DESTROYS, REPAIRS, NUMBERS = 8, 3, 20


class State:
    """A solution that costs something and tells numbers at once."""

    def __init__(self, cost: float, numbers: npt.NDArray[np.float64]) -> None:
        self.cost, self.numbers = cost, numbers

    def objective(self) -> float:
        return self.cost

    def get_context(self) -> npt.NDArray[np.float64]:
        return self.numbers


def microseconds(selector: LearnedSelector, decisions: int) -> float:
    """Return the mean over decisions of which every tenth finds a new best."""
    rng = np.random.default_rng(1)
    context = rng.normal(size=(50, NUMBERS))
    current = State(1e6, context[0])
    begin = time.process_time()
    for index in range(decisions):
        destroy, repair = selector(rng, current, current)
        found = index % 10 == 0
        if found:
            current = State(current.cost - 1.0, context[index % len(context)])
        selector.update(current, destroy, repair, 0 if found else 3)
    return 1e6 * (time.process_time() - begin) / decisions


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--decisions", type=int, default=20_000)
    chosen = parser.parse_args(arguments)
    selector = LearnedSelector(DESTROYS, REPAIRS, seconds=60)
    print(f"{microseconds(selector, chosen.decisions):.1f} µs a decision")


if __name__ == "__main__":
    main()
