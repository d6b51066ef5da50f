"""The fuzzers in short, and every input that ever failed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from fuzz import forms
from fuzz.drivers import DRIVERS, check, close, run
from fuzz.outside import complaints, cost
from neuralns import Instance

KEPT = sorted(path for path in (Path(__file__).parent / "data").iterdir() if path.name != "README.md")
LONG = {
    "results": forms.table_text("solver").replace("tiny", "9" * 200_000, 1),
    "solution-json": '{"a": ' + "[" * 100_000,
}
"""Inputs of the same kind that are too long to keep as files."""
SQUARE = Instance("square", [0, 1, 1, 1], 2, coordinates=[[0, 0], [0, 3], [4, 3], [4, 0]])


@pytest.fixture(scope="module", autouse=True)
def _closed() -> Iterator[None]:
    yield
    close()


@pytest.mark.parametrize("name", DRIVERS)
def test_inputs_are_taken_or_refused(name: str, tmp_path: Path) -> None:
    for seed in range(DRIVERS[name].quick):
        run(name, seed, tmp_path / "input")


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.name)
def test_what_failed_once_fails_no_more(path: Path, tmp_path: Path) -> None:
    check(path.name.rpartition("-")[0], path.read_bytes(), tmp_path / "input")


@pytest.mark.parametrize("name", LONG)
def test_what_failed_once_by_its_length_fails_no_more(name: str, tmp_path: Path) -> None:
    check(name, LONG[name].encode(), tmp_path / "input")


def test_inputs_are_kept_for_each_kind_of_file() -> None:
    assert {path.name.partition("-")[0] for path in KEPT} >= {"instance", "solution", "policy", "results"}


@pytest.mark.parametrize("name", DRIVERS)
def test_the_same_seed_gives_the_same_input(name: str) -> None:
    assert DRIVERS[name].make(np.random.default_rng(3)) == DRIVERS[name].make(np.random.default_rng(3))


def test_the_outside_checker_sees_each_kind_of_fault() -> None:
    assert complaints(SQUARE, [[1, 2], [3]]) == []
    assert complaints(SQUARE, [[1, 2]], missing=[3]) == []
    assert len(complaints(SQUARE, [[1, 2, 3]])) == 1
    for routes in ([[1, 2]], [[1, 2], [3, 3]], [[1, 2], [4]], [[1, 2], [3], []]):
        assert len(complaints(SQUARE, routes)) == 1
    assert cost(SQUARE, [[1, 2], [3]]) == 20.0
