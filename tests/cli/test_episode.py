"""``neuralns episode``."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from commands import invoke, spawn
from neuralns import Solution, make_mdp, read, write_instance

SHORT = ("C101", "--portfolio", "random-route,random-node,greedy")


def test_every_step_is_printed() -> None:
    outcome = invoke("episode", *SHORT, "--agent", "fixed:random-route,greedy")
    assert outcome.code == 0
    *steps, reward = outcome.stdout.splitlines()
    assert [line.split()[0] for line in steps] == ["S0", "S1", "S2", "S3", "S4", "S5", "S6"]
    assert [line.split()[1] for line in steps] == ["start", *["random-route", "greedy"] * 3]
    assert all(line.endswith("4 customers removed") for line in steps[1::2])
    start = make_mdp("C101", customers=20).start_tours("test", 1)[0]
    assert steps[0].endswith(f"F = {start.cost:.2f}, 5 routes")
    end = float(steps[-1].partition("F = ")[2].partition(",")[0])
    assert reward.startswith("reward ")
    assert float(reward.removeprefix("reward ")) == pytest.approx(start.cost - end, abs=0.011)


def test_an_episode_prints_one_json_object_and_nothing_else() -> None:
    found = spawn("episode", *SHORT, "--json").json
    mdp = make_mdp("C101", customers=20)
    assert found["instance"] == "C101:20 (paper)"
    assert len(found["steps"]) == 7
    assert found["steps"][0]["action"] == "start"
    assert found["steps"][0]["routes"] == [list(route) for route in mdp.start_tours("test", 1)[0].routes]
    assert [step["removed"] for step in found["steps"]] == [0, 4, 0, 4, 0, 4, 0]
    for step in found["steps"]:
        assert step["cost"] == pytest.approx(Solution(mdp.instance, step["routes"]).cost)
        assert 20 - sum(map(len, step["routes"])) == step["removed"]
    assert {step["action"] for step in found["steps"][1::2]} <= {"random-route", "random-node"}
    assert {step["action"] for step in found["steps"][2::2]} == {"greedy"}
    assert found["reward"] == pytest.approx(found["steps"][0]["cost"] - found["steps"][-1]["cost"])


def test_options_reach_the_episode() -> None:
    options = "--customers 25 --setting distance --scale 6 --budget 1 --start 7 --agent fixed:zone,regret-2"
    found = invoke("episode", "R101", *options.split(), "--json").json
    start = make_mdp("R101", customers=25, setting="distance").start_tours("test", 8)[7]
    assert found["instance"] == "R101:25"
    assert found["steps"][0]["routes"] == [list(route) for route in start.routes]
    assert [step["action"] for step in found["steps"]] == ["start", "zone", "regret-2"]
    assert found["steps"][1]["removed"] == 6


def test_the_seed_decides_the_episode() -> None:
    one, same, other = (invoke("episode", *SHORT, "--seed", seed, "--json").json["steps"] for seed in (1, 1, 2))
    assert one == same
    assert one != other


def test_the_episode_is_drawn(tmp_path: Path) -> None:
    path = tmp_path / "episode.png"
    outcome = invoke("episode", *SHORT, "--plot", path)
    assert outcome.stdout.splitlines()[-1] == f"picture written to {path}"
    assert path.read_bytes().startswith(b"\x89PNG")
    assert invoke("episode", *SHORT, "--plot", tmp_path / "episode.svg", "--json").json["steps"]
    assert "C101:20 (paper): an episode with budget b = 3, destroy scale d = 4" in (
        (tmp_path / "episode.svg").read_text()
    )
    assert sorted(os.listdir(tmp_path)) == ["episode.png", "episode.svg"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("--setting text", "setting 'text' is not known; choose paper, distance, windows."),
        ("--agent clever", "selector 'clever' is not known"),
        ("--agent oracle", "agent 'oracle' decides on pairs and cannot be shown step by step; choose another one."),
        ("--agent fixed:string,greedy", "operator 'string' is not among worst-node"),
        ("--portfolio book", "portfolio 'book' is not known"),
        ("--start 128", "start 128 is not in the set; it has tours 0 to 127."),
        ("--start -1", "start -1 is not in the set; it has tours 0 to 127."),
        ("--scale 0", "scale 0 must lie between 1 and the 20 customers of the instance."),
        ("--budget 0", "budget 0 must be at least 1 pair."),
        ("--customers 0", "C101: 0 customers asked for, but it has 100."),
        ("--plot a.gif", "a.gif: a picture's name must end with .png, .pdf, .svg."),
        ("--plot missing/a.png", "missing does not exist."),
    ],
)
def test_what_cannot_be_used_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: str, sentence: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert sentence in invoke("episode", "C101", *arguments.split()).refusal()
    assert os.listdir(tmp_path) == []


def test_customers_left_out_are_told_from_those_removed(tmp_path: Path) -> None:
    file = tmp_path / "few.json"
    write_instance(replace(read("R101").first(20, scaled=False), vehicles=4), file)
    options = (str(file), "--setting", "windows", "--portfolio", "random-node,greedy", "--budget", "2")
    found = invoke("episode", *options, "--json").json["steps"]
    assert [step["removed"] for step in found] == [0, 4, 0, 4, 0]
    for step in found:
        assert 20 - sum(map(len, step["routes"])) == step["removed"] + step["unserved"]
    lines = invoke("episode", *options, "--plot", str(tmp_path / "few.png")).stdout.splitlines()
    assert lines[0].endswith(f"{len(found[0]['routes'])} routes, {found[0]['unserved']} customers unserved")
    assert lines[1].endswith(f"4 customers removed, {found[1]['unserved']} customers unserved")
    assert lines[5].endswith(", with a penalty for each customer unserved")
    assert (tmp_path / "few.png").stat().st_size > 10_000
