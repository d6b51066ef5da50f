"""Sentences that several refusals share."""

from __future__ import annotations

from pathlib import Path

import neuralns
from neuralns.errors import how_to_install


def test_the_command_to_install_an_extra_works_without_an_index() -> None:
    assert how_to_install("train") == "pip install '.[train]' in the project's folder"
    assert how_to_install("train", "plot") == "pip install '.[train,plot]' in the project's folder"


def test_no_sentence_names_another_way_to_install() -> None:
    for path in Path(neuralns.__file__).parent.rglob("*.py"):
        if path.name != "errors.py":
            assert "pip install" not in path.read_text(encoding="utf-8"), path
