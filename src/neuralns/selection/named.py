"""Selectors by name, as the command line gives them."""

from neuralns.errors import InputError
from neuralns.selection.fixed import Fixed
from neuralns.selection.roulette import Roulette
from neuralns.selection.selector import Selector
from neuralns.selection.uniform import Uniform


def selector_named(name: str) -> Selector:
    """Return the selector of a name: ``random``, ``roulette`` or ``fixed:DESTROY,REPAIR``.

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
    raise InputError(f"selector {name!r} is not known; choose random, roulette or fixed:DESTROY,REPAIR.")
