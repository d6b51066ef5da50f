"""Comparisons of selectors: which runs are made and kept, and the search for the best fixed pair."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from neuralns import (
    AlphaUCB,
    Fixed,
    InputError,
    Instance,
    MaxIterations,
    MaxTime,
    Stop,
    Uniform,
    make_portfolio,
    portfolio_named,
    read,
    solve,
)
from neuralns.experiments import comparison
from neuralns.experiments.comparison import (
    CURVE_POINTS,
    TRIAL_SHARE,
    Comparison,
    Point,
    SelectorRun,
    compare,
    describe,
)
from neuralns.experiments.runs import RunKey
from neuralns.experiments.store import read_rows
from neuralns.experiments.verdicts import judge
from neuralns.problem.generate.variants import generate_of
from neuralns.search.trials import Trials
from neuralns.selection.default import bundled_mark
from neuralns.selection.policy import PolicySelector
from neuralns.selection.policy_file import Policy
from neuralns.selection.selector import Selector
from policies import constant_policy

PORTFOLIO = portfolio_named("zone,random-node,greedy")
INSTANCES = [read("E-n22-k4"), read("P-n16-k8")]
SELECTORS: dict[str, Selector] = {"random": Uniform(), "zone": Fixed("zone", "greedy")}
STOP = MaxIterations(30)
CONDITIONS = "30 iterations; zone,random-node,greedy; default scale; from savings"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "runs.csv"


def compared(*arguments: Any, **options: Any) -> tuple[list[SelectorRun], list[Point]]:
    """The runs and the points of a comparison."""
    found = compare(*arguments, **options)
    return list(found.runs), list(found.curves)


def figures(runs: Sequence[SelectorRun]) -> list[SelectorRun]:
    """The runs without what depends on the clock."""
    return [replace(run, seconds=0.0, decision_time_share=0.0) for run in runs]


def test_runs_are_told_apart_by_instance_selector_conditions_and_seed() -> None:
    run = SelectorRun("a", 5, "s", "1it", 3, 9.0, 8.0, 1, 0.1, 0.0)
    assert run.key == RunKey("a", "s", "1it", 3) == Point("a", "s", "1it", 3, 0.1, 1, 8.0).key


def names(runs: Sequence[SelectorRun]) -> list[tuple[str, str, int]]:
    return [(run.instance, run.selector, run.seed) for run in runs]


# --- Which runs are made and kept. -----------------------------------------------------------------------------------


def test_every_selector_runs_on_every_instance_with_every_seed() -> None:
    runs, curves = compared(INSTANCES, SELECTORS, STOP, 2, PORTFOLIO)
    assert names(runs) == [
        (instance.name, selector, seed) for seed in (1, 2) for instance in INSTANCES for selector in SELECTORS
    ]
    for run in runs:
        instance = read(run.instance)
        same = solve(instance, STOP, selector=SELECTORS[run.selector], portfolio=PORTFOLIO, seed=run.seed)
        assert (run.cost, run.start, run.iterations) == (same.cost, same.initial.cost, 30)
        assert (run.customers, run.conditions) == (instance.customers, CONDITIONS)
        assert run.seconds > 0
        assert 0 <= run.decision_time_share <= 1
        own = [point for point in curves if (point.instance, point.selector, point.seed) == names([run])[0]]
        assert {point.conditions for point in own} == {CONDITIONS}
        assert (own[0].iteration, own[0].best) == (0, run.start)
        assert (own[-1].iteration, own[-1].best) == (30, run.cost)


def test_all_selectors_start_from_the_same_tours() -> None:
    runs, _ = compared(INSTANCES, SELECTORS, STOP, 2, PORTFOLIO, initial="random")
    starts: dict[tuple[str, int], set[float]] = {}
    for run in runs:
        starts.setdefault((run.instance, run.seed), set()).add(run.start)
    assert [len(found) for found in starts.values()] == [1] * 4
    assert len(set.union(*starts.values())) == 4


def test_seeds_are_so_many_from_1_on_or_those_that_are_named() -> None:
    assert [run.seed for run in compare(INSTANCES[:1], {"random": Uniform()}, STOP, 3, PORTFOLIO).runs] == [1, 2, 3]
    named = compare(INSTANCES[:1], {"random": Uniform()}, STOP, [7, 2], PORTFOLIO)
    assert [run.seed for run in named.runs] == [7, 2]


def test_selectors_may_be_given_by_name() -> None:
    found = compare(INSTANCES, "fixed:zone/greedy, random", STOP, 2, PORTFOLIO)
    runs, _ = compared(INSTANCES, {"fixed:zone/greedy": SELECTORS["zone"], "random": Uniform()}, STOP, 2, PORTFOLIO)
    assert figures([run for run in found.runs if run.selector != "solve"]) == figures(runs)
    names = ["fixed:zone/greedy", "random", "solve"]
    assert [verdict.selector for verdict in found.verdicts] == names
    assert [(row.instance, row.selector) for row in found.summaries] == [
        (instance.name, name) for instance in INSTANCES for name in names
    ]
    with pytest.raises(InputError, match=r"^selectors 'random': at least two are needed for a comparison\.$"):
        compare(INSTANCES, "random", STOP, 1)


# --- Each with what it was made for, and plain solve beside them. ----------------------------------------------------


def test_named_selectors_are_joined_by_plain_solve() -> None:
    found = compare(INSTANCES[:1], "ucb", STOP, [5], PORTFOLIO, scale=2)
    ucb, plain = found.runs
    assert (ucb.selector, ucb.conditions) == (
        "ucb",
        "30 iterations; zone,random-node,greedy; scale 2; from savings",
    )
    assert (plain.selector, plain.conditions) == ("solve", "30 iterations; plain; default scale; from savings")
    assert plain.cost == solve(INSTANCES[0], STOP, seed=5).cost
    assert found.portfolios == {"ucb": PORTFOLIO.name, "solve": "plain"}


@pytest.mark.parametrize("names", ["random,ucb", "ucb,solve"])
def test_plain_solve_is_there_once(names: str) -> None:
    assert [verdict.selector for verdict in compare(INSTANCES[:1], names, STOP, 1).verdicts] == names.split(",")


def test_random_selection_under_other_conditions_is_not_plain_solve() -> None:
    for options in ({"portfolio": PORTFOLIO}, {"scale": 2}):
        found = compare(INSTANCES[:1], "random,ucb", STOP, 1, **options)
        assert [verdict.selector for verdict in found.verdicts] == ["random", "ucb", "solve"]


def test_each_selector_has_what_it_was_made_for() -> None:
    made = constant_policy("zone,random-node,greedy", (1.0, 2.0, 1.0))
    policy = PolicySelector(Policy({**made.card, "scale": 3}, made.tensors), name="mine")
    chosen = {"mine": policy, "pair": Fixed("pair", "regret-2"), "ucb": AlphaUCB()}
    found = compare(INSTANCES[:1], chosen, STOP, [5])
    assert found.portfolios == {"mine": "own", "pair": "pair,regret-2", "ucb": "plain"}
    for run in found.runs:
        assert run.cost == solve(INSTANCES[0], STOP, selector=chosen[run.selector], seed=5).cost
    same = compare(INSTANCES[:1], {"mine": policy, "zone": SELECTORS["zone"]}, STOP, 1, PORTFOLIO)
    assert set(same.portfolios.values()) == {PORTFOLIO.name}


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Searches of some seconds are over at once; what each was given, its selector and its portfolio."""
    asked: list[tuple[str, str]] = []

    def solved(instance: Instance, stop: Stop, **options: Any) -> Any:
        asked.append((options["selector"].name, options["portfolio"].name))
        return solve(instance, MaxIterations(5), **options)

    monkeypatch.setattr(comparison, "solve", solved)
    return asked


@pytest.mark.parametrize("name", ["auto", "solve"])
def test_plain_solve_is_steered_where_it_would_be(name: str, quick: list[tuple[str, str]]) -> None:
    found = compare([generate_of("vrptw", 100, 1)], f"random,{name}", MaxTime(5), 1)
    assert quick == [("random", "windows"), ("controller", "wide")]
    assert found.portfolios == {"random": "windows", name: "wide"}


def test_all_portfolios_of_plain_solve_are_named(quick: list[tuple[str, str]]) -> None:
    instances = [generate_of("vrptw", customers, 1) for customers in (100, 30)]
    found = compare(instances, "ucb,auto", MaxTime(5), 1)
    assert quick == [("ucb", "windows"), ("controller", "wide"), ("ucb", "windows"), ("random", "windows")]
    assert found.portfolios == {"ucb": "windows", "auto": "wide, windows"}


def test_plain_solve_from_another_start_is_not_steered(quick: list[tuple[str, str]]) -> None:
    found = compare([generate_of("vrptw", 100, 1)], "ucb,auto", MaxTime(5), 1, initial="insertion")
    assert quick == [("ucb", "windows"), ("random", "windows")]
    assert found.portfolios == {"ucb": "windows", "auto": "windows"}
    assert found.runs[1].conditions == "5 s; windows; default scale; from insertion"


def test_runs_by_another_bundled_controller_are_other_runs(
    path: Path, quick: list[tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    given: Any = [generate_of("vrptw", 100, 1)], "ucb,auto", MaxTime(5), 1, None, path
    with monkeypatch.context() as before:
        before.setattr(comparison, "bundled_mark", lambda: "another")
        compare(*given)
    found = compare(*given)
    assert [name for name, _ in quick] == ["ucb", "controller", "controller"]
    assert f"controller {bundled_mark()}" in found.runs[1].conditions
    assert len(read_rows(path, SelectorRun)) == 3


def run_of(selector: str, seed: int, cost: float) -> SelectorRun:
    return SelectorRun("a", 5, selector, "1it", seed, 200.0, cost, 1, 0.1, 0.0)


def concluded(**costs: Sequence[float]) -> str:
    runs = [run_of(name, seed, cost) for name, own in costs.items() for seed, cost in enumerate(own)]
    verdicts = tuple(judge(runs, next(iter(costs))))
    return Comparison(tuple(runs), (), (), verdicts, dict.fromkeys(costs, "modern")).conclusion


def test_the_conclusion_says_who_is_best_by_how_much_and_whether_that_is_significant() -> None:
    lows = [100.0 + number for number in range(12)]
    highs = [1.01 * cost for cost in lows]
    assert re.fullmatch(
        r"b is best, 1\.000 % ahead of a, the next; that is significant \(p = 0\.0\d+ after Holm's correction\)\.",
        concluded(a=highs, b=lows, c=[2 * cost for cost in lows]),
    )
    assert concluded(a=[100.0, 101.0], b=[102.0, 102.0]).startswith(
        "a is best, 1.495 % ahead of b, the next; that is not significant (p = "
    )
    assert concluded(a=lows, b=lows) == "a and b are equally good, so none of them is best."
    assert concluded(a=lows) == "a is alone, so there is nothing to compare it with."


@pytest.mark.parametrize("name", ["selectors-paper", "selectors-modern"])
def test_files_of_earlier_comparisons_are_read(name: str) -> None:
    folder = Path(__file__).parents[2] / "benchmarks" / "results"
    portfolio = name.removeprefix("selectors-")
    rows = read_rows(folder / f"{name}.csv", SelectorRun)
    known = describe(MaxTime(10), portfolio_named(portfolio), 10, "savings")
    assert any(row.conditions == known for row in rows)


def test_the_best_fixed_pair_is_found_before_the_runs() -> None:
    said: list[str] = []
    found = compare(INSTANCES[:1], "random,best-fixed", STOP, 1, PORTFOLIO, say=said.append)
    pair = Trials(INSTANCES[:1], PORTFOLIO, STOP, TRIAL_SHARE).best_fixed()
    assert said[1:] == [f"best fixed pair in short trials: {pair.destroy}, {pair.repair}"]
    same, _ = compared(INSTANCES[:1], {"random": Uniform(), "best-fixed": pair}, STOP, 1, PORTFOLIO)
    assert figures(found.runs[:2]) == figures(same)


def test_options_reach_every_search(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []

    def recorded(instance: Instance, stop: Stop, **options: Any) -> Any:
        asked.append(options)
        return solve(instance, stop, **options)

    monkeypatch.setattr(comparison, "solve", recorded)
    compared(INSTANCES[:1], SELECTORS, STOP, 1, PORTFOLIO, scale=(2, 3), initial="insertion")
    assert [(options["scale"], options["initial"]) for options in asked] == [((2, 3), "insertion")] * len(SELECTORS)


def test_options_reach_the_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Trials] = []

    def staged(self: Trials) -> Fixed:
        seen.append(self)
        return Fixed("zone", "greedy")

    monkeypatch.setattr(Trials, "best_fixed", staged)
    compare(INSTANCES[:1], "random,best-fixed", STOP, 1, PORTFOLIO, scale=(2, 3), initial="insertion", workers=2)
    (trials,) = seen
    assert (trials.scale, trials.initial, trials.workers, trials.share) == ((2, 3), "insertion", 2, TRIAL_SHARE)


def test_long_curves_are_thinned_and_fall(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("neuralns.search.segments.next_size", lambda size, took, left: 1)
    monkeypatch.setattr("neuralns.search.segments.FIRST_SEGMENT", 1)
    (run,), curve = compared(INSTANCES[:1], {"random": Uniform()}, MaxIterations(200), 1, PORTFOLIO)
    assert len(curve) == CURVE_POINTS
    assert (curve[0].iteration, curve[-1].iteration) == (0, 200)
    assert curve[-1].best == run.cost
    for before, after in pairwise(curve):
        assert before.iteration < after.iteration
        assert before.seconds <= after.seconds
        assert before.best >= after.best


def test_runs_are_written_as_they_end(path: Path) -> None:
    seen: list[tuple[int, int]] = []

    def notify(run: SelectorRun, done: int, total: int) -> None:
        seen.append((done, total))
        rows = read_rows(path, SelectorRun)
        assert len(rows) == done
        assert rows[-1] == run
        points = read_rows(path.with_name("runs.curves.csv"), Point)
        assert (points[-1].selector, points[-1].best) == (run.selector, run.cost)

    runs, curves = compared(INSTANCES, SELECTORS, STOP, 1, PORTFOLIO, path, notify=notify)
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert read_rows(path, SelectorRun) == runs
    assert read_rows(path.with_name("runs.curves.csv"), Point) == curves


def test_a_second_call_does_only_what_is_missing(path: Path) -> None:
    told: list[str] = []

    def notify(run: SelectorRun, done: int, total: int) -> None:
        told.append(f"{run.instance} {run.selector} {run.seed} {done}/{total}")

    first, _ = compared(INSTANCES[:1], SELECTORS, STOP, 1, PORTFOLIO, path, notify=notify)
    assert told == ["E-n22-k4 random 1 1/2", "E-n22-k4 zone 1 2/2"]
    told.clear()
    more = {**SELECTORS, "node": Fixed("random-node", "greedy")}
    both, curves = compared(INSTANCES[:1], more, STOP, 2, PORTFOLIO, path, notify=notify)
    assert told == [
        "E-n22-k4 node 1 3/6", "E-n22-k4 random 2 4/6", "E-n22-k4 zone 2 5/6", "E-n22-k4 node 2 6/6",
    ]  # fmt: skip
    assert both[:2] == first
    assert len({(point.selector, point.seed) for point in curves}) == 6
    told.clear()
    # What was not asked for is left out, though the file holds it.
    again, few = compared(INSTANCES[:1], {"zone": SELECTORS["zone"]}, STOP, 1, PORTFOLIO, path, notify=notify)
    assert told == []
    assert again == first[1:]
    assert {(point.selector, point.seed) for point in few} == {("zone", 1)}


def test_runs_of_another_limit_are_other_runs(path: Path) -> None:
    compared(INSTANCES[:1], SELECTORS, STOP, 1, PORTFOLIO, path)
    (run, _), _ = compared(INSTANCES[:1], SELECTORS, MaxIterations(31), 1, PORTFOLIO, path)
    assert (run.conditions.startswith("31 iterations; "), run.iterations) == (True, 31)
    assert len(read_rows(path, SelectorRun)) == 4


def test_what_was_done_before_an_interruption_is_kept(path: Path) -> None:
    def interrupt(run: SelectorRun, done: int, total: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compared(INSTANCES, SELECTORS, STOP, 2, PORTFOLIO, path, notify=interrupt)
    assert len(read_rows(path, SelectorRun)) == 2
    told: list[int] = []
    runs, _ = compared(INSTANCES, SELECTORS, STOP, 2, PORTFOLIO, path, notify=lambda _, done, all: told.append(done))
    assert told == [3, 4, 5, 6, 7, 8]
    assert figures(runs) == figures(compared(INSTANCES, SELECTORS, STOP, 2, PORTFOLIO)[0])


@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_does_not_wait_for_the_searches_under_way(path: Path, workers: int) -> None:
    compared(INSTANCES, SELECTORS, STOP, 1, PORTFOLIO, path)
    program = """
import sys
from neuralns import compare, MaxTime, Uniform, Roulette
from neuralns.search.search import Search
plain = Search.advance
def advance(self, *limits):
    plain(self, *limits)
    Search.advance = plain
    print("begun", flush=True)
Search.advance = advance
try:
    pair = {"a": Uniform(), "b": Roulette()}
    compare(["E-n22-k4"], pair, MaxTime(300), 2, None, sys.argv[1], workers=int(sys.argv[2]))
except KeyboardInterrupt:
    print("stopped", flush=True)
"""
    command = [sys.executable, "-c", program, str(path), str(workers)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    # With two workers both may say that they have begun.
    assert process.communicate(timeout=600)[0].removeprefix("begun\n") == "stopped\n"
    assert time.monotonic() - begin < 20
    assert len(read_rows(path, SelectorRun)) == 4


def test_workers_change_nothing_where_iterations_are_the_limit(path: Path) -> None:
    one, curves = compared(INSTANCES, SELECTORS, STOP, 2, PORTFOLIO)
    two, same = compared(INSTANCES, SELECTORS, STOP, 2, PORTFOLIO, path, workers=2)
    assert figures(one) == figures(two)
    assert {(point.instance, point.selector, point.seed) for point in curves} == {
        (point.instance, point.selector, point.seed) for point in same
    }
    assert sorted(read_rows(path, SelectorRun), key=lambda row: row.key) == sorted(two, key=lambda row: row.key)


HEADER = "instance,customers,selector,conditions,seed,start,cost,iterations,seconds,decision_time_share\n"
ROW = "E-n22-k4,21,random,30it,1,388.0,375.0,30,0.1,0.2\n"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (
            b"a,b\n1,2\n",
            "holds other columns than instance, customers, selector, conditions, seed, start, cost, iterati",
        ),
        (b"a,b", "holds other columns than instance, customers"),
        (b"\x89PNG\xff\xfe\n", "holds other columns than instance, customers"),
        (f"{HEADER}{ROW}{ROW[:20]}\n".encode(), "line 3: is not a result"),
        (f"{HEADER}{ROW.replace('375.0', 'cheap')}".encode(), "line 2: is not a result"),
        (f"{HEADER}{ROW}{ROW.replace(',1,', ',1.5,')}".encode(), "line 3: is not a result"),
    ],
)
def test_a_damaged_file_is_refused_and_left_alone(path: Path, content: bytes, sentence: str) -> None:
    path.write_bytes(content)
    with pytest.raises(InputError, match=rf"runs\.csv(: |, |, line 1: ){re.escape(sentence)}"):
        compared(INSTANCES, SELECTORS, STOP, 1, PORTFOLIO, path)
    assert path.read_bytes() == content


def test_what_a_killed_run_left_half_written_is_done_again(path: Path) -> None:
    whole, curves = compared(INSTANCES[:1], SELECTORS, STOP, 2, PORTFOLIO, path)
    points = path.with_name("runs.curves.csv")
    lines, drawn = (file.read_text().splitlines(keepends=True) for file in (path, points))
    told: list[int] = []
    # The curve came out whole or in part; the run itself did not.
    for curve in ("".join(drawn), "".join(drawn[:-1]), "".join(drawn)[:-5]):
        for rest in ("", lines[-1][:20], lines[-1][:-1]):
            path.write_text("".join(lines[:-1]) + rest)
            points.write_text(curve)
            again, same = compared(
                INSTANCES[:1], SELECTORS, STOP, 2, PORTFOLIO, path, notify=lambda _, done, all: told.append(done)
            )
            assert figures(again) == figures(whole)
            assert figures(read_rows(path, SelectorRun)) == figures(whole)
            assert [(point.key, point.iteration) for point in same] == [
                (point.key, point.iteration) for point in curves
            ]
    assert told == [4] * 9


def test_an_empty_file_is_begun(path: Path) -> None:
    for content in ("", HEADER[:10], HEADER):
        path.write_text(content)
        runs, _ = compared(INSTANCES[:1], SELECTORS, STOP, 1, PORTFOLIO, path)
        assert read_rows(path, SelectorRun) == runs


def test_two_comparisons_do_not_write_to_one_file(path: Path) -> None:
    def second(run: SelectorRun, done: int, total: int) -> None:
        with pytest.raises(
            InputError, match=r"runs\.csv: is being written to by another run; let that one end first\.$"
        ):
            compare(INSTANCES[:1], SELECTORS, STOP, 1, PORTFOLIO, path)

    runs, _ = compared(INSTANCES[:1], SELECTORS, STOP, 1, PORTFOLIO, path, notify=second)
    assert read_rows(path, SelectorRun) == runs


def test_damaged_curves_are_refused_too(path: Path) -> None:
    compared(INSTANCES[:1], SELECTORS, STOP, 1, PORTFOLIO, path)
    curves = path.with_name("runs.curves.csv")
    curves.write_text(f"{curves.read_text()}E-n22-k4,random\n")
    with pytest.raises(InputError, match=r"runs\.curves\.csv, line \d+: is not a result"):
        compared(INSTANCES[:1], SELECTORS, STOP, 2, PORTFOLIO, path)


def test_comparisons_that_cannot_be_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"^0 seeds asked for; at least 1 is needed\.$"):
        compared(INSTANCES, SELECTORS, STOP, 0, PORTFOLIO)
    with pytest.raises(InputError, match=r"^instance 'E-n22-k4' is named twice\.$"):
        compared([*INSTANCES, read("E-n22-k4")], SELECTORS, STOP, 1, PORTFOLIO)
    with pytest.raises(InputError, match=r"operator 'cluster' is not among zone, random-node"):
        compared(INSTANCES, {"poor": Fixed("cluster", "greedy")}, STOP, 1, PORTFOLIO)
    with pytest.raises(InputError, match=r"runs\.csv: folder .+ does not exist\.$"):
        compared(INSTANCES, SELECTORS, STOP, 1, PORTFOLIO, tmp_path / "absent" / "runs.csv")
    with pytest.raises(InputError, match=r"^number of workers 0 must be at least 1\.$"):
        compared(INSTANCES, SELECTORS, STOP, 1, PORTFOLIO, workers=0)


@pytest.mark.parametrize(
    ("stop", "scale", "words"),
    [
        (MaxTime(10), None, "10 s; own; default scale; from savings; greedy"),
        (MaxTime(0.5), 3, "0.5 s; own; scale 3; from savings; greedy"),
        (MaxIterations(500), (2, 7), "500 iterations; own; scale 2-7; from savings; greedy"),
    ],
)
def test_what_all_runs_share_is_said_in_words(
    stop: Stop, scale: float | tuple[float, float] | None, words: str
) -> None:
    portfolio = make_portfolio("own", ["random-node", "greedy"])
    assert describe(stop, portfolio, scale, "savings", "greedy") == words


def test_runs_under_other_conditions_are_other_runs(path: Path) -> None:
    compared(INSTANCES[:1], SELECTORS, STOP, 1, PORTFOLIO, path)
    compared(INSTANCES[:1], SELECTORS, STOP, 1, PORTFOLIO, path, scale=2)
    compared(INSTANCES[:1], SELECTORS, STOP, 1, PORTFOLIO, path, remark="greedy")
    assert len(read_rows(path, SelectorRun)) == 3 * len(SELECTORS)


def test_a_policy_names_the_instances_that_it_was_trained_on() -> None:
    made = constant_policy("zone,random-node,greedy", (1.0, 2.0, 1.0))
    trained = Policy({**made.card, "instances": ["X-n101-k25"]}, made.tensors)
    assert PolicySelector(trained).trained_on() == ("X-n101-k25",)
    assert PolicySelector(made).trained_on() == ()
    assert Uniform().trained_on() == ()


def test_an_instance_that_a_policy_was_trained_on_is_refused_unless_it_is_wanted() -> None:
    made = constant_policy("zone,random-node,greedy", (1.0, 2.0, 1.0))
    mine = {"mine": PolicySelector(Policy({**made.card, "instances": ["P-n16-k8"]}, made.tensors))}
    with pytest.raises(InputError, match=r"^mine: was trained on 'P-n16-k8', so a comparison there is no test; leave"):
        compare(INSTANCES, mine, STOP, 1, PORTFOLIO)
    assert len(compare(INSTANCES, mine, STOP, 1, PORTFOLIO, training_instances=True).runs) == 2


# --- The best fixed pair. --------------------------------------------------------------------------------------------
