"""Policies run compiled: forward passes inside the search loop and the lanes, without torch.

A policy's memory is one row: a header, the outputs of its operators, then 32-bit numbers: weights, the observation and
scratch space.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from neuralns.compiling import compiled
from neuralns.errors import InputError
from neuralns.operators.registry import MOST_DESTROYS, MOST_REPAIRS, Portfolio
from neuralns.operators.state import random
from neuralns.selection.attention import attention_layer, nearest_layer, pool
from neuralns.selection.dense import dense
from neuralns.selection.features import (
    FEATURE_SETS,
    FeatureSet,
    features_named,
    write_dynamic,
    write_globals,
    write_static,
)
from neuralns.selection.policy_file import Policy
from neuralns.selection.selector import Memory, compile_selector, learn_nothing

DEFAULT_TEMPERATURE = 0.01
NETWORKS = ("mlp", "small", "gat")

# The header: counts, the softmax's temperature, what is observed, and where things begin among the 32-bit numbers.
(
    _DESTROYS, _REPAIRS, _TEMPERATURE, _FEATURES, _NODES, _NODE_WIDTH, _GLOBALS, _LAYERS, _WEIGHTS, _ROW, _SCRATCH,
    _SEEN, _WIDTH, _HEADS, _ACTIONS, _NEAREST, _EVERY, _COUNT, _LAST,  # and one more for the repair phase
) = range(19)  # fmt: skip
_SIZES = 21  # widths of the layers of an MLP
_OUTPUTS = 36  # outputs of the portfolio's operators
_HEADER = _OUTPUTS + MOST_DESTROYS + MOST_REPAIRS
_MOST_LAYERS = _OUTPUTS - _SIZES - 1


@dataclass(frozen=True, eq=False)
class PolicySelector:
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

    def __post_init__(self) -> None:
        if not self.temperature >= 0:
            raise InputError(f"temperature {self.temperature} must be at least 0.")
        if self.every < 1:
            raise InputError(f"a policy that decides every {self.every} iterations cannot work; at least 1 is needed.")
        _layers_of(self.policy, self.name)

    @property
    def uses_history(self) -> bool:
        """Whether its features read the search's memory."""
        return self.policy.network != "small" and _features_of(self.policy, self.name).uses_history

    def start(self, portfolio: Portfolio, customers: int = 1) -> Memory:
        policy = self.policy
        features, layers = _features_of(policy, self.name), _layers_of(policy, self.name)
        header = np.zeros(_HEADER)
        for phase, own, known, offset, place in (
            ("destroy", portfolio.destroys, policy.destroys, 0, _OUTPUTS),
            ("repair", portfolio.repairs, policy.repairs, len(policy.destroys), _OUTPUTS + MOST_DESTROYS),
        ):
            for index, entry in enumerate(own):
                if entry.name not in known:
                    raise InputError(
                        f"{self.name}: was trained without the {phase} operator {entry.name!r} of portfolio "
                        f"{portfolio.name!r}; it knows {', '.join(known)}."
                    )
                header[place + index] = offset + known.index(entry.name)
        nodes = customers + 1
        if policy.network == "mlp" and customers > 1 and nodes != policy.card["nodes"]:
            raise InputError(
                f"{self.name}: was trained on {policy.card['nodes'] - 1} customers and an mlp knows no other size, but "
                f"the instance has {customers}."
            )
        if policy.network == "mlp":
            nodes = policy.card["nodes"]
        weights = np.concatenate([values.ravel() for layer in layers for values in layer])
        header[_DESTROYS], header[_REPAIRS] = len(portfolio.destroys), len(portfolio.repairs)
        header[_EVERY] = self.every
        header[_TEMPERATURE], header[_FEATURES] = self.temperature, features.index
        header[_NODES] = 0 if policy.network == "small" else nodes
        header[_NODE_WIDTH], header[_GLOBALS] = len(features.nodes), len(features.globals)
        header[_WEIGHTS], header[_ROW] = 2 * _HEADER, 2 * _HEADER + weights.size
        row = int(header[_NODES]) * len(features.nodes) + len(features.globals)
        header[_SCRATCH] = header[_ROW] + row
        header[_ACTIONS] = len(policy.destroys) + len(policy.repairs)
        if policy.network == "gat":
            header[_LAYERS] = len(layers) - 1
            header[_WIDTH], header[_HEADS] = layers[0][0].shape[1], layers[0][1].shape[0]
            header[_NEAREST] = policy.card["graph"] == "nearest"
            width = int(header[_WIDTH])
            # Two layers of embeddings, the sums and weights of the attention, the pooled row and the outputs.
            heads = int(header[_HEADS])
            scratch = 2 * nodes * width + 2 * (nodes + 1) * (width + 1) + 2 * heads * nodes + 32
            scratch += 2 * width + len(features.globals) + int(header[_ACTIONS])
        else:
            sizes = [layers[0][0].shape[0], *(layer[0].shape[1] for layer in layers)]
            header[_LAYERS] = len(layers)
            header[_SIZES : _SIZES + len(sizes)] = sizes
            scratch = 2 * max(sizes)
        memory = np.zeros((int(header[_SCRATCH]) + scratch + 1) // 2)
        memory[:_HEADER] = header
        memory.view(np.float32)[2 * _HEADER : 2 * _HEADER + weights.size] = weights
        return memory

    def functions(self) -> tuple[Any, Any]:
        return _functions(self.policy.network == "gat")


def _features_of(policy: Policy, name: str) -> FeatureSet:
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


def _layers_of(policy: Policy, name: str) -> list[list[npt.NDArray[np.float32]]]:
    """Return the numbers of each layer, refusing a file whose numbers do not fit each other and its card."""
    if policy.network not in NETWORKS:
        raise InputError(f"{name}: has network {policy.network!r}, which this version does not know.")
    features = _features_of(policy, name)
    actions = len(policy.destroys) + len(policy.repairs)
    card, tensors = policy.card, policy.tensors

    def take(key: str, dimensions: int) -> npt.NDArray[np.float32]:
        values = tensors.get(key)
        if values is None or values.ndim != dimensions or not np.isfinite(values).all():
            raise InputError(f"{name}: the numbers {key!r} are missing, of a wrong shape or not finite.")
        return values.astype(np.float32)

    count = len({key.split(".")[1] for key in tensors if key.startswith("layers.")})
    layers: list[list[npt.NDArray[np.float32]]] = []
    fits = 0 < count <= _MOST_LAYERS
    if policy.network == "gat":
        fits = fits and card.get("graph") in ("complete", "nearest")
        parts = (("weight", 2), ("source", 2), ("target", 2), ("bias", 1))
        layers = [[take(f"layers.{number}.{part}", size) for part, size in parts] for number in range(count)]
        wide = len(features.nodes)
        for weight, source, target, bias in layers:
            fits = fits and weight.shape == (wide, bias.size) and source.size == target.size == bias.size
            fits = fits and source.shape == layers[0][1].shape and bias.size == layers[0][3].size
            wide = bias.size
        layers.append([take("head.weight", 2), take("head.bias", 2)])
        fits = fits and layers[-1][0].shape == (2 * wide + len(features.globals), layers[-1][1].size)
        fits = fits and layers[-1][1].size == actions
    else:
        nodes = card.get("nodes")
        fits = fits and isinstance(nodes, int) and 1 < nodes < 10**6
        wide = len(features.globals) + (nodes * len(features.nodes) if policy.network == "mlp" and fits else 0)  # type: ignore[operator]
        layers = [[take(f"layers.{number}.{part}", 2) for part in ("weight", "bias")] for number in range(count)]
        for weight, bias in layers:
            fits = fits and weight.shape == (wide, bias.size)
            wide = bias.size
        fits = fits and wide == actions
    if not fits:
        raise InputError(f"{name}: its numbers do not fit its card (damaged, or written by another program).")
    return layers


@compiled
def _observe(memory, numbers, state, phase):
    """Write the observation of a state into the row."""
    kind, row, nodes = np.int64(memory[_FEATURES]), np.int64(memory[_ROW]), state.customers + 1
    if memory[_NODES] > 0.0:
        key = np.float64(state.x.ctypes.data)
        if memory[_SEEN] != key:
            write_static(state, kind, numbers, row)
            memory[_SEEN] = key
        write_dynamic(state, kind, numbers, row)
        row += nodes * np.int64(memory[_NODE_WIDTH])
    write_globals(state, kind, phase, numbers, row)


@compiled
def _pick(memory, numbers, outputs, state, phase):
    """Return an operator of the phase by the softmax of its Q-value, which begin at ``outputs``."""
    count, place = (memory[_DESTROYS], _OUTPUTS) if phase == 0 else (memory[_REPAIRS], _OUTPUTS + MOST_DESTROYS)
    count = np.int64(count)
    best, most = 0, -np.inf
    for index in range(count):
        value = np.float64(numbers[outputs + np.int64(memory[place + index])])
        if value > most:
            best, most = index, value
    temperature = memory[_TEMPERATURE]
    if temperature == 0.0 or count == 1:
        return best
    total = 0.0
    for index in range(count):
        total += np.exp((np.float64(numbers[outputs + np.int64(memory[place + index])]) - most) / temperature)
    point = random(state) * total
    for index in range(count):
        point -= np.exp((np.float64(numbers[outputs + np.int64(memory[place + index])]) - most) / temperature)
        if point < 0.0:
            return index
    return best


@compiled
def _keeps(memory, phase):
    """Return whether the last choice still holds, counting iterations as their destroy phases go by."""
    if memory[_EVERY] <= 1.0:
        return False
    if phase == 0:
        memory[_COUNT] += 1.0
        if memory[_COUNT] > memory[_EVERY]:
            memory[_COUNT] = 1.0
    return memory[_COUNT] > 1.0


def _choose_by_mlp(memory, state, phase):
    if _keeps(memory, phase):
        return np.int64(memory[_LAST + phase])
    numbers = memory.view(np.float32)
    _observe(memory, numbers, state, phase)
    weights, source = np.int64(memory[_WEIGHTS]), np.int64(memory[_ROW])
    scratch, layers = np.int64(memory[_SCRATCH]), np.int64(memory[_LAYERS])
    half = (len(numbers) - scratch) // 2
    for layer in range(layers):
        inputs, outputs = np.int64(memory[_SIZES + layer]), np.int64(memory[_SIZES + layer + 1])
        target = scratch + (layer % 2) * half
        dense(numbers, source, weights, target, inputs, outputs, layer + 1 < layers)
        weights += (inputs + 1) * outputs
        source = target
    choice = _pick(memory, numbers, source, state, phase)
    memory[_LAST + phase] = choice
    return choice


def _choose_by_gat(memory, state, phase):
    if _keeps(memory, phase):
        return np.int64(memory[_LAST + phase])
    numbers = memory.view(np.float32)
    _observe(memory, numbers, state, phase)
    nodes, width, heads = state.customers + 1, np.int64(memory[_WIDTH]), np.int64(memory[_HEADS])
    weights, source, inputs = np.int64(memory[_WEIGHTS]), np.int64(memory[_ROW]), np.int64(memory[_NODE_WIDTH])
    row_end = source + nodes * inputs
    embedded = np.int64(memory[_SCRATCH])
    mixed = embedded + nodes * width
    space = mixed + nodes * width
    for _ in range(np.int64(memory[_LAYERS])):
        if memory[_NEAREST] != 0.0:
            nearest_layer(state, numbers, source, weights, embedded, mixed, space, nodes, inputs, width, heads)
        else:
            attention_layer(state.items, numbers, source, weights, embedded, mixed, space, nodes, inputs, width, heads)
        weights += inputs * width + 3 * width
        source, inputs = mixed, width
    pooled, count = space, np.int64(memory[_GLOBALS])
    pool(numbers, mixed, pooled, nodes, width)
    for index in range(count):
        numbers[pooled + 2 * width + index] = numbers[row_end + index]
    outputs = pooled + 2 * width + count
    dense(numbers, pooled, weights, outputs, 2 * width + count, np.int64(memory[_ACTIONS]), False)
    choice = _pick(memory, numbers, outputs, state, phase)
    memory[_LAST + phase] = choice
    return choice


@cache
def _functions(attends: bool) -> tuple[Any, Any]:
    return compile_selector(_choose_by_gat if attends else _choose_by_mlp, learn_nothing)
