"""Policy files of selectors for alns: safetensors with a card, as all policies here; nothing in them is executed."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from neuralns.bridges.alns.online import Settings
from neuralns.bridges.alns.selector import LearnedSelector
from neuralns.bridges.alns.status import STATUS, Context
from neuralns.errors import InputError
from neuralns.selection.policy_file import Policy, read_policy, write_policy

Floats = npt.NDArray[np.float64]

NETWORK = "alns"
"""What the card of such a policy has as its network."""


@dataclass(frozen=True)
class Lesson:
    """What was learned beforehand.

    Attributes
    ----------
    slopes
        For each pair (a row of the table for each destroy operator, its repair operators in order) the logarithm of its
        worth as a linear function of what the selector sees: a constant, the status, the state's own numbers.
    mean, deviation
        Of the state's own numbers.
    settings
        How the selector goes on learning.
    trust
        Events that the lesson counts against those of the search at hand.
    """

    slopes: Floats
    mean: Floats
    deviation: Floats
    settings: Settings
    trust: float

    def teach(self, selector: LearnedSelector, adapt: bool = True) -> LearnedSelector:
        """Give a new selector what was learned."""
        learner = selector.learner
        learner.belief = np.exp(self.slopes[:, 0]).reshape(learner.shape)
        learner.weights = self.slopes * (np.arange(self.slopes.shape[1]) > 0)
        learner.steepness = np.full(len(self.slopes), 10.0)
        learner.trust = self.trust
        learner.adapts = adapt
        selector.context = Context(self.mean, self.deviation) if len(self.mean) else Context()
        return selector


def write_selector(
    path: str | os.PathLike[str],
    lesson: Lesson,
    operators: tuple[Sequence[str], Sequence[str]],
    card: Mapping[str, Any],
) -> None:
    """Write what was learned to a file, at once or not at all."""
    tensors = {"slopes": lesson.slopes}
    if len(lesson.mean):
        tensors |= {"mean": lesson.mean, "deviation": lesson.deviation}
    about = {
        "network": NETWORK,
        "operators": {"destroy": list(operators[0]), "repair": list(operators[1])},
        "features": ["1", *STATUS, *(f"context {index}" for index in range(len(lesson.mean)))],
        "learning": {**asdict(lesson.settings), "trust": lesson.trust},
        **card,
    }
    write_policy(Policy(about, tensors), path)


def read_lesson(path: str | os.PathLike[str]) -> tuple[Lesson, Policy]:
    """Read what was learned; a file that holds something else is refused."""
    policy = read_policy(path)
    if policy.network != NETWORK:
        raise InputError(f"{path}: is a policy for searches of neuralns ({policy.network}), not for alns.")
    pairs = len(policy.destroys) * len(policy.repairs)
    slopes = policy.tensors.get("slopes", np.empty(0))
    mean = policy.tensors.get("mean", np.empty(0))
    deviation = policy.tensors.get("deviation", np.empty(0))
    if slopes.shape != (pairs, 1 + len(STATUS) + mean.size) or mean.shape != deviation.shape or mean.ndim != 1:
        raise InputError(f"{path}: its tables do not fit its {pairs} pairs of operators.")
    if not all(np.isfinite(table).all() for table in (slopes, mean, deviation)) or (deviation < 0).any():
        raise InputError(f"{path}: holds numbers that are not finite, or deviations below 0.")
    learning = policy.card.get("learning")
    known = {field.name for field in fields(Settings)} | {"trust"}
    if (
        not isinstance(learning, dict)
        or set(learning) != known
        or not all(type(value) in (int, float) and 0 <= value < 1e9 for value in learning.values())
    ):
        raise InputError(f"{path}: its card has no readable entry 'learning'.")
    settings = Settings(**{name: float(value) for name, value in learning.items() if name != "trust"})
    slopes, mean, deviation = (np.asarray(table, dtype=np.float64) for table in (slopes, mean, deviation))
    return Lesson(slopes, mean, deviation, settings, float(learning["trust"])), policy


def read_selector(
    path: str | os.PathLike[str], *, adapt: bool = True, clock: str | None = None, **options: Any
) -> LearnedSelector:
    """Return the selector that a policy file holds; its budget and clock are those of its training by default."""
    lesson, policy = read_lesson(path)
    training = policy.card.get("training")
    trained = training if isinstance(training, dict) else {}
    if "seconds" not in options and "iterations" not in options:
        options |= {name: trained.get(name) for name in ("seconds", "iterations")}
    selector = LearnedSelector(
        len(policy.destroys),
        len(policy.repairs),
        options.pop("op_coupling", policy.card.get("coupling")),
        clock=clock or str(trained.get("clock", "time")),
        settings=lesson.settings,
        **options,
    )
    return lesson.teach(selector, adapt)
