"""A judge of its own: an instance's JSON and a plan in, costs and broken rules out; and the best plan of a few stops.

It has nothing but the standard library, so that it can share no mistake with the package: what an instance means is
taken from ``docs/solve.md`` and ``docs/fleet.md``. ``python checker.py INSTANCE.json PLAN.json`` judges a plan by hand.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

SLACK = 1e-9
"""Share of a limit that is blamed on the rounding of sums."""
MOST_STOPS = 8
"""Most stops of which all plans are tried."""

Amounts = list[float]
Table = list[list[float]]


@dataclass
class Verdict:
    """What a plan is: the rules that it breaks, what it costs, who is left out who must not and who may be."""

    broken: list[str] = field(default_factory=list)
    cost: float = 0.0
    unserved: list[int] = field(default_factory=list)
    skipped: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Kind:
    """A type of vehicles."""

    capacity: Amounts
    available: int | None
    fixed: float
    by_distance: float
    by_duration: float
    start: int | None
    end: int | None
    begins: float
    ends: float
    max_distance: float
    max_duration: float
    max_stops: float
    skills: frozenset[str]
    profile: int


def as_amounts(given: Any) -> Amounts:
    """A number or a list of them as a list."""
    return [float(each) for each in given] if isinstance(given, list) else [float(given)]


def _table(given: list[Any], goods: int) -> Table:
    """Amounts by node and good; those that are not stated are 0."""
    rows = [as_amounts(each) for each in given]
    assert all(len(row) <= goods or not any(row) for row in rows), "more goods than vehicles have room for"
    return [(row + [0.0] * goods)[:goods] for row in rows]


def _whole(given: Any) -> int | None:
    return None if given is None else int(given)


def _or_endless(given: Any) -> float:
    return math.inf if given is None else float(given)


def rounded(value: float, convention: str) -> float:
    """A distance or a duration under a convention."""
    if convention == "round":
        return float(math.floor(value + 0.5))
    if convention == "trunc":
        return float(math.floor(value))
    return math.floor(10.0 * value) / 10.0 if convention == "dimacs" else float(value)


class Problem:
    """An instance, as its JSON states it."""

    def __init__(self, data: dict[str, Any]) -> None:
        stated = {key: value for key, value in data.items() if value is not None}
        self.nodes = len(stated.get("matrix") or stated["coordinates"])
        depots = stated.get("depots") or [{}]
        self.customers = self.nodes - len(depots)
        self.depots = [0, *range(self.customers + 1, self.nodes)]
        self.stock = [as_amounts(each["capacity"]) if each.get("capacity") is not None else None for each in depots]
        self.opening = [float(each.get("cost", 0.0)) for each in depots]
        self.kinds = [self._kind(each) for each in stated.get("fleet") or [_only_type(stated)]]
        goods = len(self.kinds[0].capacity)
        nothing = [[0.0] * goods for _ in range(self.nodes)]
        brought = stated.get("deliveries")
        if brought is None and "pickups" not in stated and "shipments" not in stated:
            brought = stated.get("demands")
        self.brought = nothing if brought is None else _table(brought, goods)
        self.fetched = _table(stated["pickups"], goods) if "pickups" in stated else nothing
        self.goods = goods
        self.shipments = [
            (int(each["pickup"]), int(each["delivery"]), as_amounts(each.get("amount", 0.0)))
            for each in stated.get("shipments", ())
        ]
        self.shipped: dict[int, Amounts] = {}
        for pickup, delivery, amount in self.shipments:
            (self.shipped[pickup],) = _table([amount], goods)
            self.shipped[delivery] = [-each for each in self.shipped[pickup]]
        self.delivered_for = {delivery: pickup for pickup, delivery, _ in self.shipments}
        self.longest = {
            int(each["delivery"]): float(each["max_ride"])
            for each in stated.get("shipments", ())
            if each.get("max_ride") is not None
        }
        single = stated.get("windows") or [[0.0, None]] * self.nodes
        several = stated.get("openings") or {}
        self.windows = [
            sorted((float(opens), _or_endless(closes)) for opens, closes in (several.get(str(node)) or [span]))
            for node, span in enumerate(single)
        ]
        self.service = [float(each) for each in stated.get("service") or [0.0] * self.nodes]
        self.release = [float(each) for each in stated.get("release") or [0.0] * self.nodes]
        self.groups = [
            ([int(node) for node in each["members"]], each.get("required", True)) for each in stated.get("groups", ())
        ]
        grouped = {node for members, _ in self.groups for node in members}
        prizes = [_or_endless(each) for each in stated.get("prizes") or [None] * self.nodes]
        self.prizes = [
            0.0 if node in grouped and math.isinf(prize) else prize for node, prize in enumerate(prizes)
        ]  # of a group only one is served, so that no member must be
        self.skills = {int(node): frozenset(needed) for node, needed in (stated.get("skills") or {}).items()}
        self.backhauls = bool(stated.get("backhauls"))
        self.most_routes = None if "fleet" in stated else stated.get("vehicles")
        self.route_costs = [(each["name"], each["parameters"]) for each in stated.get("route_costs", ())]
        rounding = stated.get("rounding", "none")
        far = stated.get("matrix") or _euclidean(stated["coordinates"])
        tables = [(far, stated.get("durations"))]
        tables += [(each["matrix"], each.get("durations")) for each in stated.get("profiles", ())]
        self.far = [_all_rounded(matrix, rounding) for matrix, _ in tables]
        self.long = [_all_rounded(matrix if times is None else times, rounding) for matrix, times in tables]

    @staticmethod
    def _kind(given: dict[str, Any]) -> Kind:
        begins, ends = given.get("shift") or (None, None)
        return Kind(
            as_amounts(given["capacity"]),
            given.get("available"),
            float(given.get("fixed_cost", 0.0)),
            float(given.get("distance_cost", 1.0)),
            float(given.get("duration_cost", 0.0)),
            _whole(given.get("start", 0)),
            _whole(given.get("end", 0)),
            -math.inf if begins is None else float(begins),
            _or_endless(ends),
            _or_endless(given.get("max_distance")),
            _or_endless(given.get("max_duration")),
            _or_endless(given.get("max_stops")),
            frozenset(given.get("skills", ())),
            int(given.get("profile", 0)),
        )

    # --- One route. ---------------------------------------------------------------------------------------------------

    def drive(self, number: int, route: Sequence[int]) -> tuple[list[str], float]:
        """The rules that a route of a type of vehicle breaks by itself, and what it costs without depots."""
        kind, broken = self.kinds[number], []
        nodes = [node for node in (kind.start, *route, kind.end) if node is not None]
        length = math.fsum(self.far[kind.profile][tail][head] for tail, head in pairwise(nodes))
        most = self._most_loaded(route)
        for load, limit in zip(most, kind.capacity, strict=True):
            if _above(load, limit):
                broken.append(f"{load} on board, above {limit}")
        if _above(length, kind.max_distance):
            broken.append(f"{length} long, above {kind.max_distance}")
        if len(route) > kind.max_stops:
            broken.append(f"{len(route)} stops, above {kind.max_stops}")
        for node in route:
            if not self.skills.get(node, frozenset()) <= kind.skills:
                broken.append(f"node {node} needs a skill that the vehicle has not")
        if self.backhauls:
            picks = [any(self.fetched[node]) for node in route]
            if all(picks):
                broken.append("pickups alone")
            elif picks != sorted(picks):
                broken.append("a pickup before a delivery")
        late, duration = self._times(kind, route)
        broken += late
        if not late and not self._rides_can_be_short(kind, route):
            broken.append("a ride is too long")
        if _above(duration, kind.max_duration):
            broken.append(f"takes {duration}, above {kind.max_duration}")
        cost = kind.fixed + kind.by_distance * length + (kind.by_duration * duration if kind.by_duration else 0.0)
        for name, given in self.route_costs:
            cost += _route_cost(name, given, number, length, duration, len(route))
        return broken, cost

    def _most_loaded(self, route: Sequence[int]) -> Amounts:
        load = [math.fsum(self.brought[node][good] for node in route) for good in range(self.goods)]
        most = list(load)
        for node in route:
            shipped = self.shipped.get(node, [0.0] * self.goods)
            for good in range(self.goods):
                load[good] += self.fetched[node][good] - self.brought[node][good] + shipped[good]
                most[good] = max(most[good], load[good])
        return most

    def _times(self, kind: Kind, route: Sequence[int]) -> tuple[list[str], float]:
        """The windows that a route misses though it hurries, and how long it takes if it is back as early as can be.

        With one window at each stop, leaving later by some time means to wait less by as much, as long as there is any
        waiting, and to be back later by as much from then on. So the best departure follows from the earliest return,
        the time that the route takes without any waiting, and the latest departure that misses no window.
        """
        broken, travel = [], self.long[kind.profile]
        now, closes = max([kind.begins, *(self.release[node] for node in route if self.release[node])]), kind.ends
        if kind.start is not None:
            now, closes = max(now, self.windows[kind.start][0][0]), min(closes, self.windows[kind.start][0][1])
        if math.isinf(now):
            now = self.windows[route[0]][0][0]
        if _above(now, closes):
            broken.append(f"leaves at {now}, after {closes}")
        moving, latest, place = 0.0, closes, kind.start
        for node in route:
            moving += 0.0 if place is None else travel[place][node]
            now += 0.0 if place is None else travel[place][node]
            spans = [span for span in self.windows[node] if not _above(now, span[1])]
            if not spans:
                broken.append(f"at node {node} at {now}, after {self.windows[node][-1][1]}")
            else:
                now = max(now, spans[0][0])
            latest = min(latest, self.windows[node][-1][1] - moving)
            moving += self.service[node]
            now += self.service[node]
            place = node
        closes = kind.ends
        if kind.end is not None and place is not None:
            moving += travel[place][kind.end]
            now += travel[place][kind.end]
            closes = min(closes, self.windows[kind.end][0][1])
        if _above(now, closes):
            broken.append(f"back at {now}, after {closes}")
        return broken, now - min(now - moving, latest)

    def _rides_can_be_short(self, kind: Kind, route: Sequence[int]) -> bool:
        """Whether any start times keep travel times, windows, the shift and all rides.

        Each rule says that one start is at least so long after another one. There are such times if no chain of rules
        says of a start that it is after itself (Floyd 1962); one that means time 0 stands for windows and shifts.
        """
        place = {node: index for index, node in enumerate(route, 1)}
        if not any(node in self.longest and self.delivered_for[node] in place for node in route):
            return True
        travel, back = self.long[kind.profile], len(route) + 1
        least = [[0.0 if row == column else -math.inf for column in range(back + 1)] for row in range(back + 1)]
        leaves = kind.begins if kind.start is None else max(kind.begins, self.windows[kind.start][0][0])
        closes = kind.ends if kind.end is None else min(kind.ends, self.windows[kind.end][0][1])
        for node, index in place.items():
            ((opens, ends),) = self.windows[node]
            least[0][index], least[index][0] = opens, -ends
            if index > 1:
                before = route[index - 2]
                least[index - 1][index] = self.service[before] + travel[before][node]
        first, last = route[0], route[-1]
        least[0][1] = max(least[0][1], leaves + (0.0 if kind.start is None else travel[kind.start][first]))
        least[back - 1][back] = self.service[last] + (0.0 if kind.end is None else travel[last][kind.end])
        least[back][0] = -closes
        for node, longest in self.longest.items():
            if node in place and self.delivered_for[node] in place:
                pickup = self.delivered_for[node]
                row, column = place[node], place[pickup]
                least[row][column] = max(least[row][column], -longest - self.service[pickup])
        for over in range(back + 1):
            for row in range(back + 1):
                for column in range(back + 1):
                    least[row][column] = max(least[row][column], least[row][over] + least[over][column])
        largest = max(abs(each) for row in least for each in row if math.isfinite(each))
        return all(least[index][index] <= SLACK * max(1.0, largest) for index in range(back + 1))

    # --- A plan. ------------------------------------------------------------------------------------------------------

    def judge(self, routes: Sequence[Sequence[int]], kinds: Sequence[int]) -> Verdict:
        """Judge routes, each of a vehicle of a type."""
        found = Verdict()
        broken, visited = found.broken, [node for route in routes for node in route]
        for node in sorted(set(visited)):
            if not 1 <= node <= self.customers:
                broken.append(f"node {node} is no customer")
            if visited.count(node) > 1:
                broken.append(f"node {node} is visited {visited.count(node)} times")
        if any(not 1 <= node <= self.customers for node in visited):
            return found
        for place, (route, number) in enumerate(zip(routes, kinds, strict=True)):
            rules, cost = self.drive(number, route) if route else (["empty"], 0.0)
            broken += [f"route {place + 1}: {rule}" for rule in rules]
            found.cost += cost
        for number, kind in enumerate(self.kinds):
            if kind.available is not None and kinds.count(number) > kind.available:
                broken.append(f"{kinds.count(number)} vehicles of type {number}, but {kind.available} there are")
        if self.most_routes is not None and len(routes) > self.most_routes:
            broken.append(f"{len(routes)} routes, but {self.most_routes} vehicles")
        for pickup, delivery, _ in self.shipments:
            on = [route for route in routes if pickup in route or delivery in route]
            if on and (len(on) > 1 or not {pickup, delivery} <= set(on[0])):
                broken.append(f"shipment {pickup} to {delivery} is not on one route")
            elif on and on[0].index(pickup) > on[0].index(delivery):
                broken.append(f"shipment {pickup} to {delivery} is delivered first")
        for members, _ in self.groups:
            if len(set(members) & set(visited)) > 1:
                broken.append(f"of group {members} more than one is visited")
        self._judge_depots(routes, kinds, found)
        out = [node for node in range(1, self.customers + 1) if node not in visited]
        idle = [members[0] for members, required in self.groups if required and not set(members) & set(visited)]
        found.skipped = [node for node in out if math.isfinite(self.prizes[node])]
        found.unserved = [node for node in out if node in idle or math.isinf(self.prizes[node])]
        found.cost += math.fsum(self.prizes[node] for node in found.skipped if node not in self.delivered_for)
        return found

    def _judge_depots(self, routes: Sequence[Sequence[int]], kinds: Sequence[int], found: Verdict) -> None:
        used = {node for number in kinds for node in (self.kinds[number].start, self.kinds[number].end)}
        for place, node in enumerate(self.depots):
            if node in used:
                found.cost += self.opening[place]
            stock = self.stock[place]
            if stock is None:
                continue
            left = [route for route, number in zip(routes, kinds, strict=True) if self.kinds[number].start == node]
            for good, limit in enumerate(stock):
                given = math.fsum(self.brought[each][good] for route in left for each in route)
                if _above(given, limit):
                    found.broken.append(f"depot {node} gives out {given}, above {limit}")

    def requests_unserved(self, verdict: Verdict) -> int:
        """How many requests are not served that must be: a shipment is one, and so is a group."""
        return sum(node not in self.delivered_for for node in verdict.unserved)

    # --- All plans of a few stops. ------------------------------------------------------------------------------------

    def optimum(self) -> tuple[int, float, list[list[int]], list[int]]:
        """The fewest requests unserved, the least cost with so few, and such a plan: every plan is looked at."""
        assert self.customers <= MOST_STOPS, "too many stops to try all plans"
        best: dict[tuple[int, int], tuple[float, tuple[int, ...]]] = {}
        for number in range(len(self.kinds)):
            for mask, route in self._sequences(number):
                broken, cost = self.drive(number, route)
                if not broken and cost < best.get((number, mask), (math.inf,))[0]:
                    best[number, mask] = cost, route
        options: list[list[tuple[int, int, float, tuple[int, ...]]]] = [[] for _ in range(self.customers + 1)]
        for (number, mask), (cost, route) in best.items():
            options[min(route)].append((number, mask, cost, route))
        return _Partition(self, options).best()

    def _sequences(self, number: int) -> Iterator[tuple[int, tuple[int, ...]]]:
        """All routes of a type of vehicle, but for those whose beginning breaks a rule that no longer one can mend."""
        kind = self.kinds[number]
        if kind.available == 0:
            return
        group_of = {node: place for place, (members, _) in enumerate(self.groups) for node in members}
        waiting: list[tuple[int, ...]] = [()]
        while waiting:
            route = waiting.pop()
            if route:
                open_ends = [node for node in route if self.shipped and self._other_end(node) not in (None, *route)]
                if not open_ends:
                    yield sum(1 << node for node in route), route
            for node in range(1, self.customers + 1):
                if node in route or len(route) >= kind.max_stops:
                    continue
                if node in self.delivered_for and self.delivered_for[node] not in route:
                    continue
                if node in group_of and any(group_of.get(other) == group_of[node] for other in route):
                    continue
                longer = (*route, node)
                if self._hopeless(kind, longer):
                    continue
                waiting.append(longer)

    def _other_end(self, node: int) -> int | None:
        for pickup, delivery, _ in self.shipments:
            if node == pickup:
                return delivery
        return None

    def _hopeless(self, kind: Kind, route: tuple[int, ...]) -> bool:
        """Whether a beginning breaks a rule, whatever comes behind it."""
        node = route[-1]
        if not self.skills.get(node, frozenset()) <= kind.skills:
            return True
        if any(
            _above(math.fsum(self.brought[each][good] for each in route), kind.capacity[good])
            for good in range(self.goods)
        ):
            return True
        if self.backhauls and not any(self.fetched[node]) and any(any(self.fetched[each]) for each in route):
            return True
        travel = self.long[kind.profile]
        now = max([kind.begins, *(self.release[each] for each in route if self.release[each])])
        if kind.start is not None:
            now = max(now, self.windows[kind.start][0][0])
        if math.isinf(now):
            now = self.windows[route[0]][0][0]
        place = kind.start
        for node in route:
            now += 0.0 if place is None else travel[place][node]
            spans = [span for span in self.windows[node] if not _above(now, span[1])]
            if not spans:
                return True
            now, place = max(now, spans[0][0]) + self.service[node], node
        return False


class _Partition:
    """Every way to share the stops among routes, and to leave some out."""

    def __init__(self, problem: Problem, options: list[list[tuple[int, int, float, tuple[int, ...]]]]) -> None:
        self.problem, self.options = problem, options
        self.limited = [number for number, kind in enumerate(problem.kinds) if kind.available is not None]
        self.known: dict[Any, tuple[int, float, tuple[tuple[int, tuple[int, ...]], ...]]] = {}

    def best(self) -> tuple[int, float, list[list[int]], list[int]]:
        everyone = sum(1 << node for node in range(1, self.problem.customers + 1))
        given = tuple((0.0,) * self.problem.goods for _ in self.problem.depots)
        unserved, cost, routes = self._of(everyone, (0,) * (len(self.limited) + 1), frozenset(), given, frozenset())
        return unserved, cost, [list(route) for _, route in routes], [number for number, _ in routes]

    def _of(self, left: int, used: Any, opened: Any, given: Any, grouped: Any) -> Any:
        if not left:
            idle = [place for place, (_, required) in enumerate(self.problem.groups) if required]
            return sum(place not in grouped for place in idle), 0.0, ()
        key = left, used, opened, given, grouped
        if key not in self.known:
            self.known[key] = self._look(left, used, opened, given, grouped)
        return self.known[key]

    def _look(self, left: int, used: Any, opened: Any, given: Any, grouped: Any) -> Any:
        problem = self.problem
        node = (left & -left).bit_length() - 1
        found = self._of(left & ~(1 << node), used, opened, given, grouped)
        if node not in problem.delivered_for:
            prize = problem.prizes[node]
            lost = (1, 0.0) if math.isinf(prize) else (0, prize)
            found = found[0] + lost[0], found[1] + lost[1], found[2]
        for number, mask, cost, route in self.options[node]:
            if mask & ~left or (problem.most_routes is not None and used[-1] >= problem.most_routes):
                continue
            kind = problem.kinds[number]
            counts = list(used)
            if problem.most_routes is not None:
                counts[-1] += 1
            if kind.available is not None:
                place = self.limited.index(number)
                counts[place] += 1
                if counts[place] > kind.available:
                    continue
            groups = {place for place, (members, _) in enumerate(problem.groups) if set(members) & set(route)}
            if groups & grouped:
                continue
            depots = {problem.depots.index(each) for each in (kind.start, kind.end) if each is not None} - opened
            amounts = self._given(given, kind, route)
            if amounts is None:
                continue
            price = cost + math.fsum(problem.opening[place] for place in depots)
            rest = self._of(left & ~mask, tuple(counts), opened | depots, amounts, grouped | groups)
            if (rest[0], rest[1] + price) < found[:2]:
                found = rest[0], rest[1] + price, ((number, route), *rest[2])
        return found

    def _given(self, given: Any, kind: Kind, route: Iterable[int]) -> Any:
        """What depots give out with one more route; None if that is too much."""
        if kind.start is None or self.problem.stock[self.problem.depots.index(kind.start)] is None:
            return given
        place = self.problem.depots.index(kind.start)
        more = tuple(
            round(given[place][good] + math.fsum(self.problem.brought[node][good] for node in route), 9)
            for good in range(self.problem.goods)
        )
        if any(_above(amount, limit) for amount, limit in zip(more, self.problem.stock[place] or (), strict=True)):
            return None
        return (*given[:place], more, *given[place + 1 :])


def _only_type(stated: dict[str, Any]) -> dict[str, Any]:
    """The type of vehicle that an instance without a fleet describes; how many there are is a limit on routes."""
    same = ("distance_cost", "duration_cost", "max_distance", "max_duration", "capacity")
    return {**{key: stated[key] for key in same if key in stated}, "fixed_cost": stated.get("vehicle_cost", 0.0)}


def _euclidean(points: list[list[float]]) -> Table:
    places = [(float(x), float(y)) for x, y in points]
    return [[math.sqrt((x - to_x) ** 2 + (y - to_y) ** 2) for to_x, to_y in places] for x, y in places]


def _all_rounded(table: Table, convention: str) -> Table:
    return [[rounded(float(value), convention) for value in row] for row in table]


def _above(value: float, limit: float) -> bool:
    return value > limit + SLACK * max(1.0, abs(limit)) if math.isfinite(limit) else False


def _route_cost(name: str, given: dict[str, Any], kind: int, length: float, duration: float, stops: int) -> float:
    if name == "overtime":
        return float(given.get("cost", 1.0)) * max(0.0, duration - float(given["after"]))
    if name == "tolls":
        return float(given["costs"][kind]) * length
    return float(given["weight"]) * (duration if name == "balance_durations" else stops) ** 2


def plan_of(data: dict[str, Any], plan: dict[str, Any]) -> tuple[list[list[int]], list[int]]:
    """Routes and types of vehicles of a plan's JSON."""
    names = [kind.get("name", "") for kind in data.get("fleet") or [{}]]
    given = plan.get("vehicles") or [0] * len(plan["routes"])
    return plan["routes"], [names.index(each) if isinstance(each, str) else each for each in given]


def near(one: float, other: float) -> bool:
    """Whether two costs are the same but for the rounding of sums."""
    return abs(one - other) <= 1e-7 * max(1.0, abs(one), abs(other))


def main() -> int:
    """Judge a plan; say what is wrong with it."""
    data, plan = (json.loads(Path(name).read_text(encoding="utf-8")) for name in sys.argv[1:3])
    found = Problem(data).judge(*plan_of(data, plan))
    if "cost" in plan and not near(plan["cost"], found.cost):
        found.broken.append(f"the plan says that it costs {plan['cost']}")
    print("\n".join([*found.broken, f"cost {found.cost}, unserved {found.unserved}, skipped {found.skipped}"]))
    return int(bool(found.broken))


if __name__ == "__main__":
    sys.exit(main())
