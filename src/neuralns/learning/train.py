"""Training as a function: instances and a few choices in, a policy file out."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neuralns.errors import InputError, how_to_install
from neuralns.files import check_new, check_writable, write_or_rescue
from neuralns.mdp.baselines import train_roulette
from neuralns.mdp.evaluate import evaluate
from neuralns.mdp.mdp import DEFAULT_BUDGET, MDP, make_mdp
from neuralns.operators.portfolio import Portfolio
from neuralns.operators.registry import Operator
from neuralns.problem.bundled import read
from neuralns.problem.instance import Instance
from neuralns.search.acceptance.rule import Acceptance
from neuralns.selection.features import features_for
from neuralns.selection.policy_file import Policy, write_policy

if TYPE_CHECKING:
    from neuralns.learning.baselines import Baselines, PairUse
    from neuralns.learning.dqn import Config
    from neuralns.learning.training import Standing


def seed_file(output: str | os.PathLike[str], seed: int) -> Path:
    """Return the file for the policy of one seed: ``mine.policy`` becomes ``mine.seed-3.policy``."""
    path = Path(output)
    return path.with_name(f"{path.stem}.seed-{seed}{path.suffix}")


@dataclass(frozen=True)
class Trained:
    """What a training gave.

    Attributes
    ----------
    policies
        The best policy of each seed.
    validation, tests
        How each did on the validation tours (None before the first validation), and on the test tours; no tests if the
        run was stopped.
    best
        Which of them did best on the validation tours.
    finished
        Whether all steps were done.
    marks, pairs
        What random selection and the best fixed pair gain on the same validation tours (None before the first
        validation), and the pair that each policy chooses most often there.
    written
        The files that hold the best policy and, of several seeds, that of each; other ones than asked for, where those
        could not be written.
    """

    policies: tuple[Policy, ...]
    validation: tuple[float | None, ...]
    tests: tuple[float, ...]
    best: int
    finished: bool
    step: int
    marks: Baselines | None = None
    pairs: tuple[PairUse, ...] = ()
    written: tuple[str, ...] = ()

    @property
    def policy(self) -> Policy:
        """The best policy."""
        return self.policies[self.best]


def train(
    instances: Instance | str | os.PathLike[str] | Sequence[Instance | str | os.PathLike[str]],
    output: str | os.PathLike[str] | None = None,
    *,
    network: str | None = None,
    preset: str = "strong",
    seeds: int | Sequence[int] = 1,
    start: str | None = None,
    customers: int | None = None,
    setting: str | None = None,
    portfolio: Portfolio | str | Sequence[str | Operator] | None = None,
    scale: int | None = None,
    budget: int = DEFAULT_BUDGET,
    acceptance: str | Acceptance | None = None,
    validate_sizes: Sequence[int] = (),
    device: str = "cpu",
    threads: int = 1,
    resume: bool = False,
    force: bool = False,
    tensorboard: str | os.PathLike[str] | None = None,
    command: str = "",
    progress: Callable[[Standing], object] | None = None,
    say: Callable[[str], object] = lambda text: None,
    **changes: Any,
) -> Trained:
    """Train a policy that chooses operators.

    What is left out is as the preset has it. ``strong`` is for searches on instances of yours: ``small``, a network for
    all sizes, learns on solutions that searches meet (``search``), with the portfolio of `neuralns.solve` (``modern``),
    10 customers removed at a time, and pairs undone that make things worse (``improving``). ``paper`` is the paper's:
    ``mlp``, ``random`` tours, portfolio ``paper``, a fifth of the customers, and what every pair gives kept
    (``always``). ``graph`` is as ``paper``, but trains ``gat`` so that it carries over to other sizes, which
    ``validate_sizes`` helps with. Setting and features are ``windows`` where time plays a part, else ``distance`` and
    ``rich`` (``routes`` for ``ahead``); ``paper`` and ``graph`` leave windows out.

    Parameters
    ----------
    instances
        What to learn on: instances, files or bundled names.
    output
        The policy file to write; beside it a log, one more policy for each of several seeds, and a checkpoint while it
        lasts.
    network
        ``mlp``, ``gat``, ``small``; ``ahead``, which learns from labelled states and looks ahead (one instance, random
        tours, ``states``, ``hidden`` and all else of `neuralns.learning.labelled.LabelConfig` can be changed); or
        ``lrw`` for the learned roulette wheel, which needs no torch.
    preset
        Where the choices left out and the configuration come from, ``strong``, ``paper`` or ``graph``.
    seeds
        Agents trained side by side, or their seeds; the best on the validation tours is written.
    start
        Episodes start from ``random`` tours, ``savings`` or ``search`` (solutions met by ALNS).
    customers, setting, portfolio, scale, budget, acceptance
        Of the MDP (see `neuralns.make_mdp`).
    validate_sizes
        Numbers of customers at which the policy is validated as well, without being trained there: on the first so many
        of each instance. The best is then what saves the largest share of the cost, in the mean over the sizes.
    device, threads
        Where the networks live, and threads that play episodes.
    resume
        Go on from the checkpoint beside the output.
    force
        Write over a policy, or the checkpoint of a run that was stopped, that is there already.
    tensorboard
        A folder for scalars.
    command
        What the policy's card says it was made by.
    progress, say
        Called after every episode; told what goes on before the first one.
    changes
        What to change of the preset: ``steps``, ``hidden``, ``tours`` and all else of `neuralns.learning.dqn.Config`.

    Examples
    --------
    >>> trained = train("C101", network="lrw", preset="paper", customers=20, setting="paper", portfolio="paper-3")
    >>> trained.policy.network
    'lrw'
    """
    several = [instances] if isinstance(instances, Instance | str | os.PathLike) else list(instances)
    if not several:
        raise InputError("training needs at least one instance.")
    numbers = list(range(seeds)) if isinstance(seeds, int) else list(seeds)
    if not numbers:
        raise InputError(f"{seeds} seeds asked for; at least 1 is needed.")
    if output is not None:
        check_writable(output)
        if not resume and not force:
            _refuse_to_overwrite(Path(output))
    usual = defaults_of(preset)
    network = usual.network if network is None else network
    given = [each if isinstance(each, Instance) else read(each) for each in several]
    setting = setting or usual.setting or _setting_for(given)

    def mdp_of(instance: Instance, customers: int | None) -> MDP:
        size = instance.customers if customers is None else customers
        return make_mdp(
            instance,
            customers=customers,
            setting=setting,
            portfolio=usual.portfolio if portfolio is None else portfolio,
            # A default fits every instance.
            scale=usual.scale and min(usual.scale, size) if scale is None else scale,
            budget=budget,
            acceptance=usual.acceptance if acceptance is None else acceptance,
        )

    mdps = [mdp_of(instance, customers) for instance in given]
    beyond = [mdp_of(instance, size) for instance in given for size in validate_sizes]
    chosen = mdps[0].portfolio
    if chosen.improves:
        raise InputError(
            f"portfolio {chosen.name!r} has improve operators ({chosen.improves[0].name}), which a policy does not "
            "bring along; train with destroy and repair operators alone."
        )
    if beyond and network in ("lrw", "ahead"):
        raise InputError(f"sizes to validate at are for gat and small, not for {network}.")
    if network in ("lrw", "ahead"):
        _refuse_at_once(network, resume=resume, tensorboard=tensorboard, start=start, device=device, threads=threads)
    if network == "lrw":
        for name, value in changes.items():
            if value is not None:
                raise InputError(f"the learned roulette has no {name!r} to set.")
        return _train_wheel(mdps, numbers, output, command)
    if find_spec("torch") is None:
        raise InputError(f"training needs torch; install it with: {how_to_install('train')}.")
    if network == "ahead":
        return _train_ahead(mdps, numbers, output, command, say, changes)
    from neuralns.learning.run import run

    config = configured(preset, network, **changes)
    if changes.get("features") is None and config.features == "rich":
        config = replace(config, features=features_for(*(mdp.instance for mdp in mdps)).name)
    return run(
        mdps,
        config,
        seeds=numbers,
        start=usual.start if start is None else start,
        beyond=beyond,
        device=device,
        threads=threads,
        output=output,
        resume=resume,
        tensorboard=tensorboard,
        command=command,
        progress=progress,
        say=say,
    )


def _setting_for(instances: Sequence[Instance]) -> str:
    """Return the setting that leaves nothing of the instances out."""
    timed = {instance.timed: instance.name for instance in instances}
    if len(timed) > 1:
        raise InputError(
            f"{timed[True]} has windows and {timed[False]} has none: train on them apart, or in setting distance, "
            "without windows."
        )
    return "windows" if True in timed else "distance"


@dataclass(frozen=True)
class Defaults:
    """What a training does where nothing else is asked for.

    A scale of None is a fifth of the customers, a setting of None that which leaves nothing of the instances out.
    """

    network: str
    start: str
    acceptance: str
    portfolio: str
    scale: int | None
    setting: str | None


DEFAULTS = {
    "strong": Defaults("small", "search", "improving", "modern", 10, None),
    "paper": Defaults("mlp", "random", "always", "paper", None, "distance"),
    "graph": Defaults("gat", "random", "always", "paper", None, "distance"),
}
"""By preset."""


def defaults_of(preset: str) -> Defaults:
    """Return the defaults that come with a preset."""
    if preset not in DEFAULTS:
        raise InputError(f"preset {preset!r} is not known; choose paper, strong or graph.")
    return DEFAULTS[preset]


def configured(preset: str, network: str, **changes: Any) -> Config:
    """Return a preset with those changes that are given."""
    from neuralns.learning.dqn import preset as preset_named

    config = preset_named(preset, network)
    for name in changes:
        if name not in config.as_dict():
            raise InputError(f"a training has no {name!r} to set; there are {', '.join(config.as_dict())}.")
    given = {name: value for name, value in changes.items() if value is not None}
    if "hidden" in given:
        given["hidden"] = tuple(given["hidden"])
    return replace(config, **given)


def _refuse_to_overwrite(output: Path) -> None:
    check_new(output)
    checkpoint = output.with_suffix(".checkpoint")
    if checkpoint.is_file():
        raise InputError(f"{checkpoint}: a run was stopped here; go on with --resume, or start anew with --force.")


def _train_wheel(
    mdps: Sequence[MDP], seeds: Sequence[int], output: str | os.PathLike[str] | None, command: str
) -> Trained:
    """Train the learned roulette for each seed and keep the one that does best on the validation tours."""
    if len(mdps) != 1:
        raise InputError("the learned roulette is trained on one instance.")
    (mdp,) = mdps
    wheels = [train_roulette(mdp, seed) for seed in seeds]
    scores = [evaluate(mdp, wheel, tours="validate", seeds=3).reward_mean for wheel in wheels]
    best = scores.index(max(scores))
    policies = [
        wheel.policy(
            mdp.portfolio,
            setting=mdp.setting,
            instances=[mdp.instance.name],
            sizes=[mdp.instance.customers],
            scale=mdp.scale,
            budget=mdp.budget,
            acceptance=mdp.acceptance_name,
            seed=seed,
            validation_reward=score,
            command=command,
        )
        for wheel, seed, score in zip(wheels, seeds, scores, strict=True)
    ]
    written = [] if output is None else [write_or_rescue(partial(write_policy, policies[best]), output)]
    return Trained(tuple(policies), tuple(scores), (), best, True, 0, written=tuple(written))


def _refuse_at_once(network: str, **choices: Any) -> None:
    """Refuse what has no meaning where a policy is learned at once from random tours."""
    usual = {"resume": False, "tensorboard": None, "device": "cpu", "threads": 1}
    for name, value in choices.items():
        if value not in ((None, "random") if name == "start" else (usual[name],)):
            raise InputError(
                f"{name} {value!r} does not go with network {network!r}, learned at once from random tours."
            )


def _train_ahead(
    mdps: Sequence[MDP],
    seeds: Sequence[int],
    output: str | os.PathLike[str] | None,
    command: str,
    say: Callable[[str], object],
    changes: dict[str, Any],
) -> Trained:
    """Train a policy that looks ahead for each seed."""
    from neuralns.learning.labelled import LabelConfig, train_labelled
    from neuralns.selection.look_ahead import LookAhead

    if len(mdps) != 1:
        raise InputError("a network that looks ahead is trained on one instance.")
    (mdp,) = mdps
    given = {name: value for name, value in changes.items() if value is not None}
    if "hidden" in given:
        given["hidden"] = tuple(given["hidden"])
    known = [field.name for field in fields(LabelConfig)]
    for name in given:
        if name not in known:
            raise InputError(f"a training from labelled states has no {name!r} to set; there are {', '.join(known)}.")
    policies = train_labelled(mdp, seeds, replace(LabelConfig(), **given), say=say, command=command, finished=True)
    tests = [evaluate(mdp, LookAhead(policy, 0.0), seeds=1).reward_mean for policy in policies.values()]
    kept = [Policy({**p.card, "test_reward": t}, p.tensors) for p, t in zip(policies.values(), tests, strict=True)]
    scores = [float(policy.card["validation_reward"]) for policy in kept]
    best = scores.index(max(scores))
    return Trained(tuple(kept), tuple(scores), tuple(tests), best, True, 0, written=_written(kept, seeds, best, output))


def _written(
    policies: Sequence[Policy], seeds: Sequence[int], best: int, output: str | os.PathLike[str] | None
) -> tuple[str, ...]:
    """Write the best policy and, of several seeds, that of each; return the files."""
    if output is None:
        return ()
    found = [write_or_rescue(partial(write_policy, policies[best]), output)]
    if len(seeds) > 1:
        for seed, policy in zip(seeds, policies, strict=True):
            found.append(write_or_rescue(partial(write_policy, policy), seed_file(output, seed)))
    return tuple(found)
