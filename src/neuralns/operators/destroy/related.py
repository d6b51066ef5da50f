"""Related-based destroy operators: customers that are alike, by place, route or history."""

import numpy as np

from neuralns.operators.toolkit import (
    compiled,
    destroy,
    distance,
    ends_of_requests,
    has_windows,
    nearest_routed,
    new_visit,
    other_end,
    randint,
    random,
    random_rank,
    random_route,
    random_routed,
    remove,
    remove_by_rank,
    request_of,
    seen_cost,
    select_largest,
    start_of_service,
)

SHAW_DISTANCE, SHAW_TIME, SHAW_DEMAND, SHAW_ROUTE = 9.0, 3.0, 2.0, 3.0
"""Weights of Shaw's relatedness: those of Ropke & Pisinger; that of times is for routes where there are no windows."""
SHAW_NEIGHBOURS = 100


@destroy("proximity", "related")
def proximity(state, quota, determinism=6.0):
    """Remove a random customer, then again and again one near to a random customer already removed.

    With the m customers left sorted by distance, nearest first, take rank ⌊y^p · m⌋ for y uniform, determinism p: 6, as
    Ropke & Pisinger tuned it. Shaw 1998 with distance alone; Demir, Bektaş & Laporte 2012, section 3.3.1
    (proximity-based removal).
    """
    remove(state, random_routed(state))
    while state.n_removed < quota:
        centre = state.removed[randint(state, state.n_removed)]
        left = state.present - state.n_removed
        remove(state, _near_by_rank(state, centre, random_rank(state, left, determinism)))


@compiled
def _near_by_rank(state, centre, rank):
    """Return the customer on a route that stands at a rank among those left, nearest to ``centre`` first."""
    passed = 0
    for index in range(state.neighbours.shape[1]):
        other = state.neighbours[centre, index]
        if state.route[other] >= 0:
            if passed == rank:
                return other
            passed += 1
    count = 0
    for other in range(1, state.customers + 1):
        if state.route[other] >= 0:
            state.keys[count] = -distance(state, centre, other)
            state.items[count] = other
            count += 1
    select_largest(state.keys, state.items, count, rank)
    return state.items[rank]


@destroy("cluster", "related")
def cluster(state, quota):
    """Split a random route in two clusters, remove one of them, and go on with a route near by.

    The two clusters are the components that Kruskal's algorithm has when two are left: the minimum spanning tree of
    the route's customers without its longest edge. The next route is that of the customer nearest to a random removed
    one, among routes not split yet. Pisinger & Ropke 2007, section 5.1.3 (cluster removal).
    """
    split = new_visit(state)
    slot = random_route(state)
    while True:
        _remove_cluster(state, slot, quota)
        if state.n_removed >= quota:
            return
        state.visited_slots[slot] = split
        centre = state.removed[randint(state, state.n_removed)]
        near = nearest_routed(state, centre, split)
        if near == 0:
            split = new_visit(state)
            near = nearest_routed(state, centre, split)
        slot = state.route[near]


@compiled
def _remove_cluster(state, slot, quota):
    size = 0
    customer = state.first[slot]
    while customer != 0:
        state.items[size] = customer
        size += 1
        customer = state.successor[customer]
    # Prim's algorithm orders the customers so that each one's parent in the tree comes before it.
    edge, parent = state.keys, state.order
    for index in range(1, size):
        edge[index] = np.inf
    longest = 0
    for index in range(size):
        if index > 0:
            nearest = index
            for other in range(index + 1, size):
                if edge[other] < edge[nearest]:
                    nearest = other
            state.items[index], state.items[nearest] = state.items[nearest], state.items[index]
            edge[index], edge[nearest] = edge[nearest], edge[index]
            parent[index], parent[nearest] = parent[nearest], parent[index]
            if longest == 0 or edge[index] > edge[longest]:
                longest = index
        for other in range(index + 1, size):
            length = distance(state, state.items[index], state.items[other])
            if length < edge[other]:
                edge[other] = length
                parent[other] = index
    beyond = new_visit(state)
    for index in range(1, size):
        if index == longest or state.visited[state.items[parent[index]]] == beyond:
            state.visited[state.items[index]] = beyond
    take_beyond = size > 1 and random(state) < 0.5
    for index in range(size):
        if state.n_removed >= quota:
            return
        if (state.visited[state.items[index]] == beyond) == take_beyond:
            remove(state, state.items[index])


@compiled
def _remove_inside(state, x, y, width, height, quota):
    """Remove the customers inside the smallest rectangle of given centre and shape that holds the quota."""
    count = 0
    for customer in range(1, state.customers + 1):
        if state.route[customer] >= 0:
            dx, dy = abs(state.x[customer] - x) / width, abs(state.y[customer] - y) / height
            state.keys[count] = -max(dx, dy)
            state.items[count] = customer
            count += 1
    # Both ends of a shipment may be inside.
    most = min(count, quota * ends_of_requests(state))
    select_largest(state.keys, state.items, count, most - 1)
    for index in range(most):
        if state.n_removed < quota:
            remove(state, state.items[index])


@destroy("node-neighbourhood", "related")
def node_neighbourhood(state, quota):
    """Remove a random customer and those inside the smallest square around it that holds the quota.

    The quota's smallest max(|Δx|, |Δy|). Demir, Bektaş & Laporte 2012, section 3.3.1 (node neighbourhood removal).
    """
    seed = random_routed(state)
    _remove_inside(state, state.x[seed], state.y[seed], 1.0, 1.0, quota)


@destroy("zone", "related")
def zone(state, quota):
    """Remove the customers inside a random rectangle of the plane, grown until it holds the quota.

    Its centre is uniform in the customers' bounding box, its sides are drawn from a tenth to the whole of the box's.
    Emeç, Çatay & Bozkaya 2016, section 4.2 (zone removal).
    """
    left, right, low, high = np.inf, -np.inf, np.inf, -np.inf
    for customer in range(1, state.customers + 1):
        left, right = min(left, state.x[customer]), max(right, state.x[customer])
        low, high = min(low, state.y[customer]), max(high, state.y[customer])
    x, y = left + random(state) * (right - left), low + random(state) * (high - low)
    width = max((0.1 + 0.9 * random(state)) * (right - left), 1e-9)
    height = max((0.1 + 0.9 * random(state)) * (high - low), 1e-9)
    _remove_inside(state, x, y, width, height, quota)


@destroy("route-neighbourhood", "related")
def route_neighbourhood(state, quota):
    """Remove the closest pair of customers across a random route and one near it, again and again.

    The near route is that of the customer nearest to a random customer of the first. Once only one route is left,
    customers are drawn at random. Emeç, Çatay & Bozkaya 2016, section 4.2 (route neighbourhood removal).
    """
    while state.n_removed < quota:
        if state.n_routes < 2:
            remove(state, random_routed(state))
            continue
        slot = random_route(state)
        customer = state.first[slot]
        for _ in range(randint(state, state.size[slot])):
            customer = state.successor[customer]
        own = new_visit(state)
        state.visited_slots[slot] = own
        start = state.first[state.route[nearest_routed(state, customer, own)]]
        one, other, least = 0, 0, np.inf
        customer = state.first[slot]
        while customer != 0:
            across = start
            while across != 0:
                length = distance(state, customer, across)
                if length < least:
                    one, other, least = customer, across, length
                across = state.successor[across]
            customer = state.successor[customer]
        remove(state, one)
        if state.n_removed < quota:
            remove(state, other)


@destroy("pair", "related")
def pair(state, quota):
    """Remove a random customer and the nearest one left, again and again.

    Mancini 2016, section 4 (pair removal).
    """
    nobody = new_visit(state)
    while state.n_removed < quota:
        customer = random_routed(state)
        remove(state, customer)
        if state.n_removed < quota:
            remove(state, nearest_routed(state, customer, nobody))


@destroy("historical", "related", uses_history=True)
def historical(state, quota, determinism=3.0):
    """Remove customers whose arcs were part of no good solution so far.

    With w_uv the cost of the best solution seen with arc (u, v), the score of customer i between p and s is
    w_pi + w_is. From the highest score down, take rank ⌊y^p · m⌋ for y uniform, determinism p, and m customers
    left.     Pisinger & Ropke 2007, section 5.1.4 (historical node-pair removal).
    """
    count = 0
    for customer in range(1, state.customers + 1):
        if state.route[customer] >= 0:
            before, after = state.predecessor[customer], state.successor[customer]
            state.keys[count] = seen_cost(state, before, customer) + seen_cost(state, customer, after)
            state.items[count] = customer
            count += 1
    remove_by_rank(state, count, quota, determinism)


@compiled
def _both_distances(state, one, other):
    """Return the distance of two customers; of two shipments, those of their pickups and their deliveries."""
    far, end, end_of_other = distance(state, one, other), other_end(state, one), other_end(state, other)
    return far + distance(state, end, end_of_other) if end != 0 and end_of_other != 0 else far


@compiled
def _both_starts(state, customer):
    """Return when a customer on a route is served; of a shipment the sum of both times."""
    end = other_end(state, customer)
    time = start_of_service(state, customer)
    return time + start_of_service(state, end) if end != 0 else time


@destroy("shaw", "related")
def shaw(state, quota, determinism=6.0):
    """Remove a random customer, then again and again one that is related to a random customer already removed.

    Relatedness of i and j, less is closer: φ c_ij / c_max + ψ |q_i − q_j| / q_max + χ [i and j on different routes],
    with windows χ |t_i − t_j| / t_max in place of the last, t_i the start of service (of one who is removed, as it was
    then). φ = 9, ψ = 2, χ = 3, among the 100 nearest customers of i, c_max, q_max and t_max the largest values among
    them. Of shipments the distances and times of both pickups and of both deliveries are added up. From the closest on,
    take rank ⌊y^p · m⌋ for y uniform, determinism p. Shaw 1998; Ropke & Pisinger 2006, section 3.1.1.
    """
    customer, timed = request_of(state, random_routed(state)), has_windows(state)
    came_from, served, apart = state.order, state.best_delta, state.row_limit
    while True:
        came_from[customer] = state.route[customer]
        if timed:
            served[customer] = _both_starts(state, customer)
        remove(state, customer)
        if state.n_removed >= quota:
            return
        centre = state.removed[randint(state, state.n_removed)]
        count, farthest, widest, longest = 0, 1e-12, 1e-12, 1e-12
        for index in range(min(SHAW_NEIGHBOURS, state.neighbours.shape[1])):
            other = state.neighbours[centre, index]
            if state.route[other] >= 0:
                other = request_of(state, other)
                state.items[count] = other
                farthest = max(farthest, _both_distances(state, centre, other))
                widest = max(widest, abs(state.demand[centre] - state.demand[other]))
                if timed:
                    apart[count] = abs(served[centre] - _both_starts(state, other))
                    longest = max(longest, apart[count])
                count += 1
        if count == 0:
            customer = request_of(state, random_routed(state))
            continue
        for index in range(count):
            other = state.items[index]
            far = SHAW_DISTANCE * _both_distances(state, centre, other) / farthest
            unlike = SHAW_DEMAND * abs(state.demand[centre] - state.demand[other]) / widest
            if timed:
                elsewhere = SHAW_TIME * apart[index] / longest
            else:
                elsewhere = 0.0 if state.route[other] == came_from[centre] else SHAW_ROUTE
            state.keys[index] = -(far + unlike + elsewhere)
        rank = random_rank(state, count, determinism)
        select_largest(state.keys, state.items, count, rank)
        customer = np.int64(state.items[rank])


@destroy("time-oriented", "related")
def time_oriented(state, quota, near=100.0, determinism=6.0):
    """Remove a random customer and those of its ``near`` nearest ones that are served at about the same time.

    With |t_i − t_j| from the least up, t_j the start of service of the random customer, take rank ⌊y^p · m⌋ for y
    uniform, determinism p; then with another random customer, if need be. Without windows a vehicle leaves at 0, and
    travel takes as long as it is far. Pisinger & Ropke 2007, section 5.1 (time-oriented removal).
    """
    while state.n_removed < quota:
        seed = random_routed(state)
        time = start_of_service(state, seed)
        count = 0
        for index in range(min(int(near), state.neighbours.shape[1])):
            other = state.neighbours[seed, index]
            if state.route[other] >= 0:
                state.keys[count] = -abs(start_of_service(state, other) - time)
                state.items[count] = other
                count += 1
        remove(state, seed)
        remove_by_rank(state, count, min(quota, state.n_removed + count), determinism)
