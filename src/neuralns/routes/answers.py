"""What answers the questions about routes, compiled for what an instance has.

It is compiled once for each *profile of rules*: a few sets of facts about instances that are known when the code is
compiled, so that what an instance has not leaves no trace in its loops. An instance gets the first profile whose facts
hold for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

import numpy as np

from neuralns.compiled.calls import address_for
from neuralns.routes import cost, insertion, links, near_insertion, opening, removal, shipment_insertion, vehicles
from neuralns.routes.layout import state_type
from neuralns.routes.questions import QUESTIONS, signature_of

FACTS = (
    "varied", "ends", "simple_load", "mixed", "timed", "measured", "releases", "openings", "owned", "limited",
    "skilled", "backhauls", "shipments", "rides", "grouped", "has_depots",
)  # fmt: skip
"""Fields of the state that say what an instance has; see `layout`."""

_RARE = dict.fromkeys(("releases", "openings", "owned", "shipments", "rides", "grouped"), 0)
_ONE_TYPE = dict.fromkeys(
    ("varied", "ends", "mixed", "measured", "limited", "skilled", "backhauls", "has_depots"), 0
) | {"simple_load": 1}
_FLEET = _RARE | {"mixed": 0, "measured": 0}

PROFILES: dict[str, Mapping[str, int]] = {
    "plain": _RARE | _ONE_TYPE | {"timed": 0},
    "windows": _RARE | _ONE_TYPE | {"timed": 1},
    "fleet": _FLEET | {"timed": 0},
    "fleet with windows": _FLEET | {"timed": 1, "backhauls": 0},
    "durations": _RARE | {"mixed": 0, "measured": 1, "timed": 1, "backhauls": 0},
    "day": _RARE | {"timed": 1, "simple_load": 0, "backhauls": 0, "lookup": insertion.COMPUTED},
    "everything": {"lookup": insertion.COMPUTED},
}
"""Profiles of rules by name, each with the facts that its code is compiled for. Where a profile sets ``lookup``,
tables of legs are looked into in the most general way: less code."""

_ANSWERS = {
    "best_on_route": insertion.best_on_route, "best_on_routes": insertion.best_on_routes,
    "best_of_each": insertion.best_of_each, "best_still": insertion.best_still,
    "best_near": near_insertion.best_near, "best_of_shipment": shipment_insertion.best_of_shipment,
    "cost_at": insertion.cost_at, "cost_of_sequence": cost.cost_of_sequence,
    "random_position": opening.random_position, "opening": opening.opening,
    "measure_alone": opening.measure_alone, "may_fit": insertion.may_fit, "removal": removal.removal,
    "join": removal.join, "take_off": links.take_off, "put_on": links.put_on, "load_route": links.load_route,
    "carry_out": links.carry_out, "close_books": vehicles.close_books, "prepare": links.prepare,
    "reassign_vehicles": vehicles.reassign_vehicles, "count_changed": vehicles.count_changed,
    "recompute": vehicles.recompute, "renew": cost.renew,
}  # fmt: skip


def profile_of(facts: Mapping[str, int]) -> str:
    """Return the profile of an instance with given facts."""
    return next(
        name
        for name, known in PROFILES.items()
        if all(facts[fact] == value for fact, value in known.items() if fact in FACTS)
    )


@cache
def addresses_of(profile: str) -> Any:
    """Return the addresses of all answers of a profile, compiled when they are first needed."""
    return np.array([_address_of(profile, question) for question in QUESTIONS], np.int64)


def compilations_of(profile: str) -> list[Callable[[], object]]:
    """Return what compiles the answers of a profile, one by one; those that take longest come first, but for a quick
    one.
    """
    first = ["prepare", "best_on_route", "best_near", "take_off", "renew"]
    order = sorted(QUESTIONS, key=lambda question: first.index(question) if question in first else len(first))
    return [partial(_address_of, profile, question) for question in order]


def _address_of(profile: str, question: str) -> int:
    """Return the address of an answer of a profile, 0 if it is never asked for."""
    if question == "best_of_shipment" and PROFILES[profile].get("shipments") == 0:
        return 0
    return address_for(_ANSWERS[question], signature_of(question, _state_of(profile)))


@cache
def _state_of(profile: str) -> Any:
    """Return the type of states whose profile is known."""
    facts = {**PROFILES[profile], "profile": list(PROFILES).index(profile)}
    return state_type.knowing(f"neuralns.State of {profile}", facts)
