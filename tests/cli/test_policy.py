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
    "operators": {"destroy": ["zone", "pair"], "repair": ["greedy"]},
    "scale": [10, 10, 10],
    "finished": True,
    "validation_reward": 12.3456789,
    "command": "neuralns train [R101] 'a file.vrp' -o mine.policy",
    "notes": "made in the dark – é",
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.policy"
    write_policy(Policy(CARD, {"w": np.zeros((4, 3)), "b": np.zeros(2)}), path)
    return path


def test_the_card_is_a_table_of_names_and_words(file: Path) -> None:
    outcome = invoke("policy", file)
    assert (outcome.code, outcome.stderr) == (0, "")
    lines = dict(re.split(r"  +", line.strip(), maxsplit=1) for line in outcome.stdout.splitlines())
    assert lines["network"] == "small"
    assert (lines["features, name"], lines["features, version"]) == ("rich", "1")
    assert (lines["operators, destroy"], lines["operators, repair"]) == ("zone, pair", "greedy")
    assert lines["scale"] == "10 (3 times)"
    assert (lines["finished"], lines["validation reward"]) == ("yes", "12.3457")
    assert lines["command"] == CARD["command"]
    assert lines["notes"] == CARD["notes"]
    assert lines["parameters"] == "14"


def test_the_card_is_one_json_object(file: Path) -> None:
    assert invoke("policy", file, "--json").json == {"format": 1, **CARD}


def test_a_learned_roulette_has_a_card_too(tmp_path: Path) -> None:
    portfolio = portfolio_named("random-route,random-node,greedy")
    write_policy(LearnedRoulette(portfolio.names, (1.0, 0.0, 1.0)).policy(portfolio), tmp_path / "wheel.policy")
    assert re.search(r"^network +lrw *$", invoke("policy", tmp_path / "wheel.policy").stdout, re.MULTILINE)


def test_what_is_not_a_policy_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("not a policy")
    assert "text: is not a policy file, or is damaged" in invoke("policy", tmp_path / "text").refusal()
    assert re.search(r"absent: .*no such file", invoke("policy", tmp_path / "absent").refusal())
