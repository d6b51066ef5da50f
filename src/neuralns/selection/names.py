"""Selectors by name: what a name means is the same on every command line and in Python.

=========================  ========================================================================================
``auto``                   the default: a bundled controller where it was trained for that, else ``random``
``random``                 every operator with equal probability
``roulette``               the classic wheel; ``roulette:segment=10:reaction=0.5`` with other parameters
``ucb``, ``thompson``      bandits
``gain``                   a bandit on gain per second, asked between segments
``timed-roulette``         the wheel with scores per second, likewise
``intensity``              every operator with equal probability, customers to remove by place, as in FILO
``FILE.setting``           what ``neuralns tune`` has found best
``fixed:DESTROY,REPAIR``   one pair, always (``fixed:DESTROY/REPAIR`` in lists, where commas part names)
``best-fixed``             the pair that does best in trials: short searches, or training episodes for ``evaluate``
``lrw``                    the learned wheel, trained on episodes first (``evaluate`` only)
``lrw:FILE``               the learned wheel of a policy file
``adaptive:FILE``          the same, going on to adapt
``FILE``, ``NAME``         a policy file, or a bundled policy
``FILE@0.1``               the same with a temperature; left out, it is 0.01 in searches and 0 in episodes
``FILE`` with ``{seed}``   another policy for each seed (``evaluate`` only)
``FILE.py``                your own: the `Selector` that a Python file holds, an instance or a class
``FILE.py:NAME``           that one of several in the file
``oracle``                 simulation (``evaluate`` only)
=========================  ========================================================================================
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import ModuleType

from neuralns.errors import InputError
from neuralns.operators.own_parts import is_own_file, load_part, parts_in, split_own_file
from neuralns.selection.bandit import AlphaUCB, Thompson
from neuralns.selection.by_time import GainBandit, TimedRoulette
from neuralns.selection.constant import SUFFIX, read_setting
from neuralns.selection.default import AUTO
from neuralns.selection.fixed import Fixed
from neuralns.selection.intensity import Intensity
from neuralns.selection.learned_controller import NETWORK, LearnedController
from neuralns.selection.learned_roulette import learned_roulette
from neuralns.selection.look_ahead import policy_selector
from neuralns.selection.policy import DEFAULT_TEMPERATURE
from neuralns.selection.policy_file import Policy, is_policy, read_policy
from neuralns.selection.roulette import Roulette
from neuralns.selection.selector import Selector
from neuralns.selection.uniform import Uniform

_NAMED: dict[str, Callable[[], Selector]] = {
    "random": Uniform,
    "roulette": Roulette,
    "ucb": AlphaUCB,
    "thompson": Thompson,
    "gain": GainBandit,
    "timed-roulette": TimedRoulette,
    "intensity": Intensity,
}


def plain_names() -> tuple[str, ...]:
    """Return the names that stand for themselves: neither for a file nor for a policy."""
    return tuple(_NAMED)


def selector_named(
    name: str,
    temperature: float | None = None,
    every: int = 1,
    best_fixed: Callable[[], Fixed] | None = None,
    learned_wheel: Callable[[], Selector] | None = None,
) -> Selector:
    """Return the selector of a name.

    Parameters
    ----------
    temperature, every
        Of a policy that comes without a temperature in its name, and how many iterations its choices hold.
    best_fixed, learned_wheel
        How ``best-fixed`` and ``lrw`` are found, where they can be.

    Examples
    --------
    >>> selector_named("fixed:worst-node,greedy")
    Fixed(destroy='worst-node', repair='greedy')
    """
    if name in _NAMED:
        return _NAMED[name]()
    if name == AUTO:
        # Nothing is known here of an instance and a time, without which nothing is steered.
        return Uniform()
    if name == "best-fixed" and best_fixed is not None:
        return best_fixed()
    if name == "lrw" and learned_wheel is not None:
        return learned_wheel()
    if name in ("best-fixed", "lrw", "oracle"):
        raise InputError(f"selector {name!r} {_ELSEWHERE[name]}")
    if name.startswith("roulette:"):
        return _roulette(name)
    if name.startswith("fixed:"):
        pair = name.removeprefix("fixed:").replace("/", ",").split(",")
        if len(pair) == 2 and all(pair):
            return Fixed(pair[0].strip(), pair[1].strip())
        raise InputError(f"selector {name!r} is not a pair; write 'fixed:DESTROY,REPAIR'.")
    if is_own_file(name):
        how = "write a subclass of neuralns.Selector, or an instance of one"
        return load_part(*split_own_file(name), Selector, "selector", how)
    if name.endswith(SUFFIX):
        return read_setting(name)
    family, _, path = name.partition(":")
    if family in ("lrw", "adaptive") and path:
        wheel = learned_roulette(read_policy(path), path)
        if family == "lrw":
            return wheel
        return Roulette(name=name, learned=dict(zip(wheel.operators, wheel.weights, strict=True)))
    path, at, number = name.rpartition("@")
    if at and is_policy(path) and not is_policy(name):
        try:
            temperature = float(number)
        except ValueError:
            raise InputError(f"selector {name!r}: temperature {number!r} is not a number.") from None
        return selector_from(read_policy(path), name, temperature, every)
    if is_policy(name) or name.endswith(".policy"):
        return selector_from(read_policy(name), name, temperature, every)
    raise InputError(
        f"selector {name!r} is not known; choose {', '.join(_NAMED)}, {AUTO}, best-fixed, fixed:DESTROY,REPAIR, "
        "a policy, lrw:FILE, adaptive:FILE, FILE.setting or FILE.py."
    )


def _roulette(name: str) -> Roulette:
    """Return the classic wheel with the parameters that its name gives.

    >>> wheel = selector_named("roulette:segment=10:reaction=0.5")
    >>> wheel.segment, wheel.reaction
    (10, 0.5)
    """
    values: dict[str, float] = {}
    for part in name.split(":")[1:]:
        key, _, value = (piece.strip() for piece in part.partition("="))
        if key not in ("segment", "reaction"):
            raise InputError(f"selector {name!r}: no parameter {key!r} (its parameters: segment, reaction).")
        try:
            values[key] = float(value)
        except ValueError:
            values[key] = math.nan
        if not math.isfinite(values[key]) or (key == "segment" and values[key] != int(values[key])):
            form = "whole number" if key == "segment" else "number"
            raise InputError(f"selector {name!r}: {part!r} does not give a {form}, such as {key}=1.")
    plain = Roulette()
    return Roulette(
        segment=int(values.get("segment", plain.segment)), reaction=values.get("reaction", plain.reaction), name=name
    )


_ELSEWHERE = {
    "best-fixed": "is found by trials, for which there is nothing to try it on here.",
    "lrw": "is trained on episodes; train it by 'neuralns train --network lrw' and give lrw:FILE.",
    "oracle": "plays episodes of the MDP only ('neuralns evaluate').",
}


def selectors_in(module: ModuleType) -> tuple[dict[str, Selector], dict[str, type[Selector]]]:
    """Return the selectors that a user's file holds, by name: instances, and classes of its own."""
    return parts_in(module, Selector)


def split_names(text: str) -> list[str]:
    """Return the names in a list parted by commas; the comma of a fixed pair parts nothing.

    >>> split_names("random, fixed:string,blinks, fixed:string/regret-2")
    ['random', 'fixed:string,blinks', 'fixed:string/regret-2']
    """
    found: list[str] = []
    for part in (piece.strip() for piece in text.split(",")):
        if found and found[-1].startswith("fixed:") and not any(mark in found[-1] for mark in "/,"):
            found[-1] += f",{part}"
        elif part:
            found.append(part)
    return found


def selector_from(policy: Policy, name: str, temperature: float | None = None, every: int = 1) -> Selector:
    """Return the selector that a policy describes.

    A controller keeps no choice for some iterations, and has no temperature but 0, as it sets what is best.
    """
    if policy.network == "lrw":
        return learned_roulette(policy, name)
    if policy.network == NETWORK:
        if every != 1:
            raise InputError(f"{name}: is a controller, which decides between segments, not every {every} iterations.")
        if temperature:
            raise InputError(f"{name}: is a controller, which has no temperature; leave {temperature:g} out.")
        return LearnedController(policy, name)
    return policy_selector(policy, DEFAULT_TEMPERATURE if temperature is None else temperature, name, every)
