"""The policies that come with the package do what their cards say."""

from __future__ import annotations

import pytest

from commands import invoke
from neuralns.mdp.evaluate import evaluate
from neuralns.mdp.mdp import make_mdp
from neuralns.selection.default import TRIED
from neuralns.selection.policy_file import bundled_policies, read_policy

OF_THE_PAPER = [name for name in bundled_policies() if name not in TRIED]


def test_there_are_policies_for_each_of_the_papers_instances_and_settings_and_one_for_any_size() -> None:
    wanted = {f"{name}-20-{setting}" for name in ("C101", "R101", "RC101") for setting in ("paper", "distance")}
    ahead = {f"{name}-20-ahead" for name in ("C101", "R101", "RC101")}
    assert set(bundled_policies()) == wanted | ahead | {"gat-20-paper", *TRIED}
    assert invoke("policy").stdout.split() == list(bundled_policies())
    assert invoke("policy", "--json").json == list(bundled_policies())


@pytest.mark.parametrize("name", OF_THE_PAPER)
def test_a_card_says_where_a_policy_comes_from(name: str) -> None:
    card = read_policy(name).card
    assert card["command"].startswith("neuralns train ")
    assert card["finished"]
    assert {"network", "features", "setting", "scale", "budget", "sizes", "seed", "neuralns"} <= set(card)
    assert card["validation_reward"] > 0
    assert card["test_reward"] > 0


@pytest.mark.parametrize("name", OF_THE_PAPER)
def test_a_policy_is_as_good_as_its_card_says(name: str) -> None:
    card = read_policy(name).card
    (instance,) = card["instances"]
    mdp = make_mdp(instance.partition(":")[0], customers=20, setting=card["setting"])
    found = evaluate(mdp, name, seeds=1).reward_mean
    assert found == pytest.approx(card["test_reward"], rel=0.02)
    assert found > evaluate(mdp, "random", seeds=2).reward_mean


def test_the_gat_knows_no_size() -> None:
    mdp = make_mdp("R101", customers=60)
    assert (
        evaluate(mdp, "gat-20-paper", episodes=32, seeds=1).reward_mean
        > 1.5 * evaluate(mdp, "random", episodes=32, seeds=1).reward_mean
    )


@pytest.mark.parametrize("name", TRIED)
def test_the_card_of_a_controller_says_what_it_is_for_and_how_it_was_made(name: str) -> None:
    card = read_policy(name).card
    assert "make controller" in card["command"] or card["command"].startswith("neuralns train --controller")
    assert {"engine", "groups", "runs", "foretold"} <= set(card)
    assert set(card["for"]) == {"kinds", "customers", "seconds_per_customer"}
    assert "plain" not in card["for"]["kinds"]
