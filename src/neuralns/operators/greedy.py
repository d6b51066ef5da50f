"""Greedy-based destroy operators: the customers or routes that rank first by a measure of cost."""

import numpy as np

from neuralns.compiling import compiled
from neuralns.operators.parts import remove_by_rank, remove_route, select_largest
from neuralns.operators.registry import destroy
from neuralns.operators.state import random_rank, removal_gain, remove

WORST_DETERMINISM = 3.0
"""p of the worst-node rule, as Ropke & Pisinger tuned it."""


@destroy("worst-node", "greedy")
def worst_node(state, quota):
    """Remove customers whose removal saves much, recomputing after each.

    With gains g_i = c_pi + c_is − c_ps sorted from the largest down, take rank ⌊y^p · m⌋ for y uniform, p = 3, and m
    customers left. Ropke & Pisinger 2006, section 3.1.3.
    """
    gains = state.best_cost
    for customer in range(1, state.customers + 1):
        gains[customer] = removal_gain(state, customer)
    while state.n_removed < quota:
        left = state.customers - state.n_removed
        rank = random_rank(state, left, WORST_DETERMINISM)
        if rank == 0:
            worst = 0
            for customer in range(1, state.customers + 1):
                if state.route[customer] >= 0 and (worst == 0 or gains[customer] > gains[worst]):
                    worst = customer
        else:
            count = 0
            for customer in range(1, state.customers + 1):
                if state.route[customer] >= 0:
                    state.keys[count] = gains[customer]
                    state.items[count] = customer
                    count += 1
            select_largest(state.keys, state.items, count, rank)
            worst = state.items[rank]
        before, after = state.predecessor[worst], state.successor[worst]
        remove(state, worst)
        if before != 0:
            gains[before] = removal_gain(state, before)
        if after != 0:
            gains[after] = removal_gain(state, after)


@compiled
def _drops_of_mean(state, slot):
    """Write into ``best_cost``, for each customer of a route, by how much its removal lowers the mean arc length."""
    size, length = state.size[slot], state.length[slot]
    customer = state.first[slot]
    while customer != 0:
        left = (length - removal_gain(state, customer)) / size if size > 1 else 0.0
        state.best_cost[customer] = length / (size + 1) - left
        customer = state.successor[customer]


@destroy("neighbourhood", "greedy")
def neighbourhood(state, quota):
    """Remove the customer whose removal lowers the mean arc length of its route the most, again and again.

    With mean arc length d̄_B = length / (customers + 1) of route B: argmax over B and i ∈ B of d̄_B − d̄_{B∖i}, where a
    route without customers has mean 0. Demir, Bektaş & Laporte 2012, section 3.3.1 (neighbourhood removal).
    """
    for index in range(state.n_active):
        _drops_of_mean(state, state.active[index])
    while state.n_removed < quota:
        worst, most = 0, -np.inf
        for customer in range(1, state.customers + 1):
            if state.route[customer] >= 0 and state.best_cost[customer] > most:
                worst, most = customer, state.best_cost[customer]
        slot = state.route[worst]
        remove(state, worst)
        _drops_of_mean(state, slot)


@destroy("greedy-route", "greedy")
def greedy_route(state, quota):
    """Remove whole routes, the shortest first; the last one is cut to what is still needed.

    Keskin & Çatay 2016, section 4.2 (greedy route removal), by length.
    """
    while state.n_removed < quota:
        shortest = -1
        for index in range(state.n_active):
            slot = state.active[index]
            if state.size[slot] > 0 and (shortest < 0 or state.length[slot] < state.length[shortest]):
                shortest = slot
        remove_route(state, shortest, quota)


@destroy("worst-load", "greedy")
def worst_load(state, quota):
    """Remove customers that cost much, demand much, and ride on routes with few customers.

    Score g_i / ḡ + q_i / q̄ + m̄ / m_i: gain, demand and the size of the route against their means. From the highest
    down, take rank ⌊y^p · m⌋ for y uniform, p = 3. Worst removal of Ropke & Pisinger 2006 with the terms of load and
    route that Demir, Bektaş & Laporte 2012 name.
    """
    mean_gain, mean_demand = 1e-12, 1e-12
    for customer in range(1, state.customers + 1):
        state.best_cost[customer] = removal_gain(state, customer)
        mean_gain += state.best_cost[customer] / state.customers
        mean_demand += state.demand[customer] / state.customers
    mean_size = state.customers / state.n_routes
    for customer in range(1, state.customers + 1):
        score = state.best_cost[customer] / mean_gain + state.demand[customer] / mean_demand
        state.keys[customer - 1] = score + mean_size / state.size[state.route[customer]]
        state.items[customer - 1] = customer
    remove_by_rank(state, state.customers, quota, WORST_DETERMINISM)
