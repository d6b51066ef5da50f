"""One application of a pair of operators, which steps, simulations and start solutions share."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

import neuralns
from neuralns import Always, Instance, generate_of, read
from neuralns.operators.construction import build
from neuralns.operators.contract import BAD_DESTROY_CHOICE, BAD_REPAIR_CHOICE, FINE
from neuralns.operators.pair import keep_pair
from neuralns.operators.portfolio import make_portfolio
from neuralns.problem.generate.variants import Variant
from neuralns.routes.transfer import new_state, routes_of
from neuralns.search.step import begin_step, end_step

PORTFOLIO = make_portfolio("own", ["random-node", "string", "greedy", "regret-2"])
PACKAGE = Path(neuralns.__file__).parent


@pytest.mark.parametrize("variant", ["cvrp", "vrptw", "hfvrp", "pdptw", "pcvrptw", "day"])
def test_a_pair_that_is_kept_is_a_step_that_accepts_all(variant: Variant) -> None:
    instance = generate_of(variant, 26, seed=3)
    start = build(instance)
    kept, stepped = (new_state(instance, 7, solution=start, quota=8) for _ in range(2))
    rng, accepts = np.random.default_rng(1), Always().address()
    for _ in range(60):
        destroy, repair, quota = rng.integers(2), rng.integers(2), rng.integers(1, 8)
        before = stepped.cost
        assert begin_step(stepped, PORTFOLIO.tables, destroy, quota) == FINE
        code, outcome = end_step(stepped, PORTFOLIO.tables, repair, accepts)
        assert code == FINE
        assert outcome > 0 or stepped.cost == before
        if outcome == 0:
            # A step undoes what breaks a rule, and a pair alone does not.
            kept = new_state(instance, 7, solution=start, quota=8)
            stepped = new_state(instance, 7, solution=start, quota=8)
            continue
        assert keep_pair(kept, PORTFOLIO.tables, destroy, repair, quota) == FINE
        assert routes_of(kept) == routes_of(stepped)
        assert kept.cost == stepped.cost
        assert kept.n_removed == 0


def test_choices_that_do_not_exist_are_refused() -> None:
    instance = read("E-n22-k4")
    state = new_state(instance, 1, solution=build(instance), quota=3)
    assert keep_pair(state, PORTFOLIO.tables, 2, 0, 3) == BAD_DESTROY_CHOICE
    assert keep_pair(state, PORTFOLIO.tables, 0, 2, 3) == BAD_REPAIR_CHOICE


def test_no_more_are_removed_than_there_are_on_routes() -> None:
    instance = Instance("two", [0, 1, 1], 2, [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]])
    state = new_state(instance, 1, solution=build(instance), quota=2)
    assert keep_pair(state, PORTFOLIO.tables, 0, 0, 5) == FINE
    assert state.status.quota == 2
    assert sorted(map(sorted, routes_of(state))) == [[1, 2]]


def test_nobody_else_applies_pairs() -> None:
    found = set()
    for path in PACKAGE.rglob("*.py"):
        calls = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
        if {"apply_destroy", "apply_repair"} & {call.func.id for call in calls if isinstance(call.func, ast.Name)}:
            found.add(path.relative_to(PACKAGE).as_posix())
    assert found == {"operators/pair.py"}
