"""DR-ALNS as a baseline: a network that sees where a search stands and sets operators, scale and temperature.

    python benchmarks/dr_alns.py --generate cvrp,vrptw,pdptw,hfvrp,mdvrptw,pcvrptw --minutes 60 --time 10 -o mine.policy
    python benchmarks/choice.py run runs.csv --time 10 --seeds 3 --arms mine.policy

Reijnen, Zhang, Lau & Bukhsh 2024, "Online control of adaptive large neighborhood search using deep reinforcement
learning" (ICAPS), brought to this search: the agent acts between segments, not in every iteration. It is trained by the
PPO of stable-baselines3 (``pip install '.[sb3]'``); using it needs numpy alone.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from neuralns.compiled.structs import Struct
from neuralns.errors import InputError, how_to_install
from neuralns.experiments.controllers import check_sources
from neuralns.files import check_writable
from neuralns.operators.portfolio import Portfolio, portfolio_named
from neuralns.problem.bundled import read
from neuralns.problem.instance import Instance
from neuralns.search.acceptance.annealing import SimulatedAnnealing
from neuralns.search.interrupt import Interrupts
from neuralns.search.search import Search
from neuralns.search.setup import make_setup, prepare
from neuralns.search.stopping import MaxTime
from neuralns.selection.controller import Controller, Setting, View, check_operators
from neuralns.selection.learned_controller import portfolio_in
from neuralns.selection.policy_file import Policy, write_policy
from neuralns.selection.selector import MOST_REMOVED

Floats = npt.NDArray[np.float64]
Observation = npt.NDArray[np.float32]

NETWORK = "dr-alns"
"""What cards of its files say under ``network``."""
FEATURES = (
    "improved", "above best", "is best", "heat", "stagnation", "progress", "share accepted", "share improving",
)  # fmt: skip
LEVELS = 10
"""Of the scale, and of the temperature."""
MOST_HEAT = 3.0
NEW_BEST = 5.0
"""Reward of a segment that finds a new best solution."""
RECENT = 100
"""Episodes whose mean says how a training goes."""
SEGMENTS = 512
"""Between two updates of the network."""
HIDDEN = (64, 64)


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
    """

    policy: Policy
    name: str = NETWORK

    def __post_init__(self) -> None:
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
        return [int(np.argmax(part + rng.gumbel(size=part.size))) for part in self.logits(features)]


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


class Steering(gymnasium.Env[Observation, npt.NDArray[np.int64]]):
    """Steering searches, as DR-ALNS does.

    ## Description

    An episode is a search of some seconds of processor time on an instance; a step is a segment of it, of about 50 ms.
    Time between two steps, in which an agent learns, does not count.

    ## Action Space

    ``MultiDiscrete``: a destroy operator, a repair operator, ten levels of the scale, ten of the temperature.

    ## Observation Space

    ``Box(0, 100, (8,), float32)``: the features of `Watched`.

    ## Rewards

    5 for a segment that finds a new best solution, else 0. The authors' code gives the same for an iteration; the 3 for
    a better and 1 for an accepted solution are left out there as well.

    ## Starting State

    Routes by savings on the next instance.

    ## Episode End

    The episode terminates when the time of the search is used up. ``info`` then has the ``cost`` of the best solution,
    that of the ``start``, and ``unserved`` customers.

    ## Arguments

    ``instance_of`` returns the instance of an episode by its number; ``seconds`` is the time of a search, or the least
    and the most to draw it from; ``number`` that of the first episode.
    """

    def __init__(
        self,
        instance_of: Callable[[int], Instance],
        portfolio: Portfolio,
        seconds: tuple[float, float],
        number: int = 0,
        seed: int = 0,
    ) -> None:
        self.portfolio = portfolio
        self.number = number
        self._instance_of = instance_of
        self._seconds = seconds
        self._seed = seed
        self._driven = _Driven()
        self._watched = Watched()
        self._search: _Metered | None = None
        self._before = 0.0
        self.action_space = spaces.MultiDiscrete([*sizes_of(portfolio)])
        self.observation_space = spaces.Box(0.0, 100.0, (len(FEATURES),), np.float32)

    @property
    def spent(self) -> float:
        """Seconds of searching so far, in all episodes."""
        return self._before + (0.0 if self._search is None else self._search.elapsed)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        super().reset(seed=seed)
        instance = self._instance_of(self.number)
        rng = np.random.default_rng((self._seed, self.number))
        acceptance, stop = SimulatedAnnealing(), MaxTime(float(rng.uniform(*self._seconds)))
        self._driven, self._watched = _Driven(), Watched()
        prepare(self.portfolio, self._driven, acceptance, stop, instance)
        setup = make_setup(instance, stop, self._driven, self.portfolio, acceptance=acceptance)
        self._before = self.spent
        self._search = _Metered(setup, np.random.SeedSequence((self._seed, self.number)), 0.0)
        self.number += 1
        return self._watched.features(self._search.view()).astype(np.float32), {}

    def step(self, action: npt.NDArray[np.int64]) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        search, driven = self._search, self._driven
        assert search is not None, "reset comes before step"
        driven.setting, driven.view = self._watched.setting(action, self.portfolio, self.portfolio), None
        while driven.view is None:
            search.advance()
        view = driven.view
        over = search.reason_to_stop() is not None
        info: dict[str, Any] = {}
        if over:
            best = search.best()
            info = {"cost": best.cost, "start": search.setup.initial.cost, "unserved": len(best.unserved)}
        found = bool(view.new_best.sum() > 0)
        return self._watched.features(view).astype(np.float32), NEW_BEST * found, over, False, info


class _Driven(Controller):
    """A controller that sets what it is given, and keeps what it is told."""

    name = "driven"
    setting: Setting | None = None
    view: View | None = None

    def control(self, view: View) -> Setting | None:
        return self.setting

    def observe(self, view: View) -> None:
        self.view = view


class _Metered(Search):
    """A search whose clock is the processor time that its segments take."""

    _spent = 0.0
    _since: float | None = None

    @property
    def elapsed(self) -> float:
        return self._spent + (0.0 if self._since is None else time.process_time() - self._since)

    def advance(self, iterations: float = np.inf) -> None:
        self._since = time.process_time()
        super().advance(iterations)
        self._spent, self._since = self.elapsed, None


@dataclass(frozen=True)
class Standing:
    """Where a training stands: rewards and savings are means of the last episodes.

    Savings are by how many per cent the best routes of a search are cheaper than those it began with.
    """

    episodes: int
    steps: int
    seconds: float
    reward: float
    saving: float


def train(
    instance_of: Callable[[int], Instance],
    portfolio: Portfolio,
    minutes: float,
    seconds: tuple[float, float],
    *,
    seed: int = 0,
    card: dict[str, Any] | None = None,
    watch: Callable[[Standing], str | None] = lambda standing: None,
) -> Policy:
    """Train an agent for some minutes of searching, in processor time.

    Parameters
    ----------
    instance_of
        Returns the instance of an episode, by its number.
    seconds
        Least and most seconds of a search.
    watch
        Called after each episode; if it returns a reason, the training ends with what there is.
    """
    if find_spec("stable_baselines3") is None:
        raise InputError(f"training DR-ALNS needs stable-baselines3: {how_to_install('sb3')}.")
    import torch
    from stable_baselines3 import PPO
    from stable_baselines3.common.callbacks import BaseCallback

    torch.set_num_threads(1)
    environment = Steering(instance_of, portfolio, seconds, seed=seed)
    curve: list[Standing] = []
    rewards: deque[float] = deque(maxlen=RECENT)
    savings: deque[float] = deque(maxlen=RECENT)

    class Watch(BaseCallback):  # type: ignore[misc]
        """Ends the training when its time is over."""

        won = 0.0

        def _on_step(self) -> bool:
            self.won += float(self.locals["rewards"][0])
            info = self.locals["infos"][0]
            if "cost" not in info:
                return True
            rewards.append(self.won)
            savings.append(100.0 * (1.0 - info["cost"] / info["start"]))
            self.won = 0.0
            curve.append(
                Standing(
                    environment.number - 1,
                    int(self.num_timesteps),
                    environment.spent,
                    float(np.mean(rewards)),
                    float(np.mean(savings)),
                )
            )
            return watch(curve[-1]) is None and environment.spent < 60 * minutes

    agent = PPO(
        "MlpPolicy", environment, n_steps=SEGMENTS, batch_size=64, seed=seed, device="cpu",
        policy_kwargs={"net_arch": list(HIDDEN)},
    )  # fmt: skip
    agent.learn(1 << 40, callback=Watch())
    return policy_of(agent, portfolio, curve, {"seconds": list(seconds), "seed": seed} | (card or {}))


def policy_of(agent: Any, portfolio: Portfolio, curve: list[Standing], card: dict[str, Any]) -> Policy:
    """Return the policy of an agent of PPO, with its card."""
    from neuralns import __version__

    net = agent.policy
    layers = [*(layer for layer in net.mlp_extractor.policy_net if hasattr(layer, "weight")), net.action_net]
    tensors = {}
    for number, layer in enumerate(layers):
        tensors[f"weights_{number}"] = layer.weight.detach().numpy().T.astype(np.float32)
        tensors[f"bias_{number}"] = layer.bias.detach().numpy().astype(np.float32)
    content: dict[str, Any] = {
        "network": NETWORK,
        "operators": {
            "destroy": [entry.name for entry in portfolio.destroys],
            "repair": [entry.name for entry in portfolio.repairs],
            "improve": [entry.name for entry in portfolio.improves],
        },
        "features": list(FEATURES),
        "levels": LEVELS,
        "engine": __version__,
        "training": asdict(curve[-1]) if curve else {},
        "rewards": [round(each.reward, 3) for each in _tenths(curve)],
    }
    return Policy(content | card, tensors)


def _tenths(curve: list[Standing]) -> Iterable[Standing]:
    """Return where a training stood after each tenth of its episodes."""
    return (curve[len(curve) * tenth // 10 - 1] for tenth in range(1, 11)) if len(curve) >= 10 else curve


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("instances", nargs="*", help="files, or names of bundled instances")
    parser.add_argument("--generate", help="variants to generate instances of, in place of files")
    parser.add_argument("--portfolio", default="wide")
    parser.add_argument("--minutes", type=float, default=60.0, help="of searching, in processor time")
    parser.add_argument("--time", type=float, help="seconds of a search; 1 to 2 by default")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", "-o", default="dr-alns.policy")
    given = parser.parse_args(arguments)
    try:
        if not (given.minutes > 0 and (given.time is None or given.time > 0)):
            raise InputError("--minutes and --time must be above 0.")
        source_of = check_sources(given.instances, given.generate, given.seed)
        check_writable(given.output)
        if Path(given.output).exists():
            raise InputError(f"{given.output}: is there already.")
        told = 0
        with Interrupts(sigterm=True) as interrupts:

            def show(standing: Standing) -> str | None:
                nonlocal told
                if int(standing.seconds / (6 * given.minutes)) > told:
                    told = int(standing.seconds / (6 * given.minutes))
                    print(
                        f"{standing.episodes} searches, {standing.seconds / 60:.1f} of {given.minutes:g} min, "
                        f"reward {standing.reward:.1f}, {standing.saving:.2f} % below the start",
                        flush=True,
                    )
                return interrupts.caught

            policy = train(
                lambda number: source_of(number).read(),
                portfolio_named(given.portfolio),
                given.minutes,
                (1.0, 2.0) if given.time is None else (given.time, given.time),
                seed=given.seed,
                watch=show,
                card={
                    "kinds": given.generate.split(",") if given.generate else given.instances,
                    **({"instances": [read(file).name for file in given.instances]} if given.instances else {}),
                    "command": shlex.join(["python", *sys.argv]),
                },
            )
    except InputError as error:
        raise SystemExit(str(error)) from None
    write_policy(policy, given.output)
    print(f"policy written to {given.output}")


if __name__ == "__main__":
    main()
