"""Graph attention in compiled code (Veličković et al. 2018), for complete graphs and for nearest neighbours.

A layer gives y_i = relu(Σ_j α_ij h_j + bias) with h = x W and α_ij the softmax over j of leaky(t_i + s_j), where s and
t are the sender's and the receiver's scores of each head.

On a complete graph the sum over j needs no loop over pairs: exp(leaky(t + s)) is e^t e^s where t + s > 0 and
e^(0.2 t) e^(0.2 s) elsewhere. With the senders sorted by s, the first kind is the end of the list and the second its
beginning, and the sums over both are read off running sums.
"""

import numpy as np

from neuralns.compiled.caching import compiled
from neuralns.selection.dense import add_product

LEAK = np.float32(0.2)
NEAREST = 10
"""Nearest neighbours of each node beside predecessor and successor."""


@compiled
def _embed(numbers, source, weights, embedded, scores, nodes, inputs, width, heads):
    """Write h = x W, and the scores s and t of every head and node from ``scores`` on."""
    part = width // heads
    send = numbers[weights + inputs * width : weights + (inputs + 1) * width]
    receive = numbers[weights + (inputs + 1) * width : weights + (inputs + 2) * width]
    for node in range(nodes):
        h = numbers[embedded + node * width : embedded + (node + 1) * width]
        for j in range(width):
            h[j] = np.float32(0.0)
        add_product(numbers, source + node * inputs, weights, embedded + node * width, inputs, width)
        for head in range(heads):
            s, t = np.float32(0.0), np.float32(0.0)
            for j in range(head * part, (head + 1) * part):
                s += h[j] * send[j]
                t += h[j] * receive[j]
            numbers[scores + head * nodes + node] = s
            numbers[scores + (heads + head) * nodes + node] = t


@compiled
def _sort(keys, items, count):
    """Order items 0 .. count − 1 by their keys, smallest first (Shell sort, gaps by Ciura 2001)."""
    for index in range(count):
        items[index] = index
    for gap in (701, 301, 132, 57, 23, 10, 4, 1):
        for start in range(gap, count):
            item = items[start]
            key, index = keys[item], start
            while index >= gap and keys[items[index - gap]] > key:
                items[index] = items[index - gap]
                index -= gap
            items[index] = item


@compiled
def attention_layer(items, numbers, source, weights, embedded, mixed, space, nodes, inputs, width, heads):
    """Write y for all nodes of a complete graph to ``mixed``; ``items`` and what follows ``space`` are scratch."""
    part = width // heads
    row = part + 1
    scores = space
    sums = space + 2 * heads * nodes
    below = numbers[sums : sums + (nodes + 1) * row]  # Σ e^(0.2 s) (h, 1) over the first senders
    above = numbers[sums + (nodes + 1) * row : sums + 2 * (nodes + 1) * row]  # Σ e^s (h, 1) over the last ones
    _embed(numbers, source, weights, embedded, scores, nodes, inputs, width, heads)
    bias = numbers[weights + (inputs + 2) * width : weights + (inputs + 3) * width]
    for head in range(heads):
        s = numbers[scores + head * nodes : scores + (head + 1) * nodes]
        t = numbers[scores + (heads + head) * nodes : scores + (heads + head + 1) * nodes]
        _sort(s, items, nodes)
        most = s[items[nodes - 1]]
        for j in range(row):
            below[j] = np.float32(0.0)
            above[nodes * row + j] = np.float32(0.0)
        for rank in range(nodes):
            node = np.int64(items[rank])
            share = np.exp(LEAK * (s[node] - most))
            h = numbers[embedded + node * width + head * part : embedded + node * width + (head + 1) * part]
            was, now = below[rank * row : (rank + 1) * row], below[(rank + 1) * row : (rank + 2) * row]
            for j in range(part):
                now[j] = was[j] + share * h[j]
            now[part] = was[part] + share
        for rank in range(nodes - 1, -1, -1):
            node = np.int64(items[rank])
            share = np.exp(s[node] - most)
            h = numbers[embedded + node * width + head * part : embedded + node * width + (head + 1) * part]
            was, now = above[(rank + 1) * row : (rank + 2) * row], above[rank * row : (rank + 1) * row]
            for j in range(part):
                now[j] = was[j] + share * h[j]
            now[part] = was[part] + share
        for node in range(nodes):  # type: ignore[assignment]
            top = t[node] + most
            low, high = 0, nodes
            while low < high:
                middle = (low + high) >> 1
                if t[node] + s[items[middle]] > 0.0:
                    high = middle
                else:
                    low = middle + 1
            if top > 0.0:
                c, d = np.float32(1.0), np.exp((LEAK - np.float32(1.0)) * top)
            else:
                c, d = np.float32(0.0), np.float32(1.0)
            first, last = below[low * row : (low + 1) * row], above[low * row : (low + 1) * row]
            scale = np.float32(1.0) / (c * last[part] + d * first[part])
            c, d = c * scale, d * scale
            y = numbers[mixed + node * width + head * part : mixed + node * width + (head + 1) * part]
            for j in range(part):
                y[j] = max(c * last[j] + d * first[j] + bias[head * part + j], np.float32(0.0))


@compiled
def _neighbours(state, node, found):
    """Write the nodes that ``node`` attends to: itself, its predecessor and successor, its nearest; return how many."""
    found[0] = node
    count = 1
    if node > 0 and state.route[node] >= 0:
        for other in (state.predecessor[node], state.successor[node]):
            if other != found[count - 1]:
                found[count] = other
                count += 1
    tour = count
    for index in range(min(NEAREST, state.neighbours.shape[1])):
        other = state.neighbours[node, index]
        known = False
        for earlier in range(tour):
            known = known or found[earlier] == other
        if not known:
            found[count] = other
            count += 1
    return count


@compiled
def nearest_layer(state, numbers, source, weights, embedded, mixed, space, nodes, inputs, width, heads):
    """Write y for all nodes, each attending to its neighbours, to ``mixed``; what follows ``space`` is scratch."""
    part = width // heads
    scores = space
    shares = numbers[space + 2 * heads * nodes : space + 2 * heads * nodes + 3 + NEAREST]
    _embed(numbers, source, weights, embedded, scores, nodes, inputs, width, heads)
    bias = numbers[weights + (inputs + 2) * width : weights + (inputs + 3) * width]
    found = np.empty(3 + NEAREST, np.uint32)
    for node in range(nodes):
        count = _neighbours(state, np.uint32(node), found)
        for head in range(heads):
            t = numbers[scores + (heads + head) * nodes + node]
            most = np.float32(-np.inf)
            for index in range(count):
                score = t + numbers[scores + head * nodes + np.int64(found[index])]
                score = score if score > 0.0 else LEAK * score
                shares[index] = score
                most = max(most, score)
            total = np.float32(0.0)
            for index in range(count):
                shares[index] = np.exp(shares[index] - most)
                total += shares[index]
            y = numbers[mixed + node * width + head * part : mixed + node * width + (head + 1) * part]
            for j in range(part):
                y[j] = bias[head * part + j]
            for index in range(count):
                share = shares[index] / total
                start = embedded + np.int64(found[index]) * width + head * part
                h = numbers[start : start + part]
                for j in range(part):
                    y[j] += share * h[j]
            for j in range(part):
                y[j] = max(y[j], np.float32(0.0))


@compiled
def pool(numbers, mixed, pooled, nodes, width):
    """Write the mean and then the maximum over all nodes to ``pooled``."""
    mean, most = numbers[pooled : pooled + width], numbers[pooled + width : pooled + 2 * width]
    for j in range(width):
        mean[j] = np.float32(0.0)
        most[j] = np.float32(-np.inf)
    for node in range(nodes):
        y = numbers[mixed + node * width : mixed + (node + 1) * width]
        for j in range(width):
            mean[j] += y[j]
            most[j] = max(most[j], y[j])
    for j in range(width):
        mean[j] /= np.float32(nodes)
