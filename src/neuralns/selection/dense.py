"""Linear layers in compiled code."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from neuralns.compiled.caching import compiled

Layers = Sequence[Sequence[npt.NDArray[np.float32]]]
"""Weights [inputs, outputs] and biases."""


def pack_layers(layers: Layers) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64], int, int]:
    """Return weights and biases in one array with space for `run_layers`, the sizes, and where row and space begin."""
    weights = np.concatenate([values.ravel() for layer in layers for values in layer])
    sizes = [layers[0][0].shape[0], *(layer[0].shape[1] for layer in layers)]
    scratch = weights.size + sizes[0]
    numbers = np.zeros(scratch + 2 * max(sizes), np.float32)
    numbers[: weights.size] = weights
    return numbers, np.array(sizes, np.int64), weights.size, scratch


@compiled
def dense(numbers, source, weights, target, inputs, outputs, rectify):
    """Write y = x W + b, rectified if asked for, where x, y and W, followed by b, begin at the given offsets."""
    y = numbers[target : target + outputs]
    bias = numbers[weights + inputs * outputs : weights + (inputs + 1) * outputs]
    for j in range(outputs):
        y[j] = bias[j]
    add_product(numbers, source, weights, target, inputs, outputs)
    if rectify:
        for j in range(outputs):
            y[j] = max(y[j], np.float32(0.0))


@compiled
def run_layers(numbers, sizes, layers, row, scratch):
    """Run linear layers with rectifiers between them over a row; return where the outputs begin.

    Weights begin at 0, each layer's followed by its biases; behind ``scratch`` there is space for the two widest.
    """
    weights, source, half = 0, row, (len(numbers) - scratch) // 2
    for layer in range(layers):
        inputs, outputs = sizes[layer], sizes[layer + 1]
        target = scratch + (layer % 2) * half
        dense(numbers, source, weights, target, inputs, outputs, layer + 1 < layers)
        weights += (inputs + 1) * outputs
        source = target
    return source


@compiled
def add_product(numbers, source, weights, target, inputs, outputs):
    """Add x W to y.

    Rows of W are added up eight (then four) at a time, so that y is read and written less often.
    """
    x = numbers[source : source + inputs]
    w = numbers[weights : weights + inputs * outputs]
    y = numbers[target : target + outputs]
    i = 0
    while i + 8 <= inputs:
        x0, x1, x2, x3, x4, x5, x6, x7 = x[i], x[i + 1], x[i + 2], x[i + 3], x[i + 4], x[i + 5], x[i + 6], x[i + 7]
        w0 = w[i * outputs : (i + 1) * outputs]
        w1 = w[(i + 1) * outputs : (i + 2) * outputs]
        w2 = w[(i + 2) * outputs : (i + 3) * outputs]
        w3 = w[(i + 3) * outputs : (i + 4) * outputs]
        w4 = w[(i + 4) * outputs : (i + 5) * outputs]
        w5 = w[(i + 5) * outputs : (i + 6) * outputs]
        w6 = w[(i + 6) * outputs : (i + 7) * outputs]
        w7 = w[(i + 7) * outputs : (i + 8) * outputs]
        for j in range(outputs):
            first = (x0 * w0[j] + x1 * w1[j]) + (x2 * w2[j] + x3 * w3[j])
            second = (x4 * w4[j] + x5 * w5[j]) + (x6 * w6[j] + x7 * w7[j])
            y[j] += first + second
        i += 8
    while i + 4 <= inputs:
        x0, x1, x2, x3 = x[i], x[i + 1], x[i + 2], x[i + 3]
        w0 = w[i * outputs : (i + 1) * outputs]
        w1 = w[(i + 1) * outputs : (i + 2) * outputs]
        w2 = w[(i + 2) * outputs : (i + 3) * outputs]
        w3 = w[(i + 3) * outputs : (i + 4) * outputs]
        for j in range(outputs):
            y[j] += (x0 * w0[j] + x1 * w1[j]) + (x2 * w2[j] + x3 * w3[j])
        i += 4
    while i < inputs:
        x0 = x[i]
        w0 = w[i * outputs : (i + 1) * outputs]
        for j in range(outputs):
            y[j] += x0 * w0[j]
        i += 1
