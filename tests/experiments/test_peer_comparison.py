"""Neuralns beside other solvers: which run, and what their gaps amount to."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from neuralns import InputError, Instance, read, savings
from neuralns.experiments import peer_comparison
from neuralns.experiments.peer_comparison import PeerComparison, compare_peers

INSTANCES = [read("E-n22-k4"), read("P-n16-k8")]


def by_savings(instance: Instance, seconds: float, seed: int) -> list[list[int]]:
    return [list(route) for route in savings(instance).routes]


def one_by_one(instance: Instance, seconds: float, seed: int) -> list[list[int]]:
    return [[customer] for customer in range(1, instance.customers + 1)]


@pytest.fixture(autouse=True)
def staged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simple solvers in place of the others; one is not installed."""
    peers = {"neuralns": (None, by_savings), "HGS": ("os", one_by_one), "absent": ("no_such_module", one_by_one)}
    monkeypatch.setattr(peer_comparison, "PEERS", peers)
    monkeypatch.setattr(peer_comparison, "installed_peers", lambda: ["neuralns", "HGS"])


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
        (None, replace(INSTANCES[0], best_known=None), "E-n22-k4: no best known cost to compare with"),
        (None, replace(INSTANCES[0], vehicle_cost=7.0), "E-n22-k4: other solvers are not told of its vehicle cost 7."),
    ):
        with pytest.raises(InputError) as refusal:
            compare_peers([instance], 1, 1, path, names)
        assert str(refusal.value).startswith(sentence)
    assert not path.exists()
