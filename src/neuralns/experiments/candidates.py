"""Settings to try: what is there already, and what is drawn by chance."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from neuralns.operators.portfolio import Portfolio, portfolio_named
from neuralns.operators.registry import SHARE, Operator
from neuralns.problem.instance import Instance
from neuralns.search.setup import strongest_for
from neuralns.selection.dials import FURTHEST, Dials, Floats

OFF = -7.0
"""A dial turned so far down leaves its operator out; they turn no further than -2 ln 30."""
LEFT_OUT, NO_IMPROVE = 0.3, 0.5
"""How likely a random setting does without a destroy or repair operator, and without an improve operator."""
SPREAD = 1.0
"""Standard deviation of the dials of destroy and repair operators, and of the temperatures."""
FACTOR_SPREAD = 0.5
"""That of the scale, the lengths of strings and the rates of blinks."""
SHARES = (0.01, 1.0)
"""Shares of the steps that an improve operator is applied in are drawn from here."""


def candidates_for(instances: Sequence[Instance], portfolio: Portfolio, count: int, seed: int) -> list[Floats]:
    """Return so many different rows of dials: all at 0, the defaults for the instances, and random ones.

    The same seed draws the same rows, and more of them begin with the same ones.
    """
    dials = Dials(portfolio)
    defaults = dict.fromkeys(strongest_for(instance) for instance in instances)
    rows = [dials.row({}), *(row_of(portfolio, portfolio_named(name)) for name in defaults)]
    different = {tuple(row): row for row in rows if row is not None}
    generator = np.random.default_rng([seed, 0])
    while len(different) < count:
        row = random_row(portfolio, generator)
        different[tuple(row)] = row
    return list(different.values())[:count]


def row_of(portfolio: Portfolio, other: Portfolio) -> Floats | None:
    """Return the row that makes a portfolio do what another one does; None if it lacks an operator for that.

    An improve operator may differ in its share, for which there is a dial.

    >>> row = row_of(portfolio_named("wide"), portfolio_named("plain"))
    >>> [name for name, value in zip(portfolio_named("wide").names, row) if value > OFF]
    ['string', 'blinks', 'regret-2', '2-opt-star:share=0.1']
    """
    values = dict.fromkeys(portfolio.names, OFF)
    for wanted in other.operators:
        same = [entry for entry in portfolio.operators if _but_share(entry) == _but_share(wanted)]
        if not same or not 0 < wanted.share <= same[0].share * math.exp(2 * FURTHEST):
            return None
        values[same[0].name] = round(math.log(wanted.share / same[0].share), 4)
    return Dials(portfolio).row(values)


def _but_share(entry: Operator) -> tuple[object, ...]:
    return entry.phase, entry.function, tuple(pair for pair in entry.parameters if pair[0] != SHARE)


def random_row(portfolio: Portfolio, generator: np.random.Generator) -> Floats:
    """Return a random setting of dials.

    A destroy or repair operator is left out with probability `LEFT_OUT`, though never all of them; the dials of the
    others are normal, so that weights are log-normal. So are the temperatures and, closer to 1, the factors of scale,
    lengths and rates. An improve operator is left out with probability `NO_IMPROVE`, else its share is log-uniform.
    """
    values: dict[str, float] = {}
    for phase in (portfolio.destroys, portfolio.repairs):
        out = generator.random(len(phase)) < LEFT_OUT
        out[generator.integers(len(phase))] = False
        drawn = np.clip(generator.normal(0, SPREAD, len(phase)), -2.5 * SPREAD, 2.5 * SPREAD)
        values |= {entry.name: OFF if gone else value for entry, gone, value in zip(phase, out, drawn, strict=True)}
    for entry in portfolio.improves:
        share = math.exp(generator.uniform(math.log(SHARES[0]), math.log(SHARES[1])))
        gone = generator.random() < NO_IMPROVE or entry.share == 0
        values[entry.name] = OFF if gone else math.log(share / entry.share)
    names = Dials(portfolio).names
    for name in names[len(portfolio.names) :]:
        values[name] = generator.normal(0, SPREAD if "heat" in name else FACTOR_SPREAD)
    return np.array([round(values[name], 4) for name in names])
