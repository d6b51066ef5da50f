"""Verdicts on the paper's claims, on results whose verdicts are known by construction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

import results
from neuralns.reproduction.claims import CLAIMS, Condition, verdict
from neuralns.reproduction.plan import FULL, Plan
from neuralns.reproduction.tables import Cell

When = Callable[[Cell], bool]
BY_EXPERIMENT = {claim.experiment: claim for claim in CLAIMS}


def judge(experiment: str, mean: results.Mean, plan: Plan = FULL, setting: str = "paper", spread: float = 2.0) -> str:
    found = results.make_tables(mean, plan, spread)
    return BY_EXPERIMENT[experiment].judge(found.estimates, plan, setting)[0]


def changed(when: When, change: float) -> results.Mean:
    """The usual means, with those for which ``when`` is true changed."""

    def mean(cell: Cell) -> float | None:
        usual = results.usual(cell)
        return usual + change if usual is not None and when(cell) else usual

    return mean


@pytest.mark.parametrize("experiment", list(BY_EXPERIMENT))
def test_the_usual_results_bear_all_claims_out(experiment: str) -> None:
    assert judge(experiment, results.usual) == "holds"


@pytest.mark.parametrize("experiment", list(BY_EXPERIMENT))
def test_without_results_no_claim_is_tested(experiment: str) -> None:
    claim = BY_EXPERIMENT[experiment]
    found, evidence = claim.judge({}, FULL, "paper")
    assert found == "not tested"
    assert all("could not be judged" in sentence for sentence in evidence)
    assert judge(experiment, results.without(lambda cell: cell.experiment == experiment)) == "not tested"


# Where the first condition of each rule fails: everywhere, or in a single case.
EVERYWHERE: dict[str, tuple[When, float]] = {
    "table1": (lambda cell: cell.agent == "LRW", 200.0),
    "table2": (lambda cell: cell.agent == "RAN", -300.0),
    "scaling": (lambda cell: cell.agent == "LRW", 300.0),
    "scale": (lambda cell: cell.agent == "DQN" and cell.number == 2, -110.0),
    "temperature": (lambda cell: cell.number == 100, -36.0),
}


@pytest.mark.parametrize("experiment", list(BY_EXPERIMENT))
def test_a_claim_whose_first_condition_fails_does_not_hold(experiment: str) -> None:
    when, change = EVERYWHERE[experiment]
    mean = changed(lambda cell: cell.experiment == experiment and when(cell), change)
    assert judge(experiment, mean) == "does not hold"


@pytest.mark.parametrize("experiment", list(BY_EXPERIMENT))
def test_a_claim_that_fails_on_one_instance_holds_in_part(experiment: str) -> None:
    when, change = EVERYWHERE[experiment]
    only_r = changed(lambda cell: cell.experiment == experiment and cell.instance == "R" and when(cell), change)
    assert judge(experiment, only_r) == "holds in part"


@pytest.mark.parametrize("experiment", ["table1", "table2", "temperature"])
def test_settings_are_judged_by_themselves(experiment: str) -> None:
    when, change = EVERYWHERE[experiment]
    mean = changed(lambda cell: (cell.experiment, cell.setting) == (experiment, "distance") and when(cell), change)
    assert judge(experiment, mean) == "holds"
    assert judge(experiment, mean, setting="distance") == "does not hold"


@pytest.mark.parametrize(
    ("experiment", "gap"),
    [
        ("table1", lambda cell: cell.of("DQN") == Cell("table1", "paper", "C", 9, "DQN")),
        ("table1", lambda cell: cell == Cell("table1", "paper", "C", 9, "RAN")),
        ("table1", lambda cell: cell == Cell("table1", "paper", "C", 3, "DQN")),
        ("table2", lambda cell: cell == Cell("table2", "paper", "C", 9, "CRW", "avg")),
        ("scaling", lambda cell: cell == Cell("scaling", "paper", "C", 100, "DQN")),
        ("scale", lambda cell: cell == Cell("scale", "paper", "C", 6, "LRW")),
        ("temperature", lambda cell: cell == Cell("temperature", "paper", "C", 1.0, "DQN", "avg")),
    ],
)
def test_with_gaps_a_claim_holds_at_most_in_part(experiment: str, gap: When) -> None:
    assert judge(experiment, results.without(gap)) == "holds in part"


@pytest.mark.parametrize(
    ("experiment", "when", "change"),
    [
        # RAN is better than the DQN for small portfolios, about which nothing is claimed.
        ("table1", lambda cell: cell.agent == "RAN" and cell.number < 5, 300.0),
        # Neither other agents nor the best of a run matter.
        ("table1", lambda cell: cell.agent in ("FIXED", "ORACLE"), 500.0),
        ("table2", lambda cell: cell.agent == "FIXED" or cell.statistic == "min", -500.0),
        ("temperature", lambda cell: cell.statistic == "min", 77.0),
    ],
)
def test_what_a_claim_is_not_about_does_not_matter(experiment: str, when: When, change: float) -> None:
    assert judge(experiment, changed(lambda cell: cell.experiment == experiment and when(cell), change)) == "holds"


@pytest.mark.parametrize(
    ("experiment", "when", "change"),
    [
        # A third jump, larger than that to 12.
        ("table1", lambda cell: cell.agent == "DQN" and cell.number >= 8, 45.0),
        # No jump to 12.
        ("table1", lambda cell: cell.agent == "DQN" and cell.number >= 12, -45.0),
        # LRW is as good as CRW; CRW differs from RAN.
        ("table2", lambda cell: cell.agent == "LRW" and cell.statistic == "avg", 200.0),
        ("table2", lambda cell: cell.agent == "CRW" and cell.statistic == "avg", 30.0),
        # The gap grows at d = 10 to more than a quarter of that at d = 2.
        ("scale", lambda cell: cell.agent == "DQN" and cell.number == 10, 12.0),
        # At d = 10 the DQN is far below the others: the gap has turned, not closed.
        ("scale", lambda cell: cell.agent == "DQN" and cell.number == 10, -100.0),
        # F falls from τ = 1 to 10, but not to what it was at 0.01.
        ("temperature", lambda cell: cell.statistic == "avg" and cell.number == 1.0, 20.0),
    ],
)
def test_a_claim_whose_further_conditions_fail_holds_in_part(experiment: str, when: When, change: float) -> None:
    mean = changed(lambda cell: cell.experiment == experiment and when(cell), change)
    assert judge(experiment, mean) == "holds in part"


@pytest.mark.parametrize("experiment", ["table1", "table2", "scaling", "temperature"])
def test_differences_within_the_noise_bear_no_claim_out(experiment: str) -> None:
    assert judge(experiment, results.usual, spread=3000.0) == "does not hold"


def test_a_single_seed_tests_only_what_is_about_means() -> None:
    plan = replace(FULL, seeds=1)
    found = {experiment: judge(experiment, results.usual, plan) for experiment in BY_EXPERIMENT}
    assert found == {
        "table1": "not tested", "table2": "not tested", "scaling": "not tested", "scale": "holds",
        "temperature": "not tested",
    }  # fmt: skip


def test_evidence_names_counts_and_means() -> None:
    gap = results.without(lambda cell: cell.of("DQN") == Cell("table1", "paper", "C", 9, "DQN"))
    estimates = results.make_tables(gap).estimates
    _, (first, second) = BY_EXPERIMENT["table1"].judge(estimates, FULL, "paper")
    judged = [estimates[Cell("table1", "paper", i, n, "DQN")].mean for i in ("C", "R", "RC") for n in range(5, 13)
              if (i, n) != ("C", 9)]  # fmt: skip
    assert first.startswith("(a) is met in 23 of 23 cells, 1 more could not be judged; means over them: ")
    assert f"DQN {sum(judged) / 23:.1f}, LRW" in first
    assert second == (
        "(b) is met in 2 of 2 instances, 1 more could not be judged; the rise to |D| = 5 is R +92.0, RC +92.0; "
        "the rise to |D| = 12 is R +40.0, RC +40.0."
    )


def test_evidence_of_gaps_and_temperatures_is_their_mean() -> None:
    estimates = results.make_tables().estimates
    _, (gap, _) = BY_EXPERIMENT["scale"].judge(estimates, FULL, "paper")
    assert "mean gap at d = 2: 140.0; d = 4: 60.9;" in gap
    _, (heat, _) = BY_EXPERIMENT["temperature"].judge(estimates, FULL, "paper")
    assert "at τ = 0.01: 121.3; τ = 0.1: 130.3;" in heat
    _, conditions = BY_EXPERIMENT["table2"].judge(estimates, FULL, "paper")
    assert conditions[2] == "(c) is met in 24 of 24 cells; CRW − RAN is +0.0 on average."


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ([(4, 4, 4), (2, 2, 2)], "holds"),
        ([(4, 4, 4), (0, 2, 2)], "holds in part"),
        ([(4, 4, 5), (2, 2, 2)], "holds in part"),
        ([(2, 4, 4), (2, 2, 2)], "holds in part"),
        ([(1, 3, 3), (2, 2, 2)], "does not hold"),
        ([(1, 2, 9)], "holds in part"),
        ([(0, 0, 4), (2, 2, 2)], "not tested"),
    ],
)
def test_verdicts(conditions: list[tuple[int, int, int]], expected: str) -> None:
    assert verdict([Condition(*each, "cells") for each in conditions]) == expected
