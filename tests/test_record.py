"""The engine gives what it gave: the same routes, episodes and trainings as recorded (see ``record.py``)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from record import FILE, cases, machine

RECORD: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))


def test_every_case_is_recorded() -> None:
    assert list(RECORD["entries"]) == list(cases())


@pytest.mark.filterwarnings("ignore:selector .* changes its weights:neuralns.errors.InputWarning")
@pytest.mark.parametrize("name", RECORD["entries"])
def test_the_engine_gives_what_it_gave(name: str) -> None:
    found, known = cases()[name](), RECORD["entries"][name]
    assert found["figure"] == pytest.approx(known["figure"], rel=1e-5)
    if not name.startswith("training") or machine() == RECORD["machine"]:
        assert found["digest"] == known["digest"]
