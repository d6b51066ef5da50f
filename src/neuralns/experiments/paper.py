"""The paper's experiments as independent jobs, and their results as rows of tables.

Two rounds: first hyperparameters are chosen on the validation tours by the grids below, then agents are trained with
them and evaluated on the test tours. A job trains all seeds of one agent on one MDP and returns a value for each seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np

from neuralns.errors import InputError
from neuralns.experiments.jobs import Job
from neuralns.mdp.baselines import best_fixed_pair, train_roulette
from neuralns.mdp.evaluate import OracleAgent, SelectorAgent, SelectorsAgent, confidence, evaluate
from neuralns.mdp.in_search import PAIRS, SearchEvaluation, evaluate_in_search
from neuralns.mdp.mdp import MDP, SETTINGS, make_mdp
from neuralns.selection.learned_roulette import LearnedRoulette
from neuralns.selection.policy import DEFAULT_TEMPERATURE, PolicySelector
from neuralns.selection.policy_file import Policy
from neuralns.selection.roulette import Roulette
from neuralns.selection.uniform import Uniform

EXPERIMENTS = ("table1", "table2", "scaling", "scale", "temperature")
INSTANCES = ("C", "R", "RC")
LARGEST = 12
"""Destroy operators of the whole portfolio."""
TUNED = ("LRW", "CRW", "DQN")


@dataclass(frozen=True)
class Plan:
    """How large the experiments are.

    Attributes
    ----------
    seeds, tours
        Trainings of each agent, and test (and validation) tours.
    destroys, sizes, scales, temperatures
        |D| of the two tables, n of ``scaling``, d of ``scale``, τ of ``temperature``.
    rollouts, episodes
        Of the oracle for each pair on average, and of the training of the learned roulette wheel: by default those of
        15 000 actions, the number of the DQN's steps, each of which is an action in every one of its lanes.
    share
        Of the steps of a DQN training that are done.
    tuning_seeds, tuning_destroys
        Trainings of each choice of a grid, and the portfolios that it is tried on.
    """

    seeds: int = 10
    tours: int = 128
    destroys: tuple[int, ...] = tuple(range(2, LARGEST + 1))
    sizes: tuple[int, ...] = (20, 40, 60, 80, 100)
    scales: tuple[int, ...] = (2, 4, 6, 8, 10)
    temperatures: tuple[float, ...] = (0.01, 0.1, 1.0, 10.0, 100.0)
    rollouts: int = 30
    episodes: int = 750
    share: float = 1.0
    tuning_seeds: int = 3
    tuning_destroys: tuple[int, ...] = (5, LARGEST)

    def __post_init__(self) -> None:
        if self.seeds < 1:
            raise InputError(f"{self.seeds} seeds asked for; at least 1 is needed.")


FULL = Plan()
QUICK = Plan(
    seeds=2, tours=8, destroys=(2, 5, LARGEST), sizes=(20, 40), scales=(2, 4, 10), temperatures=(0.01, 100.0),
    rollouts=2, episodes=200, share=0.01, tuning_seeds=1, tuning_destroys=(LARGEST,),
)  # fmt: skip

# The grids. Segments and reactions of the learned wheel are those of the authors. The classic wheel first turns after a
# segment: in a search of 20 pairs it needs short ones to be anything but random selection.
ROULETTE_GRID = tuple({"segment": s, "reaction": r} for s, r in product((20, 50, 100, 200), (0.9, 0.95, 0.99)))
CLASSIC_GRID = tuple({"segment": s, "reaction": r} for s, r in product((1, 2, 5, 10), (0.1, 0.5, 0.9)))
DQN_GRID: dict[str, dict[str, Any]] = {
    "paper": {"preset": "paper", "network": "mlp"},
    "rich features": {"preset": "paper", "network": "mlp", "features": "rich", "reward": "improvement"},
    "pooled features": {
        "preset": "paper", "network": "small", "hidden": [128, 64], "reward": "improvement", "double": True,
        "tours": 2000,
    },
    "pooled features, larger batches": {
        "preset": "strong", "network": "small", "hidden": [128, 64], "steps": 10_000, "lanes": 32, "batch": 64,
        "tours": 2000,
    },
}  # fmt: skip
GAT = {"preset": "paper", "network": "gat"}


# --- Rows of the result files. ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reward:
    """A line of ``table1.csv``."""

    setting: str
    instance: str
    destroy_operators: int
    agent: str
    mean_reward: float
    ci: float
    seeds: int


@dataclass(frozen=True)
class Objective:
    """A line of ``table2.csv``; F on average over the iterations of a run (``avg``), or its best F (``min``)."""

    setting: str
    instance: str
    destroy_operators: int
    agent: str
    statistic: str
    objective: float
    ci: float
    seeds: int


@dataclass(frozen=True)
class SizeReward:
    """A line of ``scaling.csv``: agents trained at 20 customers; the fixed pair is the best for each size."""

    setting: str
    instance: str
    customers: int
    agent: str
    mean_reward: float
    ci: float
    seeds: int


@dataclass(frozen=True)
class ScaleReward:
    """A line of ``scale.csv``."""

    setting: str
    instance: str
    scale: int
    agent: str
    mean_reward: float
    ci: float
    seeds: int


@dataclass(frozen=True)
class TemperatureObjective:
    """A line of ``temperature.csv``."""

    setting: str
    instance: str
    temperature: float
    statistic: str
    objective: float
    ci: float
    seeds: int


@dataclass(frozen=True)
class Tuning:
    """A line of ``tuning.csv``: a choice, and what it gave on the validation tours, mean of all trials."""

    agent: str
    setting: str
    choice: str
    validation: float
    chosen: bool


@dataclass(frozen=True)
class Tables:
    """All results; ``values`` has those of each seed under the fields of a row that come before its figures."""

    table1: tuple[Reward, ...] = ()
    table2: tuple[Objective, ...] = ()
    scaling: tuple[SizeReward, ...] = ()
    scale: tuple[ScaleReward, ...] = ()
    temperature: tuple[TemperatureObjective, ...] = ()
    tuning: tuple[Tuning, ...] = ()
    values: Mapping[tuple[Any, ...], tuple[float, ...]] = field(default_factory=dict)
    pairs: Mapping[tuple[str, str, int], tuple[str, str]] = field(default_factory=dict)


# --- Which jobs. ------------------------------------------------------------------------------------------------------

Choices = Mapping[tuple[str, str], Any]
"""The chosen hyperparameters of an agent (LRW, CRW, DQN) in a setting."""
Results = Mapping[str, Any]
"""What jobs gave, by their names."""


def settings_of(experiment: str) -> tuple[str, ...]:
    """Return the settings that an experiment is done in: the tables in both, the figures as the paper drew them."""
    return ("paper",) if experiment in ("scaling", "scale") else SETTINGS


def tuning_jobs(experiments: Iterable[str], plan: Plan) -> list[Job]:
    """Return the jobs of the first round, the longest first."""
    jobs = []
    for setting in _settings(experiments):
        common = {"setting": setting, "seeds": plan.tuning_seeds, "tours": plan.tours}
        for choice in DQN_GRID.values():
            config = {**choice, "share": plan.share}
            jobs.append(Job("tune-dqn", {**common, "destroys": list(plan.tuning_destroys), "config": config}))
        for instance, destroys in product(INSTANCES, plan.tuning_destroys):
            cell = {**common, "instance": instance, "destroys": destroys, "episodes": plan.episodes, "pairs": PAIRS}
            jobs.append(Job("tune-wheels", {**cell, "learned": ROULETTE_GRID, "classic": CLASSIC_GRID}))
    return jobs


def choose(experiments: Iterable[str], plan: Plan, results: Results) -> tuple[Choices, list[Tuning]]:
    """Return the choices with the best mean validation score, and the scores of all, for settings that have them."""
    jobs = tuning_jobs(experiments, plan)
    choices: dict[tuple[str, str], Any] = {}
    rows = []
    for setting in _settings(experiments):
        own = [job for job in jobs if job.settings["setting"] == setting]
        if any(job.name not in results for job in own):
            continue
        nets = [job for job in own if job.kind == "tune-dqn"]
        wheels = [results[job.name] for job in own if job.kind == "tune-wheels"]
        options: dict[str, list[tuple[str, Any, float]]] = {
            "DQN": [
                (name, job.settings["config"], float(np.mean(results[job.name])))
                for name, job in zip(DQN_GRID, nets, strict=True)
            ]
        }
        for agent, grid in (("LRW", ROULETTE_GRID), ("CRW", CLASSIC_GRID)):
            means = np.mean([wheel[agent] for wheel in wheels], axis=0)
            options[agent] = [
                (f"segment {choice['segment']}, reaction {choice['reaction']}", choice, float(mean))
                for choice, mean in zip(grid, means, strict=True)
            ]
        for agent in TUNED:
            # F is to be small, rewards large.
            sign = -1.0 if agent == "CRW" else 1.0
            best = int(np.argmax([sign * score for _, _, score in options[agent]]))
            choices[agent, setting] = options[agent][best][1]
            rows += [
                Tuning(agent, setting, name, round(score, 3), number == best)
                for number, (name, _, score) in enumerate(options[agent])
            ]
    return choices, rows


def main_jobs(experiments: Sequence[str], plan: Plan, choices: Choices | None) -> list[Job]:
    """Return the jobs of the second round, the longest first, for settings with choices.

    Without any choices these are the jobs of all settings, which then have no true names yet.
    """
    return [job for _, job in sorted(_entries(experiments, plan, choices), key=lambda entry: entry[0])]


def _entries(experiments: Sequence[str], plan: Plan, choices: Choices | None) -> list[tuple[int, Job]]:
    """Return jobs with their place in the order; the same job may be asked for twice."""
    found: list[tuple[int, Job]] = []

    def choice(agent: str, setting: str) -> Any:
        return None if choices is None else choices[agent, setting]

    def cell(setting: str, instance: str, destroys: int, scale: int) -> None:
        place = {
            "setting": setting, "instance": instance, "destroys": destroys, "scale": scale, "tours": plan.tours,
            "seeds": list(range(plan.seeds)),
        }  # fmt: skip
        search = {"pairs": PAIRS}
        temperatures = list(plan.temperatures) if destroys == LARGEST and scale == 4 else []
        config = choice("DQN", setting)
        found.append((1, Job("dqn", {**place, **search, "config": config, "temperatures": temperatures})))
        if scale == 4:
            found.append((2, Job("oracle", {**place, "rollouts": plan.rollouts})))
        wheels = {
            "learned": choice("LRW", setting), "classic": choice("CRW", setting), "episodes": plan.episodes
        }  # fmt: skip
        found.append((3, Job("baselines", {**place, **search, **wheels})))

    for experiment in experiments:
        for setting, instance in product(settings_of(experiment), INSTANCES):
            if choices is not None and ("DQN", setting) not in choices:
                continue
            if experiment in ("table1", "table2"):
                for destroys in plan.destroys:
                    cell(setting, instance, destroys, 4)
            elif experiment == "scale":
                for scale in plan.scales:
                    cell(setting, instance, LARGEST, scale)
            elif experiment == "temperature":
                cell(setting, instance, LARGEST, 4)
            elif experiment == "scaling":
                place = {"setting": setting, "instance": instance, "sizes": list(plan.sizes), "tours": plan.tours}
                half = (plan.seeds + 1) // 2
                for seeds in (range(half), range(half, plan.seeds)):
                    if seeds:
                        config = {**GAT, "share": plan.share}
                        found.append((0, Job("gat", {**place, "seeds": list(seeds), "config": config})))
                wheel = {"learned": choice("LRW", setting), "episodes": plan.episodes}
                found.append((3, Job("sizes", {**place, **wheel, "seeds": list(range(plan.seeds))})))
    unique = {(entry[1].kind, repr(entry[1].settings)): entry for entry in found}
    return list(unique.values())


def _settings(experiments: Iterable[str]) -> list[str]:
    wanted = {setting for experiment in experiments for setting in settings_of(experiment)}
    return [setting for setting in SETTINGS if setting in wanted]


# --- What a job does. -------------------------------------------------------------------------------------------------


def work(kind: str, settings: Mapping[str, Any]) -> Any:
    """Do a job."""
    return _WORK[kind](settings)


def mdp_of(settings: Mapping[str, Any], **changes: Any) -> MDP:
    """Return the MDP that a job is about."""
    chosen = {"customers": 20, **settings, **changes}
    return make_mdp(
        f"{chosen['instance']}101",
        customers=chosen["customers"],
        setting=chosen["setting"],
        portfolio=f"paper-{chosen.get('destroys', LARGEST)}",
        scale=chosen.get("scale", chosen["customers"] // 5),
    )


def train_policies(
    cells: Sequence[Mapping[str, Any]], config: Mapping[str, Any], *, device: str = "cpu", threads: int = 1,
    progress: Callable[[Any], object] | None = None,
) -> list[dict[int, Policy]]:  # fmt: skip
    """Train the networks of all seeds of all cells in one stacked run; return those of each cell by seed."""
    from neuralns.learning.starts import make_tasks
    from neuralns.learning.training import Training

    chosen = dqn_config(config)
    tasks = [task for cell in cells for task in make_tasks([mdp_of(cell)], cell["seeds"], "random", chosen.tours)]
    training = Training(tasks, chosen, device, threads)
    training.run(progress)
    policies = iter([training.policy(agent) for agent in range(len(tasks))])
    return [{seed: next(policies) for seed in cell["seeds"]} for cell in cells]


def dqn_config(entries: Mapping[str, Any]) -> Any:
    """Return the training configuration that plain values stand for: a preset, changes to it, a share of its steps."""
    from neuralns.learning.dqn import preset

    changes = dict(entries)
    config = preset(changes.pop("preset"), changes.pop("network"))
    share = changes.pop("share")
    if "hidden" in changes:
        changes["hidden"] = tuple(changes["hidden"])
    config = replace(config, **changes)
    if share < 1:
        steps = max(40, round(share * config.steps))
        config = replace(config, steps=steps, validate_every=max(20, steps // 2), tours=min(config.tours, 64))
    return config


def judge_policies(settings: Mapping[str, Any], policies: Mapping[int, Policy]) -> dict[str, Any]:
    """Evaluate the trained networks of a cell: in the MDP, in ALNS, and there at several temperatures."""
    mdp, tours, seeds = mdp_of(settings), settings["tours"], settings["seeds"]
    greedy = {seed: PolicySelector(policy, 0.0) for seed, policy in policies.items()}

    def in_search(temperature: float) -> dict[str, list[float]]:
        chosen = {seed: PolicySelector(policy, temperature) for seed, policy in policies.items()}
        return _statistics(evaluate_in_search(mdp, chosen, pairs=settings["pairs"], episodes=tours, seeds=len(seeds)))

    return {
        "mdp": {"DQN": _rewards(mdp, SelectorsAgent(greedy, "DQN"), tours, seeds)},
        "search": {"DQN": in_search(DEFAULT_TEMPERATURE)},
        "temperature": {f"{value:g}": in_search(value) for value in settings["temperatures"]},
    }


def _dqn(settings: Mapping[str, Any]) -> dict[str, Any]:
    return judge_policies(settings, train_policies([settings], settings["config"])[0])


def _baselines(settings: Mapping[str, Any]) -> dict[str, Any]:
    mdp, tours, seeds = mdp_of(settings), settings["tours"], settings["seeds"]
    pair = best_fixed_pair(mdp)
    wheels = _wheels(mdp, settings)
    classic = Roulette(**settings["classic"])
    return {
        "mdp": {
            "RAN": _rewards(mdp, SelectorAgent(Uniform(), "RAN"), tours, seeds),
            "LRW": _rewards(mdp, SelectorsAgent(wheels, "LRW"), tours, seeds),
            "FIXED": _rewards(mdp, SelectorAgent(pair, "FIXED"), tours, seeds),
        },
        "search": {
            name: _statistics(evaluate_in_search(mdp, agent, pairs=settings["pairs"], episodes=tours, seeds=len(seeds)))
            for name, agent in (("RAN", Uniform()), ("LRW", wheels), ("CRW", classic), ("FIXED", pair))
        },
        "pair": [pair.destroy, pair.repair],
    }


def _oracle(settings: Mapping[str, Any]) -> dict[str, Any]:
    mdp = mdp_of(settings)
    agent = OracleAgent(best_fixed_pair(mdp), rollouts=settings["rollouts"])
    return {"mdp": {"ORACLE": _rewards(mdp, agent, settings["tours"], settings["seeds"])}}


def _gat(settings: Mapping[str, Any]) -> dict[str, Any]:
    policies = train_policies([{**settings, "scale": 4}], settings["config"])[0]
    greedy = {seed: PolicySelector(policy, 0.0) for seed, policy in policies.items()}
    return {
        "sizes": {
            str(size): {
                "DQN": _rewards(
                    mdp_of(settings, customers=size),
                    SelectorsAgent(greedy, "DQN"),
                    settings["tours"],
                    settings["seeds"],
                )
            }
            for size in settings["sizes"]
        }
    }


def _sizes(settings: Mapping[str, Any]) -> dict[str, Any]:
    wheels = _wheels(mdp_of(settings), settings)
    agents = (SelectorAgent(Uniform(), "RAN"), SelectorsAgent(wheels, "LRW"))
    found: dict[str, Any] = {}
    for size in settings["sizes"]:
        mdp = mdp_of(settings, customers=size)
        pair = SelectorAgent(best_fixed_pair(mdp), "FIXED")
        found[str(size)] = {
            agent.name: _rewards(mdp, agent, settings["tours"], settings["seeds"]) for agent in (*agents, pair)
        }
    return {"sizes": found}


def _tune_dqn(settings: Mapping[str, Any]) -> list[float]:
    cells = [
        {"setting": settings["setting"], "instance": instance, "destroys": destroys, "seeds": range(settings["seeds"])}
        for instance, destroys in product(INSTANCES, settings["destroys"])
    ]
    trained = train_policies(cells, settings["config"])
    return [float(np.mean([policy.card["validation_reward"] for policy in group.values()])) for group in trained]


def _tune_wheels(settings: Mapping[str, Any]) -> dict[str, list[float]]:
    mdp, tours, seeds = mdp_of(settings), settings["tours"], range(settings["seeds"])
    learned = []
    for choice in settings["learned"]:
        wheels = _wheels(mdp, {"seeds": seeds, "learned": choice, "episodes": settings["episodes"]})
        learned.append(_rewards(mdp, SelectorsAgent(wheels, "LRW"), tours, seeds, "validate"))
    classic = [
        evaluate_in_search(
            mdp, Roulette(**choice), pairs=settings["pairs"], tours="validate", episodes=tours, seeds=len(seeds)
        ).average
        for choice in settings["classic"]
    ]
    return {"LRW": [float(np.mean(values)) for values in learned], "CRW": classic}


_WORK: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "dqn": _dqn, "baselines": _baselines, "oracle": _oracle, "gat": _gat, "sizes": _sizes,
    "tune-dqn": _tune_dqn, "tune-wheels": _tune_wheels,
}  # fmt: skip


def _wheels(mdp: MDP, settings: Mapping[str, Any]) -> dict[int, LearnedRoulette]:
    episodes = settings["episodes"]
    chosen = {**settings["learned"], "segment": min(settings["learned"]["segment"], episodes)}
    return {seed: train_roulette(mdp, seed, episodes=episodes, **chosen) for seed in settings["seeds"]}


def _rewards(mdp: MDP, agent: Any, tours: int, seeds: Sequence[int], which: str = "test") -> list[float]:
    """Return the mean reward of each seed."""
    found = evaluate(mdp, agent, tours=which, episodes=tours, seeds=seeds)
    return [round(float(value), 4) for value in found.rewards.mean(axis=1)]


def _statistics(found: SearchEvaluation) -> dict[str, list[float]]:
    """Return F on average over the iterations and the best F of a run, means over the tours, for each seed."""
    parts = (("avg", found.courses.mean(axis=1)), ("min", found.costs.mean(axis=1)))
    return {name: [round(float(value), 4) for value in values] for name, values in parts}


# --- Results as rows. -------------------------------------------------------------------------------------------------


def make_tables(experiments: Sequence[str], plan: Plan, results: Results) -> Tables:
    """Return the rows of all experiments for which there are results; jobs that are missing leave gaps."""
    choices, tuning = choose(experiments, plan, results)
    values: dict[tuple[Any, ...], tuple[float, ...]] = {}
    pairs: dict[tuple[str, str, int], tuple[str, str]] = {}
    sizes: dict[tuple[Any, ...], dict[int, float]] = {}
    for job in main_jobs(experiments, plan, choices):
        if job.name not in results:
            continue
        about, result = job.settings, results[job.name]
        place = (about["setting"], about["instance"])
        scale, destroys = about.get("scale"), about.get("destroys")
        for agent, each in result.get("mdp", {}).items():
            if scale == 4 and destroys in plan.destroys:
                values["table1", *place, destroys, agent] = tuple(each)
            of_scales = destroys == LARGEST and scale in plan.scales and about["setting"] in settings_of("scale")
            if of_scales and agent != "ORACLE":
                values["scale", *place, scale, agent] = tuple(each)
        for agent, statistics in result.get("search", {}).items():
            for statistic, each in statistics.items():
                if scale == 4 and destroys in plan.destroys:
                    values["table2", *place, destroys, agent, statistic] = tuple(each)
        for temperature, statistics in result.get("temperature", {}).items():
            for statistic, each in statistics.items():
                values["temperature", *place, float(temperature), statistic] = tuple(each)
        for size, agents in result.get("sizes", {}).items():
            for agent, each in agents.items():
                key = ("scaling", *place, int(size), agent)
                sizes.setdefault(key, {}).update(zip(about["seeds"], each, strict=True))
        if "pair" in result and scale == 4:
            pairs[about["setting"], about["instance"], about["destroys"]] = tuple(result["pair"])
    values.update({key: tuple(each[seed] for seed in sorted(each)) for key, each in sizes.items()})

    def rows(experiment: str, kind: Callable[..., Any]) -> tuple[Any, ...]:
        if experiment not in experiments:
            return ()
        chosen = sorted((key for key in values if key[0] == experiment), key=_place)
        return tuple(
            kind(*key[1:], round(float(np.mean(values[key])), 3), _interval(values[key]), len(values[key]))
            for key in chosen
        )

    asked = {key: each for key, each in values.items() if key[0] in experiments}
    return Tables(
        rows("table1", Reward), rows("table2", Objective), rows("scaling", SizeReward), rows("scale", ScaleReward),
        rows("temperature", TemperatureObjective), tuple(tuning), asked, pairs,
    )  # fmt: skip


_AGENTS = ("DQN", "LRW", "RAN", "CRW", "FIXED", "ORACLE")


def _place(key: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return what orders keys: settings and instances as they are listed, numbers by size, agents as listed."""
    _, setting, instance, number, *rest = key
    names = [_AGENTS.index(name) if name in _AGENTS else name for name in rest]
    return SETTINGS.index(setting), INSTANCES.index(instance), number, *names


def _interval(values: Sequence[float]) -> float:
    return round(confidence(np.array(values)), 3)
