"""Does choosing pay? Selectors with the same operators and powers, at equal processor time, on instances set aside.

    python benchmarks/choice.py run runs.csv --arms learned,uniform --time 10 --seeds 3
    python benchmarks/choice.py run runs.csv --arms learned,without-temperature,without-traits --seeds 1
    python benchmarks/choice.py tell runs.csv
    python benchmarks/choice.py tell runs.csv --variants vrptw,pdptw --figure integral
    python benchmarks/choice.py tell runs.csv more.csv --arms uniform --by size
    python benchmarks/choice.py best runs.csv
    python benchmarks/choice.py parts

Instances are generated: six variants, ten sizes from 100 to 1000 customers each, seeds 101 to 160 (``--first 161``: the
sixty after them), which no training and no tuning has seen. Rows are written as they come, and those that are there are
not done again. Time is that of the processor, so that other work on the machine counts for nobody; all that deciding
takes is in it.
"""

# ruff: noqa: E402 (the clock is set before anything takes it)
from __future__ import annotations

import time

time.perf_counter = time.process_time

import argparse
import csv
import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import neuralns
from neuralns.experiments.executors import refuse_cut_short
from neuralns.experiments.statistics import holm, mean_by_instance, signed_rank_by_instance
from neuralns.operators.portfolio import portfolio_named
from neuralns.problem.generate.variants import generate_of
from neuralns.search.setup import initial_solution
from neuralns.selection.default import default_selector
from neuralns.selection.dials import END, SCALE, START, Dials
from neuralns.selection.instance_features import instance_features_of
from neuralns.selection.learned_controller import LearnedController
from neuralns.selection.policy_file import Policy, read_policy
from neuralns.selection.response import spread_of

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.dr_alns import NETWORK as DR_ALNS
from benchmarks.dr_alns import DrAlns

ARMS: dict[str, dict[str, Any]] = {
    "learned": {"selector": "auto"},
    "before": {"selector": "random"},
    "uniform": {"selector": "random", "portfolio": "wide"},
    "gain": {"selector": "gain", "portfolio": "wide"},
    "wheel": {"selector": "timed-roulette", "portfolio": "wide"},
    "intensity": {"selector": "intensity", "portfolio": "wide"},
}
"""What takes part by name; a file (FILE.setting, FILE.policy) takes part as a selector under its own name."""
WITHOUT = "without-"
"""Arms that begin so are the learned controller without one of its powers; plain CVRP has none."""
VARIANTS = "cvrp", "vrptw", "pdptw", "hfvrp", "mdvrptw", "pcvrptw"
SIZES = [2 * round(50 * 10 ** (place / 9)) for place in range(10)]
RANGES = (100, 166), (216, 278), (360, 464), (600, 1000)
"""Fewest and most customers of the ranges of sizes that tables by size have."""
FIRST_SEED = 101
FIELDS = (
    "variant", "customers", "instance", "seed", "arm", "time", "cost", "unserved", "integral", "iterations", "selector",
    "deciding",
)  # fmt: skip


def cases(seeds: int, first: int) -> Iterator[tuple[str, int, int, int]]:
    """Yield variant, customers, number and seed of all cases: sizes and variants mixed, so that a part tells of all."""
    for seed in range(1, seeds + 1):
        for step in range(len(SIZES)):
            for place, variant in enumerate(VARIANTS):
                size = (3 * step + place) % len(SIZES)
                yield variant, SIZES[size], first + place * len(SIZES) + size, seed


def kinds_of(dials: Dials) -> list[str]:
    """Return of each dial which power of a controller it is part of."""
    destroys, repairs, improves, _ = dials.sizes
    operators = destroys + repairs + improves
    kinds = ["weights"] * (destroys + repairs) + ["improvement"] * improves
    return kinds + [
        "scale" if name == SCALE else "temperature" if name in (START, END) else "parameters"
        for name in dials.names[operators:]
    ]


def powers() -> list[str]:
    """Return what a controller can be without: kinds of dials, what the search shows, what the instance is."""
    return [*dict.fromkeys(kinds_of(Dials(portfolio_named("wide")))), "signs", "traits"]


def without(power: str, controller: LearnedController) -> LearnedController:
    """Return a controller without one of its powers.

    Without ``signs`` it decides once; without ``traits`` it sets the same for all instances that have the same
    operators by default.
    """
    tensors, kinds = controller.policy.tensors, kinds_of(controller.dials)
    factors, signs = tensors["factors"], tensors["signs"]
    if power == "signs":
        signs = 0 * signs
    elif power == "traits":
        factors = factors * (np.arange(factors.shape[1]) == 0)
    else:
        kept = np.array([kind != power for kind in kinds] * 2, np.float32)[:, None]
        factors, signs = factors * kept, signs * kept
    policy = Policy(controller.policy.card, {**tensors, "factors": factors, "signs": signs})
    return LearnedController(policy, controller.name)


def play(variant: str, customers: int, number: int, seed: int, arm: str, seconds: float) -> dict[str, Any] | None:
    """Return the row of a run; none for a controller without a power where there is none to take it from."""
    instance = generate_of(variant, customers, number)  # type: ignore[arg-type]
    how: dict[str, Any]
    if arm.startswith(WITHOUT):
        controller = default_selector(instance, seconds)
        if not isinstance(controller, LearnedController):
            return None
        how = {"selector": without(arm.removeprefix(WITHOUT), controller)}
    elif arm.endswith(".policy") and (policy := read_policy(arm)).network == DR_ALNS:
        how = {"selector": DrAlns(policy, arm)}
    else:
        how = ARMS.get(arm) or {"selector": arm}
    result = neuralns.solve(instance, time=seconds, seed=seed, **how)
    # One that Ctrl-C has cut short is no run; those before it are in the file.
    refuse_cut_short(result.stopped_by)
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
    for arm in arms:
        if arm.startswith(WITHOUT) and arm.removeprefix(WITHOUT) not in powers():
            raise SystemExit(f"{arm}: choose what to leave out among {', '.join(powers())}.")
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
            if row is None:
                continue
            with open(output, "a", newline="") as file:
                csv.DictWriter(file, FIELDS, lineterminator="\n").writerow(row)
            print(variant, customers, seed, arm, f"{row['cost']:.1f}", flush=True)


def rows_of(paths: Sequence[Path], seconds: float, variants: Sequence[str]) -> list[dict[str, str]]:
    """Return the runs of some variants and seconds that left nobody out."""
    rows: list[dict[str, str]] = []
    for path in paths:
        with open(path, newline="") as file:
            rows += [row for row in csv.DictReader(file) if float(row["time"]) == seconds and row["unserved"] == "0"]
    return [row for row in rows if row["variant"] in variants]


def range_of(customers: int) -> str:
    """Return the range of sizes that a number of customers is in, as the table by sizes has them."""
    least, most = next(ends for ends in RANGES if customers <= ends[1])
    return f"{least} to {most}"


def tell(
    paths: Sequence[Path],
    against: str,
    seconds: float,
    variants: Sequence[str],
    figure: str,
    by: str,
    others: Sequence[str] | None,
) -> None:
    """Print by how much an arm is shorter than each other one, on the cases that both have, and its iterations.

    ``figure`` is ``cost``, or ``integral``: the mean cost of the best routes over the time of a run. ``by`` is
    ``variant`` or ``size``, what columns are of; ``others`` are the other arms, by default all.
    """
    rows = rows_of(paths, seconds, variants)
    costs: dict[str, dict[tuple[str, str, str], float]] = {}
    steps: dict[str, dict[tuple[str, str, str], int]] = {}
    shares: dict[str, list[float]] = {}
    for row in rows:
        kind = row["variant"] if by == "variant" else range_of(int(row["customers"]))
        key = kind, row["instance"], row["seed"]
        costs.setdefault(row["arm"], {})[key] = float(row[figure])
        steps.setdefault(row["arm"], {})[key] = int(row["iterations"])
        shares.setdefault(row["arm"], []).append(float(row["deciding"] or "nan"))
    columns = variants if by == "variant" else list(dict.fromkeys(map(range_of, SIZES)))
    found = []
    for arm in costs:
        common = sorted(costs[arm].keys() & costs[against].keys())
        if arm == against or not common or (others is not None and arm not in others):
            continue
        pace = math.exp(np.mean([math.log(steps[arm][key] / steps[against][key]) for key in common]))
        groups: dict[tuple[str, str], list[float]] = {}
        for key in common:
            change = 100.0 * math.log(costs[arm][key] / costs[against][key])
            groups.setdefault(key[:2], []).append(change)
        found.append((arm, groups, pace))
    raw = [signed_rank_by_instance(list(groups.values())) for _, groups, _ in found]
    names = ["instances", "shorter by, %", "p", "p (Holm)", *columns, "iterations", "deciding"]
    print(f"| {against} against | {' | '.join(names)} |")
    for (arm, groups, pace), p, corrected in zip(found, raw, holm(raw), strict=True):
        mean, half = mean_by_instance(list(groups.values()))
        parts = []
        for column in columns:
            values = [float(np.mean(each)) for (kind, _), each in groups.items() if kind == column]
            parts.append(f"{np.mean(values):+.2f} ({len(values)})" if values else "")
        share = 100 * float(np.nanmean(shares[arm]))
        means = f"{mean:+.3f} ± {half:.3f} | {p:.2g} | {corrected:.2g}"
        print(f"| {arm} | {len(groups)} | {means} | {' | '.join(parts)} | × {pace:.2f} | {share:.2f} % |")


def best(paths: Sequence[Path], against: str, seconds: float, variants: Sequence[str]) -> None:
    """Print what using the best arm on each instance would win: from below, and from above.

    From below: the arm is chosen by all seeds but one, and judged by that one. From above: chosen and judged by the
    same seeds, with what is luck in it.
    """
    costs: dict[tuple[str, str], dict[str, dict[str, float]]] = {}
    for row in rows_of(paths, seconds, variants):
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
        raise SystemExit(f"{paths[0]}: no instance has runs of {against} and of others with two seeds or more.")
    for name, groups in bounds.items():
        mean, half = mean_by_instance(groups)
        print(
            f"best arm by instance against {against}, from {name}: {mean:+.3f} ± {half:.3f} %, {len(groups)} instances"
        )


def parts(seconds: float) -> None:
    """Print which dials the bundled controllers' surfaces expect how much of, on the instances set aside.

    These are their own expectations when a run begins, before any sign of the search, not measurements.
    """
    kinds = kinds_of(Dials(portfolio_named("wide")))
    print("| variant | " + " | ".join(dict.fromkeys(kinds)) + " | all |")
    for place, variant in enumerate(VARIANTS):
        found, steered = dict.fromkeys(kinds, 0.0), 0
        if variant == "cvrp":
            continue
        for size, customers in enumerate(SIZES):
            instance = generate_of(variant, customers, FIRST_SEED + place * len(SIZES) + size)  # type: ignore[arg-type]
            controller = default_selector(instance, seconds)
            if not isinstance(controller, LearnedController):
                continue
            steered += 1
            features = instance_features_of(instance, initial_solution(instance, "savings"), seconds)
            straight, square = controller.response.effects(features).reshape(2, -1)
            best = controller.response.best_row(np.zeros(len(kinds)), features) / spread_of(controller.dials)
            for name, gain in zip(kinds, -(straight * best + square * best**2), strict=True):
                found[name] += gain
        means = [each / max(1, steered) for each in (*found.values(), sum(found.values()))]
        print(f"| {variant} ({steered}) | " + " | ".join(f"{each:.2f}" for each in means) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    verbs = parser.add_subparsers(dest="verb", required=True)
    doing, telling, highest = (verbs.add_parser(verb) for verb in ("run", "tell", "best"))
    for each in (doing, telling, highest):
        each.add_argument("file", type=Path, nargs=None if each is doing else "+")
        each.add_argument("--time", type=float, default=10.0)
        each.add_argument("--variants", default=",".join(VARIANTS))
    doing.add_argument("--arms", default="learned,before,uniform,gain,wheel,intensity")
    doing.add_argument("--seeds", type=int, default=3)
    doing.add_argument("--minutes", type=float, default=math.inf)
    doing.add_argument("--first", type=int, default=FIRST_SEED, help="generator seed of the first instance")
    doing.add_argument("--sizes", default=",".join(map(str, SIZES)))
    for each in (telling, highest):
        each.add_argument("--against", default="learned")
    telling.add_argument("--arms", help="the other arms; all by default")
    telling.add_argument("--by", default="variant", choices=("variant", "size"), help="what columns are of")
    telling.add_argument("--figure", default="cost", choices=("cost", "integral"))
    verbs.add_parser("parts").add_argument("--time", type=float, default=10.0)
    given = parser.parse_args()
    variants = given.variants.split(",") if "variants" in given else ()
    if given.verb == "run":
        sizes = [int(size) for size in given.sizes.split(",")]
        run(given.file, given.arms.split(","), given.time, given.seeds, given.minutes, variants, sizes, given.first)
    elif given.verb == "tell":
        others = None if given.arms is None else given.arms.split(",")
        tell(given.file, given.against, given.time, variants, given.figure, given.by, others)
    elif given.verb == "best":
        best(given.file, given.against, given.time, variants)
    else:
        parts(given.time)


if __name__ == "__main__":
    main()
