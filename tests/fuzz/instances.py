"""Random instances in the project's JSON, with every part that the form knows, in every combination that is taken."""

from __future__ import annotations

from typing import Any

import numpy as np

COSTS = (
    {"name": "overtime", "parameters": {"after": 60, "cost": 2}},
    {"name": "overtime", "parameters": {"after": 25.5}},
    {"name": "balance_durations", "parameters": {"weight": 0.01}},
    {"name": "balance_stops", "parameters": {"weight": 1.5}},
)
"""Few, as each is compiled by itself; tolls are by the number of types."""
NAMES = (
    "the depot",
    "A",
    "b, c",
    'the "old" mill',
    "Ä",
    "5",
    "0",
    "-1",
    "unserved",
    "ß;x",
    "1.0",
    "#",
    "=2+3",
    "skipped",
)
"""What customers may be called, however odd it is in a table."""
_LIKE = ("capacity", "available", "fixed_cost", "distance_cost", "duration_cost", "name")


class Drawn:
    """What is drawn for one instance."""

    def __init__(self, rng: np.random.Generator, least: int, most: int) -> None:
        self.rng = rng
        self.customers = int(rng.integers(least, most + 1))
        self.more = int(rng.integers(1, 3)) if rng.random() < 0.4 else 0
        self.nodes = self.customers + 1 + self.more
        self.depots = [0, *range(self.customers + 1, self.nodes)]
        self.goods = int(rng.integers(2, 4)) if rng.random() < 0.3 else 1
        self.rounding = str(rng.choice(["none", "none", "round", "trunc", "dimacs"]))
        self.unit = 0.1 if self.rounding in ("none", "dimacs") and rng.random() < 0.3 else 1
        self.unit = 1000 if rng.random() < 0.05 else self.unit
        self.fraction = 0.1 if rng.random() < 0.2 else 1
        self.data: dict[str, Any] = {"format": "neuralns-instance", "version": 1, "name": "drawn"}

    def likely(self, chance: float) -> bool:
        return bool(self.rng.random() < chance)

    def whole(self, low: int, high: int) -> int:
        """A whole number from low to high."""
        return int(self.rng.integers(low, high + 1))

    def of_unit(self, low: int, high: int) -> float:
        return round(self.unit * self.whole(low, high), 1)

    def amount(self, low: int = 0, high: int = 8) -> Any:
        found = [round(self.fraction * self.whole(low, high), 1) for _ in range(self.goods)]
        return found if self.goods > 1 else found[0]

    def nothing(self) -> Any:
        return [0] * self.goods if self.goods > 1 else 0

    def ways(self, most: int = 60) -> list[list[float]]:
        """Distances or durations that need not keep the triangle inequality, nor be alike both ways."""
        found = self.rng.integers(0, most, (self.nodes, self.nodes))
        found = np.minimum(found, found.T) if self.likely(0.4) else found
        return [[round(self.unit * each, 1) for each in row] for row in found.tolist()]


def rich(rng: np.random.Generator, least: int = 2, most: int = 20) -> dict[str, Any]:
    """An instance with any of the parts; of those that do not go together, not all."""
    drawn = Drawn(rng, least, most)
    data, likely = drawn.data, drawn.likely
    data["rounding"] = drawn.rounding
    data["coordinates"] = [[drawn.of_unit(0, 40), drawn.of_unit(0, 40)] for _ in range(drawn.nodes)]
    if likely(0.2):
        data["matrix"] = drawn.ways()
        if likely(0.3):
            del data["coordinates"]
    if likely(0.2):
        data["durations"] = drawn.ways()
    shipped = _add_goods(drawn)
    several = _add_times(drawn, shipped)
    rides = bool(shipped) and not several and likely(0.5)
    if rides:
        for each in data["shipments"]:
            each |= {"max_ride": drawn.of_unit(0, 90)} if likely(0.8) else {}
    _add_fleet(drawn, several or rides)
    if likely(0.1) and "windows" in data and "release" not in data:
        _make_earlier(drawn)
    if likely(0.15):
        data["names"] = [NAMES[node] if node < len(NAMES) else f"stop {node}" for node in range(drawn.nodes)]
    if likely(0.1):
        data["clock"] = str(drawn.rng.choice(["00:00", "2026-03-01T00:00"]))
    _add_choices(drawn, shipped)
    if likely(0.2) and not (several or rides):
        kinds = len(data.get("fleet", [None]))
        tolls = {"name": "tolls", "parameters": {"costs": [0.1 * (kind + 1) for kind in range(kinds)]}}
        choices = [*COSTS, tolls]
        data["route_costs"] = [choices[place] for place in rng.permutation(len(choices))[: drawn.whole(1, 2)].tolist()]
    return data


def _make_earlier(drawn: Drawn) -> None:
    """Have the day begin before 0."""
    by = drawn.of_unit(1, 60)

    def moved(span: list[Any]) -> list[Any]:
        return [None if time is None else round(time - by, 6) for time in span]

    drawn.data["windows"] = [moved(span) for span in drawn.data["windows"]]
    for spans in drawn.data.get("openings", {}).values():
        spans[:] = [moved(span) for span in spans]
    for kind in drawn.data.get("fleet", ()):
        if "shift" in kind:
            kind["shift"] = moved(kind["shift"])


def _add_goods(drawn: Drawn) -> set[int]:
    """Add who gets and sends what; return the customers of shipments."""
    data, likely, everyone = drawn.data, drawn.likely, range(1, drawn.customers + 1)
    shipped: set[int] = set()
    if likely(0.25) and drawn.customers > 1:
        order = (1 + drawn.rng.permutation(drawn.customers)).tolist()
        pairs = [(order[2 * pair], order[2 * pair + 1]) for pair in range(drawn.whole(1, drawn.customers // 2))]
        data["shipments"] = [
            {"pickup": pickup, "delivery": delivery, "amount": drawn.amount(0, 6)} for pickup, delivery in pairs
        ]
        shipped = {node for pair in pairs for node in pair}
    backhauls = likely(0.15) and not shipped
    both = backhauls or likely(0.35)
    deliveries, pickups = [drawn.nothing() for _ in range(drawn.nodes)], [drawn.nothing() for _ in range(drawn.nodes)]
    for node in everyone:
        if backhauls:
            (deliveries if likely(0.6) else pickups)[node] = drawn.amount(0 if likely(0.2) else 1)
        elif node not in shipped:
            deliveries[node] = drawn.amount()
            if both and likely(0.5):
                pickups[node] = drawn.amount()
    if backhauls:
        data["backhauls"] = True
    if shipped or both or drawn.goods > 1 or likely(0.2):
        data["deliveries"] = deliveries
        if both:
            data["pickups"] = pickups
    else:
        data["demands"] = deliveries
    return shipped


def _add_times(drawn: Drawn, shipped: set[int]) -> bool:
    """Add windows, services and releases; return whether somebody has several windows."""
    data, likely, everyone, several = drawn.data, drawn.likely, range(1, drawn.customers + 1), False
    if likely(0.55):
        end, width = drawn.of_unit(150, 300), int(drawn.rng.choice([10, 60, 200]))
        windows: list[list[Any]] = [[0, end] for _ in range(drawn.nodes)]
        for node in everyone:
            opens = drawn.of_unit(0, 100)
            closes = min(end, round(opens + drawn.of_unit(0 if likely(0.1) else 10, 10 + width), 1))
            windows[node] = [opens, None if likely(0.05) else closes] if likely(0.8) else [0, end]
        for node in drawn.depots[1:]:
            if likely(0.3):
                windows[node] = [drawn.of_unit(0, 10), end]
        if likely(0.2):
            windows[0] = [0, None]
        data["windows"] = windows
        if likely(0.25):
            openings = {}
            for node in everyone:
                opens, closes = windows[node]
                if likely(0.5) and closes is not None and closes - opens > 4 * drawn.unit:
                    part = (closes - opens) / 4
                    openings[str(node)] = [[opens, opens + part], [closes - part, closes]]
            several = bool(openings)
            if openings:
                data["openings"] = openings
    if likely(0.4):
        data["service"] = [drawn.of_unit(0, 15) if node in everyone else 0 for node in range(drawn.nodes)]
    if likely(0.15):
        most, released = int(drawn.rng.choice([60, 150])), set(everyone) - shipped
        data["release"] = [drawn.of_unit(0, most) if node in released else 0 for node in range(drawn.nodes)]
    return several


def _add_fleet(drawn: Drawn, unmeasured: bool) -> None:
    """Add vehicles: one type, as the fields of the instance or as a fleet, or several."""
    data, likely, measured = drawn.data, drawn.likely, not unmeasured and drawn.likely(0.4)
    if likely(0.15) and drawn.goods == 1 and not drawn.more:
        data["capacity"] = round(drawn.fraction * drawn.whole(8, 30), 1)
        for field, value in (
            ("vehicles", drawn.whole(1, 1 + drawn.customers // 2)),
            ("vehicle_cost", drawn.whole(0, 40)),
            ("distance_cost", float(drawn.rng.choice([0.5, 2.0, 0.0]))),
            ("max_distance", drawn.of_unit(60, 300)),
            *((("duration_cost", 0.5), ("max_duration", drawn.of_unit(60, 300))) if measured else ()),
        ):
            if likely(0.35):
                data[field] = value
        return
    if likely(0.2):
        data["profiles"] = [
            {"matrix": drawn.ways(), **({"durations": drawn.ways()} if likely(0.5) else {})}
            for _ in range(drawn.whole(1, 2))
        ]
    skills = ["crane", "lift"] if likely(0.25) else []
    fleet = [_vehicle_type(drawn, number, measured, skills) for number in range(drawn.whole(1, 4))]
    if likely(0.5):
        # Types that differ in size and cost alone.
        fleet = [
            kind if likely(0.2) else {**fleet[0], **{key: kind.get(key, fleet[0][key]) for key in _LIKE}}
            for kind in fleet
        ]
    data["fleet"] = fleet
    if skills:
        needs = [node for node in range(1, drawn.customers + 1) if likely(0.3)]
        data["skills"] = {str(node): [str(drawn.rng.choice(skills))] for node in needs}
    if drawn.more or likely(0.1):
        stated = likely(0.5)
        data["depots"] = [
            {
                **({"capacity": drawn.amount(10, 60)} if stated and likely(0.4) else {}),
                **({"cost": drawn.whole(1, 50)} if stated and likely(0.6) else {}),
            }
            for _ in drawn.depots
        ]


def _vehicle_type(drawn: Drawn, number: int, measured: bool, skills: list[str]) -> dict[str, Any]:
    likely, data = drawn.likely, drawn.data
    kind: dict[str, Any] = {
        "name": f"kind {number}",
        "capacity": drawn.amount(8, 30),
        "available": None if likely(0.5) else drawn.whole(0 if number else 1, 4),
        "fixed_cost": drawn.whole(0, 40),
        "distance_cost": float(drawn.rng.choice([1.0, 1.0, 0.5, 2.0, 0.0])),
        "duration_cost": float(drawn.rng.choice([0.0, 0.5, 2.0])) if measured else 0.0,
    }
    for end in ("start", "end"):
        if likely(0.5):
            kind[end] = None if likely(0.2) else int(drawn.rng.choice(drawn.depots))
    if likely(0.2):
        kind["shift"] = [drawn.of_unit(0, 50), drawn.of_unit(100, 300)]
    for field, low, high in (("max_distance", 60, 300), *((("max_duration", 60, 300),) if measured else ())):
        if likely(0.2):
            kind[field] = drawn.of_unit(low, high)
    if likely(0.2):
        kind["max_stops"] = drawn.whole(1, 6)
    if likely(0.03):
        # What is there, and of no use.
        odd = ({"capacity": [0] * drawn.goods}, {"max_stops": 0}, {"max_distance": 0}, {"available": 0})
        kind |= odd[drawn.whole(0, 3)] if number else {}
    if skills:
        kind["skills"] = [skill for skill in skills if number == 0 or likely(0.5)]
    if "profiles" in data:
        kind["profile"] = drawn.whole(0, len(data["profiles"]))
    return kind


def _add_choices(drawn: Drawn, shipped: set[int]) -> None:
    """Add who may be left out: prizes and groups."""
    data, likely, everyone = drawn.data, drawn.likely, range(1, drawn.customers + 1)
    if likely(0.25):
        prizes = [drawn.whole(0, 80) if node in everyone and likely(0.5) else None for node in range(drawn.nodes)]
        for each in data.get("shipments", ()):
            prizes[each["delivery"]] = prizes[each["pickup"]]
        data["prizes"] = prizes
    if likely(0.2):
        lone = [node for node in (1 + drawn.rng.permutation(drawn.customers)).tolist() if node not in shipped]
        groups = [
            {"members": lone[begin : begin + 2], "required": likely(0.6)} for begin in range(0, min(6, len(lone)), 2)
        ]
        if groups:
            data["groups"] = groups


def vroom(rng: np.random.Generator, most: int = 10) -> dict[str, Any]:
    """A problem in VROOM's JSON, with matrices, in whole seconds."""

    def likely(chance: float) -> bool:
        return bool(rng.random() < chance)

    def whole(low: int, high: int) -> int:
        return int(rng.integers(low, high + 1))

    def of(share: float, **entries: Any) -> dict[str, Any]:
        return {name: value for name, value in entries.items() if likely(share)}

    places, goods, skilled, early = whole(2, most), whole(0, 2), likely(0.3), likely(0.4)
    numbers = iter(range(1, 100))

    def window() -> list[int]:
        begin = whole(0, 4000)
        return [begin, begin + whole(0, 4000)]

    def spans() -> list[list[int]]:
        one, two = window(), window()
        apart = one[1] < two[0]
        return [one, two] if apart and likely(0.4) else [one]

    def visit() -> dict[str, Any]:
        found = {"id": next(numbers), "location_index": whole(0, places - 1)}
        timed = {"time_windows": spans()} if early and likely(0.6) else {}
        return {**found, **of(0.4, service=whole(0, 300), setup=whole(0, 100)), **timed}

    def amount(low: int = 0, high: int = 4) -> list[int]:
        return [whole(low, high) for _ in range(goods)]

    def request() -> dict[str, Any]:
        skills = {"skills": [whole(1, 2)]} if skilled and likely(0.4) else {}
        return {**skills, **({"priority": whole(0, 100)} if ranked and likely(0.5) else {})}

    ranked = likely(0.2)
    vehicles = []
    for number in range(whole(1, 4)):
        ends = of(0.8, start_index=whole(0, places - 1), end_index=whole(0, places - 1))
        ends = ends or {"start_index": 0}
        vehicle = {"id": number + 1, **ends, **of(0.2, max_tasks=whole(1, 5))}
        if goods:
            vehicle["capacity"] = amount(3, 12)
        if early and likely(0.5):
            vehicle["time_window"] = [whole(0, 500), whole(3000, 9000)]
        if skilled:
            vehicle["skills"] = [skill for skill in (1, 2) if likely(0.7)]
        if likely(0.3):
            vehicle["costs"] = of(0.6, fixed=whole(0, 2000), per_hour=whole(0, 2) * 1800)
        if likely(0.15) and not early:
            vehicle["max_travel_time"] = whole(500, 4000)
        vehicles.append(vehicle)
    ways = rng.integers(1, 1000, (places, places))
    np.fill_diagonal(ways, 0)
    jobs = [
        {**visit(), **request(), **({"delivery": amount(), **of(0.3, pickup=amount())} if goods else {})}
        for _ in range(whole(0, 6))
    ]
    shipments = [
        {**request(), **({"amount": amount()} if goods else {}), "pickup": visit(), "delivery": visit()}
        for _ in range(whole(0, 2) if jobs else 1)
    ]
    found = {"vehicles": vehicles, "jobs": jobs, "matrices": {"car": {"durations": ways.tolist()}}}
    return {**found, **({"shipments": shipments} if shipments else {})}
