"""The paper's experiments: which jobs they are, what a job does, and tables against numbers worked out otherwise."""

from __future__ import annotations

import json
import math
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import astuple, replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.stats import sem, t

import chores
from neuralns import MDP, InputError, Roulette, Uniform, evaluate
from neuralns.experiments import paper
from neuralns.experiments.jobs import Job
from neuralns.experiments.paper import (
    CLASSIC_GRID,
    DQN_GRID,
    EXPERIMENTS,
    FULL,
    INSTANCES,
    QUICK,
    ROULETTE_GRID,
    Objective,
    Plan,
    Reward,
    ScaleReward,
    SizeReward,
    Tables,
    TemperatureObjective,
    choose,
    dqn_config,
    judge_policies,
    main_jobs,
    make_tables,
    mdp_of,
    train_policies,
    tuning_jobs,
    work,
)
from neuralns.learning.dqn import preset
from neuralns.mdp.baselines import best_fixed_pair, train_roulette
from neuralns.mdp.in_search import evaluate_in_search
from neuralns.mdp.mdp import SETTINGS
from neuralns.selection.policy import DEFAULT_TEMPERATURE, PolicySelector

TINY = Plan(
    seeds=2, tours=4, destroys=(2, 12), sizes=(20, 25), scales=(2, 4), temperatures=(0.01, 100.0), rollouts=1,
    episodes=20, share=0.001, tuning_seeds=2, tuning_destroys=(2,),
)  # fmt: skip
CHOICES: dict[tuple[str, str], Any] = {
    (agent, setting): choice
    for setting in SETTINGS
    for agent, choice in (
        ("LRW", {"segment": 20, "reaction": 0.9}),
        ("CRW", {"segment": 5, "reaction": 0.1}),
        ("DQN", {"preset": "paper", "network": "small", "hidden": [8], "share": 0.001}),
    )
}


def names(jobs: Sequence[Job]) -> list[str]:
    return [job.name for job in jobs]


# --- Which jobs. -----------------------------------------------------------------------------------------------------


def test_the_first_round_tries_every_choice_on_every_instance_in_every_setting() -> None:
    jobs = tuning_jobs(EXPERIMENTS, FULL)
    assert Counter(job.kind for job in jobs) == {"tune-dqn": 2 * 4, "tune-wheels": 2 * 3 * 2}
    assert len(set(names(jobs))) == len(jobs)
    wheels = [job.settings for job in jobs if job.kind == "tune-wheels"]
    assert {(job["setting"], job["instance"], job["destroys"]) for job in wheels} == set(
        product(SETTINGS, INSTANCES, (5, 12))
    )
    assert all(len(job["learned"]) == len(job["classic"]) == 12 for job in wheels)


def test_the_second_round_has_every_agent_in_every_cell() -> None:
    jobs = main_jobs(EXPERIMENTS, FULL, CHOICES)
    cells = len(SETTINGS) * len(INSTANCES) * 11
    # Destroy scale 4 is that of the tables; the oracle is not asked for at others.
    more_scales = len(INSTANCES) * 4
    assert Counter(job.kind for job in jobs) == {
        "gat": 2 * 3, "sizes": 3, "dqn": cells + more_scales, "baselines": cells + more_scales, "oracle": cells
    }  # fmt: skip
    assert len(set(names(jobs))) == len(jobs) == 231
    for kind in ("dqn", "oracle", "baselines"):
        about = [job.settings for job in jobs if job.kind == kind and job.settings["scale"] == 4]
        assert {(job["setting"], job["instance"], job["destroys"]) for job in about} == set(
            product(SETTINGS, INSTANCES, range(2, 13))
        )
    others = [job.settings for job in jobs if job.kind == "dqn" and job.settings["scale"] != 4]
    assert {(job["setting"], job["instance"], job["destroys"], job["scale"]) for job in others} == set(
        product(("paper",), INSTANCES, (12,), (2, 6, 8, 10))
    )
    assert all(job.settings["seeds"] == list(range(10)) for job in jobs if job.kind != "gat")
    assert all(job.settings["tours"] == 128 for job in jobs)


def test_long_jobs_come_first() -> None:
    kinds = [job.kind for job in main_jobs(EXPERIMENTS, FULL, CHOICES)]
    ranks = [{"gat": 0, "dqn": 1, "oracle": 2, "baselines": 3, "sizes": 3}[kind] for kind in kinds]
    assert ranks == sorted(ranks)


@pytest.mark.parametrize("seeds", [1, 2, 3, 10])
def test_graph_networks_are_trained_in_two_halves_that_have_all_seeds(seeds: int) -> None:
    jobs = [job for job in main_jobs(("scaling",), replace(FULL, seeds=seeds), CHOICES) if job.kind == "gat"]
    for instance in INSTANCES:
        halves = [job.settings["seeds"] for job in jobs if job.settings["instance"] == instance]
        assert [seed for half in halves for seed in half] == list(range(seeds))
        assert len(halves) == min(2, seeds)


def test_temperatures_are_tried_with_the_whole_portfolio_only() -> None:
    for job in main_jobs(("table1",), FULL, CHOICES):
        if job.kind == "dqn":
            asked = [0.01, 0.1, 1.0, 10.0, 100.0] if job.settings["destroys"] == 12 else []
            assert job.settings["temperatures"] == asked


@pytest.mark.parametrize("plan", [FULL, QUICK, TINY])
@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_a_job_is_the_same_alone_and_among_all(experiment: str, plan: Plan) -> None:
    tuning, main = tuning_jobs((experiment,), plan), main_jobs((experiment,), plan, CHOICES)
    assert set(names(tuning)) <= set(names(tuning_jobs(EXPERIMENTS, plan)))
    assert set(names(main)) <= set(names(main_jobs(EXPERIMENTS, plan, CHOICES)))
    assert main


def test_both_tables_are_made_from_the_same_jobs() -> None:
    assert names(main_jobs(("table1",), FULL, CHOICES)) == names(main_jobs(("table2",), FULL, CHOICES))
    assert names(main_jobs(("table1", "table2"), FULL, CHOICES)) == names(main_jobs(("table1",), FULL, CHOICES))


def test_there_are_as_many_jobs_before_the_choices_are_made() -> None:
    for experiment in (*((name,) for name in EXPERIMENTS), EXPERIMENTS):
        assert len(main_jobs(experiment, QUICK, None)) == len(main_jobs(experiment, QUICK, CHOICES))


def test_other_choices_are_other_jobs() -> None:
    other = {**CHOICES, ("LRW", "paper"): {"segment": 50, "reaction": 0.9}}
    changed = {
        (one.kind, one.settings["setting"])
        for one, two in zip(main_jobs(EXPERIMENTS, QUICK, CHOICES), main_jobs(EXPERIMENTS, QUICK, other), strict=True)
        if one.name != two.name
    }
    assert changed == {("baselines", "paper"), ("sizes", "paper")}


def test_jobs_are_plain_values() -> None:
    for job in (*tuning_jobs(EXPERIMENTS, FULL), *main_jobs(EXPERIMENTS, FULL, CHOICES)):
        assert Job(job.kind, json.loads(json.dumps(job.settings))).name == job.name


def test_a_plan_needs_a_seed() -> None:
    with pytest.raises(InputError, match=r"^0 seeds asked for; at least 1 is needed\.$"):
        Plan(seeds=0)


# --- Choices. --------------------------------------------------------------------------------------------------------


def tuning_results(plan: Plan, best: Mapping[tuple[str, str], int]) -> dict[str, Any]:
    """Made-up scores in which the given choice of each agent and setting is best on average, though not everywhere."""
    rng = np.random.default_rng(1)
    results: dict[str, Any] = {}
    tried: Counter[str] = Counter()
    for job in tuning_jobs(EXPERIMENTS, plan):
        setting = job.settings["setting"]
        if job.kind == "tune-dqn":
            scores = rng.uniform(300, 310, 3 * len(plan.tuning_destroys))
            if tried[setting] == best["DQN", setting]:
                scores += 20
                scores[0] -= 21
            tried[setting] += 1
            results[job.name] = scores.tolist()
        else:
            learned, classic = rng.uniform(200, 210, 12), rng.uniform(100, 110, 12)
            bonus = -5 if job.settings["instance"] == "C" else 30
            learned[best["LRW", setting]] += bonus
            classic[best["CRW", setting]] -= bonus
            results[job.name] = {"LRW": learned.tolist(), "CRW": classic.tolist()}
    return results


BEST = {
    ("DQN", "paper"): 2, ("DQN", "distance"): 1, ("LRW", "paper"): 0, ("LRW", "distance"): 7, ("CRW", "paper"): 11,
    ("CRW", "distance"): 4,
}  # fmt: skip


def test_the_best_on_average_is_chosen_where_f_is_to_be_small_and_rewards_large() -> None:
    choices, rows = choose(EXPERIMENTS, FULL, tuning_results(FULL, BEST))
    assert choices == {
        ("LRW", "paper"): ROULETTE_GRID[0],
        ("LRW", "distance"): ROULETTE_GRID[7],
        ("CRW", "paper"): CLASSIC_GRID[11],
        ("CRW", "distance"): CLASSIC_GRID[4],
        ("DQN", "paper"): {**DQN_GRID["pooled features"], "share": 1.0},
        ("DQN", "distance"): {**DQN_GRID["rich features"], "share": 1.0},
    }
    assert Counter((row.agent, row.setting) for row in rows) == {
        (agent, setting): count for agent, count in (("LRW", 12), ("CRW", 12), ("DQN", 4)) for setting in SETTINGS
    }
    for agent, setting in BEST:
        own = [row for row in rows if (row.agent, row.setting) == (agent, setting)]
        (chosen,) = (row for row in own if row.chosen)
        assert own.index(chosen) == BEST[agent, setting]
        assert chosen.validation == (min if agent == "CRW" else max)(row.validation for row in own)


def test_the_score_of_a_choice_is_its_mean_over_all_cells() -> None:
    results = tuning_results(FULL, BEST)
    _, rows = choose(EXPERIMENTS, FULL, results)
    jobs = [job for job in tuning_jobs(EXPERIMENTS, FULL) if job.settings["setting"] == "distance"]
    (nets,) = (row for row in rows if (row.setting, row.choice) == ("distance", "paper"))
    assert nets.validation == round(statistics.mean(results[jobs[0].name]), 3)
    (wheel,) = (
        row for row in rows
        if (row.agent, row.setting, row.choice) == ("CRW", "distance", "segment 2, reaction 0.1")
    )  # fmt: skip
    scores = [results[job.name]["CRW"][3] for job in jobs if job.kind == "tune-wheels"]
    assert len(scores) == 6
    assert wheel.validation == round(statistics.mean(scores), 3)


def test_an_experiment_in_one_setting_needs_the_choices_of_that_one_only() -> None:
    paper_only = {job.name for job in tuning_jobs(("scale",), FULL)}
    results = {name: result for name, result in tuning_results(FULL, BEST).items() if name in paper_only}
    choices, rows = choose(("scale",), FULL, results)
    assert {setting for _, setting in choices} == {row.setting for row in rows} == {"paper"}
    # Table 1 has both; what has no scores in the other one is left out.
    assert choose(("table1",), FULL, results) == (choices, rows)
    assert {job.settings["setting"] for job in main_jobs(("table1",), FULL, choices)} == {"paper"}


# --- What a job does. ------------------------------------------------------------------------------------------------


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


def test_jobs_of_baselines_give_what_the_agents_earn() -> None:
    settings = job_of("baselines", instance="R", destroys=2).settings
    mdp, found = mdp_of(settings), work("baselines", settings)
    some: dict[str, Any] = {"episodes": 4, "seeds": 2}
    assert found["mdp"]["RAN"] == pytest.approx(evaluate(mdp, "random", **some).rewards.mean(axis=1), abs=1e-4)
    pair = best_fixed_pair(mdp)
    assert found["mdp"]["FIXED"] == pytest.approx(evaluate(mdp, pair, **some).rewards.mean(axis=1), abs=1e-4)
    assert found["pair"] == [pair.destroy, pair.repair]
    wheels = {seed: train_roulette(mdp, seed, episodes=20, segment=20, reaction=0.9) for seed in range(2)}
    for seed, wheel in wheels.items():
        alone = evaluate(mdp, wheel, episodes=4, seeds=[seed])
        assert found["mdp"]["LRW"][seed] == pytest.approx(alone.reward_mean, abs=1e-4)
    agents: dict[str, Any] = {"RAN": Uniform(), "CRW": Roulette(segment=5, reaction=0.1), "FIXED": pair, "LRW": wheels}
    assert set(found["search"]) == set(agents)
    for name, agent in agents.items():
        assert found["search"][name] == in_search(mdp, agent)


def test_jobs_of_networks_give_what_the_policies_earn_at_all_temperatures() -> None:
    settings = job_of("dqn", instance="C", destroys=12, setting="distance", scale=4).settings
    (policies,) = train_policies([settings], settings["config"])
    found, mdp = work("dqn", settings), mdp_of(settings)
    assert found == judge_policies(settings, policies)
    assert set(found["temperature"]) == {"0.01", "100"}
    for seed, policy in policies.items():
        greedy = evaluate(mdp, PolicySelector(policy, 0.0), episodes=4, seeds=[seed])
        assert found["mdp"]["DQN"][seed] == pytest.approx(greedy.reward_mean, abs=1e-4)
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
        ("sizes", 2 * 3, 2),
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
    for place in range(2):
        scores = [
            evaluate(
                mdp, train_roulette(mdp, seed, episodes=20, segment=20, reaction=ROULETTE_GRID[place]["reaction"]),
                tours="validate", episodes=4, seeds=[seed],
            ).reward_mean
            for seed in range(2)
        ]  # fmt: skip
        assert found["LRW"][place] == pytest.approx(statistics.mean(scores), abs=1e-4)
        wheel: Any = CLASSIC_GRID[place]
        classic = evaluate_in_search(mdp, Roulette(**wheel), tours="validate", episodes=4, seeds=2)
        assert found["CRW"][place] == pytest.approx(classic.average)


# --- Training. -------------------------------------------------------------------------------------------------------


def test_a_whole_training_has_the_papers_configuration() -> None:
    assert dqn_config({**DQN_GRID["paper"], "share": 1.0}) == preset("paper", "mlp")
    assert dqn_config({**paper.GAT, "share": 1}) == preset("paper", "gat")


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
    place = {"setting": "paper", "destroys": 5, "scale": 4, "tours": 4, "temperatures": []}
    cells = [
        {**place, "instance": "C", "seeds": [0, 1]},
        {**place, "instance": "R", "seeds": [0, 3], "scale": 2},
        {**place, "instance": "C", "seeds": [2], "setting": "distance"},
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
        found = judge_policies({**cell, "tours": 4, "pairs": 20, "temperatures": [1.0]}, group)
        assert np.isfinite(leaves(found)).all()
        assert len(found["mdp"]["DQN"]) == 2


# --- Results as rows. ------------------------------------------------------------------------------------------------

PLAN = replace(FULL, seeds=3, destroys=(2, 5, 12), sizes=(20, 100), scales=(2, 4, 10), temperatures=(0.1, 10.0))


def made_up(plan: Plan) -> dict[str, Any]:
    """Results of all jobs that are as different as can be."""
    results = tuning_results(plan, BEST)
    choices, _ = choose(EXPERIMENTS, plan, results)
    jobs = main_jobs(EXPERIMENTS, plan, choices)
    return {**results, **{job.name: chores.made_up(job.kind, job.settings) for job in jobs}}


RESULTS = made_up(PLAN)
MAIN = main_jobs(EXPERIMENTS, PLAN, choose(EXPERIMENTS, PLAN, RESULTS)[0])
TABLES = make_tables(EXPERIMENTS, PLAN, RESULTS)


def result_of(kind: str, **about: Any) -> Any:
    return RESULTS[next(job.name for job in MAIN if job.kind == kind and about.items() <= job.settings.items())]


def figures(values: Sequence[float]) -> Any:
    """Mean, half of the 95 % interval, both rounded, and number of values, by other means than the package's."""
    mean = statistics.mean(values)
    low, high = t.interval(0.95, len(values) - 1, loc=mean, scale=sem(values))
    return pytest.approx(mean, abs=6e-4), pytest.approx((high - low) / 2, abs=6e-4), len(values)


def test_table_1_has_the_rewards_of_all_agents() -> None:
    agents = {"DQN": "dqn", "LRW": "baselines", "RAN": "baselines", "FIXED": "baselines", "ORACLE": "oracle"}
    expected = [
        Reward(setting, instance, destroys, agent, *figures(
            result_of(kind, setting=setting, instance=instance, destroys=destroys, scale=4)["mdp"][agent]
        ))
        for setting, instance, destroys, (agent, kind) in product(SETTINGS, INSTANCES, (2, 5, 12), agents.items())
    ]  # fmt: skip
    assert list(TABLES.table1) == expected


def test_table_2_has_average_and_least_objective() -> None:
    agents = {"DQN": "dqn", "LRW": "baselines", "RAN": "baselines", "CRW": "baselines", "FIXED": "baselines"}
    expected = [
        Objective(setting, instance, destroys, agent, statistic, *figures(
            result_of(kind, setting=setting, instance=instance, destroys=destroys, scale=4)["search"][agent][statistic]
        ))
        for setting, instance, destroys, (agent, kind), statistic in product(
            SETTINGS, INSTANCES, (2, 5, 12), agents.items(), ("avg", "min")
        )
    ]  # fmt: skip
    assert list(TABLES.table2) == expected


def test_the_figure_of_sizes_has_all_seeds_in_order() -> None:
    expected = []
    for instance, size, agent in product(INSTANCES, (20, 100), ("DQN", "LRW", "RAN", "FIXED")):
        parts = (
            [result_of("gat", instance=instance, seeds=seeds) for seeds in ([0, 1], [2])]
            if agent == "DQN"
            else [result_of("sizes", instance=instance)]
        )
        values = [value for part in parts for value in part["sizes"][str(size)][agent]]
        assert TABLES.values["scaling", "paper", instance, size, agent] == tuple(values)
        expected.append(SizeReward("paper", instance, size, agent, *figures(values)))
    assert list(TABLES.scaling) == expected


def test_the_figure_of_destroy_scales_is_about_the_whole_portfolio_in_the_papers_setting() -> None:
    expected = []
    for instance, scale, agent in product(INSTANCES, (2, 4, 10), ("DQN", "LRW", "RAN", "FIXED")):
        kind = "dqn" if agent == "DQN" else "baselines"
        found = result_of(kind, setting="paper", instance=instance, destroys=12, scale=scale)["mdp"][agent]
        expected.append(ScaleReward("paper", instance, scale, agent, *figures(found)))
    assert list(TABLES.scale) == expected


def test_the_figure_of_temperatures_is_about_the_whole_portfolio() -> None:
    expected = [
        TemperatureObjective(setting, instance, temperature, statistic, *figures(
            result_of("dqn", setting=setting, instance=instance, destroys=12, scale=4)
            ["temperature"][f"{temperature:g}"][statistic]
        ))
        for setting, instance, temperature, statistic in product(SETTINGS, INSTANCES, (0.1, 10.0), ("avg", "min"))
    ]  # fmt: skip
    assert list(TABLES.temperature) == expected


def test_values_and_pairs_are_kept_beside_the_rows() -> None:
    assert TABLES.pairs == {
        (setting, instance, destroys): (f"{instance}-{destroys}", setting)
        for setting, instance, destroys in product(SETTINGS, INSTANCES, (2, 5, 12))
    }
    assert list(TABLES.tuning) == choose(EXPERIMENTS, PLAN, RESULTS)[1]
    keys = {(name, *astuple(row)[:-3]) for name in EXPERIMENTS for row in getattr(TABLES, name)}
    assert set(TABLES.values) == keys
    about = {"setting": "distance", "instance": "R", "destroys": 5}
    assert TABLES.values["table1", "distance", "R", 5, "DQN"] == tuple(result_of("dqn", **about)["mdp"]["DQN"])


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_an_experiment_has_the_same_rows_alone_and_among_all(experiment: str) -> None:
    alone = make_tables((experiment,), PLAN, RESULTS)
    assert getattr(alone, experiment) == getattr(TABLES, experiment)
    for other in EXPERIMENTS:
        if other != experiment:
            assert getattr(alone, other) == ()
    assert set(alone.values) == {key for key in TABLES.values if key[0] == experiment}


def test_jobs_that_are_missing_leave_gaps() -> None:
    about = {"setting": "paper", "instance": "R", "destroys": 5, "scale": 4}
    gone = [job for job in MAIN if job.kind == "dqn" and about.items() <= job.settings.items()]
    gone += [job for job in MAIN if job.kind == "gat" and job.settings["instance"] == "C"][1:]
    assert len(gone) == 2
    names_gone = {job.name for job in gone}
    found = make_tables(EXPERIMENTS, PLAN, {name: each for name, each in RESULTS.items() if name not in names_gone})

    def is_gone(row: Any) -> bool:
        return (row.setting, row.instance, row.destroy_operators, row.agent) == ("paper", "R", 5, "DQN")

    assert list(found.table1) == [row for row in TABLES.table1 if not is_gone(row)]
    assert list(found.table2) == [row for row in TABLES.table2 if not is_gone(row)]
    assert len(found.table1) == len(TABLES.table1) - 1
    assert (found.scale, found.temperature, found.tuning) == (TABLES.scale, TABLES.temperature, TABLES.tuning)
    # Half of the seeds are there, and the row says so.
    rows = [row for row in found.scaling if (row.instance, row.agent) == ("C", "DQN")]
    assert [row.seeds for row in rows] == [2, 2]
    assert len(found.scaling) == len(TABLES.scaling)


def test_without_choices_a_setting_has_no_rows() -> None:
    results = dict(RESULTS)
    last = tuning_jobs(EXPERIMENTS, PLAN)[-1]
    assert last.settings["setting"] == "distance"
    del results[last.name]
    found = make_tables(EXPERIMENTS, PLAN, results)
    assert found.table1 == tuple(row for row in TABLES.table1 if row.setting == "paper")
    assert found.tuning == tuple(row for row in TABLES.tuning if row.setting == "paper")
    assert make_tables(EXPERIMENTS, PLAN, {}) == Tables()


def test_one_seed_has_no_interval() -> None:
    plan = replace(PLAN, seeds=1)
    found = make_tables(("table1",), plan, made_up(plan))
    assert all(math.isnan(row.ci) and row.seeds == 1 for row in found.table1)
    assert len(found.table1) == len(TABLES.table1)
