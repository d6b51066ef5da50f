"""The operator-selection MDP with operators written for alns."""

from __future__ import annotations

import numpy as np
import pytest
from alns.select import RandomSelect

from bridges.toy import all_on, make_alns
from neuralns.bridges.alns import Episodes
from neuralns.bridges.alns.runs import hill_climbing
from neuralns.errors import InputError


@pytest.fixture
def episodes() -> Episodes:
    return Episodes(make_alns, [all_on()], budget=6)


def test_agents_gain_in_the_order_of_what_they_know(episodes: Episodes) -> None:
    random, fixed, oracle = (episodes.evaluate(agent, seeds=6) for agent in ("random", "best-fixed", "oracle"))
    assert random.reward_mean < fixed.reward_mean <= oracle.reward_mean + 1.0
    assert fixed.agent == "best-fixed (one, off)"
    assert fixed.shares == {"nothing": 0.0, "one": 1.0, "by_chance": 0.0, "off": 1.0}


def test_the_figures_are_those_of_the_mdp(episodes: Episodes) -> None:
    found = episodes.evaluate("fixed:one,off", seeds=3).as_dict()
    assert (found["budget"], found["episodes"], found["seeds"]) == (6, 1, 3)
    assert found["start_mean"] == all_on().objective()
    assert found["reward_mean"] == pytest.approx(found["start_mean"] - found["final_mean"])


def test_the_last_cost_counts_not_the_best() -> None:
    """Lights go on again by chance, and every candidate is accepted."""
    dark = type(all_on())(np.zeros(12, bool))
    kept = Episodes(make_alns, [dark]).evaluate("fixed:one,by_chance", seeds=2)
    assert kept.reward_mean < 0
    climbing = Episodes(make_alns, [dark], make_accept=hill_climbing).evaluate("fixed:one,by_chance", seeds=2)
    assert climbing.reward_mean == 0


def test_selectors_of_alns_play_too_and_seeds_repeat(episodes: Episodes) -> None:
    def own() -> RandomSelect:
        return RandomSelect(2, 2)

    one, other = episodes.evaluate(own, seeds=4), episodes.evaluate(own, seeds=4)
    assert one.agent == "own"
    assert one.finals.tolist() == other.finals.tolist()


def test_couplings_are_respected() -> None:
    coupling = [[True, False], [False, True]]
    episodes = Episodes(make_alns, [all_on()], budget=4, op_coupling=coupling)
    assert episodes.pairs == [(0, 0), (1, 1)]
    assert episodes.best_fixed_pair() == (1, 1)


def test_the_table_has_a_line_for_each_agent(episodes: Episodes, capsys: pytest.CaptureFixture[str]) -> None:
    found = episodes.table(seeds=2, rollouts=2)
    assert [each.agent.split()[0] for each in found] == ["random", "best-fixed", "lrw", "oracle"]
    assert len(capsys.readouterr().out.splitlines()) == 6


def test_the_wheel_learns_from_the_rewards_that_it_is_judged_by() -> None:
    """Lights that are on again at the end count, though they were off on the way."""
    half = type(all_on())(np.arange(12) % 2 == 0)
    wheel = Episodes(make_alns, [half], budget=30).agent_named("lrw")[1]
    assert wheel.repair_weights[1] > wheel.repair_weights[0]


def test_couplings_of_another_shape_are_refused() -> None:
    with pytest.raises(InputError, match="op_coupling has shape"):
        Episodes(make_alns, [all_on()], op_coupling=[[True], [True]])


def test_what_cannot_be_played_is_refused(episodes: Episodes) -> None:
    for agent, sentence in (("fixed:one,on", "'fixed:one,on' is not known"), ("wheel", "'wheel' is not known")):
        with pytest.raises(InputError, match=sentence):
            episodes.evaluate(agent)
    with pytest.raises(InputError, match="0 seeds or rollouts"):
        episodes.evaluate(seeds=0)
    with pytest.raises(InputError, match="budget 0"):
        Episodes(make_alns, [all_on()], budget=0)
    with pytest.raises(InputError, match="at least 1 initial state"):
        Episodes(make_alns, [])
