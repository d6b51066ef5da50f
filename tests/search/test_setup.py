"""What a search is to do, put together from a user's choices."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from neuralns import (
    Always,
    Fixed,
    HillClimbing,
    InputError,
    Instance,
    MaxIterations,
    OperatorError,
    PolicySelector,
    Roulette,
    Selector,
    SimulatedAnnealing,
    Solution,
    StopWhen,
    Uniform,
    make_portfolio,
    nearest_insertion,
    portfolio_named,
    random_tours,
    read,
    savings,
    solve,
    write_solution,
)
from neuralns.operators.construction import build
from neuralns.operators.portfolio import strongest_for
from neuralns.operators.registry import Operator
from neuralns.search.search import Search
from neuralns.search.setup import (
    DEFAULT_SCALE,
    initial_solution,
    make_setup,
    portfolio_for,
    portfolio_of,
    prepare,
    quotas_of,
)
from neuralns.selection.learned_roulette import LearnedRoulette
from policies import constant_policy

INSTANCE = read("E-n22-k4")


# --- The portfolio. --------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:selector .* changes its weights:neuralns.errors.InputWarning")
@pytest.mark.parametrize(
    ("selector", "portfolio", "operators"),
    [
        (Uniform(), "plain", portfolio_named("plain").names),
        (Roulette(), "plain", portfolio_named("plain").names),
        (Fixed("zone", "greedy"), "zone,greedy", ("zone", "greedy")),
        (PolicySelector(constant_policy("paper", [0.0] * 14)), "paper", portfolio_named("paper").names),
        (PolicySelector(constant_policy("zone,cluster,greedy", [0.0] * 3)), "own", ("zone", "cluster", "greedy")),
        (LearnedRoulette(("zone", "greedy", "regret-2"), (1.0, 1.0, 1.0)), "own", ("zone", "greedy", "regret-2")),
        (Roulette(learned={"zone": 1.0, "greedy": 1.0}), "zone,greedy", ("zone", "greedy")),
    ],
)
def test_a_selector_without_a_portfolio_gets_the_one_that_it_knows(
    selector: Selector, portfolio: str, operators: tuple[str, ...]
) -> None:
    result = solve("E-n22-k4", MaxIterations(50), selector=selector)
    assert result.portfolio == portfolio
    assert {use.name for use in result.operators} == set(operators)


def test_a_portfolio_is_chosen_by_name_list_or_itself() -> None:
    own = make_portfolio("mine", ["zone", "greedy"])
    assert portfolio_of(own) is own
    assert portfolio_of("paper-3").name == "paper-3"
    assert portfolio_of("zone,greedy").names == ("zone", "greedy")
    listed = portfolio_of(["greedy", own.destroys[0]])
    assert (listed.name, listed.names) == ("own", ("zone", "greedy"))
    assert portfolio_of(None).name == portfolio_of(None, Uniform()).name == "modern"
    assert portfolio_of(None, Fixed("zone", "greedy")).names == ("zone", "greedy")
    assert portfolio_of("paper", Fixed("zone", "greedy")).name == "paper"


@pytest.mark.parametrize(
    ("customers", "capacity", "portfolio"),
    [(60, 10, "plain"), (79, 40, "plain"), (80, 40, "long"), (60, 0, "long"), (1999, 10, "plain"), (2000, 10, "large")],
)
def test_the_default_fits_the_size_of_an_instance_and_the_length_of_its_routes(
    customers: int, capacity: float, portfolio: str
) -> None:
    points = np.arange(2 * (customers + 1)).reshape(-1, 2)
    instance = Instance("sized", [0, *[1 if capacity else 0] * customers], capacity or 1, points)
    assert strongest_for(instance) == portfolio
    assert strongest_for(replace(instance, windows=np.array([(0.0, 1e9)] * (customers + 1)))) == "windows"


def test_a_policy_of_a_named_portfolio_gets_it_in_its_order() -> None:
    names = portfolio_named("paper").names
    wheel = LearnedRoulette(names[::-1], tuple([1.0] * len(names)))
    assert portfolio_for(wheel).names == names


# --- The scale. ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scale", "low", "high"),
    [(5, 5, 5), (0.1, 5, 5), ((2, 7), 2, 7), ((0.1, 0.2), 5, 10), (1000, 50, 50), (0.001, 1, 1)],
)
def test_the_scale_is_a_number_a_share_or_a_range(scale: float | tuple[float, float], low: int, high: int) -> None:
    assert quotas_of(scale, 50) == (low, high)


def test_the_scale_is_one_to_twenty_by_default() -> None:
    assert DEFAULT_SCALE == (1, 20)
    assert quotas_of(None, 100) == (1, 20)
    assert quotas_of(None, 7) == (1, 7)


@pytest.mark.parametrize("scale", [0, -1, (5, 2), 2.5, math.nan, math.inf, (0.5, 4), "x", (1, 2, 3), [1]])
def test_a_scale_that_makes_no_sense_has_no_quotas(scale: Any) -> None:
    with pytest.raises(InputError, match="scale"):
        quotas_of(scale, 50)


# --- The start. ------------------------------------------------------------------------------------------------------


def test_a_start_is_built_read_or_given(tmp_path: Path) -> None:
    assert initial_solution(INSTANCE, "savings") == savings(INSTANCE)
    assert initial_solution(INSTANCE, "insertion") == nearest_insertion(INSTANCE)
    assert initial_solution(INSTANCE, "random", 5) == random_tours(INSTANCE, 5)
    own = random_tours(INSTANCE, 8)
    assert initial_solution(INSTANCE, own) == own
    write_solution(own, tmp_path / "own.sol")
    assert initial_solution(INSTANCE, tmp_path / "own.sol") == own
    assert initial_solution(INSTANCE, str(tmp_path / "own.sol")) == own


def test_a_start_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^the initial solution does not fit E-n22-k4: "):
        initial_solution(INSTANCE, Solution(INSTANCE, [[1, 2, 1]]))
    with pytest.raises(InputError, match=r"absent\.sol"):
        initial_solution(INSTANCE, tmp_path / "absent.sol")


def test_routes_as_lists_of_customers_are_a_start() -> None:
    own = random_tours(INSTANCE, 8)
    assert initial_solution(INSTANCE, [list(route) for route in own.routes]) == own
    assert initial_solution(INSTANCE, [np.array(route) for route in own.routes]) == own  # type: ignore[misc]


@pytest.mark.parametrize(
    ("routes", "sentence"),
    [
        ([[1, 99]], "the initial solution does not fit E-n22-k4: route 1 visits 99, but the customers are"),
        ([["a"]], r"initial \[\['a'\]\] is neither a solution, a file or the name of a method, nor a list of routes"),
        ([[1.5]], r"initial \[\[1\.5\]\] is neither"),
        ([1, 2], r"initial \[1, 2\] is neither"),
        (7, "initial 7 is neither"),
    ],
)
def test_lists_that_are_no_routes_are_refused(routes: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=f"^{sentence}"):
        initial_solution(INSTANCE, routes)


def test_a_start_that_leaves_customers_out_is_taken(tmp_path: Path) -> None:
    start = initial_solution(INSTANCE, Solution(INSTANCE, [[1, 2], [3]]))
    assert (start.feasible, start.routes[:2]) == (True, ((1, 2), (3,)))
    (tmp_path / "part.sol").write_text("Route #1: 1 2\nRoute #2: 3\n")
    assert initial_solution(INSTANCE, tmp_path / "part.sol") == initial_solution(INSTANCE, [[1, 2], [3]]) == start
    assert initial_solution(INSTANCE, []).feasible
    # Where vehicles are few, somebody may have to stay out: that is the search's business.
    few = replace(INSTANCE, vehicles=4)
    assert initial_solution(few, [[1, 2], [3]]).routes == ((1, 2), (3,))


# --- The whole. ------------------------------------------------------------------------------------------------------


def test_what_is_left_out_is_the_default() -> None:
    setup = make_setup(INSTANCE, MaxIterations(10))
    assert setup.selector == Uniform()
    assert setup.portfolio == portfolio_named("plain")
    assert setup.acceptance == SimulatedAnnealing()
    assert setup.initial == savings(INSTANCE)
    assert setup.quotas == (1, 20)
    assert setup.temperatures == SimulatedAnnealing().temperatures(savings(INSTANCE))


def test_a_random_start_is_that_of_the_seed_and_its_temperature_that_of_good_routes() -> None:
    one, same, other = (make_setup(INSTANCE, MaxIterations(10), initial="random", seed=seed) for seed in (1, 1, 2))
    assert one.initial == same.initial != other.initial
    assert one.initial == random_tours(INSTANCE, 1)
    assert one.temperatures == other.temperatures == SimulatedAnnealing().temperatures(savings(INSTANCE))
    given = make_setup(INSTANCE, MaxIterations(10), initial=one.initial)
    assert given.temperatures == SimulatedAnnealing().temperatures(one.initial)


def test_with_windows_good_routes_are_built_by_insertion() -> None:
    timed = read("R101", customers=20)
    setup = make_setup(timed, MaxIterations(10), initial="random", seed=1)
    assert setup.initial == random_tours(timed, 1)
    assert setup.temperatures == SimulatedAnnealing().temperatures(build(timed))


def test_the_scale_of_a_policy_is_taken_unless_another_one_is_given() -> None:
    policy = PolicySelector(constant_policy("zone,greedy", [1.0, 1.0], scale=5))
    assert make_setup(INSTANCE, MaxIterations(10), policy).quotas == (5, 5)
    assert make_setup(INSTANCE, MaxIterations(10), policy, scale=(2, 3)).quotas == (2, 3)


def test_the_same_setup_can_start_from_another_solution() -> None:
    setup = make_setup(INSTANCE, MaxIterations(10), acceptance=SimulatedAnnealing())
    start = random_tours(INSTANCE, 3)
    moved = setup.starting_from(start)
    assert moved.initial == start
    assert moved.temperatures == SimulatedAnnealing().temperatures(start) != setup.temperatures
    assert (moved.instance, moved.selector, moved.portfolio, moved.quotas) == (
        setup.instance, setup.selector, setup.portfolio, setup.quotas
    )  # fmt: skip


# --- What does not compile is refused before the clock starts. -------------------------------------------------------


def nonsense(state, quota):
    """Do what cannot be."""
    state.nonsense = quota


class Nowhere(Always):
    """Asks for what is not there."""

    @staticmethod
    def threshold(state):
        return state.nonsense


class Nobody(Fixed):
    """Asks for what is not there."""

    @staticmethod
    def choose(memory, state, phase):
        return memory.nonsense


def never(state):
    """Ask for what is not there."""
    return state.nonsense


def test_everything_that_a_search_needs_is_compiled_beforehand() -> None:
    portfolio, rule, stop = portfolio_named("zone,greedy"), HillClimbing(), MaxIterations(10)
    prepare(portfolio, Uniform(), rule, stop)
    broken = make_portfolio("broken", [Operator("mine", "destroy", "own", nonsense), "greedy"])
    for wrong, said in (
        ((broken, Uniform(), rule, stop), "operator 'mine' does not compile: "),
        ((portfolio, Nobody("zone", "greedy"), rule, stop), "selector 'fixed:zone,greedy' does not compile: "),
        ((portfolio, Uniform(), Nowhere(), stop), "acceptance rule 'Nowhere' does not compile: "),
        ((portfolio, Uniform(), rule, stop | StopWhen(never)), "stopping rule 'never' does not compile: "),
    ):
        with pytest.raises(OperatorError, match=f"^{said}.*nonsense") as caught:
            prepare(*wrong)
        assert "\n" not in str(caught.value)


def test_a_setup_serves_several_searches() -> None:
    setup = make_setup(INSTANCE, MaxIterations(20), initial="random")
    found = []
    for seed in (1, 1, 2):
        search = Search(setup, np.random.SeedSequence(seed), time.perf_counter())
        while search.reason_to_stop() is None:
            search.advance()
        found.append(search.best().routes)
    assert found[0] == found[1] != found[2]


def test_instances_of_any_kind_are_set_up() -> None:
    one = Instance("one", [0, 1], 1, [[0, 0], [3, 4]])
    setup = make_setup(one, MaxIterations(1))
    assert (setup.quotas, setup.initial.routes) == ((1, 1), ((1,),))
