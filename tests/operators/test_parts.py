"""Shared parts of operators."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from neuralns.operators.parts import select_largest


@settings(deadline=None)
@given(st.lists(st.integers(-5, 5).map(float), min_size=1, max_size=40), st.data())
def test_selection_puts_the_rank_where_a_sort_would(keys: list[float], data: st.DataObject) -> None:
    rank = data.draw(st.integers(0, len(keys) - 1))
    values, items = np.array(keys), np.arange(len(keys), dtype=np.int32)
    select_largest(values, items, len(keys), rank)
    ordered = sorted(keys, reverse=True)
    assert values[rank] == ordered[rank]
    assert sorted(values[:rank], reverse=True) == ordered[:rank]
    assert [keys[item] for item in items] == values.tolist()
