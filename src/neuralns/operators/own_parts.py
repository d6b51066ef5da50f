"""What a user's Python file holds of one kind: a selector, an acceptance rule, a rule to stop, a cost of routes."""

from __future__ import annotations

from collections.abc import Mapping
from types import FunctionType, ModuleType
from typing import Any, TypeVar

from neuralns.errors import InputError
from neuralns.operators.own_file import run_python_file

Part = TypeVar("Part")


def is_own_file(name: str) -> bool:
    """Tell whether a name is that of a user's Python file, perhaps with the name of one thing in it.

    >>> is_own_file("mine.py"), is_own_file("mine.py:Second"), is_own_file("mine.policy")
    (True, True, False)
    """
    _, py, own = name.rpartition(".py")
    return bool(py) and (not own or own.startswith(":"))


def split_own_file(name: str) -> tuple[str, str]:
    """Return the file and the name of one thing in it, which may be empty.

    >>> split_own_file("mine.py:Second"), split_own_file("mine.py")
    (('mine.py', 'Second'), ('mine.py', ''))
    """
    file, py, own = name.rpartition(".py")
    return file + py, own.removeprefix(":")


def parts_in(module: ModuleType, part_class: type[Part]) -> tuple[dict[str, Part], dict[str, type[Part]]]:
    """Return what a user's file holds of a class, by name: instances, and subclasses of its own."""
    content = vars(module).items()
    instances = {key: value for key, value in content if isinstance(value, part_class)}
    classes = {
        key: value
        for key, value in content
        # A class that the file imports is not its own.
        if isinstance(value, type)
        and issubclass(value, part_class)
        and value.__module__ == module.__name__
        and not key.startswith("_")
    }
    return instances, classes


def functions_in(module: ModuleType) -> dict[str, FunctionType]:
    """Return the functions that a user's file defines itself, by name; those that begin with _ are its own business."""
    return {
        key: value
        for key, value in vars(module).items()
        if isinstance(value, FunctionType) and value.__module__ == module.__name__ and not key.startswith("_")
    }


def load_part(path: str, name: str, part_class: type[Part], what: str, how: str) -> Part:
    """Run a user's Python file and return what it holds of a class: an instance, or one made of a subclass.

    A file with several is asked for one by its ``name``; instances come before the classes that they are made of.
    ``how`` says what to write where there is none.
    """
    instances, classes = parts_in(run_python_file(path), part_class)
    known: dict[str, Part | type[Part]] = {**instances, **classes}
    found = the_one(path, name, known, {key: known[key] for key in instances or classes}, what, how)
    if not isinstance(found, type):
        return found
    try:
        return found()
    except TypeError as error:
        raise InputError(f"{path}: {what} {found.__name__!r} cannot be made without arguments ({error}).") from None


def load_function(path: str, name: str, part_class: type[Part], what: str, how: str) -> Part | FunctionType:
    """Run a user's Python file and return what it holds of a class, or else a function of its own."""
    module = run_python_file(path)
    instances, functions = parts_in(module, part_class)[0], functions_in(module)
    known: dict[str, Any] = {**functions, **instances}
    found: Part | FunctionType = the_one(path, name, known, {**instances} or {**functions}, what, how)
    return found


def the_one(path: str, name: str, known: Mapping[str, Any], usual: Mapping[str, Any], what: str, how: str) -> Any:
    """Return the one that is named, or that there is; refuse a file with none or several."""
    if name and name not in known:
        raise InputError(f"{path}: holds no {what} {name!r} (its {what}s: {', '.join(known) or 'none'}).")
    choices = {name: known[name]} if name else usual
    if not choices:
        raise InputError(f"{path}: holds no {what} ({how}).")
    if len(choices) > 1:
        first = next(iter(choices))
        raise InputError(f"{path}: holds several {what}s ({', '.join(choices)}); name one, such as {path}:{first}.")
    return next(iter(choices.values()))
