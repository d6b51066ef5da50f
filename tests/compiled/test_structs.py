"""Structs that Python lays out and compiled code takes by their address."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import njit, types
from numba.core.errors import NumbaError

from neuralns.compiled.structs import (
    Struct,
    StructType,
    anything,
    at_address,
    entry_copier,
    field_copier,
    number,
    number_table,
    numbers,
    numbers32,
    whole,
    wholes,
)

inner_type = StructType("tests.Inner", {"value": number})
bag_type = StructType(
    "tests.Bag",
    {
        "count": whole,
        "share": number,
        "ids": wholes,
        "weights": numbers,
        "rows": number_table,
        "small": numbers32,
        "inner": inner_type,
        "size": whole,
    },
    constants=["size"],
)


def new_bag(**changes: Any) -> Struct:
    values: dict[str, Any] = {
        "count": 3,
        "share": 0.25,
        "ids": np.array([4, -5, 6]),
        "weights": np.array([0.5, 1.5]),
        "rows": np.arange(6.0).reshape(2, 3),
        "small": np.array([2.5], np.float32),
        "inner": Struct(inner_type, value=9.5),
        "size": 11,
    }
    return Struct(bag_type, **{**values, **changes})


@njit
def look(bag):
    return bag.count, bag.share, bag.ids[1], bag.weights[-1], bag.rows[1, 2], bag.small[0], bag.inner.value, bag.size


@njit
def shapes(bag):
    return bag.ids.shape, bag.weights.shape, bag.rows.shape, bag.small.shape


@njit
def change(bag):
    bag.count += 10
    bag.share = 7
    bag.ids[0] = 40
    bag.rows[1, 0] = -1.0
    bag.inner.value *= 2


def test_compiled_code_reads_what_python_wrote() -> None:
    assert look(new_bag()) == (3, 0.25, -5, 1.5, 5.0, 2.5, 9.5, 11)
    assert shapes(new_bag()) == ((3,), (2,), (2, 3), (1,))
    bag = new_bag()
    bag.count, bag.share = -8, 3
    bag.ids[1] = 77
    bag.inner.value = 1.25
    assert look(bag) == (-8, 3.0, 77, 1.5, 5.0, 2.5, 1.25, 11)


def test_python_reads_what_compiled_code_wrote() -> None:
    bag = new_bag()
    change(bag)
    assert (bag.count, bag.share) == (13, 7.0)
    assert isinstance(bag.count, int)
    assert isinstance(bag.share, float)
    assert bag.ids.tolist() == [40, -5, 6]
    assert bag.rows.tolist() == [[0.0, 1.0, 2.0], [-1.0, 4.0, 5.0]]
    assert bag.inner.value == 19.0


@pytest.mark.parametrize("value", [0, 1, -1, 2**62, -(2**63), 2**63 - 1])
def test_whole_numbers_keep_all_their_digits(value: int) -> None:
    bag = new_bag(count=value)
    assert bag.count == look(bag)[0] == value


@pytest.mark.parametrize("value", [0.1, -0.0, 1e-300, 1e300, float("inf"), float("-inf")])
def test_floats_keep_all_their_digits(value: float) -> None:
    bag = new_bag(share=value)
    assert str(bag.share) == str(look(bag)[1]) == str(value)


def test_arrays_are_not_copied() -> None:
    ids = np.array([1, 2, 3])
    bag = new_bag(ids=ids)
    assert bag.ids is ids
    change(bag)
    assert ids[0] == 40


def test_empty_arrays_can_be_held() -> None:
    bag = new_bag(ids=np.zeros(0, np.int64), rows=np.zeros((0, 0)))
    assert shapes(bag) == ((0,), (2,), (0, 0), (1,))


def test_a_struct_keeps_its_arrays_alive() -> None:
    bags = [new_bag(ids=np.full(1000, value), inner=Struct(inner_type, value=value)) for value in range(50)]
    assert [look(bag)[2] for bag in bags] == list(range(50))
    assert [look(bag)[6] for bag in bags] == list(range(50))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"ids": np.zeros(3)}, "tests.Bag: field 'ids' cannot hold 1D float64."),
        ({"weights": np.zeros((2, 2))}, "tests.Bag: field 'weights' cannot hold 2D float64."),
        ({"rows": np.zeros((4, 4)).T[::2]}, "tests.Bag: field 'rows' cannot hold 2D float64."),
        ({"small": np.zeros(3)}, "tests.Bag: field 'small' cannot hold 1D float64."),
        ({"nonsense": 3}, "tests.Bag: nonsense missing, or no field of it."),
    ],
)
def test_values_that_do_not_fit_are_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(TypeError) as caught:
        new_bag(**changes)
    assert str(caught.value) == said


def test_a_value_is_needed_for_each_field() -> None:
    with pytest.raises(TypeError, match=r"^tests\.Inner: value missing, or no field of it\.$"):
        Struct(inner_type)


def test_python_sets_numbers_only() -> None:
    bag = new_bag()
    for name in ("ids", "inner", "nonsense"):
        with pytest.raises(AttributeError, match=f"tests.Bag has no number '{name}' to set"):
            setattr(bag, name, np.zeros(3, np.int64))
    with pytest.raises(AttributeError, match=r"^tests\.Bag has no field 'nonsense'$"):
        _ = bag.nonsense


@pytest.mark.parametrize("field", ["ids", "inner", "size"])
def test_compiled_code_cannot_replace_what_never_changes(field: str) -> None:
    space: dict[str, Any] = {}
    exec(f"def replace(bag):\n    bag.{field} = bag.{field}\n", space)
    with pytest.raises((NumbaError, TypeError), match=f"field '{field}' of tests.Bag never changes"):
        njit(space["replace"])(new_bag())


def test_a_field_that_is_none_does_not_compile() -> None:
    @njit
    def wrong(bag):
        return bag.nonsense

    with pytest.raises(NumbaError, match="nonsense"):
        wrong(new_bag())


def test_types_are_told_apart_by_their_fields() -> None:
    one = StructType("tests.One", {"a": whole, "b": number})
    same = StructType("tests.One", {"a": whole, "b": number})
    other = StructType("tests.One", {"b": number, "a": whole})
    assert one == same
    assert one != other

    @njit
    def both(struct):
        return struct.a, struct.b

    assert both(Struct(one, a=1, b=2.5)) == both(Struct(other, a=1, b=2.5)) == (1, 2.5)


def test_words_are_laid_in_a_row() -> None:
    # A number takes one word, an array its address and its shape.
    assert bag_type.offsets == {
        "count": 0, "share": 1, "ids": 2, "weights": 4, "rows": 6, "small": 9, "inner": 11, "size": 12
    }  # fmt: skip
    assert bag_type.words == 13


# --- Twins. ----------------------------------------------------------------------------------------------------------


def test_a_twin_has_the_same_content_and_a_life_of_its_own() -> None:
    bag = new_bag()
    twin = bag.twin()
    assert look(twin) == look(bag)
    before = look(bag)
    twin.count = 99
    twin.ids[1], twin.weights[-1], twin.rows[1, 2], twin.small[0] = 99, 99.0, 99.0, 99.0
    assert look(bag) == before
    assert twin.address != bag.address


@pytest.mark.parametrize("shared", [(), ("ids",), ("ids", "rows"), ("ids", "weights", "rows", "small")])
def test_a_twin_shares_the_arrays_it_is_told_to_and_no_others(shared: tuple[str, ...]) -> None:
    bag = new_bag()
    twin = bag.twin(shared)
    for name in ("ids", "weights", "rows", "small"):
        assert (getattr(twin, name) is getattr(bag, name)) == (name in shared)
        assert np.shares_memory(getattr(twin, name), getattr(bag, name)) == (name in shared)


# --- Addresses and copies. -------------------------------------------------------------------------------------------

bag_at = at_address(bag_type)
anything_at = at_address(anything)


@njit
def total(addresses):
    found = 0
    for address in addresses:
        found += bag_at(address).count
    return found


@njit
def set_share(address, share):
    bag_at(address).share = share


def test_structs_are_found_by_their_addresses() -> None:
    bags = [new_bag(count=count) for count in (1, 20, 300)]
    assert total(np.array([bag.address for bag in bags])) == 321
    set_share(bags[1].address, 0.75)
    assert [bag.share for bag in bags] == [0.25, 0.75, 0.25]


def test_a_struct_may_be_passed_on_as_anything() -> None:
    @njit
    def passed(address):
        anything_at(address)
        return address

    bag = new_bag()
    assert passed(bag.address) == bag.address


def test_entries_are_copied_from_array_to_array() -> None:
    row = types.Array(types.int32, 1, "C")
    kind = StructType("tests.Pairs", {"a": numbers, "saved_a": numbers, "b": row, "saved_b": row, "c": numbers})
    copy = entry_copier(kind, [("a", "saved_a"), ("b", "saved_b")])

    @njit
    def save(struct, tail, head):
        copy(struct, tail, head)

    struct = Struct(
        kind, a=np.array([1.0, 2.0, 3.0]), saved_a=np.zeros(3), b=np.array([4, 5, 6], np.int32),
        saved_b=np.zeros(3, np.int32), c=np.zeros(3),
    )  # fmt: skip
    save(struct, 2, 0)
    save(struct, np.uint32(1), np.int32(2))
    assert struct.saved_a.tolist() == [3.0, 0.0, 2.0]
    assert struct.saved_b.tolist() == [6, 0, 5]
    assert struct.a.tolist() == [1.0, 2.0, 3.0]
    assert struct.c.tolist() == [0.0] * 3


def test_fields_are_copied_from_struct_to_struct() -> None:
    copy = field_copier(bag_type, ["count", "share", "ids", "rows"])

    @njit
    def copied(source, target):
        copy(source, target)

    source = new_bag(count=50, share=0.5, ids=np.array([7, 8, 9]), rows=np.full((2, 3), 3.0), weights=np.ones(2))
    target = new_bag()
    own = target.ids, target.rows
    copied(source, target)
    assert (target.count, target.share) == (50, 0.5)
    assert target.ids.tolist() == [7, 8, 9]
    assert target.rows.tolist() == [[3.0] * 3] * 2
    assert target.weights.tolist() == [0.5, 1.5]
    assert target.ids is own[0]
    assert target.rows is own[1]
    source.ids[0] = 0
    assert target.ids[0] == 7
