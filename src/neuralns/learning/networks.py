"""Q-networks: ``mlp``, ``gat`` and ``small``, each for several seeds at once.

Seeds are a batch dimension: every parameter is stacked as [seed, ...], so that one run trains all of them. An
observation is one row: node features (node after node), then global features; ``small`` sees the latter only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from neuralns.errors import InputError

NETWORKS = ("mlp", "gat", "small")
LEAK = 0.2
"""Slope of the leaky rectifier in the attention, as in the GAT paper."""


@dataclass(frozen=True)
class Shape:
    """What goes in and out of a network."""

    nodes: int
    node_features: int
    global_features: int
    actions: int

    @property
    def row(self) -> int:
        """Length of an observation."""
        return self.nodes * self.node_features + self.global_features


class StackedLinear(nn.Module):
    """y = x W + b for each seed: x is [seed, ..., inputs]."""

    def __init__(self, generators: Sequence[torch.Generator], inputs: int, outputs: int) -> None:
        super().__init__()
        bound = 1.0 / math.sqrt(inputs)
        self.weight = nn.Parameter(_drawn(generators, (inputs, outputs), bound))
        self.bias = nn.Parameter(_drawn(generators, (1, outputs), bound))

    def forward(self, x: Tensor) -> Tensor:
        rows = x.reshape(x.shape[0], -1, x.shape[-1])
        return torch.baddbmm(self.bias, rows, self.weight).view(*x.shape[:-1], self.weight.shape[-1])


class StackedAttention(nn.Module):
    """A graph attention layer (Veličković et al. 2018) for each seed, over dense graphs.

    With h_i = x_i W for each head, e_ij = leaky(a·h_j + b·h_i) over the neighbours j of i (and i itself), and α the
    softmax of e over j: y_i = Σ_j α_ij h_j + bias. Heads are concatenated.
    """

    def __init__(self, generators: Sequence[torch.Generator], inputs: int, outputs: int, heads: int) -> None:
        super().__init__()
        if heads < 1 or outputs % heads:
            raise InputError(f"{heads} heads do not divide a layer of width {outputs}.")
        self.heads = heads
        width = outputs // heads
        self.weight = nn.Parameter(_drawn(generators, (inputs, outputs), math.sqrt(6.0 / (inputs + outputs))))
        # As PyG names them: the sender's and the receiver's part of the attention vector.
        self.source = nn.Parameter(_drawn(generators, (heads, width), math.sqrt(6.0 / (heads + width))))
        self.target = nn.Parameter(_drawn(generators, (heads, width), math.sqrt(6.0 / (heads + width))))
        self.bias = nn.Parameter(torch.zeros(len(generators), outputs))

    def forward(self, x: Tensor, connected: Tensor) -> Tensor:
        """Return [seed, batch, node, outputs] for x [seed, batch, node, inputs]; ``connected`` is [.., i, j]."""
        seeds, batch, nodes, _ = x.shape
        h = torch.bmm(x.reshape(seeds, batch * nodes, -1), self.weight).view(seeds, batch, nodes, self.heads, -1)
        sends = (h * self.source[:, None, None]).sum(-1).transpose(2, 3)
        receives = (h * self.target[:, None, None]).sum(-1).transpose(2, 3)
        scores = functional.leaky_relu(receives[..., :, None] + sends[..., None, :], LEAK)
        scores = scores.masked_fill(~connected[:, :, None], -math.inf)
        attention = torch.softmax(scores, dim=-1)
        mixed = attention @ h.transpose(2, 3)
        return mixed.transpose(2, 3).reshape(seeds, batch, nodes, -1) + self.bias[:, None, None]


class MLP(nn.Module):
    """Linear layers with rectifiers between them over the whole row."""

    def __init__(self, generators: Sequence[torch.Generator], inputs: int, hidden: Sequence[int], actions: int) -> None:
        super().__init__()
        sizes = [inputs, *hidden, actions]
        self.layers = nn.ModuleList(StackedLinear(generators, a, b) for a, b in pairwise(sizes))

    def forward(self, rows: Tensor, mask: Tensor | None = None, edges: Tensor | None = None) -> Tensor:
        for number, layer in enumerate(self.layers):
            rows = layer(torch.relu(rows) if number else rows)
        return rows


class GAT(nn.Module):
    """Attention layers over the nodes, pooled by mean and maximum, with the globals into a linear head.

    With ``hidden`` widths the head has rectified layers of these before it.

    Its parameters do not depend on the number of nodes. ``edges`` (predecessor, successor and nearest nodes of each
    node) is used with graph ``nearest``; with graph ``complete`` all nodes attend to all.
    """

    def __init__(
        self, generators: Sequence[torch.Generator], shape: Shape, width: int, layers: int, heads: int, graph: str,
        hidden: Sequence[int] = (),
    ) -> None:  # fmt: skip
        super().__init__()
        self.shape, self.graph = shape, graph
        sizes = [shape.node_features, *[width] * layers]
        self.layers = nn.ModuleList(StackedAttention(generators, a, b, heads) for a, b in pairwise(sizes))
        wide = [2 * width + shape.global_features, *hidden]
        self.hidden = nn.ModuleList(StackedLinear(generators, a, b) for a, b in pairwise(wide))
        self.head = StackedLinear(generators, wide[-1], shape.actions)

    def forward(self, rows: Tensor, mask: Tensor | None = None, edges: Tensor | None = None) -> Tensor:
        """Return Q [seed, batch, action] for rows [seed, batch, row], node masks and edges [seed, batch, node, ..]."""
        split = rows.shape[-1] - self.shape.global_features
        nodes = rows[..., :split].reshape(*rows.shape[:2], -1, self.shape.node_features)
        count = nodes.shape[2]
        present = nodes.new_ones(nodes.shape[:3], dtype=torch.bool) if mask is None else mask.bool()
        own = torch.eye(count, dtype=torch.bool, device=rows.device)
        if self.graph == "nearest":
            if edges is None:
                raise InputError("a network over nearest neighbours needs edges.")
            connected = torch.zeros(*rows.shape[:2], count, count, dtype=torch.bool, device=rows.device)
            connected.scatter_(3, edges.long(), True)
        else:
            connected = present[..., None, :].expand(*rows.shape[:2], count, count)
        connected = connected | own
        for layer in self.layers:
            nodes = torch.relu(layer(nodes, connected))
        weights = present.to(nodes.dtype)[..., None]
        mean = (nodes * weights).sum(2) / weights.sum(2)
        most = nodes.masked_fill(~present[..., None], -math.inf).amax(2)
        whole = torch.cat([mean, most, rows[..., split:]], dim=-1)
        for layer in self.hidden:
            whole = torch.relu(layer(whole))
        values: Tensor = self.head(whole)
        return values


def make_network(name: str, shape: Shape, seeds: Sequence[int], options: dict[str, Any]) -> MLP | GAT:
    """Return a network with the parameters of several seeds; those of a seed do not depend on the others."""
    generators = [torch.Generator().manual_seed(int(seed)) for seed in seeds]
    if name == "gat":
        return GAT(generators, shape, **options)
    if name in ("mlp", "small"):
        inputs = shape.row if name == "mlp" else shape.global_features
        return MLP(generators, inputs, options["hidden"], shape.actions)
    raise InputError(f"network {name!r} is not known; choose {', '.join(NETWORKS)}.")


def _drawn(generators: Sequence[torch.Generator], shape: tuple[int, ...], bound: float) -> Tensor:
    """Return uniform numbers from −bound to bound, one block for each seed."""
    return torch.stack([(2.0 * torch.rand(shape, generator=generator) - 1.0) * bound for generator in generators])
