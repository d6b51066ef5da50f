"""The two edits that operators make, `remove` and `insert`; the slots that routes come and go in; the bank."""

import numpy as np

from neuralns.compiled.caching import compiled
from neuralns.compiled.random import randint, random
from neuralns.routes.evaluate import cost_without, count_changed, is_on_time, penalty, put_on, take_off
from neuralns.routes.journal import checkpoint, restore
from neuralns.routes.removal_list import add_to_list
from neuralns.routes.rules import groups

MOST_TAKEN = 50
"""The most customers of the bank that a repair tries at a time."""
OPENING_SHARE = 0.2
"""Share of the repairs that are offered optional customers near each other, one of whom is served in any case."""
OFFERED, OFFERED_AMONG = 2, 20
"""Of so many nearest of each customer removed, so many who are on no route are offered to a repair as well."""
NOTHING_WRONG, NOT_REMOVABLE, NOT_INSERTABLE, WRONG_POSITION, TABLE_FULL, FAILED = range(6)
"""Values of ``State.fault``: what an operator did that had to be refused, or that a function of a user's own failed."""


@compiled
def remove(state, customer):
    """Take a customer off its route and put it on the removal list, the other end of its shipment as well.

    A shipment is on the list once, by its pickup; an end that is off the route already stays there.
    """
    if 0 < customer <= state.customers and state.fault == NOTHING_WRONG:
        if state.route[customer] >= 0:
            take_off(state, customer)
            return
        if state.shipments != 0 and state.partner[customer] != 0:
            return
    if state.fault == NOTHING_WRONG:
        state.fault, state.fault_node = NOT_REMOVABLE, customer
    # After a mistake nothing is removed any more, but a loop that waits for the quota must end.
    if state.n_removed < state.customers:
        state.n_removed += 1


@compiled
def insert(state, customer, slot, position):
    """Put a removed customer on a route, at a position that `evaluate` names; 0 is the start of any route.

    It leaves the removal list, where the last entry takes its position.
    """
    if customer < 1 or customer > state.customers or state.route[customer] >= 0:
        if state.fault == NOTHING_WRONG:
            state.fault, state.fault_node = NOT_INSERTABLE, customer
    elif not _is_position(state, slot, position) and state.fault == NOTHING_WRONG:
        state.fault, state.fault_node = WRONG_POSITION, customer
    if state.fault != NOTHING_WRONG:
        # After a mistake nothing is inserted any more, but a loop that waits for an empty list must end.
        if state.n_removed > 0:
            state.n_removed -= 1
        return
    put_on(state, customer, slot, position)


@compiled
def _is_position(state, slot, position):
    """Return whether a customer can be inserted into a slot at a position: after a customer of its route, or first."""
    if state.shipments != 0 and position > state.customers:
        behind = position // (state.customers + 1)
        if behind > state.customers or (state.partner[behind] == 0 and state.route[behind] != slot):
            return False
        position %= state.customers + 1
    if slot < 0 or slot >= state.customers or position < 0 or position > state.customers:
        return False
    if position > 0:
        return state.route[position] == slot
    if state.size[slot] > 0:
        return True
    for index in range(state.n_active):
        if state.active[index] == slot:
            return True
    return False


@compiled
def open_route(state, vehicle=0):
    """Return an empty slot to insert into, for a type of vehicle that `best_opening` names.

    It is one that was emptied, or a new one at the end of ``state.active``.
    """
    if state.n_active > state.n_routes:
        for index in range(state.n_active):
            if state.size[state.active[index]] == 0:
                state.vehicle[state.active[index]] = vehicle
                return state.active[index]
    state.n_free -= 1
    slot = state.free[state.n_free]
    state.active[state.n_active] = slot
    state.n_active += 1
    state.vehicle[slot] = vehicle
    return slot


@compiled
def close_empty_routes(state):
    """Give back the slots without customers."""
    if state.n_active == state.n_routes:
        return
    index = 0
    while index < state.n_active:
        slot = state.active[index]
        if state.size[slot] == 0:
            state.n_active -= 1
            state.active[index] = state.active[state.n_active]
            state.free[state.n_free] = slot
            state.n_free += 1
        else:
            index += 1


@compiled
def take_from_bank(state):
    """Put customers of the bank on the removal list as well, for a repair to try.

    All who must be served, some by chance if there are many; of those who need not be, the nearest to customers just
    removed, and one by chance.
    """
    if state.groups_missing > 0:
        state.cost -= state.groups_missing * state.unserved_cost
    state.n_taken = 0
    if state.optional != 0:
        _take_some(state)
    else:
        count = min(state.n_bank, MOST_TAKEN)
        for index in range(count):
            last = state.n_bank - 1 - index
            _take(state, randint(state, last + 1) if state.n_bank > MOST_TAKEN else last)
    state.present += state.n_taken


@compiled
def _take_some(state):
    fresh = state.n_removed
    state.forced = 0
    for index in range(state.n_bank - 1, -1, -1):
        customer = state.bank[index]
        if state.n_taken < MOST_TAKEN and (
            state.prize[customer] >= state.unserved_cost or (state.grouped != 0 and state.group[customer] >= 0)
        ):
            _take(state, index)
    free = state.n_bank - state.n_taken
    if free > 0 and random(state) < OPENING_SHARE:
        # Together customers may pay for a route that none of them pays for alone.
        seed = state.bank[randint(state, free)]
        state.forced = int(seed)
        _take(state, state.bank_index[seed])
        for rank in range(state.neighbours.shape[1]):
            at = state.bank_index[state.neighbours[seed, rank]]
            if 0 <= at < state.n_bank - state.n_taken:
                if state.n_taken >= MOST_TAKEN:
                    return
                _take(state, at)
        return
    for index in range(fresh):
        seed, offered = state.removed[index], 0
        for rank in range(min(OFFERED_AMONG, state.neighbours.shape[1])):
            at = state.bank_index[state.neighbours[seed, rank]]
            if 0 <= at < state.n_bank - state.n_taken and state.n_taken < MOST_TAKEN:
                _take(state, at)
                offered += 1
                if offered >= OFFERED:
                    break
    if state.n_taken < min(state.n_bank, MOST_TAKEN):
        _take(state, randint(state, state.n_bank - state.n_taken))


@compiled
def _take(state, index):
    """Put the customer at an index of the bank on the removal list; it moves to the end of the bank."""
    last = state.n_bank - 1 - state.n_taken
    customer, other = state.bank[index], state.bank[last]
    state.bank[index], state.bank[last] = other, customer
    state.bank_index[other], state.bank_index[customer] = index, last
    state.cost -= penalty(state, customer)
    add_to_list(state, customer)
    state.n_taken += 1


@compiled
def take_all_from_bank(state):
    """Put everybody in the bank on the removal list."""
    if state.groups_missing > 0:
        state.cost -= state.groups_missing * state.unserved_cost
    for index in range(state.n_bank):
        state.cost -= penalty(state, state.bank[index])
        add_to_list(state, state.bank[index])
    state.present += state.n_bank
    state.n_taken = state.n_bank


@compiled
def charge_for_removed(state):
    """Add to the cost what it costs to leave those on the removal list where they are."""
    for index in range(state.n_removed):
        state.cost += penalty(state, state.removed[index])
    missing = groups.missing(state)
    if missing > 0:
        state.cost += missing * state.unserved_cost


@compiled
def bank_removed(state):
    """Move those on the removal list to the bank."""
    for index in range(state.n_bank - state.n_taken, state.n_bank):
        state.bank_index[state.bank[index]] = -1
    state.n_bank -= state.n_taken
    for index in range(state.n_removed):
        state.bank[state.n_bank] = state.removed[index]
        state.bank_index[state.removed[index]] = state.n_bank
        state.n_bank += 1
    state.present -= state.n_removed
    state.n_removed = 0
    state.n_taken = 0
    state.forced = 0
    state.groups_missing = groups.missing(state)


@compiled
def count_absence(state):
    """Make the penalty of everybody in the bank weigh more: who is left out often shall be served first.

    The absence counters of Christiaens & Vanden Berghe 2020 (SISR), section on the minimisation of the fleet.
    """
    for index in range(state.n_bank):
        customer = state.bank[index]
        if state.prize[customer] >= state.unserved_cost:
            state.absence[customer] += 1.0
            state.cost += state.unserved_cost


@compiled
def _leave_out_removed(state):
    """Make routes complete from which customers were removed, who wait in the bank."""
    charge_for_removed(state)
    bank_removed(state)
    close_empty_routes(state)
    checkpoint(state)


@compiled
def disband_route(state):
    """Move the customers of the route that is easiest to do without, by their absences and number, to the bank."""
    least, chosen = np.inf, -1
    for index in range(state.n_active):
        slot = state.active[index]
        node, weight = state.first[slot], 0.0
        while node != 0:
            weight += state.absence[node]
            node = state.successor[node]
        if state.size[slot] > 0 and weight < least:
            least, chosen = weight, int(slot)
    if chosen < 0:
        return
    while state.first[chosen] != 0:
        remove(state, state.first[chosen])
    _leave_out_removed(state)


@compiled
def relieve_routes(state):
    """Move customers of routes that break rules to the bank, one by one those without whom the rest costs least.

    Violations and what it costs to leave somebody out count, so that all must have a price and there are no shipments.
    """
    for index in range(state.n_active):
        slot = state.active[index]
        while state.size[slot] > 0 and not is_on_time(state, slot):
            least, chosen, node = np.inf, np.int64(state.first[slot]), state.first[slot]
            while node != 0:
                cost = cost_without(state, slot, node) + penalty(state, node)
                if cost < least:
                    least, chosen = cost, np.int64(node)
                node = state.successor[node]
            remove(state, chosen)
    _leave_out_removed(state)


@compiled
def undo(state):
    """Return to the last checkpoint, to the bit."""
    count_changed(state, -1)
    restore(state)
    state.n_removed = 0
    state.present -= state.n_taken
    state.n_taken = 0
    state.forced = 0
    count_changed(state, 1)
    close_empty_routes(state)


@compiled
def new_visit(state):
    """Return a number that no entry of ``visited`` or ``visited_slots`` holds yet: a set emptied in one step."""
    state.visit += 1
    return state.visit
