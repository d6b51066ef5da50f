"""Linear layers in compiled code."""

import numpy as np

from neuralns.compiled.caching import compiled


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
