"""Where episodes of training start: random tours, savings, or solutions met by searches at all stages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from neuralns.errors import InputError
from neuralns.learning.training import Task
from neuralns.mdp.lanes import Lanes
from neuralns.mdp.mdp import MDP, SET_SIZE, named_seed
from neuralns.problem.solution import Solution
from neuralns.search.search import Search
from neuralns.search.setup import initial_solution, make_setup, prepare
from neuralns.search.stopping import MaxIterations
from neuralns.search.supervision import Supervised

STARTS = ("random", "savings", "search")
RUNS = 8
"""Searches whose solutions make up a set of starts."""
ITERATIONS_PER_CUSTOMER = 200
"""Length of these searches."""
BEYOND = 32
"""Validation tours of each MDP that is not learned on."""
SHAKES = 10
"""Most pairs of operators, drawn uniformly, that shake a savings solution."""


def starting_tours(mdp: MDP, start: str, name: str, count: int) -> list[Solution]:
    """Return the first tours of the set ``train``, ``validate`` or ``test`` for a way of starting.

    ``random``: the MDP's random tours. ``savings``: the savings solution after one to ten random pairs of operators.
    ``search``: the current solutions of ALNS runs from savings, evenly spread over the runs. With windows an insertion
    takes the place of savings, as in `neuralns.solve`.
    """
    if start == "random":
        return mdp.start_tours(name, count)
    if start == "savings":
        return _shaken(mdp, name, count)
    if start == "search":
        return _met(mdp, name, count)
    raise InputError(f"start {start!r} is not known; choose {', '.join(STARTS)}.")


def make_tasks(
    mdps: Sequence[MDP],
    seeds: Sequence[int],
    start: str,
    tours: int,
    say: Callable[[str], object] = lambda text: None,
    beyond: Sequence[MDP] = (),
) -> list[Task]:
    """Return one task for each seed, all on the same MDPs and the same tours; ``say`` is told what takes time."""
    share = -(-SET_SIZE // len(mdps))
    train, validate = [], []
    for number, mdp in enumerate(mdps, 1):
        if start in ("savings", "search"):
            say(f"gathering starts by {start} on {mdp.instance.name} ({number} of {len(mdps)}) ...")
        train.append(tuple(starting_tours(mdp, start, "train", max(1, -(-tours // len(mdps))))))
        validate.append(tuple(starting_tours(mdp, start, "validate", share)))
    others = tuple((mdp, tuple(starting_tours(mdp, start, "validate", BEYOND))) for mdp in beyond)
    return [Task(tuple(mdps), tuple(train), tuple(validate), seed, others) for seed in seeds]


def _shaken(mdp: MDP, name: str, count: int) -> list[Solution]:
    first = initial_solution(mdp.instance, "savings")
    rng = np.random.default_rng(named_seed("savings", name, mdp.instance.name))
    lanes = Lanes([mdp] * count, observes_nodes=False)
    lanes.reset([first] * count, rng.integers(0, 2**63, count).astype(np.uint64))
    wanted = rng.integers(1, min(SHAKES, mdp.budget) + 1, count)
    found: list[Solution] = [first] * count
    for pair in range(1, int(wanted.max(initial=0)) + 1):
        for _ in range(2):
            noise = rng.random(lanes.action_mask.shape) + 1.0
            lanes.step((noise * lanes.action_mask).argmax(axis=1))
        for lane in np.flatnonzero(wanted == pair):
            found[lane] = lanes.solution(int(lane))
    return found


def _met(mdp: MDP, name: str, count: int) -> list[Solution]:
    iterations = ITERATIONS_PER_CUSTOMER * mdp.instance.customers
    setup = make_setup(mdp.instance, MaxIterations(iterations), portfolio=mdp.portfolio)
    prepare(setup.portfolio, setup.selector, setup.acceptance, setup.stop, setup.instance)
    found = []
    runs = min(RUNS, count)
    for run in range(runs):
        seed = named_seed("search", name, mdp.instance.name, run)
        wanted = len(range(run, count, runs))
        with Supervised(partial(Search, setup, seed, 0.0)) as supervised:
            search = supervised.search
            for number in range(wanted):
                goal = round(iterations * (number + 1) / wanted)
                while search.iteration < goal:
                    supervised.advance(goal - search.iteration)
                found.append(search.current())
    return found
