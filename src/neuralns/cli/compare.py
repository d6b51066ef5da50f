"""``neuralns compare``: selectors against each other inside ALNS."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.table import Table

from neuralns.cli import options
from neuralns.cli.printing import plain_console
from neuralns.errors import InputError


def compare(
    instances: Annotated[
        list[str], typer.Argument(metavar="INSTANCE...", help="Files (VRPLIB, Solomon, JSON) or bundled names.")
    ],
    selectors: Annotated[
        str,
        typer.Option(
            metavar="a,b,...",
            help="random, roulette, ucb, thompson, best-fixed, fixed:D/R, policy files, lrw:FILE, adaptive:FILE; the "
            "first one is what the others are compared with.",
        ),
    ] = "random,roulette,ucb,thompson,best-fixed",
    time: Annotated[
        float | None, typer.Option("--time", "-t", metavar="S", help="Seconds a run; 10 by default.")
    ] = None,
    iterations: Annotated[int | None, typer.Option("--iterations", "-n", metavar="N", help="Iterations a run.")] = None,
    seeds: Annotated[int, typer.Option(metavar="S", help="Runs of each selector on each instance.")] = 10,
    portfolio: Annotated[str, typer.Option(metavar="NAME|a,b,c", help="modern, paper, ... or operators.")] = "modern",
    operators: options.Operators = None,
    temperature: Annotated[float | None, typer.Option(metavar="T", help="Of policies; 0.01 by default.")] = None,
    decide_every: Annotated[int, typer.Option(metavar="K", help="A policy decides every K iterations.")] = 1,
    scale: options.Quotas = None,
    customers: options.Customers = None,
    training_instances: Annotated[
        bool, typer.Option("--training-instances", help="Compare even where a policy was trained.")
    ] = False,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE.csv", help="Write runs as they end; resumes.")
    ] = None,
    plot: Annotated[str | None, typer.Option(metavar="FILE", help="Draw anytime curves: .png, .pdf or .svg.")] = None,
    workers: Annotated[int, typer.Option("--workers", "-w", metavar="N", help="Runs at a time.")] = 1,
    as_json: options.AsJson = False,
) -> None:
    """Compare selectors at equal time (or equal iterations), with the same starts and seeds, and test the differences.

    Examples:

        neuralns compare X-n101-k25 --time 5 --seeds 5

        neuralns compare X-n101-k25 X-n200-k36 --selectors random,mine.policy --plot curves.png
    """
    from neuralns.cli.progress import announce_compilation
    from neuralns.experiments.comparison import Outcome, best_fixed, check, judge, trained_on
    from neuralns.experiments.comparison import compare as run
    from neuralns.files import check_writable
    from neuralns.operators.registry import portfolio_named
    from neuralns.plot import anytime, check_plot_path, format_cost
    from neuralns.plot import save as save_plot
    from neuralns.problem.bundled import read
    from neuralns.search.stopping import MaxIterations, MaxTime
    from neuralns.selection.named import selector_named
    from neuralns.selection.selector import Selector

    if time is not None and iterations is not None:
        raise InputError("runs are limited by time or by iterations, not by both.")
    stop = MaxIterations(iterations) if iterations is not None else MaxTime(10 if time is None else time)
    options.load_own(operators)
    chosen = portfolio_named(portfolio)
    problems = [read(source, customers=customers) for source in instances]
    names = [name.strip() for name in selectors.split(",") if name.strip()]
    if len(names) < 2:
        raise InputError(f"selectors {selectors!r}: at least two are needed for a comparison.")
    if len(set(names)) < len(names):
        raise InputError(f"selectors {selectors!r}: one is named twice.")
    if workers < 1:
        raise InputError(f"number of workers {workers} must be at least 1.")
    contestants: dict[str, Selector] = {}
    for name in names:
        if name != "best-fixed":
            contestants[name] = selector_named(
                name.replace("/", ",") if name.startswith("fixed:") else name, temperature, decide_every
            )
            for problem in problems:
                contestants[name].start(chosen, problem.customers)
    quotas = options.parse_scale(scale)
    check(problems, seeds, None if output is None else Path(output))
    for name, contestant in contestants.items():
        for problem in problems:
            if problem.name in trained_on(contestant) and not training_instances:
                raise InputError(
                    f"{name}: was trained on {problem.name!r}, so a comparison there is no test; leave it out, or say "
                    "--training-instances."
                )
    if output is not None:
        check_writable(output)
    if plot is not None:
        check_plot_path(plot)

    remark = "; ".join(
        text
        for text, given in (
            (f"temperature {temperature}", temperature is not None),
            (f"deciding every {decide_every}", decide_every > 1),
        )
        if given
    )

    messages = plain_console(stderr=True)

    def show(outcome: Outcome, done: int, total: int) -> None:
        messages.print(
            f"{done}/{total}  {outcome.instance}  {outcome.selector}  seed {outcome.seed}: "
            f"{format_cost(outcome.cost)}  {outcome.iterations} iterations",
            soft_wrap=True,
        )

    with announce_compilation(messages):
        if "best-fixed" in names:
            pair = best_fixed(problems, chosen, stop, workers=workers, scale=quotas)
            messages.print(f"best fixed pair in short trials: {pair.destroy}, {pair.repair}")
            contestants = {name: pair if name == "best-fixed" else contestants[name] for name in names}
        outcomes, curves = run(
            problems, contestants, stop, seeds, chosen, None if output is None else Path(output), workers=workers,
            scale=quotas, remark=remark, notify=show,
        )  # fmt: skip
    verdicts = judge(outcomes, names[0])
    if plot is not None:
        save_plot(anytime(curves, f"{len(problems)} instances, portfolio {chosen.name}, {seeds} seeds"), plot)
    rows: list[dict[str, Any]] = []
    for problem in problems:
        for name in names:
            own = [entry for entry in outcomes if (entry.instance, entry.selector) == (problem.name, name)]
            costs = [entry.cost for entry in own]
            rows.append(
                {
                    "instance": problem.name,
                    "selector": name,
                    "mean": float(np.mean(costs)),
                    "best": min(costs),
                    "worst": max(costs),
                    "iterations": float(np.mean([entry.iterations for entry in own])),
                    "decision_time_share": float(np.mean([entry.decision_time_share for entry in own])),
                }
            )
    if as_json:
        entries = [asdict(verdict) for verdict in verdicts]
        for entry in entries:
            # One pair has no interval, and JSON no word for that but null.
            entry["ci"] = None if math.isnan(entry["ci"]) else entry["ci"]
        print(json.dumps({"results": rows, "verdicts": entries}))
        return
    console = plain_console()
    console.width = max(console.width, 140)
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for column, side in (
        ("instance", "left"), ("selector", "left"), ("mean", "right"), ("best", "right"), ("worst", "right"),
        ("iterations", "right"), ("deciding", "right"),
    ):  # fmt: skip
        table.add_column(column, justify=side, no_wrap=True)  # type: ignore[arg-type]
    for row in rows:
        table.add_row(
            row["instance"], row["selector"], format_cost(row["mean"]), format_cost(row["best"]),
            format_cost(row["worst"]), f"{row['iterations']:,.0f}", f"{100 * row['decision_time_share']:.1f} %",
        )  # fmt: skip
    console.print(table)
    console.print()
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for column in ("selector", "above the best", f"against {names[0]}", "p (Wilcoxon)", "p (Holm)", "effect"):
        table.add_column(column, justify="left" if column == "selector" else "right", no_wrap=True)
    for verdict in verdicts:
        same = verdict.selector == names[0]
        ci = "" if math.isnan(verdict.ci) else f" ± {verdict.ci:.3f}"
        table.add_row(
            verdict.selector,
            f"{verdict.excess:.3f} %",
            "" if same else f"{verdict.difference:+.3f}{ci} %",
            "" if same else f"{verdict.p:.4f}",
            "" if same else f"{verdict.adjusted:.4f}",
            "" if same else f"{verdict.effect:+.2f}",
        )
    console.print(table)
    for what, file in (("runs", output), ("picture", plot)):
        if file is not None:
            console.print(f"{what} written to {file}", soft_wrap=True)
