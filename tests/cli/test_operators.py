"""``neuralns operators``."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import invoke, spawn
from neuralns.operators.portfolio import portfolio_named, portfolio_names
from neuralns.operators.registry import operators

OWN = '''
import neuralns


@neuralns.destroy("mine")
def mine(state, quota, again=2):
    """Remove whom I like."""
'''


def test_every_operator_is_listed_with_what_it_does() -> None:
    listed = invoke("operators", "--json").json
    assert listed["operators"] == [
        {
            "name": entry.name,
            "phase": entry.phase,
            "class": entry.kind,
            "summary": entry.summary,
            "parameters": dict(entry.parameters),
        }
        for entry in operators()
    ]
    assert listed["portfolios"] == {name: list(portfolio_named(name).names) for name in portfolio_names()}


def test_a_person_sees_a_table() -> None:
    outcome = invoke("operators")
    assert outcome.stdout.split()[:3] == ["name", "phase", "class"]
    assert all(entry.name in outcome.stdout for entry in operators())
    assert "longest=10" in outcome.stdout


def test_a_person_sees_the_members_of_each_portfolio() -> None:
    lines = " ".join(invoke("operators").stdout.split())
    for name in ("modern", "modern-all", "paper"):
        assert f"{name} {', '.join(portfolio_named(name).names)} " in lines
    assert "paper-2 to paper-12 the first so many destroy operators of paper" in lines


def test_operators_of_ones_own_are_listed_last_of_their_phase(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN)
    listed = spawn("operators", "--operators", tmp_path / "own.py", "--json").json["operators"]
    phases = [entry["phase"] for entry in listed]
    assert phases == sorted(phases, key=("destroy", "repair", "improve").index)
    destroys = [entry for entry in listed if entry["phase"] == "destroy"]
    assert destroys[-1] == {
        "name": "mine",
        "phase": "destroy",
        "class": "own",
        "summary": "Remove whom I like.",
        "parameters": {"again": 2.0},
    }


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (None, "cannot be read (no such file)."),
        ("", "registers no operator (use neuralns.destroy, neuralns.repair or neuralns.improve)."),
        ("1 / 0", "fails when run (ZeroDivisionError: division by zero)."),
    ],
)
def test_a_file_without_operators_is_refused(tmp_path: Path, text: str | None, sentence: str) -> None:
    if text is not None:
        (tmp_path / "own.py").write_text(text)
    assert invoke("operators", "--operators", tmp_path / "own.py").refusal().endswith(f"own.py: {sentence}")
