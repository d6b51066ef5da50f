"""``neuralns train``: a policy learned on instances."""

from __future__ import annotations

import math
import shlex
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from neuralns.cli import options
from neuralns.cli.printing import plain_console
from neuralns.cli.train_controller import FROM, NOTHING, train_controller
from neuralns.errors import InputError

if TYPE_CHECKING:
    from neuralns.learning.train import Trained
    from neuralns.learning.training import Standing


def train(
    instances: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="INSTANCE...", help="Files (VRPLIB, Solomon, JSON) or bundled names.", show_default=False
        ),
    ] = None,
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="The policy to write.")] = "my.policy",
    customers: options.Customers = None,
    ignore: options.Ignore = None,
    setting: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="distance (no windows), windows (all rules; the default where instances have windows) or paper.",
        ),
    ] = None,
    portfolio: Annotated[
        str | None, typer.Option(metavar="NAME|a,b,c", help="modern (the default), paper, ... or operators by name.")
    ] = None,
    operators: options.Operators = None,
    network: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="small (all sizes, the default), gat, mlp, ahead (looks ahead), or lrw (the roulette)."
        ),
    ] = None,
    preset: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="strong, or paper (its numbers, and mlp, random starts, always, portfolio paper, a fifth removed), or "
            "graph (likewise, but a gat that carries over to other sizes).",
        ),
    ] = "strong",
    features: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="What the network sees: paper, rich, windows, relative or routes; as the preset says."
        ),
    ] = None,
    steps: Annotated[int | None, typer.Option(metavar="N", help="Gradient steps; as the preset says.")] = None,
    batch: Annotated[
        int | None, typer.Option(metavar="N", help="Samples of a gradient step; as the preset says.")
    ] = None,
    tours: Annotated[int | None, typer.Option(metavar="N", help="Start tours in training; as the preset says.")] = None,
    seeds: Annotated[int, typer.Option(metavar="S", help="Agents trained side by side; the best is kept.")] = 1,
    start: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Episodes start from search (ALNS solutions, the default), savings, random."),
    ] = None,
    scale: Annotated[int | None, typer.Option(metavar="D", help="Customers removed at a time; 10 by default.")] = None,
    budget: options.Budget = 10,
    acceptance: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="What a pair gives is kept: if improving (the default), always, annealing."),
    ] = None,
    validate_sizes: Annotated[
        str | None,
        typer.Option(metavar="a,b", help="Choose the best by the first so many customers of each instance, too."),
    ] = None,
    hidden: Annotated[
        str | None,
        typer.Option(
            metavar="a,b", help="Widths of the hidden layers of mlp, small and ahead, of gat after its attention."
        ),
    ] = None,
    graph: Annotated[str | None, typer.Option(metavar="NAME", help="Of gat: complete or nearest.")] = None,
    heads: Annotated[int | None, typer.Option(metavar="H", help="Attention heads of gat.")] = None,
    device: Annotated[str, typer.Option(metavar="NAME", help="cpu or cuda.")] = "cpu",
    threads: Annotated[int, typer.Option(metavar="N", help="Threads that play episodes.")] = 1,
    tensorboard: Annotated[str | None, typer.Option(metavar="DIR", help="Write scalars for TensorBoard.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the checkpoint beside the output.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Write over a policy or a checkpoint that is there.")] = False,
    controller: Annotated[
        bool, typer.Option("--controller", help="Train a controller, asked between segments, by short searches.")
    ] = False,
    generate: Annotated[
        str | None, typer.Option(metavar="a,b", help="Of a controller: on generated instances of these variants.")
    ] = None,
    sizes: Annotated[
        str | None,
        typer.Option(metavar="a,b", help="Of a controller: fewest and most customers generated; 80,400 by default."),
    ] = None,
    minutes: Annotated[
        float | None, typer.Option(metavar="M", help="Of a controller: minutes of searching in all; 60 by default.")
    ] = None,
    time: Annotated[
        float | None, typer.Option(metavar="S", help="Of a controller: seconds of a search; by size by default.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(metavar="N", help="Of a controller: searches at a time; 1 by default.")
    ] = None,
    seed: Annotated[int | None, typer.Option(metavar="K", help="Of a controller: same seed, same settings.")] = None,
    begin_from: Annotated[
        str | None,
        typer.Option(
            f"--{FROM}",
            metavar="FILE",
            help=f"Of a controller: one to begin from, or {NOTHING}; a bundled one that knows such instances.",
        ),
    ] = None,
) -> None:
    """Train a policy that chooses operators; Ctrl-C saves, --resume goes on.

    Examples:

        neuralns train yesterday/*.vrp -o mine.policy

        neuralns train my.vrp --portfolio paper --seeds 4 -o mine.policy

        neuralns train yesterday/*.vrp --controller --minutes 60 --workers 2 -o mine.policy

        neuralns train R101 --customers 20 --setting paper --preset paper --seeds 10 -o r101.policy
    """
    from neuralns.cli.progress import announce_compilation
    from neuralns.learning.train import configured, defaults_of
    from neuralns.learning.train import train as run
    from neuralns.problem.bundled import read

    if controller:
        of_policies: tuple[tuple[str, object], ...] = (
            ("--customers", customers), ("--ignore", ignore), ("--setting", setting), ("--network", network),
            ("--features", features), ("--steps", steps), ("--batch", batch), ("--tours", tours), ("--start", start),
            ("--scale", scale), ("--acceptance", acceptance),
            ("--hidden", hidden), ("--validate-sizes", validate_sizes), ("--graph", graph), ("--heads", heads),
            ("--tensorboard", tensorboard),
            ("--operators", operators), ("--preset", preset != "strong"), ("--seeds", seeds != 1),
            ("--budget", budget != 10), ("--device", device != "cpu"), ("--threads", threads != 1),
        )  # fmt: skip
        for option, value in of_policies:
            if value:
                raise InputError(f"{option} does not go with --controller.")
        train_controller(
            instances or (), output, generate, portfolio, 60.0 if minutes is None else minutes, time,
            1 if workers is None else workers, seed or 0, resume, force, begin_from, sizes,
        )  # fmt: skip
        return
    of_controllers: tuple[tuple[str, object], ...] = (
        ("--generate", generate), ("--minutes", minutes), ("--time", time),
        ("--workers", workers), ("--seed", seed), (f"--{FROM}", begin_from), ("--sizes", sizes),
    )  # fmt: skip
    for option, value in of_controllers:
        if value is not None:
            raise InputError(f"{option} is for controllers; add --controller.")
    if not instances:
        raise InputError("no instance was given to train on.")
    options.load_own(operators)
    widths, validated = _widths(hidden), _sizes(validate_sizes)
    network = defaults_of(preset).network if network is None else network
    total = steps or 0
    at_once = network in ("lrw", "ahead")
    if not at_once and find_spec("torch") is not None:
        total = configured(preset, network, steps=steps).steps
    messages = plain_console(stderr=True)
    with (
        announce_compilation(messages),
        Progress(
            TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed}/{task.total} steps"),
            TimeRemainingColumn(), TextColumn("{task.fields[figures]}"), console=messages,
            disable=not messages.is_terminal or at_once,
        ) as bar,
    ):  # fmt: skip
        task = bar.add_task(f"{network} x {seeds}", total=total, figures="")
        told = [0]

        def show(standing: Standing) -> None:
            figures = f"return {standing.returns.mean():.1f}  loss {standing.loss.mean():.4f}"
            if not math.isnan(standing.validation.mean()):
                figures += f"  validation {standing.validation.mean():.1f}  best {standing.best.mean():.1f}"
            bar.update(task, completed=standing.step, figures=figures)
            if not messages.is_terminal and 10 * standing.step // standing.steps > told[0]:
                told[0] = 10 * standing.step // standing.steps
                messages.print(
                    f"step {standing.step}/{standing.steps}  {standing.seconds:.0f} s  {figures}", soft_wrap=True
                )

        done = run(
            [read(source, ignore=ignore or ()) for source in instances],
            output,
            network=network,
            preset=preset,
            features=features,
            steps=steps,
            batch=batch,
            tours=tours,
            hidden=widths,
            graph=graph,
            heads=heads,
            seeds=seeds,
            start=start,
            customers=customers,
            setting=setting,
            portfolio=portfolio,
            scale=scale,
            budget=budget,
            acceptance=acceptance,
            validate_sizes=validated,
            device=device,
            threads=threads,
            resume=resume,
            force=force,
            tensorboard=tensorboard,
            command=shlex.join(["neuralns", *sys.argv[1:]]),
            progress=show,
            say=lambda text: messages.print(text, soft_wrap=True),
        )
    console = plain_console(soft_wrap=True)
    if network == "lrw":
        console.print(f"policy written to {done.written[0]}")
        _end_if_astray(done, output)
        return
    for seed, score in enumerate(done.validation):
        test = f", test {done.tests[seed]:.1f}" if done.tests else ""
        console.print(f"seed {seed}: " + ("not validated yet" if score is None else f"validation {score:.1f}{test}"))
    if done.marks is not None:
        pair = ", ".join(done.marks.pair)
        console.print(
            f"on the same validation tours: random selection {done.marks.random:.1f}, best fixed pair ({pair}) "
            f"{done.marks.best_fixed:.1f}"
        )
    for seed, use in enumerate(done.pairs):
        if use.always:
            console.print(
                f"seed {seed} chooses one pair always ({use.destroy}, {use.repair}: {100 * use.share:.0f} % of its "
                f"choices in validation); --selector fixed:{use.destroy},{use.repair} does the same"
            )
    if not done.finished:
        console.print(f"stopped at step {done.step} of {total}; go on with the same command and --resume")
    best, *others = done.written
    console.print(f"policy of seed {done.best} written to {best}")
    if others:
        console.print(f"policies of all seeds written to {others[0]} and so on")
    _end_if_astray(done, output)


def _end_if_astray(done: Trained, output: str) -> None:
    """End with exit code 1 if a policy is not where it was to be."""
    if any(Path(file).parent != Path(output).parent for file in done.written):
        raise typer.Exit(1)


def _sizes(text: str | None) -> tuple[int, ...]:
    if text is None:
        return ()
    sizes = tuple(int(part) if part.strip().isdecimal() and len(part) < 9 else 0 for part in text.split(","))
    if not all(sizes):
        raise InputError(f"sizes {text!r} to validate at must be numbers of customers, such as 30,50,70,90.")
    return sizes


def _widths(text: str | None) -> tuple[int, ...] | None:
    if text is None:
        return None
    widths = tuple(int(part) if part.strip().isdecimal() else 0 for part in text.split(","))
    if not all(1 <= width <= 4096 for width in widths) or len(widths) > 8:
        raise InputError(f"hidden layers {text!r} must be up to 8 whole numbers from 1 to 4096, such as 256,128.")
    return widths
