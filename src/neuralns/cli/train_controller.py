"""``neuralns train --controller``: a controller learned from short searches."""

from __future__ import annotations

import json
import math
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from neuralns.cli import TERMINATED
from neuralns.cli.printing import plain_console
from neuralns.errors import InputError

if TYPE_CHECKING:
    from neuralns.experiments.controllers import Standing
    from neuralns.operators.portfolio import Portfolio
    from neuralns.selection.learned_controller import LearnedController

LOG = ".runs"
"""Suffix of the file beside the policy that keeps what came of all runs."""
FEWEST, MOST = 10, 10_000
"""Customers that generated instances may have."""
LOG_BEGINS = b'{"operators":'
FROM, NOTHING = "from", "nothing"
"""Option for the controller that a training begins from, and what it says if there is to be none."""


def check_limits(minutes: float, seconds: float | None, seed: int) -> None:
    """Refuse limits and seeds that a training cannot have."""
    for option, value in (("--minutes", minutes), ("--time", 1.0 if seconds is None else seconds)):
        if not (math.isfinite(value) and value > 0):
            raise InputError(f"{option} {value:g} must be above 0.")
    if seed < 0:
        raise InputError(f"seed {seed} must be at least 0.")


@contextmanager
def shown_by_minutes(messages: Console, what: str, minutes: float) -> Iterator[Callable[[float, str], None]]:
    """Show how much of some minutes is over, in a bar or ten lines; yield what is told of the seconds and figures."""
    told = 0
    with Progress(
        TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[figures]}"), console=messages,
        disable=not messages.is_terminal,
    ) as bar:  # fmt: skip
        task = bar.add_task(what, total=60 * minutes, figures="")

        def tell(seconds: float, figures: str) -> None:
            nonlocal told
            bar.update(task, completed=seconds, figures=figures)
            tenth = int(10 * seconds / (60 * minutes))
            if not messages.is_terminal and tenth > told:
                told = tenth
                messages.print(figures)

        yield tell


def sizes_of(text: str | None, variants: str | None) -> tuple[int, int]:
    """Return the fewest and the most customers of generated instances, as an option says."""
    from neuralns.experiments.controllers import GENERATED_SIZES

    if text is None:
        return GENERATED_SIZES
    if variants is None:
        raise InputError("--sizes is for generated instances (--generate VARIANT,...), not for files.")
    parts = [part.strip() for part in text.split(",")]
    numbers = [int(part) for part in parts if part.isdecimal() and len(part) < 9]
    least, most = numbers if len(parts) == len(numbers) == 2 else (0, 0)
    if not FEWEST <= least <= most <= MOST:
        raise InputError(
            f"--sizes {text!r} must be the fewest and the most customers, from {FEWEST} to {MOST}, such as 400,1000."
        )
    return least, most


def bundled_in(log: Path) -> str | None:
    """Return the bundled controller that the training of a log began from; none where it was another one."""
    from neuralns.selection.default import bundled_controllers
    from neuralns.selection.policy_file import mark_of

    try:
        with open(log, encoding="utf-8") as file:
            mark = str(json.loads(file.readline())["from"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        # Whatever is wrong with it is said where it is read.
        return None
    names = {mark_of(controller.policy): controller.name for controller in bundled_controllers()}
    return NOTHING if mark == NOTHING else names.get(mark)


def first_surface(name: str | None, portfolio: Portfolio, instances: Sequence[str]) -> LearnedController | None:
    """Return the controller that a training begins from: by default a bundled one that knows all the instances."""
    from neuralns.problem.bundled import read
    from neuralns.selection.default import bundled_controllers
    from neuralns.selection.instance_features import variant_of
    from neuralns.selection.learned_controller import LearnedController
    from neuralns.selection.names import selector_named

    if name == NOTHING:
        return None
    if name is not None:
        found = selector_named(name)
        if not isinstance(found, LearnedController):
            raise InputError(f"{name}: is no controller to begin from.")
        if found.portfolio.names != portfolio.names:
            raise InputError(f"{name}: has other operators than the portfolio {', '.join(portfolio.names)}.")
        return found
    problems = [read(each) for each in instances]
    if not problems:
        return None
    variants, smallest = {variant_of(each) for each in problems}, min(each.customers for each in problems)

    def least(controller: LearnedController) -> int:
        return int(controller.policy.card["for"]["customers"][0])

    same = [each for each in bundled_controllers() if each.portfolio.names == portfolio.names]
    known = sorted((each for each in same if variants <= set(each.policy.card["for"]["kinds"])), key=least)
    # The one that has seen the smallest instances serves where none has seen such small ones.
    suited = [each for each in known if least(each) <= smallest] or known[:1]
    return suited[-1] if suited else None


def instances_on_card(files: Sequence[str], before: LearnedController | None = None) -> dict[str, list[str]]:
    """Return the entry of a card that names the instances of files, and those that another controller learned from."""
    from neuralns.problem.bundled import read

    names = [*(() if before is None else before.trained_on()), *(read(file).name for file in files)]
    return {"instances": [*dict.fromkeys(names)]} if names else {}


def train_controller(
    instances: Sequence[str],
    output: str,
    variants: str | None,
    portfolio: str | None,
    minutes: float,
    seconds: float | None,
    workers: int,
    seed: int,
    resume: bool,
    force: bool,
    begin_from: str | None = None,
    sizes: str | None = None,
) -> None:
    """Train a controller on instances, or on generated ones of variants; what comes of runs is kept as it comes."""
    from neuralns.cli.progress import announce_compilation
    from neuralns.experiments.batch import digests
    from neuralns.experiments.controllers import GENERATED_SIZES, check_sources, log_of, train_controller
    from neuralns.experiments.executors import ProcessPool, check_hands
    from neuralns.files import check_writable, write_or_rescue
    from neuralns.operators.portfolio import portfolio_named
    from neuralns.search.interrupt import Interrupts
    from neuralns.selection.policy_file import write_policy

    check_limits(minutes, seconds, seed)
    check_hands(workers, None)
    check_writable(output)
    if begin_from is not None and begin_from != NOTHING and Path(begin_from).resolve() == Path(output).resolve():
        raise InputError(f"{output}: a training begins from it, and --resume would need it; choose another output.")
    chosen = portfolio_named(portfolio or "wide")
    ends = sizes_of(sizes, variants)
    source_of = check_sources(instances, variants, seed, ends)
    log = Path(output).with_suffix(LOG)
    before = first_surface(begin_from or (bundled_in(log) if resume else None), chosen, instances)
    if log == Path(output):
        raise InputError(f"{output}: a run keeps another file under that name; choose one such as mine.policy.")
    check_writable(log)
    for path in (Path(output), log):
        if path.exists() and not (force or resume):
            raise InputError(f"{path}: is there already; --resume goes on, --force begins anew.")
    if resume and not log.is_file():
        raise InputError(f"{log}: there is nothing to resume from.")
    # Files by their contents too: what was learned from others is no part of this training.
    marks = {file: f"{file} ({mark[:16]})" for file, mark in digests(instances).items()}
    about = variants or ", ".join(marks.get(each, each) for each in instances)
    if ends != GENERATED_SIZES:
        about += f"; {ends[0]} to {ends[1]} customers"
    if resume:
        log_of(log, chosen, seconds, seed, about, before)
    elif force and log.exists():
        if not log.read_bytes().startswith(LOG_BEGINS):
            raise InputError(f"{log}: is no log of a training, and would be written over; choose another output.")
        log.unlink()
    messages = plain_console(stderr=True, soft_wrap=True)
    if before is not None:
        messages.print(f"what {before.name} knows is where it begins (--{FROM} {NOTHING} begins from nothing)")
    with (
        announce_compilation(messages),
        Interrupts(sigterm=True) as interrupts,
        shown_by_minutes(messages, "controller", minutes) as tell,
    ):

        def show(standing: Standing) -> str | None:
            figures = (
                f"{standing.groups} instances, {standing.runs} runs, {standing.seconds / 60:.1f} of {minutes:g} min"
            )
            if not math.isnan(standing.gain):
                figures += f", {standing.gain:.2f} % shorter than by --selector random so far"
            tell(standing.seconds, figures)
            return interrupts.caught

        pool = ProcessPool(workers)
        try:
            policy = train_controller(
                source_of, chosen, minutes, log, pool, workers=workers, seconds=seconds, seed=seed, about=about,
                watch=show, begin_from=before,
                card={"from": NOTHING if before is None else before.name,
                      **instances_on_card(instances, before),
                      "command": shlex.join(["neuralns", *sys.argv[1:]])},
            )  # fmt: skip
        finally:
            pool.shutdown(wait=False)
    written_path = write_or_rescue(partial(write_policy, policy), output)
    console = plain_console(soft_wrap=True)
    gain = policy.card.get("gain")
    if gain is not None:
        within = "" if gain["interval"] is None else f" ± {gain['interval']:.2f}"
        chance = "" if gain["p"] is None else f" (p = {gain['p']:.2g})"
        console.print(
            f"{gain['mean']:.2f}{within} % shorter than by --selector random, in {gain['groups']} searches on "
            f"{gain['instances']} instances, before it had learned from these searches{chance}"
        )
    if interrupts.caught is not None:
        console.print("stopped early; the same command with --resume goes on")
    console.print(f"controller written to {written_path}")
    if written_path != output:
        raise typer.Exit(1)
    if interrupts.caught == "SIGTERM":
        raise typer.Exit(TERMINATED)
