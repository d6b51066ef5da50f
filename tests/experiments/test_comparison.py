"""Comparisons of selectors: which runs are made and kept, and the statistics against numbers worked by hand."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from helpers import WASTEFUL
from neuralns import (
    Fixed,
    InputError,
    Instance,
    MaxIterations,
    MaxTime,
    Stop,
    Uniform,
    make_portfolio,
    portfolio_named,
    read,
    solve,
)
from neuralns.experiments import comparison
from neuralns.experiments.comparison import (
    CURVE_POINTS,
    TRIAL_SEED,
    Outcome,
    Point,
    Verdict,
    best_fixed,
    compare,
    describe,
    holm,
    judge,
    trained_on,
)
from neuralns.experiments.rows import read_rows
from neuralns.operators.registry import operator
from neuralns.selection.policy import PolicySelector
from neuralns.selection.policy_file import Policy
from neuralns.selection.selector import Selector
from policies import constant_policy

PORTFOLIO = portfolio_named("zone,random-node,greedy")
INSTANCES = [read("E-n22-k4"), read("P-n16-k8")]
SELECTORS: dict[str, Selector] = {"random": Uniform(), "zone": Fixed("zone", "greedy")}
STOP = MaxIterations(30)
CONDITIONS = "30 iterations; zone,random-node,greedy; default scale; from savings"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs.csv"


def figures(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """The outcomes without what depends on the clock."""
    return [replace(outcome, seconds=0.0, decision_time_share=0.0) for outcome in outcomes]


def names(outcomes: Sequence[Outcome]) -> list[tuple[str, str, int]]:
    return [(outcome.instance, outcome.selector, outcome.seed) for outcome in outcomes]


# --- Which runs are made and kept. -----------------------------------------------------------------------------------


def test_every_selector_runs_on_every_instance_with_every_seed() -> None:
    outcomes, curves = compare(INSTANCES, SELECTORS, STOP, 2, PORTFOLIO)
    assert names(outcomes) == [
        (instance.name, selector, seed) for seed in (1, 2) for instance in INSTANCES for selector in SELECTORS
    ]
    for outcome in outcomes:
        instance = read(outcome.instance)
        same = solve(instance, STOP, selector=SELECTORS[outcome.selector], portfolio=PORTFOLIO, seed=outcome.seed)
        assert (outcome.cost, outcome.start, outcome.iterations) == (same.cost, same.initial.cost, 30)
        assert (outcome.customers, outcome.conditions) == (instance.customers, CONDITIONS)
        assert outcome.seconds > 0
        assert 0 <= outcome.decision_time_share <= 1
        own = [point for point in curves if (point.instance, point.selector, point.seed) == names([outcome])[0]]
        assert {point.conditions for point in own} == {CONDITIONS}
        assert (own[0].iteration, own[0].best) == (0, outcome.start)
        assert (own[-1].iteration, own[-1].best) == (30, outcome.cost)


def test_all_selectors_start_from_the_same_tours() -> None:
    outcomes, _ = compare(INSTANCES, SELECTORS, STOP, 2, PORTFOLIO, initial="random")
    starts: dict[tuple[str, int], set[float]] = {}
    for outcome in outcomes:
        starts.setdefault((outcome.instance, outcome.seed), set()).add(outcome.start)
    assert [len(found) for found in starts.values()] == [1] * 4
    assert len(set.union(*starts.values())) == 4


def test_options_reach_every_search(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []

    def recorded(instance: Instance, stop: Stop, **options: Any) -> Any:
        asked.append(options)
        return solve(instance, stop, **options)

    monkeypatch.setattr(comparison, "solve", recorded)
    compare(INSTANCES[:1], SELECTORS, STOP, 1, PORTFOLIO, scale=(2, 3), initial="insertion")
    best_fixed(INSTANCES[:1], PORTFOLIO, STOP, scale=(2, 3), initial="insertion")
    assert [(options["scale"], options["initial"]) for options in asked] == [((2, 3), "insertion")] * 4


def test_long_curves_are_thinned_and_fall(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("neuralns.search.search._next_size", lambda size, took, left: 1)
    monkeypatch.setattr("neuralns.search.search.FIRST_SEGMENT", 1)
    (outcome,), curve = compare(INSTANCES[:1], {"random": Uniform()}, MaxIterations(200), 1, PORTFOLIO)
    assert len(curve) == CURVE_POINTS
    assert (curve[0].iteration, curve[-1].iteration) == (0, 200)
    assert curve[-1].best == outcome.cost
    for before, after in pairwise(curve):
        assert before.iteration < after.iteration
        assert before.seconds <= after.seconds
        assert before.best >= after.best


def test_runs_are_written_as_they_end(path: Path) -> None:
    seen: list[tuple[int, int]] = []

    def notify(outcome: Outcome, done: int, total: int) -> None:
        seen.append((done, total))
        rows = read_rows(path, Outcome)
        assert len(rows) == done
        assert rows[-1] == outcome
        points = read_rows(path.with_name("runs.curves.csv"), Point)
        assert (points[-1].selector, points[-1].best) == (outcome.selector, outcome.cost)

    outcomes, curves = compare(INSTANCES, SELECTORS, STOP, 1, PORTFOLIO, path, notify=notify)
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert read_rows(path, Outcome) == outcomes
    assert read_rows(path.with_name("runs.curves.csv"), Point) == curves


def test_a_second_call_does_only_what_is_missing(path: Path) -> None:
    told: list[str] = []

    def notify(outcome: Outcome, done: int, total: int) -> None:
        told.append(f"{outcome.instance} {outcome.selector} {outcome.seed} {done}/{total}")

    first, _ = compare(INSTANCES[:1], SELECTORS, STOP, 1, PORTFOLIO, path, notify=notify)
    assert told == ["E-n22-k4 random 1 1/2", "E-n22-k4 zone 1 2/2"]
    told.clear()
    more = {**SELECTORS, "node": Fixed("random-node", "greedy")}
    both, curves = compare(INSTANCES[:1], more, STOP, 2, PORTFOLIO, path, notify=notify)
    assert told == [
        "E-n22-k4 node 1 3/6", "E-n22-k4 random 2 4/6", "E-n22-k4 zone 2 5/6", "E-n22-k4 node 2 6/6",
    ]  # fmt: skip
    assert both[:2] == first
    assert len({(point.selector, point.seed) for point in curves}) == 6
    told.clear()
    # What was not asked for is left out, though the file holds it.
    again, few = compare(INSTANCES[:1], {"zone": SELECTORS["zone"]}, STOP, 1, PORTFOLIO, path, notify=notify)
    assert told == []
    assert again == first[1:]
    assert {(point.selector, point.seed) for point in few} == {("zone", 1)}


def test_runs_of_another_limit_are_other_runs(path: Path) -> None:
    compare(INSTANCES[:1], SELECTORS, STOP, 1, PORTFOLIO, path)
    (outcome, _), _ = compare(INSTANCES[:1], SELECTORS, MaxIterations(31), 1, PORTFOLIO, path)
    assert (outcome.conditions.startswith("31 iterations; "), outcome.iterations) == (True, 31)
    assert len(read_rows(path, Outcome)) == 4


def test_what_was_done_before_an_interruption_is_kept(path: Path) -> None:
    def interrupt(outcome: Outcome, done: int, total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare(INSTANCES, SELECTORS, STOP, 2, PORTFOLIO, path, notify=interrupt)
    assert len(read_rows(path, Outcome)) == 2
    told: list[int] = []
    outcomes, _ = compare(INSTANCES, SELECTORS, STOP, 2, PORTFOLIO, path, notify=lambda _, done, all: told.append(done))
    assert told == [3, 4, 5, 6, 7, 8]
    assert figures(outcomes) == figures(compare(INSTANCES, SELECTORS, STOP, 2, PORTFOLIO)[0])


def test_workers_change_nothing_where_iterations_are_the_limit(path: Path) -> None:
    one, curves = compare(INSTANCES, SELECTORS, STOP, 2, PORTFOLIO)
    two, same = compare(INSTANCES, SELECTORS, STOP, 2, PORTFOLIO, path, workers=2)
    assert figures(one) == figures(two)
    assert {(point.instance, point.selector, point.seed) for point in curves} == {
        (point.instance, point.selector, point.seed) for point in same
    }
    assert sorted(read_rows(path, Outcome), key=lambda row: row.key) == sorted(two, key=lambda row: row.key)


HEADER = "instance,customers,selector,conditions,seed,start,cost,iterations,seconds,decision_time_share\n"
ROW = "E-n22-k4,21,random,30it,1,388.0,375.0,30,0.1,0.2\n"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "holds other columns than instance, customers, selector, conditions, seed, start, cost, iterations"),
        (b"a,b\n1,2\n", "holds other columns than instance, customers"),
        (b"\x89PNG\xff\xfe\n", "holds other columns than instance, customers"),
        (f"{HEADER}{ROW}{ROW[:20]}".encode(), "line 3: is not a result"),
        (f"{HEADER}{ROW.replace('375.0', 'cheap')}".encode(), "line 2: is not a result"),
        (f"{HEADER}{ROW}{ROW.replace(',1,', ',1.5,')}".encode(), "line 3: is not a result"),
    ],
)
def test_a_damaged_file_is_refused_and_left_alone(path: Path, content: bytes, sentence: str) -> None:
    path.write_bytes(content)
    with pytest.raises(InputError, match=rf"runs\.csv(: |, ){re.escape(sentence)}"):
        compare(INSTANCES, SELECTORS, STOP, 1, PORTFOLIO, path)
    assert path.read_bytes() == content


def test_damaged_curves_are_refused_too(path: Path) -> None:
    compare(INSTANCES[:1], SELECTORS, STOP, 1, PORTFOLIO, path)
    curves = path.with_name("runs.curves.csv")
    curves.write_text(f"{curves.read_text()}E-n22-k4,random\n")
    with pytest.raises(InputError, match=r"runs\.curves\.csv, line \d+: is not a result"):
        compare(INSTANCES[:1], SELECTORS, STOP, 2, PORTFOLIO, path)


def test_comparisons_that_cannot_be_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^0 seeds asked for; at least 1 is needed\.$"):
        compare(INSTANCES, SELECTORS, STOP, 0, PORTFOLIO)
    with pytest.raises(InputError, match=r"^instance 'E-n22-k4' is named twice\.$"):
        compare([*INSTANCES, read("E-n22-k4")], SELECTORS, STOP, 1, PORTFOLIO)
    with pytest.raises(InputError, match=r"operator 'cluster' is not among zone, random-node"):
        compare(INSTANCES, {"poor": Fixed("cluster", "greedy")}, STOP, 1, PORTFOLIO)
    with pytest.raises(InputError, match=r"runs\.curves\.csv: cannot be written"):
        compare(INSTANCES, SELECTORS, STOP, 1, PORTFOLIO, tmp_path / "absent" / "runs.csv")


@pytest.mark.parametrize(
    ("stop", "scale", "words"),
    [
        (MaxTime(10), None, "10 s; own; default scale; from savings; greedy"),
        (MaxTime(0.5), 3, "0.5 s; own; scale 3; from savings; greedy"),
        (MaxIterations(500), (2, 7), "500 iterations; own; scale 2-7; from savings; greedy"),
    ],
)
def test_what_all_runs_share_is_said_in_words(
    stop: Stop, scale: float | tuple[float, float] | None, words: str
) -> None:
    portfolio = make_portfolio("own", ["random-node", "greedy"])
    assert describe(stop, portfolio, scale, "savings", "greedy") == words


def test_runs_under_other_conditions_are_other_runs(path: Path) -> None:
    compare(INSTANCES[:1], SELECTORS, STOP, 1, PORTFOLIO, path)
    compare(INSTANCES[:1], SELECTORS, STOP, 1, PORTFOLIO, path, scale=2)
    compare(INSTANCES[:1], SELECTORS, STOP, 1, PORTFOLIO, path, remark="greedy")
    assert len(read_rows(path, Outcome)) == 3 * len(SELECTORS)


def test_a_policy_names_the_instances_that_it_was_trained_on() -> None:
    made = constant_policy("zone,random-node,greedy", (1.0, 2.0, 1.0))
    trained = Policy({**made.card, "instances": ["X-n101-k25"]}, made.tensors)
    assert trained_on(PolicySelector(trained)) == ("X-n101-k25",)
    assert trained_on(PolicySelector(made)) == ()
    assert trained_on(Uniform()) == ()


# --- The best fixed pair. --------------------------------------------------------------------------------------------


def test_the_best_fixed_pair_is_the_one_that_does_best() -> None:
    entries = [operator("random-node"), operator("greedy"), WASTEFUL]
    for order in (entries, entries[::-1]):
        portfolio = make_portfolio("own", order)
        found = best_fixed(INSTANCES, portfolio, MaxIterations(1000), initial="random")
        assert found == Fixed("random-node", "greedy")


@dataclass(frozen=True)
class Cost:
    cost: float


@pytest.mark.parametrize(
    ("stop", "short"), [(MaxIterations(500), MaxIterations(50)), (MaxTime(20), MaxTime(2)), (STOP, MaxIterations(3))]
)
@pytest.mark.parametrize("workers", [1, 2])
def test_trials_are_short_and_count_every_instance_alike(
    monkeypatch: pytest.MonkeyPatch, stop: Stop, short: Stop, workers: int
) -> None:
    # By the sum of the costs the second pair would win; relative to the best cost of each instance it is the first:
    # (1 + 1000/900) / 2 = 1.06 against (120/100 + 1) / 2 = 1.1.
    costs = {"zone": (100, 1000), "random-node": (120, 900)}
    seen: list[tuple[Stop, int]] = []

    def staged(instance: Instance, stop: Stop, *, selector: Fixed, seed: int, **options: Any) -> Cost:
        seen.append((stop, seed))
        return Cost(costs[selector.destroy][INSTANCES.index(instance)])

    monkeypatch.setattr(comparison, "solve", staged)
    assert best_fixed(INSTANCES, PORTFOLIO, stop, workers=workers) == Fixed("zone", "greedy")
    assert seen == [(short, TRIAL_SEED)] * 4


def test_a_trial_has_at_least_one_iteration(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[float] = []

    def staged(instance: Instance, stop: Stop, **options: Any) -> Cost:
        seen.append(stop.iterations)
        return Cost(1.0)

    monkeypatch.setattr(comparison, "solve", staged)
    best_fixed(INSTANCES, PORTFOLIO, MaxIterations(1))
    assert set(seen) == {1}


# --- Verdicts. -------------------------------------------------------------------------------------------------------


def runs(selector: str, **costs: Sequence[float]) -> list[Outcome]:
    """Runs of a selector: the costs of each instance, seed by seed."""
    return [
        Outcome(instance, 5, selector, "1it", seed, 999.0, cost, 1, 0.1, 0.0)
        for instance, row in costs.items()
        for seed, cost in enumerate(row, 1)
    ]


def verdict(reference: Sequence[float], costs: Sequence[float]) -> Verdict:
    """The verdict on a selector over seeds of one instance."""
    _, found = judge([*runs("reference", a=reference), *runs("other", a=costs)], "reference")
    return found


def test_differences_and_excesses_by_hand() -> None:
    reference, other = judge([*runs("r", a=[100], b=[200]), *runs("x", a=[110], b=[190])], "r")
    # The best costs are 100 and 190. The differences are 10 % and −5 %, of ranks 2 and 1.
    assert (reference.selector, other.selector) == ("r", "x")
    assert reference.excess == pytest.approx((0 + 100 * 10 / 190) / 2)
    assert other.excess == pytest.approx((10 + 0) / 2)
    assert other.difference == pytest.approx(2.5)
    # Student's t for one degree of freedom at 97.5 % is 12.7062; the standard deviation is 15 / √2.
    assert other.ci == pytest.approx(12.7062 * 15 / 2, rel=1e-5)
    assert other.effect == pytest.approx((2 - 1) / 3)
    assert other.p == 1.0


def test_pairs_are_made_of_instance_and_seed_in_any_order() -> None:
    outcomes = [*runs("r", a=[100, 120], b=[50, 60]), *runs("x", a=[99, 118], b=[49, 57])]
    assert judge(outcomes, "r") == judge(outcomes[:4] + outcomes[:3:-1], "r")
    # In pairs the other one is always cheaper, though its dearest run costs more than the reference's cheapest.
    assert judge(outcomes, "r")[1].effect == -1


@pytest.mark.parametrize(
    ("costs", "effect"),
    [
        ([99, 98, 97, 96, 95], -1.0),
        ([101, 102, 103, 104, 105], 1.0),
        ([101, 99, 102, 98], 0.0),
        ([101, 99, 97], (1.5 - 1.5 - 3) / 6),
        ([110, 90], 0.0),
    ],
)
def test_the_effect_is_the_rank_biserial_correlation(costs: list[float], effect: float) -> None:
    assert verdict([100] * len(costs), costs).effect == pytest.approx(effect, abs=1e-12)


@pytest.mark.parametrize(("pairs", "p"), [(1, 1.0), (2, 0.5), (5, 0.0625), (6, 0.03125), (10, 2 / 2**10)])
def test_p_of_a_selector_that_is_always_cheaper(pairs: int, p: float) -> None:
    # Of all 2ⁿ signs only two are as extreme.
    assert verdict([100] * pairs, [99 - number for number in range(pairs)]).p == pytest.approx(p)


def test_ties_between_the_two_are_left_out() -> None:
    found = verdict([100, 100, 100, 100, 100], [100, 99, 98, 100, 103])
    assert found.effect == pytest.approx((3 - 1 - 2) / 6)
    assert found.difference == pytest.approx(0.0)
    assert 0.5 < found.p <= 1


def test_selectors_that_do_the_same_are_not_told_apart() -> None:
    found = verdict([100, 120, 90], [100, 120, 90])
    assert (found.difference, found.ci, found.effect, found.p, found.adjusted) == (0, 0, 0, 1, 1)


def test_the_reference_is_compared_with_itself() -> None:
    found, _ = judge([*runs("r", a=[100, 90]), *runs("x", a=[80, 70])], "r")
    assert (found.difference, found.effect, found.p, found.adjusted) == (0, 0, 1, 1)
    assert found.excess == pytest.approx(100 * ((100 + 90) / 2 / 70 - 1))


def test_one_seed_of_one_instance_has_no_interval() -> None:
    found = verdict([100], [90])
    assert math.isnan(found.ci)
    assert (found.difference, found.p, found.effect) == (-10, 1, -1)


def test_p_values_are_corrected_for_all_selectors_but_the_reference() -> None:
    outcomes = runs("r", a=[100] * 6)
    outcomes += runs("good", a=[99, 98, 97, 96, 95, 94])
    outcomes += runs("better", a=[89, 88, 87, 86, 85, 84])
    outcomes += runs("same", a=[101, 99, 102, 98, 103, 97])
    found = {entry.selector: entry for entry in judge(outcomes, "r")}
    assert [found[name].p for name in ("good", "better")] == pytest.approx([1 / 32] * 2)
    assert [found[name].adjusted for name in ("good", "better")] == pytest.approx([3 / 32] * 2)
    assert found["same"].adjusted == pytest.approx(1.0)


def test_a_reference_that_did_not_run_is_refused() -> None:
    with pytest.raises(InputError, match=r"^selector 'z' is not among r, x\.$"):
        judge([*runs("r", a=[1]), *runs("x", a=[1])], "z")


@pytest.mark.parametrize(
    ("values", "corrected"),
    [
        ([], []),
        ([0.2], [0.2]),
        # 4 × 0.001, 3 × 0.02, then 2 × 0.02, which may not be less than the one before, and 1 × 0.5.
        ([0.02, 0.5, 0.001, 0.02], [0.06, 0.5, 0.004, 0.06]),
        ([0.6, 0.7, 0.4], [1.0, 1.0, 1.0]),
        ([0.01, 0.04, 0.03], [0.03, 0.06, 0.06]),
    ],
)
def test_holm_by_hand(values: list[float], corrected: list[float]) -> None:
    assert holm(values) == pytest.approx(corrected)
