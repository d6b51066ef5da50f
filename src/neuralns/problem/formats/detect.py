"""Files of instances and solutions in any format: told apart by content when read, by the file's name when written."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from neuralns.errors import InputError
from neuralns.files import check_suffix, check_writable, write_text
from neuralns.problem.formats.li_lim import is_li_lim, read_li_lim
from neuralns.problem.formats.own_json import (
    is_json,
    is_own_json_solution,
    json_instance_text,
    json_solution_text,
    read_json_instance,
    read_json_solution,
)
from neuralns.problem.formats.route_table import (
    is_own_route_table,
    is_route_table,
    read_route_table,
    route_table_text,
)
from neuralns.problem.formats.sol import is_own_sol, read_sol, sol_text
from neuralns.problem.formats.solomon import is_solomon, read_solomon
from neuralns.problem.formats.spreadsheet import is_spreadsheet, read_spreadsheet_text
from neuralns.problem.formats.text import FilePath, naming, read_text
from neuralns.problem.formats.vroom import read_vroom_text
from neuralns.problem.formats.vroom_input import is_vroom
from neuralns.problem.formats.vroom_output import is_own_vroom_answer, is_vroom_answer, read_vroom_answer
from neuralns.problem.formats.vrplib import read_vrplib
from neuralns.problem.formats.vrplib_text import vrplib_text
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
    """How solutions of a format are recognised by their text, read, and written, if they can be by themselves."""

    recognises: Callable[[str], bool]
    read: Callable[[Instance, FilePath, str], Solution]
    suffix: str | None = None
    text: Callable[[Solution], str] | None = None


def anything(text: str) -> bool:
    """Take every text: for the last format, whose refusals say what a file lacks."""
    return True


VROOM = InstanceFormat(is_vroom, read_vroom_text)
SPREADSHEET = InstanceFormat(is_spreadsheet, read_spreadsheet_text)
# The first format that recognises a text reads it.
INSTANCE_FORMATS = (
    VROOM,
    InstanceFormat(is_json, read_json_instance, ".json", json_instance_text),
    InstanceFormat(is_solomon, read_solomon),
    InstanceFormat(is_li_lim, read_li_lim),
    SPREADSHEET,
    InstanceFormat(anything, read_vrplib, ".vrp", vrplib_text),
)
SOLUTION_FORMATS = (
    SolutionFormat(is_vroom_answer, read_vroom_answer),
    SolutionFormat(is_json, read_json_solution, ".json", json_solution_text),
    SolutionFormat(is_route_table, read_route_table, ".csv", route_table_text),
    SolutionFormat(anything, read_sol, ".sol", sol_text),
)

INSTANCE_SUFFIXES = (".vrp", ".json")
SOLUTION_SUFFIXES = (".sol", ".json", ".csv")


def format_of(text: str) -> InstanceFormat:
    """Return the format of the text of an instance."""
    return next(form for form in INSTANCE_FORMATS if form.recognises(text))


def write_instance(instance: Instance, path: str | os.PathLike[str]) -> None:
    """Write an instance in VRPLIB's format or in JSON, as the file name ends: ``.vrp`` or ``.json``.

    What VRPLIB's format has no place for, such as travel times apart from distances, is refused there by name.
    """
    check_suffix(path, INSTANCE_SUFFIXES)
    writers = {form.suffix: form.text for form in INSTANCE_FORMATS}
    text = writers.get(Path(path).suffix.lower()) or json_instance_text
    with naming(path):
        content = text(instance)
    write_text(path, content)


def read_solution(instance: Instance, path: str | os.PathLike[str]) -> Solution:
    """Read routes from a ``.sol``, JSON or CSV file; the solution is not checked (see `Solution.faults`)."""
    text = read_text(path)
    form = next(form for form in SOLUTION_FORMATS if form.recognises(text))
    return form.read(instance, path, text)


def write_solution(solution: Solution, path: str | os.PathLike[str]) -> None:
    """Write a solution as CVRPLIB's ``.sol``, as ``.json``, or with its timetable as ``.csv``, as the file name ends.

    The last line of a ``.sol`` file says that neuralns wrote it; such a file beside an instance is not taken for its
    best known solution.
    """
    check_suffix(path, SOLUTION_SUFFIXES)
    writers = {form.suffix: form.text for form in SOLUTION_FORMATS}
    text = writers.get(Path(path).suffix.lower()) or sol_text
    write_text(path, text(solution))


def is_own_solution(path: str | os.PathLike[str]) -> bool:
    """Tell whether a file is a solution that neuralns wrote."""
    text = read_text(path)
    if is_json(text):
        return is_own_json_solution(text) or is_own_vroom_answer(text)
    return is_own_sol(text) or is_own_route_table(text)


def check_solution_path(path: str | os.PathLike[str]) -> None:
    """Refuse to write a solution where none can be written, or over a file that holds anything but one of ours."""
    check_writable(path)
    check_suffix(path, SOLUTION_SUFFIXES)
    if os.path.isfile(path) and os.path.getsize(path) and not is_own_solution(path):
        raise InputError(f"{path}: exists and was not written by neuralns; choose another name.")
