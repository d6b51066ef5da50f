"""Neuralns beside other solvers: which run, and what their gaps amount to."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from neuralns import InputError, Instance, read, savings
from neuralns.experiments import peer_comparison, peers
from neuralns.experiments.best_known import BestKnown
from neuralns.experiments.peer_comparison import PeerComparison, compare_peers

INSTANCES = [read("E-n22-k4"), read("P-n16-k8")]
TIMED = Instance(
    "timed",
    [0, 1, 1],
    2,
    [[0, 0], [0, 6], [8, 6]],
    windows=[[0, 100], [0, 100], [10, 20]],
    service=[0, 10, 10],
    best_known=32.0,
)


def by_savings(instance: Instance, seconds: float, seed: int) -> list[list[int]]:
    if instance.may_leave_out:
        return one_by_one(instance, seconds, seed)
    return [list(route) for route in savings(instance).routes]


def one_by_one(instance: Instance, seconds: float, seed: int) -> list[list[int]]:
    return [[customer] for customer in range(1, instance.customers + 1)]


def in_a_row(instance: Instance, seconds: float, seed: int) -> list[list[int]]:
    return [list(range(1, instance.customers + 1))]


def thrifty(instance: Instance, seconds: float, seed: int) -> list[list[int]]:
    return (by_savings if instance.vehicle_cost > 0 else one_by_one)(instance, seconds, seed)


@pytest.fixture(autouse=True)
def staged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simple solvers in place of the others; one is not installed."""
    solvers = {"neuralns": (None, by_savings), "HGS": ("os", one_by_one), "absent": ("no_such_module", one_by_one)}
    for module in (peer_comparison, peers):
        monkeypatch.setattr(module, "PEERS", solvers)


def test_all_that_are_installed_run_and_the_others_are_named(tmp_path: Path) -> None:
    said: list[str] = []
    found = compare_peers(INSTANCES, 1, [4], tmp_path / "peers.csv", say=said.append)
    assert said == ["not installed: absent (pip install '.[peers]' in the project's folder)"]
    assert found.solvers == ("neuralns", "HGS")
    assert found.instances == ("P-n16-k8", "E-n22-k4")
    assert found.customers == {"P-n16-k8": 15, "E-n22-k4": 21}
    for instance in INSTANCES:
        assert found.gaps[instance.name]["neuralns"] == pytest.approx(savings(instance).gap)
    for solver in found.solvers:
        assert found.means[solver] == pytest.approx(sum(found.gaps[name][solver] for name in found.instances) / 2)
    assert found.best_peer == "HGS"
    assert {run.seed for run in found.runs} == {4}


def test_solvers_are_chosen_in_any_spelling(tmp_path: Path) -> None:
    said: list[str] = []
    found = compare_peers(INSTANCES[:1], 1, 1, tmp_path / "peers.csv", ["hgs"], say=said.append)
    assert (found.solvers, found.best_peer, said) == (("HGS",), None, [])


def test_the_best_peer_has_the_smallest_mean_gap() -> None:
    found = PeerComparison((), ("neuralns", "a", "b"), (), {}, {}, {"neuralns": 1.0, "a": 3.0, "b": 2.0})
    assert found.best_peer == "b"
    assert replace(found, means={"neuralns": 1.0}).best_peer is None


def test_what_cannot_be_compared_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "peers.csv"
    for names, instance, sentence in (
        (["nobody"], INSTANCES[0], "solver 'nobody' is not known; choose from neuralns, HGS, absent."),
        (["absent"], INSTANCES[0], "solver 'absent' is not installed; pip install '.[peers]' in the project's folder."),
        (None, replace(INSTANCES[0], best_known=0.0), "E-n22-k4: its best known cost 0 leaves no gaps"),
        (
            None,
            replace(INSTANCES[0], capacity=200.0),
            "E-n22-k4: customer 1 can be on no route: its demand 1100 is above the capacity 200.",
        ),
    ):
        with pytest.raises(InputError) as refusal:
            compare_peers([instance], 1, 1, path, names)
        assert str(refusal.value).startswith(sentence)
    with pytest.raises(InputError, match=r"^objective 'duration' cannot be compared with other solvers, only distance"):
        compare_peers(INSTANCES, 1, 1, path, objective="duration")
    assert not path.exists()


def test_the_cheapest_run_stands_in_for_a_best_known_cost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(peers.PEERS, "in-a-row", ("os", in_a_row))
    unknown = replace(INSTANCES[0], best_known=None)
    found = compare_peers([unknown], 1, 1, tmp_path / "peers.csv", ["neuralns", "HGS", "in-a-row"])
    most = sum(2 * float(unknown.legs([0], [customer])[0]) for customer in range(1, 22))
    assert found.gaps["E-n22-k4"] == {
        "neuralns": 0.0,
        "HGS": pytest.approx(100 * (most / savings(unknown).cost - 1)),
        "in-a-row": float("inf"),
    }


def test_solvers_that_cannot_be_told_of_windows_are_left_out_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(peers.PEERS, "HGS-CVRP", ("os", one_by_one))
    said: list[str] = []
    found = compare_peers([TIMED], 1, 1, tmp_path / "peers.csv", say=said.append)
    assert found.solvers == ("neuralns", "HGS")
    assert said[0] == "left out: HGS-CVRP (knows no time windows, which timed needs)"
    with pytest.raises(InputError, match=r"^solver 'HGS-CVRP' knows no time windows, which timed needs; leave it out"):
        compare_peers([TIMED], 1, 1, tmp_path / "peers.csv", ["hgs-cvrp"])


def test_routes_that_are_late_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(peers.PEERS, "in-a-row", ("os", in_a_row))
    found = compare_peers([TIMED], 1, 1, tmp_path / "peers.csv", ["in-a-row", "HGS"])
    assert [(run.solver, run.fault) for run in found.infeasible] == [
        ("in-a-row", "route 1 reaches customer 2 at 24, after its window, 10 to 20.")
    ]
    assert found.gaps["timed"] == {"in-a-row": float("inf"), "HGS": pytest.approx(0.0)}


def test_fewest_vehicles_are_asked_for_by_their_cost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that has a route for each customer, unless vehicles cost something."""
    monkeypatch.setitem(peers.PEERS, "thrifty", ("os", thrifty))
    unknown = replace(INSTANCES[0], best_known=None)
    found = compare_peers([unknown], 1, 2, tmp_path / "peers.csv", ["thrifty", "HGS"], objective="vehicles")
    assert found.vehicles["E-n22-k4"] == {"thrifty": len(savings(unknown).routes), "HGS": 21.0}
    assert found.costs["E-n22-k4"]["thrifty"] == savings(unknown).cost
    assert found.ahead() == {"thrifty": 1, "HGS": 0}


def test_the_fewest_known_vehicles_are_counted(tmp_path: Path) -> None:
    known = {"E-n22-k4": BestKnown(4, 375.0), "elsewhere": BestKnown(1, 1.0)}
    found = compare_peers(
        INSTANCES, 1, 2, tmp_path / "peers.csv", ["neuralns", "HGS"], objective="vehicles", known=known
    )
    assert found.known == {"E-n22-k4": known["E-n22-k4"]}
    few = len(savings(INSTANCES[0]).routes) <= 4
    assert found.as_few_as_known() == {"neuralns": int(few), "HGS": 0}


def test_solvers_that_cannot_be_told_of_parts_are_left_out_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("VROOM", "PyVRP"):
        monkeypatch.setitem(peers.PEERS, name, ("os", one_by_one))
    optional = Instance("optional", [0, 1, 9], 2, [[0, 0], [0, 6], [8, 6]], prizes=[np.inf, 100, 1], best_known=13.0)
    said: list[str] = []
    found = compare_peers([optional], 1, 1, tmp_path / "peers.csv", say=said.append)
    assert said[0] == "left out: VROOM (knows no optional customers, which optional needs)"
    assert found.solvers == ("neuralns", "HGS", "PyVRP")


def test_means_by_class_of_size_and_who_is_ahead() -> None:
    gaps = {
        "small": {"a": 0.0, "b": 0.001},
        "middle": {"a": 1.0, "b": 2.0},
        "large": {"a": 4.0, "b": 3.0},
        "larger": {"a": 3.0, "b": 6.0},
    }
    customers = {"small": 100, "middle": 200, "large": 800, "larger": 1000}
    found = PeerComparison((), ("a", "b"), tuple(gaps), customers, gaps, {})
    assert found.sizes() == {"up to 100": ("small",), "101 to 200": ("middle",), "501 to 1000": ("large", "larger")}
    assert found.mean_of(gaps, ("large", "larger")) == {"a": 3.5, "b": 4.5}
    assert found.mean_of(gaps)["a"] == 2.0
    assert found.ahead() == {"a": 2, "b": 1}
