"""Policies for tests, made without training."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from neuralns import portfolio_named
from neuralns.selection.features import RICH
from neuralns.selection.learned_roulette import LearnedRoulette
from neuralns.selection.policy_file import Policy


def constant_policy(
    portfolio: str, values: Sequence[float], network: str = "small", customers: int = 20, **entries: Any
) -> Policy:
    """A network of one layer whose Q-values are the same in every state, with more entries for its card."""
    chosen = portfolio_named(portfolio)
    nodes = customers + 1
    inputs = len(RICH.globals) + (nodes * len(RICH.nodes) if network == "mlp" else 0)
    card = {
        "network": network,
        "features": {"name": RICH.name, "version": RICH.version},
        "operators": {
            "destroy": [entry.name for entry in chosen.destroys],
            "repair": [entry.name for entry in chosen.repairs],
        },
        "nodes": nodes,
        **entries,
    }
    tensors = {
        "layers.0.weight": np.zeros((inputs, len(values)), np.float32),
        "layers.0.bias": np.array([values], np.float32),
    }
    return Policy(card, tensors)


def wheel_policy(portfolio: str, weights: Sequence[float]) -> Policy:
    """A learned roulette wheel with these weights."""
    chosen = portfolio_named(portfolio)
    return LearnedRoulette(chosen.names, tuple(weights)).policy(chosen)
