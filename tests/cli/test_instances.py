"""``neuralns instances``."""

from __future__ import annotations

from commands import invoke
from neuralns.problem.bundled import bundled_names


def test_every_bundled_instance_is_listed() -> None:
    listed = invoke("instances", "--json").json["instances"]
    assert [entry["name"] for entry in listed] == list(bundled_names())
    plain = {"name": "X-n101-k25", "customers": 100, "capacity": 206, "rounding": "round", "best_known": 27591}
    assert plain | {"windows": False} in listed
    assert [entry["windows"] for entry in listed if entry["name"] == "R101"] == [True]


def test_a_person_sees_a_table() -> None:
    lines = [line.split() for line in invoke("instances").stdout.splitlines()]
    assert lines[0] == ["name", "customers", "capacity", "windows", "rounding", "best", "known"]
    assert ["E-n22-k4", "21", "6000", "round", "375"] in lines
    assert ["RC101", "100", "200", "yes", "dimacs", "1619.80"] in lines
    assert len(lines) == 1 + len(bundled_names())
