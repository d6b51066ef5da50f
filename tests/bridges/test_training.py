"""Policies for searches of the package alns: trained, written, read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from alns import ALNS
from bridges.toy import PlainLights, all_on, make_alns, nothing, one
from clusters import Cluster
from neuralns.bridges.alns import LearnedSelector, Settings, train
from neuralns.bridges.alns.selector import Lesson, read_lesson
from neuralns.bridges.alns.training import Record, downhill, fit, shifted
from neuralns.errors import InputError
from neuralns.experiments.executors import ProcessPool
from neuralns.selection.policy_file import Policy, read_policy, write_policy


def trained(path: Path, **options: Any) -> Any:
    settings = {"iterations": 40, "clock": "iterations", "seeds": 1, **options}
    return train(make_alns, [all_on()], path, **settings)


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("policies") / "mine.policy"
    trained(path)
    return path


def test_it_learns_which_pair_is_worth_most(policy: Path) -> None:
    lesson, _ = read_lesson(policy)
    assert lesson.slopes[:, 0].argmax() == 3


def test_the_card_says_what_it_is_for(policy: Path) -> None:
    card = read_policy(policy).card
    assert card["operators"] == {"destroy": ["nothing", "one"], "repair": ["by_chance", "off"]}
    assert card["features"][:2] == ["1", "share"]
    assert card["features"][-1] == "context 2"
    assert card["training"]["learned"].startswith("gains")
    assert (card["training"]["iterations"], card["training"]["states"]) == (40, 1)


@pytest.mark.parametrize("adapt", [True, False])
def test_a_policy_chooses_well_from_the_start(policy: Path, adapt: bool) -> None:
    rng = np.random.default_rng(1)
    state = all_on()
    chosen = [LearnedSelector.load(policy, adapt=adapt)(rng, state, state) for _ in range(50)]
    assert chosen.count((1, 1)) > 35


def test_without_adapting_nothing_is_learned(policy: Path) -> None:
    selector = LearnedSelector.load(policy, adapt=False)
    make_alns(np.random.default_rng(1)).iterate(
        all_on(), selector, lambda *args: True, lambda *args: selector.status.iterations > 30
    )
    assert not selector.learner.events.any()


def test_the_same_seed_gives_the_same_policy(policy: Path, tmp_path: Path) -> None:
    trained(tmp_path / "again.policy")
    assert (tmp_path / "again.policy").read_bytes() == policy.read_bytes()


def test_other_processes_give_the_same_policy(policy: Path, tmp_path: Path) -> None:
    with ProcessPool(1) as pool:
        trained(tmp_path / "other.policy", executor=pool)
    assert (tmp_path / "other.policy").read_bytes() == policy.read_bytes()


def test_processes_of_its_own_give_the_same_policy(policy: Path, tmp_path: Path) -> None:
    trained(tmp_path / "own.policy", workers=2)
    assert (tmp_path / "own.policy").read_bytes() == policy.read_bytes()


def test_a_cluster_gives_the_same_policy(policy: Path, tmp_path: Path) -> None:
    from distributed import Client

    with Cluster(tmp_path, workers=1) as cluster, Client(cluster.address, set_as_default=False) as client:
        trained(tmp_path / "cluster.policy", executor=client.get_executor(pure=False))
    assert (tmp_path / "cluster.policy").read_bytes() == policy.read_bytes()


def test_a_policy_is_for_the_operators_of_its_training(policy: Path) -> None:
    LearnedSelector.load(policy, alns=make_alns(np.random.default_rng(1)))
    other = ALNS(np.random.default_rng(1))
    for operator in (one, nothing):
        other.add_destroy_operator(operator)
    with pytest.raises(InputError, match=r"destroy operators nothing, one, in this order; the ALNS has one, nothing\."):
        LearnedSelector.load(policy, alns=other)


def test_seconds_are_counted_where_the_training_counted_iterations(policy: Path) -> None:
    assert LearnedSelector.load(policy).clock == "iterations"
    selector = LearnedSelector.load(policy, seconds=60)
    assert (selector.clock, selector.seconds, selector.iterations) == ("time", 60, None)
    with pytest.raises(InputError, match="knows no seconds"):
        LearnedSelector.load(policy, seconds=60, clock="iterations")


def test_states_without_numbers_and_couplings(tmp_path: Path) -> None:
    coupling = np.array([[True, False], [False, True]])
    states = [PlainLights(all_on().on)]
    train(make_alns, states, tmp_path / "a.policy", iterations=20, clock="iterations", seeds=1, op_coupling=coupling)
    selector = LearnedSelector.load(tmp_path / "a.policy")
    assert (selector.op_coupling == coupling).all()
    assert selector.iterations == 20
    selector(np.random.default_rng(1), states[0], states[0])
    with pytest.raises(InputError, match="gave 3 numbers, but 0 in training"):
        LearnedSelector.load(tmp_path / "a.policy")(np.random.default_rng(1), all_on(), all_on())


def test_the_fit_finds_rates_and_what_they_depend_on() -> None:
    rng = np.random.default_rng(1)
    pairs = rng.integers(0, 4, 8000)
    seen = np.column_stack([np.ones(8000), rng.normal(size=8000)])
    # The first pair is the better the larger the number, the last one the other way round; all slow down together.
    slope = np.array([1.0, 0.0, 0.0, -1.0])[pairs]
    seconds = np.where(pairs == 1, 3.0, 1.0)
    events = rng.poisson(0.2 * seconds * np.exp(slope * seen[:, 1] - 0.5 * seen[:, 1]))
    slopes = fit(Record(pairs, seen, events.astype(float), seconds), (2, 2))
    assert slopes[:, 1] == pytest.approx([1.0, 0.0, 0.0, -1.0], abs=0.15)
    assert slopes[:, 0] == pytest.approx(np.zeros(4), abs=0.15)


def test_what_cannot_be_trained_is_refused(tmp_path: Path, policy: Path) -> None:
    with pytest.raises(InputError, match="at least 1 initial state"):
        train(make_alns, [], tmp_path / "a.policy", seconds=1)
    with pytest.raises(InputError, match="either seconds or iterations"):
        train(make_alns, [all_on()], tmp_path / "a.policy")
    with pytest.raises(InputError, match=r"exists already.*force=True"):
        trained(policy)
    with pytest.raises(InputError, match=r"shape \(1, 2\), but there are 2 destroy"):
        trained(tmp_path / "a.policy", op_coupling=[[True, True]])
    with pytest.raises(InputError, match="0 seeds"):
        trained(tmp_path / "a.policy", seeds=0)


def test_other_policies_are_refused(tmp_path: Path, policy: Path) -> None:
    with pytest.raises(InputError, match="is a policy for searches of neuralns"):
        LearnedSelector.load(_foreign(tmp_path))
    good = read_policy(policy)
    for tensors, card, sentence in (
        ({"slopes": good.tensors["slopes"][:2]}, good.card, "tables do not fit"),
        ({**good.tensors, "slopes": good.tensors["slopes"] * np.nan}, good.card, "not finite"),
        (good.tensors, {**good.card, "learning": {"memory": 1}}, "no readable entry 'learning'"),
        ({"weights 0": np.ones((10, 4)), "bias 0": np.ones(4)}, good.card, "tables do not fit"),
    ):
        write_policy(Policy(card, tensors), tmp_path / "bad.policy")
        with pytest.raises(InputError, match=sentence):
            LearnedSelector.load(tmp_path / "bad.policy")


def _foreign(folder: Path) -> Path:
    card = {"network": "mlp", "operators": {"destroy": ["a"], "repair": ["b"]}}
    write_policy(Policy(card, {"w": np.ones(2)}), folder / "foreign.policy")
    return folder / "foreign.policy"


# --- Weights that are moved to where the final cost falls. -----------------------------------------------------------


def test_the_direction_is_found_in_noise_of_its_size() -> None:
    rng = np.random.default_rng(1)
    slope = np.array([3.0, -4.0, 0.0, 0.0, 0.0])
    shifts = [rng.standard_normal(5) for _ in range(60)]
    costs = np.array([[1000 + slope @ shift + rng.normal(0, 4), 1000 - slope @ shift] for shift in shifts])
    assert downhill(shifts, costs) @ (-slope / 5) > 0.95


@pytest.mark.parametrize("cost", [0.0, 7.0])
def test_costs_that_do_not_differ_give_no_direction(cost: float) -> None:
    assert not downhill([np.ones(3)], np.full((1, 2), cost)).any()


def test_a_shift_of_one_draws_an_operator_e_times_as_often() -> None:
    settings = Settings(greed=3.0)
    plain = Lesson(np.zeros((4, 7)), np.empty(0), np.empty(0), settings, 1e6)
    lesson = shifted(plain, (2, 2), np.array([1.0, 0.0, 0.0, 0.0]))
    selector = lesson.teach(LearnedSelector(2, 2, clock="iterations", settings=settings))
    selector.learner.renew(np.zeros(7))
    rng = np.random.default_rng(1)
    drawn = np.bincount([selector.learner.draw(rng) // 2 for _ in range(8000)])
    assert drawn[0] / drawn[1] == pytest.approx(np.e, rel=0.1)
    assert not plain.slopes.any()
