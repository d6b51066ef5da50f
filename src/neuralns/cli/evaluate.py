"""``neuralns evaluate``: how an agent does in the operator-selection MDP."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import Progress
from rich.table import Table

from neuralns.cli import options
from neuralns.cli.printing import plain_console

if TYPE_CHECKING:
    from neuralns.mdp.in_search import SearchEvaluation


def evaluate(
    agent: Annotated[
        str,
        typer.Option(metavar="NAME|FILE", help="random, fixed:DESTROY,REPAIR, best-fixed, lrw, oracle or a policy."),
    ] = "random",
    instance: Annotated[
        str, typer.Option(metavar="NAME|FILE", help="A file or the name of a bundled instance.")
    ] = "C101",
    customers: Annotated[int | None, typer.Option(metavar="N", help="Take only the first N customers.")] = 20,
    ignore: options.Ignore = None,
    setting: options.Setting = "paper",
    portfolio: options.MdpPortfolio = "paper",
    operators: options.Operators = None,
    scale: options.Scale = None,
    budget: options.Budget = 10,
    tours: Annotated[str, typer.Option(metavar="SET", help="Start tours: train, validate or test.")] = "test",
    episodes: Annotated[int, typer.Option(metavar="N", help="Start tours to play.")] = 128,
    seeds: Annotated[int, typer.Option(metavar="S", help="How often, with other random numbers and training.")] = 10,
    in_search: Annotated[
        int | None,
        typer.Option("--in-search", metavar="N", help="Run N iterations of ALNS from each tour instead of episodes."),
    ] = None,
    as_json: options.AsJson = False,
) -> None:
    """Play episodes of the operator-selection MDP and report the mean reward.

    Examples:

        neuralns evaluate --agent random --instance R101

        neuralns evaluate --agent best-fixed --setting distance

        neuralns evaluate --agent best-fixed --setting windows

        neuralns evaluate --agent mine.policy --instance C101 --customers 40 --json

        neuralns evaluate --agent roulette:segment=10 --in-search 20
    """
    from neuralns.cli.progress import announce_compilation
    from neuralns.mdp.evaluate import evaluate
    from neuralns.mdp.in_search import evaluate_in_search
    from neuralns.mdp.mdp import make_mdp
    from neuralns.problem.bundled import read
    from neuralns.selection.policy_file import is_policy, read_policy

    options.load_own(operators)
    problem = read(instance, ignore=ignore or ())
    mdp = make_mdp(problem, customers=customers, setting=setting, portfolio=portfolio, scale=scale, budget=budget)
    messages = plain_console(stderr=True)
    file = agent.replace("{seed}", "0")
    trained = read_policy(file).card.get("setting", setting) if is_policy(file) else setting
    if trained != setting:
        messages.print(
            f"{agent} was trained in setting {trained}, and is evaluated in setting {setting}.", soft_wrap=True
        )
    with (
        announce_compilation(messages),
        Progress(console=messages, transient=True, disable=not messages.is_terminal) as bar,
    ):
        task = bar.add_task(f"{agent} on {mdp.instance.name}", total=seeds)
        if in_search is not None:
            searched = evaluate_in_search(
                mdp, agent, pairs=in_search, tours=tours, episodes=episodes, seeds=seeds,
                progress=lambda done, _: bar.update(task, completed=done),
            )  # fmt: skip
            _print_searched(searched, as_json)
            return
        found = evaluate(
            mdp, agent, tours=tours, episodes=episodes, seeds=seeds,
            progress=lambda done, _: bar.update(task, completed=done),
        )  # fmt: skip
    figures = found.as_dict()
    if as_json:
        print(json.dumps(figures))
        return
    ci = "" if math.isnan(found.reward_ci) else f" ± {found.reward_ci:.1f}"
    console = plain_console()
    console.print(
        f"{found.agent} on {mdp.instance.name}: {len(mdp.portfolio.destroys)} destroy and {len(mdp.portfolio.repairs)} "
        f"repair operators, d = {mdp.scale}, b = {mdp.budget}, {episodes} {tours} tours, {seeds} seeds",
        soft_wrap=True,
    )
    table = Table(box=None, show_header=False, pad_edge=False)
    for name, text in (
        ("mean reward", f"{found.reward_mean:.1f}{ci}"),
        ("mean F at the start", f"{found.start_mean:.1f}"),
        ("mean F at the end", f"{found.final_mean:.1f}"),
        ("best F at the end", f"{found.final_min:.2f}"),
        ("decisions a second", f"{found.decisions_a_second:,.0f}"),
    ):
        table.add_row(name, text)
    for name, share in found.shares.items():
        table.add_row(f"  {name}", f"{100 * share:.1f} %")
    console.print(table)


def _print_searched(found: SearchEvaluation, as_json: bool) -> None:
    if as_json:
        print(json.dumps(found.as_dict()))
        return
    seeds, episodes = found.costs.shape
    shown = ["" if math.isnan(ci) else f" ± {ci:.1f}" for ci in (found.average_ci, found.minimum_ci)]
    plain_console(soft_wrap=True).print(
        f"{found.agent} on {found.mdp.instance.name}: {found.pairs} iterations of ALNS from each of {episodes} tours, "
        f"{seeds} seeds\naverage F over a run {found.average:.2f}{shown[0]}\n"
        f"best F of a run {found.minimum:.2f}{shown[1]}"
    )
