"""Selectors by name, as the command line gives them."""

from pathlib import Path

from neuralns.errors import InputError
from neuralns.selection.fixed import Fixed
from neuralns.selection.learned_roulette import learned_roulette
from neuralns.selection.policy import DEFAULT_TEMPERATURE, PolicySelector
from neuralns.selection.policy_file import Policy, read_policy
from neuralns.selection.roulette import Roulette
from neuralns.selection.selector import Selector
from neuralns.selection.uniform import Uniform


def selector_named(name: str, temperature: float | None = None) -> Selector:
    """Return the selector of a name: ``random``, ``roulette``, ``fixed:DESTROY,REPAIR``, or of a policy file.

    Examples
    --------
    >>> selector_named("fixed:worst-node,greedy")
    Fixed(destroy='worst-node', repair='greedy')
    """
    if name == "random":
        return Uniform()
    if name == "roulette":
        return Roulette()
    if name.startswith("fixed:"):
        pair = name.removeprefix("fixed:").split(",")
        if len(pair) == 2 and all(pair):
            return Fixed(pair[0].strip(), pair[1].strip())
        raise InputError(f"selector {name!r} is not a pair; write 'fixed:DESTROY,REPAIR'.")
    if Path(name).is_file():
        return selector_from(read_policy(name), name, temperature)
    raise InputError(f"selector {name!r} is not known; choose random, roulette, fixed:DESTROY,REPAIR or a policy file.")


def selector_from(policy: Policy, name: str, temperature: float | None = None) -> Selector:
    """Return the selector that a policy describes; a Q-network's choices have a temperature."""
    if policy.network == "lrw":
        return learned_roulette(policy, name)
    return PolicySelector(policy, DEFAULT_TEMPERATURE if temperature is None else temperature, name)
