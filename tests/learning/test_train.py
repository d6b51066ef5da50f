"""Training as one call: what the command line can do, Python can."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from neuralns import InputError, SimulatedAnnealing, generate_x, make_mdp, read, read_policy, train
from neuralns.learning.train import configured, seed_file

FEW: dict[str, Any] = {
    "network": "small", "steps": 40, "tours": 16, "lanes": 4, "validate_every": 20, "setting": "paper", "customers": 20,
    "portfolio": "paper-3", "start": "random",
}  # fmt: skip


def test_a_policy_is_trained_and_written(tmp_path: Path) -> None:
    done = train("C101", tmp_path / "mine.policy", seeds=2, command="as written here", **FEW)
    assert done.finished
    assert done.step == 40
    assert len(done.policies) == len(done.validation) == len(done.tests) == 2
    written = read_policy(tmp_path / "mine.policy")
    assert written.card["command"] == "as written here"
    assert written.card["training"]["steps"] == 40
    assert written.card["validation_reward"] == done.validation[done.best] == done.policy.card["validation_reward"]
    assert seed_file(tmp_path / "mine.policy", 1).is_file()


def test_nothing_is_written_without_an_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert train("C101", **FEW).policy.network == "small"
    assert list(tmp_path.iterdir()) == []


def test_several_instances_may_be_given() -> None:
    done = train([generate_x(12, seed=1), generate_x(14, seed=2)], **{**FEW, "customers": None})
    assert done.policy.card["sizes"] == [12, 14]
    assert len(done.policy.card["instances"]) == 2


def test_the_best_may_be_chosen_at_other_sizes_too(tmp_path: Path) -> None:
    done = train("C101", tmp_path / "mine.policy", seeds=2, validate_sizes=[15, 30], **FEW)
    card = read_policy(tmp_path / "mine.policy").card
    assert (card["sizes"], card["validation_sizes"]) == ([20], [15, 30])
    # A fixed number of customers is removed at every size, or a fifth where the preset says so.
    assert done.policy.card["validation_rewards_by_size"] == card["validation_rewards_by_size"]
    shares = []
    for policy in done.policies:
        rewards = [policy.card["validation_reward"], *policy.card["validation_rewards_by_size"]]
        mdps = [make_mdp("C101", customers=size, portfolio="paper-3", scale=10) for size in (20, 15, 30)]
        tours = [mdp.start_tours("validate", count) for mdp, count in zip(mdps, (128, 32, 32), strict=True)]
        shares.append(
            np.mean([gain / np.mean([t.cost for t in each]) for gain, each in zip(rewards, tours, strict=True)])
        )
    assert done.best == int(np.argmax(shares))
    for network in ("lrw", "ahead"):
        with pytest.raises(InputError, match=rf"^sizes to validate at are for gat and small, not for {network}"):
            train("C101", network=network, preset="paper", customers=20, validate_sizes=[30])
    with pytest.raises(InputError, match="101"):
        train("C101", validate_sizes=[101], **FEW)


def test_preset_graph_is_for_graph_networks() -> None:
    config = configured("graph", "gat")
    assert (config.features, config.layers, config.hidden) == ("relative", 2, (64,))
    with pytest.raises(InputError, match=r"^preset graph is for network gat, not small\.$"):
        configured("graph", "small")
    few: dict[str, Any] = {"steps": 40, "tours": 16, "lanes": 4, "validate_every": 20}
    card = train("C101", preset="graph", setting="paper", customers=20, portfolio="paper-3", **few).policy.card
    assert (card["network"], card["start"], card["acceptance"], card["scale"]) == ("gat", "random", "always", 4)


def test_seeds_may_be_named() -> None:
    done = train("C101", seeds=[7, 3], **FEW)
    assert [policy.card["seed"] for policy in done.policies] == [7, 3]


def test_a_policy_can_learn_under_annealing() -> None:
    done = train("C101", acceptance=SimulatedAnnealing(10.0, 1.0), **FEW)
    assert done.policy.card["acceptance"] == "SimulatedAnnealing(start=10.0, end=1.0)"
    assert train("C101", acceptance="annealing", **FEW).policy.card["acceptance"] == "annealing"


def test_the_learned_wheel_is_trained_too(tmp_path: Path) -> None:
    done = train("C101", tmp_path / "wheel.policy", network="lrw", preset="paper", customers=20, seeds=2)
    assert read_policy(tmp_path / "wheel.policy").card["validation_reward"] == max(filter(None, done.validation))


def test_what_is_left_out_is_for_searches_on_instances_of_ones_own() -> None:
    card = train([generate_x(12, seed=1), generate_x(9, seed=2)], steps=10, tours=16, lanes=4).policy.card
    assert (card["network"], card["start"], card["acceptance"], card["setting"]) == (
        "small", "search", "improving", "distance",
    )  # fmt: skip
    # Where there are fewer than ten customers, all are removed.
    assert card["scale"] == [10, 9]
    assert card["operators"] == {"destroy": ["string"], "repair": ["blinks", "regret-2"]}


def test_marks_stand_beside_the_validation_reward() -> None:
    done = train("C101", seeds=2, **FEW)
    assert done.marks is not None
    assert done.marks.random < done.marks.best_fixed
    assert [policy.card["best_fixed_reward"] for policy in done.policies] == [done.marks.best_fixed] * 2
    assert [policy.card["most_used_pair_share"] for policy in done.policies] == [use.share for use in done.pairs]


def test_it_is_said_what_goes_on_before_the_first_step() -> None:
    said: list[str] = []
    train("C101", say=said.append, **{**FEW, "start": "savings"})
    assert said == ["gathering starts by savings on C101:20 (paper) (1 of 1) ..."]


def test_a_preset_is_changed_only_where_asked() -> None:
    config = configured("strong", "small", steps=7, hidden=None)
    assert config.steps == 7
    assert config.hidden == configured("strong", "small").hidden


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"speed": 3}, "a training has no 'speed' to set; there are network, features, "),
        ({"network": "tree"}, "network 'tree' is not known"),
        ({"preset": "weak"}, "preset 'weak' is not known"),
        ({"seeds": 0}, "0 seeds asked for; at least 1 is needed."),
        ({"acceptance": "never"}, "acceptance 'never' is not known; choose always, improving, annealing."),
        ({"portfolio": "plain"}, "portfolio 'plain' has improve operators .2-opt-star., which a policy does not bring"),
    ],
)
def test_what_cannot_be_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        train("C101", **{**FEW, **changes})


def test_no_instance_is_refused() -> None:
    with pytest.raises(InputError, match="training needs at least one instance"):
        train([], **FEW)


def test_a_policy_can_learn_with_windows() -> None:
    done = train("R101", **{**FEW, "setting": "windows", "preset": "strong", "network": "small", "scale": None})
    card = done.policy.card
    assert (card["setting"], card["features"]["name"], card["instances"]) == ("windows", "windows", ["R101:20"])
    assert done.marks is not None
    assert done.marks.random > 0
    plain = train("R101", **{**FEW, "setting": "windows", "preset": "paper", "network": "mlp"})
    assert plain.policy.card["features"]["name"] == "paper"


def test_windows_are_left_out_only_where_asked() -> None:
    of_networks = ("steps", "tours", "lanes", "validate_every", "start")
    few = {**{name: value for name, value in FEW.items() if name not in of_networks}, "setting": None, "network": "lrw"}
    assert train("R101", **few).policy.card["setting"] == "windows"
    assert train(read("R101", ignore="windows"), **few).policy.card["setting"] == "distance"
    with pytest.raises(InputError, match=r"^R101 has windows and E-n22-k4 has none: train on them apart, or"):
        train(["R101", "E-n22-k4"], **few)
