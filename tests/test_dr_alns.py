"""The baseline DR-ALNS of the folder ``benchmarks``: what it sees and sets, its environment, its training."""

from __future__ import annotations

import csv
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks import dr_alns
from benchmarks.dr_alns import FEATURES, LEVELS, DrAlns, Standing, Steering, Watched, main, policy_of, train
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils.env_checker import check_env

import neuralns
from neuralns import InputError, MaxIterations, read
from neuralns.operators.portfolio import portfolio_named
from neuralns.selection.controller import View
from neuralns.selection.policy_file import Policy, read_policy, write_policy

ROOT = Path(__file__).parents[1]

PORTFOLIO = portfolio_named("string,random-node,greedy,regret-2")
SMALL = portfolio_named("string,random-node,greedy")
ACTIONS = 2 + 2 + 2 * LEVELS


def view(**values: Any) -> View:
    known: dict[str, Any] = dict.fromkeys(("uses", "accepted", "improved", "new_best"), np.zeros((2, 2), np.int64))
    known |= {"gains": np.zeros((2, 2)), "seconds": np.zeros((2, 2)), "left": 1.0, "current": 100.0, "best": 100.0}
    known |= {"instance": None, "portfolio": PORTFOLIO, "iteration": 0, "scale": (1, 20), "horizon": 1.0}
    known |= {"start": 200.0, "change": 0.0, "temperature": 1.0, "acceptance": 1.0, "since_best": 0, "solution": None}
    return View(**(known | values))


def policy(bias: Any = None, **card: Any) -> Policy:
    """A network of one layer whose logits are the same whatever it sees."""
    content: dict[str, Any] = {
        "network": "dr-alns",
        "operators": {"destroy": ["string", "random-node"], "repair": ["greedy", "regret-2"], "improve": []},
        "features": list(FEATURES),
    }
    numbers = {
        "weights_0": np.zeros((len(FEATURES), ACTIONS)),
        "bias_0": np.zeros(ACTIONS) if bias is None else bias,
    }
    return Policy(content | card, {name: np.asarray(value, np.float32) for name, value in numbers.items()})


def sure_of(destroy: int, repair: int, scale: int, cooling: int) -> Any:
    """Logits that leave no choice."""
    bias = np.zeros(ACTIONS)
    for place in (destroy, 2 + repair, 4 + scale, 4 + LEVELS + cooling):
        bias[place] = 1000.0
    return bias


def seen(watched: Watched, **values: Any) -> dict[str, float]:
    return dict(zip(FEATURES, watched.features(view(**values)).tolist(), strict=True))


def test_it_sees_where_a_search_stands() -> None:
    watched = Watched()
    first = seen(watched)
    assert first == dict.fromkeys(FEATURES, 0.0) | {"is best": 1.0, "heat": 1.0}
    counts = {"uses": np.full((2, 2), 25), "accepted": np.full((2, 2), 9), "improved": np.full((2, 2), 1)}
    later = seen(watched, left=0.75, current=110.0, change=10.0, **counts)
    assert later == pytest.approx(
        {
            "improved": 0.0, "above best": 10.0, "is best": 0.0, "heat": 1.0, "stagnation": 0.25, "progress": 0.25,
            "share accepted": 0.6, "share improving": 0.2,
        }
    )  # fmt: skip
    better = seen(watched, left=0.5, current=90.0, best=90.0, change=-20.0)
    assert (better["improved"], better["is best"], better["stagnation"]) == (1.0, 1.0, 0.0)
    assert seen(watched, left=0.4, current=900.0, best=90.0)["above best"] == 100.0


def test_an_action_sets_a_pair_the_scale_and_the_temperature() -> None:
    watched = Watched()
    turned = portfolio_named("random-node,string,regret-2,greedy")
    found = watched.setting([0, 1, 4, 5], PORTFOLIO, turned)
    assert np.asarray(found.weights).tolist() == [[0, 0], [1, 0]]
    assert (found.scale, found.heat) == ((1, 30), (0.5, 0.5))
    assert seen(watched)["heat"] == 0.5
    assert watched.setting([0, 0, 9, 2], PORTFOLIO, PORTFOLIO).scale == (1, 60)
    assert watched.heat == 1.0


def test_a_policy_steers_a_search() -> None:
    found = neuralns.solve("E-n22-k4", MaxIterations(300), selector=DrAlns(policy(sure_of(1, 0, 2, 2))))
    assert {use.name: use.used for use in found.operators} == {
        "string": 0, "random-node": 300, "greedy": 300, "regret-2": 0,
    }  # fmt: skip
    assert found.selector == "dr-alns"
    assert found.decision_time_share is not None


def test_actions_are_drawn_and_the_same_search_has_the_same_ones() -> None:
    one, same, other = (
        neuralns.solve("E-n22-k4", MaxIterations(2000), selector=DrAlns(policy()), seed=seed) for seed in (1, 1, 2)
    )
    assert (one.routes, one.operators) == (same.routes, same.operators)
    assert one.operators != other.operators
    assert all(use.used > 500 for use in one.operators)


def test_draws_follow_the_logits() -> None:
    bias = np.zeros(ACTIONS)
    bias[0] = np.log(3.0)
    agent, rng = DrAlns(policy(bias)), np.random.default_rng(1)
    drawn = np.array([agent.action(np.zeros(len(FEATURES)), rng) for _ in range(4000)])
    assert (drawn[:, 0] == 0).mean() == pytest.approx(0.75, abs=0.03)
    assert np.bincount(drawn[:, 2], minlength=LEVELS) == pytest.approx([400] * LEVELS, abs=80)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (policy(features=["price"]), "dr-alns: was trained with other features than this version has."),
        (policy(np.zeros(3)), "dr-alns: the numbers of its layers do not fit together."),
        (policy(np.full(ACTIONS, np.nan)), "dr-alns: the numbers of its layers are not finite."),
        (Policy(policy().card, {}), "dr-alns: its last layer has 8 values, not the 24 of an action."),
    ],
)
def test_files_that_do_not_fit_are_refused(wrong: Policy, sentence: str) -> None:
    with pytest.raises(InputError) as refused:
        DrAlns(wrong)
    assert str(refused.value) == sentence


def test_operators_are_refused_before_a_search_begins() -> None:
    with pytest.raises(InputError, match=r"^selector 'dr-alns' was trained for operators string, random-node, greedy"):
        DrAlns(policy()).start(portfolio_named("string,greedy"))


def test_it_names_the_instances_that_it_was_trained_on() -> None:
    assert DrAlns(policy(instances=["E-n22-k4"])).trained_on() == ("E-n22-k4",)
    assert DrAlns(policy()).trained_on() == ()


def test_it_is_an_arm_of_the_study(tmp_path: Path) -> None:
    script, table = str(ROOT / "benchmarks" / "choice.py"), tmp_path / "runs.csv"
    file = ROOT / "benchmarks" / "results" / "choice" / "dr-alns.policy"
    how = ("--time", "0.05", "--seeds", "1", "--variants", "vrptw", "--sizes", "100", "--arms", str(file))
    done = subprocess.run(
        [sys.executable, script, "run", str(table), *how], cwd=tmp_path, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    with open(table, newline="") as rows:
        (row,) = csv.DictReader(rows)
    assert (row["arm"], row["selector"], row["unserved"]) == ("dr-alns", "dr-alns.policy", "0")


def test_the_package_itself_does_not_know_it(tmp_path: Path) -> None:
    file = str(tmp_path / "mine.policy")
    write_policy(policy(), file)
    with pytest.raises(InputError, match="has network 'dr-alns', which this version does not know"):
        neuralns.solve("E-n22-k4", MaxIterations(10), selector=file)


# --- The environment. ------------------------------------------------------------------------------------------------


def environment(seconds: float = 0.1) -> Steering:
    return Steering(lambda number: read(("E-n22-k4", "E-n51-k5")[number % 2]), SMALL, (seconds, seconds))


@pytest.mark.filterwarnings("ignore:.*")
def test_it_is_a_gymnasium_environment() -> None:
    def made(**options: Any) -> Steering:
        return environment(0.02)

    env = made()
    # Segments end by the clock.
    env.spec = EnvSpec("neuralns/Steering-v0", entry_point=made, nondeterministic=True)
    check_env(env, skip_render_check=True)


def test_an_episode_is_a_search() -> None:
    env = environment()
    first, _ = env.reset()
    assert first.tolist() == [0, 0, 1, 1, 0, 0, 0, 0]
    progress, rewards, over = [0.0], [], False
    while not over:
        seen, reward, over, cut, info = env.step(np.array([0, 0, 2, 2]))
        assert not cut
        assert env.observation_space.contains(seen)
        progress.append(float(seen[5]))
        rewards.append(reward)
    assert progress == sorted(progress)
    assert progress[-1] == 1.0
    assert set(rewards) == {0.0, 5.0}
    assert info["cost"] <= info["start"]
    assert info["unserved"] == 0
    assert env.number == 1


def test_a_segment_without_a_new_best_solution_brings_nothing() -> None:
    env = environment()
    env.reset()
    over = False
    while not over:
        seen, reward, over, _, _ = env.step(np.array([1, 0, 9, 0]))
        # Stagnation grows until there is one.
        assert (reward == 0.0) == (seen[4] > 0)


def test_time_between_steps_does_not_count() -> None:
    env = environment()
    env.reset()
    env.step(np.array([0, 0, 0, 0]))
    before = env.spent
    assert before > 0
    time.sleep(0.01)
    assert sum(range(200_000)) > 0
    assert env.spent == before
    env.reset()
    assert env.spent == before
    env.step(np.array([0, 0, 0, 0]))
    assert env.spent > before


# --- The training. ---------------------------------------------------------------------------------------------------


def test_a_training_ends_in_a_policy(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("stable_baselines3")
    monkeypatch.setattr(dr_alns, "SEGMENTS", 64)
    stood: list[Standing] = []
    found = train(
        lambda number: read("E-n22-k4"), SMALL, 0.01, (0.03, 0.05), card={"kinds": ["E-n22-k4"]},
        watch=lambda standing: stood.append(standing),
    )  # fmt: skip
    assert stood[-1].seconds >= 0.6
    assert [standing.episodes for standing in stood] == list(range(1, len(stood) + 1))
    assert stood[-1].saving > 0
    assert (found.network, found.card["kinds"], found.card["seconds"]) == ("dr-alns", ["E-n22-k4"], [0.03, 0.05])
    assert len(found.card["rewards"]) == 10
    agent = DrAlns(found)
    assert [part.size for part in agent.logits(np.zeros(len(FEATURES)))] == [2, 1, 10, 10]
    short = train(lambda number: read("E-n22-k4"), SMALL, 9.0, (0.03, 0.05), watch=lambda standing: "enough")
    assert short.card["training"]["episodes"] == 1


def test_the_network_of_a_file_is_that_of_the_agent() -> None:
    sb3 = pytest.importorskip("stable_baselines3")
    import torch

    env = Steering(lambda number: read("E-n22-k4"), SMALL, (0.1, 0.1))
    agent = sb3.PPO("MlpPolicy", env, seed=3, device="cpu", policy_kwargs={"net_arch": [16, 12]})
    with torch.no_grad():
        agent.policy.action_net.weight.normal_()
        agent.policy.action_net.bias.normal_()
    mine = DrAlns(policy_of(agent, SMALL, [], {}))
    for features in np.random.default_rng(1).uniform(0, 3, (5, len(FEATURES))):
        given = torch.as_tensor(features[None], dtype=torch.float32)
        theirs = [part.probs.detach().numpy()[0] for part in agent.policy.get_distribution(given).distribution]
        for one, other in zip(mine.logits(features), theirs, strict=True):
            shares = np.exp(one - one.max())
            assert shares / shares.sum() == pytest.approx(other, abs=1e-5)


def test_without_the_extra_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dr_alns, "find_spec", lambda name: None)
    with pytest.raises(InputError, match="training DR-ALNS needs stable-baselines3"):
        train(lambda number: read("E-n22-k4"), SMALL, 1.0, (1.0, 1.0))


def test_the_script_writes_a_policy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def trained(instance_of: Any, portfolio: Any, minutes: float, seconds: Any, **how: Any) -> Policy:
        assert (instance_of(3).name, portfolio.names, minutes, seconds) == ("E-n22-k4", SMALL.names, 2.0, (0.5, 0.5))
        for second in (10, 13, 30):
            assert how["watch"](Standing(1, 20, second, 5.0, 2.5)) is None
        return policy(**how["card"])

    monkeypatch.setattr(dr_alns, "train", trained)
    output = str(tmp_path / "mine.policy")
    how = ["--portfolio", "string,random-node,greedy", "--time", "0.5", "--minutes", "2", "-o", output]
    main(["E-n22-k4", *how])
    card = read_policy(output).card
    assert (card["network"], card["kinds"], card["instances"]) == ("dr-alns", ["E-n22-k4"], ["E-n22-k4"])
    told = capsys.readouterr().out.splitlines()
    assert told[1:] == [
        "1 searches, 0.5 of 2 min, reward 5.0, 2.50 % below the start", f"policy written to {output}",
    ]  # fmt: skip
    with pytest.raises(SystemExit, match="is there already"):
        main(["E-n22-k4", *how])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--minutes", "0"], "--minutes and --time must be above 0."),
        (["--time", "nan"], "--minutes and --time must be above 0."),
        (["--generate", "cvrp"], "a controller is trained on instances, or on generated ones"),
        (["-o", "nowhere/mine.policy"], "nowhere"),
    ],
)
def test_the_script_refuses_what_cannot_be(options: list[str], sentence: str, in_own_folder: None) -> None:
    with pytest.raises(SystemExit, match=sentence):
        main(["E-n22-k4", *options])
    assert not any(Path().iterdir())
