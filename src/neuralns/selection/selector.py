"""What a selector is: a memory with named fields, and two compiled functions that choose by it and learn."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

from numba import types

from neuralns.compiled.calls import caller
from neuralns.compiled.failures import said
from neuralns.compiled.own import compile_own
from neuralns.compiled.structs import Struct, StructType, anything, at_address
from neuralns.errors import NeuralnsError, OperatorError
from neuralns.routes.layout import state_type

if TYPE_CHECKING:
    from neuralns.operators.portfolio import Portfolio
    from neuralns.problem.instance import Instance

DESTROY, REPAIR = 0, 1
"""Phases, as ``choose`` is told them."""
REJECTED, ACCEPTED, BETTER, BEST = range(4)
"""Outcomes, as ``update`` is told them: better than the current solution, or the best so far."""
MOST_REMOVED = 60
"""Most customers that a selector or controller may have removed in an iteration."""

_REST_OF_CHOOSE = (state_type, types.int64)
_REST_OF_UPDATE = (types.int64, types.int64, types.int64, types.float64)

memory_at = at_address(anything)
"""Return the memory at an address, of whatever selector."""
call_choose = caller(types.int64(anything, *_REST_OF_CHOOSE))
call_update = caller(types.void(anything, *_REST_OF_UPDATE))


class Selector:
    """Chooses the operators of each iteration; the base of all selectors, yours included.

    The search asks ``choose(memory, state, phase)`` twice: for the index of a destroy operator on the complete
    solution, then for the index of a repair operator on the destroyed one. After the acceptance decision it calls
    ``update(memory, destroy, repair, outcome, change)``, where ``change`` is the candidate's cost less the current one.
    Both are static methods and run compiled. A class of your own has to give a name, `choose` and `start`; all else has
    a default.

    Attributes
    ----------
    name
        What output calls it.
    fields
        The types of its memory's fields: ``whole``, ``number``, ``wholes`` and so on of `neuralns.compiled.structs`.
    shared
        Arrays of the memory that runs side by side may have in common, because no run changes what another one reads.
    remembers
        Whether its memory changes while it chooses; then each of several episodes has a memory of its own.
    adapts
        Whether it learns from the outcomes of a search; then it plays no episodes.
    sets_scale
        Whether it says how many customers are removed, up to `MOST_REMOVED`: a selector by writing
        ``state.status.quota`` when it chooses the destroy operator.
    simulates
        Whether it tries operators on a copy of the routes; then `start` is told the instance as well.
    uses_history
        Whether it reads ``state.history``.
    looks_at_routes
        Whether it looks at the routes of the whole solution, or at what they cost. If not, several workers may divide
        a large solution among them; the search of each then has a part of the routes and of the cost.
    may_overload
        Whether it was tried where vehicles may carry too much for a while.
    """

    name: str = "own"
    fields: ClassVar[Mapping[str, Any]] = {}
    shared: ClassVar[tuple[str, ...]] = ()
    adapts: ClassVar[bool] = False
    sets_scale: ClassVar[bool] = False
    simulates: ClassVar[bool] = False
    looks_at_routes: ClassVar[bool] = True
    may_overload: ClassVar[bool] = False

    @property
    def remembers(self) -> bool:
        return True

    @property
    def uses_history(self) -> bool:
        return False

    def made_for(self) -> tuple[str, ...]:
        """Return the names of the operators that it chooses among, if it was made for certain ones."""
        return ()

    def made_with(self) -> int | None:
        """Return the number of customers to remove that it was made with, if there is one."""
        return None

    def trained_on(self) -> tuple[str, ...]:
        """Return the names of the instances that it was trained on."""
        return ()

    def doubts(self, instance: Instance, quotas: tuple[int, int]) -> list[str]:
        """Return a sentence for each way in which a search differs from what it was made for."""
        return []

    def doubt_of_length(self, iterations: float) -> str | None:
        """Return a sentence if a search of so many iterations is too short for it to learn anything."""
        return None

    def start(self, portfolio: Portfolio, customers: int = 1) -> Struct:
        """Return the memory to begin a search with, for instances of up to so many customers (see `new_memory`)."""
        raise OperatorError(f"selector {self.name!r} has no method 'start'.")

    @staticmethod
    def choose(memory: Any, state: Any, phase: Any) -> Any:
        """Return the index of an operator of a phase."""
        raise NotImplementedError

    @staticmethod
    def update(memory: Any, destroy: Any, repair: Any, outcome: Any, change: Any) -> None:
        """Learn from what came of a pair."""

    def new_memory(self, **values: Any) -> Struct:
        """Return a memory with a value for each of the fields."""
        own: Any = type(self)
        try:
            return Struct(memory_type(own), **values)
        except (TypeError, AttributeError, ValueError) as error:
            raise OperatorError(f"selector {self.name!r} cannot make its memory: {str(error).rstrip('.')}.") from None

    def functions(self) -> tuple[Any, Any]:
        """Return the compiled ``choose`` and ``update``."""
        own: Any = type(self)
        if own.choose is Selector.choose:
            raise OperatorError(f"selector {self.name!r} has no method 'choose'.")
        return compile_selector(self.name, own.choose, own.update, memory_type(own))


def new_memory_of(selector: Selector, portfolio: Portfolio, customers: int, instance: Instance | None = None) -> Struct:
    """Return the memory that a selector starts with; a `start` that takes or returns anything else is refused.

    One that simulates has to know the instance, unless the memory is for a check alone.
    """
    taken = inspect.signature(selector.start)
    further = (instance,) if selector.simulates else ()
    try:
        taken.bind(portfolio, customers, *further)
    except TypeError:
        raise OperatorError(
            f"selector {selector.name!r}: 'start' takes ({', '.join(('self', *taken.parameters))}), but has to take "
            "(self, portfolio, customers)."
        ) from None
    try:
        memory: Any = selector.start(portfolio, customers, *further)
    except NeuralnsError:
        raise
    except Exception as error:
        how = said(error, type(error), error.__traceback__)
        raise OperatorError(f"selector {selector.name!r}: 'start' failed ({how}).") from error
    own: Any = type(selector)
    if not isinstance(memory, Struct) or memory.type != memory_type(own):
        raise OperatorError(
            f"selector {selector.name!r}: 'start' returned {memory!r:.60}, not a memory made by 'self.new_memory'."
        )
    return memory


@cache
def memory_type(selector: Any) -> StructType:
    """Return the compiled type of the memory of a class of selectors."""
    return StructType(f"{selector.__module__}.{selector.__qualname__}", selector.fields)


def compile_selector(
    name: str, choose: Callable[..., Any], update: Callable[..., Any], memory: StructType
) -> tuple[Any, Any]:
    """Compile the two functions of a selector; one that does not compile is refused by name."""
    _check_signatures(name, choose, update)
    return (
        compile_own(f"selector {name!r}", types.int64(memory, *_REST_OF_CHOOSE), choose),
        compile_own(f"selector {name!r}", types.void(memory, *_REST_OF_UPDATE), update),
    )


@cache
def _check_signatures(name: str, choose: Callable[..., Any], update: Callable[..., Any]) -> None:
    for function, wanted in ((choose, Selector.choose), (update, Selector.update)):
        taken, right = (list(inspect.signature(each).parameters) for each in (function, wanted))
        if len(taken) != len(right):
            raise OperatorError(
                f"selector {name!r}: '{wanted.__name__}' takes ({', '.join(taken)}), but has to be a static method "
                f"that takes ({', '.join(right)})."
            )
