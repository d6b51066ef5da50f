"""Selectors by name, as the command line gives them."""

from collections.abc import Callable

from neuralns.errors import InputError
from neuralns.selection.bandit import AlphaUCB, Thompson
from neuralns.selection.fixed import Fixed
from neuralns.selection.learned_roulette import learned_roulette
from neuralns.selection.policy import DEFAULT_TEMPERATURE, PolicySelector
from neuralns.selection.policy_file import Policy, is_policy, read_policy
from neuralns.selection.roulette import Roulette
from neuralns.selection.selector import Selector
from neuralns.selection.uniform import Uniform


def selector_named(name: str, temperature: float | None = None, every: int = 1) -> Selector:
    """Return the selector of a name.

    ``random``, ``roulette``, ``ucb``, ``thompson``, ``fixed:DESTROY,REPAIR``, a policy file, or ``adaptive:FILE`` for a
    learned roulette that goes on adapting. A Q-network's choices have a temperature (``FILE@0.1`` gives it with the
    name), and may hold for several iterations.

    Examples
    --------
    >>> selector_named("fixed:worst-node,greedy")
    Fixed(destroy='worst-node', repair='greedy')
    """
    if name in _NAMED:
        return _NAMED[name]()
    if name.startswith("fixed:"):
        pair = name.removeprefix("fixed:").split(",")
        if len(pair) == 2 and all(pair):
            return Fixed(pair[0].strip(), pair[1].strip())
        raise InputError(f"selector {name!r} is not a pair; write 'fixed:DESTROY,REPAIR'.")
    kind, _, path = name.partition(":")
    if kind in ("lrw", "adaptive") and path:
        wheel = learned_roulette(read_policy(path), path)
        if kind == "lrw":
            return wheel
        return Roulette(name=name, learned=dict(zip(wheel.operators, wheel.weights, strict=True)))
    path, at, number = name.rpartition("@")
    if at and is_policy(path) and not is_policy(name):
        try:
            return selector_from(read_policy(path), name, float(number), every)
        except ValueError:
            raise InputError(f"selector {name!r}: temperature {number!r} is not a number.") from None
    if is_policy(name) or name.endswith(".policy"):
        return selector_from(read_policy(name), name, temperature, every)
    raise InputError(
        f"selector {name!r} is not known; choose {', '.join(_NAMED)}, fixed:DESTROY,REPAIR, a policy, or adaptive:FILE."
    )


_NAMED: dict[str, Callable[[], Selector]] = {
    "random": Uniform,
    "roulette": Roulette,
    "ucb": AlphaUCB,
    "thompson": Thompson,
}


def selector_from(policy: Policy, name: str, temperature: float | None = None, every: int = 1) -> Selector:
    """Return the selector that a policy describes."""
    if policy.network == "lrw":
        return learned_roulette(policy, name)
    return PolicySelector(policy, DEFAULT_TEMPERATURE if temperature is None else temperature, name, every)
