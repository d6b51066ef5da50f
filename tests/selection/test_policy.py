"""Policies run compiled: the values of torch, the softmax of the paper, and what is refused."""

from __future__ import annotations

import subprocess
import sys
import time
import warnings
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch

from neuralns import (
    MDP,
    InputError,
    InputWarning,
    Instance,
    Lanes,
    MaxIterations,
    evaluate,
    generate_x,
    make_mdp,
    read,
    solve,
)
from neuralns.learning.networks import Shape, make_network
from neuralns.mdp.mdp import episode_seeds
from neuralns.operators.portfolio import portfolio_named
from neuralns.search.search import Search
from neuralns.search.setup import make_setup, portfolio_for
from neuralns.selection.features import RICH, features_named
from neuralns.selection.names import selector_from, selector_named
from neuralns.selection.policy import PolicySelector
from neuralns.selection.policy_file import Policy, write_policy
from policies import constant_policy as fixed_values

NEAREST = 10
OPTIONS: dict[str, dict[str, Any]] = {
    "mlp": {"hidden": (32, 17)},
    "small": {"hidden": (32, 16)},
    "gat": {"width": 32, "layers": 3, "heads": 1, "graph": "complete"},
}
KINDS = [
    pytest.param("mlp", {}, id="mlp"),
    pytest.param("mlp", {"features": "paper"}, id="mlp-paper"),
    pytest.param("small", {}, id="small"),
    pytest.param("gat", {}, id="gat"),
    pytest.param("gat", {"heads": 4}, id="gat-4"),
    pytest.param("gat", {"graph": "nearest"}, id="gat-nearest"),
    pytest.param("gat", {"graph": "nearest", "heads": 4}, id="gat-nearest-4"),
    pytest.param("gat", {"features": "paper", "layers": 1}, id="gat-paper"),
    pytest.param("gat", {"features": "relative", "layers": 2, "hidden": (24, 9)}, id="gat-relative-hidden"),
]


def mdp_of(customers: int, portfolio: str = "paper") -> MDP:
    """An MDP with customers on a small grid, so that many distances are equal and some places are taken twice."""
    rng = np.random.default_rng(customers)
    points = rng.integers(0, 8, size=(customers + 1, 2))
    instance = Instance("grid", [0, *rng.integers(1, 5, customers)], 12, points)
    return make_mdp(instance, setting="distance", portfolio=portfolio, budget=6)


def drawn_policy(mdp: MDP, network: str, features: str = "rich", **options: Any) -> tuple[Policy, Any]:
    """A policy of an untrained network whose every parameter, biases too, is drawn; and its torch network."""
    chosen = features_named(features)
    names = [[entry.name for entry in part] for part in (mdp.portfolio.destroys, mdp.portfolio.repairs)]
    shape = Shape(
        mdp.instance.customers + 1, len(chosen.nodes), len(chosen.globals), len(mdp.portfolio.names)
    )  # fmt: skip
    options = {**OPTIONS[network], **options}
    found = make_network(network, shape, [3], options)
    generator = torch.Generator().manual_seed(4)
    with torch.no_grad():
        for parameter in found.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator), alpha=0.1)
    card = {
        "network": network,
        "features": {"name": chosen.name, "version": chosen.version},
        "operators": {"destroy": names[0], "repair": names[1]},
        "nodes": shape.nodes,
        "graph": options.get("graph", "complete"),
    }
    tensors = {name: values[0].numpy() for name, values in found.state_dict().items()}
    return Policy(card, tensors), found


def edges_of(mdp: MDP, lanes: Lanes) -> torch.Tensor:
    """Which nodes each node attends to, from the routes and the distances: on its route, and the nearest customers."""
    nodes = mdp.instance.customers + 1
    found = [[node] * 2 for node in range(nodes)]
    for route in lanes.solution(0).routes:
        for before, node, after in zip([0, *route], route, [*route[1:], 0], strict=False):
            found[node] = [before, after]
    distances = mdp.instance.distances
    assert distances is not None
    for node in range(nodes):
        others = [other for other in range(1, nodes) if other != node]
        # Lists of neighbours are as long as a customer has others: of few, the farthest from the depot is left out.
        near = sorted(others, key=lambda other: (distances[node, other], other))[: min(NEAREST, nodes - 2)]
        found[node] += near + [node] * (NEAREST - len(near))
    return torch.tensor(found)[None, None]


@pytest.mark.parametrize("customers", [5, 20, 60])
@pytest.mark.parametrize(("network", "options"), KINDS)
def test_values_are_those_of_torch(network: str, options: dict[str, Any], customers: int) -> None:
    mdp = mdp_of(customers)
    policy, online = drawn_policy(mdp, network, **options)
    selector = PolicySelector(policy, 0.0)
    choose, memory = selector.functions()[0], selector.start(mdp.portfolio, customers)
    lanes, rng = Lanes([mdp], options.get("features", "rich")), np.random.default_rng(5)
    lanes.reset([mdp.random_start(1)], episode_seeds(1, 1))
    seen: Counter[int] = Counter()
    while not lanes.done:
        phase = int(lanes.phases[0])
        choice = choose(memory, lanes.state(0), phase)
        parts = [] if network == "small" else [lanes.node_features.reshape(1, -1)]
        rows = torch.from_numpy(np.concatenate([*parts, lanes.global_features], axis=1))[None]
        edges = edges_of(mdp, lanes) if options.get("graph") == "nearest" else None
        with torch.no_grad():
            expected = online(rows, None, edges)[0, 0].numpy()
        found = selector.values(memory, customers)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())
        allowed = np.flatnonzero(lanes.action_mask[0])
        assert choice == found[allowed].argmax()
        seen[phase] += 1
        lanes.step(rng.choice(allowed, 1))
    assert seen == {0: mdp.budget, 1: mdp.budget}


def test_one_memory_serves_instances_of_several_sizes_in_turns() -> None:
    mdps = [mdp_of(customers) for customers in (20, 60, 5)]
    for options in ({}, {"graph": "nearest"}):
        policy, _ = drawn_policy(mdps[0], "gat", **options)
        selector = PolicySelector(policy, 0.0)
        choose = selector.functions()[0]
        lanes = Lanes(mdps)
        lanes.reset([mdp.random_start(1) for mdp in mdps], episode_seeds(1, 3))
        shared = selector.start(mdps[0].portfolio, 60)
        for _ in range(2):
            for lane, mdp in enumerate(mdps):
                size = mdp.instance.customers
                own = selector.start(mdp.portfolio, size)
                assert choose(shared, lanes.state(lane), 0) == choose(own, lanes.state(lane), 0)
                values = selector.values(own, size)
                assert np.array_equal(selector.values(shared, size), values)


# --- The softmax. ----------------------------------------------------------------------------------------------------

VALUES = {"random-node": 0.01, "zone": 0.03, "cluster": 0.0, "greedy": 0.5, "regret-2": 0.49}
FIVE = ",".join(VALUES)


def constant_policy(mdp: MDP, values: dict[str, float]) -> Policy:
    """A policy whose Q-values are the same in all states."""
    policy, _ = drawn_policy(mdp, "small")
    tensors = {name: np.zeros_like(numbers) for name, numbers in policy.tensors.items()}
    tensors["layers.2.bias"] = np.array([[values[name] for name in mdp.portfolio.names]], np.float32)
    return Policy(policy.card, tensors)


def shares(policy: Policy, temperature: float, phase: int, mdp: MDP, draws: int = 20_000) -> npt.NDArray[np.float64]:
    """How often each operator of a phase is chosen."""
    selector = PolicySelector(policy, temperature)
    choose, memory = selector.functions()[0], selector.start(mdp.portfolio, mdp.instance.customers)
    lanes = Lanes([mdp])
    lanes.reset([mdp.random_start(1)], episode_seeds(2, 1))
    state = lanes.state(0)
    counts = np.bincount([choose(memory, state, phase) for _ in range(draws)])
    return counts / draws


@pytest.mark.parametrize("temperature", [0.0, 1e-9, 1e-300])
def test_the_coldest_softmax_is_greedy(temperature: float) -> None:
    mdp = mdp_of(20, FIVE)
    policy = constant_policy(mdp, VALUES)
    assert shares(policy, temperature, 0, mdp, 500).tolist() == [0, 1]
    assert shares(policy, temperature, 1, mdp, 500).tolist() == [1]


@pytest.mark.parametrize("temperature", [1e9, float("inf")])
def test_the_hottest_softmax_is_uniform(temperature: float) -> None:
    mdp = mdp_of(20, FIVE)
    policy = constant_policy(mdp, VALUES)
    assert shares(policy, temperature, 0, mdp) == pytest.approx([1 / 3] * 3, abs=0.015)
    assert shares(policy, temperature, 1, mdp) == pytest.approx([1 / 2] * 2, abs=0.015)


@pytest.mark.parametrize("temperature", [0.01, 0.1])
def test_in_between_operators_are_chosen_by_equation_4(temperature: float) -> None:
    mdp = mdp_of(20, FIVE)
    policy = constant_policy(mdp, VALUES)
    for phase, names in ((0, ("random-node", "zone", "cluster")), (1, ("greedy", "regret-2"))):
        weights = np.exp(np.array([VALUES[name] for name in names]) / temperature)
        assert shares(policy, temperature, phase, mdp) == pytest.approx(weights / weights.sum(), abs=0.015)


def test_large_values_do_not_overflow_the_softmax() -> None:
    mdp = mdp_of(20, FIVE)
    policy = constant_policy(mdp, {name: 1e6 * value for name, value in VALUES.items()})
    assert shares(policy, 0.01, 0, mdp, 500).tolist() == [0, 1]


@pytest.mark.parametrize("temperature", [-1.0, float("nan")])
def test_a_temperature_that_is_none_is_refused(temperature: float) -> None:
    policy = constant_policy(mdp_of(20, FIVE), VALUES)
    with pytest.raises(InputError, match=r"^temperature (-1\.0|nan) must be at least 0\.$"):
        PolicySelector(policy, temperature)


# --- Which operators, how often. -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("portfolio", "best"),
    [("cluster,random-node,regret-2", [1, 0]), ("zone,greedy", [0, 0]), ("cluster,zone,regret-2,greedy", [1, 1])],
)
def test_some_of_the_operators_in_any_order_will_do(portfolio: str, best: list[int]) -> None:
    policy, mdp = constant_policy(mdp_of(20, FIVE), VALUES), mdp_of(20, portfolio)
    for phase in (0, 1):
        assert shares(policy, 0.0, phase, mdp, 20).argmax() == best[phase]


@pytest.mark.parametrize("every", [1, 3])
def test_a_pair_is_kept_for_as_many_iterations_as_asked_for(every: int) -> None:
    mdp = mdp_of(20, FIVE)
    selector = PolicySelector(constant_policy(mdp, VALUES), 1e9, every=every)
    choose, memory = selector.functions()[0], selector.start(mdp.portfolio, 20)
    lanes = Lanes([mdp])
    lanes.reset([mdp.random_start(1)], episode_seeds(2, 1))
    pairs = [tuple(choose(memory, lanes.state(0), phase) for phase in (0, 1)) for _ in range(300)]
    blocks = [set(pairs[place : place + every]) for place in range(0, 300, every)]
    assert all(len(block) == 1 for block in blocks)
    changes = sum(one != other for one, other in pairwise(blocks))
    assert changes > 0.6 * len(blocks)


@pytest.mark.parametrize("network", ["small", "gat"])
@pytest.mark.parametrize("every", [1, 4])
@pytest.mark.parametrize("threads", [1, 2])
def test_each_of_several_episodes_is_decided_as_if_it_were_alone(network: str, every: int, threads: int) -> None:
    # Six pairs are no multiple of four: a count carried from lane to lane would shift the next one's decisions.
    mdp = mdp_of(20)
    selector = PolicySelector(drawn_policy(mdp, network)[0], 0.3, every=every)
    assert selector.remembers == (every > 1)
    starts, seeds = mdp.start_tours("train", 5), episode_seeds(3, 5)
    lanes = Lanes([mdp] * 5, threads=threads)
    lanes.reset(starts, seeds)
    uses = lanes.play(selector)
    for lane in range(5):
        alone = Lanes([mdp])
        alone.reset(starts[lane : lane + 1], seeds[lane : lane + 1])
        assert alone.play(selector).tolist() == uses[lane : lane + 1].tolist()
        assert alone.solution(0).routes == lanes.solution(lane).routes
    if every == 4:
        # Two decisions for six pairs: no more than two operators of a phase, four or six times, or two and four.
        destroys = uses[:, : len(mdp.portfolio.destroys)]
        assert all(sorted(row[row > 0].tolist()) in ([6], [2, 4]) for row in destroys)


def test_lanes_of_different_instances_share_the_numbers_of_a_policy() -> None:
    mdps = [mdp_of(customers) for customers in (20, 60, 5)]
    selector = PolicySelector(drawn_policy(mdps[0], "gat", graph="nearest")[0], 0.3, every=4)
    starts, seeds = [mdp.random_start(1) for mdp in mdps], episode_seeds(1, 3)
    lanes = Lanes(mdps)
    lanes.reset(starts, seeds)
    uses = lanes.play(selector)
    for lane, mdp in enumerate(mdps):
        alone = Lanes([mdp])
        alone.reset([starts[lane]], seeds[lane : lane + 1])
        assert alone.play(selector).tolist() == [uses[lane].tolist()]


def test_a_policy_drives_a_search_and_other_sizes() -> None:
    policy, _ = drawn_policy(mdp_of(20), "gat", graph="nearest")
    for customers in (1, 2, 20, 60):
        instance = mdp_of(customers).instance
        result = solve(instance, MaxIterations(20), selector=PolicySelector(policy), portfolio="paper", scale=1)
        assert result.best.faults() == []


def test_whether_the_memory_of_arcs_is_needed_is_told() -> None:
    mdp = mdp_of(20)
    needed = [
        PolicySelector(drawn_policy(mdp, network, features)[0]).uses_history
        for network, features in (("mlp", "rich"), ("gat", "rich"), ("mlp", "paper"), ("small", "rich"))
    ]
    assert needed == [True, True, False, False]


# --- Where it was made for. ------------------------------------------------------------------------------------------

CARD = {"setting": "distance", "sizes": [15, 25], "scale": 4}
HERE = generate_x(21, seed=2)


def made(**entries: Any) -> PolicySelector:
    return PolicySelector(fixed_values("zone,pair,greedy", [2.0, 1.0, 1.0], **{**CARD, **entries}), 0.0, "mine")


def test_a_policy_brings_the_scale_that_it_was_trained_with() -> None:
    assert made().made_with() == 4
    assert made(scale=None).made_with() is None
    assert made(scale=[10, 10, 10]).made_with() == 10
    assert made(scale=[4, 10]).made_with() is None
    seen = [quota_of(made(), scale) for scale in (None, 6, (2, 8))]
    assert seen[0] == {4}
    assert seen[1] == {6}
    assert seen[2] == {2, 3, 4, 5, 6, 7, 8}
    assert len(quota_of(made(scale=None), None)) == 20


def quota_of(selector: PolicySelector, scale: Any) -> set[int]:
    """How many customers a search with a selector removes at a time."""
    setup = make_setup(HERE, MaxIterations(400), selector, portfolio_for(selector), scale=scale)
    search, seen = Search(setup, np.random.SeedSequence(1), time.perf_counter()), set()
    while search.reason_to_stop() is None:
        search.advance(1)
        seen.add(int(search._status.quota))
    return seen


def test_a_policy_without_a_portfolio_gets_its_own_operators_and_scale() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = solve(HERE, MaxIterations(30), selector=made())
    assert {use.name: use.used for use in result.operators} == {"zone": 30, "pair": 0, "greedy": 30}


@pytest.mark.parametrize(
    ("entries", "instance", "scale", "sentence"),
    [
        ({}, HERE, None, None),
        ({}, HERE, 4, None),
        ({}, HERE, (1, 20), None),
        ({}, HERE, 5, "mine: it was trained with 4 customers removed at a time, not 5 to 5."),
        ({"scale": None}, HERE, 5, None),
        ({"setting": "paper"}, HERE, None, "mine: it was trained in setting paper, where routes are what costs, not "
         "distance."),
        ({"setting": "paper"}, HERE.in_paper_setting(), None, None),
        ({}, generate_x(50, seed=2), None, None),
        ({}, generate_x(51, seed=2), None, "mine: it was trained on 15 to 25 customers, this instance has 51."),
        ({"sizes": [100]}, HERE, None, "mine: it was trained on 100 customers, this instance has 21."),
        ({"sizes": []}, HERE, None, None),
        ({"sizes": "many"}, HERE, None, None),
    ],
)  # fmt: skip
def test_a_search_that_differs_from_the_training_is_warned_of(
    entries: dict[str, Any], instance: Instance, scale: Any, sentence: str | None
) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = solve(instance, MaxIterations(5), selector=made(**entries), scale=scale)
    assert result.feasible
    assert [str(warning.message) for warning in caught] == ([] if sentence is None else [sentence])
    assert all(warning.category is InputWarning for warning in caught)


def test_a_policy_tells_the_instances_that_it_was_trained_on() -> None:
    assert made().trained_on() == ()
    assert made(instances=["C101", "R101"]).trained_on() == ("C101", "R101")


@pytest.mark.parametrize(
    ("setting", "instance", "doubt"),
    [
        ("windows", "E-n22-k4", "it was trained with windows, this instance has none."),
        ("distance", "R101", "it was trained without windows, this instance has some."),
        ("windows", "R101", None),
        ("distance", "E-n22-k4", None),
    ],
)
def test_a_policy_doubts_windows_that_it_was_not_trained_with(setting: str, instance: str, doubt: str | None) -> None:
    selector = PolicySelector(fixed_values("zone,greedy", [1.0, 1.0], setting=setting))
    assert selector.doubts(read(instance), (1, 20)) == ([] if doubt is None else [f"policy: {doubt}"])


def test_each_doubt_is_a_sentence_of_its_own() -> None:
    selector = made(setting="paper", sizes=[200], scale=40)
    assert len(selector.doubts(HERE, (1, 20))) == 3


# --- What is refused. ------------------------------------------------------------------------------------------------


def refusal(path: Path, policy: Policy, mdp: MDP) -> str:
    """The sentence by which a policy from a file is refused, without the file's name."""
    write_policy(policy, path)
    with pytest.raises(InputError) as caught:
        selector_named(str(path)).start(mdp.portfolio, mdp.instance.customers)
    sentence = str(caught.value)
    assert sentence.startswith(f"{path}: ")
    assert sentence.endswith(".")
    assert "\n" not in sentence
    return sentence.removeprefix(f"{path}: ")


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        ({"network": "oracle"}, "has network 'oracle', which this version does not know."),
        (
            {"features": {"name": "rich", "version": 99}},
            f"was trained with version 99 of the features 'rich', but this is version {RICH.version}.",
        ),
        ({"features": {"name": "poor", "version": 1}}, "its card names no known feature set."),
        ({"features": {"name": ["rich"], "version": 1}}, "its card names no known feature set."),
        ({"features": "rich"}, "its card names no known feature set."),
        ({"features": None}, "its card names no known feature set."),
        ({"features": {"name": "paper", "version": 1}}, "its numbers do not fit its card"),
        ({"nodes": 30}, "its numbers do not fit its card"),
        ({"nodes": None}, "its numbers do not fit its card"),
        ({"nodes": "21"}, "is a safetensors file without a readable card of neuralns (its entry 'nodes')."),
        ({"operators": {"destroy": ["zone"], "repair": ["greedy"]}}, "its numbers do not fit its card"),
    ],
)
def test_a_card_that_does_not_fit_is_refused(tmp_path: Path, entry: dict[str, Any], sentence: str) -> None:
    mdp = mdp_of(20)
    policy, _ = drawn_policy(mdp, "mlp")
    changed = Policy({**policy.card, **entry}, policy.tensors)
    assert refusal(tmp_path / "mine.policy", changed, mdp).startswith(sentence)


def test_operators_that_a_policy_does_not_know_are_refused(tmp_path: Path) -> None:
    policy, _ = drawn_policy(mdp_of(20, "random-node,zone,greedy"), "small")
    path = tmp_path / "mine.policy"
    assert refusal(path, policy, mdp_of(20, "random-node,cluster,greedy")) == (
        "was trained without the destroy operator 'cluster' of portfolio 'random-node,cluster,greedy'; it knows "
        "random-node, zone."
    )
    assert refusal(path, policy, mdp_of(20, "random-node,regret-2")) == (
        "was trained without the repair operator 'regret-2' of portfolio 'random-node,regret-2'; it knows greedy."
    )


def test_an_mlp_refuses_other_sizes_and_the_others_do_not(tmp_path: Path) -> None:
    mdp, larger = mdp_of(20), mdp_of(25)
    policy, _ = drawn_policy(mdp, "mlp")
    assert refusal(tmp_path / "mine.policy", policy, larger) == (
        "was trained on 20 customers and an mlp knows no other size, but the instance has 25."
    )
    for network in ("small", "gat"):
        PolicySelector(drawn_policy(mdp, network)[0]).start(larger.portfolio, 25)


def damaged(tensors: dict[str, Any], key: str, how: str) -> dict[str, Any]:
    values = tensors[key]
    if how == "missing":
        return {name: other for name, other in tensors.items() if name != key}
    if how == "flat":
        return {**tensors, key: values.reshape(1, 1, 1, -1)}
    if how == "shorter":
        return {**tensors, key: values[..., :-1]}
    spoilt = values.copy()
    spoilt.flat[-1] = float(how)
    return {**tensors, key: spoilt}


@pytest.mark.parametrize("how", ["missing", "flat", "shorter", "nan", "inf"])
@pytest.mark.parametrize("network", ["mlp", "small", "gat"])
def test_damaged_numbers_are_refused(tmp_path: Path, network: str, how: str) -> None:
    mdp = mdp_of(20)
    policy, _ = drawn_policy(mdp, network)
    for key in policy.tensors:
        changed = Policy(policy.card, damaged(dict(policy.tensors), key, how))
        sentence = refusal(tmp_path / "mine.policy", changed, mdp)
        if how in ("flat", "nan", "inf"):
            assert sentence == f"the numbers {key!r} are missing, of a wrong shape or not finite."
        elif how == "shorter":
            assert sentence.startswith("its numbers do not fit its card")
        else:
            assert "are missing" in sentence or "do not fit" in sentence


def test_a_policy_without_numbers_or_with_too_many_layers_is_refused(tmp_path: Path) -> None:
    mdp = mdp_of(20)
    for network in ("mlp", "small", "gat"):
        policy, _ = drawn_policy(mdp, network)
        refusal(tmp_path / "mine.policy", Policy(policy.card, {}), mdp)
    policy, _ = drawn_policy(mdp, "small", hidden=(4,) * 20)
    assert refusal(tmp_path / "mine.policy", policy, mdp).startswith("its numbers do not fit its card")
    policy, _ = drawn_policy(mdp, "gat", graph="nearest")
    odd = Policy({**policy.card, "graph": "star"}, policy.tensors)
    assert refusal(tmp_path / "mine.policy", odd, mdp).startswith("its numbers do not fit its card")


def test_numbers_of_other_precision_are_read_as_they_are() -> None:
    mdp = mdp_of(20, FIVE)
    policy = constant_policy(mdp, VALUES)
    doubles = Policy(policy.card, {name: values.astype(np.float64) for name, values in policy.tensors.items()})
    assert shares(doubles, 0.0, 0, mdp, 20).tolist() == [0, 1]


# --- Without torch. --------------------------------------------------------------------------------------------------


def test_policies_are_played_without_torch(tmp_path: Path) -> None:
    mdp = make_mdp("C101", customers=20, budget=2)
    names = []
    for network in ("mlp", "gat"):
        names.append(str(tmp_path / f"{network}.policy"))
        write_policy(drawn_policy(mdp, network)[0], names[-1])
    program = """
import sys
from neuralns import evaluate, make_mdp
from neuralns.selection.names import selector_named
mdp = make_mdp("C101", customers=20, budget=2)
for name in sys.argv[1:]:
    found = evaluate(mdp, selector_named(name), episodes=4, seeds=1)
print(found.uses.sum(), "torch" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program, *names], capture_output=True, text=True, check=True)
    assert done.stdout == "16 False\n"


def test_a_policy_read_from_its_file_plays_like_the_one_written(tmp_path: Path) -> None:
    mdp = mdp_of(20)
    policy, _ = drawn_policy(mdp, "gat")
    write_policy(policy, tmp_path / "mine.policy")
    found = [
        evaluate(mdp, selector, episodes=4, seeds=2)
        for selector in (selector_named(str(tmp_path / "mine.policy"), 0.0), selector_from(policy, "mine", 0.0))
    ]
    assert np.array_equal(found[0].rewards, found[1].rewards)
    assert found[0].uses.tolist() == found[1].uses.tolist()
    assert portfolio_named("paper").names == mdp.portfolio.names


# --- Files from strangers. --------------------------------------------------------------------------------------------


def test_numbers_that_are_infinite_in_32_bits_are_refused() -> None:
    policy = fixed_values("random-node,greedy", [0, 0])
    huge = {**policy.tensors, "layers.0.bias": np.array([[1e300, 0.0]])}
    with pytest.raises(InputError, match=r"'layers\.0\.bias' are missing, of a wrong shape or not finite\.$"):
        PolicySelector(Policy(policy.card, huge))


def test_layers_without_width_ask_for_no_memory() -> None:
    card = {**fixed_values("random-node,greedy", [0, 0]).card, "network": "gat", "graph": "complete"}
    inputs = len(RICH.nodes)
    tensors = {
        "layers.0.weight": np.zeros((inputs, 0), np.float32),
        "layers.0.source": np.zeros((1 << 31, 0), np.float32),
        "layers.0.target": np.zeros((1 << 31, 0), np.float32),
        "layers.0.bias": np.zeros(0, np.float32),
        "head.weight": np.zeros((len(RICH.globals), 2), np.float32),
        "head.bias": np.zeros((1, 2), np.float32),
    }
    with pytest.raises(InputError, match="of a wrong shape"):
        PolicySelector(Policy(card, tensors))


def test_layers_wider_than_any_that_is_trained_are_refused() -> None:
    policy = fixed_values("random-node,greedy", [0, 0])
    inputs = len(RICH.globals)
    wide = {
        "layers.0.weight": np.zeros((inputs, 4097), np.float32),
        "layers.0.bias": np.zeros((1, 4097), np.float32),
        "layers.1.weight": np.zeros((4097, 2), np.float32),
        "layers.1.bias": np.zeros((1, 2), np.float32),
    }
    with pytest.raises(InputError, match="do not fit its card"):
        PolicySelector(Policy(policy.card, wide))
