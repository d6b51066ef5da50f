"""How much choosing could win, and the paper's wheel, for searches of the package alns."""

from __future__ import annotations

import pickle
import time

import numpy as np
import pytest

from bridges.toy import Lights, all_on, make_alns
from neuralns.bridges.alns import LRW, headroom, train_lrw
from neuralns.bridges.alns.headroom import Oracle
from neuralns.bridges.alns.runs import Search, generator_beside, hill_climbing
from neuralns.errors import InputError


class Weightless(Lights):
    """The same without the one that all cost more."""

    def objective(self) -> float:
        return super().objective() - 1.0


def test_the_table_has_all_ways_to_choose(capsys: pytest.CaptureFixture[str]) -> None:
    found = headroom(make_alns, [all_on()], iterations=15, clock="iterations", seeds=4)
    assert found.best_pair == ("one", "off")
    assert list(found.costs) == ["random", "best fixed pair", "wheel", "online", "oracle"]
    assert found.gain("oracle") > 0 < found.gain("best fixed pair")
    printed = capsys.readouterr().out
    assert "best fixed pair (one, off)" in printed
    assert printed.count("%") == 5


def test_the_oracle_takes_what_gains_and_leaves_the_generator_alone() -> None:
    alns = make_alns(np.random.default_rng(1))
    oracle = Oracle(alns, "iterations", trials=2)
    rng, state = np.random.default_rng(5), all_on()
    assert oracle(rng, state, state) == (1, 1)
    assert rng.random() == np.random.default_rng(5).random()
    assert state.on.all()


def test_the_oracle_draws_other_numbers_when_the_search_has_moved_on() -> None:
    rng = np.random.default_rng(5)
    first, same = (generator_beside(rng).random() for _ in range(2))
    assert first == same
    rng.random()
    assert generator_beside(rng).random() != first


def test_time_of_trials_is_not_time_of_the_run() -> None:
    search = Search(make_alns, hill_climbing, seconds=0.01, clock="processor")
    oracle = Oracle(make_alns(np.random.default_rng(1)), "processor", trials=20)
    begin = time.process_time()
    search.run(all_on(), oracle, 1)
    spent = time.process_time() - begin
    assert spent > 3 * 0.01
    assert 0.5 * spent < oracle.uncounted < spent - 0.005


def test_costs_of_nothing_are_no_reason_for_the_first_pair() -> None:
    """From the dark nothing can be won; the pair is the one that does best from the other state."""
    dark = Weightless(np.zeros(12, bool))
    found = headroom(make_alns, [dark, all_on()], iterations=15, clock="iterations", seeds=2, show=False)
    assert found.best_pair == ("one", "off")


def test_couplings_of_another_shape_are_refused() -> None:
    with pytest.raises(InputError, match=r"shape \(1, 2\), but there are 2 destroy and 2 repair operators"):
        headroom(make_alns, [all_on()], iterations=5, op_coupling=[[True, True]])
    with pytest.raises(InputError, match="coupled with no repair operator"):
        headroom(make_alns, [all_on()], iterations=5, op_coupling=[[True, True], [False, False]])


def test_the_learned_wheel_comes_to_prefer_what_is_good() -> None:
    wheel = train_lrw(make_alns, [all_on()], episodes=60, segment=20)
    assert wheel.destroy_weights[1] > 1.5 * wheel.destroy_weights[0]
    assert wheel.repair_weights[1] > wheel.repair_weights[0]
    assert pickle.loads(pickle.dumps(wheel)).repair_weights.tolist() == wheel.repair_weights.tolist()


def test_the_wheel_respects_couplings() -> None:
    wheel = LRW([1, 1], [1, 1], [[True, False], [False, True]])
    rng = np.random.default_rng(1)
    assert {wheel(rng, None, None) for _ in range(50)} == {(0, 0), (1, 1)}


@pytest.mark.parametrize("weights", [[-1.0, 2.0], [0.0, 0.0], [np.nan, 1.0]])
def test_weights_that_are_none_are_refused(weights: list[float]) -> None:
    with pytest.raises(InputError, match="must be finite"):
        LRW(weights, [1.0])


def test_nothing_to_compare_is_refused() -> None:
    with pytest.raises(InputError, match="at least 1 initial state"):
        headroom(make_alns, [], iterations=5)
    with pytest.raises(InputError, match="0 seeds or trials"):
        headroom(make_alns, [all_on()], iterations=5, seeds=0)
