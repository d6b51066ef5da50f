"""Learning from labelled states."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from neuralns import InputError, read_policy, train
from neuralns.learning.labelled import LabelConfig, train_labelled
from neuralns.mdp.baselines import best_fixed_pair
from neuralns.mdp.evaluate import evaluate
from neuralns.mdp.mdp import make_mdp
from neuralns.selection.look_ahead import LookAhead

FEW = LabelConfig(states=4000, hidden=(32,), epochs=8, margins=(0.1, 0.3, 1.0))
MDP = make_mdp("C101", customers=20, setting="paper", portfolio="random-node,cluster,greedy-route,greedy,regret-2")


def test_a_policy_that_looks_ahead_beats_the_best_fixed_pair() -> None:
    policies = train_labelled(MDP, [0, 1], FEW)
    fixed = evaluate(MDP, best_fixed_pair(MDP), seeds=2).reward_mean
    for policy in policies.values():
        assert evaluate(MDP, LookAhead(policy, 0.0), seeds=2).reward_mean > fixed + 5
        assert policy.card["margin"] in FEW.margins
    first, second = (policy.tensors["layers.0.weight"] for policy in policies.values())
    assert not np.array_equal(first, second)


def test_a_value_network_is_learned_where_the_base_leaves_something_to_chance() -> None:
    few = replace(FEW, states=2000, margins=(0.0,))
    chance = make_mdp("C101", customers=20, setting="paper", portfolio="random-node,random-route,greedy,regret-2")
    with_one, without = (train_labelled(chance, [0], replace(few, value=value))[0] for value in (True, False))
    assert not np.array_equal(with_one.tensors["layers.0.weight"], without.tensors["layers.0.weight"])
    assert evaluate(chance, LookAhead(with_one, 0.0), seeds=2).reward_mean > evaluate(chance, "random").reward_mean
    # Nothing is left to chance where the base is greedy-route: no network could tell better than simulating.
    exact, same = (train_labelled(MDP, [0], replace(few, value=value))[0] for value in (True, False))
    assert np.array_equal(exact.tensors["layers.0.weight"], same.tensors["layers.0.weight"])


def test_features_can_be_chosen() -> None:
    few = replace(FEW, states=200, margins=(0.0,))
    for name, features in (("routes", None), ("rich", "rich")):
        policy = train_labelled(MDP, [0], replace(few, features=features))[0]
        assert policy.card["features"]["name"] == name
    with pytest.raises(InputError, match="feature set 'poor' is not known"):
        train_labelled(MDP, [0], replace(few, features="poor"))


def test_same_seed_same_policy() -> None:
    once, again = (train_labelled(MDP, [3], replace(FEW, states=200))[3] for _ in range(2))
    assert once.card == again.card
    for name, values in once.tensors.items():
        assert np.array_equal(values, again.tensors[name])


def test_a_seed_does_not_depend_on_the_others_beside_it() -> None:
    few = replace(FEW, states=200, margins=(0.0,))
    pair, three = train_labelled(MDP, [0, 1], few), train_labelled(MDP, [0, 1, 2], few)
    for name, values in pair[1].tensors.items():
        assert np.allclose(values, three[1].tensors[name], atol=1e-4)


def test_it_is_a_network_among_others(tmp_path: Path) -> None:
    output = tmp_path / "mine.policy"
    done = train(
        "C101", output, network="ahead", preset="paper", customers=20, portfolio="paper-3", seeds=2, states=200,
        hidden=(16,), epochs=2, margins=(0.0,),
    )  # fmt: skip
    assert [Path(name).name for name in done.written] == ["mine.policy", "mine.seed-0.policy", "mine.seed-1.policy"]
    kept = read_policy(output)
    assert kept.network == "ahead"
    assert kept.card["validation_reward"] == max(score for score in done.validation if score is not None)
    assert kept.card["training"]["hidden"] == [16]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"steps": 5}, "no 'steps' to set"),
        ({"start": "search"}, "start 'search' does not go with network 'ahead'"),
        ({"device": "cuda"}, "device 'cuda' does not go"),
        ({"threads": 2}, "threads 2 does not go"),
        ({"states": 1}, "states 1 must be at least 4"),
        ({"epochs": 0}, "epochs 0 must be at least 1"),
        ({"hidden": (5000,)}, "from 1 to 4096 wide"),
        ({"margins": ()}, "at least one margin"),
    ],
)
def test_what_it_does_not_know_is_refused(changes: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        train("C101", network="ahead", preset="paper", customers=20, portfolio="paper-3", **changes)  # type: ignore[arg-type]


def test_it_is_trained_on_one_instance() -> None:
    with pytest.raises(InputError, match="on one instance"):
        train(["C101", "R101"], network="ahead", preset="paper", customers=20)
