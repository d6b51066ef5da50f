"""How runs are divided, what they are tried on and what they are worth."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuralns import InputError
from neuralns.experiments.halving import Block, blocks_of, gain_of, plan_for, relative_costs


@given(st.integers(2, 200), st.integers(1, 300), st.integers(1, 5000))
def test_a_plan_keeps_to_the_runs_and_halves_until_one_is_left(candidates: int, instances: int, runs: int) -> None:
    try:
        plan = plan_for(candidates, instances, runs)
    except InputError:
        assert runs < 4 * candidates + 12
        return
    sizes = [size for size, _ in plan.rounds]
    assert sizes[0] == candidates
    assert all(later == (size + 1) // 2 for size, later in zip(sizes, [*sizes[1:], 1], strict=True))
    assert all(each >= 1 for _, each in plan.rounds)
    assert plan.last >= 1
    assert plan.last < instances or plan.last % instances == 0
    assert sum(size * each for size, each in plan.rounds) + 3 * plan.last <= runs


def test_half_an_hour_for_64_settings() -> None:
    plan = plan_for(64, 20, 900)
    assert plan.rounds == ((64, 1), (32, 4), (16, 8), (8, 16), (4, 34), (2, 68))
    assert plan.last == 60


def test_too_few_runs_are_refused() -> None:
    with pytest.raises(InputError, match=r"^there is time for 20 runs, but 8 candidates need 23 at least; take fewer"):
        plan_for(8, 3, 20)


def test_blocks_have_every_instance_once_before_any_comes_again() -> None:
    blocks = list(islice(blocks_of(["a", "b", "c"], 5, 1), 9))
    for start in (0, 3, 6):
        assert {block.source for block in blocks[start : start + 3]} == {"a", "b", "c"}
    assert len({block.seed for block in blocks}) == 9
    assert blocks == list(islice(blocks_of(["a", "b", "c"], 5, 1), 9))
    assert blocks != list(islice(blocks_of(["a", "b", "c"], 5, 2), 9))


def test_runs_that_leave_more_customers_out_are_last_of_their_block() -> None:
    costs = np.array([[100.0, 300.0, 10.0, 5.0], [0.0, 0.0, 0.0, 0.0]])
    values = relative_costs(costs, np.array([[1, 1, 2, 3], [0, 0, 0, 0]]))
    assert values[0] == pytest.approx([-0.5, 0.5, 0.6, 0.7])
    assert values[1] == pytest.approx([0, 0, 0, 0])


def test_what_rounding_of_sums_can_do_is_no_difference() -> None:
    costs = np.array([[930.8000000000002, 930.8, 930.7999999999998]])
    assert not relative_costs(costs, np.zeros((1, 3))).any()


def test_a_gain_is_over_instances_and_tested_from_six_on() -> None:
    blocks = [Block(name, seed) for seed in range(2) for name in "abcdef"]
    gain = gain_of(blocks, [0.01, 0.02, 0.03, 0.04, 0.05, 0.06] * 2)
    assert gain.percent == pytest.approx(3.5)
    assert gain.p == pytest.approx(1 / 32)
    assert (gain.instances, gain.runs) == (6, 12)
    assert gain.interval is not None
    few = gain_of(blocks[:3], [0.01, -0.02, 0.0])
    assert (few.p, few.instances, few.runs) == (None, 3, 3)
    alone = gain_of(blocks[:1], [0.01])
    assert alone.percent == pytest.approx(1)
    assert alone.interval is None
