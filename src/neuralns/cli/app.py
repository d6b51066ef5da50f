"""The application: its commands and what they share."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from neuralns import __version__
from neuralns.cli import (
    batch,
    bench,
    check,
    check_operator,
    compare,
    compile,
    episode,
    evaluate,
    generate,
    info,
    instances,
    operators,
    policy,
    reproduce,
    serve,
    solve,
    studio,
    train,
    tune,
)

app = typer.Typer(
    name="neuralns",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode="markdown",
)
app.command("solve")(solve.solve)
app.command("batch")(batch.batch)
app.command("info")(info.info)
app.command("check")(check.check)
app.command("check-operator")(check_operator.check_operator)
app.command("operators")(operators.operators)
app.command("instances")(instances.instances)
app.command("compile")(compile.compile)
app.command("generate")(generate.generate)
app.command("compare")(compare.compare)
app.command("train")(train.train)
app.command("tune")(tune.tune)
app.command("policy")(policy.policy)
app.command("evaluate")(evaluate.evaluate)
app.command("episode")(episode.episode)
app.command("reproduce")(reproduce.reproduce)
app.command("studio")(studio.studio)
app.command("serve")(serve.serve)
app.add_typer(bench.bench, name="bench")


def _print_version(asked: bool) -> None:
    if asked:
        Console().print(f"neuralns {__version__}", highlight=False)
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Short vehicle routes by adaptive large neighbourhood search with learned operator selection.

    Examples:

        neuralns solve X-n110-k13 --time 10 --plot routes.png

        neuralns solve my.vrp --time 60 --output routes.sol

        neuralns batch depots/*.vrp --time 10 --workers 8 -o results.csv

        neuralns train yesterday/*.vrp -o mine.policy

        neuralns solve today.vrp --selector mine.policy

        neuralns reproduce all

        neuralns studio
    """
