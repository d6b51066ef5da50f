"""DR-ALNS: a network trained by PPO that sees where a search stands and sets operators, scale and temperature.

Reijnen, Zhang, Lau & Bukhsh 2024, "Online control of adaptive large neighborhood search using deep reinforcement
learning" (ICAPS), brought to this search: the agent acts between segments, not in every iteration.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from neuralns.compiled.structs import Struct
from neuralns.errors import InputError
from neuralns.operators.portfolio import Portfolio
from neuralns.selection.controller import Controller, Setting, View, check_operators
from neuralns.selection.learned_controller import portfolio_in
from neuralns.selection.policy_file import Policy
from neuralns.selection.selector import MOST_REMOVED

Floats = npt.NDArray[np.float64]

NETWORK = "dr-alns"
"""What cards of its files say under ``network``."""
FEATURES = (
    "improved", "above best", "is best", "heat", "stagnation", "progress", "share accepted", "share improving",
)  # fmt: skip
LEVELS = 10
"""Of the scale, and of the temperature."""
MOST_HEAT = 3.0


class Watched:
    """What the agent sees of a search, question by question.

    ===================  ==============================================================================================
    ``improved``         whether the current solution costs less than at the last question
    ``above best``       by how many per cent it costs more than the best, up to 100
    ``is best``          whether it is the best
    ``heat``             factor of the temperature that was set
    ``stagnation``       share of the run since the best solution was found
    ``progress``         share of the run that is over
    ``share accepted``   root of the share of candidates accepted since the last question
    ``share improving``  root of the share of candidates that cost less than the current solution
    ===================  ==============================================================================================

    These are the eight of the authors' code for the CVRP, with what is inverted there put right: it takes a solution
    that costs more for the improved one, twice (``improved``, ``share improving``), and the cost as a share of the
    best, 100 at its least, for the difference from it. The last two are flags of an iteration there; of a segment of
    thousands they would be 1 always. Stagnation is counted in iterations there, beyond the bounds of the space.
    """

    def __init__(self) -> None:
        self.heat = 1.0
        self._best = np.inf
        self._found = 0.0

    def features(self, view: View) -> Floats:
        """Return the features in the order of `FEATURES`, each from 0 to 100."""
        progress = min(max(1.0 - view.left, 0.0), 1.0)
        if view.best < self._best:
            self._best, self._found = view.best, progress
        above = 100.0 * (view.current - view.best) / max(abs(view.best), 1e-9)
        used = max(1, int(view.uses.sum()))
        return np.array(
            [
                view.change < 0,
                min(max(above, 0.0), 100.0),
                above <= 1e-9,
                self.heat,
                max(0.0, progress - self._found),
                progress,
                np.sqrt(view.accepted.sum() / used),
                np.sqrt(view.improved.sum() / used),
            ],
            np.float64,
        )

    def setting(self, action: Sequence[int] | npt.NDArray[np.int64], known: Portfolio, there: Portfolio) -> Setting:
        """Return what an action sets in a search with the operators known, in whatever order.

        An action is a destroy operator, a repair operator, a level of the scale, one of the temperature. From 1 to
        (level + 1) / 10 of the most customers are removed; the temperature is 3 / (level + 1) times what it would be,
        which falls while the run goes on. In the paper these are shares of all customers, of which hundreds would be
        removed here, and 5 / (level + 1) itself, with a hundred levels.
        """
        destroy, repair, scale, cooling = (int(part) for part in action)
        weights = np.zeros((len(there.destroys), len(there.repairs)))
        row, column = (
            [entry.name for entry in entries].index(name)
            for entries, name in (
                (there.destroys, known.destroys[destroy].name),
                (there.repairs, known.repairs[repair].name),
            )
        )
        weights[row, column] = 1.0
        self.heat = MOST_HEAT / (cooling + 1)
        return Setting(weights, (1, MOST_REMOVED * (scale + 1) // LEVELS), heat=(self.heat, self.heat))


def sizes_of(portfolio: Portfolio) -> tuple[int, int, int, int]:
    """Return how many values each part of an action has."""
    return len(portfolio.destroys), len(portfolio.repairs), LEVELS, LEVELS


@dataclass(frozen=True, eq=False)
class DrAlns(Controller):
    """A network of dense layers with tanh between them, whose outputs are the logits of the parts of an action.

    Actions are drawn by them, as in the authors' code, by random numbers that follow from where the search stands: the
    same search has the same actions.

    Parameters
    ----------
    policy
        What its file holds: ``weights_0``, ``bias_0`` and so on of the layers, and the operators that it is for.
    temperature
        Of the softmax: at 0 the most probable action is taken always.
    """

    policy: Policy
    name: str = NETWORK
    temperature: float = 1.0

    def __post_init__(self) -> None:
        if not (np.isfinite(self.temperature) and self.temperature >= 0):
            raise InputError(f"{self.name}: temperature {self.temperature:g} must be at least 0.")
        if self.policy.card.get("features") != list(FEATURES):
            raise InputError(f"{self.name}: was trained with other features than this version has.")
        width = len(FEATURES)
        for weights, bias in self.layers:
            if weights.ndim != 2 or bias.shape != weights.shape[1:] or len(weights) != width:
                raise InputError(f"{self.name}: the numbers of its layers do not fit together.")
            if not (np.isfinite(weights).all() and np.isfinite(bias).all()):
                raise InputError(f"{self.name}: the numbers of its layers are not finite.")
            width = len(bias)
        if width != sum(sizes_of(self.portfolio)):
            raise InputError(
                f"{self.name}: its last layer has {width} values, not the {sum(sizes_of(self.portfolio))} of an action."
            )

    @cached_property
    def portfolio(self) -> Portfolio:
        """The operators that it chooses among."""
        return portfolio_in(self.policy, self.name)

    @cached_property
    def layers(self) -> list[tuple[Floats, Floats]]:
        """Weights and bias of each layer."""
        found: list[tuple[Floats, Floats]] = []
        while True:
            weights, bias = (self.policy.tensors.get(f"{part}_{len(found)}") for part in ("weights", "bias"))
            if weights is None or bias is None:
                return found
            found.append((weights.astype(np.float64), bias.astype(np.float64)))

    def made_for(self) -> tuple[str, ...]:
        return self.portfolio.names

    def trained_on(self) -> tuple[str, ...]:
        return self.policy.instances

    def start(self, portfolio: Portfolio, customers: int = 1) -> Struct:
        check_operators(self.name, portfolio, self.portfolio)
        return super().start(portfolio, customers)

    def begin(self) -> Controller:
        return _Acting(self)

    def logits(self, features: Floats) -> list[Floats]:
        """Return the logits of each part of an action."""
        values = features
        for number, (weights, bias) in enumerate(self.layers):
            values = (np.tanh(values) if number else values) @ weights + bias
        return np.split(values, np.cumsum(sizes_of(self.portfolio))[:-1])

    def action(self, features: Floats, rng: np.random.Generator) -> list[int]:
        """Return an action."""
        parts = self.logits(features)
        if self.temperature > 0:
            parts = [part / self.temperature + rng.gumbel(size=part.size) for part in parts]
        return [int(np.argmax(part)) for part in parts]


class _Acting(Controller):
    """The same in a search."""

    def __init__(self, rule: DrAlns) -> None:
        self.name = rule.name
        self._rule = rule
        self._watched = Watched()

    def control(self, view: View) -> Setting | None:
        known = self._rule.portfolio
        features = self._watched.features(view)
        standing = int(np.float64(view.current).view(np.uint64)), view.iteration
        action = self._rule.action(features, np.random.default_rng(standing))
        return self._watched.setting(action, known, view.portfolio)
