"""Linear layers in compiled code."""

import numpy as np

from neuralns.compiling import compiled


@compiled
def dense(numbers, source, weights, target, inputs, outputs, rectify):
    """Write y = x W + b, rectified if asked for, where x, y and W, followed by b, begin at the given places."""
    y = numbers[target : target + outputs]
    bias = numbers[weights + inputs * outputs : weights + (inputs + 1) * outputs]
    for j in range(outputs):
        y[j] = bias[j]
    add_product(numbers, source, weights, target, inputs, outputs)
    if rectify:
        for j in range(outputs):
            y[j] = max(y[j], np.float32(0.0))


@compiled
def add_product(numbers, source, weights, target, inputs, outputs):
    """Add x W to y.

    Rows of W are added up four at a time, so that y is read and written a quarter as often; groups of zeros in x, which
    rectifiers leave, are skipped.
    """
    x = numbers[source : source + inputs]
    w = numbers[weights : weights + inputs * outputs]
    y = numbers[target : target + outputs]
    i = 0
    while i + 4 <= inputs:
        x0, x1, x2, x3 = x[i], x[i + 1], x[i + 2], x[i + 3]
        if x0 != 0.0 or x1 != 0.0 or x2 != 0.0 or x3 != 0.0:
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
