"""Python files of users."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from neuralns import InputError
from neuralns.operators.own_file import run_python_file


def test_files_of_one_name_are_modules_apart(tmp_path: Path) -> None:
    found = []
    for folder, value in (("a", 1), ("b", 2)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.py").write_text(f"value = {value}")
        found.append(run_python_file(tmp_path / folder / "mine.py"))
    assert [module.value for module in found] == [1, 2]


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("mine.py", "1 / 0", r"mine\.py: fails when run \(ZeroDivisionError: division by zero\)\.$"),
        ("mine.py", "def", r"mine\.py: fails when run \(SyntaxError: "),
        ("mine.txt", "", r"mine\.txt: is not a Python file\.$"),
        ("absent.py", None, r"absent\.py: cannot be read \(no such file\)\.$"),
    ],
)
def test_a_file_that_does_not_run_is_refused(tmp_path: Path, name: str, content: str | None, sentence: str) -> None:
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=sentence):
        run_python_file(tmp_path / name)


def test_a_file_can_import_the_modules_beside_it_as_they_are_now(tmp_path: Path) -> None:
    """Also after an edit, and where another folder has a module of the same name."""
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.py").write_text("from beside_mine import value")
    found = []
    for folder, value in (("a", 1), ("b", 2), ("a", 333)):
        (tmp_path / folder / "beside_mine.py").write_text(f"value = {value}")
        found.append(run_python_file(tmp_path / folder / "mine.py").value)
    assert found == [1, 2, 333]
    assert str(tmp_path / "a") not in sys.path


def test_an_edit_in_the_same_second_and_of_the_same_size_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    found = []
    for value in (1, 2):
        (tmp_path / "mine.py").write_text(f"import beside_mine\nvalue = {value}")
        (tmp_path / "beside_mine.py").write_text(f"value = {value}")
        for name in ("mine.py", "beside_mine.py"):
            os.utime(tmp_path / name, (1, 1))
        found.append(run_python_file(tmp_path / "mine.py"))
    assert [(module.value, module.beside_mine.value) for module in found] == [(1, 1), (2, 2)]
