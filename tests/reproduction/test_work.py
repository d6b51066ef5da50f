"""What the jobs of the paper's experiments do."""

from __future__ import annotations

import json
import statistics
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from neuralns import MDP, Roulette, Uniform, evaluate
from neuralns.experiments.jobs import Job
from neuralns.learning.dqn import preset
from neuralns.mdp.baselines import best_fixed_pair, train_roulette
from neuralns.mdp.in_search import evaluate_in_search
from neuralns.reproduction.plan import CLASSIC_GRID, DQN_GRID, EXPERIMENTS, GAT, GRAPH, ROULETTE_GRID, Plan
from neuralns.reproduction.rounds import main_jobs, tuning_jobs
from neuralns.reproduction.work import (
    decision_time,
    dqn_config,
    judge_policies,
    large_mdp,
    mdp_of,
    train_policies,
    work,
)
from neuralns.selection.policy import DEFAULT_TEMPERATURE, PolicySelector
from plans import CHOICES, TINY


def job_of(kind: str, plan: Plan = TINY, **wanted: Any) -> Job:
    """The first job of a kind with the given settings."""
    jobs = [*tuning_jobs(EXPERIMENTS, plan), *main_jobs(EXPERIMENTS, plan, CHOICES)]
    return next(job for job in jobs if job.kind == kind and wanted.items() <= job.settings.items())


def test_the_mdp_is_the_papers() -> None:
    mdp = mdp_of({"setting": "distance", "instance": "RC", "destroys": 5, "scale": 6})
    assert (mdp.instance.name, mdp.instance.customers, mdp.setting, mdp.scale) == ("RC101:20", 20, "distance", 6)
    assert (mdp.portfolio.name, len(mdp.portfolio.destroys), len(mdp.portfolio.repairs)) == ("paper-5", 5, 2)
    larger = mdp_of({"setting": "paper", "instance": "C"}, customers=60)
    assert (larger.instance.customers, larger.scale, len(larger.portfolio.destroys)) == (60, 12, 12)


def in_search(mdp: MDP, agent: Any) -> dict[str, Any]:
    """F over the 20 iterations of ALNS, and the best one, means over four tours for each of two seeds."""
    found = evaluate_in_search(mdp, agent, pairs=20, episodes=4, seeds=2)
    parts = (("avg", found.courses), ("min", found.costs))
    return {name: [pytest.approx(float(np.mean(each)), abs=1e-4) for each in values] for name, values in parts}


def played_twice(mdp: MDP, selector: Any, seed: int) -> float:
    """The mean reward of a seed on four test tours that are played twice, with other chance."""
    return evaluate(mdp, selector, episodes=4, seeds=[seed, seed + 10**6]).reward_mean


def test_jobs_of_baselines_give_what_the_agents_earn() -> None:
    settings = job_of("baselines", instance="R", destroys=2).settings
    mdp, found = mdp_of(settings), work("baselines", settings)
    some: dict[str, Any] = {"episodes": 4, "seeds": 2}
    assert found["mdp"]["RAN"] == pytest.approx(evaluate(mdp, "random", **some).rewards.mean(axis=1), abs=1e-4)
    pair = best_fixed_pair(mdp)
    assert found["mdp"]["FIXED"] == [pytest.approx(played_twice(mdp, pair, seed), abs=2e-4) for seed in range(2)]
    assert found["pair"] == [pair.destroy, pair.repair]
    wheels = {seed: train_roulette(mdp, seed, episodes=20, segment=20, reaction=0.9) for seed in range(2)}
    for seed, wheel in wheels.items():
        alone = evaluate(mdp, wheel, episodes=4, seeds=[seed])
        assert found["mdp"]["LRW"][seed] == pytest.approx(alone.reward_mean, abs=1e-4)
    agents: dict[str, Any] = {"RAN": Uniform(), "CRW": Roulette(segment=5, reaction=0.1), "FIXED": pair, "LRW": wheels}
    assert set(found["search"]) == set(agents)
    for name, agent in agents.items():
        assert found["search"][name] == in_search(mdp, agent)


def test_seeds_that_are_named_give_what_they_give_among_others() -> None:
    settings = job_of("baselines", instance="R", destroys=2).settings
    all_three, named = (work("baselines", {**settings, "seeds": seeds}) for seeds in ([0, 1, 2], [2, 0]))
    for part in ("mdp", "search"):
        for agent, found in named[part].items():
            pairs = [(found, all_three[part][agent])]
            if part == "search":
                pairs = [(found[name], all_three[part][agent][name]) for name in ("avg", "min")]
            for some, whole in pairs:
                assert some == [whole[2], whole[0]]


def test_jobs_of_networks_give_what_the_policies_earn_at_all_temperatures() -> None:
    settings = job_of("dqn", instance="C", destroys=12, setting="distance", scale=4).settings
    (policies,) = train_policies([settings], settings["config"])
    found, mdp = work("dqn", settings), mdp_of(settings)
    assert found == judge_policies(settings, policies)
    assert set(found["temperature"]) == {"0.01", "100"}
    for seed, policy in policies.items():
        greedy = played_twice(mdp, PolicySelector(policy, 0.0), seed)
        assert found["mdp"]["DQN"][seed] == pytest.approx(greedy, abs=2e-4)
    parts = ((found["search"]["DQN"], DEFAULT_TEMPERATURE), (found["temperature"]["100"], 100.0))
    for statistic, temperature in parts:
        selectors = {seed: PolicySelector(policy, temperature) for seed, policy in policies.items()}
        assert statistic == in_search(mdp, selectors)
    assert work("dqn", {**settings, "temperatures": []})["temperature"] == {}


def test_graph_networks_are_trained_at_20_customers_and_judged_at_all_sizes() -> None:
    settings = {**job_of("gat").settings, "seeds": [1]}
    (policies,) = train_policies([{**settings, "scale": 4}], settings["config"])
    assert (policies[1].network, policies[1].card["sizes"], policies[1].card["seed"]) == ("gat", [20], 1)
    found = work("gat", settings)["sizes"]
    assert list(found) == ["20", "25"]
    for size, scale in ((20, 4), (25, 5)):
        mdp = mdp_of(settings, customers=size)
        assert (mdp.instance.customers, mdp.scale) == (size, scale)
        greedy = evaluate(mdp, PolicySelector(policies[1], 0.0), episodes=4, seeds=[1])
        assert found[str(size)] == {"DQN": [pytest.approx(greedy.reward_mean, abs=1e-4)]}


@pytest.mark.parametrize(("name", "kind"), [("C", "clustered"), ("R", "random"), ("RC", "mixed")])
def test_large_instances_are_generated_in_the_manner_of_the_others(name: str, kind: str) -> None:
    mdp, like = large_mdp({"setting": "paper", "instance": name}, 200), mdp_of({"setting": "paper", "instance": name})
    assert (mdp.instance.name, mdp.instance.customers, mdp.scale) == (f"{kind}-n201-s0 (paper)", 200, 40)
    assert mdp.instance.capacity / 200 == like.instance.capacity / 20
    assert mdp.portfolio == like.portfolio


def test_our_graph_network_is_chosen_at_other_sizes_too_and_meets_large_instances() -> None:
    settings = job_of("graph", instance="RC", seeds=[1]).settings
    policy = train_policies([{**settings, "scale": 4}], settings["config"])[0][1]
    assert policy.card["validation_sizes"] == [15]
    found = work("graph", settings)
    greedy = PolicySelector(policy, 0.0)
    for part, mdp, tours in (("sizes", mdp_of(settings, customers=25), 4), ("large", large_mdp(settings, 30), 2)):
        reward = evaluate(mdp, greedy, episodes=tours, seeds=[1]).reward_mean
        assert found[part][str(mdp.instance.customers)] == {"GNN+": [pytest.approx(reward, abs=1e-4)]}


def leaves(value: Any) -> list[list[float]]:
    """All lists of numbers in a result."""
    if isinstance(value, dict):
        return [found for each in value.values() for found in leaves(each)]
    return [value] if all(isinstance(entry, float) for entry in value) else []


@pytest.mark.parametrize(
    ("kind", "count", "each"),
    [
        # Agents and statistics that have values, and how many: one for each seed, or for each choice or cell.
        ("dqn", 1 + 2, 2),
        ("baselines", 3 + 2 * 4, 2),
        ("oracle", 1, 2),
        ("gat", 2, 1),
        ("graph", 2 + 1, 1),
        ("sizes", 2 * 3, 2),
        ("large", 3, 2),
        ("large-oracle", 1, 2),
        ("tune-dqn", 1, 3),
        ("tune-wheels", 2, 12),
    ],
)
def test_a_job_gives_plain_values_for_each_seed_and_the_same_every_time(kind: str, count: int, each: int) -> None:
    settings = job_of(kind).settings
    found = work(kind, settings)
    assert [len(values) for values in leaves(found)] == [each] * count
    assert np.isfinite(leaves(found)).all()
    assert json.loads(json.dumps(found)) == found
    assert work(kind, json.loads(json.dumps(settings))) == found


@pytest.mark.parametrize("kind", ["tune-dqn", "tune-wheels", "dqn", "baselines"])
def test_choices_are_made_without_the_test_tours(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    asked: set[str] = set()
    start_tours = MDP.start_tours

    def recorded(mdp: MDP, name: str, *options: Any) -> Any:
        asked.add(name)
        return start_tours(mdp, name, *options)

    monkeypatch.setattr(MDP, "start_tours", recorded)
    work(kind, job_of(kind).settings)
    assert {"validate", "test"} & asked
    assert ("test" in asked) == (not kind.startswith("tune"))


def test_wheels_are_tuned_by_their_validation_scores() -> None:
    settings = {**job_of("tune-wheels").settings, "learned": ROULETTE_GRID[:2], "classic": CLASSIC_GRID[:2]}
    found, mdp = work("tune-wheels", settings), mdp_of(settings)
    for index in range(2):
        scores = [
            evaluate(
                mdp, train_roulette(mdp, seed, episodes=20, segment=20, reaction=ROULETTE_GRID[index]["reaction"]),
                tours="validate", episodes=4, seeds=[seed],
            ).reward_mean
            for seed in range(2)
        ]  # fmt: skip
        assert found["LRW"][index] == pytest.approx(statistics.mean(scores), abs=1e-4)
        wheel: Any = CLASSIC_GRID[index]
        classic = evaluate_in_search(mdp, Roulette(**wheel), tours="validate", episodes=4, seeds=2)
        assert found["CRW"][index] == pytest.approx(classic.average)


# --- Training. -------------------------------------------------------------------------------------------------------


def test_a_whole_training_has_the_papers_configuration() -> None:
    assert dqn_config({**DQN_GRID["paper"], "share": 1.0}) == preset("paper", "mlp")
    assert dqn_config({**GAT, "share": 1}) == preset("paper", "gat")
    assert dqn_config({**GRAPH, "share": 1, "validation_sizes": [30]}) == preset("graph", "gat")


def test_changes_and_a_share_of_the_steps_reach_the_configuration() -> None:
    entries = {"preset": "strong", "network": "small", "hidden": [8, 4], "steps": 10_000, "tours": 2000}
    whole, part = (dqn_config({**entries, "share": share}) for share in (1.0, 0.02))
    assert whole == replace(preset("strong", "small"), hidden=(8, 4), steps=10_000, tours=2000)
    assert part == replace(whole, steps=200, validate_every=100, tours=64)
    assert dqn_config({**entries, "share": 0.0001}).steps == 40
    assert entries["hidden"] == [8, 4]


@pytest.mark.parametrize("name", DQN_GRID)
def test_every_choice_of_the_grid_is_a_configuration(name: str) -> None:
    config = dqn_config({**DQN_GRID[name], "share": 1.0})
    assert config.steps >= 10_000
    assert config == dqn_config(json.loads(json.dumps({**DQN_GRID[name], "share": 1.0})))


@pytest.mark.parametrize("network", ["small", "mlp"])
def test_cells_trained_side_by_side_learn_what_each_learns_alone(network: str) -> None:
    config = {**CHOICES["DQN", "paper"], "network": network}
    about = {"setting": "paper", "destroys": 5, "scale": 4, "tours": 4, "temperatures": []}
    cells = [
        {**about, "instance": "C", "seeds": [0, 1]},
        {**about, "instance": "R", "seeds": [0, 3], "scale": 2},
        {**about, "instance": "C", "seeds": [2], "setting": "distance"},
    ]
    together = train_policies(cells, config)
    assert [list(group) for group in together] == [[0, 1], [0, 3], [2]]
    for cell, group in zip(cells, together, strict=True):
        (alone,) = train_policies([cell], config)
        for seed, policy in alone.items():
            assert group[seed].card["validation_reward"] == pytest.approx(policy.card["validation_reward"], rel=1e-9)
            for name, values in policy.tensors.items():
                np.testing.assert_allclose(group[seed].tensors[name], values, rtol=1e-3, atol=1e-4)


def test_cells_of_other_portfolios_are_trained_side_by_side() -> None:
    cells = [
        {"setting": "paper", "instance": "C", "destroys": destroys, "scale": 4, "seeds": [0, 1]} for destroys in (2, 5)
    ]
    for cell, group in zip(cells, train_policies(cells, CHOICES["DQN", "paper"]), strict=True):
        found = judge_policies({**cell, "tours": 4, "plays": 1, "pairs": 20, "temperatures": [1.0]}, group)
        assert np.isfinite(leaves(found)).all()
        assert len(found["mdp"]["DQN"]) == 2


def test_decisions_take_time() -> None:
    mdp = mdp_of({"instance": "C", "setting": "distance", "destroys": 2})
    assert 0 < decision_time(mdp, Uniform(), repeats=50) < 1e-3
