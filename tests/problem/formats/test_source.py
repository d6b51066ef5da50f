"""Sources of instances: read once, told apart once."""

from __future__ import annotations

from pathlib import Path

import pytest

import texts
from commands import invoke
from neuralns import InputError
from neuralns.problem.bundled import find_source
from neuralns.problem.formats import detect
from neuralns.problem.formats.source import read_instance, read_source
from texts import assert_same, written

STOPS = "name,x,y,delivery,capacity\ndepot,0,0,,10\na,3,4,5,\nb,6,8,5,\n"
VROOM = (
    '{"vehicles": [{"id": 1, "start": [0, 0], "end": [0, 0], "capacity": [4]}],'
    ' "jobs": [{"id": 1, "location": [0, 0.1], "delivery": [1]}]}'
)


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the files that are read, as often as they are."""
    found: list[str] = []
    read = Path.read_bytes

    def count(path: Path) -> bytes:
        found.append(path.name)
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", count)
    return found


@pytest.mark.parametrize(
    ("name", "text", "vroom", "spreadsheet"),
    [
        ("a.vrp", texts.EUCLIDEAN, False, False),
        ("a.txt", texts.SOLOMON, False, False),
        ("a.txt", STOPS, False, True),
        ("a.csv", STOPS, False, True),
        ("a.json", VROOM, True, False),
        ("a.csv", VROOM, True, False),
        # Whatever a file of that name holds, it is refused as a table.
        ("a.CSV", texts.EUCLIDEAN, False, True),
        ("a.tsv", "", False, True),
    ],
)
def test_formats_are_told_by_content_and_spreadsheets_by_name_too(
    name: str, text: str, vroom: bool, spreadsheet: bool
) -> None:
    source = read_source(name, text)
    assert (source.is_vroom, source.is_spreadsheet) == (vroom, spreadsheet)


def test_a_source_is_read_once(tmp_path: Path, readings: list[str]) -> None:
    path = written(tmp_path, texts.EUCLIDEAN)
    source = read_source(path)
    instance = source.instance()
    assert readings == [path.name]
    assert_same(instance, read_instance(path))
    assert_same(read_source("elsewhere.vrp", texts.EUCLIDEAN).instance(), instance)


def test_a_name_is_that_of_a_file_or_of_a_bundled_instance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_source("E-n22-k4") is None
    with pytest.raises(InputError, match="nothing: no such file, and no bundled instance of that name"):
        find_source("nothing")
    with pytest.raises(InputError, match=r"nothing\.csv: cannot be read"):
        find_source("nothing.csv")
    Path("E-n22-k4").write_text(texts.EUCLIDEAN)
    source = find_source("E-n22-k4")
    assert source is not None
    assert source.text == texts.EUCLIDEAN


@pytest.mark.parametrize(
    ("name", "text"), [("a.vrp", texts.EUCLIDEAN), ("a.csv", STOPS), ("a.txt", STOPS), ("a.json", VROOM)]
)
@pytest.mark.parametrize(
    "command", [["info"], ["check"], ["solve", "--iterations", "5", "--quiet"]], ids=lambda c: c[0]
)
@pytest.mark.filterwarnings("ignore::neuralns.InputWarning")
def test_commands_read_and_tell_a_file_once(
    tmp_path: Path, readings: list[str], monkeypatch: pytest.MonkeyPatch, command: list[str], name: str, text: str
) -> None:
    told: list[str] = []
    form_of = detect.format_of

    def count(text: str) -> detect.InstanceFormat:
        told.append(text)
        return form_of(text)

    monkeypatch.setattr("neuralns.problem.formats.source.format_of", count)
    monkeypatch.setattr("neuralns.problem.formats.detect.format_of", count)
    path = written(tmp_path, text, name)
    verb, *options = command
    assert invoke(verb, str(path), *options).code == 0
    assert readings.count(name) == 1
    assert told == [text]
