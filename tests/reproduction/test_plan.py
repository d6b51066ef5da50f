"""Plans of the paper's experiments."""

from __future__ import annotations

import pytest

from neuralns import InputError
from neuralns.reproduction.plan import EXPERIMENTS, Plan, experiments_named


def test_a_plan_needs_a_seed() -> None:
    with pytest.raises(InputError, match=r"^0 seeds asked for; at least 1 is needed\.$"):
        Plan(seeds=0)


def test_seeds_are_so_many_or_named() -> None:
    assert Plan(seeds=3).seed_numbers == [0, 1, 2]
    assert Plan(seeds=(4, 2)).seed_numbers == [4, 2]
    # The same seeds are the same conditions, however they were given.
    assert Plan(seeds=3).conditions == Plan(seeds=(0, 1, 2)).conditions == {"seeds": 3}
    assert Plan(seeds=(4, 2)).conditions == {"seeds": [4, 2]}


def test_experiments_are_known_by_name() -> None:
    assert experiments_named("scale") == ("scale",)
    assert experiments_named("all") == EXPERIMENTS
    with pytest.raises(
        InputError, match=r"^experiment 'table3' is not known; choose table1, table2, scaling, large, s"
    ):
        experiments_named("table3")
