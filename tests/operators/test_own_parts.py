"""What a user's file holds of one kind is found, or refused in a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from neuralns import InputError
from neuralns.operators.own_parts import load_function


class Thing:
    """A kind of thing."""


def test_functions_of_a_file_are_found_by_name(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("from math import sqrt\ndef _no(x): pass\ndef one(x): return 1\n")
    path = str(tmp_path / "mine.py")
    assert load_function(path, "", Thing, "rule", "write one").__name__ == "one"  # type: ignore[union-attr]
    with pytest.raises(InputError, match=r"mine\.py: holds no rule 'two' \(its rules: one\)\.$"):
        load_function(path, "two", Thing, "rule", "write one")
    (tmp_path / "mine.py").write_text("def one(x): return 1\ndef two(x): return 2\n")
    with pytest.raises(InputError, match=r"holds several rules \(one, two\); name one, such as .*mine\.py:one\.$"):
        load_function(path, "", Thing, "rule", "write one")
    assert load_function(path, "two", Thing, "rule", "write one")(0) == 2  # type: ignore[operator]
    (tmp_path / "mine.py").write_text("x = 1\n")
    with pytest.raises(InputError, match=r"mine\.py: holds no rule \(write one\)\.$"):
        load_function(path, "", Thing, "rule", "write one")
