"""Writes happen at once or not at all; a path that cannot be written is refused before any work."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

import texts
from neuralns import InputError, InputWarning, files, write_instance, write_solution
from neuralns.files import check_writable, fill_name, write_or_rescue, write_text
from texts import written


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        (".", r"is a folder, not a file\."),
        ("missing/out.sol", r"out\.sol: folder .*missing does not exist\."),
        ("a" * 300, r"cannot be written \(File name too long\)\."),
        ("a\0b", r"cannot be written \(.*null.*\)\."),
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


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666])
def test_a_file_that_was_there_keeps_its_permissions(tmp_path: Path, mode: int) -> None:
    path = written(tmp_path, "old", "out.sol")
    path.chmod(mode)
    write_text(path, "new")
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_the_mask_of_the_process_is_never_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Another thread could create a file meanwhile.
    monkeypatch.delattr(os, "umask")
    write_text(tmp_path / "out.sol", "new")


def test_what_a_killed_process_left_is_deleted_and_what_is_being_written_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = """
import os, signal, sys
from neuralns import files
os.replace = lambda *arguments: os.kill(os.getpid(), signal.SIGKILL)
files.write_text(sys.argv[1], "new")
"""
    subprocess.run([sys.executable, "-c", program, str(tmp_path / "out.sol")], check=False)
    [left] = os.listdir(tmp_path)
    own = written(tmp_path, "", left.replace(left.split("-")[2], str(os.getpid())))
    monkeypatch.setattr(files, "_swept", set())
    write_text(tmp_path / "out.sol", "new")
    assert sorted(os.listdir(tmp_path)) == sorted([own.name, "out.sol"])


@pytest.mark.parametrize(
    ("name", "filled"),
    [
        ("X-n101-k25", "out/X-n101-k25.sol"),
        ("R101 (paper)", "out/R101 (paper).sol"),
        ("../../etc/passwd", "out/.._.._etc_passwd.sol"),
        ("..", "out/__.sol"),
        ("a\\b", "out/a_b.sol"),
        ("a\0b\x1b", "out/a_b_.sol"),
    ],
)
def test_a_name_stays_one_part_of_the_path(name: str, filled: str) -> None:
    assert fill_name("out/{name}.sol", name) == filled


def test_what_cannot_be_written_is_kept_in_the_folder_of_temporary_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.warns(InputWarning, match=r"out\.sol: cannot be written \(No such file or directory\); it is in .*\.$"):
        place = write_or_rescue(lambda path: write_text(path, "routes"), tmp_path / "gone" / "out.sol")
    assert Path(place).read_text() == "routes"
    assert place.endswith("/out.sol")


def test_what_can_be_written_nowhere_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    with pytest.raises(InputError, match=r"out\.sol: cannot be written \(.*\), nor can anything in .*gone\.$"):
        write_or_rescue(lambda path: write_text(path, "routes"), tmp_path / "gone" / "out.sol")
