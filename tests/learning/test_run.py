"""Training runs with their files: what is written, what Ctrl-C leaves, and how a run goes on."""

from __future__ import annotations

import csv
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import neuralns
from agents import short
from neuralns import InputError, InputWarning, evaluate, make_mdp
from neuralns.learning import run as run_module
from neuralns.learning.run import run
from neuralns.learning.train import Trained, seed_file
from neuralns.learning.training import Standing
from neuralns.selection.features import RICH
from neuralns.selection.policy import PolicySelector
from neuralns.selection.policy_file import Policy, read_policy

TINY = make_mdp("C101", customers=20, portfolio="random-route,greedy-route,greedy", budget=2)
CONFIG = short(validate_every=10)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Trained, Path]:
    """A run of two seeds that was never stopped, and its policy file."""
    output = tmp_path_factory.mktemp("whole") / "mine.policy"
    return run([TINY], CONFIG, seeds=(0, 1), output=output, command="neuralns train mine"), output


def same_numbers(one: Policy, other: Policy) -> bool:
    return one.tensors.keys() == other.tensors.keys() and all(
        np.array_equal(values, other.tensors[name]) for name, values in one.tensors.items()
    )


def interrupt_at(step: int, number: int = signal.SIGINT) -> Callable[[Standing], None]:
    """Progress that presses Ctrl-C once, when so many steps are done."""
    pressed: list[int] = []

    def press(standing: Standing) -> None:
        if standing.step >= step and not pressed:
            pressed.append(standing.step)
            signal.raise_signal(number)

    return press


def rows_of(log: Path) -> list[dict[str, str]]:
    with log.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


# --- Files of a run that ends well. ----------------------------------------------------------------------------------


def test_a_run_leaves_the_policies_and_the_log(whole: tuple[Trained, Path]) -> None:
    done, output = whole
    assert done.finished
    assert done.step == 60
    assert sorted(path.name for path in output.parent.iterdir()) == [
        "mine.csv", "mine.policy", "mine.seed-0.policy", "mine.seed-1.policy",
    ]  # fmt: skip
    for seed, policy in enumerate(done.policies):
        assert same_numbers(read_policy(seed_file(output, seed)), policy)
        assert read_policy(seed_file(output, seed)).card["seed"] == seed
    scores = [policy.card["validation_reward"] for policy in done.policies]
    assert done.best == scores.index(max(scores))
    assert same_numbers(read_policy(output), done.policies[done.best])


def test_a_run_of_one_seed_writes_no_file_for_it(tmp_path: Path) -> None:
    run([TINY], short(steps=20), output=tmp_path / "mine.policy")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.csv", "mine.policy"]


def test_a_run_without_output_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = run([TINY], short(steps=20), seeds=(3,))
    assert [policy.card["seed"] for policy in done.policies] == [3]
    assert list(tmp_path.iterdir()) == []


def test_the_card_says_what_the_policy_is_and_how_well_it_does(whole: tuple[Trained, Path]) -> None:
    done, output = whole
    card = read_policy(output).card
    assert card["network"] == "small"
    assert card["features"] == {"name": "rich", "version": RICH.version}
    assert card["operators"] == {"destroy": ["random-route", "greedy-route"], "repair": ["greedy"]}
    assert (card["setting"], card["scale"], card["budget"], card["sizes"]) == ("paper", 4, 2, [20])
    assert card["instances"] == [TINY.instance.name]
    assert (card["seed"], card["seeds"], card["start"]) == (done.best, [0, 1], "random")
    assert (card["command"], card["neuralns"]) == ("neuralns train mine", neuralns.__version__)
    assert card["finished"] is True
    assert card["training"] == CONFIG.as_dict()
    assert card["validation_reward"] == max(card["validation_rewards"])
    assert card["test_rewards"] == list(done.tests)
    assert card["test_reward"] == done.tests[done.best]


def test_the_test_reward_is_that_of_the_greedy_policy_on_the_test_tours(whole: tuple[Trained, Path]) -> None:
    done, output = whole
    for seed in range(2):
        policy = read_policy(seed_file(output, seed))
        expected = evaluate(TINY, PolicySelector(policy, 0.0), seeds=1).reward_mean
        assert policy.card["test_reward"] == done.tests[seed] == pytest.approx(expected, rel=1e-12)


def test_test_tours_are_shared_among_the_instances() -> None:
    mdps = [make_mdp(name, customers=20, portfolio="random-route,greedy", budget=2) for name in ("C101", "R101")]
    done = run(mdps, short(steps=20))
    player = PolicySelector(done.policies[0], 0.0)
    means = [evaluate(mdp, player, tours=mdp.start_tours("test", 64), seeds=1).reward_mean for mdp in mdps]
    assert done.tests[0] == pytest.approx(np.mean(means), rel=1e-12)


def test_the_log_has_a_row_for_every_validation(whole: tuple[Trained, Path]) -> None:
    done, output = whole
    rows = rows_of(output.with_suffix(".csv"))
    assert list(rows[0]) == [
        "step", "seconds", "epsilon", "steps_a_second",
        "return_0", "return_1", "loss_0", "loss_1", "validation_0", "validation_1",
    ]  # fmt: skip
    steps = [int(row["step"]) for row in rows]
    # Validations after 10, 20, ... steps are told at the ends of episodes of four.
    assert steps == [12, 20, 32, 40, 52, 60]
    assert all(np.isfinite(float(value)) for row in rows for value in row.values())
    for seed in range(2):
        best = max(float(row[f"validation_{seed}"]) for row in rows)
        assert best == pytest.approx(done.policies[seed].card["validation_reward"], rel=1e-5)
    assert float(rows[-1]["epsilon"]) == pytest.approx(CONFIG.epsilon)


def test_files_of_a_run_are_safetensors(whole: tuple[Trained, Path]) -> None:
    for path in whole[1].parent.glob("*.policy"):
        content = path.read_bytes()
        (length,) = struct.unpack("<Q", content[:8])
        assert content[8:9] == b"{"
        assert length < len(content)


@pytest.mark.filterwarnings("default")
def test_scalars_for_tensorboard_are_written(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    run([TINY], short(steps=20), tensorboard=tmp_path / "scalars")
    (events,) = (tmp_path / "scalars").iterdir()
    content = events.read_bytes()
    for name in (b"return", b"loss", b"epsilon", b"validation reward", b"steps a second"):
        assert name in content


def test_tensorboard_that_is_not_there_is_said_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(InputError, match=r"^scalars for TensorBoard need the package tensorboard; install it with"):
        run([TINY], short(steps=20), tensorboard=tmp_path / "scalars")


# --- Ctrl-C and going on. --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_saves_and_going_on_gives_what_an_uninterrupted_run_does(
    tmp_path: Path, whole: tuple[Trained, Path], number: int
) -> None:
    output, seen = tmp_path / "mine.policy", list[int]()

    def end(number: int, frame: object) -> None:
        assert output.is_file()
        seen.append(number)

    before = signal.signal(number, end)
    try:
        stopped = run([TINY], CONFIG, seeds=(0, 1), output=output, progress=interrupt_at(20, number))
        assert signal.getsignal(number) is end
    finally:
        signal.signal(number, before)
    # SIGTERM is passed on when all is written.
    assert seen == ([number] if number == signal.SIGTERM else [])
    assert not stopped.finished
    assert stopped.step == 20
    assert stopped.tests == ()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "mine.checkpoint", "mine.csv", "mine.policy", "mine.seed-0.policy", "mine.seed-1.policy",
    ]  # fmt: skip
    assert read_policy(output).card["finished"] is False
    assert "test_reward" not in read_policy(output).card

    done = run([TINY], CONFIG, seeds=(0, 1), output=output, resume=True, command="neuralns train mine")
    assert done.finished
    assert done.tests == whole[0].tests
    assert not output.with_suffix(".checkpoint").exists()
    for name in ("mine.policy", "mine.seed-0.policy", "mine.seed-1.policy"):
        assert (tmp_path / name).read_bytes() == (whole[1].parent / name).read_bytes()
    timeless = [
        [{k: v for k, v in row.items() if k not in ("seconds", "steps_a_second")} for row in rows_of(log)]
        for log in (tmp_path / "mine.csv", whole[1].with_suffix(".csv"))
    ]
    assert timeless[0] == timeless[1]


def test_a_second_ctrl_c_ends_the_run_at_once(tmp_path: Path) -> None:
    def press_twice(standing: Standing) -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        run([TINY], CONFIG, output=tmp_path / "mine.policy", progress=press_twice)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_run_that_was_killed_goes_on_from_its_last_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whole: tuple[Trained, Path]
) -> None:
    class KilledError(Exception):
        pass

    def kill(standing: Standing) -> None:
        if standing.step >= 40:
            raise KilledError

    output = tmp_path / "mine.policy"
    monkeypatch.setattr(run_module, "CHECKPOINT_SECONDS", 0.0)
    with pytest.raises(KilledError):
        run([TINY], CONFIG, seeds=(0, 1), output=output, progress=kill)
    assert not output.exists()
    first: list[int] = []
    done = run(
        [TINY], CONFIG, seeds=(0, 1), output=output, resume=True, progress=lambda standing: first.append(standing.step)
    )
    # The checkpoint is from the episode before the one that was cut off.
    assert first[0] == 40
    for one, other in zip(done.policies, whole[0].policies, strict=True):
        assert same_numbers(one, other)
        assert one.card["validation_reward"] == other.card["validation_reward"]
    # What the killed run had logged after its checkpoint is not there twice.
    logs = (output.with_suffix(".csv"), whole[1].with_suffix(".csv"))
    assert [row["step"] for row in rows_of(logs[0])] == [row["step"] for row in rows_of(logs[1])]


def test_a_log_that_was_changed_is_refused_and_left_alone(tmp_path: Path) -> None:
    output, log = tmp_path / "mine.policy", tmp_path / "mine.csv"
    run([TINY], CONFIG, seeds=(0, 1), output=output, progress=interrupt_at(40))
    text = log.read_bytes().decode()
    head, first, *rest = text.splitlines(keepends=True)
    for line, changed in (
        (1, "".join([head.replace("loss_0", "mine"), first, *rest])),
        (2, "".join([head, "note," + first, *rest])),
        (2, "".join([head, "x" + first, *rest])),
        (3, "".join([head, first, "my own note\n", *rest])),
    ):
        log.write_bytes(changed.encode())
        with pytest.raises(InputError, match=rf"mine\.csv, line {line}: is not the log of a training \("):
            run([TINY], CONFIG, seeds=(0, 1), output=output, resume=True)
        assert log.read_bytes() == changed.encode()
        assert (tmp_path / "mine.checkpoint").is_file()
    # What a killed run left of a line is done without.
    log.write_bytes((text + "45,0.").encode())
    assert run([TINY], CONFIG, seeds=(0, 1), output=output, resume=True).finished
    assert "45" not in [row["step"] for row in rows_of(log)]


def test_checkpoints_are_written_now_and_then_only(tmp_path: Path) -> None:
    seen: list[bool] = []
    output = tmp_path / "mine.policy"
    run([TINY], CONFIG, output=output, progress=lambda _: seen.append(output.with_suffix(".checkpoint").exists()))
    assert not any(seen)


def test_a_run_stopped_before_its_first_validation_can_go_on(tmp_path: Path) -> None:
    output = tmp_path / "mine.policy"
    stopped = run([TINY], CONFIG, output=output, progress=interrupt_at(0))
    assert (stopped.step, stopped.finished) == (0, False)
    done = run([TINY], CONFIG, output=output, resume=True)
    assert same_numbers(done.policies[0], run([TINY], CONFIG).policies[0])


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"config": short(validate_every=10, learning_rate=0.5)}, "config"),
        ({"seeds": (0, 1, 2)}, "seeds"),
        ({"start": "savings"}, "start"),
        (
            {"mdps": [make_mdp("R101", customers=20, portfolio="random-route,greedy-route,greedy", budget=2)]},
            "instances",
        ),
        ({"mdps": [make_mdp("C101", customers=20, portfolio="random-route,zone,greedy", budget=2)]}, "operators"),
        ({"mdps": [make_mdp("C101", customers=20, portfolio=TINY.portfolio, budget=3)]}, "budget"),
        ({"mdps": [make_mdp("C101", customers=20, portfolio=TINY.portfolio, budget=2, scale=5)]}, "scale"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_run_does_not_go_on_from_the_checkpoint_of_another(
    tmp_path: Path, changes: dict[str, Any], named: str
) -> None:
    output = tmp_path / "mine.policy"
    run([TINY], CONFIG, seeds=(0, 1), output=output, progress=interrupt_at(4))
    arguments: dict[str, Any] = {"mdps": [TINY], "config": CONFIG, "seeds": (0, 1), **changes}
    with pytest.raises(InputError, match=rf"mine\.checkpoint: belongs to another run \({named} was "):
        run(**arguments, output=output, resume=True)


# --- What is refused before any work. --------------------------------------------------------------------------------


def test_a_run_that_cannot_work_is_refused(tmp_path: Path) -> None:
    output = tmp_path / "mine.policy"
    with pytest.raises(InputError, match=r"^training needs at least one seed\.$"):
        run([TINY], CONFIG, seeds=())
    with pytest.raises(InputError, match=r"^only a run with an output file can be resumed\.$"):
        run([TINY], CONFIG, resume=True)
    with pytest.raises(InputError, match=r"mine\.checkpoint: there is no checkpoint to resume from\.$"):
        run([TINY], CONFIG, output=output, resume=True)
    with pytest.raises(InputError, match=r"^start 'warm' is not known"):
        run([TINY], CONFIG, output=output, start="warm")
    with pytest.raises(InputError, match=r"none/mine\.policy: folder .* does not exist\.$"):
        run([TINY], CONFIG, output=tmp_path / "none" / "mine.policy")
    output.with_suffix(".checkpoint").write_text("not a checkpoint")
    with pytest.raises(InputError, match=r"mine\.checkpoint: is not a checkpoint, or is damaged"):
        run([TINY], CONFIG, output=output, resume=True)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.checkpoint"]


@pytest.mark.parametrize("name", ["mine.checkpoint", "mine.csv"])
def test_a_policy_under_the_name_of_another_file_of_the_run_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=rf"{name}: a run keeps another file under that name; choose one such as mine"):
        run([TINY], CONFIG, output=tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_files_of_seeds_are_named_after_the_output() -> None:
    assert seed_file("runs/mine.policy", 3) == Path("runs/mine.seed-3.policy")
    assert seed_file("mine", 0) == Path("mine.seed-0")


# --- Disks that are full. ---------------------------------------------------------------------------------------------


def test_a_checkpoint_that_cannot_be_written_ends_no_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whole: tuple[Trained, Path]
) -> None:
    def fail(*arguments: object) -> None:
        raise InputError("mine.checkpoint: cannot be written (No space left on device).")

    monkeypatch.setattr(run_module, "write_checkpoint", fail)
    monkeypatch.setattr(run_module, "CHECKPOINT_SECONDS", -1.0)
    with pytest.warns(InputWarning, match=r"No space left on device\); the training goes on without\.$"):
        done = run([TINY], CONFIG, seeds=(0, 1), output=tmp_path / "mine.policy")
    assert done.finished
    assert same_numbers(done.policies[0], whole[0].policies[0])


def test_policies_whose_folder_is_gone_are_kept_in_another_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, rescue = tmp_path / "out", tmp_path / "rescue"
    folder.mkdir()
    rescue.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(rescue))

    def take_away(standing: Standing) -> None:
        if standing.step >= 60:
            shutil.rmtree(folder, ignore_errors=True)

    with pytest.warns(InputWarning, match="mine.policy: cannot be written .* it is in "):
        done = run([TINY], CONFIG, seeds=(0,), output=folder / "mine.policy", progress=take_away)
    [kept] = rescue.glob("*/mine.policy")
    assert same_numbers(read_policy(kept), done.policy)


# --- Operators of one's own that get stuck or fail. ------------------------------------------------------------------

MISBEHAVING = """
import os, signal, sys, threading, time, warnings
from agents import short
from neuralns import *
from neuralns.learning.run import run
from neuralns.operators.toolkit import *

@destroy("stuck")
def stuck(state, quota):
    while state.n_removed < quota:
        remove(state, random_routed(state))
    if random(state) < 0.002:
        while state.n_removed > 0:
            state.status.gain += 1.0

@destroy("failing")
def failing(state, quota):
    while state.n_removed < quota:
        remove(state, random_routed(state))
    if random(state) < 0.002:
        state.keys[0] = [1.0, 2.0][quota + 5]

def disturb():
    time.sleep(2.0)
    os.kill(os.getpid(), signal.SIGINT)

def watch(standing):
    if name == "stuck" and threading.active_count() < 2:
        threading.Thread(target=disturb, daemon=True).start()

name, output = sys.argv[1:]
mdp = make_mdp("C101", customers=20, portfolio=[name, "random-node", "greedy"], budget=2)
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    done = run([mdp], short(steps=100000, validate_every=2), output=output, progress=watch)
print(done.finished, *(warning.message for warning in said if issubclass(warning.category, InputWarning)))
"""


@pytest.mark.parametrize(
    ("name", "what"),
    [("stuck", r"gave no answer \(an endless loop\?\)"), ("failing", r"failed \(.*mine\.py, line \d+: IndexError.*\)")],
)
def test_a_training_ends_with_the_policies_so_far_when_an_operator_misbehaves(
    tmp_path: Path, name: str, what: str
) -> None:
    (tmp_path / "mine.py").write_text(MISBEHAVING)
    command = [sys.executable, str(tmp_path / "mine.py"), name, str(tmp_path / "mine.policy")]
    path = os.pathsep.join([*sys.path, str(Path(__file__).parents[1])])
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=600, check=True, env=os.environ | {"PYTHONPATH": path}
    )
    rest = "and was given up; the training ends with the policies so far."
    assert re.fullmatch(f"False operator '{name}' {what} {rest}\n", done.stdout)
    assert not read_policy(tmp_path / "mine.policy").card["finished"]
