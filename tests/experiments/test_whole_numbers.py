"""Instances in whole numbers, as other solvers take them."""

from __future__ import annotations

import numpy as np
import pytest

from neuralns import InputError, Instance, read
from neuralns.experiments.whole_numbers import fleet, whole_numbers
from neuralns.problem.distances import Rounding
from neuralns.problem.fleet import Depot, Group, Shipment, VehicleType

DEMANDS = [0, 3, 4, 5]
POINTS = [[0, 0], [1, 2], [7, 3], [4, 9]]
WINDOWS = [[10, 50], [12, 30], [10, 45], [0, np.inf]]
SERVICE = [0, 5, 5, 10]


def timed(rounding: Rounding = "dimacs", **more: object) -> Instance:
    options = {"windows": WINDOWS, "service": SERVICE, **more}
    return Instance("four", DEMANDS, 10, POINTS, rounding=rounding, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(("rounding", "factor"), [("dimacs", 10), ("round", 1), ("trunc", 1)])
def test_rounded_distances_are_told_exactly(rounding: Rounding, factor: int) -> None:
    instance = timed(rounding)
    told = whole_numbers(instance)
    assert (told.distance_factor, told.time_factor, told.load_factor) == (factor, factor, 1)
    assert told.distances[0] / factor == pytest.approx(instance.distances)
    assert (told.durations[0] == told.distances[0]).all()
    assert (told.deliveries[:, 0].tolist(), told.types[0].capacity) == (DEMANDS, (10,))
    assert (told.cost_factor, told.types[0].distance_cost) == (factor, 1)


def test_times_count_from_the_opening_and_end() -> None:
    told = whole_numbers(timed("round", max_duration=50.0, max_distance=40.0, vehicles=2))
    assert told.timed
    assert told.windows[:3] == (((0, 40),), ((2, 20),), ((0, 35),))
    ((opens, closes),) = told.windows[3]
    assert opens == 0
    assert closes >= told.durations[0].max(axis=1).sum() + sum(SERVICE)
    assert (told.horizon, told.service.tolist()) == (40, SERVICE)
    (only,) = told.types
    assert (only.max_duration, only.max_distance, only.vehicles, only.enough) == (50, 40, 2, 2)
    assert (only.earliest, only.leave_by, only.latest) == (0, 40, 40)


def test_what_is_not_whole_is_rounded_to_the_safe_side() -> None:
    instance = timed("none", windows=[[0, 80], [1 / 3, 30], [10, 60], [0, 200 / 3]])
    told = whole_numbers(instance)
    assert told.time_factor == 1000
    assert (told.durations[0] >= told.time_factor * np.asarray(instance.distances) - 1e-5).all()
    assert told.windows[1][0][0] >= told.time_factor / 3
    assert told.windows[3][0][1] <= told.time_factor * 200 / 3
    assert told.windows[2][0][1] == 60 * told.time_factor
    assert told.distances[0].sum() < 2**32
    nearest = np.rint(told.distance_factor * np.asarray(instance.distances))
    assert (told.distances[0] == nearest).all()
    limited = whole_numbers(timed("none", max_distance=40.0))
    assert (limited.distances[0] >= 1000 * np.asarray(instance.distances) - 1e-5).all()


def test_distances_and_times_have_a_factor_each() -> None:
    told = whole_numbers(timed("none", durations=np.full((4, 4), 2.25), service=SERVICE))
    assert told.time_factor == 100
    assert told.durations[0][0, 1] == 225
    assert told.durations[0][1, 1] == 0
    assert told.distance_factor == 1000


def test_a_vehicle_costs_what_the_instance_says_in_units_of_distance() -> None:
    assert whole_numbers(timed("dimacs", vehicle_cost=7.5)).types[0].fixed_cost == 75


@pytest.mark.parametrize(
    ("types", "factor", "costs"),
    [
        ([VehicleType(10, distance_cost=2), VehicleType(10, distance_cost=3)], 1, [(0, 2, 0), (0, 3, 0)]),
        ([VehicleType(10, None, 7.5, 0.25)], 100, [(750, 25, 0)]),
        ([VehicleType(10, None, 1, 0, 1), VehicleType(10, None, 2, 1, 0.5)], 10, [(10, 0, 10), (20, 10, 5)]),
        ([VehicleType(10, None, 1 / 3, 1 / 3)], 1000, [(333, 333, 0)]),
        ([VehicleType(10, None, 1 / 3)], 1000, [(333, 1000, 0)]),
    ],
)
def test_costs_are_in_one_unit(types: list[VehicleType], factor: int, costs: list[tuple[int, ...]]) -> None:
    told = whole_numbers(Instance("four", DEMANDS, coordinates=POINTS, rounding="round", fleet=types))
    assert told.cost_factor == factor
    assert [(each.fixed_cost, each.distance_cost, each.duration_cost) for each in told.types] == costs


def test_prizes_shipments_groups_and_amounts_are_told() -> None:
    deliveries = np.array([[0, 0], [0, 0], [0, 0], [1.5, 2]])
    told = whole_numbers(
        Instance(
            "four",
            None,
            coordinates=POINTS,
            rounding="round",
            deliveries=deliveries,
            shipments=[Shipment(1, 2, [0.5, 1])],
            prizes=[np.inf, 2.5, 2.5, np.inf],
            fleet=[VehicleType([2, 1e9])],
        )
    )
    assert (told.load_factor, told.deliveries[3].tolist(), told.shipments) == (10, [15, 20], ((1, 2, (5, 10)),))
    assert told.prizes == (None, 25, 25, None)
    assert (told.customers, told.types[0].capacity) == ((3,), (20, 60))
    grouped = Instance("four", DEMANDS, 10, POINTS, groups=[Group([1, 3], required=False)])
    assert whole_numbers(grouped).groups == (((1, 3), False),)


def test_optional_customers_whom_nobody_can_serve_are_not_told_of() -> None:
    prizes = [np.inf, 3, 3, 3]
    told = whole_numbers(Instance("four", DEMANDS, 4, POINTS, prizes=prizes, groups=[Group([1, 3])]))
    assert (told.customers, told.groups) == ((1, 2), (((1,), True),))


def test_shifts_are_the_vehicle_s_and_its_depots() -> None:
    windows = [[10, 50], [12, 30], [10, 45], [20, 55]]
    kinds = [
        VehicleType(10, shift=(5, 40)),
        VehicleType(10, start=0, end=3),
        VehicleType(10, start=None, end=3, shift=(15, np.inf)),
        VehicleType(10, end=None),
    ]
    told = whole_numbers(
        Instance(
            "two depots",
            [0, 3, 4, 0],
            coordinates=POINTS,
            rounding="round",
            windows=windows,
            fleet=kinds,
            depots=[Depot(), Depot()],
        )
    )
    spans = [(each.earliest, each.leave_by, each.latest) for each in told.types]
    assert spans[:3] == [(0, 30, 30), (0, 40, 45), (5, 45, 45)]
    assert spans[3][:2] == (0, 40)
    assert spans[3][2] == told.horizon >= 45


def test_units_of_all_kinds_are_alike_if_they_are_to_be() -> None:
    told = whole_numbers(timed("none", durations=np.full((4, 4), 2.0)), alike=True)
    assert (told.cost_factor, told.load_factor, told.time_factor) == (1000, 1000, 1000)
    assert (told.deliveries[1, 0], told.types[0].capacity, told.windows[1]) == (3000, (10_000,), ((2000, 20_000),))
    paid = timed("none", durations=np.full((4, 4), 2.0), duration_cost=0.3)
    assert whole_numbers(paid, alike=True).time_factor == 1


def test_sums_stay_below_what_solvers_can_take() -> None:
    points = np.random.default_rng(3).uniform(0, 1000, (800, 2))
    far = Instance("far", [0] + [1] * 799, 10, points)
    assert whole_numbers(far).distance_factor == 100
    assert whole_numbers(far, 2.0**44).distance_factor == 1000


def test_as_many_vehicles_are_offered_as_there_are_or_may_be_needed() -> None:
    assert fleet(timed(vehicles=2)) == 2
    assert fleet(timed(vehicles=9)) == 3
    assert fleet(timed()) == 3
    plain = read("X-n200-k36")
    assert 36 < fleet(plain) < 60


def test_large_instances_are_refused() -> None:
    nodes = 5001
    huge = Instance("huge", [0] + [1] * (nodes - 1), 10, np.zeros((nodes, 2)))
    with pytest.raises(InputError, match="huge: too large for a matrix of distances, which other solvers are given"):
        whole_numbers(huge)
