"""What every operator must keep, over random instances and seeds."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from helpers import random_instances, solution_in, started
from neuralns import Instance
from neuralns.operators.registry import operator, operators
from neuralns.operators.state import checkpoint, remember

DESTROYS = [entry.name for entry in operators() if entry.phase == "destroy"]
REPAIRS = [entry.name for entry in operators() if entry.phase == "repair"]


@njit
def look(state):
    return state.cost, state.n_removed, state.n_routes, state.fault


@njit
def removal_list(state):
    return state.removed[: state.n_removed].copy()


@njit
def heaviest_load(state):
    heaviest = 0.0
    for index in range(state.n_active):
        heaviest = max(heaviest, state.load[state.active[index]])
    return heaviest


def cycle(instance: Instance, seed: int, quota: int, destroy: str, repair: str) -> None:
    state, _ = started(instance, seed)
    for _ in range(3):
        checkpoint(state)
        operator(destroy).compiled(state, quota)
        cost, n_removed, n_routes, fault = look(state)
        partial = solution_in(state, instance)
        taken = removal_list(state).tolist()
        assert fault == 0
        assert n_removed == quota == len(set(taken))
        assert sorted([*taken, *(c for route in partial.routes for c in route)]) == list(
            range(1, instance.customers + 1)
        )
        assert n_routes == len(partial.routes)
        assert cost == pytest.approx(partial.cost, rel=1e-9, abs=1e-9)

        operator(repair).compiled(state)
        remember(state)
        cost, n_removed, n_routes, fault = look(state)
        whole = solution_in(state, instance)
        assert (fault, n_removed) == (0, 0)
        assert whole.faults() == []
        assert heaviest_load(state) <= instance.capacity * (1 + 1e-9)
        assert n_routes == len(whole.routes)
        assert cost == pytest.approx(whole.cost, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("destroy", DESTROYS)
@settings(deadline=None, max_examples=40)
@given(random_instances(), st.integers(0, 1000), st.data())
def test_a_destroy_operator_removes_exactly_its_quota(
    destroy: str, instance: Instance, seed: int, data: st.DataObject
) -> None:
    cycle(instance, seed, data.draw(st.integers(1, instance.customers)), destroy, "greedy")


@pytest.mark.parametrize("repair", REPAIRS)
@settings(deadline=None, max_examples=60)
@given(random_instances(), st.integers(0, 1000), st.data())
def test_a_repair_operator_serves_every_customer_once_within_capacity(
    repair: str, instance: Instance, seed: int, data: st.DataObject
) -> None:
    cycle(instance, seed, data.draw(st.integers(1, instance.customers)), "random-node", repair)


@pytest.mark.parametrize("name", [*DESTROYS, *REPAIRS])
def test_an_operator_tells_its_formula_and_reference(name: str) -> None:
    documentation = operator(name).function.__doc__ or ""
    assert operator(name).summary.endswith(".")
    assert any(character.isdigit() for character in documentation), "no year of a reference"
