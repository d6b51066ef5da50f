"""Learning from labelled states: one round of policy improvement, by regression.

A network sees the features of the whole and what simulations give (`neuralns.selection.look_ahead`), and has an output
for every pair of operators. It is fitted to labels (`neuralns.mdp.labels`) less their mean over the pairs of a state:
what all pairs have in common says nothing about which to choose and is most of the variance. Where the base leaves
something to chance, another network first learns from simulations what the base gains from routes on, and labels are
what one pair gains and that network foretells. What the fit takes for the best of many pairs looks better than it is:
the base's pair is left only for one that beats it by a margin, which is chosen on the validation tours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from neuralns.errors import InputError
from neuralns.learning.dqn import MOST_HIDDEN, Config
from neuralns.learning.networks import MLP, StackedLinear
from neuralns.mdp.evaluate import evaluate
from neuralns.mdp.labels import Base, Labelled, label_states, plan_probes
from neuralns.mdp.lanes import Lanes, Tours
from neuralns.mdp.mdp import MDP, SET_SIZE, episode_seeds, named_seed
from neuralns.selection.dense import Layers
from neuralns.selection.features import RICH, ROUTES, FeatureSet, features_for, features_named
from neuralns.selection.look_ahead import NETWORK, LookAhead, Probes
from neuralns.selection.policy import MOST_WIDTH
from neuralns.selection.policy_file import Policy
from neuralns.selection.uniform import Uniform

torch.set_num_threads(1)

_PLAYS = 8
"""How often each validation tour is played with each margin."""
_SIMULATED = 2.5
"""Simulations that the value network learns from, for each labelled state."""
_VALUE_EPOCHS = 2
"""Of its fit, in which each state comes with all pairs."""
_VALUE_SEED = 10**6
"""How far the seed of its states is from that of the labelled ones."""


@dataclass(frozen=True)
class LabelConfig:
    """How to learn from labelled states.

    Attributes
    ----------
    states
        Labelled states in all; of several seeds each learns from a half that is drawn for it. A network that foretells
        what the base gains, where there is need of one, has further states of its own, and all seeds share it.
    hidden, epochs, batch, learning_rate, decay
        Of the network and its fit by AdamW; the rate falls linearly to 0. But for the epochs, the same holds for the
        network that foretells.
    margins
        From which the margin is chosen, in standard deviations of the labels about their mean over the pairs.
    features
        Feature set; by default ``windows`` where time plays a part, else ``routes``.
    value
        Whether a network foretells what follows a pair where the base leaves something to chance; otherwise all is
        simulated.
    """

    states: int = 150_000
    hidden: tuple[int, ...] = (128, 64)
    epochs: int = 4
    batch: int = 256
    learning_rate: float = 0.002
    decay: float = 0.0001
    margins: tuple[float, ...] = (0.02, 0.05, 0.1, 0.2, 0.4)
    features: str | None = None
    value: bool = True

    def __post_init__(self) -> None:
        for name, least in (("states", 4), ("epochs", 1), ("batch", 1)):
            if getattr(self, name) < least:
                raise InputError(f"{name} {getattr(self, name)} must be at least {least}.")
        if len(self.hidden) > MOST_HIDDEN or not all(1 <= width <= MOST_WIDTH for width in self.hidden):
            raise InputError(f"hidden layers {self.hidden} must be up to {MOST_HIDDEN}, from 1 to {MOST_WIDTH} wide.")
        if not self.margins:
            raise InputError("a training from labelled states needs at least one margin.")

    def as_dict(self) -> dict[str, Any]:
        """Return what was set, as plain values, but for the features, which cards name by themselves."""
        return {
            "states": self.states, "hidden": list(self.hidden), "epochs": self.epochs, "batch": self.batch,
            "learning_rate": self.learning_rate, "decay": self.decay, "margins": list(self.margins),
            "value": self.value,
        }  # fmt: skip


def train_labelled(
    mdp: MDP,
    seeds: Sequence[int],
    config: LabelConfig | None = None,
    *,
    samples: int = 2,
    say: Callable[[str], object] = lambda text: None,
    **card: Any,
) -> dict[int, Policy]:
    """Train a policy that looks ahead for each seed.

    Labels are what takes time, so that seeds share them: each learns from a half of the states. ``card`` is what else
    the cards of the policies say.
    """
    config = config or LabelConfig()
    if config.features is not None:
        features = features_named(config.features)
    else:
        features = ROUTES if features_for(mdp.instance) is RICH else features_for(mdp.instance)
    say("trying all fixed pairs ...")
    base, probes = plan_probes(mdp, samples)
    say(f"labelling {config.states} states ...")
    value = _value(mdp, base, features, config, seeds[0]) if config.value and not base.exact else None
    made = label_states(mdp, base, probes, config.states, seeds[0], features, value=value)
    say("fitting ...")
    fits = _fit([_advantages(made if len(seeds) == 1 else _half(made, seed)) for seed in seeds], seeds, config)
    random = max(1e-9, evaluate(mdp, Uniform(), tours="validate", seeds=2).reward_mean)
    # As for other networks: so much is an episode of random choices worth in the units of the outputs.
    worth = Config().reward_scale
    say("choosing margins on the validation tours ...")
    lanes, tours = Lanes([mdp] * SET_SIZE, observes_nodes=False), Tours(mdp.start_tours("validate"))

    def score(policy: Policy) -> float:
        """Return the mean reward on the validation tours: by luck alone it differs more than by the margin."""
        selector, found = LookAhead(policy, 0.0), []
        for play in range(_PLAYS):
            lanes.reset(tours, episode_seeds(play, SET_SIZE), observe=False)
            lanes.play(selector)
            found.append(float((lanes.start_costs - lanes.costs).mean()))
        return float(np.mean(found))

    return {
        seed: _with_margin(mdp, base, probes, features, layers, scale * worth / random, config, seed, card, score)
        for seed, (layers, scale) in zip(seeds, fits, strict=True)
    }


def _half(made: Labelled, seed: int) -> Labelled:
    rng = np.random.default_rng(named_seed("half of the labels", seed))
    chosen = rng.permutation(len(made.rows))[: len(made.rows) // 2]
    return Labelled(made.rows[chosen], made.labels[chosen])


_Floats = npt.NDArray[np.float32]


def _advantages(made: Labelled) -> tuple[_Floats, _Floats]:
    """Return what a network that chooses pairs is to learn."""
    return made.rows, made.labels - made.labels.mean(1, keepdims=True)


def _value(mdp: MDP, base: Base, features: FeatureSet, config: LabelConfig, seed: int) -> Layers:
    """Return the layers of a network that foretells what the base gains from routes on."""
    pairs = len(mdp.portfolio.destroys) * len(mdp.portfolio.repairs)
    states = max(4, round(_SIMULATED * config.states / pairs))
    made = label_states(mdp, base, Probes(budget=mdp.budget), states, _VALUE_SEED + seed, features, keep_after=True)
    assert made.after is not None
    assert made.onward is not None
    rows, targets = made.after.reshape(-1, made.after.shape[-1]), made.onward.reshape(-1, 1)
    mean = float(targets.mean())
    ((layers, scale),) = _fit([(rows, targets - np.float32(mean))], [seed], replace(config, epochs=_VALUE_EPOCHS))
    weight, bias = layers[-1]
    return [*layers[:-1], (weight * np.float32(scale), bias * np.float32(scale) + np.float32(mean))]


def _fit(
    data: Sequence[tuple[_Floats, _Floats]], seeds: Sequence[int], config: LabelConfig
) -> list[tuple[list[tuple[_Floats, _Floats]], float]]:
    """Return the layers of each seed's network and the unit of its outputs; all seeds are fitted side by side."""
    generators = [torch.Generator().manual_seed(int(seed)) for seed in seeds]
    rows = torch.stack([torch.from_numpy(each) for each, _ in data])
    labels = torch.stack([torch.from_numpy(each) for _, each in data])
    scales = labels.std(dim=(1, 2), keepdim=True).clamp_min(1e-9)
    labels = labels / scales
    means, spreads = rows.mean(1, keepdim=True), rows.std(1, keepdim=True) + 0.01
    # Rows are large, and these are a copy.
    rows.sub_(means).div_(spreads)
    network = MLP(generators, rows.shape[-1], config.hidden, labels.shape[-1])
    optimiser = torch.optim.AdamW(network.parameters(), config.learning_rate, weight_decay=config.decay)
    count = rows.shape[1]
    batch = min(config.batch, count)
    steps = config.epochs * (count // batch)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: 1.0 - step / steps)
    for _ in range(config.epochs):
        orders = torch.stack([torch.randperm(count, generator=generator) for generator in generators])
        for part in range(count // batch):
            chosen = orders[:, part * batch : (part + 1) * batch, None]
            x = rows.gather(1, chosen.expand(-1, -1, rows.shape[-1]))
            y = labels.gather(1, chosen.expand(-1, -1, labels.shape[-1]))
            # Seeds do not share anything: the sum trains each as if it were alone.
            loss = ((network(x) - y) ** 2).mean(dim=(1, 2)).sum()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
    found = []
    for agent in range(len(seeds)):
        layers = []
        for layer in network.layers:
            assert isinstance(layer, StackedLinear)
            layers.append((layer.weight[agent].detach().double(), layer.bias[agent].detach().double()))
        # The first layer takes features as they come.
        weight, bias = layers[0]
        spread, mean = spreads[agent, 0].double(), means[agent, 0].double()
        layers[0] = weight / spread[:, None], bias - (mean / spread) @ weight
        plain = [(one.numpy().astype(np.float32), other.numpy().astype(np.float32)) for one, other in layers]
        found.append((plain, float(scales[agent])))
    return found


def _with_margin(
    mdp: MDP,
    base: Base,
    probes: Probes,
    features: FeatureSet,
    layers: Layers,
    unit: float,
    config: LabelConfig,
    seed: int,
    card: dict[str, Any],
    score: Callable[[Policy], float],
) -> Policy:
    """Return the policy whose margin does best by its score."""
    from neuralns import __version__

    entries = {
        "network": NETWORK,
        "operators": {
            "destroy": [entry.name for entry in mdp.portfolio.destroys],
            "repair": [entry.name for entry in mdp.portfolio.repairs],
        },
        "features": {"name": features.name, "version": features.version},
        "look_ahead": probes.as_dict(),
        "nodes": mdp.instance.customers + 1,
        "setting": mdp.setting,
        "instances": [mdp.instance.name],
        "sizes": [mdp.instance.customers],
        "scale": mdp.scale,
        "budget": mdp.budget,
        "acceptance": mdp.acceptance_name,
        "training": config.as_dict(),
        "seed": seed,
        "neuralns": __version__,
        **card,
    }
    found = []
    for margin in config.margins:
        weight, bias = layers[-1]
        shifted = bias - np.float32(margin)
        shifted[:, base.pairs[0]] += np.float32(margin)
        numbers = [*layers[:-1], (weight * np.float32(unit), shifted * np.float32(unit))]
        tensors = {
            f"layers.{number}.{part}": values
            for number, layer in enumerate(numbers)
            for part, values in zip(("weight", "bias"), layer, strict=True)
        }
        policy = Policy({**entries, "margin": margin}, tensors)
        reward = score(policy)
        found.append((reward, Policy({**policy.card, "validation_reward": reward}, tensors)))
    return max(found, key=lambda entry: entry[0])[1]
