"""``neuralns train --controller``."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from chores import Here
from commands import Outcome, invoke
from neuralns import generate_x
from neuralns.cli.train_controller import bundled_in, first_surface
from neuralns.experiments import executors
from neuralns.operators.portfolio import portfolio_named
from neuralns.problem.formats.detect import write_instance
from neuralns.problem.generate.variants import generate_of
from neuralns.selection.policy_file import mark_of, read_policy

HOW = ("--controller", "--portfolio", "string,random-node,greedy", "--time", 0.01, "--minutes", 0.005)


@pytest.fixture(autouse=True)
def in_this_process(in_own_folder: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors, "ProcessPool", lambda workers: Here())


def trained(*options: Any) -> Outcome:
    outcome = invoke("train", "E-n22-k4", *HOW, "-o", "mine.policy", *options)
    assert outcome.code == 0, outcome.stderr
    return outcome


def test_it_writes_a_controller_that_solves() -> None:
    assert "controller written to mine.policy" in trained().stdout
    card = read_policy("mine.policy").card
    assert (card["network"], card["for"]["kinds"]) == ("controller", ["plain"])
    assert card["command"].startswith("neuralns")
    assert card["instances"] == ["E-n22-k4"]
    told = invoke("policy", "mine.policy")
    assert "operators, destroy" in told.stdout
    found = invoke("solve", "E-n22-k4", "--selector", "mine.policy", "--iterations", 200, "--json")
    assert found.code == 0, found.stderr
    assert '"selector": "mine.policy"' in found.stdout
    refused = invoke(
        "compare", "E-n22-k4", "--selectors", "mine.policy,random", "--iterations", 5, "--seeds", 1
    ).refusal()
    assert refused.startswith("mine.policy: was trained on 'E-n22-k4', so a comparison there is no test")


def test_a_training_goes_on_and_nothing_is_lost_unasked() -> None:
    trained()
    kept = Path("mine.runs").read_text()
    refused = invoke("train", "E-n22-k4", *HOW, "-o", "mine.policy")
    assert refused.code == 2
    assert "mine.policy: is there already; --resume goes on, --force begins anew." in refused.stderr
    other = invoke("train", "A-n32-k5", *HOW, "-o", "mine.policy", "--resume")
    assert other.code == 2
    assert "mine.runs: holds results with instances E-n22-k4, but now it is A-n32-k5" in " ".join(other.stderr.split())
    trained("--resume", "--minutes", 0.01)
    longer = Path("mine.runs").read_text()
    assert longer.startswith(kept)
    assert len(longer) > len(kept)
    trained("--force")
    assert len(Path("mine.runs").read_text()) < len(longer)
    Path("mine.runs").write_text("what somebody ran\n")
    refused = invoke("train", "E-n22-k4", *HOW, "-o", "mine.policy", "--force")
    assert refused.code == 2
    assert "mine.runs: is no log of a training, and would be written over" in refused.stderr
    assert Path("mine.runs").read_text() == "what somebody ran\n"


def test_a_training_begins_from_the_bundled_controller_where_it_knows_the_instances() -> None:
    wide = portfolio_named("wide")
    write_instance(generate_of("vrptw", 30, 1), "timed.vrp")
    begun = first_surface(None, wide, ["timed.vrp"])
    assert begun is not None
    assert begun.name == "controller"
    write_instance(generate_of("vrptw", 420, 1), "large.vrp")
    begun = first_surface(None, wide, ["large.vrp"])
    assert begun is not None
    assert begun.name == "controller-large"
    begun = first_surface(None, wide, ["large.vrp", "timed.vrp"])
    assert begun is not None
    assert begun.name == "controller"
    assert first_surface("nothing", wide, ["timed.vrp"]) is None
    assert first_surface(None, wide, ["timed.vrp", "E-n22-k4"]) is None
    assert first_surface(None, wide, []) is None
    assert first_surface(None, portfolio_named("string,blinks"), ["timed.vrp"]) is None


def test_a_training_begins_from_a_file() -> None:
    trained()
    assert read_policy("mine.policy").card["from"] == "nothing"
    outcome = invoke("train", "E-n22-k4", *HOW, "-o", "next.policy", "--from", "mine.policy")
    assert outcome.code == 0, outcome.stderr
    assert "what mine.policy knows is where it begins (--from nothing begins from nothing)" in outcome.stderr
    assert read_policy("next.policy").card["from"] == "mine.policy"
    said = re.search(r"\d\.\d\d.* % shorter than by --selector random, in (\d+) searches on 1 inst", outcome.stdout)
    assert said is not None
    assert int(said[1]) == read_policy("next.policy").card["gain"]["groups"]
    assert "% shorter than by --selector random so far" in outcome.stderr


def test_a_card_names_what_the_controller_that_it_began_from_was_trained_on() -> None:
    trained()
    outcome = invoke("train", "A-n32-k5", *HOW, "-o", "next.policy", "--from", "mine.policy")
    assert outcome.code == 0, outcome.stderr
    assert read_policy("next.policy").card["instances"] == ["E-n22-k4", "A-n32-k5"]


def test_a_damaged_file_of_runs_is_refused_with_its_line_and_left_alone() -> None:
    trained()
    head, first, *rest = Path("mine.runs").read_text().splitlines(keepends=True)
    assert json.loads(head)["from"] == "nothing"
    policy = Path("mine.policy").read_bytes()
    for line, text in (
        (1, "".join([head.replace('"from": "nothing"', '"from": ["x"]'), first, *rest])),
        (1, "".join(["[" * 100_000 + "\n", first, *rest])),
        (1, "".join(["\xff\n", first, *rest])),
        (2, "".join([head, first.replace('"costs": [', '"costs": ["x", '), *rest])),
        (2, "".join([head, first[:40] + "\n", *rest])),
    ):
        Path("mine.runs").write_text(text)
        refusal = invoke("train", "E-n22-k4", *HOW, "-o", "mine.policy", "--resume").refusal()
        if '["x"]' in text:
            assert refusal.startswith("mine.runs: holds results with from ['x'], but now it is ")
        else:
            assert refusal == f"mine.runs, line {line}: is not a result of neuralns."
        assert Path("mine.runs").read_text() == text
        assert Path("mine.policy").read_bytes() == policy


def test_a_file_that_was_changed_is_another_instance() -> None:
    write_instance(generate_x(20, seed=1), "my.vrp")
    how = ("train", "my.vrp", *HOW, "-o", "mine.policy")
    first = invoke(*how)
    assert first.code == 0, first.stderr
    longer = invoke(*how, "--resume", "--minutes", 0.006)
    assert longer.code == 0, longer.stderr
    write_instance(generate_x(20, seed=2), "my.vrp")
    refused = " ".join(invoke(*how, "--resume").stderr.split())
    assert re.search(
        r"mine\.runs: holds results with instances my\.vrp \(\w{16}\), but now it is my\.vrp \(\w{16}\);", refused
    )


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--minutes", 0), "--minutes 0 must be above 0."),
        (("--time", "nan"), "--time nan must be above 0."),
        (("--workers", 0), "number of workers 0 must be at least 1."),
        (("--seed", -1), "seed -1 must be at least 0."),
        (("--generate", "cvrp"), "a controller is trained on instances, or on generated ones"),
        (("--network", "gat"), "--network does not go with --controller."),
        (("--steps", 10), "--steps does not go with --controller."),
        (("--seeds", 4), "--seeds does not go with --controller."),
        (("--operators", "mine.py"), "--operators does not go with --controller."),
        (("--resume",), "my.runs: there is nothing to resume from."),
        (("--portfolio", "nothing"), "portfolio 'nothing' is not known"),
        (("-o", "nowhere/mine.policy"), "nowhere"),
        (("--from", "random"), "random: is no controller to begin from."),
        (("--from", "controller"), "controller: has other operators than the portfolio string, random-node, greedy."),
        (("-o", "."), ".: is a folder, not a file."),
        (
            ("--from", "./my.policy"),
            "my.policy: a training begins from it, and --resume would need it; choose another output.",
        ),
        (("--sizes", "400,1000"), "--sizes is for generated instances (--generate VARIANT,...), not for files."),
        (("-o", "mine.runs"), "mine.runs: a run keeps another file under that name; choose one such as mine.policy."),
    ],
)
def test_what_cannot_be_is_refused_before_the_first_run(options: tuple[Any, ...], sentence: str) -> None:
    outcome = invoke("train", "E-n22-k4", *HOW, *options)
    assert outcome.code == 2
    assert re.sub(r"\s+", " ", sentence) in re.sub(r"\s+", " ", outcome.stderr)
    assert not any(Path().iterdir())


@pytest.mark.parametrize("sizes", ["400", "a,b", "30,20", "5,20", "400,", "400,10001", "10,20,30"])
def test_sizes_that_are_none_are_refused(sizes: str) -> None:
    outcome = invoke("train", "--generate", "cvrp", *HOW, "--sizes", sizes)
    assert outcome.code == 2
    sentence = f"--sizes '{sizes}' must be the fewest and the most customers, from 10 to 10000, such as 400,1000."
    assert sentence in " ".join(outcome.stderr.split())


def test_a_training_goes_on_with_the_sizes_that_it_began_with() -> None:
    how = ("train", "--generate", "cvrp", *HOW, "--sizes")
    assert invoke(*how, "20,30").code == 0
    assert 20 <= read_policy("my.policy").card["for"]["customers"][0] <= 31
    again = invoke(*how, "20, 30", "--resume", "--minutes", 0.006)
    assert again.code == 0, again.stderr
    other = invoke(*how, "20,40", "--resume")
    assert other.code == 2
    assert "holds results with instances cvrp; 20 to 30 customers, but now it is cvrp; 20 to 40 customers" in " ".join(
        other.stderr.split()
    )


def test_a_training_goes_on_from_the_bundled_controller_that_it_began_from() -> None:
    write_instance(generate_of("vrptw", 420, 1), "large.vrp")
    first_line = {"operators": [], "from": mark_of(read_policy("controller"))}
    Path("mine.runs").write_text(json.dumps(first_line) + "\n")
    assert bundled_in(Path("mine.runs")) == "controller"
    Path("mine.runs").write_text(json.dumps(first_line | {"from": "nothing"}) + "\n")
    assert bundled_in(Path("mine.runs")) == "nothing"
    for text in ('{"from": "other"}', "no log", "[]", ""):
        Path("mine.runs").write_text(text)
        assert bundled_in(Path("mine.runs")) is None
    assert bundled_in(Path("nowhere.runs")) is None


@pytest.mark.parametrize("option", ["--generate", "--sizes", "--minutes", "--time", "--workers", "--seed", "--from"])
def test_options_of_controllers_are_refused_without_one(option: str) -> None:
    outcome = invoke("train", "E-n22-k4", option, "3")
    assert outcome.code == 2
    assert f"{option} is for controllers; add --controller." in outcome.stderr


def test_generated_instances_need_no_file() -> None:
    outcome = invoke("train", *HOW, "--generate", "cvrp", "--minutes", 0.004)
    assert outcome.code == 0, outcome.stderr
    assert read_policy("my.policy").card["for"]["kinds"] == ["plain"]
    assert "instances" not in read_policy("my.policy").card
    nothing = invoke("train")
    assert nothing.code == 2
    assert "no instance was given to train on." in nothing.stderr
