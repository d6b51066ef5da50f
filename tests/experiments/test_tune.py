"""The best constant setting: fair rounds, a last comparison on other seeds, and nothing lost."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from neuralns import InputError, Instance, MaxIterations, portfolio_named, read, solve
from neuralns.experiments import tune as module
from neuralns.experiments.store import read_rows
from neuralns.experiments.tune import Standing, Tuned, TuningRun, tune
from neuralns.selection.constant import read_setting

pytestmark = pytest.mark.usefixtures("in_own_folder", "here")

PORTFOLIO = portfolio_named("string,random-node,blinks,greedy,2-opt-star")
NAMES = ("E-n22-k4", "P-n16-k8")


def run(candidates: int = 4, runs: int = 40, **more: Any) -> Tuned:
    choices = {"stop": MaxIterations(20), **more}
    return tune(
        {name: read(name) for name in NAMES}, PORTFOLIO, "best.setting", candidates=candidates, runs=runs, **choices
    )


def rows() -> list[TuningRun]:
    return read_rows(Path("best.csv"), TuningRun)


def made_up(kind: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """A run whose cost is known: lower, the lower the dial of the scale; of the default, 110."""
    row = given["row"]
    cost = 110.0 if row is None else 100.0 + row[len(PORTFOLIO.names)]
    return {"cost": cost + given["seed"] % 7, "unserved": 0, "iterations": 1, "seconds": 1.0}


def test_all_candidates_of_a_round_have_the_same_runs() -> None:
    found = run()
    stages: dict[str, dict[str, set[tuple[str, int]]]] = defaultdict(lambda: defaultdict(set))
    for row in rows():
        stages[row.stage][row.candidate].add((row.instance, row.seed))
    assert list(stages) == ["round 1 of 2", "round 2 of 2", "last comparison"]
    for stage, size in (("round 1 of 2", 4), ("round 2 of 2", 2)):
        assert len(stages[stage]) == size
        assert len({frozenset(blocks) for blocks in stages[stage].values()}) == 1
    before = {seed for stage in list(stages)[:2] for blocks in stages[stage].values() for _, seed in blocks}
    last = stages["last comparison"]["default"]
    assert {name for name, _ in last} == set(NAMES)
    assert not before & {seed for _, seed in last}
    assert (found.finished, found.runs) == (True, len(rows()))


def test_the_best_by_all_its_runs_is_written_with_its_gain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "work", made_up)
    found = run(candidates=16, runs=200)
    tried = {row.candidate: json.loads(row.dials).get("scale", 0.0) for row in rows() if row.candidate != "default"}
    assert len(tried) == 16
    constant = read_setting("best.setting")
    best = min(tried.values())
    assert constant == found.constant
    assert constant.trained_on() == NAMES
    assert constant.row[len(PORTFOLIO.names)] == best
    card = json.loads(Path("best.setting").read_text())["card"]
    assert (card["instances"], card["iterations"], card["time"]) == (list(NAMES), 20, None)
    assert (card["candidates"], card["runs"], card["finished"]) == (16, len(rows()), True)
    assert set(card["gain"]) == {"all at 0", "default"}
    assert 8 < card["gain"]["default"]["percent"] < 12
    assert card["gain"]["all at 0"]["percent"] == pytest.approx(-best, rel=0.1)
    assert card["gain"]["default"]["p"] is None  # two instances


def test_a_setting_that_leaves_customers_out_does_not_win(monkeypatch: pytest.MonkeyPatch) -> None:
    def greedy(kind: str, given: Mapping[str, Any]) -> dict[str, Any]:
        cheap = given["row"] is not None and any(given["row"])
        return {"cost": 1.0 if cheap else 100.0, "unserved": int(cheap), "iterations": 1, "seconds": 1.0}

    monkeypatch.setattr(module, "work", greedy)
    run(candidates=8, runs=60)
    assert not any(read_setting("best.setting").row)


def test_the_rows_are_those_of_searches_by_the_settings() -> None:
    run()
    constant = read_setting("best.setting")
    dials = json.loads(Path("best.setting").read_text())["dials"]
    row = next(row for row in rows() if row.stage == "last comparison" and json.loads(row.dials) == dials)
    assert solve(row.instance, MaxIterations(20), selector=constant, seed=row.seed).cost == row.cost
    row = next(row for row in rows() if row.candidate == "default")
    assert solve(row.instance, MaxIterations(20), seed=row.seed).cost == row.cost


def test_the_same_seed_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "work", made_up)
    first = run(seed=3)
    content = Path("best.setting").read_text()
    again = run(seed=3, force=True)
    assert (again.constant, Path("best.setting").read_text()) == (first.constant, content)


def test_runs_of_the_default_by_another_bundled_controller_are_done_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "work", made_up)
    run()
    before = rows()
    monkeypatch.setattr(module, "bundled_mark", lambda: "another")
    run(resume=True)
    assert rows()[: len(before)] == before
    assert {row.candidate for row in rows()[len(before) :]} == {"default"}


def test_ctrl_c_writes_the_best_so_far_and_resuming_goes_on_to_the_same_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "work", made_up)
    whole = run()
    expected, content = Path("best.setting").read_text(), Path("best.csv").read_text()
    Path("best.csv").unlink()

    def press(standing: Standing) -> None:
        if standing.stage.startswith("round 2") and standing.done == 1:
            raise KeyboardInterrupt

    stopped = run(progress=press, force=True)
    assert not stopped.finished
    assert stopped.runs == len(rows())
    assert json.loads(Path("best.setting").read_text())["card"]["finished"] is False
    kept = Path("best.csv").read_text()
    assert 0 < len(kept) < len(content)
    assert run(resume=True) == whole
    assert Path("best.setting").read_text() == expected
    assert Path("best.csv").read_text().startswith(kept)
    assert {row.job for row in rows()} == {line.rpartition(",")[2] for line in content.splitlines()[1:]}


def test_ctrl_c_before_all_had_a_run_writes_no_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "work", made_up)

    def press(standing: Standing) -> None:
        if standing.done == 1:
            raise KeyboardInterrupt

    found = run(progress=press)
    assert (found.constant, found.finished) == (None, False)
    assert not Path("best.setting").exists()
    assert len(rows()) == 1


def test_rounds_end_when_their_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "work", made_up)
    told: list[Standing] = []
    found = run(candidates=8, runs=100, seconds=50, progress=told.append)  # a second each: half of the runs
    assert {row.stage for row in rows()} == {"round 1 of 3", "round 2 of 3", "last comparison"}
    assert 50 <= len(rows()) <= 53
    assert told[0] == Standing("round 1 of 3", 8, 0, 24, 50.0)
    assert told[-1].seconds == 0
    assert found.gains["default"].runs >= 1
    with pytest.raises(InputError, match=r"^the time was over before all candidates had a run; take more minutes\.$"):
        run(candidates=8, runs=100, seconds=1, force=True)


def test_a_run_that_fails_ends_the_tuning_and_keeps_what_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(kind: str, given: Mapping[str, Any]) -> dict[str, Any]:
        if given["operators"] is None:
            raise ValueError("no luck")
        return made_up(kind, given)

    monkeypatch.setattr(module, "work", fail)
    with pytest.raises(InputError, match=r": a run failed \(ValueError: no luck\); those that are done are kept, and"):
        run()
    done = len(rows())
    monkeypatch.setattr(module, "work", made_up)
    run(resume=True)
    assert len(rows()) > done > 0


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"candidates": 1}, "number of candidates 1 must be at least 2."),
        ({"workers": 0}, "number of workers 0 must be at least 1."),
        ({"seed": -1}, "seed -1 must be at least 0."),
        ({"runs": 5}, "there is time for 5 runs, but 4 candidates need "),
        ({"resume": True}, "best.csv: there are no runs to resume from."),
    ],
)
def test_what_makes_no_sense_is_refused_before_any_work(more: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(sentence)}"):
        run(**more)
    assert not list(Path().iterdir())


def test_nothing_is_written_over_unless_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "work", made_up)
    run()
    with pytest.raises(InputError, match=r"^best\.setting: exists already; "):
        run()
    Path("best.setting").unlink()
    with pytest.raises(InputError, match=r"^best\.csv: holds runs already; go on with --resume, or start anew with --"):
        run()
    Path("best.csv").write_text("name,x,y\n")
    with pytest.raises(InputError, match=r"^best\.csv, line 1: holds other columns than stage, "):
        run(force=True)
    assert Path("best.csv").read_text() == "name,x,y\n"


def test_an_instance_that_nobody_can_be_served_in_is_refused() -> None:
    none = Instance("none", [0, 9], 1, [[0, 0], [1, 1]])
    with pytest.raises(InputError, match=r"^none: no customer can be served; of customer 1, "):
        tune({"none.json": none}, PORTFOLIO, "best.setting", stop=MaxIterations(9), runs=99, candidates=2)
