"""Writes happen at once or not at all; a path that cannot be written is refused before any work."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

import texts
from neuralns import InputError, write_instance, write_solution
from neuralns.files import check_writable, write_text
from texts import written


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        (".", r"is a folder, not a file\."),
        ("missing/out.sol", r"out\.sol: folder .*missing does not exist\."),
    ],
)
def test_a_path_that_cannot_be_written_is_refused_before_any_work(tmp_path: Path, name: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        check_writable(tmp_path / name)


def test_a_folder_without_permission_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(InputError, match=r"cannot be written to\."):
        check_writable(tmp_path / "out.sol")


@pytest.mark.parametrize(
    "writing",
    [
        lambda path: write_text(path, "new"),
        lambda path: write_instance(texts.TINY, path),
        lambda path: write_solution(texts.SERVED, path),
    ],
    ids=["text", "instance", "solution"],
)
@pytest.mark.parametrize("failing", ["chmod", "replace"])
@pytest.mark.parametrize(
    ("failure", "raised"),
    [(OSError(28, "No space left on device"), InputError), (KeyboardInterrupt(), KeyboardInterrupt)],
)
def test_a_failed_write_leaves_the_old_file_and_nothing_else(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    writing: Callable[[Path], None],
    failing: str,
    failure: BaseException,
    raised: type[BaseException],
) -> None:
    def fail(*arguments: object) -> None:
        raise failure

    path = written(tmp_path, "old", "out.json")
    monkeypatch.setattr(os, failing, fail)
    with pytest.raises(raised):
        writing(path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["out.json"]


@pytest.mark.parametrize("name", [".", "missing/out.sol", "a" * 300])
def test_a_write_to_where_none_is_possible_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=r"cannot be written \(.*\)\.$"):
        write_text(tmp_path / name, "new")
    assert os.listdir(tmp_path) == []


def test_a_written_file_has_the_usual_permissions(tmp_path: Path) -> None:
    usual = written(tmp_path, "", "usual")
    write_text(tmp_path / "ours", "text")
    assert stat.S_IMODE((tmp_path / "ours").stat().st_mode) == stat.S_IMODE(usual.stat().st_mode)


def test_the_target_of_a_link_is_written(tmp_path: Path) -> None:
    target = written(tmp_path, "old", "run-1.sol")
    link = tmp_path / "latest.sol"
    link.symlink_to(target)
    write_text(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        check_writable(pipe)
        write_text(pipe, "new")
        assert os.read(reader, 10) == b"new"
    finally:
        os.close(reader)
