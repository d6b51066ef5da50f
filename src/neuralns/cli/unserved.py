"""Customers that are left out: named with the reason before anything else, and listed beside a result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from rich.console import Console

from neuralns.errors import InputError
from neuralns.problem.instance import Instance
from neuralns.problem.solution import Solution

SHOWN = 5
"""So many are named to a person; the others are counted."""


def check_somebody_can_be_served(problem: Instance) -> None:
    """Refuse an instance of which no customer can be on any route."""
    reasons = problem.unservable
    if len(reasons) == problem.customers:
        customer, reason = next(iter(reasons.items()))
        raise InputError(f"{problem.name}: nobody can be served; of customer {problem.label(customer)}, {reason}.")


def announce_unservable(console: Console, problem: Instance) -> None:
    """Name the customers that no route can serve, before the search for the others begins."""
    if problem.unservable:
        _print(
            console,
            f"{problem.name}: {len(problem.unservable)} of {problem.customers} customers cannot be served:",
            [f"{problem.label(customer)}: {reason}" for customer, reason in problem.unservable.items()],
        )


def print_unserved(console: Console, name: str, left_out: list[dict[str, Any]]) -> None:
    """Name the customers that a result leaves out."""
    if left_out:
        _print(
            console,
            f"{name}: {len(left_out)} customer{'' if len(left_out) == 1 else 's'} not served:",
            [f"{each['name']}: {each['reason']}" for each in left_out],
        )


def unserved_with_reasons(solution: Solution, otherwise: str | None = None) -> list[dict[str, Any]]:
    """Return the customers that a solution leaves out, each with its number, its name and the reason.

    ``otherwise`` is that of a customer who could be served; by default, that the search found no place for it.
    """
    instance, reasons = solution.instance, solution.instance.unservable
    if otherwise is None:
        number = instance.vehicles
        routes = "any route" if number is None else f"the routes of {number} vehicles" if number > 1 else "the route"
        otherwise = f"no place was found for it on {routes}"
    return [
        {"customer": customer, "name": instance.label(customer), "reason": reasons.get(customer, otherwise)}
        for customer in solution.unserved
    ]


def skipped_with_prizes(solution: Solution) -> list[dict[str, Any]]:
    """Return the optional customers that a solution leaves out, each with its number, its name and the prize lost.

    Of a shipment only the pickup is named, and of a group that is served nobody else.
    """
    instance = solution.instance
    passed = {each.delivery for each in instance.shipments or ()} | {*solution.unserved}
    passed |= {node for node in instance.group_of if instance.prize(node) == 0}
    return [
        {"customer": customer, "name": instance.label(customer), "prize": instance.prize(customer)}
        for customer in solution.skipped
        if customer not in passed
    ]


def print_skipped(console: Console, name: str, skipped: list[dict[str, Any]]) -> None:
    """Name the optional customers that a result leaves out, those with the largest prizes first."""
    if skipped:
        lost = sum(each["prize"] for each in skipped)
        _print(
            console,
            f"{name}: {len(skipped)} optional customer{'' if len(skipped) == 1 else 's'} skipped, prizes of "
            f"{lost:.10g} lost:",
            [f"{each['name']}: {each['prize']:.10g}" for each in sorted(skipped, key=lambda each: -each["prize"])],
        )


def vehicle_names(solution: Solution) -> list[str]:
    """Return the type of each route's vehicle, where there are several types."""
    instance = solution.instance
    return [instance.type_name(vehicle_type) for vehicle_type in solution.vehicles] if len(instance.types) > 1 else []


def print_vehicles(console: Console, name: str, vehicles: Sequence[str]) -> None:
    """Say how many routes are driven by vehicles of which type."""
    if vehicles:
        counts = ", ".join(f"{number} by {vehicle_type}" for vehicle_type, number in Counter(vehicles).items())
        console.print(f"{name}: routes: {counts}", soft_wrap=True)


def inexcusable_faults(solution: Solution) -> list[str]:
    """Return the faults of a solution; to leave out whom nobody can serve, or when no vehicle is left, is none."""
    instance = solution.instance
    used = Counter(solution.vehicles)
    # What a depot gives out is no vehicle's to know.
    short = {
        node
        for node, depot in zip(instance.depot_nodes, instance.depots or (), strict=False)
        if depot.capacity is not None
    }
    left = [
        vehicle_type
        for number, vehicle_type in enumerate(instance.types)
        if (vehicle_type.available is None or used[number] < vehicle_type.available) and vehicle_type.start not in short
    ]
    left_out = [
        customer
        for customer in solution.unserved
        if customer not in instance.unservable
        and any(instance.needs(customer) <= vehicle_type.skills for vehicle_type in left)
    ]
    return solution.broken_rules() + [f"customer {instance.label(customer)} is not visited." for customer in left_out]


def _print(console: Console, head: str, lines: list[str]) -> None:
    more = [f"and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else []
    for line in (head, *(f"  {line}" for line in (*lines[:SHOWN], *more))):
        console.print(line, soft_wrap=True)
