"""Selectors by name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from neuralns import AlphaUCB, Fixed, InputError, MaxIterations, Roulette, Thompson, Uniform, portfolio_named, solve
from neuralns.selection import policy_file
from neuralns.selection.learned_roulette import LearnedRoulette
from neuralns.selection.named import selector_named
from neuralns.selection.policy import DEFAULT_TEMPERATURE, PolicySelector
from neuralns.selection.policy_file import write_policy
from neuralns.selection.roulette import weights
from neuralns.selection.selector import BEST
from policies import constant_policy, wheel_policy

PORTFOLIO = "zone,pair,greedy,regret-2"


@pytest.fixture
def wheel(tmp_path: Path) -> str:
    """A file with a learned roulette."""
    write_policy(wheel_policy(PORTFOLIO, (1.0, 3.0, 2.0, 6.0)), tmp_path / "wheel.policy")
    return str(tmp_path / "wheel.policy")


@pytest.fixture
def network(tmp_path: Path) -> str:
    """A file with a network that always prefers the pair zone, regret-2."""
    write_policy(constant_policy(PORTFOLIO, (2.0, 1.0, 1.0, 2.0)), tmp_path / "network.policy")
    return str(tmp_path / "network.policy")


def test_names_give_selectors() -> None:
    assert selector_named("random") == Uniform()
    assert selector_named("roulette") == Roulette()
    assert selector_named("ucb") == AlphaUCB()
    assert selector_named("thompson") == Thompson()
    assert selector_named("fixed:pair, greedy") == Fixed("pair", "greedy")
    assert selector_named("fixed:pair,greedy").name == "fixed:pair,greedy"


@pytest.mark.parametrize("name", ["random", "roulette", "ucb", "thompson"])
def test_a_name_is_what_output_calls_the_selector(name: str) -> None:
    assert selector_named(name).name == name
    assert solve("E-n22-k4", MaxIterations(50), selector=name).selector == name


@pytest.mark.parametrize("name", ["nonsense", "fixed:", "fixed:pair", "fixed:a,b,c", "", "lrw:", "adaptive:"])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(InputError, match="selector"):
        selector_named(name)


def test_an_unknown_name_is_answered_by_the_choices() -> None:
    sentence = (
        "selector 'nonsense' is not known; choose random, roulette, ucb, thompson, fixed:DESTROY,REPAIR, a policy, "
        "or adaptive:FILE."
    )
    with pytest.raises(InputError, match=f"^{re.escape(sentence)}$"):
        selector_named("nonsense")


def test_a_learned_roulette_is_named_by_its_file(wheel: str) -> None:
    expected = LearnedRoulette(("zone", "pair", "greedy", "regret-2"), (1.0, 3.0, 2.0, 6.0), wheel)
    assert selector_named(wheel) == expected
    assert selector_named(f"lrw:{wheel}") == expected


def test_an_adaptive_wheel_starts_from_the_learned_weights_and_goes_on(wheel: str) -> None:
    selector = selector_named(f"adaptive:{wheel}")
    assert isinstance(selector, Roulette)
    assert selector.name == f"adaptive:{wheel}"
    memory = selector.start(portfolio_named(PORTFOLIO))
    assert weights(memory) == pytest.approx([6.5, 19.5, 6.5, 19.5])
    _, update = selector.functions()
    for _ in range(selector.segment):
        update(memory, 0, 1, BEST, 0.0)
    assert weights(memory) == pytest.approx([0.9 * 6.5 + 3.3, 19.5, 6.5, 0.9 * 19.5 + 3.3])


def test_an_adaptive_wheel_searches_by_its_name(wheel: str) -> None:
    result = solve("E-n22-k4", MaxIterations(100), selector=f"adaptive:{wheel}", portfolio=PORTFOLIO)
    assert result.selector == f"adaptive:{wheel}"
    # The weights change for the first time after 100 iterations.
    used = {use.name: use.used for use in result.operators}
    assert used["pair"] > 1.5 * used["zone"]
    with pytest.raises(InputError, match=r"wheel\.policy' was trained without operator 'cluster'"):
        solve("E-n22-k4", MaxIterations(1), selector=f"adaptive:{wheel}", portfolio="cluster,greedy")


def test_a_network_is_named_by_its_file(network: str) -> None:
    selector = selector_named(network)
    assert isinstance(selector, PolicySelector)
    assert (selector.name, selector.temperature, selector.every) == (network, DEFAULT_TEMPERATURE, 1)
    chosen = selector_named(network, temperature=0.5, every=3)
    assert isinstance(chosen, PolicySelector)
    assert (chosen.temperature, chosen.every) == (0.5, 3)
    greedy = selector_named(network, temperature=0.0)
    assert isinstance(greedy, PolicySelector)
    assert greedy.temperature == 0.0
    result = solve("E-n22-k4", MaxIterations(60), selector=greedy, portfolio=PORTFOLIO)
    assert {use.name: use.used for use in result.operators} == {"zone": 60, "pair": 0, "greedy": 0, "regret-2": 60}


@pytest.mark.parametrize("kind", ["lrw", "adaptive"])
def test_a_wheel_is_asked_for_where_there_is_none(kind: str, network: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"network\.policy: its weights do not fit its 4 operators\.$"):
        selector_named(f"{kind}:{network}")
    with pytest.raises(InputError, match=r"absent\.policy: no such file, and no bundled policy of that name"):
        selector_named(f"{kind}:{tmp_path / 'absent.policy'}")


def test_a_bundled_policy_is_named_by_its_name(wheel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy_file, "_FOLDER", Path(wheel).parent)
    selector = selector_named("wheel")
    assert isinstance(selector, LearnedRoulette)
    assert (selector.name, selector.weights) == ("wheel", (1.0, 3.0, 2.0, 6.0))
    assert selector_named("lrw:wheel") == selector
    assert isinstance(selector_named("adaptive:wheel"), Roulette)
