"""Greedy repair operators: hand-made cases, and repairs that recompute everything."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import plane, repairs_seen, solution_in
from neuralns import Instance, Solution, random_tours
from neuralns.operators.registry import operator
from neuralns.routes.edits import remove
from neuralns.routes.transfer import new_state


def repaired(solution: Solution, taken: list[int], repair: str) -> set[tuple[int, ...]]:
    state = new_state(solution.instance, 0, solution=solution)
    for customer in taken:
        remove(state, customer)
    operator(repair).apply(state)
    return set(solution_in(state, solution.instance).routes)


def test_greedy_inserts_each_customer_at_its_cheapest_place() -> None:
    # 2 lies between 1 and 3 and costs nothing there; 4 costs 5.34 after 3, 6.61 between 2 and 3, 11.94 before 1.
    solution = plane([(0, 0), (2, 2), (4, 2), (6, 2), (8, -1)], [[4, 1, 3, 2]])
    assert repaired(solution, [4, 2], "greedy") == {(1, 2, 3, 4)}


def test_greedy_takes_the_room_that_the_dearer_customer_needed() -> None:
    # Route [1] at (10, 0) has room for one more. 2 at (10, 1) joins it for about 1.1; 3 at (10, 4) must open a route.
    solution = plane([(0, 0), (10, 0), (10, 1), (10, 4)], [[1], [2], [3]], capacity=2)
    assert repaired(solution, [2, 3], "greedy") in ({(1, 2), (3,)}, {(2, 1), (3,)})


def test_regret_serves_the_customer_with_most_to_lose_first() -> None:
    # Routes [1] east with room for one, [2] west with room for one. 3 would join [1] for 0 or [2] for 12;
    # 4 joins [1] for 1.0 or [2] for 21.x: greedy inserts 3 into [1] first, regret gives the place to 4.
    points = [(0.0, 0.0), (10.0, 0.0), (-10.0, 0.0), (6.0, 0.0), (10.5, 0.0)]
    solution = plane(points, [[1, 3], [2, 4]], capacity=2)
    greedy = repaired(solution, [3, 4], "greedy")
    regret = repaired(solution, [3, 4], "regret-2")
    assert {frozenset(route) for route in greedy} == {frozenset({1, 3}), frozenset({2, 4})}
    assert {frozenset(route) for route in regret} == {frozenset({1, 4}), frozenset({2, 3})}


def test_a_customer_that_only_a_new_route_can_serve_opens_one() -> None:
    instance = Instance("heavy", [0, 5, 5], 5, [[0, 0], [1, 0], [2, 0]])
    solution = Solution(instance, [[1], [2]])
    for repair in ("greedy", "regret-2"):
        assert repaired(solution, [2], repair) == {(1,), (2,)}
        assert repaired(solution, [1, 2], repair) == {(1,), (2,)}


@pytest.mark.parametrize("repair", ["greedy", "regret-2"])
def test_a_vehicles_cost_keeps_customers_on_existing_routes(repair: str) -> None:
    matrix = np.array([[0.0, 1, 1], [1, 0, 30], [1, 30, 0]])
    for vehicle_cost, expected in ((0.0, {(1,), (2,)}), (100.0, {(1, 2)})):
        instance = Instance("apart", [0, 1, 1], 2, matrix=matrix, vehicle_cost=vehicle_cost)
        routes = repaired(Solution(instance, [[1], [2]]), [2], repair)
        assert {tuple(sorted(route)) for route in routes} == expected


def naive_repair(solution: Solution, taken: list[int], depth: int) -> Solution:
    """Greedy (depth 1) or regret insertion that recomputes everything after each insertion."""
    instance = solution.instance
    routes = [[c for c in route if c not in taken] for route in solution.routes]
    routes = [route for route in routes if route]
    waiting = list(taken)
    while waiting:
        choices = []
        for customer in waiting:
            options: list[tuple[float, int, int]] = []
            for number, route in enumerate(routes):
                if sum(instance.demands[c] for c in [*route, customer]) <= instance.capacity + 1e-9:
                    stops = [0, *route, 0]
                    costs = [
                        instance.distance(stops[place], customer)
                        + instance.distance(customer, stops[place + 1])
                        - instance.distance(stops[place], stops[place + 1])
                        for place in range(len(route) + 1)
                    ]
                    options.append((min(costs), number, int(np.argmin(costs))))
            opening = instance.distance(0, customer) + instance.distance(customer, 0) + instance.vehicle_cost
            options.append((opening, -1, 0))
            options.sort()
            padded = [cost for cost, _, _ in options] + [np.inf] * depth
            regret = sum(padded[place] - padded[0] for place in range(1, depth)) if depth > 1 else -padded[0]
            choices.append((-regret, padded[0], customer, options[0]))
        _, _, customer, (_, number, place) = min(choices)
        waiting.remove(customer)
        if number < 0:
            routes.append([customer])
        else:
            routes[number].insert(place, customer)
    return Solution(instance, routes)


@pytest.mark.parametrize(("repair", "depth"), [("greedy", 1), ("regret-2", 2), ("regret-3", 3), ("regret-4", 4)])
@settings(deadline=None, max_examples=60)
@given(st.integers(2, 16), st.integers(0, 10**6), st.data())
def test_a_repair_with_its_table_equals_one_that_recomputes_everything(
    repair: str, depth: int, customers: int, seed: int, data: st.DataObject
) -> None:
    rng = np.random.default_rng(seed)
    demands = [0.0, *rng.integers(1, 10, size=customers).tolist()]
    points = rng.uniform(0, 100, size=(customers + 1, 2))
    instance = Instance("random", demands, 20, points, vehicle_cost=data.draw(st.sampled_from([0.0, 50.0])))
    solution = random_tours(instance, seed)
    taken = [int(c) for c in rng.permutation(np.arange(1, customers + 1))[: data.draw(st.integers(1, customers))]]
    state = new_state(instance, 0, solution=solution)
    for customer in taken:
        remove(state, customer)
    operator(repair).apply(state)
    assert set(solution_in(state, instance).routes) == set(naive_repair(solution, taken, depth).routes)


def test_blinks_overlook_the_best_place_once_in_a_hundred_times() -> None:
    # Places of 2: before 1 (20 more), between 1 and 3 (nothing), after 3 (nothing but for the small bend).
    solution = plane([(0, 0), (10, 0), (20, 0), (30, 0.1)], [[1, 2, 3]])
    seen = repairs_seen(solution, [2], "blinks", 5000)
    assert seen[frozenset({(1, 2, 3)})] / 5000 == pytest.approx(0.99, abs=0.006)
    assert seen[frozenset({(1, 3, 2)})] > 10


def test_blinks_insert_in_an_order_that_is_drawn() -> None:
    # One place beside 1 and no other room: who comes first takes it. 2 demands more and is farther from the depot.
    instance = Instance("order", [0, 4, 3, 2], 7, [[0, 0], [10, 0], [12, 0], [8, 0]])
    solution = Solution(instance, [[1], [2], [3]])
    seen = repairs_seen(solution, [2, 3], "blinks", 2000)
    with_two = sum(count for routes, count in seen.items() if (3,) in routes)
    # 2 is first in half of the random orders (4/11), by demand (4/11) and by distance from afar (2/11).
    assert with_two / 2000 == pytest.approx((2 + 4 + 2) / 11, abs=0.05)


def test_noise_decides_between_places_that_cost_nearly_the_same() -> None:
    near = plane([(0, 0), (10, 1), (10, -1.01), (10, 0)], [[1], [2], [3]])
    seen = repairs_seen(near, [3], "noise", 400)
    beside = [sum(count for routes, count in seen.items() if (other,) in routes) for other in (2, 1)]
    assert min(beside) > 80
    clear = plane([(0, 0), (10, 1), (-10, -1), (10, 0)], [[1], [2], [3]])
    assert all((2,) in routes for routes in repairs_seen(clear, [3], "noise", 100))


@pytest.mark.parametrize("rate", [0.0, 0.2, 0.5])
def test_the_rate_of_blinks_is_a_parameter(rate: float) -> None:
    # Places of 2 are tried from the start on: before 1, then between 1 and 3, which is cheaper, then after 3.
    solution = plane([(0, 0), (10, 0), (20, 0), (30, 0.1)], [[1, 2, 3]])
    seen = repairs_seen(solution, [2], f"blinks:rate={rate}", 2000)
    assert seen[frozenset({(1, 2, 3)})] / 2000 == pytest.approx(1 - rate, abs=0.04)


def test_without_blinks_a_customer_takes_its_cheapest_place_always() -> None:
    solution = plane([(0, 0), (10, 0), (20, 0), (30, 0.1), (-5, 0)], [[1, 2, 3], [4]])
    assert set(repairs_seen(solution, [2], "blinks:rate=0", 300)) == {frozenset({(1, 2, 3), (4,)})}


def test_blinks_on_every_place_open_a_route() -> None:
    solution = plane([(0, 0), (10, 0), (20, 0), (30, 0.1)], [[1, 2, 3]])
    assert set(repairs_seen(solution, [2], "blinks:rate=1", 20)) == {frozenset({(1, 3), (2,)})}


def test_the_amplitude_of_the_noise_is_a_parameter() -> None:
    near = plane([(0, 0), (10, 1), (10, -1.01), (10, 0)], [[1], [2], [3]])
    assert len(repairs_seen(near, [3], "noise:amplitude=0", 100)) == 1
    clear = plane([(0, 0), (10, 1), (10, -9), (10, 0)], [[1], [2], [3]])
    quiet, loud = (
        sum(count for routes, count in repairs_seen(clear, [3], f"noise:amplitude={amplitude}", 300).items()
            if (1,) in routes)
        for amplitude in (0.025, 2)
    )  # fmt: skip
    assert quiet == 0
    assert loud > 30


@settings(deadline=None, max_examples=40)
@given(st.integers(2, 14), st.integers(0, 10**6), st.data())
def test_noise_of_no_amplitude_is_greedy(customers: int, seed: int, data: st.DataObject) -> None:
    rng = np.random.default_rng(seed)
    instance = Instance(
        "random", [0.0, *rng.integers(1, 10, customers).tolist()], 20, rng.uniform(0, 99, (customers + 1, 2))
    )
    solution = random_tours(instance, seed)
    taken = [int(c) for c in rng.permutation(np.arange(1, customers + 1))[: data.draw(st.integers(1, customers))]]
    assert repaired(solution, taken, "noise:amplitude=0") == repaired(solution, taken, "greedy")
