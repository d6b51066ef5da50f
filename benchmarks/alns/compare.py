"""Selectors against each other on five problems of alns's kind, at equal processor time.

python -m benchmarks.alns.compare [--seconds 1] [--seeds 20] [--out FILE.csv] [--train] [--quick]

Every seed is an instance of its own. Seeds from 0 on are compared; the online selector was tuned on seeds from 3000 on,
policies are trained on seeds from 2000 on (``--train`` makes those that are missing). Results are written as they come;
the same command goes on where it was stopped. Time is that of the processor, so that other work on the machine counts
for nobody; what deciding costs is part of it.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from alns.select import AlphaUCB, MABSelector, RandomSelect, RouletteWheel, SegmentedRouletteWheel
from benchmarks.alns import cutting, flow_shop, projects, routing, salesman
from benchmarks.alns.problem import Problem
from mabwiser.mab import LearningPolicy

from neuralns.bridges.alns import LearnedSelector, train
from neuralns.bridges.alns.runs import Search
from neuralns.experiments.statistics import holm, signed_rank
from neuralns.experiments.store import CsvRows, Store

PROBLEMS = {module.PROBLEM.name: module.PROBLEM for module in (routing, cutting, flow_shop, projects, salesman)}
POLICIES = Path(__file__).parent / "policies"
TRAINING = range(2000, 2012)
SCORES = [3, 2, 1, 0.5]
"""Scores of a new best, a better, an accepted and a rejected candidate, as in alns's examples."""
OWN = {
    "RandomSelect": RandomSelect,
    "RouletteWheel": partial(RouletteWheel, SCORES, 0.8),
    "SegmentedRouletteWheel": partial(SegmentedRouletteWheel, SCORES, 0.8, 100),
    "AlphaUCB": partial(AlphaUCB, SCORES, 0.05),
    "MABSelector, epsilon-greedy": partial(MABSelector, SCORES, learning_policy=LearningPolicy.EpsilonGreedy(0.15)),
    "MABSelector, LinUCB": partial(MABSelector, SCORES, learning_policy=LearningPolicy.LinUCB(0.5)),
    "MABSelector, LinTS": partial(MABSelector, SCORES, learning_policy=LearningPolicy.LinTS(0.5)),
}
ONLINE, TRAINED = "online", "trained"
BASE = "RandomSelect"


@dataclass(frozen=True)
class Run:
    """One run: its final cost, iterations, and the share of its time that choosing and learning took."""

    problem: str
    selector: str
    seed: int
    seconds: float
    cost: float
    iterations: int
    deciding: float


class Timed:
    """A selector with the processor time that it takes."""

    def __init__(self, selector: Any) -> None:
        self.selector = selector
        self.used = 0.0

    def __call__(self, *args: Any) -> Any:
        begin = time.process_time()
        chosen = self.selector(*args)
        self.used += time.process_time() - begin
        return chosen

    def update(self, *args: Any) -> None:
        begin = time.process_time()
        self.selector.update(*args)
        self.used += time.process_time() - begin


def policy_of(problem: Problem) -> Path:
    return POLICIES / f"{problem.name.replace(' ', '-')}.policy"


def selector_of(name: str, problem: Problem, seconds: float) -> Any:
    shape = len(problem.destroys), len(problem.repairs)
    if name == ONLINE:
        return LearnedSelector(*shape, seconds=seconds, clock="processor")
    if name == TRAINED:
        return LearnedSelector.load(policy_of(problem), seconds=seconds, clock="processor")
    return OWN[name](num_destroy=shape[0], num_repair=shape[1])


def search_of(problem: Problem, seconds: float) -> Search:
    accept = partial(problem.make_accept, seconds=seconds)
    return Search(problem.make_alns, accept, seconds=seconds, clock="processor")


def run(problem: Problem, name: str, seed: int, seconds: float) -> Run:
    selector = Timed(selector_of(name, problem, seconds))
    cost, iterations = search_of(problem, seconds).run(problem.initial(seed), selector, seed)
    return Run(problem.name, name, seed, seconds, cost, iterations, round(selector.used / seconds, 4))


def train_policy(problem: Problem, seconds: float, seeds: int, states: Sequence[int]) -> None:
    search = search_of(problem, seconds)
    train(
        problem.make_alns,
        [problem.initial(seed) for seed in states],
        policy_of(problem),
        seconds=seconds,
        seeds=seeds,
        make_accept=search.make_accept,
        clock="processor",
        progress=lambda text: print(f"{problem.name}: {text}", flush=True),
    )


def report(runs: Sequence[Run], seconds: float) -> str:
    """Return how learned selectors compare with the best of alns's own on each problem in runs of so many seconds."""
    runs = [each for each in runs if each.seconds == seconds]
    if not any(each.selector == BASE for each in runs):
        return f"There are no runs of {seconds:g} s with {BASE}, which all others are compared with."
    costs: dict[str, dict[str, dict[int, float]]] = {}
    for each in runs:
        costs.setdefault(each.problem, {}).setdefault(each.selector, {})[each.seed] = each.cost
    best = {
        problem: min(own, key=lambda name: above(found, name).mean())
        for problem, found in costs.items()
        if (own := [name for name in found if name in OWN])
    }
    lines = []
    for name, other in ((ONLINE, None), (TRAINED, None), (TRAINED, ONLINE)):
        chosen = [problem for problem in best if name in costs[problem] and (other is None or other in costs[problem])]
        differences = [above(costs[problem], name, other or best[problem]) for problem in chosen]
        corrected = holm([signed_rank(values) for values in differences])
        for problem, values, p in zip(chosen, differences, corrected, strict=True):
            against = other or best[problem]
            lines.append(
                f"{problem:10} {name} against {against}: {values.mean():+.2f} % (p = {p:.3f}, {len(values)} seeds)"
            )
    lines += ["", "per cent above random selection; share of the time that deciding takes"]
    lines.append(f"{'':28}" + "".join(f"{problem:>16}" for problem in best))
    for name in dict.fromkeys(each.selector for each in runs):
        cells = []
        for problem in best:
            shares = [each.deciding for each in runs if (each.problem, each.selector) == (problem, name)]
            dearer = above(costs[problem], name) if shares else np.empty(0)
            cells.append(f"{dearer.mean():+8.2f} {100 * np.mean(shares):5.1f} %" if len(dearer) else "")
        lines.append(f"{name:28}" + "".join(f"{cell:>16}" for cell in cells))
    return "\n".join(lines)


def above(costs: Mapping[str, Mapping[int, float]], name: str, other: str = BASE) -> npt.NDArray[np.float64]:
    """Return by how many per cent a selector is dearer than another one, on each seed that both have."""
    seeds = sorted(costs[name].keys() & costs.get(other, {}).keys())
    return np.array([100 * (costs[name][seed] / costs[other][seed] - 1) for seed in seeds] or [np.nan])


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=list(PROBLEMS))
    parser.add_argument("--selectors", nargs="+", choices=[*OWN, ONLINE, TRAINED], default=[*OWN, ONLINE, TRAINED])
    parser.add_argument("--out", type=Path, help="CSV file; nothing is kept without it")
    parser.add_argument("--train", action="store_true", help="train the policies that are missing, then compare")
    parser.add_argument("--quick", action="store_true", help="the shortest form: one seed, a twentieth of a second")
    parser.add_argument("--report", action="store_true", help="only tell what is in the file")
    chosen = parser.parse_args(arguments)
    seconds, seeds = (0.05, 1) if chosen.quick else (chosen.seconds, chosen.seeds)
    if chosen.train:
        for name in chosen.problems:
            if not policy_of(PROBLEMS[name]).exists():
                train_policy(PROBLEMS[name], seconds, 1 if chosen.quick else 6, TRAINING)
    with Store(chosen.out, CsvRows(Run)) as store:
        done = {(each.problem, each.selector, each.seed, each.seconds) for each in store.rows}
        for seed in range(0 if chosen.report else seeds):
            for problem in chosen.problems:
                for name in chosen.selectors:
                    if (problem, name, seed, seconds) not in done:
                        store.add(run(PROBLEMS[problem], name, seed, seconds))
        print(report(store.rows, seconds))


if __name__ == "__main__":
    main()
