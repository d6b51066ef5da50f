"""Speed of the engine: pairs of operators a second, iterations next to the package ``alns``, and steps of the MDP.

python benchmarks/speed.py [--seconds 0.2] [--json FILE]
"""

from __future__ import annotations

import argparse
import copy
import json
import sys
import time
from typing import Any

import numpy as np

from neuralns import (
    MDP,
    Fixed,
    Instance,
    Lanes,
    MaxIterations,
    MaxTime,
    generate_x,
    make_mdp,
    portfolio_named,
    savings,
    solve,
)
from neuralns.experiments.executors import refuse_cut_short
from neuralns.mdp.environment import OperatorSelection
from neuralns.mdp.lanes import Tours
from neuralns.mdp.mdp import SET_SIZE, episode_seeds

REMOVED = 10
LANES = 128


def pairs_a_second(instance: Instance, destroy: str, repair: str, removed: int, seconds: float) -> float:
    """Iterations a second of one fixed pair under the default acceptance, from a savings start."""
    selector = Fixed(destroy, repair)
    warm_up = solve(instance, MaxIterations(20), selector=selector, scale=removed)
    result = solve(instance, MaxTime(warm_up.runtime + seconds), selector=selector, scale=removed)
    refuse_cut_short(result.stopped_by)
    trace = result.trace
    # The first row of the trace stands before the first iteration, after the initial solution.
    return trace.iteration[-1] / (trace.time[-1] - trace.time[0])


def table(seconds: float) -> list[dict[str, Any]]:
    """Measure every pair of the paper's portfolio at 20, 100 and 1000 customers."""
    portfolio = portfolio_named("paper")
    instances = {size: generate_x(size, route_length=10, seed=1) for size in (20, 100, 1000)}
    rows: list[dict[str, Any]] = []
    print(f"pairs a second ({REMOVED} customers removed; 4 at 20 customers), one core")
    print(f"{'destroy':<22}{'repair':<10}{'n=20':>10}{'n=100':>10}{'n=1000':>10}{'1000 : 100':>12}")
    for destroy in portfolio.destroys:
        for repair in portfolio.repairs:
            rates = {
                size: pairs_a_second(instance, destroy.name, repair.name, 4 if size == 20 else REMOVED, seconds)
                for size, instance in instances.items()
            }
            growth = rates[100] / rates[1000]
            rows.append({"destroy": destroy.name, "repair": repair.name, "rates": rates, "growth": growth})
            cells = "".join(f"{rates[size]:>10,.0f}" for size in instances)
            print(f"{destroy.name:<22}{repair.name:<10}{cells}{growth:>11.1f}x", flush=True)
    means = {size: float(np.mean([row["rates"][size] for row in rows])) for size in instances}
    growth = float(np.mean([row["growth"] for row in rows]))
    print(f"{'mean':<32}" + "".join(f"{means[size]:>10,.0f}" for size in instances) + f"{growth:>11.1f}x")
    print("(the last column: how much longer an iteration takes at 1000 customers; linear growth would be 10x)\n")
    return rows


def alns_iterations_a_second(instance: Instance, seconds: float, as_lists: bool) -> float:
    """Iterations a second of the package ``alns`` with plain-Python random removal and greedy repair.

    Distances are looked up in a numpy matrix, as in the package's documentation, or in nested lists, the fastest form
    for plain Python that we know.
    """
    from alns.accept import HillClimbing
    from alns.select import RandomSelect
    from alns.stop import MaxRuntime

    from alns import ALNS

    assert instance.distances is not None
    distances: Any = instance.distances.tolist() if as_lists else instance.distances
    demands: Any = instance.demands.tolist() if as_lists else instance.demands

    class State:
        def __init__(self, routes: list[list[int]], unassigned: list[int]) -> None:
            self.routes, self.unassigned = routes, unassigned

        def objective(self) -> float:
            return float(
                sum(
                    distances[tail][head]
                    for route in self.routes
                    for tail, head in zip([0, *route], [*route, 0], strict=True)
                )
            )

    def random_removal(state: State, rng: np.random.Generator, **_: object) -> State:
        destroyed = State(copy.deepcopy(state.routes), [])
        for customer in rng.choice(np.arange(1, instance.customers + 1), REMOVED, replace=False):
            destroyed.unassigned.append(int(customer))
            route = next(route for route in destroyed.routes if customer in route)
            route.remove(customer)
        destroyed.routes = [route for route in destroyed.routes if route]
        return destroyed

    def greedy_repair(state: State, rng: np.random.Generator, **_: object) -> State:
        rng.shuffle(state.unassigned)
        while state.unassigned:
            customer = state.unassigned.pop()
            best, where = 2 * distances[0][customer], None
            for route in state.routes:
                if sum(demands[other] for other in route) + demands[customer] > instance.capacity:
                    continue
                for place in range(len(route) + 1):
                    tail = route[place - 1] if place else 0
                    head = route[place] if place < len(route) else 0
                    cost = distances[tail][customer] + distances[customer][head] - distances[tail][head]
                    if cost <= best:
                        best, where = cost, (route, place)
            if where is None:
                state.routes.append([customer])
            else:
                where[0].insert(where[1], customer)
        return state

    solver: Any = ALNS(np.random.default_rng(1))
    solver.add_destroy_operator(random_removal)
    solver.add_repair_operator(greedy_repair)
    start: Any = State([list(route) for route in savings(instance).routes], [])
    begin = time.perf_counter()
    result = solver.iterate(start, RandomSelect(1, 1), HillClimbing(), MaxRuntime(seconds))
    return float((len(result.statistics.objectives) - 1) / (time.perf_counter() - begin))


def compare_with_alns(seconds: float) -> dict[str, float]:
    """Measure both on one instance of 100 customers, in turns, and return medians and ratios."""
    instance = generate_x(100, route_length=10, seed=1)
    ours, matrix, lists = [], [], []
    for _ in range(3):
        ours.append(pairs_a_second(instance, "random-node", "greedy", REMOVED, seconds))
        matrix.append(alns_iterations_a_second(instance, seconds, as_lists=False))
        lists.append(alns_iterations_a_second(instance, seconds, as_lists=True))
    figures = {
        "neuralns": float(np.median(ours)),
        "alns": float(np.median(matrix)),
        "alns_lists": float(np.median(lists)),
    }
    figures["ratio"] = figures["neuralns"] / figures["alns"]
    figures["ratio_lists"] = figures["neuralns"] / figures["alns_lists"]
    print("random removal and greedy repair, 100 customers, 10 removed, iterations a second:")
    print(f"  neuralns                          {figures['neuralns']:>10,.0f}")
    print(f"  alns 7.0, distances in numpy      {figures['alns']:>10,.0f}   {figures['ratio']:.0f}x")
    print(f"  alns 7.0, distances in lists      {figures['alns_lists']:>10,.0f}   {figures['ratio_lists']:.0f}x")
    return figures


def lane_steps_a_second(mdp: MDP, seconds: float) -> float:
    """Steps a second of lanes that play whole episodes by random allowed actions, with all features and resets."""
    starts, seeds, rng = Tours(mdp.start_tours("train")), episode_seeds(0, LANES), np.random.default_rng(1)
    numbers = rng.integers(0, SET_SIZE, LANES)
    lanes = Lanes([mdp] * LANES)

    def play() -> None:
        lanes.reset(starts, seeds, numbers)
        while not lanes.done:
            lanes.step((rng.random(lanes.action_mask.shape) * lanes.action_mask).argmax(axis=1))

    play()
    episodes, begin = 0, time.perf_counter()
    while time.perf_counter() - begin < seconds:
        play()
        episodes += LANES
    return episodes * mdp.steps / (time.perf_counter() - begin)


def environment_steps_a_second(instance: str, customers: int, seconds: float) -> float:
    """Steps a second of the Gymnasium environment in a Python loop: random allowed actions, resets included."""
    environment, rng = OperatorSelection(instance, customers), np.random.default_rng(1)

    def play() -> int:
        _, info = environment.reset()
        steps, done = 0, False
        while not done:
            action = (rng.random(info["action_mask"].shape) * info["action_mask"]).argmax()
            _, _, done, _, info = environment.step(action)
            steps += 1
        return steps

    environment.reset(seed=1)
    play()
    steps, begin = 0, time.perf_counter()
    while time.perf_counter() - begin < seconds:
        steps += play()
    return steps / (time.perf_counter() - begin)


def compare_lanes(seconds: float) -> dict[int, dict[str, float]]:
    """Measure lanes and environment at 20 and 100 customers, in turns, and return medians and ratios."""
    found: dict[int, dict[str, float]] = {}
    print(f"\nsteps of the MDP a second (C101, setting paper, rich features), {LANES} lanes and the environment:")
    print(f"{'customers':<12}{'lanes':>12}{'environment':>14}{'ratio':>8}")
    for customers in (20, 100):
        lanes, environment = [], []
        for _ in range(3):
            lanes.append(lane_steps_a_second(make_mdp("C101", customers=customers), seconds))
            environment.append(environment_steps_a_second("C101", customers, seconds))
        figures = {"lanes": float(np.median(lanes)), "environment": float(np.median(environment))}
        figures["ratio"] = figures["lanes"] / figures["environment"]
        found[customers] = figures
        print(
            f"{customers:<12}{figures['lanes']:>12,.0f}{figures['environment']:>14,.0f}{figures['ratio']:>7.0f}x",
            flush=True,
        )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=0.3, help="seconds for each measurement")
    parser.add_argument("--json", help="write the figures to this file")
    arguments = parser.parse_args()
    rows = table(arguments.seconds)
    try:
        peer: dict[str, float] | None = compare_with_alns(max(1.0, arguments.seconds))
    except ImportError:
        print("the package alns is not installed (pip install 'neuralns[bench]'): no comparison", file=sys.stderr)
        peer = None
    lanes = compare_lanes(max(1.0, arguments.seconds))
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"pairs": rows, "alns": peer, "lanes": lanes}, file, indent=1)


if __name__ == "__main__":
    main()
