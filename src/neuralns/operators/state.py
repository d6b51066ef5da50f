"""The state as editors and type checkers see it: for annotations in operators, selectors and rules of your own."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]
Indices = npt.NDArray[np.uint32]
Slots = npt.NDArray[np.int32]
Wholes = npt.NDArray[np.int64]


class Status(Protocol):
    """Where a search stands; written by every iteration."""

    start: float
    """Cost of the initial solution."""
    current: float
    """Cost of the current solution."""
    best: float
    """Cost of the best solution so far."""
    candidate: float
    """Cost of the last candidate, accepted or not."""
    threshold: float
    """The most that a candidate may cost to be accepted, drawn before the repair."""
    finish_below: float
    """Candidates that cost less are not given up half-way."""
    temperature: float
    """Temperature of the acceptance rule."""
    left: float
    """Share of the time or iterations left, from 1 to 0."""
    gain: float
    """By how much the last pair lowered the cost; 0 if its candidate was rejected."""
    acceptance: float
    """Share of candidates accepted, of the last hundred or so."""
    iteration: int
    """Iterations done."""
    since_best: int
    """Iterations since the best solution was found."""
    since_gain: int
    """Iterations since the current cost last fell."""
    quota: int
    """Customers to remove."""
    seed: int
    """The customer that a destroy operator begins with; 0 if it draws one."""


class State(Protocol):
    """A solution under change, with its instance and scratch space.

    Customers are 1 to ``customers``; node 0 is the depot. A route is a slot. Arrays by node have ``customers`` + 1
    entries, and so have arrays by slot.
    """

    customers: int
    """Number of customers."""
    demand: Numbers
    """By node: what a customer takes of the capacity, in the first dimension."""
    x: Numbers
    """By node: coordinate."""
    y: Numbers
    """By node: coordinate."""
    neighbours: Indices
    """By node and rank: the nearest customers, nearest first."""
    granular: Indices
    """By node and rank: customers that go well beside a node, by distance and time, best first."""
    earliest: Numbers
    """By node: opening of the (first) time window; without windows an array of no entries."""
    latest: Numbers
    """By node: close of the (last) time window, with a tolerance for sums; without windows an array of no entries."""
    service: Numbers
    """By node: duration of the service; without windows or durations an array of no entries."""
    horizon: float
    """Length of the shift."""
    unit: float
    """Mean distance between the depot and a customer."""
    prize: Numbers
    """By node: what leaving a customer out costs."""

    route: Slots
    """By node: slot of the customer's route, −1 while it is removed."""
    predecessor: Indices
    """By node: previous customer, 0 at the start of a route."""
    successor: Indices
    """By node: next customer, 0 at the end of a route."""
    arc: Numbers
    """By node: distance to the successor."""
    active: Indices
    """The slots in use, the first ``n_active`` entries; one that was just emptied has size 0."""
    n_active: int
    """Number of slots in use."""
    first: Indices
    """By slot: first customer."""
    size: Slots
    """By slot: number of customers."""
    load: Numbers
    """By slot: load."""
    length: Numbers
    """By slot: distance."""
    cost: float
    """Cost of the routes."""

    removed: Indices
    """The removal list, the first ``n_removed`` entries."""
    n_removed: int
    """Number of customers on the removal list."""
    touched: Indices
    """Customers beside whom something has changed, the first ``n_touched`` entries (improve operators)."""
    n_touched: int
    """Number of such customers."""

    keys: Numbers
    """Scratch space by node."""
    items: Indices
    """Scratch space by node."""
    order: Indices
    """Scratch space by node."""
    sequence: Indices
    """Scratch space by node."""
    visited: Wholes
    """Scratch space by node, to compare with a fresh `new_visit`."""
    visited_slots: Wholes
    """Scratch space by slot, to compare with a fresh `new_visit`."""
    columns: Indices
    """The repair table: slot of each column, the first ``n_columns`` entries."""
    n_columns: int
    """The repair table: number of columns."""
    table_delta: Numbers
    """The repair table: least cost of a customer (row) in a route (column), at ``row * width + column``."""
    table_position: Wholes
    """The repair table: the position that goes with it."""
    best_delta: Numbers
    """The repair table, by row: cost of the cheapest column."""
    best_column: Slots
    """The repair table, by row: the cheapest column, −1 for a new route."""

    @property
    def status(self) -> Status:
        """Where the search stands."""
        ...
