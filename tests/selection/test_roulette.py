"""The classic roulette wheel: Equation 1 against numbers worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from neuralns import Instance, MaxIterations, Roulette, portfolio_named, solve
from neuralns.operators.state import new_state
from neuralns.selection.roulette import weights
from neuralns.selection.selector import ACCEPTED, BEST, BETTER, DESTROY, REJECTED, REPAIR


def test_weights_follow_equation_1() -> None:
    wheel = Roulette(scores=(33, 13, 9), segment=4, reaction=0.1)
    memory = wheel.start(portfolio_named("paper-3"))
    _, update = wheel.functions()
    assert weights(memory).tolist() == [1.0] * 5
    for destroy, repair, outcome in ((0, 0, BEST), (0, 1, REJECTED), (1, 0, ACCEPTED), (1, 0, BETTER)):
        assert weights(memory).tolist() == [1.0] * 5
        update(memory, destroy, repair, outcome, 0.0)
    # Destroy 0: ψ = 33, N = 2; 1: ψ = 9 + 13, N = 2; 2: unused. Repair 0: ψ = 55, N = 3; 1: ψ = 0.
    expected = [0.9 + 0.1 * 16.5, 0.9 + 0.1 * 11, 1.0, 0.9 + 0.1 * 55 / 3, 1.0]
    assert weights(memory) == pytest.approx(expected, rel=1e-15)

    # In the next segment scores and counts start from zero, and an operator with score 0 keeps its weight.
    for _ in range(4):
        update(memory, 2, 1, ACCEPTED, 0.0)
    expected[2], expected[4] = 0.9 * 1.0 + 0.1 * 9, 0.9 * 1.0 + 0.1 * 9
    assert weights(memory) == pytest.approx(expected, rel=1e-15)


def test_operators_are_drawn_in_proportion_to_their_weights() -> None:
    wheel = Roulette(segment=1, reaction=1.0)
    memory = wheel.start(portfolio_named("paper-2"))
    choose, update = wheel.functions()
    update(memory, 0, 1, BEST, 0.0)
    update(memory, 1, 0, ACCEPTED, 0.0)
    assert weights(memory).tolist() == [33.0, 9.0, 9.0, 33.0]
    state = new_state(Instance("one", [0, 1], 1, [[0, 0], [1, 0]]), 3)
    destroys = np.array([choose(memory, state, DESTROY) for _ in range(8000)])
    repairs = np.array([choose(memory, state, REPAIR) for _ in range(8000)])
    assert (destroys == 0).mean() == pytest.approx(33 / 42, abs=0.02)
    assert (repairs == 0).mean() == pytest.approx(9 / 42, abs=0.02)


def test_a_search_adapts_its_weights() -> None:
    result = solve("X-n101-k25", MaxIterations(3000), selector=Roulette(segment=50, reaction=0.3))
    used = {use.name: use.used for use in result.operators}
    assert used["regret-2"] != pytest.approx(1500, abs=100)


@pytest.mark.parametrize(
    "wrong",
    [{"scores": (9, 13, 33)}, {"scores": (3, 3, 1)}, {"scores": (3, 2, -1)}, {"segment": 0}, {"reaction": 1.5}],
)
def test_parameters_that_make_no_sense_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="roulette"):
        Roulette(**wrong)  # type: ignore[arg-type]
