"""Greedy-based destroy operators: the customers or routes that rank first by a measure of cost."""

import numpy as np

from neuralns.operators.toolkit import (
    compiled,
    destroy,
    off_opening,
    random_rank,
    removal,
    remove,
    remove_by_rank,
    remove_route,
    select_largest,
)


@destroy("worst-node", "greedy")
def worst_node(state, quota, determinism=3.0):
    """Remove customers whose removal saves much, recomputing after each.

    With gains g_i = c_pi + c_is − c_ps sorted from the largest down, take rank ⌊y^p · m⌋ for y uniform, determinism p,
    and m customers left. Ropke & Pisinger 2006, section 3.1.3, who tuned p to 3.
    """
    gains = state.best_delta
    for customer in range(1, state.customers + 1):
        if state.route[customer] >= 0:
            gains[customer] = removal(state, customer)
    while state.n_removed < quota:
        left = state.present - state.n_removed
        rank = random_rank(state, left, determinism)
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
            gains[before] = removal(state, before)
        if after != 0:
            gains[after] = removal(state, after)


@compiled
def _note_worst(state, slot):
    """Note in ``order`` the customer of a route whose removal lowers its mean arc length most, in ``keys`` the drop.

    Among equal drops it is the customer of the smallest number; 0 if the route is empty.
    """
    size, length = state.size[slot], state.length[slot]
    worst, most = np.uint32(0), 0.0
    customer = state.first[slot]
    while customer != 0:
        left = (length - removal(state, customer)) / size if size > 1 else 0.0
        drop = length / (size + 1) - left
        if worst == 0 or drop > most or (drop == most and customer < worst):
            worst, most = customer, drop
        customer = state.successor[customer]
    state.order[slot], state.keys[slot] = worst, most


@destroy("neighbourhood", "greedy")
def neighbourhood(state, quota):
    """Remove the customer whose removal lowers the mean arc length of its route the most, again and again.

    With mean arc length d̄_B = length / (customers + 1) of route B: argmax over B and i ∈ B of d̄_B − d̄_{B∖i}, where a
    route without customers has mean 0. Demir, Bektaş & Laporte 2012, section 3.3.1 (neighbourhood removal).
    """
    for index in range(state.n_active):
        _note_worst(state, state.active[index])
    while state.n_removed < quota:
        chosen, worst, most = 0, np.uint32(0), 0.0
        for index in range(state.n_active):
            slot = state.active[index]
            customer, drop = state.order[slot], state.keys[slot]
            if customer != 0 and (worst == 0 or drop > most or (drop == most and customer < worst)):
                chosen, worst, most = slot, customer, drop
        remove(state, worst)
        _note_worst(state, chosen)


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
def worst_load(state, quota, determinism=3.0):
    """Remove customers that cost much, demand much, and ride on routes with few customers.

    Score g_i / ḡ + q_i / q̄ + m̄ / m_i: gain, demand and the size of the route against their means. From the highest
    down, take rank ⌊y^p · m⌋ for y uniform, determinism p. Worst removal of Ropke & Pisinger 2006 with the terms of
    load and route that Demir, Bektaş & Laporte 2012 name.
    """
    mean_gain, mean_demand = 1e-12, 1e-12
    for customer in range(1, state.customers + 1):
        if state.route[customer] >= 0:
            state.best_delta[customer] = removal(state, customer)
            mean_gain += state.best_delta[customer] / state.present
            mean_demand += state.demand[customer] / state.present
    mean_size = state.present / state.n_routes
    count = 0
    for customer in range(1, state.customers + 1):
        if state.route[customer] >= 0:
            score = state.best_delta[customer] / mean_gain + state.demand[customer] / mean_demand
            state.keys[count] = score + mean_size / state.size[state.route[customer]]
            state.items[count] = customer
            count += 1
    remove_by_rank(state, count, quota, determinism)


@destroy("worst-time", "greedy")
def worst_time(state, quota, determinism=3.0):
    """Remove customers that cost much, or are reached long before or after their window opens.

    Score g_i / ḡ + |a_i − e_i| / w̄: gain, and time between arrival and the opening of the window, against their means;
    without windows the gain alone. From the highest down, take rank ⌊y^p · m⌋ for y uniform, determinism p. Worst-time
    removal of Demir, Bektaş & Laporte 2012, section 3.3.1, with the gain of their worst-distance removal.
    """
    mean_gain, mean_time = 1e-12, 1e-12
    for customer in range(1, state.customers + 1):
        if state.route[customer] >= 0:
            state.best_delta[customer], state.row_limit[customer] = (
                removal(state, customer),
                off_opening(state, customer),
            )
            mean_gain += state.best_delta[customer] / state.present
            mean_time += state.row_limit[customer] / state.present
    count = 0
    for customer in range(1, state.customers + 1):
        if state.route[customer] >= 0:
            state.keys[count] = state.best_delta[customer] / mean_gain + state.row_limit[customer] / mean_time
            state.items[count] = customer
            count += 1
    remove_by_rank(state, count, quota, determinism)
