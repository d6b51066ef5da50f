"""Policies run compiled: forward passes inside the search loop and the lanes, without torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from neuralns.compiled.caching import compiled
from neuralns.compiled.random import random
from neuralns.compiled.structs import Struct, number, numbers32, whole, wholes
from neuralns.errors import InputError
from neuralns.operators.portfolio import Portfolio
from neuralns.problem.instance import Instance
from neuralns.selection.attention import attention_layer, nearest_layer, pool
from neuralns.selection.dense import dense, run_layers
from neuralns.selection.features import (
    FEATURE_SETS,
    FeatureSet,
    features_named,
    write_dynamic,
    write_globals,
    write_static,
)
from neuralns.selection.policy_file import Policy
from neuralns.selection.selector import DESTROY, Selector, compile_selector, memory_type

DEFAULT_TEMPERATURE = 0.01
NETWORKS = ("mlp", "small", "gat", "ahead")

MOST_LAYERS = 14
MOST_WIDTH = 4096
"""Widest layer: the memory of attention grows with it times the customers of an instance."""


@dataclass(frozen=True, eq=False)
class PolicySelector(Selector):
    """A learned policy: operators by their Q-values, through the softmax of the paper's Equation 4.

    Parameters
    ----------
    policy
        Network, numbers and card.
    temperature
        τ: greedy as τ → 0 (and for 0), uniform as τ → ∞.
    every
        Decide anew every so many iterations and keep to the pair in between; worth it where a decision takes longer
        than an iteration.
    """

    policy: Policy
    temperature: float = DEFAULT_TEMPERATURE
    name: str = "policy"
    every: int = 1

    fields: ClassVar = {
        "temperature": number,
        "every": whole,
        "turn": whole,  # iterations since the last decision, from 1
        "last": wholes,  # the operators decided on, by phase
        "counts": wholes,  # operators of each phase
        "outputs": wholes,  # the output of each operator, destroys first
        "features": whole,
        "nodes": whole,  # rows of node features; 0 if it looks at the whole only
        "node_width": whole,
        "globals": whole,
        "layers": whole,
        "sizes": wholes,  # widths of the layers of an MLP, or of those after the attention
        "width": whole,  # of attention
        "heads": whole,
        "nearest": whole,  # whether nodes attend to their nearest only
        "numbers": numbers32,  # weights, the observation, scratch space
        "row": whole,  # where the observation begins
        "scratch": whole,
        "seen": wholes,  # which instance the observation's constant part is about
    }
    shared: ClassVar[tuple[str, ...]] = ("counts", "outputs", "sizes", "numbers", "seen")

    def __post_init__(self) -> None:
        self._check_choices()
        if self.policy.network == "ahead":
            raise InputError(f"{self.name}: looks ahead, which takes a LookAhead (or policy_selector) to do.")
        layers_of(self.policy, self.name)

    def _check_choices(self) -> None:
        if not self.temperature >= 0:
            raise InputError(f"temperature {self.temperature} must be at least 0.")
        if self.every < 1:
            raise InputError(f"a policy that decides every {self.every} iterations cannot work; at least 1 is needed.")

    @property
    def remembers(self) -> bool:
        return self.every > 1

    @property
    def uses_history(self) -> bool:
        """Whether its features read the search's memory."""
        # It is a feature of nodes.
        return self.policy.network in ("mlp", "gat") and features_of(self.policy, self.name).uses_history

    def made_for(self) -> tuple[str, ...]:
        return *self.policy.destroys, *self.policy.repairs

    def made_with(self) -> int | None:
        scale = self.policy.card.get("scale")
        if isinstance(scale, list) and scale and scale.count(scale[0]) == len(scale):
            scale = scale[0]
        return scale if isinstance(scale, int) else None

    def trained_on(self) -> tuple[str, ...]:
        return self.policy.instances

    def start(self, portfolio: Portfolio, customers: int = 1) -> Struct:
        policy = self.policy
        features, layers = features_of(policy, self.name), layers_of(policy, self.name)
        self._check_operators(portfolio)
        outputs = [policy.destroys.index(entry.name) for entry in portfolio.destroys]
        outputs += [len(policy.destroys) + policy.repairs.index(entry.name) for entry in portfolio.repairs]
        nodes = customers + 1
        if policy.network == "mlp":
            if customers > 1 and nodes != policy.card["nodes"]:
                raise InputError(
                    f"{self.name}: was trained on {policy.card['nodes'] - 1} customers and an mlp knows no other size, "
                    f"but the instance has {customers}."
                )
            nodes = policy.card["nodes"]
        weights = np.concatenate([values.ravel() for layer in layers for values in layer])
        seen = 0 if policy.network == "small" else nodes
        scratch = weights.size + seen * len(features.nodes) + len(features.globals)
        width, heads = 0, 0
        if policy.network == "gat":
            width, heads = layers[0][0].shape[1], layers[0][1].shape[0]
            # Two layers of embeddings, the sums and weights of the attention, the pooled row and the outputs.
            space = 2 * nodes * width + 2 * (nodes + 1) * (width + 1) + 2 * heads * nodes + 32
            head = [layer for layer in layers if len(layer) == 2]
            sizes = [head[0][0].shape[0], *(layer[0].shape[1] for layer in head)]
            space += sum(sizes)
        else:
            sizes = [layers[0][0].shape[0], *(layer[0].shape[1] for layer in layers)]
            space = 2 * max(sizes)
        numbers = np.zeros(scratch + space, np.float32)
        numbers[: weights.size] = weights
        return self.new_memory(
            temperature=self.temperature, every=self.every, turn=0, last=np.zeros(2, np.int64),
            counts=np.array([len(portfolio.destroys), len(portfolio.repairs)]), outputs=np.array(outputs),
            features=features.index, nodes=seen, node_width=len(features.nodes), globals=len(features.globals),
            layers=sum(len(layer) == (4 if width else 2) for layer in layers), sizes=np.array(sizes), width=width,
            heads=heads,
            nearest=policy.network == "gat" and policy.card["graph"] == "nearest", numbers=numbers, row=weights.size,
            scratch=scratch, seen=np.zeros(1, np.int64),
        )  # fmt: skip

    def _check_operators(self, portfolio: Portfolio) -> None:
        for phase, own, known in (
            ("destroy", portfolio.destroys, self.policy.destroys),
            ("repair", portfolio.repairs, self.policy.repairs),
        ):
            for entry in own:
                if entry.name not in known:
                    raise InputError(
                        f"{self.name}: was trained without the {phase} operator {entry.name!r} of portfolio "
                        f"{portfolio.name!r}; it knows {', '.join(known)}."
                    )

    def values(self, memory: Struct, customers: int) -> npt.NDArray[np.float64]:
        """Return the Q-values of all operators of the portfolio, destroys first, as its last decision computed them."""
        if self.policy.network == "gat":
            first = memory.scratch + 2 * (customers + 1) * memory.width + int(memory.sizes[:-1].sum())
        else:
            first = memory.scratch + (memory.layers - 1) % 2 * ((len(memory.numbers) - memory.scratch) // 2)
        return np.asarray(memory.numbers[first + memory.outputs], np.float64)

    def functions(self) -> tuple[Any, Any]:
        choose = _choose_by_gat if self.policy.network == "gat" else _choose_by_mlp
        return compile_selector(self.name, choose, Selector.update, memory_type(PolicySelector))

    def doubts(self, instance: Instance, quotas: tuple[int, int]) -> list[str]:
        card, found = self.policy.card, []
        setting, sizes = card.get("setting"), card.get("sizes")
        paper = instance.name.endswith("(paper)")
        if setting == "paper" and not paper:
            found.append("it was trained in setting paper, where routes are what costs, not distance")
        timed = setting == "windows"
        if setting is not None and timed != instance.timed:
            found.append(
                "it was trained with windows, this instance has none"
                if timed
                else "it was trained without windows, this instance has some"
            )
        if isinstance(sizes, list) and sizes and not min(sizes) / 2 <= instance.customers <= 2 * max(sizes):
            most = f"{min(sizes)}" if min(sizes) == max(sizes) else f"{min(sizes)} to {max(sizes)}"
            found.append(f"it was trained on {most} customers, this instance has {instance.customers}")
        scale = self.made_with()
        if scale is not None and not quotas[0] <= scale <= quotas[1]:
            found.append(f"it was trained with {scale} customers removed at a time, not {quotas[0]} to {quotas[1]}")
        return [f"{self.name}: {text}." for text in found]


def features_of(policy: Policy, name: str) -> FeatureSet:
    entry = policy.card.get("features")
    if not isinstance(entry, Mapping) or entry.get("name") not in tuple(FEATURE_SETS):
        raise InputError(f"{name}: its card names no known feature set.")
    features = features_named(entry["name"])
    if entry.get("version") != features.version:
        raise InputError(
            f"{name}: was trained with version {entry.get('version')!r} of the features {features.name!r}, but this is "
            f"version {features.version}."
        )
    return features


def layers_of(policy: Policy, name: str, further: int = 0) -> list[list[npt.NDArray[np.float32]]]:
    """Return the numbers of each layer, refusing a file whose numbers do not fit each other and its card.

    So many ``further`` inputs come after the features.
    """
    if policy.network not in NETWORKS:
        raise InputError(f"{name}: has network {policy.network!r}, which this version does not know.")
    features = features_of(policy, name)
    actions = len(policy.destroys) + len(policy.repairs)
    if policy.network == "ahead":
        actions = len(policy.destroys) * len(policy.repairs)
    card, tensors = policy.card, policy.tensors

    def take(key: str, dimensions: int) -> npt.NDArray[np.float32]:
        values = tensors.get(key)
        if values is not None and values.ndim == dimensions and values.size > 0 and values.dtype.kind == "f":
            # Numbers of 64 bits can be finite and still too large for 32.
            with np.errstate(over="ignore"):
                single = values.astype(np.float32)
            if np.isfinite(single).all():
                return single
        raise InputError(f"{name}: the numbers {key!r} are missing, of a wrong shape or not finite.")

    count = len({key.split(".")[1] for key in tensors if key.startswith("layers.")})
    layers: list[list[npt.NDArray[np.float32]]] = []
    fits = 0 < count <= MOST_LAYERS
    if policy.network == "gat":
        fits = fits and card.get("graph") in ("complete", "nearest")
        parts = (("weight", 2), ("source", 2), ("target", 2), ("bias", 1))
        layers = [[take(f"layers.{number}.{part}", size) for part, size in parts] for number in range(count)]
        wide = len(features.nodes)
        for weight, source, target, bias in layers:
            fits = fits and weight.shape == (wide, bias.size) and source.size == target.size == bias.size
            fits = fits and source.shape == layers[0][1].shape and bias.size == layers[0][3].size
            wide = bias.size
        hidden = len({key.split(".")[1] for key in tensors if key.startswith("hidden.")})
        fits = fits and hidden <= MOST_LAYERS
        wide = 2 * wide + len(features.globals)
        for key in (*(f"hidden.{number}" for number in range(hidden)), "head"):
            weight, bias = take(f"{key}.weight", 2), take(f"{key}.bias", 2)
            fits = fits and weight.shape == (wide, bias.size)
            wide = bias.size
            layers.append([weight, bias])
        fits = fits and wide == actions
    else:
        nodes = card.get("nodes")
        fits = fits and isinstance(nodes, int) and 1 < nodes < 10**6
        wide = len(features.globals) + further
        wide += nodes * len(features.nodes) if policy.network == "mlp" and fits else 0  # type: ignore[operator]
        layers = [[take(f"layers.{number}.{part}", 2) for part in ("weight", "bias")] for number in range(count)]
        for weight, bias in layers:
            fits = fits and weight.shape == (wide, bias.size)
            wide = bias.size
        fits = fits and wide == actions
    fits = fits and all(layer[0].shape[1] <= MOST_WIDTH for layer in layers)
    if not fits:
        raise InputError(f"{name}: its numbers do not fit its card (damaged, or written by another program).")
    return layers


@compiled
def _observe(memory, state, phase):
    """Write the observation of a state into the row."""
    row, numbers = memory.row, memory.numbers
    if memory.nodes > 0:
        instance = np.int64(state.x.ctypes.data)
        if memory.seen[0] != instance:
            write_static(state, memory.features, numbers, row)
            memory.seen[0] = instance
        write_dynamic(state, memory.features, numbers, row)
        row += (state.customers + 1) * memory.node_width
    write_globals(state, memory.features, phase, numbers, row)


@compiled
def pick(memory, outputs, state, phase):
    """Return an operator of the phase by the softmax of its Q-value; Q-values begin at ``outputs``."""
    numbers, count, offset = memory.numbers, memory.counts[phase], 0 if phase == DESTROY else memory.counts[DESTROY]
    best, most = 0, -np.inf
    for index in range(count):
        value = np.float64(numbers[outputs + memory.outputs[offset + index]])
        if value > most:
            best, most = index, value
    temperature = memory.temperature
    if temperature == 0.0 or count == 1:
        return best
    total = 0.0
    for index in range(count):
        total += np.exp((np.float64(numbers[outputs + memory.outputs[offset + index]]) - most) / temperature)
    point = random(state) * total
    for index in range(count):
        point -= np.exp((np.float64(numbers[outputs + memory.outputs[offset + index]]) - most) / temperature)
        if point < 0.0:
            return index
    return best


@compiled
def keeps(memory, phase):
    """Return whether the last choice still holds, counting iterations as their destroy phases go by."""
    if memory.every <= 1:
        return False
    if phase == DESTROY:
        memory.turn += 1
        if memory.turn > memory.every:
            memory.turn = 1
    return memory.turn > 1


@compiled
def forward(memory):
    """Run the layers of an MLP over the row; return where the outputs begin."""
    return run_layers(memory.numbers, memory.sizes, memory.layers, memory.row, memory.scratch)


def _choose_by_mlp(memory, state, phase):
    if keeps(memory, phase):
        return memory.last[phase]
    _observe(memory, state, phase)
    memory.last[phase] = pick(memory, forward(memory), state, phase)
    return memory.last[phase]


def _choose_by_gat(memory, state, phase):
    if keeps(memory, phase):
        return memory.last[phase]
    _observe(memory, state, phase)
    numbers, nodes, width, heads = memory.numbers, state.customers + 1, memory.width, memory.heads
    weights, source, inputs = 0, memory.row, memory.node_width
    row_end = source + nodes * inputs
    embedded = memory.scratch
    mixed = embedded + nodes * width
    space = mixed + nodes * width
    for _ in range(memory.layers):
        if memory.nearest != 0:
            nearest_layer(state, numbers, source, weights, embedded, mixed, space, nodes, inputs, width, heads)
        else:
            attention_layer(state.items, numbers, source, weights, embedded, mixed, space, nodes, inputs, width, heads)
        weights += inputs * width + 3 * width
        source, inputs = mixed, width
    pooled, count = space, memory.globals
    pool(numbers, mixed, pooled, nodes, width)
    for index in range(count):
        numbers[pooled + 2 * width + index] = numbers[row_end + index]
    source, last = pooled, len(memory.sizes) - 2
    for layer in range(last + 1):
        inputs, outputs = memory.sizes[layer], memory.sizes[layer + 1]
        dense(numbers, source, weights, source + inputs, inputs, outputs, layer < last)
        weights += (inputs + 1) * outputs
        source += inputs
    memory.last[phase] = pick(memory, source, state, phase)
    return memory.last[phase]
