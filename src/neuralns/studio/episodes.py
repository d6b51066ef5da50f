"""One episode of the paper's MDP, step by step: what was removed, by which operators, and what the policy thought."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np

from neuralns.errors import InputError
from neuralns.mdp.lanes import Lanes
from neuralns.mdp.mdp import episode_seeds, make_mdp
from neuralns.problem.bundled import bundled, bundled_names
from neuralns.problem.solution import Solution
from neuralns.selection.look_ahead import policy_selector
from neuralns.selection.policy import NETWORKS
from neuralns.selection.policy_file import bundled_policies, read_policy
from neuralns.selection.selector import DESTROY, new_memory_of
from neuralns.studio.describe import number

CUSTOMERS = 20
MOST_CUSTOMERS, MOST_PAIRS = 100, 50


@cache
def episode_policies() -> tuple[str, ...]:
    """Return the bundled policies that play episodes; others steer searches only."""
    return tuple(name for name in bundled_policies() if read_policy(name).network in NETWORKS)


def play_episode(policy: str, instance: str, seed: int, customers: int = CUSTOMERS, budget: int = 10) -> str:
    """Return an episode of a bundled policy on the first customers of a bundled instance, as JSON.

    The policy is greedy; the setting, the portfolio and the destroy scale are those that it was trained with.
    """
    if policy not in episode_policies():
        raise InputError(f"policy {policy!r:.60} is not known; choose {', '.join(episode_policies())}.")
    if instance not in bundled_names():
        raise InputError(f"instance {instance!r:.60} is not the name of a bundled instance.")
    for name, value, most in (("customers", customers, MOST_CUSTOMERS), ("budget", budget, MOST_PAIRS)):
        if not 1 <= value <= most:
            raise InputError(f"{name} {value} must be from 1 to {most}.")
    found = read_policy(policy)
    selector = policy_selector(found, 0.0, policy)
    setting = str(found.card.get("setting") or "paper")
    mdp = make_mdp(
        bundled(instance),
        customers=customers,
        setting=setting,
        portfolio=[*found.destroys, *found.repairs],
        scale=selector.made_with() if customers == CUSTOMERS else None,
        budget=budget,
    )
    lanes = Lanes([mdp], observes_nodes=False)
    lanes.reset(mdp.start_tours("test")[seed % 100 : seed % 100 + 1], episode_seeds(seed, 1), observe=False)
    choose, _ = selector.functions()
    memory = new_memory_of(selector, mdp.portfolio, mdp.instance.customers, mdp.instance)
    destroys = len(mdp.portfolio.destroys)
    steps: list[dict[str, Any]] = []
    while not lanes.done:
        before, start = lanes.solution(0), float(lanes.costs[0])
        names: dict[str, str] = {}
        values: dict[str, dict[str, float | None]] = {}
        between: Solution | None = None
        for phase in ("destroy", "repair"):
            at = int(lanes.phases[0])
            action = int(choose(memory, lanes.state(0), at)) + at * destroys
            known = selector.values(memory, mdp.instance.customers)
            own = slice(0, destroys) if at == DESTROY else slice(destroys, None)
            values[phase] = {
                name: number(value) for name, value in zip(mdp.portfolio.actions[own], known[own], strict=True)
            }
            names[phase] = mdp.portfolio.actions[action]
            lanes.step(np.array([action]), observe=False)
            between = lanes.solution(0) if phase == "destroy" else between
        assert between is not None
        gone = {node for route in before.routes for node in route} - {
            node for route in between.routes for node in route
        }
        after = lanes.solution(0)
        steps.append(
            {
                "before": [list(route) for route in before.routes],
                "removed": sorted(gone),
                **names,
                "q": values,
                "after": [list(route) for route in after.routes],
                "cost_before": number(start),
                "cost_after": number(float(lanes.costs[0])),
                "reward": number(float(lanes.rewards[0])),
            }
        )
    problem = mdp.instance
    return json.dumps(
        {
            "policy": policy,
            "instance": problem.name,
            "setting": setting,
            "customers": problem.customers,
            "nodes": [[number(x), number(y)] for x, y in problem.points.tolist()],
            "portfolio": {
                "destroy": [entry.name for entry in mdp.portfolio.destroys],
                "repair": [entry.name for entry in mdp.portfolio.repairs],
            },
            "budget": budget,
            "scale": mdp.scale,
            "reward": number(float(lanes.start_costs[0] - lanes.costs[0])),
            "steps": steps,
        },
        allow_nan=False,
    )
