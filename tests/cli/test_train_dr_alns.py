"""``neuralns train --controller --agent dr-alns``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from commands import invoke
from neuralns.selection.policy_file import read_policy

HOW = (
    "--controller", "--agent", "dr-alns", "--portfolio", "string,random-node,greedy", "--time", 0.03,
    "--minutes", 0.002,
)  # fmt: skip


@pytest.fixture(autouse=True)
def here(in_own_folder: None) -> None:
    pass


def test_it_writes_a_controller_that_solves() -> None:
    pytest.importorskip("stable_baselines3")
    outcome = invoke("train", "E-n22-k4", *HOW, "-o", "mine.policy")
    assert outcome.code == 0, outcome.stderr
    assert "controller written to mine.policy" in outcome.stdout
    assert "% below the start" in outcome.stderr
    card = read_policy("mine.policy").card
    assert (card["network"], card["kinds"], card["instances"]) == ("dr-alns", ["E-n22-k4"], ["E-n22-k4"])
    found = invoke("solve", "E-n22-k4", "--selector", "mine.policy", "--iterations", 200, "--json")
    assert found.code == 0, found.stderr
    assert '"selector": "mine.policy"' in found.stdout
    refused = invoke("train", "E-n22-k4", *HOW, "-o", "mine.policy")
    assert refused.code == 2
    assert "mine.policy: is there already; --force begins anew." in refused.stderr


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--minutes", 0), "--minutes 0 must be above 0."),
        (("--time", "nan"), "--time nan must be above 0."),
        (("--seed", -1), "seed -1 must be at least 0."),
        (("--agent", "clever"), "agent 'clever' is not known; choose dr-alns."),
        (("--resume",), "--resume does not go with --agent dr-alns."),
        (("--workers", 2), "--workers does not go with --agent dr-alns."),
        (("--sizes", "20,30"), "--sizes does not go with --agent dr-alns."),
        (("--generate", "cvrp"), "a controller is trained on instances, or on generated ones"),
        (("-o", "nowhere/mine.policy"), "nowhere"),
    ],
)
def test_what_cannot_be_is_refused_before_the_first_search(options: tuple[Any, ...], sentence: str) -> None:
    outcome = invoke("train", "E-n22-k4", *HOW, *options)
    assert outcome.code == 2
    assert sentence in re.sub(r"\s+", " ", outcome.stderr)
    assert not any(Path().iterdir())
