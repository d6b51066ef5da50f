"""``neuralns compare``: selectors against each other inside ALNS."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import Annotated

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
            help="auto, random, roulette, ucb, thompson, best-fixed, fixed:D/R, policy files, lrw:FILE, adaptive:FILE, "
            "FILE.setting, FILE.py; the first one is what the others are compared with.",
        ),
    ] = "random,roulette,ucb,thompson,best-fixed",
    time: Annotated[
        float | None, typer.Option("--time", "-t", metavar="S", help="Seconds a run; 10 by default.")
    ] = None,
    iterations: Annotated[int | None, typer.Option("--iterations", "-n", metavar="N", help="Iterations a run.")] = None,
    seeds: Annotated[int, typer.Option(metavar="S", help="Runs of each selector on each instance.")] = 10,
    portfolio: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|a,b,c", help="modern, paper, ... or operators, for all; by default what each was made for."
        ),
    ] = None,
    operators: options.Operators = None,
    temperature: Annotated[float | None, typer.Option(metavar="T", help="Of policies; 0.01 by default.")] = None,
    decide_every: Annotated[int, typer.Option(metavar="K", help="A policy decides every K iterations.")] = 1,
    scale: options.Quotas = None,
    customers: options.Customers = None,
    ignore: options.Ignore = None,
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

    Plain `neuralns solve` takes part as `solve`; without --portfolio and --scale each selector has what it was made
    for.

    Examples:

        neuralns compare X-n101-k25 --time 5 --seeds 5

        neuralns compare X-n101-k25 X-n200-k36 --selectors mine.policy --plot curves.png
    """
    from neuralns.cli.progress import announce_compilation
    from neuralns.experiments.comparison import SelectorRun
    from neuralns.experiments.comparison import compare as run
    from neuralns.experiments.statistics import ENOUGH_INSTANCES
    from neuralns.operators.portfolio import portfolio_named
    from neuralns.plot import anytime, check_plot_path, format_cost
    from neuralns.plot import save as save_plot
    from neuralns.problem.bundled import read
    from neuralns.search.stopping import MaxIterations, MaxTime

    if time is not None and iterations is not None:
        raise InputError("runs are limited by time or by iterations, not by both.")
    stop = MaxIterations(iterations) if iterations is not None else MaxTime(10 if time is None else time)
    options.load_own(operators)
    chosen = None if portfolio is None else portfolio_named(portfolio)
    problems = [read(source, customers=customers, ignore=ignore or ()) for source in instances]
    quotas = options.parse_scale(scale)
    if plot is not None:
        check_plot_path(plot)
    messages = plain_console(stderr=True, soft_wrap=True)

    def show(row: SelectorRun, done: int, total: int) -> None:
        messages.print(
            f"{done}/{total}  {row.instance}  {row.selector}  seed {row.seed}: {format_cost(row.cost)}  "
            f"{row.iterations} iterations"
        )

    try:
        with announce_compilation(messages):
            found = run(
                problems, selectors, stop, seeds, chosen, output, workers=workers,
                scale=quotas, temperature=temperature, decide_every=decide_every, training_instances=training_instances,
                notify=show, say=messages.print,
            )  # fmt: skip
    except KeyboardInterrupt:
        kept = "" if output is None else f"; finished runs are kept in {output}, and the same command goes on"
        messages.print(f"stopped{kept}.")
        raise typer.Exit(130) from None
    if plot is not None:
        operators_used = "" if chosen is None else f"portfolio {chosen.name}, "
        save_plot(anytime(found.curves, f"{len(problems)} instances, {operators_used}{seeds} seeds"), plot)
    if as_json:
        entries = [asdict(verdict) for verdict in found.verdicts]
        for entry in entries:
            # One pair has no interval and two instances no test, and JSON no word for that but null.
            for name in ("ci", "p", "adjusted"):
                entry[name] = None if math.isnan(entry[name]) else entry[name]
        rows = [asdict(row) for row in found.summaries]
        for entry in rows:
            share = entry["decision_time_share"]
            entry["decision_time_share"] = None if math.isnan(share) else share
        for entry in entries:
            entry["portfolio"] = found.portfolios[entry["selector"]]
        print(json.dumps({"results": rows, "verdicts": entries, "conclusion": found.conclusion}))
        return
    console = plain_console()
    console.width = max(console.width, 140)
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for column, side in (
        ("instance", "left"), ("selector", "left"), ("mean", "right"), ("best", "right"), ("worst", "right"),
        ("iterations", "right"), ("deciding", "right"),
    ):  # fmt: skip
        table.add_column(column, justify=side, no_wrap=True)  # type: ignore[arg-type]
    for row in found.summaries:
        table.add_row(
            row.instance, row.selector, format_cost(row.mean), format_cost(row.best), format_cost(row.worst),
            f"{row.iterations:,.0f}",
            "" if math.isnan(row.decision_time_share) else f"{100 * row.decision_time_share:.1f} %",
        )  # fmt: skip
    console.print(table)
    console.print(
        "Costs are over the seeds; deciding is the share of the time that went into choosing operators.", soft_wrap=True
    )
    console.print()
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    reference = found.verdicts[0].selector
    for column in (
        "selector",
        "portfolio",
        "above the best",
        f"against {reference}",
        "p (Wilcoxon)",
        "p (Holm)",
        "effect",
    ):
        table.add_column(column, justify="left" if column in ("selector", "portfolio") else "right", no_wrap=True)
    for verdict in found.verdicts:
        same = verdict.selector == reference
        ci = "" if math.isnan(verdict.ci) else f" ± {verdict.ci:.3f}"
        table.add_row(
            verdict.selector,
            found.portfolios[verdict.selector],
            f"{verdict.excess:.3f} %",
            "" if same else f"{verdict.difference:+.3f}{ci} %",
            "" if same or math.isnan(verdict.p) else f"{verdict.p:.4f}",
            "" if same or math.isnan(verdict.adjusted) else f"{verdict.adjusted:.4f}",
            "" if same else f"{verdict.effect:+.2f}",
        )
    console.print(table)
    plain = " solve is 'neuralns solve' with all its defaults." if "solve" in found.portfolios else ""
    console.print(
        "Above the best: mean cost above the lowest that anyone found on an instance. Against "
        f"{reference}: mean difference of the costs with its 95 % interval; below 0 is cheaper.\n"
        "p: how likely such differences are by chance alone, for one selector and corrected for all (below 0.05 is "
        f"significant). Effect: from -1 (always cheaper) to +1 (always dearer).{plain}",
        soft_wrap=True,
    )
    if len(problems) == 1:
        console.print("One instance: intervals and tests are over its seeds and speak of it alone.", soft_wrap=True)
    elif len(problems) < ENOUGH_INSTANCES:
        console.print(
            f"{len(problems)} instances are too few for a test; from {ENOUGH_INSTANCES} on there is one.",
            soft_wrap=True,
        )
    console.print()
    console.print(found.conclusion, soft_wrap=True)
    for what, file in (("runs", output), ("picture", plot)):
        if file is not None:
            console.print(f"{what} written to {file}", soft_wrap=True)
