"""VRPLIB's format of instances, written, in PyVRP's dialect where there is more to say than all its readers know."""

from __future__ import annotations

import numpy as np

from neuralns.errors import InputError
from neuralns.problem.distances import Floats
from neuralns.problem.fleet import ALWAYS, Depot
from neuralns.problem.formats.sol import numbered_vehicles, vehicle_numbers
from neuralns.problem.formats.text import plain
from neuralns.problem.formats.vrplib_fleet import VEHICLE_SECTIONS
from neuralns.problem.instance import Instance


def vrplib_text(instance: Instance) -> str:
    """Return the text of a VRPLIB file; what the format has no place for is refused."""
    for what in _homeless(instance):
        raise InputError(f"{instance.name}: VRPLIB's format has no place for {what}; write a .json file instead.")
    # Depots come first.
    order = [*instance.depot_nodes, *range(1, instance.customers + 1)]
    by_vehicle = _by_vehicle(instance)
    variants = {"VRPB": instance.backhauls, "MDVRP": instance.depots, "HFVRP": by_vehicle, "PCVRP": instance.prizes}
    variant = next((variant for variant, said in variants.items() if said is not None and said is not False), "CVRP")
    lines = [
        f"NAME : {instance.name}",
        f"COMMENT : rounding {instance.rounding}, vehicle cost {plain(instance.vehicle_cost)}",
        f"TYPE : {variant}{'' if instance.windows is None else 'TW'}",
        f"DIMENSION : {len(instance.demands)}",
    ]
    if by_vehicle is None:
        lines.append(f"CAPACITY : {plain(instance.capacity)}")
        keys = {
            "vehicles": "VEHICLES",
            "max_duration": "VEHICLES_MAX_DURATION",
            "max_distance": "VEHICLES_MAX_DISTANCE",
        }
        keys |= {"distance_cost": "VEHICLES_UNIT_DISTANCE_COST"} if instance.distance_cost != 1.0 else {}
        for field, key in keys.items():
            if (limit := getattr(instance, field)) is not None:
                lines.append(f"{key} : {plain(limit)}")
    else:
        lines.append(f"VEHICLES : {len(by_vehicle)}")
    lines.append(f"EDGE_WEIGHT_TYPE : {'EUC_2D' if instance.matrix is None else 'EXPLICIT'}")
    if instance.matrix is not None:
        lines += ["EDGE_WEIGHT_FORMAT : FULL_MATRIX", "EDGE_WEIGHT_SECTION"]
        lines += [_row(row) for row in instance.matrix[np.ix_(order, order)]]
    tables = {
        "NODE_COORD": instance.coordinates,
        "DEMAND": instance.amounts[0],
        "BACKHAUL": instance.pickups,
        "TIME_WINDOW": instance.windows,
        "SERVICE_TIME": instance.service,
        "RELEASE_TIME": instance.release,
        # 0 is the prize of those who have to be served.
        "PRIZE": None if instance.prizes is None else np.where(np.isinf(instance.prizes), 0.0, instance.prizes),
    }
    for name, table in tables.items():
        if table is not None:
            lines.append(f"{name}_SECTION")
            lines += [f"{number} {_row(np.atleast_1d(table[node]))}" for number, node in enumerate(order, 1)]
    numbers = {node: number for number, node in enumerate(order, 1)}
    if instance.groups is not None:
        lines.append("MUTUALLY_EXCLUSIVE_GROUP_SECTION")
        members = [" ".join(str(numbers[node]) for node in group.members) for group in instance.groups]
        lines += [f"{number} {row}" for number, row in enumerate(members, 1)]
    for name, field in VEHICLE_SECTIONS.items() if by_vehicle is not None else ():
        if field != "skills" and getattr(instance.types[0], field) is not None:
            lines.append(f"{name}_SECTION")
            values = [getattr(instance.types[vehicle_type], field) for vehicle_type in by_vehicle or ()]
            rows = [numbers[value] if field == "start" else _row(np.atleast_1d(value)) for value in values]
            lines += [f"{number} {row}" for number, row in enumerate(rows, 1)]
    depots = [str(numbers[node]) for node in instance.depot_nodes]
    return "\n".join([*lines, "DEPOT_SECTION", *depots, "-1", "EOF"]) + "\n"


def _by_vehicle(instance: Instance) -> list[int] | None:
    """Return the type of each vehicle, where a file has to say it; None if one line says it of all."""
    return numbered_vehicles(instance) if instance.fleet_matters or instance.depots is not None else None


def _row(values: Floats) -> str:
    return " ".join(str(plain(value)) for value in values)


def _homeless(instance: Instance) -> list[str]:
    """Return what an instance holds that VRPLIB's format cannot."""
    asked = {
        "travel times apart from distances": instance.durations is not None,
        "windows without an end": bool(np.isinf(instance.latest).any()) and instance.windows is not None,
        "a cost of duration": any(vehicle_type.duration_cost for vehicle_type in instance.types),
        "names of customers": instance.names is not None,
        "several windows of a customer": instance.openings is not None,
        "shipments": instance.shipments is not None,
        "skills": instance.skills is not None or any(vehicle_type.skills for vehicle_type in instance.types),
        "profiles": instance.profiles is not None,
        "route costs": instance.route_costs is not None,
        "capacities and costs of depots": any(each != Depot() for each in instance.depots or ()),
        "a prize of 0": instance.prizes is not None and bool((instance.prizes[1 : instance.customers + 1] == 0).any()),
        "groups that are optional, have a name, or one member": any(
            not group.required or group.name or len(group.members) < 2 for group in instance.groups or ()
        ),
    }
    if _by_vehicle(instance) is not None:
        types = instance.types
        asked |= {
            "as many vehicles of a type as needed, or none": any(not vehicle_type.available for vehicle_type in types),
            "routes that begin and end elsewhere": any(
                vehicle_type.start != vehicle_type.end or vehicle_type.start is None for vehicle_type in types
            ),
            "shifts of vehicles": any(vehicle_type.shift != ALWAYS for vehicle_type in types),
            "the most stops of a route": any(vehicle_type.max_stops is not None for vehicle_type in types),
            "names of vehicle types": any(
                vehicle_type.name and not vehicle_numbers(vehicle_type.name) for vehicle_type in types
            ),
            "limits of some vehicles only": any(
                len({getattr(vehicle_type, field) is None for vehicle_type in types}) > 1
                for field in ("max_distance", "max_duration")
            ),
        }
    return [what for what, there in asked.items() if there]
