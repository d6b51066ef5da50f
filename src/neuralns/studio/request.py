"""A request to solve, read in the process that is to do it: which instance, and how; whatever is odd is refused."""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any

from neuralns.errors import InputError
from neuralns.problem.bundled import bundled, bundled_names
from neuralns.problem.formats.source import read_source
from neuralns.problem.formats.spreadsheet import read_spreadsheet
from neuralns.problem.formats.vroom import VroomProblem, read_vroom
from neuralns.problem.instance import Instance
from neuralns.search.setup import portfolio_of
from neuralns.selection.default import AUTO
from neuralns.selection.names import plain_names, selector_named
from neuralns.selection.policy_file import bundled_policies
from neuralns.selection.selector import new_memory_of
from neuralns.studio.limits import Limits


class UnreadableError(InputError):
    """What was sent is not what it should be at all."""


class TooLargeError(InputError):
    """What was sent is larger than the server takes."""


INSTANCE_KEYS = ("name", "file", "text", "base64", "vroom", "capacity", "vehicles", "ignore", "lenient")
LONGEST_NAME = 200
TABLES, OTHER_TABLES = 2, 4
"""Tables of numbers from all places to all places that a search needs: for each profile or speed, and beside that."""


@dataclass(frozen=True)
class Options:
    """How to search; None is the default of `neuralns.solve`."""

    time: float
    iterations: int | None = None
    seed: int = 0
    selector: str = AUTO
    objective: str | None = None
    workers: int = 1
    portfolio: str | None = None
    slow: bool = False
    stop_with_client: bool = False


OPTION_TYPES: dict[str, tuple[type, ...]] = {
    "time": (int, float),
    "iterations": (int,),
    "seed": (int,),
    "selector": (str,),
    "objective": (str,),
    "workers": (int,),
    "portfolio": (str,),
    "slow": (bool,),
    "stop_with_client": (bool,),
}
TYPE_WORDS = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}


@dataclass(frozen=True)
class Request:
    """What to solve, and how.

    ``text`` is that of a spreadsheet, whose latitudes and longitudes the instance no longer has, and ``ignore`` its
    columns to go on without. ``geometry`` says whether an answer in VROOM's form has the lines of its routes, and
    ``seconds`` how long it took.
    """

    instance: Instance
    options: Options
    vroom: VroomProblem | None = None
    text: str | None = None
    ignore: tuple[str, ...] = ()
    geometry: bool = False
    seconds: Mapping[str, float] | None = None


def read_request(body: bytes, limits: Limits) -> Request:
    """Return the request that the body of ``POST /jobs`` states."""
    content = parse(body)
    check_keys("the request", content, ("instance", "options"))
    source = content.get("instance")
    if not isinstance(source, dict):
        raise InputError("the request: 'instance' must be an object with a name, a file or VROOM's input.")
    options = read_options(content.get("options"), limits)
    check_keys("instance", source, INSTANCE_KEYS)
    changes = {key: _amount(key, source[key]) for key in ("capacity", "vehicles") if source.get(key) is not None}
    ignore = _ignored(source.get("ignore"))
    vroom, text = None, None
    if "vroom" in source:
        vroom = _vroom(source["vroom"], "vroom", source, ignore, limits)
    elif "name" in source:
        instance = _bundled(source["name"])
    else:
        name, text = _text_of(source)
        file = read_source(name, text)
        if file.is_vroom:
            vroom = _vroom(text, name, source, ignore, limits)
        elif file.is_spreadsheet:
            vehicles = int(changes["vehicles"]) if "vehicles" in changes else None
            instance = read_spreadsheet(name, vehicles, capacity=changes.get("capacity"), text=text, ignore=ignore)
            changes = {}
        else:
            instance, text = file.instance(ignore), None
    if vroom is not None:
        check_matrices(vroom, limits)
        instance, text = vroom.instance, None
        for key in changes:
            raise InputError(f"instance: {key!r} does not go with VROOM's JSON, which says it itself.")
    if changes:
        instance = replace(instance, **changes, best_known=None)  # type: ignore[arg-type]
    check_size(instance, limits)
    return _checked(Request(instance, options, vroom, text, ignore))


def change_options(request: Request, changes: Mapping[str, Any], limits: Limits) -> Request:
    """Return a request with some other options, within the server's limits."""
    if not changes:
        return request
    return _checked(replace(request, options=read_options({**asdict(request.options), **changes}, limits)))


def _checked(request: Request) -> Request:
    """Return a request, refused where its options do not go with what is to be solved."""
    if request.vroom is not None and request.options.objective is not None:
        raise InputError("options: objective does not go with VROOM's JSON, which says all costs itself.")
    check_choices(request.options, request.instance)
    return request


def parse(body: bytes) -> dict[str, Any]:
    """Return the JSON object that a body holds."""
    try:
        content = json.loads(body)
    except RecursionError:
        raise UnreadableError("the request is JSON nested too deeply.") from None
    except ValueError as error:
        raise UnreadableError(f"the request is not JSON ({error!s:.100}).") from None
    if not isinstance(content, dict):
        raise UnreadableError("the request must be a JSON object.")
    return content


def check_keys(where: str, content: Mapping[str, Any], known: tuple[str, ...]) -> None:
    """Refuse keys that are not known, with those that are."""
    for key in content:
        if key not in known:
            raise InputError(f"{where}: {key!r:.60} is not known; the keys are {', '.join(known)}.")


def check_memory(content: Any, limits: Limits, source: str) -> None:
    """Refuse VROOM's input whose tables would not fit into memory, before any of them is made.

    Vehicles of another profile, or of another speed, have a table of their own from all places to all places.
    """
    if not isinstance(content, dict):
        return
    jobs, shipments, vehicles = (
        found if isinstance(found := content.get(key), list) else [] for key in ("jobs", "shipments", "vehicles")
    )
    told = [each for each in vehicles if isinstance(each, dict)]
    profiles = {(str(each.get("profile")), str(each.get("speed_factor", 1))) for each in told}
    places = len(jobs) + 2 * len(shipments) + 1
    needed = 8 * places**2 * (TABLES * len(profiles) + OTHER_TABLES)
    if needed > limits.memory:
        raise TooLargeError(
            f"{source}: {places} places and {len(profiles)} different profiles or speeds of vehicles take about "
            f"{needed / 2**30:.1f} GB of memory; this server allows {limits.memory / 2**30:.3g}."
        )


def check_size(instance: Instance, limits: Limits) -> None:
    """Refuse an instance that is larger than the server allows, or that has nobody to serve."""
    if instance.customers > limits.customers:
        raise TooLargeError(
            f"{instance.name}: has {instance.customers} customers; this server takes {limits.customers} at most."
        )
    if len(instance.unservable) == instance.customers:
        first = next(iter(instance.unservable.values()))
        raise InputError(f"{instance.name}: no customer can be served; of customer 1, {first}.")


def check_matrices(problem: VroomProblem, limits: Limits) -> None:
    """Refuse VROOM's JSON whose matrices do not say all, where the server requires them."""
    if limits.require_matrices and problem.straight is not None:
        raise InputError(f"{problem.instance.name}: {problem.straight}, and this server requires them.")


def read_options(given: Any, limits: Limits) -> Options:
    """Return the options of a request, refused where they are not known or beyond the server's limits."""
    given = {} if given is None else given
    if not isinstance(given, dict):
        raise InputError("the request: 'options' must be an object.")
    check_keys("options", given, tuple(OPTION_TYPES))
    stated = {key: value for key, value in given.items() if value is not None}
    for key, value in stated.items():
        right = isinstance(value, OPTION_TYPES[key]) and (OPTION_TYPES[key] == (bool,) or not isinstance(value, bool))
        if not right:
            raise InputError(f"options: {key} {value!r:.60} must be {TYPE_WORDS[OPTION_TYPES[key][-1]]}.")
    usual = limits.default_seconds if stated.get("iterations") is None else limits.seconds
    options = Options(**{"time": usual, **stated})
    if not (0 <= options.time <= limits.seconds and math.isfinite(options.time)):
        raise InputError(
            f"options: time {options.time!s:.20} must be from 0 to the {limits.seconds:g} s of this server."
        )
    if not 1 <= options.workers <= limits.workers:
        raise InputError(
            f"options: workers {options.workers!s:.20} must be from 1 to the {limits.workers} of this server."
        )
    if not 0 <= options.seed < 2**63:
        raise InputError(f"options: seed {options.seed!s:.20} must be a whole number of at least 0.")
    if options.iterations is not None and not 0 <= options.iterations <= 10**12:
        raise InputError(f"options: iterations {options.iterations!s:.20} must be from 0 to 10¹².")
    if not is_offered(options.selector):
        raise InputError(
            f"options: selector {options.selector!r:.60} is not known; choose {', '.join(offered_selectors())}, or "
            "fixed:DESTROY,REPAIR."
        )
    if options.slow and options.workers > 1:
        raise InputError("options: slow goes with one worker alone.")
    return options


def check_choices(options: Options, instance: Instance) -> None:
    """Refuse an objective, a portfolio or a selector that is not known, or that does not go with the others."""
    if options.objective is not None:
        instance = instance.with_objective(options.objective)
    selector = None if options.selector in (AUTO, "best-fixed") else selector_named(options.selector)
    portfolio = portfolio_of(options.portfolio, selector, instance)
    if selector is not None:
        new_memory_of(selector, portfolio, instance.customers, instance)


def offered_selectors() -> tuple[str, ...]:
    """Return the selectors that a client may name: none of them is a file."""
    return (AUTO, *plain_names(), "best-fixed", *bundled_policies())


def is_offered(name: str) -> bool:
    """Return whether a client may name a selector.

    >>> is_offered("ucb"), is_offered("fixed:string,blinks"), is_offered("/etc/passwd"), is_offered("mine.py")
    (True, True, False, False)
    """
    family, _, rest = name.partition(":")
    if family in ("fixed", "roulette") and rest:
        return re.fullmatch(r"[\w,/:=. -]{1,100}", rest) is not None
    if family in ("lrw", "adaptive") and rest:
        return rest in bundled_policies()
    return name in offered_selectors() or name.rpartition("@")[0] in bundled_policies()


def _bundled(name: Any) -> Instance:
    if not isinstance(name, str) or name not in bundled_names():
        raise InputError(f"instance: {name!r:.60} is not the name of a bundled instance.")
    return bundled(name)


def _vroom(content: Any, name: str, source: Mapping[str, Any], ignore: tuple[str, ...], limits: Limits) -> VroomProblem:
    if not isinstance(content, dict | str):
        raise InputError("instance: 'vroom' must be an object.")
    parsed = content
    if isinstance(content, str):
        with suppress(ValueError, RecursionError):
            parsed = json.loads(content)
    check_memory(parsed, limits, name)
    return read_vroom(content, source.get("lenient") is True, source=name, ignore=ignore)


def _amount(key: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 2**53:
        raise InputError(f"instance: {key} {value!r:.40} must be a number above 0.")
    if key == "vehicles" and value != int(value):
        raise InputError(f"instance: vehicles {value!r:.40} must be a whole number.")
    return value


def _ignored(value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise InputError("instance: 'ignore' must be a list of names.")
    return tuple(value)


def _text_of(source: Mapping[str, Any]) -> tuple[str, str]:
    """Return what to call a file that was sent, which is no path of this machine, and its text."""
    name, text, coded = (source.get(key) for key in ("file", "text", "base64"))
    if not isinstance(name, str) or (text is None) == (coded is None):
        raise InputError("instance: give the name of a bundled instance, or a file with its text or base64, or vroom.")
    name = re.split(r"[/\\]", name)[-1]
    name = "".join(letter for letter in name if letter.isprintable())[:LONGEST_NAME] or "file"
    if coded is not None:
        try:
            content = base64.b64decode(coded, validate=True) if isinstance(coded, str) else b""
        except (ValueError, binascii.Error):
            raise InputError(f"{name}: what was sent is not base64.") from None
        if content.startswith(b"PK\x03\x04"):
            raise InputError(f"{name}: is a workbook or an archive; save the sheet as CSV.")
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError:
            # Older spreadsheets save in the encoding of Western Windows.
            text = content.decode("cp1252", errors="replace")
    if not isinstance(text, str):
        raise InputError(f"{name}: 'text' must be text.")
    # A mark of bytes that are no text would have the file itself read again, and there is none.
    return name, text.removeprefix("\ufeff").replace("\ufffd", "?")
