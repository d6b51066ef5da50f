"""Customers that are left out: named with the reason before anything else, and listed beside a result."""

from __future__ import annotations

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
        routes = f"the routes of {instance.vehicles} vehicles" if (instance.vehicles or 0) > 1 else "the route"
        otherwise = f"no place was found for it on {routes}"
    return [
        {"customer": customer, "name": instance.label(customer), "reason": reasons.get(customer, otherwise)}
        for customer in solution.unserved
    ]


def inexcusable_faults(solution: Solution) -> list[str]:
    """Return the faults of a solution; to leave out whom nobody can serve, or when no vehicle is left, is none."""
    instance = solution.instance
    if instance.vehicles is not None and len(solution.routes) >= instance.vehicles:
        return solution.broken_rules()
    left_out = [customer for customer in solution.unserved if customer not in instance.unservable]
    return solution.broken_rules() + [f"customer {instance.label(customer)} is not visited." for customer in left_out]


def _print(console: Console, head: str, lines: list[str]) -> None:
    more = [f"and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else []
    for line in (head, *(f"  {line}" for line in (*lines[:SHOWN], *more))):
        console.print(line, soft_wrap=True)
