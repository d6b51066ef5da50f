"""Training of a controller: many short runs with drawn settings, a response surface fitted to them, and again.

A *group* is an instance, a time, a seed, a run with operators at random (``selector="random"``), and one with each of
some settings: what the surface fitted to the groups before takes for best, others near it, and others from afar. Only
differences within a group count. Since the surface has not seen the group that it is tried on, how it did there against
operators at random is an honest figure; the instance it may have seen in other groups, with other seeds.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import asdict, dataclass, fields, replace
from itertools import chain, count
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from neuralns.errors import InputError
from neuralns.experiments.executors import LostProcessError, refuse_cut_short
from neuralns.experiments.statistics import mean_by_instance, signed_rank_by_instance
from neuralns.experiments.store import JsonRows, Store
from neuralns.operators.portfolio import Portfolio, make_portfolio, portfolio_named, strongest_for
from neuralns.problem.bundled import read
from neuralns.problem.generate.variants import GENERATORS, generate_of
from neuralns.problem.instance import Instance
from neuralns.search.setup import initial_solution
from neuralns.search.solve import solve
from neuralns.selection.controller import View
from neuralns.selection.dials import Dials
from neuralns.selection.instance_features import INSTANCE_FEATURES, instance_features_of, variant_of
from neuralns.selection.learned_controller import NETWORK, SPREADS_LIMIT, TENSORS, LearnedController
from neuralns.selection.policy_file import Policy, mark_of
from neuralns.selection.response import MOST_SPREADS_FROM_PRIOR, Response, centre_of, spread_of
from neuralns.selection.response_fit import Runs, fit_response
from neuralns.selection.search_features import SEARCH_FEATURES
from neuralns.selection.staged import STAGES, Staged

Floats = npt.NDArray[np.float64]

SETTINGS = 6
"""Settings tried in a group, beside operators at random: the best by the surface, and others."""
BROAD = 24
"""Groups, at least, before the surface takes part in drawing settings."""
REFIT = 0.1
"""A surface is fitted again when there are so many more groups, as a share, and 8 at least."""
COMMON = 0.8
"""How much of what is drawn is the same in all stages of a run, in spreads."""
MOST_LOST = 3
"""Processes that may be lost before a training is given up."""
SECONDS_PER_CUSTOMER = (0.01, 0.08)
"""Where no time is given, it is drawn from this range, evenly by its logarithm."""
LEAST_SECONDS, MOST_SECONDS = 1.0, 6.0
GENERATED_SIZES = (80, 400)
"""Fewest and most customers of generated instances unless others are given, drawn evenly by their logarithm."""
SURFACE = (*TENSORS.values(), "most_spreads")
"""Fields of a `Response` beside its dials."""
SEEDS = 1_000_000
"""Generators' seeds of a training begin at so many times its own seed, and one more: smaller ones are for tests."""


@dataclass(frozen=True)
class Source:
    """What the instance of a group is: a file, or one generated of a variant, size and seed."""

    file: str | None = None
    variant: str | None = None
    customers: int = 0
    seed: int = 0

    @property
    def name(self) -> str:
        """What tells it from others."""
        return self.file or f"{self.variant}, {self.customers}, {self.seed}"

    def read(self) -> Instance:
        """Return the instance."""
        if self.file is not None:
            return read(self.file)
        assert self.variant is not None
        return generate_of(self.variant, self.customers, self.seed)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Group:
    """What came of the runs on an instance: its variant and features, and what was set, seen and found.

    ``default`` is the cost with operators at random, of the portfolio that the instance has by default. ``rows`` and
    ``search_features`` have a row for each stage of each run, ``tried`` says whether the first run is by what the
    surface took for best. A run that leaves customers out who must be served has no cost.
    """

    number: int
    variant: str
    customers: int
    seconds: float
    instance_features: list[float]
    centre: list[float]
    default: float | None
    tried: bool
    rows: list[list[list[float]]]
    search_features: list[list[list[float]]]
    costs: list[float | None]
    instance: str = ""

    @property
    def runs(self) -> int:
        """How many searches it took."""
        return 1 + len(self.rows)

    @property
    def row(self) -> dict[str, Any]:
        """What a log says of it."""
        return {_IN_LOGS.get(name, name): value for name, value in asdict(self).items()}

    @classmethod
    def of_row(cls, row: Any) -> Group:
        """Return the group that a row of a log is about."""
        names = {_IN_LOGS.get(field.name, field.name): field.name for field in fields(cls)}
        return cls(**{names[key]: row[key] for key in row})


_IN_LOGS = {"variant": "kind", "instance_features": "traits", "search_features": "signs"}
"""What logs call fields of a group."""


@dataclass(frozen=True)
class Standing:
    """Where a training stands, for those who watch."""

    groups: int
    runs: int
    seconds: float
    gain: float
    foretold: float


def check_sources(
    files: Sequence[str], variants: str | None, seed: int = 0, sizes: tuple[int, int] = GENERATED_SIZES
) -> Callable[[int], Source]:
    """Return what the instance of each group is: files in turn, or instances of variants, generated in turn.

    Files that cannot be read are refused at once. ``sizes`` are the fewest and the most customers of generated ones.
    """
    if (variants is None) == (not files):
        raise InputError("a controller is trained on instances, or on generated ones (--generate VARIANT,...).")
    if variants is None:
        names = [*files]
        for name in names:
            read(name)
        return lambda number: Source(file=names[number % len(names)])
    chosen = [variant.strip() for variant in variants.split(",")]
    for variant in chosen:
        if variant not in GENERATORS:
            raise InputError(f"variant {variant!r} is not known; choose among {', '.join(GENERATORS)}.")

    def generated(number: int) -> Source:
        least, most = map(math.log, sizes)
        customers = round(math.exp(np.random.default_rng((seed, number, 1)).uniform(least, most)))
        # Shipments have two stops each.
        return Source(None, chosen[number % len(chosen)], customers + customers % 2, SEEDS * (seed + 1) + number)

    return generated


def draw_rows(dials: Dials, centre: Floats, rng: np.random.Generator) -> list[Floats]:
    """Return a setting near another one for each stage of a run; those of later stages differ a little."""
    spread, width = spread_of(dials), len(dials.names)
    whole = rng.normal(0.0, COMMON, width)
    apart = math.sqrt(1.0 - COMMON**2)
    return [centre + spread * (whole + rng.normal(0.0, apart, width)) for _ in STAGES]


def play_group(
    number: int,
    source: Source,
    seconds: float | None,
    operators: Sequence[str],
    surface: Mapping[str, Floats | float] | None,
    seed: int,
) -> Group:
    """Do the runs of a group; a surface is given by its fields."""
    dials = Dials(make_portfolio("own", operators))
    response = None if surface is None else Response(dials, **surface)  # type: ignore[arg-type]
    rng = np.random.default_rng((seed, number))
    instance = source.read()
    least, most = map(math.log, SECONDS_PER_CUSTOMER)
    per_customer = math.exp(rng.uniform(least, most))
    drawn = min(max(instance.customers * per_customer, LEAST_SECONDS), MOST_SECONDS)
    limit = drawn if seconds is None else seconds
    start = initial_solution(instance, "savings", seconds=limit)
    instance_features = instance_features_of(instance, start, limit)
    centre = centre_of(dials, dials.like(portfolio_named(strongest_for(instance))))

    def cost(**steered: Any) -> float | None:
        found = solve(instance, time=limit, seed=number, initial=start, **steered)
        refuse_cut_short(found.stopped_by)
        return found.cost if found.feasible else None

    def run(
        given: Sequence[Floats] | None, about_best: bool
    ) -> tuple[list[list[float]], list[list[float]], float | None]:
        # All dials at 0 until something is set.
        rows: list[list[float]] = [[0.0] * len(centre) for _ in STAGES]
        asked: set[int] = set()
        seen: list[list[float]] = [[0.0] * len(SEARCH_FEATURES) for _ in STAGES]

        def decide(stage: int, search_features: Floats, view: View) -> Floats:
            best = (
                centre
                if response is None or not about_best
                else response.best_row(centre, instance_features, stage, search_features)
            )
            row = best if given is None else best - centre + given[stage]
            # What is set holds until something else is; stages that were over before the first question have it too.
            for index in range(len(STAGES)):
                if index >= stage or not asked:
                    rows[index] = row.tolist()
            asked.add(stage)
            seen[stage] = search_features.tolist()
            return row

        found = cost(selector=Staged(dials, decide))
        return rows, seen, found

    plain = cost(selector="random")
    # The surface's best as it is, others drawn around it, and as many around the centre.
    drawn_rows = [None, *(draw_rows(dials, centre, rng) for _ in range(SETTINGS - 1))]
    played = [run(rows, 2 * index <= SETTINGS) for index, rows in enumerate(drawn_rows)]
    rows, search_features, costs = (list(part) for part in zip(*played, strict=True))
    return Group(
        number,
        variant_of(instance),
        instance.customers,
        limit,
        instance_features.tolist(),
        centre.tolist(),
        plain,
        response is not None,
        rows,
        search_features,
        costs,
        source.name,
    )


def fit(dials: Dials, groups: Sequence[Group], prior: Response | None = None) -> tuple[Response, float]:
    """Fit a surface to groups, from another one on if there is one; runs that left customers out are left out."""
    kept = [(group, run) for group in groups for run, cost in enumerate(group.costs) if cost is not None]
    if not kept:
        raise InputError("no run of the training has served everybody; there is nothing to learn from.")
    _, numbers = np.unique([group.number for group, _ in kept], return_inverse=True)
    centres = np.array([group.centre for group, _ in kept])
    rows = np.array([group.rows[run] for group, run in kept])
    values = (rows - centres[:, None, :]) / spread_of(dials)
    runs = Runs(
        np.clip(values, -SPREADS_LIMIT, SPREADS_LIMIT),
        np.array([group.instance_features for group, _ in kept]),
        np.array([group.search_features[run][1:] for group, run in kept]),
        np.array([group.costs[run] for group, run in kept], np.float64),
        numbers,
        np.unique([group.instance or str(group.number) for group, _ in kept], return_inverse=True)[1],
    )
    return fit_response(dials, runs, prior=prior)


def gains(groups: Sequence[Group]) -> dict[str, list[float]]:
    """Return by how many per cent the best setting by the surface was cheaper than operators at random, by instance."""
    found: dict[str, list[float]] = {}
    for group in groups:
        if group.tried and group.default is not None and group.costs[0] is not None:
            gain = 100.0 * math.log(group.default / group.costs[0])
            found.setdefault(group.instance or str(group.number), []).append(gain)
    return found


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
    begin_from: LearnedController | None = None,
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
    begin_from
        A controller for the same operators whose surface is taken for true until runs say otherwise.
    watch
        Called after each group; if it returns a reason, the training ends with what there is.
    """
    dials = Dials(portfolio)
    with log_of(log, portfolio, seconds, seed, about, begin_from) as store:
        groups = [Group.of_row(row) for row in store.rows]
        prior = None if begin_from is None else replace(begin_from.response, most_spreads=MOST_SPREADS_FROM_PRIOR)
        response, broad = prior, BROAD if prior is None else 0
        foretold, fitted, lost = 0.0, 0, 0
        running: set[Future[Group]] = set()
        done = {group.number for group in groups}
        numbers = (number for number in count() if number not in done)
        while True:
            if len(groups) >= broad and (response is None or len(groups) - fitted >= max(8, REFIT * fitted)):
                (response, foretold), fitted = fit(dials, groups, prior), len(groups)
            spent = sum(group.seconds * group.runs for group in groups)
            runs = sum(group.runs for group in groups)
            reason = watch(
                Standing(len(groups), runs, spent, _mean(chain.from_iterable(gains(groups).values())), foretold)
            )
            if reason is not None or spent >= 60 * minutes:
                break
            while len(running) < workers:
                number = next(numbers)
                surface = None if response is None else {name: getattr(response, name) for name in SURFACE}
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
                store.add(group.row)
        for future in running:
            future.cancel()
    if len(groups) < 2:
        raise InputError("the training ended before it had two instances to learn from.")
    response, foretold = fit(dials, groups, prior)
    return policy_of(response, groups, foretold, card or {})


def log_of(
    path: str | os.PathLike[str],
    portfolio: Portfolio,
    seconds: float | None,
    seed: int,
    about: str,
    begin_from: LearnedController | None = None,
) -> Store[Mapping[str, Any]]:
    """Return the rows of a log; one of another training is refused."""
    from neuralns import __version__

    width = len(Dials(portfolio).names)

    def check(row: Any) -> None:
        group = Group.of_row(row)
        runs = len(group.costs)
        shapes = (
            (group.rows, (runs, len(STAGES), width)),
            (group.search_features, (runs, len(STAGES), len(SEARCH_FEATURES))),
        )
        for given, shape in (*shapes, (group.instance_features, (len(INSTANCE_FEATURES),)), (group.centre, (width,))):
            found = np.array(given, np.float64)
            if found.shape != shape or not np.isfinite(found).all():
                raise ValueError
        known = [cost for cost in (group.default, *group.costs) if cost is not None]
        if not all(_is_positive(value) for value in (group.seconds, group.customers, *known)):
            raise ValueError
        if type(group.number) is not int or type(group.tried) is not bool or runs == 0:
            raise ValueError
        if not isinstance(group.variant, str) or not isinstance(group.instance, str):
            raise ValueError

    conditions = {
        "operators": [*portfolio.names],
        "traits": list(INSTANCE_FEATURES),
        "signs": list(SEARCH_FEATURES),
        "stages": list(STAGES),
        "engine": __version__,
        "instances": about,
        "seconds": seconds,
        "seed": seed,
        "from": "nothing" if begin_from is None else mark_of(begin_from.policy),
    }
    return Store(Path(path), JsonRows(conditions, check, "choose another output, or begin anew with --force"))


def _is_positive(value: object) -> bool:
    return type(value) in (int, float) and 0 < float(value) < math.inf  # type: ignore[arg-type]


def _mean(values: Iterable[float]) -> float:
    found = [*values]
    return float(np.mean(found)) if found else math.nan


def policy_of(response: Response, groups: Sequence[Group], foretold: float, card: dict[str, Any]) -> Policy:
    """Return the policy of a trained controller, with its card."""
    from neuralns import __version__

    portfolio = response.dials.portfolio
    won = [*gains(groups).values()]
    each = [group.seconds / group.customers for group in groups]
    content: dict[str, Any] = {
        "network": NETWORK,
        "operators": {
            "destroy": [entry.name for entry in portfolio.destroys],
            "repair": [entry.name for entry in portfolio.repairs],
            "improve": [entry.name for entry in portfolio.improves],
        },
        "traits": list(INSTANCE_FEATURES),
        "signs": list(SEARCH_FEATURES),
        "stages": list(STAGES),
        "reach": response.most_spreads,
        "engine": __version__,
        "for": {
            "kinds": sorted({group.variant for group in groups}),
            "customers": [min(group.customers for group in groups), max(group.customers for group in groups)],
            "seconds_per_customer": [round(min(each), 4), round(max(each), 4)],
        },
        "groups": len(groups),
        "runs": sum(group.runs for group in groups),
        "foretold": round(foretold, 4),
    }
    if sum(map(len, won)) > 1:
        mean, half = mean_by_instance(won)
        chance = signed_rank_by_instance(won)
        content["gain"] = {
            "mean": round(mean, 4),
            "interval": round(half, 4) if math.isfinite(half) else None,
            "groups": sum(map(len, won)),
            "instances": len(won),
            "p": chance if math.isfinite(chance) else None,
        }
    return Policy(
        content | card, {name: getattr(response, field).astype(np.float32) for name, field in TENSORS.items()}
    )
