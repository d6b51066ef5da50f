"""Checkpoints: a run goes on from one as if it had never stopped, and from no other file."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save

from agents import short, task_of
from neuralns import InputError, make_mdp
from neuralns.learning.checkpoint import read_checkpoint, write_checkpoint
from neuralns.learning.training import Training
from neuralns.selection.policy_file import write_policy

TINY = make_mdp("C101", customers=20, portfolio="random-route,greedy-route,greedy", budget=2)
ABOUT = {"config": {"steps": 60}, "seeds": [0, 1]}


def run_of(network: str = "small", seeds: tuple[int, ...] = (0, 1), **changes: Any) -> Training:
    return Training([task_of([TINY], seed) for seed in seeds], short(network, **changes))


def all_numbers(training: Training) -> dict[str, torch.Tensor]:
    """Everything that a run holds, apart from its clock."""
    learner = training.learner
    found = {f"online {name}": values for name, values in learner.online.state_dict().items()}
    found |= {f"target {name}": values for name, values in learner.target.state_dict().items()}
    found |= {f"best {name}": values for name, values in training.best_parameters.items()}
    found |= {f"replay {name}": values for name, values in learner.replay.tensors().items()}
    for number, parameter in enumerate(learner.online.parameters()):
        found |= {f"adam {number} {name}": values for name, values in learner.optimiser.state[parameter].items()}
    counts = [training.step, training.ticks, learner.replay.now, learner.replay.filled]
    return {**found, "scores": torch.from_numpy(training.best_scores), "counts": torch.tensor(counts)}


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkpoint of a run of ``small`` stopped at step 24."""
    training, path = run_of(), tmp_path_factory.mktemp("runs") / "mine.checkpoint"
    training.run(stop=lambda: training.step >= 24)
    write_checkpoint(training, path, ABOUT)
    return path


@pytest.mark.parametrize(
    ("network", "changes"),
    [
        ("small", {}),
        ("small", {"loss": "squared", "anneal": False, "double": False, "n_step": 1}),
        ("mlp", {"hidden": (8,)}),
        ("gat", {"graph": "nearest", "width": 8, "heads": 2}),
    ],
    ids=["small", "small as in the paper", "mlp", "gat"],
)
@pytest.mark.parametrize("stop", [0, 4, 36])
def test_a_run_goes_on_as_if_it_had_never_stopped(
    tmp_path: Path, network: str, changes: dict[str, Any], stop: int
) -> None:
    whole, first, second = (run_of(network, steps=48, **changes) for _ in range(3))
    whole.run()
    first.run(stop=lambda: first.step >= stop)
    assert first.step == stop
    write_checkpoint(first, tmp_path / "mine.checkpoint", ABOUT)
    read_checkpoint(second, tmp_path / "mine.checkpoint", ABOUT)
    reached, there = all_numbers(first), all_numbers(second)
    assert there.keys() == reached.keys()
    assert all(torch.equal(there[name], values) for name, values in reached.items())
    second.run()
    expected, found = all_numbers(whole), all_numbers(second)
    assert [name for name, values in expected.items() if not torch.equal(found[name], values)] == []
    for agent in range(2):
        assert second.policy(agent).card == whole.policy(agent).card


def test_writing_a_checkpoint_changes_nothing(tmp_path: Path) -> None:
    plain, watched = run_of(), run_of()
    plain.run()
    watched.run(at_boundary=lambda: write_checkpoint(watched, tmp_path / "mine.checkpoint", ABOUT))
    found = all_numbers(watched)
    assert all(torch.equal(found[name], values) for name, values in all_numbers(plain).items())


def test_a_checkpoint_is_a_safetensors_file_and_nothing_in_it_is_executed(stopped: Path) -> None:
    content = stopped.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    assert json.loads(header["__metadata__"]["neuralns-checkpoint"])["about"] == ABOUT
    with safe_open(stopped, framework="np") as file:
        assert {name.partition(".")[0] for name in file.keys()} == {  # noqa: SIM118 (not a dict)
            "online", "target", "best", "adam", "replay", "best_scores", "best_rewards",
        }  # fmt: skip


@pytest.mark.parametrize(
    ("about", "sentence"),
    [
        ({"seeds": [0, 2]}, "belongs to another run (seeds was [0, 1], now [0, 2])."),
        ({"config": {"steps": 61}}, 'belongs to another run (config was {"steps": 60}, now {"steps": 61}).'),
        ({"start": "search"}, 'belongs to another run (start was null, now "search").'),
    ],
)
def test_the_checkpoint_of_another_run_is_refused_with_what_differs(
    stopped: Path, about: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(InputError) as caught:
        read_checkpoint(run_of(), stopped, {**ABOUT, **about})
    assert str(caught.value) == f"{stopped}: {sentence}"


@pytest.mark.parametrize("changes", [{"lanes": 5}, {"hidden": (7,)}, {"replay": 40}, {"network": "mlp"}])
def test_numbers_that_do_not_fit_the_run_are_refused(stopped: Path, changes: dict[str, Any]) -> None:
    with pytest.raises(InputError) as caught:
        read_checkpoint(run_of(**changes), stopped, ABOUT)
    sentence = str(caught.value)
    assert sentence.startswith(f"{stopped}: does not fit this run (")
    assert "\n" not in sentence


def test_a_file_cut_anywhere_is_refused(stopped: Path, tmp_path: Path) -> None:
    content, training, path = stopped.read_bytes(), run_of(), tmp_path / "cut.checkpoint"
    for length in (0, 5, 8, 100, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:length])
        with pytest.raises(InputError, match=r"cut\.checkpoint: is not a checkpoint, or is damaged \("):
            read_checkpoint(training, path, ABOUT)


@pytest.mark.parametrize(
    "numbers", [[], 3, None, "text", {}, {"about": 3}, {"about": ABOUT}, {"about": ABOUT, "step": None, "ticks": []}]
)
def test_a_checkpoint_whose_entries_are_not_ours_is_refused(stopped: Path, tmp_path: Path, numbers: object) -> None:
    path = tmp_path / "odd.checkpoint"
    with safe_open(stopped, framework="pt") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
    path.write_bytes(save(tensors, metadata={"neuralns-checkpoint": json.dumps(numbers)}))
    with pytest.raises(InputError, match=r"odd\.checkpoint: "):
        read_checkpoint(run_of(), path, ABOUT)


@pytest.mark.parametrize("missing", ["replay.rows", "best_scores", "online.layers.0.weight", "best.layers.1.bias"])
def test_a_checkpoint_without_all_numbers_is_refused(stopped: Path, tmp_path: Path, missing: str) -> None:
    path = tmp_path / "part.checkpoint"
    with safe_open(stopped, framework="pt") as file:
        metadata = file.metadata()
        tensors = {name: file.get_tensor(name) for name in file.keys() if name != missing}  # noqa: SIM118 (not a dict)
    path.write_bytes(save(tensors, metadata=metadata))
    with pytest.raises(InputError, match=r"part\.checkpoint: does not fit this run \("):
        read_checkpoint(run_of(), path, ABOUT)


@pytest.mark.parametrize(
    "odd",
    [{"step": 1e400}, {"step": -1}, {"ticks": True}, {"filled": 10**9}, {"now": 10**9}, {"now": "3"}, {"adam": [3]}],
)
def test_a_checkpoint_with_odd_numbers_is_refused(stopped: Path, tmp_path: Path, odd: dict[str, Any]) -> None:
    path, training = tmp_path / "odd.checkpoint", run_of()
    with safe_open(stopped, framework="pt") as file:
        numbers = json.loads(file.metadata()["neuralns-checkpoint"])
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
    if "adam" in odd:
        tensors["adam.0.exp_avg"] = torch.zeros(odd["adam"])
    path.write_bytes(save(tensors, metadata={"neuralns-checkpoint": json.dumps(numbers | odd)}))
    before = path.read_bytes()
    with pytest.raises(InputError, match=r"odd\.checkpoint: does not fit this run \(") as caught:
        read_checkpoint(training, path, ABOUT)
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == before


def test_other_files_are_refused(tmp_path: Path) -> None:
    training, policy, text = run_of(), tmp_path / "mine.policy", tmp_path / "text"
    write_policy(training.policy(0), policy)
    text.write_text("not a checkpoint")
    for path in (policy, text):
        with pytest.raises(InputError, match=rf"{path.name}: is not a checkpoint, or is damaged \("):
            read_checkpoint(training, path, ABOUT)
    with pytest.raises(InputError, match=r"absent: there is no checkpoint to resume from\.$"):
        read_checkpoint(training, tmp_path / "absent", ABOUT)


def test_a_checkpoint_replaces_the_one_before_at_once(stopped: Path, tmp_path: Path) -> None:
    path = tmp_path / "mine.checkpoint"
    path.write_bytes(b"old")
    training = run_of()
    write_checkpoint(training, path, ABOUT)
    assert [entry.name for entry in tmp_path.iterdir()] == ["mine.checkpoint"]
    read_checkpoint(training, path, ABOUT)
    assert np.isneginf(training.best_scores).all()
