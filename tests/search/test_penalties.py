"""Rules that are broken for a while, at a price: where they are, and that results keep all of them."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from fleets import general_instances
from neuralns import HillClimbing, MaxIterations, MaxTime, Shipment, Solution, Stop, VehicleType, solve
from neuralns.problem.generate.x import generate_x
from neuralns.problem.instance import Instance
from neuralns.routes.edits import relieve_routes
from neuralns.routes.evaluate import recompute
from neuralns.routes.journal import checkpoint
from neuralns.routes.transfer import routes_of
from neuralns.search import penalties
from neuralns.search.loop import _renew_prices
from neuralns.search.penalties import (
    HARD,
    LEAST_ITERATIONS,
    LEAST_SECONDS,
    MOST_CUSTOMERS,
    OVERLOAD_SHARE,
    SCARCE_ITERATIONS,
    first_prices,
)
from neuralns.search.search import Search
from neuralns.search.setup import Setup, make_setup
from prices import at_prices


@pytest.fixture(scope="module")
def tight() -> Instance:
    """Twelve customers of whom three and a half fill a vehicle."""
    generator = np.random.default_rng(3)
    demands = [0, *generator.integers(20, 41, 12).tolist()]
    return Instance("tight", demands, 100, generator.integers(0, 100, (13, 2)).tolist())


def _setup(instance: Instance, stop: Stop | None = None) -> Setup:
    return make_setup(instance, MaxIterations(LEAST_ITERATIONS * instance.customers) if stop is None else stop)


def test_long_searches_of_plain_instances_may_overload(tight: Instance) -> None:
    assert first_prices(_setup(tight)).first[0] > 0
    assert first_prices(_setup(tight, MaxTime(LEAST_SECONDS * 12))).first[0] > 0


def test_other_searches_keep_the_limit(tight: Instance) -> None:
    setup = _setup(tight)
    for other in (
        _setup(tight, MaxIterations(LEAST_ITERATIONS * 12 - 1)),
        _setup(tight, MaxTime(LEAST_SECONDS * 11)),
        _setup(tight, MaxTime(100) | MaxIterations(1000)),
        _setup(tight, Stop(no_improvement=10)),
        _setup(replace(tight, vehicles=8)),
        _setup(generate_x(MOST_CUSTOMERS + 1, seed=1)),
        replace(setup, keeps_limit=True),
        replace(setup, fewest_vehicles=True),
        replace(setup, acceptance=HillClimbing()),
    ):
        assert first_prices(other).first == HARD.first


def test_routes_carry_too_much_on_the_way_but_never_the_best(tight: Instance) -> None:
    setup = _setup(tight)
    search = Search(setup, np.random.SeedSequence(1), 0.0)
    most, overloaded, prices = 0.0, 0, set()
    while search.iteration < 60_000:
        search.advance(250)
        current, best = search.current(), search.best()
        loads = [sum(tight.demands[customer] for customer in route) for route in current.routes]
        most, overloaded = max(most, *loads), overloaded + (max(loads) > 100)
        prices.add(search._state.load_price)
        assert not best.broken_rules()
        assert search.progress().current == pytest.approx(current.cost)
        assert search.progress().best == pytest.approx(best.cost)
    assert overloaded > 0
    assert most <= 100 * (1 + OVERLOAD_SHARE) + 1e-6
    assert len(prices) > 10


def test_the_result_depends_on_the_seed_alone(tight: Instance) -> None:
    stop = MaxIterations(LEAST_ITERATIONS * 12)
    first, second = (solve(tight, stop, seed=4) for _ in range(2))
    assert first.best.routes == second.best.routes
    assert not first.best.broken_rules()
    assert first.cost <= solve(tight, MaxIterations(2000), seed=4).cost


def test_workers_may_overload_too() -> None:
    instance = generate_x(20, seed=2)
    result = solve(instance, MaxIterations(LEAST_ITERATIONS * 20), workers=2, seed=1)
    assert not result.best.broken_rules()


# --- Where vehicles are scarce. --------------------------------------------------------------------------------------


def _day(**changes: Any) -> Instance:
    """Twelve stops with windows on two kinds of vehicles that all of them are needed of."""
    rng = np.random.default_rng(5)
    opens = rng.integers(0, 60, 12)
    amounts = np.zeros((13, 2))
    amounts[1:] = np.stack([rng.integers(20, 41, 12), rng.integers(2, 5, 12)], axis=1)
    fleet = [
        VehicleType([110, 11], 2, 10, duration_cost=0.1, max_duration=150, max_stops=5),
        VehicleType([150, 15], 2, 15, duration_cost=0.1, shift=(0, 160), max_distance=140),
    ]
    values: dict[str, Any] = {
        "coordinates": rng.integers(0, 40, (13, 2)), "deliveries": amounts, "service": [0, *[4] * 12],
        "windows": [[0, 200], *np.column_stack([opens, opens + 60]).tolist()], "fleet": fleet,
    }  # fmt: skip
    return Instance("day", None, **(values | changes))


def test_rules_have_prices_where_vehicles_are_scarce_and_there_is_time() -> None:
    enough = MaxIterations(SCARCE_ITERATIONS * 12)
    day = _day()
    assert min(first_prices(_setup(day, enough)).first) > 0
    some = first_prices(_setup(_day(fleet=[VehicleType([110, 11], 4)]), enough)).first
    assert min(some[:2]) > 0
    assert some[2:] == (0, 0, 0)
    many = [replace(each, available=20) for each in day.types]
    setup = _setup(day, enough)
    for other in (
        _setup(day, MaxIterations(SCARCE_ITERATIONS * 12 - 1)),
        _setup(_day(fleet=many), enough),
        _setup(_day(fleet=[*day.types, VehicleType([110, 11])]), enough),
        _setup(_day(deliveries=np.zeros((13, 2)), shipments=[Shipment(1, 2, [1, 1])]), enough),
        replace(setup, keeps_limit=True),
        replace(setup, fewest_vehicles=True),
        replace(setup, acceptance=HillClimbing()),
    ):
        assert first_prices(other).first == HARD.first


def test_prices_rise_within_a_cycle_and_levels_change_behind_it() -> None:
    prices = penalties.SCARCE
    search = Search(_setup(_day(), MaxIterations(40_000)), np.random.SeedSequence(3), 0.0)
    after = {}
    while search.iteration < 40_000:
        search.advance(prices.step - search.iteration % prices.step)
        after[search.iteration // prices.step] = search._state.load_price
    seen = [after[number] for number in range(1, 401)]
    # The first cycle has one renewal less.
    cycles = [seen[begin : begin + prices.cycle] for begin in range(prices.cycle - 1, len(seen), prices.cycle)][:-1]
    levels = []
    for cycle in cycles:
        assert cycle == sorted(cycle)
        assert cycle[-1] / cycle[0] == pytest.approx(prices.swing ** (2 - 2 / prices.cycle))
        levels.append(math.sqrt(cycle[0] * cycle[-1]))
    factors = [max(one, two) / min(one, two) for one, two in pairwise(levels)]
    assert all(prices.last_change < factor <= prices.change for factor in factors)
    assert factors == sorted(factors, reverse=True)


def test_a_search_goes_back_where_rules_stay_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(penalties, "SCARCE", replace(penalties.SCARCE, step=5, cycle=4, most_broken=2))
    went_back: list[tuple[float, float, int]] = []
    go_back = Search._go_back

    def spy(search: Search) -> None:
        since = search._status.since_best
        go_back(search)
        assert search._status.current == pytest.approx(search.best().cost)
        assert search._status.since_best == since
        went_back.append((search._status.best, search.best().cost, search.iteration))

    monkeypatch.setattr(Search, "_go_back", spy)
    ends = []
    for _ in range(2):
        went_back.clear()
        search = Search(_setup(_day(), MaxIterations(20_000)), np.random.SeedSequence(3), 0.0)
        while search.iteration < 20_000:
            search.advance(1000)
        assert search.iteration == 20_000
        assert search.best().broken_rules() == []
        ends.append((search.best(), list(went_back)))
    assert ends[0] == ends[1]
    assert len(went_back) > 10
    assert all(number % 5 == 0 and best == pytest.approx(cost) for best, cost, number in went_back)
    bests = [best for best, _, _ in went_back]
    assert bests == sorted(bests, reverse=True)


def test_prices_swing_wider_where_routes_are_long_and_serve_everybody() -> None:
    fleet = [VehicleType([9, 9], 1)]
    nodes = np.random.default_rng(1).integers(0, 40, (penalties.LONG_ROUTE + 2, 2))
    long = Instance(
        "long",
        None,
        coordinates=nodes,
        deliveries=np.zeros((len(nodes), 2)),
        fleet=fleet,
        windows=[[0, 900]] * len(nodes),
    )
    assert first_prices(_setup(long, MaxTime(60))).wide_swing == penalties.WIDE_SWING
    assert first_prices(_setup(_day(), MaxTime(60))).wide_swing == penalties.SCARCE.swing
    search = Search(_setup(long, MaxTime(60)), np.random.SeedSequence(3), 0.0)
    search._run.levels[1] = 1.0
    assert search._run.prices[1] > 0
    for left_out, swing in ((1, penalties.SCARCE.swing), (0, penalties.WIDE_SWING)):
        search._run.left_out, search._run.step = left_out, 0
        _renew_prices(search._state, search._run)
        step = 2 * 1.5 / penalties.SCARCE.cycle - 1
        assert search._state.late_price == pytest.approx(swing**step)


def test_rules_get_hard_late_in_a_run_if_somebody_is_left_out() -> None:
    # Twelve stops are too much for one vehicle of each type.
    day = _day()
    few = _day(fleet=[replace(each, available=1) for each in day.types])
    setup = _setup(few, MaxIterations(SCARCE_ITERATIONS * 12))
    hard_from = setup.stop.iterations * (1 - penalties.SCARCE.hard_from)
    ends, softness = [], []
    for _ in range(2):
        search = Search(setup, np.random.SeedSequence(3), 0.0)
        assert search._state.soft == 1
        rooms = search._state.soft_capacity.copy()
        at_price = []
        while search.iteration < setup.stop.iterations:
            search.advance(300)
            at_price.append((search.iteration, int(search._state.soft)))
        best = search.best()
        assert best.broken_rules() == []
        ends.append(best)
        softness.append(at_price)
        assert search._run.left_out == len(best.unserved) < len(setup.initial.unserved)
        assert search._state.soft_capacity == pytest.approx(rooms / (1 + penalties.SCARCE.overload))
    assert ends[0] == ends[1]
    assert all(
        soft == (1 if number < hard_from else 0) for number, soft in softness[0] if abs(number - hard_from) > 100
    )


def test_routes_are_relieved_of_those_without_whom_they_keep_rules() -> None:
    instance = Instance("row", [0, 4, 1, 4], 6, [(0, 0), (1, 0), (2, 0), (3, 0)], windows=[[0, 99]] * 4)
    state = at_prices(Solution(instance, [[1, 2, 3]]))
    checkpoint(state)
    relieve_routes(state)
    assert routes_of(state) == [[1, 2]]
    assert state.bank[: state.n_bank].tolist() == [3]
    cost = state.cost
    recompute(state)
    assert state.cost == pytest.approx(cost) == 4.0 + state.unserved_cost


def test_who_must_be_served_comes_first_where_no_rule_has_a_price() -> None:
    # No loads, and two windows for each stop: nothing that may be broken a little.
    openings = {node: [[0, 20], [60, 90]] for node in range(1, 13)}
    day = _day(deliveries=np.zeros((13, 2)), windows=None, openings=openings, fleet=[VehicleType([1, 1], 2)])
    setup = _setup(day, MaxIterations(SCARCE_ITERATIONS * 12))
    assert not any(first_prices(setup).first)
    start = Solution(day, [[1, 2, 3]])
    search = Search(replace(setup, initial=start), np.random.SeedSequence(3), 0.0)
    assert search._first_phase


def test_rules_are_broken_on_the_way_but_never_by_the_best() -> None:
    day = _day()
    search = Search(_setup(day, MaxIterations(SCARCE_ITERATIONS * 12)), np.random.SeedSequence(3), 0.0)
    broken = set()
    while search.iteration < SCARCE_ITERATIONS * 12:
        search.advance(50)
        current, best = search.current(), search.best()
        faults = " ".join(current.broken_rules())
        broken |= {word for word in ("window", "capacity") if word in faults}
        assert not best.broken_rules()
        assert search.progress().best == pytest.approx(best.cost)
        assert search.progress().current == pytest.approx(current.cost)
    assert broken == {"window", "capacity"}


@settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(general_instances(most=14, least=3), st.integers(0, 1000))
def test_answers_keep_all_rules_of_any_instance(monkeypatch: pytest.MonkeyPatch, instance: Instance, seed: int) -> None:
    assume(len(instance.unservable) < instance.customers)
    monkeypatch.setattr(penalties, "SCARCE_ITERATIONS", 1)
    monkeypatch.setattr(penalties, "SCARCE_SHARE", 0.0)
    result = solve(instance, MaxIterations(400), seed=seed, selector="random")
    assert result.best.broken_rules() == []
    assert _standing(result.best) <= _standing(result.initial)
    again = solve(instance, MaxIterations(400), seed=seed, selector="random").best
    assert (again.routes, again.vehicles, again.cost) == (result.best.routes, result.best.vehicles, result.best.cost)


def _standing(solution: Solution) -> tuple[int, float]:
    ends = {each.delivery for each in solution.instance.shipments or ()}
    return len(set(solution.unserved) - ends), solution.cost - 1e-6 * max(1.0, abs(solution.cost))
