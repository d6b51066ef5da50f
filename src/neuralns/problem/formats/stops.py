"""What the rows of a table of stops say of depots and customers: amounts, windows, shipments, groups and prizes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf
from typing import NamedTuple

import numpy as np

from neuralns.errors import InputError
from neuralns.problem.clock import format_time
from neuralns.problem.distances import Floats
from neuralns.problem.fleet import Depot, Group, Shipment
from neuralns.problem.formats.fleet import LIMITS
from neuralns.problem.formats.sheet import (
    EARLIEST,
    LATEST,
    MOST,
    Columns,
    Moment,
    Sheet,
    Span,
    Times,
    numbered,
    of_number,
)

COLUMNS: Columns = {
    "name": ("name", "customer", "stop", "id", "customer_id", "stop_id", "label"),
    "kind": ("type", "kind"),
    "x": ("x", "x_coord", "xcoord"),
    "y": ("y", "y_coord", "ycoord"),
    "lat": ("lat", "latitude"),
    "lon": ("lon", "lng", "long", "longitude"),
    **numbered(
        {
            "demand": ("demand", "delivery", "deliver", "quantity", "qty", "load", "amount"),
            "pickup": ("pickup", "pick_up", "collect", "collection"),
        }
    ),
    **numbered({"earliest": EARLIEST, "latest": LATEST}),
    "windows": ("windows", "window", "time_windows", "time_window", "opening_hours", "hours"),
    "service": ("service", "service_time", "service_duration", "duration"),
    "release": ("release", "release_time", "released", "available_from"),
    "skills": ("skills", "skill", "skills_needed", "needs"),
    "prize": ("prize", "reward"),
    "optional": ("optional",),
    "group": ("group", "one_of"),
    "shipment": ("shipment", "shipment_id", "request"),
    **numbered({"depot_capacity": ("depot_capacity", "stock", "supply")}),
    "opening_cost": ("opening_cost", "depot_cost"),
    "vehicles": ("vehicles",),
    **LIMITS,
}
"""What is known of a stop, and the columns that say it."""
TIMES = ("earliest", "latest", "windows", "service", "release")
"""Columns that have to do with time."""
OF_CUSTOMERS = ("release", "skills", "prize", "optional", "group", "shipment")
"""Columns that mean nothing at a depot."""
DEPOTS = ("depot", "warehouse", "hub", "base")
CUSTOMERS = ("", "customer", "client", "stop")
DELIVERIES = ("delivery", "drop_off", "linehaul")
PICKUPS = ("pickup", "pick_up", "collection")
BACKHAULS = ("backhaul",)
STOP_TYPES = ("depot", "customer", "delivery", "pickup", "backhaul")

Window = tuple[float, float]


class Places(NamedTuple):
    """The rows of the nodes: the first depot, the customers, then all other depots."""

    order: list[int]
    customers: int

    @property
    def depots(self) -> dict[int, int]:
        """The nodes of depots, by row."""
        nodes = (0, *range(self.customers + 1, len(self.order)))
        return {self.order[node]: node for node in nodes}

    @property
    def visits(self) -> Iterator[tuple[int, int]]:
        """The nodes and rows of customers."""
        return enumerate(self.order[1 : self.customers + 1], 1)


def find_places(sheet: Sheet) -> Places:
    """Return the order of the nodes: depots are those that a column of kinds says, else the one of that name."""
    known = (*DEPOTS, *CUSTOMERS, *DELIVERIES, *PICKUPS, *BACKHAULS)
    for index in range(len(sheet)):
        if _stop_type(sheet, index) not in known:
            cell = sheet.text(index, "kind")
            raise sheet.refusal(index, "kind", f"{cell!r:.60} is not supported yet, only {', '.join(STOP_TYPES)}")
    depots = [index for index in range(len(sheet)) if _stop_type(sheet, index) in DEPOTS]
    if not depots:
        depots = [index for index in range(len(sheet)) if sheet.text(index, "name").casefold() == "depot"]
        if len(depots) > 1:
            rows = " and ".join(str(sheet.row(index)) for index in depots[:2])
            raise InputError(f"{sheet.path}: rows {rows} are both named depot; give each a name of its own.")
    if not depots:
        raise InputError(f"{sheet.path}: no row is the depot; name one 'depot', or add a column 'type' that says so.")
    customers = sorted({*range(len(sheet))} - {*depots})
    if not customers:
        raise InputError(f"{sheet.path}: every row is a depot; at least one customer is needed.")
    return Places([depots[0], *customers, *depots[1:]], len(customers))


def _stop_type(sheet: Sheet, index: int) -> str:
    return sheet.text(index, "kind").casefold().replace(" ", "_").replace("-", "_")


def read_names(sheet: Sheet, order: Sequence[int]) -> list[str] | None:
    """Return the names of nodes, each once; None if they have none."""
    if "name" not in sheet:
        return None
    rows: dict[str, int] = {}
    for index in order:
        name = sheet.text(index, "name")
        if not name:
            raise sheet.refusal(index, "name", "the cell is empty")
        if not name.isprintable():
            raise sheet.refusal(index, "name", f"{name!r:.60} must be text on one line")
        if name in rows:
            raise sheet.refusal(index, "name", f"{name!r:.60} is the name of row {rows[name]} as well")
        rows[name] = sheet.row(index)
    return list(rows)


# --- Goods. -----------------------------------------------------------------------------------------------------------


class Goods(NamedTuple):
    """What is delivered and picked up, by node and dimension, and what goes from customer to customer."""

    deliveries: Floats
    pickups: Floats
    shipments: list[Shipment]
    backhauls: bool


def dimensions_of(sheet: Sheet) -> int:
    """Return in how many dimensions amounts are given, 0 if there are none."""
    return max(
        (
            dimension
            for dimension in range(1, MOST + 1)
            for what in ("demand", "pickup")
            if of_number(what, dimension) in sheet
        ),
        default=0,
    )


def read_goods(sheet: Sheet, places: Places) -> Goods:
    """Return the amounts: those of pickups stand in a column of their own, or in that of all amounts."""
    dimensions = dimensions_of(sheet)
    shape = len(places.order), max(dimensions, 1)
    deliveries, pickups = np.zeros(shape), np.zeros(shape)
    for row in places.depots:
        for column in _amount_columns(dimensions):
            if sheet.number(row, column):
                raise sheet.refusal(row, column, f"{sheet.text(row, column)!r:.60} at the depot must be 0 or empty")
    shipped: dict[str, list[int]] = {}
    for node, row in places.visits:
        stop_type, shipment = _stop_type(sheet, row), sheet.text(row, "shipment")
        if shipment:
            shipped.setdefault(shipment, []).append(node)
        down, up = (_amounts(sheet, row, what, dimensions) for what in ("demand", "pickup"))
        if dimensions and not shipment and down is None and up is None:
            raise sheet.refusal(row, "demand" if "demand" in sheet else "pickup", "the cell is empty")
        if stop_type in PICKUPS + BACKHAULS:
            if down is not None and up is not None:
                raise sheet.refusal(
                    row,
                    "demand",
                    f"{sheet.text(row, 'demand')!r:.60} beside a pickup, though the stop is a {stop_type}",
                )
            down, up = None, down if up is None else up
        elif shipment and up is not None:
            raise sheet.refusal(row, "pickup", f"{sheet.text(row, 'pickup')!r:.60} at the delivery of a shipment")
        deliveries[node] = 0.0 if down is None else down
        pickups[node] = 0.0 if up is None else up
    shipments = [_shipment(sheet, places, name, nodes, deliveries, pickups) for name, nodes in shipped.items()]
    return Goods(deliveries, pickups, shipments, _has_backhauls(sheet, places))


def _amount_columns(dimensions: int) -> list[str]:
    return [of_number(what, dimension) for what in ("demand", "pickup") for dimension in range(1, dimensions + 1)]


def _amounts(sheet: Sheet, row: int, what: str, dimensions: int) -> list[float] | None:
    """Return the amounts of a row in all dimensions; None if none is given."""
    found = [sheet.number(row, of_number(what, dimension)) for dimension in range(1, dimensions + 1)]
    return None if all(amount is None for amount in found) else [amount or 0.0 for amount in found]


def _shipment(
    sheet: Sheet, places: Places, name: str, nodes: Sequence[int], deliveries: Floats, pickups: Floats
) -> Shipment:
    """Return the shipment between two rows; its amount is that of either, or the same in both."""
    rows = [places.order[node] for node in nodes]
    if len(rows) != 2:
        number = "1 row" if len(rows) == 1 else f"{len(rows)} rows"
        raise sheet.refusal(
            rows[-1], "shipment", f"{name!r:.60} is in {number}, but a shipment has a pickup and a delivery"
        )
    stop_types = [
        "pickup" if _stop_type(sheet, row) in PICKUPS else "delivery" if _stop_type(sheet, row) in DELIVERIES else ""
        for row in rows
    ]
    for row, stop_type in zip(rows, stop_types, strict=True):
        if not stop_type:
            raise sheet.refusal(row, "kind", f"shipment {name!r:.60} needs 'pickup' or 'delivery' here")
    if stop_types[0] == stop_types[1]:
        raise sheet.refusal(rows[1], "kind", f"both rows of shipment {name!r:.60} are a {stop_types[0]}")
    up, down = nodes if stop_types[0] == "pickup" else nodes[::-1]
    given = [amounts for amounts in (pickups[up], deliveries[down]) if amounts.any()]
    if len(given) == 2 and (given[0] != given[1]).any():
        row = places.order[down]
        raise sheet.refusal(
            row,
            "demand",
            f"{sheet.text(row, 'demand')!r:.60} is not what shipment {name!r:.60} picks up, {given[0][0]:.10g}",
        )
    amount = given[0].tolist() if given else [0.0] * deliveries.shape[1]
    pickups[up], deliveries[down] = 0.0, 0.0
    return Shipment(up, down, amount)


def _has_backhauls(sheet: Sheet, places: Places) -> bool:
    rows = [row for _, row in places.visits if _stop_type(sheet, row) in BACKHAULS]
    for row in (row for _, row in places.visits if rows and _stop_type(sheet, row) in PICKUPS):
        raise sheet.refusal(
            row, "kind", f"{sheet.text(row, 'kind')!r:.60} beside backhauls; all pickups must be of one kind"
        )
    return bool(rows)


# --- Times. -----------------------------------------------------------------------------------------------------------


def read_spans(sheet: Sheet, row: int, times: Times) -> list[Span]:
    """Return the windows of a row, as its columns give them: at least one, which may be open at both ends."""
    listed = times.spans(sheet, row, "windows")
    pairs = [times.span(sheet, row, number) for number in range(1, MOST + 1)]
    for number, pair in enumerate(pairs, 1):
        if pair != (None, None) and listed:
            raise sheet.refusal(
                row, "windows", f"windows are given here and by {sheet.header(of_number('earliest', number))!r:.60}"
            )
    return listed or [pair for pair in pairs if pair != (None, None)] or pairs[:1]


def windows_of(
    sheet: Sheet, places: Places, spans: Sequence[Sequence[Span]], shift: Span, times: Times
) -> tuple[list[Window] | None, dict[int, list[Window]]]:
    """Return the window of each node, None if there is none, and those of nodes that have several.

    The depot's is cut to the shift of vehicles that are all alike.
    """
    whole = {
        node: (times.minutes(spans[node][0][0], 0.0), times.minutes(spans[node][0][1], inf))
        for node in places.depots.values()
    }
    if shift != (None, None):
        start = shift[0] if spans[0][0][0] is None else spans[0][0][0]
        opens = max(times.minutes(start, 0.0), times.minutes(shift[0], -inf))
        whole[0] = opens, min(whole[0][1], times.minutes(shift[1], inf))
    opens = min(begin for begin, _ in whole.values())
    windows, several = [], {}
    for node, (row, given) in enumerate(zip(places.order, spans, strict=True)):
        column = "windows" if sheet.text(row, "windows") else "latest"
        ends = [(a, times.minutes(b, inf)) for a, b in given]
        found = [whole[node]] if node in whole else [(times.minutes(a, min(opens, end)), end) for a, end in ends]
        for begin, end in found:
            span = f"{format_time(begin, times.clock)} to {format_time(end, times.clock)}"
            if begin > end:
                raise sheet.refusal(row, column, f"the window {span} ends before it begins")
        if len(given) > 1 and node in whole:
            raise sheet.refusal(row, column, "several windows of a depot are not supported yet")
        if len(found) > 1:
            several[node] = found
        windows.append((min(begin for begin, _ in found), max(end for _, end in found)))
    return windows if any(begin != 0 or end < inf for begin, end in windows) else None, several


def read_services(sheet: Sheet, places: Places) -> list[float] | None:
    """Return how long services take, None if they take no time."""
    service = [sheet.duration(index, "service") or 0.0 for index in places.order]
    for row, node in places.depots.items():
        if service[node]:
            cell = sheet.text(row, "service")
            raise sheet.refusal(row, "service", f"{cell!r:.60} at the depot is not supported yet")
    return service if any(service) else None


def read_releases(sheet: Sheet, places: Places, times: Times) -> list[Moment | None]:
    """Return when the goods of each node can leave the depot."""
    return [times.read(sheet, row, "release") for row in places.order]


# --- Who is served, and by whom. --------------------------------------------------------------------------------------


def read_prizes(sheet: Sheet, places: Places, shipments: Sequence[Shipment]) -> list[float] | None:
    """Return what is lost by not serving each node, infinite where it has to be served; None if all have.

    The prize of a shipment stands in either of its rows, or in both.
    """
    prizes = [inf] * len(places.order)
    for node, row in places.visits:
        prize = sheet.number(row, "prize")
        if "optional" not in sheet or sheet.flag(row, "optional"):
            prizes[node] = inf if prize is None else prize
        if prize is None and "optional" in sheet and sheet.flag(row, "optional"):
            raise sheet.refusal(row, "prize", "the cell is empty, though the stop is optional")
    for each in shipments:
        for one, other in ((each.pickup, each.delivery), (each.delivery, each.pickup)):
            prizes[one] = prizes[other] if prizes[one] == inf else prizes[one]
    return prizes if min(prizes) < inf else None


def read_groups(sheet: Sheet, places: Places, prizes: Sequence[float] | None) -> list[Group]:
    """Return groups of customers of whom one is served; none has to be where all are optional."""
    members: dict[str, list[int]] = {}
    for node, row in places.visits:
        if name := sheet.text(row, "group"):
            members.setdefault(name, []).append(node)
    for name, nodes in members.items():
        if len(nodes) == 1:
            raise sheet.refusal(
                places.order[nodes[0]], "group", f"{name!r:.60} is in no other row, but a group is a choice"
            )
    return [
        Group(nodes, required=prizes is None or max(prizes[node] for node in nodes) == inf, name=name)
        for name, nodes in members.items()
    ]


def read_depots(sheet: Sheet, places: Places, dimensions: int) -> list[Depot] | None:
    """Return what there is to depots, None if there is one and nothing to it."""
    columns = [of_number("depot_capacity", dimension) for dimension in range(1, max(dimensions, 1) + 1)]
    for row in (row for _, row in places.visits):
        for column in (*columns, "opening_cost"):
            if sheet.text(row, column):
                raise sheet.refusal(row, column, f"{sheet.text(row, column)!r:.60}, but the stop is no depot")
    found = []
    for row in places.depots:
        for column in OF_CUSTOMERS:
            if cell := sheet.text(row, column):
                raise sheet.refusal(row, column, f"{cell!r:.60}, but the stop is a depot")
        capacity = [sheet.number(row, column) for column in columns]
        if None in capacity and any(each is not None for each in capacity):
            raise sheet.refusal(row, columns[capacity.index(None)], "the cell is empty")
        known = [each for each in capacity if each is not None]
        found.append(Depot(known or None, sheet.number(row, "opening_cost") or 0.0))
    return found if len(found) > 1 or found[0] != Depot() else None
