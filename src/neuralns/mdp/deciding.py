"""How long decisions take."""

from __future__ import annotations

import time
from functools import cache
from typing import Any

import numpy as np
from numba import types

from neuralns.compiled.caching import compile_for
from neuralns.compiled.calls import address_of
from neuralns.mdp.lanes import Lanes
from neuralns.mdp.mdp import MDP, episode_seeds
from neuralns.routes.layout import state_at
from neuralns.selection.selector import DESTROY, Selector, call_choose, memory_at, new_memory_of

_timing_signature = types.void(
    types.Array(types.int64, 1, "C"), types.int64, types.Array(types.int64, 1, "C"), types.int64
)


def _decide(addresses, choose, memories, repeats):
    for _ in range(repeats):
        for lane in range(len(addresses)):
            call_choose(choose, (memory_at(memories[lane]), state_at(addresses[lane]), DESTROY))


@cache
def _compiled_decide() -> Any:
    return compile_for(_timing_signature, _decide)


def decision_time(mdp: MDP, selector: Selector, repeats: int = 3) -> float:
    """Return the mean time in seconds that a selector takes to choose a destroy operator, over its own episodes.

    Processor time, so that other work on the machine counts for little; the episodes start from training tours.
    """
    episodes = 32
    lanes = Lanes([mdp] * episodes, observes_nodes=False)
    lanes.reset(mdp.start_tours("train", episodes), episode_seeds(0, episodes, "decision time"), observe=False)
    choose, _ = selector.functions()
    memories = [new_memory_of(selector, mdp.portfolio, mdp.instance.customers, mdp.instance) for _ in range(episodes)]
    decide, address = _compiled_decide(), address_of(choose)
    places = np.array([memory.address for memory in memories], np.int64)
    states = np.array([lanes.state(lane).address for lane in range(episodes)], np.int64)
    spent, chosen = 0.0, np.zeros(episodes, np.int64)
    while not lanes.done:
        phase = int(lanes.phases[0])
        if phase == DESTROY:
            begin = time.process_time()
            decide(states, address, places, repeats)
            spent += time.process_time() - begin
        for lane in range(episodes):
            chosen[lane] = choose(memories[lane], lanes.state(lane), phase) + phase * len(mdp.portfolio.destroys)
        lanes.step(chosen, observe=False)
    return spent / (repeats * episodes * mdp.budget)
