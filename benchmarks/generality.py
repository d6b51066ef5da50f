"""What rules cost: iterations a second of processor time on one instance with windows, told in several ways.

python benchmarks/generality.py [--seconds 2] [--rounds 3] [--json FILE] [INSTANCE ...]

Each way adds a rule that changes nothing about the routes: vehicles of two types that are alike, goods of a second
kind, a small cost of durations, pickups told as such. The ways take turns, so that a busy machine disturbs all alike.
INSTANCE adds files of your own, told as they are and without hourly costs, prizes and pickups.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from neuralns import Instance, MaxTime, Uniform, VehicleType, read, solve
from neuralns.problem.generate.windows import generate_windows

CUSTOMERS = 400


def ways(instance: Instance) -> dict[str, Instance]:
    """One instance told in several ways, the plainest first."""
    demands, shift = instance.demands, tuple(instance.windows[0]) if instance.windows is not None else (0.0, np.inf)
    goods = np.stack([demands, demands], axis=1)
    one = VehicleType(instance.capacity, shift=shift)

    def told(**changes: Any) -> Instance:
        return Instance(
            instance.name, demands if "deliveries" not in changes else None, coordinates=instance.coordinates,
            rounding=instance.rounding, windows=instance.windows, service=instance.service, **changes,
        )  # fmt: skip

    return {
        "windows": told(capacity=instance.capacity),
        "two equal vehicle types": told(fleet=[one, one]),
        "two goods": told(deliveries=goods, fleet=[VehicleType([instance.capacity] * 2, shift=shift)]),
        "a small cost of durations": told(capacity=instance.capacity, duration_cost=0.001),
    }


def plainer(instance: Instance) -> dict[str, Instance]:
    """A file as it is, with pickups as deliveries, and without hourly costs and prizes as well."""
    found = {"as it is": instance}
    deliveries, pickups = instance.amounts
    if instance.pickups is not None:
        instance = changed(instance, demands=None, deliveries=deliveries + np.maximum(pickups, 0.0), pickups=None)
        found["pickups as deliveries"] = instance
    fleet = [changed(each, duration_cost=0.0) for each in instance.types]
    found["no hourly costs or prizes"] = changed(instance, fleet=fleet, prizes=None)
    return found


def changed(whole: Any, **values: Any) -> Any:
    """The same with other values."""
    return type(whole)(**{name: getattr(whole, name) for name in whole.__dataclass_fields__} | values)


def rate(instance: Instance, seconds: float, seed: int) -> float:
    """Iterations a second of processor time, operators chosen at random."""
    begin = time.process_time()
    result = solve(instance, MaxTime(seconds), selector=Uniform(), portfolio="windows", seed=seed)
    return result.iterations / (time.process_time() - begin)


def measured(told: dict[str, Instance], seconds: float, rounds: int) -> dict[str, float]:
    """Median rates of all ways, taking turns."""
    found: dict[str, list[float]] = {name: [] for name in told}
    for number in range(rounds + 1):
        for name, instance in told.items():
            value = rate(instance, seconds if number else 0.1, number)
            if number:  # the first round compiles
                found[name].append(value)
    return {name: statistics.median(values) for name, values in found.items()}


def cases(files: list[str]) -> Iterator[tuple[str, dict[str, Instance]]]:
    """Yield all instances, each told in its ways."""
    yield "R1 (short horizon)", ways(generate_windows(CUSTOMERS, "random", "narrow", "short", seed=1))
    yield "RC2 (long horizon)", ways(generate_windows(CUSTOMERS, "mixed", "narrow", "long", seed=1))
    for file in files:
        yield file, plainer(read(file))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", nargs="*", metavar="INSTANCE")
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", metavar="FILE")
    choices = parser.parse_args()
    table = {}
    for title, told in cases(choices.files):
        table[title] = found = measured(told, choices.seconds, choices.rounds)
        fastest = found["windows"] if "windows" in found else max(found.values())
        print(title)
        for name, value in found.items():
            print(f"  {name:28} {value:9,.0f}   {fastest / value:4.1f} times slower".replace(",", " "))
    if choices.json:
        with open(choices.json, "w", encoding="utf-8") as file:
            json.dump(table, file, indent=1)


if __name__ == "__main__":
    main()
