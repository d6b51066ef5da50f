"""The bundled instances, and the one way to name an instance."""

from __future__ import annotations

import re
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

import texts
from neuralns import InputError, random_tours, read, write_solution
from neuralns.problem.bundled import bundled, bundled_names
from texts import assert_same, written


@pytest.mark.parametrize("name", bundled_names())
def test_a_bundled_instance_is_what_its_name_says(name: str) -> None:
    instance = bundled(name)
    assert instance.name == name
    nodes = re.search(r"-n(\d+)-", name)
    assert instance.customers + 1 == (int(nodes[1]) if nodes else 101)
    assert instance.demands.max() <= instance.capacity
    assert instance.rounding == ("round" if nodes else "dimacs")
    assert instance.best_known is not None
    assert (instance.windows is None, instance.vehicles) == ((True, None) if nodes else (False, 25))
    assert instance.unservable == {}


def test_the_names_are_sorted_by_set_and_size() -> None:
    assert {"C101", "R101", "RC101", "X-n101-k25", "X-n200-k36"} <= set(bundled_names())
    assert [name for name in bundled_names() if name.startswith("E-")] == [
        "E-n22-k4",
        "E-n51-k5",
        "E-n76-k10",
        "E-n101-k8",
        "E-n101-k14",
    ]


@pytest.mark.parametrize(
    ("name", "cost"),
    [("X-n101-k25", 27591), ("A-n32-k5", 784), ("E-n22-k4", 375), ("B-n78-k10", 1221), ("R112", 948.6)],
)
def test_best_known_costs_are_those_published(name: str, cost: float) -> None:
    assert read(name).best_known == cost


def test_options_change_the_instance() -> None:
    instance = read("R101", rounding="dimacs", customers=50, vehicle_cost=7)
    assert (instance.name, instance.customers, instance.capacity) == ("R101:50", 50, 100)
    assert (instance.rounding, instance.vehicle_cost) == ("dimacs", 7)


@pytest.mark.parametrize(("name", "window", "service"), [("C101", (912, 967), 90), ("R101", (161, 171), 10)])
def test_solomons_instances_come_with_their_windows(name: str, window: tuple[float, float], service: float) -> None:
    instance = read(name)
    assert instance.windows is not None
    assert (tuple(instance.windows[1]), instance.services[1]) == (window, service)


@pytest.mark.parametrize("name", ["C101", "R101", "RC101"])
def test_without_windows_they_are_the_papers_instances(name: str) -> None:
    plain = read(name, ignore=["windows"])
    assert_same(plain, read(name).without("windows"))
    assert (plain.name, plain.rounding, plain.vehicles, plain.timed) == (name, "none", None, False)
    assert (plain.capacity, plain.best_known) == (200, None)
    assert read(name, rounding="dimacs", ignore="windows").rounding == "dimacs"


def test_a_file_comes_before_a_bundled_instance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, texts.EUCLIDEAN, "C101")
    assert read("C101").name == "tiny"


@pytest.mark.parametrize("name", ["C199", "c101", "a" * 300])
def test_an_unknown_name_is_refused(name: str) -> None:
    with pytest.raises(InputError, match=f"^{name}: no such file, and no bundled instance of that name"):
        read(name)


@pytest.mark.parametrize("name", ["C101", "R101", "RC101"])
def test_in_the_papers_setting_coordinates_end_at_1_and_the_capacity_never_binds(name: str) -> None:
    paper = read(name, customers=20).in_paper_setting()
    assert paper.points.max(axis=0).tolist() == [1, 1]
    assert paper.demands.max() == 1
    assert paper.demands.sum() < paper.capacity
    assert paper.vehicle_cost == 100


@pytest.mark.parametrize(("name", "published"), [("C101", 508.3), ("R101", 512.1), ("RC101", 514.4)])
def test_random_tours_in_the_papers_setting_cost_what_it_says(name: str, published: float) -> None:
    paper = read(name, customers=20).in_paper_setting()
    assert mean(random_tours(paper, seed, chunk=4).cost for seed in range(128)) == pytest.approx(published, abs=1.5)


@pytest.mark.parametrize(
    ("beside", "best_known"),
    [
        (texts.SOLUTIONS["sol"], 31),
        ("Route #1: 1 2", None),
        ("not a solution", None),
    ],
)
def test_the_cost_of_a_feasible_solution_beside_the_file_is_the_best_known(
    tmp_path: Path, beside: str, best_known: float | None
) -> None:
    written(tmp_path, beside, "tiny.sol")
    assert read(written(tmp_path, texts.EUCLIDEAN)).best_known == best_known


def test_a_solution_of_our_own_beside_the_file_is_not_the_best_known(tmp_path: Path) -> None:
    write_solution(texts.SERVED, tmp_path / "tiny.sol")
    assert read(written(tmp_path, texts.EUCLIDEAN)).best_known is None


def test_without_a_solution_beside_it_the_best_known_cost_is_not_known(tmp_path: Path) -> None:
    assert read(written(tmp_path, texts.EUCLIDEAN)).best_known is None


def test_a_best_known_cost_in_the_file_comes_first(tmp_path: Path) -> None:
    written(tmp_path, texts.SOLUTIONS["sol"], "tiny.sol")
    assert read(written(tmp_path, texts.INSTANCES["json"], "tiny.json")).best_known == 40


@pytest.mark.parametrize("changes", [{"rounding": "round"}, {"vehicle_cost": 1}, {"customers": 2}])
def test_it_is_forgotten_for_another_objective(tmp_path: Path, changes: dict[str, Any]) -> None:
    written(tmp_path, texts.SOLUTIONS["sol"], "tiny.sol")
    text = texts.EUCLIDEAN.replace("4 6\n", "4 1\n")
    assert read(written(tmp_path, text), **changes).best_known is None
