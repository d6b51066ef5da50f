"""Files of instances and solutions in any format: told apart by content when read, by the file's name when written."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from neuralns.files import write_text
from neuralns.problem.formats.own_json import (
    is_json,
    json_instance_text,
    json_solution_text,
    read_json_instance,
    read_json_solution,
)
from neuralns.problem.formats.sol import read_sol, sol_text
from neuralns.problem.formats.solomon import is_solomon, read_solomon
from neuralns.problem.formats.text import FilePath, read_text
from neuralns.problem.formats.vrplib import read_vrplib, vrplib_text
from neuralns.problem.instance import Instance
from neuralns.problem.solution import Solution


@dataclass(frozen=True)
class InstanceFormat:
    """How instances of a format are recognised by their text, read, and written, if they are."""

    recognises: Callable[[str], bool]
    read: Callable[[FilePath, str, Collection[str]], Instance]
    suffix: str | None = None
    text: Callable[[Instance], str] | None = None


@dataclass(frozen=True)
class SolutionFormat:
    """How solutions of a format are recognised by their text, read and written."""

    recognises: Callable[[str], bool]
    read: Callable[[Instance, FilePath, str], Solution]
    suffix: str
    text: Callable[[Solution], str]


def anything(text: str) -> bool:
    """Take every text: for the last format, whose refusals say what a file lacks."""
    return True


# The first format that recognises a text reads it.
INSTANCE_FORMATS = (
    InstanceFormat(is_json, read_json_instance, ".json", json_instance_text),
    InstanceFormat(is_solomon, read_solomon),
    InstanceFormat(anything, read_vrplib, ".vrp", vrplib_text),
)
SOLUTION_FORMATS = (
    SolutionFormat(is_json, read_json_solution, ".json", json_solution_text),
    SolutionFormat(anything, read_sol, ".sol", sol_text),
)


def read_instance(path: str | os.PathLike[str], rounding: str | None = None, ignore: Collection[str] = ()) -> Instance:
    """Read an instance file: VRPLIB, Solomon or JSON, told apart by its content.

    Parameters
    ----------
    path
        The file.
    rounding
        Rounding convention; left out, the one that the published costs of the instance's family use: ``round`` for
        CVRPLIB's A, B, E, F, M, P, X, XML100 and Belgium sets, what the file says for JSON, ``none`` for all others.
    ignore
        Names of what to go on without, though the file has it and it would change the problem.
    """
    text = read_text(path)
    form = next(form for form in INSTANCE_FORMATS if form.recognises(text))
    instance = form.read(path, text, (ignore,) if isinstance(ignore, str) else tuple(ignore))
    return instance if rounding is None else instance.with_rounding(rounding)


def write_instance(instance: Instance, path: str | os.PathLike[str]) -> None:
    """Write an instance in JSON, or in VRPLIB's format if the file name ends with ``.vrp``."""
    writers = {form.suffix: form.text for form in INSTANCE_FORMATS}
    text = writers.get(Path(path).suffix) or json_instance_text
    write_text(path, text(instance))


def read_solution(instance: Instance, path: str | os.PathLike[str]) -> Solution:
    """Read routes from a ``.sol`` or JSON file; the solution is not checked (see `Solution.faults`)."""
    text = read_text(path)
    form = next(form for form in SOLUTION_FORMATS if form.recognises(text))
    return form.read(instance, path, text)


def write_solution(solution: Solution, path: str | os.PathLike[str]) -> None:
    """Write a solution as CVRPLIB ``.sol``, or as JSON if the file name ends with ``.json``."""
    writers = {form.suffix: form.text for form in SOLUTION_FORMATS}
    text = writers.get(Path(path).suffix, sol_text)
    write_text(path, text(solution))
