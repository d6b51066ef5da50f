"""``neuralns solve`` with VROOM's JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from commands import invoke

SHORT = ("--iterations", 50, "--quiet")
DAY: dict[str, Any] = {
    "vehicles": [
        {"id": number, "start_index": 0, "end_index": 0, "capacity": [2], "time_window": [0, 1000]} for number in (1, 2)
    ],
    "jobs": [
        {"id": 10 * place, "location_index": place, "delivery": [1], "service": 5, "setup": 3} for place in (1, 2, 3)
    ],
    "matrices": {"car": {"durations": [[abs(here - there) * 10 for there in range(4)] for here in range(4)]}},
}


@pytest.fixture
def day(tmp_path: Path) -> Path:
    path = tmp_path / "day.json"
    path.write_text(json.dumps(DAY))
    return path


def test_vrooms_input_is_answered_in_vrooms_form(day: Path, tmp_path: Path) -> None:
    target = tmp_path / "answer.json"
    found = invoke("solve", day, *SHORT, "--output", target, "--json").json
    answer = json.loads(target.read_text())
    assert answer["code"] == 0
    assert answer["summary"]["cost"] == found["cost"] == 80
    assert [route["vehicle"] for route in answer["routes"]] == [1, 2]
    assert invoke("check", day, target).code == 0
    # Our own answers are written over, and searches start from them.
    assert invoke("solve", day, *SHORT, "--initial", target, "--output", target).code == 0
    others = {key: value for key, value in answer.items() if key != "generator"}
    target.write_text(json.dumps(others))
    assert "was not written by neuralns" in invoke("solve", day, *SHORT, "--output", target).refusal()
    assert json.loads(target.read_text()) == others
    assert invoke("check", day, target).code == 0


def test_a_mixed_fleet_serves_jobs_and_shipments(day: Path, tmp_path: Path) -> None:
    speed = {"speed_factor": 2, "max_tasks": 2}
    dear = {"costs": {"fixed": 500, "per_hour": 7200}, "max_travel_time": 5000}
    stated = {
        "vehicles": [
            {"id": 3, "start_index": 0, "capacity": [2], "time_window": [0, 20000]},
            {"id": 4, "end_index": 3, "capacity": [2], **dear},
            {"id": 5, "start_index": 1, "end_index": 1, "capacity": [1], **speed},
        ],
        "jobs": [
            {"id": 1, "location_index": 1, "delivery": [1], "setup": 50, "priority": 2},
            {"id": 2, "location_index": 2, "pickup": [1], "time_windows": [[100, 300], [6000, 7000]]},
            {"id": 3, "location_index": 3, "delivery": [2]},
            {"id": 4, "location_index": 3, "delivery": [2], "priority": 9},
        ],
        "shipments": [
            {"amount": [1], "pickup": {"id": 1, "location_index": 3}, "delivery": {"id": 2, "location_index": 0}}
        ],
        "matrices": {
            "car": {
                "durations": [
                    [0, 2104, 197, 1299],
                    [2103, 0, 2255, 3152],
                    [197, 2256, 0, 1102],
                    [1299, 3153, 1102, 0],
                ]
            }
        },
    }
    day.write_text(json.dumps(stated))
    target = tmp_path / "answer.json"
    assert invoke("solve", day, "--iterations", 2000, "--quiet", "--output", target).code == 0
    summary = json.loads(target.read_text())["summary"]
    assert (summary["cost"], summary["unassigned"], summary["priority"], summary["setup"]) == (3098, 0, 11, 0)
    assert "feasible" in invoke("check", day, target).stdout


def test_other_forms_are_written_by_the_name_of_the_file(day: Path, tmp_path: Path) -> None:
    assert invoke("solve", day, "E-n22-k4", *SHORT, "--output", tmp_path / "{name}-routes.json").code == 0
    assert json.loads((tmp_path / "E-n22-k4-routes.json").read_text())["format"] == "neuralns-solution"
    assert json.loads((tmp_path / "day-routes.json").read_text())["summary"]["routes"] == 2
    assert invoke("solve", day, *SHORT, "--output", tmp_path / "day.sol").code == 0
    assert (tmp_path / "day.sol").read_text().startswith("Route #1")


@pytest.mark.filterwarnings("default::neuralns.errors.InputWarning")
def test_what_is_not_understood_is_refused_unless_lenient(day: Path, tmp_path: Path) -> None:
    target = tmp_path / "answer.json"
    assert invoke("solve", day, *SHORT, "--output", target).code == 0
    before = target.read_text()
    breaks = [{"id": 1, "service": 5, "time_windows": [[100, 200]]}]
    day.write_text(json.dumps(DAY | {"vehicles": [DAY["vehicles"][0] | {"breaks": breaks}, DAY["vehicles"][1]]}))
    assert invoke("solve", day, *SHORT, "--output", target).refusal() == (
        f"{day}, line 1: 'breaks' of vehicle 1 is not supported yet; --ignore breaks goes on without it."
    )
    assert target.read_text() == before
    outcome = invoke("solve", day, *SHORT, "--output", target, "--lenient")
    assert outcome.code == 0
    note = f"{day}: what is not understood is left out: 'breaks' of vehicle 1."
    assert note in outcome.stderr
    assert json.loads(target.read_text())["summary"]["notes"] == [note]
    assert invoke("solve", day, *SHORT, "--ignore", "breaks").code == 0


def test_a_search_starts_from_the_steps_of_vehicles(day: Path, tmp_path: Path) -> None:
    target, second = tmp_path / "answer.json", DAY["vehicles"][1]
    steps = [{"type": "job", "id": number} for number in (30, 10)]
    day.write_text(json.dumps(DAY | {"vehicles": [DAY["vehicles"][0], second | {"steps": steps}]}))
    found = invoke("solve", day, "--iterations", 0, "--quiet", "--output", target, "--json").json
    assert found["routes"] == [[3, 1]]
    answer = json.loads(target.read_text())
    assert [route["vehicle"] for route in answer["routes"]] == [2]
    assert answer["unassigned"] == [{"id": 20, "type": "job", "location_index": 2}]
    # What the steps leave out is inserted.
    assert invoke("solve", day, *SHORT, "--output", target).code == 0
    summary = json.loads(target.read_text())["summary"]
    assert (summary["cost"], summary["unassigned"]) == (80, 0)
    assert summary["computing_times"].keys() == {"loading", "solving"}
    assert invoke("solve", day, *SHORT, "--initial", "savings").refusal() == (
        "day: steps of vehicles say what to start from, and so does --initial savings; --ignore steps goes on without "
        "them."
    )
    assert invoke("solve", day, *SHORT, "--initial", "savings", "--ignore", "steps").code == 0
    outcome = invoke("batch", day, "--iterations", 50, "--output", tmp_path / "rows.csv")
    assert outcome.code == 1
    assert "steps of vehicles say what to start from, but many instances start from savings" in outcome.stdout


@pytest.mark.filterwarnings("default::neuralns.errors.InputWarning")
def test_ways_that_are_guessed_are_told_and_have_a_speed(day: Path) -> None:
    there, here = [13.4, 52.5], [13.5, 52.5]
    day.write_text(
        json.dumps({"vehicles": [{"id": 1, "start": here, "end": here}], "jobs": [{"id": 1, "location": there}]})
    )
    slow, fast = (invoke("solve", day, *SHORT, "--json", *speed) for speed in ((), ("--speed", 80)))
    assert "great circles, travelled at 40 km/h" in slow.stderr
    assert slow.json["cost"] == pytest.approx(2 * fast.json["cost"], abs=3)


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("--capacity", 3), "--capacity 3.0 does not go with VROOM's JSON"),
        (("--objective", "vehicles"), "--objective vehicles does not go with VROOM's JSON"),
        (("--customers", 2), "--customers 2 does not go with VROOM's JSON"),
        (("--ignore", "windows"), "windows cannot be left out of VROOM's JSON"),
    ],
)
def test_options_that_vrooms_json_leaves_no_room_for_are_refused(
    day: Path, words: tuple[object, ...], what: str
) -> None:
    assert invoke("solve", day, *words).refusal().startswith(f"{day}: {what}")


def test_lenience_is_for_vrooms_json() -> None:
    assert invoke("solve", "E-n22-k4", "--lenient").refusal() == (
        "E-n22-k4: --lenient is for VROOM's JSON, which this is not."
    )
