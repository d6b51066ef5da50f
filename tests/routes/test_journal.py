"""Undo: whatever happened since the checkpoint, the routes come back to the bit."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from helpers import journalled, on_a_line, random_instances, shuffle_about, solution_in, started
from neuralns import Instance, portfolio_named
from neuralns.routes.edits import close_empty_routes, insert, open_route, remove, undo
from neuralns.routes.journal import checkpoint, restore, save_node, save_slot

PAIRS = portfolio_named("modern-all"), portfolio_named("paper")
DESTROYS = [entry for portfolio in PAIRS for entry in portfolio.destroys]
REPAIRS = [entry for portfolio in PAIRS for entry in portfolio.repairs]


@settings(deadline=None, max_examples=60)
@given(random_instances(most=15), st.integers(0, 1000), st.data())
def test_an_undo_brings_back_every_journalled_field(instance: Instance, seed: int, data: st.DataObject) -> None:
    state, _ = started(instance, seed)
    shuffle_about(state, data.draw(st.integers(0, 5)))
    close_empty_routes(state)
    checkpoint(state)
    before, routes = journalled(state), solution_in(state, instance).routes
    active = sorted(state.active[: state.n_active].tolist())
    if data.draw(st.booleans()):
        shuffle_about(state, data.draw(st.integers(1, 20)))
    else:
        data.draw(st.sampled_from(DESTROYS)).apply(state, data.draw(st.integers(1, instance.customers)))
        if data.draw(st.booleans()):
            data.draw(st.sampled_from(REPAIRS)).apply(state)
    undo(state)
    assert journalled(state) == before
    assert sorted(solution_in(state, instance).routes) == sorted(routes)
    assert sorted(state.active[: state.n_active].tolist()) == active
    assert (state.n_removed, state.fault) == (0, 0)
    # Once more, from the same checkpoint.
    shuffle_about(state, 3)
    undo(state)
    assert journalled(state) == before


def test_a_checkpoint_is_what_an_undo_returns_to() -> None:
    state, start = on_a_line([1, 2], [3], places=[1.0, 5.0, -2.0])
    remove(state, 3)
    insert(state, 3, state.route[1], 2)
    close_empty_routes(state)
    checkpoint(state)
    moved = journalled(state)
    remove(state, 1)
    insert(state, 1, open_route(state), 0)
    undo(state)
    assert journalled(state) == moved
    assert solution_in(state, start.instance).routes == ((1, 2, 3),)


def test_an_entry_is_saved_before_its_first_change_only() -> None:
    state, _ = on_a_line([1, 2], [3], places=[1.0, 5.0, -2.0])
    checkpoint(state)
    slot = int(state.route[3])
    for load, arc in ((11.0, 21.0), (12.0, 22.0)):
        save_slot(state, slot)
        save_node(state, 2)
        state.load[slot], state.arc[2] = load, arc
    assert (state.n_saved, state.n_saved_slots) == (1, 1)
    restore(state)
    assert (state.load[slot], state.arc[2]) == (1.0, 5.0)


def test_after_a_checkpoint_nothing_is_saved_and_everything_is_saved_anew() -> None:
    state, _ = on_a_line([1, 2], [3], places=[1.0, 5.0, -2.0])
    checkpoint(state)
    save_node(state, 2)
    state.arc[2] = 77.0
    checkpoint(state)
    assert (state.n_saved, state.n_saved_slots) == (0, 0)
    save_node(state, 2)
    state.arc[2] = 78.0
    restore(state)
    assert state.arc[2] == 77.0


def test_totals_are_brought_back() -> None:
    state, _ = on_a_line([1, 2], [3], places=[1.0, 5.0, -2.0], vehicle_cost=7.0)
    checkpoint(state)
    state.cost, state.n_routes = 5.0, 9
    restore(state)
    assert (state.cost, state.n_routes) == (28.0, 2)
