"""A model says what an instance says, calls things by their names, and finds mistakes when they are made."""

from __future__ import annotations

import inspect
import math
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from neuralns import InputError, MaxIterations, Model, OperatorError, RouteCost, Solution, overtime
from neuralns.problem.fleet import ALWAYS, Depot, Group, Shipment, VehicleType


def _raises(route: Any) -> float:
    if route.stops > 1:
        raise ValueError
    return 0.0


def square(**vehicles: Any) -> Model:
    """A depot, and a client at each other corner of a rectangle."""
    model = Model("square")
    model.add_depot(0, 0, name="depot")
    model.add_vehicle_type(**({"num_available": None, "capacity": 2, "name": "van"} | vehicles))
    for name, x, y in (("A", 0, 3), ("B", 4, 3), ("C", 4, 0)):
        model.add_client(x, y, delivery=1, name=name)
    return model


# --- What an instance gets. -------------------------------------------------------------------------------------------


def test_a_plain_model_is_a_plain_instance() -> None:
    instance = square().instance()
    assert not instance.general
    assert not instance.timed
    assert (instance.name, instance.customers, instance.capacity, instance.vehicles) == ("square", 3, 2.0, None)
    assert instance.names == ("depot", "A", "B", "C")
    assert instance.demands.tolist() == [0, 1, 1, 1]
    assert instance.matrix is None
    assert instance.distance(0, 2) == 5.0
    assert Solution(instance, [[1, 2], [3]]).cost == 20.0


def test_nodes_are_the_first_depot_the_clients_and_the_other_depots() -> None:
    model = Model()
    model.add_client(1, 1, name="A")
    north = model.add_depot(0, 9, 5, 90, name="north")
    parcel = model.add_shipment((2, 2), (3, 3), amount=4, name="parcel", delivery_tw_late=50)
    south = model.add_depot(0, -9, capacity=30, cost=7, name="south")
    model.add_client(4, 4, pickup=2)
    model.add_vehicle_type(3, 5, south, None, name="truck", fixed_cost=10, unit_duration_cost=0.5, max_stops=4)
    model.add_vehicle_type(name="van", tw_early=8, shift_duration=9, max_distance=100.5)
    instance = model.instance()
    assert model.depots == [north, south]
    assert model.clients[1:3] == [parcel.pickup, parcel.delivery]
    assert instance.names == ("north", "A", "parcel pickup", "parcel delivery", "4", "south")
    assert instance.depot_nodes == (0, 5)
    assert instance.depots == (Depot(), Depot(30, 7))
    assert instance.shipments == (Shipment(2, 3, 4),)
    assert instance.windows is not None
    assert instance.windows[[0, 3, 5]].tolist() == [[5, 90], [0, 50], [0, math.inf]]
    assert instance.types == (
        VehicleType(5, 3, 10, 1, 0.5, start=5, end=None, max_stops=4, name="truck"),
        # One that takes any amount takes all there is.
        VehicleType(6, 1, shift=(8, math.inf), max_duration=9, max_distance=100.5, name="van"),
    )
    assert instance.amounts[1].tolist() == [[0], [0], [0], [0], [2], [0]]


def test_clients_have_all_that_they_can_have() -> None:
    model = Model()
    model.add_depot(0, 0)
    model.add_vehicle_type(2, [10, 5], skills=["crane", "cold"])
    either = model.add_client_group(required=False, name="either")
    model.add_client(1, 0, [3, 1], [0, 2], 10.5, 8, 12, skills={"crane"})
    model.add_client(2, 0, windows=[(14, 16), (8, 10)], release_time=7)
    model.add_client(3, 0, required=False, prize=12.5)
    model.add_client(4, 0, required=False, group=either)
    model.add_client(5, 0, required=False, group=either, prize=3)
    instance = model.instance()
    assert instance.names is None
    assert instance.dimensions == 2
    deliveries, pickups = instance.amounts
    assert (deliveries[1].tolist(), pickups[1].tolist(), deliveries[2].tolist()) == ([3, 1], [0, 2], [0, 0])
    assert instance.services.tolist() == [0, 10.5, 0, 0, 0, 0]
    assert [instance.windows_of(node) for node in (1, 2)] == [((8, 12),), ((8, 10), (14, 16))]
    assert instance.release is not None
    assert instance.release.tolist() == [0, 0, 7, 0, 0, 0]
    assert [instance.prize(node) for node in range(1, 6)] == [math.inf, math.inf, 12.5, 0, 3]
    assert instance.needs(1) == {"crane"}
    assert instance.groups == (Group([4, 5], False, "either"),)


def test_an_optional_shipment_has_its_prize_at_both_ends() -> None:
    model = square()
    model.add_shipment((1, 1), (2, 2), amount=1, prize=9, required=False, skills=[])
    instance = model.instance()
    assert [instance.prize(node) for node in (3, 4, 5)] == [math.inf, 9, 9]


def test_shifts_without_limits_leave_a_model_untimed() -> None:
    assert square(tw_late=math.inf).instance().types[0].shift == ALWAYS
    assert square(tw_late=20).instance().timed


def test_backhauls_and_costs_of_one_s_own_are_passed_on() -> None:
    model = Model(backhauls=True)
    model.add_depot(0, 0)
    model.add_vehicle_type(1, 3)
    model.add_client(1, 1, delivery=1)
    model.add_client(2, 1, pickup=1)

    @model.add_route_cost
    def far(route: Any) -> Any:
        return 2 * route.distance

    late = model.add_route_cost(overtime(after=480))
    instance = model.instance()
    assert instance.backhauls
    assert instance.route_costs == (far, late)
    assert far.name == "far"


# --- Places and edges. ------------------------------------------------------------------------------------------------


def test_a_location_holds_several_clients() -> None:
    model = Model()
    home, mall = model.add_location(0, 0, name="home"), model.add_location(3, 4, name="mall")
    model.add_depot(home)
    model.add_vehicle_type()
    one, other = model.add_client(mall, delivery=1), model.add_client(location=mall, delivery=2)
    assert one.location is other.location is mall
    instance = model.instance()
    assert (instance.distance(0, 1), instance.distance(1, 2)) == (5, 0)
    model.add_edge(home, mall, 7, 3)
    model.add_edge(one, model.depots[0], 8)
    instance = model.instance()
    assert instance.matrix is not None
    assert instance.durations is not None
    assert instance.matrix.tolist() == [[0, 7, 7], [8, 0, 0], [8, 0, 0]]
    assert instance.durations.tolist() == [[0, 3, 3], [0, 0, 0], [0, 0, 0]]


def test_a_missing_edge_is_named_unless_it_has_a_value() -> None:
    model = square()
    depot, (one, two, three) = model.depots[0], model.clients
    for tail in (depot, one, two, three):
        for head in (depot, one, two, three):
            if (tail, head) not in ((one, two), (three, one)):
                model.add_edge(tail, head, 0 if head is tail else 1, 0 if head is tail else 1)
    with pytest.raises(InputError, match=r"^square: there is no edge from A to B; add it, or give a missing_value "):
        model.instance()
    instance = model.instance(missing_value=1e6)
    assert instance.distance(1, 2) == instance.distance(3, 1) == 1e6
    assert instance.distance(2, 1) == 1
    assert instance.durations is None


def test_profiles_that_a_vehicle_uses_count() -> None:
    model = square(num_available=1)
    bike, boat = model.add_profile(name="bike"), model.add_profile(name="boat")
    model.add_vehicle_type(name="rider", profile=bike)
    depot, far = model.depots[0], model.clients[1]
    model.add_edge(depot, far, 4, 2, profile=bike)
    model.add_edge(depot, far, 99, profile=boat)
    instance = model.instance()
    assert instance.matrix is None
    assert [each.profile for each in instance.types] == [0, 1]
    assert instance.profiles is not None
    assert [profile.name for profile in instance.profiles] == ["bike"]
    assert [float(instance.legs([0], [2], profile)[0]) for profile in (0, 1)] == [5, 4]
    assert [float(instance.times([0], [2], profile)[0]) for profile in (0, 1)] == [5, 2]
    assert [float(instance.times([2], [0], profile)[0]) for profile in (0, 1)] == [5, 5]


def test_a_profile_that_all_use_is_the_instance_s_own() -> None:
    model = Model()
    road = model.add_profile()
    model.add_depot(0, 0)
    model.add_client(0, 0)
    model.add_vehicle_type(profile=road)
    model.add_edge(model.depots[0], model.clients[0], 3.5, 3.5, profile=road)
    model.add_edge(model.clients[0], model.depots[0], 4.5, 4.5, profile=road)
    instance = model.instance()
    assert instance.profiles is None
    assert instance.types[0].profile == 0
    assert np.asarray(instance.matrix).tolist() == [[0, 3.5], [4.5, 0]]


def test_edges_of_no_profile_count_for_all_profiles() -> None:
    model = square(num_available=1)
    bike = model.add_profile(name="bike")
    model.add_vehicle_type(name="rider", profile=bike)
    ends = model.locations
    for tail in ends:
        for head in ends:
            model.add_edge(tail, head, float(tail is not head), float(tail is not head))
    model.add_edge(ends[0], ends[1], 5, 1, profile=bike)
    model.add_edge(ends[0], ends[1], 6, 1, profile=bike)  # the last one counts
    instance = model.instance()
    assert [float(instance.legs([0], [1], profile)[0]) for profile in (0, 1)] == [1, 6]
    assert [float(instance.legs([1], [2], profile)[0]) for profile in (0, 1)] == [1, 1]


# --- Results. ---------------------------------------------------------------------------------------------------------


def test_results_are_by_name() -> None:
    result = square().solve(MaxIterations(200), seed=1)
    assert result.cost == 18.0
    assert sorted(sorted(route.stops) for route in result.named_routes) == [["A"], ["B", "C"]]
    for route in result.named_routes:
        assert (route.vehicle, route.start, route.end) == ("van", "depot", "depot")
        assert str(route) == f"van: depot → {' → '.join(route.stops)} → depot"


def test_open_routes_have_no_start_or_no_end() -> None:
    model = square(start_depot=None, num_available=1)
    model.add_vehicle_type(end_depot=None)
    planned = Solution(model.instance(), [[2, 1], [3]], [0, 1])
    found = replace(square().solve(MaxIterations(1)), best=planned).named_routes
    assert found == [("van", None, ("B", "A"), "depot"), ("type 2", "depot", ("C",), None)]
    assert [str(route) for route in found] == ["van: B → A → depot", "type 2: depot → C"]


def test_a_model_can_be_solved_changed_and_solved_again() -> None:
    model = square()
    before = model.solve(MaxIterations(50)).cost
    model.add_client(0, 30, delivery=1, name="D")
    assert model.solve(MaxIterations(50)).cost > before
    assert "4 clients, 1 depots, 1 vehicle types" in repr(model)


def test_all_parts_together_are_solved() -> None:
    model = build(Model())
    model.add_route_cost(overtime(after=100, cost=0.5))
    result = model.solve(MaxIterations(300), seed=1)
    assert result.best.faults() == []
    assert {route.vehicle for route in result.named_routes} <= {"long", "short"}
    assert {(route.start, route.end) for route in result.named_routes} <= {
        ("depot 1", "depot 1"),
        ("depot 2", "depot 1"),
    }


def test_a_cost_of_one_s_own_is_compiled_once_and_not_on_the_clock() -> None:
    model = square()
    told = []

    @model.add_route_cost
    def crowded(route: Any) -> Any:
        return 100.0 if route.stops > 1 else 0.0

    for _ in range(2):
        result = model.solve(MaxIterations(100))
        told.append(result.runtime)
        assert sorted(result.routes) == [[1], [2], [3]]
        assert result.cost == 24.0
    assert max(told) < 5


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (lambda route: float(input()) if route.stops > 1 else 0.0, "does not compile: "),
        (_raises, "raises an exception or asserts ("),
    ],
)
def test_a_cost_that_cannot_be_compiled_is_refused_by_name(function: Any, sentence: str) -> None:
    model = square()
    model.add_route_cost(RouteCost("mine", function))
    with pytest.raises(OperatorError) as caught:
        model.solve(MaxIterations(10))
    assert str(caught.value).startswith(f"route cost 'mine' {sentence}")


# --- Mistakes. --------------------------------------------------------------------------------------------------------

ELSEWHERE = square()
ELSEWHERE.add_client_group(name="theirs")
ELSEWHERE.add_profile(name="theirs")
ELSEWHERE.add_location(0, 0, name="theirs")


@pytest.mark.parametrize(
    ("mistake", "sentence"),
    [
        (lambda m: m.add_client(1), "client 4: y is missing."),
        (lambda m: m.add_client(name="X"), "client X: x is missing."),
        (lambda m: m.add_client(1, "two", name="X"), "client X: y 'two' is not a number."),
        (lambda m: m.add_client(math.nan, 2), "client 4: x nan is not a finite number."),
        (lambda m: m.add_client(m.locations[0], 5), "client 4: a location is given, which has its x and y; give"),
        (lambda m: m.add_client(ELSEWHERE.locations[-1]), "client 4: location Location(x=0.0, y=0.0, name='theirs')"),
        (lambda m: m.add_client(1, 1, name="A"), "client A: there is a client of this name already."),
        (lambda m: m.add_depot(1, 1, name="A"), "depot A: there is a client of this name already."),
        (lambda m: m.add_client(1, 1, name="depot"), "client depot: there is a depot of this name already."),
        (lambda m: m.add_client(1, 1, name=3), "name of a client 3 must be text on one line."),
        (lambda m: m.add_client(1, 1, -1, name="X"), "client X: delivery -1 must not be negative."),
        (lambda m: m.add_client(1, 1, pickup=[math.inf]), "client 4: pickup inf is not a finite number."),
        (lambda m: m.add_client(1, 1, [1, 2]), "client 4: delivery has 2 dimensions of goods, but vehicle type van: c"),
        (lambda m: m.add_client(1, 1, service_duration=-3), "client 4: service duration -3 must not be negative."),
        (lambda m: m.add_client(1, 1, tw_early=9, tw_late=8), "client 4: window, 9 to 8, ends before it begins."),
        (lambda m: m.add_client(1, 1, tw_early="soon"), "client 4: tw_early 'soon' is not a number."),
        (lambda m: m.add_client(1, 1, tw_late=None), "client 4: tw_late None is not a number."),
        (lambda m: m.add_client(1, 1, tw_early=-math.inf), "client 4: tw_early -inf is not a finite number."),
        (lambda m: m.add_client(1, 1, windows=[3]), "client 4: window 3 is not a pair of times."),
        (lambda m: m.add_client(1, 1, tw_late=9, windows=[(1, 2)]), "client 4: give windows, or tw_early and tw_late,"),
        (lambda m: m.add_client(1, 1, windows=[(1, 3), (2, 4)]), "client 4: windows overlap: one ends at 3, another "),
        (lambda m: m.add_client(1, 1, windows=[]), "client 4: windows are given, but none."),
        (lambda m: m.add_client(1, 1, windows=5), "client 4: windows 5 must be a list of pairs."),
        (lambda m: m.add_client(1, 1, release_time=-1), "client 4: release time -1 must not be negative."),
        (lambda m: m.add_client(1, 1, prize=math.nan, required=False), "client 4: prize nan is not a finite number."),
        (lambda m: m.add_client(1, 1, prize=5), "client 4 is required, so that a prize of 5 says nothing; give requi"),
        (lambda m: m.add_client(1, 1, skills="crane"), "client 4: skills 'crane' must be a list of texts."),
        (lambda m: m.add_client(1, 1, skills=[3]), "client 4: skill 3 must be text on one line."),
        (lambda m: m.add_client(1, 1, group=m.add_client_group()), "client 4 is in a group, which says whether one ha"),
        (lambda m: m.add_client(1, 1, group=ELSEWHERE.groups[0], required=False), "client 4: group ClientGroup("),
        (lambda m: m.add_depot(1, 1, 5, 4), "depot 2: window, 5 to 4, ends before it begins."),
        (lambda m: m.add_depot(1, 1, cost=-2, name="X"), "depot X: cost -2 must not be negative."),
        (lambda m: m.add_depot(1, 1, capacity=[3, 4]), "depot 2: capacity has 2 dimensions of goods, but vehicle ty"),
        (lambda m: m.add_shipment((1, 1), 3), "shipment 1: delivery: 3 is neither a location nor a pair (x, y)."),
        (lambda m: m.add_shipment((1, 1), (2, "b")), "shipment 1: delivery: y 'b' is not a number."),
        (lambda m: m.add_shipment((1, 1), (2, 2), amount=-1, name="X"), "shipment X: amount -1 must not be negative."),
        (lambda m: m.add_shipment((1, 1), (2, 2), 8, 7), "shipment 1: pickup: window, 8 to 7, ends before it begins."),
        (lambda m: m.add_vehicle_type(name="van"), "vehicle type van: there is a vehicle type of this name already."),
        (lambda m: m.add_vehicle_type(2.5), "vehicle type 2: number of vehicles 2.5 must be a whole number"),
        (lambda m: m.add_vehicle_type(1, -4, name="X"), "vehicle type X: capacity -4 must not be negative."),
        (lambda m: m.add_vehicle_type(1, [1, 1]), "vehicle type 2: capacity has 2 dimensions of goods, but vehicle t"),
        (lambda m: m.add_vehicle_type(fixed_cost=-1), "vehicle type 2: fixed cost -1 must not be negative."),
        (lambda m: m.add_vehicle_type(shift_duration=-1), "vehicle type 2: max duration -1 must not be negative."),
        (lambda m: m.add_vehicle_type(tw_early=5, tw_late=1), "vehicle type 2: shift, 5 to 1, ends before it begins."),
        (lambda m: m.add_vehicle_type(start_depot=0), "vehicle type 2: start depot 0 is not of this model."),
        (lambda m: m.add_vehicle_type(end_depot=ELSEWHERE.depots[0]), "vehicle type 2: end depot Depot(location="),
        (lambda m: m.add_vehicle_type(profile=ELSEWHERE.profiles[0]), "vehicle type 2: profile Profile(name='thei"),
        (lambda m: m.add_edge(m.depots[0], ELSEWHERE.clients[0], 1), "edge: Client(location=Location("),
        (lambda m: m.add_edge("depot", m.clients[0], 1), "edge: 'depot' is no location, client or depot of this"),
        (lambda m: m.add_edge(*m.clients[:2], -1), "edge from A to B: distance -1 must not be negative."),
        (lambda m: m.add_edge(m.depots[0], m.locations[3], 1, math.nan), "edge from depot to location 4: duration nan"),
        (lambda m: m.add_edge(m.clients[0], m.clients[0], 1), "edge from A to A begins and ends at one place, so that"),
        (lambda m: m.add_route_cost(lambda route: route.length), "route cost '<lambda>' fails for a route"),
    ],
)  # fmt: skip
def test_mistakes_are_found_when_they_are_made_and_change_nothing(
    mistake: Callable[[Model], object], sentence: str
) -> None:
    model = square()
    before = _counts(model)
    with pytest.raises(InputError) as caught:
        mistake(model)
    assert str(caught.value).startswith(sentence)
    assert _counts(model) == before


def _counts(model: Model) -> tuple[object, ...]:
    counts = len(model.locations), len(model.depots), len(model.clients), len(model.shipments), len(model.profiles)
    rest = (model._names, model._edges, model._dimensions, model.route_costs, model.vehicle_types)
    return (*counts, *(str(part) for part in rest))


@pytest.mark.parametrize(
    ("missing", "sentence"),
    [("depots", "model: there is no depot; add one with add_depot."),
     ("clients", "model: there is no client; add some with add_client or add_shipment."),
     ("vehicle_types", "model: there is no vehicle; add some with add_vehicle_type.")],
)  # fmt: skip
def test_a_model_that_lacks_something_says_what(missing: str, sentence: str) -> None:
    model = Model()
    verbs: dict[str, Callable[[], object]] = {
        "depots": lambda: model.add_depot(0, 0),
        "clients": lambda: model.add_client(1, 1),
        "vehicle_types": lambda: model.add_vehicle_type(),
    }
    for part, verb in verbs.items():
        if part != missing:
            verb()
    with pytest.raises(InputError) as caught:
        model.instance()
    assert str(caught.value) == sentence


def test_a_skill_that_nobody_has_is_named() -> None:
    model = square()
    model.add_client(1, 1, skills=["crane"], name="tower")
    with pytest.raises(InputError, match="customer tower needs skill 'crane', which no vehicle type has"):
        model.instance()


def test_a_failed_verb_takes_neither_names_nor_dimensions() -> None:
    model = Model()
    with pytest.raises(InputError):
        model.add_client(1, 1, [1, 2], [1], name="A")
    with pytest.raises(InputError):
        model.add_client(1, 1, [1, 2], name="A", skills="crane")
    model.add_client(1, 1, 5, name="A")
    assert model.clients[0].delivery == (5.0,)


# --- PyVRP. -----------------------------------------------------------------------------------------------------------


def test_the_verbs_take_their_arguments_by_the_names_and_in_the_order_of_pyvrp() -> None:
    expected = {
        "add_client": "x y delivery pickup service_duration tw_early tw_late release_time prize required group",
        "add_depot": "x y tw_early tw_late",
        "add_edge": "frm to distance duration profile",
        "add_shipment": "pickup_location delivery_location pickup_tw_early pickup_tw_late pickup_service_duration "
        "delivery_tw_early delivery_tw_late delivery_service_duration amount prize required",
        "add_vehicle_type": "num_available capacity start_depot end_depot fixed_cost tw_early tw_late shift_duration "
        "max_distance unit_distance_cost unit_duration_cost profile",
    }  # fmt: skip
    for verb, names in expected.items():
        parameters = inspect.signature(getattr(Model(), verb)).parameters.values()
        assert " ".join(each.name for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD) == names


def build(model: Any) -> Any:
    """Put a problem together, in neuralns or in PyVRP: nothing here knows in which."""
    draw = random.Random(1)
    places = [model.add_location(draw.randint(0, 100), draw.randint(0, 100)) for _ in range(16)]
    east = model.add_depot(places[0], tw_late=500)
    west = model.add_depot(places[1], tw_early=10, tw_late=400)
    either = model.add_client_group(name="either")
    for number, place in enumerate(places[2:14]):
        amounts = {"delivery": [draw.randint(1, 5), 1], "pickup": [draw.randint(0, 4), 0]}
        times = {"service_duration": draw.randint(0, 9), "tw_early": draw.randint(0, 60), "tw_late": 300}
        choice: dict[str, Any] = {"required": False, "prize": draw.randint(5, 80)} if number % 4 == 0 else {}
        if number in (3, 5):
            choice = {"required": False, "group": either}
        model.add_client(place, **amounts, **times, **choice)
    model.add_shipment(places[14], places[15], 0, 300, 5, 50, 400, 6, [2, 0], 40, False, name="parcel")
    fast = model.add_profile(name="fast")
    slow = model.add_profile(name="slow")
    for tail in places:
        for head in places:
            if tail is not head:
                distance = draw.randint(5, 100)
                model.add_edge(tail, head, distance, distance // 2 + 1)
                model.add_edge(tail, head, distance=distance + 3, duration=distance // 3 + 1, profile=slow)
    model.add_vehicle_type(2, [20, 6], east, east, 30, profile=fast, unit_duration_cost=2, name="long")
    model.add_vehicle_type(3, [12, 4], west, east, 10, 5, 390, 300, 400, 2, 1, slow, name="short")
    return model


@pytest.mark.parametrize("types", [1, 2])
def test_the_fewest_vehicles_of_fleets_without_limit_are_found(types: int) -> None:
    model = Model("spread")
    model.add_depot(0, 0)
    for number in range(types):
        model.add_vehicle_type(None, capacity=4 + 2 * number, unit_distance_cost=3)
    for number in range(12):
        model.add_client(10 * math.cos(number), 10 * math.sin(number), delivery=1)
    found = model.solve(MaxIterations(500), objective="vehicles")
    assert (len(found.routes), found.best.faults()) == (3 if types == 1 else 2, [])
    assert found.cost == pytest.approx(found.best.length)


def test_one_program_states_the_same_problem_here_and_in_pyvrp() -> None:
    pyvrp = pytest.importorskip("pyvrp")
    found = build(pyvrp.Model()).solve(pyvrp.stop.MaxIterations(200), display=False)
    routes = [
        [
            13 if stop.is_pickup() else 14 if stop.is_delivery() else stop.idx + 1
            for stop in route
            if not stop.is_depot()
        ]
        for route in found.best.routes()
    ]
    ours = Solution(build(Model()).instance(), routes, [route.vehicle_type() for route in found.best.routes()])
    assert ours.faults() == []
    assert ours.cost == found.cost()
