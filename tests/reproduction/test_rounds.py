"""Which jobs the paper's experiments are, and which hyperparameters are chosen."""

from __future__ import annotations

import json
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import pytest

from neuralns.experiments.jobs import Job
from neuralns.reproduction.plan import (
    CLASSIC_GRID,
    DQN_GRID,
    EXPERIMENTS,
    FULL,
    INSTANCES,
    QUICK,
    ROULETTE_GRID,
    SETTINGS,
    Plan,
)
from neuralns.reproduction.rounds import RANKS, choose, main_jobs, tuning_jobs
from plans import BEST, CHOICES, TINY, tuning_results


def names(jobs: Sequence[Job]) -> list[str]:
    return [job.name for job in jobs]


# --- Which jobs. -----------------------------------------------------------------------------------------------------


def test_the_first_round_tries_every_choice_on_every_instance_in_every_setting() -> None:
    jobs = tuning_jobs(EXPERIMENTS, FULL)
    assert Counter(job.kind for job in jobs) == {"tune-dqn": 2 * len(DQN_GRID), "tune-wheels": 2 * 3 * 2}
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
        "gat": 2 * 3, "graph": 2 * 3, "sizes": 3, "large": 3, "large-oracle": 3, "dqn": cells + more_scales,
        "baselines": cells + more_scales, "oracle": cells, "ahead": cells
    }  # fmt: skip
    assert len(set(names(jobs))) == len(jobs) == 309
    for kind in ("dqn", "ahead", "oracle", "baselines"):
        about = [job.settings for job in jobs if job.kind == kind and job.settings["scale"] == 4]
        assert {(job["setting"], job["instance"], job["destroys"]) for job in about} == set(
            product(SETTINGS, INSTANCES, range(2, 13))
        )
    others = [job.settings for job in jobs if job.kind == "dqn" and job.settings["scale"] != 4]
    assert {(job["setting"], job["instance"], job["destroys"], job["scale"]) for job in others} == set(
        product(("paper",), INSTANCES, (12,), (2, 6, 8, 10))
    )
    parted = {"gat": 5, "graph": 5, "large-oracle": 2}
    assert all(len(job.settings["seeds"]) == parted.get(job.kind, 10) for job in jobs)
    assert all(job.settings["tours"] == 128 for job in jobs if not job.kind.startswith("large"))


def test_long_jobs_come_first() -> None:
    kinds = [job.kind for job in main_jobs(EXPERIMENTS, FULL, CHOICES)]
    ranks = [RANKS[kind] for kind in kinds]
    assert ranks == sorted(ranks)
    assert list(dict.fromkeys(kinds))[:3] == ["gat", "graph", "large-oracle"]


@pytest.mark.parametrize("kind", ["gat", "graph"])
@pytest.mark.parametrize("seeds", [1, 2, 3, 10])
def test_graph_networks_are_trained_in_two_halves_that_have_all_seeds(seeds: int, kind: str) -> None:
    jobs = [job for job in main_jobs(("scaling",), replace(FULL, seeds=seeds), CHOICES) if job.kind == kind]
    for instance in INSTANCES:
        halves = [job.settings["seeds"] for job in jobs if job.settings["instance"] == instance]
        assert [seed for half in halves for seed in half] == list(range(seeds))
        assert len(halves) == min(2, seeds)


def test_our_graph_network_is_trained_once_for_both_experiments_and_never_validated_at_a_test_size() -> None:
    scaling, large = (main_jobs((name,), FULL, CHOICES) for name in ("scaling", "large"))
    ours = [job for job in scaling if job.kind == "graph"]
    assert names(ours) == names([job for job in large if job.kind == "graph"])
    tested = {*FULL.sizes, *FULL.large}
    assert not any(tested & set(job.settings["config"]["validation_sizes"]) for job in ours)
    assert all(job.settings["sizes"] == [20, 40, 60, 80, 100] for job in ours)


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
    assert changed == {("baselines", "paper"), ("sizes", "paper"), ("large", "paper")}


def test_jobs_are_plain_values() -> None:
    for job in (*tuning_jobs(EXPERIMENTS, FULL), *main_jobs(EXPERIMENTS, FULL, CHOICES)):
        assert Job(job.kind, json.loads(json.dumps(job.settings))).name == job.name


# --- Choices. --------------------------------------------------------------------------------------------------------


def test_the_best_on_average_is_chosen_where_f_is_to_be_small_and_rewards_large() -> None:
    choices, rows = choose(EXPERIMENTS, FULL, tuning_results(FULL, BEST))
    assert choices == {
        ("LRW", "paper"): ROULETTE_GRID[0],
        ("LRW", "distance"): ROULETTE_GRID[7],
        ("CRW", "paper"): CLASSIC_GRID[11],
        ("CRW", "distance"): CLASSIC_GRID[4],
        ("DQN", "paper"): {**DQN_GRID["pooled features, larger batches"], "share": 1.0},
        ("DQN", "distance"): {**DQN_GRID["pooled features"], "share": 1.0},
    }
    assert Counter((row.agent, row.setting) for row in rows) == {
        (agent, setting): count
        for agent, count in (("LRW", 12), ("CRW", 12), ("DQN", len(DQN_GRID)))
        for setting in SETTINGS
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


def test_seeds_may_be_named() -> None:
    jobs = main_jobs(("scaling", "scale"), replace(TINY, seeds=(3, 1, 7)), CHOICES)
    assert {tuple(job.settings["seeds"]) for job in jobs if job.kind not in ("gat", "graph")} == {(3, 1, 7)}
    for kind in ("gat", "graph"):
        assert [tuple(job.settings["seeds"]) for job in jobs if job.kind == kind] == [(3, 1), (7,)] * 3
    assert names(main_jobs(EXPERIMENTS, replace(TINY, seeds=(0, 1)), CHOICES)) == names(
        main_jobs(EXPERIMENTS, replace(TINY, seeds=2), CHOICES)
    )
