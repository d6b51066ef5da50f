"""The course of the temperature."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest

from neuralns import MaxIterations, MaxTime
from neuralns.search.cooling import FEWEST_HEAT, OPEN_HORIZON, Cooling
from neuralns.search.stopping import Stop

HOT, COLD = 100.0, 1.0


def cooling_of(stop: Stop) -> tuple[Cooling, SimpleNamespace]:
    run = SimpleNamespace(origin=0, hot=1.0, log_rate=0.0, left=1.0, left_rate=0.0, renew=0, fewest=0)
    return Cooling(run, stop, (HOT, COLD)), run


def at(run: SimpleNamespace, iteration: int) -> tuple[float, float]:
    """Temperature and share left, as the loop works them out."""
    since = iteration - run.origin
    return run.hot * math.exp(run.log_rate * since), max(0.0, run.left - run.left_rate * since)


def test_limited_by_iterations_it_is_one_function_of_them() -> None:
    cooling, run = cooling_of(MaxIterations(1000))
    for begin, size in ((0, 10), (10, 490), (500, 1)):
        cooling.set_course(123.0, begin, size, 0.05)
        assert at(run, 0) == pytest.approx((HOT, 1.0))
        assert at(run, 500) == pytest.approx((10.0, 0.5))
        assert at(run, 1000) == pytest.approx((COLD, 0.0), abs=1e-9)


def test_limited_by_time_it_starts_where_the_clock_stands() -> None:
    cooling, run = cooling_of(MaxTime(10))
    cooling.set_course(5.0, 700, 100, 0.1)
    assert (run.origin, run.renew) == (700, 1)
    assert at(run, 700) == pytest.approx((10.0, 0.5))
    assert at(run, 800) == pytest.approx((HOT * (COLD / HOT) ** 0.51, 0.49))
    cooling.set_course(11.0, 900, 100, 0.1)
    assert at(run, 950) == pytest.approx((COLD, 0.0))


def test_a_run_without_limits_stays_cold_in_the_end() -> None:
    cooling, run = cooling_of(Stop(no_improvement=5))
    cooling.set_course(1.0, 0, 100, 0.05)
    assert at(run, OPEN_HORIZON // 2)[0] == pytest.approx(10.0)
    cooling.set_course(1.0, OPEN_HORIZON, 100, 0.05)
    assert at(run, OPEN_HORIZON + 100)[0] == pytest.approx(COLD)


@pytest.mark.parametrize("stop", [MaxIterations(1000), MaxTime(10)], ids=["iterations", "time"])
def test_while_vehicles_come_first_it_does_not_fall(stop: Stop) -> None:
    cooling, run = cooling_of(stop)
    run.fewest = 1
    cooling.set_course(4.0, 400, 100, 0.1)
    assert at(run, 400)[0] == at(run, 500)[0] == pytest.approx(FEWEST_HEAT * HOT)
    # From then on it falls over what is left.
    run.fewest = 0
    cooling.restart(5.0, 500)
    cooling.set_course(5.0, 500, 100, 0.1)
    assert at(run, 500) == pytest.approx((HOT, 0.5))
    cooling.set_course(7.5, 750, 100, 0.1)
    assert at(run, 750) == pytest.approx((10.0, 0.25))


def test_a_controller_may_heat() -> None:
    cooling, run = cooling_of(MaxIterations(1000))
    cooling.heat = 2.0, 0.5
    cooling.set_course(0.0, 0, 10, 0.05)
    assert at(run, 0)[0] == pytest.approx(2 * HOT)
    assert at(run, 1000)[0] == pytest.approx(COLD / 2)
