"""``neuralns train``: a policy learned on instances."""

from __future__ import annotations

import math
import shlex
import sys
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from neuralns.cli import options
from neuralns.cli.printing import plain_console
from neuralns.errors import InputError

if TYPE_CHECKING:
    from neuralns.mdp.mdp import MDP


def train(
    instances: Annotated[
        list[str], typer.Argument(metavar="INSTANCE...", help="Files (VRPLIB, Solomon, JSON) or bundled names.")
    ],
    output: Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="The policy to write.")] = "my.policy",
    customers: options.Customers = None,
    setting: options.Setting = "distance",
    portfolio: options.MdpPortfolio = "paper",
    operators: options.Operators = None,
    network: Annotated[str, typer.Option(metavar="NAME", help="mlp, gat, small, or lrw (the roulette).")] = "mlp",
    preset: Annotated[str, typer.Option(metavar="NAME", help="strong, or paper (the paper's numbers).")] = "strong",
    steps: Annotated[int | None, typer.Option(metavar="N", help="Gradient steps; as the preset says.")] = None,
    seeds: Annotated[int, typer.Option(metavar="S", help="Agents trained side by side; the best is kept.")] = 1,
    start: Annotated[
        str, typer.Option(metavar="NAME", help="Episodes start from random, savings or search (ALNS solutions).")
    ] = "random",
    scale: options.Scale = None,
    budget: options.Budget = 10,
    acceptance: Annotated[
        str, typer.Option(metavar="NAME", help="Keep what a pair gives always, or only if improving, as a late search.")
    ] = "always",
    hidden: Annotated[
        str | None, typer.Option(metavar="a,b", help="Widths of the hidden layers of mlp and small.")
    ] = None,
    graph: Annotated[str | None, typer.Option(metavar="NAME", help="Of gat: complete or nearest.")] = None,
    heads: Annotated[int | None, typer.Option(metavar="H", help="Attention heads of gat.")] = None,
    device: Annotated[str, typer.Option(metavar="NAME", help="cpu or cuda.")] = "cpu",
    threads: Annotated[int, typer.Option(metavar="N", help="Threads that play episodes.")] = 1,
    tensorboard: Annotated[str | None, typer.Option(metavar="DIR", help="Write scalars for TensorBoard.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the checkpoint beside the output.")] = False,
) -> None:
    """Train a policy that chooses operators; Ctrl-C saves, --resume goes on.

    Examples:

        neuralns train C101 --customers 20 --setting paper --output c101.policy

        neuralns train yesterday/*.vrp --network small --start search --acceptance improving --scale 10 -o mine.policy

        neuralns train R101 --customers 20 --preset paper --seeds 10 -o r101.policy
    """
    if network != "lrw" and find_spec("torch") is None:
        raise InputError("training needs torch; install it with: pip install 'neuralns[train]'.")
    from neuralns.cli.progress import announce_compilation
    from neuralns.files import check_writable
    from neuralns.mdp.mdp import make_mdp

    check_writable(output)
    options.load_own(operators)
    if seeds < 1:
        raise InputError(f"{seeds} seeds asked for; at least 1 is needed.")
    mdps = [
        make_mdp(
            name,
            customers=customers,
            setting=setting,
            portfolio=portfolio,
            scale=scale,
            budget=budget,
            acceptance=acceptance,
        )
        for name in instances
    ]
    messages = plain_console(stderr=True)
    command = shlex.join(["neuralns", *sys.argv[1:]])
    if network == "lrw":
        _train_roulette(mdps, seeds, output, command)
        plain_console(soft_wrap=True).print(f"policy written to {output}")
        return

    from neuralns.learning.dqn import preset as preset_named
    from neuralns.learning.run import seed_file
    from neuralns.learning.run import train as run
    from neuralns.learning.training import Report

    config = preset_named(preset, network)
    changes = {"steps": steps, "graph": graph, "heads": heads, "hidden": _widths(hidden)}
    config = replace(config, **{name: value for name, value in changes.items() if value is not None})  # type: ignore[arg-type]
    with (
        announce_compilation(messages),
        Progress(
            TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed}/{task.total} steps"),
            TimeRemainingColumn(), TextColumn("{task.fields[figures]}"), console=messages,
            disable=not messages.is_terminal,
        ) as bar,
    ):  # fmt: skip
        task = bar.add_task(f"{network} x {seeds}", total=config.steps, figures="")
        told = [0]

        def show(report: Report) -> None:
            figures = f"return {report.returns.mean():.1f}  loss {report.loss.mean():.4f}"
            if not math.isnan(report.validation.mean()):
                figures += f"  validation {report.validation.mean():.1f}  best {report.best.mean():.1f}"
            bar.update(task, completed=report.step, figures=figures)
            if not messages.is_terminal and 10 * report.step // report.steps > told[0]:
                told[0] = 10 * report.step // report.steps
                messages.print(f"step {report.step}/{report.steps}  {report.seconds:.0f} s  {figures}", soft_wrap=True)

        done = run(
            mdps,
            config,
            seeds=range(seeds),
            start=start,
            device=device,
            threads=threads,
            output=output,
            resume=resume,
            tensorboard=tensorboard,
            command=command,
            progress=show,
        )
    console = plain_console(soft_wrap=True)
    for seed, policy in enumerate(done.policies):
        test = f", test {done.tests[seed]:.1f}" if done.tests else ""
        score = policy.card["validation_reward"]
        console.print(f"seed {seed}: " + ("not validated yet" if score is None else f"validation {score:.1f}{test}"))
    if not done.finished:
        console.print(f"stopped at step {done.step} of {config.steps}; go on with the same command and --resume")
    console.print(f"policy of seed {done.best} written to {output}")
    if seeds > 1:
        console.print(f"policies of all seeds written to {seed_file(output, 0)} and so on")


def _widths(text: str | None) -> tuple[int, ...] | None:
    if text is None:
        return None
    widths = tuple(int(part) if part.strip().isdecimal() else 0 for part in text.split(","))
    if not all(1 <= width <= 4096 for width in widths) or len(widths) > 8:
        raise InputError(f"hidden layers {text!r} must be up to 8 whole numbers from 1 to 4096, such as 256,128.")
    return widths


def _train_roulette(mdps: list[MDP], seeds: int, output: str, command: str) -> None:
    """Train the learned roulette for each seed and keep the one that does best on the validation tours."""
    from neuralns.mdp.baselines import train_roulette
    from neuralns.mdp.evaluate import evaluate
    from neuralns.selection.policy_file import write_policy

    if len(mdps) != 1:
        raise InputError("the learned roulette is trained on one instance.")
    (mdp,) = mdps
    wheels = [train_roulette(mdp, seed) for seed in range(seeds)]
    scores = [evaluate(mdp, wheel, tours="validate", seeds=3).reward_mean for wheel in wheels]
    best = scores.index(max(scores))
    card = {
        "setting": mdp.setting,
        "instances": [mdp.instance.name],
        "scale": mdp.scale,
        "budget": mdp.budget,
        "seed": best,
        "validation_reward": scores[best],
        "command": command,
    }
    write_policy(wheels[best].policy(mdp.portfolio, **card), output)
