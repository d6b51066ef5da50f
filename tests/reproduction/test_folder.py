"""The folder of a reproduction: whose results it takes, and which tables it gets."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import chores
from neuralns import InputError
from neuralns.experiments.jobs import Done, Job
from neuralns.reproduction.folder import JOBS, REPORTS, TABLES, open_folder, write_tables
from neuralns.reproduction.plan import EXPERIMENTS, QUICK
from neuralns.reproduction.rounds import choose, main_jobs, tuning_jobs
from neuralns.reproduction.tables import Tables, make_tables
from results import HEADERS, contents


def made_up(experiments: Sequence[str]) -> Tables:
    """Tables of made-up results."""
    found = {job.name: chores.made_up(job.kind, job.settings) for job in tuning_jobs(experiments, QUICK)}
    choices, _ = choose(experiments, QUICK, found)
    found |= {job.name: chores.made_up(job.kind, job.settings) for job in main_jobs(experiments, QUICK, choices)}
    return make_tables(experiments, QUICK, found)


def test_a_folder_is_made_but_nothing_written_before_there_is_a_result(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    assert open_folder(folder, QUICK, True).done == {}
    assert list(folder.iterdir()) == []
    with open_folder(folder, QUICK, True):
        pass
    assert list(folder.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    for folder in (file, file / "inside"):
        with pytest.raises(InputError, match=rf"^{re.escape(str(folder))}: cannot be made a folder \(.+\)\.$"):
            open_folder(folder, QUICK, True)
    assert file.read_text() == "mine"


def test_results_under_other_conditions_are_refused_and_left_alone(tmp_path: Path) -> None:
    with open_folder(tmp_path, QUICK, True) as store:
        store.add(Job("dqn", {}), Done(1, 1.0, 1.0))
    before = contents(tmp_path)
    with pytest.raises(InputError, match="holds results with quick True, but now it is False"):
        open_folder(tmp_path, QUICK, False)
    with pytest.raises(InputError, match="holds results with seeds 2, but now it is 3"):
        open_folder(tmp_path, replace(QUICK, seeds=3), True)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("lines", [None, b""])
@pytest.mark.parametrize("name", [*TABLES, *REPORTS])
def test_tables_of_another_origin_are_refused_and_left_alone(tmp_path: Path, name: str, lines: bytes | None) -> None:
    (tmp_path / name).write_text("mine")
    if lines is not None:
        (tmp_path / JOBS).write_bytes(lines)
    before = contents(tmp_path)
    sentence = f"{tmp_path / name}: is there, but not the results in jobs.jsonl that it would be made from"
    with pytest.raises(InputError, match=f"^{re.escape(sentence)}"):
        open_folder(tmp_path, QUICK, True)
    assert contents(tmp_path) == before


def test_tables_are_files_with_a_line_for_each_row(tmp_path: Path) -> None:
    tables = made_up(EXPERIMENTS)
    assert write_tables(tables, tmp_path) == [tmp_path / name for name in TABLES]
    assert set(TABLES) == set(HEADERS)
    for name, header in HEADERS.items():
        lines = (tmp_path / name).read_text().splitlines()
        assert lines[0] == header
        rows = getattr(tables, name.removesuffix(".csv"))
        parsed = list(csv.DictReader(lines))
        assert [list(row.values()) for row in parsed] == [[str(value) for value in vars(row).values()] for row in rows]


def test_only_the_tables_that_were_asked_for_are_written(tmp_path: Path) -> None:
    assert write_tables(made_up(("scale",)), tmp_path) == [tmp_path / "scale.csv", tmp_path / "tuning.csv"]
    before = contents(tmp_path)["scale.csv"]
    assert tmp_path / "table1.csv" in write_tables(made_up(("table1",)), tmp_path)
    assert contents(tmp_path)["scale.csv"] == before
