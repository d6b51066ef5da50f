"""What operators are written with."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import neuralns.operators
from helpers import on_a_line
from neuralns.operators import toolkit
from neuralns.operators.registry import BUILT_IN

FOLDER = Path(neuralns.operators.__file__ or "").parent


def test_all_that_is_promised_is_there() -> None:
    assert toolkit.__all__ == sorted(toolkit.__all__)
    assert all(hasattr(toolkit, name) for name in toolkit.__all__)


@pytest.mark.parametrize("name", toolkit.__all__)
def test_every_tool_says_what_it_does(name: str) -> None:
    assert (getattr(toolkit, name).__doc__ or "").strip()


@pytest.mark.parametrize("module", BUILT_IN)
def test_built_in_operators_are_written_with_the_tools(module: str) -> None:
    tree = ast.parse((FOLDER / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8"))
    sources = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    own = {source for source in sources if source is not None and source.startswith("neuralns.")}
    assert own <= {"neuralns.operators.toolkit", "neuralns.operators.repair.table"}


def test_a_move_written_with_the_tools() -> None:
    state, _ = on_a_line([1, 2], [3], places=[1.0, 5.0, -2.0])

    @toolkit.compiled
    def move(state, customer, other):
        toolkit.remove(state, customer)
        cost, place = toolkit.beside(state, customer, other)
        toolkit.insert(state, customer, state.route[other], place)
        return cost

    saved = toolkit.removal(state, 2)
    before = state.cost
    # From 5 to the place beside −2: 2 × 5 more there, 2 × 4 less here.
    assert (saved, move(state, 2, 3)) == (8.0, 10.0)
    assert state.cost == before + 2.0
