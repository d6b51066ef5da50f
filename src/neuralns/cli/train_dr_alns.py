"""``neuralns train --controller --agent dr-alns``: the baseline DR-ALNS, trained by PPO."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from neuralns.cli import TERMINATED
from neuralns.cli.printing import plain_console
from neuralns.cli.train_controller import check_limits, instances_on_card, shown_by_minutes
from neuralns.errors import InputError

if TYPE_CHECKING:
    from neuralns.learning.dr_alns import Standing

AGENT = "dr-alns"
SECONDS = (1.0, 2.0)
"""Least and most seconds of a search where none are given."""


def train_dr_alns(
    instances: Sequence[str],
    output: str,
    variants: str | None,
    portfolio: str | None,
    minutes: float,
    seconds: float | None,
    seed: int,
    force: bool,
) -> None:
    """Train DR-ALNS on instances, or on generated ones of variants."""
    from neuralns.cli.progress import announce_compilation
    from neuralns.experiments.controllers import check_sources
    from neuralns.files import check_writable, write_or_rescue
    from neuralns.learning.dr_alns import train_dr_alns
    from neuralns.operators.portfolio import portfolio_named
    from neuralns.search.interrupt import Interrupts
    from neuralns.selection.policy_file import write_policy

    check_limits(minutes, seconds, seed)
    chosen = portfolio_named(portfolio or "wide")
    source_of = check_sources(instances, variants, seed)
    check_writable(output)
    if Path(output).exists() and not force:
        raise InputError(f"{output}: is there already; --force begins anew.")
    messages = plain_console(stderr=True, soft_wrap=True)
    with (
        announce_compilation(messages),
        Interrupts(sigterm=True) as interrupts,
        shown_by_minutes(messages, AGENT, minutes) as tell,
    ):

        def show(standing: Standing) -> str | None:
            figures = (
                f"{standing.episodes} searches, {standing.seconds / 60:.1f} of {minutes:g} min, "
                f"reward {standing.reward:.1f}, {standing.saving:.2f} % below the start"
            )
            tell(standing.seconds, figures)
            return interrupts.caught

        policy = train_dr_alns(
            lambda number: source_of(number).read(),
            chosen,
            minutes,
            SECONDS if seconds is None else (seconds, seconds),
            seed=seed,
            watch=show,
            card={
                "kinds": [part.strip() for part in variants.split(",")] if variants else [*instances],
                **instances_on_card(instances),
                "command": shlex.join(["neuralns", *sys.argv[1:]]),
            },
        )
    place = write_or_rescue(partial(write_policy, policy), output)
    plain_console(soft_wrap=True).print(f"controller written to {place}")
    if place != output:
        raise typer.Exit(1)
    if interrupts.caught == "SIGTERM":
        raise typer.Exit(TERMINATED)
