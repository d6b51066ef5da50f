"""How destroy operators pick: customers and routes by chance, by rank, by nearness."""

import numpy as np

from neuralns.compiled.caching import compiled
from neuralns.compiled.random import randint, random_rank
from neuralns.routes.edits import remove
from neuralns.routes.evaluate import distance

TRIES = 1000
"""Draws after which nobody is where the books say, but for very bad luck."""
OFTEN, SELDOM, MANY = 4, 64, 100
"""Draws that it takes on average to hit a customer on a route, above which all are looked at instead; the latter where
there are many, since that takes long then."""


@compiled
def random_routed(state):
    """Return a customer that is on a route, uniformly; 0 if there is none.

    The first one of a step is the selector's seed, if there is any.
    """
    if state.status.seed > 0 and state.n_removed == 0:
        return state.status.seed
    left = state.present - state.n_removed
    if left <= 0:
        return 0
    if (SELDOM if left >= MANY else OFTEN) * left >= state.customers:
        # Not forever: a faulty operator can leave books that do not fit the routes.
        for _ in range(TRIES):
            customer = 1 + randint(state, state.customers)
            if state.route[customer] >= 0:
                return customer
    rank = randint(state, left)
    for customer in range(1, state.customers + 1):
        if state.route[customer] >= 0:
            if rank == 0:
                return customer
            rank -= 1
    return 0


@compiled
def select_largest(keys, items, count, rank):
    """Reorder keys and items so that entry ``rank`` is where a sort from the largest down would have it.

    Larger keys come before it, smaller ones after (quickselect, Hoare 1961): linear time on average.
    """
    low, high = 0, count - 1
    while low < high:
        pivot = keys[(low + high) >> 1]
        left, right = low, high
        while left <= right:
            while keys[left] > pivot:
                left += 1
            while keys[right] < pivot:
                right -= 1
            if left <= right:
                keys[left], keys[right] = keys[right], keys[left]
                items[left], items[right] = items[right], items[left]
                left += 1
                right -= 1
        if rank <= right:
            high = right
        elif rank >= left:
            low = left
        else:
            return


@compiled
def remove_by_rank(state, count, quota, determinism):
    """Remove customers of ``items`` by their ``keys``, drawing ranks from the largest key down until the quota is met.

    The rank is ⌊y^p · m⌋ for y uniform, determinism p, and m customers left (Ropke & Pisinger 2006).
    """
    while state.n_removed < quota:
        rank = random_rank(state, count, determinism)
        select_largest(state.keys, state.items, count, rank)
        remove(state, state.items[rank])
        count -= 1
        state.keys[rank], state.items[rank] = state.keys[count], state.items[count]


@compiled
def remove_route(state, slot, quota):
    """Remove the customers of a route from its start on, until it is empty or the quota is met."""
    while state.first[slot] != 0 and state.n_removed < quota:
        remove(state, state.first[slot])


@compiled
def random_route(state):
    """Return a route with customers, uniformly; there must be one.

    The first one of a step is that of the selector's seed, if there is any.
    """
    if state.status.seed > 0 and state.n_removed == 0:
        return np.uint32(state.route[state.status.seed])
    for _ in range(TRIES):
        slot = state.active[randint(state, state.n_active)]
        if state.size[slot] > 0:
            return slot
    for index in range(state.n_active):
        if state.size[state.active[index]] > 0:
            return state.active[index]
    return state.active[0]


@compiled
def nearest_routed(state, customer, mark):
    """Return the nearest other customer on a route whose slot does not carry ``mark``; 0 if there is none."""
    for index in range(state.neighbours.shape[1]):
        other = state.neighbours[customer, index]
        slot = state.route[other]
        if slot >= 0 and state.visited_slots[slot] != mark:
            return other
    if state.neighbours.shape[1] >= state.customers - 1:
        return 0
    nearest, least = 0, 0.0
    for other in range(1, state.customers + 1):
        slot = state.route[other]
        if slot >= 0 and other != customer and state.visited_slots[slot] != mark:
            length = distance(state, customer, other)
            if nearest == 0 or length < least:
                nearest, least = other, length
    return nearest
