"""What answers the questions about routes, compiled for what an instance has.

It is compiled once for each *profile of rules*: a few sets of facts about instances that are known when the code is
compiled, so that what an instance has not leaves no trace in its loops. An instance gets the first profile whose facts
hold for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
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
    facts = {**PROFILES[profile], "profile": list(PROFILES).index(profile)}
    state = state_type.knowing(f"neuralns.State of {profile}", facts)
    # What an instance has no shipments for is never asked, and need not be compiled.
    unused = {"best_of_shipment"} if PROFILES[profile].get("shipments") == 0 else set()
    return np.array(
        [
            0 if question in unused else address_for(_ANSWERS[question], signature_of(question, state))
            for question in QUESTIONS
        ],
        np.int64,
    )
