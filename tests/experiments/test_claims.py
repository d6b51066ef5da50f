"""Verdicts on the paper's claims, on results whose verdicts are known by construction."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pytest
from scipy.stats import ttest_ind, wilcoxon

import results
from neuralns.experiments.claims import (
    CLAIMS,
    Cell,
    Condition,
    Contrast,
    agents,
    cells_of,
    contrasts,
    over_all,
    verdict,
    welch,
)
from neuralns.experiments.comparison import holm
from neuralns.experiments.paper import FULL, Plan, Tables

BY_EXPERIMENT = {claim.experiment: claim for claim in CLAIMS}


def judge(experiment: str, mean: results.Mean, plan: Plan = FULL, setting: str = "paper", spread: float = 2.0) -> str:
    found = results.make_tables(mean, plan, spread)
    return BY_EXPERIMENT[experiment].judge(cells_of(found), plan, setting)[0]


def changed(when: Callable[..., bool], change: float) -> results.Mean:
    """The usual means, with those for which ``when`` is true changed."""

    def mean(*key: object) -> float | None:
        usual = results.usual(*key)  # type: ignore[arg-type]
        return usual + change if usual is not None and when(*key) else usual

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
    assert judge(experiment, results.without(lambda name, *_: name == experiment)) == "not tested"


# Where the first condition of each rule fails: everywhere, or in a single case.
EVERYWHERE: dict[str, tuple[Callable[..., bool], float]] = {
    "table1": (lambda name, s, i, number, agent: agent == "LRW", 200.0),
    "table2": (lambda name, s, i, number, agent, statistic: agent == "RAN", -300.0),
    "scaling": (lambda name, s, i, number, agent: agent == "LRW", 300.0),
    "scale": (lambda name, s, i, number, agent: agent == "DQN" and number == 2, -110.0),
    "temperature": (lambda name, s, i, number, statistic: number == 100, -36.0),
}


@pytest.mark.parametrize("experiment", list(BY_EXPERIMENT))
def test_a_claim_whose_first_condition_fails_does_not_hold(experiment: str) -> None:
    when, change = EVERYWHERE[experiment]
    assert judge(experiment, changed(lambda *key: key[0] == experiment and when(*key), change)) == "does not hold"


@pytest.mark.parametrize("experiment", list(BY_EXPERIMENT))
def test_a_claim_that_fails_on_one_instance_holds_in_part(experiment: str) -> None:
    when, change = EVERYWHERE[experiment]
    only_r = changed(lambda *key: key[0] == experiment and key[2] == "R" and when(*key), change)
    assert judge(experiment, only_r) == "holds in part"


@pytest.mark.parametrize("experiment", ["table1", "table2", "temperature"])
def test_settings_are_judged_by_themselves(experiment: str) -> None:
    when, change = EVERYWHERE[experiment]
    mean = changed(lambda *key: key[:2] == (experiment, "distance") and when(*key), change)
    assert judge(experiment, mean) == "holds"
    assert judge(experiment, mean, setting="distance") == "does not hold"


@pytest.mark.parametrize(
    ("experiment", "gap"),
    [
        ("table1", lambda *key: key[:4] == ("table1", "paper", "C", 9)),
        ("table1", lambda *key: key == ("table1", "paper", "C", 9, "RAN")),
        ("table1", lambda *key: key == ("table1", "paper", "C", 3, "DQN")),
        ("table2", lambda *key: key == ("table2", "paper", "C", 9, "CRW", "avg")),
        ("scaling", lambda *key: key == ("scaling", "paper", "C", 100, "DQN")),
        ("scale", lambda *key: key == ("scale", "paper", "C", 6, "LRW")),
        ("temperature", lambda *key: key == ("temperature", "paper", "C", 1.0, "avg")),
    ],
)
def test_with_gaps_a_claim_holds_at_most_in_part(experiment: str, gap: Callable[..., bool]) -> None:
    assert judge(experiment, results.without(gap)) == "holds in part"


@pytest.mark.parametrize(
    ("experiment", "when", "change"),
    [
        # RAN is better than the DQN for small portfolios, about which nothing is claimed.
        ("table1", lambda *key: key[4] == "RAN" and key[3] < 5, 300.0),
        # Neither other agents nor the best of a run matter.
        ("table1", lambda *key: key[4] in ("FIXED", "ORACLE"), 500.0),
        ("table2", lambda *key: key[4] == "FIXED" or key[5] == "min", -500.0),
        ("temperature", lambda *key: key[4] == "min", 77.0),
    ],
)
def test_what_a_claim_is_not_about_does_not_matter(experiment: str, when: Callable[..., bool], change: float) -> None:
    assert judge(experiment, changed(lambda *key: key[0] == experiment and when(*key), change)) == "holds"


@pytest.mark.parametrize(
    ("experiment", "when", "change"),
    [
        # A third jump, larger than that to 12.
        ("table1", lambda *key: key[4] == "DQN" and key[3] >= 8, 45.0),
        # No jump to 12.
        ("table1", lambda *key: key[4] == "DQN" and key[3] >= 12, -45.0),
        # LRW is as good as CRW; CRW differs from RAN.
        ("table2", lambda *key: key[4] == "LRW" and key[5] == "avg", 200.0),
        ("table2", lambda *key: key[4] == "CRW" and key[5] == "avg", 30.0),
        # The gap grows at d = 10 to more than a quarter of that at d = 2.
        ("scale", lambda *key: key[4] == "DQN" and key[3] == 10, 12.0),
        # At d = 10 the DQN is far below the others: the gap has turned, not closed.
        ("scale", lambda *key: key[4] == "DQN" and key[3] == 10, -100.0),
        # F falls from τ = 1 to 10, but not to what it was at 0.01.
        ("temperature", lambda *key: key[4] == "avg" and key[3] == 1.0, 20.0),
    ],
)
def test_a_claim_whose_further_conditions_fail_holds_in_part(
    experiment: str, when: Callable[..., bool], change: float
) -> None:
    mean = changed(lambda *key: key[0] == experiment and when(*key), change)
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
    cells = cells_of(results.make_tables(results.without(lambda *key: key[:4] == ("table1", "paper", "C", 9))))
    _, (first, second) = BY_EXPERIMENT["table1"].judge(cells, FULL, "paper")
    judged = [cells["table1", "paper", i, n, "DQN"].mean for i in ("C", "R", "RC") for n in range(5, 13)
              if (i, n) != ("C", 9)]  # fmt: skip
    assert first.startswith("(a) is met in 23 of 23 cells, 1 more could not be judged; means over them: ")
    assert f"DQN {sum(judged) / 23:.1f}, LRW" in first
    assert second == (
        "(b) is met in 2 of 2 instances, 1 more could not be judged; the rise to |D| = 5 is R +92.0, RC +92.0; "
        "the rise to |D| = 12 is R +40.0, RC +40.0."
    )


def test_evidence_of_gaps_and_temperatures_is_their_mean() -> None:
    cells = cells_of(results.make_tables())
    _, (gap, _) = BY_EXPERIMENT["scale"].judge(cells, FULL, "paper")
    assert "mean gap at d = 2: 140.0; d = 4: 60.9;" in gap
    _, (heat, _) = BY_EXPERIMENT["temperature"].judge(cells, FULL, "paper")
    assert "at τ = 0.01: 121.3; τ = 0.1: 130.3;" in heat
    _, conditions = BY_EXPERIMENT["table2"].judge(cells, FULL, "paper")
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


def test_welch_is_that_of_scipy() -> None:
    first, second = (1.0, 2.0, 4.0, 3.5), (2.5, 4.0, 6.0)
    assert welch(first, second) == pytest.approx(ttest_ind(first, second, equal_var=False).pvalue, rel=1e-12)


def test_values_without_chance_are_known_exactly() -> None:
    # The mean of ten times 0.1 is not quite 0.1.
    assert welch([0.1] * 10, [0.1] * 10) == 1.0
    assert welch([0.1] * 10, [0.1] * 3) == 1.0
    assert welch([0.1] * 10, [0.2] * 10) == 0.0
    assert 0 < welch([0.1] * 10, [0.1, 0.2, 0.3]) < 1
    assert welch([1.0, 2.0], [1.0, 2.0]) == pytest.approx(1.0)


@pytest.mark.parametrize(("first", "second"), [((), ()), ((1.0,), (1.0, 2.0)), ((1.0, 2.0), (3.0,)), ((1.0,), (1.0,))])
def test_too_few_seeds_give_no_p(first: tuple[float, ...], second: tuple[float, ...]) -> None:
    assert math.isnan(welch(first, second))


def test_contrasts_are_corrected_for_those_that_could_be_tested() -> None:
    def cell(*values: float) -> Cell:
        return Cell(sum(values) / len(values), 0.0, values)

    pairs = {
        "far": (cell(9.0, 10.0, 11.0), cell(1.0, 2.0, 3.0)),
        "near": (cell(1.0, 2.0, 3.0), cell(2.0, 3.5, 4.0)),
        "once": (cell(5.0), cell(3.0)),
    }
    found = contrasts(pairs)
    raw = [welch(a.values, b.values) for a, b in (pairs["far"], pairs["near"])]
    assert [found["far"].p, found["near"].p] == pytest.approx(holm(raw))
    assert (found["far"].significant, found["near"].significant, found["once"].significant) == (True, False, False)
    assert (found["far"].difference, found["once"].difference) == (8.0, 2.0)
    assert math.isnan(found["once"].p)


def test_agents_are_compared_where_both_are() -> None:
    cells = cells_of(results.make_tables(results.without(lambda *key: key[3:] == (7, "LRW"))))
    found = agents(cells, "table1", "paper", "DQN", "LRW")
    assert set(found) == {(i, n) for i in ("C", "R", "RC") for n in range(2, 13) if n != 7}
    key = ("table1", "paper", "R", 12)
    assert found["R", 12].difference == cells[*key, "DQN"].mean - cells[*key, "LRW"].mean
    average = agents(cells, "table2", "distance", "DQN", "FIXED", "min")["C", 3]
    key = ("table2", "distance", "C", 3)
    assert average.difference == cells[*key, "DQN", "min"].mean - cells[*key, "FIXED", "min"].mean


def test_the_test_over_all_cells_is_wilcoxons() -> None:
    moves = [1.0, -2.0, 3.0, 4.0, 5.5, -0.5, 7.0, 0.0]
    found = {place: Contrast(move, math.nan) for place, move in enumerate(moves)}
    assert over_all(found) == pytest.approx(wilcoxon([move for move in moves if move]).pvalue)
    assert over_all(dict.fromkeys(range(33), Contrast(1.0, 0.0))) < 0.001
    assert math.isnan(over_all({}))
    assert math.isnan(over_all(dict.fromkeys(range(33), Contrast(0.0, 1.0))))
    assert math.isnan(over_all(dict.fromkeys(range(5), Contrast(1.0, 0.0))))


def test_tables_without_anything_have_no_cells() -> None:
    assert cells_of(Tables()) == {}
