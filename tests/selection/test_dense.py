"""Compiled linear layers."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from neuralns.selection.dense import add_product, dense, pack_layers, run_layers

SPARE = np.float32(77.0)


def laid_out(x: np.ndarray, weight: np.ndarray, bias: np.ndarray) -> tuple[np.ndarray, int, int, int]:
    """One row of numbers with x, then W and b, then room for y, and something between them; and where they begin."""
    spare = np.full(3, SPARE, np.float32)
    room = np.full(weight.shape[1], np.nan, np.float32)
    numbers = np.concatenate([spare, x, spare, weight.ravel(), bias, spare, room, spare]).astype(np.float32)
    source = 3
    weights = source + x.size + 3
    return numbers, source, weights, weights + weight.size + bias.size + 3


@pytest.mark.parametrize("rectify", [False, True])
@pytest.mark.parametrize(("inputs", "outputs"), [(1, 1), (3, 5), (4, 1), (5, 8), (8, 16), (38, 32), (267, 14)])
def test_a_layer_is_a_product_and_a_bias(inputs: int, outputs: int, rectify: bool) -> None:
    rng = np.random.default_rng(inputs)
    x, weight, bias = rng.normal(size=inputs), rng.normal(size=(inputs, outputs)), rng.normal(size=outputs)
    numbers, source, weights, target = laid_out(x, weight, bias)
    before = numbers.copy()
    dense(numbers, source, weights, target, inputs, outputs, rectify)
    expected = x @ weight + bias
    expected = np.maximum(expected, 0) if rectify else expected
    assert numbers[target : target + outputs] == pytest.approx(expected, rel=1e-5, abs=1e-5)
    numbers[target : target + outputs] = before[target : target + outputs]
    assert np.array_equal(numbers, before, equal_nan=True)


def test_zeros_among_the_inputs_are_no_exception() -> None:
    rng = np.random.default_rng(1)
    weight, bias = rng.normal(size=(11, 6)), np.zeros(6)
    for zeros in ([0, 1, 2, 3], [4, 5, 6, 7, 8, 9, 10], [1, 2, 3, 9], list(range(11))):
        x = rng.normal(size=11)
        x[zeros] = 0.0
        numbers, source, weights, target = laid_out(x, weight, bias)
        dense(numbers, source, weights, target, 11, 6, False)
        assert numbers[target : target + 6] == pytest.approx(x @ weight, rel=1e-5, abs=1e-5)


def test_a_product_is_added_to_what_is_there() -> None:
    rng = np.random.default_rng(2)
    x, weight = rng.normal(size=7), rng.normal(size=(7, 3))
    numbers, source, weights, target = laid_out(x, weight, np.zeros(3))
    numbers[target : target + 3] = [1, 2, 3]
    add_product(numbers, source, weights, target, 7, 3)
    assert numbers[target : target + 3] == pytest.approx(x @ weight + [1, 2, 3], rel=1e-5, abs=1e-5)


def test_layers_follow_one_another_with_rectifiers_between_them() -> None:
    rng = np.random.default_rng(2)
    sizes = (7, 12, 3, 2)
    layers = [
        (rng.normal(size=(a, b)).astype(np.float32), rng.normal(size=b).astype(np.float32)) for a, b in pairwise(sizes)
    ]
    numbers, found_sizes, row, scratch = pack_layers(layers)
    assert found_sizes.tolist() == list(sizes)
    x = rng.normal(size=7).astype(np.float32)
    numbers[row : row + 7] = x
    first = run_layers(numbers, found_sizes, 3, row, scratch)
    for number, (weight, bias) in enumerate(layers):
        x = (np.maximum(x, 0) if number else x) @ weight + bias
    assert numbers[first : first + 2] == pytest.approx(x, rel=1e-5, abs=1e-5)
