"""Loads above the limit at a cost: when they are allowed, and that results never have any."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from neuralns import HillClimbing, MaxIterations, MaxTime, Stop, solve
from neuralns.problem.generate.x import generate_x
from neuralns.problem.instance import Instance
from neuralns.search.overload import LEAST_ITERATIONS, LEAST_SECONDS, MOST_CUSTOMERS, OVERLOAD_SHARE, first_price
from neuralns.search.search import Search
from neuralns.search.setup import Setup, make_setup


@pytest.fixture(scope="module")
def tight() -> Instance:
    """Twelve customers of whom three and a half fill a vehicle."""
    generator = np.random.default_rng(3)
    demands = [0, *generator.integers(20, 41, 12).tolist()]
    return Instance("tight", demands, 100, generator.integers(0, 100, (13, 2)).tolist())


def _setup(instance: Instance, stop: Stop | None = None) -> Setup:
    return make_setup(instance, MaxIterations(LEAST_ITERATIONS * instance.customers) if stop is None else stop)


def test_long_searches_of_plain_instances_may_overload(tight: Instance) -> None:
    assert first_price(_setup(tight)) > 0
    assert first_price(_setup(tight, MaxTime(LEAST_SECONDS * 12))) > 0


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
        assert first_price(other) == 0


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
