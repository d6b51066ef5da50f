"""What a route of one request costs, in which vehicle; and any position of a request on a route."""

import numpy as np

from neuralns.compiled.caching import compiled
from neuralns.compiled.random import randint
from neuralns.routes.cost import ask_cost
from neuralns.routes.insertion import cost_at, may_fit
from neuralns.routes.rules import fleet, groups
from neuralns.routes.vehicles import LARGEST_TYPE, opening_depots

FAR = 2.0
"""A preferred vehicle type is used where a route of one request costs at most so many times the least, the vehicle
aside."""


@compiled
def opening(state, customer):
    """Return the least cost of a route for one request, with the vehicle; its type is left in ``found_vehicle``."""
    node = np.uint32(customer)
    state.found_vehicle = 0
    if not fleet.may_open(state, 0) or groups.is_served(state, node):
        return np.inf
    if state.varied == 0 and state.has_depots == 0:
        return state.alone[0, node]
    best, found = np.inf, np.int64(-1)
    for index in range(len(state.by_class)):
        vehicle = state.by_class[index]
        if state.alone[vehicle, node] < best and fleet.is_free(state, vehicle):
            cost = state.alone[vehicle, node]
            if state.has_depots != 0:
                cost += opening_depots(state, vehicle, node)
            if cost < best:
                best, found = cost, np.int64(vehicle)
    if state.preferred >= 0 and found >= 0:
        best, found = _with_preferred(state, node, best, found)
    if state.sizing == LARGEST_TYPE and found >= 0:
        begin, size, most = state.class_begin[found], state.class_size[found], state.carries[found, 0]
        for index in range(begin, begin + size):
            vehicle = state.by_class[index]
            if fleet.is_free(state, vehicle) and state.carries[vehicle, 0] > most:
                cost = state.alone[vehicle, node]
                if state.has_depots != 0 and cost < np.inf:
                    cost += opening_depots(state, vehicle, node)
                if cost < np.inf:
                    best, most, found = cost, state.carries[vehicle, 0], np.int64(vehicle)
    state.found_vehicle = found
    return best


@compiled
def _with_preferred(state, node, cost, found):
    """Return the cost and the type of a route of one request in the type that the repair prefers, else as given.

    A type that costs far more on the way, from another depot say, is not worth a trial.
    """
    vehicle = np.int64(state.preferred)
    if not fleet.is_free(state, vehicle):
        return cost, found
    own = state.alone[vehicle, node]
    if own - state.fixed_cost[vehicle] > FAR * (state.alone[found, node] - state.fixed_cost[found]):
        return cost, found
    if state.has_depots != 0:
        own += opening_depots(state, vehicle, node)
    return (own, vehicle) if own < np.inf else (cost, found)


@compiled
def measure_alone(state):
    """Work out what a route of each request alone costs in each vehicle type: kept in ``alone``."""
    for vehicle in range(state.alone.shape[0]):
        state.alone[vehicle, 0] = np.inf
        for customer in range(1, state.customers + 1):
            state.sequence[0] = customer
            count = 1
            if state.shipments != 0:
                if state.is_delivery[customer] != 0:
                    state.alone[vehicle, customer] = np.inf
                    continue
                if state.partner[customer] != 0:
                    state.sequence[1] = state.partner[customer]
                    count = 2
            state.alone[vehicle, customer] = ask_cost(state, count, vehicle)


@compiled
def random_position(state, customer, slot):
    """Return a position on a route where a request may be, uniformly; −1 if there is none."""
    node, slot = np.uint32(customer), np.uint32(slot)
    if not may_fit(state, node, slot):
        return np.int64(-1)
    if state.timed == 0 and state.varied == 0 and state.simple_load != 0 and state.limited == 0:
        # Any is allowed.
        before, following = np.uint32(0), state.first[slot]
        for _ in range(randint(state, state.size[slot] + 1)):
            before, following = following, state.successor[following]
        return np.int64(before)
    size, pairs = state.customers + 1, state.shipments != 0 and state.partner[node] != 0
    chosen, seen, before = np.int64(-1), 0, np.uint32(0)
    while True:
        behind = before
        while True:
            position = np.int64(before)
            if pairs:
                position += size * np.int64(node if behind == before else behind)
            if cost_at(state, node, slot, position) < np.inf:
                seen += 1
                if randint(state, seen) == 0:
                    chosen = position
            behind = state.first[slot] if behind == 0 else state.successor[behind]
            if behind == 0 or not pairs:
                break
        before = state.first[slot] if before == 0 else state.successor[before]
        if before == 0:
            return chosen
