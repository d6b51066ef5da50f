"""Tables against numbers worked out otherwise."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import astuple, replace
from itertools import product
from typing import Any

import pytest
from scipy.stats import sem, t

import chores
from neuralns.reproduction.plan import EXPERIMENTS, FULL, INSTANCES, SETTINGS, Plan
from neuralns.reproduction.rounds import ORACLE_SEEDS, choose, main_jobs, tuning_jobs
from neuralns.reproduction.tables import (
    Cell,
    Objective,
    Reward,
    ScaleReward,
    SizeReward,
    Tables,
    TemperatureObjective,
    make_tables,
)
from plans import BEST, tuning_results

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
    agents = {
        "DQN": "dqn", "AHEAD": "ahead", "LRW": "baselines", "RAN": "baselines", "FIXED": "baselines",
        "ORACLE": "oracle",
    }  # fmt: skip
    expected = [
        Reward(setting, instance, destroys, agent, *figures(
            result_of(kind, setting=setting, instance=instance, destroys=destroys, scale=4)["mdp"][agent]
        ))
        for setting, instance, destroys, (agent, kind) in product(SETTINGS, INSTANCES, (2, 5, 12), agents.items())
    ]  # fmt: skip
    assert list(TABLES.table1) == expected


def test_table_2_has_average_and_least_objective() -> None:
    agents = {
        "DQN": "dqn", "AHEAD": "ahead", "LRW": "baselines", "RAN": "baselines", "CRW": "baselines",
        "FIXED": "baselines",
    }  # fmt: skip
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
    for instance, size, agent in product(INSTANCES, (20, 100), ("DQN", "GNN+", "LRW", "RAN", "FIXED")):
        kind = {"DQN": "gat", "GNN+": "graph"}.get(agent)
        parts = (
            [result_of(kind, instance=instance, seeds=seeds) for seeds in ([0, 1], [2])]
            if kind
            else [result_of("sizes", instance=instance)]
        )
        values = [value for part in parts for value in part["sizes"][str(size)][agent]]
        assert TABLES.estimates[Cell("scaling", "paper", instance, size, agent)].values == tuple(values)
        expected.append(SizeReward("paper", instance, size, agent, *figures(values)))
    assert list(TABLES.scaling) == expected


def test_the_table_of_large_instances_has_our_network_beside_the_others() -> None:
    expected = []
    for instance, size, agent in product(INSTANCES, (200, 400), ("GNN+", "LRW", "RAN", "FIXED", "ORACLE")):
        parts = [result_of("large-oracle" if agent == "ORACLE" else "large", instance=instance)]
        if agent == "GNN+":
            parts = [result_of("graph", instance=instance, seeds=seeds) for seeds in ([0, 1], [2])]
        values = [value for part in parts for value in part["large"][str(size)][agent]]
        assert len(values) == (ORACLE_SEEDS if agent == "ORACLE" else 3)
        expected.append(SizeReward("paper", instance, size, agent, *figures(values)))
    assert list(TABLES.large) == expected


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
        Cell("table1", setting, instance, destroys, "FIXED"): (f"{instance}-{destroys}", setting)
        for setting, instance, destroys in product(SETTINGS, INSTANCES, (2, 5, 12))
    }
    assert list(TABLES.tuning) == choose(EXPERIMENTS, PLAN, RESULTS)[1]
    assert len(TABLES.estimates) == sum(len(getattr(TABLES, name)) for name in EXPERIMENTS)
    for name in EXPERIMENTS:
        cells = [cell for cell in TABLES.estimates if cell.experiment == name]
        assert [(cell.setting, cell.instance, cell.number) for cell in cells] == [
            astuple(row)[:3] for row in getattr(TABLES, name)
        ]
        assert [TABLES.estimates[cell].mean for cell in cells] == [astuple(row)[-3] for row in getattr(TABLES, name)]
    about = {"setting": "distance", "instance": "R", "destroys": 5}
    found = TABLES.estimates[Cell("table1", "distance", "R", 5, "DQN")].values
    assert found == tuple(result_of("dqn", **about)["mdp"]["DQN"])


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_an_experiment_has_the_same_rows_alone_and_among_all(experiment: str) -> None:
    alone = make_tables((experiment,), PLAN, RESULTS)
    assert getattr(alone, experiment) == getattr(TABLES, experiment)
    for other in EXPERIMENTS:
        if other != experiment:
            assert getattr(alone, other) == ()
    assert set(alone.estimates) == {cell for cell in TABLES.estimates if cell.experiment == experiment}


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


def test_tables_without_anything_have_no_rows() -> None:
    assert Tables().estimates == {}
    assert all(getattr(Tables(), name) == () for name in EXPERIMENTS)


def test_decisions_of_who_looks_ahead_have_their_times() -> None:
    assert {cell.agent for cell in TABLES.microseconds} == {"AHEAD"}
    for cell, (value, simulates) in TABLES.microseconds.items():
        assert simulates == (cell.number > 5)
        assert 5 <= value <= 20
