"""A selector for the package alns that learns which operators to use when, online or beforehand."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from neuralns.bridges.alns.online import Learner, Settings
from neuralns.bridges.alns.status import STATUS, Context, Status
from neuralns.errors import InputError, how_to_install

try:
    from alns.select import OperatorSelectionScheme as OperatorSelectionScheme
except ImportError:
    raise InputError(f"the bridge to alns needs that package; install it with: {how_to_install('alns')}.") from None

if TYPE_CHECKING:
    import os

    from neuralns.selection.policy_file import Policy

Floats = npt.NDArray[np.float64]

CLOCKS: dict[str, Callable[[], float]] = {"time": time.perf_counter, "processor": time.process_time}
"""Clocks by which gains a second are told; a third one, ``iterations``, counts every iteration the same."""
CONTEXT_SHARE = 0.03
"""Most of the time that asking states for their numbers may take; with the clock ``iterations`` there is no limit."""
NETWORK = "alns"
"""What the card of a policy for such a selector has as its network."""
_BEST, _BETTER = 0, 1


class LearnedSelector(OperatorSelectionScheme):  # type: ignore[misc]
    """Choose operators by what they bring in a second, in the state that the search is in; a new one for each search.

    Parameters
    ----------
    num_destroy, num_repair
        How many operators there are.
    op_coupling
        Which pairs may be used, as alns has it: a row for each destroy operator.
    seconds, iterations
        The budget of the search, where it is known: the selector then knows which share of it is spent.
    clock
        ``time``: gains count by the seconds that they took. ``processor``: by seconds of this process alone.
        ``iterations``: every iteration counts the same; the same seed then gives the same search, to the last choice.
    settings
        How it learns.

    Examples
    --------
    >>> selector = LearnedSelector(2, 1, clock="iterations")
    >>> class Number:
    ...     def objective(self):
    ...         return 1.0
    >>> rng = np.random.default_rng(1)
    >>> destroy, repair = selector(rng, Number(), Number())
    >>> selector.update(Number(), destroy, repair, 3)
    >>> repair
    0
    """

    def __init__(
        self,
        num_destroy: int,
        num_repair: int,
        op_coupling: npt.ArrayLike | None = None,
        *,
        seconds: float | None = None,
        iterations: int | None = None,
        clock: str = "time",
        settings: Settings | None = None,
    ) -> None:
        super().__init__(num_destroy, num_repair, op_coupling)
        if clock != "iterations" and clock not in CLOCKS:
            raise InputError(f"clock {clock!r} is not known; choose time, processor or iterations.")
        for name, budget in (("seconds", seconds), ("iterations", iterations)):
            if budget is not None and not budget > 0:
                raise InputError(f"{name} {budget} must be above 0.")
        if clock == "iterations" and seconds is not None:
            raise InputError(f"clock 'iterations' knows no seconds ({seconds} given): tell it iterations.")
        self.seconds, self.iterations, self.clock = seconds, iterations, clock
        self.settings = settings or Settings()
        self.learner = Learner(self.op_coupling, self.settings)
        self.status, self.context = Status(), Context()
        self.columns = num_repair
        self.deciding = 0.0
        """Seconds spent on choosing and learning so far."""
        self._begin: float | None = None
        # The last state that was asked for its numbers, what they were, how long it took, and what may be spent on it.
        self._state: Any = None
        self._seen: Floats | None = None
        self._price = self._credit = 0.0
        self._asked: tuple[float, float] | None = None
        self._started = 0.0

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], *, alns: Any = None, adapt: bool = True, clock: str | None = None,
        **options: Any,
    ) -> LearnedSelector:  # fmt: skip
        """Return the selector that a policy file holds (see `neuralns.bridges.alns.train`).

        Parameters
        ----------
        alns
            The ALNS that it will be used in: one whose operators have other names, or another order, than those of the
            training is refused.
        adapt
            Whether it goes on learning in the search at hand.
        clock, options
            As those of a new selector; by default those of its training. Seconds are counted by ``time`` where the
            training counted iterations.
        """
        lesson, policy = read_lesson(path)
        for phase, known in (("destroy", policy.destroys), ("repair", policy.repairs)):
            names = list(known) if alns is None else [name for name, _ in getattr(alns, f"{phase}_operators")]
            if names != list(known):
                raise InputError(
                    f"{path}: was trained with {phase} operators {', '.join(known)}, in this order; the ALNS has "
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
        coupling = options.pop("op_coupling", policy.card.get("coupling"))
        shape = len(policy.destroys), len(policy.repairs)
        return lesson.teach(cls(*shape, coupling, clock=clock, settings=lesson.settings, **options), adapt)

    def __call__(self, rng: np.random.Generator, best: Any, curr: Any) -> tuple[int, int]:
        """Return the indices of a destroy and of a repair operator."""
        begin = time.perf_counter()
        current, so_far = float(curr.objective()), float(best.objective())
        if not (math.isfinite(current) and math.isfinite(so_far)):
            raise InputError(f"objective {current if math.isfinite(so_far) else so_far} is no finite number.")
        if self.learner.due:
            self.learner.renew(self._numbers(begin, curr, current, so_far))
        pair = self.learner.draw(rng)
        self._asked = (current, so_far)
        self._started = 0.0 if self.clock == "iterations" else CLOCKS[self.clock]()
        self.deciding += time.perf_counter() - begin
        return pair // self.columns, pair % self.columns

    def update(self, candidate: Any, d_idx: int, r_idx: int, outcome: int) -> None:
        """Learn from what came of a pair."""
        spent = 1.0 if self.clock == "iterations" else CLOCKS[self.clock]() - self._started
        begin = time.perf_counter()
        if self._asked is None:
            raise InputError("update() was called before any choice.")
        current, so_far = self._asked
        self._asked = None
        self._credit += CONTEXT_SHARE * spent
        gain = 0.0
        if outcome <= _BETTER:
            cost = float(candidate.objective())
            # A comparison with nan is never true: neither is it a gain.
            gain = max(0.0, (so_far if outcome == _BEST else current) - cost)
        event = 0.0
        if gain > 0.0:
            event = min(gain / (self.status.typical or gain), self.settings.largest) ** self.settings.power
            event *= 1.0 if outcome == _BEST else self.settings.better
        self.status.tell(gain, outcome <= _BETTER, outcome == _BEST)
        self._learn(d_idx * self.columns + r_idx, event, spent)
        self.deciding += time.perf_counter() - begin

    def _learn(self, pair: int, event: float, spent: float) -> None:
        self.learner.learn(pair, event, spent)

    def _see(self, state: Any) -> Floats | None:
        """Return the state's own numbers: those of before while it is the same, or where asking would take too long."""
        dear = self.clock != "iterations" and self._credit < self._price
        if self._seen is None or (state is not self._state and not dear):
            begin = time.perf_counter()
            self._seen = self.context.numbers(state)
            self._price, self._credit = time.perf_counter() - begin, 0.0
            self._state = state
        return self._seen

    def _numbers(self, now: float, state: Any, current: float, best: float) -> Floats:
        """Return all that is seen, a constant first."""
        if self._begin is None:
            self._begin = now if self.clock != "processor" else time.process_time()
        share = 0.0
        if self.iterations is not None:
            share = self.status.iterations / self.iterations
        elif self.seconds is not None:
            clock = now if self.clock == "time" else time.process_time()
            share = (clock - self._begin) / self.seconds
        # Clocks of other processes, in which it may have been pickled, began at another time.
        numbers = [1.0, *self.status.numbers(min(1.0, max(0.0, share)), current, best)]
        own = self._see(state)
        return np.array(numbers) if own is None else np.concatenate((numbers, own))


@dataclass(frozen=True)
class Lesson:
    """What was learned beforehand: what pairs are worth, as linear functions of what is seen.

    Attributes
    ----------
    slopes
        For each pair (a row of the table for each destroy operator, its repair operators in order) the logarithm of its
        worth as a linear function of what the selector sees: a constant, the status, the state's own numbers.
    mean, deviation
        Of the state's own numbers.
    settings, trust
        How the selector goes on learning, and events that the lesson counts against those of the search at hand.
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
        selector.context = Context(self.mean, self.deviation)
        return selector


def read_lesson(path: str | os.PathLike[str]) -> tuple[Lesson, Policy]:
    """Read what was learned (safetensors with a card, nothing is executed); another file is refused."""
    from neuralns.selection.policy_file import read_policy

    policy = read_policy(path)
    if policy.network != NETWORK:
        raise InputError(f"{path}: is a policy for searches of neuralns ({policy.network}), not for alns.")
    tables = {name: np.asarray(table, dtype=np.float64) for name, table in policy.tensors.items()}
    pairs = len(policy.destroys) * len(policy.repairs)
    mean, deviation = (tables.get(name, np.empty(0)) for name in ("mean", "deviation"))
    slopes = tables.get("slopes", np.empty(0))
    if slopes.shape != (pairs, 1 + len(STATUS) + mean.size) or mean.shape != deviation.shape or mean.ndim != 1:
        raise InputError(f"{path}: its tables do not fit its {pairs} pairs of operators.")
    if not all(np.isfinite(table).all() for table in tables.values()) or (deviation < 0).any():
        raise InputError(f"{path}: holds numbers that are not finite, or deviations below 0.")
    known = {field.name for field in fields(Settings)} | {"trust"}
    learning = policy.card.get("learning")
    if (
        not isinstance(learning, dict)
        or set(learning) != known
        or not all(type(value) in (int, float) and 0 <= value < 1e9 for value in learning.values())
    ):
        raise InputError(f"{path}: its card has no readable entry 'learning'.")
    settings = Settings(**{name: float(value) for name, value in learning.items() if name != "trust"})
    return Lesson(slopes, mean, deviation, settings, float(learning["trust"])), policy
