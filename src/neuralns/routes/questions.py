"""The questions that the rules of an instance answer: each with a signature of its own, called by address.

The addresses are in the state (``State.questions``), so that operators are compiled once for all instances, and so are
the larger parts of the answers that several of them use. `answers` has what answers them.
"""

from __future__ import annotations

from typing import Any

from numba import types

from neuralns.compiled.calls import caller
from neuralns.routes.layout import state_type

_float, _int = types.float64, types.int64

QUESTIONS: dict[str, tuple[Any, ...]] = {
    # Name: type of the answer, then of the arguments behind the state.
    "best_on_route": (_float, _int, _int, _float, _float),  # customer, slot, bound, blink
    "best_on_routes": (_float, _int, _float, _float),  # customer, bound, blink
    "best_of_each": (types.void, _int, _int),  # customer, first cell of its row in the table
    "best_still": (_float, _int, _int, _int, _float, _int),  # customer, slot, inserted, known, position
    "best_near": (_float, _int, _int, _float, _float),  # customer, count, bound, blink
    "best_of_shipment": (_float, _int, _int, _float, _float),  # pickup, slot, bound, blink
    "cost_at": (_float, _int, _int, _int),  # customer, slot, position
    "cost_of_sequence": (_float, _int, _int),  # count, vehicle
    "random_position": (_int, _int, _int),  # customer, slot
    "opening": (_float, _int),  # customer
    "measure_alone": (types.void,),
    "may_fit": (types.boolean, _int, _int),  # customer, slot
    "removal": (_float, _int),  # customer
    "join": (_float, _int, _int),  # tail, head
    "take_off": (types.void, _int),  # customer
    "put_on": (types.void, _int, _int, _int),  # customer, slot, position
    "load_route": (types.void, _int, _int, _int),  # slot, begin, end
    "carry_out": (_int, _int, _int, _int, _int),  # slot, middle, other, end
    "close_books": (types.void, _int, types.boolean),  # slot, resized
    "prepare": (types.void,),
    "reassign_vehicles": (_int,),
    "count_changed": (types.void, _int),  # by
    "recompute": (_float,),
    "renew": (types.void, _int),  # slot
}
NUMBERS = {name: number for number, name in enumerate(QUESTIONS)}


def signature_of(question: str, state: Any = state_type) -> Any:
    """Return the signature of a question about states of a type."""
    answer, *arguments = QUESTIONS[question]
    return answer(state, *arguments)


def ask(question: str) -> tuple[int, Any]:
    """Return the number of a question, and the compiled function that calls what answers it at an address."""
    return NUMBERS[question], caller(signature_of(question))
