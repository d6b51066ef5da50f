"""Selectors by name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from helpers import WASTEFUL
from neuralns import (
    AlphaUCB,
    Fixed,
    InputError,
    MaxIterations,
    Roulette,
    Thompson,
    Uniform,
    compare,
    evaluate,
    make_mdp,
    make_portfolio,
    portfolio_named,
    solve,
)
from neuralns.mdp.evaluate import SelectorAgent, agent_named
from neuralns.selection import policy_file
from neuralns.selection.learned_roulette import LearnedRoulette
from neuralns.selection.names import selector_named, split_names
from neuralns.selection.policy import DEFAULT_TEMPERATURE, PolicySelector
from neuralns.selection.policy_file import write_policy
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


@pytest.mark.filterwarnings("ignore:selector .* changes its weights:neuralns.errors.InputWarning")
@pytest.mark.parametrize("name", ["random", "roulette", "ucb", "thompson"])
def test_a_name_is_what_output_calls_the_selector(name: str) -> None:
    assert selector_named(name).name == name
    assert solve("E-n22-k4", MaxIterations(50), selector=name).selector == name


@pytest.mark.parametrize("name", ["nonsense", "fixed:", "fixed:pair", "fixed:a,b,c", "", "lrw:", "adaptive:"])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(InputError, match="selector"):
        selector_named(name)


def test_a_name_gives_the_wheel_its_parameters() -> None:
    name = "roulette:segment=10:reaction=0.5"
    assert selector_named(name) == Roulette(segment=10, reaction=0.5, name=name)
    assert selector_named("roulette:reaction=0.9") == Roulette(reaction=0.9, name="roulette:reaction=0.9")
    assert split_names(f"random,{name}") == ["random", name]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("roulette:scale=2", "no parameter 'scale' (its parameters: segment, reaction)."),
        ("roulette:segment=2.5", "'segment=2.5' does not give a whole number, such as segment=1."),
        ("roulette:reaction", "'reaction' does not give a number, such as reaction=1."),
        ("roulette:reaction=nan", "'reaction=nan' does not give a number, such as reaction=1."),
    ],
)
def test_parameters_that_a_wheel_cannot_take_are_refused(name: str, sentence: str) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(f'selector {name!r}: {sentence}')}$"):
        selector_named(name)
    with pytest.raises(InputError, match=r"^roulette segment 0 must be at least 1\.$"):
        selector_named("roulette:segment=0")


def test_an_unknown_name_is_answered_by_the_choices() -> None:
    sentence = (
        "selector 'nonsense' is not known; choose random, roulette, ucb, thompson, gain, timed-roulette, intensity, "
        "auto, best-fixed, fixed:DESTROY,REPAIR, a policy, lrw:FILE, adaptive:FILE, FILE.setting or FILE.py."
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
    assert memory.weights == pytest.approx([6.5, 19.5, 6.5, 19.5])
    _, update = selector.functions()
    for _ in range(selector.segment):
        update(memory, 0, 1, BEST, 0.0)
    assert memory.weights == pytest.approx([0.9 * 6.5 + 3.3, 19.5, 6.5, 0.9 * 19.5 + 3.3])


@pytest.mark.filterwarnings("ignore:selector .* changes its weights:neuralns.errors.InputWarning")
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


# --- Selectors in files of one's own. --------------------------------------------------------------------------------

OWN = """
from neuralns import PythonSelector, Selector, Uniform
from neuralns.compiled.structs import whole


class Last(Selector):
    name = "last"
    fields = {"destroys": whole, "repairs": whole}

    def start(self, portfolio, customers=1):
        return self.new_memory(destroys=len(portfolio.destroys), repairs=len(portfolio.repairs))

    @staticmethod
    def choose(memory, state, phase):
        return (memory.destroys if phase == 0 else memory.repairs) - 1
"""
SECOND = """

class Second(Last):
    name = "second"
"""
CHOSEN = """

class Cycle:
    def choose(self, situation):
        return situation.destroys[0], situation.repairs[0]

    def update(self, outcome):
        pass


first = PythonSelector(Cycle(), every=10, name="first")
"""


def own(tmp_path: Path, text: str = OWN, name: str = "mine.py") -> str:
    (tmp_path / name).write_text(text)
    return str(tmp_path / name)


def test_a_python_file_with_a_class_of_selectors_is_a_selector(tmp_path: Path) -> None:
    file = own(tmp_path)
    assert selector_named(file).name == "last"
    result = solve("E-n22-k4", MaxIterations(30), selector=file, portfolio=PORTFOLIO)
    assert {use.name: use.used for use in result.operators} == {"zone": 0, "pair": 30, "greedy": 0, "regret-2": 30}
    assert evaluate(MDP_OF_FOUR, file, episodes=4, seeds=1).shares["pair"] == 1.0


def test_one_of_several_selectors_of_a_file_is_named(tmp_path: Path) -> None:
    file = own(tmp_path, OWN + SECOND)
    assert selector_named(f"{file}:Second").name == "second"
    assert selector_named(f"{file}:Last").name == "last"
    with pytest.raises(
        InputError, match=r"mine\.py: holds several selectors \(Last, Second\); name one, such as .*:Last\.$"
    ):
        selector_named(file)
    with pytest.raises(InputError, match=r"mine\.py: holds no selector 'Third' \(its selectors: Last, Second\)\.$"):
        selector_named(f"{file}:Third")


def test_an_instance_in_a_file_comes_before_classes(tmp_path: Path) -> None:
    file = own(tmp_path, OWN + CHOSEN)
    assert selector_named(file).name == "first"
    assert selector_named(f"{file}:first").name == "first"
    assert selector_named(f"{file}:Last").name == "last"
    found = compare(["E-n22-k4"], f"random,{file},{file}:Last", MaxIterations(20), 1, PORTFOLIO)
    assert [run.selector for run in found.runs][:3] == ["random", file, f"{file}:Last"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, r"mine\.py: cannot be read \(no such file\)\.$"),
        ("from neuralns import Uniform", r"mine\.py: holds no selector \(write a subclass of neuralns\.Selector"),
        ("1 / 0", r"mine\.py: fails when run \(ZeroDivisionError: division by zero\)\.$"),
        (f"{OWN}\n    def __init__(self, rate):\n        pass\n", r"mine\.py: selector 'Last' cannot be made without"),
    ],
)
def test_a_file_without_a_selector_is_refused(tmp_path: Path, text: str | None, said: str) -> None:
    if text is not None:
        own(tmp_path, text)
    with pytest.raises(InputError, match=said):
        selector_named(str(tmp_path / "mine.py"))


# --- The same name means the same everywhere. ------------------------------------------------------------------------


def test_lists_of_names_are_parted_by_commas_but_not_by_those_of_a_pair() -> None:
    assert split_names("random,roulette") == ["random", "roulette"]
    assert split_names(" random , fixed:zone,greedy ,ucb,") == ["random", "fixed:zone,greedy", "ucb"]
    assert split_names("fixed:zone/greedy,fixed:pair,greedy") == ["fixed:zone/greedy", "fixed:pair,greedy"]
    assert split_names("") == []
    assert selector_named("fixed:zone/greedy") == selector_named("fixed:zone,greedy") == Fixed("zone", "greedy")


def test_a_temperature_may_stand_behind_a_policy(network: str) -> None:
    for name, temperature in ((f"{network}@0.5", 0.5), (f"{network}@0", 0.0), (f"{network}@1e3", 1000.0)):
        selector = selector_named(name, temperature=7.0, every=2)
        assert isinstance(selector, PolicySelector)
        assert (selector.name, selector.temperature, selector.every) == (name, temperature, 2)
    with pytest.raises(InputError, match=r"network\.policy@warm': temperature 'warm' is not a number\.$"):
        selector_named(f"{network}@warm")


@pytest.mark.parametrize(
    ("name", "given", "sentence"),
    [
        ("controller@0.5", {}, "controller@0.5: is a controller, which has no temperature; leave 0.5 out."),
        ("controller", {"temperature": 0.1}, "controller: is a controller, which has no temperature; leave 0.1 out."),
        ("controller", {"every": 10}, "controller: is a controller, which decides between segments, not every 10 iter"),
    ],
)
def test_what_a_controller_cannot_be_told_is_refused(name: str, given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(sentence)}"):
        selector_named(name, **given)
    # Greedy, as policies are in episodes, is what it is.
    assert selector_named("controller").name == selector_named("controller", 0.0, 1).name == "controller"


def test_what_is_wrong_with_a_policy_is_said_with_a_temperature_behind_it_as_well(network: str) -> None:
    with pytest.raises(InputError, match=r"^temperature -1\.0 must be at least 0\.$"):
        selector_named(f"{network}@-1")
    Path(network).write_bytes(b"nonsense")
    with pytest.raises(InputError, match=r"network\.policy: is not a policy file, or is damaged"):
        selector_named(f"{network}@0.5")


def test_a_file_with_a_sign_in_its_name_is_a_file(network: str) -> None:
    path = Path(network).rename(Path(network).with_name("at@0.5"))
    selector = selector_named(str(path), temperature=2.0)
    assert isinstance(selector, PolicySelector)
    assert (selector.name, selector.temperature) == (str(path), 2.0)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("best-fixed", "selector 'best-fixed' is found by trials, for which there is nothing to try it on here."),
        (
            "lrw",
            "selector 'lrw' is trained on episodes; train it by 'neuralns train --network lrw' and give lrw:FILE.",
        ),
        ("oracle", "selector 'oracle' plays episodes of the MDP only ('neuralns evaluate')."),
    ],
)
def test_what_has_to_be_found_first_is_refused_where_it_cannot_be(name: str, sentence: str) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(sentence)}$"):
        selector_named(name)


def test_what_has_to_be_found_first_is_found_where_it_can_be() -> None:
    pair, wheel = Fixed("zone", "greedy"), LearnedRoulette(("zone", "greedy"), (1.0, 1.0))
    assert selector_named("best-fixed", best_fixed=lambda: pair) is pair
    assert selector_named("lrw", learned_wheel=lambda: wheel) is wheel


MDP_OF_FOUR = make_mdp("R101", customers=20, portfolio=PORTFOLIO, budget=3)


def plain(selector: Any) -> Any:
    """A selector by what it does: policies are told apart by their files and temperatures."""
    if isinstance(selector, PolicySelector):
        return selector.name, selector.temperature, selector.every, selector.made_for()
    return selector


@pytest.mark.filterwarnings("ignore:selector .* changes its weights:neuralns.errors.InputWarning")
def test_a_name_means_the_same_for_searches_and_episodes(network: str, wheel: str) -> None:
    for name in (
        "auto", "random", "roulette", "ucb", "thompson", "fixed:zone,greedy", "fixed:pair/regret-2", wheel,
        f"lrw:{wheel}", f"adaptive:{wheel}", f"{network}@0.25",
    ):  # fmt: skip
        agent = agent_named(name, MDP_OF_FOUR)
        assert isinstance(agent, SelectorAgent)
        assert plain(agent.selector_for(3)) == plain(selector_named(name))
        result = solve("E-n22-k4", MaxIterations(3), selector=name, portfolio=PORTFOLIO)
        assert result.selector == selector_named(name).name


def test_a_policy_without_a_temperature_is_greedy_in_episodes_only(network: str) -> None:
    found: list[Any] = [agent_named(network, MDP_OF_FOUR, *options) for options in ((), (None,), (0.5,))]
    assert [agent.selector_for(0).temperature for agent in found] == [0.0, DEFAULT_TEMPERATURE, 0.5]


def test_compared_selectors_are_those_of_their_names(wheel: str) -> None:
    names = f"random,fixed:zone,greedy,lrw:{wheel}"
    found = compare(["E-n22-k4"], names, MaxIterations(60), [4], PORTFOLIO)
    *runs, plain = found.runs
    for run in runs:
        result = solve("E-n22-k4", MaxIterations(60), selector=run.selector, portfolio=PORTFOLIO, seed=4)
        assert run.cost == result.cost
    assert [run.selector for run in runs] == split_names(names)
    assert plain.selector == "solve"


def test_the_name_of_a_learned_wheel_is_the_file_or_lrw_and_the_file(wheel: str) -> None:
    starts = MDP_OF_FOUR.start_tours("test", 4)
    found = [evaluate(MDP_OF_FOUR, name, tours=starts, seeds=1).finals.tolist() for name in (wheel, f"lrw:{wheel}")]
    assert found[0] == found[1]


def test_the_best_fixed_pair_is_found_by_trials_in_a_search() -> None:
    # A route costs as much as 100 of distance: what gives each customer a route of its own is the worst.
    instance = MDP_OF_FOUR.instance
    portfolio = make_portfolio("own", ["random-node", WASTEFUL, "greedy"])
    result = solve(instance, MaxIterations(400), selector="best-fixed", portfolio=portfolio, initial="random")
    assert result.selector == "fixed:random-node,greedy"
    used = {use.name: use.used for use in result.operators}
    # A fifth of the iterations went to trials.
    assert used == {"random-node": 320, "wasteful": 0, "greedy": 320}
    assert result.iterations == 320
