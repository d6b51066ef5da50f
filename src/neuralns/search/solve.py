"""The search as a function: an instance and a few choices in, a result out."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np

from neuralns.errors import GivenUpError, InputError, InputWarning
from neuralns.operators.portfolio import Portfolio
from neuralns.operators.registry import Operator
from neuralns.problem.bundled import read
from neuralns.problem.instance import Instance
from neuralns.problem.route_cost import RouteCost, RouteTotals
from neuralns.problem.solution import Solution
from neuralns.routes.bounds import charged_cost
from neuralns.search.acceptance.annealing import SimulatedAnnealing
from neuralns.search.acceptance.rule import Acceptance
from neuralns.search.course_log import CourseLog
from neuralns.search.division import notice_of_whole
from neuralns.search.interrupt import END, RETURN, Interrupts, check_on_sigterm
from neuralns.search.parallel import MOST_WORKERS, run_in_parallel
from neuralns.search.pausing import Clock
from neuralns.search.progress import Progress
from neuralns.search.result import OperatorUse, Result, Trace
from neuralns.search.search import Search
from neuralns.search.setup import Scale, Start, make_setup, portfolio_of, prepare, quotas_for
from neuralns.search.stopping import MaxTime, Stop
from neuralns.search.supervision import Supervised, has_own_functions, watch_start
from neuralns.search.trials import Trials
from neuralns.selection.default import AUTO, default_selector
from neuralns.selection.fixed import fixed_pairs
from neuralns.selection.names import selector_named
from neuralns.selection.selector import Selector, new_memory_of
from neuralns.selection.uniform import Uniform

TRIALS_SHARE = 0.2
"""Share of the limit that goes to trials where the best fixed pair has to be found first."""

_LOG = logging.getLogger("neuralns")

Callback = Callable[[Progress], object]
OnBest = Callable[[Solution, Progress], object]


def solve(
    instance: Instance | str | os.PathLike[str],
    stop: Stop | float | None = None,
    *,
    time: float | None = None,
    selector: Selector | str = AUTO,
    portfolio: Portfolio | str | Sequence[str | Operator] | None = None,
    seed: int = 0,
    scale: Scale = None,
    acceptance: Acceptance | None = None,
    initial: Start = "savings",
    workers: int = 1,
    objective: str | None = None,
    route_costs: Iterable[RouteCost | Callable[[RouteTotals], float]] = (),
    callbacks: Iterable[Callback] = (),
    on_best: OnBest | None = None,
    clock: Clock | None = None,
    on_sigterm: str = END,
) -> Result:
    """Search for short routes by adaptive large neighbourhood search.

    Parameters
    ----------
    instance
        An instance, or the file or bundled name to read it from.
    stop
        When to end: `MaxTime`, `MaxIterations`, `NoImprovement`, `TargetCost`, combined with ``|``, or a number
        of seconds; 10 s by default. Ctrl-C ends the search as well; the best solution so far is returned.
        So it is, with a warning, if an operator, a selector or a rule of your own fails, or gives no answer: when the
        time is over, when a signal has come, or for a minute.
    time
        Seconds to search, in addition to what ``stop`` says.
    selector
        How operators are chosen: a selector or a name (see `neuralns.selection.names`). By default by a bundled
        controller in searches of one worker that it was trained for (see `neuralns.selection.default`), if nothing else
        is chosen, and at random elsewhere.
    portfolio
        Which operators: a portfolio, a name, or a list of operators; by default those that the selector was made for
        (a fixed pair, a policy), else those for the instance: ``plain``, ``large``, ``long``, ``windows``
        or ``tight``.
    seed
        Same seed and same number of iterations: same routes.
    scale
        Customers to remove in each iteration: a number, a share below 1, or a pair to draw from uniformly; by default
        what a policy was trained with, else 1 to 20, with windows or fleets 1 to 30.
    acceptance
        Which candidates to keep; simulated annealing that cools over the run by default.
    initial
        Where to start: ``savings``, ``insertion``, ``random``, a solution, routes as lists of customers, or a solution
        file. Routes may leave customers out.
    workers
        Searches on so many cores at once: they divide large solutions among them, and search small ones from different
        seeds, exchanging their best about 20 times. Limits of iterations count for each of them.
    objective
        What to minimise: ``distance``, ``duration`` (working time, waiting included), ``vehicles`` (fewest vehicles,
        then distance), or weights such as ``distance=1,duration=0.5,vehicles=100``; by default the instance's costs.
    route_costs
        Costs of each route besides, functions of its `RouteTotals` (see `route_cost`), which are compiled.
    callbacks
        Called with a `Progress` several times a second; one that returns True ends the search.
    on_best
        Called at every new best solution with it and a `Progress`; if it returns True, the search ends with the segment
        of some 50 ms. With several workers it is called for those that the workers tell of, some ten times a second.
    clock
        The clock that counts the time: one that is paused in a callback stops the search until it goes on.
    on_sigterm
        What SIGTERM does: ``end`` leaves it alone, so that it ends the program with its workers, or does what the
        program has it do; with ``return`` it ends the search as Ctrl-C does, and ``stopped_by`` says ``SIGTERM``.

    The logger ``neuralns`` is told of the course of a search, in at most a dozen lines of level INFO.

    Examples
    --------
    >>> from neuralns import MaxIterations, solve
    >>> result = solve("E-n22-k4", MaxIterations(2000), seed=1)
    >>> result.cost, result.feasible
    (375.0, True)
    """
    if not isinstance(instance, Instance):
        instance = read(instance)
    instance = instance.with_route_costs(route_costs)
    fewest = objective == "vehicles"
    if objective is not None:
        instance = instance.with_objective(objective)
    if fewest and instance.vehicles is None and not instance.general:
        # Routes are given up one by one, so that customers are left out for a while.
        fleet = None if instance.fleet is None else (replace(instance.fleet[0], available=instance.customers),)
        instance = replace(instance, vehicles=instance.customers, fleet=fleet)
    if len(instance.unservable) == instance.customers:
        first = next(iter(instance.unservable.values()))
        raise InputError(f"{instance.name}: no customer can be served; of customer 1, {first}.")
    if isinstance(stop, int | float | np.integer | np.floating) and not isinstance(stop, bool):
        stop = MaxTime(float(stop))
    if stop is None:
        stop = MaxTime(10) if time is None else Stop()
    if not isinstance(stop, Stop):
        raise InputError(f"stop {stop!r:.60} is not a limit such as MaxTime(10) or MaxIterations(1000).")
    if time is not None:
        stop |= MaxTime(time)
    if stop == Stop():
        raise InputError("a search without any limit never ends; give a time or a number of iterations.")
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise InputError(f"seed {seed!r} must be a whole number of at least 0.")
    if not isinstance(workers, int | np.integer) or workers < 1:
        raise InputError(f"number of workers {workers!r} must be a whole number of at least 1.")
    if workers > MOST_WORKERS:
        raise InputError(f"number of workers {workers!s:.20} is too large; at most {MOST_WORKERS} are possible.")
    check_on_sigterm(on_sigterm)
    sigterm = on_sigterm == RETURN
    if selector == AUTO:
        # A search that begins with good routes is another thing than those that the controller was trained on.
        chosen = workers > 1 or fewest or not (isinstance(initial, str) and initial == "savings")
        chosen = chosen or not (portfolio is None and scale is None and acceptance is None)
        selector = Uniform() if chosen else default_selector(instance, stop.time)
    acceptance = SimulatedAnnealing() if acceptance is None else acceptance
    if not isinstance(acceptance, Acceptance):
        raise InputError(f"acceptance {acceptance!r:.60} is not a rule such as SimulatedAnnealing() or HillClimbing().")
    if not isinstance(selector, Selector | str):
        raise InputError(f"selector {selector!r:.60} is neither a name nor a Selector.")
    given_up: GivenUpError | None = None
    caught: str | None = None
    if selector == "best-fixed":
        choices = portfolio_of(portfolio, None, instance)
        share = TRIALS_SHARE / (len(choices.destroys) * len(choices.repairs))
        trials = Trials([instance], choices, stop, share, scale, initial, acceptance, sigterm=sigterm)
        with Interrupts(sigterm=sigterm) as interrupts:
            try:
                selector = trials.best_fixed()
            except GivenUpError as error:
                given_up, selector = error, fixed_pairs(choices)[0]
        caught = interrupts.caught
        if given_up is not None or caught is not None:
            # The search ends here; the trials have its best solution.
            initial = min(trials.found, key=charged_cost, default=initial)
        stop, portfolio = stop.scaled(1 - TRIALS_SHARE), choices
    elif isinstance(selector, str):
        selector = selector_named(selector)
    operators = portfolio_of(portfolio, selector, instance)
    new_memory_of(selector, operators, instance.customers, instance)
    quotas = quotas_for(instance, selector, scale)
    length = selector.doubt_of_length(stop.iterations)
    for doubt in (*selector.doubts(instance, quotas), *([] if length is None else [length])):
        warnings.warn(doubt, InputWarning, stacklevel=2)

    start_seed, *search_seeds = np.random.SeedSequence(int(seed)).spawn(1 + workers)
    prepare(operators, selector, acceptance, stop, instance)
    with Interrupts(sigterm=sigterm) as interrupts:
        clock = Clock() if clock is None else clock
        begin = clock()
        setup = watch_start(
            instance,
            lambda: make_setup(
                instance,
                stop,
                selector,
                operators,
                scale=quotas,
                acceptance=acceptance,
                initial=initial,
                seed=start_seed,
                fewest_vehicles=fewest,
            ),
        )
        notice = notice_of_whole(setup, workers)
        if notice is not None:
            warnings.warn(notice, InputWarning, stacklevel=2)
        trace = Trace(operators.names)
        listeners: tuple[Callback, ...] = (CourseLog(setup, workers), *callbacks)
        wishes: list[bool] = []
        told = [(len(setup.initial.unserved), len(setup.initial.routes) * fewest, setup.initial.cost)]

        def watch(progress: Progress) -> str | None:
            trace.add(progress)
            wishes.extend(listener(progress) is True for listener in listeners)
            return interrupts.caught or caught or ("callback" if any(wishes) else None)

        def tell_best(best: Solution, progress: Progress) -> None:
            rank = (len(best.unserved), len(best.routes) * fewest, progress.best)
            if on_best is not None and rank < told[0]:
                told[0] = rank
                wishes.append(on_best(best, progress) is True)

        interrupts.patient = has_own_functions(setup) or workers > 1
        reason: str | GivenUpError | None = given_up
        if workers == 1 or given_up is not None or caught is not None:
            hook = None if on_best is None else lambda search: tell_best(search.best(), search.progress())

            def start(hook: Callable[[Search], object] | None) -> Search:
                return watch_start(instance, lambda: Search(setup, search_seeds[0], begin, hook, clock))

            with Supervised(start, hook) as supervised:
                search = supervised.search
                reason = reason or watch(search.progress()) or search.reason_to_stop()
                while reason is None:
                    try:
                        supervised.advance()
                    except GivenUpError as error:
                        reason = error
                    else:
                        reason = search.reason_to_stop()
                        reason = watch(search.progress()) or reason
            best, iterations = search.best(), search.iteration
            counts = search.counts
            times = [search.decision_times]
        else:
            best, messages, reason = run_in_parallel(
                setup,
                search_seeds,
                begin,
                watch,
                None if on_best is None else tell_best,
                lambda: interrupts.again,
                clock,
            )
            iterations = sum(message.iteration for message in messages)
            times = [message.decision_times for message in messages]
            counts = np.sum([message.counts for message in messages], axis=0)
        runtime = clock() - begin
    _LOG.info(
        "%s: ended by %s after %.1f s and %d iterations, best %.10g, %d routes",
        instance.name, reason, runtime, iterations, best.cost, len(best.routes),
    )  # fmt: skip
    if isinstance(reason, GivenUpError):
        warnings.warn(reason.but("this is the best found before"), InputWarning, stacklevel=2)
        reason = reason.reason
        if best.broken_rules():  # read while it was being written
            best = setup.initial

    return Result(
        best,
        setup.initial,
        iterations,
        runtime,
        int(seed),
        reason,
        selector.name,
        operators.name,
        tuple(
            OperatorUse(entry.name, entry.phase, *row)
            for entry, row in zip(operators.operators, counts.tolist(), strict=True)
        ),
        trace,
        _share(times),
    )


def _share(times: Sequence[tuple[float, float] | None]) -> float | None:
    """Return the share of deciding over all workers, if it was measured."""
    known = [each for each in times if each is not None]
    total = sum(each[1] for each in known)
    return sum(each[0] for each in known) / total if total > 0 else None
