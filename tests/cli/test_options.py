"""Options that several commands share."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

import texts
from commands import invoke, spawn
from neuralns import InputError, RouteCost, Solution, balance_stops, overtime, read, read_policy, tolls
from neuralns.cli.options import parse_route_cost, parse_scale


@pytest.mark.parametrize(
    ("text", "scale"),
    [
        (None, None),
        ("5", (5, 5)),
        ("0.1", (0.1, 0.1)),
        ("5-20", (5, 20)),
        ("0.1-0.25", (0.1, 0.25)),
        ("1-0.5", (1, 0.5)),
        (" 2 - 7 ", (2, 7)),
    ],
)
def test_a_scale_is_a_number_a_share_or_a_range(text: str | None, scale: tuple[float, float] | None) -> None:
    assert parse_scale(text) == scale


@pytest.mark.parametrize("text", ["", "-", "many", "5-", "-5", "1-2-3", "5,20", "1e-3"])
def test_another_text_is_refused(text: str) -> None:
    sentence = f"scale {text!r} must be a number, a share below 1, or LOW-HIGH."
    with pytest.raises(InputError, match=f"^{re.escape(sentence)}$"):
        parse_scale(text)


@pytest.mark.parametrize(
    "command",
    [
        ("solve", "r104.txt", "-n", 1),
        ("info", "r104.txt"),
        ("check", "r104.txt", "r104.sol"),
        ("compare", "r104.txt", "-n", 1, "--seeds", 1, "--selectors", "random,ucb"),
        ("train", "r104.txt", "--network", "lrw", "--portfolio", "paper-2", "-o", "mine.policy"),
        ("evaluate", "--instance", "r104.txt", "--customers", 12, "--episodes", 1, "--seeds", 1),
        ("episode", "r104.txt", "--customers", 12),
        ("bench", "peers", "r104.txt", "--solvers", "neuralns", "--time", 0.1, "--seeds", 1),
        ("bench", "ablation", "r104.txt", "--time", 0.01, "--seeds", 1),
    ],
    ids=lambda command: " ".join(map(str, command[:2])),
)
def test_every_command_that_reads_an_instance_goes_on_without_what_it_is_told_to_ignore(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[object, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    points = "".join(f"{number} {number} {number * number}\n" for number in range(5, 14))
    amounts = "".join(f"{number} 1\n" for number in range(5, 14))
    text = texts.EUCLIDEAN.replace("DIMENSION : 4", "COLOUR : red\nSHAPE : round\nDIMENSION : 13")
    text = text.replace("CAPACITY : 10", "CAPACITY : 100").replace("4 0 5.5\n", f"4 0 5.5\n{points}")
    texts.written(tmp_path, text.replace("4 6\n", f"4 6\n{amounts}"), "r104.txt")
    texts.written(tmp_path, f"Route #1: {' '.join(map(str, range(1, 13)))}", "r104.sol")
    refusal = invoke(*command).refusal()
    assert refusal.startswith("r104.txt, line 4: COLOUR is not supported yet (nor SHAPE)")
    assert refusal.endswith("--ignore COLOUR --ignore SHAPE goes on without them.")
    assert invoke(*command, "--ignore", "COLOUR").refusal().startswith("r104.txt, line 5: SHAPE is not supported")
    outcome = invoke(*command, "--ignore", "COLOUR", "--ignore", "shape")
    assert outcome.code == 0, outcome.stderr


@pytest.mark.parametrize(
    ("text", "change", "to", "sentence"),
    [
        (
            texts.TIMED,
            "2 10 20.5",
            "2 30 20.5",
            ", line 20: the window of customer 1, 30 to 20.5, ends before it begins.",
        ),
        (texts.TIMED, "SERVICE_TIME : 5", "SERVICE_TIME : -5", ", line 6: SERVICE_TIME -5 must not be negative."),
        (texts.TIMED, "20.5", "nan", ", line 20: 'nan' is not a finite number."),
        (texts.SOLOMON, "197         10", "197        -10", ", line 13: service time -10 of customer 3 is negative."),
        (
            texts.INSTANCES["json"],
            '"name": "tiny"',
            '"name": "tiny", "durations": [[0, 1], [1, 0]]',
            ": tiny: duration matrix of shape (2, 2) does not fit 4 demands.",
        ),
    ],
    ids=["end", "service", "nan", "solomon", "durations"],
)
def test_times_that_cannot_be_are_a_sentence_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, change: str, to: str, sentence: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert change in text
    texts.written(tmp_path, text.replace(change, to), "bad.txt")
    for command in (["info"], ["solve", "--output", "out.sol"], ["episode", "--plot", "out.png"]):
        assert invoke(command[0], "bad.txt", *command[1:]).refusal() == f"bad.txt{sentence}"
    assert [path.name for path in tmp_path.iterdir()] == ["bad.txt"]


OWN = """
import neuralns
from neuralns.operators.toolkit import random_routed, remove


@neuralns.destroy("mine")
def mine(state, quota):
    for _ in range(quota):
        remove(state, random_routed(state))
"""


def test_operators_of_ones_own_are_trained_evaluated_compared_and_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.py").write_text(OWN)
    own = ("--operators", "own.py", "--portfolio", "mine,zone,greedy")
    few = ("--steps", 20, "--hidden", "4")
    assert spawn("train", "E-n22-k4", "--network", "small", *own, *few, "-o", "mine.policy").code == 0
    assert read_policy("mine.policy").destroys == ("mine", "zone")
    found = spawn("evaluate", "--agent", "mine.policy", "--episodes", 4, "--seeds", 1, *own, "--json").json
    assert set(found["operators"]) == {"mine", "zone", "greedy"}
    options = ("--iterations", 20, "--seeds", 1, "--selectors", "random,fixed:mine/greedy", "--json")
    assert spawn("compare", "E-n22-k4", *own, *options).json["verdicts"]
    # A policy brings its own portfolio, which has the operators of the file already.
    solved = spawn("solve", "E-n22-k4", "--operators", "own.py", "--selector", "mine.policy", "-n", 20, "--json").json
    assert {use["name"] for use in solved["operators"]} == {"mine", "zone", "greedy"}


@pytest.mark.parametrize(
    ("text", "cost"),
    [
        ("overtime:after=480,cost=2", overtime(480, 2)),
        ("overtime: after = 480", overtime(480)),
        ("balance_stops:weight=0.5", balance_stops(0.5)),
        ("tolls:costs=0/0.15", tolls([0, 0.15])),
        ("tolls:costs=1", tolls([1])),
    ],
)
def test_route_costs_by_name(text: str, cost: RouteCost) -> None:
    assert parse_route_cost(text) == cost


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("fun", "route cost 'fun' is not known; choose one of overtime, balance_durations, balance_stops, tolls."),
        ("overtime", "route cost 'overtime' needs the parameter 'after'."),
        ("overtime:480", "--route-cost 'overtime:480': '480' is not of the form key=value."),
        ("overtime:after=8h", "route cost 'overtime': after '8h' is not a number."),
        ("overtime:after=1,after=2", "--route-cost 'overtime:after=1,after=2': after is given twice."),
        ("tolls:costs=1/x", "route cost 'tolls': costs 'x' is not a number."),
        ("tolls:costs=", "route cost 'tolls': costs '' is not a number."),
    ],
)
def test_route_costs_that_cannot_be_are_refused(text: str, sentence: str) -> None:
    assert invoke("solve", "E-n22-k4", "--iterations", 10, "--route-cost", text).refusal() == sentence


def test_tolls_must_fit_the_fleet() -> None:
    said = invoke("solve", "E-n22-k4", "--iterations", 10, "--route-cost", "tolls:costs=1/2").refusal()
    assert said == "E-n22-k4: route cost 'tolls' has costs of 2 vehicle types, but there are 1."


def test_routes_are_charged_what_costs_by_name_say() -> None:
    costs = ("--route-cost", "overtime:after=100,cost=2", "--route-cost", "tolls:costs=0.5")
    found = invoke("solve", "E-n22-k4", "--iterations", 100, "--quiet", *costs, "--json").json
    plain = read("E-n22-k4")
    charged = replace(plain, route_costs=(overtime(100, 2), tolls([0.5])))
    assert found["cost"] == pytest.approx(Solution(charged, found["routes"]).cost)
    assert found["cost"] > 1.5 * Solution(plain, found["routes"]).cost
    assert (found["objective"], found["gap"]) == ("distance + overtime + tolls", None)
