"""``neuralns compare``."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from commands import COMMAND, Outcome, invoke, spawn
from neuralns.experiments.comparison import Point
from neuralns.experiments.comparison import SelectorRun as Run
from neuralns.experiments.store import read_rows
from neuralns.selection.policy_file import Policy, write_policy
from policies import constant_policy, wheel_policy

PORTFOLIO = "zone,random-node,greedy"
SHORT = ("--iterations", 30, "--seeds", 2, "--portfolio", PORTFOLIO)
TWO = ("E-n22-k4", "P-n16-k8", "--selectors", "random,fixed:zone/greedy")
RESULT = {"instance", "selector", "mean", "best", "worst", "iterations", "decision_time_share"}
VERDICT = {"selector", "portfolio", "excess", "difference", "ci", "p", "adjusted", "effect"}


def compared(*arguments: object) -> Outcome:
    outcome = invoke("compare", *arguments)
    assert outcome.code == 0, outcome.stderr
    return outcome


def runs_made(outcome: Outcome) -> list[str]:
    """The runs that were told of on stderr: number, instance, selector and seed."""
    return re.findall(r"^(\d+/\d+  \S+  \S+  seed \d+): \S+  30 iterations$", outcome.stderr, re.MULTILINE)


def test_a_comparison_prints_one_json_object_and_nothing_else() -> None:
    found = spawn("compare", *TWO, *SHORT, "--json").json
    assert set(found) == {"results", "verdicts", "conclusion"}
    names = ["random", "fixed:zone/greedy", "solve"]
    assert [(row["instance"], row["selector"]) for row in found["results"]] == [
        (instance, selector) for instance in ("E-n22-k4", "P-n16-k8") for selector in names
    ]
    for row in found["results"]:
        assert set(row) == RESULT
        assert row["best"] <= row["mean"] <= row["worst"]
        assert row["iterations"] == 30
        assert 0 <= row["decision_time_share"] <= 1
    assert [row["selector"] for row in found["verdicts"]] == names
    assert [row["portfolio"] for row in found["verdicts"]] == [PORTFOLIO, PORTFOLIO, "plain"]
    reference, other, _ = found["verdicts"]
    assert set(reference) == set(other) == VERDICT
    assert reference["difference"] == 0
    assert other["ci"] >= 0
    # Two instances are too few for a test.
    assert [(row["p"], row["adjusted"]) for row in (reference, other)] == [(None, None)] * 2
    assert -1 <= other["effect"] <= 1


def test_the_tables_hold_the_figures() -> None:
    figures = compared(*TWO, *SHORT, "--json").json
    lines = [re.split(r" {2,}", line.strip()) for line in compared(*TWO, *SHORT).stdout.splitlines()]
    rows, verdicts = lines[: lines.index([""]) - 1], lines[lines.index([""]) + 1 :]
    assert " ".join(rows[0]).split() == ["instance", "selector", "mean", "best", "worst", "iterations", "deciding"]
    shown = [" ".join(row).split() for row in rows[1:]]
    assert [row[:2] for row in shown] == [[row["instance"], row["selector"]] for row in figures["results"]]
    for row, result in zip(shown, figures["results"], strict=True):
        assert [float(value) for value in row[2:6]] == pytest.approx(
            [result["mean"], result["best"], result["worst"], 30], abs=0.005
        )
        assert row[7] == "%"
    assert "against random" in " ".join(verdicts[0])
    reference, other, plain = (" ".join(row).split() for row in verdicts[1:4])
    first, second, _ = figures["verdicts"]
    assert plain[:2] == ["solve", "plain"]
    assert reference == ["random", PORTFOLIO, f"{first['excess']:.3f}", "%"]
    assert other == [
        "fixed:zone/greedy", PORTFOLIO, f"{second['excess']:.3f}", "%", f"{second['difference']:+.3f}", "±",
        f"{second['ci']:.3f}", "%", f"{second['effect']:+.2f}",
    ]  # fmt: skip


def test_columns_are_explained_and_the_last_word_is_who_is_best() -> None:
    text = compared(*TWO, *SHORT).stdout
    for word in ("deciding is", "Above the best: ", "Against random: ", "p: ", "Effect: ", "solve is 'neuralns solve'"):
        assert word in text
    assert text.splitlines()[-1] == compared(*TWO, *SHORT, "--json").json["conclusion"]


def test_a_policy_is_compared_with_plain_solve_as_it_was_made(tmp_path: Path) -> None:
    made = constant_policy(PORTFOLIO, (1.0, 2.0, 1.0))
    write_policy(Policy({**made.card, "scale": 3}, made.tensors), tmp_path / "mine.policy")
    table = tmp_path / "runs.csv"
    compared("P-n16-k8", "--selectors", f"{tmp_path}/mine.policy", "--iterations", 30, "--seeds", 1, "-o", table)
    assert [(row.selector, row.conditions) for row in read_rows(table, Run)] == [
        (f"{tmp_path}/mine.policy", "30 iterations; own; default scale; from savings"),
        ("solve", "30 iterations; plain; default scale; from savings"),
    ]


def test_plain_solve_alone_is_no_comparison() -> None:
    for name in ("random", "random,,", "solve"):
        refusal = invoke("compare", "P-n16-k8", "--selectors", name, "--iterations", 30).refusal()
        assert refusal == f"selectors {name!r}: at least two are needed for a comparison."


def test_two_instances_are_too_few_for_a_test_and_one_is_judged_by_its_seeds() -> None:
    assert "2 instances are too few for a test; from 6 on there is one." in compared(*TWO, *SHORT).stdout
    one = ("E-n22-k4", "--selectors", "random,fixed:zone/greedy", *SHORT)
    reference, other, _ = compared(*one, "--json").json["verdicts"]
    assert (reference["p"], reference["adjusted"]) == (1, 1)
    assert 0 < other["p"] <= other["adjusted"] <= 1
    assert "One instance: intervals and tests are over its seeds and speak of it alone." in compared(*one).stdout


def test_the_result_is_the_same_every_time_and_with_several_workers() -> None:
    found = [compared(*TWO, *SHORT, "--json", *more).json for more in ((), (), ("--workers", 2))]
    for figures in found:
        for row in figures["results"]:
            del row["decision_time_share"]
    assert found[0] == found[1] == found[2]


def test_one_pair_has_no_interval() -> None:
    short = ("P-n16-k8", "--selectors", "random,ucb", *SHORT, "--seeds", 1)
    outcome = compared(*short, "--json")
    assert [row["ci"] for row in outcome.json["verdicts"]] == [None, None, None]

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is no JSON")

    json.loads(outcome.stdout, parse_constant=refuse)
    text = compared(*short).stdout
    assert "nan" not in text
    assert "±" not in text


def test_the_best_fixed_pair_is_named_and_takes_its_place_among_the_selectors() -> None:
    outcome = compared("P-n16-k8", "--selectors", "best-fixed,random", *SHORT, "--json")
    assert re.search(r"best fixed pair in short trials: (zone|random-node), greedy\n", outcome.stderr)
    assert [row["selector"] for row in outcome.json["verdicts"]] == ["best-fixed", "random", "solve"]
    assert [row["selector"] for row in outcome.json["results"]] == ["best-fixed", "random", "solve"]


@pytest.mark.filterwarnings("ignore:selector .* changes its weights:neuralns.errors.InputWarning")
def test_every_kind_of_selector_takes_part(tmp_path: Path) -> None:
    write_policy(wheel_policy(PORTFOLIO, (1.0, 2.0, 1.0)), tmp_path / "wheel.policy")
    write_policy(constant_policy(PORTFOLIO, (1.0, 2.0, 1.0)), tmp_path / "small.policy")
    write_policy(constant_policy(PORTFOLIO, (1.0, 2.0, 1.0), "mlp", 15), tmp_path / "mlp.policy")
    names = ["random", "roulette", "ucb", "thompson", "fixed:random-node/greedy"]
    names += [f"{tmp_path}/{name}.policy" for name in ("wheel", "small", "mlp")]
    names += [f"lrw:{tmp_path}/wheel.policy", f"adaptive:{tmp_path}/wheel.policy"]
    greedy = ("--temperature", 0, "--decide-every", 2)
    found = compared("P-n16-k8", "--selectors", ",".join(names), *SHORT, *greedy, "--json").json
    assert [row["selector"] for row in found["verdicts"]] == [*names, "solve"]
    costs = {row["selector"]: row["mean"] for row in found["results"]}
    # Greedily the two networks always take the pair that they value most.
    assert costs[f"{tmp_path}/small.policy"] == costs[f"{tmp_path}/mlp.policy"] == costs["fixed:random-node/greedy"]


def test_options_reach_the_searches(tmp_path: Path) -> None:
    table = tmp_path / "runs.csv"
    options = ("--selectors", "random,ucb", "--time", 0.01, "--customers", 10, "--scale", "2-3", "--seeds", 1)
    compared("E-n22-k4", *options, "--portfolio", "paper", "--output", table)
    rows = read_rows(table, Run)
    conditions = "0.01 s; paper; scale 2-3; from savings"
    assert [(row.instance, row.customers, row.conditions) for row in rows] == [
        *[("E-n22-k4:10", 10, conditions)] * 2,
        ("E-n22-k4:10", 10, "0.01 s; plain; default scale; from savings"),
    ]


def test_instances_that_a_policy_was_trained_on_are_no_test(tmp_path: Path) -> None:
    made = constant_policy(PORTFOLIO, (1.0, 2.0, 1.0), "small")
    write_policy(Policy({**made.card, "instances": ["P-n16-k8"]}, made.tensors), tmp_path / "mine.policy")
    names = ("--selectors", f"random,{tmp_path}/mine.policy", *SHORT)
    assert (
        "was trained on 'P-n16-k8', so a comparison there is no test" in invoke("compare", "P-n16-k8", *names).refusal()
    )
    assert compared("E-n22-k4", *names).code == 0
    assert compared("P-n16-k8", *names, "--training-instances").code == 0


def test_a_comparison_is_written_and_gone_on_with(tmp_path: Path) -> None:
    table = tmp_path / "runs.csv"
    first = compared(*TWO, *SHORT, "--output", table, "--seeds", 1)
    assert first.stdout.endswith(f"runs written to {table}\n")
    assert runs_made(first) == [
        "1/6  E-n22-k4  random  seed 1",
        "2/6  E-n22-k4  fixed:zone/greedy  seed 1",
        "3/6  E-n22-k4  solve  seed 1",
        "4/6  P-n16-k8  random  seed 1",
        "5/6  P-n16-k8  fixed:zone/greedy  seed 1",
        "6/6  P-n16-k8  solve  seed 1",
    ]
    rows = read_rows(table, Run)
    assert len(rows) == 6
    assert read_rows(tmp_path / "runs.curves.csv", Point)
    second = compared(*TWO, *SHORT, "-o", table, "--json")
    assert [line.split()[0] for line in runs_made(second)] == [f"{number}/12" for number in range(7, 13)]
    assert read_rows(table, Run)[:6] == rows
    assert len(read_rows(table, Run)) == 12
    # Everything is there: nothing is run, and the figures are the same.
    third = compared(*TWO, *SHORT, "-o", table, "--json")
    assert runs_made(third) == []
    assert third.stdout == second.stdout
    assert sorted(os.listdir(tmp_path)) == ["runs.csv", "runs.curves.csv"]


def test_ctrl_c_during_the_trials_answers_at_once_and_keeps_finished_runs(tmp_path: Path) -> None:
    table = tmp_path / "runs.csv"
    compared("P-n16-k8", "--selectors", "random,ucb", *SHORT, "--output", table)
    before = table.read_bytes()
    long = ("--selectors", "best-fixed,random", "--time", "3000", "--seeds", "1", "--output", str(table))
    process = subprocess.Popen([*COMMAND, "compare", "P-n16-k8", *long], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    while not process.stderr.readline().startswith("looking for the best fixed pair"):
        assert process.poll() is None
    # Trials of 300 s each have begun.
    time.sleep(1)
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=600)[1]
    assert time.monotonic() - begin < 30
    assert process.returncode == 130
    assert said.splitlines()[-1] == (f"stopped; finished runs are kept in {table}, and the same command goes on.")
    assert "Traceback" not in said
    assert table.read_bytes() == before


def test_anytime_curves_are_drawn(tmp_path: Path) -> None:
    picture = tmp_path / "curves.svg"
    outcome = compared(*TWO, *SHORT, "--plot", picture)
    assert outcome.stdout.endswith(f"picture written to {picture}\n")
    text = picture.read_text()
    for words in ("2 instances, portfolio zone,random-node,greedy, 2 seeds", "fixed:zone/greedy", "above the best"):
        assert words in text


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ("--selectors random,ucb,random", "selectors 'random,ucb,random': one is named twice."),
        ("--selectors random,clever", "selector 'clever' is not known; choose random, roulette, ucb, thompson"),
        ("--selectors random,fixed:zone", "selector 'fixed:zone' is not a pair"),
        ("--selectors random,fixed:cluster/greedy", "operator 'cluster' is not among zone, random-node"),
        ("--selectors random,lrw:absent.policy", "absent.policy: no such file, and no bundled policy of that name"),
        ("--selectors random,text.policy", "text.policy: is not a policy file, or is damaged"),
        (
            "--selectors random,other.policy",
            "other.policy: was trained without the destroy operator 'zone' of portfolio 'zone,random-node,greedy'; it "
            "knows random-node.",
        ),
        ("--selectors random,wheel.policy", "selector 'wheel.policy' was trained without operator 'zone'"),
        ("--selectors random,adaptive:wheel.policy", "selector 'adaptive:wheel.policy' was trained without operator"),
        (
            "--selectors random,mlp.policy",
            "mlp.policy: was trained on 20 customers and an mlp knows no other size, but the instance has 15.",
        ),
        ("--time 1", "runs are limited by time or by iterations, not by both."),
        ("--iterations -1", "number of iterations -1 must be a number of at least 0."),
        ("--seeds 0", "0 seeds asked for; at least 1 is needed."),
        ("--workers 0", "number of workers 0 must be at least 1."),
        ("--portfolio book", "portfolio 'book' is not known"),
        ("--scale many", "scale 'many' must be a number, a share below 1, or LOW-HIGH."),
        ("--customers 99", "P-n16-k8: 99 customers asked for, but it has 15."),
        ("--output absent/runs.csv", "absent does not exist."),
        ("--output other.csv", "other.csv, line 1: holds other columns than instance, customers"),
        ("--plot curves.gif", "curves.gif: a picture's name must end with .png, .pdf, .svg."),
        ("P-n16-k8", "instance 'P-n16-k8' is named twice."),
        ("C999", "C999: no such file, and no bundled instance of that name"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: str, sentence: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.policy").write_text("not a policy")
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    write_policy(constant_policy("random-node,greedy", (1.0, 1.0)), tmp_path / "other.policy")
    write_policy(constant_policy(PORTFOLIO, (1.0, 1.0, 1.0), "mlp", 20), tmp_path / "mlp.policy")
    write_policy(wheel_policy("random-node,greedy", (1.0, 1.0)), tmp_path / "wheel.policy")
    before = sorted(os.listdir(tmp_path))
    short = ("--selectors", "random,ucb", *SHORT)
    assert sentence in invoke("compare", "P-n16-k8", *short, *arguments.split()).refusal()
    assert sorted(os.listdir(tmp_path)) == before


@pytest.mark.parametrize("scale", ["0", "5-2", "nan"])
def test_a_scale_that_makes_no_sense_is_refused_by_the_search(scale: str) -> None:
    assert "scale" in invoke("compare", "P-n16-k8", "--selectors", "random,ucb", *SHORT, "--scale", scale).refusal()
