"""``neuralns train --controller --agent dr-alns``: the baseline DR-ALNS, trained by PPO."""

from __future__ import annotations

import math
import shlex
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.progress import BarColumn, Progress, TextColumn

from neuralns.cli.printing import plain_console
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

    for option, value in (("--minutes", minutes), ("--time", 1.0 if seconds is None else seconds)):
        if not (math.isfinite(value) and value > 0):
            raise InputError(f"{option} {value:g} must be above 0.")
    if seed < 0:
        raise InputError(f"seed {seed} must be at least 0.")
    chosen = portfolio_named(portfolio or "wide")
    source_of = check_sources(instances, variants, seed)
    check_writable(output)
    if Path(output).exists() and not force:
        raise InputError(f"{output}: is there already; --force begins anew.")
    messages = plain_console(stderr=True, soft_wrap=True)
    with (
        announce_compilation(messages),
        Interrupts() as interrupts,
        Progress(
            TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[figures]}"), console=messages,
            disable=not messages.is_terminal,
        ) as bar,
    ):  # fmt: skip
        task = bar.add_task(AGENT, total=60 * minutes, figures="")
        told = [0]

        def show(standing: Standing) -> str | None:
            figures = (
                f"{standing.episodes} searches, {standing.seconds / 60:.1f} of {minutes:g} min, "
                f"reward {standing.reward:.1f}, {standing.saving:.2f} % below the start"
            )
            bar.update(task, completed=standing.seconds, figures=figures)
            tenth = int(10 * standing.seconds / (60 * minutes))
            if not messages.is_terminal and tenth > told[0]:
                told[0] = tenth
                messages.print(figures)
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
                "command": shlex.join(["neuralns", *sys.argv[1:]]),
            },
        )
    place = write_or_rescue(partial(write_policy, policy), output)
    plain_console(soft_wrap=True).print(f"controller written to {place}")
    if place != output:
        raise typer.Exit(1)
