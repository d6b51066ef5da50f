"""Does choosing pay? Selectors with the same operators and powers, at equal processor time, on instances set aside.

    python benchmarks/choice.py run runs.csv --arms learned,uniform --time 10 --seeds 3
    python benchmarks/choice.py tell runs.csv
    python benchmarks/choice.py tell runs.csv --variants vrptw,pdptw --figure integral
    python benchmarks/choice.py best runs.csv
    python benchmarks/choice.py parts
    python benchmarks/choice.py without FOLDER

Instances are generated: six variants, ten sizes from 100 to 1000 customers each, seeds 101 to 160 (``--first 161``: the
sixty after them), which no training and no tuning has seen. Rows are written as they come, and those that are there are not done again. Time is that of the
processor, so that other work on the machine counts for nobody; all that deciding takes is in it.
"""

# ruff: noqa: E402 (the clock is set before anything takes it)
from __future__ import annotations

import time

time.perf_counter = time.process_time

import argparse
import csv
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import neuralns
from neuralns.experiments.statistics import holm, mean_by_instance, signed_rank_by_instance
from neuralns.problem.generate.variants import GENERATORS, generate_of
from neuralns.search.setup import initial_solution
from neuralns.selection.dials import END, SCALE, START
from neuralns.selection.learned_controller import LearnedController
from neuralns.selection.names import selector_named
from neuralns.selection.policy_file import Policy, write_policy
from neuralns.selection.response import spread_of
from neuralns.selection.traits import traits_of

ARMS: dict[str, dict[str, Any]] = {
    "learned": {"selector": "auto"},
    "before": {"selector": "random"},
    "uniform": {"selector": "random", "portfolio": "wide"},
    "gain": {"selector": "gain", "portfolio": "wide"},
    "wheel": {"selector": "timed-roulette", "portfolio": "wide"},
    "intensity": {"selector": "intensity", "portfolio": "wide"},
}
"""What takes part by name; a file (FILE.setting, FILE.policy) takes part as a selector under its own name."""
SIZES = [2 * round(50 * 10 ** (place / 9)) for place in range(10)]
FIRST_SEED = 101
FIELDS = (
    "variant", "customers", "instance", "seed", "arm", "time", "cost", "unserved", "integral", "iterations", "selector",
    "deciding",
)  # fmt: skip


def cases(seeds: int, first: int) -> Iterator[tuple[str, int, int, int]]:
    """Yield variant, customers, number and seed of all cases: sizes and variants mixed, so that a part tells of all."""
    for seed in range(1, seeds + 1):
        for step in range(len(SIZES)):
            for place, variant in enumerate(GENERATORS):
                size = (3 * step + place) % len(SIZES)
                yield variant, SIZES[size], first + place * len(SIZES) + size, seed


def play(variant: str, customers: int, number: int, seed: int, arm: str, seconds: float) -> dict[str, Any]:
    """Return the row of a run."""
    instance = generate_of(variant, customers, number)  # type: ignore[arg-type]
    how = ARMS.get(arm) or {"selector": arm}
    result = neuralns.solve(instance, time=seconds, seed=seed, **how)
    times, best = np.array(result.trace.time), np.array(result.trace.best)
    return {
        "variant": variant,
        "customers": customers,
        "instance": number,
        "seed": seed,
        "arm": Path(arm).stem,
        "time": seconds,
        "cost": result.cost,
        "unserved": 0 if result.feasible else len(result.unserved),
        "integral": float((best * np.diff(times, prepend=0.0)).sum() / times[-1]),
        "iterations": result.iterations,
        "selector": Path(result.selector).name,
        "deciding": result.decision_time_share,
    }


def run(
    output: Path,
    arms: Sequence[str],
    seconds: float,
    seeds: int,
    minutes: float,
    variants: Sequence[str],
    sizes: Sequence[int],
    first: int,
) -> None:
    """Do the runs that a file lacks, of some variants and sizes, for some minutes at most."""
    done = set()
    if output.exists():
        with open(output, newline="") as file:
            done = {(row["instance"], row["seed"], row["arm"], float(row["time"])) for row in csv.DictReader(file)}
    else:
        output.write_text(",".join(FIELDS) + "\n")
    end = time.time() + 60 * minutes
    for variant, customers, number, seed in cases(seeds, first):
        if variant not in variants or customers not in sizes:
            continue
        for arm in arms:
            if (str(number), str(seed), Path(arm).stem, seconds) in done:
                continue
            if time.time() > end:
                return
            row = play(variant, customers, number, seed, arm, seconds)
            with open(output, "a", newline="") as file:
                csv.DictWriter(file, FIELDS, lineterminator="\n").writerow(row)
            print(variant, customers, seed, arm, f"{row['cost']:.1f}", flush=True)


def rows_of(path: Path, seconds: float, variants: Sequence[str]) -> list[dict[str, str]]:
    """Return the runs of some variants and seconds that left nobody out."""
    with open(path, newline="") as file:
        rows = [row for row in csv.DictReader(file) if float(row["time"]) == seconds and row["unserved"] == "0"]
    return [row for row in rows if row["variant"] in variants]


def tell(path: Path, against: str, seconds: float, variants: Sequence[str], figure: str) -> None:
    """Print by how much an arm is shorter than each other one, on the cases that both have.

    ``figure`` is ``cost``, or ``integral``: the mean cost of the best routes over the time of a run.
    """
    rows = rows_of(path, seconds, variants)
    costs: dict[str, dict[tuple[str, str, str], float]] = {}
    shares: dict[str, list[float]] = {}
    for row in rows:
        costs.setdefault(row["arm"], {})[row["variant"], row["instance"], row["seed"]] = float(row[figure])
        shares.setdefault(row["arm"], []).append(float(row["deciding"] or "nan"))
    found = []
    for arm in costs:
        common = sorted(costs[arm].keys() & costs[against].keys())
        if arm == against or not common:
            continue
        groups: dict[tuple[str, str], list[float]] = {}
        for variant, number, seed in common:
            key = variant, number, seed
            change = 100.0 * math.log(costs[arm][key] / costs[against][key])
            groups.setdefault((variant, number), []).append(change)
        found.append((arm, groups))
    raw = [signed_rank_by_instance(list(groups.values())) for _, groups in found]
    print(f"| {against} against | instances | shorter by, % | p | p (Holm) | {' | '.join(variants)} | deciding |")
    for (arm, groups), p, corrected in zip(found, raw, holm(raw), strict=True):
        mean, half = mean_by_instance(list(groups.values()))
        parts = []
        for variant in variants:
            values = [float(np.mean(each)) for (kind, _), each in groups.items() if kind == variant]
            parts.append(f"{np.mean(values):+.2f} ({len(values)})" if values else "")
        share = 100 * float(np.nanmean(shares[arm]))
        means = f"{mean:+.3f} ± {half:.3f} | {p:.2g} | {corrected:.2g}"
        print(f"| {arm} | {len(groups)} | {means} | {' | '.join(parts)} | {share:.2f} % |")


def best(path: Path, against: str, seconds: float, variants: Sequence[str]) -> None:
    """Print what using the best arm on each instance would win: from below, and from above.

    From below: the arm is chosen by all seeds but one, and judged by that one. From above: chosen and judged by the
    same seeds, with what is luck in it.
    """
    costs: dict[tuple[str, str], dict[str, dict[str, float]]] = {}
    for row in rows_of(path, seconds, variants):
        seeds = costs.setdefault((row["variant"], row["instance"]), {})
        seeds.setdefault(row["seed"], {})[row["arm"]] = math.log(float(row["cost"]))
    bounds: dict[str, list[list[float]]] = {"below": [], "above": []}
    for by_seed in costs.values():
        arms = sorted(set.intersection(*({*each} for each in by_seed.values())))
        if against not in arms or len(by_seed) < 2:
            continue
        sums = {arm: sum(each[arm] for each in by_seed.values()) for arm in arms}
        bounds["above"].append([100.0 * (sums[against] - min(sums.values())) / len(by_seed)])
        found = []
        for each in by_seed.values():
            chosen = min(arms, key=lambda arm: sums[arm] - each[arm])
            found.append(100.0 * (each[against] - each[chosen]))
        bounds["below"].append(found)
    if not bounds["above"]:
        raise SystemExit(f"{path}: no instance has runs of {against} and of others with two seeds or more.")
    for name, groups in bounds.items():
        mean, half = mean_by_instance(groups)
        print(
            f"best arm by instance against {against}, from {name}: {mean:+.3f} ± {half:.3f} %, {len(groups)} instances"
        )


def bundled() -> tuple[LearnedController, list[str]]:
    """Return the bundled controller and, of each of its dials, which kind it is."""
    controller = selector_named("controller")
    assert isinstance(controller, LearnedController)
    dials = controller.dials
    destroys, repairs, improves, _ = dials.sizes
    operators = destroys + repairs + improves
    group = ["weights of operators"] * (destroys + repairs) + ["shares of improvement"] * improves
    group += [
        "customers to remove" if name == SCALE else "temperature" if name in (START, END) else "lengths and rates"
        for name in dials.names[operators:]
    ]
    return controller, group


def without(folder: Path) -> None:
    """Write the bundled controller without each kind of dial, without what the search shows, and without traits.

    Arm ``learned`` leaves plain CVRP alone, files given as arms do not: compare on the other variants.
    """
    controller, group = bundled()
    folder.mkdir(parents=True, exist_ok=True)
    card, tensors = controller.policy.card, controller.policy.tensors

    def write(name: str, **changed: Any) -> None:
        write_policy(Policy(card, {**tensors, **changed}), folder / f"without-{name.replace(' ', '-')}.policy")

    for kind in dict.fromkeys(group):
        kept = np.array([each != kind for each in group] * 2, np.float32)[:, None]
        write(kind, factors=tensors["factors"] * kept, signs=tensors["signs"] * kept)
    write("signs", signs=0 * tensors["signs"])
    write("traits", factors=tensors["factors"] * (np.arange(tensors["factors"].shape[1]) == 0))


def parts(seconds: float) -> None:
    """Print which dials the bundled controller's surface expects how much of, on the instances set aside.

    These are its own expectations when a run begins, before any sign of the search, not measurements.
    """
    controller, group = bundled()
    response, dials = controller.response, controller.dials
    print("| variant | " + " | ".join(dict.fromkeys(group)) + " | all |")
    for place, variant in enumerate(GENERATORS):
        found: dict[str, float] = dict.fromkeys(group, 0.0)
        if variant == "cvrp":
            continue
        for size, customers in enumerate(SIZES):
            instance = generate_of(variant, customers, FIRST_SEED + place * len(SIZES) + size)  # type: ignore[arg-type]
            traits = traits_of(instance, initial_solution(instance, "savings"), seconds)
            straight, square = response.effects(traits).reshape(2, -1)
            best = response.best_row(np.zeros(len(group)), traits) / spread_of(dials)
            for name, gain in zip(group, -(straight * best + square * best**2), strict=True):
                found[name] += gain / len(SIZES)
        print(f"| {variant} | " + " | ".join(f"{each:.2f}" for each in [*found.values(), sum(found.values())]) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    verbs = parser.add_subparsers(dest="verb", required=True)
    doing, telling, highest = (verbs.add_parser(verb) for verb in ("run", "tell", "best"))
    for each in (doing, telling, highest):
        each.add_argument("file", type=Path)
        each.add_argument("--time", type=float, default=10.0)
        each.add_argument("--variants", default=",".join(GENERATORS))
    doing.add_argument("--arms", default="learned,before,uniform,gain,wheel,intensity")
    doing.add_argument("--seeds", type=int, default=3)
    doing.add_argument("--minutes", type=float, default=math.inf)
    doing.add_argument("--first", type=int, default=FIRST_SEED, help="generator seed of the first instance")
    doing.add_argument("--sizes", default=",".join(map(str, SIZES)))
    for each in (telling, highest):
        each.add_argument("--against", default="learned")
    telling.add_argument("--figure", default="cost", choices=("cost", "integral"))
    verbs.add_parser("parts").add_argument("--time", type=float, default=10.0)
    verbs.add_parser("without").add_argument("folder", type=Path)
    given = parser.parse_args()
    variants = given.variants.split(",") if "variants" in given else ()
    if given.verb == "run":
        sizes = [int(size) for size in given.sizes.split(",")]
        run(given.file, given.arms.split(","), given.time, given.seeds, given.minutes, variants, sizes, given.first)
    elif given.verb == "tell":
        tell(given.file, given.against, given.time, variants, given.figure)
    elif given.verb == "best":
        best(given.file, given.against, given.time, variants)
    elif given.verb == "without":
        without(given.folder)
    else:
        parts(given.time)


if __name__ == "__main__":
    main()
