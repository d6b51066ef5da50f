"""Formats are told by content and by the file's name, and what is written is what is read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import texts
from neuralns import InputError, Instance, Solution, read, read_solution, write_instance, write_solution
from neuralns.problem.formats.detect import read_instance
from texts import assert_same, written

ONE_WAY = [[0, 1, 2, 3], [4, 0, 5, 6], [7, 8, 0, 9], [10, 11, 12, 0]]


@pytest.mark.parametrize(
    "instance",
    [
        texts.TINY,
        Instance("one-way", [0, 0.1, 1 / 3, 2], 2.5, matrix=ONE_WAY, rounding="dimacs", vehicle_cost=100),
        Instance("Zürich", [0, 1], 1, [[-1e-7, 1e20], [2**60, 0.1]], [[0, 1], [2, 0]], "trunc"),
    ],
)
@pytest.mark.parametrize("suffix", [".json", ".vrp"])
def test_an_instance_comes_back_as_it_was_written(tmp_path: Path, instance: Instance, suffix: str) -> None:
    path = tmp_path / f"instance{suffix}"
    write_instance(instance, path)
    assert path.read_text().startswith("NAME" if suffix == ".vrp" else "{")
    assert_same(read_instance(path), instance)


@pytest.mark.parametrize("name", ["out.sol", "out.json", "OUT.SOL"])
@pytest.mark.parametrize("routes", [[[1, 2], [3]], [[3, 1], [2]], []])
def test_routes_come_back_as_they_were_written(tmp_path: Path, name: str, routes: list[list[int]]) -> None:
    solution = Solution(texts.TINY, routes)
    if routes or name == "out.json":
        write_solution(solution, tmp_path / name)
        assert read_solution(texts.TINY, tmp_path / name).routes == solution.routes


@pytest.mark.parametrize("name", ["a.vrp", "a.json", "a.txt", "a"])
@pytest.mark.parametrize("kind", texts.INSTANCES)
def test_an_instance_is_told_by_its_content_whatever_the_name(tmp_path: Path, kind: str, name: str) -> None:
    assert read_instance(written(tmp_path, texts.INSTANCES[kind], name)).customers == 3


@pytest.mark.parametrize("name", ["a.sol", "a.json", "a.txt", "a"])
@pytest.mark.parametrize("kind", texts.SOLUTIONS)
def test_a_solution_is_told_by_its_content_whatever_the_name(tmp_path: Path, kind: str, name: str) -> None:
    assert read_solution(texts.TINY, written(tmp_path, texts.SOLUTIONS[kind], name)) == texts.SERVED


@pytest.mark.parametrize("name", ["tiny.txt", "tiny", "tiny.sol.gz"])
def test_a_name_that_says_no_format_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=rf"{name}: the file name must end with \.vrp or \.json\.$"):
        write_instance(texts.TINY, tmp_path / name)
    with pytest.raises(InputError, match=rf"{name}: the file name must end with \.sol or \.json or \.csv\.$"):
        write_solution(texts.SERVED, tmp_path / name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_pipes_and_devices_are_refused_as_input(tmp_path: Path, kind: str) -> None:
    path = Path("/dev/zero") if kind == "device" else tmp_path / "pipe"
    if kind == "pipe":
        os.mkfifo(path)
    for reading in (read, read_instance, lambda path: read_solution(texts.TINY, path)):
        with pytest.raises(InputError, match=rf"{path}: cannot be read \(it is a pipe or a device, not a file\)\.$"):
            reading(path)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("missing.vrp", r"missing\.vrp: cannot be read \(No such file or directory\)\."),
        (".", r"cannot be read \(Is a directory\)\."),
        ("a" * 300 + ".vrp", r"cannot be read \(File name too long\)\."),
    ],
)
def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, name: str, sentence: str) -> None:
    for reading in (read, read_instance, lambda path: read_solution(texts.TINY, path)):
        with pytest.raises(InputError, match=sentence):
            reading(tmp_path / name)
