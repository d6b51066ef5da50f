"""Labelled states: exact pairs are found, labels are what comes, states are fresh."""

from __future__ import annotations

import numpy as np

from neuralns.mdp.labels import Base, exact_pairs, label_states, plan_probes
from neuralns.mdp.mdp import make_mdp
from neuralns.selection.features import RICH
from neuralns.selection.look_ahead import Probes

MIXED = make_mdp("C101", customers=20, setting="paper", portfolio="random-node,greedy-route,greedy,regret-2")
RANDOM = make_mdp("C101", customers=20, setting="distance", portfolio="random-node,worst-node,greedy")


def test_exact_pairs_are_those_without_chance() -> None:
    assert exact_pairs(MIXED).tolist() == [False, False, True, True]
    assert not exact_pairs(RANDOM).any()


def test_the_better_of_two_exact_pairs_is_improved_on_and_looked_at() -> None:
    base, probes = plan_probes(MIXED)
    assert sorted(base.pairs) == [2, 3]
    assert base.exact
    assert set(probes.chains) == set(probes.firsts) == {("greedy-route", "greedy"), ("greedy-route", "regret-2")}
    assert probes.exact == (True, True)


def test_where_nothing_is_exact_nothing_is_simulated() -> None:
    base, probes = plan_probes(RANDOM)
    assert len(base.pairs) == 1
    assert not base.exact
    assert probes.width == 0


def test_labels_of_the_base_are_what_its_chain_gives() -> None:
    """Where the base is a single exact pair, using it once more and then to the end is its chain."""
    probes = Probes((("greedy-route", "greedy"),), (True,), (), 1, 10)
    made = label_states(MIXED, Base((2,), True), probes, 300, 7)
    budget, cost, end = (made.rows[:, place] for place in (1, 2, len(RICH.globals) + 2))
    start = made.labels[:, 2] / np.maximum(cost - end, 1e-9)
    changed = cost - end > 1e-3
    assert changed.sum() > 100
    assert np.allclose(start[changed], start[changed].mean(), rtol=0.1), "gains over shares are costs of starts"
    assert sorted({round(float(each), 3) for each in budget}) == [each / 10 for each in range(1, 11)]


def test_the_better_of_two_is_never_worse_than_the_first() -> None:
    # The way to a state is that of the first pair of the base, so that the states are the same.
    one, both = (
        label_states(MIXED, Base(pairs, True), Probes(budget=10), 500, 3).labels[:, 2:] for pairs in ((2,), (2, 3))
    )
    assert (both >= one - 1e-3).all()
    assert (both > one + 1e-3).any()


def test_same_seed_same_labels_other_seed_other_states() -> None:
    first, same, other = (label_states(RANDOM, Base((0,), False), Probes(), 40, seed) for seed in (1, 1, 2))
    assert np.array_equal(first.rows, same.rows)
    assert np.array_equal(first.labels, same.labels)
    assert not np.array_equal(first.rows, other.rows)
    assert first.labels.shape == (40, 2)


def test_four_states_of_each_tour_are_labelled_after_different_numbers_of_pairs() -> None:
    made = label_states(RANDOM, Base((0,), False), Probes(budget=10), 2000, 1)
    budget, cost = made.rows[:, 1], made.rows[:, 2]
    assert len(made.rows) == 2000
    assert sorted({round(float(each), 3) for each in budget}) == [each / 10 for each in range(1, 11)]
    # A start has all of the budget left and the cost of the start: four of ten tours have it among theirs.
    assert 0.4 * 500 - 60 < (budget > 0.99).sum() < 0.4 * 500 + 60
    assert (cost[budget > 0.99] == 1.0).all()


def test_pairs_of_a_state_have_the_same_luck() -> None:
    """One customer goes, the same for both pairs, and both put it where it costs least."""
    single = make_mdp("C101", customers=20, setting="distance", portfolio="random-node,greedy,regret-2", scale=1)
    made = label_states(single, Base((0,), False), Probes(budget=10), 1000, 1)
    last = made.labels[made.rows[:, 1] < 0.11]
    assert len(np.unique(last[:, 0].round(3))) > 20
    assert np.allclose(last[:, 0], last[:, 1])


def test_what_is_seen_takes_the_place_of_features_and_the_labels_stay() -> None:
    given = MIXED, Base((2,), True), Probes(budget=10), 60, 5
    plain = label_states(*given)
    seen = label_states(*given, see=lambda lanes: lanes.global_features.copy())
    assert np.array_equal(seen.rows, plain.rows)
    assert np.array_equal(seen.labels, plain.labels)


def test_what_the_base_gains_after_a_pair_is_kept_where_it_is_asked_for() -> None:
    given = RANDOM, Base((0,), False), Probes(budget=10), 200, 5
    plain, kept = label_states(*given), label_states(*given, keep_after=True)
    assert plain.after is None
    assert plain.onward is None
    assert np.array_equal(plain.labels, kept.labels)
    assert kept.after is not None
    assert kept.onward is not None
    assert kept.after.shape == (200, 2, len(RICH.globals))
    # A pair later a tenth less of the budget is left, and F of the start is the same in both rows.
    assert np.allclose(kept.after[:, :, 1], kept.rows[:, None, 1] - 0.1, atol=1e-6)
    share = kept.rows[:, None, 2] - kept.after[:, :, 2]
    start = (kept.labels - kept.onward)[share > 0.05] / share[share > 0.05]
    assert start.std() < 0.2 * start.mean()
    assert (kept.onward[kept.rows[:, 1] < 0.11] == 0).all(), "after the last pair nothing is gained"


def test_a_value_network_takes_the_place_of_simulations_to_the_end() -> None:
    """One that says 100 for each pair that is left, and 7: labels are the gain of one pair and that."""
    weight = np.zeros((len(RICH.globals), 1), np.float32)
    weight[RICH.globals.index("budget")] = 1000.0
    given = RANDOM, Base((0,), False), Probes(budget=10), 200, 5
    kept = label_states(*given, keep_after=True)
    assert kept.onward is not None
    valued = label_states(*given, value=[(weight, np.array([7.0], np.float32))])
    assert np.array_equal(valued.rows, kept.rows)
    left = np.rint(10 * kept.rows[:, [1]]) - 1
    expected = kept.labels - kept.onward + np.where(left > 0, 100 * left + 7, 0)
    assert np.allclose(valued.labels, expected, atol=0.01)
