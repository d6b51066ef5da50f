"""A training run with its files: policies, a log, a checkpoint, scalars for TensorBoard."""

from __future__ import annotations

import csv
import io
import os
import signal
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from neuralns.errors import GivenUpError, InputError, InputWarning, how_to_install
from neuralns.files import check_writable, write_or_rescue
from neuralns.learning.baselines import baselines_of, most_used_pair
from neuralns.learning.checkpoint import read_checkpoint, write_checkpoint
from neuralns.learning.dqn import Config
from neuralns.learning.starts import make_tasks, starting_tours
from neuralns.learning.train import Trained, seed_file
from neuralns.learning.training import Standing, Training
from neuralns.mdp.evaluate import Evaluation, SelectorAgent, evaluate
from neuralns.mdp.mdp import MDP, SET_SIZE
from neuralns.search.interrupt import Interrupts
from neuralns.selection.policy import PolicySelector
from neuralns.selection.policy_file import Policy, write_policy

CHECKPOINT_SECONDS = 60.0


def run(
    mdps: Sequence[MDP],
    config: Config,
    *,
    seeds: Sequence[int] = (0,),
    start: str = "random",
    beyond: Sequence[MDP] = (),
    device: str = "cpu",
    threads: int = 1,
    output: str | os.PathLike[str] | None = None,
    resume: bool = False,
    tensorboard: str | os.PathLike[str] | None = None,
    command: str = "",
    progress: Callable[[Standing], object] | None = None,
    say: Callable[[str], object] = lambda text: None,
) -> Trained:
    """Train a policy for each seed, all in one run.

    With ``output`` the policy that validates best is written there, those of all seeds beside it
    (``NAME.seed-K.policy``), a log (``NAME.csv``), and while the run lasts a checkpoint (``NAME.checkpoint``). Ctrl-C
    ends the run after the current episode: the policies so far and the checkpoint are written, and ``resume`` goes on
    to the same result as a run that was never stopped. So does SIGTERM, which then ends the program. An operator of
    one's own that fails, or gives no answer, ends the run with the policies so far and the checkpoint of the last
    minute. Test tours are played only when the training is over. Policies are validated, too, on the MDPs ``beyond``.
    ``say`` is told what goes on before the first step.
    """
    if not seeds:
        raise InputError("training needs at least one seed.")
    checkpoint = log = None
    if output is not None:
        check_writable(output)
        checkpoint, log = Path(output).with_suffix(".checkpoint"), Path(output).with_suffix(".csv")
        for path in (checkpoint, log):
            if path == Path(output):
                raise InputError(f"{output}: a run keeps another file under that name; choose one such as mine.policy.")
            check_writable(path)
        if resume and not checkpoint.is_file():
            raise InputError(f"{checkpoint}: there is no checkpoint to resume from.")
    elif resume:
        raise InputError("only a run with an output file can be resumed.")
    about: dict[str, Any] = {
        "config": config.as_dict(),
        "seeds": list(seeds),
        "start": start,
        "instances": [mdp.instance.name for mdp in mdps],
        "setting": mdps[0].setting,
        "operators": list(mdps[0].portfolio.names),
        "scale": [mdp.scale for mdp in mdps],
        "budget": mdps[0].budget,
        "acceptance": mdps[0].acceptance_name,
    }
    if beyond:
        about["beyond"] = [f"{mdp.instance.name}, {mdp.instance.customers}" for mdp in beyond]
    tasks = make_tasks(mdps, seeds, start, config.tours, say, beyond)
    training = Training(tasks, config, device, threads)
    if resume:
        assert checkpoint is not None
        read_checkpoint(training, checkpoint, about)
    last_saved = [0.0]
    seconds = [0.0]
    given_up = False
    with (
        Interrupts(sigterm=True) as interrupts,
        _Log(log, tensorboard, len(seeds), training.step if resume else None) as journal,
    ):

        def watch(standing: Standing) -> None:
            seconds[0] = standing.seconds
            journal.add(standing)
            if progress is not None:
                progress(standing)

        def keep() -> None:
            if checkpoint is not None and seconds[0] - last_saved[0] > CHECKPOINT_SECONDS:
                last_saved[0] = seconds[0]
                _try_checkpoint(training, checkpoint, about)

        try:
            training.run(watch, lambda: interrupts.caught is not None, keep)
        except GivenUpError as error:
            # In the middle of an episode no checkpoint can be written.
            given_up = True
            warnings.warn(error.but("the training ends with the policies so far"), InputWarning, stacklevel=2)
    if checkpoint is not None and not training.done and not given_up:
        _try_checkpoint(training, checkpoint, about)

    card = {"start": start, "command": command, "finished": training.done}
    policies = [training.policy(agent, **card) for agent in range(len(seeds))]
    tests: list[float] = []
    if training.done and not given_up:
        for agent, policy in enumerate(policies):
            tests.append(_test(mdps, policy, start))
            policies[agent] = Policy({**policy.card, "test_reward": tests[-1]}, policy.tensors)
    scores = tuple(policy.card["validation_reward"] for policy in policies)
    baselines, pairs = None, []
    # Fixed pairs are of one portfolio, and a policy that was never validated has nothing to stand beside them.
    if not given_up and None not in scores and len({mdp.portfolio.actions for mdp in mdps}) == 1:
        baselines = baselines_of(tasks[0])
        for agent, policy in enumerate(policies):
            pairs.append(most_used_pair(tasks[agent], policy))
            measured = {
                "random_reward": baselines.random,
                "best_fixed_reward": baselines.best_fixed,
                "best_fixed_pair": list(baselines.pair),
                "most_used_pair": [pairs[-1].destroy, pairs[-1].repair],
                "most_used_pair_share": pairs[-1].share,
            }
            policies[agent] = Policy({**policy.card, **measured}, policy.tensors)
    best = int(np.argmax(training.best_scores))
    done = Trained(
        tuple(policies), scores, tuple(tests), best, training.done, training.step, marks=baselines, pairs=tuple(pairs)
    )
    if output is not None:
        shared = {"validation_rewards": list(scores), "test_rewards": tests, "seeds": list(seeds)}
        kept = Policy({**done.policy.card, **shared}, done.policy.tensors)
        written = [write_or_rescue(partial(write_policy, kept), output)]
        if len(seeds) > 1:
            for seed, policy in zip(seeds, policies, strict=True):
                written.append(write_or_rescue(partial(write_policy, policy), seed_file(output, seed)))
        done = replace(done, written=tuple(written))
        if training.done and checkpoint is not None:
            checkpoint.unlink(missing_ok=True)
    if interrupts.caught == "SIGTERM":
        # All that there is has been written; now it does what it does elsewhere.
        signal.raise_signal(signal.SIGTERM)
    return done


def _try_checkpoint(training: Training, path: Path, about: dict[str, Any]) -> None:
    """Write a checkpoint; one that fails is no reason to lose the training."""
    try:
        write_checkpoint(training, path, about)
    except InputError as error:
        warnings.warn(f"{str(error).rstrip('.')}; the training goes on without.", InputWarning, stacklevel=2)


def _test(mdps: Sequence[MDP], policy: Policy, start: str) -> float:
    """Return the mean reward of the greedy policy over the test tours of all MDPs."""
    share = max(1, SET_SIZE // len(mdps))
    found: list[Evaluation] = [
        evaluate(
            mdp,
            SelectorAgent(PolicySelector(policy, 0.0), "policy"),
            tours=starting_tours(mdp, start, "test", share),
            seeds=1,
        )
        for mdp in mdps
    ]
    return float(np.mean([entry.reward_mean for entry in found]))


def _rows_until(path: Path, head: list[str], last: int) -> list[list[str]]:
    """Return the rows of a log up to a step; what is none of ours is refused, before the log is written anew."""
    try:
        text = path.read_bytes().decode()
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: is not the log of a training ({error}).") from None
    # A line that a killed run left half-written has no end.
    reader = csv.reader(io.StringIO(text[: text.rfind("\n") + 1], newline=""))
    kept = []
    try:
        for row in reader:
            if reader.line_num == 1:
                if row != head:
                    raise ValueError("other columns")
            elif row:
                if len(row) != len(head):
                    raise ValueError(f"{len(row)} values for {len(head)} columns")
                # Python refuses to read numbers of thousands of digits.
                if not (row[0].isdecimal() and len(row[0]) < 20):
                    raise ValueError(f"{row[0]!r:.40} is no step")
                kept += [row] if int(row[0]) <= last else []
    except (csv.Error, ValueError) as error:
        raise InputError(f"{path}, line {reader.line_num}: is not the log of a training ({error}).") from None
    return kept


class _Log:
    """A CSV line and TensorBoard scalars for every validation.

    A run that is resumed at step ``after`` goes on with the log: lines of later steps, which come again, are dropped.
    """

    def __init__(self, path: Path | None, folder: str | os.PathLike[str] | None, seeds: int, after: int | None) -> None:
        self._last: npt.NDArray[np.float64] | None = None
        self._writer: Any = None
        if folder is not None:
            try:
                from torch.utils.tensorboard import SummaryWriter
            except ImportError:
                raise InputError(
                    f"scalars for TensorBoard need the package tensorboard; install it with: {how_to_install('train')}."
                ) from None
            self._writer = SummaryWriter(os.fspath(folder))
        names = [f"{name}_{seed}" for name in ("return", "loss", "validation") for seed in range(seeds)]
        kept = [["step", "seconds", "epsilon", "steps_a_second", *names]]
        if path is not None and after is not None and path.is_file():
            kept += _rows_until(path, kept[0], after)
        self._file = None if path is None else path.open("w", newline="", encoding="utf-8")
        self._rows = None if self._file is None else csv.writer(self._file)
        if self._rows is not None and self._file is not None:
            self._rows.writerows(kept)
            self._file.flush()

    def add(self, standing: Standing) -> None:
        # Every validation makes an array of its own, also where the figures are the same.
        if np.isnan(standing.validation).any() or standing.validation is self._last:
            return
        self._last = standing.validation
        rate = standing.done / standing.seconds if standing.seconds > 0 else 0.0
        columns = (standing.returns, standing.loss, standing.validation)
        if self._rows is not None and self._file is not None:
            values = [f"{value:.6g}" for column in columns for value in column]
            try:
                self._rows.writerow(
                    [standing.step, f"{standing.seconds:.2f}", f"{standing.epsilon:.4f}", f"{rate:.1f}", *values]
                )
                self._file.flush()
            except OSError as error:
                self._rows = None
                warnings.warn(
                    f"{self._file.name}: cannot be written ({error.strerror}); the training goes on without.",
                    InputWarning,
                    stacklevel=2,
                )
        if self._writer is not None:
            for name, value in (
                ("return", standing.returns.mean()),
                ("loss", standing.loss.mean()),
                ("epsilon", standing.epsilon),
                ("validation reward", standing.validation.mean()),
                ("steps a second", rate),
            ):
                self._writer.add_scalar(name, float(value), standing.step)

    def __enter__(self) -> _Log:
        return self

    def __exit__(
        self, error_class: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            # What a full disk did not take is not worth the training.
            with suppress(OSError):
                self._file.close()
        if self._writer is not None:
            self._writer.close()
