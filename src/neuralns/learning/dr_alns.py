"""Training of DR-ALNS (see `neuralns.selection.dr_alns`) by the PPO of stable-baselines3."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from neuralns.errors import InputError, how_to_install
from neuralns.mdp.steering import Steering
from neuralns.operators.portfolio import Portfolio
from neuralns.problem.instance import Instance
from neuralns.selection.dr_alns import FEATURES, LEVELS, NETWORK
from neuralns.selection.policy_file import Policy

RECENT = 100
"""Episodes whose mean says how a training goes."""
SEGMENTS = 512
"""Between two updates of the network."""
HIDDEN = (64, 64)


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


def train_dr_alns(
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
