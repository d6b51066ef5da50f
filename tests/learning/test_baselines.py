"""What a trained policy is measured by."""

from __future__ import annotations

import pytest

from agents import short
from neuralns import make_mdp
from neuralns.learning.baselines import baselines_of, most_used_pair
from neuralns.learning.run import run
from neuralns.learning.starts import make_tasks
from neuralns.mdp.evaluate import evaluate
from policies import constant_policy

PORTFOLIO = "zone,greedy-route,greedy,regret-2"
MDP = make_mdp("C101", customers=20, portfolio=PORTFOLIO, budget=3)
(TASK,) = make_tasks([MDP], [0], "random", 8)


def test_random_selection_and_the_best_pair_play_the_validation_tours() -> None:
    baselines = baselines_of(TASK)
    tours = MDP.start_tours("validate")
    assert baselines.random == pytest.approx(evaluate(MDP, "random", tours=tours, seeds=5).reward_mean, rel=0.1)
    pair = evaluate(MDP, "fixed:" + ",".join(baselines.pair), tours=tours, seeds=5).reward_mean
    assert baselines.best_fixed == pytest.approx(pair, rel=0.1)
    assert baselines.pair[0] == "greedy-route"


def test_a_policy_that_chooses_one_pair_is_seen_through() -> None:
    use = most_used_pair(TASK, constant_policy(PORTFOLIO, (1.0, 2.0, 1.0, 2.0)))
    assert (use.destroy, use.repair, use.share, use.always) == ("greedy-route", "regret-2", 1.0, True)


def test_a_policy_of_one_pair_gains_what_the_pair_gains() -> None:
    mdp = make_mdp("C101", customers=20, portfolio="zone,greedy", budget=3)
    done = run([mdp], short(steps=10, validate_every=10))
    assert done.marks is not None
    assert done.validation[0] == pytest.approx(done.marks.best_fixed)
    assert done.pairs[0].always
