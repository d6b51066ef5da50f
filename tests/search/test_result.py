"""What a search returns: the best solution, how it came about, and its trace as a table."""

from __future__ import annotations

import csv
import pickle
import sys
from pathlib import Path

import pytest

from neuralns import Instance, MaxIterations, Progress, Solution, read, savings, solve
from neuralns.search.result import Trace
from neuralns.search.stopping import Stop


def test_a_result_tells_how_it_came_about() -> None:
    result = solve("E-n51-k5", MaxIterations(2000), seed=5, selector="random", portfolio="paper-4")
    assert result.feasible
    assert result.cost == Solution(read("E-n51-k5"), result.routes).cost == result.best.cost
    assert (result.seed, result.selector, result.portfolio) == (5, "random", "paper-4")
    assert result.initial == savings(result.best.instance)
    by_phase = {
        phase: sum(use.used for use in result.operators if use.phase == phase) for phase in ("destroy", "repair")
    }
    assert by_phase == {"destroy": 2000, "repair": 2000}
    for use in result.operators:
        assert use.used >= use.accepted >= use.improved >= use.new_best
    assert result.trace.iteration[-1] == 2000
    assert result.trace.best == sorted(result.trace.best, reverse=True)


def test_the_trace_is_exported_as_a_table(tmp_path: Path) -> None:
    result = solve("E-n22-k4", MaxIterations(2000))
    result.trace.to_csv(tmp_path / "trace.csv")
    with open(tmp_path / "trace.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(result.trace.time)
    assert int(rows[-1]["iteration"]) == 2000
    assert float(rows[-1]["best"]) == result.cost
    assert sum(int(rows[-1][use.name]) for use in result.operators if use.phase != "improve") == 4000


def test_a_trace_has_a_row_for_each_progress(tmp_path: Path) -> None:
    instance = read("E-n22-k4")
    trace = Trace(("zone", "greedy"))
    for iteration in (0, 64):
        uses = {"zone": iteration, "greedy": iteration}
        trace.add(Progress(instance, Stop(), 0.25 * iteration, iteration, 400.125, 390.5, 1234567.0, uses))
    trace.to_csv(tmp_path / "trace.csv")
    assert (tmp_path / "trace.csv").read_text(encoding="utf-8").splitlines() == [
        "time,iteration,current,best,temperature,zone,greedy",
        "0.000000,0,400.125,390.5,1.23457e+06,0,0",
        "16.000000,64,400.125,390.5,1.23457e+06,64,64",
    ]


def test_the_gap_is_that_of_the_best_solution() -> None:
    result = solve("E-n22-k4", MaxIterations(5), initial="random")
    assert result.gap == pytest.approx(100 * (result.cost / 375 - 1))


def test_progress_tells_its_share_rate_and_gap() -> None:
    instance = read("E-n22-k4")
    progress = Progress(instance, Stop(time=10, iterations=400), 2.0, 100, 400.0, 393.75, 1.0, {}, workers=2)
    # A fifth of the time is used, and an eighth of the iterations of each of two workers.
    assert progress.share == pytest.approx(0.2)
    assert progress.rate == 50.0
    assert progress.gap == pytest.approx(5.0)
    assert Progress(instance, Stop(iterations=10), 0.0, 5, 1.0, 1.0, 1.0, {}).rate == 0.0


def test_results_traces_and_progress_print_as_one_short_line() -> None:
    seen: list[Progress] = []
    result = solve("E-n22-k4", MaxIterations(100), callbacks=[seen.append])
    for thing in (result, result.trace, seen[-1]):
        assert repr(thing).startswith(f"<{type(thing).__name__}")
        assert f"{result.cost:.10g}" in repr(thing)
        assert len(repr(thing)) < 120


def test_a_notebook_shows_cost_and_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = Instance("<b>", [0, 1, 1], 1, [[0, 0], [3, 4], [0, 5]], names=["depot", "A&B", "<i>"], vehicles=1)
    result = solve(instance, MaxIterations(10))
    shown = result._repr_html_()
    assert "&lt;b&gt;: cost 10, 1 routes, 1 customers not served" in shown
    assert '<img alt="routes" src="data:image/png;base64,iVBOR' in shown
    assert "<b><b>" not in shown
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    shown = result._repr_html_()
    assert "<img" not in shown
    assert "<td>1</td><td>type 1: depot → " in shown
    assert ("A&amp;B" in shown) != ("&lt;i&gt;" in shown)
    assert "A&B" not in shown


def test_results_are_equal_after_pickling() -> None:
    result = solve("E-n22-k4", MaxIterations(10))
    assert pickle.loads(pickle.dumps(result)) == result
