"""Options of commands from a TOML file."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import invoke


@pytest.fixture
def day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where to put a file of options."""
    monkeypatch.chdir(tmp_path)
    return tmp_path / "day.toml"


def test_a_file_gives_options_and_the_command_line_comes_first(day: Path) -> None:
    day.write_text('iterations = 30\nseed = 3\nquiet = true\njson = true\nvehicle_cost = 7\nignore = ["COLOUR"]\n')
    found = invoke("solve", "E-n22-k4", "--options", "day.toml").json
    assert (found["iterations"], found["seed"], found["vehicle_cost"]) == (30, 3, 7)
    found = invoke("solve", "--seed", "4", "E-n22-k4", "--options", "day.toml", "--vehicle-cost", "8").json
    assert (found["iterations"], found["seed"], found["vehicle_cost"]) == (30, 4, 8)


def test_other_commands_take_options_from_files_too(day: Path) -> None:
    day.write_text("json = true\ncustomers = 5\n")
    assert invoke("info", "E-n22-k4", "--options", "day.toml").json["customers"] == 5
    day.write_text('iterations = 10\noutput = "all.csv"\nworkers = 1\nquiet = true\n')
    assert invoke("batch", "E-n22-k4", "--options", "day.toml").code == 0
    assert (day.parent / "all.csv").read_text().count("\n") == 2


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("tim = 3", "tim = 3 is no option of 'solve'; its options are time, iterations, seed, "),
        ("[solve]\ntime = 3", "solve = {'time': 3} is no option of 'solve'; its options are "),
        ('options = "other.toml"', "options = 'other.toml' is no option of 'solve'; "),
        ('time = "soon"', "time = 'soon' must be a number."),
        ("time = true", "time = True must be a number."),
        ("iterations = 2.5", "iterations = 2.5 must be a whole number."),
        ("iterations = [1, 2]", "iterations = [1, 2] must be a whole number."),
        ("quiet = 1", "quiet = 1 must be true or false."),
        ("output = 2020-01-01", "output = datetime.date(2020, 1, 1) must be text."),
        ("ignore = [[1]]", "ignore = [[1]] must be text."),
        ("vehicle-cost = 1\nvehicle_cost = 2", "vehicle_cost = 2 is given twice."),
        ("time = ", "is not valid TOML ("),
        ("time = -1", None),
    ],
)
def test_what_a_file_cannot_say_is_refused_by_file_key_and_value(day: Path, text: str, sentence: str | None) -> None:
    day.write_text(text)
    said = invoke("solve", "E-n22-k4", "--options", "day.toml", "--output", "a.sol").refusal()
    assert said.startswith("time limit -1.0 must be" if sentence is None else f"day.toml: {sentence}")
    assert [path.name for path in day.parent.iterdir()] == ["day.toml"]


def test_a_file_of_options_that_cannot_be_read_is_refused(day: Path) -> None:
    said = invoke("solve", "E-n22-k4", "--options", "day.toml").refusal()
    assert said == "day.toml: cannot be read (No such file or directory)."
    day.write_bytes(b"time = \xff")
    assert invoke("solve", "E-n22-k4", "--options", "day.toml").refusal().startswith("day.toml: is not valid TOML (")
