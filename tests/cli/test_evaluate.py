"""``neuralns evaluate``."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from commands import invoke, spawn
from neuralns import evaluate, make_mdp, portfolio_named, read, write_instance
from neuralns.mdp.in_search import evaluate_in_search
from neuralns.selection.learned_roulette import LearnedRoulette
from neuralns.selection.policy_file import write_policy

SHORT = ("--episodes", 4, "--seeds", 2, "--portfolio", "random-route,random-node,greedy", "--budget", 2)
KEYS = {
    "agent",
    "setting",
    "instance",
    "customers",
    "portfolio",
    "scale",
    "budget",
    "episodes",
    "seeds",
    "reward_mean",
    "reward_ci",
    "start_mean",
    "final_mean",
    "final_min",
    "operators",
    "decisions_a_second",
}


def test_an_evaluation_prints_one_json_object_and_nothing_else() -> None:
    found = spawn("evaluate", *SHORT, "--json").json
    assert set(found) >= KEYS
    assert (found["agent"], found["setting"], found["instance"]) == ("random", "paper", "C101")
    assert (found["customers"], found["scale"], found["budget"]) == (20, 4, 2)
    assert (found["episodes"], found["seeds"]) == (4, 2)
    assert found["reward_mean"] == pytest.approx(found["start_mean"] - found["final_mean"])
    assert found["final_min"] <= found["final_mean"]
    assert found["reward_ci"] >= 0
    assert set(found["operators"]) == {"random-route", "random-node", "greedy"}
    assert found["operators"]["random-route"] + found["operators"]["random-node"] == pytest.approx(1)
    assert found["operators"]["greedy"] == 1


def test_options_reach_the_evaluation() -> None:
    options = "--agent fixed:zone,regret-2 --instance R101 --customers 25 --setting distance --portfolio paper"
    more = "--scale 3 --budget 4 --tours validate --episodes 3 --seeds 1"
    found = invoke("evaluate", *options.split(), *more.split(), "--json").json
    mdp = make_mdp("R101", customers=25, setting="distance", scale=3, budget=4)
    same = evaluate(mdp, "fixed:zone,regret-2", tours="validate", episodes=3, seeds=1).as_dict()
    for figures in (found, same):
        assert figures.pop("decisions_a_second") > 0
    assert found == same
    assert (found["instance"], found["setting"], found["reward_ci"]) == ("R101", "distance", None)


def test_the_result_is_the_same_every_time() -> None:
    one, same = (invoke("evaluate", *SHORT, "--json").json for _ in range(2))
    assert one["reward_mean"] == same["reward_mean"]
    assert one["operators"] == same["operators"]


def test_the_text_names_what_was_played_and_the_figures() -> None:
    outcome = invoke("evaluate", *SHORT)
    figures = invoke("evaluate", *SHORT, "--json").json
    lines = [line.rstrip() for line in outcome.stdout.splitlines()]
    assert lines[0] == (
        "random on C101:20 (paper): 2 destroy and 1 repair operators, d = 4, b = 2, 4 test tours, 2 seeds"
    )
    rows = dict(re.split(r" {2,}", line.strip(), maxsplit=1) for line in lines[1:])
    assert rows["mean reward"] == f"{figures['reward_mean']:.1f} ± {figures['reward_ci']:.1f}"
    assert rows["mean F at the start"] == f"{figures['start_mean']:.1f}"
    assert rows["mean F at the end"] == f"{figures['final_mean']:.1f}"
    assert rows["best F at the end"] == f"{figures['final_min']:.2f}"
    assert rows["greedy"] == "100.0 %"
    assert rows["random-route"] == f"{100 * figures['operators']['random-route']:.1f} %"


def test_one_seed_is_printed_without_an_interval() -> None:
    outcome = invoke("evaluate", *SHORT, "--seeds", 1)
    assert (outcome.code, "±" in outcome.stdout) == (0, False)


def test_files_can_be_the_instance_and_the_agent(tmp_path: Path) -> None:
    write_instance(read("C101").first(20), tmp_path / "mine.json")
    portfolio = portfolio_named("random-route,random-node,greedy")
    wheel = LearnedRoulette(portfolio.names, (1.0, 0.0, 1.0))
    write_policy(wheel.policy(portfolio), tmp_path / "wheel.policy")
    files = ("--instance", tmp_path / "mine.json", "--agent", tmp_path / "wheel.policy")
    found = invoke("evaluate", *SHORT, *files, "--json").json
    assert found["agent"] == str(tmp_path / "wheel.policy")
    assert found["operators"] == {"random-route": 1, "random-node": 0, "greedy": 1}


def test_an_evaluation_inside_a_search_prints_one_json_object() -> None:
    found = spawn("evaluate", *SHORT, "--in-search", 5, "--agent", "roulette:segment=2", "--json").json
    mdp = make_mdp("C101", customers=20, portfolio="random-route,random-node,greedy", budget=2)
    assert found == evaluate_in_search(mdp, "roulette:segment=2", pairs=5, episodes=4, seeds=2).as_dict()
    assert (found["agent"], found["iterations"], found["episodes"], found["seeds"]) == ("roulette:segment=2", 5, 4, 2)
    assert found["minimum"] <= found["average"]


def test_the_text_of_an_evaluation_inside_a_search_holds_the_figures() -> None:
    found = invoke("evaluate", *SHORT, "--in-search", 5, "--json").json
    assert invoke("evaluate", *SHORT, "--in-search", 5).stdout.splitlines() == [
        "random on C101:20 (paper): 5 iterations of ALNS from each of 4 tours, 2 seeds",
        f"average F over a run {found['average']:.2f} ± {found['average_ci']:.1f}",
        f"best F of a run {found['minimum']:.2f} ± {found['minimum_ci']:.1f}",
    ]
    one = invoke("evaluate", *SHORT, "--in-search", 5, "--seeds", 1)
    assert (one.code, "±" in one.stdout) == (0, False)
    assert invoke("evaluate", *SHORT, "--in-search", 5, "--seeds", 1, "--json").json["average_ci"] is None


def test_options_reach_the_evaluation_inside_a_search() -> None:
    options = "--agent best-fixed --instance R101 --customers 25 --setting distance --scale 3 --tours validate"
    found = invoke("evaluate", *SHORT, *options.split(), "--in-search", 4, "--json").json
    mdp = make_mdp("R101", customers=25, setting="distance", scale=3, portfolio="random-route,random-node,greedy")
    assert found == evaluate_in_search(mdp, "best-fixed", pairs=4, tours="validate", episodes=4, seeds=2).as_dict()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("--setting text", "setting 'text' is not known; choose paper, distance, windows."),
        (
            "--agent clever",
            "selector 'clever' is not known; choose random, roulette, ucb, thompson, gain",
        ),
        ("--agent roulette", "selector 'roulette' learns from a search and plays no episodes."),
        ("--agent fixed:zone", "selector 'fixed:zone' is not a pair; write 'fixed:DESTROY,REPAIR'."),
        ("--agent fixed:string,greedy", "operator 'string' is not among worst-node"),
        ("--agent bad.policy", "bad.policy: is not a policy file, or is damaged"),
        ("--portfolio book", "portfolio 'book' is not known"),
        ("--portfolio zone,", "portfolio 'zone,' has no repair operator."),
        ("--episodes 0", "0 start tours asked for; at least 1 is needed."),
        ("--seeds 0", "0 seeds asked for; at least 1 is needed."),
        ("--tours exam", "set of start tours 'exam' is not known; choose train, validate, test."),
        ("--instance C999", "C999: no such file, and no bundled instance of that name"),
        ("--customers 0", "C101: 0 customers asked for, but it has 100."),
        ("--scale 0", "scale 0 must lie between 1 and the 20 customers of the instance."),
        ("--scale 21", "scale 21 must lie between 1 and the 20 customers of the instance."),
        ("--budget 0", "budget 0 must be at least 1 pair."),
        ("--in-search 0", "0 pairs and 10 seeds asked for; at least 1 of each is needed."),
        ("--in-search 5 --agent oracle", "the oracle plays episodes of the MDP only."),
        ("--in-search 5 --agent clever", "selector 'clever' is not known; choose random, roulette, ucb, thompson"),
        ("--in-search 5 --episodes 0", "0 start tours asked for; at least 1 is needed."),
    ],
)
def test_what_cannot_be_used_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: str, sentence: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.policy").write_text("not a policy")
    assert sentence in invoke("evaluate", *arguments.split()).refusal()


def test_a_policy_of_another_setting_is_named() -> None:
    few = ("--agent", "C101-20-paper", "--episodes", 4, "--seeds", 1)
    assert invoke("evaluate", *few).stderr == ""
    other = invoke("evaluate", *few, "--setting", "distance")
    assert other.code == 0
    assert other.stderr == "C101-20-paper was trained in setting paper, and is evaluated in setting distance.\n"
