"""Compiled graph attention next to a loop over all pairs."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neuralns.selection.attention import _sort, attention_layer, pool

Floats = npt.NDArray[np.float64]


def by_pairs(x: Floats, weight: Floats, source: Floats, target: Floats, bias: Floats) -> Floats:
    """relu(Σ_j α_ij h_j + bias) for every head, summing over all pairs of nodes."""
    h = x @ weight
    heads, part = source.shape
    found = np.zeros_like(h)
    for head in range(heads):
        mine = h[:, head * part : (head + 1) * part]
        for i in range(len(x)):
            scores = mine @ source[head] + mine[i] @ target[head]
            scores = np.where(scores > 0, scores, 0.2 * scores)
            shares = np.exp(scores - scores.max())
            found[i, head * part : (head + 1) * part] = shares / shares.sum() @ mine
    return np.maximum(found + bias, 0.0)


def compiled_layer(x: Floats, weight: Floats, source: Floats, target: Floats, bias: Floats) -> Floats:
    """The same by compiled code; what lies around its places in the row must not change."""
    (nodes, inputs), width, heads = x.shape, weight.shape[1], source.shape[0]
    given = np.concatenate([part.ravel() for part in (x, weight, source, target, bias)])
    scratch = 2 * nodes * width + 2 * heads * nodes + 2 * (nodes + 1) * (width // heads + 1)
    numbers = np.concatenate([given, np.zeros(scratch), np.full(8, 77.0)]).astype(np.float32)
    embedded = given.size
    mixed = embedded + nodes * width
    items = np.zeros(nodes, np.uint32)
    attention_layer(
        items, numbers, 0, x.size, embedded, mixed, mixed + nodes * width, nodes, inputs, width, heads
    )  # fmt: skip
    assert np.array_equal(numbers[: given.size], given.astype(np.float32))
    assert (numbers[-8:] == 77).all()
    return numbers[mixed : mixed + nodes * width].reshape(nodes, width).astype(np.float64)


def drawn(nodes: int, heads: int, size: float, seed: int = 1) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """A layer from 5 to 8 numbers whose scores are about ``size``, as 32-bit numbers hold it."""
    rng = np.random.default_rng(seed)
    shapes = (nodes, 5), (5, 8), (heads, 8 // heads), (heads, 8 // heads), (8,)
    x, weight, source, target, bias = (rng.normal(size=shape).astype(np.float32) for shape in shapes)
    factor = np.float32(size / 3)
    return tuple(part.astype(np.float64) for part in (x, weight, source * factor, target * factor, bias))  # type: ignore[return-value]


@pytest.mark.parametrize("heads", [1, 2, 4])
@pytest.mark.parametrize("nodes", [1, 2, 3, 21, 101, 900])
def test_the_sorted_sums_are_those_over_all_pairs(nodes: int, heads: int) -> None:
    parts = drawn(nodes, heads, 2.0)
    np.testing.assert_allclose(compiled_layer(*parts), by_pairs(*parts), rtol=1e-4, atol=2e-5)


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 40), st.sampled_from([1, 2, 4]), st.sampled_from([0.0, 0.01, 1.0, 20.0]), st.integers(0, 1000))
def test_any_layer_is_that_over_all_pairs(nodes: int, heads: int, size: float, seed: int) -> None:
    parts = drawn(nodes, heads, size, seed)
    # Scores are sums of 32-bit numbers: an error of 1e-7 of a score is one of as much in the share.
    np.testing.assert_allclose(compiled_layer(*parts), by_pairs(*parts), rtol=1e-4, atol=2e-5 * max(1.0, size))


@pytest.mark.parametrize("size", [100.0, 1e3, 1e4])
def test_large_scores_do_not_overflow(size: float) -> None:
    parts = drawn(50, 2, size)
    found = compiled_layer(*parts)
    assert np.isfinite(found).all()
    # Next to all attention goes to one node; 32-bit scores of this size are off by 1e-7 of it.
    np.testing.assert_allclose(found, by_pairs(*parts), rtol=1e-3, atol=2e-6 * size)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_scores_all_of_one_sign(sign: float) -> None:
    x, weight, source, target, bias = drawn(30, 1, 1.0)
    weight, source, target = np.abs(weight), sign * np.abs(source), sign * np.abs(target)
    x = np.abs(x)
    parts = (x, weight, source, target, bias)
    np.testing.assert_allclose(compiled_layer(*parts), by_pairs(*parts), rtol=1e-4, atol=1e-4)


def test_equal_nodes_attend_to_all_alike() -> None:
    x, weight, source, target, bias = drawn(1, 2, 3.0)
    parts = (np.repeat(x, 12, axis=0), weight, source, target, bias)
    expected = np.repeat(np.maximum(x @ weight + bias, 0), 12, axis=0)
    np.testing.assert_allclose(compiled_layer(*parts), expected, rtol=1e-4, atol=1e-5)


@given(st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=60))
def test_items_are_sorted_by_their_keys(keys: list[float]) -> None:
    items = np.zeros(len(keys), np.uint32)
    row = np.array(keys, np.float32)
    _sort(row, items, len(keys))
    assert sorted(items.tolist()) == list(range(len(keys)))
    assert row[items].tolist() == sorted(keys)


def test_a_long_list_is_sorted() -> None:
    row = np.random.default_rng(3).normal(size=3000).astype(np.float32)
    items = np.zeros(3000, np.uint32)
    _sort(row, items, 3000)
    assert row[items].tolist() == sorted(row.tolist())


def test_pooling_gives_mean_and_maximum() -> None:
    values = np.random.default_rng(4).normal(size=(9, 6)).astype(np.float32)
    numbers = np.concatenate([values.ravel(), np.full(14, 77, np.float32)])
    pool(numbers, 0, 55, 9, 6)
    assert numbers[55:61] == pytest.approx(values.mean(axis=0), rel=1e-5)
    assert numbers[61:67].tolist() == values.max(axis=0).tolist()
    assert (numbers[54], numbers[67]) == (77, 77)
