"""Bandits over pairs of operators: their choices against numbers worked by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from helpers import WASTEFUL
from neuralns import AlphaUCB, InputError, Instance, MaxIterations, Thompson, make_portfolio, portfolio_named, solve
from neuralns.routes.transfer import State, new_state
from neuralns.selection.bandit import gamma
from neuralns.selection.selector import ACCEPTED, BEST, BETTER, DESTROY, REJECTED, REPAIR

TWO_ARMS = portfolio_named("zone,pair,greedy")
SIX_ARMS = portfolio_named("zone,pair,worst-node,greedy,regret-2")


def some_state(seed: int = 3) -> State:
    return new_state(Instance("one", [0, 1], 1, [[0, 0], [1, 0]]), seed)


class Pulls:
    """A bandit at work: pairs are chosen, and their outcomes told, by hand."""

    def __init__(self, bandit: AlphaUCB | Thompson, portfolio: Any = TWO_ARMS) -> None:
        self.memory = bandit.start(portfolio)
        self.choose, self.update = bandit.functions()
        self.state = some_state()

    def pair(self) -> tuple[int, int]:
        destroy = self.choose(self.memory, self.state, DESTROY)
        return destroy, self.choose(self.memory, self.state, REPAIR)

    def tell(self, destroy: int, *outcomes: int, repair: int = 0) -> None:
        for outcome in outcomes:
            self.update(self.memory, destroy, repair, outcome, 0.0)

    def share(self, count: int = 8000) -> float:
        """How often the first of two arms is chosen."""
        return float(np.mean([self.pair() == (0, 0) for _ in range(count)]))


# --- α-UCB. ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("alpha", "score", "expected"),
    [
        # Arm 0 was pulled twice with mean `score`, arm 1 once with mean 0, t = 3. Arm 1 is the better one if
        # √(α ln 4) − √(α ln 4 / 2) > score; for α = 1 that is 0.3449 (0.3070 were it ln t), for α = 1/4 half of it.
        (1.0, 0.33, 1),
        (1.0, 0.36, 0),
        (0.25, 0.16, 1),
        (0.25, 0.18, 0),
        (0.0, 0.01, 0),
    ],
)
def test_the_arm_with_the_largest_mean_and_bonus_is_pulled(alpha: float, score: float, expected: int) -> None:
    pulls = Pulls(AlphaUCB(alpha, (score, 0.0, 0.0, 0.0)))
    pulls.tell(0, BEST, BEST)
    pulls.tell(1, REJECTED)
    assert pulls.pair() == (expected, 0)


def test_a_long_course_of_ucb_by_hand() -> None:
    alpha, scores = 0.3, {BEST: 1.0, BETTER: 0.5, ACCEPTED: 0.1, REJECTED: 0.0}
    pulls, rng = Pulls(AlphaUCB(alpha), SIX_ARMS), np.random.default_rng(1)
    means, counts = [0.0] * 6, [0] * 6
    for t in range(300):
        values = [
            mean + math.sqrt(alpha * math.log(1 + t) / count) if count else math.inf
            for mean, count in zip(means, counts, strict=True)
        ]
        arm = values.index(max(values))
        assert pulls.pair() == divmod(arm, 2)
        # The later an arm, the better its outcomes.
        outcome = int(rng.binomial(3, (1 + arm) / 8))
        pulls.tell(arm // 2, outcome, repair=arm % 2)
        counts[arm] += 1
        means[arm] += (scores[outcome] - means[arm]) / counts[arm]
    assert counts[5] == max(counts)
    assert min(counts) > 1


def test_arms_that_were_never_pulled_come_first() -> None:
    pulls = Pulls(AlphaUCB(), SIX_ARMS)
    seen = []
    for _ in range(6):
        destroy, repair = pulls.pair()
        seen.append((destroy, repair))
        pulls.tell(destroy, BEST, repair=repair)
    assert sorted(seen) == [(destroy, repair) for destroy in range(3) for repair in range(2)]


@pytest.mark.parametrize("better", [ACCEPTED, BETTER, BEST])
def test_the_better_the_outcome_the_larger_its_score(better: int) -> None:
    # Without exploration the arm with the larger mean is pulled.
    for first, second in ((better, better - 1), (better - 1, better)):
        pulls = Pulls(AlphaUCB(0.0))
        pulls.tell(0, first)
        pulls.tell(1, second)
        assert pulls.pair() == (int(second > first), 0)


def test_scores_are_those_asked_for() -> None:
    pulls = Pulls(AlphaUCB(0.0, (0.2, 0.9, 0.4, 0.3)))
    pulls.tell(0, BEST)
    pulls.tell(1, REJECTED)
    assert pulls.pair() == (1, 0)
    pulls.tell(0, BETTER)  # mean 0.55
    assert pulls.pair() == (0, 0)
    pulls.tell(1, ACCEPTED, BETTER)  # mean (0.3 + 0.4 + 0.9) / 3 = 0.533
    assert pulls.pair() == (0, 0)
    pulls.tell(1, BETTER)  # mean 0.625
    assert pulls.pair() == (1, 0)


# --- Thompson sampling. ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [1.0, 2.5, 50.0])
def test_gamma_numbers_have_their_mean_variance_and_distribution(shape: float) -> None:
    state = some_state(7)
    drawn = np.array([gamma(state, shape) for _ in range(20000)])
    assert drawn.min() > 0
    assert drawn.mean() == pytest.approx(shape, rel=0.03)
    assert drawn.var() == pytest.approx(shape, rel=0.06)
    assert stats.kstest(drawn, stats.gamma(shape).cdf).pvalue > 0.01


@pytest.mark.parametrize(
    ("first", "second", "share"),
    [
        # Beta(1, 1) is uniform, so that against it the chance of an arm to be drawn is the mean of its posterior.
        ((), (), 1 / 2),
        ((BEST,), (), 2 / 3),
        ((BETTER,), (), 2 / 3),
        ((ACCEPTED,), (), 1 / 3),
        ((REJECTED,), (), 1 / 3),
        ((BEST, BETTER, REJECTED), (), 3 / 5),
        # X from Beta(2, 1) against Beta(1, 2) with F(x) = 2x − x²: 2 E X − E X² = 4/3 − 1/2.
        ((BEST,), (REJECTED,), 5 / 6),
    ],
)
def test_arms_are_drawn_by_their_chance_to_be_the_best(
    first: tuple[int, ...], second: tuple[int, ...], share: float
) -> None:
    pulls = Pulls(Thompson(memory=1.0))
    pulls.tell(0, *first)
    pulls.tell(1, *second)
    assert pulls.share() == pytest.approx(share, abs=0.02)


def test_the_arm_with_more_successes_is_preferred() -> None:
    pulls = Pulls(Thompson())
    pulls.tell(0, *[REJECTED] * 60, *[BETTER] * 40)
    pulls.tell(1, *[REJECTED] * 90, *[BETTER] * 10)
    assert pulls.share(500) > 0.99


def test_a_pull_shrinks_the_counts_of_its_arm() -> None:
    pulls = Pulls(Thompson(memory=0.5))
    pulls.tell(0, BEST, REJECTED)
    # Half a success and one failure: the mean of Beta(1.5, 2) is 3/7, that of Beta(2, 2) would be 1/2.
    assert pulls.share() == pytest.approx(3 / 7, abs=0.02)


def test_a_pull_leaves_the_counts_of_the_other_arms() -> None:
    pulls = Pulls(Thompson(memory=0.5))
    pulls.tell(0, BEST)
    pulls.tell(1, REJECTED)
    # 5/6 as without forgetting; had arm 0 been halved, 2 × 0.6 − 3/7 = 0.77.
    assert pulls.share() == pytest.approx(5 / 6, abs=0.02)


def test_a_bandit_that_forgets_follows_what_succeeds_now() -> None:
    shares = []
    for memory in (0.9, 1.0):
        pulls = Pulls(Thompson(memory))
        pulls.tell(0, *[BEST] * 300, *[REJECTED] * 60)
        pulls.tell(1, *[REJECTED] * 300, *[BEST] * 60)
        shares.append(pulls.share(500))
    assert shares[0] < 0.01
    assert shares[1] > 0.99


# --- Both. -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bandit", [AlphaUCB(), Thompson()], ids=lambda bandit: bandit.name)
@pytest.mark.parametrize("good", [(0, 1), (1, 0), (2, 1)])
def test_the_repair_is_that_of_the_chosen_pair(bandit: AlphaUCB | Thompson, good: tuple[int, int]) -> None:
    pulls = Pulls(bandit, SIX_ARMS)
    for destroy in range(3):
        for repair in range(2):
            pulls.tell(destroy, *[BEST if (destroy, repair) == good else REJECTED] * 200, repair=repair)
    assert {pulls.pair() for _ in range(100)} == {good}


@pytest.mark.parametrize("bandit", [AlphaUCB(), Thompson()], ids=lambda bandit: bandit.name)
def test_a_search_with_the_same_seed_takes_the_same_course(bandit: AlphaUCB | Thompson) -> None:
    one, same, other = (
        solve("X-n101-k25", MaxIterations(600), selector=bandit, seed=seed, initial="random") for seed in (4, 4, 5)
    )
    assert one.selector == bandit.name
    assert one.routes == same.routes
    assert one.operators == same.operators
    assert one.operators != other.operators
    # Pairs that were never tried come first, so that every operator gets its turn.
    assert all(use.used > 0 for use in one.operators)


@pytest.mark.parametrize("bandit", [AlphaUCB(), Thompson()], ids=lambda bandit: bandit.name)
def test_a_bandit_gives_more_turns_to_what_improves(bandit: AlphaUCB | Thompson) -> None:
    portfolio = make_portfolio("own", ["random-node", "greedy", WASTEFUL])
    result = solve("X-n101-k25", MaxIterations(3000), selector=bandit, portfolio=portfolio, initial="random", seed=1)
    used = {use.name: use.used for use in result.operators}
    assert used["greedy"] > 3 * used["wasteful"]


@pytest.mark.parametrize("alpha", [-0.1, 1.1, math.nan])
def test_an_alpha_outside_its_range_is_refused(alpha: float) -> None:
    with pytest.raises(InputError, match=rf"^alpha {alpha} of the bandit must lie between 0 and 1\.$"):
        AlphaUCB(alpha)


@pytest.mark.parametrize("memory", [0.0, -1.0, 1.5, math.nan])
def test_a_memory_outside_its_range_is_refused(memory: float) -> None:
    with pytest.raises(InputError, match=rf"^memory {memory} of the bandit must lie above 0 and at most at 1\.$"):
        Thompson(memory)
