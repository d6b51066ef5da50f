"""What a command line says of searches: how instances are read, how operators are chosen, how routes are written."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from neuralns.cli.options import parse_route_cost, read_problem
from neuralns.errors import InputError, InputWarning
from neuralns.operators.own_parts import is_own_file, load_function, load_part, split_own_file
from neuralns.operators.portfolio import Portfolio, make_portfolio
from neuralns.operators.registry import load_operators
from neuralns.problem.bundled import find_source
from neuralns.problem.distances import rounding_named
from neuralns.problem.formats.detect import write_solution
from neuralns.problem.formats.source import Source as FileSource
from neuralns.problem.formats.vroom import VroomProblem, read_vroom
from neuralns.problem.formats.vroom_output import write_vroom_answer
from neuralns.problem.instance import Instance, objective_costs
from neuralns.problem.solution import Solution
from neuralns.search.acceptance.rule import Acceptance
from neuralns.search.setup import portfolio_of
from neuralns.search.stopping import Stop, StopWhen
from neuralns.selection.default import AUTO
from neuralns.selection.names import selector_named
from neuralns.selection.selector import Selector, new_memory_of


@dataclass(frozen=True)
class Source:
    """An instance, what it is in VROOM's JSON if it came from there, and the seconds that took to read."""

    instance: Instance
    vroom: VroomProblem | None
    seconds: float = 0.0

    def write(self, solution: Solution, path: str, seconds: float | None = None) -> None:
        """Write routes as the file name says; JSON in the form of the instance, with how long the search took."""
        if self.vroom is not None and Path(path).suffix.lower() == ".json":
            took = None if seconds is None else {"loading": self.seconds, "solving": seconds}
            write_vroom_answer(self.vroom, solution, path, took)
        else:
            write_solution(solution, path)

    def start(self, initial: str | None) -> Solution | str:
        """Return what to start from: what an option says, else the steps of VROOM's JSON, else savings."""
        steps = None if self.vroom is None else self.vroom.start
        if steps is not None and initial is not None:
            raise InputError(
                f"{self.instance.name}: steps of vehicles say what to start from, and so does --initial {initial}; "
                "--ignore steps goes on without them."
            )
        return steps or initial or "savings"


class Reading:
    """How instances are read: the options that say so."""

    def __init__(
        self,
        rounding: str | None,
        customers: int | None,
        vehicle_cost: float | None,
        ignore: Sequence[str],
        vehicles: str | None,
        capacity: float | None,
        matrix: str | None,
        speed: float | None,
        lenient: bool,
        objective: str | None,
        route_cost: Sequence[str],
    ) -> None:
        if rounding is not None:
            rounding_named(rounding)
        if objective is not None:
            objective_costs(objective)
        self._own = tuple(map(parse_route_cost, route_cost))
        self._changes = (rounding, customers, vehicle_cost, ignore)
        self._tables = (vehicles, capacity, matrix, speed)
        self._lenient, self._ignore, self._speed = lenient, ignore, speed
        self._not_for_vroom = {
            "--objective": objective,
            "--rounding": rounding,
            "--customers": customers,
            "--matrix": matrix,
            "--vehicle-cost": vehicle_cost,
            "--vehicles": vehicles,
            "--capacity": capacity,
            "--route-cost": list(route_cost) or None,
        }

    def read(self, source: str) -> Source:
        """Read an instance from a file, or take a bundled one."""
        begun = time.perf_counter()
        file = find_source(source)
        if file is not None and file.is_vroom:
            vroom = self._read_vroom(file)
            return Source(vroom.instance, vroom, time.perf_counter() - begun)
        if self._lenient:
            raise InputError(f"{source}: --lenient is for VROOM's JSON, which this is not.")
        instance = read_problem(source, *self._changes, *self._tables, source=file)
        return Source(instance.with_route_costs(self._own), None)

    def _read_vroom(self, file: FileSource) -> VroomProblem:
        """Return the problem of a file with VROOM's JSON, which leaves no room for some options."""
        for option, value in self._not_for_vroom.items():
            if value is not None:
                raise InputError(
                    f"{file.path}: {option} {value} does not go with VROOM's JSON, which says all of that itself."
                )
        problem = read_vroom(file.text, self._lenient, source=file.path, ignore=self._ignore, speed=self._speed)
        for note in problem.notes:
            warnings.warn(note, InputWarning, stacklevel=2)
        return problem


def own_acceptance(name: str | None) -> Acceptance | None:
    """Return the acceptance rule of a user's file, which may be followed by its name there."""
    if name is None:
        return None
    how = "write a subclass of neuralns.Acceptance, or an instance of one"
    return load_part(*_own_file("--acceptance", name), Acceptance, "acceptance rule", how)


def own_stop(name: str | None) -> Stop:
    """Return the rule of a user's file that says when to stop; no limit if there is none."""
    if name is None:
        return Stop()
    how = "write a function of the state that says whether to stop"
    found = load_function(*_own_file("--stop", name), Stop, "stopping rule", how)
    return found if isinstance(found, Stop) else StopWhen(found)


def _own_file(option: str, name: str) -> tuple[str, str]:
    if not is_own_file(name):
        raise InputError(f"{option} {name!r:.60} is no Python file, such as mine.py or mine.py:NAME.")
    return split_own_file(name)


class Choice:
    """How operators are chosen, and from which.

    Attributes
    ----------
    selector
        The selector; ``auto`` and ``best-fixed`` by their names, since the search itself finds what they stand for.
    own_file
        Whether it is of a Python file of the user's.
    """

    def __init__(
        self,
        selector: str,
        temperature: float | None,
        decide_every: int,
        portfolio: str | None,
        operators: Sequence[str],
    ) -> None:
        if selector == AUTO and (temperature is not None or decide_every != 1):
            raise InputError("--temperature and --decide-every are for a policy; choose one with --selector.")
        self._loaded = [entry.name for path in operators for entry in load_operators(path)]
        self._portfolio = portfolio
        self.selector: Selector | str = (
            selector if selector in ("best-fixed", AUTO) else selector_named(selector, temperature, decide_every)
        )
        self.own_file = is_own_file(selector)

    def portfolio_for(self, instance: Instance) -> Portfolio | None:
        """Return the operators for an instance; None where the search chooses them with the selector."""
        if self.selector == AUTO and self._portfolio is None and not self._loaded:
            return None
        chosen = portfolio_of(self._portfolio, None if isinstance(self.selector, str) else self.selector, instance)
        if self._loaded and "," not in chosen.name and chosen.name != "own":
            chosen = make_portfolio(chosen.name, [*chosen.names, *self._loaded])
        return chosen

    def check(self, instance: Instance) -> None:
        """Refuse a selector that does not go with the operators for an instance."""
        chosen = self.portfolio_for(instance)
        if not isinstance(self.selector, str) and chosen is not None:
            new_memory_of(self.selector, chosen, 1)
