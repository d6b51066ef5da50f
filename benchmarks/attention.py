"""How far does a network go that sees every route, but simulates nothing? Attention over the customers and their arcs.

    python benchmarks/attention.py runs.csv --device cuda --workers 15

Cells of the paper's Table 1 in setting ``paper``, 20 customers. As in `neuralns.learning.labelled`, the network learns
what each pair gains more than the others (one round of policy improvement on the best fixed pair), and leaves the
base's pair only by a margin that is chosen on the validation tours. States of the next cell are labelled by processes
while a network learns. Rows are written as they come, and those that are there are not done again.
"""

from __future__ import annotations

import argparse
import csv
import math
import time
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from neuralns.mdp.labels import label_states, plan_probes
from neuralns.mdp.lanes import Lanes
from neuralns.mdp.mdp import MDP, episode_seeds, make_mdp
from neuralns.selection.features import RICH
from neuralns.selection.look_ahead import Probes

Floats = npt.NDArray[np.float32]

INSTANCES = ("C", "R", "RC")
DESTROYS = (12, 8, 4, 10, 6, 2, 11, 9, 7, 5, 3)
CUSTOMERS, SCALE = 20, 4
NODES, NODE_WIDTH, GLOBALS = CUSTOMERS + 1, len(RICH.nodes), len(RICH.globals)
PART = 20_000
"""States that a process labels at a time."""
MARGINS = (0.0, 0.05, 0.1, 0.2, 0.4, 1.0)
FIELDS = (
    "instance", "destroys", "seed", "states", "epochs", "batch", "width", "layers", "explained", "margin", "validation",
    "test", "seconds",
)  # fmt: skip


@dataclass(frozen=True)
class Choices:
    """How a network is made and trained."""

    states: int
    epochs: int
    batch: int
    width: int
    layers: int
    seed: int
    device: str


def mdp_of(instance: str, destroys: int) -> MDP:
    """Return the MDP of a cell."""
    portfolio = f"paper-{destroys}"
    return make_mdp(f"{instance}101", customers=CUSTOMERS, setting="paper", portfolio=portfolio, scale=SCALE)


def see(lanes: Lanes) -> Floats:
    """Return features of the nodes and of the whole, then the predecessor and successor of each node, of all lanes."""
    arcs = np.zeros((len(lanes), NODES, 2), np.int32)
    lanes.tour_edges(arcs)
    parts = lanes.node_features, lanes.global_features, arcs
    return np.concatenate([part.reshape(len(lanes), -1).astype(np.float32) for part in parts], axis=1)


def label_part(instance: str, destroys: int, count: int, seed: int) -> tuple[npt.NDArray[np.float16], Floats, int]:
    """Return labelled states, and the pair that the base uses."""
    mdp = mdp_of(instance, destroys)
    base, _ = plan_probes(mdp)
    made = label_states(mdp, base, Probes(budget=mdp.budget), count, seed, RICH, see)
    return made.rows.astype(np.float16), made.labels, base.pairs[0]


class Block(nn.Module):
    """Attention in which arcs, routes and distances bias each head, then a dense part."""

    def __init__(self, width: int, heads: int, relations: int) -> None:
        super().__init__()
        self.heads = heads
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.mixed, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.bias = nn.Linear(relations, heads)
        self.dense = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, tokens: Tensor, relations: Tensor) -> Tensor:
        batch, count, width = tokens.shape
        parts = self.mixed(self.first(tokens)).view(batch, count, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        bias = self.bias(relations).permute(0, 3, 1, 2)
        found = functional.scaled_dot_product_attention(parts[0], parts[1], parts[2], attn_mask=bias.to(parts.dtype))
        tokens = tokens + self.out(found.transpose(1, 2).reshape(batch, count, width))
        return tokens + self.dense(self.second(tokens))  # type: ignore[no-any-return]


class Network(nn.Module):
    """Attention over the nodes and a token of the whole, which has an output for every pair of operators."""

    def __init__(self, mdp: MDP, pairs: int, width: int, layers: int, heads: int = 8) -> None:
        super().__init__()
        self.names = nn.Embedding(NODES, width)
        self.nodes, self.whole = nn.Linear(NODE_WIDTH, width), nn.Linear(GLOBALS, width)
        self.blocks = nn.ModuleList(Block(width, heads, 5) for _ in range(layers))
        self.out = nn.Sequential(
            nn.LayerNorm(2 * width), nn.Linear(2 * width, width), nn.GELU(), nn.Linear(width, pairs)
        )
        every = np.arange(NODES)
        legs = mdp.instance.legs(np.repeat(every, NODES), np.tile(every, NODES)).reshape(NODES, NODES)
        self.register_buffer("legs", torch.from_numpy(legs / legs[0, 1:].mean()).float())

    def forward(self, rows: Tensor) -> Tensor:
        nodes, whole, arcs = torch.split(rows, [NODES * NODE_WIDTH, GLOBALS, 2 * NODES], dim=1)
        arcs = arcs.view(-1, NODES, 2).long()
        before, after = (functional.one_hot(arcs[:, :, side], NODES).float() for side in range(2))
        # The depot joins no routes: those of customers are what arcs between customers connect.
        within = before.clone()
        within[:, :, 0] = 0.0
        within = ((within + within.transpose(1, 2) + torch.eye(NODES, device=rows.device)) > 0).float()
        for _ in range(5):
            within = (within @ within > 0).float()
        legs = self.legs.expand_as(within)  # type: ignore[operator]
        relations = torch.stack([before, after, within, legs, within * legs], dim=3)
        relations = functional.pad(relations, (0, 0, 0, 1, 0, 1))
        tokens = self.nodes(nodes.view(-1, NODES, NODE_WIDTH)) + self.names.weight
        tokens = torch.cat([tokens, self.whole(whole)[:, None]], dim=1)
        for block in self.blocks:
            tokens = block(tokens, relations)
        return self.out(torch.cat([tokens[:, -1], tokens[:, :-1].mean(1)], dim=1))  # type: ignore[no-any-return]


class Fitted:
    """A network with what its inputs and outputs are counted in."""

    def __init__(self, network: Network, mean: Tensor, spread: Tensor, base: int) -> None:
        self.network, self.mean, self.spread, self.base = network, mean, spread, base

    def play(self, mdp: MDP, tours: str, seeds: int, margin: float) -> float:
        """Return the mean reward on start tours."""
        starts = mdp.start_tours(tours)
        lanes = Lanes([mdp] * (seeds * len(starts)), RICH)
        noise = np.concatenate([episode_seeds(seed, len(starts)) for seed in range(seeds)])
        lanes.reset(starts * seeds, noise)
        destroys, repairs = len(mdp.portfolio.destroys), len(mdp.portfolio.repairs)
        while not lanes.done:
            rows = torch.from_numpy(see(lanes)).to(self.mean.device)
            with torch.no_grad():
                values = self.network((rows - self.mean) / self.spread).float()
            values[:, self.base] += margin
            pair = values.argmax(1).cpu().numpy()
            lanes.step(pair // repairs)
            lanes.step(destroys + pair % repairs)
        return float((lanes.start_costs - lanes.costs).mean())


def fit(mdp: MDP, rows: npt.NDArray[np.float16], labels: Floats, base: int, given: Choices) -> tuple[Fitted, float]:
    """Fit a network; return it, and the share of the labels' variance that it explains on a part left out."""
    device, batch = given.device, given.batch
    torch.manual_seed(given.seed)
    x, y = torch.from_numpy(rows).to(device), torch.from_numpy(labels - labels.mean(1, keepdims=True)).to(device)
    y = y / y.std()
    numbers = NODES * NODE_WIDTH + GLOBALS
    mean, spread = torch.zeros(x.shape[1], device=device), torch.ones(x.shape[1], device=device)
    some = x[:50_000, :numbers].float()
    mean[:numbers], spread[:numbers] = some.mean(0), some.std(0) + 0.01
    network = Network(mdp, y.shape[1], given.width, given.layers).to(device)
    held = len(x) // 20
    steps = given.epochs * ((len(x) - held) // batch)
    optimiser = torch.optim.AdamW(network.parameters(), 0.0006, weight_decay=0.01)
    course = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min(1.0, step / 200) * 0.5 * (1.0 + math.cos(math.pi * step / steps))
    )

    def values(part: Tensor) -> Tensor:
        with torch.autocast(device.split(":")[0], torch.bfloat16, enabled=device != "cpu"):
            return network((part.float() - mean) / spread).float()  # type: ignore[no-any-return]

    for _ in range(given.epochs):
        order = torch.randperm(len(x) - held, device=device) + held
        for low in range(0, len(order) - batch + 1, batch):
            chosen = order[low : low + batch]
            loss = functional.mse_loss(values(x[chosen]), y[chosen])
            optimiser.zero_grad(set_to_none=True)
            torch.autograd.backward(loss)
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimiser.step()
            course.step()
    network.eval()
    with torch.no_grad():
        parts = range(0, held, batch)
        error = sum(
            float(((values(x[low : min(held, low + batch)]) - y[low : min(held, low + batch)]) ** 2).sum())
            for low in parts
        )
    return Fitted(network, mean, spread, base), 1.0 - error / float((y[:held] ** 2).sum())


def work(output: Path, cells: Sequence[tuple[str, int]], given: Choices, workers: int, minutes: float) -> None:
    """Do the cells that a file lacks: label, train, play the test tours; none is begun after some minutes."""
    asked = {name: str(getattr(given, name)) for name in ("seed", "states", "epochs", "batch", "width", "layers")}
    done = set()
    if output.exists():
        with open(output, newline="") as file:
            rows = [row for row in csv.DictReader(file) if all(row[name] == value for name, value in asked.items())]
        done = {(row["instance"], int(row["destroys"])) for row in rows}
    else:
        output.write_text(",".join(FIELDS) + "\n")
    left = [cell for cell in cells if cell not in done]
    if not left:
        return
    # Compiles what is compiled once.
    label_part(*left[0], 8, 0)
    begin = time.time()
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:

        def labels_of(cell: tuple[str, int]) -> list[Future[Any]]:
            counts = [min(PART, given.states - low) for low in range(0, given.states, PART)]
            first = 1000 * (1 + given.seed)
            return [pool.submit(label_part, *cell, count, first + part) for part, count in enumerate(counts)]

        following = labels_of(left[0])
        for number, cell in enumerate(left):
            parts = [each.result() for each in following]
            if time.time() - begin > 60 * minutes:
                return
            following = labels_of(left[number + 1]) if number + 1 < len(left) else []
            row = dict(zip(("instance", "destroys"), cell, strict=True)) | asked | trained(cell, parts, given)
            with open(output, "a", newline="") as file:
                csv.DictWriter(file, FIELDS, lineterminator="\n").writerow(row)
            print(row, flush=True)


def trained(cell: tuple[str, int], parts: Sequence[tuple[Any, Any, int]], given: Choices) -> dict[str, Any]:
    """Train a network on labelled states; return how it does on the test tours."""
    begin, mdp = time.time(), mdp_of(*cell)
    rows, labels = (np.concatenate([part[place] for part in parts]) for place in range(2))
    fitted, explained = fit(mdp, rows, labels, parts[0][2], given)
    seconds = time.time() - begin
    scores = {margin: fitted.play(mdp, "validate", 2, margin) for margin in MARGINS}
    margin = max(scores, key=scores.__getitem__)
    return {
        "explained": round(explained, 3),
        "margin": margin,
        "validation": round(scores[margin], 1),
        "test": round(fitted.play(mdp, "test", 10, margin), 1),
        "seconds": round(seconds),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("file", type=Path)
    parser.add_argument("--instances", default=",".join(INSTANCES))
    parser.add_argument("--destroys", default=",".join(map(str, DESTROYS)))
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=math.inf)
    for name, value in (
        ("states", 400_000),
        ("epochs", 8),
        ("batch", 2048),
        ("width", 128),
        ("layers", 5),
        ("seed", 0),
    ):
        parser.add_argument(f"--{name}", type=int, default=value)
    given = vars(parser.parse_args())
    cells = [
        (instance, int(destroys))
        for destroys in given["destroys"].split(",")
        for instance in given["instances"].split(",")
    ]
    choices = Choices(**{name: given[name] for name in Choices.__dataclass_fields__})
    work(given["file"], cells, choices, given["workers"], given["minutes"])


if __name__ == "__main__":
    main()
