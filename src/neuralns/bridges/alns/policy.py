"""Policy files of selectors for alns: safetensors with a card, as all policies here; nothing in them is executed."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from neuralns.bridges.alns.online import Settings
from neuralns.bridges.alns.q_values import ByValue, Layers
from neuralns.bridges.alns.selector import LearnedSelector
from neuralns.bridges.alns.status import STATUS, Context
from neuralns.errors import InputError
from neuralns.selection.policy_file import Policy, read_policy, write_policy

Floats = npt.NDArray[np.float64]

NETWORK = "alns"
"""What the card of such a policy has as its network."""


@dataclass(frozen=True)
class Lesson:
    """What was learned beforehand of gains: what pairs are worth, as linear functions of what is seen.

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

    @property
    def tensors(self) -> dict[str, Floats]:
        return {"slopes": self.slopes}

    @property
    def learning(self) -> dict[str, float]:
        return {**asdict(self.settings), "trust": self.trust}

    def teach(self, selector: LearnedSelector, adapt: bool = True) -> LearnedSelector:
        """Give a new selector what was learned."""
        learner = selector.learner
        learner.belief = np.exp(self.slopes[:, 0]).reshape(learner.shape)
        learner.weights = self.slopes * (np.arange(self.slopes.shape[1]) > 0)
        learner.steepness = np.full(len(self.slopes), 10.0)
        learner.trust = self.trust
        learner.adapts = adapt
        selector.context = Context(self.mean, self.deviation)
        return selector


@dataclass(frozen=True)
class ValueLesson:
    """What was learned beforehand by Q-learning: a network with the value of all that follows each pair.

    Attributes
    ----------
    layers
        The network: of what the selector sees, in the order of `Lesson`, to a value for each pair.
    mean, deviation
        Of the state's own numbers.
    segment
        Iterations for which a choice holds.
    exploration
        Share of the iterations that have a pair by chance.
    """

    layers: Layers
    mean: Floats
    deviation: Floats
    segment: float
    exploration: float

    @property
    def settings(self) -> Settings:
        return Settings(segment=self.segment)

    @property
    def tensors(self) -> dict[str, Floats]:
        numbered = list(enumerate(self.layers))
        return {f"weights {k}": w for k, (w, _) in numbered} | {f"bias {k}": b for k, (_, b) in numbered}

    @property
    def learning(self) -> dict[str, float]:
        return {"segment": self.segment, "exploration": self.exploration}

    def teach(self, selector: LearnedSelector, adapt: bool = True) -> LearnedSelector:
        """Give a new selector what was learned; it stays as it is, whether the selector shall adapt or not."""
        selector.learner = ByValue(selector.op_coupling, selector.settings, self.layers, self.exploration)
        selector.context = Context(self.mean, self.deviation)
        return selector


def write_selector(
    path: str | os.PathLike[str],
    lesson: Lesson | ValueLesson,
    operators: tuple[Sequence[str], Sequence[str]],
    card: Mapping[str, Any],
) -> None:
    """Write what was learned to a file, at once or not at all."""
    tensors = lesson.tensors
    if len(lesson.mean):
        tensors |= {"mean": lesson.mean, "deviation": lesson.deviation}
    about = {
        "network": NETWORK,
        "operators": {"destroy": list(operators[0]), "repair": list(operators[1])},
        "features": ["1", *STATUS, *(f"context {index}" for index in range(len(lesson.mean)))],
        "learning": lesson.learning,
        **card,
    }
    write_policy(Policy(about, tensors), path)


def read_lesson(path: str | os.PathLike[str]) -> tuple[Lesson | ValueLesson, Policy]:
    """Read what was learned; a file that holds something else is refused."""
    policy = read_policy(path)
    if policy.network != NETWORK:
        raise InputError(f"{path}: is a policy for searches of neuralns ({policy.network}), not for alns.")
    tables = {name: np.asarray(table, dtype=np.float64) for name, table in policy.tensors.items()}
    pairs = len(policy.destroys) * len(policy.repairs)
    mean, deviation = (tables.get(name, np.empty(0)) for name in ("mean", "deviation"))
    features = 1 + len(STATUS) + mean.size
    layers = _layers(tables)
    slopes = tables.get("slopes", np.empty(0))
    fits = slopes.shape == (pairs, features) if not layers else _fit(layers, features, pairs)
    if not fits or mean.shape != deviation.shape or mean.ndim != 1:
        raise InputError(f"{path}: its tables do not fit its {pairs} pairs of operators.")
    if not all(np.isfinite(table).all() for table in tables.values()) or (deviation < 0).any():
        raise InputError(f"{path}: holds numbers that are not finite, or deviations below 0.")
    known = {field.name for field in fields(Settings)} | {"trust"} if not layers else {"segment", "exploration"}
    learning = policy.card.get("learning")
    if (
        not isinstance(learning, dict)
        or set(learning) != known
        or not all(type(value) in (int, float) and 0 <= value < 1e9 for value in learning.values())
        or learning.get("exploration", 0) > 1
    ):
        raise InputError(f"{path}: its card has no readable entry 'learning'.")
    if layers:
        return ValueLesson(layers, mean, deviation, float(learning["segment"]), float(learning["exploration"])), policy
    settings = Settings(**{name: float(value) for name, value in learning.items() if name != "trust"})
    return Lesson(slopes, mean, deviation, settings, float(learning["trust"])), policy


def _layers(tables: Mapping[str, Floats]) -> Layers:
    """Return the layers of a network, in order; none where a file has no network."""
    found: list[tuple[Floats, Floats]] = []
    while f"weights {len(found)}" in tables:
        found.append((tables[f"weights {len(found)}"], tables.get(f"bias {len(found)}", np.empty(0))))
    return tuple(found)


def _fit(layers: Layers, features: int, pairs: int) -> bool:
    """Return whether each layer takes what the one before it gives, from all that is seen to a value for each pair."""
    width = features
    for weights, bias in layers:
        if weights.ndim != 2 or len(weights) != width or bias.shape != weights.shape[1:]:
            return False
        width = len(bias)
    return width == pairs


def read_selector(
    path: str | os.PathLike[str], *, alns: Any = None, adapt: bool = True, clock: str | None = None, **options: Any
) -> LearnedSelector:
    """Return the selector that a policy file holds; its budget and clock are those of its training by default."""
    lesson, policy = read_lesson(path)
    if alns is not None:
        for kind, known, there in (
            ("destroy", policy.destroys, alns.destroy_operators),
            ("repair", policy.repairs, alns.repair_operators),
        ):
            names = [name for name, _ in there]
            if names != list(known):
                raise InputError(
                    f"{path}: was trained with {kind} operators {', '.join(known)}, in this order; the ALNS has "
                    f"{', '.join(names) or 'none'}."
                )
    training = policy.card.get("training")
    trained = training if isinstance(training, dict) else {}
    if "seconds" not in options and "iterations" not in options:
        options |= {name: trained.get(name) for name in ("seconds", "iterations")}
    if clock is None:
        clock = str(trained.get("clock", "time"))
        if clock == "iterations" and options.get("seconds") is not None:
            clock = "time"
    selector = LearnedSelector(
        len(policy.destroys),
        len(policy.repairs),
        options.pop("op_coupling", policy.card.get("coupling")),
        clock=clock,
        settings=lesson.settings,
        **options,
    )
    return lesson.teach(selector, adapt)
