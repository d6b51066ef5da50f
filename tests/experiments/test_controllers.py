"""Training of controllers: groups of runs, fits, logs."""

from __future__ import annotations

import json
import math
import re
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from chores import Here
from neuralns import InputError, read
from neuralns.experiments import controllers
from neuralns.experiments.controllers import (
    COMMON,
    SETTINGS,
    Group,
    Source,
    Standing,
    check_sources,
    draw_rows,
    fit,
    gains,
    log_of,
    play_group,
    policy_of,
    train_controller,
)
from neuralns.experiments.executors import LostProcessError
from neuralns.operators.portfolio import portfolio_named
from neuralns.selection.dials import Dials
from neuralns.selection.instance_features import INSTANCE_FEATURES
from neuralns.selection.learned_controller import TENSORS, LearnedController
from neuralns.selection.response import MOST_SPREADS, MOST_SPREADS_FROM_PRIOR, Response, centre_of, spread_of
from neuralns.selection.search_features import SEARCH_FEATURES
from neuralns.selection.staged import STAGES

PORTFOLIO = portfolio_named("string,random-node,blinks,2-opt-star:share=0.5")
DIALS = Dials(PORTFOLIO)
WIDTH = len(DIALS.names)


def test_sources_are_files_in_turn_or_generated_instances() -> None:
    files = check_sources(["E-n22-k4", "A-n32-k5"], None)
    assert [files(number).read().name for number in range(3)] == ["E-n22-k4", "A-n32-k5", "E-n22-k4"]
    generated = check_sources([], "cvrp, pdptw", seed=3)
    drawn = [generated(number) for number in range(40)]
    assert {each.variant for each in drawn[::2]} == {"cvrp"}
    assert all(each.customers % 2 == 0 and 80 <= each.customers <= 401 for each in drawn)
    assert len({each.seed for each in drawn}) == 40
    assert drawn == [check_sources([], "cvrp,pdptw", seed=3)(number) for number in range(40)]
    assert drawn[0].read().customers == drawn[0].customers
    day = check_sources([], "vrptw,day", seed=3)(1)
    assert (day.variant, day.read().customers) == ("day", day.customers)
    large = check_sources([], "cvrp", seed=3, sizes=(500, 700))
    assert all(500 <= large(number).customers <= 701 for number in range(20))


@pytest.mark.parametrize(
    ("files", "variants", "sentence"),
    [
        ([], None, "a controller is trained on instances, or on generated ones (--generate VARIANT,...)."),
        (["E-n22-k4"], "cvrp", "a controller is trained on instances, or on generated ones"),
        ([], "cvrp,tsp", "variant 'tsp' is not known; choose among cvrp, vrptw, pdptw,"),
        (["nowhere.vrp"], None, "nowhere.vrp: "),
    ],
)
def test_sources_that_are_none_are_refused(files: list[str], variants: str | None, sentence: str) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(sentence)}"):
        check_sources(files, variants)


def test_settings_are_drawn_around_the_centre_and_differ_from_stage_to_stage() -> None:
    rng = np.random.default_rng(1)
    centre = DIALS.row({"random-node": -1.0})
    drawn = np.array([draw_rows(DIALS, centre, rng) for _ in range(2000)])
    assert drawn.shape == (2000, len(STAGES), WIDTH)
    values = (drawn - centre) / spread_of(DIALS)
    assert values.mean(axis=0) == pytest.approx(np.zeros((len(STAGES), WIDTH)), abs=0.1)
    assert values.std(axis=0) == pytest.approx(np.ones((len(STAGES), WIDTH)), abs=0.1)
    assert np.corrcoef(values[:, 0, 0], values[:, 2, 0])[0, 1] == pytest.approx(COMMON**2, abs=0.1)


def test_a_group_has_runs_of_the_default_of_the_best_and_of_others() -> None:
    source = Source(file="E-n22-k4")
    plain = play_group(5, source, 0.02, PORTFOLIO.names, None, seed=1)
    assert (len(plain.rows), len(plain.costs), plain.runs, plain.tried) == (SETTINGS, SETTINGS, SETTINGS + 1, False)
    # This portfolio lacks operators of the default.
    assert DIALS.like(portfolio_named("plain")) is None
    assert plain.centre == plain.rows[0][0] == [0.0] * WIDTH
    assert np.shape(plain.rows) == (SETTINGS, len(STAGES), WIDTH)
    assert np.shape(plain.search_features) == (SETTINGS, len(STAGES), len(SEARCH_FEATURES))
    assert (plain.variant, plain.customers, len(plain.instance_features)) == ("plain", 21, len(INSTANCE_FEATURES))
    assert Group.of_row(plain.row) == plain
    known = read("E-n22-k4").best_known
    assert known is not None
    assert all(cost is not None and cost >= known for cost in (plain.default, *plain.costs))
    # A surface of any kind will do, one that likes some settings better than others.
    fitted, _ = fit(DIALS, [plain, replace(plain, number=6)])
    rng = np.random.default_rng(1)
    surface = {name: np.abs(rng.normal(size=np.shape(getattr(fitted, name)))) + 0.1 for name in TENSORS.values()}
    response = Response(DIALS, **surface)
    tried = play_group(7, source, 0.05, PORTFOLIO.names, surface, seed=1)
    assert tried.tried
    centre = np.array(tried.centre)
    assert np.any(tried.rows[0][0] != centre)
    for stage in range(len(STAGES)):
        # On a busy machine a short run may be over before it is asked in a later stage: then what was set holds.
        asked = stage == 0 or any(tried.search_features[0][stage])
        best = response.best_row(centre, tried.instance_features, stage, tried.search_features[0][stage]).tolist()
        assert tried.rows[0][stage] == (best if asked else tried.rows[0][stage - 1])


def test_settings_are_drawn_around_the_default_where_the_portfolio_has_its_operators() -> None:
    whole = portfolio_named("string,blinks,regret-2,shaw,2-opt-star:share=0.5")
    default = Dials(whole).like(portfolio_named("plain"))
    group = play_group(1, Source(file="E-n22-k4"), 0.01, whole.names, None, seed=1)
    assert group.centre == centre_of(Dials(whole), default).tolist()


def test_a_group_that_a_signal_cut_short_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    cut = SimpleNamespace(cost=1.0, feasible=True, stopped_by="SIGINT")
    monkeypatch.setattr(controllers, "solve", lambda *given, **more: cut)
    with pytest.raises(LostProcessError, match=r"^the process that did it was stopped by SIGINT\.$"):
        play_group(1, Source(file="E-n22-k4"), 0.01, PORTFOLIO.names, None, seed=1)


def trained(tmp_path: Path, minutes: float = 0.02, **options: Any) -> Any:
    given: dict[str, Any] = {"seconds": 0.01, **options}
    return train_controller(
        check_sources(["E-n22-k4", "A-n32-k5"], None), PORTFOLIO, minutes, tmp_path / "log", Here(), **given
    )


def logged(path: Path) -> list[Group]:
    return [Group.of_row(row) for row in log_of(path, PORTFOLIO, 0.01, 0, "").rows]


def test_a_training_fits_plays_and_keeps_all_it_did(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(controllers, "BROAD", 4)
    seen: list[Standing] = []
    policy = trained(tmp_path, watch=seen.append)
    groups = logged(tmp_path / "log")
    assert [group.number for group in groups] == list(range(len(groups)))
    assert [group.tried for group in groups] == [False] * 4 + [True] * (len(groups) - 4)
    # Seven runs of 0.01 seconds for each group, 1.2 in all.
    assert len(groups) == math.ceil(1.2 / ((SETTINGS + 1) * 0.01))
    assert seen[-1].groups == len(groups)
    assert policy.card["runs"] == (SETTINGS + 1) * len(groups)
    found = gains(groups)
    assert set(found) == {"E-n22-k4", "A-n32-k5"}
    assert policy.card["gain"]["groups"] == sum(map(len, found.values())) == len(groups) - 4
    # Two instances are too few for a test.
    assert (policy.card["gain"]["instances"], policy.card["gain"]["p"]) == (2, None)
    assert policy.card["for"]["kinds"] == ["plain"]
    assert policy.card["for"]["customers"] == [21, 31]
    assert LearnedController(policy).made_for() == PORTFOLIO.names


def test_a_training_begins_from_another_controller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "first").mkdir()
    first = LearnedController(trained(tmp_path / "first", 0.01))
    given: list[Any] = []

    def play(*each: Any) -> Group:
        given.append(each[4])
        return play_group(*each)

    monkeypatch.setattr(controllers, "play_group", play)
    policy = trained(tmp_path, 0.01, begin_from=first)
    assert given[0]["factors"] == pytest.approx(first.policy.tensors["factors"])
    assert all(row["tried"] for row in log_of(tmp_path / "log", PORTFOLIO, 0.01, 0, "", first).rows)
    assert policy.tensors["traits_mean"] == pytest.approx(first.policy.tensors["traits_mean"])
    assert (first.policy.card["reach"], policy.card["reach"], given[0]["most_spreads"]) == (
        MOST_SPREADS,
        MOST_SPREADS_FROM_PRIOR,
        MOST_SPREADS_FROM_PRIOR,
    )


def test_a_training_goes_on_from_its_log(tmp_path: Path) -> None:
    trained(tmp_path, 0.005)
    before = (tmp_path / "log").read_text()
    with open(tmp_path / "log", "a") as file:
        file.write('{"number": 9')
    policy = trained(tmp_path, 0.01)
    after = (tmp_path / "log").read_text()
    assert after.startswith(before)
    numbers = [group.number for group in logged(tmp_path / "log")]
    assert sorted(set(numbers)) == numbers
    assert policy.card["groups"] == len(numbers) > len(before.splitlines()) - 1


def test_it_ends_when_it_is_told_to(tmp_path: Path) -> None:
    policy = trained(tmp_path, 100, watch=lambda standing: "enough" if standing.groups >= 3 else None)
    assert policy.card["groups"] == 3
    with pytest.raises(InputError, match=r"^the training ended before it had two instances"):
        trained(tmp_path / "..", 100, watch=lambda standing: "enough")


class Losing(Here):
    """Loses the process of the first jobs."""

    def __init__(self, times: int) -> None:
        self.times = times

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        if self.times > 0:
            self.times -= 1
            future: Future[Any] = Future()
            future.set_exception(LostProcessError("the process that did it was killed."))
            return future
        return super().submit(fn, *args, **kwargs)


def test_a_process_that_is_killed_costs_its_group_alone(tmp_path: Path) -> None:
    source = check_sources(["E-n22-k4"], None)
    policy = train_controller(source, PORTFOLIO, 0.005, tmp_path / "log", Losing(2), seconds=0.01)
    assert policy.card["groups"] >= 2
    with pytest.raises(LostProcessError):
        train_controller(source, PORTFOLIO, 0.005, tmp_path / "other", Losing(9), seconds=0.01)


def group(number: int, default: float | None, costs: list[float | None], tried: bool = True) -> Group:
    rng = np.random.default_rng(number)
    rows = rng.normal(0, 1, (len(costs), len(STAGES), WIDTH)).tolist()
    search_features = rng.normal(0, 1, (len(costs), len(STAGES), len(SEARCH_FEATURES))).tolist()
    instance_features = rng.normal(0, 1, len(INSTANCE_FEATURES)).tolist()
    return Group(
        number, "made up", 50, 1.0, instance_features, [0.0] * WIDTH, default, tried, rows, search_features, costs
    )


def test_gains_are_those_of_groups_that_the_surface_was_tried_on() -> None:
    groups = [group(1, 100.0, [99.0, 98.0]), group(2, 100.0, [50.0], tried=False), group(3, 100.0, [None, 90.0])]
    assert gains([*groups, group(4, None, [90.0])]) == {"1": [pytest.approx(100 * math.log(100 / 99))]}


def test_a_card_has_no_interval_where_none_is_known() -> None:
    groups = [group(number, 100.0, [100.0, 101.0]) for number in range(5)] + [group(5, 100.0, [99.0, 100.0])]
    response, foretold = fit(DIALS, groups)
    gain = policy_of(response, groups, foretold, {}).card["gain"]
    assert gain["groups"] == 6
    assert gain["interval"] is None
    assert gain["mean"] == pytest.approx(100 * math.log(100 / 99) / 6, abs=1e-4)


def test_runs_that_leave_customers_out_teach_nothing() -> None:
    with pytest.raises(InputError, match=r"^no run of the training has served everybody"):
        fit(DIALS, [group(1, 1.0, [None] * 3)])
    groups = [group(1, 1.0, [1.0, 1.1, 1.2]), group(2, 1.0, [2.0, 2.1, 1.9])]
    plain, _ = fit(DIALS, groups)
    with_lost, _ = fit(
        DIALS,
        [
            replace(
                each,
                rows=[*each.rows, each.rows[0]],
                search_features=[*each.search_features, each.search_features[0]],
                costs=[*each.costs, None],
            )
            for each in groups
        ],
    )
    assert with_lost.factors == pytest.approx(plain.factors)


def test_instances_on_which_all_settings_do_alike_teach_nothing() -> None:
    response, foretold = fit(DIALS, [group(number, 300.0, [300.0] * 6) for number in range(5)])
    assert foretold == 0.0
    assert not response.factors.any()


@pytest.mark.parametrize("line", ["nonsense", "{}", '{"number": 1}', "[]", '{"rows": 3}'])
def test_a_log_that_is_none_is_refused(tmp_path: Path, line: str) -> None:
    trained(tmp_path, 0.005)
    head = (tmp_path / "log").read_text().splitlines()[0]
    (tmp_path / "log").write_text(f"{head}\n{line}\n")
    with pytest.raises(InputError, match=r"log, line 2: is not a result of neuralns\.$"):
        logged(tmp_path / "log")
    (tmp_path / "log").write_text(f"{line}\n")
    with pytest.raises(InputError, match=r"log, line 1: is not a result of neuralns\.$"):
        logged(tmp_path / "log")


def test_a_line_of_a_log_with_any_odd_value_is_refused(tmp_path: Path) -> None:
    trained(tmp_path, 0.005)
    path = tmp_path / "log"
    head, first, *_ = path.read_text().splitlines()
    entry = json.loads(first)
    assert list(entry) == [
        "number", "kind", "customers", "seconds", "traits", "centre", "default", "tried", "rows", "signs", "costs",
        "instance",
    ]  # fmt: skip
    for name, value in entry.items():
        odd: list[Any] = [{}, 3, None] if isinstance(value, str) else [{}, "x", math.nan]
        if name == "costs":
            odd += [[math.inf, *value[1:]], ["1", *value[1:]], [0.0, *value[1:]], value[1:]]
        for each in odd:
            text = f"{head}\n{first}\n{json.dumps(entry | {name: each})}\n"
            path.write_text(text)
            with pytest.raises(InputError, match=r"log, line 3: is not a result of neuralns\.$"):
                logged(path)
            assert path.read_text() == text


def test_a_log_of_another_training_is_refused(tmp_path: Path) -> None:
    trained(tmp_path, 0.005)
    before = (tmp_path / "log").read_bytes()
    other = portfolio_named("string:longest=20,random-node,blinks,2-opt-star:share=0.5")
    first = LearnedController(trained(tmp_path / "..", 0.005))
    for given in (
        (other, 0.01, 0, ""),
        (PORTFOLIO, 0.02, 0, ""),
        (PORTFOLIO, 0.01, 1, ""),
        (PORTFOLIO, 0.01, 0, "x"),
        (PORTFOLIO, 0.01, 0, "", first),
    ):
        with pytest.raises(
            InputError, match=r"log: holds results with .*; choose another output, or begin anew with --force"
        ):
            log_of(tmp_path / "log", *given)
    assert (tmp_path / "log").read_bytes() == before
