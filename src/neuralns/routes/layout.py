"""What a state holds: each field declared once, with what it has an entry for and what becomes of it.

Routes are linked lists over customers. A route is a slot; there are as many slots as customers could need. What is
allocated, saved before a change, undone and copied follows from the declarations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numba import types

from neuralns.compiled.structs import StructType, at_address, entry_copier, field_copier, number, whole
from neuralns.routes.status import status_type

Extent = Literal["instance", "once", "node", "slot", "arc", "cell", "word", "type", "depot", "group", "load"]
"""What a field has entries for: as the instance has them, once for all, each node, each slot, each arc, each cell of a
repair's table, each word of the generator, each type of vehicle, each depot (and kind of goods), each group, each kind
of goods at each node or slot."""


@dataclass(frozen=True)
class Field:
    """A field of the state.

    Attributes
    ----------
    per
        What it has entries for.
    entry_type
        Type of an entry.
    dimensions
        Of the array that holds the entries.
    journalled
        Whether `undo` brings back its entries.
    copied
        Whether `copy_fields` copies it.
    start
        What entries hold at first.
    """

    name: str
    per: Extent
    entry_type: Any = types.float64
    dimensions: int = 1
    journalled: bool = False
    copied: bool = False
    start: float = 0

    @property
    def type(self) -> Any:
        single = self.per == "once" or self.dimensions == 0
        return self.entry_type if single else types.Array(self.entry_type, self.dimensions, "C")

    @property
    def fixed(self) -> bool:
        """Whether compiled code may read where it is once for many uses (see `StructType`).

        That pays nearly everywhere. Not in the loops that select by keys, which the optimiser then writes without
        branches, though branches are what is quick there.
        """
        return self.per != "once" and self.name not in ("keys", "items")


# Indices of nodes and slots are unsigned: an index that may be negative costs a check at every access.
_index = types.uint32


def _instance(name: str, entry_type: Any = types.float64, dimensions: int = 1) -> Field:
    return Field(name, "instance", entry_type, dimensions)


def _route(name: str, per: Extent, entry_type: Any = types.float64, start: float = 0) -> Field:
    return Field(name, per, entry_type, journalled=True, copied=True, start=start)


FIELDS = (
    # The instance.
    _instance("customers", whole, 0),  # customers are 1 .. customers, 0 is the depot
    _instance("capacity", number, 0),  # what the largest vehicle carries of the first goods: the yardstick of loads
    _instance("vehicle_cost", number, 0),
    _instance("rounding", whole, 0),  # index in ROUNDINGS, used when distances are computed on demand
    _instance("unit", number, 0),  # mean distance between the depot and a customer: the yardstick of lengths
    _instance("demand"),
    _instance("x"),
    _instance("y"),
    _instance("distances", dimensions=2),  # [tail, head]; 0 × 0 when computed on demand
    _instance("distances_to", dimensions=2),  # its transpose; the same array when symmetric
    _instance("neighbours", _index, 2),  # nearest customers of each node, nearest first
    _instance("granular", _index, 2),  # customers that go well beside each node, by distance and time, best first
    _instance("granular_distances", types.float32, 2),  # of them, where points say all; 0 × 0 elsewhere
    _instance("profile", whole, 0),  # of rules, by its place in `answers.PROFILES`
    _instance("questions", types.int64),  # addresses of what answers for its rules
    _instance("vehicles", whole, 0),  # the most routes
    _instance("slack", number, 0),  # the most by which an insertion can lower the cost; infinite if not known
    _instance("unserved_cost", number, 0),  # penalty of who must be on a route and is not; infinite if all must be
    _instance("prize"),  # penalty of each customer on no route: that, or the prize of an optional one
    _instance("optional", whole, 0),  # whether anybody need not be served
    _instance("lost", number, 0),  # prizes of optional customers who can be on no route
    _instance("servable", types.uint8),  # whether a customer can be on a route at all
    _instance("durations", dimensions=2),  # as `distances`; those themselves if they are the durations
    _instance("durations_to", dimensions=2),
    _instance("lookup", whole, 0),  # how legs are looked up, see `insertion`
    _instance("earliest"),  # start of service
    _instance("latest"),  # with a tolerance for sums
    _instance("service"),
    _instance("horizon", number, 0),  # length of the shift: the yardstick of times
    _instance("detour", number, 0),  # the most time that the way by another node saves; infinite if not known
    _instance("shortcut", number, 0),  # the most distance that it saves, likewise, where distances are limited
    _instance("noise", number, 0),  # lateness that is the rounding of sums
    # What it has: known when the rules are compiled (see `answers`).
    _instance("varied", whole, 0),  # whether routes have vehicle types of their own
    _instance("ends", whole, 0),  # whether vehicles start or end elsewhere than at node 0
    _instance("simple_load", whole, 0),  # whether there is one kind of goods, delivered alone: ``load`` says all
    _instance("mixed", whole, 0),  # whether there are pickups or shipments, so that loads differ along a route
    _instance("timed", whole, 0),  # whether there are windows or shifts
    _instance("measured", whole, 0),  # whether durations count
    _instance("releases", whole, 0),  # whether goods are released at a time
    _instance("openings", whole, 0),  # whether a customer has several windows
    _instance("owned", whole, 0),  # whether there are costs of one's own
    _instance("limited", whole, 0),  # whether the distance or the stops of a route are limited
    _instance("skilled", whole, 0),  # whether customers need skills
    _instance("backhauls", whole, 0),
    _instance("shipments", whole, 0),
    _instance("rides", whole, 0),  # whether rides of shipments are limited
    _instance("grouped", whole, 0),  # whether there are groups
    _instance("has_depots", whole, 0),  # whether depots are limited or cost
    # Vehicle types.
    _instance("nowhere", whole, 0),  # the node that stands for no depot
    _instance("goods_weight"),  # of each kind of goods, how much of the first kind is as much as one unit of it
    _instance("goods", whole, 0),  # dimensions of amounts
    _instance("carries", dimensions=2),  # most of each kind of goods, by type
    _instance("alone", dimensions=2),  # what a route of one request costs, by type
    _instance("available", types.int64),
    _instance("fixed_cost"),
    _instance("per_distance"),
    _instance("per_duration"),
    _instance("start_node", _index),
    _instance("end_node", _index),
    _instance("shift_opens"),
    _instance("shift_leaves"),  # last departure
    _instance("shift_closes"),  # last return
    _instance("most_distance"),
    _instance("most_duration"),
    _instance("most_stops", types.int64),
    _instance("profile_rows", _index),  # where the rows of its distances begin
    _instance("class_begin", types.int64),  # where its class begins in `by_class`, and how many types that has
    _instance("class_size", types.int64),
    _instance("by_class", types.int64),
    _instance("n_classes", whole, 0),
    _instance("scarce", whole, 0),  # whether vehicles of several types are limited
    _instance("allowed", types.uint8, 2),  # whether a type has the skills for a customer
    # Customers.
    _instance("delivery", dimensions=2),
    _instance("pickup", dimensions=2),  # shipments included: above 0 where they are picked up, below where delivered
    _instance("partner", _index),  # the other end of a shipment, 0 for others
    _instance("is_delivery", types.uint8),  # whether it is the second end of a shipment
    _instance("role", types.int32),  # LINEHAUL or BACKHAUL where backhauls come last
    _instance("release"),
    _instance("n_openings", types.int64),
    _instance("first_opening", types.int64),
    _instance("opens"),
    _instance("closes"),
    _instance("group", types.int32),  # -1 for none
    _instance("group_required", types.uint8),
    _instance("from_depots"),  # distance from the nearest depot
    _instance("longest_ride"),  # of a shipment, by its pickup
    # Depots, as far as they are limited or cost.
    _instance("start_depot", types.int64),  # by type of vehicle, -1 for none
    _instance("end_depot", types.int64),
    _instance("depot_cost"),
    _instance("depot_capacity", dimensions=2),
    _instance("own_costs", types.int64),  # addresses of costs of one's own
    _instance("priced", whole, 0),  # whether durations cost, or there are costs of one's own
    _instance("by_distance", whole, 0),  # whether legs cost their distance, held, and nothing else
    _instance("retypes", whole, 0),  # whether routes can get cheaper by another vehicle, by a known amount at most
    _instance("same_hours", whole, 0),  # whether a route takes as long, and costs as much for it, in every vehicle
    # The routes.
    _route("successor", "node", _index),  # next customer, 0 at the end
    _route("predecessor", "node", _index),  # previous customer, 0 at the start
    _route("route", "node", types.int32, start=-1),  # slot of the customer's route, -1 while it is removed
    _route("arc", "node"),  # distance to the successor
    _route("arriving", "node"),  # distance from the predecessor, where repairs look near by lengths alone
    _route("first", "slot", _index),  # first customer of a slot, 0 if empty
    _route("entry", "slot"),  # distance from the depot to the first customer
    _route("size", "slot", types.int32),
    _route("load", "slot"),
    _route("length", "slot"),
    _route("duration", "slot"),  # where durations count
    _route("vehicle", "slot", types.int32),  # vehicle type
    _route("route_cost", "slot"),  # what the route costs
    _route("savings", "slot"),  # the most that another vehicle can save on it, whoever else comes on it
    _route("n_routes", "once", whole),  # routes with customers
    _route("cost", "once", number),  # F of the routes
    _route("total_savings", "once", number),  # of all routes
    # What a unit of a violation costs; infinite where the rule is hard.
    Field("load_price", "once", number, copied=True, start=np.inf),
    Field("late_price", "once", number, copied=True, start=np.inf),
    Field("duration_price", "once", number, copied=True, start=np.inf),
    Field("distance_price", "once", number, copied=True, start=np.inf),
    Field("stops_price", "once", number, copied=True, start=np.inf),
    Field("soft", "once", whole, copied=True),  # whether any of them is finite
    Field("largest_load", "once", number, copied=True),  # the most of all; infinite where loads differ along routes
    # The most that a route may carry of each goods by type: what the largest of its class carries, or more at a price.
    Field("soft_capacity", "type", dimensions=2, copied=True),
    Field("active", "slot", _index, copied=True),  # the slots in use, those just emptied included
    Field("n_active", "once", whole, copied=True),
    Field("free", "slot", _index, copied=True),
    Field("n_free", "once", whole, copied=True),
    # The removal list.
    Field("removed", "node", _index),
    Field("n_removed", "once", whole),
    Field("list_index", "node", _index),  # index of a removed customer in `removed`
    # Customers on no route between two steps, the last `n_taken` of them on the removal list as well during a repair.
    Field("bank", "node", _index, copied=True),
    Field("n_bank", "once", whole, copied=True),
    Field("n_taken", "once", whole),
    Field("bank_index", "node", types.int32, copied=True, start=-1),  # index of a customer in the bank, -1 elsewhere
    Field("forced", "once", whole),  # an optional customer whom a repair serves whatever that costs; 0 for none
    Field("serve_all", "once", whole),  # whether a repair serves optional customers whatever that costs
    Field("absence", "node", copied=True, start=1),  # weight of a customer's penalty
    Field("present", "once", whole, copied=True),  # requests on routes and on the removal list
    Field("sizing", "once", whole),  # how a repair chooses sizes of vehicles, see `vehicles`
    Field("preferred", "once", whole, start=-1),  # vehicle type that a repair opens routes with, −1 for the cheapest
    Field("groups_missing", "once", whole, copied=True),  # required groups of whom nobody is served
    # The books of fleets: routes of each type, routes and goods of each depot, members served of each group.
    Field("used", "type", types.int64, copied=True),
    Field("depot_use", "depot", types.int64, copied=True),
    Field("depot_load", "depot", dimensions=2, copied=True),
    Field("group_count", "group", types.int64, copied=True),
    # The times of a route, derived from it by `cost.renew` when they are first looked at after a change.
    Field("dirty", "slot", types.int32, start=1),
    Field("earliest_departure", "node"),  # earliest departure
    Field("latest_start", "node"),  # latest start of service such that the rest of the route is on time
    Field("head_lateness", "node"),  # lateness up to a node and behind it, while it has a price
    Field("tail_lateness", "node"),
    # The route up to a node, and from it on: least duration, earliest and latest start for that, lateness.
    Field("head_time", "node"),
    Field("head_earliest", "node"),
    Field("head_latest", "node"),
    Field("head_warp", "node"),
    Field("tail_time", "node"),
    Field("tail_earliest", "node"),
    Field("tail_latest", "node"),
    Field("tail_warp", "node"),
    # The loads of a route and what else is derived of it.
    Field("start_load", "load", copied=True),  # of each slot, by kind of goods: when it leaves
    Field("end_load", "load", copied=True),  # when it comes back, but for shipments
    Field("saved_start_load", "load"),  # in the journal
    Field("saved_end_load", "load"),
    Field("peak", "load", copied=True),  # the most at any time
    Field("leg_load", "load"),  # of each node: behind it
    Field("head_peak", "load"),  # the most up to there
    Field("tail_peak", "load"),  # the most from there on
    Field("route_release", "slot"),
    Field("excess", "slot"),  # violations of a route: load above the capacity, lateness
    Field("lateness", "slot"),
    Field("charges", "slot"),  # what its violations cost
    Field("legal", "slot", types.uint8, start=1),  # whether it is feasible
    Field("ride_start", "node"),  # start times, scratch space of rides
    Field("ridden", "node", _index),
    # The history of arcs: cost of the best solution seen with each, read by `seen_cost`; 0 × 0 if nobody asks for it.
    Field("history", "arc", dimensions=2, copied=True),
    # What went wrong, and at which customer.
    Field("fault", "once", whole),
    Field("fault_node", "once", whole),
    # The journal, beside the saved entries: which nodes and slots have been saved since the last checkpoint.
    Field("stamp", "once", whole, start=1),
    Field("node_stamp", "node", types.int64),
    Field("n_saved", "once", whole),
    Field("saved", "node", _index),
    Field("slot_stamp", "slot", types.int64),
    Field("n_saved_slots", "once", whole),
    Field("saved_slot", "slot", _index),
    # Scratch space of operators: contents mean nothing between two calls.
    Field("found_position", "once", whole),  # what questions answer beside a cost
    Field("found_slot", "once", whole),
    Field("found_vehicle", "once", whole),
    Field("sequence", "node", _index),
    Field("keys", "node"),
    Field("items", "node", _index),
    Field("order", "node", _index),
    Field("visited", "node", types.int64),  # compare with a fresh `new_visit`
    Field("visited_slots", "slot", types.int64),
    Field("visit", "once", whole),
    Field("columns", "slot", _index),  # routes that a repair may insert into
    Field("n_columns", "once", whole),
    Field("table_delta", "cell"),  # the table of a repair: least cost of a customer in a route, and where
    Field("table_position", "cell", types.int64),
    Field("best_delta", "node"),
    Field("best_column", "node", types.int32),
    Field("row_limit", "node"),
    # Customers of routes that a move of `moves` would make, and those whose neighbours on their routes have changed.
    Field("plan", "node", _index),
    Field("touched", "node", _index),
    Field("n_touched", "once", whole),
    Field("random", "word", types.uint64),
)

JOURNALLED = tuple(field for field in FIELDS if field.journalled)
SAVED = tuple(Field(f"saved_{field.name}", field.per, field.entry_type) for field in JOURNALLED)
ALL_FIELDS = (*FIELDS, *SAVED)

state_type = StructType(
    "neuralns.State",
    {field.name: field.type for field in ALL_FIELDS} | {"status": status_type},
    constants=["status", *(field.name for field in ALL_FIELDS if field.fixed)],
)

state_at = at_address(state_type)
"""Return the state at an address: compiled functions take many states as an array of addresses."""


def _pairs(per: Extent) -> list[tuple[str, str]]:
    return [(field.name, f"saved_{field.name}") for field in JOURNALLED if field.per == per]


copy_node_out = entry_copier(state_type, _pairs("node"))
"""Copy the entries of node ``tail`` to place ``head`` of the journal."""
copy_node_back = entry_copier(state_type, [pair[::-1] for pair in _pairs("node")])
copy_slot_out = entry_copier(state_type, _pairs("slot"))
copy_slot_back = entry_copier(state_type, [pair[::-1] for pair in _pairs("slot")])
copy_fields = field_copier(state_type, [field.name for field in FIELDS if field.copied])
"""Copy the routes and the history of a state to another one of the same instance."""


def new_arrays(customers: int, quota: int, sizes: Mapping[str, int]) -> dict[str, Any]:
    """Return the fields of a state that are its own, except generator, history and status.

    ``quota`` is the most customers that are removed at a time. There are fewer routes than customers left on them, so
    that a table of ``quota`` rows needs no more columns than there are customers. ``sizes`` says how many types of
    vehicles, depots, groups and kinds of goods there are.
    """
    nodes = customers + 1
    found: dict[str, Any] = {}
    for field in ALL_FIELDS:
        if field.per == "once":
            found[field.name] = field.start
        elif field.per == "cell":
            # Pages that are never touched cost no memory.
            found[field.name] = np.empty(quota * customers, state_type.dtypes[field.name])
        elif field.per == "load":
            found[field.name] = np.zeros(nodes * sizes["goods"] if sizes["goods"] else 1)
        elif field.per in sizes:
            shape = (sizes[field.per], sizes["goods"])[: field.dimensions]
            found[field.name] = np.zeros(shape, state_type.dtypes[field.name])
        elif field.per in ("node", "slot"):
            found[field.name] = np.zeros(nodes, state_type.dtypes[field.name])
            if field.start != 0:
                found[field.name][:] = field.start
    return found
