"""``neuralns episode``: one episode of the operator-selection MDP, step by step."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from neuralns.cli import options
from neuralns.cli.printing import plain_console


def episode(
    instance: options.InstanceName,
    agent: Annotated[
        str, typer.Option(metavar="NAME|FILE", help="random, fixed:DESTROY,REPAIR, best-fixed, lrw or a policy.")
    ] = "random",
    customers: Annotated[int | None, typer.Option(metavar="N", help="Take only the first N customers.")] = 20,
    ignore: options.Ignore = None,
    setting: options.Setting = "paper",
    portfolio: options.MdpPortfolio = "paper",
    scale: options.Scale = None,
    budget: options.Budget = 3,
    start: Annotated[int, typer.Option(metavar="I", help="Which of the test tours to start from.")] = 0,
    seed: Annotated[int, typer.Option(metavar="K", help="Same seed, same episode.")] = 0,
    plot: Annotated[str | None, typer.Option(metavar="FILE", help="Draw the episode: .png, .pdf or .svg.")] = None,
    as_json: options.AsJson = False,
) -> None:
    """Play one episode and show every step.

    Examples:

        neuralns episode C101 --plot episode.png

        neuralns episode R101 --agent best-fixed --budget 10
    """
    from neuralns.cli.progress import announce_compilation
    from neuralns.mdp.evaluate import episode
    from neuralns.mdp.mdp import make_mdp
    from neuralns.plot import check_plot_path, format_cost
    from neuralns.plot import episode as draw_episode
    from neuralns.plot import save as save_plot
    from neuralns.problem.bundled import read
    from neuralns.routes.bounds import charged_cost

    if plot is not None:
        check_plot_path(plot)
    problem = read(instance, ignore=ignore or ())
    mdp = make_mdp(problem, customers=customers, setting=setting, portfolio=portfolio, scale=scale, budget=budget)
    with announce_compilation(plain_console(stderr=True)):
        frames = episode(mdp, agent, start=start, seed=seed)
    # Before and after each pair all customers are on routes, but for those who are left out.
    left_out = [len(frames[number - number % 2][0].unserved) for number in range(len(frames))]
    removed = [len(solution.unserved) - left for (solution, _), left in zip(frames, left_out, strict=True)]
    reward = charged_cost(frames[0][0]) - charged_cost(frames[-1][0])
    if plot is not None:
        title = f"{mdp.instance.name}: an episode with budget b = {budget}, destroy scale d = {mdp.scale}"
        save_plot(draw_episode(frames, f"{title}, reward {format_cost(round(reward, 2))}"), plot)
    if as_json:
        steps: list[dict[str, Any]] = [
            {
                "action": action,
                "routes": [list(route) for route in solution.routes],
                "removed": removed[number],
                "unserved": left_out[number],
                "cost": solution.cost,
            }
            for number, (solution, action) in enumerate(frames)
        ]
        print(json.dumps({"instance": mdp.instance.name, "reward": reward, "steps": steps}))
        return
    console = plain_console()
    for number, (solution, action) in enumerate(frames):
        after = f"F = {solution.cost:.2f}, {len(solution.routes)} routes"
        if number % 2:
            after = f"{removed[number]} customers removed"
        if left_out[number]:
            after += f", {left_out[number]} customers unserved"
        console.print(f"S{number:<3} {action:<22} {after}")
    with_penalties = ", with a penalty for each customer unserved" if any(left_out) else ""
    console.print(f"reward {reward:.2f}{with_penalties}")
    if plot is not None:
        console.print(f"picture written to {plot}", soft_wrap=True)
