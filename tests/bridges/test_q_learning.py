"""Values of all that follows a pair: learned from records, and chosen by."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from alns.Outcome import Outcome

from bridges.toy import Lights, all_on
from neuralns.bridges.alns import LearnedSelector, q_learning
from neuralns.bridges.alns.fitting import Record, fit
from neuralns.bridges.alns.policy import ValueLesson, read_lesson, write_selector
from neuralns.bridges.alns.q_learning import DISCOUNT, QLearner
from neuralns.bridges.alns.q_values import values_of
from neuralns.errors import InputError
from neuralns.selection.policy_file import Policy, read_policy, write_policy

STEP, OPEN, THROUGH = range(3)
"""A step gains a little, always; through a door is much to gain, once it is open, and opening it gains nothing."""
CLOSED_DOOR, OPEN_DOOR = np.array([1.0, 0.0]), np.array([1.0, 1.0])
ALL = np.ones((3, 1), bool)


@pytest.fixture(autouse=True)
def _quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(q_learning, "STEPS", 600)


def doors(seed: int, iterations: int = 60) -> Record:
    rng = np.random.default_rng(seed)
    pairs = rng.integers(0, 3, iterations)
    seen, events, is_open = [], [], False
    for pair in pairs:
        seen.append(OPEN_DOOR if is_open else CLOSED_DOOR)
        events.append(1.0 if pair == STEP else 6.0 * (pair == THROUGH and is_open))
        is_open = pair == OPEN or (is_open and pair == STEP)
    return Record(pairs, np.array(seen), np.array(events), np.ones(iterations))


def learned(records: list[Record], allowed: Any = ALL, seed: int = 0) -> QLearner:
    learner = QLearner(records[0].seen.shape[1], allowed, seed)
    learner.learn(records)
    return learner


def test_it_values_what_a_pair_makes_possible() -> None:
    records = [doors(seed) for seed in range(10)]
    at_once = fit(records, (3, 1))
    assert (at_once @ CLOSED_DOOR).argmax() == STEP
    layers = learned(records).layers
    assert values_of(layers, CLOSED_DOOR).argmax() == OPEN
    assert values_of(layers, OPEN_DOOR).argmax() == THROUGH


def test_nothing_follows_the_end_of_a_run() -> None:
    runs = [
        Record(np.array([pair]), CLOSED_DOOR[None], np.array([gain]), np.ones(1))
        for pair, gain in ((0, 1), (2, 3), (2, 3), (0, 1))
    ]
    found = values_of(learned(runs).layers, CLOSED_DOOR)
    assert found[[0, 2]] == pytest.approx((1 - DISCOUNT) * np.array([0.5, 1.5]), rel=0.1)


def test_of_pairs_that_gain_the_same_the_quicker_is_worth_more() -> None:
    rng = np.random.default_rng(1)
    pairs = rng.integers(0, 3, 600)
    record = Record(pairs, np.ones((600, 1)), np.ones(600), np.array([1.0, 4.0, 2.0])[pairs])
    assert values_of(learned([record]).layers, np.ones(1)).argsort().tolist() == [1, 2, 0]


def test_pairs_that_may_not_be_used_promise_nothing() -> None:
    records = [doors(seed) for seed in range(10)]
    without = np.array([[True], [True], [False]])
    values = values_of(learned(records, without).layers, CLOSED_DOOR)
    assert values[STEP] > values[OPEN]


def test_it_goes_on_learning() -> None:
    learner = learned([doors(0)])
    before = learner.layers
    learner.learn([doors(0), doors(1)])
    assert not np.array_equal(before[0][0], learner.layers[0][0])


def test_the_same_seed_gives_the_same_values() -> None:
    one, same, other = (values_of(learned([doors(1)], seed=seed).layers, OPEN_DOOR) for seed in (1, 1, 2))
    assert one.tolist() == same.tolist() != other.tolist()


def test_slopes_are_those_of_the_squared_error() -> None:
    learner = learned([doors(1)])
    rng = np.random.default_rng(1)
    seen, pairs, goals = rng.normal(size=(2, 5, 2)), rng.integers(0, 3, (2, 5)), rng.normal(size=(2, 5))

    def error() -> float:
        values = np.take_along_axis(values_of(learner._both, seen), pairs[:, :, None], axis=2)[:, :, 0]
        return float(((values - goals) ** 2).mean(axis=1).sum())

    for table, slope in zip(learner._tables, learner._slopes(learner._both, seen, pairs, goals), strict=True):
        place = tuple(int(rng.integers(size)) for size in table.shape)
        here = table[place]
        table[place] = here + 1e-6
        above = error()
        table[place] = here - 1e-6
        assert slope[place] == pytest.approx((above - error()) / 2e-6, abs=1e-6)
        table[place] = here


def test_its_values_are_the_mean_of_those_of_both_networks() -> None:
    learner = learned([doors(1)])
    seen = np.random.default_rng(1).normal(size=(4, 2))
    assert values_of(learner.layers, seen) == pytest.approx(values_of(learner._both, seen).mean(axis=0))


def test_luck_among_many_pairs_is_not_taken_for_worth() -> None:
    rng = np.random.default_rng(1)
    events = np.where(rng.random(1500) < 0.05, 20.0, 0.0)
    record = Record(rng.integers(0, 36, 1500), np.ones((1500, 1)), events, np.ones(1500))
    found = values_of(learned([record], np.ones((12, 3), bool)).layers, np.ones(1))
    assert found.mean() == pytest.approx(1.0, abs=0.5)


# --- The selector. ---------------------------------------------------------------------------------------------------


def lesson(best: int = 3, exploration: float = 0.2, segment: float = 1.0) -> ValueLesson:
    """Of two by two pairs and three numbers of context: the given one is best while the first of these is above 0."""
    weights = np.zeros((10, 1))
    weights[7] = 1.0
    layers = ((weights, np.zeros(1)), (np.eye(4)[best : best + 1], np.array([0.1, 0.0, 0.0, 0.0])))
    return ValueLesson(layers, np.array([0.5, 0.0, 0.0]), np.ones(3), segment, exploration)


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    path = tmp_path / "values.policy"
    write_selector(path, lesson(), (["nothing", "one"], ["by_chance", "off"]), {"training": {"iterations": 30}})
    return path


def chosen(selector: LearnedSelector, state: Lights, count: int = 400) -> Counter[tuple[int, int]]:
    rng = np.random.default_rng(1)
    found: Counter[tuple[int, int]] = Counter()
    for _ in range(count):
        pair = selector(rng, state, state)
        found[pair] += 1
        selector.update(state, *pair, Outcome.REJECT)
    return found


def test_a_file_chooses_as_it_was_taught(policy: Path) -> None:
    found, _ = read_lesson(policy)
    assert isinstance(found, ValueLesson)
    assert (found.segment, found.exploration) == (1.0, 0.2)
    bright, dark = all_on(), Lights(np.zeros(12, bool))
    uses = chosen(LearnedSelector.load(policy), bright)
    # Four fifths, and a quarter of the pairs by chance.
    assert uses[1, 1] == pytest.approx(340, abs=30)
    assert len(uses) == 4
    assert chosen(LearnedSelector.load(policy), dark).most_common(1)[0][0] == (0, 0)


def test_it_does_not_adapt(policy: Path) -> None:
    selector = LearnedSelector.load(policy, adapt=True)
    chosen(selector, all_on(), 50)
    assert not selector.learner.events.any()


def test_couplings_are_respected(policy: Path) -> None:
    coupling = [[True, True], [True, False]]
    uses = chosen(LearnedSelector.load(policy, op_coupling=coupling), all_on())
    assert set(uses) == {(0, 0), (0, 1), (1, 0)}
    assert uses.most_common(1)[0][0] == (0, 0)


def test_a_choice_holds_for_a_segment() -> None:
    selector = lesson(exploration=0.0, segment=5.0).teach(
        LearnedSelector(2, 2, clock="iterations", settings=lesson(segment=5.0).settings)
    )
    chosen(selector, all_on(), 201)
    last = [chosen(selector, Lights(np.zeros(12, bool)), 1).popitem()[0] for _ in range(6)]
    assert last[-1] == (0, 0)
    assert 1 <= last.count((1, 1)) <= 4


def test_files_that_hold_no_network_are_refused(tmp_path: Path, policy: Path) -> None:
    good = read_policy(policy)
    learning = {"segment": 5.0, "exploration": 0.1}
    for tensors, card, sentence in (
        ({**good.tensors, "weights 1": np.ones((2, 4))}, good.card, "tables do not fit its 4 pairs"),
        ({**good.tensors, "weights 0": np.ones(10)}, good.card, "tables do not fit"),
        ({name: table for name, table in good.tensors.items() if name != "bias 1"}, good.card, "tables do not fit"),
        ({name: table for name, table in good.tensors.items() if name != "mean"}, good.card, "tables do not fit"),
        ({**good.tensors, "bias 1": np.full(4, np.inf)}, good.card, "not finite"),
        (good.tensors, {**good.card, "learning": {**learning, "exploration": 1.5}}, "no readable entry 'learning'"),
        (good.tensors, {**good.card, "learning": {"segment": 5.0}}, "no readable entry 'learning'"),
        (good.tensors, {**good.card, "learning": {**learning, "segment": 0}}, "segment 0.0 must be a number"),
    ):
        write_policy(Policy(card, tensors), tmp_path / "bad.policy")
        with pytest.raises(InputError, match=sentence):
            LearnedSelector.load(tmp_path / "bad.policy")
