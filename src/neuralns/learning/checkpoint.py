"""Checkpoints of training runs: safetensors, so that a run goes on as if it had never stopped."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from neuralns.errors import InputError
from neuralns.files import write_bytes
from neuralns.learning.training import Training

_KEY = "neuralns-checkpoint"
_MOMENTS = ("exp_avg", "exp_avg_sq", "step")


def write_checkpoint(training: Training, path: str | os.PathLike[str], about: dict[str, Any]) -> None:
    """Write all that a run needs to go on, between two episodes; ``about`` says which run it is."""
    from safetensors.torch import save

    learner = training.learner
    tensors = {f"replay.{name}": values for name, values in learner.replay.tensors().items()}
    for part, values in (
        ("online", learner.online.state_dict()),
        ("target", learner.target.state_dict()),
        ("best", training.best_parameters),
    ):
        tensors |= {f"{part}.{name}": tensor for name, tensor in values.items()}
    for number, parameter in enumerate(learner.online.parameters()):
        state = learner.optimiser.state.get(parameter, {})
        tensors |= {f"adam.{number}.{moment}": state[moment] for moment in _MOMENTS if moment in state}
    tensors["best_scores"] = torch.from_numpy(training.best_scores)
    tensors["best_rewards"] = torch.from_numpy(training.best_rewards)
    numbers = {
        "step": training.step,
        "ticks": training.ticks,
        "filled": learner.replay.filled,
        "now": learner.replay.now,
    }
    content = save(
        {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()},
        metadata={_KEY: json.dumps({"about": about, **numbers})},
    )
    write_bytes(path, content)


def read_checkpoint(training: Training, path: str | os.PathLike[str], about: dict[str, Any]) -> None:
    """Bring a run to where a checkpoint left it; one of another run is refused."""
    from safetensors import SafetensorError, safe_open

    if not Path(path).is_file():
        raise InputError(f"{path}: there is no checkpoint to resume from.")
    try:
        with safe_open(os.fspath(path), framework="pt") as file:
            numbers = json.loads((file.metadata() or {})[_KEY])
            saved = dict(numbers["about"])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a dict)
    except (SafetensorError, OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path}: is not a checkpoint, or is damaged ({error}).") from None
    for name, value in about.items():
        if saved.get(name) != value:
            raise InputError(
                f"{path}: belongs to another run ({name} was {json.dumps(saved.get(name))}, now {json.dumps(value)})."
            )
    learner = training.learner

    def part(name: str) -> dict[str, Tensor]:
        return {key.partition(".")[2]: tensor for key, tensor in tensors.items() if key.startswith(name + ".")}

    try:
        learner.online.load_state_dict(part("online"))
        learner.target.load_state_dict(part("target"))
        for group, own in (("best", training.best_parameters), ("replay", learner.replay.tensors())):
            for name, values in own.items():
                values.copy_(tensors[f"{group}.{name}"])
        training.best_scores[:] = tensors["best_scores"].numpy()
        training.best_rewards[:] = tensors["best_rewards"].numpy()
        for number, parameter in enumerate(learner.online.parameters()):
            moments = {
                name: tensors[f"adam.{number}.{name}"] for name in _MOMENTS if f"adam.{number}.{name}" in tensors
            }
            if any(value.shape != (() if name == "step" else parameter.shape) for name, value in moments.items()):
                raise ValueError(f"moments of parameter {number} are of another shape")
            if moments:
                # The fused Adam keeps its count of steps, too, where the parameters are.
                learner.optimiser.state[parameter] = {name: value.to(learner.device) for name, value in moments.items()}
        for name in ("step", "ticks", "filled", "now"):
            if type(numbers[name]) is not int or numbers[name] < 0:
                raise ValueError(f"{name} {numbers[name]!r:.40} is not a number of at least 0")
        if numbers["filled"] > learner.replay.ticks or numbers["now"] >= learner.replay.ticks:
            raise ValueError(f"a memory of {learner.replay.ticks} cannot be filled so far")
        training.step, training.ticks = numbers["step"], numbers["ticks"]
        learner.replay.filled, learner.replay.now = numbers["filled"], numbers["now"]
    except (KeyError, RuntimeError, ValueError, TypeError) as error:
        raise InputError(f"{path}: does not fit this run ({str(error).splitlines()[0]}).") from None
    training.last_validation = np.full(len(training.tasks), np.nan)
