"""Fields of the state: what is declared is allocated, saved, undone and copied."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import njit, types

from neuralns import Instance
from neuralns.routes.answers import FACTS
from neuralns.routes.layout import (
    ALL_FIELDS,
    FIELDS,
    JOURNALLED,
    SAVED,
    Field,
    copy_fields,
    copy_node_back,
    copy_node_out,
    copy_slot_back,
    copy_slot_out,
    new_arrays,
    state_at,
    state_type,
)
from neuralns.routes.transfer import State, new_state

LINE = Instance("line", [0.0] + [1.0] * 5, 3, np.arange(12).reshape(6, 2))


def names(fields: tuple[Field, ...]) -> list[str]:
    return [field.name for field in fields]


def some_state(fill: int) -> State:
    """A state whose every own field has entries that differ from those of another fill."""
    state = new_state(LINE, 0, history=True)
    for number, field in enumerate(field for field in ALL_FIELDS if field.per != "instance"):
        value = fill + number
        if field.per == "once":
            setattr(state, field.name, value)
        elif field.entry_type == types.uint8:
            getattr(state, field.name)[...] = value % 251
        else:
            getattr(state, field.name)[...] = value
    return state


def content(state: State, field: Field) -> Any:
    value = getattr(state, field.name)
    return value.tolist() if isinstance(value, np.ndarray) else value


@njit
def out_and_back(state, node, slot):
    copy_node_out(state, node, 0)
    copy_slot_out(state, slot, 1)


@njit
def back(state, node, slot):
    copy_node_back(state, 0, node)
    copy_slot_back(state, 1, slot)


@njit
def copied(source, target):
    copy_fields(source, target)


@njit
def customers_at(address):
    return state_at(address).customers


def test_a_field_is_declared_once() -> None:
    assert len(set(names(ALL_FIELDS))) == len(ALL_FIELDS)
    assert set(state_type.fields) == {*names(ALL_FIELDS), "status"}


def test_what_routes_consist_of_is_saved_and_copied() -> None:
    assert set(names(JOURNALLED)) == {
        "successor", "predecessor", "route", "arc", "arriving", "first", "entry", "size", "load", "length", "duration",
        "vehicle", "route_cost", "savings", "n_routes", "cost", "total_savings",
    }  # fmt: skip
    assert all(field.copied for field in JOURNALLED)


def test_every_journalled_field_has_a_place_to_be_saved_at() -> None:
    assert names(SAVED) == [f"saved_{name}" for name in names(JOURNALLED)]
    for field, saved in zip(JOURNALLED, SAVED, strict=True):
        assert (saved.per, saved.type) == (field.per, field.type)


@pytest.mark.parametrize(
    "field", [field for field in JOURNALLED if field.per in ("node", "slot")], ids=lambda f: f.name
)
def test_entries_are_saved_and_brought_back(field: Field) -> None:
    state = some_state(1)
    entries, saved = getattr(state, field.name), getattr(state, f"saved_{field.name}")
    entries[:] = np.arange(10, 16)
    saved[:] = 99
    place, index = (2, 0) if field.per == "node" else (4, 1)
    out_and_back(state, 2, 4)
    assert saved.tolist() == [entries[place] if number == index else 99 for number in range(6)]
    entries[:] = 7
    back(state, 2, 4)
    assert entries.tolist() == [10 + place if number == place else 7 for number in range(6)]


@pytest.mark.parametrize("field", [field for field in ALL_FIELDS if field.per != "instance"], ids=lambda f: f.name)
def test_fields_are_copied_if_they_are_declared_so(field: Field) -> None:
    source, target = some_state(100), some_state(500)
    before = content(target, field)
    copied(source, target)
    assert content(target, field) == (content(source, field) if field.copied else before)
    # A copy is a copy.
    if field.per != "once":
        assert not np.shares_memory(getattr(source, field.name), getattr(target, field.name))


def test_fields_have_an_entry_for_what_they_are_declared_for() -> None:
    customers, quota = 7, 3
    sizes = {"type": 2, "depot": 3, "group": 4, "goods": 5}
    found = new_arrays(customers, quota, sizes)
    shapes = {"used": (2,), "depot_use": (3,), "depot_load": (3, 5), "group_count": (4,), "start_load": (40,)}
    for name, shape in shapes.items():
        assert found[name].shape == shape
    own = [field for field in ALL_FIELDS if field.per in ("once", "node", "slot", "cell")]
    assert set(found) >= {field.name for field in own}
    for field in own:
        value = found[field.name]
        if field.per == "once":
            assert value == field.start
        elif field.per == "cell":
            assert value.shape == (quota * customers,)
        else:
            assert value.tolist() == [field.start] * (customers + 1)
        if field.per != "once":
            assert value.dtype == np.dtype(str(field.entry_type))


def test_what_an_instance_gives_never_changes() -> None:
    single = {field.name for field in FIELDS if field.per == "instance" and not isinstance(field.type, types.Array)}
    others = {
        "customers", "capacity", "vehicle_cost", "rounding", "unit", "profile", "vehicles", "slack", "unserved_cost",
        "noise", "horizon", "detour", "shortcut", "lookup", "optional", "lost", "nowhere", "goods", "n_classes",
        "priced", "by_distance", "retypes", "same_hours", "scarce",
    }  # fmt: skip
    assert single == others | set(FACTS)
    assert single < state_type.constants


def test_numbers_that_change_are_read_anew_each_time() -> None:
    changing = {field.name for field in ALL_FIELDS if field.per == "once"}
    assert {"cost", "n_removed", "saved_cost"} < changing
    assert not changing & state_type.constants


def test_a_state_is_found_by_its_address() -> None:
    state = new_state(LINE, 0)
    assert customers_at(state.address) == 5
