"""The MDP's settings, the start tours of its experiments, and what is refused."""

from __future__ import annotations

import hashlib
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from neuralns import (
    Acceptance,
    Always,
    HillClimbing,
    InputError,
    Instance,
    RecordToRecord,
    SimulatedAnnealing,
    Solution,
    make_mdp,
    make_portfolio,
    portfolio_named,
    read,
    savings,
    write_instance,
)
from neuralns.mdp.mdp import SET_SIZE, SETS, episode_seeds, named_seed
from neuralns.operators.construction import build
from texts import assert_same


@pytest.mark.parametrize(("name", "published"), [("C101", 508.3), ("R101", 512.1), ("RC101", 514.4)])
def test_start_tours_of_the_paper_setting_cost_what_the_paper_says(name: str, published: float) -> None:
    starts = make_mdp(name, customers=20).start_tours("test")
    assert np.mean([start.cost for start in starts]) == pytest.approx(published, abs=0.5)


def test_the_paper_setting_scales_coordinates_and_demands_and_charges_100_per_route() -> None:
    plain, paper = read("C101").first(20), make_mdp("C101", customers=20).instance
    assert paper.points.max(axis=0).tolist() == [1.0, 1.0]
    assert paper.points == pytest.approx(plain.points / plain.points.max(axis=0))
    assert paper.demands == pytest.approx(plain.demands / plain.demands.max())
    assert (paper.vehicle_cost, paper.rounding, paper.capacity) == (100.0, "none", plain.capacity)
    assert paper.demands.sum() <= paper.capacity


def test_the_distance_setting_takes_the_instance_as_it_is_but_for_windows() -> None:
    instance = read("R101", ignore="windows")
    mdp = make_mdp(instance, setting="distance")
    assert mdp.instance is instance
    assert_same(make_mdp("R101", setting="distance").instance, instance)
    for start in mdp.start_tours("train", 5):
        assert start.feasible
        loads = [sum(float(instance.demands[customer]) for customer in route) for route in start.routes]
        # A route ends only where the next customer does not fit.
        for number, load in enumerate(loads[:-1]):
            assert load + instance.demands[start.routes[number + 1][0]] > instance.capacity


@pytest.mark.parametrize("name", ["C101", "R101", "RC101", "R112"])
def test_the_setting_windows_takes_the_instance_as_it_is(name: str) -> None:
    instance = read(name)
    assert make_mdp(instance, setting="windows").instance is instance
    mdp = make_mdp(name, customers=20, setting="windows")
    assert (mdp.instance.capacity, mdp.instance.vehicles) == (instance.capacity, instance.vehicles)
    assert instance.windows is not None
    assert mdp.instance.windows is not None
    assert mdp.instance.windows.tolist() == instance.windows[:21].tolist()
    for start in mdp.start_tours("train", 5):
        assert start.feasible
        # A route ends only where the next customer does not fit behind the last.
        for route, following in pairwise(start.routes):
            assert Solution(mdp.instance, [(*route, following[0])]).broken_rules()


def test_the_first_customers_come_with_their_share_of_the_capacity() -> None:
    whole, mdp = read("C101"), make_mdp("C101", customers=20, setting="distance")
    assert mdp.instance.customers == 20
    assert mdp.instance.capacity == pytest.approx(whole.capacity * 20 / whole.customers)
    assert mdp.instance.points.tolist() == whole.points[:21].tolist()


@pytest.mark.parametrize(("customers", "scale"), [(20, 4), (24, 4), (25, 5), (100, 20)])
def test_a_fifth_of_the_customers_is_removed_by_default(customers: int, scale: int) -> None:
    assert make_mdp("C101", customers=customers).scale == scale


def test_at_least_one_customer_is_removed_by_default() -> None:
    assert make_mdp(Instance("few", [0, 1, 1, 1], 3, [[0, 0], [1, 0], [2, 0], [3, 0]])).scale == 1


def test_defaults_are_those_of_the_paper() -> None:
    mdp = make_mdp("C101", customers=20)
    assert (mdp.setting, mdp.reward, mdp.acceptance_name) == ("paper", "final", "always")
    assert mdp.acceptance == Always()
    assert (mdp.budget, mdp.steps, mdp.scale) == (10, 20, 4)
    assert mdp.portfolio == portfolio_named("paper")
    assert make_mdp("C101", budget=7).steps == 14


def test_an_instance_a_file_and_a_bundled_name_are_the_same(tmp_path: Path) -> None:
    write_instance(read("C101"), tmp_path / "mine.json")
    costs = {
        make_mdp(source, customers=20).start_tours("test", 1)[0].cost
        for source in ("C101", read("C101"), tmp_path / "mine.json")
    }
    assert len(costs) == 1


def test_a_portfolio_is_a_name_a_list_or_a_portfolio() -> None:
    own = make_portfolio("mine", ["zone", "greedy"])
    assert make_mdp("C101", portfolio=own).portfolio is own
    assert make_mdp("C101", portfolio="paper-3").portfolio.name == "paper-3"
    assert make_mdp("C101", portfolio=["greedy", own.destroys[0]]).portfolio.names == ("zone", "greedy")


@pytest.mark.parametrize(
    ("given", "rule", "name"),
    [
        ("always", Always(), "always"),
        ("improving", HillClimbing(), "improving"),
        ("annealing", SimulatedAnnealing(), "annealing"),
        (HillClimbing(), HillClimbing(), "improving"),
        (SimulatedAnnealing(100, 1), SimulatedAnnealing(100, 1), "SimulatedAnnealing(start=100, end=1)"),
    ],
)
def test_acceptance_is_a_name_or_a_rule(given: str | Acceptance, rule: Acceptance, name: str) -> None:
    mdp = make_mdp("C101", customers=20, acceptance=given)
    assert mdp.acceptance == rule
    assert mdp.acceptance_name == name


def test_temperatures_are_those_of_good_routes() -> None:
    mdp = make_mdp("C101", customers=20, setting="distance", acceptance="annealing")
    assert mdp.temperatures == SimulatedAnnealing().temperatures(savings(mdp.instance))
    timed = make_mdp("C101", customers=20, setting="windows", acceptance="annealing")
    assert timed.temperatures == SimulatedAnnealing().temperatures(build(timed.instance))
    given = make_mdp("C101", customers=20, acceptance=RecordToRecord(7.0, 2.0))
    assert given.temperatures == (7.0, 2.0)
    assert make_mdp("C101", customers=20).temperatures == (1.0, 1.0)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"setting": "text"}, "setting 'text' is not known; choose paper, distance, windows."),
        ({"reward": "late"}, "reward 'late' is not known; choose final or improvement."),
        ({"acceptance": "never"}, "acceptance 'never' is not known; choose always, improving, annealing."),
        ({"scale": 0}, "scale 0 must lie between 1 and the 20 customers of the instance."),
        ({"scale": 21}, "scale 21 must lie between 1 and the 20 customers of the instance."),
        ({"budget": 0}, "budget 0 must be at least 1 pair."),
        ({"portfolio": "book"}, "portfolio 'book' is not known; choose modern"),
        ({"portfolio": ["zone"]}, "portfolio 'own' has no repair operator."),
        ({"portfolio": ["zone", "mend"]}, "operator 'mend' is not known (see 'neuralns operators')."),
        ({"customers": 0}, "C101: 0 customers asked for, but it has 100."),
        ({"customers": 101}, "C101: 101 customers asked for, but it has 100."),
        ({"instance": "E-n22-k4", "setting": "windows"}, "E-n22-k4:20: has no windows; take setting distance."),
        ({"instance": "C999"}, "C999: no such file, and no bundled instance of that name"),
    ],
)
def test_what_cannot_be_is_refused(wrong: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(sentence)}"):
        make_mdp(**{"instance": "C101", "customers": 20, **wrong})


def keys(solutions: list[Solution]) -> set[frozenset[tuple[int, ...]]]:
    return {frozenset(solution.routes) for solution in solutions}


@pytest.mark.parametrize("setting", ["paper", "distance", "windows"])
def test_no_tours_are_in_two_sets_or_twice_in_one(setting: str) -> None:
    mdp = make_mdp("R101", customers=20, setting=setting)
    sets = [keys(mdp.start_tours(name)) for name in SETS]
    assert [len(found) for found in sets] == [SET_SIZE] * 3
    assert len(set.union(*sets)) == 3 * SET_SIZE


def test_no_tours_are_in_two_sets_when_few_exist() -> None:
    # Three customers cut by a capacity of two: each of the 3! orders gives other tours, and there are no more.
    instance = Instance("few", [0, 1, 1, 1], 2, [[0, 0], [1, 0], [2, 0], [3, 0]])
    mdp = make_mdp(instance, setting="distance")
    sets = [keys(mdp.start_tours(name, 2)) for name in SETS]
    assert [len(found) for found in sets] == [2, 2, 2]
    assert len(set.union(*sets)) == 6


@pytest.mark.parametrize("name", SETS)
def test_a_longer_set_begins_with_the_shorter_one(name: str) -> None:
    mdp = make_mdp("C101", customers=20)
    whole = mdp.start_tours(name)
    assert mdp.start_tours(name, 5) == whole[:5]
    assert mdp.start_tours(name, 200)[:SET_SIZE] == whole


def test_tours_are_the_same_on_every_call_and_for_every_portfolio() -> None:
    one = make_mdp("C101", customers=20)
    other = make_mdp(
        "C101", customers=20, portfolio="modern", scale=2, budget=3, reward="improvement", acceptance="improving"
    )
    assert [start.routes for start in one.start_tours("train")] == [
        start.routes for start in other.start_tours("train")
    ]


def test_tours_of_the_test_set_stay_what_they_are() -> None:
    first = make_mdp("C101", customers=20).start_tours("test", 1)[0].routes
    assert first == ((10, 11, 5, 16), (4, 19, 12, 8), (1, 7, 2, 15), (18, 6, 17, 13), (14, 9, 3, 20))


def test_tours_differ_between_instances_and_settings() -> None:
    found = [
        make_mdp(name, customers=20, setting=setting).start_tours("test", 1)[0].routes
        for name, setting in (("C101", "paper"), ("R101", "paper"), ("C101", "distance"))
    ]
    assert len(set(found)) == 3
    assert len({make_mdp(name, customers=20).random_start(3).routes for name in ("C101", "R101")}) == 1


def test_tours_of_the_paper_setting_are_five_routes_of_a_fifth() -> None:
    for start in make_mdp("C101", customers=20).start_tours("validate"):
        assert start.feasible
        assert [len(route) for route in start.routes] == [4] * 5
    for start in make_mdp("C101", customers=23).start_tours("train", 3):
        assert [len(route) for route in start.routes] == [5, 5, 5, 5, 3]


@pytest.mark.parametrize(
    ("name", "count", "sentence"),
    [
        ("exam", 3, "set of start tours 'exam' is not known; choose train, validate, test."),
        ("train", 0, "0 start tours asked for; at least 1 is needed."),
        (
            "test",
            128,
            "few (paper): 3 customers have too few different tours for three sets of 128; take more customers or "
            "fewer episodes.",
        ),
    ],
)
def test_tours_that_cannot_be_had_are_refused(name: str, count: int, sentence: str) -> None:
    mdp = make_mdp(Instance("few", [0, 1, 1, 1], 3, [[0, 0], [1, 0], [2, 0], [3, 0]]))
    with pytest.raises(InputError, match=f"^{re.escape(sentence)}$"):
        mdp.start_tours(name, count)


def test_a_longer_row_of_episode_seeds_begins_with_the_shorter_one() -> None:
    row = episode_seeds(3, 64)
    assert row.dtype == np.uint64
    assert episode_seeds(3, 10).tolist() == row[:10].tolist()
    assert len(set(row.tolist())) == 64
    others = [*episode_seeds(4, 64).tolist(), *episode_seeds(3, 64, "training").tolist()]
    assert len({*row.tolist(), *others}) == 3 * 64


def test_named_seeds_are_the_same_on_every_machine() -> None:
    # The first 16 bytes of SHA-256 of the names joined by slashes, the least significant first.
    expected = int.from_bytes(hashlib.sha256(b"tours/C101/0").digest()[:16], "little")
    assert named_seed("tours", "C101", 0).entropy == expected
