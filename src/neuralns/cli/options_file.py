"""Options of a command from a TOML file: keys are the names of options, and the command line comes first."""

from __future__ import annotations

import inspect
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

import typer

from neuralns.errors import InputError

_TYPE_WORDS: dict[type, str] = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}


def take_options(context: typer.Context, option: typer.CallbackParam, path: str | None) -> str | None:
    """Make what a file says the defaults of a command; refuse what it has no option for."""
    if path is None:
        return None
    known = {
        name.removeprefix("--"): each
        for each in context.command.params
        if each.param_type_name == "option" and each.name not in (option.name, "help")
        for name in each.opts
        if name.startswith("--")
    }
    function: Any = inspect.unwrap(context.command.callback)  # type: ignore[arg-type]
    hints = get_type_hints(function)
    found: dict[str, Any] = {}
    for key, value in _read(path).items():
        name = key.replace("_", "-")
        if name not in known:
            raise InputError(
                f"{path}: {key} = {value!r:.60} is no option of {context.command.name!r}; its options are "
                f"{', '.join(known)}."
            )
        target = str(known[name].name)
        if target in found:
            raise InputError(f"{path}: {key} = {value!r:.60} is given twice.")
        found[target] = _value(hints[target], path, key, value)
    context.default_map = {**(context.default_map or {}), **found}
    return path


OptionsFile = Annotated[
    str | None,
    typer.Option(
        "--options",
        metavar="FILE.toml",
        is_eager=True,
        callback=take_options,
        help="Take options from a TOML file, such as time = 60; those of the command line come first.",
    ),
]


def _read(path: str) -> Mapping[str, Any]:
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror or error}).") from None
    except ValueError as error:  # also of bytes that are no text
        raise InputError(f"{path}: is not valid TOML ({error}).") from None


def _value(hint: Any, path: str, key: str, value: Any) -> Any:
    """Return a value as the command line would give it; refuse one that the option cannot have."""
    if type(None) in get_args(hint):
        (hint,) = (part for part in get_args(hint) if part is not type(None))
    several = getattr(hint, "__origin__", None) is list
    value_type = get_args(hint)[0] if several else hint
    given = value if several and isinstance(value, list) else [value]
    for each in given:
        if value_type is str:
            # Numbers of vehicles and scales are texts to the command line.
            fits = isinstance(each, str | int | float) and not isinstance(each, bool)
        elif value_type is bool:
            fits = isinstance(each, bool)
        else:
            fits = isinstance(each, int if value_type is int else int | float) and not isinstance(each, bool)
        if not fits:
            raise InputError(f"{path}: {key} = {value!r:.60} must be {_TYPE_WORDS[value_type]}.")
    texts = [str(each) if value_type is str else each for each in given]
    return texts if several else texts[0]
