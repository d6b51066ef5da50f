"""What kind of problem an instance is, in words."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from neuralns.problem.instance import Instance


def in_words(problem: Instance) -> str:
    """Name the variant of an instance: its customers, and what there is beside one depot and vehicles of one kind.

    >>> from neuralns import Instance
    >>> in_words(Instance("two", [0, 1, 1], 1, [[0, 0], [3, 4], [5, 6]], windows=[[0, 9], [2, 7], [0, 9]]))
    '2 customers with windows'
    """
    people = range(1, problem.customers + 1)
    optional = sum(not problem.required(node) and node not in problem.group_of for node in people)
    deliveries, pickups = (amounts[1 : problem.customers + 1].any(axis=1) for amounts in problem.amounts)
    both, up = int((deliveries & pickups).sum()), int((pickups & ~deliveries).sum())
    narrow = problem.windows is not None and bool(narrow_windows(problem).any())
    served = f"{_number(problem.customers, 'customer')}{' with windows' if narrow else ''}"
    depots = problem.depots or ()
    parts = {
        _number(len(problem.types), "vehicle type"): len(problem.types) > 1,
        _number(len(depots), "depot"): len(depots) > 1,
        "capacities of depots": any(depot.capacity is not None for depot in depots),
        "costs of opening depots": any(depot.cost > 0 for depot in depots),
        f"{optional} optional": optional,
        _number(len(problem.groups or ()), "group"): problem.groups,
        _number(len(problem.shipments or ()), "shipment"): problem.shipments,
        f"{len(problem.longest_rides)} with a longest ride": problem.longest_rides,
        _number(up, "backhaul" if problem.backhauls else "pickup"): up,
        f"{both} with delivery and pickup": both,
        f"goods in {problem.dimensions} dimensions": problem.dimensions > 1,
        f"{len(problem.openings or ())} with several windows": problem.openings,
        "release times": problem.release is not None,
        f"{len(problem.skills or ())} in need of skills": problem.skills,
        "open routes": any(vehicle_type.start is None or vehicle_type.end is None for vehicle_type in problem.types),
        _number(len(problem.profiles or ()), "profile"): problem.profiles,
        f"own costs ({', '.join(cost.name for cost in problem.route_costs or ())})": problem.route_costs,
    }
    return ", ".join([served, *(words for words, there in parts.items() if there)])


def horizon_of(problem: Instance) -> tuple[float, float]:
    """Return from when to when any depot is open."""
    nodes = list(problem.depot_nodes)
    return float(problem.earliest[nodes].min()), float(problem.latest[nodes].max())


def narrow_windows(problem: Instance) -> npt.NDArray[np.bool_]:
    """Return which customers have a window narrower than the horizon, or several."""
    assert problem.windows is not None
    opens, closes = horizon_of(problem)
    begin, end = problem.windows[1 : problem.customers + 1].T
    several = np.isin(np.arange(1, problem.customers + 1), list(problem.openings or ()))
    return np.asarray((begin > opens) | (end < closes) | several)


def _number(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
