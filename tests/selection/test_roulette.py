"""The classic roulette wheel: Equation 1 against numbers worked by hand."""

from __future__ import annotations

import re

import numpy as np
import pytest

from neuralns import InputError, Instance, MaxIterations, Roulette, Uniform, portfolio_named, solve
from neuralns.routes.transfer import new_state
from neuralns.selection.selector import ACCEPTED, BEST, BETTER, DESTROY, REJECTED, REPAIR


def test_weights_follow_equation_1() -> None:
    wheel = Roulette(scores=(33, 13, 9), segment=4, reaction=0.1)
    memory = wheel.start(portfolio_named("paper-3"))
    _, update = wheel.functions()
    assert memory.weights.tolist() == [1.0] * 5
    for destroy, repair, outcome in ((0, 0, BEST), (0, 1, REJECTED), (1, 0, ACCEPTED), (1, 0, BETTER)):
        assert memory.weights.tolist() == [1.0] * 5
        update(memory, destroy, repair, outcome, 0.0)
    # Destroy 0: ψ = 33, N = 2; 1: ψ = 9 + 13, N = 2; 2: unused. Repair 0: ψ = 55, N = 3; 1: ψ = 0.
    expected = [0.9 + 0.1 * 16.5, 0.9 + 0.1 * 11, 1.0, 0.9 + 0.1 * 55 / 3, 1.0]
    assert memory.weights == pytest.approx(expected, rel=1e-15)

    # In the next segment scores and counts start from zero, and an operator with score 0 keeps its weight.
    for _ in range(4):
        update(memory, 2, 1, ACCEPTED, 0.0)
    expected[2], expected[4] = 0.9 * 1.0 + 0.1 * 9, 0.9 * 1.0 + 0.1 * 9
    assert memory.weights == pytest.approx(expected, rel=1e-15)


def test_operators_are_drawn_in_proportion_to_their_weights() -> None:
    wheel = Roulette(segment=1, reaction=1.0)
    memory = wheel.start(portfolio_named("paper-2"))
    choose, update = wheel.functions()
    update(memory, 0, 1, BEST, 0.0)
    update(memory, 1, 0, ACCEPTED, 0.0)
    assert memory.weights.tolist() == [33.0, 9.0, 9.0, 33.0]
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


LEARNED = {"zone": 1.0, "pair": 0.0, "worst-node": 3.0, "greedy": 4.0, "regret-2": 1.0}


def test_learned_weights_are_scaled_to_the_size_of_the_scores() -> None:
    wheel = Roulette(scores=(33, 12, 9), learned=LEARNED)
    # Destroy operators have a mean of 4/3 and are scaled by 9, repair operators of 5/2 and by 4.8.
    memory = wheel.start(portfolio_named("zone,pair,worst-node,greedy,regret-2"))
    assert memory.weights == pytest.approx([9, 0, 27, 19.2, 4.8], abs=1e-6)
    # Of a part of the operators, in another order, the mean is that of the part.
    memory = wheel.start(portfolio_named("worst-node,zone,greedy"))
    assert memory.weights == pytest.approx([18, 6, 12])


def test_learned_weights_adapt_from_where_they_start() -> None:
    wheel = Roulette(scores=(33, 12, 9), segment=2, reaction=0.5, learned=LEARNED)
    memory = wheel.start(portfolio_named("zone,worst-node,greedy,regret-2"))
    assert memory.weights == pytest.approx([6, 18, 19.2, 4.8])
    _, update = wheel.functions()
    update(memory, 0, 1, BEST, 0.0)
    update(memory, 0, 1, ACCEPTED, 0.0)
    assert memory.weights == pytest.approx([3 + 21 / 2, 18, 19.2, 2.4 + 21 / 2])


def test_an_operator_with_a_learned_weight_of_zero_can_come_back() -> None:
    wheel = Roulette(segment=1, reaction=0.1, learned=LEARNED)
    portfolio = portfolio_named("zone,pair,greedy")
    memory = wheel.start(portfolio)
    assert 0 < memory.weights[1] < 1e-6
    _, update = wheel.functions()
    update(memory, 1, 0, BEST, 0.0)
    assert memory.weights[1] == pytest.approx(3.3)
    # Where all of a phase have none, they share their turns.
    none = Roulette(learned={"zone": 0.0, "pair": 0.0, "greedy": 1.0}).start(portfolio)
    assert none.weights[0] == none.weights[1] > 0


def test_a_search_starts_from_the_learned_weights() -> None:
    portfolio = "zone,pair,worst-node,greedy,regret-2"
    kept, adapted = (
        solve("E-n22-k4", MaxIterations(4000), selector=Roulette(reaction=reaction, learned=LEARNED),
              portfolio=portfolio, seed=1)
        for reaction in (0.0, 0.5)
    )  # fmt: skip
    used = {use.name: use.used / 4000 for use in kept.operators}
    assert used == pytest.approx(
        {"zone": 1 / 4, "pair": 0, "worst-node": 3 / 4, "greedy": 4 / 5, "regret-2": 1 / 5}, abs=0.03
    )
    moved = {use.name: use.used / 4000 for use in adapted.operators}
    assert moved["worst-node"] != pytest.approx(used["worst-node"], abs=0.05)


def test_an_operator_without_a_learned_weight_is_refused() -> None:
    sentence = "selector 'mine' was trained without operator 'cluster'."
    with pytest.raises(InputError, match=f"^{re.escape(sentence)}$"):
        Roulette(name="mine", learned=LEARNED).start(portfolio_named("zone,cluster,greedy"))


def test_a_run_without_an_update_of_the_weights_is_doubted() -> None:
    assert Roulette(segment=10).doubt_of_length(11) is None
    assert Roulette().doubt_of_length(float("inf")) is None
    assert "and the run has 10: it chooses at random;" in str(Roulette(segment=10).doubt_of_length(10))
    learned = Roulette(learned={"zone": 1.0, "greedy": 1.0}, name="mine")
    assert learned.doubt_of_length(7) == (
        "selector 'mine' changes its weights after 100 iterations, and the run has 7: it chooses by the weights it "
        "began with."
    )
    assert Uniform().doubt_of_length(1) is None
