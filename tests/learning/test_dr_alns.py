"""Training of DR-ALNS by PPO: its network leaves torch for a policy file and stays the same."""

from __future__ import annotations

import numpy as np
import pytest

from neuralns import InputError, read
from neuralns.learning import dr_alns
from neuralns.learning.dr_alns import Standing, policy_of, train_dr_alns
from neuralns.mdp.steering import Steering
from neuralns.operators.portfolio import portfolio_named
from neuralns.selection.dr_alns import FEATURES, DrAlns

PORTFOLIO = portfolio_named("string,random-node,greedy")


def test_a_training_ends_in_a_policy(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("stable_baselines3")
    monkeypatch.setattr(dr_alns, "SEGMENTS", 64)
    stood: list[Standing] = []
    found = train_dr_alns(
        lambda number: read("E-n22-k4"), PORTFOLIO, 0.01, (0.03, 0.05), card={"kinds": ["E-n22-k4"]},
        watch=lambda standing: stood.append(standing),
    )  # fmt: skip
    assert stood[-1].seconds >= 0.6
    assert [standing.episodes for standing in stood] == list(range(1, len(stood) + 1))
    assert stood[-1].saving > 0
    assert (found.network, found.card["kinds"], found.card["seconds"]) == ("dr-alns", ["E-n22-k4"], [0.03, 0.05])
    assert len(found.card["rewards"]) == 10
    agent = DrAlns(found)
    assert [part.size for part in agent.logits(np.zeros(len(FEATURES)))] == [2, 1, 10, 10]
    short = train_dr_alns(
        lambda number: read("E-n22-k4"), PORTFOLIO, 9.0, (0.03, 0.05), watch=lambda standing: "enough"
    )
    assert short.card["training"]["episodes"] == 1


def test_the_network_of_a_file_is_that_of_the_agent() -> None:
    sb3 = pytest.importorskip("stable_baselines3")
    import torch

    env = Steering(lambda number: read("E-n22-k4"), PORTFOLIO, (0.1, 0.1))
    agent = sb3.PPO("MlpPolicy", env, seed=3, device="cpu", policy_kwargs={"net_arch": [16, 12]})
    with torch.no_grad():
        agent.policy.action_net.weight.normal_()
        agent.policy.action_net.bias.normal_()
    mine = DrAlns(policy_of(agent, PORTFOLIO, [], {}))
    for features in np.random.default_rng(1).uniform(0, 3, (5, len(FEATURES))):
        given = torch.as_tensor(features[None], dtype=torch.float32)
        theirs = [part.probs.detach().numpy()[0] for part in agent.policy.get_distribution(given).distribution]
        for one, other in zip(mine.logits(features), theirs, strict=True):
            shares = np.exp(one - one.max())
            assert shares / shares.sum() == pytest.approx(other, abs=1e-5)


def test_without_the_extra_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dr_alns, "find_spec", lambda name: None)
    with pytest.raises(InputError, match="training DR-ALNS needs stable-baselines3"):
        train_dr_alns(lambda number: read("E-n22-k4"), PORTFOLIO, 1.0, (1.0, 1.0))
