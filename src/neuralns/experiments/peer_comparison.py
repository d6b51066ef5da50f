"""Neuralns beside other solvers: the same instances and seeds, one core, equal time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from neuralns.errors import InputError, how_to_install
from neuralns.experiments.peers import PEERS, installed_peers
from neuralns.experiments.solver_runs import Notify, SolverRun, mean_gaps, run_solvers
from neuralns.files import check_writable
from neuralns.problem.instance import Instance


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
        over all instances.
    """

    runs: tuple[SolverRun, ...]
    solvers: tuple[str, ...]
    instances: tuple[str, ...]
    customers: dict[str, int]
    gaps: dict[str, dict[str, float]]
    means: dict[str, float]

    @property
    def best_peer(self) -> str | None:
        """The solver with the smallest mean gap besides neuralns; none if neuralns is not among several."""
        others = [(mean, solver) for solver, mean in self.means.items() if solver != "neuralns"]
        return min(others)[1] if "neuralns" in self.means and others else None


def compare_peers(
    instances: Sequence[Instance],
    seconds: float,
    seeds: int | Sequence[int],
    path: Path,
    solvers: Sequence[str] | None = None,
    *,
    core: int | None = None,
    notify: Notify = lambda run, done, total: None,
    say: Callable[[str], object] = lambda text: None,
) -> PeerComparison:
    """Run solvers (by default all that are installed) on one core, in equal time, unless the file has that run.

    ``say`` is told which solvers are not installed, where none were named.
    """
    chosen = _solvers_named(solvers)
    for instance in instances:
        if instance.best_known is None or instance.best_known <= 0:
            raise InputError(f"{instance.name}: no best known cost to compare with (a .sol file beside it gives one).")
        if instance.vehicle_cost > 0:
            raise InputError(
                f"{instance.name}: other solvers are not told of its vehicle cost {instance.vehicle_cost:g}."
            )
    check_writable(path)
    absent = [name for name in PEERS if name not in installed_peers()]
    if absent and solvers is None:
        say(f"not installed: {', '.join(absent)} ({how_to_install('peers')})")
    runs = run_solvers({name: PEERS[name][1] for name in chosen}, instances, seconds, seeds, path, [core], notify)
    gaps, customers = mean_gaps(runs), {run.instance: run.customers for run in runs}
    means = {solver: sum(each[solver] for each in gaps.values()) / len(gaps) for solver in chosen}
    names = sorted(gaps, key=lambda name: (customers[name], name))
    return PeerComparison(tuple(runs), tuple(chosen), tuple(names), customers, gaps, means)


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
