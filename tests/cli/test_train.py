"""``neuralns train``."""

from __future__ import annotations

import os
import re
import shutil
import signal
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from commands import Outcome, invoke
from neuralns.learning import run, train
from neuralns.learning.training import Standing, Training
from neuralns.mdp import baselines
from neuralns.selection import policy_file
from neuralns.selection.policy_file import Policy, read_policy

OPERATORS = ("--portfolio", "random-route,random-node,greedy", "--budget", 2)
WHERE = ("A-n32-k5", "--customers", 10, *OPERATORS)
SHORT = (*WHERE, "--network", "small", "--preset", "paper", "--steps", 60)


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def lines_of(outcome: Outcome) -> list[str]:
    assert outcome.code == 0, outcome.stderr
    return outcome.stdout.splitlines()


def said_of_one_pair(card: Mapping[str, Any]) -> list[str]:
    """What is said of a policy that chooses one pair more often than 95 times in a hundred."""
    destroy, repair = card["most_used_pair"]
    share = card["most_used_pair_share"]
    sentence = (
        f"seed {card['seed']} chooses one pair always ({destroy}, {repair}: {100 * share:.0f} % of its choices in "
        f"validation); --selector fixed:{destroy},{repair} does the same"
    )
    return [sentence] if share > 0.95 else []


def test_a_run_writes_the_policy_and_prints_how_it_does() -> None:
    lines = lines_of(invoke("train", *SHORT, "-o", "mine.policy"))
    card = read_policy("mine.policy").card
    assert lines == [
        f"seed 0: validation {card['validation_reward']:.1f}, test {card['test_reward']:.1f}",
        f"on the same validation tours: random selection {card['random_reward']:.1f}, best fixed pair "
        f"({', '.join(card['best_fixed_pair'])}) {card['best_fixed_reward']:.1f}",
        *said_of_one_pair(card),
        "policy of seed 0 written to mine.policy",
    ]
    assert sorted(os.listdir()) == ["mine.csv", "mine.policy"]
    assert card["command"].startswith("neuralns train A-n32-k5 --customers 10 --portfolio random-route,random-node,gre")


def test_the_output_has_a_name_by_default() -> None:
    assert lines_of(invoke("train", *SHORT))[-1] == "policy of seed 0 written to my.policy"
    assert Path("my.policy").is_file()


def test_instances_and_an_output_are_all_that_a_planner_gives() -> None:
    outcome = invoke("train", "E-n22-k4", "A-n32-k5", "--steps", 10, "-o", "mine.policy")
    assert lines_of(outcome)[-1] == "policy of seed 0 written to mine.policy"
    card = read_policy("mine.policy").card
    assert (card["network"], card["start"], card["acceptance"]) == ("small", "search", "improving")
    assert (card["setting"], card["scale"], card["sizes"]) == ("distance", [10, 10], [21, 31])
    assert card["operators"] == {"destroy": ["string"], "repair": ["blinks", "regret-2"]}
    assert re.findall(r"^gathering .*$", outcome.stderr, re.MULTILINE) == [
        "gathering starts by search on E-n22-k4 (1 of 2) ...",
        "gathering starts by search on A-n32-k5 (2 of 2) ...",
    ]


def test_a_policy_trained_so_solves_and_is_compared_without_further_options() -> None:
    lines_of(invoke("train", "E-n22-k4", "--steps", 10, "-o", "mine.policy"))
    solved = invoke("solve", "A-n32-k5", "--selector", "mine.policy", "--iterations", 50, "--json").json
    assert {use["name"] for use in solved["operators"]} == {"string", "blinks", "regret-2"}
    options = ("--selectors", "random,mine.policy", "--iterations", 20, "--seeds", 1, "--json")
    found = invoke("compare", "A-n32-k5", *options).json
    assert [row["selector"] for row in found["verdicts"]] == ["random", "mine.policy"]


def test_preset_paper_has_the_choices_of_the_paper() -> None:
    lines_of(invoke("train", "C101", "--customers", 20, "--preset", "paper", "--steps", 5))
    card = read_policy("my.policy").card
    assert (card["network"], card["start"], card["acceptance"]) == ("mlp", "random", "always")
    assert (card["setting"], card["scale"], len(card["operators"]["destroy"])) == ("distance", 4, 12)


def test_a_policy_that_chooses_one_pair_always_is_told_of() -> None:
    lines = lines_of(invoke("train", *WHERE[:3], "--portfolio", "zone,greedy", "--preset", "paper", "--steps", 20))
    assert lines[-2] == (
        "seed 0 chooses one pair always (zone, greedy: 100 % of its choices in validation); "
        "--selector fixed:zone,greedy does the same"
    )


def test_options_reach_the_run() -> None:
    more = "--setting paper --scale 3 --start savings --acceptance improving --hidden 8,4 --preset strong --threads 2"
    seen = "--features routes --batch 5 --tours 7"
    lines_of(invoke("train", *SHORT, *more.split(), *seen.split()))
    card = read_policy("my.policy").card
    assert (card["setting"], card["scale"], card["budget"], card["start"]) == ("paper", 3, 2, "savings")
    assert card["acceptance"] == "improving"
    assert (card["sizes"], card["network"]) == ([10], "small")
    assert card["operators"] == {"destroy": ["random-route", "random-node"], "repair": ["greedy"]}
    assert card["training"]["steps"] == 60
    assert card["training"]["hidden"] == [8, 4]
    assert card["training"]["double"] is True
    assert (card["training"]["batch"], card["training"]["tours"]) == (5, 7)
    assert card["features"]["name"] == "routes"


def test_options_of_gat_reach_the_network() -> None:
    paper = ("--preset", "paper")
    lines_of(invoke("train", *WHERE, *paper, "--network", "gat", "--graph", "nearest", "--heads", 4, "--steps", 4))
    policy = read_policy("my.policy")
    assert (policy.network, policy.card["graph"], policy.card["training"]["heads"]) == ("gat", "nearest", 4)
    assert policy.tensors["layers.0.source"].shape == (4, 8)


def test_several_instances_train_one_policy() -> None:
    lines_of(invoke("train", "E-n22-k4", *SHORT))
    assert read_policy("my.policy").card["instances"] == ["E-n22-k4:10", "A-n32-k5:10"]


def test_several_seeds_are_trained_and_the_best_is_kept() -> None:
    lines = lines_of(invoke("train", *SHORT, "--seeds", 2))
    assert [line.split(":")[0] for line in lines[:2]] == ["seed 0", "seed 1"]
    scores = [float(re.search(r"validation ([\d.]+)", line)[1]) for line in lines[:2]]  # type: ignore[index]
    card = read_policy("my.policy").card
    assert lines[-2:] == [
        f"policy of seed {card['seed']} written to my.policy",
        "policies of all seeds written to my.seed-0.policy and so on",
    ]
    assert scores[card["seed"]] == max(scores)
    assert [round(score, 1) for score in card["validation_rewards"]] == scores
    assert read_policy("my.seed-1.policy").card["seed"] == 1


def test_the_learned_roulette_is_trained_too() -> None:
    lines = lines_of(
        invoke("train", *WHERE, "--preset", "paper", "--network", "lrw", "-o", "wheel.policy", "--seeds", 2)
    )
    assert lines == ["policy written to wheel.policy"]
    policy = read_policy("wheel.policy")
    assert policy.network == "lrw"
    assert policy.card["command"].startswith("neuralns train ")
    found = invoke("evaluate", "--agent", "wheel.policy", *evaluation(), "--tours", "validate", "--seeds", 3, "--json")
    assert found.json["reward_mean"] == pytest.approx(policy.card["validation_reward"])


def evaluation() -> tuple[object, ...]:
    return ("--instance", "A-n32-k5", "--customers", 10, "--setting", "distance", *OPERATORS)


def test_a_policy_is_evaluated_and_several_by_their_seed() -> None:
    lines_of(invoke("train", *SHORT, "--seeds", 2))
    cards = [read_policy(f"my.seed-{seed}.policy").card for seed in (0, 1)]
    one = invoke("evaluate", "--agent", "my.seed-0.policy", *evaluation(), "--seeds", 1, "--json").json
    assert one["reward_mean"] == pytest.approx(cards[0]["test_reward"])
    both = invoke("evaluate", "--agent", "my.seed-{seed}.policy", *evaluation(), "--seeds", 2, "--json").json
    again = invoke("evaluate", "--agent", "my.seed-1.policy", *evaluation(), "--seeds", 2, "--json").json
    assert both["agent"] == "my.seed-{seed}.policy"
    assert both["seeds"] == 2
    # The second seed's episodes are played by the second policy.
    first = invoke("evaluate", "--agent", "my.seed-1.policy", *evaluation(), "--seeds", 1, "--json").json
    second = 2 * again["reward_mean"] - first["reward_mean"]
    assert both["reward_mean"] == pytest.approx((one["reward_mean"] + second) / 2)
    missing = invoke("evaluate", "--agent", "my.seed-{seed}.policy", *evaluation(), "--seeds", 3).refusal()
    assert "my.seed-2.policy" in missing


def test_a_run_says_how_far_it_is_where_there_is_no_terminal() -> None:
    stderr = invoke("train", *SHORT).stderr
    assert re.search(r"^step 60/60  \d+ s  return [\d.-]+  loss [\d.]+  validation [\d.]+  best [\d.]+$", stderr, re.M)


def test_ctrl_c_saves_and_resume_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    lines_of(invoke("train", *SHORT, "-o", "whole.policy"))
    plain = Training.run

    def interrupted(self: Training, progress: Any, *others: Any) -> None:
        def press(standing: Standing) -> None:
            progress(standing)
            if standing.step >= 20:
                monkeypatch.setattr(Training, "run", plain)
                signal.raise_signal(signal.SIGINT)

        plain(self, press, *others)

    monkeypatch.setattr(Training, "run", interrupted)
    lines = lines_of(invoke("train", *SHORT, "-o", "mine.policy"))
    assert lines[-2:] == [
        "stopped at step 20 of 60; go on with the same command and --resume",
        "policy of seed 0 written to mine.policy",
    ]
    assert Path("mine.checkpoint").is_file()
    lines_of(invoke("train", *SHORT, "-o", "mine.policy", "--resume"))
    assert not Path("mine.checkpoint").exists()
    one, other = read_policy("whole.policy"), read_policy("mine.policy")
    assert all((values == other.tensors[name]).all() for name, values in one.tensors.items())
    assert one.card["test_reward"] == other.card["test_reward"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("--network oracle", "network 'oracle' is not known; choose mlp, gat, small."),
        ("--preset fast", "preset 'fast' is not known; choose paper, strong or graph."),
        ("--start warm", "start 'warm' is not known; choose random, savings, search."),
        ("--resume", "my.checkpoint: there is no checkpoint to resume from."),
        ("--seeds 0", "0 seeds asked for; at least 1 is needed."),
        ("--steps 0", "steps 0 must be at least 1."),
        ("--features poor", "feature set 'poor' is not known; choose paper, rich, windows, relative, routes."),
        ("--batch 0", "batch 0 must be at least 1."),
        ("--tours 0", "tours 0 must be at least 1."),
        ("--network lrw", "the learned roulette has no 'steps' to set."),
        ("--network lrw --threads 2", "threads 2 does not go with network 'lrw', learned at once from random tours."),
        ("--setting text", "setting 'text' is not known; choose paper, distance, windows."),
        ("--portfolio book", "portfolio 'book' is not known"),
        ("--budget 0", "budget 0 must be at least 1 pair."),
        ("--threads 0", "number of threads 0 must be at least 1."),
        ("--device tpu", "device 'tpu' is not there; choose cpu, or cuda where torch sees a GPU."),
        ("--network gat --graph star", "graph 'star' is not known; choose complete, nearest."),
        ("--network gat --heads 3", "3 heads do not divide a layer of width 32."),
        ("--network gat --heads 0", "heads 0 must be at least 1."),
        ("--hidden 8,no", "hidden layers '8,no' must be up to 8 whole numbers from 1 to 4096, such as 256,128."),
        ("--hidden 8,²", "hidden layers '8,²' must be up to 8 whole numbers from 1 to 4096, such as 256,128."),
        ("--validate-sizes 30,x", "sizes '30,x' to validate at must be numbers of customers, such as 30,50,70,90."),
        ("--hidden 0", "hidden layers '0' must be up to 8 whole numbers from 1 to 4096, such as 256,128."),
        ("--output none/my.policy", "none/my.policy: folder "),
        ("--output my.csv", "my.csv: a run keeps another file under that name; choose one such as mine.policy."),
    ],
)
def test_what_cannot_be_used_is_refused(arguments: str, sentence: str) -> None:
    assert sentence in invoke("train", *SHORT, *arguments.split()).refusal()
    assert os.listdir() == []


def test_a_policy_or_a_checkpoint_is_not_written_over_unless_told_to() -> None:
    wheel = (*WHERE, "--network", "lrw", "-o", "mine.policy")
    Path("mine.checkpoint").write_text("hours of work")
    assert invoke("train", *wheel).refusal() == (
        "mine.checkpoint: a run was stopped here; go on with --resume, or start anew with --force."
    )
    Path("mine.policy").write_text("more hours")
    assert invoke("train", *wheel).refusal() == (
        "mine.policy: exists already; choose another name, or write over it with --force."
    )
    lines_of(invoke("train", *wheel, "--force"))
    assert read_policy("mine.policy").network == "lrw"


@pytest.mark.filterwarnings("default::neuralns.errors.InputWarning")
@pytest.mark.parametrize("network", ["small", "lrw"])
def test_a_policy_whose_folder_is_gone_is_named_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, network: str
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    plain = policy_file.write_policy

    def write(policy: Policy, path: str) -> None:
        shutil.rmtree("out", ignore_errors=True)
        plain(policy, path)

    for module in (run, train):
        monkeypatch.setattr(module, "write_policy", write)
    Path("out").mkdir()
    outcome = invoke("train", *(SHORT if network == "small" else WHERE), "--network", network, "-o", "out/my.policy")
    assert outcome.code == 1
    [kept] = tmp_path.glob("neuralns-*/my.policy")
    assert outcome.stdout.splitlines()[-1].endswith(f"written to {kept}")
    assert f"it is in {kept} instead." in outcome.stderr
    assert read_policy(kept).network == network


def test_an_output_that_cannot_be_written_is_refused_before_any_work(monkeypatch: pytest.MonkeyPatch) -> None:
    def work(*arguments: object, **options: object) -> None:
        raise AssertionError("worked")

    monkeypatch.setattr(Training, "run", work)
    monkeypatch.setattr(run, "make_tasks", work)
    monkeypatch.setattr(baselines, "train_roulette", work)
    Path("folder.policy").mkdir()
    for network in ("small", "lrw"):
        refusal = invoke("train", *WHERE, "--network", network, "-o", "none/my.policy").refusal()
        assert re.fullmatch(r"none/my\.policy: folder .*none does not exist\.", refusal)
        assert (
            invoke("train", *WHERE, "--network", network, "-o", "folder.policy").refusal().startswith("folder.policy: ")
        )


def test_instances_of_several_sizes_need_another_network_than_mlp() -> None:
    refusal = invoke("train", "A-n32-k5", "A-n45-k7", *OPERATORS, "--preset", "paper", "--steps", 10).refusal()
    assert refusal == "an mlp needs instances of one size; take gat or small for different sizes."
