"""Q-networks: seeds stacked but apart, and graph attention as its authors define it."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from neuralns import InputError
from neuralns.learning.networks import GAT, MLP, NETWORKS, Shape, StackedAttention, StackedLinear, make_network

SHAPE = Shape(nodes=6, node_features=4, global_features=3, actions=5)
OPTIONS: dict[str, dict[str, Any]] = {
    "mlp": {"hidden": (8, 7)},
    "small": {"hidden": (8,)},
    "gat": {"width": 8, "layers": 2, "heads": 2, "graph": "complete"},
}


def network(kind: str, *seeds: int, shape: Shape = SHAPE, **options: Any) -> MLP | GAT:
    return make_network(kind, shape, seeds, {**OPTIONS[kind], **options})


def rows_for(kind: str, seeds: int, batch: int = 4, shape: Shape = SHAPE) -> Tensor:
    length = shape.global_features if kind == "small" else shape.row
    return torch.randn(seeds, batch, length, generator=torch.Generator().manual_seed(5))


def random_edges(seeds: int, batch: int, nodes: int, count: int = 3) -> Tensor:
    return torch.randint(nodes, (seeds, batch, nodes, count), generator=torch.Generator().manual_seed(6))


def generators(*seeds: int) -> list[torch.Generator]:
    return [torch.Generator().manual_seed(seed) for seed in seeds]


@pytest.mark.parametrize("kind", NETWORKS)
def test_a_value_for_each_seed_row_and_action(kind: str) -> None:
    values = network(kind, 1, 2, 3)(rows_for(kind, 3))
    assert values.shape == (3, 4, 5)
    assert values.isfinite().all()


@pytest.mark.parametrize("kind", NETWORKS)
def test_the_parameters_of_a_seed_do_not_depend_on_the_others(kind: str) -> None:
    stacked, alone = network(kind, 3, 1, 4).state_dict(), network(kind, 4).state_dict()
    assert stacked.keys() == alone.keys()
    for name, values in alone.items():
        assert torch.equal(stacked[name][2], values[0])
    weights = [name for name in alone if name.endswith("weight")]
    assert not any(torch.equal(stacked[name][0], stacked[name][2]) for name in weights)


@pytest.mark.parametrize("kind", NETWORKS)
def test_each_seed_computes_what_its_network_alone_does(kind: str) -> None:
    rows = rows_for(kind, 3)
    together = network(kind, 7, 8, 9)(rows)
    for place, seed in enumerate((7, 8, 9)):
        alone = network(kind, seed)(rows[place : place + 1])
        torch.testing.assert_close(together[place], alone[0], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", NETWORKS)
def test_the_loss_of_one_seed_leaves_the_others_alone(kind: str) -> None:
    found = network(kind, 1, 2)
    found(rows_for(kind, 2))[0].square().sum().backward()
    for parameter in found.parameters():
        assert parameter.grad is not None
        assert parameter.grad[0].abs().sum() > 0
        assert not parameter.grad[1].any()


def test_small_sees_the_whole_only_and_mlp_every_node() -> None:
    small, mlp = network("small", 1), network("mlp", 1)
    assert small.state_dict()["layers.0.weight"].shape == (1, 3, 8)
    assert mlp.state_dict()["layers.0.weight"].shape == (1, 6 * 4 + 3, 8)


def test_an_mlp_is_linear_layers_with_rectifiers_between_them() -> None:
    found, rows = network("mlp", 1), rows_for("mlp", 1)
    numbers = {name: values[0].double() for name, values in found.state_dict().items()}
    values = rows[0].double()
    for layer in range(3):
        values = values @ numbers[f"layers.{layer}.weight"] + numbers[f"layers.{layer}.bias"]
        values = values.clamp(min=0) if layer < 2 else values
    torch.testing.assert_close(found(rows)[0].double(), values, rtol=1e-5, atol=1e-6)


def test_parameters_begin_within_the_usual_bounds() -> None:
    layer = StackedLinear(generators(1), 100, 50)
    assert layer.weight.abs().max() <= 0.1
    assert layer.weight.abs().max() > 0.09
    assert abs(float(layer.weight.detach().mean())) < 0.005


# --- Graph attention. ------------------------------------------------------------------------------------------------


def test_the_parameters_of_gat_do_not_depend_on_the_number_of_nodes() -> None:
    few, many = (network("gat", 1, shape=Shape(nodes, 4, 3, 5)).state_dict() for nodes in (6, 60))
    assert all(torch.equal(values, many[name]) for name, values in few.items())


@pytest.mark.parametrize("graph", ["complete", "nearest"])
def test_padded_nodes_change_nothing(graph: str) -> None:
    seeds, batch, nodes, more = 2, 3, SHAPE.nodes, 4
    rows, edges = rows_for("gat", seeds, batch), random_edges(seeds, batch, nodes)
    split = nodes * SHAPE.node_features
    noise = 100 * torch.randn(seeds, batch, more * SHAPE.node_features)
    padded_rows = torch.cat([rows[..., :split], noise, rows[..., split:]], dim=-1)
    own = torch.arange(nodes, nodes + more)[:, None].expand(seeds, batch, more, edges.shape[-1])
    padded_edges = torch.cat([edges, own], dim=2)
    mask = torch.tensor([1] * nodes + [0] * more, dtype=torch.int8).expand(seeds, batch, -1)
    found = network("gat", 1, 2, graph=graph)
    plain, padded = found(rows, None, edges), found(padded_rows, mask, padded_edges)
    torch.testing.assert_close(padded, plain, rtol=1e-5, atol=1e-6)
    # Without the mask they would.
    assert not torch.allclose(found(padded_rows, None, padded_edges), plain, rtol=1e-2)


def test_gat_does_not_see_the_order_of_the_nodes() -> None:
    rows, order = rows_for("gat", 1), torch.tensor([3, 0, 5, 1, 4, 2])
    split = SHAPE.nodes * SHAPE.node_features
    nodes = rows[..., :split].view(1, 4, SHAPE.nodes, SHAPE.node_features)[:, :, order]
    shuffled = torch.cat([nodes.reshape(1, 4, -1), rows[..., split:]], dim=-1)
    found = network("gat", 1)
    torch.testing.assert_close(found(shuffled), found(rows), rtol=1e-5, atol=1e-6)


def test_gat_pools_by_mean_and_maximum_and_sees_the_whole() -> None:
    found, rows = network("gat", 1), rows_for("gat", 1, batch=1)
    assert isinstance(found, GAT)
    nodes = rows[..., : 6 * 4].view(1, 1, 6, 4)
    for layer in found.layers:
        nodes = torch.relu(layer(nodes, torch.ones(1, 1, 6, 6, dtype=torch.bool)))
    pooled = torch.cat([nodes[0, 0].mean(0), nodes[0, 0].amax(0), rows[0, 0, 24:]])
    expected = pooled @ found.head.weight[0] + found.head.bias[0, 0]
    torch.testing.assert_close(found(rows)[0, 0], expected, rtol=1e-5, atol=1e-6)


def drawn_layer(heads: int) -> StackedAttention:
    """An attention layer from 4 to 8 numbers for two seeds, with a bias that is not 0."""
    layer = StackedAttention(generators(11, 12), 4, 8, heads)
    with torch.no_grad():
        layer.bias.copy_(torch.randn(2, 8, generator=torch.Generator().manual_seed(13)))
    return layer


def nodes_and_graph(graph: str, nodes: int = 7) -> tuple[Tensor, Tensor]:
    """Nodes [2, 3, node, 4] and which of them attend to which."""
    x = torch.randn(2, 3, nodes, 4, generator=torch.Generator().manual_seed(14))
    if graph == "complete":
        return x, torch.ones(2, 3, nodes, nodes, dtype=torch.bool)
    connected = torch.zeros(2, 3, nodes, nodes, dtype=torch.bool)
    connected.scatter_(3, random_edges(2, 3, nodes), True)
    return x, connected | torch.eye(nodes, dtype=torch.bool)


def attention_by_loops(layer: StackedAttention, seed: int, x: Tensor, connected: Tensor) -> list[list[float]]:
    """Formula (3) and (4) of Veličković et al. 2018, one pair of nodes at a time, in plain Python."""
    nodes, heads = len(x), layer.heads
    weight, bias = layer.weight[seed].tolist(), layer.bias[seed].tolist()
    source, target = layer.source[seed].tolist(), layer.target[seed].tolist()
    wide = len(bias)
    part = wide // heads
    h = [[sum(a * weight[k][j] for k, a in enumerate(row)) for j in range(wide)] for row in x.tolist()]
    found = [[0.0] * wide for _ in range(nodes)]
    for head in range(heads):
        columns = range(head * part, (head + 1) * part)
        for i in range(nodes):
            shares = {}
            for j in range(nodes):
                if connected[i, j]:
                    e = sum(source[head][c - head * part] * h[j][c] for c in columns)
                    e += sum(target[head][c - head * part] * h[i][c] for c in columns)
                    shares[j] = math.exp(e if e > 0 else 0.2 * e)
            total = sum(shares.values())
            for c in columns:
                found[i][c] = sum(share / total * h[j][c] for j, share in shares.items()) + bias[c]
    return found


@pytest.mark.parametrize("heads", [1, 4])
@pytest.mark.parametrize("graph", ["complete", "nearest"])
def test_attention_is_what_the_formula_says(graph: str, heads: int) -> None:
    layer, (x, connected) = drawn_layer(heads), nodes_and_graph(graph)
    found = layer(x, connected)
    for seed in range(2):
        for row in range(3):
            expected = attention_by_loops(layer, seed, x[seed, row], connected[seed, row])
            torch.testing.assert_close(found[seed, row], torch.tensor(expected), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("heads", [1, 4])
@pytest.mark.parametrize("graph", ["complete", "nearest"])
@pytest.mark.filterwarnings("default")
def test_attention_is_that_of_pyg(graph: str, heads: int) -> None:
    pyg = pytest.importorskip("torch_geometric.nn")
    layer, (x, connected) = drawn_layer(heads), nodes_and_graph(graph)
    found = layer(x, connected)
    for seed in range(2):
        convolution = pyg.GATConv(4, 8 // heads, heads=heads, concat=True, negative_slope=0.2, add_self_loops=True)
        with torch.no_grad():
            convolution.lin.weight.copy_(layer.weight[seed].T)
            convolution.att_src.copy_(layer.source[seed][None])
            convolution.att_dst.copy_(layer.target[seed][None])
            convolution.bias.copy_(layer.bias[seed])
        for row in range(3):
            receivers, senders = connected[seed, row].nonzero(as_tuple=True)
            expected = convolution(x[seed, row], torch.stack([senders, receivers]))
            torch.testing.assert_close(found[seed, row], expected, rtol=1e-5, atol=1e-5)


def test_attention_to_one_neighbour_gives_that_neighbour() -> None:
    layer, (x, _) = drawn_layer(1), nodes_and_graph("complete")
    to_the_third = torch.zeros(2, 3, 7, 7, dtype=torch.bool)
    to_the_third[..., 3] = True
    found = layer(x, to_the_third)
    expected = torch.bmm(x[:, :, 3], layer.weight) + layer.bias[:, None]
    torch.testing.assert_close(found, expected[:, :, None].expand_as(found), rtol=1e-5, atol=1e-5)


def test_the_edges_of_gat_are_what_a_node_attends_to() -> None:
    # With one layer and all edges to node 2, every other node sees itself and node 2 alone: node 5 does not matter to
    # them, but itself is pooled; so only the layer's own rows are compared.
    found, rows = network("gat", 1, layers=1, graph="nearest"), rows_for("gat", 1, batch=1)
    edges = torch.full((1, 1, 6, 3), 2)
    seen: list[Tensor] = []
    assert isinstance(found, GAT)
    found.layers[0].register_forward_hook(lambda module, given, output: seen.append(output))
    for change in (0.0, 1.0):
        rows[0, 0, 5 * 4 : 6 * 4] += change
        found(rows, None, edges)
    assert torch.equal(seen[0][0, 0, :5], seen[1][0, 0, :5])
    assert not torch.allclose(seen[0][0, 0, 5], seen[1][0, 0, 5])


@pytest.mark.parametrize("heads", [3, 0, -1, 16])
def test_heads_that_do_not_divide_the_width_are_refused(heads: int) -> None:
    with pytest.raises(InputError, match=rf"^{heads} heads do not divide a layer of width 8\.$"):
        network("gat", 1, heads=heads)


def test_a_graph_of_neighbours_needs_edges() -> None:
    with pytest.raises(InputError, match=r"^a network over nearest neighbours needs edges\.$"):
        network("gat", 1, graph="nearest")(rows_for("gat", 1))


def test_an_unknown_network_is_refused() -> None:
    with pytest.raises(InputError, match=r"^network 'oracle' is not known; choose mlp, gat, small\.$"):
        make_network("oracle", SHAPE, [1], {})
