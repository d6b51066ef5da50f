"""The learned selector inside searches of the package alns."""

from __future__ import annotations

import pickle
import subprocess
import sys
import time
from typing import Any

import numpy as np
import pytest
from alns.accept import HillClimbing
from alns.Outcome import Outcome
from alns.stop import MaxIterations

from alns import ALNS
from bridges.toy import Lights, PlainLights, all_on, make_alns
from neuralns.bridges.alns import LearnedSelector, Settings
from neuralns.errors import InputError


class Told:
    """A state that tells the given numbers."""

    def __init__(self, cost: float, numbers: Any = None) -> None:
        self.cost = cost
        if numbers is not None:
            self.get_context = lambda: numbers

    def objective(self) -> float:
        return self.cost


def choices(selector: LearnedSelector, iterations: int, seed: int = 1, state: Lights | None = None) -> list[Any]:
    result = make_alns(np.random.default_rng(seed)).iterate(
        state or all_on(), selector, HillClimbing(), MaxIterations(iterations)
    )
    return [result.best_state.objective(), result.statistics.objectives.tolist()]


def play(selector: LearnedSelector, gains: Any, iterations: int, seconds: Any = lambda pair: 0.0) -> Any:
    """Uses of each pair where a pair gains by chance, each gain as large as the last."""
    rng = np.random.default_rng(3)
    uses = np.zeros((selector.num_destroy, selector.num_repair), int)
    cost = 1e6
    for _ in range(iterations):
        state = Told(cost)
        pair = selector(rng, state, state)
        uses[pair] += 1
        if seconds(pair):
            time.sleep(seconds(pair))
        won = rng.random() < gains[pair]
        cost -= 1.0 if won else 0.0
        selector.update(Told(cost), *pair, Outcome.BEST if won else Outcome.REJECT)
    return uses


def test_one_line_puts_it_into_a_search() -> None:
    selector = LearnedSelector(2, 2)
    assert choices(selector, 200)[0] == 1.0
    assert selector.deciding > 0


def test_it_comes_to_use_what_gains() -> None:
    uses = play(LearnedSelector(4, 3, clock="iterations"), 0.02 + 0.5 * np.eye(12)[4].reshape(4, 3), 1500)
    assert uses[1, 1] > 0.4 * uses.sum()


def test_what_gains_as_much_in_less_time_is_used_more() -> None:
    uses = play(LearnedSelector(2, 1), np.full((2, 1), 0.3), 300, lambda pair: (0.0001, 0.002)[pair[0]])
    assert uses[0, 0] > 2 * uses[1, 0]


def test_it_forgets() -> None:
    selector = LearnedSelector(3, 1, clock="iterations")
    play(selector, np.array([[0.5], [0.02], [0.02]]), 600)
    later = play(selector, np.array([[0.02], [0.5], [0.02]]), 1200)
    assert later[1, 0] > later[0, 0]


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_the_scale_of_costs_does_not_matter(scale: float) -> None:
    class Scaled(Lights):
        def objective(self) -> float:
            return scale * super().objective()

    def run(kind: type[Lights], factor: float) -> list[float]:
        found = choices(LearnedSelector(2, 2, clock="iterations"), 100, state=kind(all_on().on.copy()))[1]
        return [value / factor for value in found]

    assert run(Scaled, scale) == pytest.approx(run(Lights, 1.0))


def test_couplings_are_respected() -> None:
    coupling = np.array([[True, False, False], [False, True, True]])
    for greed in (0.0, 2.0):
        selector = LearnedSelector(2, 3, coupling, clock="iterations", settings=Settings(greed=greed))
        uses = play(selector, np.full((2, 3), 0.2), 300)
        assert ((uses > 0) == coupling).all()


def test_the_same_seed_gives_the_same_search_where_iterations_are_the_clock() -> None:
    one, other, third = (
        choices(LearnedSelector(2, 2, clock="iterations"), 60, seed) for seed in (1, 1, 2)
    )  # fmt: skip
    assert one == other
    assert one != third


def test_it_can_be_pickled_and_goes_on() -> None:
    selector = LearnedSelector(2, 2, clock="iterations")
    choices(selector, 50)
    again = pickle.loads(pickle.dumps(selector))
    assert choices(again, 50) == choices(selector, 50)


def test_states_without_numbers_do() -> None:
    assert choices(LearnedSelector(2, 2), 200, state=PlainLights(all_on().on))[0] == 1.0


@pytest.mark.parametrize(
    ("numbers", "sentence"),
    [
        (np.array([1.0, np.nan]), "gave nan; all numbers must be finite"),
        (np.array([np.inf, -np.inf]), "gave inf; all numbers must be finite"),
        (np.ones((2, 2)), "shape \\(2, 2\\); it must have one dimension"),
        (np.ones(3), "gave 3 numbers, but 2 before"),
    ],
)
def test_numbers_that_are_none_are_refused(numbers: Any, sentence: str) -> None:
    selector = LearnedSelector(2, 2, clock="iterations")
    rng, fine, wrong = np.random.default_rng(1), Told(5.0, np.ones(2)), Told(5.0, numbers)
    selector.update(fine, *selector(rng, fine, fine), Outcome.REJECT)
    with pytest.raises(InputError, match=sentence):
        selector(rng, wrong, wrong)


def test_a_cost_that_is_no_number_is_refused() -> None:
    with pytest.raises(InputError, match="objective nan is no finite number"):
        LearnedSelector(2, 2)(np.random.default_rng(1), Told(1.0), Told(np.nan))


def test_a_cost_that_is_no_number_is_refused_in_every_iteration() -> None:
    selector, rng = LearnedSelector(2, 2, clock="iterations", settings=Settings(segment=10)), np.random.default_rng(1)
    fine = Told(1.0)
    while True:
        selector.update(fine, *selector(rng, fine, fine), Outcome.REJECT)
        if not selector.learner.due:
            break
    with pytest.raises(InputError, match="objective inf is no finite number"):
        selector(rng, fine, Told(np.inf))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"clock": "iterations", "seconds": 1.0}, "clock 'iterations' knows no seconds \\(1.0 given\\)"),
        ({"clock": "sundial"}, "clock 'sundial' is not known"),
        ({"seconds": 0.0}, "seconds 0.0 must be above 0"),
        ({"iterations": -1}, "iterations -1 must be above 0"),
    ],
)
def test_what_makes_no_sense_is_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        LearnedSelector(2, 2, **options)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"memory": 0.0}, "memory 0.0 must be a number, above 0"),
        ({"window": 0.5}, "window 0.5 must be a number, at least 1"),
        ({"greed": float("nan")}, "greed nan must be a number, at least 0"),
    ],
)
def test_settings_that_make_no_sense_are_refused(options: dict[str, float], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        Settings(**options)


def test_it_is_one_of_alns_own_kind() -> None:
    from alns.select import OperatorSelectionScheme

    assert isinstance(LearnedSelector(2, 2), OperatorSelectionScheme)
    assert isinstance(make_alns(np.random.default_rng(1)), ALNS)


def test_numbers_that_take_long_are_asked_for_seldom() -> None:
    asked = []

    class Slow(Lights):
        def get_context(self) -> Any:
            asked.append(1)
            time.sleep(0.001)
            return np.ones(2)

    choices(LearnedSelector(2, 2), 200, state=Slow(all_on().on))
    assert 1 <= len(asked) < 40


def test_states_are_looked_at_once_in_a_segment() -> None:
    asked = []

    class Noted(Lights):
        def get_context(self) -> Any:
            asked.append(1)
            return np.ones(2)

    selector = LearnedSelector(2, 2, clock="iterations", settings=Settings(segment=10))
    rng = np.random.default_rng(1)
    for _ in range(400):
        state = Noted(all_on().on)
        selector.update(state, *selector(rng, state, state), Outcome.REJECT)
    # Segments grow from 1 to 10 in the first 180 iterations.
    assert 22 + 40 <= len(asked) <= 22 + 65


def test_the_package_imports_without_alns() -> None:
    program = (
        "import sys; sys.modules['alns'] = None; import neuralns, neuralns.cli.app, neuralns.bridges; print('fine')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "fine\n"
    program = "import sys; sys.modules['alns'] = None; import neuralns.bridges.alns"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "the bridge to alns needs that package; install it with" in done.stderr


def test_online_use_needs_numpy_alone() -> None:
    program = (
        "import sys\nfor name in ('torch', 'numba', 'scipy'): sys.modules[name] = None\n"
        "from neuralns.bridges.alns import LearnedSelector; LearnedSelector(2, 2); print('fine')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "fine\n", done.stderr
