"""How much choosing could win in searches of the package alns."""

from __future__ import annotations

import time

import numpy as np
import pytest

from bridges.toy import Lights, all_on, make_alns
from neuralns.bridges.alns import headroom
from neuralns.bridges.alns.headroom import Oracle
from neuralns.bridges.alns.runs import Search, hill_climbing
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


def oracle_of(clock: str, trials: int) -> Oracle:
    return Oracle(make_alns(np.random.default_rng(1)), clock, trials, np.argwhere(np.ones((2, 2))))


def test_the_oracle_takes_what_gains_and_leaves_the_generator_alone() -> None:
    rng, state = np.random.default_rng(5), all_on()
    assert oracle_of("iterations", 2)(rng, state, state) == (1, 1)
    assert rng.random() == np.random.default_rng(5).random()
    assert state.on.all()


def test_the_oracle_draws_other_numbers_when_the_search_has_moved_on() -> None:
    """From the dark nothing can be won: it takes the pair that it happens to try first."""
    dark, chosen = Lights(np.zeros(12, bool)), set()
    for _ in range(2):
        rng = np.random.default_rng(5)
        same = [oracle_of("iterations", 1)(rng, dark, dark) for _ in range(3)]
        assert len(set(same)) == 1
    for _ in range(20):
        rng.random()
        chosen.add(oracle_of("iterations", 1)(rng, dark, dark))
    assert len(chosen) == 4


def test_time_of_trials_is_not_time_of_the_run() -> None:
    search = Search(make_alns, hill_climbing, seconds=0.01, clock="processor")
    oracle = oracle_of("processor", 20)
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


def test_nothing_to_compare_is_refused() -> None:
    with pytest.raises(InputError, match="at least 1 initial state"):
        headroom(make_alns, [], iterations=5)
    with pytest.raises(InputError, match="0 seeds or trials"):
        headroom(make_alns, [all_on()], iterations=5, seeds=0)
