"""``neuralns policy``."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from commands import invoke
from neuralns import portfolio_named
from neuralns.selection.learned_roulette import LearnedRoulette
from neuralns.selection.policy_file import Policy, write_policy

CARD = {
    "network": "small",
    "features": {"name": "rich", "version": 1},
    "operators": {"destroy": ["zone"], "repair": ["greedy"]},
    "validation_reward": 12.5,
    "command": "neuralns train [R101] 'a file.vrp' -o mine.policy",
    "notes": "made in the dark – é",
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.policy"
    write_policy(Policy(CARD, {"w": np.zeros((4, 3)), "b": np.zeros(2)}), path)
    return path


def test_the_card_is_printed_entry_by_entry(file: Path) -> None:
    outcome = invoke("policy", file)
    assert (outcome.code, outcome.stderr) == (0, "")
    lines = dict(line.split(": ", 1) for line in outcome.stdout.splitlines())
    assert lines["network"] == "small"
    assert lines["features"] == '{"name": "rich", "version": 1}'
    assert lines["operators"] == '{"destroy": ["zone"], "repair": ["greedy"]}'
    assert lines["validation reward"] == "12.5"
    assert lines["command"] == CARD["command"]
    assert lines["notes"] == CARD["notes"]
    assert lines["parameters"] == "14"


def test_the_card_is_one_json_object(file: Path) -> None:
    assert invoke("policy", file, "--json").json == {"format": 1, **CARD}


def test_a_learned_roulette_has_a_card_too(tmp_path: Path) -> None:
    portfolio = portfolio_named("random-route,random-node,greedy")
    write_policy(LearnedRoulette(portfolio.names, (1.0, 0.0, 1.0)).policy(portfolio), tmp_path / "wheel.policy")
    assert "network: lrw\n" in invoke("policy", tmp_path / "wheel.policy").stdout


def test_what_is_not_a_policy_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("not a policy")
    assert "text: is not a policy file, or is damaged" in invoke("policy", tmp_path / "text").refusal()
    assert re.search(r"absent: .*no such file", invoke("policy", tmp_path / "absent").refusal())
