"""Neuralns beside other solvers: the same instances and seeds, one core, equal time."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from neuralns.errors import InputError, how_to_install
from neuralns.experiments.best_known import BestKnown
from neuralns.experiments.peers import PEERS, cannot_be_told, installed_peers, solver_for
from neuralns.experiments.solver_runs import Notify, SolverRun, mean_gaps, means_of, run_solvers
from neuralns.files import check_writable
from neuralns.problem.instance import Instance

PEER_OBJECTIVES = ("distance", "vehicles")
"""What solvers can be asked for: the least cost, or the fewest vehicles and then the least cost."""
SIZES = (100, 200, 500, 1000)
"""Classes of size end at so many customers."""

Means = dict[str, float]


@dataclass(frozen=True)
class PeerComparison:
    """Solvers in equal time.

    Attributes
    ----------
    solvers, instances
        Names: solvers as they were asked for, instances from the smallest to the largest.
    customers
        Of each instance.
    gaps, means
        Gap to the best known cost in per cent: the mean over seeds of each solver on each instance, and of each solver
        over all instances. Where none is known it is the gap to the cheapest of these runs. NaN with the objective
        ``vehicles``.
    vehicles, costs
        Means over seeds of each solver on each instance.
    known
        The fewest vehicles known of instances, and their cost.
    """

    runs: tuple[SolverRun, ...]
    solvers: tuple[str, ...]
    instances: tuple[str, ...]
    customers: dict[str, int]
    gaps: dict[str, Means]
    means: Means
    vehicles: dict[str, Means] = field(default_factory=dict)
    costs: dict[str, Means] = field(default_factory=dict)
    objective: str = "distance"
    known: Mapping[str, BestKnown] = field(default_factory=dict)

    @property
    def best_peer(self) -> str | None:
        """The solver with the smallest mean gap besides neuralns; none if neuralns is not among several."""
        others = [(mean, solver) for solver, mean in self.means.items() if solver != "neuralns"]
        return min(others)[1] if "neuralns" in self.means and others else None

    @property
    def infeasible(self) -> tuple[SolverRun, ...]:
        """Runs whose routes break a rule."""
        return tuple(run for run in self.runs if not run.feasible)

    def sizes(self) -> dict[str, tuple[str, ...]]:
        """Return the instances of each class of size."""
        found: dict[str, tuple[str, ...]] = {}
        for name in self.instances:
            label = _size(self.customers[name])
            found[label] = (*found.get(label, ()), name)
        return found

    def mean_of(self, figures: dict[str, Means], instances: Sequence[str] | None = None) -> Means:
        """Return the mean of each solver's figures (such as ``gaps``) over instances, by default all."""
        chosen = self.instances if instances is None else instances
        return {solver: sum(figures[name][solver] for name in chosen) / len(chosen) for solver in self.solvers}

    def ahead(self) -> dict[str, int]:
        """Return on how many instances each solver alone is the best, in figures as they are printed.

        >>> gaps = {"a": {"x": 0.1, "y": 0.2}, "b": {"x": 0.301, "y": 0.302}}
        >>> PeerComparison((), ("x", "y"), ("a", "b"), {}, gaps, {}).ahead()
        {'x': 1, 'y': 0}
        """
        won = dict.fromkeys(self.solvers, 0)
        for name in self.instances:
            order = {solver: self._rank(name, solver) for solver in self.solvers}
            best = [solver for solver in self.solvers if order[solver] == min(order.values())]
            if len(best) == 1:
                won[best[0]] += 1
        return won

    def as_few_as_known(self) -> dict[str, int]:
        """Return on how many instances each solver needs no more than the fewest vehicles known, whatever the seed."""
        most: dict[str, int] = dict.fromkeys(self.solvers, 0)
        for solver in self.solvers:
            for name, best in self.known.items():
                own = [run for run in self.runs if (run.instance, run.solver) == (name, solver)]
                most[solver] += bool(own) and all(run.feasible and run.routes <= best.vehicles for run in own)
        return most

    def _rank(self, instance: str, solver: str) -> tuple[float, ...]:
        if self.objective == "vehicles":
            return (round(self.vehicles[instance][solver], 2), round(self.costs[instance][solver], 1))
        return (round(self.gaps[instance][solver], 2),)


def compare_peers(
    instances: Sequence[Instance],
    seconds: float,
    seeds: int | Sequence[int],
    path: Path,
    solvers: Sequence[str] | None = None,
    *,
    objective: str = "distance",
    known: Mapping[str, BestKnown] | None = None,
    core: int | None = None,
    notify: Notify = lambda run, done, total: None,
    say: Callable[[str], object] = lambda text: None,
) -> PeerComparison:
    """Run solvers (by default all that can) on one core, in equal time, unless the file has that run.

    ``known`` are the fewest vehicles known, by name of instance. ``say`` is told which solvers are not installed, and
    which cannot be told all of an instance, where none were named.
    """
    if objective not in PEER_OBJECTIVES:
        raise InputError(
            f"objective {objective!r:.60} cannot be compared with other solvers, only {' and '.join(PEER_OBJECTIVES)}."
        )
    chosen = _solvers_named(solvers)
    for instance in instances:
        _expect_comparable(instance, objective)
    chosen = _those_who_know(chosen, instances, objective, None if solvers is not None else say)
    check_writable(path)
    absent = [name for name in PEERS if name not in installed_peers()]
    if absent and solvers is None:
        say(f"not installed: {', '.join(absent)} ({how_to_install('peers')})")
    runs = run_solvers(
        {name: solver_for(name, objective) for name in chosen},
        instances,
        seconds,
        seeds,
        path,
        [core],
        notify,
        objective,
    )
    runs = _with_gaps(runs)
    gaps, customers = mean_gaps(runs), {run.instance: run.customers for run in runs}
    means = {solver: sum(each[solver] for each in gaps.values()) / len(gaps) for solver in chosen}
    names = sorted(gaps, key=lambda name: (customers[name], name))
    vehicles, costs = means_of(runs, lambda run: run.routes), means_of(runs, lambda run: run.cost)
    best = {name: (known or {})[name] for name in names if name in (known or {})}
    return PeerComparison(
        tuple(runs), tuple(chosen), tuple(names), customers, gaps, means, vehicles, costs, objective, best
    )


def _with_gaps(runs: Sequence[SolverRun]) -> list[SolverRun]:
    """Return runs with gaps to the cheapest of them, by instance, where no best known cost gave them one."""
    least: dict[str, float] = {}
    for run in runs:
        least[run.instance] = min(run.cost, least.get(run.instance, math.inf))
    return [
        replace(run, gap=100.0 * (run.cost / least[run.instance] - 1.0))
        if run.feasible and run.objective == "distance" and math.isnan(run.gap) and least[run.instance] > 0
        else run
        for run in runs
    ]


def _expect_comparable(instance: Instance, objective: str) -> None:
    """Refuse an instance that gives nothing to compare, or that no solver can do whole."""
    if objective == "distance" and instance.best_known is not None and instance.best_known <= 0:
        raise InputError(f"{instance.name}: its best known cost {instance.best_known:g} leaves no gaps.")
    dearest = max(vehicle_type.fixed_cost for vehicle_type in instance.types)
    if objective == "vehicles" and dearest > 0:
        raise InputError(f"{instance.name}: fewest vehicles leave nothing for its vehicle cost {dearest:g} to decide.")
    for customer, reason in instance.unservable.items():
        if instance.required(customer):
            raise InputError(f"{instance.name}: customer {instance.label(customer)} can be on no route: {reason}.")


def _those_who_know(
    names: Sequence[str], instances: Sequence[Instance], objective: str, say: Callable[[str], object] | None
) -> list[str]:
    """Return the solvers that can be told all that the instances have; name the others, or refuse them."""
    able = []
    for name in names:
        lacks = [(cannot_be_told(name, instance, objective), instance.name) for instance in instances]
        lack = next(((what, where) for what, where in lacks if what is not None), None)
        if lack is None:
            able.append(name)
        elif say is None:
            raise InputError(f"solver {name!r} knows no {lack[0]}, which {lack[1]} needs; leave it out.")
        else:
            say(f"left out: {name} (knows no {lack[0]}, which {lack[1]} needs)")
    return able


def _size(customers: int) -> str:
    """Return the class of a size in words.

    >>> _size(100), _size(400), _size(1001)
    ('up to 100', '201 to 500', 'above 1000')
    """
    for low, high in zip((0, *SIZES), SIZES, strict=False):
        if customers <= high:
            return f"{low + 1} to {high}" if low else f"up to {high}"
    return f"above {SIZES[-1]}"


def _solvers_named(names: Sequence[str] | None) -> list[str]:
    """Return the names of solvers as we write them; refuse those that cannot run here."""
    available = installed_peers()
    if names is None:
        return available
    by_name = {name.lower(): name for name in PEERS}
    for name in names:
        if name.lower() not in by_name:
            raise InputError(f"solver {name!r} is not known; choose from {', '.join(PEERS)}.")
        if by_name[name.lower()] not in available:
            raise InputError(f"solver {name!r} is not installed; {how_to_install('peers')}.")
    return [by_name[name.lower()] for name in names]
