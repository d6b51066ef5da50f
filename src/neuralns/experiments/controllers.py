"""Training of a controller: many short runs with drawn settings, a response surface fitted to them, and again.

A *group* is an instance, a time, a seed, a run as `solve` does it by default, and one with each of some settings: what
the surface fitted to the groups before takes for best, others near it, and others from afar. Only differences within a
group count. Since the surface has not seen the group that it is tried on, how it did there against the default is an
honest figure.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from neuralns.errors import InputError
from neuralns.experiments.executors import LostProcessError, refuse_cut_short
from neuralns.experiments.statistics import mean_by_instance, signed_rank
from neuralns.experiments.store import JsonRows, Store
from neuralns.operators.portfolio import Portfolio, make_portfolio, portfolio_named, strongest_for
from neuralns.problem.bundled import read
from neuralns.problem.generate.variants import GENERATORS, generate_of
from neuralns.problem.instance import Instance
from neuralns.search.setup import initial_solution
from neuralns.search.solve import solve
from neuralns.selection.constant import Constant
from neuralns.selection.dials import FURTHEST, Dials
from neuralns.selection.learned_controller import NETWORK
from neuralns.selection.policy_file import Policy
from neuralns.selection.response import Response, fit_response
from neuralns.selection.traits import NAMES, traits_of

Floats = npt.NDArray[np.float64]

SETTINGS = 6
"""Settings tried in a group, beside the default: the best by the surface, and others."""
BROAD = 24
"""Groups, at least, before the surface takes part in drawing settings."""
REFIT = 8
"""Groups between two fits."""
MOST_LOST = 3
"""Processes that may be lost before a training is given up."""
SECONDS_PER_CUSTOMER = (0.008, 0.04)
"""Where no time is given, it is drawn from this range, evenly by its logarithm."""
LEAST_SECONDS, MOST_SECONDS = 1.0, 4.5
GENERATED_SIZES = (80, 400)
"""Fewest and most customers of generated instances, drawn evenly by their logarithm."""
SEEDS = 1_000_000
"""Generators' seeds of a training begin at so many times its own seed, and one more: smaller ones are for tests."""


@dataclass(frozen=True)
class Source:
    """What the instance of a group is: a file, or one generated of a variant, size and seed."""

    file: str | None = None
    variant: str | None = None
    customers: int = 0
    seed: int = 0

    def read(self) -> Instance:
        """Return the instance."""
        if self.file is not None:
            return read(self.file)
        assert self.variant is not None
        return generate_of(self.variant, self.customers, self.seed)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Group:
    """What came of the runs on an instance: traits, the cost by the default, and dials and cost of each setting.

    ``tried`` says whether the first row is what the surface took for best. A run that leaves customers out who must be
    served has no cost.
    """

    number: int
    kind: str
    seconds: float
    traits: list[float]
    default: float | None
    tried: bool
    rows: list[list[float]]
    costs: list[float | None]

    @property
    def runs(self) -> int:
        """How many searches it took."""
        return 1 + len(self.rows)


@dataclass(frozen=True)
class Standing:
    """Where a training stands, for those who watch."""

    groups: int
    runs: int
    seconds: float
    budget: float
    gain: float
    foretold: float


def check_sources(files: Sequence[str], variants: str | None, seed: int = 0) -> Callable[[int], Source]:
    """Return what the instance of each group is: files in turn, or instances of variants, generated in turn.

    Files that cannot be read are refused at once.
    """
    if (variants is None) == (not files):
        raise InputError("a controller is trained on instances, or on generated ones (--generate VARIANT,...).")
    if variants is None:
        names = [*files]
        for name in names:
            read(name)
        return lambda number: Source(file=names[number % len(names)])
    kinds = [kind.strip() for kind in variants.split(",")]
    for kind in kinds:
        if kind not in GENERATORS:
            raise InputError(f"variant {kind!r} is not known; choose among {', '.join(GENERATORS)}.")

    def generated(number: int) -> Source:
        least, most = map(math.log, GENERATED_SIZES)
        customers = round(math.exp(np.random.default_rng((seed, number, 1)).uniform(least, most)))
        # Shipments have two stops each.
        return Source(None, kinds[number % len(kinds)], customers + customers % 2, SEEDS * (seed + 1) + number)

    return generated


def draw_row(dials: Dials, default: Floats, rng: np.random.Generator) -> Floats:
    """Return a setting from afar: around the default or all dials at 0, some operators left out, others brought in."""
    row = default.copy() if rng.random() < 0.5 else np.zeros(len(dials.names))
    destroys, repairs, improves, rest = dials.sizes
    operators = destroys + repairs
    for first, last in ((0, destroys), (destroys, operators)):
        part = row[first:last]
        part += rng.normal(0.0, 1.0, last - first)
        for place in range(last - first):
            chance = rng.random()
            if chance < 0.4:
                part[place] = -2 * FURTHEST if chance < 0.2 else rng.normal()
        if (part < -FURTHEST).all():
            part[rng.integers(last - first)] = 0.0
    for place in range(operators, operators + improves):
        chance = rng.random()
        if chance < 0.7:
            row[place] = -2 * FURTHEST if chance < 0.35 else rng.uniform(-2.0, 2.3)
    row[operators + improves :] = rng.normal(0.0, 0.6, rest)
    return row


def near_row(dials: Dials, best: Floats, rng: np.random.Generator) -> Floats:
    """Return a setting near another one."""
    count = len(dials.portfolio.actions)
    row = best + np.where(
        np.arange(len(best)) < count, rng.normal(0.0, 0.7, len(best)), rng.normal(0.0, 0.35, len(best))
    )
    place = int(rng.integers(count))
    row[place] = -2 * FURTHEST if rng.random() < 0.5 and (np.delete(best[:count], place) > -FURTHEST).any() else 0.0
    return row


def play_group(
    number: int,
    source: Source,
    seconds: float | None,
    operators: Sequence[str],
    surface: tuple[Floats, Floats, Floats] | None,
    seed: int,
) -> Group:
    """Do the runs of a group; a surface is given by its factors and the mean and spread of the traits."""
    dials = Dials(make_portfolio("own", operators))
    response = None if surface is None else Response(dials, *surface)
    rng = np.random.default_rng((seed, number))
    instance = source.read()
    least, most = map(math.log, SECONDS_PER_CUSTOMER)
    per_customer = math.exp(rng.uniform(least, most))
    drawn = min(max(instance.customers * per_customer, LEAST_SECONDS), MOST_SECONDS)
    limit = drawn if seconds is None else seconds
    start = initial_solution(instance, "savings", seconds=limit)
    traits = traits_of(instance, start, limit)
    default = dials.like(portfolio_named(strongest_for(instance)))
    rows = []
    if response is not None:
        best = response.best_row(traits, default)
        rows += [best, *(near_row(dials, best, rng) for _ in range(SETTINGS // 2 - 1))]
    elif default is not None:
        rows.append(default)
    around = dials.row({}) if default is None else default
    rows += [draw_row(dials, around, rng) for _ in range(SETTINGS - len(rows))]

    def cost(**steered: Any) -> float | None:
        found = solve(instance, time=limit, seed=number, initial=start, **steered)
        refuse_cut_short(found.stopped_by)
        return found.cost if found.feasible else None

    plain = cost()
    costs = [cost(selector=Constant(dials.portfolio, tuple(row.tolist()))) for row in rows]
    kind = source.variant or source.file or ""
    lists = [row.tolist() for row in rows]
    return Group(number, kind, limit, traits.tolist(), plain, response is not None, lists, costs)


def fit(dials: Dials, groups: Sequence[Group]) -> tuple[Response, float]:
    """Fit a surface to groups; runs that left customers out are left out."""
    kept = [
        (place, row, cost)
        for place, group in enumerate(groups)
        for row, cost in zip(group.rows, group.costs, strict=True)
        if cost is not None
    ]
    if not kept:
        raise InputError("no run of the training has served everybody; there is nothing to learn from.")
    places = np.array([place for place, _, _ in kept])
    _, numbers = np.unique(places, return_inverse=True)
    traits = np.array([groups[place].traits for place in places])
    return fit_response(
        dials, traits, np.array([row for _, row, _ in kept]), np.array([cost for *_, cost in kept]), numbers
    )


def gains(groups: Sequence[Group]) -> list[float]:
    """Return by how many per cent the best setting by the surface was cheaper than the default, in each group."""
    return [
        100.0 * math.log(group.default / group.costs[0])
        for group in groups
        if group.tried and group.default is not None and group.costs[0] is not None
    ]


def train_controller(
    source_of: Callable[[int], Source],
    portfolio: Portfolio,
    minutes: float,
    log: str | os.PathLike[str],
    pool: Executor,
    *,
    workers: int = 1,
    seconds: float | None = None,
    seed: int = 0,
    about: str = "",
    card: dict[str, Any] | None = None,
    watch: Callable[[Standing], str | None] = lambda standing: None,
) -> Policy:
    """Train a controller for some minutes of work, going on from what the log holds.

    Parameters
    ----------
    source_of
        Returns the instance of a group, by its number.
    minutes
        Minutes of processor time of all runs together, those in the log included.
    log
        File with a line for each group; groups in it are not done again.
    about
        What the instances are; a log of others is refused.
    watch
        Called after each group; if it returns a reason, the training ends with what there is.
    """
    dials = Dials(portfolio)
    with log_of(log, portfolio, seconds, seed, about) as store:
        groups = [Group(**row) for row in store.rows]
        response: Response | None = None
        foretold, fitted, lost = 0.0, 0, 0
        running: set[Future[Group]] = set()
        done = {group.number for group in groups}
        numbers = (number for number in count() if number not in done)
        while True:
            if len(groups) >= BROAD and (response is None or len(groups) - fitted >= REFIT):
                (response, foretold), fitted = fit(dials, groups), len(groups)
            spent = sum(group.seconds * group.runs for group in groups)
            runs = sum(group.runs for group in groups)
            reason = watch(Standing(len(groups), runs, spent, 60 * minutes, _mean(gains(groups)), foretold))
            if reason is not None or spent >= 60 * minutes:
                break
            while len(running) < workers:
                number = next(numbers)
                surface = None if response is None else (response.factors, response.mean, response.spread)
                given = number, source_of(number), seconds, portfolio.names, surface, seed
                running.add(pool.submit(play_group, *given))
            finished, _ = wait(running, timeout=0.5, return_when=FIRST_COMPLETED)
            for future in finished:
                running.remove(future)
                try:
                    group = future.result()
                except LostProcessError:
                    lost += 1
                    if lost > MOST_LOST:
                        raise
                    continue
                groups.append(group)
                store.add(asdict(group))
        for future in running:
            future.cancel()
    if len(groups) < 2:
        raise InputError("the training ended before it had two instances to learn from.")
    response, foretold = fit(dials, groups)
    return policy_of(response, groups, foretold, card or {})


def log_of(
    path: str | os.PathLike[str], portfolio: Portfolio, seconds: float | None, seed: int, about: str
) -> Store[Mapping[str, Any]]:
    """Return the rows of a log; one of another training is refused."""
    width = len(Dials(portfolio).names)

    def check(row: Any) -> None:
        group = Group(**row)
        sizes = {len(each) for each in group.rows}
        if sizes != {width} or len(group.traits) != len(NAMES) or len(group.costs) != len(group.rows):
            raise ValueError
        np.array(group.rows, np.float64), np.array(group.traits, np.float64), group.seconds + group.number

    conditions = {
        "operators": [*portfolio.names],
        "traits": list(NAMES),
        "instances": about,
        "seconds": seconds,
        "seed": seed,
    }
    return Store(Path(path), JsonRows(conditions, check, "choose another output, or begin anew with --force"))


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else math.nan


def policy_of(response: Response, groups: Sequence[Group], foretold: float, card: dict[str, Any]) -> Policy:
    """Return the policy of a trained controller, with its card."""
    from neuralns import __version__

    portfolio = response.dials.portfolio
    won = gains(groups)
    kinds = sorted({group.kind for group in groups})
    content: dict[str, Any] = {
        "network": NETWORK,
        "operators": {
            "destroy": [entry.name for entry in portfolio.destroys],
            "repair": [entry.name for entry in portfolio.repairs],
            "improve": [entry.name for entry in portfolio.improves],
        },
        "traits": list(NAMES),
        "engine": __version__,
        "kinds": kinds,
        "groups": len(groups),
        "runs": sum(group.runs for group in groups),
        "foretold": round(foretold, 4),
        "seconds": [min(group.seconds for group in groups), max(group.seconds for group in groups)],
    }
    if len(won) > 1:
        mean, half = mean_by_instance([[value] for value in won])
        content["gain"] = {
            "mean": round(mean, 4),
            "interval": round(half, 4) if math.isfinite(half) else None,
            "groups": len(won),
            "p": signed_rank(won),
        }
    tensors = {"factors": response.factors, "mean": response.mean, "spread": response.spread}
    return Policy(content | card, {name: values.astype(np.float32) for name, values in tensors.items()})
