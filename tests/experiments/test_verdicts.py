"""Verdicts on selectors, against numbers worked by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from neuralns import InputError
from neuralns.experiments.comparison import SelectorRun
from neuralns.experiments.verdicts import Summary, Verdict, judge, summarise


def runs(selector: str, **costs: Sequence[float]) -> list[SelectorRun]:
    """Runs of a selector: the costs of each instance, seed by seed."""
    return [
        SelectorRun(instance, 5, selector, "1it", seed, 999.0, cost, 1, 0.1, 0.0)
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
    # Two instances are too few for a test.
    assert math.isnan(other.p)
    assert math.isnan(other.adjusted)


def test_pairs_are_made_of_instance_and_seed_in_any_order() -> None:
    made = [*runs("r", a=[100, 120], b=[50, 60]), *runs("x", a=[99, 118], b=[49, 57])]
    assert judge(made, "r") == judge(made[:4] + made[:3:-1], "r")
    # In pairs the other one is always cheaper, though its dearest run costs more than the reference's cheapest.
    assert judge(made, "r")[1].effect == -1


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


def test_more_seeds_on_the_same_instances_do_not_make_a_verdict_more_certain() -> None:
    changes = {"a": 1, "b": 2, "c": -1, "d": 4, "e": 3, "f": 2}

    def judged(seeds: int) -> Verdict:
        made = [*runs("r", **{name: [100] * seeds for name in changes})]
        made += runs("x", **{name: [100 + change] * seeds for name, change in changes.items()})
        return judge(made, "r")[1]

    once, often = judged(1), judged(5)
    assert (once.difference, once.ci, once.p, once.effect) == pytest.approx(
        (often.difference, often.ci, often.p, often.effect)
    )
    # The ranks are 1.5 (1, −1), 3.5 (2, 2), 5 and 6: all but one of 1.5 are of dearer runs.
    assert judged(5).effect == pytest.approx((21 - 2 * 1.5) / 21)
    assert judged(5).p > 0.05


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
    made = runs("r", a=[100] * 6)
    made += runs("good", a=[99, 98, 97, 96, 95, 94])
    made += runs("better", a=[89, 88, 87, 86, 85, 84])
    made += runs("same", a=[101, 99, 102, 98, 103, 97])
    found = {entry.selector: entry for entry in judge(made, "r")}
    assert [found[name].p for name in ("good", "better")] == pytest.approx([1 / 32] * 2)
    assert [found[name].adjusted for name in ("good", "better")] == pytest.approx([3 / 32] * 2)
    assert found["same"].adjusted == pytest.approx(1.0)


def test_a_reference_that_did_not_run_is_refused() -> None:
    with pytest.raises(InputError, match=r"^selector 'z' is not among r, x\.$"):
        judge([*runs("r", a=[1]), *runs("x", a=[1])], "z")


def test_summaries_are_of_each_selector_on_each_instance() -> None:
    made = [*runs("r", a=[100, 110], b=[50]), *runs("x", a=[90], b=[60])]
    assert summarise(made) == [
        Summary("a", "r", 105.0, 100, 110, 1.0, 0.0),
        Summary("a", "x", 90.0, 90, 90, 1.0, 0.0),
        Summary("b", "r", 50.0, 50, 50, 1.0, 0.0),
        Summary("b", "x", 60.0, 60, 60, 1.0, 0.0),
    ]
