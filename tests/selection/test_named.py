"""Selectors by name."""

import pytest

from neuralns import Fixed, InputError, Roulette, Uniform
from neuralns.selection.named import selector_named


def test_names_give_selectors() -> None:
    assert isinstance(selector_named("random"), Uniform)
    assert isinstance(selector_named("roulette"), Roulette)
    assert selector_named("fixed:pair, greedy") == Fixed("pair", "greedy")
    assert selector_named("fixed:pair,greedy").name == "fixed:pair,greedy"


@pytest.mark.parametrize("name", ["nonsense", "fixed:", "fixed:pair", "fixed:a,b,c", ""])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(InputError, match="selector"):
        selector_named(name)
