"""A constant setting of dials, and its file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import neuralns
from neuralns import InputError, MaxIterations
from neuralns.operators.portfolio import portfolio_named
from neuralns.selection.constant import Constant, read_setting, write_setting
from neuralns.selection.dials import Dials

CARD: dict[str, Any] = {
    "portfolio": "tuned",
    "operators": ["string", "random-node", "greedy", "2-opt-star"],
    "dials": {"random-node": -9, "scale": -1.0},
}


def written(folder: Path, card: Any) -> str:
    path = folder / "mine.setting"
    path.write_text(card if isinstance(card, str) else json.dumps(card))
    return str(path)


def test_a_search_keeps_to_it(tmp_path: Path) -> None:
    result = neuralns.solve("E-n22-k4", MaxIterations(500), selector=written(tmp_path, CARD))
    uses = {use.name: use.used for use in result.operators}
    assert uses["string"] == uses["greedy"] == 500
    assert uses["random-node"] == 0
    assert result.selector.endswith("mine.setting")


def test_dials_at_0_are_uniform_selection() -> None:
    portfolio = portfolio_named("string,random-node,greedy,regret-2")
    constant = Constant(portfolio, tuple(Dials(portfolio).row({})))
    result = neuralns.solve("E-n22-k4", MaxIterations(4000), selector=constant)
    for use in result.operators:
        assert use.used == pytest.approx(2000, rel=0.1)


@pytest.mark.parametrize(
    ("card", "sentence"),
    [
        ("[1", "is not a file of settings"),
        ({"operators": ["string", "greedy"]}, r"is not a file of settings \(KeyError: 'dials'\)"),
        ({**CARD, "operators": ["strings"]}, "operator 'strings' is not known"),
        ({**CARD, "dials": {"nothing": 1}}, "is not a file of settings"),
        ({**CARD, "dials": {"scale": "x"}}, "is not a file of settings"),
        ({**CARD, "dials": {"scale": "1"}}, r"is not a file of settings \(TypeError: '1' is of the wrong kind\)"),
        ({**CARD, "dials": {"scale": True}}, "is not a file of settings"),
        ({**CARD, "dials": ["scale"]}, "is not a file of settings"),
        ({**CARD, "operators": "string,greedy"}, "is not a file of settings"),
        ({**CARD, "operators": ["string", 1]}, "is not a file of settings"),
        ({**CARD, "portfolio": 7}, "is not a file of settings"),
        ({**CARD, "card": "tuned"}, "is not a file of settings"),
        ({**CARD, "card": {"instances": "E-n22-k4"}}, "is not a file of settings"),
        ({**CARD, "card": {"instances": [7]}}, "is not a file of settings"),
        ({**CARD, "dials": {"scale": 1e999}}, "a dial is turned to a number that is not finite"),
    ],
)
def test_a_file_that_is_no_setting_is_refused(tmp_path: Path, card: Any, sentence: str) -> None:
    path = written(tmp_path, card)
    with pytest.raises(InputError, match=rf"^{path}: {sentence}"):
        read_setting(path)


def test_what_is_written_is_read_again_and_what_a_card_says_besides_does_not_matter(tmp_path: Path) -> None:
    portfolio = portfolio_named("string,random-node,greedy")
    path = str(tmp_path / "mine.setting")
    constant = Constant(portfolio, tuple(Dials(portfolio).row({"random-node": -0.1234, "end heat": 2})), path)
    write_setting(constant, path, {"neuralns": "9.9", "gain": {"default": None}})
    assert read_setting(path) == constant
    assert json.loads(Path(path).read_text()) == {
        "portfolio": "string,random-node,greedy",
        "operators": ["string", "random-node", "greedy"],
        "dials": {"random-node": -0.1234, "end heat": 2},
        "card": {"neuralns": "9.9", "gain": {"default": None}},
    }
    with pytest.raises(InputError, match="cannot be written"):
        write_setting(constant, str(tmp_path / "absent" / "mine.setting"), {})


def test_it_names_the_instances_that_it_was_tuned_on(tmp_path: Path) -> None:
    tuned = read_setting(written(tmp_path, {**CARD, "card": {"instances": ["E-n22-k4", "P-n16-k8"]}}))
    assert tuned.trained_on() == ("E-n22-k4", "P-n16-k8")
    assert read_setting(written(tmp_path, CARD)).trained_on() == ()


def test_dials_go_by_the_names_of_operators_not_by_their_order(tmp_path: Path) -> None:
    path = written(tmp_path, {"operators": ["random-node", "string", "greedy"], "dials": {"random-node": -9}})
    result = neuralns.solve("E-n22-k4", MaxIterations(100), selector=path, portfolio="string,random-node,greedy")
    assert {use.name: use.used for use in result.operators} == {"string": 100, "random-node": 0, "greedy": 100}


def test_another_portfolio_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"sets dials of string, .*; portfolio 'plain' has string, blinks, "):
        neuralns.solve("E-n22-k4", MaxIterations(9), selector=written(tmp_path, CARD), portfolio="plain")


def test_a_file_that_is_not_there_is_named_once(tmp_path: Path) -> None:
    path = tmp_path / "nothing.setting"
    with pytest.raises(InputError, match=rf"^{path}: cannot be read \(No such file or directory\)\.$"):
        read_setting(path)
