"""The instances that come with the package, and the one way to name an instance anywhere: a file or a bundled name."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path

from neuralns.errors import InputError
from neuralns.problem.formats.detect import is_own_solution, read_solution
from neuralns.problem.formats.own_json import instance_from_json
from neuralns.problem.formats.source import Source, read_instance, read_source
from neuralns.problem.formats.text import parts_ignored
from neuralns.problem.instance import Instance


@cache
def bundled_names() -> tuple[str, ...]:
    """Return the names of the bundled instances, sorted by set and size."""
    names = [entry.name.removesuffix(".json") for entry in files("neuralns.problem").joinpath("data").iterdir()]
    return tuple(sorted(names, key=lambda name: (name.split("-")[0], [int(part) for part in re.findall(r"\d+", name)])))


def bundled(name: str) -> Instance:
    """Return a bundled instance."""
    text = files("neuralns.problem").joinpath("data", f"{name}.json").read_text(encoding="utf-8")
    return instance_from_json(json.loads(text), name)


def read(
    source: str | os.PathLike[str],
    rounding: str | None = None,
    customers: int | None = None,
    vehicle_cost: float | None = None,
    ignore: Collection[str] = (),
) -> Instance:
    """Read an instance from a file, or take a bundled one by name.

    Parameters
    ----------
    source
        A file (VRPLIB, Solomon or JSON) or the name of a bundled instance (see ``neuralns instances``). The best known
        cost of a file is that of the solution beside it, as CVRPLIB hands them out (``X.sol`` beside ``X.vrp``), unless
        neuralns wrote it.
    rounding
        ``none``, ``round``, ``trunc`` or ``dimacs``; left out, what the family's published costs use.
    customers
        Take only the first so many customers, with the capacity scaled in proportion.
    vehicle_cost
        Cost of each route in addition to its length.
    ignore
        A file with something that would change the problem and is not supported, or not known, is refused by name;
        names given here are gone on without: keys of VRPLIB files, fields of JSON, ``windows`` (all that has to do with
        time, and the number of vehicles) and ``vehicles`` of any instance.

    Examples
    --------
    >>> instance = read("C101", customers=20)
    >>> instance.customers, instance.capacity
    (20, 40.0)
    >>> instance.timed, read("C101", ignore="windows").timed
    (True, False)
    """
    name = os.fspath(source)
    if is_bundled(name):
        instance = bundled(name).without(*parts_ignored((ignore,) if isinstance(ignore, str) else ignore))
    else:
        instance = with_cost_beside(read_instance(source, ignore=ignore), name)
    return changed(instance, rounding, customers, vehicle_cost)


def find_source(name: str) -> Source | None:
    """Read the file of a name, once for whatever is asked of it; None if the name is that of a bundled instance."""
    return None if is_bundled(name) else read_source(name)


def is_bundled(name: str) -> bool:
    """Tell whether a name is that of a bundled instance, not of a file; one that can be neither is refused."""
    if os.path.exists(name):
        return False
    if name not in bundled_names() and Path(name).suffix == "" and os.sep not in name:
        raise InputError(f"{name}: no such file, and no bundled instance of that name (see 'neuralns instances').")
    return name in bundled_names()


def changed(
    instance: Instance, rounding: str | None = None, customers: int | None = None, vehicle_cost: float | None = None
) -> Instance:
    """Return an instance with another rounding, the first customers alone, or another cost of vehicles."""
    if rounding is not None:
        instance = instance.with_rounding(rounding)
    if customers is not None:
        instance = instance.first(customers)
    return instance if vehicle_cost is None else instance.with_vehicle_cost(vehicle_cost)


def with_cost_beside(instance: Instance, path: str) -> Instance:
    """Return an instance of a file; its best known cost, if the file has none, is that of the solution beside it."""
    if instance.best_known is not None:
        return instance
    return replace(instance, best_known=_cost_beside(instance, Path(path)))


def _cost_beside(instance: Instance, path: Path) -> float | None:
    """Return the cost of the feasible solution beside an instance, if there is one that others have found."""
    beside = path.with_suffix(".sol")
    if beside == path or not beside.is_file():
        return None
    try:
        if is_own_solution(beside):
            return None
        solution = read_solution(instance, beside)
    except InputError:
        return None
    return solution.cost if solution.feasible else None
