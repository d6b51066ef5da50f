"""Formats are told by content and by the file's name, and what is written is what is read."""

from __future__ import annotations

import math
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
        texts.FULL,
        Instance("Zürich", [0, 1], 1, [[-1e-7, 1e20], [2**60, 0.1]], [[0, 1], [2, 0]], "trunc"),
    ],
)
@pytest.mark.parametrize("suffix", [".json", ".vrp"])
def test_an_instance_comes_back_as_it_was_written(tmp_path: Path, instance: Instance, suffix: str) -> None:
    path = tmp_path / f"instance{suffix}"
    write_instance(instance, path)
    assert path.read_text().startswith("NAME" if suffix == ".vrp" else "{")
    assert_same(read_instance(path), instance)


@pytest.mark.parametrize("suffix", [".json", ".vrp"])
@pytest.mark.parametrize("part", ["windows", "vehicles"])
def test_what_is_ignored_in_a_file_is_left_out_of_the_instance(tmp_path: Path, suffix: str, part: str) -> None:
    path = tmp_path / f"instance{suffix}"
    for instance in (texts.FULL, read("C101")):
        write_instance(instance, path)
        assert_same(read_instance(path, ignore=[part]), instance.without(part))


FINITE = st.floats(-1e9, 1e9) | st.integers(-(10**9), 10**9).map(float)
POSITIVE = st.floats(0, 1e9)


@st.composite
def full_instances(draw: st.DrawFn) -> Instance:
    """Instances with any of the rules."""
    nodes = draw(st.integers(2, 5))

    def several(values: st.SearchStrategy[Any], count: int = nodes) -> st.SearchStrategy[list[Any]]:
        return st.lists(values, min_size=count, max_size=count)

    opens, closes = draw(st.tuples(FINITE, FINITE).map(sorted))
    inside = st.tuples(st.floats(opens, closes), st.floats(opens, closes) | st.just(math.inf)).map(sorted)
    matrices = several(several(POSITIVE))
    return Instance(
        draw(st.sampled_from(["drawn", "C101", "X-n5-k2"])),
        [0.0, *draw(several(POSITIVE, nodes - 1))],
        draw(st.floats(1e-3, 1e9)),
        draw(several(several(FINITE, 2))),
        draw(st.none() | matrices),
        draw(st.sampled_from(["none", "round", "trunc", "dimacs"])),
        draw(POSITIVE),
        windows=draw(st.none() | several(inside, nodes - 1).map(lambda rest: [[opens, closes], *rest])),
        service=draw(st.none() | several(POSITIVE, nodes - 1).map(lambda rest: [0.0, *rest])),
        durations=draw(st.none() | matrices),
        vehicles=draw(st.none() | st.integers(1, 10**6)),
        max_duration=draw(st.none() | POSITIVE),
        max_distance=draw(st.none() | POSITIVE),
        distance_cost=draw(st.just(1.0) | POSITIVE),
        duration_cost=draw(st.just(0.0) | POSITIVE),
        names=draw(st.none() | several(st.text(st.characters(categories=["L", "N", "P"]), max_size=5))),
    )


@settings(max_examples=200, deadline=None)
@given(full_instances())
def test_any_instance_comes_back_from_json(tmp_path_factory: pytest.TempPathFactory, instance: Instance) -> None:
    path = tmp_path_factory.getbasetemp() / "any.json"
    write_instance(instance, path)
    assert_same(read_instance(path), instance)


@settings(max_examples=200, deadline=None)
@given(full_instances())
def test_any_instance_that_vrplib_can_hold_comes_back(
    tmp_path_factory: pytest.TempPathFactory, instance: Instance
) -> None:
    windows = None if instance.windows is None else np.minimum(instance.windows, instance.latest[0])
    held = replace(instance, windows=windows, durations=None, distance_cost=1.0, duration_cost=0.0, names=None)
    path = tmp_path_factory.getbasetemp() / "any.vrp"
    write_instance(held, path)
    assert_same(read_instance(path), held)


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
