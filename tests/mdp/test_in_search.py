"""Agents evaluated inside ALNS: figures by hand, repeatable, and in the order that the paper's Table 2 shows."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers import WASTEFUL
from neuralns import MDP, Always, Fixed, HillClimbing, InputError, InputWarning, Roulette, Uniform, make_mdp, read
from neuralns.mdp import evaluate as evaluate_module
from neuralns.mdp.baselines import best_fixed_pair, train_roulette
from neuralns.mdp.in_search import SearchEvaluation, evaluate_in_search
from neuralns.operators.registry import operator
from neuralns.routes.bounds import charged_cost, unserved_cost
from neuralns.selection.learned_roulette import LearnedRoulette
from neuralns.selection.policy_file import write_policy
from policies import constant_policy, wheel_policy

FOUR = "random-route,random-node,greedy,regret-2"
SMALL = make_mdp("R101", customers=20, portfolio=FOUR)


def searched(agent: Any = "random", **options: Any) -> SearchEvaluation:
    return evaluate_in_search(SMALL, agent, **{"pairs": 5, "episodes": 6, "seeds": 2, **options})


def test_average_and_minimum_by_hand() -> None:
    courses, costs = np.array([[4.0, 8.0, 6.0], [9.0, 9.0, 12.0]]), np.array([[1.0, 2.0, 6.0], [3.0, 5.0, 4.0]])
    found = SearchEvaluation("mine", SMALL, 20, courses, costs, 1.0)
    assert found.average == pytest.approx(48 / 6)
    assert found.minimum == pytest.approx(21 / 6)
    # Means 6 and 10, and 3 and 4, of the two seeds; Student's t for one degree of freedom is 12.7062.
    assert found.average_ci == pytest.approx(12.7062 * 2, rel=1e-5)
    assert found.minimum_ci == pytest.approx(12.7062 / 2, rel=1e-5)
    figures = found.as_dict()
    assert figures == {
        "agent": "mine",
        "setting": "paper",
        "instance": "R101",
        "customers": 20,
        "portfolio": FOUR,
        "scale": 4,
        "iterations": 20,
        "episodes": 3,
        "seeds": 2,
        "average": found.average,
        "average_ci": found.average_ci,
        "minimum": found.minimum,
        "minimum_ci": found.minimum_ci,
    }


def test_one_seed_has_no_interval() -> None:
    found = SearchEvaluation("mine", SMALL, 20, np.array([[1.0, 2.0]]), np.array([[1.0, 2.0]]), 1.0)
    assert np.isnan([found.average_ci, found.minimum_ci]).all()
    assert (found.as_dict()["average_ci"], found.as_dict()["minimum_ci"]) == (None, None)


def test_every_tour_is_searched_from_once_for_each_seed() -> None:
    found = searched(seeds=3)
    assert found.costs.shape == (3, 6)
    assert (found.agent, found.pairs, found.mdp) == ("random", 5, SMALL)
    starts = np.array([start.cost for start in SMALL.start_tours("test", 6)])
    assert (found.costs <= starts).all()
    assert (found.costs < starts).any()
    assert found.seconds > 0


def test_the_best_solution_counts_not_the_last_one() -> None:
    starts = np.array([start.cost for start in SMALL.start_tours("test", 40)])
    wasteful = make_mdp("R101", customers=20, portfolio=[operator("random-node"), WASTEFUL])
    found = evaluate_in_search(wasteful, "random", pairs=3, episodes=40, seeds=1, acceptance=Always())
    assert found.costs[0] == pytest.approx(starts)


def test_the_average_is_that_of_the_current_solution_over_the_iterations() -> None:
    starts = np.array([start.cost for start in SMALL.start_tours("test", 24)])
    one, many = (searched(pairs=pairs, episodes=24, acceptance=HillClimbing()) for pairs in (1, 12))
    # Hill climbing only falls: after one iteration the current solution is the best, later the average is above it.
    assert one.courses == pytest.approx(one.costs)
    assert (many.courses > many.costs).all()
    assert (many.courses < starts).all()


def test_the_same_seeds_give_the_same_results() -> None:
    one, same, more = searched(), searched(), searched(seeds=3, episodes=8)
    assert one.costs.tolist() == same.costs.tolist()
    # More seeds and tours leave those before them as they are.
    assert more.costs[:2, :6].tolist() == one.costs.tolist()
    assert one.costs[0].tolist() != one.costs[1].tolist()


def test_seeds_can_be_named() -> None:
    told: list[tuple[int, int]] = []
    some = searched(seeds=[3, 1], progress=lambda done, total: told.append((done, total)))
    assert some.costs.tolist() == searched(seeds=4).costs[[3, 1]].tolist()
    assert told == [(1, 2), (2, 2)]
    by_seed = {3: Roulette(segment=2, name="mine"), 1: Fixed("random-route", "greedy")}
    found = searched(by_seed, seeds=[3, 1])
    assert found.agent == "mine"
    assert found.costs[1].tolist() == searched(by_seed[1], seeds=2).costs[1].tolist()


def test_other_tours_can_be_asked_for() -> None:
    assert searched(tours="validate").costs.tolist() != searched().costs.tolist()


def test_more_iterations_are_not_worse_on_average() -> None:
    few, some, many = (searched(pairs=pairs, episodes=32).average for pairs in (2, 10, 60))
    assert few > some > many


def test_as_many_customers_are_removed_as_the_mdp_says() -> None:
    # With all customers removed, what is built anew by greedy does not depend on the start.
    whole = make_mdp("R101", customers=20, portfolio="random-node,greedy", scale=20)
    assert len(set(evaluate_in_search(whole, "random", pairs=40, episodes=4, seeds=1).costs[0])) == 1


def test_the_acceptance_can_be_another_one() -> None:
    options = {"pairs": 30, "episodes": 16}
    assert searched(acceptance=HillClimbing(), **options).costs.tolist() != searched(**options).costs.tolist()


@pytest.mark.parametrize("agent", ["random", "roulette:segment=2", "ucb", "thompson", "fixed:random-route,greedy"])
def test_selectors_are_agents_by_name(agent: str) -> None:
    found = searched(agent)
    assert found.agent == agent
    assert found.costs.tolist() == searched(agent).costs.tolist()


def test_a_wheel_that_learns_nothing_in_so_short_a_run_is_warned_of() -> None:
    sentence = (
        r"^selector 'roulette' changes its weights after 100 iterations, and the run has 20: it chooses at random; "
        r"give a shorter segment, as in roulette:segment=10\.$"
    )
    with pytest.warns(InputWarning, match=sentence):
        found = searched("roulette", pairs=20)
    assert found.costs.tolist() != searched("roulette:segment=2:reaction=0.9", pairs=20).costs.tolist()


def test_a_selector_is_an_agent() -> None:
    assert searched(Uniform()).costs.tolist() == searched("random").costs.tolist()
    assert searched(Roulette(segment=2, name="mine")).agent == "mine"


def test_the_best_fixed_pair_is_found_on_the_training_tours(monkeypatch: pytest.MonkeyPatch) -> None:
    found = searched("best-fixed")
    best = best_fixed_pair(SMALL)
    assert found.agent == f"best-fixed ({best.destroy}, {best.repair})"
    assert found.costs.tolist() == searched(best).costs.tolist()
    asked: list[MDP] = []

    def staged(mdp: MDP) -> Fixed:
        asked.append(mdp)
        return Fixed("random-node", "greedy")

    monkeypatch.setattr(evaluate_module, "best_fixed_pair", staged)
    assert searched("best-fixed").costs.tolist() == searched("fixed:random-node,greedy").costs.tolist()
    assert asked == [SMALL]


def test_the_learned_roulette_is_trained_anew_for_each_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[MDP, int]] = []

    def staged(mdp: MDP, seed: int) -> LearnedRoulette:
        asked.append((mdp, seed))
        return LearnedRoulette(mdp.portfolio.names, (0.0, 1.0, 1.0, 0.0) if seed == 0 else (1.0, 0.0, 1.0, 0.0))

    monkeypatch.setattr(evaluate_module, "train_roulette", staged)
    found = searched("lrw")
    assert found.agent == "lrw"
    assert asked == [(SMALL, 0), (SMALL, 1)]
    node, route = (LearnedRoulette(SMALL.portfolio.names, row) for row in ((0.0, 1.0, 1.0, 0.0), (1.0, 0.0, 1.0, 0.0)))
    assert found.costs[0].tolist() == searched(node).costs[0].tolist()
    assert found.costs[1].tolist() == searched(route).costs[1].tolist()


def test_the_learned_roulette_is_trained_on_the_mdp() -> None:
    wheel = train_roulette(SMALL, 0)
    assert searched("lrw", seeds=1).costs.tolist() == searched(wheel, seeds=1).costs.tolist()


def test_a_selector_may_be_another_one_for_each_seed() -> None:
    wheel, route = Roulette(segment=2, name="mine"), Fixed("random-route", "greedy")
    found = searched({0: wheel, 1: route})
    assert found.agent == "mine"
    assert found.costs[0].tolist() == searched(wheel).costs[0].tolist()
    assert found.costs[1].tolist() == searched(route).costs[1].tolist()


def test_a_policy_file_may_be_another_one_for_each_seed(tmp_path: Path) -> None:
    names = str(tmp_path / "{seed}.policy")
    write_policy(constant_policy(FOUR, (2.0, 1.0, 2.0, 1.0)), tmp_path / "0.policy")
    write_policy(wheel_policy(FOUR, (0.0, 1.0, 1.0, 0.0)), tmp_path / "1.policy")
    found = searched(names, temperature=0.0)
    assert found.agent == names
    assert found.costs[0].tolist() == searched("fixed:random-route,greedy").costs[0].tolist()
    assert found.costs[1].tolist() == searched(str(tmp_path / "1.policy")).costs[1].tolist()


def test_the_best_fixed_pair_is_better_than_random_choices_as_in_the_paper() -> None:
    mdp = make_mdp("R101", customers=20)
    assert len(mdp.portfolio.destroys) == 12
    best, random = (evaluate_in_search(mdp, agent, seeds=2) for agent in ("best-fixed", "random"))
    assert (best.pairs, best.costs.shape) == (20, (2, 128))
    assert best.average < random.average
    assert best.minimum <= random.minimum


def test_progress_is_told_seed_by_seed() -> None:
    told: list[tuple[int, int]] = []
    searched(progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 2), (2, 2)]


@pytest.mark.parametrize(
    ("agent", "options", "sentence"),
    [
        ("oracle", {}, "the oracle plays episodes of the MDP only."),
        ("clever", {}, "selector 'clever' is not known; choose random, roulette, ucb, thompson"),
        ("fixed:zone,greedy", {}, "selector 'fixed:zone,greedy': operator 'zone' is not among random-route"),
        ("random", {"pairs": 0}, "0 pairs and 2 seeds asked for; at least 1 of each is needed."),
        ("random", {"seeds": []}, "5 pairs and [] seeds asked for; at least 1 of each is needed."),
        ("random", {"seeds": 0}, "5 pairs and 0 seeds asked for; at least 1 of each is needed."),
        ("random", {"episodes": 0}, "0 start tours asked for; at least 1 is needed."),
        ("random", {"tours": "exam"}, "set of start tours 'exam' is not known"),
    ],
)
def test_what_cannot_be_evaluated_is_refused(agent: str, options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(sentence)}"):
        searched(agent, **options)


def test_searches_keep_windows() -> None:
    mdp = make_mdp("R101", customers=20, setting="windows", portfolio="paper")
    found = evaluate_in_search(mdp, "random", pairs=5, episodes=4, seeds=2)
    assert (found.costs < [start.cost for start in mdp.start_tours("test", 4)]).all()


def test_searches_are_charged_for_customers_left_out() -> None:
    mdp = make_mdp(replace(read("R101").first(20, scaled=False), vehicles=2), setting="windows", portfolio="paper")
    found = evaluate_in_search(mdp, "random", pairs=5, episodes=4, seeds=1)
    starts = mdp.start_tours("test", 4)
    assert (found.costs <= [charged_cost(start) for start in starts]).all()
    # Two vehicles do not serve twenty customers.
    assert found.costs.min() > unserved_cost(mdp.instance)
