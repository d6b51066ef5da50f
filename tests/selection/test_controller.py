"""Controllers: asked between segments, they steer all of a search."""

from __future__ import annotations

import re
from itertools import pairwise
from tempfile import NamedTemporaryFile
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import neuralns
from neuralns import Controller, InputError, InputWarning, MaxIterations, MaxTime, Setting, View
from neuralns.operators.portfolio import portfolio_named
from neuralns.search.result import Result
from neuralns.search.search import Search
from neuralns.search.setup import make_setup
from neuralns.selection.controller import set_weights, weights_of

DESTROYS, REPAIRS = ("string", "random-node"), ("greedy", "regret-2", "blinks")
PORTFOLIO = ",".join((*DESTROYS, *REPAIRS, "2-opt-star"))


class Says(Controller):
    """Gives the same answer to each question, and keeps what it sees."""

    name = "says"

    def __init__(self, answer: Any, every: int = 0) -> None:
        self.answer = answer
        self.every = every
        self.views: list[View] = []
        self.seen: list[View] = []

    def control(self, view: View) -> Setting | None:
        self.views.append(view)
        return self.answer

    def observe(self, view: View) -> None:
        self.seen.append(view)


def searched(controller: Controller, iterations: int = 1000, **options: Any) -> Result:
    given: dict[str, Any] = {"portfolio": PORTFOLIO, "seed": 1, "initial": "random", **options}
    return neuralns.solve("E-n22-k4", MaxIterations(iterations), selector=controller, **given)


def used(result: Result) -> dict[str, int]:
    return {use.name: use.used for use in result.operators}


def test_it_is_asked_two_hundred_times_in_a_run_limited_by_iterations() -> None:
    says = Says(None)
    result = searched(says)
    assert [view.iteration for view in says.views] == list(range(0, 1000, 5))
    assert [view.iteration for view in says.seen] == list(range(5, 1001, 5))
    assert result.iterations == 1000


def test_it_is_asked_before_each_segment_of_a_run_limited_by_time() -> None:
    says = Says(None)
    result = neuralns.solve("E-n22-k4", MaxTime(0.5), selector=says, portfolio=PORTFOLIO)
    assert 5 <= len(says.views) == len(says.seen)
    assert all(before.iteration < after.iteration for before, after in pairwise(says.views))
    assert all(before.left > after.left for before, after in pairwise(says.views))
    assert says.seen[-1].iteration == result.iterations
    assert {view.horizon for view in says.views} == {0.5}
    assert sum(view.seconds.sum() for view in says.seen) == pytest.approx(0.5, rel=0.3)


def test_views_tell_what_came_of_each_pair_since_the_last_one() -> None:
    says = Says(None, every=100)
    result = searched(says)
    uses = np.sum([view.uses for view in says.seen], axis=0)
    assert uses.sum() == 1000
    counts = used(result)
    assert uses.sum(axis=1).tolist() == [counts[name] for name in DESTROYS]
    assert uses.sum(axis=0).tolist() == [counts[name] for name in REPAIRS]
    for asked, told in zip(says.views[1:], says.seen, strict=False):
        # Nothing happens between the end of a stretch and the next question.
        assert (asked.uses == told.uses).all()
        assert (asked.iteration, asked.current, asked.best) == (told.iteration, told.current, told.best)
    for before, after in zip(says.views, says.seen, strict=True):
        assert after.uses.sum() == after.seconds.sum() == 100
        assert (after.uses >= after.accepted).all()
        assert (after.accepted >= after.improved).all()
        assert (after.improved >= after.new_best).all()
        assert ((after.gains > 0) == (after.improved > 0)).all()
        assert after.change == pytest.approx(after.current - before.current)
        assert after.solution().cost == pytest.approx(result.cost) or after.iteration < 1000
    assert not says.views[0].uses.any()
    assert says.views[0].scale == (1, 20)
    assert says.views[0].start == says.views[0].current == result.initial.cost


def test_pairs_are_drawn_by_their_weights() -> None:
    weights = np.array([[0.0, 3.0, 1.0], [0.0, 0.0, 4.0]])
    says = Says(Setting(weights))
    searched(says, 8000, seed=3)
    uses = np.sum([view.uses for view in says.seen], axis=0)
    assert (uses[weights == 0] == 0).all()
    assert uses[weights > 0] == pytest.approx(8000 * weights[weights > 0] / 8, rel=0.15)


def test_one_pair_alone_is_a_fixed_pair() -> None:
    own = searched(Says(Setting([[0, 0, 0], [0, 7, 0]])))
    fixed = searched(neuralns.Fixed("random-node", "regret-2"))  # type: ignore[arg-type]
    assert own.routes == fixed.routes
    assert used(own) == used(fixed)


@pytest.mark.parametrize(("scale", "seen"), [((3, 3), {3}), ((2, 4), {2, 3, 4}), ((21, 60), {21})])
def test_it_sets_how_many_are_removed(scale: tuple[int, int], seen: set[int]) -> None:
    instance = neuralns.read("E-n22-k4")
    setup = make_setup(
        instance, MaxIterations(60), Says(Setting(scale=scale), 1), portfolio_named("random-node,greedy")
    )
    search = Search(setup, np.random.SeedSequence(1), 0.0)
    found = set()
    for _ in range(60):
        search.advance()
        found.add(int(search._status.quota))
    assert found == seen
    assert search.best().feasible


def test_it_sets_parameters_and_shares_for_its_search_alone() -> None:
    portfolio = portfolio_named(PORTFOLIO)
    before = portfolio.tables.destroy_parameters.copy(), portfolio.tables.improve_shares.copy()
    off = searched(Says(Setting(parameters={("2-opt-star", "share"): 0.0, ("string", "longest"): 3.0})))
    on = searched(Says(Setting(parameters={("2-opt-star", "share"): 1.0})))
    assert used(off)["2-opt-star"] == 0 < used(on)["2-opt-star"]
    assert (portfolio.tables.destroy_parameters == before[0]).all()
    assert (portfolio.tables.improve_shares == before[1]).all()
    same = searched(Says(Setting(parameters={("string", "longest"): 10.0})))
    assert same.routes == searched(Says(None)).routes


def test_it_sets_the_course_of_the_temperature() -> None:
    plain, hot, cold = (Says(None if heat is None else Setting(heat=heat), 500) for heat in (None, (2, 2), (1, 0.01)))
    for says in (plain, hot, cold):
        searched(says)
    temperatures = [[view.temperature for view in says.seen] for says in (plain, hot, cold)]
    assert temperatures[1] == pytest.approx([2 * value for value in temperatures[0]])
    assert temperatures[2][0] == pytest.approx(temperatures[0][0] * 0.01**0.5, rel=0.05)
    assert temperatures[2][1] == pytest.approx(temperatures[0][1] * 0.01, rel=0.05)


def test_the_same_seed_gives_the_same_result_on_one_core_and_two() -> None:
    class Wheel(Says):
        def control(self, view: View) -> Setting:
            return Setting(1 + view.gains / max(1.0, view.gains.sum()), heat=(1 + view.acceptance, 1))

    one, same = (searched(Wheel(None)) for _ in range(2))
    assert (one.routes, used(one)) == (same.routes, used(same))
    two, twice = (searched(Wheel(None), workers=2) for _ in range(2))
    assert (two.routes, used(two)) == (twice.routes, used(twice))


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        (Setting([1, 2]), "set weights of shape (2,); there are 2 destroy and 3 repair operators."),
        (Setting(np.array([[1, 2, 3], [1, 2, np.nan]])), "set a weight to nan; it must be at least 0."),
        (Setting([[1, 2, 3], [1, 2, -4]]), "set a weight to -4; it must be at least 0."),
        (Setting(np.zeros((2, 3))), "set all weights to 0; one must be above."),
        (Setting([["a"]]), "set weights [['a']], which are not numbers."),
        (Setting(scale=(5, 2)), "set the scale to (5, 2); it must be two whole numbers from 1 to 60, the smaller"),
        (Setting(scale=(1, 61)), "set the scale to (1, 61); it must be two whole"),
        (Setting(heat=(1.0, 0.0)), "set the heat to (1.0, 0.0); it must be two numbers from 0.001 to 1000."),
        (Setting(parameters={("string", "longest"): float("inf")}), "set 'longest' of operator 'string' to inf."),
        (Setting(parameters={("2-opt-star", "share"): 2.0}), "set 'share' of operator '2-opt-star' to 2.0."),
        (Setting(parameters={("string", "longest"): "a"}), "set 'longest' of operator 'string' to 'a'."),  # type: ignore[dict-item]
        (Setting(parameters={"string": 3.0}), "set 'string', which is not an operator and a parameter."),  # type: ignore[dict-item]
        ((1, 2), "answered (1, 2), which is no Setting."),
    ],
)  # fmt: skip
def test_what_cannot_be_set_is_refused_by_name(setting: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=f"^controller 'says' {re.escape(sentence)}"):
        searched(Says(setting))


class Failing(Says):
    """Fails at its second question."""

    name = "failing"

    def control(self, view: View) -> Setting | None:
        if view.iteration > 0:
            raise ZeroDivisionError("no idea")
        return None


@pytest.mark.parametrize("workers", [1, 2])
def test_one_that_fails_ends_the_search_with_the_best_so_far(workers: int) -> None:
    with pytest.warns(
        InputWarning, match=r"^selector 'failing' failed \(.*ZeroDivisionError: no idea\).*the best found before"
    ):
        result = searched(Failing(None), workers=workers)
    assert result.feasible
    assert "failing" in result.stopped_by


def test_workers_tell_of_each_iteration_once() -> None:
    class Counting(Says):
        def observe(self, view: View) -> None:
            super().observe(view)
            with open(self.answer, "a") as file:
                file.write(f"{view.uses.sum()}\n")

        def control(self, view: View) -> None:
            return None

    with NamedTemporaryFile("r") as file:
        searched(Counting(file.name, 100), 3330, workers=2)
        assert sum(map(int, file.read().split())) == 2 * 3330


def test_operators_and_parameters_that_are_not_there_are_refused() -> None:
    with pytest.raises(InputError, match=r"^operator 'shaw' is not in portfolio"):
        searched(Says(Setting(parameters={("shaw", "determinism"): 1.0})))
    with pytest.raises(InputError, match=r"^operator 'string' has no parameter 'width' \(its parameters: longest,"):
        searched(Says(Setting(parameters={("string", "width"): 1.0})))


@settings(deadline=None, max_examples=50)
@given(st.lists(st.sampled_from([0.0, 1e-300, 1e-9, 0.3, 1.0, 7.0, 1e300]), min_size=6, max_size=6).filter(any))
def test_no_pair_without_a_weight_is_ever_drawn(weights: list[float]) -> None:
    portfolio = portfolio_named(PORTFOLIO)
    controller = Says(None)
    memory = controller.start(portfolio)
    row = weights_of("says", portfolio, np.reshape(weights, (2, 3)))
    if not np.count_nonzero(row):
        return
    set_weights(memory, row)
    sums = memory.sums
    for point in (0.0, 0.25, 0.5, np.nextafter(1.0, 0.0)):
        assert row[int(np.searchsorted(sums, point, side="right"))] > 0
