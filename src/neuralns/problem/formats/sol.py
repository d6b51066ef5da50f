"""CVRPLIB's ``.sol`` format of solutions, read and written: a line for each route, and one for the cost."""

from __future__ import annotations

import re

from neuralns.errors import InputError
from neuralns.problem.formats.text import FilePath, rows
from neuralns.problem.instance import Instance
from neuralns.problem.solution import Solution

MARK = "Comment written by neuralns"
"""Last line of the files that we write, which readers of the format pass over: they are no best known solutions."""


def read_sol(instance: Instance, path: FilePath, text: str) -> Solution:
    """Read the lines that say ``Route``; what else a file holds, such as its cost, is read over."""
    found = [(line, route) for line, words in rows(text) if "Route" in (route := " ".join(words))]
    if not found:
        raise InputError(f"{path}: no line 'Route #1: ...' found; is this a solution file?")
    for line, route in found:
        if not re.fullmatch(r"Route ?#? ?\d* ?:( ?\d{1,9}\b)*", route):
            raise InputError(f"{path}, line {line}: {route[:60]!r} is not a route ('Route #1: 4 2 7').")
    return Solution(instance, [map(int, route.partition(":")[2].split()) for _, route in found])


def sol_text(solution: Solution) -> str:
    """Return the text of a ``.sol`` file."""
    lines = [f"Route #{number}: {' '.join(map(str, route))}" for number, route in enumerate(solution.routes, 1)]
    cost = solution.cost
    lines.append(f"Cost {int(cost) if cost == int(cost) else repr(cost)}")
    return "\n".join([*lines, MARK]) + "\n"


def is_own_sol(text: str) -> bool:
    """Tell whether we wrote a ``.sol`` file."""
    return text.rstrip().endswith(MARK)
